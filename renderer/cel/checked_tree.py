"""The checked syntax tree of an expression, as the package serializes it: a CheckedExpr in protobuf's encoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

TREE: Final = 2  # fields of the serialized message, and of CheckedExpr
_REFERENCES: Final = 2
EXPRESSION: Final = 4
SOURCE: Final = 5
ID: Final = 2  # fields of Expr: its number, and its kinds
CONSTANT: Final = 3
IDENTIFIER: Final = 4
SELECT: Final = 5
CALL: Final = 6
LIST: Final = 7
MAP: Final = 8
COMPREHENSION: Final = 9
# By kind, the fields that hold expressions; those of a map stand in its entries, which have a key and a value.
_INNER: Final[Mapping[int, tuple[int, ...]]] = {
    SELECT: (1,),
    CALL: (1, 3),
    LIST: (1,),
    COMPREHENSION: (2, 4, 5, 6, 7),
}
_ENTRIES: Final = 2
_ENTRY: Final = (3, 4)
_BYTES: Final = 2  # the wire type of messages and texts


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def _encoded(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _field(number: int, content: bytes) -> bytes:
    """A message or a text as a field."""
    return _encoded(number << 3 | _BYTES) + _encoded(len(content)) + content


def _parts(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The fields of a message: number, content, and all of it as it is encoded."""
    position = 0
    while position < len(data):
        start = position
        key, position = _varint(data, position)
        if key & 7 == 0:
            _, end = _varint(data, position)
        elif key & 7 == _BYTES:
            size, position = _varint(data, position)
            end = position + size
        else:
            end = position + (8 if key & 7 == 1 else 4)
        yield key >> 3, data[position:end], data[start:end]
        position = end


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message by number; numbers as they are encoded."""
    for number, content, _ in _parts(data):
        yield number, content


def fields_by_number(data: bytes) -> dict[int, list[bytes]]:
    """The fields of a message."""
    parts: dict[int, list[bytes]] = {}
    for number, content, _ in _parts(data):
        parts.setdefault(number, []).append(content)
    return parts


def first(parts: Mapping[int, list[bytes]], number: int) -> bytes:
    """A field, empty where the message does not have it."""
    return parts.get(number, [b""])[0]


def expression_of(tree: bytes) -> bytes:
    """The root of a serialized tree."""
    return first(fields_by_number(first(fields_by_number(tree), TREE)), EXPRESSION)


def number_of(data: bytes) -> int:
    """The number of an expression, which is its own in the tree."""
    return next((_varint(content, 0)[0] for number, content in fields(data) if number == ID), 0)


def offset_of(tree: bytes, number: int) -> int:
    """Where in the text an expression stands, in characters."""
    source = first(fields_by_number(first(fields_by_number(tree), TREE)), SOURCE)
    for field, content in fields(source):
        if field == 4:  # an entry of the map of positions
            entry = fields_by_number(content)
            if _varint(first(entry, 1), 0)[0] == number:
                return _varint(first(entry, 2) or b"\0", 0)[0]
    return 0


def kind_of(data: bytes) -> tuple[int, bytes]:
    """The kind of an expression, and what it consists of."""
    return next(((number, content) for number, content in fields(data) if number > ID), (0, b""))


def identifier(data: bytes) -> str:
    """The name of an identifier, else nothing."""
    kind, content = kind_of(data)
    return first(fields_by_number(content), 1).decode() if kind == IDENTIFIER else ""


def constant_text(data: bytes) -> str | None:
    """A constant string, else None."""
    kind, content = kind_of(data)
    text = fields_by_number(content).get(6) if kind == CONSTANT else None
    return text[0].decode() if text else None


def is_constant(data: bytes) -> bool:
    """Whether an expression is a literal that is neither a list nor a map."""
    return kind_of(data)[0] == CONSTANT


def inner_expressions(kind: int, content: bytes) -> Iterator[bytes]:
    """The expressions that one of that kind consists of."""
    for number, part in fields(content):
        if kind == MAP and number == _ENTRIES:
            yield from (value for key, value in fields(part) if key in _ENTRY)
        elif number in _INNER.get(kind, ()):
            yield part


def with_names(tree: bytes, names: Mapping[int, str]) -> bytes:
    """The tree with identifiers in the place of the expressions with these numbers."""
    return b"".join(
        _field(number, _checked_with_names(content, names)) if number == TREE else raw
        for number, content, raw in _parts(tree)
    )


def _checked_with_names(checked: bytes, names: Mapping[int, str]) -> bytes:
    """A CheckedExpr: what it refers to by the numbers would hide the new names."""
    return b"".join(
        _field(number, _renamed(content, names)) if number == EXPRESSION else raw
        for number, content, raw in _parts(checked)
        if number != _REFERENCES or _varint(first(fields_by_number(content), 1), 0)[0] not in names
    )


def _renamed(data: bytes, names: Mapping[int, str]) -> bytes:
    """An expression."""
    if name := names.get(number_of(data)):
        number = next(raw for field, _, raw in _parts(data) if field == ID)
        return number + _field(IDENTIFIER, _field(1, name.encode()))
    return b"".join(
        _field(kind, _renamed_inside(kind, content, names)) if kind in _INNER or kind == MAP else raw
        for kind, content, raw in _parts(data)
    )


def _renamed_inside(kind: int, content: bytes, names: Mapping[int, str]) -> bytes:
    if kind == MAP:
        return b"".join(
            _field(number, _renamed_entry(part, names)) if number == _ENTRIES else raw
            for number, part, raw in _parts(content)
        )
    return b"".join(
        _field(number, _renamed(part, names)) if number in _INNER[kind] else raw
        for number, part, raw in _parts(content)
    )


def _renamed_entry(entry: bytes, names: Mapping[int, str]) -> bytes:
    return b"".join(
        _field(number, _renamed(part, names)) if number in _ENTRY else raw for number, part, raw in _parts(entry)
    )
