"""Whether somebody has thought of a context that is longer than that of the model."""

from __future__ import annotations

from collections.abc import Container, Sequence

from renderer.engines.given_options import json_map
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import as_map, map_at, number_at, text_at, texts_at

_OF_ANY_ENGINE = ("rope", "yarn")


def stretches_context(backend: str, args: Sequence[str], variables: Container[object]) -> bool:
    """Whether arguments change the positions that a model knows, or one of the variables, by its name, allows more."""
    longer = map_at(table_entry(backend), "longerContext")
    words = texts_at(longer, "words") or _OF_ANY_ENGINE
    return longer.get("variable") in variables or any(word in arg for arg in args for word in words)


def beyond_context(
    backend: str, args: Sequence[str], variables: Container[object], length: int, longest: float
) -> dict[str, object] | None:
    """The words of the warning about a length that is above the longest context of the model, or above that to which
    arguments stretch it; None for another one.
    """
    if length <= longest:
        return None
    if not stretches_context(backend, args, variables):
        hint = "lower it, or correct facts.contextLength of the OpenModel"
        return {"length": length, "longest": int(longest), "hint": hint}
    if map_at(table_entry(backend), "longerContext").get("variable") in variables:
        return None
    reached = _reached_context(args)
    if not 0 < reached < length:
        return None
    return {"length": length, "longest": reached, "hint": "lower it, or raise the factor of YaRN"}


def _reached_context(args: Sequence[str]) -> int:
    """The longest context by the settings of YaRN in the JSON of arguments; 0 where they do not say it."""
    texts = [arg.partition("=")[2] if arg[:1] == "-" else arg for arg in args if "yarn" in arg]
    for text in texts:
        settings = json_map(text)
        if "max_position_embeddings" in settings:
            return 0
        for part in (settings, *map(as_map, settings.values())):
            factor, original = number_at(part, "factor"), number_at(part, "original_max_position_embeddings")
            if "yarn" in (text_at(part, "rope_type"), text_at(part, "type")) and factor and original:
                return int(factor * original)
    return 0
