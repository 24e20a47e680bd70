"""What an update of a running workload does: pods that restart, and fields that nobody may change."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from renderer.diagnostics import Path
from renderer.diff.fields import ABSENT, FieldChange, same
from renderer.diff.objects import Body, ObjectItem, ObjectKey, app_and_role, is_workload
from renderer.diff.risks.kinds import KINDS, ObjectPair, Risk, format_value, marked
from renderer.kubernetes import disaggregated_sets, quantity, wellknown
from renderer.kubernetes.immutable_fields import IMMUTABLE_FIELDS
from renderer.kubernetes.json_values import map_at, maps_at, number_at, value_at
from renderer.kubernetes.rollouts import unavailable_count
from renderer.kubernetes.workloads import (
    CONTAINERS,
    DEPLOYMENT,
    LEADER_WORKER_SET,
    WORKLOADS,
    pod_template,
    template_pattern,
)
from renderer.kubernetes.workloads import replicas as replicas_of

_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_ROLLOUT: Path = ("spec", *WORKLOADS[LEADER_WORKER_SET].rollout)
_ROLES: Path = ("spec", "roles")  # of a DisaggregatedSet
_DEPLOYED: Path = template_pattern(DEPLOYMENT)
_RESTARTS = (_TEMPLATE, ("spec", "networkConfig"), _DEPLOYED)
_LEADER = "leader: "
_SHOWN = 4  # fields that restart pods; the rest is counted
_COPIED = tuple(f"leaderworkerset.sigs.k8s.io/{word}exclusive-topology" for word in ("", "subgroup-"))
_OF_RUNNER, _OF_LOADER = rf" of {wellknown.RUNNER}\b", r"\b(env \S+) of model-loader(?:-\d+)?\b"
_PREFIX = r"\b(labels|annotations) \S+/"  # of the keys of labels and annotations
_SIZES = {"limits", "requests", "sizeLimit"}
_ADMITTED = {"resources", "ports", "nodeSelector", "affinity", "tolerations"}


def update_risks(pair: ObjectPair, replicas: Mapping[ObjectKey, int]) -> Iterator[Risk]:
    """The risks of an update of a workload that keeps its name. `replicas`: of each workload, as many as certainly run
    before and after it.
    """
    key = pair.key
    if not is_workload(key, pair.after) or not pair.before or not pair.after or pair.was:
        return
    fields = restarting_fields(pair.changes)
    old_partition, partition = (number_at(body, *_ROLLOUT, "partition") for body in (pair.before, pair.after))
    change = f"partition {old_partition:g} → {partition:g}"
    counts = [number_at(body, "spec", "replicas", default=math.inf) for body in (pair.before, pair.after)]
    holds_all = partition >= max(counts)
    if partition and (fields or partition > old_partition) and _runs_pods(pair.before):
        which = "all replicas" if holds_all else f"replica{' 0' if partition == 1 else f's 0 to {partition - 1:g}'}"
        text = f"{which} keep{'s' if partition == 1 and not holds_all else ''} the template that runs"
        yield Risk("held-back", key, f"{marked(change)}: {text}" if partition > old_partition else text)
    if (fields and not holds_all) or partition < old_partition:
        names = [*([change] if partition < old_partition else ()), *_short_names(fields)]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        text = ", ".join(map(marked, names[:_SHOWN])) + more
        together = ": all roles roll out together" if key.kind == disaggregated_sets.KIND else ""
        if _runs_pods(pair.before):
            # An app with roles has no spec.workload, and so no rollout.
            remedy = KINDS["roles"].marked_remedy if _is_of_role(pair) else ""
            count = 0 if together or partition else replicas.get(key, 0)
            is_down = 0 < count <= unavailable_count(pair.after, count)
            lead = _rollout_of_groups(pair) + (_pause(pair.after) if is_down else "")
            yield Risk("restart", key, text + together, remedy, is_down, lead)
    for what in _queue_refusals(pair):
        yield Risk("queue", key, what)
    for field, why in IMMUTABLE_FIELDS.get(key.api_kind, {}).items():
        was, now = (value_at(body, *field) for body in (pair.before, pair.after))
        if not same(was, now):
            is_plain = not isinstance(was, (dict, list)) and not isinstance(now, (dict, list))
            values = f" {marked(format_value(was))} → {marked(format_value(now))}" if is_plain else ""
            yield Risk("immutable", key, f"{field[-1]}{values}: {why}")


def _pause(body: Body) -> str:
    """That nothing answers while the pods that come are loading, and how long at most."""
    group = next(iter(replicas_of(body)), None)
    pod = map_at(group.leader.body if group else pod_template(body), "spec")
    probe = next((map_at(container, "startupProbe") for container in maps_at(pod, "containers")[:1]), {})
    seconds = number_at(probe, "initialDelaySeconds")
    seconds += number_at(probe, "periodSeconds", default=10) * number_at(probe, "failureThreshold", default=3)
    most = f", {math.ceil(seconds / 60)} min at most (the startup probe's bound)" if probe else ""
    return f"nothing answers while it loads{most}: "


def _rollout_of_groups(pair: ObjectPair) -> str:
    """How many groups of several hosts are replaced at a time, and what each needs; '' for replicas of one host."""
    old, new = (value_at(body, *_TEMPLATE, "size") or 1 for body in (pair.before, pair.after))
    if old == new == 1:
        return ""
    at_once = value_at(pair.after, *_ROLLOUT, "maxUnavailable") or 1
    groups = f"{marked(at_once)} group{'' if at_once == 1 else 's'}"
    if isinstance(at_once, str):
        groups = f"{marked(at_once)} of the groups"
    if old == new:
        return f"{groups} of {marked(new)} hosts at a time: "
    return f"{groups} at a time, on {marked(new)} host{'' if new == 1 else 's'} in the place of {marked(old)}: "


def _is_of_role(pair: ObjectPair) -> bool:
    """Whether a workload does a part of an app's work, or holds such parts."""
    return pair.key.kind == disaggregated_sets.KIND or app_and_role(ObjectItem(pair.key, "", pair.after)) != ("", "")


def _runs_pods(body: Body) -> bool:
    """Whether a workload has replicas, as far as it says itself."""
    roles = disaggregated_sets.set_roles(body)
    counts = [role.spec.get("replicas") for role in roles] if roles else [value_at(body, "spec", "replicas")]
    return any(count != 0 for count in counts)


def _queue_refusals(pair: ObjectPair) -> Iterator[str]:
    """Messages about changes of a running workload that Kueue's webhook refuses."""
    old, new = (value_at(body, "metadata", "labels", wellknown.QUEUE_NAME) for body in (pair.before, pair.after))
    if new is None or value_at(pair.before, "spec", "replicas") == 0:
        return
    if old != new:
        yield f"queue {marked(format_value(old))} → {marked(new)} while replicas run"
        return
    fields = [change for change in pair.changes if _ADMITTED & set(change.path) and not _is_same_quantity(change)]
    if names := list(dict.fromkeys(marked(_shorten_path(change.path)) for change in fields)):
        yield f"{', '.join(names[:4])} of replicas that it has admitted"


def restarting_fields(changes: Iterable[FieldChange]) -> list[str]:
    """Short names of the changed fields of a LeaderWorkerSet that cause its pods to be replaced.

    docs/design/delivery.md#comparing-two-states
    """
    fields: list[str] = []
    for change in changes:
        path = change.path
        if path[:2] == _ROLES:
            fields += _restarting_role_fields(path)
            continue
        copied = path[:2] == ("metadata", "annotations") and (path[2:] == () or path[2] in _COPIED)
        if path[:2] in _RESTARTS or path == ("spec",) or copied:
            if not (copied and path[2:] == ()) and not _is_same_quantity(change):
                fields.append(_shorten_path(path))
            elif copied and any(name in _keys(change) for name in _COPIED):
                fields.append("annotations")
    of_both = {f"{_LEADER}{field}" for field in fields}
    return [field for field in dict.fromkeys(fields) if field not in of_both]


def _short_names(fields: Iterable[str]) -> list[str]:
    """The names of fields without that of the engine's container, and without variables that a loader has from it;
    labels and annotations last.
    """
    listed = dict.fromkeys(re.sub(_OF_RUNNER, "", field) for field in fields)
    shorts = (
        field for field in listed if not re.search(_OF_LOADER, field) or re.sub(_OF_LOADER, r"\1", field) not in listed
    )
    return sorted(
        (re.sub(_PREFIX, r"\1 ", field) for field in shorts),
        key=lambda field: field.removeprefix(_LEADER).startswith(("labels", "annotations")),
    )


def _restarting_role_fields(path: Path) -> Iterator[str]:
    """The short name of a changed field of a DisaggregatedSet's roles where it is part of what they are made of."""
    role = str(path[2]).strip("[]") if len(path) > 2 else ""
    if len(path) <= len(_ROLES) + 1:
        yield f"role {role}" if role else "roles"
    elif path[3:5] == _TEMPLATE:
        yield f"{_shorten_path(path[3:])} in {role}"


def _keys(change: FieldChange) -> set[str]:
    return {key for side in (change.before, change.after) if isinstance(side, dict) for key in side}


def _is_same_quantity(change: FieldChange) -> bool:
    """Whether both sides are the same quantity in two spellings, which LeaderWorkerSet's webhook makes equal."""
    if not _SIZES & set(change.path) or ABSENT in (change.before, change.after):
        return False
    try:
        return quantity.canonical(change.before) == quantity.canonical(change.after)
    except ValueError:
        return False


def _shorten_path(path: Path) -> str:
    """A path of the pod template in short: `args of model-runner`, `size`."""
    rest = (
        [str(part) for part in path[2:] if part not in ("spec", "metadata")]
        if path[:2] in (_TEMPLATE, _DEPLOYED)
        else list(path[1:])
    )
    role = _LEADER if rest[:1] == ["leaderTemplate"] else ""
    if rest[:1] in (["leaderTemplate"], ["workerTemplate"]):
        rest = rest[1:]
    if rest and rest[0] in CONTAINERS and len(rest) > 2:
        name = str(rest[1]).strip("[]")
        inner = str(rest[3]).strip("[]") if rest[2] == "env" and len(rest) > 3 and str(rest[3]) != "[*]" else ""
        return f"{role}{rest[2]}{f' {inner}' if inner else ''} of {name}"
    return role + (" ".join(str(part).strip("[]") for part in rest[:2] if part != "[*]") or "the whole template")
