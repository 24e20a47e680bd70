"""The options that layers of arguments give, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.resolve.engine import dialect
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.dialect import ArgLayer


def given_options(engine: Engine, layers: Sequence[ArgLayer]) -> set[str]:
    """The names of the options in the layers."""
    return {engine.style.name(token) for layer in layers for token in layer.args if token[:1] == "-"}


def last_given_number(engine: Engine, layers: Sequence[ArgLayer], options: frozenset[str]) -> GivenNumber | None:
    """The last number that a layer gives one of these options; None without one."""
    for layer in reversed(layers):
        for i in range(len(layer.args) - 1, -1, -1):
            if engine.style.name(layer.args[i]) in options and (number := dialect.number_at(layer.args, i)) is not None:
                return GivenNumber(number, layer.args[i].partition("=")[0], layer.origin.at(i))
    return None


class GivenNumber(Struct, frozen=True):
    """A whole number that a user gives an option, the option as it is spelled, and where it stands."""

    value: int
    option: str
    origin: Origin
