"""The package's words for an error at run time in those of the API server, whose CEL is another program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_NO_OVERLOAD: Final = "no such overload"
_RULES: Final[Sequence[tuple[str, str]]] = (
    (r'NOT_FOUND: Key not found in map : "(.*)"', r"no such key: \1"),
    (r"NOT_FOUND: Key not found in map : (.*)", r"no such key: \1"),
    (r"UNKNOWN: Index error: index=(-?\d+) size=\d+", r"index out of bounds: \1"),
    (r"UNKNOWN: No matching overloads found : (?:\(.*\)\.)?([A-Za-z]\w*)\(.*", rf"{_NO_OVERLOAD}: \1"),
    (r"UNKNOWN: No matching overloads found.*", _NO_OVERLOAD),
    (r"INVALID_ARGUMENT: Applying SELECT to non-message type", _NO_OVERLOAD),
    (r"INVALID_ARGUMENT: Invalid container type: .*", _NO_OVERLOAD),
    (r"INVALID_ARGUMENT: divide by zero", "division by zero"),
    (r"INVALID_ARGUMENT: modulus by zero", "modulus by zero"),
    (r"(?:OUT_OF_RANGE|INVALID_ARGUMENT): .*overflow", "integer overflow"),
    (r"INVALID_ARGUMENT: cannot convert (\w+) to (\w+)", r"type conversion error from '\1' to '\2'"),
    (r"INVALID_ARGUMENT: String to Duration .*", "type conversion error from 'string' to 'google.protobuf.Duration'"),
    (r"INVALID_ARGUMENT: String to Timestamp .*", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
    (r"INVALID_ARGUMENT: Type conversion error (.*)", r"type conversion error \1"),
)
_STATUS: Final = r"^[A-Z_]+: "


def server_words(error: str) -> str:
    """What the server says of the error."""
    for pattern, words in _RULES:
        if match := re.fullmatch(pattern, error, re.DOTALL):
            return match.expand(words)
    return re.sub(_STATUS, "", error)
