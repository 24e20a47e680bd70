"""What `spec.workload` of a Playground or Service says of the object that runs the pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, listed, make_diagnostic
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import as_number, map_at, text_at, value_at
from renderer.plan import Body, Plan, Pod, Rollout
from renderer.resolve import claims, monitoring, pod_defaults
from renderer.resolve.context import RunContext
from renderer.resolve.kube import api_defaults
from renderer.resolve.pod.cache_containers import WAITING
from renderer.resolve.workload.claimed import model_labels

_PATH: Path = ("spec", "workload")
_POD_LABELS = ("podTemplate", "metadata", "labels")
_QUEUES = {"queue": wellknown.QUEUE_NAME, "priorityClass": wellknown.QUEUE_PRIORITY}
_TOPOLOGY = "leaderworkerset.sigs.k8s.io/exclusive-topology"
_OF_SETS: tuple[Path, ...] = (  # fields that a Deployment has not, in a Playground's and a Service's spec
    ("workload", "rollout", "partition"),
    ("workload", "volumeClaimTemplates"),
    ("workload", "exclusiveTopology"),
    ("rolloutStrategy", "rollingUpdateConfiguration", "partition"),
    *[(key,) for key in ("startupPolicy", "networkConfig", "groupIdentity", "groupReplacementPolicy", "scheduling")],
    *[("workloadTemplate", key) for key in ("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy")],
    *[("workloadTemplate", key) for key in ("maxGroupRestarts", "subGroupPolicy")],
)
_NO_SET = {"kind": wellknown.DEPLOYMENT, "remedy": "leave kind out"}
_STARTUP_RESERVE = 300
_FILL_RESERVE = 3_600  # seconds more, where pods wait for a cache that a Job fills


def with_workload_settings(context: RunContext, app: App, plan: Plan, diagnostics: Collector) -> Plan:
    """The plan of a workload with what the app says of it."""
    spec: Mapping[str, Any] = app.spec["workload"]
    origin = app.origin(*_PATH)
    labels, annotations = dict(spec.get("labels") or {}), dict(spec.get("annotations") or {})
    diagnostics.problems += pod_defaults.reserved_metadata(spec, origin)
    labels |= _queue_labels(spec, origin, diagnostics)
    if "queue" in spec and app.spec.get("groupIdentity") == "Hash":
        diagnostics.add("E336", app.origin("spec", "groupIdentity"))
    if "exclusiveTopology" in spec:
        annotations[_TOPOLOGY] = spec["exclusiveTopology"]
    if spec.get("kind") == wellknown.DEPLOYMENT:
        plan = _as_deployment(context, app, plan, origin, diagnostics)
    elif "selector" in spec:
        words = {"kind": wellknown.LEADER_WORKER_SET, "field": "selector", "remedy": "write kind: Deployment"}
        diagnostics.add("E335", origin.at("selector", key=True), **words)
    rollout = _rollout(spec, plan, origin, diagnostics)
    return replace(
        plan,
        workload_labels=labels,
        annotations={**plan.annotations, **annotations},
        rollout=rollout,
        claim_templates=(
            *plan.claim_templates,
            *claim_templates(
                spec.get("volumeClaimTemplates") or (),
                origin.at("volumeClaimTemplates"),
                diagnostics,
                generated=plan.claim_templates,
            ),
        ),
        origins=lambda: {**plan.origins(), **dict(_origins(spec, origin))},
    )


def _as_deployment(context: RunContext, app: App, plan: Plan, origin: Origin, diagnostics: Collector) -> Plan:
    """The plan of a Deployment. Its pods have a label of their own, since variants share all others."""
    if plan.size > 1:
        diagnostics.add("E334", origin.at("kind"), size=plan.size)
    for path in _OF_SETS:
        if value_at(app.spec, *path) not in (None, 0):
            diagnostics.add("E335", app.origin("spec", *path, key=True), **_NO_SET, field=path[-1])
    if plan.claim_templates:
        field = "claims for each pod, which modelCache.perPod needs"
        diagnostics.add("E335", origin.at("kind"), **_NO_SET, field=field)
    pod = plan.leader or plan.worker
    pod = replace(pod, labels={**pod.labels, wellknown.WORKLOAD: plan.name})
    selector: Body = app.spec["workload"].get("selector") or {}
    if selector:
        diagnostics.problems += _misleading_selectors(plan, pod, selector, origin.at("selector"))
        if others := list(_selected_neighbours(context, app, pod, selector)):
            diagnostics.add("E328", origin.at("selector"), others=f"of {listed(others)}")
    return replace(
        plan,
        kind=wellknown.DEPLOYMENT,
        leader=None,
        worker=pod,
        shared=monitoring.for_deployment(plan.shared),
        progress_deadline=_progress_deadline(pod),
        selector=selector,
    )


def _misleading_selectors(plan: Plan, pod: Pod, selector: Body, origin: Origin) -> Iterator[Diagnostic]:
    """An error for each label that the pods of the plan lack, and for several workloads with one selector."""
    for key, value in selector.items():
        if pod.labels.get(key) != value:
            yield make_diagnostic("E327", origin.at(key, key=True), label=f"{key}: {value}")
    if plan.name != plan.app:
        yield make_diagnostic("E328", origin, others="of the other workloads of flavorPolicy: variants")


def _selected_neighbours(context: RunContext, app: App, pod: Pod, selector: Body) -> Iterator[str]:
    """The other apps of the namespace whose pods a selector selects, by the labels that all pods of ours have, and
    those that each app writes into its podTemplate.
    """
    own = {*map_at(app.spec, *_POD_LABELS), wellknown.WORKLOAD}
    common = {key: value for key, value in pod.labels.items() if key not in own}
    for (namespace, _), other in context.apps.items():
        model = claims.main_model(context.inputs, other)
        if namespace != app.namespace or other.label == app.label or model is None:
            continue
        labels = {**common, wellknown.NAME: other.label, **model_labels(model), **map_at(other.spec, *_POD_LABELS)}
        if selector.items() <= labels.items():
            yield f"{other.kind} '{other.name}'"


def _progress_deadline(pod: Pod) -> int | None:
    """The seconds after which a rollout counts as stuck: what the slowest startup probe allows, and five minutes for
    images and weights, an hour where a Job loads these first; None without such a probe.
    """
    waits = any(container.name.startswith(WAITING) for container in pod.init_containers)
    budgets = []
    for container in pod.containers:
        if probe := container.startup_probe:
            tries = as_number(probe.get("failureThreshold", 3)) * as_number(probe.get("periodSeconds", 10))
            budgets.append(as_number(probe.get("initialDelaySeconds", 0)) + tries)
    return int(max(budgets)) + _STARTUP_RESERVE + (_FILL_RESERVE if waits else 0) if budgets else None


def _queue_labels(spec: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> Body:
    """The labels by which Kueue knows the workload."""
    if "priorityClass" in spec and "queue" not in spec:
        diagnostics.add("E333", origin.at("priorityClass", key=True))
    for field, key in _QUEUES.items():
        if field in spec and key in (spec.get("labels") or {}):
            diagnostics.add("E294", origin.at("labels", key, key=True), name=key)
    return {key: spec[field] for field, key in _QUEUES.items() if field in spec}


def _rollout(spec: Mapping[str, Any], plan: Plan, origin: Origin, diagnostics: Collector) -> Rollout:
    settings = spec.get("rollout") or {}
    rollout = Rollout.read({**plan.rollout.body(), **settings})
    if "queue" in spec and rollout.max_surge not in (0, "0%"):
        surge = origin.at("rollout", "maxSurge") if "maxSurge" in settings else origin.at("queue")
        diagnostics.add("W334", surge, surge=rollout.max_surge)
    return rollout


def claim_templates(
    templates: Sequence[Mapping[str, Any]], origin: Origin, diagnostics: Collector, *, generated: Sequence[Body]
) -> tuple[Body, ...]:
    """The claim templates that an app writes, each with a name that no other and no generated one has."""
    by_name: dict[str, Body] = {}
    generated_names = {text_at(template, "metadata", "name") for template in generated}
    for i, template in enumerate(templates):
        name = text_at(template, "metadata", "name")
        if not name:
            diagnostics.add("E302", origin.at(i, "metadata"), word="name", hint="")
        elif name in by_name:
            diagnostics.add("E294", origin.at(i, "metadata", "name"), name=name)
        elif name in generated_names:
            diagnostics.add("E318", origin.at(i, "metadata", "name"), name=name)
        normalized = api_defaults.normalize_part(template, origin.at(i), diagnostics)
        by_name[name] = {key: normalized[key] for key in ("metadata", "spec") if key in normalized}
    return tuple(by_name.values())


def _origins(spec: Mapping[str, Any], origin: Origin) -> Iterator[tuple[Path, Origin]]:
    """The origins of the settings, by path in the workload's metadata, or by their own name."""
    for key in spec.get("labels") or {}:
        yield ("workload", "labels", key), origin.at("labels", key)
    for key in spec.get("annotations") or {}:
        yield ("workload", "annotations", key), origin.at("annotations", key)
    for key in spec.get("selector") or {}:
        yield ("workload", "selector", key), origin.at("selector", key)
    yield from ((("workload", "labels", key), origin.at(field)) for field, key in _QUEUES.items())
    yield ("workload", "annotations", _TOPOLOGY), origin.at("exclusiveTopology")
    for field in ("kind", "rollout", "volumeClaimTemplates"):
        if field in spec:
            yield ("workload", field), origin.at(field)
