"""Nulls of hand-written manifests, as an API server reads them (docs/checks.md#what-is-no-error). We write none."""

from __future__ import annotations

from collections.abc import Mapping

from renderer import schema_validation
from renderer.check.finding import Body
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, map_at

_BUILT_IN = (
    "apps",
    "autoscaling",
    "batch",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
)
"""The groups of Kubernetes' own kinds, besides the core group."""
_ZEROS: Mapping[str, object] = {"integer": 0, "number": 0, "string": "", "object": {}, "array": [], "boolean": False}


def without_nulls(body: Body) -> Body:
    """The object as the API server reads its nulls; itself where it has none.

    The server drops the fields that it knows. Entries of maps and items of lists become the zero value of their type
    in its own kinds, and in metadata; in custom resources it drops entries, and items stay. A null in place of a
    required field is kept, so that findings are about it. Of a kind without a schema all nulls in maps are dropped.
    """
    name = schema_validation.name_of(body["apiVersion"], body["kind"])
    if not _has_null(body):
        return body
    if not schema_validation.has_schema(name):
        return as_map(_strip(body, {}, ()))
    if schema_validation.is_valid(name, body):
        return body
    group = str(body["apiVersion"]).rpartition("/")[0]
    built_in = not group or group in _BUILT_IN
    unknown = {finding.path for finding in schema_validation.findings(name, body) if finding.code == "E301"}
    replacements: dict[Path, object] = dict.fromkeys(unknown)
    for path, types in schema_validation.null_entries(name, body).items():
        if built_in or path[0] == "metadata":
            replacements[path] = next(zero for kind, zero in _ZEROS.items() if kind in types)
    stripped = as_map(_strip(body, replacements, ()))
    for finding in schema_validation.findings(name, stripped):
        if finding.code == "E302" and finding.words["word"] in map_at(body, *finding.path):
            replacements[(*finding.path, str(finding.words["word"]))] = None
    return as_map(_strip(body, replacements, ()))


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None


def _strip(value: object, replacements: Mapping[Path, object], path: Path) -> object:
    """A copy without the nulls in maps, except those that are kept, each with what stands in its place."""
    if isinstance(value, dict):
        return {
            key: _strip(item, replacements, (*path, key))
            for key, item in value.items()
            if item is not None or (*path, key) in replacements
        }
    if isinstance(value, list):
        return [_strip(item, replacements, (*path, i)) for i, item in enumerate(value)]
    return replacements.get(path) if value is None else value
