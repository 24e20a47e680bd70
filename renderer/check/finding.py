"""Findings of rules about an object: plain values, so that rules know neither files nor manifests."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Diagnostic, Origin, Path, dotted, make_diagnostic
from renderer.plan import Manifest

Body = Mapping[str, object]
Finding = tuple[str, Path, Mapping[str, object]]
"""A code of diagnostics.wordings, where in the object, and the wording's words."""


class IndexedFinding(Struct, frozen=True):
    """A finding in a set of objects: the index of the object that has to change, and a Finding of it."""

    index: int
    code: str
    path: Path
    words: Mapping[str, object]


_TOO_NEW_CODES = ("E700", "W700")  # mostly about fields that no input sets


def locate_finding(manifest: Manifest, code: str, path: Path, words: Mapping[str, object]) -> Diagnostic:
    """The diagnostic at the origin of the field; its message names the field of the object where that is not also the
    field of the input.
    """
    origin, field_origins = manifest.origin(path), manifest.field_origins
    if code in _TOO_NEW_CODES:
        origin = existing_origin(origin)
    diagnostic = make_diagnostic(code, origin, **words)
    if origin.path[-1:] == path[-1:] and any(path[:length] in field_origins for length in range(1, len(path) + 1)):
        return diagnostic
    return replace(diagnostic, message=f"in {manifest.body['kind']} {dotted(path)}: {diagnostic.message}")


def existing_origin(origin: Origin) -> Origin:
    """The origin, or the nearest parent that exists in its source."""
    while origin.path and origin.place == (parent := replace(origin, path=origin.path[:-1])).place:
        origin = parent
    return origin
