"""Judges the files of the later side that no input makes, in its output folder and in that of the base.

What a GitOps tool may sync has to be allowed by the settings of both sides, so that no change allows itself what it
brings (docs/security.md). A file that is as it was in the base is none of this change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cached_property

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.diff.folder_contents import FolderContents, FolderFile
from renderer.diff.output_settings import OutputSettings
from renderer.integrations.helm.installed_files import is_installed
from renderer.output.file_header import MARK
from renderer.output.foreign_files import foreign_file, is_synced
from renderer.output.leftover_files import is_shared
from renderer.source.commit import CommitTree
from renderer.source.tree import FileSystem, InputFile

CHART_FILES = ("Chart.yaml", "values.yaml", "values.schema.json")  # beside the templates
_MARK = MARK.encode()
OUTPUT_FOREIGN = "output.foreign"


class Unread(Struct, frozen=True):
    """What git keeps that is no file of the tree, by paths from the top of the repository."""

    submodules: Mapping[str, str] = {}  # the commit of each
    attributes: Mapping[str, str] = {}  # the blob of each `.gitattributes`, by which a checkout converts files


class Side(Struct, frozen=True):
    """The files and the settings of a side."""

    file_system: FileSystem
    settings: OutputSettings
    unread: Unread

    @property
    def is_commit(self) -> bool:
        """Whether it is a commit, and not the work tree."""
        return isinstance(self.file_system, CommitTree)


class LaterRun(Struct, frozen=True):
    """What the later side has rendered."""

    environment: str  # the one that is compared
    rendered: Set[str]  # the paths of its files, below the folder of the environment
    paths: tuple[str, ...]  # the input paths that are compared, none for all
    is_complete: bool  # these are all of the files, and no input is wrong

    def covers(self, source: str) -> bool:
        """Whether an input is compared."""
        return not self.paths or source in self.paths or source.startswith(tuple(f"{path}/" for path in self.paths))


def judge_folders(base: Side, later: Side, run: LaterRun) -> tuple[list[Diagnostic], list[str]]:
    """Errors for files in the output folders of both sides that no input makes, and notes about those that
    `llmaz render` deletes.
    """
    folders = [Folder(root, base, later, run) for root in rendered_roots(base, later, run)]
    findings = [finding for folder in folders for finding in folder.findings()]
    problems = {finding for finding in findings if isinstance(finding, Diagnostic)}
    return sorted(problems), list(dict.fromkeys(finding for finding in findings if isinstance(finding, str)))


def rendered_roots(base: Side, later: Side, run: LaterRun) -> list[str]:
    """The output folder of the later side, and that of the base where it has rendered files."""
    roots = [later.settings.root]
    if base.settings.root != later.settings.root and Folder(base.settings.root, base, later, run).was_rendered:
        roots.append(base.settings.root)
    return roots


def _is_of_chart(path: str) -> bool:
    return path in CHART_FILES or is_installed(path)


class Folder:
    """A folder that may hold rendered files of either side."""

    def __init__(self, root: str, base: Side, later: Side, run: LaterRun) -> None:
        self._root, self._base, self._later, self._run = root, base, later, run
        self._contents = FolderContents(later.file_system, root)
        self._old_contents = FolderContents(base.file_system, root)
        self._is_current = root == later.settings.root

    @cached_property
    def was_rendered(self) -> bool:
        """Whether the base holds rendered files here."""
        paths = [file.path for file in self._old_contents.files if is_synced(file.path)]
        return any(data is not None and data.startswith(_MARK) for data in self._old_contents.read(paths))

    def findings(self) -> Iterator[Diagnostic | str]:
        """Errors and notes about files that no input makes."""
        if self._contents.is_link:
            yield make_diagnostic("E144", self._origin(""))
            return
        files = [file for file in self._contents.files if is_synced(file.path) and not self._is_made(file.path)]
        chart = f"{self._run.environment}/" if self._run.environment else ""
        if self._holds_chart(chart):  # charts.py judges the files of a chart
            files = [file for file in files if not _is_of_chart(file.path.removeprefix(chart))]
        self._contents.read(file.path for file in files)
        self._old_contents.read(file.path for file in files)
        for file in files:
            yield from self._judge(file)
        yield from self._contents.problems

    def _holds_chart(self, chart: str) -> bool:
        """Whether a chart of ours is here in place of rendered files, and takes the place of none."""
        contents = (self._contents, self._old_contents)
        later, old = ((data.read([f"{chart}{CHART_FILES[0]}"])[0] or b"").startswith(_MARK) for data in contents)
        return later and (old or not self.was_rendered)

    def _is_made(self, path: str) -> bool:
        """Whether this run makes the file, or whether it is for another run to say."""
        run, names = self._run, self._later.settings.environments
        full_path, below = f"{self._root}/{path}", f"{self._later.settings.root}/"
        below += f"{run.environment}/" if run.environment else ""
        if full_path.startswith(below) and full_path.removeprefix(below) in run.rendered:
            return True
        environment = path.partition("/")[0]
        if self._is_current and environment in names and environment != run.environment:
            return True
        return bool(run.paths) and is_shared(path.removeprefix(f"{run.environment}/"))

    def _judge(self, file: FolderFile) -> Iterator[Diagnostic | str]:
        source = None if file.in_chart else self._contents.source(file.path)
        if source is None:
            yield from self._judge_foreign(file.path)
        elif not self._run.covers(source) or (not self._run.is_complete and not self._is_left_behind(file.path)):
            return
        elif not self._is_unchanged(file.path):
            if self._later.is_commit or self.was_rendered:
                yield make_diagnostic("E861", self._origin(file.path))
        elif self._is_left_behind(file.path):
            if self._later.is_commit or not self._is_current:
                yield make_diagnostic("E862", self._origin(file.path), folder=self._base_folder(file.path))
        elif self._later.is_commit:
            yield f"no input makes {self._root}/{file.path} any more: llmaz render deletes it"

    def _judge_foreign(self, path: str) -> Iterator[Diagnostic]:
        allowed = self._later.settings.allows(path)
        if self._is_current and not allowed:
            yield foreign_file(self._origin(path))
        elif not self._base.settings.allows(path) and not self._is_unchanged(path):
            yield make_diagnostic("E863", self._origin(path), key=OUTPUT_FOREIGN)

    def _is_unchanged(self, path: str) -> bool:
        """Whether a file has the bytes that it has in the base."""
        identity = self._contents.identity(path)
        return identity is not None and identity == self._old_contents.identity(path)

    def _is_left_behind(self, path: str) -> bool:
        """Whether the later side renders nothing into the file's folder: another folder, or no such environment."""
        environment, names = path.partition("/")[0], self._later.settings.environments
        was_environment = environment in self._base.settings.environments
        return not self._is_current or (environment not in names if names else was_environment)

    def _base_folder(self, path: str) -> str:
        """The folder that the base has rendered, of an environment where it has some."""
        environment = path.partition("/")[0]
        return f"{self._root}/{environment}" if environment in self._base.settings.environments else self._root

    def _origin(self, path: str) -> Origin:
        return Origin(InputFile(f"{self._root}/{path}" if path else self._root, "", ""))
