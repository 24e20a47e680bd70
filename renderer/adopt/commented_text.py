"""The text of objects with comments above their fields."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from renderer import yamlio
from renderer.adopt.playground import CommentedBody
from renderer.diagnostics import Path

_WIDTH = 110


def commented_text(bodies: Iterable[CommentedBody]) -> str:
    """The objects as YAML, one document each."""
    return "---\n".join(_document_text(commented) for commented in bodies)


def _document_text(commented: CommentedBody) -> str:
    text = yamlio.dump(commented.body)
    if not commented.comments:
        return text
    lines = text.split("\n")
    for line, comment in sorted(_places(text, commented.comments), reverse=True):
        indent = " " * (len(lines[line - 1]) - len(lines[line - 1].lstrip()))
        lines[line - 1 : line - 1] = [f"{indent}# {part}" for part in textwrap.wrap(comment, _WIDTH - len(indent))]
    return "\n".join(lines)


def _places(text: str, comments: Mapping[Path, str]) -> Iterable[tuple[int, str]]:
    """The line of each field that has a comment."""
    (document,), _ = yamlio.parse("", text.encode())
    return [(document.locate(path, key=True)[0], comment) for path, comment in comments.items()]
