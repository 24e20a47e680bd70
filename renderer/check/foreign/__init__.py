"""Foreign objects of the tree: warnings where they collide with rendered ones, or aim at nothing."""

from __future__ import annotations

from renderer.check.foreign.objects import OwnObject, own_objects
from renderer.check.foreign.rate_limit_service import uncounted_budgets
from renderer.check.foreign.validation import validate_foreign_objects

__all__ = [
    "OwnObject",
    "own_objects",
    "uncounted_budgets",
    "validate_foreign_objects",
]
