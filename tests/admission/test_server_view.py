"""An object as a policy sees it. The real API server says the same of 300 objects (test_verdicts.py)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from renderer.admission.server_view import server_view
from tests.admission.objects import objects
from tests.hostile.repositories import places
from tests.hostile.text_fields import at


def viewed(version: str, kind: str, spec: dict[str, Any]) -> Any:
    return server_view({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec})["spec"]


def test_defaults_and_empty_values_of_a_pod() -> None:
    container = {
        "name": "a",
        "image": "nginx:1.27",
        "resources": {"limits": {"cpu": "1000m", "memory": 1024}},
        "args": [],
    }
    spec = {"replicas": 0, "template": {"spec": {"hostNetwork": False, "containers": [container]}}}
    deployment = viewed("apps/v1", "Deployment", spec)
    assert deployment["replicas"] == 0
    assert deployment["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    }
    assert "hostNetwork" not in deployment["template"]["spec"]
    assert deployment["template"]["spec"]["containers"] == [
        {
            "name": "a",
            "image": "nginx:1.27",
            "imagePullPolicy": "IfNotPresent",
            "resources": {"limits": {"cpu": "1", "memory": "1024"}},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }
    ]


@pytest.mark.parametrize(
    ("names", "account"),
    [
        ({"serviceAccountName": "", "serviceAccount": "old"}, "old"),
        ({"serviceAccountName": None, "serviceAccount": "old"}, "old"),
        ({"serviceAccount": "old"}, "old"),
        ({"serviceAccountName": "new", "serviceAccount": "old"}, "new"),
        ({"serviceAccountName": "new", "serviceAccount": ""}, "new"),
        ({"serviceAccountName": "", "serviceAccount": None}, None),
    ],
)
@pytest.mark.parametrize("version", ["v1/Pod", "v1/ReplicationController", "apps/v1/ReplicaSet", "batch/v1/Job"])
def test_both_names_of_a_service_account(version: str, names: dict[str, Any], account: str | None) -> None:
    version, _, kind = version.rpartition("/")
    spec = viewed(version, kind, names if kind == "Pod" else {"template": {"spec": names}})
    pod = spec if kind == "Pod" else spec["template"]["spec"]
    assert (pod.get("serviceAccountName"), pod.get("serviceAccount")) == (account, account)


def test_labels_of_a_replication_controller() -> None:
    spec = {"template": {"metadata": {"labels": {"app": "a"}}, "spec": {}}}
    body = server_view({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "a"}, "spec": spec})
    assert (body["metadata"]["labels"], body["spec"]["selector"]) == ({"app": "a"}, {"app": "a"})
    assert body["spec"]["replicas"] == 1


def test_the_rolling_update_of_a_stateful_set() -> None:
    strategy = viewed("apps/v1", "StatefulSet", {"template": {"spec": {}}})["updateStrategy"]
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "partition": 0}}


def test_what_is_given_stays() -> None:
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    before = repr(body)
    assert server_view(body)["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert repr(body) == before


def test_defaults_of_a_crd() -> None:
    group = viewed("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": None, "leaderWorkerTemplate": {}})
    assert group["replicas"] == 1
    assert group["leaderWorkerTemplate"] == {"restartPolicy": "RecreateGroupOnPodRestart", "size": 1}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:0", "IfNotPresent"),
    ],
)
def test_the_pull_policy_of_an_image(image: str, policy: str) -> None:
    pod = server_view({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": [{"image": image}]}})
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_a_kind_that_nobody_knows() -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"a": 0, "b": None}}
    assert server_view(body) == {"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"a": 0}}


@pytest.mark.parametrize("odd", ["text", 5, True, [None], {"a": None}, ["text"]])
def test_values_of_another_type_do_not_end_the_program(odd: object) -> None:
    """The server refuses such an object; a file that is passed through may still hold one."""
    kinds: dict[object, Any] = {(body["apiVersion"], body["kind"]): body for body in objects()}
    for body in kinds.values():
        for path in places(body):
            spoilt = copy.deepcopy(body)
            at(spoilt, path[:-1])[path[-1]] = odd
            assert isinstance(server_view(spoilt), dict), path
