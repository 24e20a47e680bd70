"""Validates annotations of llmaz's domain, of which only one has an effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from renderer.api import OpenModel
from renderer.diagnostics import Collector, Diagnostic, make_diagnostic, suggestion

if TYPE_CHECKING:
    from renderer.resolve.apps.app_base import AppBase

SKIP = "llmaz.io/skip-model-loader"
_DOMAIN = "llmaz.io"
_INERT = {  # docs/design/operator.md#annotations
    "llmaz.io/model-preheat": "leave it out; nothing loads a model before its pods start",
}


def inert_annotations(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for each annotation of the domain on a Playground or Service that has no effect."""
    app = base.app
    for key, value in app.annotations.items():
        if key == SKIP:
            if value not in ("true", "false"):
                yield make_diagnostic("W217", app.origin("metadata", "annotations", key), name=key, value=value)
        elif _is_llmaz_key(key):
            hint = _INERT.get(key) or suggestion(key, [SKIP])
            advice = hint if not hint.startswith("known") else "leave it out"
            yield make_diagnostic("W216", app.origin("metadata", "annotations", key, key=True), name=key, hint=advice)


def validate_model_annotations(model: OpenModel, diagnostics: Collector) -> None:
    """The same for an OpenModel, where none has an effect."""
    for key in model.document.value["metadata"].get("annotations") or {}:
        if _is_llmaz_key(key):
            hint = "write it in the Playground or Service" if key == SKIP else _INERT.get(key, "leave it out")
            diagnostics.add(
                "W216", model.document.origin("metadata", "annotations", key, key=True), name=key, hint=hint
            )


def _is_llmaz_key(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and (domain == _DOMAIN or domain.endswith(f".{_DOMAIN}"))
