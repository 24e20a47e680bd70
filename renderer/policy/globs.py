"""The globs of a policy, each list compiled once and each answer kept: thousands of objects have a few names."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.source.tree import Glob, glob
from renderer.text import patterns

_WILDCARDS = frozenset("*?[")


class NameGlobs:
    """Names and shell globs of one list of a policy; its schema allows few stars in each."""

    def __init__(self, globs: Sequence[str]) -> None:
        self.globs = globs
        wild = [text for text in globs if _WILDCARDS.intersection(text)]
        self._starts = tuple(text[:-1] for text in wild if text[-1] == "*" and not _WILDCARDS.intersection(text[:-1]))
        self._others = [text for text in wild if text[-1] != "*" or text[:-1] not in self._starts]
        self._expressions: list[re.Pattern[str]] | None = None
        self._answers = {text: True for text in globs if text not in wild}

    def fit(self, name: str) -> bool:
        """Whether one of them matches the name; never one of more than MAX_PATTERN characters."""
        if (answer := self._answers.get(name)) is None:
            answer = self._answers[name] = len(name) <= patterns.MAX_PATTERN and self._matches(name)
        return answer

    def _matches(self, name: str) -> bool:
        if name.startswith(self._starts):
            return True
        if self._expressions is None:  # compiled once: fnmatch keeps few
            self._expressions = [re.compile(fnmatch.translate(text)) for text in self._others]
        return any(expression.match(name) for expression in self._expressions)


class _Folder:
    """A glob without wildcards but `/**` at its end: what lies below a folder, or that folder itself too."""

    def __init__(self, text: str) -> None:
        self.is_deep = text.endswith("/**")  # it is not about the folder itself
        self._name = "" if self.is_deep else text.strip("/")
        self._start = f"{text.removesuffix('**').strip('/')}/"

    def fullmatch(self, path: str) -> bool:
        return path.startswith(self._start) or (path == self._name and path != "")


def _path_glob(text: str) -> _Folder | Glob:
    """The glob of a path; most need no regular expression."""
    plain = text.removesuffix("/**")
    return glob(text) if not plain.strip("/") or _WILDCARDS.intersection(plain) else _Folder(text)


class PathGlobs:
    """Globs of paths, as in `ignore`, of one list of a policy."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._globs = [_path_glob(text) for text in globs]
        # Then the answer is the same for all files of a folder.
        self._are_folders = all(isinstance(expression, _Folder) and expression.is_deep for expression in self._globs)
        self._answers: dict[str, int] = {}

    def first(self, path: str) -> int:
        """The index of the first one that matches the path; -1 without one."""
        key = path.rpartition("/")[0] if self._are_folders else path
        if (answer := self._answers.get(key)) is None:
            indices = (i for i, expression in enumerate(self._globs) if expression.fullmatch(path))
            answer = self._answers[key] = next(indices, -1)
        return answer


@cache
def restricts(policy: RenderPolicy, key: tuple[str, ...]) -> bool:
    """Whether the policy has the key, and it forbids anything: true allows all."""
    value = policy.get(*key)
    return value is not None and value is not True


@cache
def name_globs(policy: RenderPolicy, *path: str | int, folded: bool = False) -> NameGlobs | None:
    """The globs of names at a path of the policy; None without that key. `folded`: as `str.casefold` makes them."""
    values = _value(policy, path)
    if values is None:
        return None
    return NameGlobs([text.casefold() for text in values] if folded else values)


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
    folder = _folder_below(policy, base)
    return key if not folder else os.path.normpath(f"{folder}/{key}").replace(os.sep, "/")


@cache
def _folder_below(policy: RenderPolicy, base: str) -> str:
    """The folder of llmaz.yaml, relative to that of the policy; '' where it is the same."""
    real = os.path.realpath(base)
    folder = os.path.relpath(real, os.path.realpath(policy.folder or base)).replace(os.sep, "/")
    return "" if folder == "." else folder
