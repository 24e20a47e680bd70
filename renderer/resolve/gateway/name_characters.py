"""The characters that public names may hold: what clients can send, and what Gateway API takes in a route."""

from __future__ import annotations

import re

# The pattern of a header's value in the experimental channel of Gateway API since 1.5, without its backtracking
# (https://github.com/kubernetes-sigs/gateway-api/tree/v1.6.1/config/crd/experimental).
_PORTABLE = re.compile(r"[!-~]+(?:[\t ][!-~]+)*")


def can_be_sent(name: str) -> bool:
    """Whether a request can have the name: it is one line, and not only blanks."""
    return bool(name.strip()) and not any(character < " " or character == "\x7f" for character in name)


def is_portable(name: str) -> bool:
    """Whether both channels of Gateway API take a route for the name; the standard one takes any that can be sent."""
    return _PORTABLE.fullmatch(name) is not None
