"""ValidatingAdmissionPolicies and objects: those that a real API server has judged, changed a little."""

from __future__ import annotations

import copy
import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from renderer import yamlio
from tests.admission import policies as recorded
from tests.admission.objects import objects
from tests.hostile import manifests
from tests.hostile.aims import Aim, Attempt, Ended
from tests.hostile.listeners import Listeners
from tests.hostile.policies import CONFIG, ERROR, MODEL, PLAYGROUND

Node: TypeAlias = Any
POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  admission: ["platform/admission/*.yaml"]
  namespaces: {team-a: {labels: {env: prod}}}
"""
VERDICT = re.compile(r"\bE84[02]\b|\bN840\b")
EXPRESSIONS = (
    "object.metadata.name.matches('^(a+)+$')",
    "object.metadata.?annotations['example.com/note'].orValue('').size() < 9",
    "[1, 2, 3].map(x, [1, 2, 3].map(y, x * y)).size() == 3",
    "'{0}'.format([object.metadata.name]) != ''",
    "'a'.replace('a', 'aa').replace('a', 'aa').size() < 9",
    "object.spec.nothing == 1",
    "object.metadata.namespace in ['" + "', '".join(f"n{i}" for i in range(500)) + "']",
    "(" * 40 + "true" + ")" * 40,
    "!" * 60 + "true",
    "1 / 0 == 1",
    "9223372036854775807 + 1 > 0",
    "object.metadata.name.split('').map(x, x + x).join('').size() > 0",
    "quantity('1e999999').isGreaterThan(quantity('1'))",
    "url('http://[::1').getHost() == ''",
    "cidr('10.0.0.0/8').containsIP('300.1.1.1')",
    "request.name == object.metadata.name && .request.name == object.metadata.name",
    "variables.nothing",
    "authorizer.group('').resource('pods').check('get').allowed()",
    "sets.contains(object.metadata.name.split(''), ['a'])",
    "object.metadata.name.split('').distinct().size() < 3",
    "",
)


@cache
def targets() -> dict[str, list[Node]]:
    """The objects by the name of their resource."""
    by_resource: dict[str, list[Node]] = {}
    for body in objects():
        plural = body["kind"].lower() + ("es" if body["kind"].endswith("s") else "s")
        by_resource.setdefault(plural.replace("ys", "ies"), []).append(body)
    return by_resource


@cache
def judging() -> list[tuple[str, tuple[Node, ...]]]:
    """The names of policies that judge some objects, with these."""
    known = []
    for name in sorted(recorded.policies()):
        parts = [document.value["spec"] for document in recorded.policies()[name]]
        rules = [rule for spec in parts for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ()]
        resources = {resource for rule in rules for resource in rule["resources"]}
        bodies = [body for resource, some in targets().items() if {resource, "*"} & resources for body in some]
        if bodies:
            known.append((name, tuple(bodies)))
    return known


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """Two policies, and objects of which one at least is judged by them."""
    manifests.put(folder, "llmaz.yaml", CONFIG)
    manifests.put(folder, "llmaz-policy.yaml", POLICY)
    manifests.put(folder, "platform/models.yaml", MODEL)
    manifests.put(folder, "teams/a/chat.yaml", yamlio.dump(PLAYGROUND))
    (name, bodies), (other, _) = random.choice(judging()), random.choice(judging())
    parts = [copy.deepcopy(document.value) for key in {name: 0, other: 0} for document in recorded.policies()[key]]
    _change(parts, random)
    manifests.put(folder, "platform/admission/a.yaml", yamlio.dump(*parts))
    judged = [copy.deepcopy(body) for body in random.sample(bodies, min(3, len(bodies)))]
    if random.random() < 0.8:
        manifests.disturb(judged, random, 3)
    manifests.put(folder, "extra/objects.yaml", manifests.spelt(judged, random))
    manifests.put(folder, "extra/world.yaml", yamlio.dump(*recorded.world()))
    command = random.choice([("validate",), ("check", "extra"), ("validate", "--format", "github")])
    return Attempt(command, reaches)


def _change(parts: list[Node], random: Random) -> None:
    """Another expression beside those of a policy, now and then."""
    policy = random.choice([part for part in parts if part["kind"] == "ValidatingAdmissionPolicy"])
    spec = policy["spec"]
    match random.randrange(6):
        case 0 | 1:
            validation = {"expression": random.choice(EXPRESSIONS), "message": "odd"}
            spec["validations"] = [*(spec.get("validations") or ()), validation]
        case 2:
            variable = {"name": "odd", "expression": random.choice(EXPRESSIONS)}
            spec["variables"] = [*(spec.get("variables") or ()), variable]
        case 3:
            manifests.disturb(parts, random, 1)


def reaches(ended: Ended) -> bool:
    """Whether a policy said something of an object, or nothing against any of them."""
    codes = {*ERROR.findall(ended.text)}
    return bool(ended.code == 0 or VERDICT.search(ended.text)) and not codes & {"E841", "E844", "E845", "E111", "E901"}


AIM = Aim("admission", 7, "an object was judged by an expression", attempt)
