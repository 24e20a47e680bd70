"""The keys that are combined, and the input that a row of them makes: a RenderConfig, OpenModels, and a Playground or
a Service. Several rows make a tree, whose apps share a RenderConfig.

A value of a parameter is a change of the documents. Values that llmaz refuses beside others stay in: a refusal with a
code is an answer too, and rows that render are counted apart.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Node = dict[str, Any]


class Documents(NamedTuple):
    """The documents of a row."""

    config: Node  # its spec
    model: Node  # the main OpenModel's spec
    app: Node  # the Playground's spec
    others: list[Node]  # whole documents

    @property
    def runner(self) -> Node:
        """What the podTemplate says of the engine's container."""
        spec = self.app.setdefault("podTemplate", {}).setdefault("spec", {})
        container: Node = spec.setdefault("containers", [{"name": "model-runner"}])[0]
        return container

    @property
    def pod(self) -> Node:
        """The spec of the podTemplate."""
        spec: Node = self.app.setdefault("podTemplate", {}).setdefault("spec", {})
        return spec

    @property
    def engine(self) -> Node:
        """backendRuntimeConfig."""
        engine: Node = self.app.setdefault("backendRuntimeConfig", {})
        return engine


Change = Callable[[Documents], object]
GGUF = {"modelHub": {"modelID": "org/model-GGUF", "filename": "model-q4.gguf"}}
SPREAD = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
KEDA = {
    "autoscaler": "keda",
    "metricSource": {"type": "prometheus"},
    "keda": {"prometheus": {"serverAddress": "http://prometheus.monitoring:9090"}},
}
WAITING = {
    "vllm": "vllm_num_requests_waiting",
    "sglang": "sglang_num_queue_reqs",
    "tgi": "tgi_queue_size",
    "llamacpp": "llamacpp_requests_deferred",
}

INTERCEPTED = {
    **KEDA,
    "keda": {**KEDA["keda"], "interceptor": {"service": "interceptor-proxy", "namespace": "keda"}},  # type: ignore[dict-item]
}
ACCELERATORS: Node = {"accelerators": {"squat.ai/nvidia": {"vendor": "nvidia"}}}
GUARD_PORT = 9000
GUARD = {
    "name": "guard",
    "image": "registry.example/guard:1",
    "ports": [{"containerPort": GUARD_PORT}],
    "lifecycle": {"preStop": {"sleep": {"seconds": 20}}},
}
DISK = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}}
MODEL_VOLUMES: Mapping[str, Node] = {
    "ephemeral": {"name": "model-volume", "ephemeral": {"volumeClaimTemplate": {"spec": DISK}}},
    "claim": {"name": "model-volume", "persistentVolumeClaim": {"claimName": "weights"}},
}
KEYS = {"auth": {"apiKeys": {"secretName": "tenants"}}}
TOKENS = {
    "auth": {
        "jwt": [
            {
                "name": "login",
                "issuer": "https://login.example",
                "remoteJWKS": {"uri": "https://login.example/keys"},
                "claimToHeaders": [{"claim": "team", "header": "x-tenant-id"}],
            }
        ]
    }
}
PROVIDERS: Mapping[str, Node] = {  # by schema
    "OpenAI": {"hostname": "api.example.com", "auth": {"type": "APIKey", "secretName": "openai-key"}},
    "Cohere": {"version": "v2", "hostname": "api.cohere.com", "auth": {"type": "APIKey", "secretName": "cohere-key"}},
    "Anthropic": {
        "hostname": "api.anthropic.example",
        "auth": {"type": "AnthropicAPIKey", "secretName": "anthropic-key"},
    },
    "AzureOpenAI": {
        "version": "2025-01-01-preview",
        "hostname": "team.azure.example",
        "auth": {"type": "AzureAPIKey", "secretName": "azure-key"},
    },
    "AWSBedrock": {
        "hostname": "bedrock.example",
        "auth": {"type": "AWSCredentials", "secretName": "aws-key", "region": "eu-west-1"},
    },
}
_OF_PLAYGROUNDS = (  # keys that a Service has not
    *("backendRuntimeConfig", "parallelism", "elasticConfig", "disaggregation", "podTemplate", "kvCacheOffloading"),
    "modelClaim",
)
SERVER = {"name": "model-runner", "image": "registry.example/server:1", "ports": [{"containerPort": 8000}]}

NEIGHBOUR = "other"  # an app beside that of a row
OWN_VARIABLES = {"leaderEnvs": "OF_LEADER", "workerEnvs": "OF_WORKERS"}


def document(kind: str, name: str, spec: Node, group: str = "llmaz.io/v1alpha1") -> Node:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _engine(name: str, version: str = "", source: Node | None = None) -> Change:
    def change(documents: Documents) -> None:
        documents.engine.update({"backendName": name, **({"version": version} if version else {})})
        if source:
            documents.model["source"] = copy.deepcopy(source)

    return change


def _flavor(limits: Node | None) -> Change:
    def change(documents: Documents) -> None:
        if limits is not None:
            documents.model["inferenceConfig"] = {"flavors": [{"name": "flavor", "limits": dict(limits)}]}

    return change


def _typed_flavor(documents: Documents) -> None:
    """Accelerators of a type that is known, and a model whose size is."""
    flavor = {"name": "flavor", "limits": {"nvidia.com/gpu": 2}, "accelerator": "h100-80g"}
    documents.model["inferenceConfig"] = {"flavors": [flavor]}
    attention = {"layers": 32, "heads": 32, "kvHeads": 8, "headDim": 128}
    documents.model["facts"] = {"weightsGiB": 15.0, "contextLength": 8192, "attention": attention}


def _second_model(role: str, facts: Node | None = None) -> Change:
    def change(documents: Documents) -> None:
        hub = {"modelID": f"org/{role}"}
        if "filename" in documents.model["source"]["modelHub"]:
            hub["filename"] = f"{role}.gguf"
        spec: Node = {"familyName": "family", "source": {"modelHub": hub}, **({"facts": facts} if facts else {})}
        documents.others.append(document("OpenModel", f"{role}-model", spec))
        documents.app["modelClaims"] = {"models": [{"name": "model"}, {"name": f"{role}-model", "role": role}]}
        documents.app.pop("modelClaim", None)

    return change


def _second_main(documents: Documents) -> None:
    """A second main model, where the engine serves several."""
    if documents.engine["backendName"] in ("llamacpp", "ollama"):
        _second_model("main")(documents)
        documents.app["modelClaims"]["loaded"] = 1


def _scale(documents: Documents) -> None:
    waiting = WAITING.get(documents.engine["backendName"])
    pods = {"metric": {"name": waiting}, "target": {"type": "AverageValue", "averageValue": "5"}}
    processors = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    metric = {"type": "Pods", "pods": pods} if waiting else {"type": "Resource", "resource": processors}
    documents.app["elasticConfig"] = {
        "minReplicas": 1,
        "maxReplicas": 4,
        "scaleTrigger": {"hpa": {"metrics": [metric]}},
    }


def _config(**fields: Any) -> Change:
    return lambda documents: documents.config.update(copy.deepcopy(fields))


def _autoscaling(documents: Documents, settings: Node = KEDA) -> None:
    """KEDA, beside what is said of it already."""
    autoscaling = documents.config.setdefault("autoscaling", {})
    autoscaling["keda"] = {**autoscaling.get("keda", {}), **copy.deepcopy(settings["keda"])}
    autoscaling.update({key: copy.deepcopy(value) for key, value in settings.items() if key != "keda"})


def _scale_by_keda(documents: Documents) -> None:
    _scale(documents)
    _autoscaling(documents)


def _app(**fields: Any) -> Change:
    return lambda documents: documents.app.update(copy.deepcopy(fields))


def _weights_at(documents: Documents, root: str) -> None:
    name = documents.model["source"].get("modelHub", {}).get("filename", "model")
    documents.model["source"] = {"uri": f"{root}/{name}"}


def _projector(documents: Documents) -> None:
    """A projector beside the weights, where the engine takes one."""
    if documents.engine["backendName"] == "llamacpp":
        documents.model["source"]["projector"] = "mmproj-F16.gguf"


def _chat_template(documents: Documents) -> None:
    """A chat template in a ConfigMap, where the engine has a use for one."""
    is_chat = documents.model.get("facts", {}).get("kind", "chat") == "chat"
    if is_chat and documents.engine["backendName"] in ("vllm", "sglang", "llamacpp", "tensorrt-llm"):
        documents.app["chatTemplate"] = {"configMap": {"name": "chat-templates", "key": "tools.jinja"}}


def _parts(documents: Documents) -> None:
    """The weights are split into two files, where the engine takes some."""
    source = documents.model["source"]
    if documents.engine["backendName"] != "llamacpp":
        return
    for place, key in ((source.get("modelHub", {}), "filename"), (source, "uri")):
        if str(place.get(key)).endswith(".gguf"):
            place[key] = place[key].removesuffix(".gguf") + "-00001-of-00002.gguf"


def _add_flavor(documents: Documents, limits: Node) -> None:
    flavors = documents.model.setdefault("inferenceConfig", {}).setdefault("flavors", [])
    usual = flavors[0].get("limits", {}) if flavors else {"nvidia.com/gpu": 1}
    flavors.append({"name": "second", "limits": dict(limits or usual), "nodeSelector": {"gpu": "second"}})


def _claim_template(documents: Documents) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "50Gi"}}}
    template = {"metadata": {"name": "scratch"}, "spec": claim}
    documents.app.setdefault("workload", {})["volumeClaimTemplates"] = [template]
    documents.runner.setdefault("volumeMounts", []).append({"name": "scratch", "mountPath": "/scratch"})


def _devices(documents: Documents) -> None:
    """Accelerators by dynamic resource allocation."""
    flavors = documents.config.setdefault("flavors", {})
    flavors["devices"] = {"claims": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
    documents.config["targets"] = {"kubernetes": "1.34"}
    documents.model["inferenceConfig"] = {"flavors": [{"name": "devices"}]}


def _scale_to_zero(documents: Documents) -> None:
    documents.app["elasticConfig"] = {"minReplicas": 0, "maxReplicas": 4}
    _autoscaling(documents, INTERCEPTED)


def _guard(documents: Documents) -> None:
    """A container that answers for the engine."""
    _ = documents.runner
    documents.pod["containers"].append(copy.deepcopy(GUARD))
    documents.app.setdefault("gateway", {})["port"] = GUARD_PORT


def _own_model_volume(name: str) -> Change:
    return lambda documents: documents.pod.setdefault("volumes", []).append(copy.deepcopy(MODEL_VOLUMES[name]))


def _claims_of_models(documents: Documents) -> None:
    template = {"metadata": {"name": "model-volume"}, "spec": copy.deepcopy(DISK)}
    documents.app.setdefault("workload", {}).setdefault("volumeClaimTemplates", []).append(template)


def _gateway_settings(**fields: Any) -> Change:
    return lambda documents: documents.config.setdefault("gateway", {}).update(copy.deepcopy(fields))


def _tenants(authentication: Node, *, allow: bool) -> Change:
    """A Gateway that asks who calls. `allow`: a model for one tenant alone."""

    def change(documents: Documents) -> None:
        _gateway_settings(**authentication, create=True)(documents)
        if allow:
            documents.app.setdefault("gateway", {})["allow"] = ["team-a"]

    return change


def _task(kind: str) -> Change:
    return lambda documents: documents.model.setdefault("facts", {}).update({"kind": kind})


def _neighbour(kind: str) -> Change:
    """Another app of the namespace, whose model has this task."""

    def change(documents: Documents) -> None:
        model: Node = {"familyName": "family", "source": {"modelHub": {"modelID": "org/other"}}}
        model["inferenceConfig"] = {"flavors": [{"name": "flavor", "limits": {"nvidia.com/gpu": 1}}]}
        model["facts"] = {"kind": kind}
        spec = {"modelClaim": {"modelName": "other-model"}, "backendRuntimeConfig": {"backendName": "vllm"}}
        documents.others.append(document("OpenModel", "other-model", model))
        documents.others.append(document("Playground", NEIGHBOUR, spec, "inference.llmaz.io/v1alpha1"))

    return change


def public_route(documents: Documents) -> Node:
    """The spec of the row's ModelRoute, which is made where there is none."""
    for other in documents.others:
        if other["kind"] == "ModelRoute":
            spec: Node = other["spec"]
            return spec
    spec = {"modelName": "public", "backends": [{"playground": "app", "weight": 90}]}
    if allow := documents.app.get("gateway", {}).get("allow"):
        spec["gateway"] = {"allow": [*allow]}
    documents.others.append(document("ModelRoute", "public", spec, "renderer.llmaz.io/v1alpha1"))
    return spec


def _split(documents: Documents) -> None:
    """A name over the app and its neighbour."""
    backends = public_route(documents)["backends"]
    if any(other["metadata"]["name"] == NEIGHBOUR for other in documents.others):
        backends.append({"playground": NEIGHBOUR, "weight": 10})


def _provider(schema: str = "") -> Change:
    """An API outside to which requests go that fail; by default one that speaks as the app does."""

    def change(documents: Documents) -> None:
        reranks = documents.model.get("facts", {}).get("kind") == "reranker"
        name = schema or ("Cohere" if reranks else "OpenAI")
        provider = {"schema": name, "modelName": "org/large", **copy.deepcopy(PROVIDERS[name])}
        public_route(documents)["backends"].append({"provider": provider, "priority": 1})

    return change


def _budget(documents: Documents) -> None:
    """Tokens that each tenant may use."""
    gateway = documents.config.setdefault("gateway", {})
    if "auth" not in gateway:
        gateway.update(copy.deepcopy(KEYS))
    public_route(documents)["tokenLimits"] = [
        {"per": "tenant", "tokens": 100000, "interval": "Hour"},
        {"per": "tenant", "tokens": 500000, "interval": "Day", "count": "output"},
    ]


def _service(*, size: int, leader: bool = False) -> Change:
    """A Service in place of the Playground, with the keys that both have."""

    def change(documents: Documents) -> None:
        models = documents.app.get("modelClaims") or {"models": [{"name": documents.app["modelClaim"]["modelName"]}]}
        for key in _OF_PLAYGROUNDS:
            documents.app.pop(key, None)
        pod = {"spec": {"containers": [copy.deepcopy(SERVER)]}}
        template: Node = {"size": size, "workerTemplate": pod}
        if leader:
            template["leaderTemplate"] = copy.deepcopy(pod)
        documents.app.update({"modelClaims": models, "workloadTemplate": template})
        documents.app.setdefault("gateway", {}).pop("port", None)

    return change


def nothing(documents: Documents) -> None:
    """The key is not there."""


PARAMETERS: Mapping[str, Mapping[str, Change]] = {
    "engine": {
        "vllm": _engine("vllm"),
        "sglang": _engine("sglang"),
        "llamacpp": _engine("llamacpp", source=GGUF),
        "ollama": _engine("ollama", source=GGUF),
        "tgi": _engine("tgi"),
        "tensorrt-llm": _engine("tensorrt-llm"),
        "vllm 0.9": _engine("vllm", "v0.9.2"),
        "sglang 0.5.1": _engine("sglang", "v0.5.1-cu126"),
    },
    "flavor": {
        "one": _flavor({"nvidia.com/gpu": 1}),
        "eight": _flavor({"nvidia.com/gpu": 8}),
        "amd": _flavor({"amd.com/gpu": 1}),
        "declared": _flavor({"squat.ai/nvidia": 2}),
        "typed": _typed_flavor,
        "devices": _devices,
        "none": _flavor(None),
    },
    "workload": {
        "": nothing,
        "deployment": _app(workload={"kind": "Deployment"}),
        "selector": _app(
            workload={"kind": "Deployment", "selector": {"app.kubernetes.io/component": "inference-server"}}
        ),
        "topology": _app(workload={"exclusiveTopology": "topology.kubernetes.io/zone"}),
        "queue": _app(workload={"queue": "team"}),
    },
    "hosts": {
        "": nothing,
        "two": _app(parallelism={"tensor": 1, "pipeline": 2}),
        "data": _app(parallelism={"tensor": 1, "data": 2}),
        "two, own variables": lambda documents: (
            documents.app.update({"parallelism": {"tensor": 1, "pipeline": 2}}),
            documents.app.setdefault("workload", {}).update(
                {key: [{"name": name, "value": "on"}] for key, name in OWN_VARIABLES.items()}
            ),
        ),
    },
    "scale": {
        "": nothing,
        "three": _app(replicas=3),
        "hpa": _scale,
        "keda": _scale_by_keda,
        "zero": _scale_to_zero,
    },
    "cooldown": {
        "": nothing,
        "long": lambda documents: documents.config.get("autoscaling", {}).get("keda", {}).update({"cooldown": 900}),
    },
    "gateway": {
        "off": _gateway_settings(mode="off"),
        "backend": nothing,
        "pool": _app(gateway={"mode": "pool"}),
        "packed": _gateway_settings(routeLayout="packed"),
        "created": _gateway_settings(create=True),
    },
    "tenants": {
        "": nothing,
        "one": _tenants(KEYS, allow=True),
        "tokens": _tenants(TOKENS, allow=False),
        "one by tokens": _tenants(TOKENS, allow=True),
    },
    "task": {"": nothing, **{kind: _task(kind) for kind in ("embedding", "reranker", "classifier", "transcription")}},
    "guard": {"": nothing, "port": _guard},
    "roles": {
        "": nothing,
        "two sets": lambda documents: documents.app.update(
            {"disaggregation": {"prefill": {}, "decode": {}}, "gateway": {"mode": "pool"}}
        ),
        "one set": lambda documents: documents.app.update(
            {"disaggregation": {"kind": "DisaggregatedSet", "prefill": {}, "decode": {}}, "gateway": {"mode": "pool"}}
        ),
    },
    "models": {
        "": nothing,
        "draft": _second_model("draft"),
        "adapter": _second_model("lora", {"adapter": {"rank": 16}}),
        "second": _second_main,
    },
    "cache": {
        "": nothing,
        "pod": _config(modelCache={"perPod": {"size": "100Gi"}}),
        "node": _config(modelCache={"hostPath": {"path": "/var/models"}}),
        "claim": _config(modelCache={"pvc": {"size": "100Gi", "storageClassName": "nfs"}}),
    },
    "source": {
        "": nothing,
        "claim": lambda documents: _weights_at(documents, "pvc://weights"),
        "bucket": lambda documents: _weights_at(documents, "s3://bucket"),
        "another bucket": lambda documents: _weights_at(documents, "gs://bucket"),
        "a third bucket": lambda documents: _weights_at(documents, "oss://bucket.oss-cn-hangzhou.aliyuncs.com"),
        "another hub": lambda documents: (
            documents.model["source"].get("modelHub", {}).update({"name": "ModelScope", "revision": "v1.0"})
        ),
        "node": lambda documents: _weights_at(documents, "host:///models"),
        "image": lambda documents: documents.model.update({"source": {"uri": "oci://registry.example/models/model:1"}}),
        "pulled": lambda documents: documents.model.update({"source": {"uri": "ollama://model:1"}}),
    },
    "files": {
        "": nothing,
        "projector": _projector,
        "parts": _parts,
        "chat template": _chat_template,
    },
    "own volume": {
        "": nothing,
        **{name: _own_model_volume(name) for name in MODEL_VOLUMES},
        "claims": _claims_of_models,
    },
    "loader": {"": nothing, "skipped": _app(annotation=True)},
    "hardening": {level: _config(hardening=level) for level in ("default", "restricted", "openshift", "off")},
    "spread": {
        "": nothing,
        "config": lambda documents: documents.config.setdefault("pods", {}).update(
            {"topologySpreadConstraints": [dict(SPREAD)]}
        ),
        "template": lambda documents: documents.pod.update({"topologySpreadConstraints": [dict(SPREAD)]}),
    },
    "pods": {
        "": nothing,
        "environment": lambda documents: documents.config.setdefault("pods", {}).update(
            {"env": [{"name": "HTTPS_PROXY", "value": "http://proxy.example:3128"}], "labels": {"team": "search"}}
        ),
        "account": lambda documents: documents.config.setdefault("pods", {}).update({"serviceAccountName": "models"}),
        "policy": lambda documents: documents.config.setdefault("pods", {}).update({"networkPolicy": True}),
        "certificates": lambda documents: documents.config.setdefault("pods", {}).update(
            {"caBundle": {"configMap": "authorities"}}
        ),
        "ipv6": lambda documents: documents.config.setdefault("pods", {}).update({"listenAddress": "::"}),
    },
    "template": {
        "": nothing,
        "sidecar": lambda documents: (
            documents.runner,
            documents.pod["containers"].append(
                {"name": "metrics", "image": "registry.example/metrics:1", "ports": [{"containerPort": 9090}]}
            ),
        ),
        "volume": lambda documents: (
            documents.runner.setdefault("volumeMounts", []).append({"name": "cache", "mountPath": "/cache"}),
            documents.pod.update({"volumes": [{"name": "cache", "emptyDir": {}}]}),
        ),
        "resources": lambda documents: documents.runner.update(
            {"resources": {"requests": {"cpu": "2", "memory": "16Gi"}, "limits": {"memory": "16Gi"}}}
        ),
        "network": lambda documents: documents.pod.update(
            {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
        ),
    },
    "variables": {
        "": nothing,
        "secret": lambda documents: documents.engine.update(
            {"envs": [{"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "engine"}}}]}
        ),
        "plain": lambda documents: documents.engine.update({"envs": [{"name": "MODE", "value": "fast"}]}),
    },
    "offloading": {
        "": nothing,
        "memory": _app(kvCacheOffloading={"cpu": "8Gi"}),
        "claim": _app(kvCacheOffloading={"cpu": "8Gi", "secondary": [{"pvc": "kv-cache", "path": "/mnt/kv-cache"}]}),
    },
    "rollout": {
        "": nothing,
        "surge": lambda documents: documents.app.setdefault("workload", {}).update({"rollout": {"maxSurge": 1}}),
    },
    "policy": {
        "": nothing,
        "first": _app(flavorPolicy="first"),
        "affinity": _app(flavorPolicy="affinity"),
        "variants": _app(flavorPolicy="variants"),
    },
    "memory": {
        "": nothing,
        "shared": lambda documents: documents.engine.update({"sharedMemorySize": "4Gi"}),
    },
    "resources": {
        "": nothing,
        "engine": lambda documents: documents.engine.update(
            {"resources": {"requests": {"cpu": "8", "memory": "32Gi"}, "limits": {"cpu": "8", "memory": "32Gi"}}}
        ),
    },
    "name": {"": nothing, "served": _app(servedModelName="org/name-1.0")},
    "secrets": {"": nothing, "hub": _config(secrets={"hub": {"name": "hub-token"}})},
    "claims": {
        "": nothing,
        "template": _claim_template,
    },
    "priority": {
        "": nothing,
        "high": lambda documents: documents.config.setdefault("pods", {}).update({"priorityClassName": "high"}),
    },
    "labels": {
        "": nothing,
        "own": lambda documents: documents.app.setdefault("workload", {}).update({"labels": {"team": "search"}}),
    },
    "flavors": {
        "": nothing,
        "two alike": lambda documents: _add_flavor(documents, {}),
        "two sizes": lambda documents: _add_flavor(documents, {"nvidia.com/gpu": 2}),
    },
    "neighbour": {"": nothing, **{kind: _neighbour(kind) for kind in ("chat", "embedding", "reranker", "classifier")}},
    "traffic": {
        "": nothing,
        "route": public_route,
        "split": _split,
        "alias": lambda documents: documents.others.append(
            document(
                "InferenceModel",
                "public",
                {"modelName": "public", "poolRef": {"name": "app"}, "targetModels": [{"name": "model"}]},
                "inference.networking.x-k8s.io/v1alpha2",
            )
        ),
    },
    "provider": {
        "": nothing,
        "same API": _provider(),
        **{schema: _provider(schema) for schema in ("Anthropic", "AzureOpenAI", "AWSBedrock")},
    },
    "budget": {"": nothing, "tokens": _budget},
    "layout": {name: _config(output={"layout": name}) for name in ("file", "app", "object")},
    "service": {
        "": nothing,
        "named": _app(service={"name": "engine", "port": 8000}),
        "engine's": _app(service={"name": "engine", "enginePort": 8000}),
    },
    "monitoring": {
        "": nothing,
        "on": _autoscaling,
    },
    "targets": {
        "new": _config(targets={"kubernetes": "1.35", "leaderWorkerSet": "0.11"}),
        "": nothing,
    },
    "images": {
        "": nothing,
        "mirror": _config(images={"mirrors": {"docker.io": "mirror.example/hub", "ghcr.io": "mirror.example/ghcr"}}),
    },
    "environment": {
        "": nothing,
        "prod": _config(environments={"prod": {"config": {"schedulerName": "night"}}}),
    },
    # The last: it takes away what a Service has not.
    "kind": {
        "": nothing,
        "service": _service(size=1),
        "group": _service(size=2),
        "leader and worker": _service(size=2, leader=True),
    },
}
SERVICES = ("service", "group", "leader and worker")  # values of the last parameter
OF_PLAYGROUNDS = (  # parameters whose values a Service has not
    *("engine", "hosts", "scale", "cooldown", "guard", "roles", "template", "variables", "offloading", "memory"),
    *("resources", "own volume", "claims", "rollout"),
)
NAMES = (
    "app",
    NEIGHBOUR,
    "model",
    "other-model",
    "draft-model",
    "lora-model",
    "public",
    "engine",
    "org/name-1.0",
)  # one of each in a row
NAMESPACES = ("llm", "search")


def make_documents(row: Mapping[str, str]) -> list[Node]:
    """The documents of a row: for each parameter the name of its value."""
    config = _new_config()
    documents = _documents_of(row, config)
    return [document("RenderConfig", "config", config, "renderer.llmaz.io/v1alpha1"), *documents]


def make_tree(rows: Sequence[Mapping[str, str]], *, first: int = 0) -> list[Node]:
    """The documents of several rows, whose apps are numbered from the first on and share a RenderConfig."""
    config = _new_config()
    documents = []
    for i, row in enumerate(rows):
        for body in _documents_of(row, config):
            renamed = _renamed(body, first + i)
            if body["kind"] != "OpenModel":
                renamed["metadata"]["namespace"] = NAMESPACES[i % len(NAMESPACES)]
            documents.append(renamed)
    return [document("RenderConfig", "config", config, "renderer.llmaz.io/v1alpha1"), *documents]


def _new_config() -> Node:
    return copy.deepcopy(ACCELERATORS)


def _documents_of(row: Mapping[str, str], config: Node) -> list[Node]:
    """The documents of a row beside the RenderConfig, whose spec it changes."""
    documents = Documents(
        config=config,
        model={"familyName": "family", "source": {"modelHub": {"modelID": "org/model"}}},
        app={"modelClaim": {"modelName": "model"}},
        others=[],
    )
    for parameter, values in PARAMETERS.items():
        values[row[parameter]](documents)
    skips = documents.app.pop("annotation", False)
    kind = "Service" if row["kind"] in SERVICES else "Playground"
    app = document(kind, "app", documents.app, "inference.llmaz.io/v1alpha1")
    if skips:
        app["metadata"]["annotations"] = {"llmaz.io/skip-model-loader": "true"}
    others = [copy.deepcopy(body) for body in documents.others]
    for body in others if kind == "Service" else ():
        for backend in body["spec"].get("backends") or ():
            if backend.get("playground") == "app":
                backend["service"] = backend.pop("playground")
    return [document("OpenModel", "model", documents.model), *others, app]


def _renamed(value: Any, number: int) -> Any:
    """A copy in which the names of a row have a number."""
    if isinstance(value, dict):
        return {key: _renamed(item, number) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, number) for item in value]
    return f"{value}-{number}" if value in NAMES else copy.copy(value)


def guarded_apps(documents: Iterable[Node]) -> dict[str, int]:
    """By app, the port of the container that answers for its engine."""
    ports = {
        body["metadata"]["name"]: (body["spec"].get("gateway") or {}).get("port")
        for body in documents
        if body["kind"] == "Playground"
    }
    return {name: port for name, port in ports.items() if port}
