"""The CEL rules of the kinds that we make: each is proven with a manifest that it takes and one that it refuses.

`cel/<kind>.yaml`: an `object` that is taken, and for each place of rules (`proven`) values that take the place in it;
`with` is merged into the object first. `shared` places a part that stands in several kinds (`cel/shared/`). `unmet`
names the places that nothing of ours reaches, and why.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from renderer import check, schema_validation
from renderer.check import cel, object_rules
from scripts import make_accepted_objects
from tests.paths import TESTS

HERE = TESTS / "cel"
FILES = sorted(path.stem for path in HERE.glob("*.yaml"))
RULELESS = (
    "gateway.networking.k8s.io/gatewayclass_v1",
    "gateway.networking.k8s.io/referencegrant_v1",
    "monitoring.coreos.com/podmonitor_v1",
    "leaderworkerset.x-k8s.io/leaderworkerset_v1",
    "autoscaling/horizontalpodautoscaler_v2",
)


class Case(NamedTuple):
    """A rule: the place of its schema, how its message begins, and the two objects."""

    kind: str
    at: str
    says: str
    accepted: Any
    refused: Any


def read(name: str) -> Any:
    return yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))


def steps(at: str) -> list[str]:
    """`spec.rules[].name` → spec, rules, [], name."""
    return [step for step in re.split(r"\.|(\[\])", at) if step]


def merged(base: Any, more: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(more, dict):
        return copy.deepcopy(more)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in more.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def put(base: Any, path: list[str], value: Any) -> Any:
    """A copy of `base` with the value at the path; of a list on the way only the first item is left."""
    if not path:
        return copy.deepcopy(value)
    if path[0] == "[]":
        return [put(base[0] if base else None, path[1:], value)]
    result = dict(base or {})
    result[path[0]] = put(result.get(path[0]), path[1:], value)
    return result


def cases(name: str) -> Iterator[Case]:
    data = read(name)
    whole = data["object"]
    for group in data["proven"]:
        start = merged(whole, group.get("with", {}))
        for rule in group["rules"]:
            objects = [put(start, steps(group["at"]), rule[word]) for word in ("taken", "refused")]
            yield Case(name, group["at"], rule["says"], *objects)
    for part in data.get("shared", ()):
        start = merged(whole, part.get("with", {}))
        known = {at for at, _ in rules(whole)}
        for group in read(f"shared/{part['cases']}"):
            at = re.sub(r"\.(?=\[|$)", "", f"{part['at']}.{group['at']}")
            if at not in known:
                continue  # the part is a little smaller in some kinds
            for rule in group["rules"]:
                base = group.get("with", {})
                inner = [put(base, steps(group["at"]), rule[word]) for word in ("taken", "refused")]
                place = start
                for step in steps(part["at"]):
                    place = (place or [None])[0] if step == "[]" else (place or {}).get(step)
                objects = [put(start, steps(part["at"]), merged(place, inner_object)) for inner_object in inner]
                yield Case(name, at, rule["says"], *objects)


def rules(body: Any) -> Iterator[tuple[str, str]]:
    """Each rule of the object's kind: the place of its schema, and its message."""
    raw = json.loads(
        (Path(schema_validation.FOLDER) / f"{schema_of(body).replace('output', 'cel', 1)}.json").read_text()
    )

    def walk(number: int, at: str) -> Iterator[tuple[str, str]]:
        node = raw["nodes"][number]
        for rule in node.get("rules", ()):
            yield at.removeprefix("."), raw["rules"][rule][1]
        for name, inner in node.get("fields", {}).items():
            yield from walk(inner, f"{at}.{name}")
        if "items" in node:
            yield from walk(node["items"], f"{at}[]")

    return walk(len(raw["nodes"]) - 1, "")


def schema_of(body: Any) -> str:
    group, _, version = body["apiVersion"].rpartition("/")
    return f"output/{group}/{body['kind'].lower()}_{version}"


ALL = [case for name in FILES for case in cases(name)]


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.kind}:{case.at}:{case.says}")
def test_a_rule_takes_and_refuses(case: Case) -> None:
    assert list(check.validate_object(case.accepted)) == []
    place = tuple(0 if step == "[]" else step for step in steps(case.at))
    findings = list(check.validate_object(case.refused))
    assert {finding.code for finding in findings} - {"E571"} == {"E570"}, findings
    assert any(
        finding.path == place and str(finding.words.get("message", "")).startswith(case.says) for finding in findings
    ), findings


@pytest.mark.parametrize("name", FILES)
def test_every_rule_is_proven_or_said_to_be_out_of_reach(name: str) -> None:
    data = read(name)
    known = list(rules(data["object"]))
    left = list(known)
    for case in (case for case in ALL if case.kind == name):
        matching = {rule for rule in known if rule[0] == case.at and rule[1].startswith(case.says)}
        assert len(matching) == 1, (case.at, case.says, matching)
        left = [rule for rule in left if rule not in matching]
    for unmet in data.get("unmet", ()):
        assert unmet["why"]
        reached = [
            (at, message)
            for at, message in left
            if re.match(rf"{re.escape(unmet['at'])}(\W|$)", at) and message.startswith(unmet.get("says", ""))
        ]
        assert reached, f"nothing is left of {unmet}"
        left = [rule for rule in left if rule not in reached]
    assert left == []


@pytest.mark.parametrize("name", RULELESS)
def test_kinds_without_rules(name: str) -> None:
    assert schema_validation.has_schema(f"output/{name}")
    assert not schema_validation.has_schema(f"cel/{name}")


def list_findings(body: Any) -> list[tuple[str, Any, str]]:
    assert schema_validation.is_valid(schema_of(body), body)
    return [
        (finding.code, finding.path, str(finding.words.get("message") or finding.words["what"]))
        for finding in check.validate_object(body)
    ]


@pytest.mark.parametrize(("last", "accepted"), [(64, True), (65, False)])
def test_the_sum_of_all_matches(last: int, accepted: bool) -> None:
    """The longest rule: 128 matches in all the rules of an HTTPRoute."""
    matches = [{"path": {"value": f"/{i}"}} for i in range(64 + last)]
    rules = [{"matches": matches[:64]}, {"matches": matches[64:127]}, {"matches": matches[127:]}]
    body = merged(read("httproute")["object"], {"spec": {"rules": rules}})
    assert [path for _, path, _ in list_findings(body)] == ([] if accepted else [("spec", "rules")])


def test_a_key_twice() -> None:
    """The list has a key, and a rule says the same once more: so does the API server."""
    listener = {"name": "a", "protocol": "HTTP", "port": 80}
    body = merged(read("gateway")["object"], {"spec": {"listeners": [listener, {**listener, "port": 81}]}})
    assert list_findings(body) == [
        ("E571", ("spec", "listeners", 1), "name 'a'"),
        ("E570", ("spec", "listeners"), "Listener name must be unique within the Gateway"),
    ]


def test_defaults_count() -> None:
    """A parent is a Gateway unless it says something else; a reserved word (`namespace`) is read by its CEL name."""
    parents = [{"name": "a"}, {"name": "a", "namespace": "b"}]
    route = merged(read("httproute")["object"], {"spec": {"parentRefs": parents}})
    assert list_findings(route) == []
    route["spec"]["parentRefs"].append({"name": "a", "namespace": "b"})
    [(code, path, message)] = list_findings(route)
    assert (code, path) == ("E570", ("spec", "parentRefs"))
    assert message.startswith("sectionName must be unique")


@pytest.mark.parametrize(
    ("host", "accepted"), [("a.example", True), ("10.0.0.1", False), ("*.a.example", True), ("010.0.0.1", True)]
)
def test_is_ip(host: str, accepted: bool) -> None:
    body = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "TLSRoute",
        "metadata": {"name": "a"},
        "spec": {"hostnames": [host], "rules": [{"backendRefs": [{"name": "a", "port": 80}]}]},
    }
    assert (list_findings(body) == []) is accepted


def test_verdicts_are_kept_by_what_rules_see(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names change nothing; what a rule reads does. The original stays as it was."""
    evaluated: list[str] = []
    judge = cel._holds

    def counted(rule: str, seen: Any) -> bool:
        evaluated.append(rule)
        return judge(rule, seen)

    monkeypatch.setattr(cel, "_holds", counted)
    object_rules._rules.cache_clear()
    body = read("aigatewayroute")["object"]
    before = copy.deepcopy(body)
    for name in ("one", "two", "three"):
        rules = [{"backendRefs": [{"name": name, "weight": 3}]}]
        body = merged(body, {"metadata": {"name": name}, "spec": {"rules": rules}})
        assert list_findings(body) == []
    assert len(evaluated) == 5
    body["spec"]["parentRefs"][0]["kind"] = "Service"
    assert [path for _, path, _ in list_findings(body)] == [("spec", "parentRefs")]
    assert len(evaluated) == 10
    assert before == read("aigatewayroute")["object"]


def test_a_rule_that_cannot_be_evaluated_is_broken() -> None:
    listener = {"name": "a", "protocol": "HTTPS", "port": 443, "tls": {}}
    body = merged(read("gateway")["object"], {"spec": {"listeners": [listener]}})
    assert [path for _, path, _ in list_findings(body)] == [("spec", "listeners", 0, "tls")]


def test_what_is_taken_without_asking_is_what_rules_accept_of_rendered_objects() -> None:
    """A new case may render more: then scripts/make_accepted_objects.py saves runs like it loading CEL."""
    accepted = make_accepted_objects.accepted()
    stored: dict[str, list[object]] = json.loads(make_accepted_objects.TARGET.read_text("utf-8"))
    assert {"cel/gateway.networking.k8s.io/gateway_v1", "cel/keda.sh/scaledobject_v1alpha1"} < stored.keys()
    for name, parts in stored.items():
        assert {cel.key(part) for part in parts} <= {cel.key(part) for part in accepted[name]}, name


def test_usual_objects_do_not_load_cel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cel, "_program", None)
    count = 0
    for file in TESTS.glob("cases/example-*/expected/**/*.yaml"):
        for body in yaml.safe_load_all(file.read_text("utf-8")):
            validate = cel.cel_rules(schema_validation.name_of(body["apiVersion"], body["kind"]))
            if validate and body["kind"] != "DisaggregatedSet":
                count += 1
                assert validate(body) == ()
    assert count > 40
