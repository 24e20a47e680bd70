"""Migration: what is said of dumps of a cluster that are compared with the tree, or that a cutover is made for."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

MIGRATION: Final[dict[str, Wording]] = {}
