"""The charts in a folder, as `helm pull` and `helm pull --untar` put them there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from renderer import yamlio
from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic
from renderer.kubernetes.json_values import text_at
from renderer.source.paths import is_inside, read_file_inside

_ARCHIVE = ".tgz"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class LocalChart(Struct, frozen=True):
    """A chart that lies in a folder."""

    path: str  # of its folder or archive
    version: str

    def links_out(self, folder: str) -> Iterator[Diagnostic]:
        """An error for each of its links that leads out of the folder of charts."""
        root = os.path.realpath(folder)
        for path in sorted(chart_entries(self.path, folder)):
            if os.path.islink(path) and not is_inside(target := os.path.realpath(path), root):
                yield make_diagnostic("E121", Origin(NamedSource(path)), target=target)


def chart_entries(path: str, folder: str) -> Iterator[str]:
    """The files and folders of a chart. Helm follows links to folders: those that stay in the folder of charts are
    walked, too, each once.
    """
    yield path
    root, visited = os.path.realpath(folder), set[str]()
    for parent, folders, files in os.walk(path, followlinks=True):
        visited.add(os.path.realpath(parent))
        yield from (os.path.join(parent, name) for name in (*folders, *files))
        targets = {name: os.path.realpath(os.path.join(parent, name)) for name in folders}
        folders[:] = [name for name in folders if is_inside(targets[name], root) and targets[name] not in visited]


def locate_chart(name: str, version: str, folder: str) -> LocalChart | None:
    """The chart of that name: the folder `NAME`, the archive `NAME-VERSION.tgz`, or the only archive of that name; None
    without one.
    """
    if not _NAME.fullmatch(name):
        return None
    path = os.path.join(folder, name)
    if os.path.isfile(os.path.join(path, "Chart.yaml")):
        return LocalChart(path, _version(folder, os.path.join(path, "Chart.yaml")))
    versions = {
        entry: entry[len(name) + 1 : -len(_ARCHIVE)] for entry in os.listdir(folder) if _is_archive(entry, name)
    }
    exact = {entry for entry, own_version in versions.items() if own_version.lstrip("v") == version.lstrip("v")}
    entries = [*(exact or versions)]
    return LocalChart(os.path.join(folder, entries[0]), versions[entries[0]]) if len(entries) == 1 else None


def _is_archive(entry: str, name: str) -> bool:
    """Whether a file is called as an archive of the chart `name`, and not of one whose name is longer."""
    version = entry.removeprefix(f"{name}-").removeprefix("v")
    return entry.startswith(f"{name}-") and entry.endswith(_ARCHIVE) and version[:1].isdigit()


def _version(folder: str, path: str) -> str:
    """The version in a Chart.yaml; '' where it cannot be read."""
    try:
        documents, _ = yamlio.parse(path, read_file_inside(folder, path))
    except OSError:
        return ""
    return text_at(documents[0].value, "version") if documents else ""
