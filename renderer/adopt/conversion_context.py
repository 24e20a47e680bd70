"""What the conversion of an object of llmaz's API knows of the objects beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from msgspec import Struct

from renderer.adopt.operator_releases import release_names
from renderer.diagnostics import suggestion
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
        value = document.value
        if not isinstance(value, dict) or value.get("kind") != "BackendRuntime":
            continue
        metadata, spec = value.get("metadata"), value.get("spec")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if isinstance(name, str):
            triggers[name] = _named_triggers(spec.get("scaleTriggers") if isinstance(spec, dict) else None)
    return ConversionContext(triggers.keys(), triggers, release)


def _named_triggers(entries: object) -> dict[str, object]:
    """The triggers of a BackendRuntime of release v0.1.0."""
    return {
        entry["name"]: {key: item for key, item in entry.items() if key != "name"}
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    }
