"""Writes an upgrade into the user's files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from renderer.check import reporting_write_errors
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic
from renderer.output.folder_writer import write_file
from renderer.source import git, tree
from renderer.source.commit import commit_tree
from renderer.source.paths import git_root
from renderer.upgrade.engine_upgrade import EngineUpgrade


def write_upgrade(upgrade: EngineUpgrade, *, force: bool) -> list[str]:
    """Writes versions and edits, each file at once; the names of the files. `force`: also those with changes that are
    not committed. Raises RenderError, before anything is written for a file that must not be.
    """
    names = sorted(upgrade.contents)
    for name in names:
        tree.refuse_links(name)
    problems = [*_read_only(names), *(() if force else _uncommitted(names))]
    if problems:
        raise RenderError(problems)
    for name in names:
        with reporting_write_errors(name):
            write_file(name, upgrade.contents[name].decode("utf-8"), os.stat(name).st_mode & 0o777)
    return names


def _read_only(names: list[str]) -> Iterator[Diagnostic]:
    for name in names:
        if not os.access(name, os.W_OK):
            yield make_diagnostic("E140", Origin(NamedSource(name)), what="it is read-only")


def _uncommitted(names: list[str]) -> Iterator[Diagnostic]:
    """An error for each file in a repository that is not as its commit has it."""
    by_top: dict[str, list[str]] = {}
    for name in names:
        if top := git_root(os.path.dirname(os.path.abspath(name))):
            by_top.setdefault(top, []).append(name)
    for top, files in by_top.items():
        entries = commit_tree(top, git.commit(top, "HEAD")).entries
        for name in files:
            entry = entries.get(os.path.relpath(os.path.realpath(name), top).replace(os.sep, "/"))
            if entry is None or not _is_committed(name, entry.blob):
                yield make_diagnostic("E715", Origin(NamedSource(name)))


def _is_committed(name: str, blob: str) -> bool:
    """Whether a file has the contents of that name, its line ends aside, which a checkout may change."""
    with open(name, "rb") as file:
        data = file.read()
    known: Mapping[str, bytes] = git.data_by_blob({data, data.replace(b"\r\n", b"\n")}, len(blob))
    return blob in known
