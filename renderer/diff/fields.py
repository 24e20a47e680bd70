"""The fields in which two bodies differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.text import escapes
from renderer.text.differences import opcodes

_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class _Absent:
    """The type of ABSENT, the value on a side that has no such field."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final[object] = _Absent()


class FieldChange(Struct, frozen=True):
    """A field that differs. Items of a list are addressed by their name in brackets where they have one."""

    path: Path
    before: object
    after: object

    @property
    def field(self) -> str:
        """The path as text: `spec.template.containers[main].args[2]`."""
        return format_path(self.path)


def format_path(path: Path) -> str:
    """A path as text: `spec.containers[main].args[2]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.startswith("["):
            text += part
        elif _PLAIN.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{escapes.json_text(part)}]"
    return text


def diff_values(before: object, after: object, path: Path = ()) -> Iterator[FieldChange]:
    """All differences in the order of the fields; at least one unless the values are the same."""
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from diff_values(before.get(key, ABSENT), after.get(key, ABSENT), (*path, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        key = _identifying_key(before, after)
        yield from _by_name(before, after, path, key) if key else _in_order(before, after, path)
    else:
        yield FieldChange(path, before, after)


def same(before: Any, after: Any) -> bool:
    """Whether two values are equal as JSON, where `true` is not 1."""
    if before != after:
        return False
    if repr(before) == repr(after):  # this is quick, and nearly always enough
        return True
    if before.__class__ is not after.__class__:
        return False
    if isinstance(before, dict):
        return len(before) == len(after) and all(key in after and same(before[key], after[key]) for key in before)
    if isinstance(before, list):
        return len(before) == len(after) and all(map(same, before, after))
    return bool(before == after)


def _identifying_key(*lists: Sequence[object]) -> str:
    """The key whose values identify the items in each of these lists; '' if there is none."""
    for key in ("name", "mountPath", "containerPort"):
        if any(lists) and all(_identifies(key, items) for items in lists):
            return key
    return ""


def _identifies(key: str, items: Sequence[object]) -> bool:
    names = [item.get(key) if isinstance(item, dict) else None for item in items]
    return all(isinstance(name, (str, int)) for name in names) and len(set(names)) == len(names)


def _by_name(before: Sequence[Any], after: Sequence[Any], path: Path, key: str) -> Iterator[FieldChange]:
    old, new = {item[key]: item for item in before}, {item[key]: item for item in after}
    for name in [*old, *(name for name in new if name not in old)]:
        yield from diff_values(old.get(name, ABSENT), new.get(name, ABSENT), (*path, f"[{name}]"))
    old_order, new_order = [name for name in old if name in new], [name for name in new if name in old]
    if old_order != new_order:
        yield FieldChange((*path, "[*]"), old_order, new_order)


def _in_order(before: Sequence[object], after: Sequence[object], path: Path) -> Iterator[FieldChange]:
    """Differences between lists without names: an inserted or removed item does not shift the others."""
    old, new = [_sorted_json(item) for item in before], [_sorted_json(item) for item in after]
    for operation, i, i_end, j, j_end in opcodes(old, new):
        if operation == "equal":
            continue
        common = min(i_end - i, j_end - j)
        for step in range(common):
            yield from diff_values(before[i + step], after[j + step], (*path, j + step))
        for place in range(i + common, i_end):
            yield FieldChange((*path, place), before[place], ABSENT)
        for place in range(j + common, j_end):
            yield FieldChange((*path, place), ABSENT, after[place])


def _sorted_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
