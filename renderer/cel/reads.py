"""Which parts of an object an expression can read, worked out of its checked syntax tree: objects that are alike in
these get the same verdict.

The tree is read from the package's own serialization, a CheckedExpr in protobuf's encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

from msgspec import Struct

from renderer.cel.compiler import Program

Paths = Set[tuple[str, ...]]
ANY: Final = "*"  # in a path: each item of a list or map
_NOTHING: Paths = frozenset()
_EXPRESSION: Final = 4  # fields of CheckedExpr, and kinds of Expr
_CONSTANT: Final = 3
_IDENTIFIER: Final = 4
_SELECT: Final = 5
_CALL: Final = 6
_COMPREHENSION: Final = 9
_INDEX: Final = ("_[_]", "_[?_]", "_?._")


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message by number; numbers as their bytes."""
    position = 0

    def number() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number().to_bytes(10, "little")
            continue
        size = {1: 8, 5: 4}.get(key & 7)
        size = number() if size is None else size
        yield key >> 3, data[position : position + size]
        position += size


def _all(data: bytes) -> dict[int, list[bytes]]:
    parts: dict[int, list[bytes]] = {}
    for field, value in _fields(data):
        parts.setdefault(field, []).append(value)
    return parts


def _first(parts: Mapping[int, list[bytes]], field: int) -> bytes:
    return parts.get(field, [b""])[0]


class Reads:
    """What expressions read of `object`."""

    def __init__(self) -> None:
        self.whole: set[tuple[str, ...]] = set()  # paths whose whole value counts
        self.present: set[tuple[str, ...]] = set()  # paths that only have to be there
        self._variables: dict[str, Paths] = {}

    def add(self, program: Program, variable: str = "") -> None:
        """Adds what an expression reads; `variable`: the name of the variable that it is the value of."""
        parts = _all(_all(program.program.serialize())[2][0])
        paths = self._value(_first(parts, _EXPRESSION), {})
        if variable:
            self._variables[f"variables.{variable}"] = paths
            self.present |= paths
        else:
            self.whole |= paths

    def _value(self, data: bytes, names: Mapping[str, Paths]) -> Paths:
        """The paths at which the value of an expression may be found; all that it reads besides is collected."""
        for kind, content in _fields(data):
            if kind == _CONSTANT:
                return _NOTHING
            if kind == _IDENTIFIER:
                return self._identified(_first(_all(content), 1).decode(), names)
            if kind == _SELECT:
                return self._selected(_all(content), names)
            if kind == _CALL:
                return self._called(_all(content), names)
            if kind == _COMPREHENSION:
                return self._folded(_all(content), names)
            if kind > _CONSTANT:  # lists, maps
                self._read_all(content, names)
        return _NOTHING

    def _identified(self, name: str, names: Mapping[str, Paths]) -> Paths:
        if name in names:
            return names[name]
        if name in self._variables:
            return self._variables[name]
        root, *path = name.split(".")
        return {(*path,)} if root == "object" else _NOTHING

    def _selected(self, parts: Mapping[int, list[bytes]], names: Mapping[str, Paths]) -> Paths:
        field = _first(parts, 2).decode()
        whole_name = f"{_dotted(_first(parts, 1))}.{field}"
        if whole_name in self._variables:
            return self._variables[whole_name]
        paths = {(*path, field) for path in self._value(_first(parts, 1), names)}
        if 3 not in parts:
            return paths
        self.present |= paths
        return _NOTHING

    def _called(self, parts: Mapping[int, list[bytes]], names: Mapping[str, Paths]) -> Paths:
        name = _first(parts, 2).decode()
        arguments = [*parts.get(1, ()), *parts.get(3, ())]
        if name in _INDEX:
            container, key = arguments
            constant = _constant_text(key)
            if constant is None:
                self.whole |= self._value(key, names)
            return {(*path, ANY if constant is None else constant) for path in self._value(container, names)}
        if name == "_?_:_":
            self.whole |= self._value(arguments[0], names)
            return {*self._value(arguments[1], names), *self._value(arguments[2], names)}
        if name == "@in" and (constant := _constant_text(arguments[0])) is not None:
            self.present |= {(*path, constant) for path in self._value(arguments[1], names)}
            return _NOTHING
        for argument in arguments:
            self.whole |= self._value(argument, names)
        return _NOTHING

    def _folded(self, parts: Mapping[int, list[bytes]], names: Mapping[str, Paths]) -> Paths:
        items = {(*path, ANY) for path in self._value(_first(parts, 2), names)}
        self.present |= items
        variable, result = _first(parts, 1).decode(), _first(parts, 3).decode()
        self.whole |= self._value(_first(parts, 4), names)
        inner = {**names, variable: items, result: _NOTHING}
        for field in (5, 6, 7):
            self.whole |= self._value(_first(parts, field), inner)
        return _NOTHING

    def _read_all(self, content: bytes, names: Mapping[str, Paths]) -> None:
        """Collects what the items of a list or the entries of a map read."""
        for field, item in _fields(content):
            if field == 1:
                self.whole |= self._value(item, names)
            elif field == 2:
                for part, value in _fields(item):
                    if part in (3, 4):
                        self.whole |= self._value(value, names)


def _dotted(data: bytes) -> str:
    """The name of an identifier, else nothing."""
    for kind, content in _fields(data):
        if kind == _IDENTIFIER:
            return _first(_all(content), 1).decode()
    return ""


def _constant_text(data: bytes) -> str | None:
    """A constant string, else None."""
    for kind, content in _fields(data):
        if kind == _CONSTANT:
            text = _all(content).get(6)
            return text[0].decode() if text else None
    return None


class Projection(Struct):
    """The parts of a value that count."""

    fields: dict[str, Projection]  # those of which a part counts
    whole: bool = False  # all of the value counts

    def of(self, value: Any) -> object:
        """What counts of a value, in plain types."""
        if self.whole:
            return value
        fields = self.fields
        if isinstance(value, dict):
            if ANY in fields:
                return {key: (fields.get(key) or fields[ANY]).of(item) for key, item in value.items()}
            return {key: fields[key].of(value[key]) for key in fields if key in value}
        if isinstance(value, list):
            inner = fields.get(ANY)
            if inner:
                return [inner.of(item) for item in value]
            return value if fields else len(value)  # a constant may be looked for in it
        return value


def projection(reads: Reads) -> Projection:
    """What counts of objects for the expressions that were added."""
    root = Projection({})
    for path in (*reads.present, *reads.whole):
        node = root
        for part in path:
            node = node.fields.setdefault(part, Projection({}))
        node.whole |= path in reads.whole
    return root
