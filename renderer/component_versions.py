"""Since which version of Kubernetes, a gateway and the like a field exists, and so what is too new for a cluster.

The facts are `since.json` (scripts/make_since.py). What of them matters is decided once a run, for the versions that
RenderConfig targets; it then becomes a part of the schemas that objects are validated against anyway.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from renderer.diagnostics import Path

Node: TypeAlias = Mapping[str, Any]
_FILE = os.path.join(os.path.dirname(__file__), "since.json")
GATE = "?"
"""Stands for a component where a feature gate of Kubernetes is off by default in all versions."""
_NONE: Mapping[str, str] = {}


class Component(Struct, frozen=True):
    """A component with versions. `oldest`: the oldest that was examined; `newest`: the newest that is known to have
    what we render; `tested`: that of our schemas; `default`: the target when RenderConfig has none, '' where it cannot
    have one; `asks`: from which of its versions on it needs which version of another component.
    """

    title: str
    oldest: str
    newest: str
    tested: str
    default: str = ""
    asks: Mapping[str, Mapping[str, str]] = {}


class TooNewSchema(Struct, frozen=True):
    """What is too new in a kind: a JSON Schema that refuses it, and the facts it was made of."""

    schema: str
    node: Node


class TooNew(Struct, frozen=True):
    """A part of an object that is too new: a `field`, a `value` of it, or neither for the kind. `needs`: versions by
    component; under GATE the name of a feature gate.
    """

    path: Path
    field: str
    value: str
    needs: Mapping[str, str]


@cache
def _facts() -> dict[str, Any]:
    with open(_FILE, "rb") as file:
        read: dict[str, object] = json.loads(file.read())
        return read


@cache
def components() -> Mapping[str, Component]:
    """All components, by their keys in RenderConfig's `targets`."""
    return {key: Component(**facts) for key, facts in _facts()["components"].items()}


def numbers(version: str) -> tuple[int, ...]:
    """A version such as `1.30` as numbers, to be compared."""
    return tuple([int(part) for part in version.split(".")])


class TargetVersions:
    """The versions that manifests have to work with, by component; a component that is not named has everything."""

    __slots__ = ("_late", "_nodes", "_numbers", "versions")

    def __init__(self, versions: Mapping[str, str]) -> None:
        self.versions = versions
        self._numbers = {key: numbers(version) for key, version in versions.items()}
        self._nodes: dict[int, Node] = {}
        self._late: dict[str, TooNewSchema | None] = {}

    def late(self, name: str) -> TooNewSchema | None:
        """What is too new in the kind of a schema; None where nothing is. Cached."""
        if name not in self._late:
            _, *number = _facts()["kinds"].get(name, ("",))
            node = self._node(number[0]) if number else None
            self._late[name] = TooNewSchema(json.dumps(_refusing_schema(node)), node) if node else None
        return self._late[name]

    def _node(self, number: int) -> Node:
        """The node of the facts, reduced to what is too new."""
        if number not in self._nodes:
            node: dict[str, object] = {}
            for key, value in _facts()["nodes"][number].items():
                if key == "!":
                    subset: Node = self._unmet(value)
                elif key in ("=", "~"):
                    subset = {word: unmet for word, needs in value.items() if (unmet := self._unmet(needs))}
                else:
                    subset = self._node(value)
                if subset:
                    node[key] = subset
            self._nodes[number] = node
        return self._nodes[number]

    def _unmet(self, needs: Mapping[str, str]) -> dict[str, str]:
        """The needs that the targets do not meet; a feature gate only where all versions are met."""
        targets = self._numbers
        unmet = {key: version for key, version in needs.items() if key in targets and numbers(version) > targets[key]}
        return unmet or ({GATE: needs[GATE]} if GATE in needs and "kubernetes" in targets else {})


def unsupported(key: str, versions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The components that are too old for the targeted version of this one, with the versions that it needs."""
    version = numbers(versions[key])
    asks: dict[str, str] = {}
    for first, needs in components()[key].asks.items():
        if numbers(first) <= version:
            asks.update(needs)
    for other, needed in asks.items():
        if numbers(versions[other]) < numbers(needed):
            yield other, needed


def target_versions(targets: Mapping[str, str | None]) -> TargetVersions:
    """The targets of a run: those of RenderConfig, and defaults for the others."""
    return TargetVersions(
        {
            key: targets.get(key) or component.default
            for key, component in components().items()
            if targets.get(key) or component.default
        }
    )


def _refusing_schema(node: Node) -> object:
    """A JSON Schema that refuses what the node names."""
    if "!" in node:
        return False
    schema: dict[str, object] = {}
    fields = {key: _refusing_schema(child) for key, child in node.items() if key not in ("=", "~", "[]", "{}")}
    if fields:
        schema["properties"] = fields
    if "=" in node:
        schema["not"] = {"enum": [*node["="], *(int(value) for value in node["="] if value.isdecimal())]}
    if "~" in node:
        schema["allOf"] = [{"pattern": pattern} for pattern in node["~"]]
    if "[]" in node:
        schema["items"] = _refusing_schema(node["[]"])
    if "{}" in node:
        schema["additionalProperties"] = _refusing_schema(node["{}"])
    return schema


def too_new(node: Node, value: object, path: Path = (), *, deep: bool = False) -> Iterator[TooNew]:
    """The parts of the value that are too new, by the node of a TooNewSchema; `deep`: also below a part that is too
    new.
    """
    if "!" in node:
        yield TooNew(path, str(path[-1]) if path else "", "", node["!"])
        if not deep:
            return
    if isinstance(value, dict):
        for key, inner in value.items():
            if child := node.get("{}") if "{}" in node else node.get(key):
                yield from too_new(child, inner, (*path, key), deep=deep)
    elif isinstance(value, list):
        for i, inner in enumerate(value) if "[]" in node else ():
            yield from too_new(node["[]"], inner, (*path, i), deep=deep)
    elif needs := node.get("=", _NONE).get(str(value)):
        yield TooNew(path, str(path[-1]), str(value), needs)
    elif "~" in node and isinstance(value, str):
        for pattern, pattern_needs in node["~"].items():
            if not re.search(pattern, value):
                yield TooNew(path, str(path[-1]), value, pattern_needs)


def all_needs() -> list[Mapping[str, str]]:
    """The needs of all fields, values and kinds."""
    nodes = _facts()["nodes"]
    values = [needs for node in nodes for key in ("=", "~") for needs in node.get(key, {}).values()]
    return [node["!"] for node in nodes if "!" in node] + values


def judging_component(name: str) -> str:
    """The component that serves the kinds of a schema; '' where it is not known."""
    component: str = _facts()["kinds"].get(name, ("",))[0]
    return component
