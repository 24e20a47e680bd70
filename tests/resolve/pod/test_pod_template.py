"""What podTemplate does to a pod: a strategic merge, with the place of everything that it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.build.lws import lws
from renderer.diagnostics import Collector, NamedSource, Origin
from renderer.diagnostics import Path as Steps
from renderer.plan import Container, Plan, Pod, Port, Rollout
from renderer.resolve.kube import api_defaults
from renderer.resolve.pod import pod_template

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec


LABELS = ["app.kubernetes.io/name", "app.kubernetes.io/component"]
POD = Pod(
    labels={"app.kubernetes.io/name": "chat"},
    annotations={},
    scheduler_name="default-scheduler",
    containers=(
        Container(
            name="model-runner",
            image="engine:v1",
            args=("--port", "8080"),
            env=({"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "b"}}}),
            ports=({"name": "http", "containerPort": 8080, "protocol": "TCP"},),
            resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": "4"}},
            liveness_probe={"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10},
            security_context={"allowPrivilegeEscalation": False},
            volume_mounts=({"name": "model-volume", "mountPath": "/workspace/models/", "readOnly": True},),
        ),
    ),
    init_containers=(Container(name="model-loader", image="loader:v1"),),
    volumes=({"name": "model-volume", "emptyDir": {}},),
    node_selector={"gpu": "a100"},
    tolerations=({"key": "nvidia.com/gpu", "operator": "Exists"},),
    termination_grace_period_seconds=130,
    security_context={"seccompProfile": {"type": "RuntimeDefault"}},
    automount_service_account_token=False,
    enable_service_links=False,
    rest={"imagePullSecrets": [{"name": "regcred"}], "priorityClassName": "serving"},
)


def source(text: str) -> yamlio.Document:
    """A podTemplate as somebody wrote it."""
    documents, problems = yamlio.parse("chat.yaml", text.encode())
    assert problems == []
    return documents[0]


def patched(text: str, *, hard: bool = True, config: dict[str, Any] | None = None) -> tuple[Pod, list[str]]:
    """The pod with the patch over it, and the codes of what is wrong, with their lines."""
    document, collector = source(text), Collector()
    origin = Origin(document)
    patch = api_defaults.normalize_part(document.value, origin, collector)
    patched_pod = pod_template.patch_pod(
        RenderConfig(cast("RenderConfigSpec", config or {}), document), POD, patch, LABELS, hard, origin, collector
    )
    return patched_pod.pod, [f"{problem.code}:{problem.line}:{problem.column}" for problem in collector.problems]


def spec(text: str) -> dict[str, Any]:
    """The pod spec that the manifest gets; nothing is wrong."""
    pod, problems = patched(text)
    assert problems == []
    return body(pod)


def body(pod: Pod) -> dict[str, Any]:
    plan = Plan(
        name="chat",
        namespace="llm",
        file="",
        labels={},
        annotations={},
        replicas=1,
        size=1,
        startup_policy="",
        restart_policy="",
        rollout=Rollout(partition=0),
        worker=pod,
        port=Port("http", 8080),
        disruption_budget={},
        origin=Origin(NamedSource("")),
        origins=dict,
    )
    template = next(iter(lws(plan))).body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    pod_spec: dict[str, Any] = template["spec"]
    return pod_spec


def runner(text: str) -> dict[str, Any]:
    """What model-runner becomes under a patch of it, in YAML's flow style."""
    container: dict[str, Any] = spec(f"spec: {{containers: [{{name: model-runner, {text}}}]}}")["containers"][0]
    return container


def test_nothing_said_nothing_changed() -> None:
    for text in ("{}", "spec: {}", "spec: {containers: []}", "metadata: {labels: {}}", "spec: {securityContext: {}}"):
        assert patched(text) == (POD, []), text


def test_scalars_and_maps() -> None:
    pod_spec = spec(
        "spec: {priorityClassName: low, terminationGracePeriodSeconds: 5, nodeSelector: {disk: ssd}, hostNetwork: true}"
    )
    assert pod_spec["priorityClassName"] == "low"
    assert pod_spec["terminationGracePeriodSeconds"] == 5
    assert pod_spec["nodeSelector"] == {"gpu": "a100", "disk": "ssd"}
    assert pod_spec["hostNetwork"] is True


def test_false_and_zero_count() -> None:
    pod_spec = spec("spec: {enableServiceLinks: true, shareProcessNamespace: false, terminationGracePeriodSeconds: 0}")
    assert pod_spec["enableServiceLinks"] is True
    assert pod_spec["shareProcessNamespace"] is False
    assert pod_spec["terminationGracePeriodSeconds"] == 0


def test_metadata() -> None:
    pod, problems = patched("metadata: {labels: {team: a, app.kubernetes.io/version: v1}, annotations: {b: c}}")
    assert problems == []
    assert pod.labels == {"app.kubernetes.io/name": "chat", "team": "a", "app.kubernetes.io/version": "v1"}
    assert pod.annotations == {"b": "c"}


@pytest.mark.parametrize(
    "key", ["llmaz.io/model-name", "leaderworkerset.sigs.k8s.io/worker-index", "app.kubernetes.io/name"]
)
def test_labels_that_stay(key: str) -> None:
    assert patched(f"metadata: {{labels: {{{key}: x}}}}")[1] == ["E291:1:21"]


def test_lists_without_merge_keys_are_replaced_whole() -> None:
    assert spec("spec: {tolerations: [{key: a, operator: Exists}]}")["tolerations"] == [
        {"key": "a", "operator": "Exists"}
    ]


def test_lists_with_merge_keys() -> None:
    pod_spec = spec(
        "spec: {imagePullSecrets: [{name: regcred}, {name: b}], hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]}"
    )
    assert pod_spec["imagePullSecrets"] == [{"name": "regcred"}, {"name": "b"}]
    assert pod_spec["hostAliases"] == [{"ip": "10.0.0.1", "hostnames": ["a"]}]


def test_directives_on_maps() -> None:
    assert spec("spec: {nodeSelector: {$patch: replace, a: b}}")["nodeSelector"] == {"a": "b"}
    assert "nodeSelector" not in spec("spec: {nodeSelector: {$patch: delete}}")
    assert "securityContext" not in spec("spec: {securityContext: {$patch: delete}}")
    assert "livenessProbe" not in runner("livenessProbe: {$patch: delete}")
    assert runner("livenessProbe: {httpGet: {$patch: delete}, exec: {command: [x]}}")["livenessProbe"] == {
        "periodSeconds": 10,
        "exec": {"command": ["x"]},
    }
    assert runner("resources: {limits: {$patch: replace, cpu: 2000m}}")["resources"]["limits"] == {"cpu": "2"}


def test_directives_on_items() -> None:
    assert "volumes" not in spec("spec: {volumes: [{name: model-volume, $patch: delete}]}")
    assert "imagePullSecrets" not in spec("spec: {imagePullSecrets: [{name: regcred, $patch: delete}]}")
    assert "initContainers" not in spec("spec: {initContainers: [{name: model-loader, $patch: delete}]}")
    assert "volumeMounts" not in runner("volumeMounts: [{mountPath: /workspace/models, $patch: delete}]")


def test_quantities_are_canonical_and_in_order() -> None:
    resources = runner("resources: {limits: {memory: 1024Mi, cpu: 1.5}}")["resources"]
    assert list(resources["limits"].items()) == [("cpu", "1500m"), ("memory", "1Gi"), ("nvidia.com/gpu", "1")]


def test_environment_by_name() -> None:
    ip = "{fieldRef: {fieldPath: status.podIP}}"
    assert runner(f"env: [{{name: B, value: x}}, {{name: A, valueFrom: {ip}}}, {{name: C}}]")["env"] == [
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "B", "value": "x"},
        {"name": "C"},
    ]


def test_another_source_of_a_volume_takes_the_place_of_the_old() -> None:
    volumes = spec("spec: {volumes: [{name: model-volume, persistentVolumeClaim: {claimName: a}}]}")["volumes"]
    assert volumes == [{"name": "model-volume", "persistentVolumeClaim": {"claimName": "a"}}]
    volumes = spec("spec: {volumes: [{name: model-volume, emptyDir: {sizeLimit: 1024Gi}}]}")["volumes"]
    assert volumes == [{"name": "model-volume", "emptyDir": {"sizeLimit": "1Ti"}}]


def test_mounts_by_path() -> None:
    container = runner("volumeMounts: [{mountPath: /workspace/models, subPath: a}, {mountPath: /x, name: x}]")
    assert container["volumeMounts"] == [
        {"name": "model-volume", "mountPath": "/workspace/models", "readOnly": True, "subPath": "a"},
        {"mountPath": "/x", "name": "x"},
    ]


def test_a_new_container() -> None:
    text = "spec: {containers: [{name: proxy, image: 'proxy:v1', ports: [{containerPort: 80}]}]}"
    pod, problems = patched(text)
    assert problems == []
    assert pod.containers[0] == POD.containers[0]
    assert body(pod)["containers"][1] == {
        "name": "proxy",
        "image": "proxy:v1",
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "securityContext": {"allowPrivilegeEscalation": False},
    }
    assert "securityContext" not in body(patched(text, hard=False)[0])["containers"][1]


def test_images_come_from_the_mirror_once() -> None:
    config = {"images": {"mirrors": {"docker.io": "mirror.example/docker.io"}}}
    text = "spec: {containers: [{name: a, image: 'b:v1'}], initContainers: [{name: model-loader}]}"
    pod, _ = patched(text, config=config)
    assert pod.containers[1].image == "mirror.example/docker.io/library/b:v1"
    assert pod.init_containers[0].image == "loader:v1"  # what is there already was looked at before


def test_privileged_takes_no_contradiction() -> None:
    assert runner("securityContext: {privileged: true}")["securityContext"] == {"privileged": True}
    assert runner("securityContext: {runAsUser: 5}")["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "runAsUser": 5,
    }


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("spec: {containers: [{name: model-runner, args: [a], command: [b]}]}", ["E293:1:53", "E293:1:42"]),
        ("spec: {containers: [{name: model-runner, ports: [{containerPort: 1}]}]}", ["E293:1:42"]),
        ("spec: {containers: [{name: model-runner, $patch: delete}]}", ["E296:1:50"]),
        ("spec: {containers: [{name: proxy}]}", ["E295:1:28"]),
        ("spec: {containers: [{name: a, image: b}, {name: a}]}", ["E294:1:49"]),
        ("spec: {volumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]}", ["E294:1:50"]),
        ("spec: {volumes: [{name: a, $patch: delete}]}", ["E292:1:25"]),
        ("spec: {volumes: [{name: model-volume, $patch: delete, emptyDir: {}}]}", ["E297:1:55"]),
        ("spec: {nodeSelector: {$patch: delete, a: b}}", ["E297:1:39"]),
        ("spec: {volumes: [{name: a, emptyDir: {sizeLimit: 1e400}}]}", ["E305:1:50"]),
    ],
)
def test_refusals(text: str, codes: list[str]) -> None:
    assert patched(text)[1] == codes


def test_the_old_pod_stays_as_it_was() -> None:
    before = repr(POD)
    patched("spec: {containers: [{name: model-runner, env: [{name: A, value: x}], livenessProbe: {periodSeconds: 1}}]}")
    assert repr(POD) == before


def places(text: str) -> dict[Steps, Steps]:
    """Where the patch sets each field of the pod that it sets."""
    document, collector = source(text), Collector()
    patch = pod_template.patch_pod(
        RenderConfig({}, document), POD, document.value, LABELS, True, Origin(document), collector
    )
    assert collector.problems == []
    return {path: origin.path for path, origin in patch.origins.items()}


def test_where_the_patch_sets_a_field() -> None:
    set_ = places(
        "spec: {containers: [{name: b, image: x}, {name: model-runner, resources: {limits: {cpu: 1}}}],"
        " volumes: [{name: c, emptyDir: {}}]}"
    )
    assert set_["spec", "containers", 0, "resources", "limits", "cpu"] == (
        "spec", "containers", 1, "resources", "limits", "cpu",
    )  # fmt: skip
    assert set_["spec", "containers", 1] == ("spec", "containers", 0)  # a new one is the patch's as a whole
    assert ("spec", "containers", 0) not in set_  # of the runner only what the patch says
    assert set_["spec", "volumes", 1, "emptyDir"] == ("spec", "volumes", 0, "emptyDir")


def test_what_is_deleted_moves_the_others() -> None:
    set_ = places(
        "spec: {containers: [{name: model-runner, env: [{name: NEW, value: x}, {name: B, $patch: delete}]}],"
        " initContainers: [{name: more, image: x}, {name: model-loader, $patch: delete}]}"
    )
    runner = "spec", "containers", 0
    assert [path for path in set_ if path[:4] == (*runner, "env")] == [
        (*runner, "env", 1),
        (*runner, "env", 1, "name"),
        (*runner, "env", 1, "value"),
    ]
    assert set_["spec", "initContainers", 0, "image"] == ("spec", "initContainers", 0, "image")
    assert set_["spec", "initContainers"] == ("spec", "initContainers")  # all of the list is the patch's
