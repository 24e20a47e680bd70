"""Whether somebody has thought of a context that is longer than that of the model."""

from __future__ import annotations

from collections.abc import Container, Sequence

from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import map_at, texts_at

_OF_ANY_ENGINE = ("rope", "yarn")


def stretches_context(backend: str, args: Sequence[str], variables: Container[object]) -> bool:
    """Whether arguments change the positions that a model knows, or one of the variables, by its name, allows more."""
    longer = map_at(table_entry(backend), "longerContext")
    words = texts_at(longer, "words") or _OF_ANY_ENGINE
    return longer.get("variable") in variables or any(word in arg for arg in args for word in words)
