"""5: objects against the rules of the cluster that takes them: schemas, LWS's webhook, HPA, and each other.

For objects of ours a finding points back at the input field that caused it; `llmaz check` runs the same rules over any
manifests, and points at their own lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from renderer import schema
from renderer.api import Scope
from renderer.check.finding import Body, Finding, placed
from renderer.check.hpa import hpa_rules
from renderer.check.lws import lws_pods, lws_webhook
from renderer.check.objects import service_rules, workload_rules
from renderer.check.together import together
from renderer.plan import Manifest
from renderer.problems import Origin, Path, Problem, RenderError, problem
from renderer.tree import File
from renderer.yamlio import Document

RULES: dict[str, tuple[Callable[[Body], Iterator[Finding]], ...]] = {  # by schema
    "output/leaderworkerset.x-k8s.io/leaderworkerset_v1": (lws_webhook, lws_pods),
    "output/autoscaling/horizontalpodautoscaler_v2": (hpa_rules,),
    "output/core/service_v1": (service_rules,),
    "output/apps/deployment_v1": (workload_rules,),
    "output/apps/statefulset_v1": (workload_rules,),
    "output/apps/daemonset_v1": (workload_rules,),
}


def manifests(made: Sequence[Manifest]) -> list[Problem]:
    """Everything that is wrong with one app's objects, at the input's places."""
    problems = []
    for manifest in made:
        for code, path, words in one(manifest.body):
            problems.append(placed(manifest, code, path, words))
    for index, code, path, words in together([manifest.body for manifest in made]):
        problems.append(placed(made[index], code, path, words))
    return problems


def documents(read: Sequence[Document]) -> tuple[list[Problem], list[str]]:
    """Everything that is wrong with hand-written manifests, at their own places; and the kinds that no schema of ours
    knows.
    """
    problems: list[Problem] = []
    bodies: list[Body] = []
    whole: list[Document] = []
    unknown = []
    for document in read:
        value = document.value
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("kind"), str)
            or not isinstance(value.get("apiVersion"), str)
        ):
            problems.append(problem("E501", document.origin()))
            continue
        if not schema.exists(_schema(value["apiVersion"], value["kind"])):
            unknown.append(f"{value['apiVersion']}/{value['kind']}")
            continue
        found = [
            problem(code, document.origin(*path, key=bool(words.get("key"))), **words)
            for code, path, words in one(value, document.raw)
        ]
        problems += found
        if not found:
            bodies.append(value)
            whole.append(document)
    seen: dict[tuple[str, str, str, str], Document] = {}
    for document, body in zip(whole, bodies, strict=True):
        metadata = body["metadata"]
        key = (
            body["apiVersion"].rpartition("/")[0],
            body["kind"],
            metadata.get("namespace", ""),
            metadata.get("name", ""),
        )
        if (first := seen.setdefault(key, document)) is not document:
            file, line, _ = first.origin("metadata", "name").place
            problems.append(
                problem("E201", document.origin("metadata", "name"), kind=key[1], name=key[3], file=file, line=line)
            )
    problems += [problem(code, whole[index].origin(*path), **words) for index, code, path, words in together(bodies)]
    return problems, unknown


@cache
def _schema(version: str, kind: str) -> str:
    """The name of a kind's schema."""
    group, _, number = version.rpartition("/")
    return f"output/{group or 'core'}/{kind.lower()}_{number}"


def one(body: Body, raw: Callable[[Path], str | None] = lambda path: None) -> Iterator[Finding]:
    """What is wrong with one object of a kind that we know: its schema, then the rules that no schema holds.

    `raw`: the scalar at a path as its author wrote it.
    """
    name = _schema(body["apiVersion"], body["kind"])
    if not schema.valid(name, body):
        for found in schema.findings(name, body):
            yield found.code, found.path, {**schema.words(found, raw(found.path)), "key": found.key}
        return
    for rule in RULES.get(name, ()):
        yield from rule(body)


def folder(scope: Scope, states: Mapping[str, str]) -> list[Problem]:
    """An error for each thing in the way that is not ours: a file, or a file where a folder is needed."""
    blocking = {_in_the_way(f"{scope.folder}/{path}") for path, state in states.items() if state == "foreign"}
    return [problem("E141", Origin(File(path, "", ""))) for path in sorted(blocking)]


def _in_the_way(path: str) -> str:
    parent = os.path.dirname(path)
    while parent and not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    return path if not parent or os.path.isdir(parent) else parent


@contextmanager
def writable(scope: Scope) -> Iterator[None]:
    """Turns what the file system refuses into a Problem. Raises RenderError."""
    try:
        yield
    except OSError as error:
        raise RenderError(
            [problem("E140", Origin(File(error.filename or scope.folder, "", "")), what=error.strerror or error)]
        ) from None
