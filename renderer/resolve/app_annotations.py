"""Validates annotations of llmaz's domain, of which only one has an effect."""

from __future__ import annotations

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, suggestion

SKIP = "llmaz.io/skip-model-loader"
_DOMAIN = "llmaz.io"
_INERT = {  # docs/design/operator.md#annotations
    "llmaz.io/model-preheat": "leave it out; nothing loads a model before its pods start",
}


def validate_app_annotations(app: App, diagnostics: Collector) -> None:
    """A warning for each annotation of the domain on a Playground or Service that has no effect."""
    for key, value in app.annotations.items():
        if key == SKIP:
            if value not in ("true", "false"):
                diagnostics.add("W217", app.origin("metadata", "annotations", key), name=key, value=value)
        elif _is_llmaz_key(key):
            hint = _INERT.get(key) or suggestion(key, [SKIP])
            advice = hint if not hint.startswith("known") else "leave it out"
            diagnostics.add("W216", app.origin("metadata", "annotations", key, key=True), name=key, hint=advice)


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
