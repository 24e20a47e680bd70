"""Text of expressions: without their literals, what they read, and where in a file a place of theirs stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from renderer.diagnostics import Path
from renderer.yamlio import Document

_LITERAL: Final = re.compile(
    r"""(?:[rR][bB]?|[bB][rR])(?:"{3}.*?"{3}|'{3}.*?'{3}|"[^"\n]*"|'[^'\n]*')"""  # raw ones, without escapes
    r"""|"{3}.*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//[^\n]*""",
    re.DOTALL,
)
_ROOT: Final = r"(?<![\w.\])}])\.?\s*"  # stands before the name of a variable
_PATH: Final = re.compile(_ROOT + r"object((?:\s*\.\s*[A-Za-z_]\w*)+)\s*(\(?)")
_VARIABLE: Final = re.compile(_ROOT + r"variables\s*\.\s*(\w+)")


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


def read_variables(text: str) -> list[str]:
    """The variables of the policy that an expression names, in the order in which they stand there."""
    return _VARIABLE.findall(without_literals(text))


def place_in_file(document: Document, path: Path, text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column in the file of a place in the text of the scalar at `path`; where the scalar begins when it is
    written in a way that does not tell.
    """
    start = document.locate(path)
    rows = document.data.decode("utf-8", "replace").splitlines()
    if not 0 < start[0] <= len(rows):
        return start
    lines = text.split("\n")
    before = "".join([*lines[: line - 1], lines[line - 1][: column - 1]])
    written = re.sub(r"\s", "", text)
    count = len(re.sub(r"\s", "", before))
    last = start
    for index, (row, position, character) in enumerate(_characters(rows, start[0] - 1, start[1] - 1)):
        if index == len(written):
            break
        if character != written[index]:
            return start
        last = row + 1, position + 1
        if index == count:
            return last
    return last[0], last[1] + 1


def _characters(rows: list[str], row: int, column: int) -> Iterator[tuple[int, int, str]]:
    """The characters of the scalar that begins there, white space left out, each with row and column from 0."""
    quote = rows[row][column : column + 1]
    if quote in ("|", ">"):
        row, column = row + 1, 0
    elif quote in ("'", '"'):
        column += 1
    while row < len(rows):
        text = rows[row]
        while column < len(text):
            if (quote == "'" and text.startswith("''", column)) or (quote == '"' and text[column] == "\\"):
                column += 1  # the second one is what is meant
            if not text[column : column + 1].isspace():
                yield row, column, text[column : column + 1]
            column += 1
        row, column = row + 1, 0
