"""Adoption: what is said of manifests of others that become OpenModels and Playgrounds."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

ADOPTION: Final[dict[str, Wording]] = {}
