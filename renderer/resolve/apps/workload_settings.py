"""What `spec.workload` of a Playground or Service says of the object that runs the pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path
from renderer.json_values import text_at
from renderer.plan import Body, Plan, Rollout
from renderer.resolve import pod_defaults
from renderer.resolve.context import RunContext
from renderer.resolve.kube import api_defaults

_PATH: Path = ("spec", "workload")
_QUEUES = {"queue": "kueue.x-k8s.io/queue-name", "priorityClass": "kueue.x-k8s.io/priority-class"}
_TOPOLOGY = "leaderworkerset.sigs.k8s.io/exclusive-topology"
_OWN_LABELS = tuple(wellknown.own_labels("name", "component"))


def with_workload_settings(context: RunContext, app: App, plan: Plan, diagnostics: Collector) -> Plan:
    """The plan of a workload with what the app says of it."""
    spec: Mapping[str, Any] = app.spec["workload"]
    origin = app.origin(*_PATH)
    labels, annotations = dict(spec.get("labels") or {}), dict(spec.get("annotations") or {})
    for key, values in (("labels", labels), ("annotations", annotations)):
        pod_defaults.validate_reserved_keys(
            values, origin.at(key), diagnostics, reserve_common=key == "labels", limited_to=_OWN_LABELS
        )
    labels |= _queue_labels(spec, origin, diagnostics)
    if "exclusiveTopology" in spec:
        annotations[_TOPOLOGY] = spec["exclusiveTopology"]
    rollout = _rollout(context, spec, plan, diagnostics, origin)
    return replace(
        plan,
        workload_labels=labels,
        annotations={**plan.annotations, **annotations},
        rollout=rollout,
        claim_templates=_claim_templates(spec, origin, diagnostics),
        origins=lambda: {**plan.origins(), **dict(_origins(spec, origin))},
    )


def _queue_labels(spec: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> Body:
    """The labels by which Kueue knows the workload."""
    if "priorityClass" in spec and "queue" not in spec:
        diagnostics.add("E333", origin.at("priorityClass", key=True))
    for field, key in _QUEUES.items():
        if field in spec and key in (spec.get("labels") or {}):
            diagnostics.add("E294", origin.at("labels", key, key=True), name=key)
    return {key: spec[field] for field, key in _QUEUES.items() if field in spec}


def _rollout(
    context: RunContext, spec: Mapping[str, Any], plan: Plan, diagnostics: Collector, origin: Origin
) -> Rollout:
    settings = spec.get("rollout") or {}
    rollout = Rollout(
        settings.get("maxUnavailable", plan.rollout.max_unavailable),
        settings.get("maxSurge", plan.rollout.max_surge),
        settings.get("partition", plan.rollout.partition),
    )
    if "queue" in spec and rollout.max_surge not in (0, "0%"):
        surge = origin.at("rollout", "maxSurge") if "maxSurge" in settings else origin.at("queue")
        diagnostics.add("W334", surge, surge=rollout.max_surge)
    return rollout


def _claim_templates(spec: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> tuple[Body, ...]:
    """The claim templates, each with a name that no other has."""
    templates: dict[str, Body] = {}
    for i, template in enumerate(spec.get("volumeClaimTemplates") or ()):
        item_origin = origin.at("volumeClaimTemplates", i)
        name = text_at(template, "metadata", "name")
        if not name:
            diagnostics.add("E302", item_origin.at("metadata"), word="name", hint="")
        elif name in templates:
            diagnostics.add("E294", item_origin.at("metadata", "name"), name=name)
        normalized = api_defaults.normalize_part(template, item_origin, diagnostics)
        templates[name] = {key: normalized[key] for key in ("metadata", "spec") if key in normalized}
    return tuple(templates.values())


def _origins(spec: Mapping[str, Any], origin: Origin) -> Iterator[tuple[Path, Origin]]:
    """The origins of the settings, by path in the workload's metadata, or by their own name."""
    for key in spec.get("labels") or {}:
        yield ("workload", "labels", key), origin.at("labels", key)
    for key in spec.get("annotations") or {}:
        yield ("workload", "annotations", key), origin.at("annotations", key)
    yield from ((("workload", "labels", key), origin.at(field)) for field, key in _QUEUES.items())
    yield ("workload", "annotations", _TOPOLOGY), origin.at("exclusiveTopology")
    for field in ("rollout", "volumeClaimTemplates"):
        if field in spec:
            yield ("workload", field), origin.at(field)
