"""VerticalPodAutoscalers beside autoscalers of replicas that measure by the requests that they change."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.workloads import scale_target

VERTICAL = "VerticalPodAutoscaler.autoscaling.k8s.io"
_IDLE = ("Off", "Initial")  # modes that change no pod while it runs
_CHANGED = ("cpu", "memory")
_RELATIVE = "Utilization"


@check_rules.about(VERTICAL)
def validate_vertical_autoscaler(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where an HPA or a ScaledObject of the same workload scales on the use of what this autoscaler changes
    the requests of.
    """
    if text_at(body, "spec", "updatePolicy", "updateMode") in _IDLE:
        return
    target, changed = map_at(body, "spec", "targetRef"), _changed_resources(body)
    key = namespace, text_at(target, "kind"), text_at(target, "name")
    for scaler_name, scaler in view.once("scalers", _scalers_by_target).get(key, ()):
        if resource := next((resource for resource in _measured_resources(scaler) if resource in changed), None):
            words = {"name": name, "resource": resource, "scaler": f"{text_at(scaler, 'kind')} '{scaler_name}'"}
            yield Finding("W519", ("spec", "targetRef", "name"), words)
            return


def _scalers_by_target(view: ObjectView) -> dict[tuple[str, str, str], list[tuple[str, Body]]]:
    """The name and body of each HPA and ScaledObject, by namespace, kind and name of what it scales."""
    scalers: dict[tuple[str, str, str], list[tuple[str, Body]]] = {}
    for (kind, _, name), body in view.objects.items():
        if kind in wellknown.AUTOSCALERS and body:
            scalers.setdefault(scale_target(body), []).append((name, body))
    return scalers


def _changed_resources(body: Body) -> set[str]:
    """The resources whose requests it changes, of any container."""
    policies = maps_at(body, "spec", "resourcePolicy", "containerPolicies")
    if not policies:
        return {*_CHANGED}
    return {
        str(resource)
        for policy in policies
        if text_at(policy, "mode") != "Off"
        for resource in list_at(policy, "controlledResources") or _CHANGED
    }


def _measured_resources(scaler: Body) -> Iterator[str]:
    """The resources of pods whose use, in percent of the request, an HPA or a ScaledObject scales on."""
    for metric in maps_at(scaler, "spec", "metrics"):
        for source in (map_at(metric, "resource"), map_at(metric, "containerResource")):
            if text_at(source, "target", "type") == _RELATIVE:
                yield text_at(source, "name")
    for trigger in maps_at(scaler, "spec", "triggers"):
        if text_at(trigger, "metricType", default=_RELATIVE) == _RELATIVE:
            yield text_at(trigger, "type")
