"""The RenderPolicy of the earlier side of a difference, by which the later side is judged as well."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import load
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError


def judged_by_base(now: RenderOptions, before: RenderOptions, name: str) -> RenderOptions:
    """The options of the later side, with the policy of the base, called `name` in messages, among those that count.
    Raises RenderError where that policy cannot be read.
    """
    if now.policy:
        return now  # of the command line, which beats both
    base, _ = before.file_system.base_of(before.paths)
    policy, problems = load.tree_policy(before.file_system, base, name)
    if problems:
        raise RenderError(problems)
    return replace(now, earlier_policies=(policy,)) if policy else now
