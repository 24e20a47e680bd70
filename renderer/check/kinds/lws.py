"""LeaderWorkerSet: rules of its webhook."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_map, as_number, as_text, value_at
from renderer.kubernetes.rollouts import bound_count

_MAX_INT32 = 2**31 - 1


@object_rules.about("output/leaderworkerset.x-k8s.io/leaderworkerset_v1")
def validate_lws(body: Body) -> Iterator[Finding]:
    """What LeaderWorkerSet's webhook refuses beside the schema, or would change.

    docs/design/kubernetes.md#leaderworkerset
    """
    metadata, spec = as_map(body["metadata"]), as_map(body["spec"])
    template = as_map(spec["leaderWorkerTemplate"])
    size, replicas = as_number(template.get("size", 1)), as_number(spec.get("replicas", 1))
    if replicas * size > _MAX_INT32:
        yield Finding(
            "E511", ("spec", "replicas"), {"what": f"replicas × size is {replicas * size}, above {_MAX_INT32}"}
        )
    update: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
    rollout = as_map(as_map(spec.get("rolloutStrategy")).get("rollingUpdateConfiguration"))
    bounds = {"maxUnavailable": rollout.get("maxUnavailable", 1), "maxSurge": rollout.get("maxSurge", 0)}
    for key, bound in bounds.items():
        if isinstance(bound, str) and bound_count(bound, 100, up=False) > 100:
            yield Finding("E512", (*update, key), {"field": key, "value": bound})
    if replicas and not any(bound_count(bound, replicas, up=key == "maxSurge") for key, bound in bounds.items()):
        yield Finding("E513", update, {"replicas": replicas})
    yield from _validate_subgroups(metadata, template, size)
    if template.get("restartPolicy") == "Default":
        yield Finding("E515", ("spec", "leaderWorkerTemplate", "restartPolicy"), {})
    yield from _validate_identity(as_text(metadata["name"]), spec, size)


MAX_HASHED_NAME = {True: 54, False: 43}
"""Longest names of a LeaderWorkerSet whose groups have random keys, by whether a group is one pod."""


def _validate_identity(name: str, spec: Body, size: float) -> Iterator[Finding]:
    """What LeaderWorkerSet 0.11 refuses of its newer fields (docs: concepts/leaderworkerset, group-identity and
    failure-handling).
    """
    template = as_map(spec["leaderWorkerTemplate"])
    pairs: list[tuple[Path, str]] = []
    if spec.get("groupIdentity") == "Hash":
        if template.get("volumeClaimTemplates"):
            pairs.append((("spec", "groupIdentity"), "groupIdentity Hash with volumeClaimTemplates"))
        if partition := value_at(spec, "rolloutStrategy", "rollingUpdateConfiguration", "partition"):
            pairs.append((("spec", "groupIdentity"), f"groupIdentity Hash with the partition {partition}"))
        if len(name) > (longest := MAX_HASHED_NAME[size == 1]):
            what = f"a name of {len(name)} characters with groupIdentity Hash"
            yield Finding("E703", ("metadata", "name"), {"what": what, "hint": f"take at most {longest}"})
    elif spec.get("groupReplacementPolicy") == "Immediate":
        pairs.append(
            (("spec", "groupReplacementPolicy"), "groupReplacementPolicy Immediate with groupIdentity Ordinal")
        )
    if "maxGroupRestarts" in template and template.get("restartPolicy") == "None":
        field_path = ("spec", "leaderWorkerTemplate", "maxGroupRestarts")
        pairs.append((field_path, "maxGroupRestarts with restartPolicy None"))
    if "scheduling" in spec and spec.get("startupPolicy") == "LeaderReady":
        pairs.append((("spec", "scheduling"), "scheduling with startupPolicy LeaderReady"))
    for path, what in pairs:
        yield Finding("E703", path, {"what": what, "hint": "change one of the two"})


def _validate_subgroups(metadata: Body, template: Body, size: float) -> Iterator[Finding]:
    path: Path = ("spec", "leaderWorkerTemplate", "subGroupPolicy")
    key = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
    if "subGroupPolicy" not in template:
        if key in as_map(metadata.get("annotations")):
            yield Finding("E516", ("metadata", "annotations", key), {})
        return
    policy = as_map(template.get("subGroupPolicy"))
    part = as_number(policy["subGroupSize"])
    if part > size:
        yield Finding("E514", (*path, "subGroupSize"), {"what": f"subGroupSize {part} is above the size {size}"})
    elif policy.get("subGroupPolicyType") == "LeaderExcluded" and (size - 1) % part:
        yield Finding(
            "E514",
            (*path, "subGroupSize"),
            {"what": f"the size less the leader, {size - 1}, is not a multiple of subGroupSize {part}"},
        )
    elif size % part and (size - 1) % part:
        yield Finding(
            "E514",
            (*path, "subGroupSize"),
            {"what": f"neither the size {size} nor {size - 1} is a multiple of subGroupSize {part}"},
        )
