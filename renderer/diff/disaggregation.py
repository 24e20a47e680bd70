"""Apps whose work is shared by roles, such as prefill and decode: how many of each there are, and what all pods have to
have alike (docs/disaggregation.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer import load
from renderer.diff.gpus import count_gpus
from renderer.diff.models import ModelChange, ModelSummary
from renderer.diff.objects import WORKLOAD, ObjectKey
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import texts_at
from renderer.text.text_table import gpu_unit

_SAME_FACTS = ("model", "backend", "engine version", "model revision", "image", "command")
_ADAPTERS = "adapters"
# What brings the weights of an adapter into a pod, or where they lie; the first of a claim is the main model.
_WEIGHTS = re.compile(r"(?:env .+|argument|--.+) of model-loader-\d+|volume model-(?:claim|host|image)-\d+")
_CREDENTIALS = "secretKeyRef"
_Place = tuple[str, str]  # namespace and name of an app


class RolesChange(Struct, frozen=True):
    """An app of which a role differs, with all of its roles on each side."""

    namespace: str
    app: str
    before: tuple[ModelSummary, ...]
    after: tuple[ModelSummary, ...]

    @property
    def place(self) -> str:
        """namespace/name, or the name alone."""
        return f"{self.namespace}/{self.app}" if self.namespace else self.app


def roles_changes(
    models: Sequence[ModelChange],
    before: Callable[[set[_Place]], Mapping[_Place, list[ModelSummary]]],
    after: Callable[[set[_Place]], Mapping[_Place, list[ModelSummary]]],
) -> Iterator[RolesChange]:
    """The apps whose roles are among these models. `before`, `after`: all roles of these apps on that side."""
    places: dict[_Place, _Place] = {}
    for change in models:
        old, new = change.before or change.after, change.after or change.before
        if old and new and new.role:
            places[change.key.namespace, new.app] = (change.was or change.key).namespace, old.app
    if not places:
        return
    old_roles, new_roles = before(set(places.values())), after(set(places))
    for place, was in places.items():
        yield RolesChange(*place, _in_order(old_roles.get(was, [])), _in_order(new_roles.get(place, [])))


def _in_order(roles: list[ModelSummary]) -> tuple[ModelSummary, ...]:
    return tuple(sorted(roles, key=lambda role: role.role != wellknown.PREFILL))


def describe_roles(roles: Iterable[ModelSummary]) -> str:
    """`2 prefill × 8 GPUs, 1–4 decode × 16`: how many replicas of each role, and how many accelerators each has."""
    parts: list[str] = []
    last_unit: bool | None = None  # whether the numbers are of parts, once that is said
    for role in roles:
        count, is_part = count_gpus(role.gpus)
        unit = "" if is_part is last_unit else f" {gpu_unit(count, is_part)}"
        parts.append(f"{role.range} {role.role}" + (f" × {count:,}{unit}" if count else ""))
        last_unit = is_part if count else last_unit
    return ", ".join(parts)


def successors(models: Iterable[ModelChange]) -> dict[ObjectKey, list[ModelChange]]:
    """By the key of a model that is gone, those that came in its place: the roles of its app, or the one workload that
    does the work of all roles.
    """
    listed = list(models)
    came: dict[_Place, list[ModelChange]] = {}
    for change in listed:
        if change.state == "added" and change.after:
            came.setdefault((change.key.namespace, change.after.app or change.key.name), []).append(change)
    return {
        change.key: came.get((change.key.namespace, change.before.app or change.key.name), [])
        for change in listed
        if change.state == "removed" and change.before
    }


def rolling_pairs(models: Iterable[ModelChange]) -> Iterator[tuple[ModelChange, ModelChange, list[str]]]:
    """Prefill and decode of an app, both LeaderWorkerSets that run and are updated, and what changes in both though all
    of their pods have to have it alike.
    """
    pairs: dict[_Place, dict[str, ModelChange]] = {}
    for change in models:
        runs = change.before and change.before.high > 0 and change.state == "changed"
        if runs and not change.was and change.after and change.after.role and change.key.kind == WORKLOAD:
            pairs.setdefault((change.key.namespace, change.after.app), {})[change.after.role] = change
    for pair in pairs.values():
        if (prefill := pair.get(wellknown.PREFILL)) and (decode := pair.get(wellknown.DECODE)):
            of_decode = _compared(decode)
            if names := [name for name in _compared(prefill) if name in of_decode]:
                yield prefill, decode, names


def _compared(change: ModelChange) -> list[str]:
    """What differs of a role that the other one has to have alike: facts, and options of the engine."""
    backend = change.after.annotations.get("backend", "") if change.after else ""
    options = _same_options(backend) if change.flags else ()
    return [
        *(fact.name for fact in change.facts if fact.name in _SAME_FACTS),
        *_compared_adapters(change, backend),
        *(f"option {flag.name}" for flag in change.flags if flag.name in options),
    ]


def _compared_adapters(change: ModelChange, backend: str) -> list[str]:
    """What differs of the adapters of a role: which ones, else their weights, or the option that loads them."""
    if any(fact.name == _ADAPTERS for fact in change.facts):
        return [_ADAPTERS]
    if not change.after or _ADAPTERS not in change.after.annotations:
        return []
    weights = [
        fact.name for fact in change.facts if _WEIGHTS.fullmatch(fact.name) and not fact.after.startswith(_CREDENTIALS)
    ]
    options = _preset_texts(backend, "adapters", "options") if change.flags else ()
    return weights + [f"option {flag.name}" for flag in change.flags if flag.name in options]


def _same_options(backend: str) -> Sequence[str]:
    """The options that both roles have to have alike, as our preset of the backend says."""
    return _preset_texts(backend, "disaggregation", "sameOptions")


def _preset_texts(backend: str, *path: str) -> Sequence[str]:
    """A list of what our preset of the backend says of its engine; () for a backend that is none of ours."""
    if backend not in load.preset_names("backends"):
        return ()
    return texts_at(load.preset(f"backends/{backend}").value, "spec", "engine", *path)
