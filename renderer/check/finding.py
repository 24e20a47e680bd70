"""What a rule says of an object: nothing but plain values, so that rules know neither files nor manifests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from renderer.plan import Manifest
from renderer.problems import Path, Problem, dotted, problem

Body = Mapping[str, Any]
Finding = tuple[str, Path, dict[str, Any]]
"""A code of problems.WORDINGS, where in the object, and the wording's words."""

LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
"""A DNS-1035 label, its length aside."""


def placed(manifest: Manifest, code: str, path: Path, words: Mapping[str, Any]) -> Problem:
    """The finding at the input that made the field."""
    found = problem(code, manifest.origin(path), **words)
    return found._replace(message=f"in {manifest.body['kind']} {dotted(path)}: {found.message}")
