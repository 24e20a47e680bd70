"""Nulls of hand-written manifests, as an API server reads them (docs/checks.md#what-is-no-error). We write none."""

from __future__ import annotations

from collections.abc import Mapping, Set

from renderer import schema_validation
from renderer.check.finding import Body
from renderer.diagnostics import Path
from renderer.json_values import as_map, map_at, value_at

_BUILT_IN = "apps autoscaling batch networking.k8s.io policy rbac.authorization.k8s.io scheduling.k8s.io".split()
"""The groups of Kubernetes' own kinds, besides the core group."""
_ZEROS: Mapping[str, object] = {"string": "", "object": {}, "array": [], "integer": 0, "boolean": False}


def without_nulls(body: Body) -> Body:
    """The object, of a kind with a schema, without the nulls that the API server drops; itself where there is none.

    It drops the fields that it knows, and the entries of maps. Items of lists are the zero value of their type in its
    own kinds, and stay null in custom resources. A null in place of a required field is kept, so that findings are
    about it.
    """
    name = schema_validation.name_of(body["apiVersion"], body["kind"])
    if not _has_null(body) or schema_validation.is_valid(name, body):
        return body
    unknown: set[Path] = set()
    zeros: dict[Path, object] = {}
    group = str(body["apiVersion"]).rpartition("/")[0]
    built_in = not group or group in _BUILT_IN
    for finding in schema_validation.findings(name, body):
        if finding.code == "E301":
            unknown.add(finding.path)
        elif built_in and finding.code == "E303" and value_at(body, *finding.path) is None:
            zeros[finding.path] = _ZEROS.get(finding.words["kind"])
    stripped = as_map(_strip(body, unknown, zeros, ()))
    required = {
        (*finding.path, finding.words["word"])
        for finding in schema_validation.findings(name, stripped)
        if finding.code == "E302" and finding.words["word"] in map_at(body, *finding.path)
    }
    return as_map(_strip(body, unknown | required, zeros, ())) if required else stripped


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None


def _strip(value: object, kept: Set[Path], zeros: Mapping[Path, object], path: Path) -> object:
    """A copy without nulls in maps, except those whose paths are kept; null items of lists become their zero values."""
    if isinstance(value, dict):
        return {
            key: _strip(item, kept, zeros, (*path, key))
            for key, item in value.items()
            if item is not None or (*path, key) in kept
        }
    if isinstance(value, list):
        return [
            zeros.get((*path, i)) if item is None else _strip(item, kept, zeros, (*path, i))
            for i, item in enumerate(value)
        ]
    return value
