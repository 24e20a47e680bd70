"""What git keeps that is no file, and what a checkout makes of files: by `.gitattributes` git converts them as it
writes them, so a checkout may hold other bytes than were pushed, and than a diff reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence, Set

from renderer.diff.folder_contents import path_from_top
from renderer.diff.objects import ObjectKey
from renderer.diff.output_folders import Side, Unread
from renderer.diff.risks import GUARD, NAME, Risk
from renderer.output.foreign_files import SYNCED
from renderer.source import git
from renderer.source.commit import CommitTree
from renderer.source.paths import MAX_BYTES, path_below
from renderer.source.tree import FileSystem

_ATTRIBUTES = ".gitattributes"
_CONVERTING = {"filter", "ident", "working-tree-encoding"}  # ends of lines aside, which mean nothing to YAML
_MACRO = "[attr]"
_TEXTS = (".txt", ".jinja", ".jinja2", ".j2")  # lists of options, chat templates
_READ = tuple(name.lower() for name in (*SYNCED, *_TEXTS))  # ends of names of input and output
_MOST = 10  # lines of a file that are shown; the rest is counted


def unread(file_system: FileSystem, top: str) -> Unread:
    """Of a commit, or for the work tree of the index. Raises RenderError."""
    if isinstance(file_system, CommitTree):
        entries = file_system.submodules_and(_ATTRIBUTES)
    else:
        entries = git.staged(top, _ATTRIBUTES)
    submodules = {entry.path: entry.blob for entry in entries if entry.mode == git.SUBMODULE}
    return Unread(submodules, {entry.path: entry.blob for entry in entries if entry.mode.startswith("100")})


def attribute_risks(base: Side, later: Side, top: str) -> Iterator[Risk]:
    """A risk for each line of a `.gitattributes` that makes a checkout hold other bytes of a file that may be input or
    output, and that one side alone has. Raises RenderError.
    """
    before, after = base.unread.attributes, later.unread.attributes
    bases = {path_from_top(top, side.settings.base) for side in (base, later)}
    changed = [
        path for path in sorted({*before, *after}) if before.get(path) != after.get(path) and _is_for(path, bases)
    ]
    if not changed:
        return
    blobs = {side[path] for side in (before, after) for path in (*changed, _ATTRIBUTES) if path in side}
    texts = dict(zip(blobs, git.contents(top, [*blobs], MAX_BYTES), strict=True))
    sides = [
        {path: _lines(texts.get(side.get(path, ""), b"")) for path in (*changed, _ATTRIBUTES)}
        for side in (before, after)
    ]
    names = _converting_names(line for side in sides for line in side[_ATTRIBUTES])
    for path in changed:
        old, new = ([line for line in side[path] if _converts(line, names)] for side in sides)
        yield from _file_risks(os.path.relpath(os.path.join(top, path)), old, new)


def _file_risks(path: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Risk]:
    """A risk for each line that one side of a file alone has."""
    key, before, after = ObjectKey("", "File", "", path), dict.fromkeys(old), dict.fromkeys(new)
    changes = [("without", line) for line in before if line not in after]
    changes += [("with", line) for line in after if line not in before]
    for word, line in changes[:_MOST]:
        text = f"{word} {NAME}{line.replace(NAME, '')}{NAME}"
        yield Risk(GUARD, key, f"{text}: a checkout may hold other bytes than are read here")
    if len(changes) > _MOST:
        yield Risk(GUARD, key, f"{len(changes) - _MOST:,} more lines by which a checkout may hold other bytes")
    if before.keys() == after.keys() and old != new:
        yield Risk(GUARD, key, "the order changed, by which a checkout may hold other bytes")


def _is_for(path: str, bases: Set[str]) -> bool:
    """Whether a `.gitattributes` is about files below one of the folders."""
    folder = os.path.dirname(path)
    return not folder or any(path_below(folder, base) is not None for base in bases)


def _lines(data: bytes) -> list[str]:
    """The lines of a file that say something; a zero byte ends a line."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return [line for line in map(str.strip, text.replace("\0", "\n").split("\n")) if line and not line.startswith("#")]


def _names(attributes: Iterable[str]) -> Iterator[str]:
    """The names of attributes, whether they are set, unset or given a value."""
    return (attribute.lstrip("-!").partition("=")[0] for attribute in attributes)


def _converting_names(lines: Iterable[str]) -> Set[str]:
    """The attributes that convert files, with the macros that set one of them."""
    macros: dict[str, set[str]] = {}  # of each attribute, those that name it
    for line in lines:
        macro, *attributes = line.split()
        if macro.startswith(_MACRO):
            for name in _names(attributes):
                macros.setdefault(name, set()).add(macro.removeprefix(_MACRO))
    names, waiting = set(_CONVERTING), [*_CONVERTING]
    while waiting:
        new = macros.get(waiting.pop(), set()) - names
        names |= new
        waiting += new
    return names


def _converts(line: str, names: Set[str]) -> bool:
    """Whether a line converts files that may be input or output, or is a macro that does."""
    pattern, *attributes = line.split()
    if pattern.startswith(_MACRO):
        return pattern.removeprefix(_MACRO) in names
    # What the name of each file ends with that it is about; one in quotes may have escapes.
    end = "" if pattern.startswith('"') else re.split(r"[*?\]\\/]", pattern.lower())[-1]
    may_be_read = any(name.endswith(end) or end.endswith(name) for name in _READ)
    return may_be_read and not names.isdisjoint(_names(attributes))
