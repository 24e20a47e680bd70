"""DisaggregatedSet: rules of its webhook, and of the LeaderWorkerSets that its controller makes of the roles."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.check.kinds.lws import MAX_HASHED_NAME, validate_lws
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.disaggregated_sets import OWN_LABELS, SetRole, set_roles, slice_count
from renderer.kubernetes.json_values import map_at, number_at, text_at, value_at
from renderer.kubernetes.workloads import Replica, pod_templates, replicas

_EXCLUSIVE = tuple(f"leaderworkerset.sigs.k8s.io/{word}exclusive-topology" for word in ("", "subgroup-"))
_REVISION_DIGITS = "12345678"  # stands for the eight digits that the controller puts into names
_STATEFUL_SET = 52  # characters of a StatefulSet's name: its pods get it as a label, with `-` and ten more
_SERVICE, _SERVICE_SUFFIX = 63, "-prv"


@object_rules.about("output/disaggregatedset.x-k8s.io/disaggregatedset_v1")
def validate_disaggregated_set(body: Body) -> Iterator[Finding]:
    """What the webhooks of DisaggregatedSet and LeaderWorkerSet refuse beside the schema: LeaderWorkerSet's sees the
    roles only in the cluster, where the controller makes one of each.

    docs/design/kubernetes.md#disaggregatedset
    """
    slices, roles = slice_count(body), set_roles(body)
    for replica in replicas(body):
        if replica.set_role:
            yield from _validate_role(text_at(body, "metadata", "name"), replica.set_role, slices, replica.size)
    if slices > 1 and (external := next((role for role in roles if role.external), None)):
        what = f"{slices} slices beside the role '{external.name}', which is scaled externally"
        yield _refusal(("spec", "slices"), what, "leave slices out, or scaling of every role")
    yield from _validate_labels(body)
    yield from _validate_placement(body)


def _refusal(path: Path, what: str, hint: str) -> Finding:
    return Finding("E391", path, {"what": what, "hint": hint})


def _validate_role(name: str, role: SetRole, slices: int, size: int) -> Iterator[Finding]:
    path: Path = ("spec", "roles", role.index)
    lws = {"metadata": {**role.metadata, "name": ""}, "spec": role.spec}  # its name is judged below
    for finding in validate_lws(lws):
        if finding.code != "E515":  # what is rewritten there is no field of this object
            yield finding.below(*path)
    update: Path = ("rolloutStrategy", "rollingUpdateConfiguration", "partition")
    if partition := value_at(role.spec, *update):
        what = f"the partition {partition}: it rolls all roles out together"
        yield _refusal((*path, "spec", *update), what, "leave it out")
    yield from _validate_names(name, role, slices, size)
    if role.external and number_at(role.spec, "replicas", default=1) > 1:
        yield Finding("W391", (*path, "spec", "replicas"), {"scaler": role.scaler})


def _validate_names(name: str, role: SetRole, slices: int, size: int) -> Iterator[Finding]:
    """A finding where the LeaderWorkerSet of a role gets a name that is too long for its pods or its Service. It counts
    the slice, which LeaderWorkerSet 0.9 leaves out: else an upgrade would stop the next rollout.
    """
    child = f"{name}-{slices - 1}-{_REVISION_DIGITS}-{role.name}"
    if role.spec.get("groupIdentity") == "Hash":
        longest = MAX_HASHED_NAME[size == 1]
    else:
        groups = max(int(number_at(role.spec, "replicas", default=1)), 1)
        longest = _STATEFUL_SET - (len(f"-{groups - 1}") if size > 1 else 0)
    longest = min(longest, _SERVICE - len(_SERVICE_SUFFIX))
    if len(child) > longest:
        shown = f"{name}-{slices - 1}-<8 digits>-{role.name}"
        words = {"name": shown, "length": len(child), "limit": longest, "less": len(child) - longest}
        yield Finding("E390", ("spec", "roles", role.index, "name"), words)


def _validate_labels(body: Body) -> Iterator[Finding]:
    """A warning for each label of pods over which the controller writes its own."""
    for template in pod_templates(body):
        for key in OWN_LABELS:
            if key in template.labels:
                words = {"label": key, "value": template.labels[key]}
                yield Finding("W390", (*template.path, "metadata", "labels", key), words)


def _validate_placement(body: Body) -> Iterator[Finding]:
    """What the webhook of LeaderWorkerSet 0.10 refuses of a placement (lws#916)."""
    path: Path = ("spec", "placementPolicy")
    kind = text_at(body, *path, "type", default="None")
    if kind == "None":
        return
    if not text_at(body, *path, "topology"):
        yield _refusal(
            path, f"{kind} without a topology", "write topology: topology.kubernetes.io/zone, or a label of fewer nodes"
        )
    for replica in replicas(body):
        if place := _exclusive_annotation(body, replica):
            yield _refusal(place, f"this annotation beside placementPolicy.type {kind}", "keep one of the two")


def _exclusive_annotation(body: Body, replica: Replica) -> Path | None:
    """Where a role asks LeaderWorkerSet for a placement of its own."""
    for key in _EXCLUSIVE:
        for place in (replica.path[:-1], *(template.path for template in replica.templates)):
            annotations: Path = (*place, "metadata", "annotations")
            if key in map_at(body, *annotations):
                return (*annotations, key)
    return None
