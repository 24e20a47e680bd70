"""What stands beside an engine in a set of manifests: Services that it is named like, routes that ask it for a name,
and autoscalers that cannot wake it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter

from msgspec import Struct

from renderer.check.engines.containers import EngineContainer
from renderer.check.finding import Body
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.catalog import EngineCatalog
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine
from renderer.kubernetes.disaggregated_sets import ROLE_SCALER
from renderer.kubernetes.json_values import as_text, map_at, maps_at, number_at, text_at
from renderer.kubernetes.wellknown import MODEL_HEADER
from renderer.kubernetes.workloads import scale_target, selects
from renderer.template import compile_template
from renderer.yamlio import Document

_POOL, _BACKEND = "InferencePool", "AIServiceBackend"
_REWRITE = "InferenceModelRewrite"
_ADAPTER_WORDS = frozenset(["ModelName", "Adapter"])  # of the name by which an engine is asked for an adapter
_MARK = "\0"  # in place of an adapter's name


class ModelRequest(Struct, frozen=True):
    """What a route sends to pods."""

    name: str  # of the model
    namespace: str  # of the pods
    selector: Body  # of their labels
    origin: Origin  # of the name


class Neighbours:
    """The manifests of a set by kind, namespace and name."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._objects: dict[str, dict[tuple[str, str], Document]] = {}
        for document in documents:
            metadata = map_at(document.value, "metadata")
            objects = self._objects.setdefault(text_at(document.value, "kind"), {})
            objects.setdefault((text_at(metadata, "namespace"), text_at(metadata, "name")), document)

    def find(self, kind: str, namespace: str, name: str) -> Body:
        """The object; {} where there is none."""
        document = self.document(kind, namespace, name)
        return document.value if document else {}

    def document(self, kind: str, namespace: str, name: str) -> Document | None:
        """The document of an object; None where there is none."""
        return self._objects.get(kind, {}).get((namespace, name))

    def all(self, kind: str) -> Iterator[tuple[str, Document]]:
        """The namespace of each object of a kind, and its document."""
        for (namespace, _), document in self._objects.get(kind, {}).items():
            yield namespace, document

    @cached_property
    def scaled_objects(self) -> Mapping[tuple[str, str, str], list[Document]]:
        """The ScaledObjects by namespace, kind and name of what they scale."""
        scaled_objects: dict[tuple[str, str, str], list[Document]] = {}
        for _, document in self.all("ScaledObject"):
            scaled_objects.setdefault(scale_target(document.value), []).append(document)
        return scaled_objects

    @cached_property
    def services(self) -> Mapping[tuple[str, str], str]:
        """By namespace and variable, the Service for which Kubernetes sets `<NAME>_PORT` in pods."""
        return {
            (namespace, f"{text_at(document.value, 'metadata', 'name').upper().replace('-', '_')}_PORT"): text_at(
                document.value, "metadata", "name"
            )
            for namespace, document in self.all("Service")
            if text_at(document.value, "spec", "clusterIP") != "None"
        }

    @cached_property
    def _services_by_label(self) -> Mapping[tuple[str, str, str], list[tuple[int, Document]]]:
        """The Services with a selector, each with its number, by namespace and the first label that it has."""
        services: dict[tuple[str, str, str], list[tuple[int, Document]]] = {}
        for number, (namespace, document) in enumerate(self.all("Service")):
            for key, value in [*map_at(document.value, "spec", "selector").items()][:1]:
                services.setdefault((namespace, key, str(value)), []).append((number, document))
        return services

    def services_of(self, namespace: str, labels: Body) -> list[Document]:
        """The Services that select pods with these labels, in their order."""
        known = self._services_by_label
        services = [
            (number, document)
            for key, value in (labels.items() if known else ())
            for number, document in known.get((namespace, key, str(value)), ())
            if selects({"matchLabels": map_at(document.value, "spec", "selector")}, labels)
        ]
        return [document for _, document in sorted(services, key=itemgetter(0))]

    @cached_property
    def requests(self) -> list[ModelRequest]:
        """What the AIGatewayRoutes of the set send to pods."""
        return [
            request
            for namespace, route in self.all("AIGatewayRoute")
            for request in self._requests_of(namespace, route)
        ]

    @cached_property
    def _requests_by_label(self) -> Mapping[tuple[str, str, str], list[int]]:
        """The numbers of the requests, by the namespace of their pods and the first label that these have to have."""
        numbers: dict[tuple[str, str, str], list[int]] = {}
        for number, request in enumerate(self.requests):
            key, value = next(iter(request.selector.items()))
            numbers.setdefault((request.namespace, key, str(value)), []).append(number)
        return numbers

    def requests_to(self, namespace: str, labels: Body) -> Iterator[ModelRequest]:
        """The requests that reach pods with these labels, in their order."""
        known = self._requests_by_label
        numbers = sorted(
            number for key, value in labels.items() for number in known.get((namespace, key, str(value)), ())
        )
        yield from (self.requests[i] for i in numbers if selects({"matchLabels": self.requests[i].selector}, labels))

    def _requests_of(self, namespace: str, route: Document) -> Iterator[ModelRequest]:
        for i, route_rule in enumerate(maps_at(route.value, "spec", "rules")):
            rule_origin = route.origin("spec", "rules", i)
            matched = [
                (text_at(header, "value"), rule_origin.at("matches", m, "headers", h, "value"))
                for m, match in enumerate(maps_at(route_rule, "matches"))
                for h, header in enumerate(maps_at(match, "headers"))
                if header.get("name") == MODEL_HEADER and header.get("type", "Exact") == "Exact"
            ]
            for b, reference in enumerate(maps_at(route_rule, "backendRefs")):
                override = text_at(reference, "modelNameOverride")
                origin = rule_origin.at("backendRefs", b, "modelNameOverride")
                space = text_at(reference, "namespace") or namespace
                for name, place in [(override, origin)] if override else matched:
                    for pods_namespace, selector in self._pods_behind(reference, space):
                        for sent in self._rewritten(reference, space, name):
                            yield ModelRequest(sent, pods_namespace, selector, place)

    def _rewritten(self, reference: Body, namespace: str, name: str) -> Sequence[str]:
        """The names that the engines behind a backend of a route get for this one: a pool's picker may replace it."""
        pool = text_at(reference, "name") if text_at(reference, "kind") == _POOL else ""
        rules = self._rewrites.get((namespace, pool), ()) if pool else ()
        targets = [target for models, target in rules if name in models or not models]
        return targets or [name]

    @cached_property
    def _rewrites(self) -> Mapping[tuple[str, str], list[tuple[Sequence[str], str]]]:
        """By namespace and name of a pool, the names that InferenceModelRewrites replace, none for all, and by what."""
        rewrites: dict[tuple[str, str], list[tuple[Sequence[str], str]]] = {}
        for namespace, document in self.all(_REWRITE):
            known = rewrites.setdefault((namespace, text_at(document.value, "spec", "poolRef", "name")), [])
            for rewrite in maps_at(document.value, "spec", "rules"):
                models = [text_at(match, "model", "value") for match in maps_at(rewrite, "matches")]
                known += [(models, text_at(target, "modelRewrite")) for target in maps_at(rewrite, "targets")]
        return rewrites

    def _pods_behind(self, reference: Body, namespace: str) -> Iterator[tuple[str, Body]]:
        """Namespace and labels of the pods behind a backend of a route."""
        name = text_at(reference, "name")
        if text_at(reference, "kind") == _POOL:
            selector = map_at(self.find(_POOL, namespace, name), "spec", "selector", "matchLabels")
            yield from [(namespace, selector)] if selector else ()
            return
        backend = text_at(self.find(_BACKEND, namespace, name), "spec", "backendRef", "name")
        for endpoint in maps_at(self.find("Backend", namespace, backend), "spec", "endpoints"):
            service, _, rest = text_at(endpoint, "fqdn", "hostname").partition(".")
            space = rest.partition(".")[0]
            selector = map_at(self.find("Service", space, service), "spec", "selector")
            yield from [(space, selector)] if selector else ()


class PlacedEngine(Struct, frozen=True):
    """An engine, what is known of its command line and of models, and the manifests beside it."""

    container: EngineContainer
    line: EngineLine
    catalog: EngineCatalog
    neighbours: Neighbours


@rule(of=PlacedEngine)
def overwritten_variables(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """An error for each variable of the engine that Kubernetes sets for a Service of its namespace."""
    container = placed.container
    if container.pod.get("enableServiceLinks") is False:
        return
    own_variables = [text_at(entry, "name") for entry in maps_at(container.body, "env")]
    for variable in table_entry(container.recognised.engine.runtime.name).get("serviceVariables") or ():
        service = placed.neighbours.services.get((container.namespace, variable))
        if service and variable not in own_variables:
            origin = container.document.origin(*container.pod_path, "enableServiceLinks")
            yield make_diagnostic("E428", origin, service=service, variable=variable, name=container.name)


@rule(of=PlacedEngine)
def other_names(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A warning where a route asks the engine for a name that it does not serve."""
    container, command = placed.container, placed.container.recognised.command
    if not command.names or not all(word.known for word in command.names):
        return
    texts = [word.text for word in command.words]
    for request in placed.neighbours.requests_to(container.namespace, map_at(container.metadata, "labels")):
        if any(request.name in text for text in texts):  # also as the name of an adapter
            continue
        if any(adapter in text for adapter in _adapters_asked(placed, request.name) for text in texts):
            continue
        first = command.names[0]
        file, line, _ = request.origin.place
        hint = f"add {command.named_by} {request.name}"
        if not command.unnamed:
            hint = f"write {command.named_by} {request.name}, or let the route request {first.text}"
        words = {"served": first.text, "name": request.name, "where": f" ({file}:{line})", "hint": hint}
        yield make_diagnostic("W250", first.origin, **words)
        return


def _adapters_asked(placed: PlacedEngine, name: str) -> Iterator[str]:
    """The adapters that a name may ask the engine for, where it takes them by other names than their own."""
    recognised = placed.container.recognised
    name_template = text_at(recognised.engine.runtime.spec, "engine", "adapters", "asked")
    if name_template and (filler := compile_template(name_template, _ADAPTER_WORDS)):
        for served in recognised.command.names:
            before, _, after = str(filler({"ModelName": served.text, "Adapter": _MARK})).partition(_MARK)
            if name.startswith(before) and name.endswith(after) and len(name) > len(before + after):
                yield name[len(before) : len(name) - len(after)]


@rule(of=PlacedEngine)
def sleeping_engine(placed: PlacedEngine) -> Iterator[Diagnostic]:
    """A warning for a ScaledObject that lets the engine have no replica, and asks only for what its pods measure."""
    container = placed.container
    metrics = map_at(container.recognised.engine.runtime.spec, "engine", "metrics")
    prefixes = {as_text(name).partition(":")[0] + ":" for name in metrics.values() if ":" in as_text(name)}
    value, role = container.document.value, container.replica.set_role if container.replica else None
    kind, name = (ROLE_SCALER, role.scaler) if role else (text_at(value, "kind"), text_at(value, "metadata", "name"))
    scaled_objects = placed.neighbours.scaled_objects.get((container.namespace, kind, name), ())
    for document in scaled_objects if prefixes else ():
        spec = map_at(document.value, "spec")
        least = min(number_at(spec, "minReplicaCount", default=0), number_at(spec, "idleReplicaCount", default=1))
        queries = [text_at(trigger, "metadata", "query") for trigger in maps_at(spec, "triggers")]
        if not least and all(any(prefix in query for prefix in prefixes) for query in queries):
            words = {"kind": "ScaledObject", "name": text_at(document.value, "metadata", "name"), "target": name}
            yield make_diagnostic("W429", document.origin("spec", "minReplicaCount"), **words)
