"""The folder into which adopted files are written: a new or an empty one."""

from __future__ import annotations

import os
from collections.abc import Mapping

from renderer.diagnostics import Origin, RenderError, make_diagnostic
from renderer.diagnostics.rule import NamedSource
from renderer.scaffold.writer import write as write_files_once


def require_empty(folder: str) -> None:
    """Raises RenderError for a folder that has files, and for a file."""
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise RenderError([make_diagnostic("E954", Origin(NamedSource(folder)))])


def write_files(folder: str, files: Mapping[str, str]) -> None:
    """Writes all files, or none of them. Raises RenderError."""
    write_files_once(folder, files)
