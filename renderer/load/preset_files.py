"""The files of presets/, overridden by the user's own by name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from renderer.diagnostics import RenderError, suggestion
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.preset_tables import preset_table, read_preset
from renderer.source.paths import PRESETS as PRESETS
from renderer.text.patterns import fits
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.fit.accelerator_types import AcceleratorTypes

_MODEL_ID = re.compile(r"^ +modelID: (\S+)$", re.MULTILINE)
T = TypeVar("T")


class PresetRefused(Exception):
    """A `presets` command that cannot be done; the text is the reason, in one line."""


def preset(name: str) -> Document:
    """The document of a preset named as `backends/<name>`. Raises FileNotFoundError, and RenderError for bad YAML."""
    documents, problems = read_preset(name)
    if problems:
        raise RenderError(problems)
    return documents[0]


def preset_names(folder: str) -> list[str]:
    """The names in a folder of presets/, sorted."""
    return sorted(
        name.removesuffix(".yaml") for name in os.listdir(os.path.join(PRESETS, folder)) if name.endswith(".yaml")
    )


def preset_paths() -> list[str]:
    """Every preset, as `backends/<name>`."""
    return [
        f"{folder}/{name}" for folder in ("backends", "models", "loaders", "pickers") for name in preset_names(folder)
    ]


def find_preset(name: str, known: Sequence[str], what: str = "preset") -> str:
    """The known preset (`backends/<name>`) with this name, given with or without its folder. Raises PresetRefused."""
    matches = [preset_name for preset_name in known if name in (preset_name, preset_name.partition("/")[2])]
    if not matches:
        base_name = name.rpartition("/")[2]
        same_name = [preset_name for preset_name in known if base_name == preset_name.partition("/")[2]]
        names = [preset_name.partition("/")[2] for preset_name in known]
        hint = f"did you mean '{same_name[0]}'?" if same_name else suggestion(base_name, names)
        raise PresetRefused(f"no {what} is named '{name}'; {hint}")
    if len(matches) > 1:
        raise PresetRefused(f"'{name}' is ambiguous: it may be {' or '.join(matches)}")
    return matches[0]


class PresetMapping(Mapping[str, T], Generic[T]):
    """The user's values by name, then presets, each parsed on first access."""

    def __init__(self, user_values: dict[str, T], folder: str, make: Callable[[Document], T]) -> None:
        self._user_values, self._folder, self._make = user_values, folder, make
        self._values: dict[str, T] = dict(user_values)
        self._names: list[str] | None = None
        self._all: list[str] | None = None

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            if name not in self._presets():
                raise KeyError(name)
            self._values[name] = self._make(preset(f"{self._folder}/{name}"))
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._presets()

    def __iter__(self) -> Iterator[str]:
        return iter(self._sorted())

    def __len__(self) -> int:
        return len(self._sorted())

    def _sorted(self) -> list[str]:
        if self._all is None:
            self._all = sorted({*self._user_values, *self._presets()})
        return self._all

    def _presets(self) -> list[str]:
        if self._names is None:
            self._names = preset_names(self._folder)
        return self._names


@lru_cache(maxsize=8)  # several rules ask for the same model
def preset_facts(model_id: str) -> Mapping[str, object]:
    """The facts of our OpenModel with that modelID, and what the modelID itself says; empty without both."""
    families = filter(model_id.lower().__contains__, _families())
    name = next((names[model_id] for names in map(_models_by_id, families) if model_id in names), "")
    facts = map_at(preset(f"models/{name}").value, "spec", "facts") if name else {}
    named = (map_at(row, "facts") for row in _named_rows() if fits(model_id, text_at(row, "models")))
    return {**next(named, {}), **facts}


@cache
def _named_rows() -> Sequence[Mapping[str, object]]:
    return maps_at(preset_table("engine_commands"), "named")


@cache
def _families() -> frozenset[str]:
    """The first words of the names of our OpenModels, which are in their modelIDs too."""
    return frozenset(name.partition("-")[0] for name in preset_names("models"))


@cache
def _models_by_id(family: str) -> Mapping[str, str]:
    """The names of our OpenModels of a family by the modelID that stands in them."""
    names = {}
    for name in preset_names("models"):
        if name.partition("-")[0] == family:
            with open(os.path.join(PRESETS, "models", f"{name}.yaml"), encoding="utf-8") as file:
                names.update(dict.fromkeys(_MODEL_ID.findall(file.read()), name))
    return names


def accelerator_types() -> AcceleratorTypes:
    """The types of accelerators that we know."""
    from renderer.fit.accelerator_types import known_types  # few runs need them

    return known_types()
