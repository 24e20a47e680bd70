"""Faults that were met in public manifests, in other engines and kinds of workload than where they were met.

public_kinds.md names for each of them the test that has its right answer, and two of its brothers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from renderer.kubernetes.json_values import text_at
from tests.adopt.conftest import Adopted, Body
from tests.adopt.test_moved_values import llm_service, other, schemes
from tests.paths import TESTS

Adopt = Callable[..., Adopted]
GPU = {"limits": {"nvidia.com/gpu": 1}}
ENGINES: dict[str, Body] = {
    "vllm": {"image": "vllm/vllm-openai:v0.24.0", "args": ["--model", "Qwen/Qwen3-8B"]},
    "sglang": {
        "image": "lmsysorg/sglang:v0.5.10",
        "command": ["python3", "-m", "sglang.launch_server"],
        "args": ["--model-path", "Qwen/Qwen3-8B", "--host", "0.0.0.0"],  # noqa: S104 - of a pod
    },
    "llamacpp": {
        "image": "ghcr.io/ggml-org/llama.cpp:server-b9000",
        "args": ["-hf", "a/b", "--hf-file", "m.gguf", "--host", "0.0.0.0"],  # noqa: S104 - of a pod
    },
    "tgi": {
        "image": "ghcr.io/huggingface/text-generation-inference:3.3.7",
        "args": ["--model-id", "a/b", "--port", "8000"],
    },
}
VERSIONS = {"LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}


def container(engine: str, *args: str, **fields: Any) -> Body:
    """A container of an engine."""
    body = ENGINES[engine]
    return {"name": "server", **body, "args": [*body["args"], *args], "resources": GPU, **fields}


def workload(kind: str, body: Body, pod: Body | None = None, **spec: Any) -> Body:
    """A workload of one container."""
    labels = {"app": "chat"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [body], **(pod or {})}}
    if kind == "LeaderWorkerSet":
        spec["leaderWorkerTemplate"] = {"size": 1, "workerTemplate": template}
    else:
        spec |= {"selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "chat", "namespace": "llm"}
    return {"apiVersion": VERSIONS.get(kind, "apps/v1"), "kind": kind, "metadata": metadata, "spec": spec}


def chart(shared: Body | None = None, **model: Any) -> Body:
    """Values of the production stack's chart."""
    body: Body = {"name": "chat", "repository": "vllm/vllm-openai", "tag": "v0.24.0", "modelURL": "Qwen/Qwen3-8B"}
    body |= {"replicaCount": 1, "requestCPU": 4, "requestMemory": "16Gi", "requestGPU": 1, **model}
    return {"servingEngineSpec": {**(shared or {}), "modelSpec": [body]}}


def probe(port: int, **fields: str) -> Body:
    """A probe of an engine."""
    return {"httpGet": {"path": "/health", "port": port, **fields}}


def mounted(path: str, **volume: Any) -> tuple[Body, Body]:
    """Fields of a container and of its pod for a volume."""
    return {"volumeMounts": [{"name": "v", "mountPath": path}]}, {"volumes": [{"name": "v", **volume}]}


@pytest.mark.parametrize(("kind", "engine"), [("StatefulSet", "sglang"), ("LeaderWorkerSet", "vllm")])
def test_nothing_is_written_where_all_is_refused(adopt: Adopt, kind: str, engine: str) -> None:
    option = {"vllm": "--tensor-parallel-size", "sglang": "--tp"}[engine]
    ports = [{"name": "api", "port": 8000}, {"name": "side", "port": 9000}]
    service = other("v1", "Service", spec={"selector": {"app": "chat"}, "ports": ports})
    adopted = adopt(workload(kind, container(engine, option, "4")), service)
    assert adopted.code == 2
    assert "4 accelerators are needed, the pod has 1" in adopted.report
    assert "left     Service llm/beside" in adopted.report


@pytest.mark.parametrize(
    "body",
    [
        workload("StatefulSet", container("sglang", readinessProbe=probe(30000, scheme="HTTPS"))),
        workload("Deployment", container("llamacpp", readinessProbe=probe(8080, scheme="HTTPS"))),
        chart({"readinessProbe": probe(8000, scheme="HTTPS")}),
    ],
    ids=["sglang", "llamacpp", "chart"],
)
def test_https_probes_of_an_engine_without_a_certificate_do_not_come_over(adopt: Adopt, body: Body) -> None:
    """No controller gives it one, so they never succeeded."""
    adopted = adopt(body)
    assert adopted.code == 2
    assert "the readinessProbe asks by HTTPS" in adopted.report


@pytest.mark.parametrize("source", ["sglang", "llamacpp", "kserve"])
def test_all_probes_of_an_engine_with_a_certificate_use_https(adopt: Adopt, source: str) -> None:
    fields, pod = mounted("/tls", secret={"secretName": "tls"})
    names = ("--ssl-cert-file", "--ssl-key-file") if source == "llamacpp" else ("--ssl-certfile", "--ssl-keyfile")
    options = (names[0], "/tls/tls.crt", names[1], "/tls/tls.key")
    if source == "kserve":
        body = llm_service(args=[*options], readinessProbe=probe(8000, scheme="HTTPS"), **fields)
        body["spec"]["template"] |= pod
    else:
        port = {"sglang": 30000, "llamacpp": 8080}[source]
        fields["readinessProbe"] = probe(port, scheme="HTTPS")
        body = workload("Deployment", container(source, *options, **fields), pod)
    adopted = adopt(body)
    assert adopted.code == 0, adopted.report
    assert schemes(adopted.engine("LeaderWorkerSet" if source == "kserve" else "Deployment")) == {"HTTPS"}


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi"])
@pytest.mark.parametrize("kind", ["Deployment", "LeaderWorkerSet"])
def test_an_engine_by_its_options_and_its_name_is_compared(adopt: Adopt, kind: str, engine: str) -> None:
    """In the new pods it is called model-runner, and so its name tells no more of it."""
    options = {
        "vllm": ["--model", "a/b", "--gpu-memory-util", "0.9"],
        "sglang": ["--model-path", "a/b", "--mem-fraction-static", "0.8"],
        "tgi": ["--model-id", "a/b", "--max-input-tokens", "200"],
    }[engine]
    body: Body = {"name": engine, "image": "registry.example.com/own:7", "args": [*options, "--port", "9000"]}
    adopted = adopt(workload(kind, {**body, "resources": {"limits": {"gpu.intel.com/xe": 1}}}))
    assert adopted.code == 0, adopted.report
    assert "The container that runs the engine is called model-runner" in adopted.report
    assert f"containers[{engine}]" not in adopted.report
    assert adopted.engine(kind)["args"] == body["args"]


@pytest.mark.parametrize("kind", ["StatefulSet", "LeaderWorkerSet"])
def test_a_model_of_a_config_map_is_known(adopt: Adopt, kind: str) -> None:
    reference = {"configMapKeyRef": {"name": "beside", "key": "model"}}
    body = container("sglang", env=[{"name": "MODEL", "valueFrom": reference}])
    body["args"] = ["--model-path", "$(MODEL)"]
    adopted = adopt(workload(kind, body), other("v1", "ConfigMap", data={"model": "Qwen/Qwen3-8B"}))
    assert adopted.only("OpenModel")["spec"]["source"]["modelHub"]["modelID"] == "Qwen/Qwen3-8B"


IMAGE_VOLUME = mounted("/w", image={"reference": "registry.example.com/w:1"})
CLAIMS: Body = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}


@pytest.mark.parametrize(
    ("body", "release"),
    [
        (workload("LeaderWorkerSet", container("vllm", resources={"claims": [{"name": "gpu"}]}), CLAIMS), "1.34"),
        (workload("StatefulSet", container("sglang", **IMAGE_VOLUME[0]), IMAGE_VOLUME[1]), "1.35"),
        (workload("Deployment", container("tgi"), {"resources": {"limits": {"memory": "64Gi"}}}), "1.34"),
    ],
    ids=["claims", "volume of an image", "resources of a pod"],
)
def test_what_needs_a_newer_cluster_has_one(adopt: Adopt, body: Body, release: str) -> None:
    adopted = adopt(body)
    assert adopted.code < 2, adopted.report
    assert adopted.only("RenderConfig")["spec"]["targets"] == {"kubernetes": release}


@pytest.mark.parametrize("kind", ["ScaledObject", "VerticalPodAutoscaler"])
def test_of_two_autoscalers_one_is_told(adopt: Adopt, kind: str) -> None:
    target = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "chat"}
    load = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    metrics = [{"type": "Resource", "resource": load}]
    spec = {"scaleTargetRef": target, "maxReplicas": 5, "metrics": metrics}
    hpa = other("autoscaling/v2", "HorizontalPodAutoscaler", spec=spec)
    second = other("example.com/v1", kind, spec={"scaleTargetRef": target, "targetRef": target})
    adopted = adopt(workload("StatefulSet", container("vllm")), hpa, second)
    assert adopted.only("Playground")["spec"]["elasticConfig"]["maxReplicas"] == 5
    assert f"the {kind} 'beside' is lost" in adopted.report


@pytest.mark.parametrize(
    ("kind", "words"), [("LeaderWorkerSet", ()), ("Deployment", ("--as", "same"))], ids=["in its place", "same name"]
)
@pytest.mark.parametrize("is_told", [True, False], ids=["alone", "beside one that comes over"])
def test_an_autoscaler_that_stays_is_told_where_applies_write_replicas(
    adopt: Adopt, kind: str, words: tuple[str, ...], is_told: bool
) -> None:
    """Of a Playground with an autoscaler no number of replicas is rendered, and none is taken back."""
    target = {"apiVersion": VERSIONS.get(kind, "apps/v1"), "kind": kind, "name": "chat"}
    scaler = other("keda.sh/v1alpha1", "ScaledObject", spec={"scaleTargetRef": target, "maxReplicaCount": 3})
    own = other("autoscaling/v2", "HorizontalPodAutoscaler", spec={"scaleTargetRef": target, "maxReplicas": 5})
    adopted = adopt(workload(kind, container("vllm"), replicas=2), scaler, *([] if is_told else [own]), words=words)
    assert ("the number of replicas that the ScaledObject 'beside' sets is lost" in adopted.report) is is_told


@pytest.mark.parametrize("kind", ["StatefulSet", "LeaderWorkerSet"])
def test_a_workload_that_was_scaled_to_zero_starts(adopt: Adopt, kind: str) -> None:
    target = {"apiVersion": VERSIONS.get(kind, "apps/v1"), "kind": kind, "name": "chat"}
    scaler = other("keda.sh/v1alpha1", "ScaledObject", spec={"scaleTargetRef": target, "maxReplicaCount": 3})
    adopted = adopt(workload(kind, container("sglang"), replicas=0), scaler)
    assert adopted.only("Playground")["spec"]["replicas"] == 1
    assert "spec.replicas: 0 → 1" in adopted.report


def test_the_port_of_another_engine_stays(adopt: Adopt) -> None:
    spec = {"selector": {"matchLabels": {"app": "chat"}}, "podMetricsEndpoints": [{"port": "api"}]}
    monitor = other("monitoring.coreos.com/v1", "PodMonitor", spec=spec)
    body = container("sglang", ports=[{"name": "api", "containerPort": 30000}])
    adopted = adopt(workload("StatefulSet", body), monitor)
    assert adopted.engine("LeaderWorkerSet")["ports"][0]["containerPort"] == 30000
    assert "PodMonitor 'beside' names port api" in adopted.report


@pytest.mark.parametrize(("kind", "engine"), [("LeaderWorkerSet", "sglang"), ("StatefulSet", "llamacpp")])
def test_a_port_of_the_node_stays(adopt: Adopt, kind: str, engine: str) -> None:
    body = container(engine, "--port", "8888", ports=[{"containerPort": 8888}])
    adopted = adopt(workload(kind, body, {"hostNetwork": True}))
    assert adopted.engine("LeaderWorkerSet")["ports"][0]["containerPort"] == 8888


@pytest.mark.parametrize(
    ("kind", "engine", "service"), [("StatefulSet", "sglang", "NodePort"), ("Deployment", "tgi", "LoadBalancer")]
)
def test_a_service_keeps_its_ports(adopt: Adopt, kind: str, engine: str, service: str) -> None:
    port = {"sglang": 30000, "tgi": 8000}[engine]
    spec = {"type": service, "selector": {"app": "chat"}, "ports": [{"port": port, "nodePort": 30080}]}
    adopted = adopt(workload(kind, container(engine)), other("v1", "Service", spec=spec))
    moved = adopted.only("Service")["spec"]
    assert (moved["type"], moved["ports"]) == (service, [{"port": port, "nodePort": 30080, "targetPort": "http"}])


@pytest.mark.parametrize("source", ["kserve", "chart"])
def test_a_claim_with_weights_that_stays_is_told(adopt: Adopt, source: str) -> None:
    claim = other("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteMany"]})
    if source == "kserve":
        body = llm_service()
        body["spec"]["model"] = {"uri": "pvc://beside/chat"}
    else:
        body = chart(pvcExistingClaimName="beside", pvcStorage="10Gi")
        del claim["metadata"]["namespace"]
    assert "the new pods use PersistentVolumeClaim 'beside', which is not copied" in adopt(body, claim).report


def test_replicas_that_end_together_stay_so(adopt: Adopt) -> None:
    adopted = adopt(chart({"strategy": {"type": "Recreate"}}))
    assert adopted.code == 0, adopted.report
    assert adopted.only("Playground")["spec"]["workload"]["rollout"] == {"maxUnavailable": "100%"}


def test_a_strategy_that_nothing_is_like_is_told(adopt: Adopt) -> None:
    adopted = adopt(workload("StatefulSet", container("sglang"), updateStrategy={"type": "OnDelete"}))
    assert "spec.updateStrategy.type: OnDelete" in adopted.report


@pytest.mark.parametrize(
    ("kind", "field", "name"), [("hostPath", "path", "/srv/hub"), ("persistentVolumeClaim", "claimName", "hub")]
)
def test_a_cache_of_another_engine_stays_in_use(adopt: Adopt, kind: str, field: str, name: str) -> None:
    fields, pod = mounted("/root/.cache/huggingface", **{kind: {field: name}})
    adopted = adopt(workload("StatefulSet", container("sglang", **fields), pod))
    spec = adopted.rendered("LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    assert "initContainers" not in spec
    assert name in [text_at(volume, kind, field) for volume in spec["volumes"]]


@pytest.mark.parametrize(
    ("folder", "volume", "is_lost"),
    [
        ("/root/.cache/llama.cpp", {"hostPath": {"path": "/srv/gguf"}}, True),
        ("/cache", {"persistentVolumeClaim": {"claimName": "gguf"}}, True),
        ("/cache", {"emptyDir": {}}, False),
        ("/other", {"hostPath": {"path": "/srv/gguf"}}, False),
    ],
)
def test_a_cache_of_files_that_a_loader_does_not_use_is_told(
    adopt: Adopt, folder: str, volume: Body, is_lost: bool
) -> None:
    fields, pod = mounted(folder, **volume)
    if folder == "/cache":
        fields["env"] = [{"name": "LLAMA_CACHE", "value": "/cache"}]
    adopted = adopt(workload("Deployment", container("llamacpp", **fields), pod))
    assert f"the content of the volume at {folder} is lost" in adopted.report or not is_lost
    assert adopted.code == (1 if is_lost else 0)


@pytest.mark.parametrize(
    ("kind", "engine", "script", "variables", "source"),
    [
        (
            "StatefulSet",
            "sglang",
            "python3 -m sglang.launch_server --model-path ${MODEL} --host 0.0.0.0 --context-length $LENGTH",
            {"MODEL": "Qwen/Qwen3-8B", "LENGTH": "4096"},
            {"modelHub": {"modelID": "Qwen/Qwen3-8B"}},
        ),
        (
            "Deployment",
            "llamacpp",
            '/app/llama-server -m "${FILE}" --host 0.0.0.0',
            {"FILE": "/models/a.gguf"},
            {"uri": "host:///srv/models/a.gguf"},
        ),
    ],
)
def test_a_script_with_known_values_is_read(
    adopt: Adopt, kind: str, engine: str, script: str, variables: dict[str, str], source: Body
) -> None:
    fields, pod = mounted("/models", hostPath={"path": "/srv/models"})
    env = [{"name": name, "value": value} for name, value in variables.items()]
    body = container(engine, command=["/bin/sh", "-c"], args=[script], env=env, **fields)
    assert adopt(workload(kind, body, pod)).only("OpenModel")["spec"]["source"] == source


def test_one_part_of_a_request_is_told_of_a_chart(adopt: Adopt) -> None:
    adopted = adopt(chart(lmcacheConfig={"enabled": True, "kvRole": "kv_consumer"}))
    assert "'kv_consumer' of --kv-transfer-config does one part of each request" in adopted.report


@pytest.mark.parametrize("values", ["controllers", "engine"])
def test_values_of_another_chart_are_told_by_their_reason(adopt: Adopt, values: str) -> None:
    """Of Argo CD, as of Flux."""
    helm = {"valuesObject": {values: {"image": {"repository": "vllm/vllm-openai", "tag": "v0.24.0"}}}}
    source = {"repoURL": "https://charts.example.com", "chart": "app-template", "targetRevision": "4.0.0", "helm": helm}
    adopted = adopt(other("argoproj.io/v1alpha1", "Application", spec={"source": source}))
    assert adopted.code == 2
    assert "Application llm/beside gives values to a chart, which adopt does not render" in adopted.report


# The table

TABLE = TESTS / "adopt" / "public_kinds.md"
ROW = re.compile(r"\| (b-\d\d) \| [^|]+ \| ([^|]+) \| ([^|]+) \|")
PLACE = re.compile(r"`([^`:]+)(?:::(\w+)(?:\[([^`]+)\])?)?`")
MET = [*range(1, 21), *range(31, 50)]


def is_there(place: str, function: str, value: str) -> bool:
    """Whether a file or folder exists, and has a test of this name, and this value of a parameter."""
    path: Path = TESTS / place
    text = path.read_text("utf-8") if path.is_file() else ""
    return path.exists() and (not function or f"def {function}(" in text) and (not value or value in text)


def test_the_table_names_a_test_and_two_brothers_for_each() -> None:
    rows = [match.groups() for line in TABLE.read_text("utf-8").splitlines() if (match := ROW.fullmatch(line))]
    assert [name for name, _, _ in rows] == [f"b-{number:02}" for number in MET]
    own = {name: PLACE.findall(places) for name, places, _ in rows}
    brothers = {name: PLACE.findall(places) for name, _, places in rows}
    assert [name for name in own if not own[name] or len({*brothers[name]} - {*own[name]}) < 2] == []
    places = {place for table in (own, brothers) for listed in table.values() for place in listed}
    assert sorted(place for place in places if not is_there(*place)) == []
