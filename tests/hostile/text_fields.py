"""Every field of the input schemas that takes text, and documents that have one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from tests.paths import ROOT

Node: TypeAlias = Any
Step: TypeAlias = str | int | None  # a key, an item of a list, or None: any key of a map
KINDS = ("playground", "service", "openmodel", "backendruntime", "modelroute", "inferencemodel", "renderconfig")
DEEPEST = 24
# What may stand beside the field, where the schema asks for something: the first that its pattern takes.
SAMPLES = ("a", "chat", "1", "1Gi", "10s", "/a", "a/b", "http://a.example", "A", "1.2.3", f"sha256:{'0' * 64}")


class Field(NamedTuple):
    """A place for text. `path`: from the top of a document; None in it for a key of a map that may have any."""

    kind: str
    path: tuple[Step, ...]
    is_key: bool = False  # whether the text is the key itself

    @property
    def name(self) -> str:
        """As in messages."""
        return f"{self.kind}.{'.'.join('*' if step is None else str(step) for step in self.path)}"


@cache
def schema(kind: str) -> Node:
    """The schema of an input kind."""
    return json.loads((ROOT / "renderer" / "schemas" / "input" / f"{kind}.json").read_text("utf-8"))


@cache
def fields(kind: str) -> tuple[Field, ...]:
    """The fields of a kind below its spec, and the labels and annotations of its metadata."""
    places = dict.fromkeys(_fields(schema(kind), schema(kind), (), DEEPEST))
    return tuple(Field(kind, *place) for place in places if place[0][:1] in (("spec",), ("metadata",)))


def _fields(whole: Node, node: Node, path: tuple[Step, ...], left: int) -> Iterator[tuple[tuple[Step, ...], bool]]:
    node = _resolved(whole, node)
    if not left or not isinstance(node, dict):
        return
    for part in _branches(node):
        yield from _fields(whole, part, path, left - 1)
    types = node.get("type", [])
    if "enum" in node or "const" in node:
        return
    if "string" in types:
        yield path, False
    for key, inner in (node.get("properties") or {}).items():
        yield from _fields(whole, inner, (*path, key), left - 1)
    more = node.get("additionalProperties")
    if isinstance(more, dict) or node.get("patternProperties"):
        inner = more if isinstance(more, dict) else next(iter(node["patternProperties"].values()))
        yield (*path, None), True
        yield from _fields(whole, inner, (*path, None), left - 1)
    elif "object" in types and not node.get("properties") and more is not False:
        yield (*path, None), False  # of any form
    if isinstance(node.get("items"), dict):
        yield from _fields(whole, node["items"], (*path, 0), left - 1)


def _resolved(whole: Node, node: Node) -> Node:
    while isinstance(node, dict) and "$ref" in node:
        node = whole["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node


def _branches(node: Node) -> list[Node]:
    return [part for key in ("anyOf", "oneOf", "allOf") for part in node.get(key) or ()]


def put(field: Field, text: str, document: Node) -> None:
    """Writes the text into the field of a document, and beside it what the schema asks for."""
    whole = schema(field.kind)
    node, parent = whole, document
    steps = [*field.path]
    for position, step in enumerate(steps):
        last = position == len(steps) - 1
        key = (text if field.is_key else "a") if step is None and last else "a" if step is None else step
        node = _below(whole, node, step)
        value = (_sample(whole, node, 6) if field.is_key else text) if last else None
        if isinstance(parent, list):
            if not parent:
                parent.append(None)
            current = parent[0]
        else:
            current = parent.get(key)
        if value is None:
            nested = position + 1 < len(steps) and isinstance(steps[position + 1], int)
            fits = isinstance(current, list) if nested else isinstance(current, dict)
            value = current if fits else ([] if nested else {})
            if isinstance(value, dict):
                _complete(whole, node, value)
        if isinstance(parent, list):
            parent[0] = value
        else:
            parent[key] = value
        parent = value


def _below(whole: Node, node: Node, step: Step) -> Node:
    """The schema of what stands at a step below a schema; {} where it says nothing."""
    node = _resolved(whole, node)
    if not isinstance(node, dict):
        return {}
    if isinstance(step, int) and isinstance(node.get("items"), dict):
        return node["items"]
    if isinstance(step, str) and step in (node.get("properties") or {}):
        return node["properties"][step]
    if step is None and isinstance(node.get("additionalProperties"), dict):
        return node["additionalProperties"]
    if step is None and node.get("patternProperties"):
        return next(iter(node["patternProperties"].values()))
    return next((subschema for part in _branches(node) if (subschema := _below(whole, part, step))), {})


def _complete(whole: Node, node: Node, value: dict[str, Node]) -> None:
    """Adds what the schema asks for and is not there."""
    node = _resolved(whole, node)
    for key in node.get("required") or ():
        value.setdefault(key, "1Gi" if key == "storage" else _sample(whole, _below(whole, node, key), 6))


def _sample(whole: Node, node: Node, left: int) -> Node:
    """A value that the schema takes, as far as that is easily seen."""
    node = _resolved(whole, node)
    if not isinstance(node, dict) or not left:
        return "a"
    if "const" in node:
        return node["const"]
    if node.get("enum"):
        return node["enum"][0]
    types = node.get("type") or next((part["type"] for part in _branches(node) if "type" in part), "string")
    if ("integer" in types and "string" in types) or "anyOf" in node:
        return 1  # a quantity, or a port
    kind = types if isinstance(types, str) else types[0]
    if kind == "object":
        value: dict[str, Node] = {}
        for key in node.get("required") or ():
            value[key] = _sample(whole, _below(whole, node, key), left - 1)
        return value
    if kind == "array":
        return [_sample(whole, node.get("items", {}), left - 1)] * max(node.get("minItems", 0), 1)
    if kind in ("integer", "number"):
        return max(node.get("minimum", 1), 1)
    if kind == "boolean":
        return True
    pattern = re.compile(node.get("pattern", ""))
    return next((text for text in SAMPLES if pattern.search(text)), "a")


def at(document: Node, path: Sequence[Step]) -> Node:
    """What stands at a path."""
    for step in path:
        document = document["a" if step is None else step]
    return document
