"""How an engine serves one replica with the pods of several hosts: the forms of `engine.multiHost` in a preset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.plan import Body
from renderer.template import Filler, Words


class MultiHostForm(Struct, frozen=True):
    """One entry of `engine.multiHost`."""

    origin: Origin
    when: Filler
    all_serve: bool  # every pod answers requests, else the leader alone
    command: Callable[[Words], Sequence[str]] | None  # None for the preset's own
    supervisor_port: int  # answers the probes where each data parallel rank has a port of its own, else 0
    probes: Mapping[str, Body]  # by key, fields that differ
    dropped_options: frozenset[str]  # that workers lack beside a leader that alone serves
    worker_args: tuple[str, ...]  # that they have besides
    worker_lifecycle: Callable[[Words], Body]  # of these workers
