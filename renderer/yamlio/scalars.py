"""Resolves plain scalars as Kubernetes' Go tools do, with a cache."""

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
_SIGNED_BINARY = re.compile(r"0b([-+][01]*1[01]*|\+0+)")  # as go-yaml reads it, though no YAML version has it
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# As text: few runs need it, and `re` caches the compiled pattern.
_GO_FLOAT = r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?"
_SMALL: Final = 1e21  # from here on Go writes a float into JSON with an exponent, so it is not an integer


class UncertainError(Exception):
    """This reader does not support the file."""


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar as go-yaml resolves it, in JSON terms. UncertainError for infinities and NaN."""
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
    """A bounded cache of a function over short texts. `cache[text]` computes missing values; hot loops look into
    `known` and call `compute` on a miss.
    """

    __slots__ = ("known", "make")

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make  # the function
        self.known: dict[object, Any] = {}  # the values by text, a plain dict

    def __getitem__(self, text: object) -> Any:
        known = self.known
        return known[text] if text in known else self.compute(text)

    def compute(self, text: Any) -> Any:
        """The value of a text that is not in `known`."""
        value = self.make(text)
        if text.__class__ is int or len(text) <= 200:
            if len(self.known) >= 4_000:  # more does not fit into the processor's cache, and most texts occur once
                self.known.clear()
            self.known[text] = value
        return value


def _plain_key(text: str) -> str:
    if text == "<<" or len(text) > MAX_KEY or not isinstance(resolve_scalar(text), str):
        raise UncertainError(text)
    return text


VALUES = ScalarCache(resolve_scalar)
KEYS = ScalarCache(_plain_key)
