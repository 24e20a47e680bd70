"""Whether an engine becomes ready, and is asked before: a Service that asks without any probe, and the order in which a
StatefulSet starts hosts that serve together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.engines.containers import EngineContainer
from renderer.check.engines.neighbours import PlacedEngine
from renderer.check.engines.reachability import PROBES, engine_port
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.handwritten_command import Word, table_entry
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at


def _health_path(container: EngineContainer) -> str:
    """The path by which our preset asks this version whether it is ready, and one that each version has where that is
    not known; '' where it asks otherwise.
    """
    engine = container.recognised.engine
    path, alive = (
        text_at(engine.runtime.spec, probe, "httpGet", "path") for probe in ("readinessProbe", "livenessProbe")
    )
    rows = table_entry(engine.runtime.name).get("absentPaths") or ()
    return alive if not engine.version and any(path in row["paths"] for row in rows) else path


@rule(of=PlacedEngine)
def asked_too_early(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A warning where a Service of the set sends requests to an engine that nothing asks whether it is ready."""
    container = placed.container
    if container.is_worker or "readinessProbe" in container.body or not (port := engine_port(container)):
        return
    beside = [body for body in maps_at(container.pod, "containers") if body is not container.body]
    if any("readinessProbe" in body for body in beside):
        return  # the pod waits for it
    labels = map_at(container.metadata, "labels")
    for document in placed.neighbours.services_of(container.namespace, labels):
        spec = map_at(document.value, "spec")
        if text_at(spec, "clusterIP") != "None" and not spec.get("publishNotReadyAddresses"):
            service = text_at(document.value, "metadata", "name")
            path = _health_path(container)
            handler = f"httpGet: {{path: {path}, port: {port}}}" if path else f"tcpSocket: {{port: {port}}}"
            hint = f"add readinessProbe: {{{handler}}}"
            yield make_diagnostic("W469", container.origin(), name=container.name, service=service, hint=hint)
            return


@rule(of=PlacedEngine)
def hosts_in_order(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """Errors where a StatefulSet starts hosts that serve together one by one, or hides the first from the others: none
    is ready before all are there (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
    #orderedready-pod-management, dns-pod-service: publishNotReadyAddresses).
    """
    container, document = placed.container, placed.container.document
    hosts = table_entry(container.recognised.engine.runtime.name).get("hosts")
    if not hosts or text_at(document.value, "kind") != "StatefulSet" or not _waits(container):
        return
    spec = map_at(document.value, "spec")
    words = container.recognised.command.words
    count = _value(words, hosts["count"])
    if not count.isdigit() or int(count) < 2 or number_at(spec, "replicas", default=1) < int(count):
        return
    if text_at(spec, "podManagementPolicy") in ("", "OrderedReady"):
        params = {"set": text_at(document.value, "metadata", "name"), "name": container.name, "count": count}
        yield make_diagnostic("E470", document.origin("spec", "podManagementPolicy"), **params)
    address = _value(words, hosts["address"]).partition(":")[0].split(".")
    for namespace, service in placed.neighbours.all("Service"):
        name = text_at(service.value, "metadata", "name")
        if namespace != container.namespace or name not in address[:2] or not map_at(service.value, "spec", "selector"):
            continue
        if not map_at(service.value, "spec").get("publishNotReadyAddresses"):
            origin = service.origin("spec", "publishNotReadyAddresses")
            yield make_diagnostic("E471", origin, name=container.name, service=name)


def _waits(container: EngineContainer) -> bool:
    """Whether the pod is not ready before the engine answers."""
    return any(field in container.body for field in PROBES[:2])


def _value(words: Sequence[Word], options: Sequence[str]) -> str:
    """The value that a line gives one of these options; '' without one."""
    for i, word in enumerate(words):
        option, glued, value = word.text.partition("=")
        if option.replace("_", "-") in options:
            return value if glued else "".join(other.text for other in words[i + 1 : i + 2])
    return ""
