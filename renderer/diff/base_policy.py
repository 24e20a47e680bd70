"""The RenderPolicy of the earlier side of a difference, by which the later side is judged as well."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from renderer import load
from renderer.api import RenderOptions, RenderPolicy
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic
from renderer.source.tree import POLICY, FileSystem


def judged_by_base(now: RenderOptions, before: RenderOptions, name: str) -> RenderOptions:
    """The options of the later side, with the policy of the base, called `name` in messages, among those that count.

    Raises RenderError where that policy cannot be read, unless its file is all that differs: nothing is judged as
    allowed before it is mended.
    """
    if now.policy:
        return now  # of the command line, which beats both
    policy, problems = _policy(before, name)
    if problems and not _differs_in_policy_alone(before, now):
        raise RenderError([_unreadable(problem, name) for problem in problems])
    return replace(now, earlier_policies=(policy,)) if policy else now


def _policy(options: RenderOptions, name: str = "") -> tuple[RenderPolicy | None, list[Diagnostic]]:
    """The policy of the tree of a side, and the problems of its file."""
    base, _ = options.file_system.base_of(options.paths)
    return load.tree_policy(options.file_system, base, name)


def _unreadable(problem: Diagnostic, name: str) -> Diagnostic:
    """The error about a problem of the base's policy, whose lines are not those of the later side."""
    place = f" in line {problem.line}" if problem.line else ""
    return make_diagnostic("E804", Origin(NamedSource(problem.file)), name=name, what=f"{problem.text}{place}")


def _differs_in_policy_alone(before: RenderOptions, now: RenderOptions) -> bool:
    """Whether no other YAML file below the folders of llmaz.yaml differs."""
    sides = [(options.file_system, options.file_system.base_of(options.paths)[0]) for options in (before, now)]
    (_, old_base), (_, new_base) = sides
    return old_base == new_base and _files(*sides[0]) == _files(*sides[1])


def _files(file_system: FileSystem, base: str) -> Sequence[tuple[str, bytes]]:
    """The keys and contents of all files that may be input or output, but for the policy."""
    files = file_system.folder(base, (base,), (), None).files
    return [(file.key, file.read()) for file in files if file.key != POLICY]
