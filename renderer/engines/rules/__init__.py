"""What is said of a running engine, whoever wrote its pod: generators over one record each."""

from __future__ import annotations

from renderer.engines.rules.registry import RULES

__all__ = [
    "RULES",
]
