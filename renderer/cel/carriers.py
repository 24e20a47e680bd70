"""Values of Kubernetes' own types, as maps with one entry: its key says which type and which value, and is equal where
the server takes two values for equal.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from typing import Final, TypeAlias

Carrier: TypeAlias = Mapping[str, list[object]]
Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"
Network: TypeAlias = "ipaddress.IPv4Interface | ipaddress.IPv6Interface"

# The first characters of the key; no key of JSON from YAML begins so.
QUANTITY: Final = "\x01q"
URL: Final = "\x01u"
IP: Final = "\x01i"
CIDR: Final = "\x01c"
SEMVER: Final = "\x01s"
FORMAT: Final = "\x01f"
FAULTS: Final = "\x01o"
NO_OVERLOAD: Final = "no such overload"


def carry(tag: str, content: str) -> Carrier:
    """The value with that content."""
    return {f"{tag}{content}": []}


def content(value: object, tag: str) -> str:
    """The content of a value of that type. Raises ValueError for another."""
    key = _key(value)
    if not key.startswith(tag):
        raise ValueError(NO_OVERLOAD)
    return key[len(tag) :]


def tag_of(value: object) -> str:
    """The type of a value. Raises ValueError where it is none of Kubernetes'."""
    return _key(value)[: len(QUANTITY)]


def _key(value: object) -> str:
    for key in value if isinstance(value, dict) and len(value) == 1 else ():
        if isinstance(key, str) and key.startswith("\x01"):
            return key
    raise ValueError(NO_OVERLOAD)


def go_quoted(text: str) -> str:
    """A text in quotes, as Go prints it."""
    return json.dumps(text, ensure_ascii=False)
