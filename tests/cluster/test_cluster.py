"""The parts of `make cluster-test` that need no cluster: what it asks, and that it hears a no."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.manifests import Manifest
from tests.apiserver.server import Answer, CannotJudge, Client, Resource
from tests.cluster import __main__ as program
from tests.cluster import control, examples, trial
from tests.paths import ROOT

WIDE = ("Namespace", "Node", "PersistentVolume", "GatewayClass")


class Server(Client):
    """Answers what the test says, by the end of the path; otherwise there is nothing, and whatever is sent is fine."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.requests: list[str] = []
        self.sent: list[Any] = []

    def __call__(self, method: str, path: str, body: str = "", kind: str = "application/json", **query: str) -> Answer:
        self.requests.append(f"{method} {path}")
        if method in ("PATCH", "POST", "PUT"):
            self.sent.append(body)
        for end, answer in self.answers.items():
            if f"{method} {path}".endswith(end):
                if isinstance(answer, str):
                    return Answer(422, {"message": answer})
                return Answer(200, {"items": answer} if isinstance(answer, list) else answer)
        if method == "GET":
            return Answer(404, {"message": "not found"}) if "." not in path else Answer(200, {"items": []})
        return Answer(200, {})

    def resource(self, version: str, kind: str) -> Resource | None:
        return Resource(f"{kind.lower()}s", namespaced=kind not in WIDE) if kind != "Nothing" else None


def cluster(answers: Mapping[str, Any] | None = None) -> control.Cluster:
    return control.Cluster(Server(answers or {}), Path("/nowhere"), ())


def thing(kind: str, version: str = "v1", name: str = "a", namespace: str = "b", **more: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}


def lws(**spec: Any) -> dict[str, Any]:
    return thing("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", spec=spec)


# ---- the examples ----


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / "example-x" / "expected" / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def object_(name: str) -> str:
    return json.dumps(thing("ConfigMap", name=name))


def test_every_example_of_the_repository_is_taken() -> None:
    names = {example.name.partition("/")[0] for example in examples.examples()}
    assert names == {"init", "platform", *(path.name for path in (ROOT / "examples").iterdir() if path.is_dir())}
    assert {"environments/dev", "environments/prod"} <= {example.name for example in examples.examples()}


def test_examples_by_name() -> None:
    selected = examples.examples(["hpa", "environments/prod"])
    assert [example.name for example in selected] == ["environments/prod", "hpa"]
    assert len(examples.examples(["environments"])) == 3


def test_a_name_that_no_example_has() -> None:
    with pytest.raises(CannotJudge, match="no example is called hpaa or x; there are adapters, cache, "):
        examples.examples(["hpaa", "hpa", "x"])


def test_without_examples_nothing_is_judged(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="there is no example in"):
        examples.examples(folder=tmp_path)
    with pytest.raises(CannotJudge, match="there is no object in"):
        examples.examples(folder=write(tmp_path, a="# nothing\n"))


def test_what_kustomize_reads_is_left_out(tmp_path: Path) -> None:
    [example] = examples.examples(folder=write(tmp_path, a=object_("a"), kustomization="resources: [a.yaml]"))
    assert [examples.shown(manifest.body) for manifest in example.manifests] == ["ConfigMap b/a"]


def test_the_same_objects_in_two_folders_are_two_examples(tmp_path: Path) -> None:
    environments = examples.examples(
        folder=write(tmp_path, dev__a=object_("a"), prod__a=object_("a"), prod__c=object_("c"))
    )
    assert [(example.name, len(example.manifests)) for example in environments] == [("x/dev", 1), ("x/prod", 2)]


def test_the_same_object_twice_in_a_folder_is_no_example(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="ConfigMap b/a come twice, and not once in each folder"):
        examples.examples(folder=write(tmp_path, dev__a=object_("a"), dev__c=object_("a")))


# ---- what they refer to ----

POD = {
    "serviceAccountName": "worker",
    "imagePullSecrets": [{"name": "registry"}],
    "containers": [
        {
            "name": "a",
            "env": [
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token", "optional": True}}},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "other"}}},
                {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "c"}}},
            ],
            "envFrom": [{"secretRef": {"name": "all"}}],
        }
    ],
    "volumes": [
        {"name": "w", "persistentVolumeClaim": {"claimName": "weights"}},
        {"name": "s", "secret": {"secretName": "files"}},
        {"name": "m", "configMap": {"name": "own"}},
    ],
}


def test_what_is_referred_to_and_not_there() -> None:
    bodies = [lws(leaderWorkerTemplate={"workerTemplate": {"spec": POD}}), thing("ConfigMap", name="own")]
    assert [tuple(reference) for reference in examples.referred(bodies)] == [
        ("ConfigMap", "b", "settings", "c"),
        ("PersistentVolumeClaim", "b", "weights", ""),
        ("Secret", "b", "all", ""),
        ("Secret", "b", "files", ""),
        ("Secret", "b", "hub", "other"),
        ("Secret", "b", "hub", "token"),
        ("Secret", "b", "registry", ""),
        ("ServiceAccount", "b", "worker", ""),
    ]


def test_a_secret_of_another_namespace() -> None:
    policy = thing("SecurityPolicy", spec={"credentialRefs": [{"kind": "Secret", "name": "keys", "namespace": "c"}]})
    assert [tuple(reference) for reference in examples.referred([policy])] == [("Secret", "c", "keys", "")]
    assert trial.namespaces([policy]) == ["b", "c"]


def test_what_is_made_up() -> None:
    bodies = [lws(leaderWorkerTemplate={"workerTemplate": {"spec": POD}})]
    stand_ins = {examples.shown(body): body for body in examples.create_stand_ins(examples.referred(bodies))}
    assert stand_ins["Secret b/hub"]["stringData"] == {"other": "made up", "token": "made up"}
    assert stand_ins["ConfigMap b/settings"]["data"] == {"c": "made up"}
    claim, volume = (
        stand_ins["PersistentVolumeClaim b/weights"]["spec"],
        stand_ins["PersistentVolume b-weights"]["spec"],
    )
    assert claim["volumeName"] == "b-weights"
    assert volume["claimRef"] == {"name": "weights", "namespace": "b"}
    assert {**claim, **volume}["storageClassName"] == ""


def test_volumes_for_claims() -> None:
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "a"}
    claim = thing("PersistentVolumeClaim", name="weights", spec=spec)
    template = {"metadata": {"name": "v"}, "spec": {**spec, "accessModes": ["ReadWriteOnce"]}}
    pods = lws(leaderWorkerTemplate={"volumeClaimTemplates": [template], "workerTemplate": {"spec": POD}})
    shared, *own = examples.volumes([claim, pods])
    assert shared["metadata"] == {"name": "b-weights"}
    assert shared["spec"]["capacity"] == {"storage": "1Gi"}
    assert {volume["spec"]["storageClassName"] for volume in (shared, *own)} == {"a"}
    assert len({volume["metadata"]["name"] for volume in own}) == examples.CLAIMS
    assert {*own[0]["spec"]["accessModes"]} == {"ReadWriteOnce"}


def test_nodes_have_what_pods_ask_for() -> None:
    terms = [{"matchExpressions": [{"key": "product", "operator": "In", "values": ["L4", "L40S"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = {
        "containers": [{"name": "a", "resources": {"limits": {"amd.com/gpu": "2", "memory": "1Gi"}}}],
        "initContainers": [{"name": "b", "resources": {"requests": {"amd.com/gpu": "16"}}}],
        "nodeSelector": {"zone": "x"},
        "affinity": {"nodeAffinity": required},
    }
    nodes = examples.nodes([thing("Pod", spec=pod)])
    assert len(nodes) == 2 * examples.NODES
    plain, node = nodes[0], nodes[-1]
    assert plain["spec"]["taints"] == []
    assert node["status"]["allocatable"]["amd.com/gpu"] == "16"
    assert {"zone": "x", "product": "L4"}.items() <= node["metadata"]["labels"].items()
    assert node["spec"]["taints"] == [{"key": "amd.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert len({body["metadata"]["name"] for body in nodes}) == len(nodes)


def test_every_node_has_devices_of_the_classes_that_claims_ask_for() -> None:
    exactly = {"deviceClassName": "gpu.example.com", "count": 2}
    template = {"spec": {"devices": {"requests": [{"name": "a", "exactly": exactly}]}}}
    nodes = examples.nodes([])
    kind, *slices = examples.devices([thing("ResourceClaimTemplate", "resource.k8s.io/v1", spec=template)], nodes)
    assert (kind["kind"], kind["metadata"]["name"]) == ("DeviceClass", "gpu.example.com")
    assert [resource_slice["spec"]["nodeName"] for resource_slice in slices] == [
        node["metadata"]["name"] for node in nodes
    ]
    assert {resource_slice["spec"]["driver"] for resource_slice in slices} == {"gpu.example.com"}
    assert len(slices[0]["spec"]["devices"]) == examples.MANY
    assert examples.devices([lws()], nodes) == []


# ---- what is up ----


def status(ready: int, available: str = "True") -> dict[str, Any]:
    return {"readyReplicas": ready, "conditions": [{"type": "Available", "status": available}]}


@pytest.mark.parametrize(
    ("live", "fault"),
    [
        ({**lws(replicas=2), "status": status(2)}, ""),
        ({**lws(replicas=2), "status": status(1)}, "not Available: 1 of 2 replicas are ready"),
        ({**lws(replicas=2), "status": status(2, "False")}, "not Available: 2 of 2 replicas are ready"),
        (lws(replicas=2), "not Available: 0 of 2 replicas are ready"),
    ],
)
def test_leaderworkersets(live: dict[str, Any], fault: str) -> None:
    assert trial.lws_down(cluster(), live) == fault


def role(name: str, replicas: int, ready: int) -> dict[str, Any]:
    """The LeaderWorkerSet of a role."""
    status = {"readyReplicas": ready, "conditions": [{"type": "Available", "status": "True"}]}
    part = lws(replicas=replicas) | {"status": status}
    part["metadata"] = {"name": f"a-0-{name}", "labels": {trial.SET_ROLE: name}}
    return part


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ([role("prefill", 1, 1), role("decode", 2, 2)], ""),
        ([], "its LeaderWorkerSets are not there"),
        ([role("decode", 2, 2)], "its LeaderWorkerSets are a-0-decode"),
        ([role("prefill", 1, 1), role("decode", 3, 3)], "role decode: 3 replicas, not 2"),
        ([role("prefill", 1, 0), role("decode", 2, 2)], "role prefill: not Available: 0 of 1 replicas are ready"),
    ],
)
def test_disaggregated_sets(parts: list[dict[str, Any]], fault: str) -> None:
    roles = [{"name": "prefill", "spec": {"replicas": 1}}, {"name": "decode", "spec": {"replicas": 2}}]
    live = thing("DisaggregatedSet", "disaggregatedset.x-k8s.io/v1", spec={"roles": roles})
    assert trial.set_down(cluster({"/leaderworkersets": parts}), live) == fault


@pytest.mark.parametrize(("seen", "fault"), [(3, ""), (2, "not available: 1 of 1 replicas")])
def test_deployments(seen: int, fault: str) -> None:
    live = thing("Deployment", spec={"replicas": 1}, status={"observedGeneration": seen, "availableReplicas": 1})
    live["metadata"]["generation"] = 3
    assert trial.deployment_down(cluster(), live) == fault


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ({"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}, ""),
        ({"active": 1}, "not complete: 1 pods run, 0 failed"),
        (
            {"conditions": [{"type": "Failed", "status": "True"}], "failed": 11},
            "not complete: 0 pods run, 11 failed",
        ),
        ({}, "not complete: 0 pods run, 0 failed"),
    ],
)
def test_jobs(status: dict[str, Any], fault: str) -> None:
    assert trial.job_down(cluster(), thing("Job", "batch/v1", status=status)) == fault


@pytest.mark.parametrize(("status", "fault"), [({"phase": "Bound"}, ""), ({"phase": "Lost"}, "it is Lost, not Bound")])
def test_claims(status: dict[str, str], fault: str) -> None:
    assert trial.claim_down(cluster(), thing("PersistentVolumeClaim", status=status)) == fault


def test_what_nobody_acts_on() -> None:
    queued = lws()
    queued["metadata"]["labels"] = {trial.QUEUE: "gpus"}
    bodies = [queued, lws(), thing("ScaledObject", "keda.sh/v1alpha1"), thing("Role", "rbac.authorization.k8s.io/v1")]
    pool = thing("InferencePool", "inference.networking.k8s.io/v1")  # it has a judge
    assert trial.inactive([*bodies, pool]) == {"ScaledObject", "LeaderWorkerSet's label kueue.x-k8s.io/queue-name"}


def test_what_is_only_applied_is_listed_with_its_examples() -> None:
    manifest = Manifest("a.yaml", thing("ScaledObject", "keda.sh/v1alpha1"))
    some = [examples.Example(f"x{number}", (manifest,)) for number in range(program.FEW + 1)]
    head = "only applied and compared, their controllers are not there:"
    assert program.applied_only(some[:2]) == ["", head, "  ScaledObject: x0, x1"]
    assert program.applied_only(some)[2:] == [f"  ScaledObject: {program.FEW + 1} examples"]
    assert program.applied_only([]) == []


def endpoints(port: str, ready: bool) -> dict[str, Any]:
    return {"endpoints": [{"conditions": {"ready": ready}}], "ports": [{"name": port, "port": 8080}]}


@pytest.mark.parametrize(
    ("slices", "fault"),
    [
        ([endpoints("http", True), endpoints("grpc", True)], ""),
        ([endpoints("http", True), endpoints("grpc", False)], "no endpoint is ready behind port 9002"),
        ([endpoints("http", True)], "no endpoint is ready behind port 9002"),
        ([{"endpoints": None, "ports": None}], "no endpoint is ready behind port 8080, 9002"),
        ([], "no endpoint is ready behind port 8080, 9002"),
    ],
)
def test_services(slices: list[dict[str, Any]], fault: str) -> None:
    live = thing("Service", spec={"ports": [{"name": "http", "port": 8080}, {"name": "grpc", "port": 9002}]})
    assert trial.service_down(cluster({"/endpointslices": slices}), live) == fault


SCALE = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "a"}
NO_METRICS = {"type": "ScalingActive", "status": "False", "reason": "FailedGetPodsMetric"}
ABLE = {"type": "AbleToScale", "status": "True", "reason": "SucceededGetScale"}


@pytest.mark.parametrize(
    ("conditions", "current", "fault"),
    [
        ([ABLE, NO_METRICS], 2, ""),
        ([ABLE, {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"}], 2, ""),
        ([ABLE, {**NO_METRICS, "reason": "InvalidSelector"}], 2, "ScalingActive is False InvalidSelector"),
        ([{**ABLE, "status": "False", "reason": "FailedGetScale"}], 2, "AbleToScale is False FailedGetScale"),
        ([], 2, "AbleToScale is unknown"),
        ([ABLE, NO_METRICS], 1, "it sees 1 replicas of 2"),
    ],
)
def test_autoscalers(conditions: list[dict[str, str]], current: int, fault: str) -> None:
    seen = {"currentReplicas": current, "conditions": conditions}
    live = thing("HorizontalPodAutoscaler", spec={"scaleTargetRef": SCALE, "maxReplicas": 3}, status=seen)
    assert trial.hpa_down(cluster({"/leaderworkersets/a": lws(replicas=2)}), live) == fault


def test_an_autoscaler_that_leaves_its_bounds() -> None:
    spec = {"scaleTargetRef": SCALE, "minReplicas": 3, "maxReplicas": 4}
    seen = {"currentReplicas": 2, "conditions": [ABLE, NO_METRICS]}
    live = thing("HorizontalPodAutoscaler", spec=spec, status=seen)
    fault = trial.hpa_down(cluster({"/leaderworkersets/a": lws(replicas=2)}), live)
    assert fault == "it leaves 2 replicas, which is not between its bounds"


def test_budgets_and_pools_that_select_nothing() -> None:
    budget = thing("PodDisruptionBudget", status={"currentHealthy": 0, "expectedPods": 0})
    assert trial.pdb_down(cluster(), budget) == "it protects 0 pods, 0 of them healthy"
    pool = thing("InferencePool", spec={"selector": {"matchLabels": {"x": "y"}}})
    assert trial.pool_down(cluster({"/pods": []}), pool) == "it selects no pod that is Ready"
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    assert trial.pool_down(cluster({"/pods": [ready]}), pool) == ""


def test_an_object_that_is_not_there() -> None:
    assert list(trial.down(cluster(), [thing("ConfigMap")])) == ["ConfigMap b/a: it is not there"]


# ---- scaling ----


@pytest.mark.parametrize(
    ("replicas", "spec", "expected"),
    [
        (2, {"minReplicas": 1, "maxReplicas": 5}, 4),
        (4, {"minReplicas": 1, "maxReplicas": 5}, 5),
        (5, {"minReplicas": 2, "maxReplicas": 5}, 2),
        (5, {"maxReplicas": 5}, 1),
        (3, {"minReplicaCount": 0, "maxReplicaCount": 3}, 1),
        (2, {}, 4),
    ],
)
def test_where_an_autoscaler_would_scale_to(replicas: int, spec: dict[str, int], expected: int) -> None:
    assert trial.target(replicas, spec) == expected


def test_whose_autoscaler_it_is() -> None:
    other = thing("HorizontalPodAutoscaler", namespace="c", spec={"scaleTargetRef": SCALE, "maxReplicas": 3})
    own = thing("ScaledObject", spec={"scaleTargetRef": SCALE, "maxReplicaCount": 4})
    assert trial.scaler(lws(), [other]) == {}
    assert trial.scaler(lws(), [other, own])["maxReplicaCount"] == 4
    assert trial.scaler(thing("Deployment", "apps/v1"), [own]) == {}  # of the same name


def test_scaling_goes_through_the_subresource() -> None:
    there = {"spec": {"replicas": 1}, "status": {"selector": "x=y"}}
    fake_cluster = cluster({"GET /apis/leaderworkerset.x-k8s.io/v1/namespaces/b/leaderworkersets/a/scale": there})
    assert trial.scale(fake_cluster, lws(), 4) == ""
    assert isinstance(fake_cluster.client, Server)
    assert fake_cluster.client.requests[-1].startswith("PUT ")
    assert json.loads(fake_cluster.client.sent[-1]) == {"spec": {"replicas": 4}, "status": {"selector": "x=y"}}


def test_a_scale_that_cannot_be_read() -> None:
    assert trial.scale(cluster({"/scale": "no such thing"}), lws(), 4) == "no such thing"
    assert "no selector" in trial.scale(cluster({"/scale": {"spec": {"replicas": 1}}}), lws(), 4)


# ---- drift ----


def finding(mode: str = "client", path: str = "spec.replicas", **more: Any) -> dict[str, Any]:
    fields = [{"path": path, "live": 3, "git": 2}] if path else None
    return {
        "mode": mode,
        "kind": "LeaderWorkerSet",
        "namespace": "b",
        "name": "a",
        "error": "",
        "fields": fields,
        **more,
    }


def test_what_the_diff_says() -> None:
    [difference] = trial.parse_differences(finding())
    assert str(difference) == "drift, client: LeaderWorkerSet b/a: spec.replicas: live 3, Git gives 2"
    [difference] = trial.parse_differences(finding("server", "", error="no such kind"))
    assert str(difference) == "drift, server: LeaderWorkerSet b/a: no such kind"
    assert list(trial.parse_differences(finding(path=""))) == []


def test_replicas_that_git_says_have_to_be_seen() -> None:
    differences = [difference for mode in ("client", "server") for difference in trial.parse_differences(finding(mode))]
    assert trial.counted(differences) == "1/0/1"
    assert list(trial.unseen(differences, [lws(replicas=2)])) == [
        "after scaling: LeaderWorkerSet b/a: drift, structured, does not see that spec.replicas is not what Git says"
    ]
    assert all(trial.is_intended(difference, [lws(replicas=2)]) for difference in differences)


def test_replicas_that_an_autoscaler_owns_are_no_drift() -> None:
    [difference] = trial.parse_differences(finding())
    assert not trial.is_intended(difference, [lws()])
    assert list(trial.unseen([difference], [lws()])) == []
    [other] = trial.parse_differences(finding(path="spec.startupPolicy"))
    assert not trial.is_intended(other, [lws(replicas=2)])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo no such kubeconfig >&2; exit 2", "drift: no such kubeconfig"),
        ("true", "drift compared 0 times, not 1 objects in each mode"),
    ],
)
def test_a_diff_that_does_not_compare(script: str, message: str, tmp_path: Path) -> None:
    drift = tmp_path / "drift"
    drift.write_text(f"#!/bin/sh\n{script}\n")
    drift.chmod(0o755)
    example = examples.Example("x", (Manifest("a.yaml", lws(), "a: 1"),))
    with pytest.raises(CannotJudge, match=re.escape(message)):
        trial.differences(drift, tmp_path / "kubeconfig", example)


# ---- the whole ----


def test_an_example_that_is_refused_is_wrong_and_removed() -> None:
    example = examples.Example("x", (Manifest("a.yaml", lws(), "text"), Manifest("c.yaml", thing("GatewayClass"), "t")))
    fake_cluster = cluster(
        {"PATCH /apis/leaderworkerset.x-k8s.io/v1/namespaces/b/leaderworkersets/a": "no\nway", "/pods": []}
    )
    row = trial.trial(fake_cluster, Path("/nowhere"), example)
    assert row.faults == ["LeaderWorkerSet b/a: not applied: no\nway"]
    assert isinstance(fake_cluster.client, Server)
    deleted = [request for request in fake_cluster.client.requests if request.startswith("DELETE")]
    group = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/b/leaderworkersets/a"
    assert deleted == [f"DELETE {group}", "DELETE /api/v1/gatewayclasss/a", "DELETE /api/v1/namespaces/b"]


def test_the_default_namespace_stays_and_what_is_in_it_goes() -> None:
    fake_cluster = cluster({"/pods": []})
    assert list(trial.prepare(fake_cluster, [thing("Service", namespace="default")])) == []
    assert isinstance(fake_cluster.client, Server)
    assert fake_cluster.client.requests == []
    assert trial.removed(fake_cluster, [thing("Service", namespace="default")]) == []
    deleted = [request for request in fake_cluster.client.requests if request.startswith("DELETE")]
    space = "/api/v1/namespaces/default"
    assert deleted == [f"DELETE {space}/services/a", f"DELETE {space}/persistentvolumeclaims"]


def test_an_example_that_does_not_come_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "BRINGING_UP", 0.0)
    event = {
        "involvedObject": {"kind": "Pod", "namespace": "b", "name": "a-0"},
        "reason": "FailedScheduling",
        "message": "0/4 nodes are available",
    }
    example = examples.Example("x", (Manifest("a.yaml", lws(), "text"),))
    live = lws(replicas=1)
    row = trial.trial(
        cluster({"/leaderworkersets/a": live, "/events": [event, event], "/pods": []}), Path("/nowhere"), example
    )
    assert row.faults == [
        "after 0 s: LeaderWorkerSet b/a: not Available: 0 of 1 replicas are ready",
        "after 0 s: Pod b/a-0: FailedScheduling: 0/4 nodes are available",
    ]
    assert "drift" not in row.figures


def test_a_program_that_ended_while_it_is_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "lws-manager.log"
    log.write_text("starting\npanic: no\n")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    waiting = control.Cluster(Server({}), tmp_path, [control.Part(ended, log)])
    with pytest.raises(CannotJudge, match="lws-manager ended:\nstarting\npanic: no"):
        waiting.settled(lambda: ["not there"], 5)


def test_patience_is_over() -> None:
    assert cluster().settled(lambda: ["not there"], 0) == ["not there"]


def test_a_kind_that_the_cluster_does_not_have() -> None:
    with pytest.raises(CannotJudge, match=r"no kind Nothing in example\.com/v1"):
        cluster().path(thing("Nothing", "example.com/v1"))


def test_the_table() -> None:
    rows = [
        trial.Row("hpa", {"objects": "8", "pods": "2", "drift": "0/0/0", "scaled": "0/0/0", "seconds": "9"}, []),
        trial.Row("canary", {"objects": "12", "seconds": "60"}, ["not up"]),
    ]
    assert program.table(rows) == [
        "example  objects  LWS  sets  Deployments  Jobs  pods  Services  HPAs  drift  scaled   s",
        "hpa            8    -     -            -     -     2         -     -  0/0/0   0/0/0   9",
        "canary        12    -     -            -     -     -         -     -      -       -  60  WRONG",
        "drift, scaled: fields OutOfSync, client/structured/server",
    ]


def test_a_fault_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    program.report(trial.Row("hpa", {"seconds": "9"}, ["not\n  up"]))
    assert capsys.readouterr().out == "hpa: 1 WRONG (9 s)\n  not up\n"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.cluster", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_without_its_programs_nothing_is_judged(tmp_path: Path) -> None:
    result = run("--tools", tmp_path)
    assert result.returncode == 2
    names = "etcd kube-apiserver kube-controller-manager kube-scheduler lws-manager kwok drift"
    assert result.stderr == f"cannot judge: {names.replace(' ', ', ')} not built: scripts/tools.sh {names}\n"


def test_an_example_that_does_not_exist_is_said_before_anything_starts(tmp_path: Path) -> None:
    result = run("--tools", tmp_path, "quickstrat")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("cannot judge: no example is called quickstrat; there are adapters, cache, ")


# ---- what has to fit together ----


def test_make_builds_what_is_run() -> None:
    [line] = re.findall(r"^cluster-test:.*\n\t@scripts/tools.sh (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sorted(line.split()) == sorted((*control.PROGRAMS, "kubectl"))
    script = (ROOT / "scripts" / "tools.sh").read_text("utf-8")
    for name in line.split():
        assert re.search(rf"^    (\S+ \| )*{name}( \| \S+)*\) ", script, re.MULTILINE), name


def test_the_cluster_is_of_versions_that_our_schemas_know() -> None:
    """LeaderWorkerSet and the API server are those of the schemas. The controllers of Kubernetes may be one minor
    version older, a skew that it supports: gitops-engine, whose diff is built with them, does not go with newer ones.
    """
    from scripts.make_schemas import KUBERNETES  # not above: its neighbours are on the path by now

    cluster, server = ((ROOT / "tests" / name / "go.mod").read_text("utf-8") for name in ("cluster", "apiserver"))
    assert f"\t{control.LWS_CRDS.module.replace('@', ' ')} // indirect\n" in cluster
    assert f"\t{KUBERNETES.replace('@', ' ')} // indirect\n" in server
    [controllers] = re.findall(r"^\tk8s.io/kubernetes v1\.(\d+)\.\S+ // indirect\n", cluster, re.MULTILINE)
    assert 0 <= int(KUBERNETES.rpartition("@v1.")[2].partition(".")[0]) - int(controllers) <= 1
