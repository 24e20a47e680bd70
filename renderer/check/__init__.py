"""5: objects against the rules of the cluster that takes them: schemas, CEL, LWS's webhook, HPA, and each other.

For objects of ours a finding points back at the input field that caused it; `llmaz check` runs the same rules over any
manifests, and points at their own lines.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

from renderer import schema, since
from renderer.api import Inputs, Scope
from renderer.check.cel import cel_rules
from renderer.check.chain import Key, Outside, View, judged, kind_of, known, outside, whole
from renderer.check.finding import Body, Finding, placed
from renderer.check.hpa import hpa_rules
from renderer.check.karpenter import pool_rules
from renderer.check.lws import lws_pods, lws_webhook
from renderer.check.objects import service_rules, workload_rules
from renderer.check.rbac import binding_rules, role_rules
from renderer.check.targets import too_new
from renderer.check.together import together
from renderer.parallel import workers
from renderer.plan import Manifest
from renderer.problems import Origin, Path, Problem, RenderError, failing, problem
from renderer.tree import MARK, File
from renderer.writer import OutputFolder
from renderer.yamlio import Document

__all__ = ["Outside", "around", "batch", "documents", "folder", "manifests", "outside", "prepare", "writable"]

RULES: dict[str, tuple[Callable[[Body], Iterator[Finding]], ...]] = {  # by schema
    "output/leaderworkerset.x-k8s.io/leaderworkerset_v1": (lws_webhook, lws_pods),
    "output/autoscaling/horizontalpodautoscaler_v2": (hpa_rules,),
    "output/core/service_v1": (service_rules,),
    "output/karpenter.sh/nodepool_v1": (pool_rules,),
    "output/apps/deployment_v1": (workload_rules,),
    "output/apps/statefulset_v1": (workload_rules,),
    "output/apps/daemonset_v1": (workload_rules,),
    "output/rbac.authorization.k8s.io/role_v1": (role_rules,),
    "output/rbac.authorization.k8s.io/rolebinding_v1": (binding_rules,),
}


_USUAL = (  # what nearly every app has
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("v1", "Service"),
    ("policy/v1", "PodDisruptionBudget"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("gateway.envoyproxy.io/v1alpha1", "Backend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIServiceBackend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute"),
)


def prepare(scope: Scope) -> None:
    """Gets schemas and rules ready before there are objects, where several processes will ask for them: once for all
    of them, and while the inputs are being read.
    """
    if workers(len(scope.tree.files)) > 1:
        targets = since.targets(scope.config.get("targets") or {})
        for version, kind in _USUAL:
            _sound(schema.name_of(version, kind), (), targets)


def around(inputs: Inputs) -> Outside:
    """What rendered objects may refer to: what RenderConfig declares, and gateway objects of others in the tree that
    are well, but not where a Gateway of ours will stand beside them. Where it says no target the default holds.
    """
    made = outside(inputs.config)._replace(targets=since.targets(inputs.config.get("targets") or {}))
    if not inputs.around:
        return made
    ours = {namespace for namespace, _ in made.gateways} if inputs.config.get("gateway", "create") else set()
    bodies: list[Body] = []
    broken: set[Key] = set()
    for body in inputs.around:
        if (key := _key(body)) and body["metadata"].get("namespace") not in ours:
            if not schema.exists(schema.name_of(body["apiVersion"], body["kind"])):
                continue
            if any(one(body)):
                broken.add(key)  # it is there, and not ours to judge
            else:
                bodies.append(body)
    return known(bodies, made)._replace(present=frozenset(broken))


def batch(
    made: Sequence[Sequence[Manifest]], outside: Outside
) -> Callable[[Sequence[Manifest], frozenset[Key]], list[Problem]]:
    """`manifests` for the apps of a batch. What is wrong with an object alone is asked for all of one kind in a row:
    schema and rules stay in the processor's cache.
    """
    kinds: dict[tuple[str, str], list[Body]] = defaultdict(list)
    for app in made:
        for body, _, _ in app:
            kinds[body["apiVersion"], body["kind"]].append(body)
    doubtful: set[int] = set()
    for (version, kind), bodies in kinds.items():
        sound: Sequence[Body] = ()
        with suppress(Exception):  # met again where a body is asked alone, with its file at hand
            sound = _sound(schema.name_of(version, kind), bodies, outside.targets)
        if len(sound) < len(bodies):
            doubtful.update(map(id, bodies))
            doubtful.difference_update(map(id, sound))
    return partial(manifests, outside=outside, doubtful=doubtful)


def _sound(name: str, bodies: Sequence[Body], targets: since.Targets | None) -> list[Body]:
    """Those of the bodies, of the kind of one schema, of which `one` finds nothing."""
    late = targets.late(name) if targets else None
    good = schema.holding(name, bodies, late.schema if late else "")
    for rule in _rules(name):
        good = [body for body in good if not any(rule(body))]
    return good


def manifests(
    made: Sequence[Manifest],
    others: frozenset[Key] = frozenset(),
    outside: Outside | None = None,
    targets: since.Targets | None = None,
    doubtful: Set[int] | None = None,
) -> list[Problem]:
    """Everything that is wrong with one app's objects, at the input's places; the chain from Gateway to pod too, where
    somebody knows what is `outside`. `others`: objects of other apps that these name; `targets`: where nobody knows
    what is outside, and somebody knows at least these; `doubtful`: where somebody has looked at all bodies alone, the
    ids of those with which something may be wrong.
    """
    if outside and others:
        outside = outside._replace(present=outside.present | others)
    problems = []
    bodies = [manifest.body for manifest in made]
    if doubtful is None or doubtful:
        for manifest in made:
            if doubtful is None or id(manifest.body) in doubtful:
                for code, path, words in one(manifest.body, targets=outside.targets if outside else targets):
                    problems.append(placed(manifest, code, path, words))
    for index, code, path, words in together(bodies):
        problems.append(placed(made[index], code, path, words))
    broken = problems and failing(problems)
    for index, code, path, words in judged(View(bodies, outside)) if outside and not broken else ():
        if code[0] != "N":
            problems.append(placed(made[index], code, path, words))
    return problems


def documents(
    read: Sequence[Document], outside: Outside | None = None, *, alone: bool = False
) -> tuple[list[Problem], list[Document]]:
    """Everything that is wrong with hand-written manifests, at their own places; and those of kinds that no schema of
    ours knows. `outside`: what they may refer to besides; `alone`: each object as if there were no other.
    """
    problems: list[Problem] = []
    bodies: list[Body] = []
    good: list[Document] = []
    strange: list[Document] = []  # of kinds that nobody here knows
    broken: set[Key] = set()
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
        if not schema.exists(schema.name_of(value["apiVersion"], value["kind"])):
            unknown.append(document)
            if _key(value):
                strange.append(document)
            continue
        found = [
            problem(code, document.origin(*path, key=bool(words.get("key"))), **words)
            for code, path, words in one(value, document.raw, outside.targets if outside else None)
        ]
        problems += found
        if not failing(found):
            bodies.append(value)
            good.append(document)
        elif key := _key(value):
            broken.add(key)
    if alone:
        return problems, unknown
    seen: dict[tuple[str, str, str, str], Document] = {}
    for document, body in zip(good, bodies, strict=True):
        metadata = body["metadata"]
        same = (
            body["apiVersion"].rpartition("/")[0],
            body["kind"],
            metadata.get("namespace", ""),
            metadata.get("name", ""),
        )
        if (first := seen.setdefault(same, document)) is not document:
            file, line, _ = first.origin("metadata", "name").place
            twice = problem(
                "E201", document.origin("metadata", "name"), kind=same[1], name=same[3], file=file, line=line
            )
            problems.append(twice._replace(hint="leave one of them out, or give it another name"))
    problems += [problem(code, good[index].origin(*path), **words) for index, code, path, words in together(bodies)]
    places = [*good, *strange]
    around = (outside or Outside())._replace(present=frozenset(broken))
    for index, code, path, words in whole([each.value for each in places], around):
        problems.append(problem(code, places[index].origin(*path), **words))
    return problems, unknown


def _key(value: Mapping[str, Any]) -> Key | None:
    """Kind, namespace and name of an object that no schema vouches for; None when it does not say them in words."""
    metadata = value.get("metadata")
    said = (value.get("apiVersion"), value.get("kind"), metadata.get("name") if isinstance(metadata, dict) else None)
    if not isinstance(metadata, dict) or not all(isinstance(each, str) for each in said):
        return None
    namespace = metadata.get("namespace") or ""
    if not isinstance(namespace, str):
        return None
    return kind_of(value["apiVersion"], value["kind"]), namespace, metadata["name"]


def one(
    body: Body, raw: Callable[[Path], str | None] = lambda path: None, targets: since.Targets | None = None
) -> Iterator[Finding]:
    """What is wrong with one object of a kind that we know: its schema, then the rules that no schema holds.

    `raw`: the scalar at a path as its author wrote it; `targets`: what it has to work with.
    """
    name = schema.name_of(body["apiVersion"], body["kind"])
    late = targets.late(name) if targets else None
    if targets and late and not schema.valid(name, body, late.schema):
        yield from too_new(targets, late, body)
        late = None
    if not late and not schema.valid(name, body):
        for found in schema.findings(name, body):
            yield found.code, found.path, {**schema.words(found, raw(found.path)), "key": found.key}
        return
    for rule in _rules(name):
        yield from rule(body)


@cache
def _rules(name: str) -> tuple[Callable[[Body], Iterable[Finding]], ...]:
    """The rules of a kind that no schema holds."""
    in_cel = cel_rules(name)
    return (*RULES.get(name, ()), *((in_cel,) if in_cel else ()))


def folder(scope: Scope, states: Mapping[str, str]) -> list[Problem]:
    """An error for each thing in the way that is not ours: a file, or a file where a folder is needed."""
    blocking = {_in_the_way(scope.folder, path) for path, state in states.items() if state == "foreign"}
    return [
        problem("E144" if os.path.islink(path) else "E141", Origin(File(path, "", ""))) for path in sorted(blocking)
    ]


def charts(scope: Scope) -> list[Problem]:
    """An error where plain manifests would go into a chart of ours."""
    chart = _chart(scope.folder) if scope.options.compares else ""
    return [problem("E743", Origin(File(scope.folder, "", "")), folder=chart)] if chart else []


def _chart(folder: str) -> str:
    """The folder at or above this one with a chart of ours, '' where there is none."""
    while folder:
        with suppress(OSError):
            if OutputFolder(folder).begin("Chart.yaml", len(MARK)) == MARK.encode():
                return folder
        folder = os.path.dirname(folder)
    return ""


def _in_the_way(folder: str, path: str) -> str:
    """What is no folder, or a link below the output folder, on the way to a path in there; else the path itself."""
    whole = f"{folder}/{path}"
    for end in (i for i, character in enumerate(whole) if character == "/" and i):
        way = whole[:end]
        if (end > len(folder) and os.path.islink(way)) or (os.path.lexists(way) and not os.path.isdir(way)):
            return way
    return whole


@contextmanager
def writable(scope: Scope) -> Iterator[None]:
    """Turns what the file system refuses into a Problem. Raises RenderError."""
    try:
        yield
    except OSError as error:
        raise RenderError(
            [problem("E140", Origin(File(error.filename or scope.folder, "", "")), what=error.strerror or error)]
        ) from None
