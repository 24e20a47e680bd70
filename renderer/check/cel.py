"""The CEL rules of CRDs (`x-kubernetes-validations`), evaluated as an API server does for a new object; and for the
same kinds, that no two items of a list have the same key.

The fields that the rules of a kind can see were derived when the schemas were made. An object is reduced to these, and
the findings are cached by the result: of 10,000 routes nearly all are equal.
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypedDict

from renderer import schema_validation
from renderer.check.finding import Body
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_map, as_maps, list_at

_FILE: Final = os.path.join(os.path.dirname(__file__), "accepted_objects.json")


def cel_rules(name: str) -> Callable[[Body], Sequence[Finding]] | None:
    """A function from an object, valid against the schema of that name, to the findings of its CEL rules; None when the
    kind has none.

    A rule that cannot be evaluated is broken. Transition rules, from an old object to a new one, are left out.
    """
    rules = name.replace("output/", "cel/", 1)
    return _cached_validator(rules) if schema_validation.has_schema(rules) else None


_NodeFacts = TypedDict(
    "_NodeFacts",
    {
        "as": Mapping[str, str],
        "fields": Mapping[str, int],
        "items": int,
        "values": int,
        "keys": Sequence[str],
        "whole": bool,
        "defaults": Mapping[str, object],
        "rules": Sequence[int],
    },
    total=False,
)


class _KindFacts(TypedDict):
    """A file of rules."""

    nodes: Sequence[_NodeFacts]  # one refers by number only to those before it, and the last is the root
    rules: Sequence[Sequence[str]]  # each with its message


class _Node:
    """A node of a schema."""

    __slots__ = ("defaults", "fields", "has_children", "items", "keys", "rules", "sees_value", "values")

    def __init__(self, raw: _NodeFacts, nodes: Sequence[_Node], rules: Sequence[Sequence[str]]) -> None:
        cel_names = raw.get("as", {})
        fields = raw.get("fields", {}).items()
        # The name in CEL and the node of each field, by its name.
        self.fields = {name: (cel_names.get(name, name), nodes[number]) for name, number in fields}
        self.items = nodes[raw["items"]] if "items" in raw else None
        self.values = nodes[raw["values"]] if "values" in raw else None
        self.keys = raw.get("keys", ())
        self.sees_value = raw.get("whole", False)  # rules see the value, else only that it is present
        self.has_children = bool(self.fields or self.items or self.values)  # there are nodes below
        # The values of missing fields, by name.
        self.defaults = [
            (name, self._visible_default(name, default)) for name, default in raw.get("defaults", {}).items()
        ]
        self.rules = tuple(tuple(rules[number]) for number in raw.get("rules", ()))

    def visible_part(self, value: object) -> object:
        """The part of the value that rules can see, with defaults, in plain types."""
        if self.fields and isinstance(value, dict):
            visible: dict[str, object] = {}
            fields = self.fields
            for name, item in value.items():
                if name in fields:
                    shown, inner = fields[name]
                    visible[shown] = (
                        inner.visible_part(item) if inner.has_children else item if inner.sees_value else True
                    )
            for name, (shown, default) in self.defaults:
                if name not in value:
                    visible[shown] = default
            return visible
        if self.items and isinstance(value, list):
            return [self.items.visible_part(item) for item in value]
        if self.values and isinstance(value, dict):
            return {name: self.values.visible_part(item) for name, item in value.items()}
        return value if self.sees_value else True

    def _visible_default(self, name: str, value: object) -> tuple[str, object]:
        """The name of a field in CEL, and the visible part of its value."""
        shown, inner = self.fields[name]
        return shown, inner.visible_part(value)

    def findings(self, visible: object) -> tuple[Finding, ...]:
        """All findings about the visible part of a value, from the top down."""
        return (*self.walk(visible, (), _Node.duplicate_items), *self.walk(visible, (), _Node.broken_rules))

    def walk(self, visible: object, path: Path, validate: _Validate) -> Iterator[Finding]:
        """The findings of `validate` for this node and those below."""
        yield from validate(self, visible, path)
        fields = as_map(visible)
        for name, (shown, inner) in self.fields.items():
            if shown in fields:
                yield from inner.walk(fields[shown], (*path, name), validate)
        if self.items:
            for i, item in enumerate(list_at(visible)):
                yield from self.items.walk(item, (*path, i), validate)
        if self.values:
            for name, item in fields.items():
                yield from self.values.walk(item, (*path, name), validate)

    def broken_rules(self, visible: object, path: Path) -> Iterator[Finding]:
        """Findings for the rules of this node that do not hold."""
        for rule, message in self.rules:
            if not _holds(rule, visible):
                yield Finding("E570", path, {"message": message})

    def duplicate_items(self, visible: object, path: Path) -> Iterator[Finding]:
        """Findings for items of a list whose key an earlier item has."""
        if not self.keys:
            return
        keys = set()
        for i, item in enumerate(as_maps(visible)):
            key = tuple((name, item.get(name)) for name in self.keys)
            if key in keys:
                yield Finding("E571", (*path, i), {"what": " and ".join(f"{name} {value!r}" for name, value in key)})
            keys.add(key)


_Validate = Callable[[_Node, object, Path], Iterator[Finding]]


def root(name: str) -> _Node:
    """The root node of the CEL rules of a kind."""
    with open(schema_validation.path_of(name), "rb") as file:
        raw: _KindFacts = json.loads(file.read())
    nodes: list[_Node] = []
    for node in raw["nodes"]:
        nodes.append(_Node(node, nodes, raw["rules"]))
    return nodes[-1]


def _cached_validator(name: str) -> Callable[[Body], tuple[Finding, ...]]:
    """A function from an object of the kind to its findings, cached by the visible part of the object."""
    top = root(name)
    findings_by_object: dict[bytes, tuple[Finding, ...]] = {key(visible): () for visible in _accepted().get(name, ())}

    def validate(body: Body) -> tuple[Finding, ...]:
        visible = top.visible_part(body)
        identity = key(visible)
        findings = findings_by_object.get(identity)
        if findings is None:
            findings = findings_by_object[identity] = top.findings(visible)
        return findings

    return validate


@cache
def _accepted() -> Mapping[str, Sequence[object]]:
    """What rules see of usual objects and accept, by the name of their schema, so that most runs need not load CEL: it
    takes as long as rendering ten models (scripts/make_accepted_objects.py).
    """
    with open(_FILE, "rb") as file:
        parts: dict[str, list[object]] = json.loads(file.read())
    return parts


def key(visible: Any) -> bytes:
    """The identity of the visible part of an object."""
    return marshal.dumps(visible, 2)  # the last version that writes equal values alike


def _holds(rule: str, visible: object) -> bool:
    return _program(rule).eval(data={"self": visible}).value() is True


@cache
def _program(rule: str) -> Any:
    return _environment().compile(rule)


@cache
def _environment() -> Any:
    """A CEL environment like that of Kubernetes, as far as the CRDs that we know use it."""
    from renderer.cel.compiler import Function, plain_environment  # few runs need it

    is_ip = Function("isIP", False, (("string", "bool"),), _is_ip)
    find = Function("find", True, (("string", "string", "string"),), _find)
    return plain_environment({"self": "dyn"}, (is_ip, find), strings=True)


def _is_ip(text: str) -> bool:
    """Kubernetes' isIP: no zone, and no IPv4 address mapped into IPv6."""
    import ipaddress

    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(address, "ipv4_mapped", None) is None


def _find(text: str, pattern: str) -> str:
    """Kubernetes' find: the first match of the pattern in the text, or ''."""
    import re

    match = re.search(pattern, text)
    return match[0] if match else ""


_NAMES = ("model", "backend", "route_name")
_COUNTS = tuple(
    f"{count}_tokens" for count in ("input", "cached_input", "cache_creation_input", "output", "total", "reasoning")
)


def cost_error(rule: str) -> str:
    """Why the AI gateway cannot evaluate this cost expression, '' where it can; it is tried with a request of no
    tokens.
    """
    try:
        result = (
            _cost_environment().compile(rule).eval(data={**dict.fromkeys(_NAMES, "dummy"), **dict.fromkeys(_COUNTS, 0)})
        )
    except RuntimeError as error:
        message = str(error).partition("\n")[0].removesuffix(" [INVALID_ARGUMENT]")
        return message.rpartition("ERROR: <input>:")[2].partition(" expecting ")[0] or message
    kind, value = result.type().name(), result.value()
    if kind == "ERROR":
        return f"for a request without tokens: {str(value).rpartition(': ')[2]}"
    if kind not in ("INT", "UINT"):
        return "its result is not a whole number"
    return f"its result is {value}" if value < 0 else ""


@cache
def _cost_environment() -> Any:
    """A CEL environment like that of the AI gateway for costs."""
    from renderer.cel.compiler import plain_environment  # few runs need it

    return plain_environment({**dict.fromkeys(_NAMES, "string"), **dict.fromkeys(_COUNTS, "uint")})
