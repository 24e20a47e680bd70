"""The globs of a policy, each list compiled once and each answer kept: thousands of objects have a few names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

from renderer import patterns
from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.source.tree import glob

_WILDCARDS = frozenset("*?[")


class NameGlobs:
    """Names and shell globs of one list of a policy."""

    def __init__(self, globs: Sequence[str]) -> None:
        self.globs = globs
        self._globs = [text for text in globs if _WILDCARDS.intersection(text)]
        self._answers = {text: True for text in globs if not _WILDCARDS.intersection(text)}

    def fit(self, name: str) -> bool:
        """Whether one of them matches the name."""
        if (answer := self._answers.get(name)) is None:
            answer = self._answers[name] = any(patterns.fits(name, text) for text in self._globs)
        return answer


class PathGlobs:
    """Globs of paths, as in `ignore`, of one list of a policy."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._globs = [glob(text) for text in globs]
        self._answers: dict[str, int] = {}

    def first(self, path: str) -> int:
        """The index of the first one that matches the path; -1 without one."""
        if (answer := self._answers.get(path)) is None:
            indices = (i for i, expression in enumerate(self._globs) if expression.fullmatch(path))
            answer = self._answers[path] = next(indices, -1)
        return answer


@cache
def restricts(policy: RenderPolicy, key: tuple[str, ...]) -> bool:
    """Whether the policy has the key, and it forbids anything: true allows all."""
    value = policy.get(*key)
    return value is not None and value is not True


@cache
def name_globs(policy: RenderPolicy, *path: str | int) -> NameGlobs | None:
    """The globs of names at a path of the policy; None without that key."""
    values = _value(policy, path)
    return NameGlobs(values) if values is not None else None


@cache
def path_globs(policy: RenderPolicy, *path: str | int) -> PathGlobs | None:
    """The globs of paths at a path of the policy; None without that key. Of `folders` those of its entries."""
    values = _value(policy, path)
    if values is None:
        return None
    return PathGlobs([value["path"] if isinstance(value, dict) else value for value in values])


def _value(policy: RenderPolicy, path: Path) -> Sequence[Any] | None:
    value: Any = policy.spec
    for part in path:
        if isinstance(value, dict) and part not in value:
            return None
        value = value[part]
    values: Sequence[Any] = value
    return values


def path_below(policy: RenderPolicy, base: str, key: str) -> str:
    """The path of an input file as the policy's globs are about it. `key`: relative to the folder `base` of
    llmaz.yaml.
    """
    if policy.folder in ("", base):
        return key
    return os.path.relpath(os.path.join(base, key), policy.folder).replace(os.sep, "/")
