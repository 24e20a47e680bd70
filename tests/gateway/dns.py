"""DNS of a cluster: what an answer says, as bytes; no sockets."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

CLUSTER = ("svc.cluster.local", "cluster.local", "svc", "local")
TTL = 30  # seconds; as CoreDNS has it
ADDRESS, INTERNET = 1, 1  # type A, class IN
NO_SUCH_NAME = 3

Zone: TypeAlias = Mapping[str, Sequence[str]]


class Question(NamedTuple):
    """What is asked. `end`: where the question ends in the query."""

    name: str
    kind: int
    end: int


def question(query: bytes) -> Question:
    """The first question of a query. IndexError and struct.error for what is none."""
    labels, position = [], 12
    while size := query[position]:
        labels.append(query[position + 1 : position + 1 + size].decode("latin-1").lower())
        position += 1 + size
    (kind,) = struct.unpack_from("!H", query, position + 1)
    return Question(".".join(labels), kind, position + 5)


def addresses(name: str, zone: Zone, outside: str) -> Sequence[str] | None:
    """The addresses of a name, None when there is no such name. Names that are not the cluster's are `outside`."""
    if name in zone:
        return zone[name]
    inside = "." not in name or name.endswith(tuple(f".{domain}" for domain in CLUSTER))
    return None if inside else [outside]


def response(query: bytes, zone: Zone, outside: str) -> bytes:
    """The answer to a query: A records that live TTL seconds; no other records."""
    dns_question = question(query)
    known = addresses(dns_question.name, zone, outside)
    records = (known or ()) if dns_question.kind == ADDRESS else ()
    flags = 0x8580 | (NO_SUCH_NAME if known is None else 0)  # a response with authority, recursion desired and there
    header = query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0)
    body = b"".join(
        struct.pack("!HHHIH", 0xC00C, ADDRESS, INTERNET, TTL, 4) + bytes(map(int, record.split(".")))
        for record in records
    )
    return header + query[12 : dns_question.end] + body
