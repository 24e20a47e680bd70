"""Tables for a terminal, and what stands in their cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from renderer.text import escapes


class Column(Struct, frozen=True):
    """A column of a table."""

    head: str
    spare: bool = False  # it is left out if all its cells are empty


def shown_columns(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """The indices of the columns that are not left out of a table with these rows."""
    return [i for i, column in enumerate(columns) if not column.spare or any(row[i] for row in rows)]


def align_columns(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """The rows, each with as many cells, one a line, with columns as wide as their widest cell. `right`: the columns
    whose cells end at one place, as numbers do.
    """
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return "".join(_align_row(row, widths, right) for row in rows)


def _align_row(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    blanks = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
    cells = [
        blank + cell if i in right else cell + blank for i, (cell, blank) in enumerate(zip(row, blanks, strict=True))
    ]
    return "  ".join(cells).rstrip() + "\n"


def _width(text: str) -> int:
    """Columns of a terminal: East Asian letters take two, accents of their own none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def shorten(text: str, most: int) -> str:
    """The text on one line, with `…` for what is more than that many characters."""
    shown = text if text.isprintable() and text == text.strip() else escapes.json_text(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def number_range(low: int, high: int) -> str:
    """`2`, or `1–4` where they differ."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def gpu_unit(count: int, is_part: bool) -> str:
    """The word behind a number of cards, or of parts of cards."""
    if is_part:
        return "part of a GPU" if count == 1 else "parts of GPUs"
    return "GPU" if count == 1 else "GPUs"
