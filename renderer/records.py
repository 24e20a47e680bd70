"""Named tuples that are quick to define, and records that are quick to read.

`typing.NamedTuple` compiles the annotation of every field and `collections.namedtuple` a constructor for every class,
which takes longer than all else. Here constructors with as many fields share their code but for the names, and all
classes share the other methods. To who uses them they are the same classes; mypy takes them for typing's.

Python looks up a field of a tuple by its name in the class, at every turn. What is made once a run and read for every
app is a Record: it has its fields in slots, which are read at once, and is no tuple.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple", "Record", "quick"]

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import NamedTuple as Record
    from typing import TypeVar

    _Kind = TypeVar("_Kind")

    def quick(kind: _Kind) -> _Kind:
        """What makes named tuples of a kind, as the class does, in half the time: for those of every app."""
else:

    @cache
    def _code(count: int, first: str) -> CodeType:
        """What makes a tuple of that many arguments, as `collections.namedtuple` does it. `first`: `_cls, ` where it is
        given its class first; '' where a global says it.
        """
        names = "".join(f"_{i}, " for i in range(count))
        made: CodeType = eval(f"lambda {first}{names}: _tuple_new(_cls, ({names}))").__code__  # noqa: S307 - our own
        return made

    def _parted(body: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The fields of a class, and the defaults that some have; these leave the body."""
        fields = tuple(body["__annotations__"])
        return fields, {field: body.pop(field) for field in fields if field in body}

    _GLOBALS = {"_tuple_new": tuple.__new__, "__builtins__": {}, "__name__": __name__}
    _getter = cache(_tuplegetter)

    @classmethod
    def _make(cls: Any, iterable: Any) -> Any:
        made = tuple.__new__(cls, iterable)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self: Any, /, **changes: Any) -> Any:
        parts, places = list(self), self._places
        for field, value in changes.items():
            parts[places[field]] = value
        return tuple.__new__(self.__class__, parts)

    def _repr(self: Any) -> str:
        return f"{self.__class__.__name__}({', '.join(map('{}={!r}'.format, self._fields, self))})"

    def _asdict(self: Any) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _plain(self: Any) -> tuple[Any, ...]:
        return tuple(self)

    _METHODS = {"_make": _make, "_replace": _replace, "__repr__": _repr, "_asdict": _asdict, "__getnewargs__": _plain}

    class _Defining(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:  # NamedTuple itself
                return super().__new__(cls, name, bases, body)
            fields, defaults = _parted(body)
            code = _code(len(fields), "_cls, ").replace(co_varnames=("_cls", *fields), co_qualname=f"{name}.__new__")
            own = {
                "__doc__": f"{name}({', '.join(fields)})",
                "__slots__": (),
                "_fields": fields,
                "_places": {field: place for place, field in enumerate(fields)},
                "_field_defaults": defaults,
                "__match_args__": fields,
                "__new__": FunctionType(code, _GLOBALS, "__new__", tuple(defaults.values())),
            }
            getters = {field: _getter(i, None) for i, field in enumerate(fields)}
            return type(name, (tuple,), {**own, **getters, **_METHODS, **body})

    class NamedTuple(metaclass=_Defining):
        """What to inherit from, as from `typing.NamedTuple`."""

    def quick(kind: Any) -> Any:
        code = _code(len(kind._fields), "").replace(co_varnames=kind._fields)
        return FunctionType(code, {**_GLOBALS, "_cls": kind}, kind.__name__, tuple(kind._field_defaults.values()))

    class _Frozen:
        __slots__ = ()

        def __init__(self, *parts: Any, **named: Any) -> None:
            values = {**self._field_defaults, **dict(zip(self._fields, parts, strict=False)), **named}
            if len(parts) > len(self._fields) or values.keys() != {*self._fields}:
                raise TypeError(f"{self.__class__.__name__} takes {', '.join(self._fields)}")
            for field in self._fields:
                object.__setattr__(self, field, values[field])

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"a {self.__class__.__name__} is frozen: {name}")

        def __repr__(self) -> str:
            said = ", ".join(f"{field}={value!r}" for field, value in self._asdict().items())
            return f"{self.__class__.__name__}({said})"

        def _asdict(self) -> dict[str, Any]:
            return {field: getattr(self, field) for field in self._fields}

        def _replace(self, /, **changes: Any) -> Any:
            return self.__class__(**{**self._asdict(), **changes})

    class _Recording(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:  # Record itself
                return super().__new__(cls, name, bases, body)
            fields, defaults = _parted(body)
            return type(name, (_Frozen,), {**body, "__slots__": fields, "_fields": fields, "_field_defaults": defaults})

    class Record(metaclass=_Recording):
        """What to inherit from as from NamedTuple. Two are the same when they are one."""
