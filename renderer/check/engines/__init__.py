"""Engines in manifests that others wrote, judged by the rules about running engines (renderer/engines/rules/)."""

from __future__ import annotations

from renderer.check.engines.chart_values import is_release
from renderer.check.engines.recognition import RecognisedEngine, recognised_engines
from renderer.check.engines.validation import validate_engines

__all__ = [
    "RecognisedEngine",
    "is_release",
    "recognised_engines",
    "validate_engines",
]
