"""Rules across objects: from a Gateway's listener to the container that answers, over any set of objects.

`validate_graph` follows the references between objects and finds what the controllers would be silent about
(docs/routing.md); `fleet` finds what only all routes together can show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from renderer.check.finding import Body, Finding, IndexedFinding
from renderer.check.graph import acceptance, backends, gateways, policies, pools, references, routes
from renderer.check.graph.external import outside
from renderer.check.graph.fleet import RouteMatch, facts, fleet
from renderer.check.graph.policies import api_keys
from renderer.check.graph.view import ExternalObjects, Key, ObjectView, Place, kind_of

__all__ = [
    "ExternalObjects",
    "Key",
    "ObjectView",
    "Place",
    "RouteMatch",
    "api_keys",
    "facts",
    "findings_by_object",
    "fleet",
    "kind_of",
    "known_objects",
    "outside",
    "validate_graph",
    "validate_whole_graph",
]

RULES: Mapping[str, tuple[Callable[[ObjectView, Body, str, str], Iterator[Finding]], ...]] = {
    "AIGatewayRoute": (routes.ai_gateway_route, acceptance.validate_route_spec),
    "HTTPRoute": (routes.http_route,),
    "AIServiceBackend": (backends.ai_service_backend,),
    "Backend": (backends.backend, acceptance.validate_addresses),
    "InferencePool": (pools.pool,),
    pools.OLD: (pools.old_pool,),
    "Gateway": (gateways.gateway, acceptance.listeners),
    "GatewayConfig": (acceptance.gateway_config,),
    "GatewayClass": (gateways.gateway_class,),
    "EnvoyProxy": (gateways.envoy_proxy,),
    "BackendTLSPolicy": (policies.validate_targets,),
    "BackendTrafficPolicy": (
        policies.validate_targets,
        policies.traffic_policy,
        policies.validate_route_overrides,
        policies.validate_listener_overrides,
    ),
    "ClientTrafficPolicy": (policies.validate_targets, policies.validate_listener_overrides),
    "EnvoyExtensionPolicy": (
        policies.validate_targets,
        policies.validate_route_overrides,
        policies.validate_listener_overrides,
    ),
    "EnvoyPatchPolicy": (policies.validate_targets,),
    "SecurityPolicy": (
        policies.validate_targets,
        policies.security_policy,
        policies.validate_route_overrides,
        policies.validate_listener_overrides,
        acceptance.providers,
        acceptance.validate_distinct_keys,
    ),
    "BackendSecurityPolicy": (
        policies.validate_targets,
        policies.backend_security_policy,
        acceptance.validate_target_refs,
    ),
    "QuotaPolicy": (policies.validate_targets,),
    "HorizontalPodAutoscaler": (references.autoscaler,),
    "ScaledObject": (references.autoscaler,),
    **{f"InferenceObjective.{group}": (references.pool_companion,) for group in pools.STEERING},
    **{f"InferenceModelRewrite.{group}": (references.pool_companion, pools.rewrite) for group in pools.STEERING},
}


def validate_graph(bodies: Sequence[Body], outside: ExternalObjects) -> Iterator[IndexedFinding]:
    """What is wrong with the references in a set of objects, each valid for itself.

    A code that begins with N is a note on what could not be judged.
    """
    yield from findings_by_object(ObjectView(bodies, outside))


def findings_by_object(view: ObjectView) -> Iterator[IndexedFinding]:
    """The findings of `validate_graph`, over a view of the objects."""
    for index, key in enumerate(view.keys):
        rules = RULES.get(key[0])
        if rules and (body := view.objects[key]):
            for rule in rules:
                for code, path, words in rule(view, body, key[1], key[2]):
                    yield IndexedFinding(index, code, path, words)


def validate_whole_graph(bodies: Sequence[Body], outside: ExternalObjects) -> Iterator[IndexedFinding]:
    """The findings of `validate_graph` and `fleet` over a set that is complete."""
    view = ObjectView(bodies, outside)
    yield from findings_by_object(view)
    yield from fleet(facts(view), outside, api_keys(view))


def known_objects(bodies: Sequence[Body], outside: ExternalObjects) -> ExternalObjects:
    """The external objects of a set beside which these objects lie; they are looked into but not judged themselves."""
    return replace(outside, others=ObjectView(bodies, outside))
