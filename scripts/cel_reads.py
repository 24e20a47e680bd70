"""What the CEL rules of a CRD can see of an object, worked out when the schemas are made.

A verdict is kept for whatever looks alike through the eyes of the rules, so what a rule reads must not be guessed: each
rule is parsed, and followed through its schema. What this cannot follow stops the making of the schemas.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

Node: TypeAlias = dict[str, Any]
Steps: TypeAlias = tuple[str, ...]  # property names, "[]" for an item of a list, "{}" for a value of a map

# Names that CEL keeps for itself: Kubernetes escapes properties that are called so.
RESERVED = re.compile(
    "as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void"
    "|while"
)
MACROS = ("all", "exists", "exists_one", "filter", "map")
TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>[rRbB]*(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
      | (?P<number>[0-9]+(?:\.[0-9]+)?u?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>\|\||&&|[<>=!]=|[-+*/%<>!?:.,()\[\]{}])
    )""",
    re.VERBOSE | re.DOTALL,
)
FORMATS = ("byte", "date-time", "duration")  # no strings in Kubernetes' CEL
INSIDE = {"[]": "items", "{}": "additionalProperties"}
STEPS = tuple(INSIDE.items())
LEVELS = (("||",), ("&&",), ("<", "<=", ">", ">=", "==", "!=", "in"), ("+", "-"), ("*", "/", "%"))


class Call(NamedTuple):
    """An expression: an operator, a function (`.name` a method), or one of text, number, name, list, map, `.field`."""

    what: str
    parts: tuple[Any, ...]


def escaped(name: str) -> str:
    """A property's name as rules write it."""
    if RESERVED.fullmatch(name):
        return f"__{name}__"
    for sign, word in (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")):
        name = name.replace(sign, word)
    return name


def parse(rule: str) -> Call:
    """The rule's expression. Ends the program when this is not the CEL that we know."""
    return _Parser(rule).whole()


class _Parser:
    def __init__(self, rule: str) -> None:
        self.rule, self.tokens, self.at = rule, list(_tokens(rule)), 0

    def whole(self) -> Call:
        call = self.ternary()
        if self.at != len(self.tokens):
            sys.exit(f"CEL that nobody taught us, at token {self.at}: {self.rule}")
        return call

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) and self.tokens[self.at][0] != "text" else ""

    def take(self, *signs: str) -> str:
        """The next token if it is one of these, else ''."""
        if self.peek() not in signs:
            return ""
        self.at += 1
        return self.tokens[self.at - 1][1]

    def need(self, sign: str) -> None:
        if not self.take(sign):
            sys.exit(f"CEL that nobody taught us: no {sign} at token {self.at}: {self.rule}")

    def ternary(self) -> Call:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.ternary()
        self.need(":")
        return Call("?", (condition, first, self.ternary()))

    def binary(self, level: int) -> Call:
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while sign := self.take(*LEVELS[level]):
            left = Call(sign, (left, self.binary(level + 1)))
        return left

    def unary(self) -> Call:
        if sign := self.take("!", "-"):
            return Call(sign, (self.unary(),))
        call = self.primary()
        while sign := self.take(".", "["):
            if sign == "[":
                call = Call("[", (call, self.ternary()))
                self.need("]")
                continue
            name = self.tokens[self.at][1]
            self.at += 1
            call = Call(f".{name}", (call, *self.listed(")"))) if self.take("(") else Call("field", (call, name))
        return call

    def primary(self) -> Call:
        if self.take("("):
            call = self.ternary()
            self.need(")")
            return call
        if self.take("["):
            return Call("list", tuple(self.listed("]")))
        if self.take("{"):
            return Call("map", tuple(self.listed("}")))
        kind, word = self.tokens[self.at] if self.at < len(self.tokens) else ("sign", "")
        self.at += 1
        if kind == "sign":
            sys.exit(f"CEL that nobody taught us, at token {self.at}: {self.rule}")
        if kind == "name" and self.take("("):
            return Call(word, tuple(self.listed(")")))
        return Call(kind, (word,))

    def listed(self, end: str) -> Iterator[Call]:
        while not self.take(end):
            yield self.ternary()
            if not self.take(",", ":") and self.peek() != end:
                sys.exit(f"CEL that nobody taught us, at token {self.at}: {self.rule}")


def _tokens(rule: str) -> Iterator[tuple[str, str]]:
    at, rule = 0, rule.rstrip()
    while at < len(rule):
        match = TOKEN.match(rule, at)
        if not match or not match.lastgroup:
            sys.exit(f"CEL that nobody taught us, at character {at}: {rule}")
        yield match.lastgroup, match[match.lastgroup]
        at = match.end()


def reads(rule: str, schema: Node) -> dict[Steps, bool]:
    """What the rule reads below the node of that schema: True where the value counts, False where only whether it is
    there (of a list: how many).
    """
    marks: dict[Steps, bool] = {}

    def mark(steps: Steps, whole: bool) -> None:
        marks[steps] = marks.get(steps, False) or whole

    def consumed(places: set[Steps]) -> None:
        """The values themselves count."""
        for steps in places:
            node = at(schema, steps)
            for step, key in STEPS:
                if key in node:
                    mark((*steps, step), True)
                    node, steps = node[key], (*steps, step)
            if node.get("type") not in ("string", "integer", "boolean") or node.get("format") in FORMATS:
                sys.exit(f"check/cel.py hands over no {node.get('format') or node.get('type')} as a value: {rule}")
            mark(steps, True)

    def walk(call: Call, names: Mapping[str, set[Steps]]) -> set[Steps]:
        """Marks what it reads, and answers with the fields that the value may be."""
        what, parts = call
        if what in ("text", "number"):
            return set()
        if what == "name":
            if parts[0] not in names and parts[0] not in ("true", "false", "null"):
                sys.exit(f"an unknown name {parts[0]}: {rule}")
            return set(names.get(parts[0], ()))
        if what == "field":
            return {below(steps, parts[1]) for steps in walk(parts[0], names)}
        if what == "has":
            for steps in walk(parts[0], names):
                mark(steps, False)
            return set()
        if what == "?":
            consumed(walk(parts[0], names))
            return walk(parts[1], names) | walk(parts[2], names)
        if what == "[":
            consumed(walk(parts[1], names))
            return {item for steps in walk(parts[0], names) for item in inside(steps)}
        if what.removeprefix(".") in MACROS and what.startswith("."):
            owners = walk(parts[0], names)
            items = {item for steps in owners for item in inside(steps)}
            variable = parts[1].parts[0]
            for body in parts[2:]:
                consumed(walk(body, {**names, variable: items}))
            return owners if what == ".filter" else set()
        if what in ("size", ".size"):
            for steps in walk(parts[0], names):
                if "items" in at(schema, steps):
                    inside(steps)
                else:
                    keys(steps)
            return set()
        if what == "in":
            consumed(walk(parts[0], names))
            for steps in walk(parts[1], names):
                keys(steps)
            return set()
        for part in parts:
            consumed(walk(part, names))
        return set()

    def keys(steps: Steps) -> None:
        """Of a map whose values may be of several types only the keys count; of anything else the value."""
        inner = at(schema, steps).get("additionalProperties")
        if isinstance(inner, dict) and inner.get("x-kubernetes-int-or-string"):
            mark((*steps, "{}"), False)
        else:
            consumed({steps})

    def below(steps: Steps, name: str) -> Steps:
        for field in at(schema, steps).get("properties", {}):
            if escaped(field) == name:
                return (*steps, field)
        sys.exit(f"no field {name} at {steps}: {rule}")

    def inside(steps: Steps) -> set[Steps]:
        """What a loop over it binds: the items of a list; of a map the keys, which are no fields."""
        if "items" not in at(schema, steps):
            consumed({steps})  # keys show with values
            return set()
        mark((*steps, "[]"), False)
        return {(*steps, "[]")}

    consumed(walk(parse(rule), {"self": {()}}))
    return marks


def at(schema: Node, steps: Steps) -> Node:
    """The node at these steps."""
    for step in steps:
        schema = schema[INSIDE[step]] if step in INSIDE else schema["properties"][step]
    return schema


def judged(schema: Node) -> Node | None:
    """Everything that judging an object of the schema needs, or None when it has no rules.

    `rules`: [rule, message] each once; `nodes`: parts of the schema, children first, the last is the whole. A node is a
    map of what is needed of it: `fields` (name → number of a node) with `as` (names that CEL writes otherwise) and
    `defaults`, `items` or `values` (number of a node), `keys` that no two items have alike, `whole` where the value
    counts, `rules` (numbers). In an empty one nothing counts but that it is there.
    """
    rules: dict[tuple[str, str], int] = {}
    placed: dict[Steps, list[int]] = {}
    seen: dict[Steps, bool] = {}
    for steps, node, rule in _rules(schema, ()):
        if "oldSelf" in rule["rule"] or steps[:1] == ("status",):
            continue  # they are about changes; and an API server drops the status of what it is given
        if unknown := set(rule) - {"rule", "message"}:
            sys.exit(f"{'.'.join(steps)}: a rule has {', '.join(sorted(unknown))}, which check/cel.py does not know")
        text = rule["rule"].strip()
        message = rule.get("message", "").strip() or f"failed rule: {text}"
        placed.setdefault(steps, []).append(rules.setdefault((text, message), len(rules)))
        for more, whole in reads(text, node).items():
            seen[steps + more] = seen.get(steps + more, False) or whole
    if not rules:
        return None
    keyed = dict(_keyed(schema, ()))
    seen.update({(*steps, "[]", key): True for steps, keys in keyed.items() for key in keys})
    prefixes = {steps[:length] for steps in (*placed, *seen) for length in range(len(steps) + 1)}
    numbers: dict[str, int] = {}
    nodes: list[Node] = []

    def add(node: Node, steps: Steps) -> int:
        packed: Node = {}
        properties = {name: inner for name, inner in node.get("properties", {}).items() if (*steps, name) in prefixes}
        if properties:
            packed["fields"] = {name: add(inner, (*steps, name)) for name, inner in sorted(properties.items())}
            packed["as"] = {name: escaped(name) for name in properties if escaped(name) != name}
            packed["defaults"] = {name: inner["default"] for name, inner in properties.items() if "default" in inner}
        for step, key in STEPS:
            if (*steps, step) in prefixes:
                packed["items" if step == "[]" else "values"] = add(node[key], (*steps, step))
        packed["keys"] = [escaped(key) for key in keyed.get(steps, ())]
        packed["whole"] = seen.get(steps, False)
        packed["rules"] = placed.get(steps, [])
        packed = {key: value for key, value in packed.items() if value or key in ("items", "values")}
        if node.get("nullable") and packed:
            sys.exit(f"{'.'.join(steps)} may be null, which check/cel.py does not know")
        number = numbers.setdefault(json.dumps(packed, sort_keys=True), len(nodes))
        if number == len(nodes):
            nodes.append(packed)
        return number

    add(schema, ())
    return {"rules": [list(rule) for rule in rules], "nodes": nodes}


def _rules(node: Node, steps: Steps) -> Iterator[tuple[Steps, Node, Node]]:
    for rule in node.get("x-kubernetes-validations", ()):
        yield steps, node, rule
    for more, inner in _below(node):
        yield from _rules(inner, (*steps, more))


def _keyed(node: Node, steps: Steps) -> Iterator[tuple[Steps, list[str]]]:
    if node.get("x-kubernetes-list-type") == "map" and steps[:1] != ("status",):
        yield steps, node["x-kubernetes-list-map-keys"]
    for more, inner in _below(node):
        yield from _keyed(inner, (*steps, more))


def _below(node: Node) -> Iterator[tuple[str, Node]]:
    yield from sorted(node.get("properties", {}).items())
    for step, key in STEPS:
        if isinstance(node.get(key), dict):
            yield step, node[key]
