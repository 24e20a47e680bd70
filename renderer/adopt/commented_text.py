"""The YAML of an object with comments above some of its fields."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from renderer import yamlio
from renderer.diagnostics import Path
from renderer.text import escapes

_WIDTH = 110


def commented_text(body: Mapping[str, object], comments: Mapping[Path, str]) -> str:
    """The object as YAML, each comment in a line of its own above the field at its path, or above what that is in."""
    text = yamlio.dump(body)
    if not comments:
        return text
    lines, (documents, _) = text.split("\n"), yamlio.parse("", text.encode())
    places: dict[int, list[str]] = {}
    for path, comment in comments.items():
        line, _ = documents[0].locate(path, key=isinstance(path[-1], str))
        places.setdefault(line, []).append(comment)
    for line in sorted(places, reverse=True):
        indent = " " * (len(lines[line - 1]) - len(lines[line - 1].lstrip(" ")))
        lines[line - 1 : line - 1] = [
            f"{indent}# {part}"
            for comment in places[line]
            for part in textwrap.wrap(escapes.line(comment), _WIDTH - len(indent))
        ]
    return "\n".join(lines)
