"""The RenderPolicy of the earlier side of a difference, by which the later side is judged as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import load
from renderer.api import RenderOptions, RenderPolicy
from renderer.diagnostics import Diagnostic, Origin, RenderError, make_diagnostic
from renderer.diagnostics.rule import NamedSource
from renderer.source.tree import POLICY, FileSystem


class PolicyChange(Struct, frozen=True):
    """A key of RenderPolicy, below `spec`, that differs between two sides; None where a side does not have it. `key` is
    '' where one side has no policy, or none that can be read, and is described by a text.
    """

    key: str
    before: object
    after: object


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


def policy_changes(before: RenderOptions, now: RenderOptions) -> list[PolicyChange]:
    """What differs between the policies of both sides; nothing where the command line names one."""
    if now.policy:
        return []
    (old, old_problems), (new, new_problems) = _policy(before), _policy(now)
    if old and new:
        old_keys, new_keys = dict(_keys(old.spec)), dict(_keys(new.spec))
        keys = dict.fromkeys([*old_keys, *new_keys])
        pairs = [PolicyChange(key, old_keys.get(key), new_keys.get(key)) for key in keys]
        return [pair for pair in pairs if pair.before != pair.after]
    states = [
        "a policy" if policy else "a policy that cannot be read" if problems else "no policy"
        for policy, problems in ((old, old_problems), (new, new_problems))
    ]
    return [PolicyChange("", *states)] if states[0] != states[1] else []


def _policy(options: RenderOptions, name: str = "") -> tuple[RenderPolicy | None, list[Diagnostic]]:
    """The policy of the tree of a side, and the problems of its file."""
    base, _ = options.file_system.base_of(options.paths)
    return load.tree_policy(options.file_system, base, name)


def _keys(spec: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The keys of a policy, those of maps one by one."""
    for key, value in spec.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{below}", item) for below, item in value.items())
        else:
            yield key, value


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
