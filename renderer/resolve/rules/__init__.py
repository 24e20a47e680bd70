"""What is said about an app, a route or RenderConfig once it is decided: generators over one record each."""

from __future__ import annotations

from renderer.resolve.rules.registry import GATES, RULES, judged

__all__ = [
    "GATES",
    "RULES",
    "judged",
]
