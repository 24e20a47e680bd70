"""Public names of adapters: the rules that lead to them, and who has the names."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

Objects = list[dict[str, Any]]


def adapter(name: str) -> dict[str, Any]:
    source = {"modelHub": {"modelID": f"example/{name}"}}
    spec = {"familyName": "qwen3", "source": source, "facts": {"adapter": {"rank": 16}}}
    return {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": name}, "spec": spec}


def playground(count: int, mode: str = "backend", engine: str = "vllm", **spec: Any) -> Objects:
    """A Playground `chat` with adapters `a0`, `a1` and so on."""
    names = [f"a{i}" for i in range(count)]
    models = [{"name": "qwen3-8b"}, *({"name": name, "role": "lora"} for name in names)]
    config = {"backendName": engine}
    spec = {"modelClaims": {"models": models}, "backendRuntimeConfig": config, "gateway": {"mode": mode}, **spec}
    kind = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground", "metadata": {"name": "chat"}}
    return [*map(adapter, names), {**kind, "spec": spec}]


def route(name: str, *backends: dict[str, Any], **spec: Any) -> dict[str, Any]:
    kind = {"apiVersion": "renderer.llmaz.io/v1alpha1", "kind": "ModelRoute", "metadata": {"name": name}}
    listed = [{"playground": "chat", **backend} for backend in backends]
    return {**kind, "spec": {"modelName": name, "backends": listed, **spec}}


def render(folder: Path, llmaz: Llmaz, objects: Objects, config: dict[str, Any] | None = None) -> Objects:
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    if config:
        head = {"apiVersion": "renderer.llmaz.io/v1alpha1", "kind": "RenderConfig", "metadata": {"name": "config"}}
        (folder / "llmaz.yaml").write_text(json.dumps({**head, "spec": config}))
    done = llmaz("render")
    assert done.code == 0, done.err
    assert llmaz("check", "rendered").code == 0
    return [body for path in (folder / "rendered").rglob("*.yaml") for body in yaml.safe_load_all(path.read_text())]


def of_kind(bodies: Objects, kind: str) -> dict[str, Any]:
    """The specs of all objects of a kind, by name."""
    return {body["metadata"]["name"]: body["spec"] for body in bodies if body["kind"] == kind}


def names_by_rule(spec: dict[str, Any]) -> list[list[str]]:
    return [[match["headers"][0]["value"] for match in rule["matches"]] for rule in spec["rules"]]


def test_fifteen_names_fill_a_route(folder: Path, llmaz: Llmaz) -> None:
    gateway = {"auth": {"apiKeys": {"secretName": "keys", "headers": ["x-api-key"]}}}
    app = playground(30)
    app[-1]["spec"]["gateway"] = {"allow": ["team-a"], "timeouts": {"streamIdle": "90s"}}
    bodies = render(folder, llmaz, app, {"gateway": gateway, "external": ["Secret/llmaz-system/keys"]})
    routes = of_kind(bodies, "AIGatewayRoute")
    assert {name: len(spec["rules"]) for name, spec in routes.items()} == {"chat": 15, "chat-2": 15, "chat-3": 1}
    assert names_by_rule(routes["chat-2"])[0] == ["a14"]
    assert names_by_rule(routes["chat-3"]) == [["a29"]]
    for kind in ("SecurityPolicy", "BackendTrafficPolicy"):  # they act on whole routes
        policies = of_kind(bodies, kind)
        assert {name: spec["targetRefs"][0]["name"] for name, spec in policies.items()} == {key: key for key in routes}


def test_names_of_a_pool_share_rules(folder: Path, llmaz: Llmaz) -> None:
    routes = of_kind(render(folder, llmaz, playground(130, "pool")), "AIGatewayRoute")
    rules = {name: [len(rule) for rule in names_by_rule(spec)] for name, spec in routes.items()}
    assert rules == {"chat": [64, 63], "chat-2": [4]}


def test_an_app_in_the_way_of_a_further_route(folder: Path, llmaz: Llmaz) -> None:
    objects = playground(15)
    other = {**objects[-1], "metadata": {"name": "chat-2"}, "spec": {"modelClaim": {"modelName": "qwen3-0--6b"}}}
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, [*objects, other])))
    done = llmaz("render")
    assert done.code == 2
    assert "[E642]" in done.err


@pytest.mark.parametrize("mode", ["backend", "pool"])
def test_a_route_of_the_main_model_leaves_the_adapters(mode: str, folder: Path, llmaz: Llmaz) -> None:
    bodies = render(folder, llmaz, [*playground(2, mode), route("qwen3-8b", {})])
    routes = {name: names_by_rule(spec) for name, spec in of_kind(bodies, "AIGatewayRoute").items()}
    assert routes == {"chat": [["a0"], ["a1"]] if mode == "backend" else [["a0", "a1"]], "qwen3-8b": [["qwen3-8b"]]}


@pytest.mark.parametrize("mode", ["backend", "pool"])
def test_a_route_to_all_leaves_none(mode: str, folder: Path, llmaz: Llmaz) -> None:
    objects = [*playground(1, mode), route("all", {"weight": 3}, {"adapter": "a0", "weight": 1})]
    bodies = render(folder, llmaz, objects)
    routes = of_kind(bodies, "AIGatewayRoute")
    assert {name: names_by_rule(spec) for name, spec in routes.items()} == {"all": [["all"]]}
    shares = [(leg.get("modelNameOverride"), leg["weight"]) for leg in routes["all"]["rules"][0]["backendRefs"]]
    if mode == "backend":
        assert shares == [("qwen3-8b", 3), ("a0", 1)]
        return
    assert shares == [(None, 1)]
    (rewrite,) = of_kind(bodies, "InferenceModelRewrite").values()
    assert rewrite["rules"][0]["targets"] == [
        {"modelRewrite": "qwen3-8b", "weight": 3},
        {"modelRewrite": "a0", "weight": 1},
    ]


def test_a_name_that_the_engine_knows_needs_no_rewriting(folder: Path, llmaz: Llmaz) -> None:
    bodies = render(folder, llmaz, [*playground(2, "pool"), route("a0", {"adapter": "a0"})])
    assert of_kind(bodies, "InferenceModelRewrite") == {}
    routes = {name: names_by_rule(spec) for name, spec in of_kind(bodies, "AIGatewayRoute").items()}
    assert routes == {"chat": [["qwen3-8b", "a1"]], "a0": [["a0"]]}


def test_who_gets_nothing_is_no_target_of_a_picker(folder: Path, llmaz: Llmaz) -> None:
    backends = {"adapter": "a0", "weight": 1}, {"adapter": "a1", "weight": 0}
    bodies = render(folder, llmaz, [*playground(2, "pool", "sglang"), route("both", *backends)])
    rewrites = of_kind(bodies, "InferenceModelRewrite")
    assert rewrites["both"]["rules"][0]["targets"] == [{"modelRewrite": "qwen3-8b:a0"}]
    assert set(rewrites) == {"both"}  # neither adapter has a name of its own


@pytest.mark.parametrize(
    "backends",
    [
        [{"adapter": "a0"}, {"adapter": "a1", "priority": 1}],
        [{"adapter": "a0"}, {"playground": "plain"}],
    ],
)
def test_a_picker_knows_no_priorities_and_no_others(backends: list[dict[str, Any]], folder: Path, llmaz: Llmaz) -> None:
    objects = playground(2, "pool")
    plain = {**objects[-1], "metadata": {"name": "plain"}, "spec": {"modelClaim": {"modelName": "qwen3-0--6b"}}}
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, [*objects, plain, route("both", *backends)])))
    done = llmaz("render")
    assert done.code == 2
    assert "[E644]" in done.err


def test_a_fallback_from_an_adapter_to_its_model(folder: Path, llmaz: Llmaz) -> None:
    bodies = render(folder, llmaz, [*playground(1), route("safe", {"adapter": "a0"}, {"priority": 1})])
    legs = of_kind(bodies, "AIGatewayRoute")["safe"]["rules"][0]["backendRefs"]
    assert [(leg["modelNameOverride"], leg["priority"]) for leg in legs] == [("a0", 0), ("qwen3-8b", 1)]


def test_variants_share_the_names(folder: Path, llmaz: Llmaz) -> None:
    objects = playground(1, flavorPolicy="variants")
    flavors = [{"name": name, "limits": {"nvidia.com/gpu": 1}} for name in ("a100", "h100")]
    objects.append(
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": "own"},
            "spec": {
                "familyName": "qwen3",
                "source": {"modelHub": {"modelID": "example/own"}},
                "inferenceConfig": {"flavors": flavors},
            },
        }
    )
    objects[1]["spec"]["modelClaims"]["models"][0]["name"] = "own"
    (routed,) = of_kind(render(folder, llmaz, objects), "AIGatewayRoute").values()
    legs = [[(leg["name"], leg["modelNameOverride"]) for leg in rule["backendRefs"]] for rule in routed["rules"]]
    assert legs == [[("chat-a100", name), ("chat-h100", name)] for name in ("own", "a0")]


def test_packed_models_keep_their_adapters(folder: Path, llmaz: Llmaz) -> None:
    bodies = render(folder, llmaz, playground(1), {"gateway": {"routeLayout": "packed"}})
    assert set(of_kind(bodies, "AIGatewayRoute")) == {"chat"}


def test_what_wakes_a_model_wakes_it_for_its_adapters(folder: Path, llmaz: Llmaz) -> None:
    keda = {
        "prometheus": {"serverAddress": "http://prometheus.monitoring:9090"},
        "interceptor": {"service": "interceptor", "namespace": "keda"},
    }
    config = {
        "autoscaling": {"autoscaler": "keda", "keda": keda, "metricSource": {"type": "prometheus"}},
        "external": ["Service/keda/interceptor"],
    }
    objects = playground(1, elasticConfig={"minReplicas": 0, "maxReplicas": 2})
    (interceptor,) = of_kind(render(folder, llmaz, objects, config), "InterceptorRoute").values()
    assert [rule["headers"][0]["value"] for rule in interceptor["rules"]] == ["qwen3-8b", "a0"]


def test_an_adapter_that_options_load_can_be_led_to(folder: Path, llmaz: Llmaz) -> None:
    objects = playground(0, "backend")
    objects[-1]["spec"]["modelClaims"] = {"models": [{"name": "qwen3-8b"}]}
    objects[-1]["spec"]["backendRuntimeConfig"] = {"args": ["--enable-lora", "--lora-modules", "law=/a/law"]}
    bodies = render(folder, llmaz, [*objects, route("law", {"adapter": "law"})])
    legs = of_kind(bodies, "AIGatewayRoute")["law"]["rules"][0]["backendRefs"]
    assert [leg["modelNameOverride"] for leg in legs] == ["law"]


def test_streams_that_are_counted_lose_the_name_of_an_adapter(folder: Path, llmaz: Llmaz) -> None:
    limited = route("qwen3-8b", {}, tokenLimits=[{"per": {"header": "x-team"}, "tokens": 5, "interval": "Day"}])
    split = route("both", {"adapter": "a0"}, {"adapter": "a1"})
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, [*playground(3, "pool", "sglang"), limited, split])))
    done = llmaz("render")
    assert done.code == 0, done.err
    assert "backends[0].adapter: streamed requests for 'both'" in done.err
    assert "models[3].name: streamed requests for 'a2'" in done.err
    assert done.err.count("[W247]") == 2


def test_routes_are_listed_as_people_think_of_them(folder: Path, llmaz: Llmaz) -> None:
    split = route("both", {"adapter": "a0", "weight": 9}, {"adapter": "a1", "weight": 1})
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, [*playground(3, "pool", "sglang"), split])))
    lines = llmaz("routes").out.splitlines()
    models = [[word for word in line.split("  ") if " on qwen3-8b" in word] for line in lines]
    assert [word.strip() for words in models for word in words] == [f"a{i} on qwen3-8b" for i in (2, 0, 1)]
    backends = json.loads(llmaz("routes", "--format", "json").out)
    assert "qwen3-8b:a2" in json.dumps(backends)
    chart = llmaz("routes", "--format", "markdown").out
    assert 'name.default.chat.a2(["a2' in chart
    assert '-->|"9 of 10<br>adapter a0"| pool.default.chat' in chart


def test_a_diff_names_adapters(folder: Path, llmaz: Llmaz) -> None:
    split = route("both", {"adapter": "a0", "weight": 9}, {"adapter": "a1", "weight": 1})
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, [*playground(2), split])))
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    split["spec"]["backends"][0]["weight"] = 1
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, [*playground(3), split])))
    shown = llmaz("diff").out
    assert "adapters: a0, a1 → a0, a1, a2" in shown
    assert "both: weight of chat as a0: 9 → 1" in shown
    assert "a2: public name: none → chat, weight 1" in shown
