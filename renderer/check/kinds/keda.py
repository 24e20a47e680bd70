"""ScaledObject: rules of KEDA's webhook beside the schema, and of its controller."""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_map, as_maps, as_number, as_text, map_at, text_at
from renderer.kubernetes.workloads import scale_target
from renderer.text.suggestions import closest

_RESOURCES = ("cpu", "memory")
ASKED_KINDS = ("Deployment", "StatefulSet")  # of targets into whose pods KEDA's webhook looks
_LONGEST = 63  # characters of a label's value
# The types of triggers that people scale model servers by; KEDA has some seventy.
_TYPES = (
    *("aws-cloudwatch", "aws-sqs-queue", "azure-monitor", "azure-servicebus", "cpu", "cron", "datadog", "dynatrace"),
    *("elasticsearch", "external", "external-push", "gcp-pubsub", "gcp-stackdriver", "graphite", "influxdb", "kafka"),
    *("kubernetes-workload", "loki", "memory", "metrics-api", "mysql", "nats-jetstream", "new-relic", "postgresql"),
    *("predictkube", "prometheus", "pulsar", "rabbitmq", "redis", "redis-cluster", "redis-sentinel", "redis-streams"),
)
# Keys of metadata, by type.
_NEEDED = {
    "prometheus": ("serverAddress", "query", "threshold"),
    "cron": ("timezone", "start", "end", "desiredReplicas"),
}
_QUERY_PATH = r"/api/v1(/query(_range)?)?/?$"  # as text: few runs need it
_SIMILAR = 0.8  # from which on a type is taken for a misspelt one
_NUMBERS = ("threshold", "activationThreshold")


@object_rules.about("output/keda.sh/scaledobject_v1alpha1")
def validate_scaled_object(body: Body) -> Iterator[Finding]:
    """Findings about a ScaledObject that KEDA refuses: nothing but cpu and memory, which wake nothing and have no
    fallback; an idle number that is not below the least; an HPA whose name is too long.
    """
    spec = as_map(body["spec"])
    triggers = as_maps(spec.get("triggers"))
    least = as_number(spec.get("minReplicaCount", 0))
    if all(trigger["type"] in _RESOURCES for trigger in triggers):
        if least == 0 and scale_target(body)[1] in ASKED_KINDS:
            yield Finding(
                "E530",
                ("spec", "triggers"),
                {"what": "cpu and memory alone cannot scale from 0: write minReplicaCount"},
            )
        if "fallback" in spec:
            yield Finding("E530", ("spec", "fallback"), {"what": "cpu and memory have no fallback: leave it out"})
    for i, trigger in enumerate(triggers):
        yield from _validate_trigger(trigger, ("spec", "triggers", i))
    idle = spec.get("idleReplicaCount")
    if idle is not None and as_number(idle) >= least:
        what = f"idleReplicaCount {idle} has to be below minReplicaCount {least}"
        yield Finding("E530", ("spec", "idleReplicaCount"), {"what": what})
    name = text_at(spec, "advanced", "horizontalPodAutoscalerConfig", "name") or (
        f"keda-hpa-{text_at(body, 'metadata', 'name')}"
    )
    if len(name) > _LONGEST:
        what = f"the HPA's name '{name}' has {len(name)} characters, at most {_LONGEST} fit"
        yield Finding("E530", ("metadata", "name"), {"what": what})


def _validate_trigger(trigger: Body, path: Path) -> Iterator[Finding]:
    """Findings about a trigger that KEDA's controller refuses: a misspelt type, keys that it needs, and no numbers."""
    kind, metadata = as_text(trigger["type"]), map_at(trigger, "metadata")
    if kind not in _TYPES and (near := closest(kind, _TYPES, _SIMILAR)):
        yield Finding("E530", (*path, "type"), {"what": f"KEDA has no trigger '{kind}': did you mean '{near}'?"})
    for key in _NEEDED.get(kind, ()):
        if key not in metadata and not trigger.get("authenticationRef"):
            yield Finding("E530", (*path, "metadata"), {"what": f"a trigger of type {kind} needs {key}"})
    if kind in _NEEDED and (match := re.search(_QUERY_PATH, as_text(metadata.get("serverAddress")))):
        what = f"KEDA puts /api/v1/query behind serverAddress: leave '{match[0]}' out"
        yield Finding("E530", (*path, "metadata", "serverAddress"), {"what": what})
    if kind == "cron" and "start" in metadata and metadata["start"] == metadata.get("end"):
        what = "KEDA refuses a cron trigger that ends when it starts: write another end"
        yield Finding("E530", (*path, "metadata", "end"), {"what": what})
    for key in _NUMBERS if kind in _NEEDED else ():
        if key in metadata and not _is_number(as_text(metadata[key])):
            yield Finding("E530", (*path, "metadata", key), {"what": f"'{metadata[key]}' is not a number"})


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
