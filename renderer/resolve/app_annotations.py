"""Annotations of llmaz's own domain: the one that acts, and a word on those that do nothing."""

from __future__ import annotations

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, suggestion

SKIP = "llmaz.io/skip-model-loader"
_DOMAIN = "llmaz.io"
_INERT = {  # docs/design/operator.md#annotations
    "llmaz.io/model-preheat": "leave it out; nothing loads a model before its pods start",
}


def validate_app_annotations(app: App, diagnostics: Collector) -> None:
    """A warning for each annotation of the domain that a Playground or Service has and nothing reads."""
    for key, value in app.annotations.items():
        if key == SKIP:
            if value not in ("true", "false"):
                diagnostics.add("W217", app.origin("metadata", "annotations", key), name=key, value=value)
        elif _ours(key):
            hint = _INERT.get(key) or suggestion(key, [SKIP])
            meant = hint if not hint.startswith("known") else "leave it out"
            diagnostics.add("W216", app.origin("metadata", "annotations", key, key=True), name=key, hint=meant)


def validate_model_annotations(model: OpenModel, diagnostics: Collector) -> None:
    """The same for an OpenModel, where none acts."""
    for key in model.document.value["metadata"].get("annotations") or {}:
        if _ours(key):
            hint = "write it in the Playground or Service" if key == SKIP else _INERT.get(key, "leave it out")
            diagnostics.add(
                "W216", model.document.origin("metadata", "annotations", key, key=True), name=key, hint=hint
            )


def _ours(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and (domain == _DOMAIN or domain.endswith(f".{_DOMAIN}"))
