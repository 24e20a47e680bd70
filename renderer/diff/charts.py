"""Charts that `llmaz render --to helm` wrote and a commit or the work tree holds: compared and judged without Helm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from renderer import yamlio
from renderer.diagnostics import Diagnostic, LineOf, Origin, make_diagnostic
from renderer.diff.fields import same
from renderer.diff.folder_contents import FolderContents
from renderer.diff.objects import items
from renderer.diff.output_folders import OUTPUT_FOREIGN, LaterRun, Side
from renderer.integrations.helm.files import template_paths
from renderer.integrations.helm.installed_files import IGNORE_FILE, hidden_files, ignore_rules, is_installed
from renderer.integrations.helm.undo import NotComparable, undo
from renderer.kubernetes.json_values import as_map
from renderer.output.file_header import MARK
from renderer.output.foreign_files import foreign_file
from renderer.output.manifest_files import OutputFile
from renderer.source.tree import InputFile

_CHART, _VALUES = "Chart.yaml", "values.yaml"
_MARK = MARK.encode()
_OWN_KEYS = {"apiVersion", "name", "description", "type", "version"}  # of Chart.yaml, as it is written


class Chart:
    """A folder that may hold a chart of ours."""

    def __init__(self, contents: FolderContents) -> None:
        self.contents = contents

    @property
    def is_ours(self) -> bool:
        """Whether we wrote its Chart.yaml."""
        data = self.contents.read([_CHART])[0]
        return data is not None and data.startswith(_MARK)

    @cached_property
    def installed(self) -> Sequence[str]:
        """The paths of all that Helm installs of it, what others wrote too."""
        return [file.path for file in self.contents.files if is_installed(file.path)]

    def is_written(self, path: str) -> bool:
        """Whether a template begins with our first line."""
        return path.startswith("templates/") and self.contents.source(path) is not None

    @cached_property
    def values(self) -> object:
        """Its default values; None for what is not YAML."""
        return _document(self.contents.read([_VALUES])[0])

    def undone(self, path: str) -> str:
        """A template with its actions undone. Raises NotComparable."""
        data = self.contents.read([path])[0] or b""
        return undo(data.decode("utf-8", "replace").replace("\r\n", "\n"), self.values)

    def manifests(self, rendered: Iterable[str]) -> tuple[list[OutputFile], list[str]]:
        """The rendered files that the chart was made from, by the paths of `rendered` where one of them has the same
        template; and notes about what cannot be compared.
        """
        sources = {template: path for path, template in template_paths(rendered).items()}
        files, notes = [], []
        self.contents.read(self.installed)
        for path in self.installed:
            if not self.is_written(path):
                notes.append(_not_compared(self.contents.folder, path, "llmaz did not write it"))
                continue
            try:
                text = self.undone(path)
            except NotComparable as error:
                notes.append(_not_compared(self.contents.folder, path, f"line {error.line} has {error}"))
            else:
                files.append(OutputFile(sources.get(path) or path.removeprefix("templates/"), text))
        return files, notes


def _not_compared(folder: str, path: str, why: str) -> str:
    return f"{folder}/{path} is not compared: {why}"


def _document(data: bytes | None) -> object:
    documents, problems = yamlio.parse("", data or b"")
    return documents[0].value if documents and not problems else None


def find_chart(side: Side, environment: str, folder: str) -> Chart | None:
    """The chart of ours that a side holds, in place of the rendered files in `folder`, or beside them."""
    beside = f"{side.settings.chart}/{environment}" if environment else side.settings.chart
    charts = (Chart(FolderContents(side.file_system, path)) for path in (folder, beside))
    return next((chart for chart in charts if chart.is_ours), None)


def chart_roots(base: Side, later: Side) -> list[str]:
    """The folders of charts of both sides in which either side holds one of ours."""
    names = dict.fromkeys([*base.settings.environments, *later.settings.environments])
    return [
        root
        for root in dict.fromkeys((later.settings.chart, base.settings.chart))
        if any(
            Chart(FolderContents(side.file_system, folder)).is_ours
            for side in (base, later)
            for folder in (root, *(f"{root}/{name}" for name in names))
        )
    ]


def judge_charts(
    base: Side, later: Side, run: LaterRun, expected: Mapping[str, str]
) -> tuple[list[Diagnostic], list[str]]:
    """Errors for what Helm would install of the later side's charts and no input makes, and notes. `expected`: the
    files of the chart that the later side's inputs make, none where that is unknown.
    """
    problems: list[Diagnostic] = []
    notes: list[str] = []
    for root in dict.fromkeys((later.settings.chart, later.settings.root, base.settings.chart, base.settings.root)):
        gone = [name for name in base.settings.environments if name not in later.settings.environments]
        for environment in dict.fromkeys([run.environment, *gone] if run.environment else ["", *gone]):
            judgement = _ChartJudgement(root, environment, base, later, run, expected)
            for finding in judgement.findings():
                (notes if isinstance(finding, str) else problems).append(finding)  # type: ignore[arg-type]
    return list(dict.fromkeys(problems)), list(dict.fromkeys(notes))


class _ChartJudgement:
    """Judges the chart of an environment in one folder."""

    def __init__(
        self, root: str, environment: str, base: Side, later: Side, run: LaterRun, expected: Mapping[str, str]
    ) -> None:
        self._base, self._later, self._run = base, later, run
        self._prefix = f"{environment}/" if environment else ""
        self._folder = f"{root}/{environment}" if environment else root
        self._chart = Chart(FolderContents(later.file_system, self._folder))
        self._old = Chart(FolderContents(base.file_system, self._folder))
        names = later.settings.environments
        is_home = root in (later.settings.chart, later.settings.root)
        self._is_current = is_home and (environment in names if names else not environment)
        self._expected = expected if self._is_current else {}

    def findings(self) -> Iterator[Diagnostic | str]:
        """Errors and notes; none where neither side holds a chart of ours."""
        if not self._chart.is_ours and not self._old.is_ours:
            return
        if self._chart.contents.is_link:
            yield make_diagnostic("E144", Origin(InputFile(self._folder, "", "")))
            return
        self._chart.contents.read(self._chart.installed)
        for path in self._chart.installed:
            if not self._chart.is_written(path):
                yield from self._judge_foreign(path)
            elif path not in self._expected:
                yield from self._judge_leftover(path)
            elif self._later.is_commit:  # in the work tree it may be written again before it is committed
                yield from self._judge_template(path)
        if self._later.is_commit:
            yield from self._missing_files()
        yield from self._judge_chart_file()
        yield from self._judge_ignore_file()

    def _judge_foreign(self, path: str) -> Iterator[Diagnostic | str]:
        yield _not_compared(self._folder, path, "llmaz did not write it")
        full_path = self._prefix + path
        if self._is_current and not self._later.settings.allows(full_path):
            yield foreign_file(self._origin(path))
        elif not self._is_unchanged(path) and not self._base.settings.allows(full_path):
            yield make_diagnostic("E863", self._origin(path), key=OUTPUT_FOREIGN)

    def _judge_leftover(self, path: str) -> Iterator[Diagnostic | str]:
        """A template of ours that no input makes, as far as that is known."""
        if not self._is_current:
            code = "E862" if self._is_unchanged(path) else "E861"
            yield make_diagnostic(code, self._origin(path), folder=self._folder)
        elif not self._expected:
            return
        elif not self._is_unchanged(path):
            yield make_diagnostic("E861", self._origin(path))
        elif self._later.is_commit:
            yield f"no input makes {self._folder}/{path} any more: llmaz render --to helm deletes it"

    def _judge_template(self, path: str) -> Iterator[Diagnostic | str]:
        """A template of ours, of the path of one that an input makes: by its objects, as they are with the values."""
        is_same = (self._chart.contents.read([path])[0] or b"").replace(b"\r\n", b"\n") == self._expected[path].encode()
        if is_same and self._has_expected_values:
            return
        if self._is_unchanged(path) and self._is_unchanged(_VALUES):
            yield self._stale(path)
            return
        try:
            objects = items([OutputFile(path, self._chart.undone(path))])
        except NotComparable as error:
            yield make_diagnostic("E865", Origin(LineOf(f"{self._folder}/{path}", error.line)), what=f"it has {error}")
            return
        expected = items([OutputFile(path, undo(self._expected[path], _document(self._expected[_VALUES].encode())))])
        others = [
            key for key, item in objects.items() if key not in expected or not same(expected[key].body, item.body)
        ]
        if others:
            yield make_diagnostic("E865", self._origin(path), what=f"{others[0]} differs")
        elif not is_same:
            yield self._stale(path)

    @cached_property
    def _has_expected_values(self) -> bool:
        return same(self._chart.values, _document(self._expected[_VALUES].encode()))

    def _missing_files(self) -> Iterator[str]:
        known = {file.path for file in self._chart.contents.files}
        for path in self._expected:
            if path not in known:
                yield self._stale(path)

    def _judge_chart_file(self) -> Iterator[Diagnostic]:
        """Chart.yaml, which may name charts that Helm fetches."""
        data = self._chart.contents.read([_CHART])[0]
        if self._is_current and data is not None and not self._is_unchanged(_CHART):
            body = as_map(_document(data))
            if not self._chart.is_ours or body.keys() - _OWN_KEYS:
                what = "it has keys that llmaz does not write" if self._chart.is_ours else "its first line is missing"
                yield make_diagnostic("E865", self._origin(_CHART), what=what)

    def _judge_ignore_file(self) -> Iterator[Diagnostic]:
        data = self._chart.contents.read([IGNORE_FILE])[0]
        path = self._prefix + IGNORE_FILE
        both_allow = self._later.settings.allows(path) and (
            self._base.settings.allows(path) or self._is_unchanged(IGNORE_FILE)
        )
        if data is None or both_allow or not self._is_current:
            return
        paths = [_CHART, _VALUES, *filter(self._chart.is_written, self._chart.installed)]
        for rule, hidden in hidden_files(ignore_rules(data.decode("utf-8", "replace")), paths):
            place = LineOf(f"{self._folder}/{IGNORE_FILE}", rule.line)
            yield make_diagnostic("E860", Origin(place), rule=rule.text, file=hidden)
            return

    def _is_unchanged(self, path: str) -> bool:
        identity = self._chart.contents.identity(path)
        return identity is not None and identity == self._old.contents.identity(path)

    def _stale(self, path: str) -> str:
        return f"{self._folder}/{path} differs from what the input renders to: run llmaz render --to helm"

    def _origin(self, path: str) -> Origin:
        return Origin(InputFile(f"{self._folder}/{path}", "", ""))
