"""Foreign Gateways on which rendered routes are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.api import ClaimedName
from renderer.check.finding import IndexedFinding
from renderer.check.foreign.objects import ForeignObject
from renderer.check.graph import ObjectView
from renderer.check.graph.buffer_limits import small_buffer
from renderer.check.graph.view import ExternalObjects


def validate_buffers(objects: Sequence[ForeignObject], names: Sequence[ClaimedName]) -> Iterator[IndexedFinding]:
    """A finding for each Gateway, of the objects given, that has rendered routes and a small buffer."""
    places = {name.gateway for name in names}
    gateways = [i for i, foreign in enumerate(objects) if foreign.key[0] == "Gateway" and foreign.key[1:] in places]
    if gateways:
        view = ObjectView([foreign.body for foreign in objects], ExternalObjects())
        for i in gateways:
            for finding in small_buffer(view, *objects[i].key[1:]):
                yield i, finding
