"""The token of the model hub in the variables of containers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.load.preset_files import preset

_HUB = "hub"


class HubToken(Struct, frozen=True):
    """The Secret that holds the token, and its key."""

    name: str
    key: str
    optional: bool

    def holds(self, variable: Mapping[str, Any]) -> bool:
        """Whether a variable has this token."""
        return token_of(variable) == self


def token_of(variable: Mapping[str, Any]) -> HubToken | None:
    """The token that a variable has from a Secret; None for others."""
    reference = map_at(variable, "valueFrom", "secretKeyRef")
    if text_at(variable, "name") not in _variables() or not reference:
        return None
    return HubToken(text_at(reference, "name"), text_at(reference, "key"), bool(reference.get("optional")))


def default_token() -> HubToken:
    """The token that RenderConfig has where it says nothing."""
    credential = _credential()
    return HubToken(text_at(credential, "name"), text_at(maps_at(credential, "envs")[0], "key"), optional=True)


@cache
def _variables() -> frozenset[str]:
    """The variables that the loader of the hub gets the token in."""
    return frozenset(text_at(variable, "name") for variable in maps_at(_credential(), "envs"))


@cache
def _credential() -> Mapping[str, object]:
    """What the loader of the hub says of the token."""
    sources = maps_at(preset("loaders/hub").value, "spec", "sources")
    return next(part for source in sources for part in maps_at(source, "credentials") if part["secret"] == _HUB)
