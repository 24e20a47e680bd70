"""What a plain scalar means to Kubernetes' Go tools, remembered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from renderer.yamlio.limits import MAX_KEY

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NO_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_INT = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))")
_SIGNED_BINARY = re.compile(r"0b([-+][01]*1[01]*|\+0+)")  # what Go makes of it, though no YAML says so
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# As text: few runs need it, and re keeps what it has compiled.
_GO_FLOAT = r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?"
_SMALL: Final = 1e21  # from here on Go writes a float into JSON with an exponent, so that it is no integer any more


class UncertainError(Exception):
    """This way of reading cannot vouch for the file."""


def resolved(text: str) -> str | int | float | bool | None:
    """What a plain scalar means to go-yaml, in JSON terms. Odd for infinities and what is not a number."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if _NO_JSON.fullmatch(text):
        raise UncertainError(text)
    if text[0] == "." and not re.fullmatch(_GO_FLOAT, text):
        return text
    digits = text.replace("_", "")
    if match := _INT.fullmatch(digits):
        sign, *numbers, decimal = match.groups()
        if decimal and float(decimal) - float(decimal) == 0:
            return int(digits)
        for base, number in zip((16, 8, 2), numbers, strict=True):
            if number:
                value = -int(number, base) if sign == "-" else int(number, base)
                if -(1 << 63) <= value < 1 << (63 if sign else 64):
                    return value
    if (match := _SIGNED_BINARY.fullmatch(digits)) and -(1 << 63) <= int(match[1], 2) < 1 << 63:
        return int(match[1], 2)
    if _FLOAT.fullmatch(digits):
        real = float(digits)
        if abs(real) < _SMALL and real.is_integer():
            return int(real)
        if real - real == 0:  # else it is infinite: what no float can hold is a string
            return real
    return text


class ScalarCache:
    """What `make` makes of texts, remembered in `known` for short ones, up to a bound.

    `memo[text]` always has it; who asks often looks into `known` himself, a plain dict, and asks `new` for the rest.
    """

    __slots__ = ("known", "make")

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make
        self.known: dict[Any, Any] = {}

    def __getitem__(self, text: Any) -> Any:
        known = self.known
        return known[text] if text in known else self.new(text)

    def new(self, text: Any) -> Any:
        """What is made of a text that is not known."""
        value = self.make(text)
        if text.__class__ is int or len(text) <= 200:
            if len(self.known) >= 4_000:  # more does not fit into the processor's cache, and most texts come only once
                self.known.clear()
            self.known[text] = value
        return value


def _plain_key(text: str) -> str:
    if text == "<<" or len(text) > MAX_KEY or not isinstance(resolved(text), str):
        raise UncertainError(text)
    return text


VALUES = ScalarCache(resolved)
KEYS = ScalarCache(_plain_key)
