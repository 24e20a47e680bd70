"""HorizontalPodAutoscaler: rules of the API server beside the schema."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import quantity
from renderer.check.finding import Body, Finding
from renderer.diagnostics import Path


def validate_hpa(body: Body) -> Iterator[Finding]:
    """Findings by the API server's rules for an HPA beside its schema
    (docs/design/kubernetes.md#horizontalpodautoscaler).
    """
    spec = body["spec"]
    minimum, maximum = spec.get("minReplicas", 1), spec["maxReplicas"]
    if minimum > maximum:
        yield "E530", ("spec", "minReplicas"), {"what": f"minReplicas {minimum} is above maxReplicas {maximum}"}
    target_ref = spec["scaleTargetRef"]
    group, slash, _ = target_ref.get("apiVersion", "").partition("/")
    if (
        not (group and slash) and target_ref["kind"] != "ReplicationController"
    ):  # the only one that scales without a group
        yield "E572", ("spec", "scaleTargetRef", "apiVersion"), {"kind": target_ref["kind"]}
    for i, metric in enumerate(spec.get("metrics") or ()):
        source = metric["type"][:1].lower() + metric["type"][1:]
        target, allowed = metric[source]["target"], _TARGETS[source]
        path: Path = ("spec", "metrics", i, source, "target")
        if target["type"] not in allowed:
            what = f"the target of a {metric['type']} metric has type {' or '.join(allowed)}"
            yield "E531", (*path, "type"), {"what": what}
            continue
        for key in ("value", "averageValue"):
            if key in target and not above_zero(target[key]):
                yield "E531", (*path, key), {"what": f"{key} must be above 0, and no larger than Kubernetes counts"}


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
