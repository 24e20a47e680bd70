"""Two sides of rendered files → what differs between them, and what that does."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from renderer import load
from renderer.diff.fields import Change, differing, same
from renderer.diff.gpus import Gpus
from renderer.diff.models import Model, ModelChange, compared, model, scalers
from renderer.diff.objects import SCALER, WORKLOAD, Body, Item, Items, Key, beside, changed, items
from renderer.diff.renames import renamed
from renderer.diff.risks import STANDING, Pair, Risk, risks
from renderer.diff.traffic import Way, ways
from renderer.emit import Text
from renderer.records import NamedTuple
from renderer.secrets import ANOTHER, HIDDEN, veiled

Scalers: TypeAlias = Mapping[tuple[str, str], Body]


class Altered(NamedTuple):
    """An object that is added, removed, changed, renamed, or moved: the same in another file. Secrets are hidden
    where nobody asked for them.
    """

    state: str
    key: Key
    before: Item | None
    after: Item | None
    changes: tuple[Change, ...]


class Diff(NamedTuple):
    """What differs. `notes`: what could not be compared, and why."""

    objects: tuple[Altered, ...]
    models: tuple[ModelChange, ...]
    traffic: tuple[Way, ...]
    risks: tuple[Risk, ...]
    gpus: tuple[Gpus, ...]
    notes: tuple[str, ...] = ()

    @property
    def different(self) -> bool:
        """Whether any object differs; a move to another file is no difference for a cluster."""
        return any(each.state != "moved" for each in self.objects)


def compare(before: Sequence[Text], after: Sequence[Text], *, step: bool = True, show: bool = False) -> Diff:
    """What differs between two sides of rendered files. Files that are the same on both are not parsed. `step`: the
    second replaces the first; two clusters stand beside each other, and what happens to pods on the way is no risk.
    `show`: values too that may be secrets.
    """
    left, right, still = changed(before, after)
    old, new = items(left), items(right)
    if still:
        _complete(old, new, still)
    pairs = sorted(_pairs(old, new, show), key=_place)
    count = _accelerates()
    models = tuple(_models(pairs, scalers(old, SCALER), scalers(new, SCALER), count))
    keys = {each.key: each.before.key for each in pairs if each.state == "renamed" and each.before}
    altered = [each for each in pairs if each.state != "same"]
    found = risks((_pair(each, old, new) for each in altered), models, old, new)
    said = tuple(each for each in found if step or each.kind in STANDING)
    return Diff(tuple(altered), models, tuple(ways(old, new, keys)), said, _total(models))


def _complete(old: Items, new: Items, still: Sequence[Text]) -> None:
    """Adds what did not change and yet says something: the autoscaler of a workload, the workload of an autoscaler. It
    stands in files of its own, which both sides hold.
    """
    folders = {item.file.rpartition("/")[0] for side in (old, new) for item in side.values()}
    workloads = {(key.namespace, key.name) for side in (old, new) for key in side if key.kind == WORKLOAD}
    scaled = {*scalers(old, SCALER), *scalers(new, SCALER)}
    for kind, names in ((SCALER, workloads - scaled), (WORKLOAD, scaled - workloads)):
        for key, item in beside(still, folders, kind, {name for _, name in names}).items() if names else ():
            if key not in old and key not in new:
                old[key] = new[key] = item


def _pairs(old: Items, new: Items, show: bool) -> Iterator[Altered]:
    """Each object of either side. `show`: with its secrets."""
    gone = {key: item for key, item in old.items() if key not in new}
    came = {key: item for key, item in new.items() if key not in old}
    names = renamed(gone, came) if gone and came else {}
    replaced = set(names.values())
    for key in sorted({*old, *new} - replaced):
        before, after = old.get(names.get(key, key)), new.get(key)
        changes: tuple[Change, ...] = ()
        if before and after and same(before.body, after.body):
            yield Altered("same" if before.file == after.file else "moved", key, before, after, ())
            continue
        real = tuple(each.body if each else {} for each in (before, after))
        if not show:
            before, after = _veiled(before, None), _veiled(after, before)
        if before and after and not (changes := tuple(differing(before.body, after.body))):
            changes = tuple(Change(each.path, HIDDEN, ANOTHER) for each in differing(real[0], real[1]))
        if key in names:
            state = "renamed"
        elif before and after:
            state = "changed"
        else:
            state = "added" if after else "removed"
        yield Altered(state, key, before, after, changes)


def _veiled(item: Item | None, other: Item | None) -> Item | None:
    return item._replace(body=veiled(item.body, other.body if other else None)) if item else None


def _place(each: Altered) -> tuple[str, int, Key]:
    """Where it stands, or stood: objects of one app come together."""
    item = each.after or each.before
    return (item.file, item.place, each.key) if item else ("", 0, each.key)


def _pair(each: Altered, old: Items, new: Items) -> Pair:
    """As they are, with their secrets."""
    was = each.before.key if each.before and each.before.key != each.key else None
    bodies = [old[each.before.key].body if each.before else {}, new[each.key].body if each.after else {}]
    changes = tuple(differing(bodies[0], bodies[1])) if each.key.kind == WORKLOAD and all(bodies) else ()
    return Pair(each.key, was, bodies[0], bodies[1], changes)


def _models(
    pairs: Sequence[Altered], before: Scalers, after: Scalers, count: Callable[[str], bool]
) -> Iterator[ModelChange]:
    for each in pairs:
        if each.key.kind != WORKLOAD:
            continue
        old: Model | None = model(each.before, before, count) if each.before else None
        new: Model | None = model(each.after, after, count) if each.after else None
        facts, flags, gpus = compared(old, new)
        if each.state in ("same", "moved") and not facts:
            continue
        state = "changed" if each.state in ("same", "moved") else each.state
        was = each.before.key if each.before and each.state == "renamed" else None
        yield ModelChange(state, each.key, was, old, new, tuple(facts), tuple(flags), tuple(gpus))


def _total(models: Sequence[ModelChange]) -> tuple[Gpus, ...]:
    """The accelerators of all models that changed, by kind; `replica` sums one replica of each."""
    names = sorted({each.name for change in models for each in change.gpus})
    made = []
    for name in names:
        all_of = [each for change in models for each in change.gpus if each.name == name]
        made.append(
            Gpus(
                name,
                (sum(each.replica[0] for each in all_of), sum(each.replica[1] for each in all_of)),
                (sum(each.most[0] for each in all_of), sum(each.most[1] for each in all_of)),
            )
        )
    return tuple(made)


@cache
def _accelerates() -> Callable[[str], bool]:
    """Whether a resource is an accelerator, by presets/accelerators.yaml."""
    rows = load.preset("accelerators").value["spec"]["resources"]

    @cache
    def counts(resource: str) -> bool:
        for row in rows:
            if row.get("name") == resource or ("pattern" in row and fnmatch.fnmatchcase(resource, row["pattern"])):
                return bool(row["count"] != "none")
        return False

    return counts
