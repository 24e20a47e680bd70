"""Values as a controller of an unknown kind may read them: true and 0 in any spelling.

The API server takes no text for a boolean or a number in its own kinds, so nothing is lost by reading all alike.
"""

from __future__ import annotations

from typing import Final

_TRUE: Final = frozenset(("1", "on", "t", "true", "y", "yes"))
_LONGEST: Final = 40  # characters of a number


def is_true(value: object) -> bool:
    """Whether the value says yes."""
    return value is True or value == 1 or (isinstance(value, str) and value.strip().lower() in _TRUE)


def is_zero(value: object) -> bool:
    """Whether the value is the number 0."""
    if isinstance(value, str):
        return len(value) <= _LONGEST and _is_zero_text(value)
    return value == 0 and value is not False


def _is_zero_text(text: str) -> bool:
    for read in (lambda: int(text, 0), lambda: float(text)):
        try:
            return read() == 0
        except ValueError:
            continue
    return False
