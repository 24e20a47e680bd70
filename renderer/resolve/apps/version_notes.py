"""What is told about the engine's version: unknown, other than the preset's, or a tag that moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Origin, Stop
from renderer.resolve.engine import backend_runtime, template_words, versions
from renderer.resolve.layers import ValueLayer
from renderer.resolve.pod import pod_template
from renderer.template import Words


def note_unknown_version(
    app: App, engine: backend_runtime.Engine, pod_sets_image: bool, tag: str, diagnostics: Collector
) -> None:
    """A note where the version of the engine in an image is not known, though presets know options by version."""
    if "list" not in (engine.spec.get("options") or {}) and "versions" not in engine.spec:
        return
    if pod_sets_image:
        index, patch = pod_template.runner_patch(app.spec)
        origin = app.origin("spec", "podTemplate", "spec", "containers", index, "image")
        hint = f"name it in backendRuntimeConfig.version, such as {engine.runtime.spec['version']}"
        diagnostics.add("N449", origin, backend=engine.runtime.name, image=patch["image"], hint=hint)
    elif not engine.runtime.ours:
        origin = engine.origin.at("version")
        image = f"{engine.runtime.spec['image']}:{tag}"
        hint = "write the version itself as spec.engine.options.version"
        diagnostics.add("N449", origin, backend=engine.runtime.name, image=image, hint=hint)


def report_version_differences(
    inputs: Inputs, engine: backend_runtime.Engine, version: str, origin: Origin, words: Words, diagnostics: Collector
) -> None:
    """A note for each difference of this version, an error for what it does not support. Raises Stop after an error."""
    name = engine.runtime.name
    refusals = [entry for entry in engine.refusals if entry.when(words)]
    for entry in refusals:
        hint = versions.capable_versions_hint(
            inputs.option_files, inputs.runtimes[name], version, template_words.WORDS, words
        )
        diagnostics.add("E444", origin, backend=name, version=version, what=entry.message(words), hint=hint)
    if refusals:
        raise Stop
    for entry in engine.notes:
        if entry.when(words):
            diagnostics.add("N448", origin, backend=name, version=version, what=entry.message(words))


_MOVING_TAG = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")


def warn_moving_tag(version_layers: Sequence[ValueLayer], set_by_app: bool, diagnostics: Collector) -> None:
    """A warning for a tag that moves from image to image. `set_by_app`: the last layer is the Playground's."""
    tag, origin = version_layers[-1].value, version_layers[-1].origin
    if not _is_moving_tag(tag):
        return
    preset_tag = version_layers[-2 if set_by_app else -1].value
    hint = "" if _MOVING_TAG.match(preset_tag) else f", such as {preset_tag}"
    diagnostics.add("W238", origin, tag=tag, hint=f"name a fixed one{hint}, or a digest")


@lru_cache(maxsize=1024)
def _is_moving_tag(tag: str) -> bool:
    return bool(_MOVING_TAG.match(tag)) and "sha256:" not in tag
