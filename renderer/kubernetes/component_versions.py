"""The versions of Kubernetes, gateways and other components that added a field, and what is too new for a cluster.

The facts are in `component_versions.json` (scripts/make_since.py). They are reduced once a run to the versions that
RenderConfig targets, and become part of the schemas that objects are validated against.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Path

_FILE = os.path.join(os.path.dirname(__file__), "component_versions.json")
GATE = "?"
"""Stands for a component where a feature gate of Kubernetes is off by default in all versions."""
_NONE: Mapping[str, str] = {}


class Component(Struct, frozen=True):
    """A component with versions."""

    title: str
    oldest: str  # the oldest that was examined
    newest: str  # the newest known to have what we render
    tested: str  # that of our schemas
    default: str = ""  # the target without one in RenderConfig, '' where it cannot have one
    # The versions of other components that it needs, by its first version with the need.
    asks: Mapping[str, Mapping[str, str]] = {}


class TooNewSchema(Struct, frozen=True):
    """The too new parts of a kind: a JSON Schema that rejects them, and the facts it was made of."""

    schema: str
    node: Mapping[str, Any]


class TooNew(Struct, frozen=True):
    """A part of an object that is too new: a field, a value of a field, or the kind."""

    path: Path
    field: str  # '' for a kind
    value: str  # '' for a field with any value, and for a kind
    needs: Mapping[str, str]  # versions by component; under GATE the name of a feature gate


@cache
def _facts() -> dict[str, Any]:
    with open(_FILE, "rb") as file:
        read: dict[str, object] = json.loads(file.read())
        return read


@cache
def components() -> Mapping[str, Component]:
    """All components, by their keys in RenderConfig's `targets`."""
    return {key: Component(**facts) for key, facts in _facts()["components"].items()}


def version_numbers(version: str) -> tuple[int, ...]:
    """A version such as `1.30` as numbers, to be compared."""
    return tuple([int(part) for part in version.split(".")])


class TargetVersions:
    """The versions that manifests have to work with, by component; a missing component has every field."""

    __slots__ = ("_late", "_nodes", "_numbers", "versions")

    def __init__(self, versions: Mapping[str, str]) -> None:
        self.versions = versions
        self._numbers = {key: version_numbers(version) for key, version in versions.items()}
        self._nodes: dict[int, Mapping[str, Any]] = {}
        self._late: dict[str, TooNewSchema | None] = {}

    def too_new_schema(self, name: str) -> TooNewSchema | None:
        """The too new parts of a schema's kind; None without any. Cached."""
        if name not in self._late:
            _, *number = _facts()["kinds"].get(name, ("",))
            node = self._node(number[0]) if number else None
            self._late[name] = TooNewSchema(json.dumps(_refusing_schema(node)), node) if node else None
        return self._late[name]

    def _node(self, number: int) -> Mapping[str, Any]:
        """The node of the facts, reduced to too new parts."""
        if number not in self._nodes:
            node: dict[str, object] = {}
            for key, value in _facts()["nodes"][number].items():
                if key == "!":
                    subset: Mapping[str, Any] = self._unmet_needs(value)
                elif key in ("=", "~"):
                    subset = {word: unmet for word, needs in value.items() if (unmet := self._unmet_needs(needs))}
                else:
                    subset = self._node(value)
                if subset:
                    node[key] = subset
            self._nodes[number] = node
        return self._nodes[number]

    def _unmet_needs(self, needs: Mapping[str, str]) -> dict[str, str]:
        """The needs that the targets do not meet; a feature gate only where the targets meet all versions."""
        targets = self._numbers
        unmet = {
            key: version for key, version in needs.items() if key in targets and version_numbers(version) > targets[key]
        }
        return unmet or ({GATE: needs[GATE]} if GATE in needs and "kubernetes" in targets else {})


def unmet_dependencies(key: str, versions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The components whose target is too old for the target of this one, with the versions that it needs."""
    version = version_numbers(versions[key])
    asks: dict[str, str] = {}
    for first, needs in components()[key].asks.items():
        if version_numbers(first) <= version:
            asks.update(needs)
    for other, needed in asks.items():
        if version_numbers(versions[other]) < version_numbers(needed):
            yield other, needed


def set_versions(targets: Mapping[str, str | None]) -> dict[str, str]:
    """The versions among the targets of RenderConfig, by component."""
    return {key: version for key in components() if (version := targets.get(key))}


def target_versions(targets: Mapping[str, str | None]) -> TargetVersions:
    """The targets of a run: those of RenderConfig, else the defaults."""
    return TargetVersions(
        {
            key: targets.get(key) or component.default
            for key, component in components().items()
            if targets.get(key) or component.default
        }
    )


def _refusing_schema(node: Mapping[str, Any]) -> object:
    """A JSON Schema that rejects the parts in a node."""
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


def too_new(node: Mapping[str, Any], value: object, path: Path = (), *, nested: bool = False) -> Iterator[TooNew]:
    """The too new parts of a value, by the node of a TooNewSchema. `nested`: also those below a too new part."""
    if "!" in node:
        yield TooNew(path, str(path[-1]) if path else "", "", node["!"])
        if not nested:
            return
    if isinstance(value, dict):
        for key, inner in value.items():
            if child := node.get("{}") if "{}" in node else node.get(key):
                yield from too_new(child, inner, (*path, key), nested=nested)
    elif isinstance(value, list):
        for i, inner in enumerate(value) if "[]" in node else ():
            yield from too_new(node["[]"], inner, (*path, i), nested=nested)
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


def serving_component(name: str) -> str:
    """The component that serves the kind of a schema; '' where it is unknown."""
    component: str = _facts()["kinds"].get(name, ("",))[0]
    return component
