"""HorizontalPodAutoscaler: rules of the API server beside the schema."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import as_map, as_maps, as_number, as_text, map_at


@object_rules.about("output/autoscaling/horizontalpodautoscaler_v2")
def validate_hpa(body: Body) -> Iterator[Finding]:
    """Findings by the API server's rules for an HPA beside its schema
    (docs/design/kubernetes.md#horizontalpodautoscaler).
    """
    spec = as_map(body["spec"])
    minimum, maximum = as_number(spec.get("minReplicas", 1)), as_number(spec["maxReplicas"])
    if minimum > maximum:
        yield Finding(
            "E530", ("spec", "minReplicas"), {"what": f"minReplicas {minimum} is above maxReplicas {maximum}"}
        )
    kinds = {metric["type"] for metric in as_maps(spec.get("metrics"))}
    if minimum == 0 and kinds.isdisjoint(_MEASURED_WITHOUT_PODS):
        # On by default in Kubernetes 1.37: pkg/apis/autoscaling/validation/validation.go, HPAScaleToZero.
        what = f"minReplicas 0 needs a metric of type {' or '.join(_MEASURED_WITHOUT_PODS)}"
        yield Finding("E530", ("spec", "minReplicas"), {"what": what})
    target_ref = as_map(spec.get("scaleTargetRef"))
    group, slash, _ = as_text(target_ref.get("apiVersion")).partition("/")
    if (
        not (group and slash) and target_ref["kind"] != "ReplicationController"
    ):  # the only one that scales without a group
        yield Finding("E572", ("spec", "scaleTargetRef", "apiVersion"), {"kind": target_ref["kind"]})
    for i, metric in enumerate(as_maps(spec.get("metrics"))):
        kind = as_text(metric["type"])
        source = kind[:1].lower() + kind[1:]
        target, allowed = map_at(metric, source, "target"), _TARGETS[source]
        path: Path = ("spec", "metrics", i, source, "target")
        fitting = [name for name in allowed if _VALUES[name] in target]
        if not fitting or (kind == _OF_OBJECTS and target["type"] not in fitting):
            what = f"the target of a {kind} metric must have type {' or '.join(allowed)}"
            yield Finding("E531", (*path, "type"), {"what": what})
            continue
        for key in ("value", "averageValue"):
            if key in target and not above_zero(target[key]):
                yield Finding(
                    "E531", (*path, key), {"what": f"{key} must be above 0, and not larger than Kubernetes can count"}
                )


# The value counts, whatever the type beside it; but metrics of objects are measured by the type: validateMetricTarget
# (pkg/apis/autoscaling/validation/validation.go) and computeStatusForObjectMetric
# (pkg/controller/podautoscaler/horizontal.go) of Kubernetes 1.37.2.
_VALUES = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}
_OF_OBJECTS = "Object"
_MEASURED_WITHOUT_PODS = ("Object", "External")
_TARGETS = {
    "resource": ("Utilization", "AverageValue"),
    "containerResource": ("Utilization", "AverageValue"),
    "pods": ("AverageValue",),
    "object": ("Value", "AverageValue"),
    "external": ("Value", "AverageValue"),
}


def above_zero(value: object) -> bool:
    """Whether a target quantity of an HPA is above 0 and not too large for Kubernetes."""
    try:
        return quantity.nanos(value) > 0
    except ValueError:
        return False
