"""The files of presets/, and the user's own over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from renderer import yamlio
from renderer.diagnostics import RenderError, suggestion
from renderer.source.paths import PRESETS as PRESETS
from renderer.yamlio import Document

T = TypeVar("T")


class PresetRefused(Exception):
    """What the command line asks of presets cannot be done; the text says why, in one line."""


def preset(name: str) -> Document:
    """A shipped file of presets/, as `backends/<name>`. Raises FileNotFoundError; RenderError when it is no YAML
    (never shipped so).
    """
    with open(os.path.join(PRESETS, *name.split("/")) + ".yaml", "rb") as file:
        documents, problems = yamlio.parse(f"presets/{name}.yaml", file.read())
    if problems:
        raise RenderError(problems)
    return documents[0]


def preset_names(folder: str) -> list[str]:
    """The names in a folder of presets/, sorted."""
    return sorted(
        name.removesuffix(".yaml") for name in os.listdir(os.path.join(PRESETS, folder)) if name.endswith(".yaml")
    )


def shipped() -> list[str]:
    """Every preset, as `backends/<name>`."""
    return [
        f"{folder}/{name}" for folder in ("backends", "models", "loaders", "pickers") for name in preset_names(folder)
    ]


def named(name: str, known: Sequence[str], what: str = "preset") -> str:
    """The one of the known presets (as `backends/<name>`) that is meant by its name, with its folder or without.

    Raises Refused.
    """
    matches = [preset_name for preset_name in known if name in (preset_name, preset_name.partition("/")[2])]
    if not matches:
        own = name.rpartition("/")[2]
        elsewhere = [preset_name for preset_name in known if own == preset_name.partition("/")[2]]
        names = [preset_name.partition("/")[2] for preset_name in known]
        hint = f"did you mean '{elsewhere[0]}'?" if elsewhere else suggestion(own, names)
        raise PresetRefused(f"no {what} is named '{name}'; {hint}")
    if len(matches) > 1:
        raise PresetRefused(f"'{name}' is ambiguous: it may be {' or '.join(matches)}")
    return matches[0]


class PresetShelf(Mapping[str, T], Generic[T]):
    """The user's own by name, then presets, each parsed when first asked for."""

    def __init__(self, own: dict[str, T], folder: str, make: Callable[[Document], T]) -> None:
        self._own, self._folder, self._make = own, folder, make
        self._made: dict[str, T] = dict(own)
        self._names: list[str] | None = None
        self._all: list[str] | None = None

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            if name not in self._presets():
                raise KeyError(name)
            self._made[name] = self._make(preset(f"{self._folder}/{name}"))
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in self._presets()

    def __iter__(self) -> Iterator[str]:
        return iter(self._sorted())

    def __len__(self) -> int:
        return len(self._sorted())

    def _sorted(self) -> list[str]:
        if self._all is None:
            self._all = sorted({*self._own, *self._presets()})
        return self._all

    def _presets(self) -> list[str]:
        if self._names is None:
            self._names = preset_names(self._folder)
        return self._names
