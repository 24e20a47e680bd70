"""Secrets that stand in a manifest: they are found, and shown to nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

HIDDEN = "<hidden>"
_ANOTHER = "<hidden, another one>"
_NAME = re.compile(r"(?:^|[_-])(?:\w*KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_OPTION = re.compile(r"--?(?:[\w-]*[_-])?(?:api[_-]?key|auth[_-]?token|hf[_-]?token|password|secret)", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\(\w+\)|\$\{?\w+\}?")


def literal(name: object, value: object) -> bool:
    """Whether the value of an environment variable is a secret in plain text, as its name says."""
    return isinstance(name, str) and bool(_NAME.search(name)) and _plain(value)


def _plain(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not _REFERENCE.fullmatch(value)


def hidden_in(args: Sequence[Any], other: Sequence[Any] | None = None) -> list[Any]:
    """A command line, with secrets in it hidden. `other`: that of the other side."""
    made, was = list(args), dict(_given(other or ()))
    places = {option: place for place, option, _ in _places(args)}
    for place, option, value in _places(args):
        known = was.get(option)
        shown = HIDDEN if known is None or known == value or places[option] != place else _ANOTHER
        made[place] = shown if made[place] == value else f"{option}={shown}"
    return made


def _given(args: Sequence[Any]) -> Iterator[tuple[str, str]]:
    return ((option, value) for _, option, value in _places(args))


def _places(args: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """Where a secret stands, behind which option, and the secret."""
    for i, arg in enumerate(args):
        option, equals, value = arg.partition("=") if isinstance(arg, str) else ("", "", "")
        if equals and _OPTION.fullmatch(option) and _plain(value):
            yield i, option, value
        elif i and isinstance(args[i - 1], str) and _OPTION.fullmatch(args[i - 1]) and _secret(arg):
            yield i, args[i - 1], arg


def _secret(arg: object) -> bool:
    return _plain(arg) and not str(arg).startswith("-")


def veiled(value: Any, other: Any = None) -> Any:
    """A body with its secrets hidden. `other`: the body of the other side; a secret that is not the one there is said
    to be another, so that the change still shows.
    """
    if isinstance(value, dict):
        if literal(value.get("name"), value.get("value")) and isinstance(value.get("value"), str):
            was = other.get("value") if isinstance(other, dict) else None
            return {**value, "value": HIDDEN if was is None or was == value["value"] else _ANOTHER}
        if value.get("kind") == "Secret":
            return _without_data(value, other)
        return {key: veiled(each, other.get(key) if isinstance(other, dict) else None) for key, each in value.items()}
    if isinstance(value, list):
        shown = hidden_in(value, other if isinstance(other, list) else None)
        return [veiled(each, _twin(each, i, other)) for i, each in enumerate(shown)]
    return value


def _without_data(body: dict[str, Any], other: Any) -> dict[str, Any]:
    """A Secret: its keys only."""
    made = dict(body)
    for field in ("data", "stringData"):
        if isinstance(body.get(field), dict):
            was = other.get(field) if isinstance(other, dict) else None
            was = was if isinstance(was, dict) else {}
            made[field] = {
                key: HIDDEN if key not in was or was[key] == each else _ANOTHER for key, each in body[field].items()
            }
    return made


def _twin(each: Any, place: int, other: Any) -> Any:
    """The item of the other list that goes by the same name, else the one at the same place."""
    if not isinstance(other, list):
        return None
    if isinstance(each, dict) and "name" in each:
        return next((one for one in other if isinstance(one, dict) and one.get("name") == each["name"]), None)
    return other[place] if place < len(other) else None
