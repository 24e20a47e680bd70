"""HorizontalPodAutoscaler: what the API server checks beside the schema."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import quantity
from renderer.check.finding import Body, Finding
from renderer.problems import Path


def hpa_rules(body: Body) -> Iterator[Finding]:
    """What the API server checks of an HPA beside the schema (apis.md, section 4)."""
    spec = body["spec"]
    low, high = spec.get("minReplicas", 1), spec["maxReplicas"]
    if high < 1:
        yield "E530", ("spec", "maxReplicas"), {"what": f"maxReplicas {high} is below 1"}
    if low < 1:
        yield "E530", ("spec", "minReplicas"), {"what": f"minReplicas {low} is below 1"}
    if low > high:
        yield "E530", ("spec", "minReplicas"), {"what": f"minReplicas {low} is above maxReplicas {high}"}
    for i, metric in enumerate(spec.get("metrics") or ()):
        for what, below in _metric(metric):
            yield "E531", ("spec", "metrics", i, *below), {"what": what}
    for direction, rules in (spec.get("behavior") or {}).items():
        path: Path = ("spec", "behavior", direction)
        if not 0 <= rules.get("stabilizationWindowSeconds", 0) <= 3600:
            yield (
                "E530",
                (*path, "stabilizationWindowSeconds"),
                {"what": "stabilizationWindowSeconds must be between 0 and 3600"},
            )
        if "policies" in rules and not rules["policies"]:
            yield "E530", (*path, "policies"), {"what": "policies must not be empty"}
        for i, policy in enumerate(rules.get("policies") or ()):
            if policy["value"] < 1:
                yield "E530", (*path, "policies", i, "value"), {"what": "a policy's value must be at least 1"}
            if not 1 <= policy["periodSeconds"] <= 1800:
                yield (
                    "E530",
                    (*path, "policies", i, "periodSeconds"),
                    {"what": "periodSeconds must be between 1 and 1800"},
                )


_SOURCES = {
    "Resource": "resource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "ContainerResource": "containerResource",
}
_TARGETS = {
    "Resource": ("Utilization", "AverageValue"),
    "ContainerResource": ("Utilization", "AverageValue"),
    "Pods": ("AverageValue",),
    "Object": ("Value", "AverageValue"),
    "External": ("Value", "AverageValue"),
}
_FIELDS = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}


def _metric(metric: Body) -> Iterator[tuple[str, Path]]:
    kind = metric.get("type", "")
    source = _SOURCES.get(kind)
    given = [key for key in _SOURCES.values() if key in metric]
    if source is None:
        yield f"type '{kind}' is none of {', '.join(_SOURCES)}", ("type",)
        return
    if given != [source]:
        yield (
            (
                f"type {kind} needs the field {source}"
                + (f" and no {', '.join(k for k in given if k != source)}" if set(given) - {source} else "")
            ),
            ("type",),
        )
        return
    target = metric[source].get("target") or {}
    path: Path = (source, "target")
    values = {key: target[key] for key in _FIELDS.values() if key in target}
    allowed = _TARGETS[kind]
    if target.get("type") not in allowed:
        yield f"the target of a {kind} metric has type {' or '.join(allowed)}", (*path, "type")
    elif set(values) != {_FIELDS[target["type"]]}:
        yield f"a target of type {target['type']} has exactly the field {_FIELDS[target['type']]}", path
    else:
        ((key, value),) = values.items()
        if quantity.nanos(value) <= 0:
            yield f"{key} must be above 0", (*path, key)
