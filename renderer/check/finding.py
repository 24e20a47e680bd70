"""What a rule says of an object: nothing but plain values, so that rules know neither files nor manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.plan import Manifest
from renderer.problems import Origin, Path, Problem, dotted, problem

Body = Mapping[str, Any]
Finding = tuple[str, Path, dict[str, Any]]
"""A code of problems.WORDINGS, where in the object, and the wording's words."""

_OURS = ("E700", "W700")  # about fields that are ours more often than not


def placed(manifest: Manifest, code: str, path: Path, words: Mapping[str, Any]) -> Problem:
    """The finding at the input that made the field; where it is the same field, the input's own path says enough."""
    origin, known = manifest.origin(path), manifest.origins()
    if code in _OURS:
        origin = _written(origin)
    found = problem(code, origin, **words)
    if origin.path[-1:] == path[-1:] and any(path[:length] in known for length in range(1, len(path) + 1)):
        return found
    return found._replace(message=f"in {manifest.body['kind']} {dotted(path)}: {found.message}")


def _written(origin: Origin) -> Origin:
    """The origin without the steps that its source does not have."""
    while origin.path and origin.place == (above := origin._replace(path=origin.path[:-1])).place:
        origin = above
    return origin
