"""ScaledObject: rules of KEDA's webhook beside the schema, and of its controller."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body, Finding
from renderer.kubernetes.json_values import as_map, as_maps, as_number, text_at

_RESOURCES = ("cpu", "memory")
_JUDGED = ("", "Deployment", "StatefulSet")  # kinds of targets into whose pods the webhook looks; "" is Deployment
_LONGEST = 63  # characters of a label's value


def validate_scaled_object(body: Body) -> Iterator[Finding]:
    """Findings about a ScaledObject that KEDA refuses: nothing but cpu and memory, which wake nothing and have no
    fallback; an idle number that is not below the least; an HPA whose name is too long.
    """
    spec = as_map(body["spec"])
    triggers = as_maps(spec.get("triggers"))
    least = as_number(spec.get("minReplicaCount", 0))
    if all(trigger["type"] in _RESOURCES for trigger in triggers):
        if least == 0 and text_at(spec, "scaleTargetRef", "kind") in _JUDGED:
            yield (
                "E530",
                ("spec", "triggers"),
                {"what": "cpu and memory alone cannot scale from 0: write minReplicaCount"},
            )
        if "fallback" in spec:
            yield "E530", ("spec", "fallback"), {"what": "cpu and memory have no fallback: leave it out"}
    idle = spec.get("idleReplicaCount")
    if idle is not None and as_number(idle) >= least:
        what = f"idleReplicaCount {idle} has to be below minReplicaCount {least}"
        yield "E530", ("spec", "idleReplicaCount"), {"what": what}
    name = text_at(spec, "advanced", "horizontalPodAutoscalerConfig", "name") or (
        f"keda-hpa-{text_at(body, 'metadata', 'name')}"
    )
    if len(name) > _LONGEST:
        what = f"the HPA's name '{name}' has {len(name)} characters, at most {_LONGEST} fit"
        yield "E530", ("metadata", "name"), {"what": what}
