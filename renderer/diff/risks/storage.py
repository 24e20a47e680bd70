"""Claims, and the Jobs that fill them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from renderer.diagnostics import Path
from renderer.diff.models import ModelChange
from renderer.diff.objects import Body
from renderer.diff.risks.kinds import ObjectPair, Risk, format_value, marked
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.json_values import map_at, maps_at, value_at
from renderer.kubernetes.workloads import containers, pod_template

_CLAIM, _CACHE, _CACHE_VOLUME = "PersistentVolumeClaim", "model-cache", "model-claim"


def claim_risks(pair: ObjectPair) -> Iterator[Risk]:
    """What the API server refuses about a claim that is there, and that a new one stays."""
    if pair.key.kind != _CLAIM or not pair.after:
        return
    size: Path = ("spec", "resources", "requests", "storage")
    old, new = value_at(pair.before, *size), value_at(pair.after, *size)
    if not pair.before:
        yield Risk("new-claim", pair.key, f"{marked(format_value(new))}, which nothing deletes")
        return
    if _is_smaller(new, old):
        text = f"storage {marked(format_value(old))} → {marked(format_value(new))}: the API server refuses it"
        yield Risk("immutable", pair.key, text)
    for field in ("storageClassName", "accessModes"):
        old, new = value_at(pair.before, "spec", field), value_at(pair.after, "spec", field)
        if old != new:
            words = [
                marked(", ".join(map(str, value)) if isinstance(value, list) else format_value(value))
                for value in (old, new)
            ]
            yield Risk("immutable", pair.key, f"{field} {words[0]} → {words[1]}: the API server refuses it")


def _is_smaller(new: object, old: object) -> bool:
    try:
        return quantity.nanos(new) < quantity.nanos(old)
    except ValueError:
        return False


def downloads(pairs: Sequence[ObjectPair], models: Iterable[ModelChange]) -> Iterator[Risk]:
    """For each new Job that fills a cache: why it runs, or what it spares."""
    jobs = [pair for pair in pairs if pair.key.kind == "Job" and _component(pair.after or pair.before) == _CACHE]
    if not jobs:
        return
    old = {_owner(pair.before): pair.before for pair in jobs if (pair.before and not pair.after) or pair.was}
    pods: dict[tuple[str, str], int] = {}
    for model in models:
        if model.after and model.before and _CACHE_VOLUME in model.after.leader.volumes:
            place = model.key.namespace, model.after.name
            pods[place] = pods.get(place, 0) + model.after.high * model.after.size
    for pair in jobs:
        if not pair.after or (pair.before and not pair.was):
            continue
        owner = _owner(pair.after)
        if before := old.get(owner):
            revisions = [_loader_variable(body, "REVISION") for body in (before, pair.after)]
            changed = revisions[0] != revisions[1]
            why = f"the revision {marked(revisions[0])} → {marked(revisions[1])}" if changed else "another pod template"
            yield Risk("download", pair.key, f"{marked(owner[1])}: the Job runs again, for {why}")
        else:
            spared = f" instead of {pods[owner]} times" if pods.get(owner, 0) > 1 else ""
            size = value_at(pair.after, "metadata", "annotations", wellknown.WEIGHTS_SIZE)
            what = f"{marked(size)} GiB of {marked(owner[1])}" if size else marked(owner[1])
            yield Risk("download", pair.key, f"{what} once{spared}, and pods wait for it")


def _component(body: Body) -> object:
    return value_at(body, "metadata", "labels", wellknown.COMPONENT)


def _owner(body: Body) -> tuple[str, str]:
    """Namespace and model of a cache."""
    metadata = map_at(body, "metadata")
    return str(metadata.get("namespace", "")), str(value_at(metadata, "labels", wellknown.NAME))


def _loader_variable(body: Body, name: str) -> str:
    """The value of a variable of the Job's loader; '' without it."""
    for _, container in containers(map_at(pod_template(body), "spec")):
        for entry in maps_at(container, "env"):
            if entry.get("name") == name:
                return str(entry.get("value", ""))
    return ""
