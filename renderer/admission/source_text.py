"""Text of expressions: without their literals, what they read, and where in a file a place of theirs stands."""

from __future__ import annotations

import re
from typing import Final

from renderer.diagnostics import Path
from renderer.yamlio import Document

_LITERAL: Final = re.compile(
    r"""[rR]?(?:"{3}.*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//[^\n]*""", re.DOTALL
)
_PATH: Final = re.compile(r"(?<![\w.])object((?:\s*\.\s*[A-Za-z_]\w*)+)\s*(\(?)")


def without_literals(text: str) -> str:
    """The expression with spaces in the place of what is in its strings, and of its comments."""
    return _LITERAL.sub(lambda match: re.sub(r"[^\n\"']", " ", match[0]), text)


def read_paths(text: str) -> list[Path]:
    """The fields of the object that an expression names, in the order in which they stand there."""
    paths: list[Path] = []
    for match in _PATH.finditer(without_literals(text)):
        parts = re.findall(r"\w+", match[1])
        path = tuple(parts[:-1] if match[2] else parts)
        if path and path not in paths:
            paths.append(path)
    return paths


def place_in_file(document: Document, path: Path, text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column in the file of a place in the text of the scalar at `path`; where the scalar begins when its text
    is written with escapes.
    """
    start_line, start_column = document.locate(path)
    rows = document.data.decode("utf-8", "replace").splitlines()
    if not 0 < start_line <= len(rows):
        return start_line, start_column
    lines = text.split("\n")
    before = "".join(lines[: line - 1]) + lines[line - 1][: column - 1] if line <= len(lines) else text
    count = len(re.sub(r"\s", "", before))
    wanted = re.sub(r"\s", "", text)
    row, position = start_line - 1, start_column - 1
    if rows[row][position : position + 1] in ("|", ">"):
        row, position = row + 1, 0
    elif rows[row][position : position + 1] in ("'", '"'):
        position += 1
    seen = 0
    while row < len(rows):
        for index in range(position, len(rows[row])):
            character = rows[row][index]
            if character.isspace():
                continue
            if seen >= len(wanted) or character != wanted[seen]:
                return start_line, start_column
            if seen == count:
                return row + 1, index + 1
            seen += 1
        row, position = row + 1, 0
        if seen == len(wanted):
            break
    return start_line, start_column
