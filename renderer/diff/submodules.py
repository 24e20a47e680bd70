"""Judges submodules, of which git keeps the name of a commit, and no files that a diff could read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, listed, make_diagnostic
from renderer.diff.charts import chart_roots
from renderer.diff.folder_contents import path_from_top
from renderer.diff.objects import ObjectKey
from renderer.diff.output_folders import OUTPUT_FOREIGN, LaterRun, Side, rendered_roots
from renderer.diff.risks import GUARD, NAME, Risk
from renderer.output.submodules import submodule_error
from renderer.source.paths import path_below
from renderer.source.tree import PACKAGE_FOLDERS, InputFile

_MOST = 10  # submodules that a note names; the rest is counted


class SubmoduleJudgement:
    """Judges the submodules of the later side."""

    def __init__(self, base: Side, later: Side, run: LaterRun, top: str) -> None:
        """`top`: the folder of the repository."""
        self._base, self._later, self._run, self._top = base, later, run, top
        self._before, self._after = base.unread.submodules, later.unread.submodules

    def problems(self) -> list[Diagnostic]:
        """An error for each in or above a folder that Argo CD or Flux may sync, as for a file that llmaz did not
        write.
        """
        if not self._after:
            return []
        roots = [*rendered_roots(self._base, self._later, self._run), *chart_roots(self._base, self._later)]
        return sorted({problem for root in roots for path in self._after for problem in self._judge(path, root)})

    def risks(self) -> Iterator[Risk]:
        """A risk for each that was added, moved or removed in or above the folder of `llmaz.yaml`."""
        for path in sorted({*self._before, *self._after}):
            if self._before.get(path) != self._after.get(path) and self._is_of_tree(path):
                commits = (
                    f"{NAME}{commit}{NAME}" if commit else "none"
                    for commit in (self._before.get(path), self._after.get(path))
                )
                text = f"submodule: {' → '.join(commits)}; its files are not read from commits"
                yield Risk(GUARD, ObjectKey("", "Submodule", "", self._name(path)), text)

    def notes(self) -> Iterator[str]:
        """What is not read although it may be input, as far as it is no risk."""
        names = [
            self._name(path)
            for path in sorted(self._after)
            if self._before.get(path) == self._after[path] and self._may_be_input(path)
        ]
        if names:
            more = [f"{len(names) - _MOST:,} more"] if len(names) > _MOST else []
            yield f"files of submodules are not read from commits: {listed([*names[:_MOST], *more])}"

    def _judge(self, path: str, root: str) -> Iterator[Diagnostic]:
        below, run, settings = path_below(path, path_from_top(self._top, root)), self._run, self._later.settings
        is_current, environment = root in (settings.root, settings.chart), (below or "").partition("/")[0]
        if below is None or (is_current and environment in settings.environments and environment != run.environment):
            return  # elsewhere, or for another run to say
        is_changed = self._before.get(path) != self._after[path]
        if below in ("", run.environment):
            if is_current or is_changed:
                yield submodule_error(self._name(path), is_below=False)
        elif is_current and not settings.allows(f"{below}/"):  # all that lies below it
            yield submodule_error(self._name(path), is_below=True)
        elif is_changed and not self._base.settings.allows(f"{below}/"):
            yield make_diagnostic("E863", Origin(InputFile(self._name(path), "", "")), key=OUTPUT_FOREIGN)

    def _is_of_tree(self, path: str) -> bool:
        bases = {path_from_top(self._top, side.settings.base) for side in (self._base, self._later)}
        return any(path_below(path, base) is not None for base in bases)

    def _may_be_input(self, path: str) -> bool:
        settings = self._later.settings
        below = path_below(path, path_from_top(self._top, settings.base))
        if not below or settings.ignores(f"{below}/"):
            return False
        folders = [path_from_top(self._top, folder) for folder in (settings.root, settings.chart)]
        is_output = any(path_below(path, folder) is not None for folder in folders)
        return not is_output and not any(name[0] == "." or name in PACKAGE_FOLDERS for name in below.split("/"))

    def _name(self, path: str) -> str:
        return os.path.relpath(os.path.join(self._top, path))
