"""The engine's version in the tag of an image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from renderer.text import patterns
from renderer.text.patterns import Expression, PatternError

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec


def compile_version_pattern(pattern: str, *, trusted: bool = False) -> Expression | re.Pattern[str]:
    """The regular expression. `trusted`: one of ours, for which `re` suffices. Raises PatternError."""
    return re.compile(pattern) if trusted else patterns.expression(pattern)


def version_of_tag(spec: EngineSpec, tag: str, *, trusted: bool = False) -> str:
    """The engine's version in an image tag, by the pattern `options.version` of a `spec.engine`; '' without one.

    A pattern without a group is the version itself, for custom images; an invalid one gives none. A second group
    matches the name of a release, whose version is in `options.releases`.
    """
    releases = (spec.get("options") or {}).get("releases") or {}
    pattern = (spec.get("options") or {}).get("version")
    if not pattern or not tag:
        return ""
    try:
        expression = compile_version_pattern(pattern, trusted=trusted)
    except PatternError:
        return ""
    if not expression.groups:
        return str(releases.get(pattern, pattern))
    match = expression.search(tag)
    if match and (number := match.group(1)):
        return _extend_version(number, tag[match.end(1) :])
    return str(releases.get(match.group(2) or "", "")) if match and expression.groups > 1 else ""


def _extend_version(version: str, rest: str) -> str:
    """The version with a fourth number and the suffixes .post1, rc1, .dev1 that begin `rest`."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return version
    suffix = re.match(r"(\.\d+)?((\.?(post|dev)|rc)\d+)*(?![0-9A-Za-z])", rest)
    return version + suffix[0] if suffix else version
