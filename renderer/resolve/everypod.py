"""What RenderConfig's `pods` gives to every pod, and what a pod gets of it (contract, sections 1a and 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from renderer import template
from renderer.api import Config
from renderer.plan import Body
from renderer.problems import Findings, Origin
from renderer.records import Record
from renderer.resolve import normal
from renderer.resolve.environment import merge_env

_SCALARS = ("serviceAccountName", "priorityClassName")
_NAME = "leaderworkerset.sigs.k8s.io/name"
_OWN_DOMAINS = ("llmaz.io", "leaderworkerset.sigs.k8s.io")
_OWN_LABELS = "app.kubernetes.io"


class EveryPod(Record):
    """RenderConfig's `pods`, made ready once a run. `fields`: those of a pod spec that are alike for all apps."""

    labels: Body = {}
    annotations: Body = {}
    env: tuple[Body, ...] = ()
    tolerations: tuple[Body, ...] = ()
    spread: tuple[Body, ...] = ()
    fields: Body = {}


def everypod(config: Config, found: Findings) -> EveryPod:
    """RenderConfig's `pods`. An error for each label and annotation that is not the user's to set."""
    spec, at = config.get("pods") or {}, config.origin("pods")
    for key in ("labels", "annotations"):
        owned(spec.get(key) or {}, config.origin("pods", key), found, names=key == "labels")
    made = {
        key: template.shared(normal.part(value, config.origin("pods", key), found))
        for key, value in spec.items()
        if value and key != "env"
    }
    if "imagePullSecrets" in made:
        made["imagePullSecrets"] = list(union(made["imagePullSecrets"]))
    env = []
    for i, each in enumerate(spec.get("env") or ()):
        before = len(found.problems)
        entry = normal.entry(each, at.at("env", i), found)
        env += [entry] if len(found.problems) == before else []  # a wrong one is said here, not once an app
    return EveryPod(
        labels=made.get("labels", {}),
        annotations=made.get("annotations", {}),
        env=tuple(template.shared(dict(each)) for each in merge_env(env)),
        tolerations=union(made.get("tolerations", ())),
        spread=tuple(made.get("topologySpreadConstraints", ())),
        fields={key: made[key] for key in (*_SCALARS, "imagePullSecrets") if key in made},
    )


def owned(keys: Iterable[str], origin: Origin, found: Findings, *, names: bool, mine: Sequence[str] = ()) -> None:
    """An error for each label or annotation that we, or LeaderWorkerSet, write: selectors and dashboards rely on them.

    `names`: those of app.kubernetes.io are ours too; where `mine` is given, only the ones that it lists.
    """
    for key in keys:
        domain = key.partition("/")[0] if "/" in key else ""
        ours = any(domain == own or domain.endswith(f".{own}") for own in _OWN_DOMAINS)
        if ours or (names and domain == _OWN_LABELS and (not mine or key in mine)):
            found.add("E291", origin.at(key, key=True), name=key)


def union(*lists: Iterable[Body]) -> tuple[Body, ...]:
    """The items of all lists in their order, none twice."""
    made: list[Body] = []
    for each in lists:
        for item in each:
            if item not in made:
                made.append(item)
    return tuple(made)


def selecting(constraints: Iterable[Body], app: str) -> list[Body]:
    """Topology spread constraints that count the app's own pods, where they do not say which: none would count
    nothing.
    """
    own = {"matchLabels": {_NAME: app}}
    return [each if "labelSelector" in each else {**each, "labelSelector": own} for each in constraints]


def generated(every: EveryPod, app: str, runtime_class: str) -> Body:
    """Those fields of a pod of ours that nothing else decides."""
    if not every.spread and not runtime_class:
        return every.fields
    made: dict[str, Any] = dict(every.fields)
    if runtime_class:
        made["runtimeClassName"] = runtime_class
    if every.spread:
        made["topologySpreadConstraints"] = selecting(every.spread, app)
    return made


def completed(
    every: EveryPod, spec: Mapping[str, Any], app: str, tolerations: Iterable[Body], runtime_class: str
) -> dict[str, Any]:
    """A hand-written pod spec with what it says nothing about itself; tolerations and pull secrets behind its own."""
    made = dict(spec)
    for key, value in generated(every, app, runtime_class).items():
        if key == "imagePullSecrets":
            made[key] = list(union(spec.get(key, ()), value))
        elif key != "serviceAccountName" or "serviceAccount" not in spec:  # the same field by its old name
            made.setdefault(key, value)
    if more := union(spec.get("tolerations", ()), every.tolerations, tolerations):
        made["tolerations"] = list(more)
    return made
