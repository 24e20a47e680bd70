"""The file from which an engine reads the options of several models: a section for each, and one for all of them.

It is read and written as common/preset.cpp of the release b11434 reads it; other readers of such files end a value
there, too. What stands in it is judged elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

SHARED = "*"  # the section of what all models share
UNNAMED = "default"  # the section of what stands in front of the first one
ON, OFF = "true", "false"
_RESERVED = "version"  # a key that is read over
_SWITCHES: Mapping[str, str] = {
    **dict.fromkeys(("on", "enabled", ON, "1"), ON),
    **dict.fromkeys(("off", "disabled", OFF, "0"), OFF),
}
_ENDS = "[#;\r\n]"  # what ends a value
_BLANKS = " \t"
_REST = r"[ \t]*(?:[;#].*)?"
_HEADER = rf"\[[ \t]*([^\]]+)\]{_REST}"
_PAIR = rf"([a-zA-Z_][a-zA-Z0-9_.-]*)[ \t]*=[ \t]*([^;#]*?){_REST}"
_TAG = r"(?i)[-.]([A-Z0-9_]+)$"  # the last part of what stands behind a name's colon


class ReadPair(Struct, frozen=True):
    """A line of a file with a key and its value."""

    key: str
    value: str
    line: int  # from 1
    column: int  # of the value, from 1


class ReadSection(Struct, frozen=True):
    """A section of a file."""

    name: str  # as it is written
    line: int  # of its header; 0 for what stands in front of the first one
    pairs: list[ReadPair]

    @property
    def is_shared(self) -> bool:
        """Whether all models share it."""
        return self.name == SHARED

    @property
    def model(self) -> str:
        """What the server calls its model: what stands behind the last colon is cut and put in capitals."""
        head, colon, tag = self.name.rpartition(":")
        cut = re.search(_TAG, tag)
        return f"{head}:{(cut[1] if cut else tag).upper()}" if colon else self.name


class ReadModels(Struct, frozen=True):
    """What a file says."""

    sections: Sequence[ReadSection]
    unread: Mapping[int, tuple[str, str]]  # lines that cannot be read: why, and what to do; with one of them nothing is


def read_models(text: str) -> ReadModels:
    """The sections of a file, in their order."""
    sections, unread = [ReadSection(UNNAMED, 0, [])], dict[int, tuple[str, str]]()
    for number, line in enumerate(re.split("\r\n|\n|\r", text), 1):
        if header := re.fullmatch(_HEADER, line):
            sections.append(ReadSection(header[1], number, []))
        elif pair := re.fullmatch(_PAIR, line):
            if pair[1] == _RESERVED:
                continue
            sections[-1].pairs.append(ReadPair(pair[1], pair[2], number, pair.start(2) + 1))
        elif not re.fullmatch(_REST, line):
            unread[number] = _why_unread(line)
    return ReadModels(sections if sections[0].pairs else sections[1:], unread)


def _why_unread(line: str) -> tuple[str, str]:
    """Why a line cannot be read, and what to do, in words."""
    if line[0] in _BLANKS:
        return "blanks stand in front of it", "write it from the beginning of the line"
    if line[0] == "-":
        return "a key has no dashes in front", "write it without them, with '=' and its value behind it"
    if line[0] == "[":
        return "a section ends with ']', and nothing but a comment follows", "write [NAME]"
    if "=" not in line:
        return "a key needs '=' and its value", f"write {line.split()[0]} = {ON}, or the value that is meant"
    return "a key has letters, digits and '_', '.', '-', and begins with a letter", "write such a key, or leave it out"


def switch_value(value: str) -> str:
    """What the engine reads as the value of an option without one: ON or OFF; '' for another word."""
    return _SWITCHES.get(value, "")


def header_line(name: str) -> str:
    """The line with which a section begins."""
    return f"[{name}]"


def pair_line(key: str, value: str) -> str:
    """The line of a key and its value."""
    return f"{key} = {value}"


def unwritable(value: str) -> str:
    """Why a value cannot stand in a file, in words; '' where it can."""
    if end := re.search(_ENDS, value):
        return f"a value ends there at '{end[0]}'" if end[0] in "#;" else "a value is one line there"
    if value != value.strip(_BLANKS):
        return "blanks around a value are lost there"
    if "$(" in value:
        return "variables of the container are not read there"
    return ""
