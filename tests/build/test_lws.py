"""The workload and its pod templates."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from renderer.build.hpa import hpa
from renderer.build.lws import deployment, lws
from renderer.build.service import lb_service
from renderer.diagnostics import Origin, Path
from renderer.plan import Container, Plan, Pod, Rollout, Scaler
from tests.build.conftest import Input

WORKER: Path = ("spec", "leaderWorkerTemplate", "workerTemplate", "spec")


def body(plan: Plan) -> dict[str, Any]:
    (manifest,) = lws(plan)
    return manifest.body


def worker(plan: Plan, **fields: Any) -> dict[str, Any]:
    """The worker template that a pod with these fields becomes."""
    template = body(replace(plan, worker=replace(plan.worker, **fields)))["spec"]["leaderWorkerTemplate"][
        "workerTemplate"
    ]
    return dict(template)


def test_the_least(plan: Plan) -> None:
    workload = body(plan)
    assert workload == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat", "namespace": "llm", "labels": plan.labels},
        "spec": {
            "replicas": 1,
            "startupPolicy": "LeaderReady",
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
            },
            "networkConfig": {"subdomainPolicy": "Shared"},
            "leaderWorkerTemplate": {
                "size": 1,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "workerTemplate": {"spec": {"schedulerName": "default-scheduler", "containers": [{"name": "runner"}]}},
            },
        },
    }
    assert list(workload) == ["apiVersion", "kind", "metadata", "spec"]


def test_an_autoscaler_owns_the_number(plan: Plan) -> None:
    assert "replicas" not in body(replace(plan, replicas=None))["spec"]
    assert body(replace(plan, replicas=0))["spec"]["replicas"] == 0


def test_annotations_rollout_and_policies(plan: Plan) -> None:
    workload = body(
        replace(
            plan,
            annotations={"a": "b"},
            size=4,
            startup_policy="LeaderCreated",
            restart_policy="None",
            rollout=Rollout(partition=0, max_unavailable="25%", max_surge=1),
        )
    )
    assert workload["metadata"]["annotations"] == {"a": "b"}
    assert workload["spec"]["startupPolicy"] == "LeaderCreated"
    assert workload["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] == {
        "partition": 0,
        "maxUnavailable": "25%",
        "maxSurge": 1,
    }
    assert workload["spec"]["leaderWorkerTemplate"]["size"] == 4
    assert workload["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "None"


def test_leader_and_sub_groups(plan: Plan) -> None:
    groups = {"subGroupPolicyType": "LeaderWorker", "subGroupSize": 2}
    leader = replace(plan.worker, containers=(Container("leader"),))
    template = body(replace(plan, leader=leader, sub_groups=groups))["spec"]["leaderWorkerTemplate"]
    assert list(template) == ["size", "restartPolicy", "subGroupPolicy", "leaderTemplate", "workerTemplate"]
    assert template["subGroupPolicy"] == groups
    assert template["leaderTemplate"]["spec"]["containers"] == [{"name": "leader"}]
    assert template["workerTemplate"]["spec"]["containers"] == [{"name": "runner"}]


def test_every_field_of_a_pod_in_reading_order(plan: Plan) -> None:
    template = worker(
        plan,
        labels={"l": "1"},
        annotations={"a": "1"},
        metadata={"finalizers": ["f"]},
        rest={"hostNetwork": True},
        node_selector={"n": "1"},
        tolerations=({"key": "gpu"},),
        termination_grace_period_seconds=130,
        security_context={"fsGroup": 1},
        affinity={"nodeAffinity": {}},
        init_containers=(Container("first"),),
        volumes=({"name": "v"},),
        automount_service_account_token=True,
        enable_service_links=True,
    )
    assert template == {
        "metadata": {"finalizers": ["f"], "labels": {"l": "1"}, "annotations": {"a": "1"}},
        "spec": {
            "schedulerName": "default-scheduler",
            "automountServiceAccountToken": True,
            "enableServiceLinks": True,
            "hostNetwork": True,
            "nodeSelector": {"n": "1"},
            "tolerations": [{"key": "gpu"}],
            "terminationGracePeriodSeconds": 130,
            "securityContext": {"fsGroup": 1},
            "affinity": {"nodeAffinity": {}},
            "initContainers": [{"name": "first"}],
            "containers": [{"name": "runner"}],
            "volumes": [{"name": "v"}],
        },
    }
    assert list(template["spec"]) == [
        *("schedulerName", "automountServiceAccountToken", "enableServiceLinks", "hostNetwork", "nodeSelector"),
        *("tolerations", "terminationGracePeriodSeconds", "securityContext", "affinity"),
        *("initContainers", "containers", "volumes"),
    ]


def test_zero_and_false_are_said_none_is_not(plan: Plan) -> None:
    spec = worker(
        plan, automount_service_account_token=False, enable_service_links=False, termination_grace_period_seconds=0
    )["spec"]
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
    assert spec["terminationGracePeriodSeconds"] == 0
    assert list(worker(plan)["spec"]) == ["schedulerName", "containers"]


def test_every_field_of_a_container_in_reading_order(plan: Plan) -> None:
    container = Container(
        name="runner",
        image="i:1",
        command=("run",),
        args=("-a",),
        env=({"name": "E", "value": "1"},),
        ports=({"name": "http"},),
        resources={"limits": {"cpu": "1"}},
        startup_probe={"s": 1},
        readiness_probe={"r": 1},
        liveness_probe={"l": 1},
        lifecycle={"preStop": {}},
        security_context={"x": 1},
        volume_mounts=({"name": "v"},),
        rest={"workingDir": "/", "tty": True},
    )
    (container_body,) = worker(plan, containers=(container,))["spec"]["containers"]
    assert list(container_body.items()) == [
        ("name", "runner"),
        ("image", "i:1"),
        ("command", ["run"]),
        ("args", ["-a"]),
        ("env", [{"name": "E", "value": "1"}]),
        ("ports", [{"name": "http"}]),
        ("resources", {"limits": {"cpu": "1"}}),
        ("startupProbe", {"s": 1}),
        ("readinessProbe", {"r": 1}),
        ("livenessProbe", {"l": 1}),
        ("lifecycle", {"preStop": {}}),
        ("securityContext", {"x": 1}),
        ("volumeMounts", [{"name": "v"}]),
        ("workingDir", "/"),
        ("tty", True),
    ]


# --- who made a field


def from_service(plan: Plan, source: Input) -> Plan:
    """Origins as a hand-written Service has them."""
    origins = {
        **plan.origins(),
        ("size",): Origin(source, ("template", "size")),
        ("rollout",): Origin(source, ("rollout",)),
        ("sub_groups",): Origin(source, ("template", "subGroups")),
        ("leader",): Origin(source, ("template", "leader")),
        ("worker",): Origin(source, ("template", "worker")),
    }
    return replace(plan, leader=plan.worker, origins=lambda: origins)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("metadata", "name"), ("metadata", "name")),
        (("spec", "replicas"), ("spec", "replicas")),
        (("spec", "leaderWorkerTemplate", "size"), ("template", "size")),
        (("spec", "leaderWorkerTemplate", "subGroupPolicy", "subGroupSize"), ("template", "subGroups", "subGroupSize")),
        (("spec", "leaderWorkerTemplate", "leaderTemplate", "spec", "x"), ("template", "leader", "spec", "x")),
        ((*WORKER, "containers", 3, "image"), ("template", "worker", "spec", "containers", 3, "image")),
        (("spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge"), ("rollout", "maxSurge")),
        (("spec", "networkConfig"), ("spec", "networkConfig")),  # nobody wrote it: the document stands for it
    ],
)
def test_who_made_a_field_of_a_service(plan: Plan, source: Input, path: Path, expected: Path) -> None:
    (manifest,) = lws(from_service(plan, source))
    assert manifest.origin(path) == Origin(source, expected)


RUNNER = ("spec", "containers", 0)
FIELDS = (
    *("image", "command", "args", "env", "resources", "lifecycle"),
    *("startupProbe", "readinessProbe", "livenessProbe"),
)


def from_playground(plan: Plan, source: Input, more: dict[Path, Path]) -> Plan:
    """Origins as a Playground has them."""
    origins: dict[Path, Origin] = {**plan.origins()}
    origins |= {("template", *RUNNER, field): Origin(source, ("runtime", field)) for field in FIELDS}
    origins |= {("template", "spec", *key): Origin(source, where) for key, where in more.items()}
    env = ({"name": "A", "value": "1"}, {"name": "B", "value": "2"})
    runner = Container("runner", image="i", args=("-a", "1", "-b"), env=env)
    pod = Pod(scheduler_name="default-scheduler", containers=(runner,))
    return replace(plan, worker=pod, origins=lambda: origins)


@pytest.mark.parametrize("field", FIELDS)
def test_who_made_a_field_of_the_runner(plan: Plan, source: Input, field: str) -> None:
    (manifest,) = lws(from_playground(plan, source, {}))
    assert manifest.origin((*WORKER, "containers", 0, field)) == Origin(source, ("runtime", field))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("containers", 0, "args", 1), ("user", "args", 0)),
        (("containers", 0, "args", 2), ("runtime", "args", 2)),
        (("containers", 0, "env", 1, "value"), ("user", "envs", 4, "value")),
        (("containers", 0, "env", 0), ("runtime", "env", 0)),
        (("nodeSelector", "zone"), ("flavors", 0, "nodeSelector", "zone")),
        (("affinity",), ("flavors", 0, "nodeSelector")),
    ],
)
def test_who_made_a_part_of_a_field(plan: Plan, source: Input, path: Path, expected: Path) -> None:
    more: dict[Path, Path] = {
        ("containers", 0, "args", 1): ("user", "args", 0),
        ("containers", 0, "env", 1): ("user", "envs", 4),
        ("nodeSelector",): ("flavors", 0, "nodeSelector"),
        ("affinity",): ("flavors", 0, "nodeSelector"),
    }
    (manifest,) = lws(from_playground(plan, source, more))
    assert manifest.origin((*WORKER, *path)) == Origin(source, expected)


SELECTOR = {
    "app.kubernetes.io/name": "chat",
    "app.kubernetes.io/component": "inference-server",
    "renderer.llmaz.io/workload": "chat",
}


def deployed(plan: Plan, **fields: Any) -> Plan:
    return replace(plan, kind="Deployment", **fields)


def test_the_least_of_a_deployment(plan: Plan) -> None:
    assert deployment(plan) == []
    assert lws(deployed(plan)) == []
    (manifest,) = deployment(deployed(plan))
    assert manifest.body == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "llm", "labels": plan.labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": SELECTOR},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
            "template": {"spec": {"schedulerName": "default-scheduler", "containers": [{"name": "runner"}]}},
        },
    }


def test_a_deployment_with_all_that_an_app_may_say(plan: Plan) -> None:
    rollout = Rollout(max_unavailable="25%", max_surge=2)
    full = deployed(
        plan, replicas=None, annotations={"a": "b"}, workload_labels={"c": "d"}, progress_deadline=900, rollout=rollout
    )
    body = deployment(full)[0].body
    assert body["metadata"]["labels"] == {**plan.labels, "c": "d"}
    assert body["metadata"]["annotations"] == {"a": "b"}
    assert "replicas" not in body["spec"]
    assert body["spec"]["progressDeadlineSeconds"] == 900
    assert body["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": 2}


def test_what_leads_to_a_deployment(plan: Plan) -> None:
    assert lb_service(deployed(plan))[0].body["spec"]["selector"] == SELECTOR
    target = hpa(deployed(plan, scaler=Scaler(1, 2, ())))[0].body["spec"]["scaleTargetRef"]
    assert target == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
