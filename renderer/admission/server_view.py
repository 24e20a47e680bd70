"""An object as a policy sees it: with the defaults of its kind, and written as the server's own types are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from renderer import quantity, schema_validation
from renderer.admission.defaults import CONSTANTS, RULES
from renderer.plan import Body

_FILE: Final = os.path.join(os.path.dirname(__file__), "api_types.json")
_ZERO: Final[Mapping[str, object]] = {
    "string": "",
    "int": 0,
    "float": 0.0,
    "bool": False,
    "quantity": "0",
    "intOrString": 0,
}
_STRUCTS: Final = ("quantity", "intOrString")  # in Go: they are never empty


def server_view(body: Body) -> Mapping[str, Any]:
    """The object as a policy sees it. Of a kind that we do not know, it is the object itself."""
    version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    name = _types()["kinds"].get(f"{version}/{kind}")
    if name is not None:
        return _struct(name, body)
    schema = schema_validation.name_of(version, kind)
    if "/" not in version or not schema_validation.has_schema(schema):
        return _without_nulls(body)
    return _CustomKind(schema).complete(body)


@cache
def _types() -> Mapping[str, Mapping[str, Any]]:
    with open(_FILE, "rb") as file:
        types: dict[str, dict[str, Any]] = json.loads(file.read())
    return types


def _struct(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of a type of the server's, with its defaults."""
    value = dict(given)
    for field, default in CONSTANTS.get(name, {}).items():
        if value.get(field) in (None, "", 0):
            value[field] = default
    if rule := RULES.get(name):
        rule(value)
    written: dict[str, Any] = {}
    for field, shape in _types()["types"][name].items():
        item = value.get(field)
        if shape[0] != "?":
            written[field] = _written(shape, item)
        elif item is not None or shape in _structs():
            item = _written(shape.lstrip("?!"), item)
            if not _is_empty(shape, item):
                written[field] = item
    return written


@cache
def _structs() -> frozenset[str]:
    """The shapes of fields that are written even where nothing is given."""
    types = _types()["types"]
    shapes = {shape for fields in types.values() for shape in fields.values()}
    return frozenset(shape for shape in shapes if shape[0] == "?" and (shape[1:] in types or shape[1:] in _STRUCTS))


def _written(shape: str, value: Any) -> Any:
    """A value of a shape, as it is written."""
    if shape[0] == "*":
        return None if value is None else _written(shape[1:], value)
    if shape[:2] == "[]":
        return [_written(shape[2:], item) for item in value] if isinstance(value, list) else None
    if shape[:2] == "{}":
        return {key: _written(shape[2:], item) for key, item in value.items()} if isinstance(value, dict) else None
    if shape in _types()["types"]:
        return _struct(shape, value if isinstance(value, dict) else {})
    if value is None:
        return _ZERO.get(shape)
    if shape == "quantity":
        return _canonical(value)
    if shape == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    return float(value) if shape == "float" and isinstance(value, int) else value


def _canonical(value: object) -> object:
    try:
        return quantity.canonical(value)
    except ValueError:
        return value  # the server refuses the object for it


def _is_empty(shape: str, value: object) -> bool:
    """Whether a value of that shape is left out."""
    if shape[1:2] == "*" or shape[1:] in (*_STRUCTS, "any"):
        return value is None
    if shape[1:] in _types()["types"]:
        return False
    return value in (None, "", 0, False) or value in ([], {})


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


@cache
class _CustomKind:
    """A kind of a CRD, by the name of its schema."""

    def __init__(self, name: str) -> None:
        self.schema = schema_validation.read_schema(name)

    def complete(self, body: Body) -> dict[str, Any]:
        """The object with the defaults of its CRD."""
        completed: dict[str, Any] = self._complete(self.schema, body)
        return completed

    def _complete(self, schema: Any, value: Any) -> Any:
        node = self._resolved(schema)
        if isinstance(value, dict):
            properties = node.get("properties") or {}
            more = node.get("additionalProperties")
            completed = {
                name: self._complete(properties.get(name, more), item)
                for name, item in value.items()
                if item is not None
            }
            for name, field in properties.items():
                if name not in completed and "default" in self._resolved(field):
                    completed[name] = self._complete(field, self._resolved(field)["default"])
            return completed
        if isinstance(value, list):
            return [self._complete(node.get("items"), item) for item in value]
        if node.get("type") == "number" and value.__class__ is int:
            return float(value)
        return int(value) if node.get("type") == "integer" and isinstance(value, float) else value

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        node = schema if isinstance(schema, dict) else {}
        for _ in range(8):
            reference = node.get("$ref")
            if not isinstance(reference, str):
                break
            node = {
                **self.schema["$defs"][reference.rpartition("/")[2]],
                **{key: node[key] for key in node if key != "$ref"},
            }
        return node
