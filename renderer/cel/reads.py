"""Which parts of an object an expression can read, worked out of its checked syntax tree: objects that are alike in
these get the same verdict, and what nobody knows here is found however it is spelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final, TypeAlias

from msgspec import Struct

from renderer.cel import checked_tree
from renderer.cel.checked_tree import (
    CALL,
    COMPREHENSION,
    CONSTANT,
    IDENTIFIER,
    SELECT,
    constant_text,
    fields_by_number,
    first,
    identifier,
    inner_expressions,
    is_constant,
    kind_of,
    number_of,
)
from renderer.cel.compiler import Program

ReadPath: TypeAlias = tuple[str, ...]
Paths = Set[ReadPath]
ANY: Final = "*"  # in a path: each item of a list or map
_NOTHING: Paths = frozenset()
_MOST: Final = 100  # paths of one value
_INDEX: Final = ("_[_]", "_[?_]", "_?._")
_EQUALITY: Final = ("_==_", "_!=_")
_PASSING: Final = ("dyn", "optional.of", "optional.ofNonZeroValue", "orValue", "or", "value")  # give their values


class Reads:
    """What expressions read of `object` and of the other names."""

    def __init__(self, unknown: Iterable[ReadPath] = ()) -> None:
        """`unknown`: paths whose values are not known."""
        self.whole: set[ReadPath] = set()  # paths whose whole value counts
        self.present: set[ReadPath] = set()  # paths that only have to be there
        self.names: dict[int, ReadPath] = {}  # by number, the expressions that give what is not known
        self.numbers: dict[ReadPath, int] = {}  # the first expressions that select a field of a name
        self.variables: set[str] = set()  # that a tree names
        self._unknown = sorted(unknown)
        self._values: dict[str, Paths] = {}  # of variables

    def add(self, program: Program, variable: str = "") -> None:
        """Adds what an expression reads; `variable`: the name of the variable that it is the value of."""
        self.names, self.numbers, self.variables = {}, {}, set()
        root = checked_tree.expression_of(program.tree)
        if variable:
            paths = self._value(root, {})
            self._values[f"variables.{variable}"] = paths
            self.present |= paths
        else:
            self._take(root, {})

    def roots(self) -> set[str]:
        """The names of which something is read."""
        return {path[0] for path in (*self.whole, *self.present)}

    def _take(self, data: bytes, names: Mapping[str, Paths]) -> None:
        """An expression whose whole value counts."""
        paths = self._value(data, names)
        self.whole |= paths
        for path in sorted(paths) if self._unknown else ():
            for unknown in self._unknown:
                if len(path) < len(unknown) and _alike(path, unknown):
                    self.names.setdefault(number_of(data), path)

    def _value(self, data: bytes, names: Mapping[str, Paths]) -> Paths:
        """The paths at which the value of an expression may be found; all that it reads besides is collected."""
        kind, content = kind_of(data)
        if kind == CONSTANT:
            return _NOTHING
        if kind == IDENTIFIER:
            paths = self._identified(identifier(data), names)
        elif kind == SELECT:
            paths = self._selected(data, fields_by_number(content), names)
        elif kind == CALL:
            paths = self._called(data, fields_by_number(content), names)
        elif kind == COMPREHENSION:
            paths = self._folded(fields_by_number(content), names)
        else:
            for inner in inner_expressions(kind, content):
                self._take(inner, names)
            return _NOTHING
        if len(paths) > _MOST:
            return self._too_many(data, paths)
        self._note_unknown(data, paths)
        return paths

    def _too_many(self, data: bytes, paths: Paths) -> Paths:
        """Of a value that may be found at very many places, all may count, and nothing is known."""
        roots = {path[:1] for path in paths}
        self.whole |= roots
        if any(unknown[:1] in roots for unknown in self._unknown):
            self.names.setdefault(number_of(data), min(roots))
        return _NOTHING

    def _note_unknown(self, data: bytes, paths: Iterable[ReadPath]) -> None:
        """Notes an expression that may be at or below what is not known."""
        for unknown in self._unknown:
            if any(len(path) >= len(unknown) and _alike(path, unknown) for path in paths):
                self.names.setdefault(number_of(data), unknown)

    def _note_enumeration(self, data: bytes, paths: Iterable[ReadPath]) -> None:
        """Notes an expression whose fields are counted or walked over, if one of them may be there or not."""
        for path in sorted(paths) if self._unknown else ():
            for unknown in self._unknown:
                if len(unknown) == len(path) + 1 and unknown[-1] != ANY and _alike(path, unknown):
                    self.names.setdefault(number_of(data), path)

    def _identified(self, name: str, names: Mapping[str, Paths]) -> Paths:
        if name in names:
            return names[name]
        if name.startswith("variables."):
            self.variables.add(name.partition(".")[2])
            return self._values.get(name, _NOTHING)
        return {(name,)}

    def _selected(self, data: bytes, parts: Mapping[int, list[bytes]], names: Mapping[str, Paths]) -> Paths:
        field = first(parts, 2).decode()
        paths = {(*path, field) for path in self._value(first(parts, 1), names)}
        for path in paths:
            if len(path) == 2:
                self.numbers.setdefault(path, number_of(data))
        if 3 not in parts:
            return paths
        self._note_unknown(data, paths)
        self.present |= paths
        return _NOTHING

    def _called(self, data: bytes, parts: Mapping[int, list[bytes]], names: Mapping[str, Paths]) -> Paths:
        name = first(parts, 2).decode()
        arguments = [*parts.get(1, ()), *parts.get(3, ())]
        if name in _INDEX:
            return self._indexed(arguments, names)
        if name == "_?_:_":
            self._take(arguments[0], names)
            return {*self._value(arguments[1], names), *self._value(arguments[2], names)}
        if name in _PASSING:
            return {path for argument in arguments for path in self._value(argument, names)}
        if name == "@in" and (constant := constant_text(arguments[0])) is not None:
            paths = {(*path, constant) for path in self._value(arguments[1], names)}
            self._note_unknown(data, paths)
            self.present |= paths
        elif name == "hasValue":
            self.present |= self._value(arguments[0], names)
        elif name == "size" or (name in _EQUALITY and any(map(is_constant, arguments))):
            for argument in arguments:  # of what is equal to no constant, or only counted, nothing else is looked at
                counted = self._value(argument, names)
                self.whole |= counted
                if name == "size":
                    self._note_enumeration(argument, counted)
        else:
            for argument in arguments:
                self._take(argument, names)
        return _NOTHING

    def _indexed(self, arguments: list[bytes], names: Mapping[str, Paths]) -> Paths:
        container, key = arguments
        constant = constant_text(key)
        if constant is None:
            self._take(key, names)
        return {(*path, ANY if constant is None else constant) for path in self._value(container, names)}

    def _folded(self, parts: Mapping[int, list[bytes]], names: Mapping[str, Paths]) -> Paths:
        """A macro. What it has gathered so far begins with one value, and each step gives the next one."""
        scope = first(parts, 2)
        paths = self._value(scope, names)
        self._note_enumeration(scope, paths)
        items = {(*path, ANY) for path in paths}
        self.present |= items
        variable, gathered = first(parts, 1).decode(), first(parts, 3).decode()
        start = self._value(first(parts, 4), names)
        inner = {**names, variable: items, gathered: start}
        self._take(first(parts, 5), inner)
        steps = self._value(first(parts, 6), inner)
        return self._value(first(parts, 7), {**inner, gathered: {*start, *steps}})


def _alike(path: ReadPath, other: ReadPath) -> bool:
    """Whether two paths may lead the same way as far as both go."""
    return all(one == two or ANY in (one, two) for one, two in zip(path, other, strict=False))


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


def projection(reads: Reads, name: str = "object") -> Projection:
    """What counts of objects of that name for the expressions that were added."""
    root = Projection({})
    for path in (*reads.present, *reads.whole):
        if path[0] != name:
            continue
        node = root
        for part in path[1:]:
            node = node.fields.setdefault(part, Projection({}))
        node.whole |= path in reads.whole
    return root
