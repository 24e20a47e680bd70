"""Whatever our side lacks, or says otherwise, is told: each field of three adopted deployments is spoilt in turn."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from renderer.diff.live.records import IMMUTABLE
from tests.diff.live.dumps import ADOPTED, Body, read, report_of
from tests.paths import TESTS

ROOTS: dict[str, list[tuple[str, ...]]] = {
    "Deployment": [("spec",)],
    "LeaderWorkerSet": [("spec",)],
    "Service": [("spec",), ("metadata", "labels")],
    "PodDisruptionBudget": [("spec",)],
    "AIGatewayRoute": [("spec",)],
}
# What the API server fills in by itself, so that nothing is missing without it.
DEFAULTS: dict[str, object] = {
    "protocol": "TCP",
    "schedulerName": "default-scheduler",
    "emptyDir": {},
    "type": "RollingUpdate",
    "periodSeconds": 10,
    "timeoutSeconds": 1,
    "successThreshold": 1,
    "failureThreshold": 3,
    "targetPort": 8080,  # of port 8080
    "replicas": 1,
    "size": 1,
    "partition": 0,
    "maxUnavailable": 1,
    "maxSurge": 0,
    "subdomainPolicy": "Shared",
    "restartPolicy": "RecreateGroupOnPodRestart",
    "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    "networkConfig": {"subdomainPolicy": "Shared"},
    "weight": 1,
    "priority": 0,
    "group": "gateway.networking.k8s.io",
    "kind": "Gateway",
}
# The defaults of objects that hold nothing else.
DEFAULTS_OF_LWS = ("rolloutStrategy",)


def bodies_of(name: str) -> list[Body]:
    return read((TESTS / "adopted" / name / "expected").rglob("*.yaml"))


def nodes(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields and items below a value."""
    pairs: Iterable[Any] = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in pairs:
        yield (*path, key)
        yield from nodes(item, (*path, key))


def value_of(body: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        body = body[part]
    return body


def places(bodies: list[Body]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The index of an object, and each path of it that is spoilt."""
    for i, body in enumerate(bodies):
        for root in ROOTS.get(body["kind"], ()):
            yield from ((i, path) for path in nodes(value_of(body, root), root))


def is_default(body: Body, path: tuple[Any, ...]) -> bool:
    value = value_of(body, path)
    if path[-1] in DEFAULTS_OF_LWS and body["kind"] == "LeaderWorkerSet":
        return True
    is_header = path[-1] == "type" and value == "Exact"
    return is_header or (path[-1] in DEFAULTS and bool(DEFAULTS[path[-1]] == value))


def equals_limit(body: Body, path: tuple[Any, ...]) -> bool:
    """Whether it is a request that Kubernetes makes of the limit."""
    if "requests" not in path:
        return False
    at = path.index("requests")
    limits = value_of(body, path[:at])["limits"]
    value = value_of(body, path)
    return bool(value == limits if len(path) == at + 1 else limits.get(path[-1]) == value)


@pytest.mark.parametrize("name", ADOPTED)
def test_what_is_removed_is_told(name: str) -> None:
    bodies = bodies_of(name)
    count, unseen = 0, []
    for i, path in places(bodies):
        shorter = copy.deepcopy(bodies)
        del value_of(shorter[i], path[:-1])[path[-1]]
        report = report_of(bodies, shorter)
        count += 1
        if report.lost + report.unexplained + report.count(IMMUTABLE):
            continue
        if equals_limit(bodies[i], path):
            assert {difference.rule for difference in report.differences()} == {"request-of-limit"}
        elif not is_default(bodies[i], path):
            unseen.append((bodies[i]["kind"], path))
    assert unseen == []
    assert count > 150


@pytest.mark.parametrize("name", ADOPTED)
def test_what_is_changed_is_told(name: str) -> None:
    bodies = bodies_of(name)
    count, unseen = 0, []
    for i, path in places(bodies):
        value = value_of(bodies[i], path)
        if isinstance(value, (dict, list)):
            continue
        other = copy.deepcopy(bodies)
        changed = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"{value}x"
        value_of(other[i], path[:-1])[path[-1]] = changed
        report = report_of(bodies, other)
        count += 1
        if not report.lost + report.unexplained + report.count(IMMUTABLE):
            unseen.append((bodies[i]["kind"], path))
    assert unseen == []
    assert count > 80


ADDITIONS: dict[str, tuple[tuple[Any, ...], object]] = {
    "a variable": (("spec", "containers", 0, "env"), {"name": "EXTRA", "value": "1"}),
    "a secret variable": (
        ("spec", "containers", 0, "env"),
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "other", "key": "token"}}},
    ),
    "an option": (("spec", "containers", 0, "args"), "--enforce-eager"),
    "a mount": (("spec", "containers", 0, "volumeMounts"), {"name": "dshm", "mountPath": "/extra"}),
    "a port": (("spec", "containers", 0, "ports"), {"name": "metrics", "containerPort": 9000}),
    "a container": (("spec", "containers"), {"name": "sidecar", "image": "example.com/sidecar:1"}),
    "an init container": (("spec", "initContainers"), {"name": "first", "image": "example.com/first:1"}),
    "a toleration": (("spec", "tolerations"), {"key": "spot", "operator": "Exists"}),
}


@pytest.mark.parametrize("name", ADOPTED)
@pytest.mark.parametrize("addition", ADDITIONS)
def test_what_theirs_has_beside_is_lost(name: str, addition: str) -> None:
    bodies = bodies_of(name)
    theirs = copy.deepcopy(bodies)
    workload = next(body for body in theirs if body["kind"] in ("Deployment", "LeaderWorkerSet"))
    spec = workload["spec"]
    template = spec["template"] if "template" in spec else spec["leaderWorkerTemplate"]["workerTemplate"]
    (*path, field), item = ADDITIONS[addition]
    value_of(template, tuple(path)).setdefault(field, []).append(item)
    report = report_of(theirs, bodies)
    assert (report.lost, report.unexplained) == (1, 0)


@pytest.mark.parametrize("name", ADOPTED)
def test_a_volume_that_nothing_mounts_is_nothing(name: str) -> None:
    bodies = bodies_of(name)
    theirs = copy.deepcopy(bodies)
    workload = next(body for body in theirs if body["kind"] in ("Deployment", "LeaderWorkerSet"))
    spec = workload["spec"]
    template = spec["template"] if "template" in spec else spec["leaderWorkerTemplate"]["workerTemplate"]
    template["spec"].setdefault("volumes", []).append({"name": "extra", "emptyDir": {}})
    assert (report_of(theirs, bodies).lost, report_of(theirs, bodies).unexplained) == (0, 0)
    container = template["spec"]["containers"][0]
    container.setdefault("volumeMounts", []).append({"name": "extra", "mountPath": "/extra"})
    assert report_of(theirs, bodies).lost == 2


@pytest.mark.parametrize("name", ADOPTED)
def test_fields_of_a_pod_that_theirs_has_beside_are_lost(name: str) -> None:
    bodies = bodies_of(name)
    for field, value in (
        ("priorityClassName", "high"),
        ("serviceAccountName", "runner"),
        ("runtimeClassName", "gpu"),
        ("hostIPC", True),
        ("dnsConfig", {"nameservers": ["192.0.2.1"]}),
        ("nodeSelector", {"pool": "a"}),
        ("affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
        ("imagePullSecrets", [{"name": "registry"}]),
    ):
        theirs = copy.deepcopy(bodies)
        spec = next(body["spec"] for body in theirs if body["kind"] in ("Deployment", "LeaderWorkerSet"))
        template = spec["template"] if "template" in spec else spec["leaderWorkerTemplate"]["workerTemplate"]
        pod = template["spec"]
        pod[field] = {**pod[field], **value} if isinstance(value, dict) and field in pod else value
        report = report_of(theirs, bodies)
        assert report.lost >= 1, field
        assert report.unexplained == 0, field
