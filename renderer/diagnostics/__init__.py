"""Origins, diagnostics, and their wordings and formats. Knows neither YAML nor kinds."""

from __future__ import annotations

from renderer.diagnostics.diagnostic import (
    MAX_PROBLEMS,
    Collector,
    Diagnostic,
    InternalError,
    RenderError,
    Stop,
    alternatives,
    counted,
    has_errors,
    listed,
    make_diagnostic,
    meant_names,
    naming_file,
    quoted,
    read_error,
    suggestion,
    told_problems,
)
from renderer.diagnostics.edit import Edit, EditableSource, ReplacingHint, hint_behind, meant_name
from renderer.diagnostics.finding import Finding
from renderer.diagnostics.origin import (
    LineOf,
    Located,
    MergedSource,
    NamedSource,
    Origin,
    Path,
    Source,
    WholeOrigin,
    dotted,
)
from renderer.diagnostics.rules import import_rules, rule, run_rules_or_stop
from renderer.diagnostics.wording import Wording

__all__ = [
    "MAX_PROBLEMS",
    "Collector",
    "Diagnostic",
    "Edit",
    "EditableSource",
    "Finding",
    "InternalError",
    "LineOf",
    "Located",
    "MergedSource",
    "NamedSource",
    "Origin",
    "Path",
    "RenderError",
    "ReplacingHint",
    "Source",
    "Stop",
    "WholeOrigin",
    "Wording",
    "alternatives",
    "counted",
    "dotted",
    "has_errors",
    "hint_behind",
    "import_rules",
    "listed",
    "make_diagnostic",
    "meant_name",
    "meant_names",
    "naming_file",
    "quoted",
    "read_error",
    "rule",
    "run_rules_or_stop",
    "suggestion",
    "told_problems",
]
