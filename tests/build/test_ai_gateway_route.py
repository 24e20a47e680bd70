"""From a public name to the leaders: route, backends, policies."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from renderer.build.ai_gateway_route import ai_gateway_route, packed_routes
from renderer.build.backend import backends
from renderer.build.route_policies import security_policy, traffic_policy
from renderer.build.service import leaders_service
from renderer.diagnostics import Origin
from renderer.plan import PackedRoute, PackedRule, Plan, RoutePlan, RouteTarget, SharedPlan, TokenLimit
from tests.build.conftest import Input


@pytest.fixture
def route(source: Input) -> RoutePlan:
    fields = {"authorization": "allowed", "rateLimit": "limits"}
    return RoutePlan(
        name="chat",
        namespace="llm",
        labels={"app.kubernetes.io/name": "chat"},
        model="chat-1.5",
        model_origin=Origin(source, ("model",)),
        gateway=("llmaz-system", "llmaz-gateway"),
        hostnames=(),
        targets=(RouteTarget("chat", 1, "chat-1.5"),),
        request_timeout="300s",
        owned_by="llmaz",
        origins=lambda: {
            (): Origin(source),
            **{("spec", field): Origin(source, (place,)) for field, place in fields.items()},
        },
    )


def test_nothing_without_a_route(plan: Plan) -> None:
    for build in (leaders_service, backends, ai_gateway_route, traffic_policy, security_policy):
        assert list(build(plan)) == []
    assert list(packed_routes(SharedPlan("llm"))) == []


def test_the_chain_holds_together(plan: Plan, route: RoutePlan) -> None:
    plan = replace(plan, host="chat-leaders.llm.svc.cluster.local", route=route)
    bodies = [manifest.body for build in (leaders_service, backends, ai_gateway_route) for manifest in build(plan)]
    service, envoy, ai, ai_route = bodies
    assert service["metadata"]["name"] == "chat-leaders"
    assert service["spec"]["clusterIP"] == "None"
    endpoint = envoy["spec"]["endpoints"][0]["fqdn"]
    assert endpoint == {"hostname": "chat-leaders.llm.svc.cluster.local", "port": service["spec"]["ports"][0]["port"]}
    assert ai["spec"]["backendRef"]["name"] == envoy["metadata"]["name"]
    (rule,) = ai_route["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": "chat", "weight": 1, "priority": 0, "modelNameOverride": "chat-1.5"}]
    assert rule["matches"] == [{"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": "chat-1.5"}]}]
    assert "hostnames" not in ai_route["spec"]
    assert "modelsCreatedAt" not in rule


def test_who_may_call_repeats_the_authentication(plan: Plan, route: RoutePlan) -> None:
    authentication: dict[str, Any] = {"apiKeyAuth": {"credentialRefs": []}}
    (policy,) = security_policy(
        replace(
            plan,
            route=replace(route, allowed_tenants=("b", "a"), tenant_header="x-team", authentication=authentication),
        )
    )
    assert policy.body["spec"] == {
        "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "chat"}],
        **authentication,
        "authorization": {
            "defaultAction": "Deny",
            "rules": [{"action": "Allow", "principal": {"headers": [{"name": "x-team", "values": ["b", "a"]}]}}],
        },
    }
    assert policy.origin(("spec", "authorization", "rules")).path[:1] == ("allowed",)


def test_one_policy_holds_all_that_is_asked(plan: Plan, route: RoutePlan) -> None:
    limits = (
        TokenLimit("x-tenant-id", 1000, "Hour", "TotalToken"),
        TokenLimit("x-team", 9, "Day", "OutputToken"),
        TokenLimit("x-team", 90, "Month", "OutputToken"),
    )
    limited_plan = replace(plan, route=replace(route, retries=3, limits=limits, stream_idle_timeout="30s"))
    (policy,) = traffic_policy(limited_plan)
    spec = policy.body["spec"]
    assert spec["timeout"] == {"http": {"streamIdleTimeout": "30s"}}
    assert spec["retry"]["numRetries"] == 3
    rules = spec["rateLimit"]["global"]["rules"]
    assert [(rule["limit"]["requests"], rule["limit"]["unit"]) for rule in rules] == [
        (1000, "Hour"),
        (9, "Day"),
        (90, "Month"),
    ]
    assert policy.origin(("spec", "rateLimit", "global")).path[:1] == ("limits",)
    (ai_route,) = ai_gateway_route(limited_plan)
    counted = [cost["metadataKey"] for cost in ai_route.body["spec"]["llmRequestCosts"]]
    assert counted == ["llm_total_token", "llm_output_token"]
    used = {rule["cost"]["response"]["metadata"]["key"] for rule in rules}
    assert used == set(counted)
    assert list(ai_route.body["spec"]).index("llmRequestCosts") < list(ai_route.body["spec"]).index("rules")


def test_fallback_and_pool_in_a_rule(plan: Plan, route: RoutePlan) -> None:
    targets = (RouteTarget("a", 9, "x"), RouteTarget("b", 0, "y", 1), RouteTarget("pool", 1, "", pool=True))
    (ai_route,) = ai_gateway_route(replace(plan, route=replace(route, targets=targets)))
    own, other, pool = ai_route.body["spec"]["rules"][0]["backendRefs"]
    assert (own["weight"], own["priority"], own["modelNameOverride"]) == (9, 0, "x")
    assert (other["weight"], other["priority"]) == (0, 1)
    assert pool == {
        "group": "inference.networking.k8s.io",
        "kind": "InferencePool",
        "name": "pool",
        "weight": 1,
        "priority": 0,
    }


def test_a_packed_name_has_no_route_of_its_own(plan: Plan, route: RoutePlan, source: Input) -> None:
    assert list(ai_gateway_route(replace(plan, route=replace(route, packed_route="llmaz-3")))) == []
    rules = (
        PackedRule("llm", "llmaz-3", "a", (RouteTarget("x", 1, "a"),), "1s", "me", ""),
        PackedRule("llm", "llmaz-3", "b", (RouteTarget("y", 2, "b"),), "2s", "me", "2026"),
    )
    packed = PackedRoute("llmaz-3", "llm", {}, ("gw", "g"), ("h.example",), rules, Origin(source))
    (manifest,) = packed_routes(SharedPlan("llm", packed_route=packed))
    spec = manifest.body["spec"]
    assert [rule["matches"][0]["headers"][0]["value"] for rule in spec["rules"]] == ["a", "b"]
    assert spec["hostnames"] == ["h.example"]
    assert [rule.get("modelsCreatedAt") for rule in spec["rules"]] == [None, "2026"]
