"""Submodules in and above the output folder. Git keeps no files of them, so nobody has seen these before Argo CD or
Flux fetches and syncs them (docs/output.md#the-first-line).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from renderer.api import Scope
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic
from renderer.output.foreign_files import allowed_foreign
from renderer.source import git
from renderer.source.paths import is_inside, path_below
from renderer.source.tree import InputFile

_BELOW_HINT = "take it out with git rm --cached, or name it under output.foreign of RenderConfig"
_AROUND_HINT = "take it out with git rm --cached, or render to a folder of this repository, with -o or output.dir"


def submodule_error(path: str, *, is_below: bool) -> Diagnostic:
    """The error of a submodule. `is_below`: it lies below the output folder, so that `output.foreign` can name it."""
    what, hint = "a submodule, whose files llmaz does not read", _BELOW_HINT if is_below else _AROUND_HINT
    return make_diagnostic("E129", Origin(InputFile(path, "", "")), what=what, hint=hint)


def findings(scopes: Sequence[Scope]) -> list[Diagnostic]:
    """An error for each submodule in the index of git that lies in or above an output folder, and that `output.foreign`
    does not allow; a note where git cannot read the index. `scopes`: those of environments before that of their
    folder.
    """
    scope = scopes[-1]
    problems: list[Diagnostic] = []
    for top in _repositories(scope.tree.base, scope.folder):
        try:
            staged = git.staged(top)
        except RenderError as error:
            origin = Origin(NamedSource(scope.folder))
            problems.append(make_diagnostic("N788", origin, what=error.problems[0].message))
        else:
            problems += [problem for entry in staged for problem in _judge(entry.path, top, scopes)]
    return problems


def _repositories(base: str, folder: str) -> list[str]:
    """The tops of the repositories around the input and the output folder that hold the latter."""
    tops = []
    for start in (base, folder):
        try:
            tops.append(git.top(start))
        except RenderError:
            continue
    return [top for top in dict.fromkeys(tops) if is_inside(os.path.realpath(folder), top)]


def _judge(path: str, top: str, scopes: Sequence[Scope]) -> Iterator[Diagnostic]:
    """The error of a submodule, by the first output folder that it lies in or above."""
    for scope in scopes:
        folder = os.path.relpath(os.path.realpath(scope.folder), top)
        below = path_below(path, "" if folder == os.curdir else folder)
        if below == "":
            yield submodule_error(os.path.relpath(os.path.join(top, path)), is_below=False)
        elif below and not allowed_foreign(scope)(f"{below}/"):  # all that lies below it
            yield submodule_error(f"{scope.folder}/{below}", is_below=True)
        if below is not None:
            return
