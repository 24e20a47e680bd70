"""Named tuples that are quick to define.

`typing.NamedTuple` compiles the annotation of every field, which takes longer than all else and which nobody here asks
for. In all other respects these are the same classes, those of `collections.namedtuple`; mypy takes them for typing's.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Defining(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:  # NamedTuple itself
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key not in fields:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Defining):
        """What to inherit from, as from `typing.NamedTuple`."""
