"""Compares, writes and prunes the folder of a chart, as for plain manifests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from renderer import check, load, pipeline
from renderer.api import RenderOptions, Scope
from renderer.diagnostics import Diagnostic, LineOf, NamedSource, Origin, has_errors, make_diagnostic, read_error
from renderer.integrations.helm.files import SCHEMA, SCHEMA_MARK, files
from renderer.integrations.helm.installed_files import IGNORE_FILE, hidden_files, ignore_rules, is_installed
from renderer.output import foreign_files, leftover_files, manifest_files, submodules
from renderer.output.folder_writer import OutputFolder
from renderer.output.leftover_files import OutputFolderState
from renderer.output.manifest_files import OutputFile
from renderer.result import Changes, RenderResult
from renderer.source.paths import MAX_BYTES
from renderer.text import escapes

FOLDER = "chart"


def render(options: RenderOptions) -> RenderResult:
    """Renders all input as a chart, checks it, and compares it with the folder; `pipeline.write` writes it. Raises
    RenderError.
    """
    if options.output is None:
        base, _ = options.file_system.base_of(options.paths)
        options = replace(options, output=os.path.relpath(os.path.join(base, FOLDER)))
    scope = load.scope(options)
    result = pipeline.render(replace(options, texts=True, compare=False, write=False))
    chart_files, problems = files(result.texts, scope.config)
    output = OutputFolder(scope.folder)
    states = dict(_compare(output, chart_files))
    folder_state = _folder_state(scope, output, states)
    removed = [path for path in folder_state.stale if path.startswith("templates/")]
    problems += [
        *result.problems,
        *_left_out_errors(scope, result),
        *_check_other_files(scope, output, folder_state.stale, removed),
    ]
    problems += [*check.find_blocking_files(scope, states), *leftover_files.findings(scope, folder_state)]
    problems += _hidden_templates(scope, output, states)
    if options.compare and not options.write:
        problems += submodules.findings([scope])
    changed = [text for text in chart_files if states[text.path] != "same"]
    writes = options.write and not has_errors(problems, options.strict)
    return replace(
        result,
        folder=scope.folder,
        problems=problems,
        states=states | dict.fromkeys(removed, "gone"),
        texts=chart_files,
        skipped_shared=[],
        changes=[Changes(scope.folder, changed, [*removed, *folder_state.temporary])] if writes else [],
    )


def _folder_state(scope: Scope, output: OutputFolder, states: Mapping[str, str]) -> OutputFolderState:
    """The other files of the chart's folder; foreign are those that Helm installs. What a killed run left behind is one
    of them too, if Helm could make an object of it and this run does not delete it.
    """
    state = leftover_files.folder_state(
        replace(scope, pruned_paths=()), states, acts=lambda path: is_installed(path) or foreign_files.is_synced(path)
    )
    foreign = [path for path in state.foreign if is_installed(path)]
    if not scope.options.write:
        is_allowed = foreign_files.allowed_foreign(scope)
        left = (path for path in state.temporary if is_installed(path) and not is_allowed(path))
        foreign += [path for path in left if _may_make_object(output, path)]
    return replace(state, foreign=sorted(foreign))


def _may_make_object(output: OutputFolder, path: str) -> bool:
    """Whether a file holds more than a scalar: a key, or an action of a template."""
    try:
        data = output.read_start(path, MAX_BYTES)
    except OSError:
        return True
    return b":" in data or b"{{" in data


def _hidden_templates(scope: Scope, output: OutputFolder, paths: Iterable[str]) -> list[Diagnostic]:
    """A problem if `.helmignore` hides files of ours from Helm, unless `output.foreign` allows it; a warning in a run
    that writes.
    """
    try:
        text = output.read_start(IGNORE_FILE, MAX_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        return [read_error(f"{scope.folder}/{IGNORE_FILE}", error)]
    if foreign_files.allowed_foreign(scope)(IGNORE_FILE):
        return []
    rule, path = next(hidden_files(ignore_rules(text), sorted(paths)), (None, ""))
    if not rule:
        return []
    place = LineOf(f"{scope.folder}/{IGNORE_FILE}", rule.line)
    code = "W860" if scope.options.write else "E860"
    return [make_diagnostic(code, Origin(place), rule=rule.text, file=path)]


def _compare(output: OutputFolder, chart_files: list[OutputFile]) -> list[tuple[str, str]]:
    """Path and state on disk of each file. The schema is JSON, so its header line is the value of a key."""
    states = manifest_files.compare(output, chart_files)
    return [
        (path, "changed" if state == "foreign" and _is_our_schema(output, path) else state) for path, state in states
    ]


def _is_our_schema(output: OutputFolder, path: str) -> bool:
    if path != SCHEMA:
        return False
    mark = SCHEMA_MARK.encode()
    try:
        return output.read_start(path, len(mark)) == mark
    except OSError:
        return False


def _left_out_errors(scope: Scope, result: RenderResult) -> list[Diagnostic]:
    """An error if PATHS leave out files that the chart needs."""
    files = ", ".join(result.skipped_shared)
    return [make_diagnostic("E740", Origin(NamedSource(scope.folder)), files=files)] if files else []


def _check_other_files(scope: Scope, output: OutputFolder, paths: list[str], removed: list[str]) -> list[Diagnostic]:
    """Errors for our files that this run must not delete: plain manifests, and templates of input outside PATHS."""
    origin = Origin(NamedSource(scope.folder))
    if others := [path for path in paths if path not in removed]:
        return [make_diagnostic("E742", origin, file=others[0])]
    prefixes = tuple(f"{path}/" for path in scope.pruned_paths)
    for path in removed if prefixes else ():
        source = escapes.from_go_template(leftover_files.source(output, path) or "")
        if source not in scope.pruned_paths and not source.startswith(prefixes):
            return [make_diagnostic("E741", origin, file=path, source=source)]
    return []
