"""What is usual of a schema: the same without fields that hardly anyone sets (usual.yaml) and without words; and a map
whose keys all are usual ones is not asked of each of them whether it may be a key.

Whatever holds against it holds against the whole schema. So the renderer asks it first, and prepares the whole one,
which takes up to eight times as long, only for what this one refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import yaml

Node: TypeAlias = dict[str, Any]

_READ = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
KINDS: Mapping[str, frozenset[str]] = {name: frozenset(fields) for name, fields in _READ["kinds"].items()}
RARE = frozenset(field for fields in _READ["fields"].values() for field in fields)
KEYS: Mapping[str, Mapping[str, list[str]]] = _READ["keys"]
MAPS: Mapping[str, str] = {name: word for word, names in _READ["maps"].items() for name in names}
# Keywords that decide nothing.
WORDS = frozenset(("default", "description", "title", "x-kubernetes-list-map-keys", "x-means"))
# Keywords below which a narrower schema would not make the whole narrower, or not surely so.
CONDITIONS = ("allOf", "anyOf", "if", "not", "oneOf", "patternProperties", "propertyNames", "then")
REFERENCE = "#/$defs/"


def usual(schema: Node, name: str) -> Node:
    """What is usual of a packed schema, by its name in KINDS."""
    definitions: Mapping[str, Node] = schema.get("$defs", {})
    in_conditions = _reached(
        {name for part in (schema, *definitions.values()) for name in _in_conditions(part)}, definitions
    )
    narrow = _Narrow(name, definitions)
    parts = {name: _plain(part) if name in in_conditions else narrow(part) for name, part in definitions.items()}
    root = narrow({key: value for key, value in schema.items() if key != "$defs"})
    return {**root, "$defs": {name: parts[name] for name in _reached(set(_references(root)), parts)}}


class _Narrow:
    """Makes the parts of a schema narrower. `definitions`: what they refer to."""

    def __init__(self, name: str, definitions: Mapping[str, Node]) -> None:
        self.rare = RARE | KINDS[name]
        self.maps = MAPS.get(name)
        self.definitions = definitions

    def __call__(self, node: Node) -> Node:
        """The part without rare fields, as far as it then refuses them."""
        narrowed: Node = _plain({key: value for key, value in node.items() if key not in ("properties", "items")})
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                narrowed[key] = self(node[key])
        if "properties" in node:
            left = self.rare.difference(node.get("required", ())) if node.get("additionalProperties") is False else ()
            narrowed["properties"] = {key: self(inner) for key, inner in node["properties"].items() if key not in left}
        return (
            self.keyed(narrowed)
            if self.maps and {"additionalProperties", "propertyNames"} <= narrowed.keys()
            else narrowed
        )

    def keyed(self, node: Node) -> Node:
        """A map: with usual keys only, or as it is."""
        names, value_schema = node["propertyNames"], node["additionalProperties"]
        original = {"additionalProperties": value_schema, "propertyNames": names}
        keys = KEYS["quantities" if self.holds(1, value_schema) else "strings"]
        quick = {
            "additionalProperties": False,
            "properties": {
                key: {"enum": values} if values else value_schema
                for key, values in keys.items()
                if self.holds({key: None}, {"propertyNames": names})
            },
        }
        rest = {key: value for key, value in node.items() if key not in original}
        return {**rest, **quick} if self.maps == "ours" else {**rest, "anyOf": [quick, original]}

    def holds(self, value: Any, part: Node) -> bool:
        """Whether a value holds against a part."""
        return bool(jsonschema.Draft7Validator({**part, "$defs": self.definitions}).is_valid(value))


def _plain(node: Any) -> Any:
    """The part without words."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _plain(inner) for name, inner in value.items()} if key == "properties" else _plain(value)
        for key, value in node.items()
        if key not in WORDS
    }


def _in_conditions(node: Node) -> Iterator[str]:
    for key in CONDITIONS:
        yield from _references(node.get(key))
    inner = [node.get("items"), node.get("additionalProperties"), *node.get("properties", {}).values()]
    for part in inner:
        if isinstance(part, dict):
            yield from _in_conditions(part)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        if node.startswith(REFERENCE):
            yield node.removeprefix(REFERENCE)
    elif isinstance(node, (dict, list)):
        for child in node.values() if isinstance(node, dict) else node:
            yield from _references(child)


def _reached(names: set[str], parts: Mapping[str, Node]) -> set[str]:
    """The names, and those that their parts refer to, and so on."""
    while more := {name for reached in names for name in _references(parts[reached])} - names:
        names = names | more
    return names
