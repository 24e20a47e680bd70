"""Foreign autoscalers that scale nothing, or what somebody else scales too."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App
from renderer.check.foreign.objects import ForeignObject, OwnObjects, describe
from renderer.check.graph.view import kind_of
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.workloads import SCALE_TARGETS

_REFERENCES = {
    "HorizontalPodAutoscaler": "scaleTargetRef",
    "ScaledObject": "scaleTargetRef",
    "VerticalPodAutoscaler.autoscaling.k8s.io": "targetRef",
}
_OUR_GROUP = "inference.llmaz.io"  # of kinds that are input only
_WORKLOAD = "apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet"


def validate_autoscaler(foreign: ForeignObject, rendered: OwnObjects) -> Iterator[Finding]:
    """A finding where an autoscaler targets a Playground or Service of ours or a DisaggregatedSet as a whole, or scales
    a rendered workload that says its replicas itself or that a rendered autoscaler scales.
    """
    kind, namespace, _ = foreign.key
    if kind not in _REFERENCES:
        return
    path: Path = ("spec", _REFERENCES[kind])
    target = map_at(foreign.body, *path)
    version, target_name, name = text_at(target, "apiVersion"), text_at(target, "kind"), text_at(target, "name")
    if target_name == "Playground" or (target_name == "Service" and version.partition("/")[0] == _OUR_GROUP):
        app = rendered.apps.get((namespace, name))
        yield Finding("W262", (*path, "kind"), {"kind": target_name, "hint": _other_target(foreign, app)})
        return
    key = (kind_of(version or "apps/v1", target_name or "Deployment"), namespace, name)
    workload = rendered.objects.get(key)
    if path[1] == "targetRef":
        return
    if workload and workload.role_scalers:
        words = {"owner": rendered.owner(workload), "name": name, "scalers": " or ".join(workload.role_scalers)}
        yield Finding("W280", (*path, "kind"), words)
    if key[0] not in SCALE_TARGETS:
        return
    others = (rendered.acting.get((scaler, key)) for scaler in wellknown.AUTOSCALERS)
    if other := next(filter(None, others), None):
        yield Finding("W263", (*path, "name"), {"owner": rendered.owner(other), "kind": key[0], "name": name})
    elif workload and workload.replicas:
        item = rendered.input_of(workload)
        elastic = "delete this one and write spec.elasticConfig there, or " if _is_playground(item) else ""
        hint = f"{elastic}let the sync ignore its spec.replicas, and list this file under ignore of RenderConfig"
        words = {"owner": rendered.owner(workload), "kind": workload.key[0], "name": name, "hint": hint}
        yield Finding("W264", (*path, "name"), words)


def _other_target(foreign: ForeignObject, app: App | None) -> str:
    """The advice for an autoscaler of an app, or of one that is not there."""
    target = f"target the LeaderWorkerSet of that name: {_WORKLOAD}"
    if app is None or foreign.key[0].startswith("Vertical") or not _is_playground(app):
        return target
    if "elasticConfig" in app.spec:
        return f"delete it: {describe(app)} already has an autoscaler, by spec.elasticConfig"
    return f"delete it and write spec.elasticConfig into {describe(app)}, or {target}"


def _is_playground(item: object) -> bool:
    return isinstance(item, App) and item.kind == "Playground"
