"""Objects that are alike in all that a policy reads are judged once: the verdicts are those of judging each."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from renderer.admission import judge
from renderer.cel.compiler import CelEnvironment
from renderer.cel.functions import MODULES, functions_named
from renderer.cel.reads import Reads, projection
from tests.admission import policies
from tests.admission.objects import objects

KUBERNETES = functions_named(MODULES.values())


def test_what_is_alike_gets_the_same_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = list(objects())
    names = list(policies.policies())
    together = {name: list(policies.ours(name, bodies)) for name in names}
    policies.judge_of.cache_clear()
    monkeypatch.setattr(judge._BoundPolicy, "key_of", lambda *_: object())
    assert {name: list(policies.ours(name, bodies)) for name in names} == together
    policies.judge_of.cache_clear()


def test_a_policy_is_evaluated_once_for_objects_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    base = next(body for body in objects() if body["kind"] == "Deployment")
    base["spec"]["replicas"] = 1
    bodies: list[Any] = []
    for i in range(20):
        bodies.append(copy.deepcopy(base))
        bodies[-1]["metadata"]["name"] = f"web-{i}"
    evaluated: list[object] = []
    original = judge.Judge._evaluated

    def counting(self: judge.Judge, *arguments: Any) -> Any:
        evaluated.append(arguments)
        return original(self, *arguments)

    policies.judge_of.cache_clear()
    monkeypatch.setattr(judge.Judge, "_evaluated", counting)
    assert {verdict.message for verdict in policies.ours("divisions", bodies)} == {""}
    assert len(evaluated) == 1


@pytest.mark.parametrize(
    ("text", "whole", "present"),
    [
        ("object.spec.replicas <= 2", {"spec.replicas"}, set()),
        ("has(object.spec.a.b) && object.spec.x[0].y == 1", {"spec.x.*.y"}, {"spec.a.b"}),
        ("object.c.all(c, has(c.d) && c.e.f['g'] == 'a')", {"c.*.e.f.g"}, {"c.*", "c.*.d"}),
        ("object.labels.all(k, object.labels[k] != '')", {"labels.*"}, {"labels.*"}),
        ("variables.list.all(c, c.image.matches('a'))", {"spec.list.*.image"}, {"spec.list", "spec.list.*"}),
        ("object.?labels[?'team'].orValue('a') == 'b'", {"labels.team"}, set()),
        ("object.c.filter(c, c.a > 1).map(c, c.name).size() > 1", {"c.*", "c.*.a"}, {"c.*"}),
        ("size(object.l) > 2 && {'a': object.q}.a == 1", {"l", "q"}, set()),
        ("(object.a == 1 ? object.b : object.c).d == 1", {"a", "b.d", "c.d"}, set()),
        ("object == oldObject", {""}, set()),
        (".object.spec.replicas > 1", {"spec.replicas"}, set()),
        ("optional.of(object.m).optMap(m, m.a).orValue(0) == 1", {"m.a"}, {"m"}),
        ("dyn(object.a).b == 1", {"a.b"}, set()),
        ("'a' in object.b && object.c in object.d", {"c", "d"}, {"b.a"}),
    ],
)  # fmt: skip
def test_what_an_expression_reads(text: str, whole: set[str], present: set[str]) -> None:
    environment = CelEnvironment({"object": "dyn", "oldObject": "dyn", "variables.list": "dyn"}, KUBERNETES)
    reads = Reads()
    if "variables" in text:
        reads.add(environment.compile("object.spec.list"), "list")
    reads.add(environment.compile(text))
    assert {".".join(path[1:]) for path in reads.whole if path[0] == "object"} == whole
    assert {".".join(path[1:]) for path in reads.present if path[0] == "object"} == present


def test_what_counts_of_an_object() -> None:
    reads = Reads()
    reads.whole |= {("object", "a", "b"), ("object", "l", "*", "x"), ("object", "m", "*"), ("request", "n")}
    reads.present |= {("object", "a", "c"), ("object", "l", "*")}
    value = {"a": {"b": [1], "c": {"d": 1}, "e": 2}, "l": [{"x": 1, "y": 2}, 3], "m": {"p": 1}, "n": 1}
    assert projection(reads).of(value) == {"a": {"b": [1], "c": {}}, "l": [{"x": 1}, 3], "m": {"p": 1}}
    reads.present.add(("object", "l2", "a"))
    assert projection(reads).of({"l2": ["a", "b"], "a": {"c": [1, 2]}}) == {"l2": ["a", "b"], "a": {"c": 2}}
