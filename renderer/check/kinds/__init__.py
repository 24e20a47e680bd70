"""Rules for one kind beside its schema."""

from __future__ import annotations

import os

from renderer.check.kind_rules import object_rules
from renderer.diagnostics import import_rules

__all__ = [
    "object_rules",
]

import_rules(__name__, os.path.dirname(__file__))
