"""Whether others reach an engine, and whether its probes ask where it listens and let it load its model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from renderer.check.engines.containers import EngineContainer
from renderer.check.engines.neighbours import PlacedEngine
from renderer.check.finding import Body
from renderer.diagnostics import Diagnostic, Path, counted, make_diagnostic, rule
from renderer.engines.container_engine import listening_port
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, value_at
from renderer.kubernetes.server_defaults import constants
from renderer.kubernetes.variable_references import plain_variables
from renderer.kubernetes.workloads import WORKLOADS, containers, kind_of, stays

_LOADS = 120  # seconds that a small model takes at least, with its image and its start
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_ANY = "0.0.0.0"  # noqa: S104 - an engine in a pod serves the pod's address
_LOCAL = ("127.0.0.1", "localhost", "::1")


@rule(of=EngineContainer)
def local_host(container: EngineContainer) -> Iterator[Diagnostic]:
    """A warning for an engine that serves the pod itself alone, by its options or without any."""
    recognised = container.recognised
    entry, command = table_entry(recognised.engine.runtime.name), recognised.command
    if command.hides_options or container.is_worker or not _is_asked(container):
        return
    for i, word in enumerate(command.arguments):
        option, glued, value = word.text.partition("=")
        if option in entry.get("host", ()):
            address = value if glued else "".join(other.text for other in command.arguments[i + 1 : i + 2])
            if address in _LOCAL:
                yield make_diagnostic("W451", word.origin, name=container.name, hint=f"write {option} {_ANY}")
            return
    variables = [text_at(variable, "name") for variable in maps_at(container.body, "env")]
    variable = text_at(entry, "hostVariable")
    if variable in variables:
        address = plain_variables(container.body).get(variable, "")
        host = re.sub(r":\d+$|[][]", "", address.rpartition("://")[2].rstrip("/"))
        if host in _LOCAL:
            origin = container.origin("env", variables.index(variable), "value")
            yield make_diagnostic("W451", origin, name=container.name, hint=f"write {address.replace(host, _ANY)}")
        return
    rule = entry.get("localHost")
    if rule is None or (rule.get("ownImage") and recognised.is_own_image):
        return
    origin = command.arguments[-1].origin if command.arguments else container.origin()
    yield make_diagnostic("W451", origin, name=container.name, hint=f"add {entry['host'][0]} {_ANY}")


def _is_asked(container: EngineContainer) -> bool:
    """Whether the container names ports, or the kubelet asks it over the network."""
    probes = (map_at(container.body, field) for field in PROBES)
    return bool(maps_at(container.body, "ports")) or any("exec" not in probe for probe in probes if probe)


@rule(of=EngineContainer)
def unheard_probes(container: EngineContainer) -> Iterator[Diagnostic]:
    """A warning for each probe that asks a port on which neither the engine nor a container beside it listens."""
    number = engine_port(container)
    ports = {text_at(port, "name"): port.get("containerPort") for port in maps_at(container.body, "ports")}
    others = [port.get("containerPort") for _, _, port in _ports_beside(container)]
    for field in PROBES if number else ():
        for handler in ("httpGet", "tcpSocket"):
            target_port = value_at(container.body, field, handler, "port")
            port = ports.get(target_port) if isinstance(target_port, str) else target_port
            if isinstance(port, int) and port != number and port not in others:
                words = {"probe": field, "port": port, "name": container.name, "number": number}
                yield make_diagnostic("W453", container.origin(field, handler, "port"), **words)


@rule(of=EngineContainer)
def shared_port(container: EngineContainer) -> Iterator[Diagnostic]:
    """An error for each other container of the pod that names the engine's port. One that both name is W254."""
    number = engine_port(container)
    if any(port.get("containerPort") == number for port in maps_at(container.body, "ports")):
        return
    for path, body, port in _ports_beside(container) if number else ():
        if stays(path, body) and port.get("containerPort") == number and port.get("protocol", "TCP") == "TCP":
            origin = container.document.origin(*container.pod_path, *path, "containerPort")
            words = {"name": text_at(body, "name"), "port": number, "runner": container.name, "where": ""}
            yield make_diagnostic("E262", origin, **words)


def _ports_beside(container: EngineContainer) -> Iterator[tuple[Path, Body, Body]]:
    """The ports that other containers of the pod name: their paths in it, their containers, and themselves."""
    for path, body in containers(container.pod):
        for i, port in enumerate(maps_at(body, "ports") if body is not container.body else ()):
            yield (*path, "ports", i), body, port


@rule(of=PlacedEngine)
def unheard_services(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A warning for a Service none of whose ports leads to one on which something in the pod listens. Nothing is known
    of containers beside the engine that name no port, and of an engine that a script starts beside others.
    """
    container, recognised = placed.container, placed.container.recognised
    number = None if container.is_worker or not recognised.command.is_alone else engine_port(container)
    beside = [body for path, body in containers(container.pod) if body is not container.body and stays(path, body)]
    if not number or not all(maps_at(body, "ports") for body in beside):
        return
    named = {
        text_at(port, "name"): port.get("containerPort")
        for body in (*beside, container.body)
        for port in maps_at(body, "ports")
    }
    heard = [number, *(port.get("containerPort") for _, _, port in _ports_beside(container))]
    for service in placed.neighbours.services_of(container.namespace, map_at(container.metadata, "labels")):
        spec = map_at(service.value, "spec")
        ports = [port.get("targetPort", port.get("port")) for port in maps_at(spec, "ports")]
        numbers = [named.get(port) if isinstance(port, str) else port for port in ports]
        if not ports or text_at(spec, "clusterIP") == "None" or not all(isinstance(port, int) for port in numbers):
            continue
        if not any(port in heard for port in numbers):
            metadata = map_at(service.value, "metadata")
            is_named = isinstance(ports[0], str)
            words = {
                "service": "/".join(filter(None, (text_at(metadata, "namespace"), text_at(metadata, "name")))),
                "port": numbers[0],
                "name": container.name,
                "number": number,
                "hint": f"write containerPort: {number} at the port '{ports[0]}'"
                if is_named
                else f"write targetPort: {number}",
            }
            yield make_diagnostic("W487", service.origin("spec", "ports", 0, "targetPort"), **words)


def undrained_engines(engines: Iterable[EngineContainer]) -> Iterator[Diagnostic]:
    """A note, at the first, on engines that requests reach while they end: nothing waits until nobody sends any."""
    undrained = [*filter(_is_undrained, engines)]
    if undrained:
        count = len(undrained) - 1
        more = f", nor {'has' if count == 1 else 'have'} {counted(count, 'other engine')}" if count else ""
        yield make_diagnostic("N454", undrained[0].origin(), name=undrained[0].name, more=more)


def _is_undrained(container: EngineContainer) -> bool:
    hooks = map_at(container.body, "lifecycle", "preStop")
    workload = WORKLOADS.get(kind_of(container.document.value))
    is_replaced = workload is not None and workload.replaces_pods
    return is_replaced and not container.is_worker and _is_asked(container) and not hooks


def engine_port(container: EngineContainer) -> int | None:
    """The port on which the engine listens; None where it is not known."""
    return listening_port(container.recognised, container.body)


@rule(of=EngineContainer)
def impatient_probe(container: EngineContainer) -> Iterator[Diagnostic]:
    """A warning for a liveness probe that ends the engine before a model can be loaded, without a startup probe."""
    probe = map_at(container.body, "livenessProbe")
    if not probe or "startupProbe" in container.body:
        return
    defaults = constants("core.Probe")
    period, failures = (number_at(probe, key, default=defaults[key]) for key in ("periodSeconds", "failureThreshold"))
    seconds = number_at(probe, "initialDelaySeconds") + period * failures
    if seconds < _LOADS:
        yield make_diagnostic("W452", container.origin("livenessProbe"), name=container.name, seconds=f"{seconds:g}")
