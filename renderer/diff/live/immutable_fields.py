"""What no apply changes: fields that nobody can change in an object, and objects of another kind."""

from __future__ import annotations

from renderer.diff.live.differing_field import DifferingField
from renderer.diff.live.equal_fields import has_no_selector
from renderer.kubernetes.immutable_fields import IMMUTABLE_FIELDS
from renderer.kubernetes.workloads import kind_of


def is_immutable(differing: DifferingField) -> bool:
    """Whether the API server refuses our value in the object that runs, which has the name and the kind of ours."""
    pair = differing.pair
    if pair.other_kind or pair.theirs.key.name != pair.ours.key.name:
        return False
    return any(differing.key[: len(path)] == path for path in IMMUTABLE_FIELDS.get(kind_of(pair.ours.body), {}))


def is_of_another_kind(differing: DifferingField) -> bool:
    """The selector of a workload whose name one of another kind has, which has none."""
    pair = differing.pair
    return has_no_selector(differing) and pair.theirs.key.name == pair.ours.key.name
