"""Trees in which random combinations once found a fault, made small, with their brothers in other engines."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import yamlio
from tests.combinations import cluster
from tests.inputs import document
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Llmaz

Node = dict[str, Any]
ZONES = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
ENGINES = ("vllm", "sglang", "tgi")
TO_ZERO = {
    "autoscaler": "keda",
    "metricSource": {"type": "prometheus"},
    "keda": {
        "prometheus": {"serverAddress": "http://prometheus.monitoring:9090"},
        "interceptor": {"service": "interceptor-proxy", "namespace": "keda"},
    },
}
GUARD = {
    "name": "guard",
    "image": "registry.example/guard:1",
    "restartPolicy": "Always",
    "ports": [{"containerPort": 9000}],
}
DISK = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}}


def playground(engine: str = "vllm", **spec: Any) -> Node:
    claim = {} if "modelClaims" in spec else {"modelClaim": {"modelName": "qwen3-8b"}}
    engines = {"backendRuntimeConfig": {"backendName": engine}}
    return document("Playground", "chat", {**claim, **engines, **spec}, "llm")


def write(folder: Path, *documents: Node, **config: Any) -> None:
    """A tree with these documents, and a RenderConfig of these settings."""
    (folder / "llmaz.yaml").write_text(yamlio.dump(document("RenderConfig", "config", config)))
    (folder / "tree.yaml").write_text("---\n".join(map(yamlio.dump, documents)))


def render(llmaz: Llmaz, *args: str) -> list[Node]:
    """What is rendered of the current folder."""
    done = llmaz("render", "--stdout", *args)
    assert done.code == 0, done.err
    return [body for body in yaml.safe_load_all(done.out) if body]


def of_kind(documents: list[Node], kind: str) -> Node:
    (body,) = [body for body in documents if body["kind"] == kind]
    return body


def service(*, leader: bool) -> Node:
    """A Service whose replicas have two pods, of one or of two templates."""
    container = {"name": "model-runner", "image": "registry.example/server:1", "ports": [{"containerPort": 8000}]}
    pod = {"spec": {"containers": [container]}}
    template = {"size": 2, "workerTemplate": pod, **({"leaderTemplate": pod} if leader else {})}
    spec = {"modelClaims": {"models": [{"name": "qwen3-8b"}]}, "workloadTemplate": template}
    return {**document("Playground", "big", spec, "llm"), "kind": "Service"}


@pytest.mark.parametrize("leader", [True, False])
def test_a_network_policy_covers_workers_of_a_service(folder: Path, llmaz: Llmaz, leader: bool) -> None:
    write(folder, service(leader=leader), pods={"networkPolicy": True})
    documents = render(llmaz)
    assert list(cluster.shut_out(documents)) == []
    assert len(cluster.all_pods(documents)) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_requests_that_wake_a_model_pass_its_guard(folder: Path, llmaz: Llmaz, engine: str) -> None:
    elastic = {"minReplicas": 0, "maxReplicas": 4}
    pod = {"spec": {"initContainers": [GUARD]}}
    write(
        folder,
        playground(engine, elasticConfig=elastic, gateway={"port": 9000}, podTemplate=pod),
        autoscaling=TO_ZERO,
        pods={"networkPolicy": True},
    )
    documents = render(llmaz)
    assert list(cluster.faults(documents, {"chat": 9000})) == []
    target = of_kind(documents, "InterceptorRoute")["spec"]["target"]
    assert cluster.target_ports(documents, "llm", target["service"], target["port"]) == {9000}
    assert cluster.target_ports(documents, "llm", "chat-lb", 8080) == {8080}  # as docs/workload.md promises


MODEL_VOLUMES: Mapping[str, Mapping[str, Any]] = {
    "ephemeral": {
        "podTemplate": {
            "spec": {"volumes": [{"name": "model-volume", "ephemeral": {"volumeClaimTemplate": {"spec": DISK}}}]}
        }
    },
    "claim": {
        "podTemplate": {
            "spec": {"volumes": [{"name": "model-volume", "persistentVolumeClaim": {"claimName": "weights"}}]}
        }
    },
    "claim of each pod": {"workload": {"volumeClaimTemplates": [{"metadata": {"name": "model-volume"}, "spec": DISK}]}},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("volume", MODEL_VOLUMES)
def test_loaders_write_a_model_volume_of_the_users(folder: Path, llmaz: Llmaz, volume: str, engine: str) -> None:
    write(folder, playground(engine, **MODEL_VOLUMES[volume]))
    documents = render(llmaz)
    assert list(cluster.faults(documents, {})) == []
    (pods,) = cluster.all_pods(documents)
    assert pods.spec["securityContext"]["fsGroup"] == 65532
    assert [volume["name"] for volume in pods.spec["volumes"]].count("model-volume") == (volume != "claim of each pod")


@pytest.mark.parametrize("hardening", ["openshift", "off"])
def test_a_user_that_the_namespace_gives_has_a_group_too(folder: Path, llmaz: Llmaz, hardening: str) -> None:
    write(folder, playground(**MODEL_VOLUMES["ephemeral"]), hardening=hardening)
    (pods,) = cluster.all_pods(render(llmaz))
    assert ("fsGroup" in (pods.spec.get("securityContext") or {})) == (hardening == "off")


GROUPS: Mapping[str, Node] = {
    "vllm": playground("vllm", parallelism={"pipeline": 2}),
    "sglang": playground("sglang", parallelism={"pipeline": 2}),
    "every pod answers": playground(
        "vllm", modelClaim={"modelName": "deepseek-r1"}, parallelism={"data": 16}, gateway={"mode": "pool"}
    ),
    "two templates": service(leader=True),
    "one template": service(leader=False),
}


@pytest.mark.parametrize("group", GROUPS)
def test_only_leaders_are_spread(folder: Path, llmaz: Llmaz, group: str) -> None:
    write(folder, GROUPS[group], pods={"topologySpreadConstraints": [ZONES]}, targets={"kubernetes": "1.34"})
    leader, worker = [pods for pods in cluster.all_pods(render(llmaz)) if cluster.is_engine(pods)]
    assert [*cluster.counted_without(leader), *cluster.counted_without(worker)] == []
    assert "topologySpreadConstraints" in leader.spec
    assert "topologySpreadConstraints" not in worker.spec


def test_a_spread_that_somebody_wrote_stays(folder: Path, llmaz: Llmaz) -> None:
    own = {
        **ZONES,
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "chat"}},
    }
    pod = {"spec": {"topologySpreadConstraints": [ZONES, own]}}
    write(folder, playground(parallelism={"pipeline": 2}, podTemplate=pod))
    leader, worker = cluster.all_pods(render(llmaz))
    assert len(leader.spec["topologySpreadConstraints"]) == 2
    assert worker.spec["topologySpreadConstraints"] == [own]


@pytest.mark.parametrize("kubernetes", ["1.34", ""])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_budget_that_a_value_switches_on_is_as_rendered(
    folder: Path, llmaz: Llmaz, engine: str, kubernetes: str
) -> None:
    config = {"targets": {"kubernetes": kubernetes}} if kubernetes else {}
    write(folder, playground(engine), **config)
    assert llmaz("render", "--to", "helm", "-o", folder / "chart").code == 0
    values = folder / "chart" / "other.txt"
    values.write_text("apps: {llm/chat: {replicas: 2}}")
    command: list[str | Path] = [tool("helm"), "template", "release", folder / "chart", "--values", values]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (folder / "tree.yaml").write_text(yamlio.dump(playground(engine, replicas=2)))
    expected = of_kind(render(llmaz, "."), "PodDisruptionBudget")
    assert of_kind([body for body in yaml.safe_load_all(done.stdout) if body], "PodDisruptionBudget") == expected
    assert ("unhealthyPodEvictionPolicy" in expected["spec"]) == bool(kubernetes)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("kind", ["Deployment", "LeaderWorkerSet"])
def test_nothing_is_said_of_names_that_a_picker_rewrites(folder: Path, llmaz: Llmaz, engine: str, kind: str) -> None:
    workload = {"workload": {"kind": kind}} if kind == "Deployment" else {}
    alias = {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferenceModel",
        "metadata": {"name": "fast", "namespace": "llm"},
        "spec": {"modelName": "fast", "poolRef": {"name": "chat"}, "targetModels": [{"name": "qwen3-8b"}]},
    }
    write(folder, playground(engine, gateway={"mode": "pool"}, **workload), alias)
    assert llmaz("render", "-o", "out").code == 0
    done = llmaz("check", "--strict", "out")
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("mode", ["backend", "pool"])
def test_nothing_is_said_of_our_own_adapters(folder: Path, llmaz: Llmaz, engine: str, mode: str) -> None:
    hub = {"modelHub": {"modelID": "example/qwen3-8b-sql", "revision": "v1"}}
    adapter = document("OpenModel", "sql", {"familyName": "q", "source": hub, "facts": {"adapter": {"rank": 8}}})
    claims = {"models": [{"name": "qwen3-8b"}, {"name": "sql", "role": "lora"}]}
    app = playground(engine, modelClaims=claims, workload={"kind": "Deployment"}, gateway={"mode": mode})
    write(folder, adapter, app)
    assert llmaz("render", "-o", "out").code == 0
    done = llmaz("check", "--strict", "out")
    assert done.code == 0, done.out + done.err


DIFFERENT: Mapping[str, tuple[Node, Node]] = {
    "environment variables": ({"env": [{"name": "NCCL_IB_HCA", "value": "mlx5"}]}, {}),
    "capabilities": ({"capabilities": ["IPC_LOCK"]}, {}),
    "networks": ({"hostNetwork": True}, {}),
    "annotations": ({"annotations": {"example.com/rdma": "on"}}, {}),
    "runtime classes": ({"runtimeClassName": "one"}, {"runtimeClassName": "two"}),
    "runtime classes and annotations": ({"runtimeClassName": "one", "annotations": {"example.com/a": "b"}}, {}),
}


@pytest.mark.parametrize("policy", ["", "affinity"])
@pytest.mark.parametrize("words", DIFFERENT)
def test_flavors_are_told_by_what_they_differ_in(folder: Path, llmaz: Llmaz, words: str, policy: str) -> None:
    limits = {"limits": {"nvidia.com/gpu": 1}}
    flavors = [{"name": "a", **limits}, {"name": "b", **limits}]
    hub = {"modelHub": {"modelID": "example/Blue"}}
    model = document("OpenModel", "blue", {"familyName": "b", "source": hub, "inferenceConfig": {"flavors": flavors}})
    app = playground(modelClaim={"modelName": "blue"}, **({"flavorPolicy": policy} if policy else {}))
    first, second = DIFFERENT[words]
    catalog = {"a": {"nodeSelector": {"gpu": "a"}, **first}, "b": {"nodeSelector": {"gpu": "b"}, **second}}
    write(folder, model, app, flavors=catalog)
    done = llmaz("render", "--stdout")
    assert f"'a' and 'b' have different {words}" in done.err
    assert ("[E290]" if policy else "[W211]") in done.err
    # As the hint says.
    (folder / "tree.yaml").write_text(
        "---\n".join(map(yamlio.dump, (model, playground(modelClaim={"modelName": "blue"}, flavorPolicy="first"))))
    )
    done = llmaz("render", "--stdout")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_template_of_claims_is_explained(folder: Path, llmaz: Llmaz, engine: str) -> None:
    hub = {"modelHub": {"modelID": "example/Blue"}}
    spec = {"familyName": "b", "source": hub, "inferenceConfig": {"flavors": [{"name": "pair"}]}}
    write(
        folder,
        document("OpenModel", "blue", spec),
        playground(engine, modelClaim={"modelName": "blue"}),
        flavors={"pair": {"claims": {"deviceClassName": "gpu.nvidia.com", "count": 2}}},
        targets={"kubernetes": "1.34"},
    )
    name = of_kind(render(llmaz), "ResourceClaimTemplate")["metadata"]["name"]
    for field in (
        "spec.spec.devices.requests[0].exactly.count",
        "spec.spec.devices.requests[0].exactly.deviceClassName",
    ):
        done = llmaz("explain", f"resourceclaimtemplate/llm/{name}.{field}")
        assert done.code == 0, done.err
        assert "llmaz.yaml" in done.out


def own_model(task: str) -> Node:
    """A model of this task on one accelerator."""
    flavors = [{"name": "gpu", "limits": {"nvidia.com/gpu": 1}}]
    hub = {"modelHub": {"modelID": "example/Blue", "revision": "v1"}}
    spec = {"familyName": "b", "source": hub, "inferenceConfig": {"flavors": flavors}, "facts": {"kind": task}}
    return document("OpenModel", "blue", spec)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("kind", ["LeaderWorkerSet", "DisaggregatedSet"])
@pytest.mark.parametrize("task", ["chat", "transcription", "embedding", "reranker", "classifier"])
def test_roles_are_for_models_that_write_tokens(folder: Path, llmaz: Llmaz, task: str, kind: str, engine: str) -> None:
    roles = {"kind": kind, "prefill": {}, "decode": {}}
    claim = {"modelName": "blue"}
    app = playground(engine, modelClaim=claim, disaggregation=roles, gateway={"mode": "pool"})
    write(folder, own_model(task), app)
    done = llmaz("render", "-o", "out")
    writes = task in ("chat", "transcription")
    assert (done.code, "[E384]" in done.err) == ((0, False) if writes else (2, True)), done.err
    if writes:  # as long as the gateway has a path for it
        write(folder, own_model(task), app, targets={"aiGateway": "0.6"})
        done = llmaz("render", "-o", "out")
        assert ("[E384]" in done.err) == (task == "transcription"), done.err


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("task", ["chat", "embedding", "classifier"])
def test_a_draft_model_is_for_models_that_write_tokens(folder: Path, llmaz: Llmaz, task: str, engine: str) -> None:
    claims = {"models": [{"name": "blue"}, {"name": "qwen3-0--6b", "role": "draft"}]}
    write(folder, own_model(task), playground(engine, modelClaims=claims))
    done = llmaz("render", "-o", "out")
    assert (done.code, "[E463]" in done.err) == ((0, False) if task == "chat" else (2, True)), done.err


@pytest.mark.parametrize("count", ["total", "input", "output"])
@pytest.mark.parametrize("task", ["chat", "embedding", "transcription", "reranker"])
def test_a_budget_that_nobody_counts_is_told(folder: Path, llmaz: Llmaz, task: str, count: str) -> None:
    limit = {"per": "tenant", "tokens": 1000, "interval": "Hour", "count": count}
    spec = {"modelName": "public", "backends": [{"playground": "chat"}], "tokenLimits": [limit]}
    route = {
        "apiVersion": "renderer.llmaz.io/v1alpha1",
        "kind": "ModelRoute",
        "metadata": {"name": "public", "namespace": "llm"},
        "spec": spec,
    }
    keys = {"create": True, "auth": {"apiKeys": {"secretName": "tenants"}}}
    write(folder, own_model(task), playground(modelClaim={"modelName": "blue"}), route, gateway=keys)
    counted = task == "chat" or (task == "embedding" and count != "output")
    assert ("[W680]" in llmaz("render", "-o", "out").err) == (not counted)
