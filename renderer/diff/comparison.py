"""Compares two sides of rendered files: changed objects, models, traffic, accelerators, and risks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import load
from renderer.api import RenderPolicy
from renderer.diff.disaggregation import RolesChange, roles_changes
from renderer.diff.fields import FieldChange, diff_values, same
from renderer.diff.gpus import (
    CLAIM_TEMPLATE,
    AcceleratorNames,
    GpuChange,
    claim_templates,
    claimed_devices,
    sum_gpus,
)
from renderer.diff.models import (
    ModelChange,
    ModelSummary,
    autoscalers,
    join_replaced,
    model_change,
    summarize_model,
)
from renderer.diff.objects import (
    ROLES,
    WORKLOAD,
    Body,
    Items,
    ObjectItem,
    ObjectKey,
    app_and_role,
    changed_files,
    is_workload,
    items,
    role_items,
    unchanged_objects,
)
from renderer.diff.quotas import QuotaChange, policy_quotas, resource_quotas
from renderer.diff.renames import match_renamed
from renderer.diff.risks import STANDING, ObjectPair, Risk, find_risks
from renderer.diff.traffic import TrafficChange, public_names, traffic_changes
from renderer.engines.accelerator import find_row
from renderer.engines.accelerator_parts import is_part
from renderer.fit.verdict import describe_verdict
from renderer.kubernetes.disaggregated_sets import KIND
from renderer.kubernetes.wellknown import AUTOSCALERS, DEPLOYMENT
from renderer.kubernetes.workloads import WORKLOADS, pod_template
from renderer.load.preset_files import accelerator_types
from renderer.output.manifest_files import OutputFile
from renderer.plan import Figures
from renderer.resolve import ReplacedName
from renderer.secrets.detection import ANOTHER, HIDDEN, hide_secrets

if TYPE_CHECKING:
    from renderer.check.foreign import JudgedQuota


class ObjectChange(Struct, frozen=True):
    """An object that is added, removed, changed, renamed, or moved (the same in another file). Secrets are hidden
    unless `compare` was called with `show`.
    """

    state: str
    key: ObjectKey
    before: ObjectItem | None
    after: ObjectItem | None
    changes: tuple[FieldChange, ...]


class TreeDiff(Struct, frozen=True):
    """All differences."""

    objects: tuple[ObjectChange, ...]
    models: tuple[ModelChange, ...]
    traffic: tuple[TrafficChange, ...]
    risks: tuple[Risk, ...]
    gpus: tuple[GpuChange, ...]  # of all models together
    notes: tuple[str, ...] = ()  # what could not be compared, and why
    roles: tuple[RolesChange, ...] = ()  # of the apps whose models do a part of the work each
    currency: str = ""  # of prices, '' where nobody says it
    quotas: tuple[QuotaChange, ...] = ()  # of which more or less is left

    @property
    def different(self) -> bool:
        """Whether any object differs; a move to another file makes no difference to a cluster."""
        return any(change.state != "moved" for change in self.objects)


def compare(
    before: Sequence[OutputFile],
    after: Sequence[OutputFile],
    *,
    figures: tuple[Figures, Figures] = ({}, {}),
    currency: str = "",
    policies: Sequence[RenderPolicy] = (),
    quotas: Sequence[JudgedQuota] = (),
    pathless: Mapping[tuple[str, str], str] = {},
    replaced: Sequence[ReplacedName] = (),
    replaces: bool = True,
    show: bool = False,
) -> TreeDiff:
    """The differences between two sides of rendered files. Files that are the same on both are not parsed.

    `figures`: of the workloads of each side; `currency`: of the prices among them; `policies`, `quotas`: those of the
    second side, by which it was judged and which it passes through; `pathless`: the task of each app of that side for
    which the AI gateway has no path; `replaced`: names of apps of that side whose route a ModelRoute replaces;
    `replaces`: the second side replaces the first; False for two clusters side by side, where only the risks of
    STANDING count. `show`: also shows values that may be secrets.
    """
    before_files, after_files, unchanged = changed_files(before, after)
    old, new = items(before_files), items(after_files)
    if unchanged:
        _add_unchanged_partners(old, new, unchanged)
    pairs = sorted(_object_changes(old, new, show), key=_file_order)
    names = _accelerator_names()
    states = _state(old, figures[0]), _state(new, figures[1])
    models = tuple(join_replaced(_model_changes(pairs, *states, names)))
    roles = tuple(roles_changes(models, *(partial(state.summarize_roles, names) for state in states)))
    keys = {pair.key: pair.before.key for pair in pairs if pair.state == "renamed" and pair.before}
    altered = [pair for pair in pairs if pair.state != "same"]
    unhidden = (_unhidden_pair(pair, old, new) for pair in altered)
    all_risks = find_risks(unhidden, models, old, new, unchanged=unchanged, pathless=pathless, replaced=replaced)
    shown_risks = tuple(risk for risk in all_risks if replaces or risk.kind in STANDING)
    traffic = tuple(traffic_changes(old, new, keys))
    left = [*policy_quotas(policies, models, figures), *resource_quotas(quotas, old, new, names)]
    return TreeDiff(
        tuple(altered),
        models,
        traffic,
        shown_risks,
        _total_gpus(models),
        roles=roles,
        currency=currency,
        quotas=tuple(left),
    )


def _add_unchanged_partners(old: Items, new: Items, unchanged: Sequence[OutputFile]) -> None:
    """Adds to both sides what belongs to a changed object and is in one of the unchanged files `unchanged`: the
    autoscaler, the claimed devices and the other role of a workload, the workload of an autoscaler, or the workloads
    that a route leads to.
    """
    folders = {item.file.rpartition("/")[0] for side in (old, new) for item in side.values()}

    def add(kind: str, names: set[str]) -> None:
        for key, item in unchanged_objects(unchanged, folders, kind, names).items() if names else ():
            if key not in old and key not in new and (key.api_kind not in WORKLOADS or _runs(item)):
                old[key] = new[key] = item

    scaled = {*autoscalers(old), *autoscalers(new)}
    unknown = {name for _, name in scaled - _workload_names(old, new)}
    add(WORKLOAD, unknown)
    add(DEPLOYMENT, unknown)
    apps = {app_and_role(item)[0] for side in (old, new) for item in side.values() if item.key.kind == WORKLOAD} - {""}
    add(WORKLOAD, {f"{app}-{role}" for app in apps for role in ROLES})
    backends = {to.partition(" as ")[0] for side in (old, new) for public in public_names(side) for to in public.legs}
    add(WORKLOAD, backends)
    add(DEPLOYMENT, backends)
    for kind in AUTOSCALERS:
        add(kind, {name for _, name in _workload_names(old, new) - scaled})
    pods = [pod_template(item.body) for side in (old, new) for item in side.values() if _runs(item)]
    add(CLAIM_TEMPLATE, {name for pod in pods for name in claim_templates(pod)})


def _workload_names(old: Items, new: Items) -> set[tuple[str, str]]:
    """Namespace and name of all workloads, of a DisaggregatedSet those of its roles."""
    return {
        (role.key.namespace, role.key.name)
        for side in (old, new)
        for item in side.values()
        if _runs(item)
        for role in role_items(item).values()
    }


def _runs(item: ObjectItem) -> bool:
    return is_workload(item.key, item.body)


def _object_changes(old: Items, new: Items, show: bool) -> Iterator[ObjectChange]:
    """A change for each object of either side, also with the state `same`. `show`: with secrets."""
    removed = {key: item for key, item in old.items() if key not in new}
    added = {key: item for key, item in new.items() if key not in old}
    old_keys = match_renamed(removed, added) if removed and added else {}
    replaced = set(old_keys.values())
    for key in sorted({*old, *new} - replaced):
        before, after = old.get(old_keys.get(key, key)), new.get(key)
        changes: tuple[FieldChange, ...] = ()
        if before and after and same(before.body, after.body):
            yield ObjectChange("same" if before.file == after.file else "moved", key, before, after, ())
            continue
        unhidden = tuple(item.body if item else {} for item in (before, after))
        if not show:
            before, after = _hide_secrets(before, None), _hide_secrets(after, before)
        if before and after and not (changes := tuple(diff_values(before.body, after.body))):
            changes = tuple(
                FieldChange(change.path, HIDDEN, ANOTHER) for change in diff_values(unhidden[0], unhidden[1])
            )
        if key in old_keys:
            state = "renamed"
        elif before and after:
            state = "changed"
        else:
            state = "added" if after else "removed"
        yield ObjectChange(state, key, before, after, changes)


def _hide_secrets(item: ObjectItem | None, other: ObjectItem | None) -> ObjectItem | None:
    return replace(item, body=hide_secrets(item.body, other.body if other else None)) if item else None


def _file_order(change: ObjectChange) -> tuple[str, int, ObjectKey]:
    """Sort key by file and position there, so that objects of one app come together."""
    item = change.after or change.before
    return (item.file, item.place, change.key) if item else ("", 0, change.key)


def _unhidden_pair(change: ObjectChange, old: Items, new: Items) -> ObjectPair:
    """Both bodies of an object, with their secrets."""
    was = change.before.key if change.before and change.before.key != change.key else None
    bodies = [old[change.before.key].body if change.before else {}, new[change.key].body if change.after else {}]
    changes = tuple(diff_values(bodies[0], bodies[1])) if all(bodies) and is_workload(change.key, bodies[1]) else ()
    return ObjectPair(change.key, was, bodies[0], bodies[1], changes)


def _model_changes(
    pairs: Sequence[ObjectChange], before: _State, after: _State, names: AcceleratorNames
) -> Iterator[ModelChange]:
    for pair in pairs:
        if not any(_runs(item) for item in (pair.before, pair.after) if item):
            continue
        yield from _workload_changes(pair, before, after, names)


class _State(Struct, frozen=True):
    """One state's objects, and what the summaries of its workloads need of the others."""

    objects: Items
    scalers: Mapping[tuple[str, str], Body]
    devices: Mapping[tuple[str, str], Mapping[str, int]]
    figures: Figures

    def summarize(self, item: ObjectItem | None, names: AcceleratorNames) -> ModelSummary | None:
        """The model of a workload; None without one."""
        if not item:
            return None
        model = summarize_model(item, self.scalers, names, self.devices)
        if known := self.figures.get((item.key.namespace, item.key.name)):
            model = replace(model, hour=known.hour, unpriced=known.unpriced)
        if known and (verdict := known.fit):
            words = describe_verdict(verdict)
            model = replace(model, memory=words, fit=verdict.kind, lacks_fact=bool(verdict.missing))
        return model

    def summarize_roles(
        self, names: AcceleratorNames, places: set[tuple[str, str]]
    ) -> dict[tuple[str, str], list[ModelSummary]]:
        """All roles of these apps, by namespace and name of the app."""
        roles: dict[tuple[str, str], list[ModelSummary]] = {}
        for item in self.objects.values():
            for role in role_items(item).values() if _runs(item) else ():
                place = role.key.namespace, app_and_role(role)[0]
                if place in places:
                    roles.setdefault(place, []).append(summarize_model(role, self.scalers, names, self.devices))
        return roles


def _state(objects: Items, figures: Figures) -> _State:
    return _State(objects, autoscalers(objects), claimed_devices(objects), figures)


def _workload_changes(
    whole: ObjectChange, before: _State, after: _State, names: AcceleratorNames
) -> Iterator[ModelChange]:
    """The change of a workload's model; of a DisaggregatedSet one for each role."""
    for pair in _role_changes(whole):
        old, new = before.summarize(pair.before, names), after.summarize(pair.after, names)
        was = pair.before.key if pair.before and pair.state == "renamed" else None
        state = "changed" if pair.state in ("same", "moved") else pair.state
        change = model_change(state, pair.key, was, old, new)
        if pair.state not in ("same", "moved") or change.facts:
            yield change


def _role_changes(pair: ObjectChange) -> Iterator[ObjectChange]:
    """The change for each role of a DisaggregatedSet; that of another workload itself."""
    if all(item is None or item.key.kind != KIND for item in (pair.before, pair.after)):
        yield pair
        return
    old, new = (role_items(item) if item else {} for item in (pair.before, pair.after))
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        state = pair.state
        if before and after:
            state = "same" if state == "changed" and same(before.body, after.body) else state
        elif pair.before and pair.after:
            state = "added" if after else "removed"
        if item := after or before:
            yield ObjectChange(state, item.key, before, after, ())


def _total_gpus(models: Sequence[ModelChange]) -> tuple[GpuChange, ...]:
    """The accelerators of all changed models, by kind."""
    kinds = sorted({(gpu.name, gpu.is_part) for change in models for gpu in change.gpus})
    return tuple(
        sum_gpus(name, (gpu for change in models for gpu in change.gpus if (gpu.name, gpu.is_part) == (name, part)))
        for name, part in kinds
    )


@cache
def _accelerator_names() -> AcceleratorNames:
    """Which resources and DeviceClasses are accelerators, by presets/accelerators.yaml."""
    spec = load.preset("accelerators").value["spec"]
    rows = spec["resources"]

    @cache
    def counts(resource: str) -> bool:
        row = find_row(rows, resource)
        return resource in spec["deviceClasses"] or (row is not None and row["count"] != "none")

    def are_parts(resource: str, beside: Iterable[str], labels: Mapping[str, str]) -> bool:
        return is_part(accelerator_types(), rows, resource, beside, labels)

    return AcceleratorNames(counts, are_parts)
