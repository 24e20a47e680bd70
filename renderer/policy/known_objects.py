"""What a run knows of objects beside the one that is judged: routes of models, Gateways, Backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from renderer import check, schema_validation
from renderer.api import ClaimedName
from renderer.check.graph import ExternalObjects, ObjectView, Place
from renderer.check.graph.attachments import GATEWAY_GROUP, Attachment, attachments
from renderer.check.graph.request_matches import RequestMatch, located_matches
from renderer.kubernetes.json_values import as_map, text_at
from renderer.kubernetes.pod_parts import Kind
from renderer.plan import Body
from renderer.policy.objects import kind_of, namespace_of

AI_GROUP = "aigateway.envoyproxy.io"
BACKEND: Kind = ("gateway.envoyproxy.io", "Backend")
AI_GATEWAY_ROUTE: Kind = (AI_GROUP, "AIGatewayRoute")
NAMING_ROUTES: tuple[Kind, ...] = (
    AI_GATEWAY_ROUTE,
    (GATEWAY_GROUP, "HTTPRoute"),
    (GATEWAY_GROUP, "GRPCRoute"),
)
"""Kinds of routes that can match the name of a model."""
_LISTENING = ("ListenerSet", "XListenerSet", "Namespace")  # without which listeners of a Gateway are not understood


class RoutedModels(Struct, frozen=True):
    """A match of routes of models at one place."""

    attachment: Attachment
    match: RequestMatch


class KnownObjects:
    """The objects of a run, looked into where a rule asks. `judged`: returns those that are judged themselves;
    `others`: those that are not; `names`: the public names of rendered routes.
    """

    def __init__(
        self,
        judged: Callable[[], Iterable[Body]],
        others: Callable[[], Iterable[Body]] = lambda: (),
        names: Callable[[], Sequence[ClaimedName]] = lambda: (),
        external: ExternalObjects | None = None,
    ) -> None:
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
    def models(self) -> list[RoutedModels]:
        """Where routes of models attach, and what they match there."""
        routed: list[RoutedModels] = []
        for gateway, hostnames, namespace in dict.fromkeys(
            (claimed.gateway, claimed.hostnames, claimed.owner.namespace) for claimed in self._names()
        ):
            parent = {"namespace": gateway[0], "name": gateway[1]}
            spec = {"parentRefs": [parent], "hostnames": [*hostnames]}
            routed += self._routed(spec, namespace, [RequestMatch()])
        for body in self._bodies():
            if (kind := kind_of(body)) in NAMING_ROUTES:
                spec = dict(as_map(body.get("spec")))
                matches = [located.match for located in located_matches(kind[1], spec) if located.of_model]
                routed += self._routed(spec, namespace_of(body), matches) if matches else ()
        return [*dict.fromkeys(routed)]

    def _bodies(self) -> Iterator[Body]:
        yield from self._judged()
        yield from self._others()

    def _routed(self, spec: Body, namespace: str, matches: Sequence[RequestMatch]) -> Iterator[RoutedModels]:
        for _, attachment in attachments(self.view, spec, namespace):
            yield from (RoutedModels(attachment, match) for match in dict.fromkeys(matches))


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
