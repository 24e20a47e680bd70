"""The risks of a change: effects that a reviewer should know before it is merged."""

from __future__ import annotations

from renderer.diff.risks.detection import find_risks
from renderer.diff.risks.images_and_secrets import is_floating
from renderer.diff.risks.kinds import CLASSES, GUARD, KINDS, NAME, STANDING, ObjectPair, Risk
from renderer.diff.risks.rollout import restarting_fields

__all__ = [
    "CLASSES",
    "GUARD",
    "KINDS",
    "NAME",
    "STANDING",
    "ObjectPair",
    "Risk",
    "find_risks",
    "is_floating",
    "restarting_fields",
]
