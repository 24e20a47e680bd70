"""What a run knows of objects beside the one that is judged: routes of models, Gateways, Backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from renderer import check, schema_validation
from renderer.api import ClaimedName
from renderer.check.graph import ExternalObjects, ObjectView, Place
from renderer.check.graph.attachments import GATEWAY_GROUP, Attachment, attachments
from renderer.check.graph.request_matches import RequestMatch, located_matches
from renderer.kubernetes.json_values import as_map, text_at
from renderer.kubernetes.workloads import Kind, kind_of
from renderer.plan import Body
from renderer.policy.objects import namespace_of

AI_GROUP = "aigateway.envoyproxy.io"
BACKEND: Kind = ("gateway.envoyproxy.io", "Backend")
AI_GATEWAY_ROUTE: Kind = (AI_GROUP, "AIGatewayRoute")
NAMING_ROUTES: tuple[Kind, ...] = (
    AI_GATEWAY_ROUTE,
    (GATEWAY_GROUP, "HTTPRoute"),
    (GATEWAY_GROUP, "GRPCRoute"),
)
"""Kinds of routes that can match the name of a model."""
MOST = 50  # matches, or sets of hosts, of routes of models at one place that are told apart
_LISTENING = ("ListenerSet", "XListenerSet", "Namespace")  # without which listeners of a Gateway are not understood


class RoutedHost:
    """The routes of models for one host of a Gateway. Many different ones count as a route that any other beats."""

    def __init__(self) -> None:
        self._matches: dict[RequestMatch, None] = {}
        self._host_sets: dict[frozenset[str], None] = {}  # each with all hosts of a route

    def add(self, match: RequestMatch, hosts: frozenset[str]) -> None:
        """Adds a match of a route for these hosts."""
        if len(self._matches) <= MOST:
            self._matches[match] = None
        if len(self._host_sets) <= MOST:
            self._host_sets[hosts] = None

    @property
    def matches(self) -> Sequence[RequestMatch]:
        """Their matches."""
        return [*self._matches] if len(self._matches) <= MOST else [RequestMatch()]

    def misses(self, host: str) -> bool:
        """Whether one of the routes is not for this other host as well."""
        return len(self._host_sets) > MOST or any(host not in hosts for hosts in self._host_sets)


class KnownObjects:
    """The objects of a run, looked into where a rule asks."""

    def __init__(
        self,
        judged: Callable[[], Iterable[Body]],
        others: Callable[[], Iterable[Body]] = lambda: (),
        names: Callable[[], Sequence[ClaimedName]] = lambda: (),
        external: ExternalObjects | None = None,
    ) -> None:
        """`judged`: returns those that are judged themselves; `others`: the rest; `names`: returns the public names of
        rendered routes; `external`: what else is known.
        """
        self._judged, self._others, self._names = judged, others, names
        self._external = external or ExternalObjects()

    @cached_property
    def unjudged_backends(self) -> dict[Place, Body]:
        """The Backends that are not judged themselves."""
        bodies = (body for body in self._others() if kind_of(body) == BACKEND)
        return {(namespace_of(body), text_at(body, "metadata", "name")): body for body in bodies}

    @cached_property
    def view(self) -> ObjectView:
        """The Gateways of the run, and what is needed to understand their listeners."""
        bodies = (known for body in self._bodies() if (known := _of_listeners(body)))
        return ObjectView([*bodies], self._external)

    @cached_property
    def _models(self) -> dict[tuple[Place, str, str | None], RoutedHost]:
        """Where routes of models attach: by Gateway, host and listener, '' for any, None for all of them."""
        models: dict[tuple[Place, str, str | None], RoutedHost] = {}
        for attachment, match in self._routed():
            hosts = frozenset(attachment.hosts)
            for host in attachment.hosts:
                for listener in (attachment.listener, None):
                    place = (attachment.gateway, host, listener)
                    models.setdefault(place, RoutedHost()).add(match, hosts)
        return models

    def models_at(self, own: Attachment, host: str) -> Iterator[RoutedHost]:
        """The routes of models for a host that may be on the listener of another route."""
        for listener in (own.listener, "") if own.listener else (None,):
            if routed := self._models.get((own.gateway, host, listener)):
                yield routed

    def _bodies(self) -> Iterator[Body]:
        yield from self._judged()
        yield from self._others()

    def _routed(self) -> Iterator[tuple[Attachment, RequestMatch]]:
        """Each match of a route of models, where the route attaches."""
        for gateway, hostnames, namespace in dict.fromkeys(
            (claimed.gateway, claimed.hostnames, claimed.owner.namespace) for claimed in self._names()
        ):
            parent = {"namespace": gateway[0], "name": gateway[1]}
            spec: Body = {"parentRefs": [parent], "hostnames": [*hostnames]}
            for _, attachment in attachments(self.view, spec, namespace):
                yield attachment, RequestMatch()
        for body in self._bodies():
            if (kind := kind_of(body)) in NAMING_ROUTES:
                spec = dict(as_map(body.get("spec")))
                matches = {located.match: None for located in located_matches(kind[1], spec) if located.of_model}
                for _, attachment in attachments(self.view, spec, namespace_of(body)) if matches else ():
                    yield from ((attachment, match) for match in matches)


def _of_listeners(body: Body) -> Body | None:
    """The object where it is about listeners and rules may look into it: its namespace is said, a Gateway is valid."""
    version, kind = body.get("apiVersion"), body.get("kind")
    if not isinstance(version, str):
        return None
    if kind in _LISTENING:
        return body
    if kind != "Gateway" or not namespace_of(body):
        return None
    name = schema_validation.name_of(version, kind)
    if not schema_validation.has_schema(name):
        return None
    return next(iter(check.valid_bodies(name, [check.without_nulls(body)], None)), None)
