"""What apps need together, by kind: each process plans some of the apps, and sends their needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from renderer.plan import SharedNeed

Need = TypeVar("Need", bound=SharedNeed)


def needs_of(kind: type[Need], needs: Iterable[SharedNeed]) -> list[Need]:
    """The needs of one kind, sorted."""
    return sorted([need for need in needs if isinstance(need, kind)])
