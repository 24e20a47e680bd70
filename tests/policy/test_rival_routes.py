"""Routes that get requests for models before the routes of these models do, and those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.inputs import CONFIG, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

GATEWAY_API, AI_API = "gateway.networking.k8s.io/v1", "aigateway.envoyproxy.io/v1beta1"
POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  publicNames:
    - {namespaces: [team-a], names: ["a-*"]}
    - {namespaces: [team-b], names: ["b-*"]}
"""
PARENT = {"name": "llmaz-gateway", "namespace": "llmaz-system"}


def route(kind: str = "HTTPRoute", api: str = GATEWAY_API, **spec: Any) -> dict[str, Any]:
    """A route of another team on the Gateway of models."""
    metadata = {"name": "rival", "namespace": "team-b"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"parentRefs": [PARENT], **spec}}


def matching(*matches: object) -> dict[str, Any]:
    """An HTTPRoute with one rule."""
    return route(rules=[{"matches": [*matches]}])


def path(kind: str, value: str) -> dict[str, Any]:
    """An HTTPRoute that matches a path."""
    return matching({"path": {"type": kind, "value": value}})


def listener(name: str, host: str = "", **fields: object) -> dict[str, object]:
    """A listener of a Gateway."""
    allowed = {"namespaces": {"from": "All"}}
    named = {"hostname": host} if host else {}
    return {"name": name, "protocol": "HTTP", "port": 80, "allowedRoutes": allowed, **named, **fields}


def gateway(*listeners: object) -> dict[str, Any]:
    """The Gateway of models."""
    spec = {"gatewayClassName": "envoy", "listeners": [*listeners]}
    return {"apiVersion": GATEWAY_API, "kind": "Gateway", "metadata": {**PARENT}, "spec": spec}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with a model of one team, in which files are passed through."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "extra").mkdir()
    app = playground("chat", "team-a", "qwen3-0--6b-gguf", "llamacpp") + "  servedModelName: a-chat\n"
    (tmp_path / "chat.yaml").write_text(app, "utf-8")
    (tmp_path / "llmaz-policy.yaml").write_text(POLICY, "utf-8")
    (tmp_path / "llmaz.yaml").write_text(f"{CONFIG}{{passThrough: [extra]}}\n", "utf-8")
    return tmp_path


def denied(tree: Path, llmaz: Llmaz, *bodies: object) -> list[str]:
    """The lines about denied public names where these objects are passed through."""
    (tree / "extra" / "all.yaml").write_text(yaml.safe_dump_all(bodies), "utf-8")
    done = llmaz("validate")
    assert "Traceback" not in done.err
    assert "E901" not in done.err
    return [line for line in done.err.splitlines() if line.endswith("[E814]")]


@pytest.mark.parametrize(
    "rival",
    [
        path("Exact", "/v1/chat/completions"),
        path("Exact", "/v1/models"),
        path("Exact", "/anthropic/v1/messages"),
        path("PathPrefix", "/v1"),
        path("PathPrefix", "/v1/"),
        path("PathPrefix", "/cohere/v2"),
        path("RegularExpression", "/v1.*"),
        path("RegularExpression", "/docs/.*|/v1/.*"),
        path("RegularExpression", "(?i)/V1/.*"),
        path("RegularExpression", "/vx?1/chat.*"),
        matching({"method": "POST"}),
        matching({"headers": [{"name": "accept", "value": "x"}]}),
        matching({"queryParams": [{"name": "a", "value": "b"}]}),
        matching({}, {"path": {"value": "/v1"}}),
        matching({"path": {"value": "/v1"}, "method": None, "headers": None}),
        route(hostnames=["llm.example.com"]),
        route(hostnames=["*.example.com"], rules=[{"matches": [{"path": {"value": "/docs"}}]}]),
        route("GRPCRoute", rules=[{"matches": [{"method": {"service": "v1", "method": "completions"}}]}]),
        route("GRPCRoute", rules=[{"matches": [{"method": {"method": "completions"}}]}]),
        route("GRPCRoute", rules=[{"matches": [{"method": {"type": "RegularExpression", "service": "v.*"}}]}]),
        route("GRPCRoute", rules=[{"matches": [{"headers": [{"name": "x-ai-eg-model", "value": "a-chat"}]}]}]),
        route("MCPRoute", AI_API, path="/v1/chat/completions"),
        route("AIGatewayRoute", AI_API, hostnames=["llm.example.com"], rules=[]),
        {**matching({"method": "GET"}), "metadata": {"name": "without-namespace"}},
    ],
)
def test_a_route_that_comes_before_those_of_models(rival: object, tree: Path, llmaz: Llmaz) -> None:
    assert len(denied(tree, llmaz, rival)) == 1
    (tree / "chat.yaml").unlink()
    others = [] if "GRPCRoute" in str(rival) and "a-chat" in str(rival) else denied(tree, llmaz, rival)
    assert others == []  # no model is there


@pytest.mark.parametrize(
    "other",
    [
        route(rules=[{"backendRefs": [{"name": "web", "port": 80}]}]),
        route(),
        path("PathPrefix", "/"),
        matching({}),
        matching({"path": {}, "headers": []}),
        path("PathPrefix", "/docs"),
        path("PathPrefix", "/v10"),
        path("Exact", "/"),
        path("RegularExpression", "^/docs/[a-z]+"),
        path("RegularExpression", "/v100?/.*"),
        matching({"path": {"value": "/docs"}, "method": "POST", "headers": [{"name": "accept", "value": "x"}]}),
        matching({"path": {"value": "/v1"}, "headers": [{"name": "X-AI-EG-Model", "value": "b-chat"}]}),
        route("GRPCRoute", rules=[{"matches": [{"method": {"service": "shop.Cart"}}]}]),
        route("MCPRoute", AI_API),
        {**path("Exact", "/v1/models"), "spec": {"rules": [{"matches": [{"path": {"value": "/v1"}}]}]}},
        {**route(rules=[{"matches": [{"method": "POST"}]}]), "kind": "TLSRoute"},
    ],
)
def test_a_route_that_does_not(other: object, tree: Path, llmaz: Llmaz) -> None:
    assert denied(tree, llmaz, other) == []


@pytest.mark.parametrize(
    "parent",
    [
        {**PARENT, "name": "web"},
        {"name": "llmaz-gateway"},
        {**PARENT, "kind": "Service", "group": ""},
        {**PARENT, "kind": "ListenerSet"},
    ],
)
def test_another_gateway(parent: dict[str, str], tree: Path, llmaz: Llmaz) -> None:
    rules = [{"matches": [{"path": {"value": "/v1"}}]}]
    assert denied(tree, llmaz, route(parentRefs=[parent], rules=rules)) == []
    assert len(denied(tree, llmaz, route(parentRefs=[parent, PARENT], rules=rules))) == 1


@pytest.mark.parametrize(
    ("hostnames", "count"),
    [
        ([], 0),
        (["llm.example.com"], 0),
        (["www.example.com"], 0),
        (["*.example.com"], 0),
        (["eu.models.example.com"], 1),
        (["models.example.com"], 0),
        (["eu.models.example.com", "*.eu.models.example.com"], 2),
    ],
)
def test_hosts_of_a_website_where_models_have_their_own(
    hostnames: list[str], count: int, tree: Path, llmaz: Llmaz
) -> None:
    spec = "{passThrough: [extra], gateway: {hostnames: [llm.example.com, '*.models.example.com']}}"
    (tree / "llmaz.yaml").write_text(f"{CONFIG}{spec}\n", "utf-8")
    assert len(denied(tree, llmaz, route(hostnames=hostnames))) == count
    exact = route(hostnames=hostnames, rules=[{"matches": [{"path": {"value": "/v1"}}]}])
    assert len(denied(tree, llmaz, exact)) == count + (hostnames == ["llm.example.com"])


def test_listeners_of_a_gateway_in_the_tree(tree: Path, llmaz: Llmaz) -> None:
    of_team = {
        "namespaces": {"from": "Selector", "selector": {"matchLabels": {"kubernetes.io/metadata.name": "team-b"}}}
    }
    of_models = {
        "namespaces": {"from": "Selector", "selector": {"matchLabels": {"kubernetes.io/metadata.name": "team-a"}}}
    }
    apart = gateway(
        listener("models", "llm.example.com", allowedRoutes=of_models),
        listener("web", "web.example.com", allowedRoutes=of_team),
    )
    rules = [{"matches": [{"path": {"value": "/v1"}}]}]
    assert denied(tree, llmaz, apart, route(rules=rules)) == []
    assert denied(tree, llmaz, apart, route(hostnames=["web.example.com"], rules=rules)) == []
    shared = gateway(listener("models"), listener("web", "web.example.com", allowedRoutes=of_team))
    assert len(denied(tree, llmaz, shared, route(rules=rules))) == 1
    of_web = route(parentRefs=[{**PARENT, "sectionName": "web"}], hostnames=["web.example.com"], rules=rules)
    assert denied(tree, llmaz, shared, of_web) == []
    assert len(denied(tree, llmaz, gateway(listener("web", "web.example.com")), of_web)) == 1


def test_a_gateway_of_that_name_elsewhere_hides_nothing(tree: Path, llmaz: Llmaz) -> None:
    elsewhere = gateway(listener("web", "web.example.com"))
    del elsewhere["metadata"]["namespace"]
    assert len(denied(tree, llmaz, elsewhere, path("PathPrefix", "/v1"))) == 1


def test_routes_of_models_that_are_written_by_hand(tree: Path, llmaz: Llmaz) -> None:
    (tree / "chat.yaml").unlink()
    header = {"name": "x-ai-eg-model", "value": "a-chat"}
    by_hand = route(rules=[{"matches": [{"path": {"type": "Exact", "value": "/ask"}, "headers": [header]}]}])
    by_hand["metadata"] = {"name": "ask", "namespace": "team-a"}
    assert denied(tree, llmaz, by_hand, path("Exact", "/ask")) == []  # with a header less
    assert denied(tree, llmaz, by_hand, path("PathPrefix", "/v1")) == []
    more = matching({"path": {"type": "Exact", "value": "/ask"}, "method": "POST"})
    assert len(denied(tree, llmaz, by_hand, more)) == 1
    for_models = route("AIGatewayRoute", AI_API, rules=[{"matches": [{"headers": [header]}]}])
    for_models["metadata"] = {"name": "ask", "namespace": "team-a"}
    (tree / "routes.yaml").write_text(yaml.safe_dump(for_models), "utf-8")  # which is not passed through
    assert len(denied(tree, llmaz, path("PathPrefix", "/v1"))) == 1


def test_environments_are_not_compared_with_each_other(tree: Path, llmaz: Llmaz) -> None:
    environments = "{dev: {}, prod: {config: {gateway: {hostnames: [llm.example.com]}}}}"
    (tree / "llmaz.yaml").write_text(f"{CONFIG}{{environments: {environments}}}\n", "utf-8")
    assert llmaz("render").code == 0
    done = llmaz("check", "rendered")
    assert (done.code, "E814" in done.err) == (0, False)


@pytest.mark.parametrize(
    "spec",
    [
        None,
        [],
        {"parentRefs": "x"},
        {"parentRefs": [None, 1, {"name": 1, "kind": {}, "group": [], "sectionName": {}, "port": []}]},
        {"parentRefs": [{**PARENT, "sectionName": ["x"], "port": {}}], "hostnames": [1, None, ""], "rules": [1]},
        {"parentRefs": [PARENT], "hostnames": {"a": 1}, "rules": [{"matches": [None, {"path": 1, "headers": {}}]}]},
        {"parentRefs": [PARENT], "rules": [{"matches": [{"path": {"type": {}, "value": []}, "headers": [1, None]}]}]},
    ],
)
@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute"])
def test_routes_of_odd_forms(kind: str, spec: object, tree: Path, llmaz: Llmaz) -> None:
    body = {"apiVersion": GATEWAY_API, "kind": kind, "metadata": {"name": "odd", "namespace": "team-b"}, "spec": spec}
    broken = {**gateway({"name": 1}, None, "x"), "spec": {"listeners": [{"name": 1}, None, "x"]}}
    listeners = {**body, "kind": "ListenerSet", "metadata": {"name": [], "namespace": {}}}
    denied(tree, llmaz, body, broken, listeners)
