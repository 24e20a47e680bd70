"""An object of a cluster as somebody could have written it: with all defaults, and without what the server writes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from renderer.admission.server_view import server_value, server_view
from renderer.diagnostics import Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.api_types import POD_TEMPLATE, api_types, types_below
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.server_defaults import FILLING_PARTS, RULES, complete_leader_worker_set
from renderer.kubernetes.workloads import WORKLOADS, Kind, PodRole, kind_of, pod_templates

_METADATA: Final = ("name", "namespace", "labels", "annotations")
# Annotations and labels that controllers and kubectl write for themselves.
_BOOKKEEPING: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "kubectl.kubernetes.io/restartedAt",
        "deployment.kubernetes.io/revision",
        "autoscaling.alpha.kubernetes.io/conditions",
        "autoscaling.alpha.kubernetes.io/current-metrics",
        "pod-template-hash",
        "controller-revision-hash",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "volume.beta.kubernetes.io/storage-provisioner",
        "volume.kubernetes.io/storage-provisioner",
    }
)
# Fields of `spec` that the server fills in by what it has at hand.
_ASSIGNED: Final[Mapping[str, tuple[str, ...]]] = {
    "Service": ("clusterIPs", "ipFamilies", "healthCheckNodePort"),
    "PersistentVolumeClaim": ("volumeName",),
}
_MANY_KEYS: Final = 100  # more than any type of the server's has whose defaults depend on each other


def comparable(body: Mapping[str, Any]) -> dict[str, Any]:
    """The object in a form of which both sides can be compared. Of a LeaderWorkerSet with pods of two templates, and of
    one pod, the template of the leader is always written out.
    """
    view: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(server_view(body)))  # a copy
    view.pop("status", None)
    metadata = {key: value for key, value in map_at(view, "metadata").items() if key in _METADATA and value}
    if text_at(view, "kind") not in wellknown.CLUSTER_SCOPED:
        metadata.setdefault("namespace", "default")
    view["metadata"] = _without_bookkeeping(metadata)
    kind, spec = text_at(view, "kind"), view.get("spec")
    if isinstance(spec, dict):
        _drop_assigned(kind, spec)
        if kind == wellknown.LEADER_WORKER_SET:
            complete_leader_worker_set(spec)
            _name_only_template(spec)
        for path in template_paths(view):
            template = map_at(view, *path)
            if not _type_of(view):  # a kind of the server's own is complete already
                template = server_value(POD_TEMPLATE, template)
            _set(view, path, {**template, "metadata": _without_bookkeeping(map_at(template, "metadata"))})
    return view


def template_paths(view: Mapping[str, Any]) -> dict[Path, PodRole]:
    """The pod templates of a workload, by their paths, and whose each is: `leader` or `worker`. The pods of a workload
    without groups are leaders.
    """
    return {template.path: template.role for template in pod_templates(view)} if is_compared(kind_of(view)) else {}


def is_compared(kind: Kind) -> bool:
    """Whether pods of a kind are compared: it has replicas that a rollout replaces, of one sort."""
    workload = WORKLOADS.get(kind)
    return workload is not None and workload.rolls_replicas


def is_default(view: Mapping[str, Any], place: Path) -> bool:
    """Whether the server fills in the value at a place of a comparable object by itself."""
    parent = value_at(view, *place[:-1])
    if not isinstance(parent, dict) or place[-1] not in parent:
        return False
    if place == ("metadata", "namespace"):
        return parent["namespace"] == "default" and text_at(view, "kind") not in wellknown.CLUSTER_SCOPED
    name = _type_of(view)
    template = next((path for path in template_paths(view) if place[: len(path)] == path != place), ())
    if template or (name and len(place) > 1):
        name = POD_TEMPLATE if template else name
        return _is_default_of_type(name, value_at(view, *template), place[len(template) :])
    filled: object = comparable(_surroundings(view, place))
    return bool(value_at(filled, *_in_outline(place)) == parent[place[-1]])


def _is_default_of_type(name: str, value: object, place: Path) -> bool:
    """The same of a place in a value of a type of the server's, of which nothing outside it decides. It is asked of the
    map that holds the place, or of what fills in fields of its parts too: so it takes no time for the rest.
    """
    types = [(name, 0)]  # of the maps that the place is in, each with its depth
    for depth, part in enumerate(place[:-1], 1):
        if isinstance(part, str):
            name = types_below(name).get(part, "")
        if isinstance(place[depth], str):
            types.append((name, depth))
    owner, depth = next((entry for entry in types if entry[0] in FILLING_PARTS), types[-1])
    if not owner:
        return False  # the keys of a map are the user's own
    below = place[depth:]
    has_rule = owner in RULES
    filled = server_value(owner, _surroundings(value_at(value, *place[:depth]), below)) if has_rule else _empty(owner)
    return bool(value_at(filled, *_in_outline(below)) == value_at(value, *place))


@cache
def _empty(name: str) -> Mapping[str, Any]:
    """What the server makes of nothing, of a type whose defaults do not depend on each other."""
    return server_value(name, {})


def _type_of(view: Mapping[str, Any]) -> str:
    """The type of an object, '' for a kind that is not the server's own."""
    return api_types().kinds.get(f"{view.get('apiVersion')}/{view.get('kind')}", "")


def _in_outline(place: Path) -> Path:
    return tuple(0 if isinstance(part, int) else part for part in place)


def _surroundings(value: Any, place: Path) -> Any:
    """What decides about the default at a place, which is left out: no default depends on another item of a list, but
    some on whether there are any. So it stays small however long the lists of the object are.
    """
    part, *rest = place
    if isinstance(value, list):
        return [_surroundings(value[int(part)], tuple(rest))]
    shorter = {key: _outline(value[key], place[-1]) for key in _some_keys(value, place[-1]) if key != part}
    return {**shorter, part: _surroundings(value[part], tuple(rest))} if rest else shorter


def _outline(value: Any, name: object) -> Any:
    """A value with one item of each list; of long maps with some of the keys, and the one of this name."""
    if isinstance(value, dict):
        return {key: _outline(value[key], name) for key in _some_keys(value, name)}
    return [_outline(value[0], name)] if isinstance(value, list) and value else value


def _some_keys(value: Mapping[str, Any], name: object) -> Iterable[Any]:
    if len(value) <= _MANY_KEYS:
        return value
    return {**dict.fromkeys(itertools.islice(value, _MANY_KEYS)), **({name: None} if name in value else {})}


def _without_bookkeeping(metadata: Mapping[str, Any]) -> dict[str, Any]:
    cleaned = dict(metadata)
    for field in ("labels", "annotations"):
        if isinstance(cleaned.get(field), dict):
            cleaned[field] = {key: value for key, value in cleaned[field].items() if key not in _BOOKKEEPING}
    return {key: value for key, value in cleaned.items() if value}


def _drop_assigned(kind: str, spec: dict[str, Any]) -> None:
    for field in _ASSIGNED.get(kind, ()):
        spec.pop(field, None)
    if kind != "Service":
        return
    if spec.get("clusterIP") != "None":
        spec.pop("clusterIP", None)
    if spec.get("ipFamilyPolicy") == "SingleStack":
        del spec["ipFamilyPolicy"]
    for port in maps_at(spec, "ports"):
        port.pop("nodePort", None)


def _name_only_template(spec: Mapping[str, Any]) -> None:
    """Of a group without workers, the template of its one pod is that of the workers, wherever it was written."""
    group = map_at(spec, "leaderWorkerTemplate")
    if isinstance(group, dict) and group.get("size", 1) == 1 and "leaderTemplate" in group:
        group["workerTemplate"] = group.pop("leaderTemplate")


def _set(value: Any, path: Path, item: object) -> None:
    for part in path[:-1]:
        value = value[part]
    value[path[-1]] = item
