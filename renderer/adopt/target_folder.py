"""The folder into which adopted files are written: a new or an empty one."""

from __future__ import annotations

import os
from collections.abc import Mapping

from renderer.diagnostics import NamedSource, Origin, RenderError, make_diagnostic
from renderer.scaffold.writer import write as write_files_once


def require_empty(folder: str) -> None:
    """Raises RenderError for a folder that has files, and for what is not a folder."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise RenderError([make_diagnostic("E954", Origin(NamedSource(folder)), what="this is not a folder")])
    if os.path.isdir(folder) and os.listdir(folder):
        raise RenderError([make_diagnostic("E954", Origin(NamedSource(folder)), what="the folder already has files")])


def write_files(folder: str, files: Mapping[str, str]) -> None:
    """Writes all files, or none of them. Raises RenderError; ValueError for a path that leads out of the folder."""
    if outside := [path for path in files if os.path.normpath(path).startswith((os.pardir, os.sep))]:
        raise ValueError(f"a path outside the folder: {outside[0]}")
    write_files_once(folder, files)
