"""Whether others reach an engine, and whether a probe lets it load its model."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.engines.containers import EngineContainer
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.engines.engine_command import table_entry
from renderer.kubernetes.json_values import map_at, maps_at, number_at

_LOADS = 120  # seconds that a small model takes at least, with its image and its start
_LOCAL = ("127.0.0.1", "localhost", "::1")


def local_host(container: EngineContainer) -> Iterator[Diagnostic]:
    """A warning for an engine that serves the pod itself alone, by its options or without any."""
    recognised = container.recognised
    entry, command = table_entry(recognised.engine.runtime.name), recognised.command
    if command.hides_options or "host" not in entry or container.is_worker or not _is_asked(container):
        return
    for i, word in enumerate(command.arguments):
        option, glued, value = word.text.partition("=")
        if option in entry["host"]:
            address = value if glued else "".join(other.text for other in command.arguments[i + 1 : i + 2])
            if address in _LOCAL:
                yield make_diagnostic("W451", word.origin, name=container.name, hint=f"write {option} 0.0.0.0")
            return
    variables = [variable.get("name") for variable in maps_at(container.body, "env")]
    rule = entry["localHost"]
    if entry.get("hostVariable") in variables or (rule.get("ownImage") and recognised.is_own_image):
        return
    origin = command.arguments[-1].origin if command.arguments else container.origin()
    yield make_diagnostic("W451", origin, name=container.name, hint=f"add {entry['host'][0]} 0.0.0.0")


def _is_asked(container: EngineContainer) -> bool:
    """Whether the container names ports, or the kubelet asks it over the network."""
    probes = (map_at(container.body, field) for field in ("startupProbe", "readinessProbe", "livenessProbe"))
    return bool(maps_at(container.body, "ports")) or any("exec" not in probe for probe in probes if probe)


def impatient_probe(container: EngineContainer) -> Iterator[Diagnostic]:
    """A warning for a liveness probe that ends the engine before a model can be loaded, without a startup probe."""
    probe = map_at(container.body, "livenessProbe")
    if not probe or "startupProbe" in container.body:
        return
    period = number_at(probe, "periodSeconds", default=10)
    seconds = number_at(probe, "initialDelaySeconds") + period * number_at(probe, "failureThreshold", default=3)
    if seconds < _LOADS:
        yield make_diagnostic("W452", container.origin("livenessProbe"), name=container.name, seconds=f"{seconds:g}")
