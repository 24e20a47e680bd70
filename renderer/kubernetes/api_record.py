"""Records of Kubernetes objects: the same fields as the API has, under Python's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import astuple


class ApiRecord(Struct, frozen=True, rename="camel"):
    """A part of an object, its fields in the order in which they are written; maps have the API's form. A field `rest`
    holds those that the record has no field for, and stands where they are written.
    """

    def body(self) -> dict[str, Any]:
        """The fields by the API's names, without those that are None or empty. Maps are the record's own, since a
        SharedMap caches its text: msgspec.to_builtins would copy them.
        """
        body: dict[str, Any] = {}
        for name, value in zip(self.__struct_encode_fields__, astuple(self), strict=True):
            if value:
                if name == "rest":
                    body |= value
                elif type(value) is tuple:
                    body[name] = [item.body() for item in value] if isinstance(value[0], ApiRecord) else [*value]
                else:
                    body[name] = value
            elif value == 0:  # 0 and False are said
                body[name] = value
        return body

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Self:
        """The record of a map with the API's names; keys that it has no field for are lost without `rest`."""
        names = dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
        fields = {
            names[key]: tuple(value) if isinstance(value, list) else value
            for key, value in body.items()
            if key in names
        }
        if "rest" in cls.__struct_fields__:
            fields["rest"] = {key: value for key, value in body.items() if key not in names}
        return cls(**fields)
