"""Files of others, links and charts in the output folder where files of ours are to be."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from renderer.api import Scope
from renderer.diagnostics import Diagnostic, Origin, RenderError, make_diagnostic
from renderer.output.file_header import MARK
from renderer.output.folder_writer import OutputFolder
from renderer.source.tree import InputFile


def find_blocking_files(scope: Scope, states: Mapping[str, str]) -> list[Diagnostic]:
    """An error for each path that a file of ours needs and a foreign file or link occupies."""
    blocking = {_blocking_path(scope.folder, path) for path, state in states.items() if state == "foreign"}
    return [
        make_diagnostic("E144" if os.path.islink(path) else "E141", Origin(InputFile(path, "", "")))
        for path in sorted(blocking)
    ]


def find_chart(scope: Scope) -> list[Diagnostic]:
    """An error where plain manifests would be written into a Helm chart that we rendered."""
    chart = _chart_folder(scope.folder) if scope.options.compares else ""
    return [make_diagnostic("E743", Origin(InputFile(scope.folder, "", "")), folder=chart)] if chart else []


def _chart_folder(folder: str) -> str:
    """The nearest folder, this one or above it, with a chart that we rendered; '' where there is none."""
    while folder:
        with suppress(OSError):
            if OutputFolder(folder).read_start("Chart.yaml", len(MARK)) == MARK.encode():
                return folder
        folder = os.path.dirname(folder)
    return ""


def _blocking_path(folder: str, path: str) -> str:
    """The first prefix of a path that is not a folder, or is a link below the output folder; else the path itself."""
    full_path = f"{folder}/{path}"
    for end in (i for i, character in enumerate(full_path) if character == "/" and i):
        prefix = full_path[:end]
        if (end > len(folder) and os.path.islink(prefix)) or (os.path.lexists(prefix) and not os.path.isdir(prefix)):
            return prefix
    return full_path


@contextmanager
def reporting_write_errors(folder: str) -> Iterator[None]:
    """Turns an OSError within into a RenderError with a diagnostic."""
    try:
        yield
    except OSError as error:
        raise RenderError(
            [make_diagnostic("E140", Origin(InputFile(error.filename or folder, "", "")), what=error.strerror or error)]
        ) from None
