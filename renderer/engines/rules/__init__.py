"""What is said of a running engine, whoever wrote its pod: generators over one record each."""

from __future__ import annotations

import os

from renderer.diagnostics import import_rules, run_rules_or_stop

__all__ = [
    "run_rules_or_stop",
]

import_rules(__name__, os.path.dirname(__file__))
