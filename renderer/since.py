"""Which version of Kubernetes, of a gateway and the like has a field first, and so what is too new for a cluster.

The facts are `since.json` (scripts/make_since.py). What of them can matter is decided once a run, for the versions that
RenderConfig targets; it then becomes a part of the schemas that objects are held against anyway.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from renderer.problems import Path
from renderer.records import NamedTuple

Node: TypeAlias = Mapping[str, Any]
_FILE = os.path.join(os.path.dirname(__file__), "since.json")
GATE = "?"
"""Stands for a component where a feature gate of Kubernetes is off by default in all versions."""
_NONE: Mapping[str, str] = {}


class Component(NamedTuple):
    """Something with versions. `oldest`: that was looked at; `newest`: that is known to have what we render; `tested`:
    of our schemas; `default`: what is targeted when RenderConfig says nothing, '' for what it cannot say; `asks`: by
    version, from which on it holds, the oldest version of another component that it works with.
    """

    title: str
    oldest: str
    newest: str
    tested: str
    default: str = ""
    asks: Mapping[str, Mapping[str, str]] = {}


class Late(NamedTuple):
    """What of a kind is too new: a JSON Schema that refuses it, and the facts behind it."""

    schema: str
    node: Node


class TooNew(NamedTuple):
    """A part of an object that is too new. `field`, or a `value` of it; neither: the kind. `needs`: the version of a
    component, by its key; or by GATE a feature gate.
    """

    path: Path
    field: str
    value: str
    needs: Mapping[str, str]


@cache
def _facts() -> dict[str, Any]:
    with open(_FILE, "rb") as file:
        read: dict[str, Any] = json.loads(file.read())
        return read


@cache
def components() -> Mapping[str, Component]:
    """All components, by their keys in RenderConfig's `targets`."""
    return {key: Component(**each) for key, each in _facts()["components"].items()}


def numbers(version: str) -> tuple[int, ...]:
    """A version such as `1.30`, to be compared."""
    return tuple([int(each) for each in version.split(".")])


class Targets:
    """The versions that manifests have to work with, by component; one that is not named has everything. What of a kind
    is too new for them is worked out when first asked for.
    """

    __slots__ = ("_late", "_nodes", "_numbers", "versions")

    def __init__(self, versions: Mapping[str, str]) -> None:
        self.versions = versions
        self._numbers = {key: numbers(version) for key, version in versions.items()}
        self._nodes: dict[int, Node] = {}
        self._late: dict[str, Late | None] = {}

    def late(self, name: str) -> Late | None:
        """What is too new of the kind of a schema; None where nothing is."""
        if name not in self._late:
            _, *number = _facts()["kinds"].get(name, ("",))
            node = self._node(number[0]) if number else None
            self._late[name] = Late(json.dumps(_refusing(node)), node) if node else None
        return self._late[name]

    def _node(self, number: int) -> Node:
        """A node with no more in it than what is too new."""
        if number not in self._nodes:
            node: dict[str, Any] = {}
            for key, value in _facts()["nodes"][number].items():
                if key == "!":
                    made: Node = self._unmet(value)
                elif key in ("=", "~"):
                    made = {word: unmet for word, needs in value.items() if (unmet := self._unmet(needs))}
                else:
                    made = self._node(value)
                if made:
                    node[key] = made
            self._nodes[number] = node
        return self._nodes[number]

    def _unmet(self, needs: Mapping[str, str]) -> dict[str, str]:
        """The needs that are not met; only where all versions do, a gate."""
        have = self._numbers
        unmet = {key: each for key, each in needs.items() if key in have and numbers(each) > have[key]}
        return unmet or ({GATE: needs[GATE]} if GATE in needs and "kubernetes" in have else {})


def unsupported(key: str, versions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Which component is too old for the targeted version of another, and the version that this one asks for."""
    version = numbers(versions[key])
    asks: dict[str, str] = {}
    for first, needs in components()[key].asks.items():
        if numbers(first) <= version:
            asks.update(needs)
    for other, needed in asks.items():
        if numbers(versions[other]) < numbers(needed):
            yield other, needed


def targets(said: Mapping[str, str | None]) -> Targets:
    """The targets of a run: what RenderConfig says, the defaults where it says nothing."""
    return Targets(
        {key: said.get(key) or each.default for key, each in components().items() if said.get(key) or each.default}
    )


def _refusing(node: Node) -> Any:
    """A JSON Schema that refuses what the node names."""
    if "!" in node:
        return False
    made: dict[str, Any] = {}
    fields = {key: _refusing(child) for key, child in node.items() if key not in ("=", "~", "[]", "{}")}
    if fields:
        made["properties"] = fields
    if "=" in node:
        made["not"] = {"enum": [*node["="], *(int(each) for each in node["="] if each.isdecimal())]}
    if "~" in node:
        made["allOf"] = [{"pattern": pattern} for pattern in node["~"]]
    if "[]" in node:
        made["items"] = _refusing(node["[]"])
    if "{}" in node:
        made["additionalProperties"] = _refusing(node["{}"])
    return made


def too_new(node: Node, value: Any, path: Path = (), *, deep: bool = False) -> Iterator[TooNew]:
    """What in the value is too new, by the node of a Late; `deep`: below what is too new itself, too."""
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
        for pattern, each in node["~"].items():
            if not re.search(pattern, value):
                yield TooNew(path, str(path[-1]), value, each)


def all_needs() -> list[Mapping[str, str]]:
    """All needs of all kinds: what is needed by some field, value or kind."""
    nodes = _facts()["nodes"]
    values = [each for node in nodes for key in ("=", "~") for each in node.get(key, {}).values()]
    return [node["!"] for node in nodes if "!" in node] + values


def judged(name: str) -> str:
    """The component that serves the kinds of a schema; '' where nobody looked."""
    found: str = _facts()["kinds"].get(name, ("",))[0]
    return found
