"""The earlier side of a difference: the rendered files that a commit holds, or those that its inputs render to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, pipeline, resolve
from renderer.api import Inputs, ItemKey, RenderOptions, Scope
from renderer.diagnostics import Diagnostic, RenderError
from renderer.diff import reuse
from renderer.diff.charts import Chart, find_chart
from renderer.diff.output_folders import Side
from renderer.fleet.figures import has_prices, workload_figures
from renderer.fleet.rows import item_rows
from renderer.output.file_header import MARK, source_of
from renderer.output.manifest_files import OutputFile
from renderer.plan import Figures, WorkloadFigures
from renderer.result import RenderResult
from renderer.source import git
from renderer.source.commit import CommitTree

_NOTES = 10  # errors of a base that are shown; the rest is counted


class BaseFiles(Struct, frozen=True):
    """The rendered files of a commit."""

    files: list[OutputFile] = []
    notes: list[str] = []
    figures: Figures = {}  # of its workloads


class BaseRevision:
    """A commit that is compared with, and the ways to get its rendered files."""

    def __init__(
        self, file_system: CommitTree, side: Side, options: RenderOptions | None, name: str, form: str
    ) -> None:
        self._file_system, self._side = file_system, side
        self._options = options  # for rendering the commit, None if it has none of the paths
        self._name = name  # of the commit in messages
        # 'rendered' takes the rendered files that the commit holds, 'inputs' renders it, '' takes rendered files if
        # there are any, else renders.
        self._form = form
        self._inputs: reuse.BaseInputs | None = None
        self._parsed_files: reuse.ParsedFiles = {}  # of the later side
        self._scope: Scope | None = None

    def expect_contents(self, inputs: Inputs, parsed_files: reuse.ParsedFiles | None = None) -> None:
        """Tells the tree which contents the later side has read, since most files are the same here."""
        documents = (app.document.data for app in (*inputs.apps, *inputs.definitions, *inputs.traffic))
        self._file_system.keep_known([file.data for file in (parsed_files or {}).values()] or set(documents))

    def find_unchanged(self, inputs: Inputs, parsed_files: reuse.ParsedFiles) -> Set[ItemKey]:
        """The items of the later side that render to the same files on this side, and so need no comparison.

        `parsed_files`: those of the later side.
        """
        self.expect_contents(inputs, parsed_files)
        self._parsed_files = parsed_files
        try:
            if not self._options or self._committed:
                return frozenset()
            folder, (scope, *others) = load.scopes(self._options, self._scope)
            if others:
                return frozenset()
            self._inputs = reuse.read_base(folder, scope, inputs, parsed_files)
        except git.GitError:
            raise
        except RenderError:  # reported when this side is rendered
            return frozenset()
        return self._inputs.unchanged

    def output_files(self, later_texts: Sequence[OutputFile], later: RenderResult | None) -> BaseFiles:
        """The rendered files of this side, and notes.

        `later_texts`: the files of the later side; `later`: the later side's result, None if it has errors.
        """
        later_paths = {text.path for text in later_texts}
        if not self._options:
            return BaseFiles()
        if self._committed:
            scope, files, chart = self._committed
            notes: list[str] = []
            if chart:
                files, notes = chart.manifests(later_paths)
            files = [file for file in files if file.path in later_paths or _is_made_from(file, scope.pruned_paths)]
            return BaseFiles(files, notes, self._plan_figures(scope, files, later_texts, later))
        if self._form == "rendered":
            return BaseFiles(notes=[f"{self._name} holds no rendered files, so everything counts as added"])
        return self._render(self._options, f"base {self._name}", later)

    def _plan_figures(
        self, scope: Scope, files: Iterable[OutputFile], later_texts: Iterable[OutputFile], later: RenderResult | None
    ) -> Figures:
        """What is known of the workloads of those files of the commit that differ from the later side, as far as it
        follows from their inputs. Where these are the same, another llmaz rendered the files: then nobody knows.
        """
        texts = dict(later_texts) if later and later.figures else {}
        sources = {_source(file) for file in files if texts and texts.get(file.path) != file.text}
        if not later or not sources:
            return {}
        try:
            inputs = reuse.read_base(scope.folder, scope, later.inputs, self._parsed_files)
        except git.GitError:
            raise
        except RenderError:  # the commit has settings that nobody can read
            return {}
        apps = (app for app in inputs.inputs.apps if app.file in sources and app.key not in inputs.unchanged)
        context = resolve.run_context(inputs.inputs, strict=False, tells_all=False)
        counts = has_prices(inputs.inputs.config) or scope.options.counts_fleet
        figures = dict[tuple[str, str], WorkloadFigures]()
        for app in apps:
            plans, _ = resolve.plan(context, app)
            figures |= workload_figures(plans, item_rows(context, app, plans) if counts else ())
        return figures

    def _render(self, options: RenderOptions, name: str, later: RenderResult | None) -> BaseFiles:
        """The files that the valid inputs render to, and notes about the others."""
        options = replace(options, texts=True)
        try:
            if later and self._inputs:
                rendered = reuse.render_base(self._inputs, options, later)
            else:
                rendered = pipeline.render(options)
        except git.GitError:
            raise
        except RenderError as error:
            first = f"{name} cannot be rendered, so everything counts as added"
            return BaseFiles(notes=[first, *_error_lines(error.problems)])
        errors = [problem for problem in rendered.problems if problem.forbids()]
        first = f"{name} has errors, and what is wrong there counts as added"
        return BaseFiles(rendered.texts, [first, *_error_lines(errors)] if errors else [], rendered.figures)

    @cached_property
    def _committed(self) -> tuple[Scope, list[OutputFile], Chart | None] | None:
        """The scope and the rendered files that the commit holds in its output folder, or the chart of ours there or
        beside it; None without any.
        """
        if not self._options or self._form == "inputs":
            return None
        try:
            scope = self._scope = load.scope(self._options)
        except git.GitError:
            raise
        except RenderError:
            return None
        chart = find_chart(self._side, scope.options.env, scope.folder)
        if chart and chart.contents.folder == scope.folder:
            return scope, [], chart
        entries = {
            path: entry
            for path, entry in self._file_system.below(scope.folder).items()
            if entry.mode != "120000" and path.endswith((".yaml", ".yml", ".json"))
        }
        contents = self._file_system.contents([entry.path for entry in entries.values()])
        mark = MARK.encode()
        rendered_files = [(path, data) for path, data in zip(entries, contents, strict=True) if data.startswith(mark)]
        texts = [
            OutputFile(path, data.decode("utf-8", "replace").replace("\r\n", "\n")) for path, data in rendered_files
        ]
        return (scope, texts, None if rendered_files else chart) if rendered_files or chart else None


def _is_made_from(file: OutputFile, pruned_paths: Sequence[str]) -> bool:
    """Whether the header of a rendered file names an input below these paths; always true without paths."""
    source = _source(file)
    return not pruned_paths or any(source == path or source.startswith(f"{path}/") for path in pruned_paths)


def _source(file: OutputFile) -> str:
    """The input that the header of a rendered file names."""
    return source_of(file.text.partition("\n")[0].encode()) or ""


def _error_lines(problems: Iterable[Diagnostic]) -> list[str]:
    lines = [str(problem).partition("\n")[0] for problem in sorted(set(problems)) if problem.forbids()]
    return lines[:_NOTES] + ([f"and {len(lines) - _NOTES} more errors"] if len(lines) > _NOTES else [])
