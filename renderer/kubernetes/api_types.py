"""The API server's own types, such as `core.PodSpec`: the fields, defaults and merge keys that their source states."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

_FILE: Final = os.path.join(os.path.dirname(__file__), "api_types.json")
POD_TEMPLATE: Final = "core.PodTemplateSpec"


class ApiTypes(Struct, frozen=True):
    """What scripts/make_api_types.py reads from the source of k8s.io/api."""

    kinds: Mapping[str, str]  # the type of a kind, as `apps/v1/Deployment`
    types: Mapping[str, Mapping[str, str]]  # the shape of each field of a type, as `?[]core.Container`
    defaults: Mapping[str, Mapping[str, Any]]  # by type and field; CRDs that hold the type have them too
    merge_keys: Mapping[str, Mapping[str, Sequence[str]]]  # by type and field, the one of a patch first


@cache
def api_types() -> ApiTypes:
    """All types."""
    with open(_FILE, "rb") as file:
        return msgspec.json.decode(file.read(), type=ApiTypes)


@cache
def types_below(type_name: str) -> Mapping[str, str]:
    """The types that the fields of a type hold, or hold in lists; empty for what is no type of the server's."""
    types = api_types().types
    shapes = {field: shape.lstrip("?!*[]") for field, shape in types.get(type_name, {}).items()}
    return {field: shape for field, shape in shapes.items() if shape in types}


def type_at(*path: str | int) -> str:
    """The type of what a path of a pod template leads to, or of its items; '' for what has no fields."""
    name = POD_TEMPLATE
    for step in path:
        if isinstance(step, str) and step != "[]":
            name = types_below(name).get(step, "")
    return name


def merge_keys(type_name: str, field: object) -> Sequence[str]:
    """The keys by which a strategic merge finds the items of a list, the one of a patch first; none where it replaces
    the list.
    """
    return api_types().merge_keys.get(type_name, {}).get(str(field), ())
