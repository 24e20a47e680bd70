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
    options = spec.get("options") or {}
    releases, pattern = options.get("releases") or {}, options.get("version")
    if pattern and tag and _is_version_itself(pattern, trusted=trusted):
        return str(releases.get(pattern, pattern))
    part = _version_part(spec, tag, trusted=trusted)
    return releases.get(tag[part], tag[part]) if part else ""


def tag_in_version(spec: EngineSpec, tag: str, version: str, *, trusted: bool = False) -> str:
    """An image tag with another version of the engine in place of its own, all else as it is; '' where no part of it is
    a version. A release that has a name is called by it where the tag is of that form.
    """
    part = _version_part(spec, tag, trusted=trusted)
    if part is None:
        return ""
    releases = (spec.get("options") or {}).get("releases") or {}
    if tag[part] in releases:
        version = next((name for name, release in releases.items() if release == version), version)
    return tag[: part.start] + version + tag[part.stop :]


def _is_version_itself(pattern: str, *, trusted: bool) -> bool:
    try:
        return not compile_version_pattern(pattern, trusted=trusted).groups
    except PatternError:
        return False


def _version_part(spec: EngineSpec, tag: str, *, trusted: bool) -> slice | None:
    """The part of a tag that is the version, or the name of a release; None without one."""
    options = spec.get("options") or {}
    if not (pattern := options.get("version")) or not tag:
        return None
    try:
        expression = compile_version_pattern(pattern, trusted=trusted)
    except PatternError:
        return None
    match = expression.search(tag) if expression.groups else None
    if match and (number := match.group(1)):
        start = match.end(1) - len(number)
        return slice(start, start + len(_extend_version(number, tag[match.end(1) :])))
    name = match.group(2) if match and expression.groups > 1 else ""
    if match and name and name in (options.get("releases") or {}):
        return slice(match.end(2) - len(name), match.end(2))
    return None


def _extend_version(version: str, rest: str) -> str:
    """The version with a fourth number and the suffixes .post1, rc1, .dev1 that begin `rest`."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return version
    suffix = re.match(r"(\.\d+)?((\.?(post|dev)|rc)\d+)*(?![0-9A-Za-z])", rest)
    return version + suffix[0] if suffix else version
