"""Made-up ModelRoutes and InferenceModels, over the apps of a batch of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.apiserver.inputs import Node, Strategy, duration, one_of, record, served_name


class Traffic(NamedTuple):
    """What leads to apps. `body`: the document, whose backends, targets and pool `wired` fills in; `anchor`: which app
    comes first, counted from anywhere; `picks`: what is said of each.
    """

    body: Node
    anchor: int
    picks: Sequence[Node]


provider = st.builds(
    lambda what, port: {"modelName": "large", **what, **port},
    one_of(
        {
            "schema": "OpenAI",
            "hostname": "api.openai.com",
            "prefix": "v2",
            "auth": {"type": "APIKey", "secretName": "a"},
        },
        {
            "schema": "Anthropic",
            "hostname": "api.anthropic.com",
            "auth": {"type": "AnthropicAPIKey", "secretName": "b.c"},
        },
        {
            "schema": "AWSBedrock",
            "hostname": "bedrock-runtime.eu-central-1.amazonaws.com",
            "auth": {"type": "AWSCredentials", "secretName": "aws", "region": "eu-central-1"},
        },
        {
            "schema": "AzureOpenAI",
            "hostname": "company.openai.azure.com",
            "version": "2025-01-01-preview",
            "auth": {"type": "AzureAPIKey", "secretName": "azure"},
        },
    ),
    record(port=one_of(443, 8443)),
)
limit = record(
    {
        "per": one_of("tenant", {"header": "x-team"}),
        "tokens": one_of(1, 50_000, 4_294_967_295),
        "interval": one_of("Second", "Minute", "Hour", "Day", "Month", "Year"),
    },
    count=one_of("total", "input", "output", "cachedInput", "reasoning"),
)
name = st.from_regex(r"[a-z]([a-z0-9-]{0,15}[a-z0-9])?", fullmatch=True)
pick = record(
    weight=st.integers(1, 1_000_000),
    priority=one_of(0, 0, 1, 15),
    adapter=st.booleans(),
    provider=st.one_of(st.none(), provider),
)
model_route = st.builds(
    lambda name, spec, anchor, picks: Traffic(
        _document("renderer.llmaz.io/v1alpha1", "ModelRoute", name, spec), anchor, picks
    ),
    name,
    record(
        {"modelName": served_name},
        timeouts=record(request=duration, streamIdle=duration),
        retries=st.builds(lambda count: {"attempts": count}, st.integers(3, 10)),
        tokenLimits=st.lists(limit, min_size=1, max_size=3, unique_by=lambda token_limit: token_limit["interval"]),
    ),
    st.integers(0, 30),
    st.lists(pick, min_size=1, max_size=4),
)
inference_model = st.builds(
    lambda version, name, spec, anchor, picks: Traffic(
        _document(f"inference.networking.x-k8s.io/{version}", "InferenceModel", name, spec), anchor, picks
    ),
    one_of("v1alpha1", "v1alpha2"),
    name,
    record({"modelName": served_name}, criticality=one_of("Critical", "Standard", "Sheddable")),
    st.integers(0, 30),
    st.lists(pick, max_size=3),
)


def _document(version: str, kind: str, name: str, spec: Node) -> Node:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def wired(traffic_items: Sequence[Traffic], files: Sequence[Sequence[Node]], config: Node) -> list[Node]:
    """Their documents, over apps of these files; one at most for each app, so that none takes another's name."""
    gateway = config["spec"].get("gateway", {})
    usual = config["spec"].get("namespace", "default"), gateway.get("mode", "backend")
    apps = sorted((_app(documents, *usual) for documents in files), key=lambda app: (app.namespace, app.public))
    open_to = {
        space: [app for app in of if app.mode != "off"] for space, of in groupby(apps, lambda app: app.namespace)
    }
    spaces = sorted(space for space, of in open_to.items() if of)
    documents = []
    for number, item in enumerate(traffic_items if spaces else ()):
        space = spaces[item.anchor % len(spaces)]
        if not (free := open_to[space]):
            continue
        pools = [i for i, app in enumerate(free) if app.mode == "pool" and item.body["kind"] == "InferenceModel"]
        chosen = [free.pop(pools[0] if pools else item.anchor % len(free))]
        pool = chosen[0].mode == "pool"
        for other in [other for other in free if other.mode != "pool"][: 0 if pool else len(item.picks) - 1]:
            chosen.append(other)
            free.remove(other)
        spec: dict[str, Any] = {**item.body["spec"], "modelName": f"{item.body['spec']['modelName']}-t{number}"}
        by_adapter = item.body["kind"] == "ModelRoute" and chosen[0].adapters and item.picks[0].get("adapter")
        if (pool and not by_adapter) or not item.picks:
            spec["modelName"] = chosen[0].public
        fill = _route if item.body["kind"] == "ModelRoute" else _model
        metadata = {"name": f"{item.body['metadata']['name']}-t{number}", "namespace": space}
        documents.append({**item.body, "metadata": metadata, "spec": fill(spec, item.picks, chosen, "auth" in gateway)})
    return documents


class _App(NamedTuple):
    namespace: str
    public: str
    kind: str
    name: str
    mode: str
    adapters: Sequence[str]


def _app(documents: Sequence[Node], namespace: str, mode: str) -> _App:
    app, model = documents[-1], documents[0]
    public = app["spec"].get("servedModelName") or model["spec"].get("servedModelName") or model["metadata"]["name"]
    metadata, own = app["metadata"], app["spec"].get("gateway", {})
    claimed = app["spec"].get("modelClaims", {}).get("models", ())
    adapters = [model["name"] for model in claimed if model.get("role") == "lora"]
    space = metadata.get("namespace", namespace)
    return _App(space, public, app["kind"], metadata["name"], own.get("mode", mode), adapters)


def _route(spec: Node, picks: Sequence[Node], chosen: Sequence[_App], authenticated: bool) -> Node:
    pool = chosen[0].mode == "pool"
    backends: list[Node] = []
    for choice, app in zip(picks, chosen, strict=False):
        leg: Node = {key: choice[key] for key in ("weight", "priority") if key in choice and not pool}
        adapter = {"adapter": app.adapters[-1]} if app.adapters and choice.get("adapter") else {}
        backends.append({app.kind.lower(): app.name, **adapter, **leg})
    hosts = {
        choice["provider"]["hostname"]: choice["provider"] for choice in picks if choice.get("provider") and not pool
    }
    backends += [{"provider": host, "priority": 2} for host in hosts.values()]
    route_spec = {**spec, "backends": backends}
    return route_spec if authenticated else {key: value for key, value in route_spec.items() if key != "tokenLimits"}


def _model(spec: Node, picks: Sequence[Node], chosen: Sequence[_App], _: bool) -> Node:
    weighted = all("weight" in choice for choice in picks)
    targets = [
        {"name": app.public, **({"weight": choice["weight"]} if weighted else {})}
        for choice, app in zip(picks, chosen, strict=False)
    ]
    model_spec = {**spec, "poolRef": {"name": chosen[0].name}}
    return {**model_spec, "targetModels": targets} if targets else model_spec


traffic: Strategy = st.one_of(model_route, model_route, inference_model)
