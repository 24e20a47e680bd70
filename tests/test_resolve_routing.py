"""Doors, drains and buckets."""

from __future__ import annotations

from collections import Counter
from typing import Any

from renderer.api import Config
from renderer.load.rule import Rule
from renderer.problems import Findings
from renderer.resolve import gateways, routing
from renderer.resolve.gateways import Door, door


def said(**gateway: Any) -> Config:
    return Config({"gateway": gateway}, Rule("llmaz.yaml"))


def of(namespace: str = "llm", **gateway: Any) -> Door:
    return door(said(**gateway), namespace)


def test_a_namespace_says_what_differs() -> None:
    config = said(name="a", dnsTTL=5, perNamespace={"team": {"name": "b", "mode": "off"}})
    assert door(config, "llm").gateway == ("llmaz-system", "a")
    assert door(config, "team").gateway == ("llmaz-system", "b")
    assert door(config, "team").get("dnsTTL") == 5
    assert door(config, "team").get("mode") == "off"


def test_who_drains_how_long() -> None:
    assert routing.drain(of(), "backend") == 35
    assert routing.drain(of(dnsTTL=60), "backend") == 65
    assert routing.drain(of(dnsTTL=60), "off") == 10
    assert routing.drain(of(), "pool") == 10


def test_a_name_stays_in_its_bucket_when_others_come() -> None:
    here = of(routeLayout="packed", routeBuckets=8)
    names = [f"model-{i}" for i in range(400)]
    first = {name: routing.packed(here, name) for name in names}
    assert set(first.values()) == {f"llmaz-{i}" for i in range(8)}
    assert max(Counter(first.values()).values()) < 80  # spread, not heaped
    wider = of(routeLayout="packed", routeBuckets=9)
    moved = [name for name in names if routing.packed(wider, name) != first[name]]
    assert {routing.packed(wider, name) for name in moved} == {"llmaz-8"}  # only into the new one
    assert routing.packed(of(), "model-1") == ""


def test_a_policy_names_the_secret_of_the_gateway() -> None:
    here = of(auth={"apiKeys": {"secretName": "tenants"}})
    near, far = (gateways.policy(here, across=across)["apiKeyAuth"] for across in (False, True))
    assert near["credentialRefs"] == [{"group": "", "kind": "Secret", "name": "tenants"}]
    assert far["credentialRefs"] == [{"group": "", "kind": "Secret", "name": "tenants", "namespace": "llmaz-system"}]
    assert near["forwardClientIDHeader"] == "x-tenant-id"


def test_one_gateway_said_twice_must_be_said_alike() -> None:
    found = Findings()
    others = {"a": {"replicas": 3}, "b": {"name": "other", "replicas": 4}}
    gateways.gates(said(create=True, replicas=2, perNamespace=others), found)
    assert [problem.code for problem in found.problems] == ["E620"]
    found = Findings()
    # of the routes, not of the Gateway
    gateways.gates(said(perNamespace={"a": {"timeouts": {"request": "1s"}}}), found)
    assert found.problems == []
