"""Finds files in the output folder of the later side that llmaz did not write and that Argo CD or Flux would sync."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec.structs import replace

from renderer import file_header
from renderer.api import Scope
from renderer.diagnostics import Diagnostic
from renderer.output import foreign_files, manifest_files
from renderer.source.commit import CommitTree


def report_foreign_files(scope: Scope, rendered: Iterable[str]) -> list[Diagnostic]:
    """An error for each foreign file. `rendered`: the paths that the inputs render to. Raises RenderError."""
    file_system = scope.options.file_system
    if not isinstance(file_system, CommitTree):
        scope = replace(scope, options=replace(scope.options, compare=True))
        return foreign_files.findings(scope, manifest_files.folder_state(scope, dict.fromkeys(rendered, "same")))
    committed, expected, is_allowed = (
        file_system.below(scope.folder),
        {*rendered},
        foreign_files.allowed_foreign(scope),
    )
    candidates = [
        path for path in committed if foreign_files.is_synced(path) and path not in expected and not is_allowed(path)
    ]
    charts = {os.path.dirname(path) for path in committed if os.path.basename(path) == "Chart.yaml"} - {""}
    regular = [
        path
        for path in candidates
        if committed[path].mode != "120000" and not any(path.startswith(f"{chart}/") for chart in charts)
    ]
    contents = file_system.contents([committed[path].path for path in regular])
    rendered_paths = {
        path for path, data in zip(regular, contents, strict=True) if file_header.source_of(data) is not None
    }
    foreign = [path for path in candidates if path not in rendered_paths]
    return foreign_files.findings(scope, manifest_files.OutputFolderState([], [], foreign, []))
