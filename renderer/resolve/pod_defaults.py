"""What RenderConfig's `pods` gives to every pod, and what a pod gets of it (docs/design/contract.md#pod-template)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer import template
from renderer.api import ConfigPart, RenderConfig
from renderer.diagnostics import Collector, Origin
from renderer.plan import Body
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import merge_items

_SCALARS = ("serviceAccountName", "priorityClassName")
_NAME = "leaderworkerset.sigs.k8s.io/name"
_OWN_DOMAINS = ("llmaz.io", "leaderworkerset.sigs.k8s.io")
_OWN_LABELS = "app.kubernetes.io"


class PodDefaults(Struct, frozen=True, eq=False):
    """RenderConfig's `pods`, made ready once a run. `env`: all entries as they stand there, a name maybe twice;
    `fields`: those of a pod spec that are alike for all apps; `part`: where all of it stands.
    """

    labels: Body = {}
    annotations: Body = {}
    env: tuple[Body, ...] = ()
    tolerations: tuple[Body, ...] = ()
    spread: tuple[Body, ...] = ()
    fields: Body = {}
    part: ConfigPart | None = None


def pod_defaults(config: RenderConfig, diagnostics: Collector) -> PodDefaults:
    """RenderConfig's `pods`. An error for each label and annotation that is not the user's to set."""
    spec, at = config.get("pods") or {}, config.origin("pods")
    for key in ("labels", "annotations"):
        owned(spec.get(key) or {}, config.origin("pods", key), diagnostics, names=key == "labels")
    parts = {
        key: template.share_maps(api_defaults.part(value, config.origin("pods", key), diagnostics))
        for key, value in spec.items()
        if value and key != "env"
    }
    if "imagePullSecrets" in parts:
        parts["imagePullSecrets"] = list(merge_items([parts["imagePullSecrets"]]).items)
    env = []
    for i, variable in enumerate(spec.get("env") or ()):
        before = len(diagnostics.problems)
        entry = api_defaults.entry(variable, at.at("env", i), diagnostics)
        # A wrong one is said here, not once an app; it stays as a name, so that the others keep their numbers.
        env.append(
            template.share_maps(dict(entry) if len(diagnostics.problems) == before else {"name": variable["name"]})
        )
    return PodDefaults(
        labels=parts.get("labels", {}),
        annotations=parts.get("annotations", {}),
        env=tuple(env),
        tolerations=tuple(parts.get("tolerations", ())),
        spread=tuple(parts.get("topologySpreadConstraints", ())),
        part=ConfigPart(config, ("pods",)),
        fields={key: parts[key] for key in (*_SCALARS, "imagePullSecrets") if key in parts},
    )


def owned(
    keys: Iterable[str], origin: Origin, diagnostics: Collector, *, names: bool, mine: Sequence[str] = ()
) -> None:
    """An error for each label or annotation that we, or LeaderWorkerSet, write: selectors and dashboards rely on them.

    `names`: those of app.kubernetes.io are ours too; where `mine` is given, only the ones that it lists.
    """
    for key in keys:
        domain = key.partition("/")[0] if "/" in key else ""
        ours = any(domain == own or domain.endswith(f".{own}") for own in _OWN_DOMAINS)
        if ours or (names and domain == _OWN_LABELS and (not mine or key in mine)):
            diagnostics.add("E291", origin.at(key, key=True), name=key)


def selecting(constraints: Iterable[Body], app: str) -> list[Body]:
    """Topology spread constraints that count the app's own pods, where they do not say which: none would count
    nothing.
    """
    own = {"matchLabels": {_NAME: app}}
    return [
        constraint if "labelSelector" in constraint else {**constraint, "labelSelector": own}
        for constraint in constraints
    ]


def generated(every: PodDefaults, app: str, runtime_class: str) -> Body:
    """Those fields of a pod of ours that nothing else decides."""
    if not every.spread and not runtime_class:
        return every.fields
    fields: dict[str, Any] = dict(every.fields)
    if runtime_class:
        fields["runtimeClassName"] = runtime_class
    if every.spread:
        fields["topologySpreadConstraints"] = selecting(every.spread, app)
    return fields


def completed(
    every: PodDefaults, spec: Mapping[str, Any], app: str, tolerations: Sequence[Body], runtime_class: str
) -> dict[str, Any]:
    """A hand-written pod spec with what it says nothing about itself, pull secrets behind its own, `tolerations`."""
    fields = dict(spec)
    for key, value in generated(every, app, runtime_class).items():
        if key == "imagePullSecrets":
            fields[key] = list(merge_items([spec.get(key, ()), value]).items)
        elif key != "serviceAccountName" or "serviceAccount" not in spec:  # the same field by its old name
            fields.setdefault(key, value)
    if tolerations:
        fields["tolerations"] = list(tolerations)
    return fields
