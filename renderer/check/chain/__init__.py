"""The proof of the chain, from a Gateway's listener to the container that answers: over any set of objects.

`chain` follows the references between objects and finds what the controllers would be silent about
(docs/routing.md); `fleet` judges what only all routes together can show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from renderer.check.chain import accepted, backends, gateways, policies, pools, references, routes
from renderer.check.chain.declared import outside
from renderer.check.chain.fleet import RouteFact, facts, fleet
from renderer.check.chain.policies import api_keys
from renderer.check.chain.view import Key, Outside, Place, View, kind_of
from renderer.check.finding import Body, Finding
from renderer.problems import Path

__all__ = [
    "Key",
    "Outside",
    "Place",
    "RouteFact",
    "View",
    "api_keys",
    "chain",
    "facts",
    "fleet",
    "judged",
    "kind_of",
    "known",
    "outside",
    "whole",
]

RULES: Mapping[str, tuple[Callable[[View, Body, str, str], Iterator[Finding]], ...]] = {
    "AIGatewayRoute": (routes.ai_gateway_route, accepted.attached),
    "HTTPRoute": (routes.http_route,),
    "AIServiceBackend": (backends.ai_service_backend,),
    "Backend": (backends.backend, accepted.addressed),
    "InferencePool": (pools.pool,),
    pools.OLD: (pools.old_pool,),
    "Gateway": (gateways.gateway, accepted.listeners),
    "GatewayConfig": (accepted.gateway_config,),
    "GatewayClass": (gateways.gateway_class,),
    "EnvoyProxy": (gateways.envoy_proxy,),
    "BackendTLSPolicy": (policies.aimed,),
    "BackendTrafficPolicy": (policies.aimed, policies.traffic_policy, policies.hidden, policies.listened),
    "ClientTrafficPolicy": (policies.aimed, policies.listened),
    "EnvoyExtensionPolicy": (policies.aimed, policies.hidden, policies.listened),
    "EnvoyPatchPolicy": (policies.aimed,),
    "SecurityPolicy": (
        policies.aimed,
        policies.security_policy,
        policies.hidden,
        policies.listened,
        accepted.providers,
        accepted.keys_apart,
    ),
    "BackendSecurityPolicy": (policies.aimed, policies.backend_security_policy, accepted.aims),
    "QuotaPolicy": (policies.aimed,),
    "HorizontalPodAutoscaler": (references.autoscaler,),
    "ScaledObject": (references.autoscaler,),
    **{f"InferenceObjective.{group}": (references.pool_companion,) for group in pools.STEERING},
    **{f"InferenceModelRewrite.{group}": (references.pool_companion, pools.rewrite) for group in pools.STEERING},
}


def chain(bodies: Sequence[Body], outside: Outside) -> Iterator[tuple[int, str, Path, dict[str, Any]]]:
    """What is wrong with the chain in a set of objects, each valid for itself: the index of the object that has to
    change, a code, where, and the wording's words. A code that begins with N says only what could not be judged.
    """
    yield from judged(View(bodies, outside))


def judged(view: View) -> Iterator[tuple[int, str, Path, dict[str, Any]]]:
    """See `chain`."""
    for index, key in enumerate(view.keys):
        rules = RULES.get(key[0])
        if rules and (body := view.objects[key]):
            for rule in rules:
                for code, path, words in rule(view, body, key[1], key[2]):
                    yield index, code, path, words


def whole(bodies: Sequence[Body], outside: Outside) -> Iterator[tuple[int, str, Path, dict[str, Any]]]:
    """`chain` and `fleet` over a set that is all there."""
    view = View(bodies, outside)
    yield from judged(view)
    yield from fleet(facts(view), outside, api_keys(view))


def known(bodies: Sequence[Body], outside: Outside) -> Outside:
    """The Outside of a set that lies beside these objects, which are not judged themselves."""
    return outside._replace(others=View(bodies, outside))
