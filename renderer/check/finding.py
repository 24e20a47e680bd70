"""Findings about objects of a set, and where the fields of rendered ones come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec.structs import replace

from renderer.diagnostics import Diagnostic, Finding, Origin, dotted
from renderer.plan import Manifest

Body = Mapping[str, object]
IndexedFinding: TypeAlias = tuple[int, Finding]
"""The index in a set of objects of the one that has to change, and what is wrong with it."""

_TOO_NEW_CODES = ("E700", "W700")  # mostly about fields that no input sets


def locate_finding(manifest: Manifest, finding: Finding) -> Diagnostic:
    """The diagnostic at the origin of the field; its message names the field of the object where that is not also the
    field of the input.
    """
    path, field_origins = finding.path, manifest.field_origins
    origin = manifest.origin(path)
    if finding.code in _TOO_NEW_CODES:
        origin = existing_origin(origin)
    diagnostic = Finding(finding.code, (), finding.words).located(origin)
    if origin.path[-1:] == path[-1:] and any(path[:length] in field_origins for length in range(1, len(path) + 1)):
        return diagnostic
    return replace(diagnostic, message=f"in {manifest.body['kind']} {dotted(path)}: {diagnostic.message}")


def existing_origin(origin: Origin) -> Origin:
    """The origin, or the nearest parent that exists in its source."""
    while origin.path and origin.place == (parent := replace(origin, path=origin.path[:-1])).place:
        origin = parent
    return origin
