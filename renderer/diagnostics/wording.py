"""The wording of a diagnostic."""

from __future__ import annotations

from msgspec import Struct


class Wording(Struct, frozen=True):
    """Message and hint of a code, as format strings that are filled with the keyword arguments of make_diagnostic."""

    message: str
    hint: str = ""
    about: str = ""
    """What the table of docs/errors.md says, where the message is only what the rule or the reader passes."""
    quiet: bool = False
    """Whether it holds of nearly every tree, so that `llmaz check` tells it with --strict or -v alone."""
    varies: bool = False
    """Whether notes of this code say different things, so that only notes of the same words are alike."""
    by_kind: bool = False
    """Whether the words in front of the first name say of what kind it is, and only notes about one kind are alike."""
    replaces: tuple[str, str] | None = None
    """What the hint replaces ('' for the whole value), and what it writes there, each an argument by its name or the
    text itself; for a hint that is no argument itself.
    """
