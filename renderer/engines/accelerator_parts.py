"""Parts of accelerators: which resources and labels give a pod no whole card, and how much memory it finds then."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from renderer.engines.accelerator import find_row
from renderer.fit.accelerator_types import AcceleratorType, AcceleratorTypes
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import maps_at, text_at, texts_at

PROFILE, UNKNOWN, MIB = "profile", "unknown", "MiB"
"""What `memory` of a row of presets/accelerators.yaml says."""
_REQUIRED = ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_MOST_SETS = 64  # of labels that are looked at
_LARGEST = 1024  # GiB, above which a number is none of a part: a quantity such as 16Gi counts MiB, too


_ROWS: dict[str, Mapping[str, str] | None] = {}


def _row(rows: Iterable[Mapping[str, str]], resource: str) -> Mapping[str, str] | None:
    """The row of presets/accelerators.yaml, which are the same for all, for a resource."""
    if resource not in _ROWS:
        _ROWS[resource] = find_row(rows, resource)
    return _ROWS[resource]


def accelerator_of_pod(
    types: AcceleratorTypes,
    rows: Iterable[Mapping[str, str]],
    limits: Mapping[str, object],
    labels: Mapping[str, str],
    card: AcceleratorType | None,
) -> AcceleratorType | None:
    """The accelerators that a pod with these limits gets on nodes with these labels, with the memory that a process
    finds on each; None where that is not known. `card`: the type of the whole cards; `rows`: of
    presets/accelerators.yaml.

    Companions of HAMi and Volcano (gpumem, vgpu-memory) are what a process gets of each device that is asked for, in
    MiB (project-hami.io/docs/userguide: specify device memory usage;
    volcano.sh/en/docs/user-guide/how_to_use_volcano_vgpu).
    """
    rows = list(rows)
    listed = {name: row for name in limits if (row := _row(rows, name))}
    resource, row = next(((name, row) for name, row in listed.items() if row["count"] != "none"), ("", {}))
    for name, companion in listed.items():
        if resource and companion.get("of") == resource:
            return _by_companion(name, companion, limits[name], card)
    kind = row.get("memory", "")
    if kind == UNKNOWN or types.are_shared(labels):
        return None
    if kind == PROFILE:
        return types.instance(resource.removeprefix(row["pattern"].removesuffix("*")), card)
    profile = types.profile_of_labels(labels)
    return types.instance(profile, card) if profile else card


def _by_companion(
    name: str, row: Mapping[str, str], amount: object, card: AcceleratorType | None
) -> AcceleratorType | None:
    """The part of a card that a companion says; None for no number, and for a percentage of a card that is unknown."""
    try:
        number = quantity.nanos(amount) / 10**9
    except ValueError:
        return None
    size = number / 1024 if row["memory"] == MIB else card.memory_gib * number / 100 if card else 0
    if not 0 < size <= (card.memory_gib if card else _LARGEST):
        return None
    part = f"{name.rpartition('/')[2]} {number:.0f}"
    return replace(card, name=part, memory_gib=size) if card else AcceleratorType(part, "", size)


def is_part(
    types: AcceleratorTypes,
    rows: Iterable[Mapping[str, str]],
    resource: str,
    limits: Iterable[str],
    labels: Mapping[str, str],
) -> bool:
    """Whether a pod that asks for an accelerator gets a part of a card. `limits`: the resources beside it."""
    rows = list(rows)
    row = _row(rows, resource)
    if row is None:
        return False
    beside = (_row(rows, name) for name in limits)
    companions = any(other is not None and other.get("of") == resource for other in beside)
    return bool("memory" in row or companions or types.profile_of_labels(labels) or types.are_shared(labels))


def take_turns(
    types: Callable[[], AcceleratorTypes],
    rows: Iterable[Mapping[str, str]],
    limits: Mapping[str, object],
    labels: Mapping[str, object],
) -> bool:
    """Whether pods with these limits, on nodes with these labels, share a card, each in its turn: none of them has a
    part of the memory for itself.
    """
    is_device = False
    for name in limits:
        row = _row(rows, name)
        if row and row["count"] != "none":
            is_device = True
            if row["count"] == "one" and row.get("memory") == UNKNOWN:
                return True
    return is_device and bool(labels) and types().take_turns(labels)


def cards_of_nodes(
    types: AcceleratorTypes, node_selector: Mapping[str, object], affinity: Mapping[str, object]
) -> list[AcceleratorType]:
    """The types of cards of the nodes that a pod selects, by node selector and required affinity; none where one of
    these may have another.
    """
    selector = {key: str(value) for key, value in node_selector.items()}
    terms = maps_at(affinity, *_REQUIRED) or [{}]
    cards: dict[str, AcceleratorType] = {}
    for term in terms:
        values = {
            text_at(expression, "key"): texts_at(expression, "values")
            for expression in maps_at(term, "matchExpressions")
            if expression.get("operator") == "In"
        }
        for labels in _label_sets(values):
            if (card := types.of_labels(selector | labels)) is None:
                return []
            cards[card.name] = card
    return list(cards.values())


def _label_sets(values: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """The labels that nodes may have, where each key has one of some values."""
    if not all(values.values()) or math.prod(map(len, values.values())) > _MOST_SETS:
        return [{}]
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]
