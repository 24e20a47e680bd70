"""The policies of this folder, and what we and the API server say of objects by them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from renderer import yamlio
from renderer.admission.judge import Judge
from renderer.admission.policy_files import AdmissionFiles, read_admission_files
from renderer.admission.records import KnownNamespace
from renderer.diagnostics import Origin
from renderer.yamlio import Document
from tests.admission.objects import Body, labelled, objects

HERE = Path(__file__).parent
RECORDED = HERE / "verdicts.json"
DIFFERENCES = HERE / "differences.yaml"
NAME_LABEL = "kubernetes.io/metadata.name"


class Verdict(NamedTuple):
    """What is said of an object: binding and message where it is denied; `unjudged`: what is not known."""

    binding: str = ""
    message: str = ""
    unjudged: str = ""


class Judged(NamedTuple):
    """An object for the judge."""

    body: Any

    def origin(self, path: tuple[str | int, ...]) -> Origin:
        raise AssertionError("nobody asks where it stands")


def documents(path: Path) -> list[Document]:
    read, problems = yamlio.parse(path.name, path.read_bytes())
    assert not problems, problems
    return read


@cache
def policies() -> Mapping[str, Sequence[Document]]:
    """By name, each policy and its bindings."""
    by_name: dict[str, list[Document]] = {}
    for path in sorted((HERE / "policies").glob("*.yaml")):
        for document in documents(path):
            name = document.value["spec"].get("policyName", document.value["metadata"]["name"])
            by_name.setdefault(name, []).append(document)
    return by_name


@cache
def world() -> Sequence[Body]:
    return [document.value for document in documents(HERE / "world.yaml")]


def namespaces() -> dict[str, KnownNamespace]:
    known_namespaces = {}
    for body in world():
        if body["kind"] == "Namespace":
            name = body["metadata"]["name"]
            known_namespaces[name] = KnownNamespace({**body["metadata"].get("labels", {}), NAME_LABEL: name}, body)
    return known_namespaces


def files(name: str) -> AdmissionFiles:
    """The files of one policy."""
    read = read_admission_files(policies()[name])
    assert not read.problems, read.problems
    return read


def ours(name: str, bodies: Sequence[Body]) -> Iterator[Verdict]:
    """What we say of each object by one policy: the first denial, as the server does."""
    for body in bodies:
        judge = judge_of(name)
        denied = next(judge.verdicts(Judged(labelled(body, name))), None)
        reasons = "; ".join(item.reason for item in judge.take_unjudged())
        yield Verdict(denied.binding.name, denied.decision.message, reasons) if denied else Verdict("", "", reasons)


@cache
def judge_of(name: str) -> Judge:
    read = files(name)
    return Judge(read.policies, read.bindings, world(), namespaces())


def digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def digests() -> dict[str, str]:
    """Of what verdicts are about: the objects, what is beside them, each policy."""
    by_name = {name: digest([document.value for document in parts]) for name, parts in policies().items()}
    return {"objects": digest(list(objects())), "world": digest(world()), **by_name}


class Difference(NamedTuple):
    """A rule of differences.yaml: of objects of which we and the server say other things, and why. `ours`, `server`:
    patterns of what is said; of ours, what is not judged.
    """

    policy: str
    reason: str
    ours: str = ""
    server: str = ""

    def explains(self, policy: str, ours: Verdict, server: Verdict) -> bool:
        return (
            policy == self.policy
            and bool(re.search(self.ours, f"{ours.message}{ours.unjudged}"))
            and bool(re.search(self.server, server.message))
        )


def differences() -> list[Difference]:
    return [Difference(**rule) for rule in yaml.safe_load(DIFFERENCES.read_text("utf-8")) or ()]


def record(bodies: Sequence[Body], answers: Mapping[str, Sequence[Verdict]]) -> None:
    """Writes what the server says, by policy and message, with the numbers of the objects."""
    every = list(objects())
    numbers = [every.index(body) for body in bodies]
    denied: dict[str, dict[str, list[int]]] = {}
    for name, answered in answers.items():
        by_message = denied.setdefault(name, {})
        for number, verdict in zip(numbers, answered, strict=True):
            if verdict.message:
                by_message.setdefault(f"{verdict.binding}: {verdict.message}", []).append(number)
    text = {"digests": digests(), "accepted": numbers, "denied": denied}
    lines = json.dumps(text, ensure_ascii=False, sort_keys=True, indent=1)
    RECORDED.write_text(re.sub(r"\n\s+(?=[0-9\]])", "", lines) + "\n", "utf-8")


def recorded() -> Any:
    return json.loads(RECORDED.read_text("utf-8"))
