"""The keys that are combined, and the input that a row of them makes: a RenderConfig, OpenModels and a Playground.

A value of a parameter is a change of the documents. Values that llmaz refuses beside others stay in: a refusal with a
code is an answer too, and rows that render are counted apart.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
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


def _scale_by_keda(documents: Documents) -> None:
    _scale(documents)
    documents.config["autoscaling"] = copy.deepcopy(KEDA)


def _app(**fields: Any) -> Change:
    return lambda documents: documents.app.update(copy.deepcopy(fields))


def _weights_at(documents: Documents, root: str) -> None:
    name = documents.model["source"].get("modelHub", {}).get("filename", "model")
    documents.model["source"] = {"uri": f"{root}/{name}"}


def _add_flavor(documents: Documents, limits: Node) -> None:
    flavors = documents.model.setdefault("inferenceConfig", {}).setdefault("flavors", [])
    flavors.append({"name": "second", "limits": limits or (flavors[0]["limits"] if flavors else {"nvidia.com/gpu": 1})})
    flavors[-1]["limits"] = dict(flavors[-1]["limits"])
    flavors[-1]["nodeSelector"] = {"gpu": "second"}


def _claim_template(documents: Documents) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "50Gi"}}}
    template = {"metadata": {"name": "scratch"}, "spec": claim}
    documents.app.setdefault("workload", {})["volumeClaimTemplates"] = [template]
    documents.runner.setdefault("volumeMounts", []).append({"name": "scratch", "mountPath": "/scratch"})


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
        "none": _flavor(None),
    },
    "workload": {
        "": nothing,
        "deployment": _app(workload={"kind": "Deployment"}),
        "topology": _app(workload={"exclusiveTopology": "topology.kubernetes.io/zone"}),
        "queue": _app(workload={"queue": "team"}),
    },
    "hosts": {
        "": nothing,
        "two": _app(parallelism={"tensor": 1, "pipeline": 2}),
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
    },
    "gateway": {
        "off": _config(gateway={"mode": "off"}),
        "backend": nothing,
        "pool": _app(gateway={"mode": "pool"}),
        "packed": _config(gateway={"routeLayout": "packed"}),
    },
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
    "traffic": {
        "": nothing,
        "route": lambda documents: documents.others.append(
            document(
                "ModelRoute",
                "public",
                {"modelName": "public", "backends": [{"playground": "app", "weight": 90}]},
                "renderer.llmaz.io/v1alpha1",
            )
        ),
    },
    "layout": {name: _config(output={"layout": name}) for name in ("file", "app", "object")},
    "service": {
        "": nothing,
        "named": _app(service={"name": "engine", "port": 8000}),
        "engine's": _app(service={"name": "engine", "enginePort": 8000}),
    },
    "monitoring": {
        "": nothing,
        "on": lambda documents: documents.config.setdefault("autoscaling", {}).update(copy.deepcopy(KEDA)),
    },
    "targets": {
        "new": _config(targets={"kubernetes": "1.34", "leaderWorkerSet": "0.11"}),
        "": nothing,
    },
    "images": {
        "": nothing,
        "mirror": _config(images={"mirrors": {"docker.io": "mirror.example/hub", "ghcr.io": "mirror.example/ghcr"}}),
    },
}


def make_documents(row: Mapping[str, str]) -> list[Node]:
    """The documents of a row: for each parameter the name of its value."""
    documents = Documents(
        config={"accelerators": {"squat.ai/nvidia": {"vendor": "nvidia"}}},
        model={"familyName": "family", "source": {"modelHub": {"modelID": "org/model"}}},
        app={"modelClaim": {"modelName": "model"}},
        others=[],
    )
    for parameter, values in PARAMETERS.items():
        values[row[parameter]](documents)
    app = document("Playground", "app", documents.app, "inference.llmaz.io/v1alpha1")
    if documents.app.pop("annotation", False):
        app["metadata"]["annotations"] = {"llmaz.io/skip-model-loader": "true"}
    return [
        document("RenderConfig", "config", documents.config, "renderer.llmaz.io/v1alpha1"),
        document("OpenModel", "model", documents.model),
        *documents.others,
        app,
    ]
