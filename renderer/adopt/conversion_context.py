"""What the conversion of an object of llmaz's API knows of the objects beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from msgspec import Struct

from renderer.adopt.operator_releases import release_names
from renderer.diagnostics import suggestion
from renderer.kubernetes.json_values import maps_at, text_at, value_at
from renderer.yamlio import Document


class ConversionContext(Struct, frozen=True):
    """The BackendRuntimes beside an object, and the release of the operator that it is from."""

    runtimes: Set[str] = frozenset()  # their names
    triggers: Mapping[str, Mapping[str, object]] = {}  # those that Playgrounds name, by BackendRuntime and name
    release: str = ""  # such as v0.1.1; '' where nobody says it


ALONE: Final = ConversionContext()
"""Of an object without others."""


def conversion_context(documents: Sequence[Document], release: str = "") -> ConversionContext:
    """The context of objects that are converted together. Raises ValueError for a release that there is not."""
    if release and release not in release_names():
        raise ValueError(f"the operator has no release '{release}'; {suggestion(release, release_names())}")
    triggers: dict[str, dict[str, object]] = {}
    for document in documents:
        name = value_at(document.value, "metadata", "name")
        if isinstance(name, str) and text_at(document.value, "kind") == "BackendRuntime":
            triggers[name] = _named_triggers(document.value)
    return ConversionContext(triggers.keys(), triggers, release)


def _named_triggers(runtime: object) -> dict[str, object]:
    """The triggers of a BackendRuntime of release v0.1.0."""
    return {
        name: {key: item for key, item in entry.items() if key != "name"}
        for entry in maps_at(runtime, "spec", "scaleTriggers")
        if isinstance(name := entry.get("name"), str)
    }
