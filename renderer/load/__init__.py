"""Reads the input of a run: RenderConfig, policies, the presets' and the user's files."""

from __future__ import annotations

from renderer.load.input_files import (
    ReadAhead,
    environment_of,
    gather_inputs,
    inputs,
    no_input_errors,
    read_ahead,
    read_files,
    scoped_files,
)
from renderer.load.parsing import ParsedFile
from renderer.load.preset_files import PRESETS, PresetRefused, find_preset, preset, preset_names, preset_paths
from renderer.load.render_config import parse_override, render_config
from renderer.load.render_policy import render_policies, tree_policy
from renderer.load.run_scope import for_one_environment, rendered_environments, scope, scopes

__all__ = [
    "PRESETS",
    "ParsedFile",
    "PresetRefused",
    "ReadAhead",
    "environment_of",
    "find_preset",
    "for_one_environment",
    "gather_inputs",
    "inputs",
    "no_input_errors",
    "parse_override",
    "preset",
    "preset_names",
    "preset_paths",
    "read_ahead",
    "read_files",
    "render_config",
    "render_policies",
    "rendered_environments",
    "scope",
    "scoped_files",
    "scopes",
    "tree_policy",
]
