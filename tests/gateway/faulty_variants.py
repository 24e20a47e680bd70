"""Sound output with one fault each: what is changed, and what clients expect all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from tests.apiserver.server import Body
from tests.gateway.cases import KEYS, TENANT_HEADER
from tests.gateway.controllers import CHANNELS
from tests.gateway.expectations import (
    Expectation,
    budgeted,
    falls_back,
    hosted,
    messages,
    patient,
    queried,
    rights,
    served,
    streamed,
)
from tests.gateway.fake_engines import REFUSE

Bodies: TypeAlias = list[Body]


class Variant(NamedTuple):
    """A fault. `change`: makes it; `expectation`: what it harms; `differs`: why `llmaz check` and requests do not say
    the same, '' where they do; `channels`: of Gateway API, in which it is asked; most do not depend on it;
    `renames`: the names that clients have to ask for in the place of the example's; `policy`: the spec of a
    RenderPolicy by which `llmaz check` judges it.
    """

    example: str
    change: Callable[[Bodies], object]
    expectation: Expectation
    differs: str = ""
    channels: tuple[str, ...] = CHANNELS[:1]
    renames: Mapping[str, str] = {}
    policy: Body = {}


# ---- changes ----


def of(bodies: Sequence[Body], kind: str, name: str = "") -> Body:
    """The spec of the object of that kind, and of that name where there are several."""
    spec: Body = next(
        body["spec"] for body in bodies if body["kind"] == kind and name in ("", body["metadata"]["name"])
    )
    return spec


def rule(bodies: Sequence[Body], name: str) -> Body:
    """The first rule of an AIGatewayRoute."""
    first: Body = of(bodies, "AIGatewayRoute", name)["rules"][0]
    return first


def put(*path: str | int, value: Any) -> Callable[[Body], None]:
    """A change that sets a field, by its path."""

    def change(spec: Body) -> None:
        place: Any = spec
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def field(kind: str, name: str, *path: str | int, value: Any) -> Callable[[Bodies], None]:
    """A change that sets a field of an object's spec."""
    return lambda bodies: put(*path, value=value)(of(bodies, kind, name))


def dropped(kind: str, name: str, *path: str) -> Callable[[Bodies], None]:
    """A change that takes a field out of an object's spec."""

    def change(bodies: Bodies) -> None:
        place = of(bodies, kind, name)
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


def without(kind: str, name: str) -> Callable[[Bodies], None]:
    """A change that leaves an object out."""

    def change(bodies: Bodies) -> None:
        bodies[:] = [body for body in bodies if (body["kind"], body["metadata"]["name"]) != (kind, name)]

    return change


def weightless(bodies: Bodies) -> None:
    for backend in rule(bodies, "chat")["backendRefs"]:
        backend["weight"] = 0


def one_priority(bodies: Bodies) -> None:
    for backend in rule(bodies, "chat")["backendRefs"]:
        del backend["priority"]


def renamed(name: str, public: str) -> Callable[[Bodies], None]:
    """A change of what clients have to ask for."""
    return lambda bodies: put("matches", 0, "headers", 0, "value", value=public)(rule(bodies, name))


def counts_another_key(bodies: Bodies) -> None:
    for limit in of(bodies, "BackendTrafficPolicy", "chat")["rateLimit"]["global"]["rules"]:
        limit["cost"]["response"]["metadata"]["key"] = "llm_total_tokens"


def sees_no_pods(bodies: Bodies) -> None:
    role = next(body for body in bodies if (body["kind"], body["metadata"]["name"]) == ("Role", "chat-epp"))
    role["rules"][0]["verbs"] = ["get"]  # with list alone it may see the first ones
    template = of(bodies, "Deployment", "chat-epp")["template"]  # a picker that runs keeps what it sees
    template["metadata"]["annotations"]["gateway-test/started"] = "again"


def idle(seconds: int) -> Callable[[Bodies], None]:
    """A change that ends what is silent for so long, as `gateway.timeouts.streamIdle` renders it."""

    def change(bodies: Bodies) -> None:
        target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "chat"}
        bodies.append(
            {
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": "BackendTrafficPolicy",
                "metadata": {"namespace": "demo", "name": "chat"},
                "spec": {"targetRefs": [target], "timeout": {"http": {"streamIdleTimeout": f"{seconds}s"}}},
            }
        )

    return change


def authorizes_only(route: str) -> Callable[[Bodies], None]:
    """A change that lets every tenant call one model, by a policy that does not repeat the authentication."""

    def change(bodies: Bodies) -> None:
        principal = {"headers": [{"name": TENANT_HEADER, "values": sorted(KEYS)}]}
        authorization = {"defaultAction": "Deny", "rules": [{"action": "Allow", "principal": principal}]}
        target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": route}
        bodies.append(
            {
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": "SecurityPolicy",
                "metadata": {"namespace": "llm", "name": route},
                "spec": {"targetRefs": [target], "authorization": authorization},
            }
        )

    return change


def another_entry(bodies: Bodies) -> None:
    """The provider's Secret is in the set, and its key under a name that nobody reads."""
    metadata = {"namespace": "llm", "name": "provider-key"}
    bodies.append({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"key": "key"}})


def provider(**fields: Any) -> Callable[[Bodies], None]:
    """A change of the provider's AIServiceBackend."""
    return lambda bodies: of(bodies, "AIServiceBackend", "chat-api-example-com").update(fields)


def grant(bodies: Sequence[Body]) -> str:
    """The name of the one ReferenceGrant."""
    return next(str(body["metadata"]["name"]) for body in bodies if body["kind"] == "ReferenceGrant")


def rival(kind: str = "HTTPRoute", hostnames: Sequence[str] = (), **match: Any) -> Callable[[Bodies], None]:
    """A change that adds a route to the Gateway of models, which leads whatever it matches to the engine of another."""

    def change(bodies: Bodies) -> None:
        backend = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": "coder"}
        spec: Body = {
            "parentRefs": [{"namespace": "llmaz-system", "name": "llmaz-gateway"}],
            "rules": [{"matches": [match] if match else [], "backendRefs": [backend]}],
        }
        bodies.append(
            {
                "apiVersion": "gateway.networking.k8s.io/v1",
                "kind": kind,
                "metadata": {"namespace": "demo", "name": "rival"},
                "spec": {**spec, "hostnames": [*hostnames]} if hostnames else spec,
            }
        )

    return change


def before(change: Callable[[Bodies], None]) -> Callable[[Bodies], None]:
    """A change that is there before the routes of models are, which get other names."""

    def changed(bodies: Bodies) -> None:
        routes = [body for body in bodies if body["kind"] == "AIGatewayRoute"]
        bodies[:] = [body for body in bodies if body not in routes]
        change(bodies)
        bodies += [
            {**body, "metadata": {**body["metadata"], "name": f"z-{body['metadata']['name']}"}} for body in routes
        ]

    return changed


def rivalry(change: Callable[[Bodies], None], expectation: Expectation = served, differs: str = "") -> Variant:
    """A route beside those of gateway-basic, judged by a policy that gives its namespace the names of their models."""
    names = ["qwen2-0.5b", "qwen2.5-coder"]
    policy = {"publicNames": [{"namespaces": ["demo"], "names": names}]}
    return Variant("gateway-basic", change, expectation, differs, policy=policy)


# ---- the variants ----

SCHEMA_OF_INPUT = "the schema is judged at its line in the input, by llmaz render (W272)"
TWO_BLANKS = "qwen2.5  coder"
CHAT_PROVIDER = "chat-api-example-com"
LEADERS = "leaderworkerset.sigs.k8s.io"
JSON = {"name": "Content-Type", "value": "application/json"}
PLAIN = {"name": "Accept-Encoding", "value": "identity"}
OLDER = "of two rules that match everything the older is chosen, and the policy does not know their age"
VARIANTS: Mapping[str, Variant] = {
    "wrong-port": Variant(
        "gateway-basic", field("Backend", "chat", "endpoints", 0, "fqdn", "port", value=8000), served
    ),
    "wrong-host": Variant(
        "gateway-basic",
        field("Backend", "chat", "endpoints", 0, "fqdn", "hostname", value="chat-leader.demo.svc.cluster.local"),
        served,
    ),
    "wrong-gateway": Variant(
        "gateway-basic", field("AIGatewayRoute", "chat", "parentRefs", 0, "name", value="llmaz-gatway"), served
    ),
    "wrong-override": Variant(
        "gateway-basic",
        lambda bodies: put("backendRefs", 0, "modelNameOverride", value="qwen2")(rule(bodies, "chat")),
        served,
    ),
    "same-name": Variant("gateway-basic", renamed("coder", "qwen2-0.5b"), served),
    "workers-selected": Variant(
        "gateway-basic", field("Service", "chat-leaders", "selector", f"{LEADERS}/worker-index", value="1"), served
    ),
    "other-hostname": Variant(
        "gateway-basic", field("AIGatewayRoute", "chat", "hostnames", value=["llm.example.org"]), hosted
    ),
    "no-backends": Variant("gateway-basic", lambda bodies: rule(bodies, "chat").pop("backendRefs"), served),
    "backend-missing": Variant("gateway-basic", without("Backend", "chat"), served),
    "idle-2s": Variant(
        "gateway-basic", idle(2), patient, "streamIdle is judged at its line in the input, by llmaz render (W271)"
    ),
    "idle-120s": Variant("gateway-basic", idle(120), patient),
    "two-blanks-in-a-name": Variant(
        "gateway-basic", renamed("coder", TWO_BLANKS), served, renames={"qwen2.5-coder": TWO_BLANKS}
    ),
    "two-blanks-refused": Variant(
        "gateway-basic",
        renamed("coder", TWO_BLANKS),
        served,
        "the name is judged at its line in the input, by llmaz render (W270)",
        ("experimental",),
        {"qwen2.5-coder": TWO_BLANKS},
    ),
    "closed-listener": Variant(
        "gateway-auth",
        field(
            "Gateway",
            "llmaz-gateway",
            *("listeners", 0, "allowedRoutes", "namespaces", "selector", "matchExpressions", 0, "values"),
            value=["other"],
        ),
        rights,
    ),
    "only-authorization": Variant(
        "gateway-auth",
        dropped("SecurityPolicy", "large", "apiKeyAuth"),
        rights,
        "the route that sorts first, chat, asks every request for its key, until somebody adds one before it",
    ),
    "only-authorization-first": Variant("gateway-auth", authorizes_only("chat"), rights),
    "no-grant": Variant("gateway-auth", lambda bodies: without("ReferenceGrant", grant(bodies))(bodies), rights),
    "policy-elsewhere": Variant(
        "gateway-auth", field("SecurityPolicy", "large", "targetRefs", 0, "name", value="larg"), rights
    ),
    "header-nobody-sets": Variant(
        "gateway-auth",
        field(
            "SecurityPolicy",
            "large",
            *("authorization", "rules", 0, "principal", "headers", 0, "name"),
            value="x-tenant",
        ),
        rights,
    ),
    "headers-not-removed": Variant("gateway-auth", dropped("ClientTrafficPolicy", "llmaz-gateway", "headers"), rights),
    "all-weights-0": Variant("canary", weightless, served),
    "no-retries": Variant("fallback-external", without("BackendTrafficPolicy", "chat"), falls_back(REFUSE)),
    "provider-without-tls": Variant("fallback-external", dropped("Backend", CHAT_PROVIDER, "tls"), falls_back("503")),
    "provider-without-sni": Variant(
        "fallback-external", dropped("Backend", CHAT_PROVIDER, "tls", "sni"), falls_back("503")
    ),
    "zone-aware": Variant(
        "fallback-external",
        field(
            "BackendTrafficPolicy",
            "chat",
            "loadBalancer",
            value={"type": "LeastRequest", "zoneAware": {"preferLocal": {"minEndpointsThreshold": 1}}},
        ),
        falls_back("503"),
    ),
    "one-priority": Variant(
        "fallback-external",
        one_priority,
        falls_back("503"),
        "half of the requests go to the provider, which may be what is meant",
    ),
    "key-under-another-name": Variant("fallback-external", another_entry, falls_back("503")),
    "provider-anthropic": Variant(
        "fallback-external", provider(schema={"name": "Anthropic"}), falls_back("503"), SCHEMA_OF_INPUT
    ),
    "provider-cohere": Variant(
        "fallback-external",
        provider(schema={"name": "Cohere", "version": "v2"}),
        falls_back("503"),
        SCHEMA_OF_INPUT,
    ),
    "provider-anthropic-messages": Variant("fallback-external", provider(schema={"name": "Anthropic"}), messages),
    "counts-another-key": Variant("token-limits", counts_another_key, budgeted),
    "picker-port": Variant(
        "gateway-pool", field("InferencePool", "chat", "endpointPickerRef", "port", "number", value=9003), served
    ),
    "picker-sees-no-pods": Variant("gateway-pool", sees_no_pods, served),
    "pool-selects-nothing": Variant(
        "gateway-pool",
        field("InferencePool", "chat", "selector", "matchLabels", f"{LEADERS}/name", value="chat2"),
        served,
    ),
    "pool-port": Variant(
        "gateway-pool", field("InferencePool", "chat", "targetPorts", value=[{"number": 8081}]), served
    ),
    "tokens-counted-beside-a-pool": Variant(
        "model-split",
        field(
            "AIGatewayRoute",
            "summaries",
            "llmRequestCosts",
            value=[{"metadataKey": "llm_total_token", "type": "TotalToken"}],
        ),
        streamed,
    ),
    "adapter-nobody-has": Variant(
        "model-split",
        lambda bodies: put("rules", 0, "targets", 0, "modelRewrite", value="mails-v9")(
            of(bodies, "InferenceModelRewrite", "mails")
        ),
        served,
    ),
    # Gateway API's order, in which rules of routes are chosen
    "rival-host": rivalry(rival(hostnames=["llm.example.org"]), hosted),
    "rival-exact-path": rivalry(rival(path={"type": "Exact", "value": "/v1/chat/completions"})),
    "rival-longer-path": rivalry(rival(path={"type": "PathPrefix", "value": "/v1"})),
    "rival-path-expression": rivalry(rival(path={"type": "RegularExpression", "value": "/v[0-9]/.*"})),
    "rival-method": rivalry(rival(method="POST")),
    "rival-headers": rivalry(rival(headers=[JSON, PLAIN])),
    "rival-header": rivalry(rival(headers=[JSON])),
    "rival-query": rivalry(rival(queryParams=[{"name": "a", "value": "b"}]), queried),
    "rival-grpc-service": rivalry(rival("GRPCRoute", method={"service": "v1"})),
    "rival-that-matches-all": rivalry(rival()),
    "rival-root": rivalry(rival(path={"type": "PathPrefix", "value": "/"})),
    "rival-root-older": rivalry(before(rival(path={"type": "PathPrefix", "value": "/"})), differs=OLDER),
    "rival-other-path": rivalry(rival(path={"type": "PathPrefix", "value": "/docs"})),
}
