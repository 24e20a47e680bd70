"""DisaggregatedSets, by the version of LeaderWorkerSet that is targeted: what is made of their roles, and what aims at
it. Whole files, and how findings read, are in errors/E39*; what the webhooks say, in test_go_judges.py.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from renderer import check
from renderer.check.graph import ExternalObjects, ObjectView, validate_graph
from renderer.check.relations import validate_relations
from renderer.kubernetes.component_versions import TargetVersions

SET: dict[str, Any] = yaml.safe_load("""
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: chat, namespace: llm, annotations: {renderer.llmaz.io/served-model-name: blue}}
spec:
  roles:
    - name: prefill
      spec:
        replicas: 2
        leaderWorkerTemplate:
          size: 1
          workerTemplate:
            metadata: {labels: {llm-d.ai/role: prefill}}
            spec:
              containers:
                - name: runner
                  image: engine:1
                  args: [--served-model-name, blue]
                  ports: [{name: http, containerPort: 8080}]
    - name: decode
      spec:
        replicas: 1
        leaderWorkerTemplate:
          size: 2
          workerTemplate:
            metadata: {labels: {llm-d.ai/role: decode}}
            spec:
              initContainers:
                - {name: proxy, image: "proxy:1", restartPolicy: Always, ports: [{containerPort: 8080}]}
              containers:
                - name: runner
                  image: engine:1
                  args: [--served-model-name, blue]
                  ports: [{name: http, containerPort: 8200}]
""")
NAME, ROLE, SLICE = (f"disaggregatedset.x-k8s.io/{word}" for word in ("name", "role", "slice"))
INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
OF_DECODE = {NAME: "chat", ROLE: "decode", INDEX: "0"}


def disaggregated(**spec: Any) -> dict[str, Any]:
    body = copy.deepcopy(SET)
    body["spec"] |= spec
    return body


def external(role: int = 1) -> dict[str, Any]:
    """With a role that is scaled from outside."""
    body = disaggregated()
    body["spec"]["roles"][role]["scaling"] = {"mode": "External"}
    del body["spec"]["roles"][role]["spec"]["replicas"]
    return body


def service(port: object = 8080, **selector: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "lb", "namespace": "llm"},
        "spec": {"selector": selector, "ports": [{"port": 80, "targetPort": port}]},
    }


def autoscaler(kind: str, name: str, version: str = "disaggregatedset.x-k8s.io/v1", **metric: Any) -> dict[str, Any]:
    target = {"apiVersion": version, "kind": kind, "name": name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "hpa", "namespace": "llm"},
        "spec": {"maxReplicas": 4, "scaleTargetRef": target, "metrics": [metric] if metric else []},
    }


def alone(body: dict[str, Any], targeted: str = "") -> list[str]:
    """Codes about one object."""
    targets = TargetVersions({"leaderWorkerSet": targeted}) if targeted else None
    return [finding.code for finding in check.validate_object(body, targets=targets)]


def together(*bodies: dict[str, Any], targeted: str = "") -> list[str]:
    """Codes about the objects of a set, each of which is valid."""
    targets = TargetVersions({"leaderWorkerSet": targeted}) if targeted else None
    view = ObjectView(bodies, ExternalObjects(targets=targets))
    findings = [*validate_relations(bodies), *validate_graph(view)]
    return [finding.code for _, finding in findings]


@pytest.mark.parametrize(
    ("version", "changed", "codes"),
    [
        ("0.8", {}, ["E700"]),
        ("0.9", {}, []),
        ("0.9", {"slices": 1}, ["E700"]),
        ("0.10", {"slices": 3}, []),
        ("0.10", {"slices": 101}, ["E307"]),
        ("0.9", {"placementPolicy": {"type": "None"}}, ["E700"]),
        ("0.10", {"placementPolicy": {"type": "None"}}, []),
        ("0.10", {"placementPolicy": {"type": "ExclusiveSlice", "topology": "example.com/rack"}}, []),
        ("0.10", {"placementPolicy": {"type": "ExclusiveSlice"}}, ["E391"]),
        ("0.10", {"placementPolicy": {"type": "Elsewhere"}}, ["E304"]),
    ],
)
def test_what_a_version_has(version: str, changed: dict[str, Any], codes: list[str]) -> None:
    assert alone(disaggregated(**changed), version) == codes


def test_a_role_that_is_scaled_from_outside_needs_a_version() -> None:
    assert alone(external(), "0.9") == ["E700"]
    assert alone(external(), "0.10") == []
    identified = disaggregated()
    identified["spec"]["roles"][0]["spec"]["groupIdentity"] = "Hash"
    assert alone(identified, "0.10") == ["E700"]
    assert alone(identified, "0.11") == []


@pytest.mark.parametrize(
    ("changed", "longest"),
    [
        ({}, 52),  # a StatefulSet's name in a label of its pods
        ({"leaderWorkerTemplate": {"size": 2}}, 50),  # that of the workers of group 0
        ({"replicas": 11, "leaderWorkerTemplate": {"size": 2}}, 49),  # … of group 10
        ({"replicas": 0, "leaderWorkerTemplate": {"size": 2}}, 50),
        ({"groupIdentity": "Hash"}, 54),
        ({"groupIdentity": "Hash", "leaderWorkerTemplate": {"size": 2}}, 43),
    ],
)
def test_the_longest_name(changed: dict[str, Any], longest: int) -> None:
    """Of the set, the slice, the revision and the role together: both roles are called alike long."""
    body = disaggregated()
    for role, name in zip(body["spec"]["roles"], ("aaaaaa", "bbbbbb"), strict=True):
        template = role["spec"]["leaderWorkerTemplate"] | {"size": 1} | changed.get("leaderWorkerTemplate", {})
        role |= {"name": name, "spec": role["spec"] | changed | {"leaderWorkerTemplate": template}}
    rest = len("-0-12345678-aaaaaa")
    body["metadata"]["name"] = "c" * (longest - rest)
    assert alone(body) == []
    body["metadata"]["name"] += "c"
    assert alone(body) == ["E390", "E390"]
    body["spec"]["slices"] = 11  # the last is 10
    body["metadata"]["name"] = "c" * (longest - rest)
    assert alone(body) == ["E390", "E390"]


@pytest.mark.parametrize(
    ("version", "selector", "codes"),
    [
        ("", OF_DECODE, []),
        ("", {NAME: "chat", "llm-d.ai/role": "prefill"}, []),
        ("", {NAME: "chat", ROLE: "decode", INDEX: "1"}, []),
        ("", {NAME: "chat", ROLE: "prefill", INDEX: "1"}, ["E393"]),
        ("", {NAME: "chat", ROLE: "decode", INDEX: "leader"}, ["E393"]),
        ("", {NAME: "talk", ROLE: "prefill"}, []),  # of another set, which may be elsewhere
        ("", {NAME: "chat", ROLE: "prefill", "llm-d.ai/role": "decode"}, ["E393"]),
        ("0.9", {NAME: "chat", SLICE: "0"}, ["E393"]),
        ("0.10", {NAME: "chat", SLICE: "1"}, []),
        ("0.10", {NAME: "chat", SLICE: "2"}, ["E393"]),
        ("", {NAME: "chat", SLICE: "1"}, []),
        ("0.9", {NAME: "chat", "app": "chat-decode"}, []),
        ("0.9", {NAME: "chat", "app": "chat-0-decode"}, ["E393"]),
        ("0.10", {NAME: "chat", "app": "chat-1-decode"}, []),
        ("", {"leaderworkerset.sigs.k8s.io/name": "chat-12345678-decode"}, ["E393"]),
        ("", {"leaderworkerset.sigs.k8s.io/name": "chat-1-12345678-decode"}, ["E393"]),
        ("", {"leaderworkerset.sigs.k8s.io/name": "chat-decode"}, []),  # somebody else's
    ],
)
def test_selectors(version: str, selector: dict[str, str], codes: list[str]) -> None:
    body = disaggregated() if version == "0.9" else disaggregated(slices=2)
    assert together(body, service(**selector), targeted=version) == codes


@pytest.mark.parametrize(("port", "codes"), [(8080, []), (8200, []), ("http", []), (80, ["E553"])])
def test_a_service_leads_to_ports_of_the_role(port: object, codes: list[str]) -> None:
    """A sidecar's port counts, and so does the engine's behind it."""
    assert together(disaggregated(), service(port, **OF_DECODE)) == codes


def measured(container: str) -> dict[str, Any]:
    source = {"container": container, "name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}
    return {"type": "ContainerResource", "containerResource": source}


@pytest.mark.parametrize(
    ("body", "scaler", "codes"),
    [
        (external(), autoscaler("DisaggregatedSetRoleScaler", "chat-decode"), []),
        (external(), autoscaler("DisaggregatedSetRoleScaler", "chat-decode", **measured("runner")), []),
        (external(), autoscaler("DisaggregatedSetRoleScaler", "chat-decode", **measured("engine")), ["E555"]),
        (external(), autoscaler("DisaggregatedSetRoleScaler", "chat-prefill"), ["E392"]),
        (external(), autoscaler("DisaggregatedSetRoleScaler", "chat-encode"), ["E580"]),
        (external(), autoscaler("DisaggregatedSet", "chat"), ["E392"]),
        (external(), autoscaler("LeaderWorkerSet", "chat-0-12345678-decode", "leaderworkerset.x-k8s.io/v1"), ["E392"]),
        (external(), autoscaler("LeaderWorkerSet", "chat-decode", "leaderworkerset.x-k8s.io/v1"), ["E580"]),
    ],
    ids=str,
)
def test_autoscalers(body: dict[str, Any], scaler: dict[str, Any], codes: list[str]) -> None:
    assert together(body, scaler) == codes


def test_two_autoscalers_of_a_role() -> None:
    one, other = (autoscaler("DisaggregatedSetRoleScaler", "chat-decode") for _ in range(2))
    other["metadata"] = {**other["metadata"], "name": "other"}
    assert together(external(), one, other) == ["E550"]


def test_a_set_that_cannot_be_looked_into_may_have_the_target() -> None:
    scaler = autoscaler("DisaggregatedSetRoleScaler", "chat-decode")
    present = frozenset({("DisaggregatedSet", "llm", "chat")})
    assert list(validate_graph(ObjectView([scaler], ExternalObjects(present=present)))) == []


@pytest.mark.parametrize(("model", "codes"), [("blue", []), ("red", ["E610"])])
def test_a_pool_of_a_role_is_asked_for_what_its_engine_knows(model: str, codes: list[str]) -> None:
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {
            "selector": {"matchLabels": {**OF_DECODE}},
            "targetPorts": [{"number": 8080}],
            "endpointPickerRef": {"name": "lb", "port": {"number": 80}},
        },
    }
    rewrite = {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "InferenceModelRewrite",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {"poolRef": {"name": "chat"}, "rules": [{"targets": [{"modelRewrite": model}]}]},
    }
    assert together(disaggregated(), service(**OF_DECODE), pool, rewrite) == codes


@pytest.mark.parametrize(("hidden", "codes"), [(True, []), (False, ["W591"])])
def test_a_pool_whose_workload_may_be_one_that_cannot_be_looked_into(hidden: bool, codes: list[str]) -> None:
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {
            "selector": {"matchLabels": {"app": "chat"}},
            "targetPorts": [{"number": 8080}],
            "endpointPickerRef": {"name": "lb", "port": {"number": 80}},
        },
    }
    present = frozenset({("LeaderWorkerSet", "llm", "chat")} if hidden else ())
    view = ObjectView([pool, service(**OF_DECODE), disaggregated()], ExternalObjects(present=present))
    assert [finding.code for _, finding in validate_graph(view)] == codes
