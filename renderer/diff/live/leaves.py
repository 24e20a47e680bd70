"""The fields of an object, each by a path in which items of lists go by their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.diff.fields import ABSENT
from renderer.kubernetes.api_types import api_types

_WHOLE: Final = ("tolerations", "envFrom")
OPTION: Final = ": "  # begins the last part of the path of an option


class Leaf(Struct, frozen=True):
    """A field that is neither a map nor a list of maps."""

    value: object
    place: Path  # in the object of the side
    meaning: object = ABSENT  # what it comes to, where that says more than the value
    rule: str = ""  # by which


Key: TypeAlias = tuple[str, ...]
Leaves: TypeAlias = dict[Key, Leaf]
Namer: TypeAlias = Callable[[Key, Mapping[str, Any]], str]


def flatten(
    value: object, key: Key, place: Path, name_item: Namer, skipped: Set[Path] = frozenset()
) -> list[tuple[Key, Leaf]]:
    """The fields below a value. `name_item`: what an item goes by in a list; '' for the name that it has. `skipped`:
    places without those below them.
    """
    leaves: list[tuple[Key, Leaf]] = []
    _flatten(value, key, place, name_item, skipped, leaves)
    return leaves


def _flatten(
    value: object, key: Key, place: Path, name_item: Namer, skipped: Set[Path], leaves: list[tuple[Key, Leaf]]
) -> None:
    if place in skipped:
        return
    if isinstance(value, dict) and value:
        for field, item in value.items():
            _flatten(item, (*key, str(field)), (*place, str(field)), name_item, skipped, leaves)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        known: dict[str, int] = {}  # how often a name was given
        for i, item in enumerate(value):
            name = name_item(key, item) or _name(key[-1], item) or str(i)
            while count := known.get(name):
                known[name] = count + 1
                name += " again" if count == 1 else f" again {count}"
            known[name] = 1
            if key[-1] in _WHOLE:
                leaves.append(((*key, f"[{name}]"), Leaf(item, (*place, i))))
            else:
                below = _without_name(key[-1], item)
                _flatten(below, (*key, f"[{name}]"), (*place, i), name_item, skipped, leaves)
    else:
        leaves.append((key, Leaf(value, place)))


@cache
def _keys_of_lists() -> Mapping[str, Sequence[str]]:
    """The keys that name the items of the lists of a pod, by field: their merge keys, but for ports."""
    keys = api_types().merge_keys
    return {**keys["core.PodSpec"], **keys["core.Container"], "ports": ["name"]}


def _name(field: object, item: Mapping[str, Any]) -> str:
    if field in _WHOLE:
        is_plain = not any(isinstance(value, (dict, list)) for value in item.values())
        return " ".join(str(item[key]) for key in sorted(item)) if is_plain else json.dumps(item, sort_keys=True)
    values = [item.get(key) for key in _keys_of_lists().get(str(field), ())]
    return (
        " ".join(str(value) for value in values) if values and all(value not in (None, "") for value in values) else ""
    )


def _without_name(field: object, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item without the key by which it goes, but for containers and ports, whose names are told."""
    if field in ("containers", "ports"):
        return item
    keys = _keys_of_lists().get(str(field), ())
    return {key: value for key, value in item.items() if key not in keys}


def path_text(key: Key, roots: Mapping[str, str]) -> str:
    """A path in words. `roots`: what stands for the beginning of those in a pod."""
    root = roots.get(key[0]) if key else None
    return _joined(key, is_whole=True) if root is None else root + _joined(key[1:], is_whole=not root)


@lru_cache(maxsize=100_000)
def _joined(key: Key, *, is_whole: bool) -> str:
    """The parts of a path, behind others unless it `is_whole`."""
    text = ""
    for part in key:
        is_bare = part.startswith(("[", OPTION)) or (is_whole and not text)
        text += part if is_bare else f"[{part}]" if "." in part or "/" in part else f".{part}"
    return text


def prefixes(leaves: Mapping[Key, Leaf]) -> set[Key]:
    """All paths above the fields."""
    return {key[:length] for key in leaves for length in range(len(key))}


def top_absent(key: Key, others: set[Key]) -> Key:
    """The shortest beginning of a path that the other side does not have; of a list one of its items."""
    lengths = (length for length in range(1, len(key)) if not key[length].startswith("["))
    return next((key[:length] for length in lengths if key[:length] not in others), key)
