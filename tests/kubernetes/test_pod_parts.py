"""Where kinds have pods, and what CRDs say of it."""

from __future__ import annotations

from typing import Any

import pytest

from renderer import yamlio
from renderer.kubernetes import pod_parts
from renderer.kubernetes.json_values import find
from renderer.kubernetes.workloads import WORKLOADS, Kind
from renderer.policy.objects import judged_object

TEMPLATES = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ["spec.leaderWorkerTemplate.workerTemplate"],
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): ["spec.roles.*.spec.leaderWorkerTemplate.workerTemplate"],
}


def placed(pattern: tuple[str, ...], value: object) -> Any:
    """A value at a pattern: in lists for `*`, a level deeper for `**`."""
    for part in reversed(pattern):
        value = [value] if part == "*" else {"deeper" if part == "**" else part: value}
    return value


def patterns_of(kind: Kind) -> list[tuple[str, ...]]:
    """Where a kind has pods or parts of them."""
    if parts := pod_parts.pod_parts(kind):
        return [part.pattern for part in parts]
    templates = TEMPLATES.get(kind) or WORKLOADS[kind].templates if kind in WORKLOADS else ()
    return [tuple(f"{template}.spec".strip(".").split(".")) for template in templates]


@pytest.mark.parametrize("kind", [*WORKLOADS, *pod_parts._known_parts()], ids="/".join)
def test_each_path_is_judged(kind: Kind) -> None:
    for pattern in patterns_of(kind):
        content = placed(pattern, {"serviceAccountName": "admin", "priorityClassName": "high"})
        body = {"apiVersion": f"{kind[0]}/v1" if kind[0] else "v1", "kind": kind[1], **content}
        document = yamlio.parse("a.yaml", yamlio.dump(body).encode())[0][0]
        accounts = [name for pod in judged_object(document, None).pods for _, name in pod.accounts()]
        assert [name for name in accounts if name != "default"] == ["admin"], pattern
        assert pod_parts.is_known(kind)


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("a.b", [("a", "b")]),
        ("a.*.b", []),
        ("l.*.b", [("l", 0, "b"), ("l", 2, "b")]),
        ("**.b", [("a", "b"), ("l", 0, "b"), ("l", 2, "b"), ("l", 2, "c", "b")]),
        ("a.b.c", []),
    ],
)
def test_what_stands_at_a_pattern(pattern: str, paths: list[tuple[str | int, ...]]) -> None:
    value = {"a": {"b": 1}, "l": [{"b": 2}, None, {"b": 3, "c": {"b": 4}}]}
    assert [path for path, _ in find(value, tuple(pattern.split(".")))] == paths


def crd(schema: object) -> dict[str, Any]:
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}] if schema else [{"name": "v1"}]
    spec = {"group": "example.com", "names": {"kind": "Agent"}, "versions": versions}
    return {"kind": "CustomResourceDefinition", "spec": spec}


def spec_of(schema: object) -> dict[str, Any]:
    return {"properties": {"metadata": {"type": "object"}, "spec": schema, "status": {"properties": {"image": {}}}}}


@pytest.mark.parametrize(
    ("schema", "patterns", "is_open"),
    [
        (None, [], True),
        ({"x-kubernetes-preserve-unknown-fields": True}, [], True),
        (spec_of({"properties": {"size": {"type": "integer"}}}), [], False),
        (spec_of({"properties": {"values": {"x-kubernetes-preserve-unknown-fields": True}}}), [], True),
        (spec_of({"properties": {"hostPID": {}}}), [("spec",)], False),
        (spec_of({"items": {"properties": {"image": {}}}}), [("spec", "*")], False),
        (spec_of({"additionalProperties": {"properties": {"containers": {}}}}), [("spec", "*")], False),
        (spec_of(["no", "schema"]), [], False),
    ],
)
def test_what_a_crd_says(schema: object, patterns: list[tuple[str, ...]], is_open: bool) -> None:
    defined = pod_parts.defined_kinds([crd(schema)])["example.com", "Agent"]
    assert [part.pattern for part in defined.parts] == patterns
    assert defined.is_open is is_open
    assert defined.may_hold_pods is bool(patterns or is_open)


@pytest.mark.parametrize(
    "body", [{}, {"kind": "CustomResourceDefinition"}, crd([]) | {"spec": []}, crd({}) | {"kind": 1}]
)
def test_what_is_no_crd_says_nothing(body: dict[str, Any]) -> None:
    assert pod_parts.defined_kinds([body]) == {}


@pytest.mark.parametrize("group", ["", "apps", "batch", "rbac.authorization.k8s.io", "gateway.networking.k8s.io"])
def test_groups_whose_kinds_are_known(group: str) -> None:
    assert pod_parts.is_known((group, "Anything"))
    assert not pod_parts.is_known((f"x.{group or 'y'}", "Anything"))
