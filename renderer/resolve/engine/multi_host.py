"""How an engine serves one replica with the pods of several hosts: the forms of `engine.multiHost` in a preset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.plan import Body
from renderer.template import Filler, Words


class MultiHostForm(Struct, frozen=True):
    """One entry of `engine.multiHost`. `all_serve`: every pod answers requests, else the leader alone; `command`: None
    for the preset's own; `supervisor_port`: answers the probes where each data parallel rank has a port of its own,
    else 0; `probes`: by key, fields that differ; `dropped_options`, `worker_args`, `worker_lifecycle`: how workers
    differ from the leader where it alone serves.
    """

    origin: Origin
    when: Filler
    all_serve: bool
    command: Callable[[Words], Sequence[str]] | None
    supervisor_port: int
    probes: Mapping[str, Body]
    dropped_options: frozenset[str]
    worker_args: tuple[str, ...]
    worker_lifecycle: Callable[[Words], Body]
