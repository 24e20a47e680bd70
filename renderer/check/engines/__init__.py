"""Engines in manifests that others wrote, judged by the rules about running engines (renderer/engines/rules/)."""

from __future__ import annotations

import os

from renderer.check.engines.census import EngineCensus
from renderer.check.engines.chart_keys import keys_of_files, keys_of_release, misspelt_keys, tree_charts
from renderer.check.engines.chart_values import is_release, read_values
from renderer.check.engines.containers import (
    EngineContainer,
    accelerated_containers,
    clues_of,
    engine_candidates,
    engine_containers,
)
from renderer.check.engines.explanation import container_at, explain_engine, explanation_text
from renderer.check.engines.validation import validate_engines
from renderer.diagnostics import import_rules

__all__ = [
    "EngineCensus",
    "EngineContainer",
    "accelerated_containers",
    "clues_of",
    "container_at",
    "engine_candidates",
    "engine_containers",
    "explain_engine",
    "explanation_text",
    "is_release",
    "keys_of_files",
    "keys_of_release",
    "misspelt_keys",
    "read_values",
    "tree_charts",
    "validate_engines",
]

import_rules(__name__, os.path.dirname(__file__))
