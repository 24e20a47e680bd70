"""Values that fit only what was there before, and what lies beside the pods: each moves along, or is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from renderer.kubernetes.json_values import map_at, text_at, value_at
from tests.adopt.conftest import Adopted, Body

KEY = "sk-example-not-real-000000"


def deployment(*args: str, pod: Body | None = None, metadata: Body | None = None, **container: Any) -> Body:
    """A Deployment of vLLM."""
    engine: Body = {"name": "engine", "image": "vllm/vllm-openai:v0.24.0", "args": ["--model", "Qwen/Qwen3-8B", *args]}
    engine |= {"resources": {"limits": {"nvidia.com/gpu": 1}}, **container}
    labels = {"app": "chat"}
    template = {"metadata": {"labels": labels, **(metadata or {})}, "spec": {"containers": [engine], **(pod or {})}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": spec,
    }


def other(api_version: str, kind: str, **fields: Any) -> Body:
    """An object beside it."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "beside", "namespace": "llm"}, **fields}


def llm_service(**container: Any) -> Body:
    """KServe's object for the same model."""
    engine = {"name": "main", "image": "vllm/vllm-openai:v0.24.0", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec = {"model": {"uri": "hf://Qwen/Qwen3-8B"}, "template": {"containers": [{**engine, **container}]}}
    metadata = {"name": "chat", "namespace": "llm"}
    kind = "LLMInferenceService"
    return {"apiVersion": "serving.kserve.io/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}


# The port


@pytest.mark.parametrize(("args", "port"), [((), 8000), (("--port", "8888"), 8888), (("--port", "8080"), 8080)])
def test_the_engine_keeps_its_port(adopt: Callable[..., Adopted], args: tuple[str, ...], port: int) -> None:
    annotations = {"prometheus.io/scrape": "true", "prometheus.io/port": str(port)}
    adopted = adopt(deployment(*args, metadata={"labels": {"app": "chat"}, "annotations": annotations}))
    assert adopted.code == 0
    pod = adopted.rendered("Deployment")["spec"]["template"]
    assert pod["metadata"]["annotations"]["prometheus.io/port"] == str(port)
    assert adopted.engine()["ports"][0]["containerPort"] == port


def test_ports_of_a_node_stay(adopt: Callable[..., Adopted]) -> None:
    """Of a Service and of the pods themselves, which are in each other's way on a node."""
    node_port = {"port": 8888, "targetPort": 8888, "nodePort": 30080}
    service = other("v1", "Service", spec={"type": "NodePort", "selector": {"app": "chat"}, "ports": [node_port]})
    adopted = adopt(deployment("--port", "8888", pod={"hostNetwork": True}), service)
    moved = adopted.only("Service")
    assert moved["spec"]["type"] == "NodePort"
    assert moved["spec"]["ports"][0]["nodePort"] == 30080
    assert adopted.engine()["ports"][0]["containerPort"] == 8888
    assert "port 8888 of their node" in adopted.report


# Keys of the engine


@pytest.mark.parametrize(
    ("image", "args", "env"),
    [
        ("vllm/vllm-openai:v0.24.0", ["--model", "a/b", "--api-key", KEY], []),
        ("vllm/vllm-openai:v0.24.0", ["--model", "a/b", f"--api-key={KEY}"], []),
        ("vllm/vllm-openai:v0.24.0", ["--model", "a/b"], [{"name": "VLLM_API_KEY", "value": KEY}]),
        ("ghcr.io/ggml-org/llama.cpp:server", ["-hf", "a/b", "--hf-file", "m.gguf", "--api-key", KEY], []),
        ("ghcr.io/huggingface/text-generation-inference:3.3.7", ["--model-id", "a/b", "--api-key", KEY], []),
    ],
)
def test_a_key_becomes_a_reference_to_a_secret(
    adopt: Callable[..., Adopted], image: str, args: list[str], env: list[Body]
) -> None:
    body = deployment(image=image, env=env)
    body["spec"]["template"]["spec"]["containers"][0]["args"] = args
    adopted = adopt(body)
    assert adopted.code == 0, adopted.report
    assert KEY not in adopted.texts + adopted.report
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in adopted.engine()["env"]]
    assert {"name": "chat-api-key", "key": "api-key"} in references
    assert "kubectl create secret generic chat-api-key -n llm --from-literal=api-key=" in adopted.report


def test_an_engine_without_a_variable_for_its_key_gets_it_by_option(adopt: Callable[..., Adopted]) -> None:
    image, command = "lmsysorg/sglang:v0.5.9", ["python3", "-m", "sglang.launch_server"]
    body = deployment(image=image, command=command)
    args = ["--model-path", "Qwen/Qwen3-8B", "--api-key", KEY]
    body["spec"]["template"]["spec"]["containers"][0]["args"] = args
    adopted = adopt(body)
    assert adopted.code == 0, adopted.report
    engine = adopted.engine()
    assert "$(API_KEY)" in engine["args"]
    (variable,) = (entry for entry in engine["env"] if entry["name"] == "API_KEY")
    assert variable["valueFrom"] == {"secretKeyRef": {"name": "chat-api-key", "key": "api-key"}}


def test_several_keys_of_one_option_are_refused(adopt: Callable[..., Adopted]) -> None:
    """A word that is filled in may be an option, and the engine reads one key alone from a variable."""
    adopted = adopt(deployment("--api-key", KEY, f"{KEY}1"))
    assert adopted.code == 2
    assert KEY not in adopted.report


def test_a_sidecar_with_the_key_of_the_engine_has_it_from_the_secret(adopt: Callable[..., Adopted]) -> None:
    body = deployment("--api-key", KEY)
    sidecar = {"name": "probe", "image": "busybox:1.37", "env": [{"name": "UPSTREAM_API_KEY", "value": KEY}]}
    body["spec"]["template"]["spec"]["containers"].append(sidecar)
    adopted = adopt(body)
    assert adopted.code == 0, adopted.report
    spec = adopted.rendered("Deployment")["spec"]["template"]["spec"]
    (container,) = (item for item in spec["containers"] if item["name"] == "probe")
    assert container["env"][0]["valueFrom"] == {"secretKeyRef": {"name": "chat-api-key", "key": "api-key"}}


def test_a_key_in_a_script_is_no_key_that_everybody_knows(adopt: Callable[..., Adopted]) -> None:
    script = f"vllm serve Qwen/Qwen3-8B --api-key {KEY}"
    body = deployment(command=["bash", "-c", script])
    del body["spec"]["template"]["spec"]["containers"][0]["args"]
    adopted = adopt(body)
    assert "--api-key\n      - <hidden>" not in adopted.texts
    if adopted.code < 2:
        references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in adopted.engine().get("env", ())]
        assert {"name": "chat-api-key", "key": "api-key"} in references


def test_kserves_pods_keep_their_key(adopt: Callable[..., Adopted]) -> None:
    adopted = adopt(llm_service(env=[{"name": "VLLM_API_KEY", "value": KEY}]))
    assert adopted.code == 0, adopted.report
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in adopted.engine("LeaderWorkerSet")["env"]]
    assert {"name": "chat-api-key", "key": "api-key"} in references


def test_the_key_of_a_chart_becomes_a_reference(adopt: Callable[..., Adopted]) -> None:
    model: Body = {"name": "chat", "repository": "vllm/vllm-openai", "tag": "v0.24.0", "modelURL": "Qwen/Qwen3-8B"}
    model |= {"replicaCount": 1, "requestCPU": 4, "requestMemory": "16Gi", "requestGPU": 1}
    adopted = adopt({"servingEngineSpec": {"vllmApiKey": KEY, "modelSpec": [model]}})
    assert KEY not in adopted.texts + adopted.report
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in adopted.engine("LeaderWorkerSet")["env"]]
    assert {"name": "chat-api-key", "key": "api-key"} in references


@pytest.mark.parametrize(("ray", "is_refused"), [({}, True), ({"enabled": True}, True), ({"enabled": False}, False)])
def test_a_ray_cluster_of_a_chart_is_refused_as_one(adopt: Callable[..., Adopted], ray: Body, is_refused: bool) -> None:
    """Older charts make one wherever `raySpec` is."""
    model: Body = {"name": "chat", "repository": "vllm/vllm-openai", "tag": "v0.24.0", "modelURL": "Qwen/Qwen3-8B"}
    model |= {"replicaCount": 1, "requestCPU": 4, "requestMemory": "16Gi", "requestGPU": 1}
    model["raySpec"] = {"headNode": {"requestGPU": 1}, **ray}
    adopted = adopt({"servingEngineSpec": {"modelSpec": [model]}})
    assert ("it is a Ray cluster" in adopted.report) is is_refused
    assert adopted.code == (2 if is_refused else 0)


def test_hosts_of_a_group_keep_their_key(adopt: Callable[..., Adopted]) -> None:
    body = deployment("--api-key", KEY, "--tensor-parallel-size", "2")
    template = body["spec"]["template"]
    body["kind"], body["apiVersion"] = "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1"
    body["spec"] = {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    adopted = adopt(body)
    assert KEY not in adopted.texts + adopted.report
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in adopted.engine("LeaderWorkerSet")["env"]]
    assert {"name": "chat-api-key", "key": "api-key"} in references


def test_a_playground_keeps_its_key(adopt: Callable[..., Adopted]) -> None:
    config = {"backendName": "vllm", "args": ["--api-key", KEY]}
    spec = {"modelClaim": {"modelName": "m"}, "backendRuntimeConfig": config}
    metadata = {"name": "chat", "namespace": "llm"}
    app = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground", "metadata": metadata, "spec": spec}
    source = {"modelHub": {"modelID": "Qwen/Qwen3-8B"}}
    flavors = [{"name": "gpu", "limits": {"nvidia.com/gpu": 1}}]
    model_spec = {"familyName": "qwen3", "source": source, "inferenceConfig": {"flavors": flavors}}
    model = {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "m"}, "spec": model_spec}
    adopted = adopt(app, model)
    assert adopted.code == 0, adopted.report
    assert KEY not in adopted.texts + adopted.report
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in adopted.engine("LeaderWorkerSet")["env"]]
    assert {"name": "chat-api-key", "key": "api-key"} in references


# TLS

_TLS = ("--ssl-certfile", "/tls/tls.crt", "--ssl-keyfile", "/tls/tls.key")


def schemes(container: Body) -> set[str]:
    """The schemes of its probes."""
    probes = [container.get(kind) for kind in ("startupProbe", "readinessProbe", "livenessProbe")]
    return {text_at(probe, "httpGet", "scheme", default="HTTP") for probe in probes if map_at(probe, "httpGet")}


def test_probes_of_an_engine_with_a_certificate_use_https(adopt: Callable[..., Adopted]) -> None:
    probe = {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTPS"}}
    mounts = [{"name": "tls", "mountPath": "/tls", "readOnly": True}]
    pod = {"volumes": [{"name": "tls", "secret": {"secretName": "chat-tls"}}]}
    adopted = adopt(deployment(*_TLS, pod=pod, readinessProbe=probe, volumeMounts=mounts))
    assert adopted.code == 0
    assert schemes(adopted.engine()) == {"HTTPS"}


def test_probes_of_an_engine_without_one_use_http(adopt: Callable[..., Adopted]) -> None:
    """KServe gives certificates to its engines, and their probes use HTTPS; ours have none."""
    probe = {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTPS"}, "periodSeconds": 7}
    adopted = adopt(llm_service(readinessProbe=probe, livenessProbe=probe))
    assert adopted.code == 0
    engine = adopted.engine("LeaderWorkerSet")
    assert schemes(engine) == {"HTTP"}
    assert value_at(engine, "readinessProbe", "periodSeconds") == 7
    assert "HTTPS" in adopted.report


def test_an_https_probe_that_may_have_a_certificate_stays(adopt: Callable[..., Adopted]) -> None:
    """A file of settings may name the certificate."""
    probe = {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTPS"}}
    pod = {"volumes": [{"name": "c", "configMap": {"name": "c"}}]}
    mounts = [{"name": "c", "mountPath": "/c"}]
    adopted = adopt(deployment("--config", "/c/a.yaml", readinessProbe=probe, pod=pod, volumeMounts=mounts))
    assert text_at(adopted.engine(), "readinessProbe", "httpGet", "scheme") == "HTTPS"


# Objects beside the workload


def test_a_policy_of_the_old_pods_is_told(adopt: Callable[..., Adopted]) -> None:
    spec = {"podSelector": {"matchLabels": {"app": "chat"}}, "ingress": [{"ports": [{"port": 8000}]}]}
    adopted = adopt(deployment(), other("networking.k8s.io/v1", "NetworkPolicy", spec=spec))
    assert adopted.code == 0
    assert "NetworkPolicy 'beside' selects pods by app: chat" in adopted.report
    assert "app: chat-llmaz" in adopted.report


def test_a_policy_that_lets_the_old_pods_in_is_told(adopt: Callable[..., Adopted]) -> None:
    peer = {"podSelector": {"matchLabels": {"app": "chat"}}}
    spec = {"podSelector": {"matchLabels": {"app": "redis"}}, "ingress": [{"from": [peer]}]}
    adopted = adopt(deployment(), other("networking.k8s.io/v1", "NetworkPolicy", spec=spec))
    assert "NetworkPolicy 'beside' selects pods by app: chat" in adopted.report


def test_a_policy_of_all_pods_is_not_told(adopt: Callable[..., Adopted]) -> None:
    adopted = adopt(deployment(), other("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}}))
    assert "'beside' selects pods" not in adopted.report


def test_pods_of_others_are_not_told(adopt: Callable[..., Adopted]) -> None:
    spec = {"podSelector": {"matchLabels": {"app": "redis"}}}
    adopted = adopt(deployment(), other("networking.k8s.io/v1", "NetworkPolicy", spec=spec))
    assert "'beside' selects pods" not in adopted.report


@pytest.mark.parametrize("words", [(), ("--as", "same")])
def test_a_monitor_of_a_port_by_its_name_is_told(adopt: Callable[..., Adopted], words: tuple[str, ...]) -> None:
    spec = {"selector": {"matchLabels": {"app": "chat"}}, "podMetricsEndpoints": [{"port": "api"}]}
    monitor = other("monitoring.coreos.com/v1", "PodMonitor", spec=spec)
    adopted = adopt(deployment(ports=[{"name": "api", "containerPort": 8000}]), monitor, words=words)
    assert adopted.code == 0
    assert "PodMonitor 'beside' names port api" in adopted.report
    assert ("selects pods by" in adopted.report) == (not words)


def test_a_selector_by_expressions_is_read(adopt: Callable[..., Adopted]) -> None:
    expression = {"key": "app", "operator": "In", "values": ["chat"]}
    spec = {"podSelector": {"matchExpressions": [expression]}}
    adopted = adopt(deployment(), other("networking.k8s.io/v1", "NetworkPolicy", spec=spec))
    assert "NetworkPolicy 'beside' selects pods by app: chat" in adopted.report


def found_by(labels: Body) -> Body:
    """A Deployment with labels by which a gateway may find its pods."""
    body = deployment(metadata={"labels": labels})
    body["spec"]["selector"]["matchLabels"] = labels
    return body


@pytest.mark.parametrize(
    "label",
    ["model.aibrix.ai/name", "llm-d.ai/model", "llm-d.ai/inferenceServing", "serving.kserve.io/inferenceservice"],
)
def test_a_gateway_goes_on_finding_pods_by_a_label_of_its_own(adopt: Callable[..., Adopted], label: str) -> None:
    """The value stays, and so does the Service, which leads to old and new pods."""
    spec = {"selector": {label: "chat"}, "ports": [{"port": 8000, "targetPort": 8000}]}
    adopted = adopt(found_by({label: "chat"}), other("v1", "Service", spec=spec))
    assert adopted.code == 0, adopted.report
    assert adopted.rendered("Deployment")["spec"]["template"]["metadata"]["labels"][label] == "chat"
    assert adopted.only("Service")["spec"] == spec
    assert "Service beside leads to old and new pods" in adopted.report
    assert "Services lead to old and new pods" in adopted.report
    assert "which are not among these files" not in adopted.report


def test_another_label_changes_beside_one_of_a_gateway(adopt: Callable[..., Adopted]) -> None:
    labels = {"model.aibrix.ai/name": "chat", "app": "chat"}
    spec = {"selector": {"app": "chat"}, "ports": [{"port": 8000, "targetPort": 8000}]}
    adopted = adopt(found_by(labels), other("v1", "Service", spec=spec))
    new = adopted.rendered("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert (new["model.aibrix.ai/name"], new["app"]) == ("chat", "chat-llmaz")
    assert adopted.only("Service")["spec"]["selector"] != {"app": "chat"}


@pytest.mark.parametrize("selector", [{"matchLabels": {"app": "chat"}}, {"app": "chat"}])
def test_a_pool_goes_on_finding_pods(adopt: Callable[..., Adopted], selector: Body) -> None:
    spec = {"selector": selector, "targetPorts": [{"number": 8000}]}
    adopted = adopt(deployment(), other("inference.networking.k8s.io/v1", "InferencePool", spec=spec))
    assert "selects pods by" not in adopted.report
    assert adopted.rendered("Deployment")["spec"]["template"]["metadata"]["labels"]["app"] == "chat"
    assert adopted.engine()["ports"][0]["containerPort"] == 8000


@pytest.mark.parametrize(
    "words",
    [
        ["--service-discovery", "k8s", "--k8s-label-selector", "environment=test,release=test"],
        ["--k8s-label-selector=environment=test,release=test", "--routing-logic", "roundrobin"],
        ["--service-discovery", "--selector", "environment=test", "release=test", "--policy", "cache_aware"],
        [
            "--pd-disaggregation",
            "--prefill-selector",
            "environment=other",
            "--decode-selector",
            "environment=test",
            "release=test",
        ],
    ],
)
def test_a_router_goes_on_finding_pods(adopt: Callable[..., Adopted], words: list[str]) -> None:
    router = {"name": "router", "image": "lmcache/lmstack-router:v0.1.7", "args": words}
    template = {"metadata": {"labels": {"app": "router"}}, "spec": {"containers": [router]}}
    spec = {"selector": {"matchLabels": {"app": "router"}}, "template": template}
    labels = {"environment": "test", "release": "test", "model": "chat"}
    adopted = adopt(found_by(labels), other("apps/v1", "Deployment", spec=spec))
    new = adopted.rendered("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert {key: new[key] for key in labels} == {**labels, "model": "chat-llmaz"}


def test_options_of_others_keep_no_label(adopt: Callable[..., Adopted]) -> None:
    other_words = ["--selector", "app=api", "--labels", "app=chat"]
    pod = {
        "metadata": {"labels": {"app": "api"}},
        "spec": {"containers": [{"name": "a", "image": "a:1", "args": other_words}]},
    }
    spec = {"selector": {"matchLabels": {"app": "api"}}, "template": pod}
    adopted = adopt(deployment(), other("apps/v1", "Deployment", spec=spec))
    assert adopted.rendered("Deployment")["spec"]["template"]["metadata"]["labels"]["app"] == "chat-llmaz"


# One part of each request


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        (("--kv-transfer-config", json.dumps({"kv_connector": "NixlConnector", "kv_role": "kv_producer"})), True),
        (("--kv-transfer-config", json.dumps({"kv_connector": "NixlConnector", "kv_role": "kv_consumer"})), True),
        (("--kv-transfer-config.kv_role", "kv_consumer"), True),
        (("--kv-transfer-config", json.dumps({"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"})), False),
        ((), False),
    ],
)
def test_one_part_of_a_request_is_told(adopt: Callable[..., Adopted], words: tuple[str, ...], is_told: bool) -> None:
    adopted = adopt(deployment(*words))
    assert adopted.code == 0, adopted.report
    assert ("does one part of each request" in adopted.report) is is_told


@pytest.mark.parametrize(("mode", "is_told"), [("prefill", True), ("decode", True), ("null", False)])
def test_one_part_of_a_request_is_told_of_other_engines(
    adopt: Callable[..., Adopted], mode: str, is_told: bool
) -> None:
    body = deployment(image="lmsysorg/sglang:v0.5.9", command=["python3", "-m", "sglang.launch_server"])
    args = ["--model-path", "Qwen/Qwen3-8B", "--disaggregation-mode", mode]
    body["spec"]["template"]["spec"]["containers"][0]["args"] = args
    adopted = adopt(body)
    assert adopted.code < 2, adopted.report
    assert ("does one part of each request" in adopted.report) is is_told


@pytest.mark.parametrize(("role", "is_told"), [("prefill", True), ("both", False)])
def test_a_label_that_says_one_part_is_told(adopt: Callable[..., Adopted], role: str, is_told: bool) -> None:
    adopted = adopt(deployment(metadata={"labels": {"app": "chat", "llm-d.ai/role": role}}))
    assert ("does one part of each request" in adopted.report) is is_told


def test_a_route_by_port_goes_on_leading_to_its_service(adopt: Callable[..., Adopted]) -> None:
    service = other("v1", "Service", spec={"selector": {"app": "chat"}, "ports": [{"port": 80, "targetPort": 8000}]})
    rules = [{"backendRefs": [{"name": "beside", "port": 80}]}]
    route = other("gateway.networking.k8s.io/v1", "HTTPRoute", spec={"rules": rules})
    moved = adopt(deployment(), service, route).only("Service")
    assert moved["metadata"] == {"name": "beside", "namespace": "llm"}
    assert moved["spec"]["ports"] == [{"port": 80, "targetPort": "http"}]


# What the pods use


def test_a_claim_that_stays_is_told(adopt: Callable[..., Adopted]) -> None:
    claim = other("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteMany"]})
    mounts = [{"name": "cache", "mountPath": "/root/.cache/huggingface"}]
    pod = {"volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": "beside"}}]}
    adopted = adopt(deployment(pod=pod, volumeMounts=mounts), claim)
    assert adopted.code == 0
    assert "the new pods use PersistentVolumeClaim 'beside', which is not copied" in adopted.report
    assert "prune" in adopted.report


def test_a_claim_of_others_is_not_told(adopt: Callable[..., Adopted]) -> None:
    claim = other("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteMany"]})
    assert "the new pods use" not in adopt(deployment(), claim).report


def test_a_secret_and_an_account_that_stay_are_told(adopt: Callable[..., Adopted]) -> None:
    env = [{"name": "DB", "valueFrom": {"secretKeyRef": {"name": "beside", "key": "a"}}}]
    bodies = [other("v1", "Secret", stringData={"a": "b"}), other("v1", "ServiceAccount")]
    adopted = adopt(deployment(env=env, pod={"serviceAccountName": "beside"}), *bodies, words=("-v",))
    assert "the new pods use Secret 'beside', which is not copied" in adopted.report
    assert "the new pods use ServiceAccount 'beside', which is not copied" in adopted.report


@pytest.mark.parametrize("offline", [False, True])
def test_a_cache_of_the_node_stays_in_use(adopt: Callable[..., Adopted], offline: bool) -> None:
    """A loader would load the model into each pod anew, or try to where there is no hub."""
    mounts = [{"name": "cache", "mountPath": "/root/.cache/huggingface"}]
    pod = {"volumes": [{"name": "cache", "hostPath": {"path": "/srv/huggingface", "type": "Directory"}}]}
    env = [{"name": "HF_HUB_OFFLINE", "value": "1"}] if offline else []
    adopted = adopt(deployment(pod=pod, volumeMounts=mounts, env=env))
    assert adopted.code == 0, adopted.report
    spec = adopted.rendered("Deployment")["spec"]["template"]["spec"]
    assert "initContainers" not in spec
    assert pod["volumes"][0] in spec["volumes"]
    assert mounts[0] in adopted.engine()["volumeMounts"]
    assert "Qwen/Qwen3-8B" in adopted.engine()["args"]
    assert ({"name": "HF_HUB_OFFLINE", "value": "1"} in adopted.engine().get("env", [])) == offline


def test_a_folder_of_downloads_on_a_claim_stays_in_use(adopt: Callable[..., Adopted]) -> None:
    mounts = [{"name": "cache", "mountPath": "/cache"}]
    pod = {"volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": "w"}}]}
    adopted = adopt(deployment("--download-dir", "/cache", pod=pod, volumeMounts=mounts))
    assert adopted.code == 0, adopted.report
    args = adopted.engine()["args"]
    assert args[args.index("--download-dir") + 1] == "/cache"
    assert mounts[0] in adopted.engine()["volumeMounts"]


def test_a_pinned_node_needs_room_for_old_and_new_pods(adopt: Callable[..., Adopted]) -> None:
    adopted = adopt(deployment(pod={"nodeSelector": {"kubernetes.io/hostname": "gpu-1"}}))
    line = next(line for line in adopted.report.splitlines() if "the node gpu-1" in line)
    assert "1 nvidia.com/gpu" in line
    assert "cpu 4" in line
    assert "memory 16Gi" in line


def test_another_kind_is_told_with_its_controller(adopt: Callable[..., Adopted]) -> None:
    assert "LeaderWorkerSet's controller" in adopt(llm_service()).report


def test_a_deployment_needs_no_controller(adopt: Callable[..., Adopted]) -> None:
    assert "LeaderWorkerSet's controller" not in adopt(deployment()).report


# Accelerators that no limit names


CLAIM: Body = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "beside"}]}


def test_claimed_devices_of_a_pod_stay(adopt: Callable[..., Adopted]) -> None:
    """The cluster has them, so the tree's target is new enough."""
    claims = {"claims": [{"name": "gpu"}]}
    template = other("resource.k8s.io/v1", "ResourceClaimTemplate", spec={"spec": {"devices": {}}})
    adopted = adopt(deployment(pod=CLAIM, resources=claims), template)
    assert adopted.code == 0, adopted.report
    assert adopted.rendered("Deployment")["spec"]["template"]["spec"]["resourceClaims"] == CLAIM["resourceClaims"]
    engine = adopted.engine()
    assert engine["resources"]["claims"] == claims["claims"]
    assert engine["image"] == "vllm/vllm-openai:v0.24.0"
    assert adopted.only("RenderConfig")["spec"]["targets"] == {"kubernetes": "1.34"}
    assert "the new pods use ResourceClaimTemplate 'beside', which is not copied" in adopted.report


def test_targets_are_written_for_what_needs_them_alone(adopt: Callable[..., Adopted]) -> None:
    assert "targets" not in adopt(deployment()).only("RenderConfig")["spec"]


def dra_service(**annotations: str) -> Body:
    """KServe's object with annotations by which it claims devices."""
    body = llm_service(resources={"limits": {"cpu": "4"}})
    del body["spec"]["template"]["containers"][0]["image"]
    body["metadata"]["annotations"] = {f"serving.kserve.io/exp-dra-{key}": text for key, text in annotations.items()}
    return body


@pytest.mark.parametrize(
    ("annotations", "claims"),
    [
        ({"device-class": "gpu.nvidia.com"}, {"deviceClassName": "gpu.nvidia.com", "count": 1}),
        ({"device-class": "gpu.amd.com", "device-count": "4"}, {"deviceClassName": "gpu.amd.com", "count": 4}),
        (
            {"device-class": "gpu.nvidia.com", "cel-selector": "device.driver == 'a'\n\n1 == 1\n"},
            {"deviceClassName": "gpu.nvidia.com", "count": 1, "selectors": ["device.driver == 'a'", "1 == 1"]},
        ),
    ],
)
def test_devices_that_kserve_claims_are_those_of_the_flavor(
    adopt: Callable[..., Adopted], annotations: dict[str, str], claims: Body
) -> None:
    adopted = adopt(dra_service(**annotations))
    assert adopted.code == 0, adopted.report
    config, model = adopted.only("RenderConfig")["spec"], adopted.only("OpenModel")["spec"]
    (name,) = (flavor["name"] for flavor in model["inferenceConfig"]["flavors"])
    assert config["flavors"] == {name: {"claims": claims}}
    assert config["targets"] == {"kubernetes": "1.34"}
    engine = adopted.engine("LeaderWorkerSet")
    assert "cpu" not in engine["image"]
    assert engine["resources"]["claims"]


def test_two_numbers_of_devices_are_two_flavors(adopt: Callable[..., Adopted]) -> None:
    one, four = dra_service(**{"device-class": "gpu.nvidia.com"}), dra_service(**{"device-class": "gpu.nvidia.com"})
    four["metadata"]["annotations"]["serving.kserve.io/exp-dra-device-count"] = "4"
    four["metadata"]["name"] = "large"
    counts = [flavor["claims"]["count"] for flavor in adopt(one, four).only("RenderConfig")["spec"]["flavors"].values()]
    assert sorted(counts) == [1, 4]


def test_two_selectors_of_devices_are_two_flavors(adopt: Callable[..., Adopted]) -> None:
    one, other_one = (
        dra_service(**{"device-class": "gpu.nvidia.com", "cel-selector": text}) for text in ("1 == 1", "2 == 2")
    )
    other_one["metadata"]["name"], other_one["spec"]["model"]["uri"] = "other", "hf://a/other"
    flavors = adopt(one, other_one).only("RenderConfig")["spec"]["flavors"].values()
    assert [flavor["claims"]["selectors"] for flavor in flavors] == [["1 == 1"], ["2 == 2"]]


@pytest.mark.parametrize("count", ["0", "two", "-1"])
def test_a_number_of_devices_that_is_none_is_refused(adopt: Callable[..., Adopted], count: str) -> None:
    adopted = adopt(dra_service(**{"device-class": "gpu.nvidia.com", "device-count": count}))
    assert adopted.code == 2
    assert "is no number of devices" in adopted.report


@pytest.mark.parametrize(
    ("pod", "limits"),
    [({"runtimeClassName": "nvidia"}, {}), (CLAIM, {}), ({}, {"vendor.example/gpu": 1})],
    ids=["runtime class", "claims", "another resource"],
)
def test_a_pod_whose_accelerators_nothing_names_gets_no_image_for_cpus(
    adopt: Callable[..., Adopted], pod: Body, limits: Body
) -> None:
    body = llm_service(resources={"limits": {"cpu": "4", **limits}})
    del body["spec"]["template"]["containers"][0]["image"]
    body["spec"]["template"] |= pod
    adopted = adopt(body)
    assert adopted.code == 0, adopted.report
    assert "no limit names an accelerator" in adopted.report
    assert "cpu" not in adopted.engine("LeaderWorkerSet")["image"]


def test_a_pod_for_cpus_goes_on_with_its_image(adopt: Callable[..., Adopted]) -> None:
    body = llm_service(resources={"limits": {"cpu": "4"}})
    del body["spec"]["template"]["containers"][0]["image"]
    adopted = adopt(body)
    assert "no limit names an accelerator" not in adopted.report
    assert "cpu" in adopted.engine("LeaderWorkerSet")["image"]
