"""The fields of a source, as tables in presets/ list them: what is unknown or of no use to us is told, and left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.diagnostics import Collector, Origin, Path, suggestion
from renderer.schema_validation import message_words, type_finding
from renderer.yamlio import Document

Table = Mapping[str, Any]  # of the fields of a map: by name its type, or a map with `fields`, `items`, `lost` or `type`

_TYPES: Mapping[str, tuple[str, ...]] = {
    "text": ("string",),
    "integer": ("integer",),
    "number": ("number",),
    "boolean": ("boolean",),
    "map": ("object",),
    "list": ("array",),
    "quantity": ("string", "number"),
    "amount": ("integer", "string"),
    "scalar": ("string", "number", "boolean"),
    "textOrMap": ("string", "object"),
    "any": (),
}
_ITEMS = {"texts": "text", "scalars": "scalar", "maps": "map"}  # lists of one type
_ENTRIES = {"textMap": "text", "scalarMap": "scalar"}  # maps of one type


def read_fields(value: object, table: Table, origin: Origin, diagnostics: Collector) -> dict[str, Any]:
    """A copy of the map at `origin` with those of its fields that the table knows, each of its type. Everything else is
    told: fields that are unknown, that are lost, and values of another type. Nulls count as missing.
    """
    if not isinstance(value, dict):
        _tell_type(value, ("object",), origin, diagnostics)
        return {}
    fields: dict[str, Any] = {}
    for key, item in value.items():
        if item is None:
            continue
        item_origin = origin.at(key)
        if key not in table:
            diagnostics.add("W965", origin.at(key, key=True), word=key, hint=suggestion(str(key), [*table]))
        elif (result := _read_value(item, table[key], item_origin, diagnostics)) is not None:
            fields[key] = result
    return fields


def _read_value(value: Any, kind: Any, origin: Origin, diagnostics: Collector) -> Any:
    """The value as it is used; None where it is not."""
    rule: Mapping[str, Any] = {"type": kind} if isinstance(kind, str) else kind
    if "lost" in rule:
        if (value not in ({}, [], "", False) and not _is_off(value)) or rule.get("evenEmpty"):
            diagnostics.add("W966", origin, why=rule["lost"])
        return None
    if "fields" in rule:
        if not isinstance(value, dict):
            return _tell_type(value, ("object",), origin, diagnostics)
        return read_fields(value, rule["fields"], origin, diagnostics)
    name = rule.get("type", "list")
    if "items" in rule or name in _ITEMS:
        if not isinstance(value, list):
            return _tell_type(value, ("array",), origin, diagnostics)
        item_kind = rule.get("items") or _ITEMS[name]
        items = [_read_value(item, item_kind, origin.at(i), diagnostics) for i, item in enumerate(value)]
        return items if None not in items else None  # the others would stand at another index
    if name in _ENTRIES:
        if not isinstance(value, dict):
            return _tell_type(value, ("object",), origin, diagnostics)
        entries = {
            str(key): _read_value(item, _ENTRIES[name], origin.at(key), diagnostics) for key, item in value.items()
        }
        return {key: item for key, item in entries.items() if item is not None}
    if _TYPES[name] and not _is_of_type(value, _TYPES[name]):
        return _tell_type(value, _TYPES[name], origin, diagnostics)
    return value


def _is_off(value: object) -> bool:
    """Whether a part of a chart is switched off: all its switches (`enabled`, `enableRouter`) are."""
    keys = value if isinstance(value, dict) else {}
    switches = [item for key, item in keys.items() if str(key).startswith("enable")]
    return bool(switches) and all(item is False for item in switches)


def _is_of_type(value: object, types: tuple[str, ...]) -> bool:
    """Whether the value has one of the types of a JSON schema."""
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, str):
        return "string" in types
    if isinstance(value, int):
        return "integer" in types or "number" in types
    if isinstance(value, float):
        return "number" in types
    return ("object" if isinstance(value, dict) else "array") in types and value is not None


def _tell_type(value: object, types: tuple[str, ...], origin: Origin, diagnostics: Collector) -> None:
    finding = type_finding((), value, types)
    diagnostics.add("E303", origin, **message_words(finding, raw_text(origin)))


def raw_text(origin: Origin) -> str | None:
    """The scalar at an origin as the user wrote it; None for maps and lists, and where nobody can tell."""
    source, path = origin.behind
    return source.raw(path) if isinstance(source, Document) and _is_there(source, path) else None


def _is_there(document: Document, path: Path) -> bool:
    value: Any = document.value
    for part in path:
        if not isinstance(value, (dict, list)):
            return False
        try:
            value = value[part]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def as_word(value: object) -> str:
    """A scalar as a word of a command line, or as the value of a variable."""
    return str(value).lower() if isinstance(value, bool) else str(value)
