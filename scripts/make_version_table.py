#!/usr/bin/env python3
"""Prints what a release changes in your manifests, for docs/versions.md: `scripts/make_version_table.py OLD NEW`.

OLD and NEW are tags or commits. The examples of OLD are rendered by the renderers of both, and the difference is that
of `llmaz diff`, in the checkout that runs this. Objects with the same difference share a row.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import yaml
from msgspec import Struct

from renderer.diff.comparison import ObjectChange, TreeDiff, compare
from renderer.diff.wording import format_sides, shorten
from renderer.output.manifest_files import OutputFile

ROOT = Path(__file__).resolve().parent.parent
RENDERER = ("renderer", "presets")
RESTARTING = ("restart", "renamed", "replaced", "roles", "lost-requests")
"""Kinds of risks that mean new pods."""
POD = r"^.*(?:[tT]emplate|\])\.spec\.(?=(?:initContainers|containers|volumes)\b)"
"""Where the pod of a workload stands in it."""
MOST_FIELDS, MOST_TEXT = 6, 60


class Rendering(Struct, frozen=True):
    """What a renderer makes of an example."""

    files: dict[str, list[OutputFile]]  # by environment, '' without any
    refusal: str = ""  # its first error


class Row(Struct, frozen=True, order=True):
    """What changes in an object of an example."""

    kind: str
    change: str
    risks: str
    restarts: bool
    example: str
    place: str


def extract(repository: Path, commit: str, paths: Sequence[str], folder: Path) -> None:
    """Writes these folders of a commit into a folder. Raises SystemExit where git has no such commit or folder."""
    command = ["git", "-C", str(repository), "archive", "--end-of-options", commit, *paths]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"make_version_table.py: {commit}: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def render(renderer: Path, example: Path, output: Path) -> Rendering:
    """What the renderer in a folder makes of an example."""
    command = [sys.executable, "-P", "-m", "renderer", "render", "-o", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(renderer)}
    done = subprocess.run(command, cwd=example, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = re.findall(r"^(?!.*: warning: ).* \[E\d{3}\]$", done.stderr, re.MULTILINE)
        return Rendering({}, (errors or done.stderr.splitlines()[-1:] or [f"exit code {done.returncode}"])[0])
    return Rendering({name: files_below(output / name) for name in environments(example)})


def environments(example: Path) -> list[str]:
    """The names of an example's environments, '' alone without any."""
    config = example / "llmaz.yaml"
    spec = yaml.safe_load(config.read_text("utf-8")).get("spec") if config.exists() else None
    return list((spec or {}).get("environments") or [""])


def files_below(folder: Path) -> list[OutputFile]:
    """The rendered files in a folder."""
    paths = sorted(folder.rglob("*.yaml"))
    return [OutputFile(path.relative_to(folder).as_posix(), path.read_text("utf-8")) for path in paths]


def rows(example: str, older: Rendering, newer: Rendering) -> Iterator[Row]:
    """What differs between what two renderers make of an example."""
    if newer.refusal:
        yield Row("", f"is refused: {code(newer.refusal)}", "", False, example, "")
        return
    for name in sorted({*older.files, *newer.files}):
        diff = compare(older.files.get(name, []), newer.files.get(name, []))
        for change in diff.objects:
            yield object_row(f"{example} ({name})" if name else example, diff, change)


def object_row(example: str, diff: TreeDiff, change: ObjectChange) -> Row:
    """The row of one object."""
    risks = [risk for risk in diff.risks if risk.key == change.key]
    titles = ", ".join(dict.fromkeys(risk.title for risk in risks))
    restarts = any(risk.kind in RESTARTING for risk in risks)
    return Row(change.key.kind, describe(change), titles, restarts, example, change.key.place)


def describe(change: ObjectChange) -> str:
    """What changes in an object, without the places of items in lists, which differ between objects."""
    if change.state != "changed":
        return {"moved": "is in another file"}.get(change.state, f"is {change.state}")
    lines = []
    for field in change.changes:
        before, after = (shorten(text, MOST_TEXT) for text in format_sides(field))
        sides = [code(text) if text else "none" for text in (before, after)]
        path = re.sub(r"\[\d+\]", "[]", field.field)
        lines.append(f"{code(re.sub(POD, '', path))}: {' → '.join(sides)}")
    lines = list(dict.fromkeys(lines))
    more = [f"and {len(lines) - MOST_FIELDS} fields more"] if len(lines) > MOST_FIELDS else []
    return "<br>".join([*lines[:MOST_FIELDS], *more])


def code(text: str) -> str:
    """Code in the cell of a table; the text is of our own examples."""
    return "`" + text.replace("`", "'").replace("|", "¦") + "`"


def table(all_rows: Iterable[Row], count: int) -> str:
    """The table in Markdown. `count`: of the examples that were rendered."""
    grouped: dict[tuple[str, str, str], list[Row]] = {}
    for row in sorted(all_rows):
        grouped.setdefault((row.kind, row.change, row.risks), []).append(row)
    if not grouped:
        return f"Nothing changes in what the {count} examples render to."
    lines = ["| object | what changes | risk | in examples |", "|---|---|---|---|"]
    for (kind, change, risks), same_rows in grouped.items():
        examples = ", ".join(dict.fromkeys(row.example for row in same_rows))
        lines.append(f"| {kind or 'input'} | {change} | {risks or '–'} | {examples} |")
    pods: dict[str, list[str]] = {}
    for row in (row for same_rows in grouped.values() for row in same_rows if row.restarts):
        pods.setdefault(row.example, []).append(f"`{row.place}`")
    restarts = "; ".join(f"{example}: {', '.join(sorted(set(places)))}" for example, places in sorted(pods.items()))
    lines += ["", f"Pods that restart: {restarts}." if restarts else "No pod restarts."]
    return "\n".join(lines)


def make_table(repository: Path, old: str, new: str) -> str:
    """The table of what changes from one commit to another. Raises SystemExit where there is no such commit, or the
    older one does not render its own examples.
    """
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        extract(repository, old, [*RENDERER, "examples"], work / "old")
        extract(repository, new, RENDERER, work / "new")
        all_rows: list[Row] = []
        examples = sorted(path for path in (work / "old" / "examples").iterdir() if path.is_dir())
        for example in examples:
            older, newer = (
                render(work / side, example, work / "rendered" / side / example.name) for side in ("old", "new")
            )
            if older.refusal:
                raise SystemExit(f"make_version_table.py: {old} does not render {example.name}: {older.refusal}")
            all_rows += rows(example.name, older, newer)
        return table(all_rows, len(examples))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", help="the tag or commit of the older release")
    parser.add_argument("new", help="the tag or commit of the newer one")
    parser.add_argument(
        "--repository", type=Path, default=ROOT, help="the folder of the repository (default: this one)"
    )
    arguments = parser.parse_args()
    print(make_table(arguments.repository, arguments.old, arguments.new))


if __name__ == "__main__":
    main()
