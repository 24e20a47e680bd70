"""The edits of the formats for programs, read and applied as a program does that knows only docs/errors.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote


class Change(NamedTuple):
    """A text in place of a part of a file."""

    file: str
    start: tuple[int, int]  # line and column
    end: tuple[int, int]
    text: str


def json_edits(output: str) -> list[tuple[dict[str, Any], list[Change]]]:
    """Each finding of `--format json` that has edits, with these."""
    return [
        (
            item,
            [
                Change(edit["file"], (edit["line"], edit["column"]), (edit["endLine"], edit["endColumn"]), edit["text"])
                for edit in item["edits"]
            ],
        )
        for item in json.loads(output)
        if "edits" in item
    ]


def sarif_edits(output: str) -> list[list[Change]]:
    """The edits of each result of `--format sarif` that has a fix."""
    (run,) = json.loads(output)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    fixes = [result["fixes"] for result in run["results"] if "fixes" in result]
    return [
        [
            Change(
                unquote(change["artifactLocation"]["uri"], errors="surrogateescape"),
                (region["startLine"], region["startColumn"]),
                (region["endLine"], region["endColumn"]),
                replacement["insertedContent"]["text"],
            )
            for change in fix["artifactChanges"]
            for replacement in change["replacements"]
            for region in [replacement["deletedRegion"]]
        ]
        for (fix,) in fixes
    ]


def changed_text(data: bytes, changes: Iterable[Change]) -> bytes:
    """The file with the edits, which must not overlap."""
    text = data.decode()
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    starts = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
    before = len(text) + 1
    for change in sorted(set(changes), reverse=True):
        start, end = (starts[line - 1] + column - 1 for line, column in (change.start, change.end))
        assert start <= end <= before, change
        text, before = text[:start] + change.text + text[end:], start
    return f"{mark}{text}".encode()


def apply_changes(folder: Path, changes: Iterable[Change]) -> None:
    """Edits the files below a folder."""
    changes = list(changes)
    for file in sorted({change.file for change in changes}):
        path = folder / file
        path.write_bytes(changed_text(path.read_bytes(), [change for change in changes if change.file == file]))
