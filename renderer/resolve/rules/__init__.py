"""What is said about an app, a route or RenderConfig once it is decided: generators over one record each. Each record
is judged as soon as it is there, so that errors are found even where a later decision cannot be made.
"""

from __future__ import annotations

import os

from renderer.diagnostics import import_rules
from renderer.engines.rules import run_rules_or_stop  # the rules about engines are asked here too

__all__ = [
    "run_rules_or_stop",
]

import_rules(__name__, os.path.dirname(__file__))
