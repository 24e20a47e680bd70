"""The options that parts of a command line give, and their numbers."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.engines.dialect import ArgLayer, Dialect


class GivenNumber(Struct, frozen=True):
    """A whole number that somebody gives an option."""

    value: int
    option: str  # as it is spelled
    origin: Origin


class WrittenOption(Struct, frozen=True):
    """An option in a part of a command line that somebody wrote."""

    name: str  # as comparisons have it
    text: str  # its word as it is written, a glued value included
    value: str  # glued, else the next word; '' at the end
    origin: Origin


def written_options(style: Dialect, layers: Iterable[ArgLayer], names: Container[str]) -> Iterator[WrittenOption]:
    """Each of the options of these names in the layers."""
    for layer in layers:
        for i, token in enumerate(layer.args):
            if token[:1] == "-" and (name := style.name(token)) in names:
                _, glued, value = token.partition("=")
                value = value if glued else "".join(layer.args[i + 1 : i + 2])
                yield WrittenOption(name, token, value, layer.origin_of(i))


def given_options(style: Dialect, layers: Iterable[ArgLayer]) -> frozenset[str]:
    """The names of the options in the layers."""
    return frozenset([style.name(token) for layer in layers for token in layer.args if token[:1] == "-"])


def option_names(style: Dialect, args: Iterable[str] | None) -> frozenset[str]:
    """The names of the options in a command line, as comparisons have them."""
    return frozenset([style.name(token) for token in args or () if token[:1] == "-"])


def last_given_number(style: Dialect, layers: Sequence[ArgLayer], options: frozenset[str]) -> GivenNumber | None:
    """The last number that a layer gives one of these options; None without one."""
    for layer in reversed(layers):
        for i in range(len(layer.args) - 1, -1, -1):
            if style.name(layer.args[i]) in options and (number := number_at(layer.args, i)) is not None:
                return GivenNumber(number, layer.args[i].partition("=")[0], layer.origin_of(i))
    return None


def last_whole_number(style: Dialect, lines: Iterable[Sequence[str]], option: str) -> int | None:
    """The last whole number that these arguments give an option, whatever else they give it; None without one."""
    number = None
    for args in lines:
        for i, token in enumerate(args):
            if style.name(token) == option and (value := number_at(args, i)) is not None:
                number = value
    return number


def last_number(style: Dialect, args: Sequence[str], options: frozenset[str]) -> int | None:
    """The number that the last of these options in a command line has; None without such an option, or number."""
    last = next((i for i in range(len(args) - 1, -1, -1) if style.name(args[i]) in options), None)
    return None if last is None else number_at(args, last)


def number_at(args: Sequence[str], i: int) -> int | None:
    """The whole number given to the option at an index; None without one."""
    _, glued, value = args[i].partition("=")
    return whole_number(value if glued else "".join(args[i + 1 : i + 2]))


def whole_number(text: str) -> int | None:
    """The whole number that the value of an option is; None for another text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def option_values(style: Dialect, args: Sequence[str], names: frozenset[str]) -> dict[str, str]:
    """The value of each of these options in a command line; of one that is given again the last."""
    values: dict[str, str] = {}
    for i, arg in enumerate(args):
        if arg[:1] == "-" and (name := style.name(arg)) in names:
            _, glued, value = arg.partition("=")
            values[name] = value if glued else "".join(args[i + 1 : i + 2])
    return values


def with_whole(option: str) -> tuple[str, ...]:
    """An option, and of a key in the JSON of one (OPTION.KEY) that option too: a value of either may say it."""
    head, dot, _ = option.partition(".")
    return (option, head) if dot else (option,)


def value_or_key(values: Mapping[str, str], option: str) -> str:
    """The value of an option, or of a key in the JSON that another one has; '' without it."""
    if option in values or not option:
        return values.get(option, "")
    head, _, key = option.partition(".")
    return str(json_map(values[head]).get(key, "")) if key and head in values else ""


def json_map(text: str) -> Mapping[str, object]:
    """The map that a value in JSON holds; empty where it is none."""
    with suppress(ValueError):
        value = json.loads(text)
        return value if isinstance(value, dict) else {}
    return {}
