"""Doors, drains and buckets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from renderer.api import RenderConfig
from renderer.diagnostics import Collector, NamedSource
from renderer.kubernetes.json_values import map_at
from renderer.resolve.gateway import drain, packed_routes, settings
from renderer.resolve.gateway.settings import GatewaySettings, read_gateway_settings
from renderer.resolve.rules import run_rules_or_stop

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigGatewaySpec


def build_config(**gateway: Any) -> RenderConfig:
    return RenderConfig({"gateway": cast("RenderConfigGatewaySpec", gateway)}, NamedSource("llmaz.yaml"))


def of(namespace: str = "llm", **gateway: Any) -> GatewaySettings:
    return read_gateway_settings(build_config(**gateway), namespace)


def test_a_namespace_says_what_differs() -> None:
    config = build_config(name="a", dnsTTL=5, perNamespace={"team": {"name": "b", "mode": "off"}})
    assert read_gateway_settings(config, "llm").gateway == ("llmaz-system", "a")
    assert read_gateway_settings(config, "team").gateway == ("llmaz-system", "b")
    assert read_gateway_settings(config, "team").get("dnsTTL") == 5
    assert read_gateway_settings(config, "team").get("mode") == "off"


def test_who_drains_how_long() -> None:
    assert drain.drain(of(), "backend") == 35
    assert drain.drain(of(dnsTTL=60), "backend") == 65
    assert drain.drain(of(dnsTTL=60), "off") == 10
    assert drain.drain(of(), "pool") == 10


def test_a_name_stays_in_its_bucket_when_others_come() -> None:
    gateway = of(routeLayout="packed", routeBuckets=8)
    names = [f"model-{i}" for i in range(400)]
    first = {name: packed_routes.packed_route(gateway, name) for name in names}
    assert set(first.values()) == {f"llmaz-{i}" for i in range(8)}
    assert max(Counter(first.values()).values()) < 80  # spread, not heaped
    wider = of(routeLayout="packed", routeBuckets=9)
    moved = [name for name in names if packed_routes.packed_route(wider, name) != first[name]]
    assert {packed_routes.packed_route(wider, name) for name in moved} == {"llmaz-8"}  # only into the new one
    assert packed_routes.packed_route(of(), "model-1") == ""


def test_a_policy_names_the_secret_of_the_gateway() -> None:
    gateway = of(auth={"apiKeys": {"secretName": "tenants"}})
    near, far = (
        map_at(settings.auth_policy(gateway, across_namespaces=across), "apiKeyAuth") for across in (False, True)
    )
    assert near["credentialRefs"] == [{"group": "", "kind": "Secret", "name": "tenants"}]
    assert far["credentialRefs"] == [{"group": "", "kind": "Secret", "name": "tenants", "namespace": "llmaz-system"}]
    assert near["forwardClientIDHeader"] == "x-tenant-id"


def test_one_gateway_said_twice_must_be_said_alike() -> None:
    collector = Collector()
    others = {"a": {"replicas": 3}, "b": {"name": "other", "replicas": 4}}
    run_rules_or_stop(settings.collect_gateways(build_config(create=True, replicas=2, perNamespace=others)), collector)
    assert [problem.code for problem in collector.problems] == ["E620"]
    collector = Collector()
    # of the routes, not of the Gateway
    run_rules_or_stop(
        settings.collect_gateways(build_config(perNamespace={"a": {"timeouts": {"request": "1s"}}})), collector
    )
    assert collector.problems == []
