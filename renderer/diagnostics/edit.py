"""Edits of a file that do what a hint says, and the hints that are such an edit."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct

from renderer.diagnostics.origin import Path, Source


class Edit(Struct, frozen=True):
    """A text in place of a part of a file. Lines and columns count from 1, in characters without a byte order mark."""

    file: str  # as the diagnostic names it
    line: int
    column: int
    end_line: int
    end_column: int  # of the first character behind the part
    text: str


class ReplacingHint(str):
    """A hint that is followed by writing one text in place of another. A text that is made with it replaces nothing."""

    __slots__ = ("new", "old")
    old: str  # a key, a value, or one word of a value; '' for the whole value, whatever it says
    new: str | float  # a number or a boolean where the field takes no text

    def __new__(cls, hint: str, old: str, new: str | float) -> ReplacingHint:
        itself = super().__new__(cls, hint)
        itself.old, itself.new = old, new
        return itself

    def __reduce__(self) -> tuple[type[ReplacingHint], tuple[str, str, str | float]]:
        return ReplacingHint, (str(self), self.old, self.new)


def meant_name(word: str, name: str) -> ReplacingHint:
    """The question whether a name was meant by a word."""
    return ReplacingHint(f"did you mean '{name}'?", word, name)


def hint_behind(text: str, hint: str) -> str:
    """A hint behind other words, which replaces what the hint alone does."""
    return ReplacingHint(text + hint, hint.old, hint.new) if isinstance(hint, ReplacingHint) else text + hint


@runtime_checkable
class EditableSource(Source, Protocol):
    """A source that knows where its fields end, and how a text in them is replaced."""

    def locate_end(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column behind what `locate` finds; (0, 0): not known."""

    def edits(self, path: Path, old: str, new: str | float, *, key: bool = False) -> tuple[Edit, ...]:
        """The edit by which the value (or key) at `path`, or the one word `old` in it, says `new`; none where that is
        not sure, or not said there alone.
        """
