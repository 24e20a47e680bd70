"""An object as a policy sees it: with the defaults of its kind, and written as the server's own types are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final

import msgspec

from renderer import schema_validation
from renderer.kubernetes import quantity
from renderer.kubernetes.api_types import api_types
from renderer.kubernetes.json_values import as_map, without_nulls
from renderer.kubernetes.server_defaults import RULES, constants
from renderer.plan import Body

_ZERO: Final[Mapping[str, object]] = {"string": "", "int": 0, "float": 0.0, "bool": False, "intOrString": 0}
_NEVER_EMPTY: Final = ("quantity", "intOrString")  # structs in Go
_Writer = Callable[[Any], Any]


def server_view(body: Body, complete: Completion | None = None) -> Mapping[str, Any]:
    """The object as a policy sees it, in plain types. Of a kind that we do not know, it is the object itself, with what
    `complete` fills in.
    """
    version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    text = msgspec.json.encode(body)
    plain: dict[str, Any] = msgspec.json.decode(text)
    plain.pop("status", None)  # the server begins with an empty one
    name = api_types().kinds.get(f"{version}/{kind}")
    if name is not None:
        return _struct_writer(name)(plain)
    plain = without_nulls(plain) if b"null" in text else plain
    complete = complete or (_completion_of_kind(version, kind) if "/" in version else None)
    return complete(plain) if complete else plain


def server_value(type_name: str, value: object) -> Mapping[str, Any]:
    """A value of a type of the server's, such as `core.PodTemplateSpec`, with its defaults, wherever it stands."""
    return _struct_writer(type_name)(value)


def is_own_kind(body: Body) -> bool:
    """Whether the kind is one of the server's own, some of whose defaults depend on other fields."""
    return f"{body.get('apiVersion')}/{body.get('kind')}" in api_types().kinds


# ---- kinds of the server ----


class _StructWriter:
    """Writes the values of a type of the server's, with its defaults."""

    def __init__(self, name: str) -> None:
        self._constants, self._rule = constants(name), RULES.get(name)
        self._fields: dict[str, tuple[_Writer, bool]] = {}  # by name, the writer, and whether empty values are left out
        self._always: list[tuple[str, _Writer]] = []
        shapes = api_types().types[name]
        self._numbers = {field for field, shape in shapes.items() if shape == "?int"}  # 0 is none
        for field, shape in shapes.items():
            bare = shape.lstrip("?!")
            is_struct = bare in api_types().types or bare in _NEVER_EMPTY
            is_omitted = shape[0] == "?" and not is_struct
            self._fields[field] = (_writer(bare), is_omitted and bare[0] != "*")
            if not is_omitted:
                self._always.append((field, self._fields[field][0]))

    def __call__(self, raw: Any) -> dict[str, Any]:
        value = dict(raw) if isinstance(raw, dict) else {}
        for field, default in self._constants.items():
            present = value.get(field)
            if present is None or present == "" or (present == 0 and field in self._numbers):
                value[field] = default
        if self._rule:
            self._rule(value)
        written: dict[str, Any] = {}
        fields = self._fields
        for field, item in value.items():
            if item is not None and field in fields:
                write, is_omitted = fields[field]
                item = write(item)
                if item or not is_omitted:
                    written[field] = item
        for field, write in self._always:
            if field not in written:
                written[field] = write(None)
        return written


@cache
def _struct_writer(name: str) -> _StructWriter:
    return _StructWriter(name)


@cache
def _writer(shape: str) -> _Writer:
    """The function that writes values of a shape; it is given None for what is missing."""
    if shape[0] == "*":
        return partial(_write_pointer, _writer(shape[1:]))
    if shape[:2] == "[]":
        return partial(_write_list, _writer(shape[2:]))
    if shape[:2] == "{}":
        return partial(_write_map, _writer(shape[2:]))
    if shape in api_types().types:
        return lambda value: _struct_writer(shape)(value)  # types refer to themselves
    if shape == "quantity":
        return _write_quantity
    return partial(_write_plain, _ZERO.get(shape))


def _write_pointer(write: _Writer, value: Any) -> Any:
    return None if value is None else write(value)


def _write_list(write: _Writer, value: Any) -> Any:
    return [write(item) for item in value] if isinstance(value, list) else None


def _write_map(write: _Writer, value: Any) -> Any:
    return {key: write(item) for key, item in value.items()} if isinstance(value, dict) else None


def _write_plain(zero: object, value: Any) -> Any:
    if value is None:
        return zero
    return int(value) if zero == 0 and value.__class__ is float and value.is_integer() else value


def _write_quantity(value: Any) -> Any:
    try:
        return quantity.canonical("0" if value is None else value)
    except ValueError:
        return value  # the server refuses the object for it


# ---- kinds of CRDs ----


class Completion:
    """Fills in the defaults of a CRD below a node of its schema."""

    def __init__(
        self, fields: Mapping[str, Completion], defaults: Mapping[str, object], items: Completion | None
    ) -> None:
        self._fields = fields  # only those with defaults below them
        self._defaults, self._items = defaults, items

    def __call__(self, value: Any) -> Any:
        if isinstance(value, dict):
            completed = dict(value)
            for name, default in self._defaults.items():
                completed.setdefault(name, default)
            for name, complete in self._fields.items():
                if name in completed:
                    completed[name] = complete(completed[name])
            return completed
        if isinstance(value, list) and self._items:
            return [self._items(item) for item in value]
        return value


@cache
def _completion_of_kind(version: str, kind: str) -> Completion | None:
    """What fills in the defaults of a kind; None where there are none, or the kind is not known."""
    name = schema_validation.name_of(version, kind)
    if not schema_validation.has_schema(name):
        return None
    schema = schema_validation.read_schema(name)
    return completion(schema, schema.get("$defs", {}))


def completion(schema: Any, definitions: Mapping[str, Any]) -> Completion | None:
    """What fills in the defaults of a schema; None where it has none."""
    node = _resolved(schema, definitions)
    properties = {name: _resolved(field, definitions) for name, field in as_map(node.get("properties")).items()}
    below = {name: completion(field, definitions) for name, field in properties.items()}
    fields = {name: complete for name, complete in below.items() if complete}
    defaults = {name: field["default"] for name, field in properties.items() if "default" in field}
    items = completion(node["items"], definitions) if "items" in node else None
    return Completion(fields, defaults, items) if fields or defaults or items else None


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node of a schema with what it refers to; CRDs do not refer in circles."""
    node: dict[str, Any] = schema if isinstance(schema, dict) else {}
    while "$ref" in node:
        more = {key: value for key, value in node.items() if key != "$ref"}
        node = {**definitions.get(str(node["$ref"]).rpartition("/")[2], {}), **more}
    return node
