"""Two bodies → the fields in which they differ, path by path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from renderer import escapes
from renderer.differences import opcodes
from renderer.problems import Path
from renderer.records import NamedTuple

_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class _Absent:
    """What stands on the side that has no such field."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final[Any] = _Absent()


class Change(NamedTuple):
    """A field that differs. Of a list whose items have names, a part of the path is the name in brackets."""

    path: Path
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path in one word: `spec.template.containers[main].args[2]`."""
        return written(self.path)


def written(path: Path) -> str:
    """A path in one word."""
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


def differing(before: Any, after: Any, path: Path = ()) -> Iterator[Change]:
    """Every difference, in reading order; at least one where the two are not the same."""
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differing(before.get(key, ABSENT), after.get(key, ABSENT), (*path, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        key = _named(before, after)
        yield from _by_name(before, after, path, key) if key else _in_order(before, after, path)
    else:
        yield Change(path, before, after)


def same(before: Any, after: Any) -> bool:
    """Whether the two are one value in JSON: `True` is not 1 there."""
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


def _named(*lists: Sequence[Any]) -> str:
    """The key that tells the items of these lists apart; '' where none does."""
    for key in ("name", "mountPath", "containerPort"):
        if any(lists) and all(_tells(key, each) for each in lists):
            return key
    return ""


def _tells(key: str, items: Sequence[Any]) -> bool:
    names = [each.get(key) if isinstance(each, dict) else None for each in items]
    return all(isinstance(name, (str, int)) for name in names) and len(set(names)) == len(names)


def _by_name(before: Sequence[Any], after: Sequence[Any], path: Path, key: str) -> Iterator[Change]:
    old, new = {each[key]: each for each in before}, {each[key]: each for each in after}
    for name in [*old, *(name for name in new if name not in old)]:
        yield from differing(old.get(name, ABSENT), new.get(name, ABSENT), (*path, f"[{name}]"))
    kept, now = [name for name in old if name in new], [name for name in new if name in old]
    if kept != now:
        yield Change((*path, "[*]"), kept, now)


def _in_order(before: Sequence[Any], after: Sequence[Any], path: Path) -> Iterator[Change]:
    """An item more or less in the middle leaves the others alone."""
    old, new = [_word(each) for each in before], [_word(each) for each in after]
    for what, i, till, j, to in opcodes(old, new):
        if what == "equal":
            continue
        both = min(till - i, to - j)
        for step in range(both):
            yield from differing(before[i + step], after[j + step], (*path, j + step))
        for place in range(i + both, till):
            yield Change((*path, place), before[place], ABSENT)
        for place in range(j + both, to):
            yield Change((*path, place), ABSENT, after[place])


def _word(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
