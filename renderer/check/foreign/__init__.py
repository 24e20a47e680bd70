"""Foreign objects of the tree: warnings where they collide with rendered ones, or aim at nothing."""

from __future__ import annotations

from renderer.check.foreign.objects import OwnObject, own_objects
from renderer.check.foreign.platform_components import missing_components
from renderer.check.foreign.platform_releases import platform_releases
from renderer.check.foreign.rate_limit_service import uncounted_budgets
from renderer.check.foreign.resource_quotas import JudgedQuota
from renderer.check.foreign.sides import is_side, validate_sides
from renderer.check.foreign.unlisted_namespaces import unlisted_namespaces
from renderer.check.foreign.validation import ForeignState, has_resource_quotas, validate_foreign_objects

__all__ = [
    "ForeignState",
    "JudgedQuota",
    "OwnObject",
    "has_resource_quotas",
    "is_side",
    "missing_components",
    "own_objects",
    "platform_releases",
    "uncounted_budgets",
    "unlisted_namespaces",
    "validate_foreign_objects",
    "validate_sides",
]
