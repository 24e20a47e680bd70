"""The annotations of llmaz's domain, of which only one has an effect."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, make_diagnostic

SKIP = "llmaz.io/skip-model-loader"
_DOMAIN = "llmaz.io"
INERT = {  # docs/design/operator.md#annotations
    "llmaz.io/model-preheat": "leave it out; nothing loads a model before its pods start",
}


def inert_model_annotations(model: OpenModel) -> Iterator[Diagnostic]:
    """A warning for each annotation of the domain on an OpenModel, where none has an effect."""
    for key in model.document.value["metadata"].get("annotations") or {}:
        if is_llmaz_key(key):
            hint = "write it in the Playground or Service" if key == SKIP else INERT.get(key, "leave it out")
            origin = model.document.origin("metadata", "annotations", key, key=True)
            yield make_diagnostic("W216", origin, name=key, hint=hint)


def is_llmaz_key(key: str) -> bool:
    """Whether the key of an annotation is in the domain."""
    domain, slash, _ = key.partition("/")
    return bool(slash) and (domain == _DOMAIN or domain.endswith(f".{_DOMAIN}"))
