"""How a diagnostic reads."""

from __future__ import annotations

from msgspec import Struct


class Wording(Struct, frozen=True):
    """How one code reads; braces are filled from the words that the finder gives."""

    message: str
    hint: str = ""
