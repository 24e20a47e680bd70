"""Names over several workloads, from input to output: what a split touches, and what it leaves alone.

Each test writes its own few lines; what a ModelRoute or InferenceModel is refused for stands in tests/errors/.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer.plan import RouteTarget
from renderer.resolve.gateway.route_backends import BackendShare, split_weights
from tests.inputs import blue_model, document
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.conftest import Llmaz

PROVIDER = "{schema: OpenAI, hostname: HOST, modelName: big, auth: {type: APIKey, secretName: key}}"


def config(**gateway: Any) -> str:
    return json.dumps(document("RenderConfig", "c", {"namespace": "llm", "gateway": gateway}))


def playground(name: str, **more: Any) -> str:
    """One whose public name is its own name."""
    spec = {"modelClaim": {"modelName": "qwen3-8b"}, "servedModelName": f"{name}-model", **more}
    return json.dumps(document("Playground", name, spec))


def route(name: str, *backends: str, **more: Any) -> str:
    """A ModelRoute; each backend is a line of YAML."""
    lines = [
        "apiVersion: renderer.llmaz.io/v1alpha1",
        "kind: ModelRoute",
        f"metadata: {{name: {name}}}",
        "spec:",
        f"  modelName: {more.pop('modelName', name)}",
        *(f"  {key}: {json.dumps(value)}" for key, value in more.items()),
        "  backends:",
        *(f"    - {backend}" for backend in backends),
    ]
    return "\n".join(lines)


def wrote(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name.replace('_', '-')}.yaml").write_text(f"{text}\n")


def tree(folder: Path) -> dict[str, str]:
    """Every rendered file, by its path."""
    paths = sorted((folder / "rendered").rglob("*.yaml"))
    return {path.relative_to(folder / "rendered").as_posix(): path.read_text("utf-8") for path in paths}


def rendered(folder: Path, llmaz: Llmaz, *args: str | Path) -> dict[str, str]:
    done = llmaz("render", *args)
    assert done.code == 0, done.err
    return tree(folder)


def changed(old: dict[str, str], new: dict[str, str]) -> dict[str, list[str]]:
    """The lines that came and went, by file."""
    changes = {}
    for path in sorted(old.keys() | new.keys()):
        one, other = old.get(path, ""), new.get(path, "")
        if one != other:
            lines = list(difflib.unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm=""))[2:]
            changes[path] = [f"{line[0]} {line[1:].strip()}" for line in lines if line[0] in "+-"]
    return changes


def objects(text: str, kind: str) -> list[dict[str, Any]]:
    return [body["spec"] for body in yaml.safe_load_all(text) if body["kind"] == kind]


def shares(text: str) -> list[tuple[str, int, int]]:
    """Name, weight and priority of each backend of the one rule in a file."""
    (spec,) = objects(text, "AIGatewayRoute")
    (rule,) = spec["rules"]
    return [(reference["name"], reference["weight"], reference["priority"]) for reference in rule["backendRefs"]]


@pytest.fixture
def canary(folder: Path) -> Path:
    """9 and 1 over two Playgrounds."""
    wrote(
        folder,
        llmaz=config(create=True),
        chat=playground("chat", replicas=2),
        chat_next=playground("chat-next"),
        other=playground("other"),
        route=route("talk", "{playground: chat, weight: 9}", "{playground: chat-next, weight: 1}"),
    )
    return folder


# Canaries


@pytest.mark.parametrize(
    ("line", "instead", "expected"),
    [
        ("chat, weight: 9", "chat, weight: 4", ["- weight: 9", "+ weight: 4"]),
        ("chat-next, weight: 1", "chat-next, weight: 9", ["- weight: 1", "+ weight: 9"]),
        ("chat-next, weight: 1", "chat-next, weight: 0", ["- weight: 1", "+ weight: 0"]),
        ("chat, weight: 9", "chat, weight: 0", ["- weight: 9", "+ weight: 0"]),
    ],
    ids=["80/20", "half", "back", "promoted"],
)
def test_a_weight_is_one_line_of_one_file(
    line: str, instead: str, expected: list[str], canary: Path, llmaz: Llmaz
) -> None:
    before = rendered(canary, llmaz)
    assert shares(before["llm/talk.route.yaml"]) == [("chat", 9, 0), ("chat-next", 1, 0)]
    file = canary / "route.yaml"
    file.write_text(file.read_text().replace(line, instead))
    done = llmaz("render")
    assert done.counts["changed"] == 1
    assert done.counts["new"] == done.counts["gone"] == 0
    assert changed(before, tree(canary)) == {"llm/talk.route.yaml": expected}


def test_the_old_one_leaves_when_the_new_one_has_all(canary: Path, llmaz: Llmaz) -> None:
    """Its file goes, the route loses its entry, and no other file is touched."""
    before = rendered(canary, llmaz)
    (canary / "chat.yaml").unlink()
    file = canary / "route.yaml"
    file.write_text(file.read_text().replace("    - {playground: chat, weight: 9}\n", ""))
    after = rendered(canary, llmaz)
    touched = changed(before, after)
    assert sorted(touched) == ["llm/chat.yaml", "llm/talk.route.yaml"]
    assert "llm/chat.yaml" not in after
    assert touched["llm/talk.route.yaml"] == [
        "- - name: chat",
        "- weight: 9",
        "- priority: 0",
        "- modelNameOverride: chat-model",
    ]


def test_a_named_playground_has_no_route_of_its_own(canary: Path, llmaz: Llmaz) -> None:
    """It gets one back when nothing names it any more."""
    before = rendered(canary, llmaz)
    for name in ("chat", "chat-next"):
        assert objects(before[f"llm/{name}.yaml"], "AIServiceBackend")
        assert objects(before[f"llm/{name}.yaml"], "AIGatewayRoute") == []
    assert objects(before["llm/other.yaml"], "AIGatewayRoute")
    (canary / "route.yaml").unlink()
    after = rendered(canary, llmaz)
    assert sorted(changed(before, after)) == ["llm/chat-next.yaml", "llm/chat.yaml", "llm/talk.route.yaml"]
    assert shares(after["llm/chat.yaml"]) == [("chat", 1, 0)]


def test_each_engine_gets_the_name_that_it_knows(canary: Path, llmaz: Llmaz) -> None:
    (spec,) = objects(rendered(canary, llmaz)["llm/talk.route.yaml"], "AIGatewayRoute")
    (rule,) = spec["rules"]
    assert rule["matches"][0]["headers"][0]["value"] == "talk"
    assert [reference["modelNameOverride"] for reference in rule["backendRefs"]] == ["chat-model", "chat-next-model"]


def test_replicas_do_not_change_the_shares(canary: Path, llmaz: Llmaz) -> None:
    """What is said in the route holds, whatever the size of the workloads behind it."""
    before = rendered(canary, llmaz)
    wrote(canary, chat=playground("chat", replicas=7))
    assert changed(before, rendered(canary, llmaz)) == {"llm/chat.yaml": ["- replicas: 2", "+ replicas: 7"]}


# Fallbacks


def fallback(*backends: str, **more: Any) -> str:
    return route("talk", *backends, **more)


def provider(host: str, priority: int, weight: int = 1) -> str:
    return f"{{provider: {PROVIDER.replace('HOST', host)}, priority: {priority}, weight: {weight}}}"


def test_priorities_and_weights_stand_as_they_are_said(folder: Path, llmaz: Llmaz) -> None:
    backends = [
        "{playground: a, weight: 3}",
        "{playground: b}",
        "{playground: c, priority: 1}",
        provider("api.example.com", 2, 7),
    ]
    wrote(folder, llmaz=config(), a=playground("a"), b=playground("b"), c=playground("c"), route=fallback(*backends))
    file = rendered(folder, llmaz)["llm/talk.route.yaml"]
    assert shares(file) == [("a", 3, 0), ("b", 1, 0), ("c", 1, 1), ("talk-api-example-com", 7, 2)]
    (policy,) = objects(file, "BackendTrafficPolicy")
    assert policy["retry"]["numRetries"] == 2


@pytest.mark.parametrize(
    ("priorities", "attempts", "expected"),
    [
        ([0], None, None),
        ([0], 3, 3),
        ([0, 1], None, 2),
        ([0, 1], 1, 1),
        ([0, 1, 2], None, 2),
        ([0, 1, 2, 3], None, 3),
        ([0, 5], None, 2),
    ],
)
def test_retries(priorities: list[int], attempts: int | None, expected: int | None, folder: Path, llmaz: Llmaz) -> None:
    """As many as there are priorities to fall back to, at least 2; none for a single one unless they are asked for."""
    apps = {f"p{priority}": playground(f"p{priority}", replicas=2) for priority in priorities}
    backends = [f"{{playground: p{priority}, priority: {priority}}}" for priority in priorities]
    more = {"retries": {"attempts": attempts}} if attempts else {}
    wrote(folder, llmaz=config(), route=fallback(*backends, **more), **apps)
    policies = objects(rendered(folder, llmaz)["llm/talk.route.yaml"], "BackendTrafficPolicy")
    assert [policy["retry"]["numRetries"] for policy in policies] == ([] if expected is None else [expected])


def test_a_provider_of_its_own_for_each_route(folder: Path, llmaz: Llmaz) -> None:
    """Two names may end at one provider: neither's objects are the other's."""
    wrote(
        folder,
        llmaz=config(),
        chat=playground("chat"),
        one=route("one", "{playground: chat}", provider("api.example.com", 1)),
        two=route("two", "{playground: chat}", provider("api.example.com", 1), provider("api.example.org", 2)),
    )
    files = rendered(folder, llmaz)
    assert shares(files["llm/one.route.yaml"])[1] == ("one-api-example-com", 1, 1)
    assert shares(files["llm/two.route.yaml"])[1:] == [("two-api-example-com", 1, 1), ("two-api-example-org", 1, 2)]
    for file, count in (("one", 1), ("two", 2)):
        text = files[f"llm/{file}.route.yaml"]
        for kind in ("Backend", "AIServiceBackend", "BackendSecurityPolicy"):
            assert len(objects(text, kind)) == count


# What stands behind a name


def test_a_service_of_the_users_own(folder: Path, llmaz: Llmaz) -> None:
    template = {
        "spec": {
            "containers": [
                {
                    "name": "model-runner",
                    "image": "example.com/engine:v1",
                    "ports": [{"name": "http", "containerPort": 9000}],
                }
            ]
        }
    }
    service = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Service",
        "metadata": {"name": "own"},
        "spec": {
            "modelClaims": {"models": [{"name": "qwen3-8b"}]},
            "servedModelName": "own-model",
            "replicas": 2,
            "workloadTemplate": {"size": 1, "workerTemplate": template},
        },
    }
    wrote(
        folder,
        llmaz=config(),
        chat=playground("chat"),
        own=json.dumps(service),
        route=route("talk", "{playground: chat, weight: 3}", "{service: own}"),
    )
    files = rendered(folder, llmaz)
    assert shares(files["llm/talk.route.yaml"]) == [("chat", 3, 0), ("own", 1, 0)]
    assert objects(files["llm/own.yaml"], "AIGatewayRoute") == []
    (backend,) = objects(files["llm/own.yaml"], "Backend")
    assert backend["endpoints"] == [{"fqdn": {"hostname": "own-leaders.llm.svc.cluster.local", "port": 9000}}]


def test_variants_share_the_weight_of_their_playground(folder: Path, llmaz: Llmaz) -> None:
    """A Playground with a workload for each flavor keeps its share of the name as a whole."""
    model = blue_model(
        {"name": "h100", "limits": {"nvidia.com/gpu": 1}, "nodeSelector": {"gpu": "h100"}},
        {"name": "mi300", "limits": {"amd.com/gpu": 1}, "nodeSelector": {"gpu": "mi300"}},
    )
    several = playground("wide", modelClaim={"modelName": "blue"}, flavorPolicy="variants", replicas=2)
    backends = ["{playground: wide, weight: 9}", "{playground: chat, weight: 1}"]
    wrote(
        folder,
        llmaz=config(),
        model=json.dumps(model),
        wide=several,
        chat=playground("chat"),
        route=route("talk", *backends),
    )
    backend_shares = shares(rendered(folder, llmaz)["llm/talk.route.yaml"])
    weights = {name: weight for name, weight, _ in backend_shares}
    assert set(weights) == {"wide-h100", "wide-mi300", "chat"}
    assert weights["wide-h100"] == weights["wide-mi300"]
    assert (weights["wide-h100"] + weights["wide-mi300"]) == 9 * weights["chat"]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([([1], 90, 0), ([1], 10, 0)], [90, 10]),
        ([([1], 0, 0), ([1], 10, 0)], [0, 10]),
        ([([1], 1, 0), ([2, 4], 1, 0)], [3, 1, 2]),
        ([([1], 7, 0), ([2, 1], 5, 1)], [7, 2, 1]),
        ([([1], 2_000_000, 0), ([1, 1], 2_000_000, 0)], [2, 1, 1]),
        ([([1], 999_983, 0), ([1, 1], 999_979, 0)], [1_000_000, 499_998, 499_998]),
        ([([999_983, 1], 1, 0)], [999_983, 1]),
        ([([1], 0, 0), ([1, 1], 0, 0)], [0, 0, 0]),
    ],
)
def test_weights_are_whole_and_no_larger_than_gateway_api_has_them(
    parts: list[tuple[list[int], int, int]], expected: list[int]
) -> None:
    """Each app has its share of its priority; a priority is a world of its own."""
    backend_shares = [
        BackendShare([RouteTarget(f"{i}-{j}", size, "m") for j, size in enumerate(sizes)], weight, priority)
        for i, (sizes, weight, priority) in enumerate(parts)
    ]
    assert [target.weight for target in split_weights(backend_shares)] == expected


def test_a_pool_behind_a_name_of_its_own(folder: Path, llmaz: Llmaz) -> None:
    """A ModelRoute over one pool, for its timeouts and budgets: the pool is all that its rule has."""
    wrote(
        folder,
        llmaz=config(auth={"apiKeys": {"secretName": "tenants"}}),
        chat=playground("chat", replicas=2, gateway={"mode": "pool"}),
        route=route(
            "talk",
            "{playground: chat}",
            modelName="chat-model",
            tokenLimits=[{"per": "tenant", "tokens": 5, "interval": "Hour"}],
        ),
    )
    files = rendered(folder, llmaz)
    (spec,) = objects(files["llm/talk.route.yaml"], "AIGatewayRoute")
    (reference,) = spec["rules"][0]["backendRefs"]
    assert reference == {
        "group": "inference.networking.k8s.io",
        "kind": "InferencePool",
        "name": "chat",
        "weight": 1,
        "priority": 0,
    }
    assert objects(files["llm/talk.route.yaml"], "BackendTrafficPolicy")
    assert objects(files["llm/chat.yaml"], "AIGatewayRoute") == []


# Beside others


def inference_model(name: str, **spec: Any) -> str:
    kind = {"apiVersion": "inference.networking.x-k8s.io/v1alpha2", "kind": "InferenceModel"}
    return json.dumps({**kind, "metadata": {"name": name}, "spec": spec})


def test_a_name_of_a_pool_that_both_have(folder: Path, llmaz: Llmaz) -> None:
    """The ModelRoute has the route, with its budget; the InferenceModel tells the picker."""
    loads = {"args": ["--enable-lora", "--lora-modules", "one=/a", "two=/b"]}
    wrote(
        folder,
        llmaz=config(auth={"apiKeys": {"secretName": "tenants"}}),
        chat=playground("chat", gateway={"mode": "pool"}, backendRuntimeConfig=loads),
        model=inference_model("told", modelName="talk", poolRef={"name": "chat"}, targetModels=[{"name": "one"}]),
        route=route("talk", "{playground: chat}", tokenLimits=[{"per": "tenant", "tokens": 5, "interval": "Hour"}]),
    )
    files = rendered(folder, llmaz)
    kinds = {path: [manifest["kind"] for manifest in yaml.safe_load_all(text)] for path, text in files.items()}
    assert kinds["llm/talk.route.yaml"] == ["AIGatewayRoute", "BackendTrafficPolicy"]
    assert kinds["llm/told.route.yaml"] == ["InferenceObjective", "InferenceModelRewrite"]
    assert "AIGatewayRoute" not in kinds["llm/chat.yaml"]


def test_an_inference_model_keeps_what_its_app_says_of_its_route(folder: Path, llmaz: Llmaz) -> None:
    """It takes over the route of that name, and can say neither rights nor timeouts."""
    own = {"allow": ["team-a"], "timeouts": {"request": "30m", "streamIdle": "1m"}}
    gateway = config(auth={"apiKeys": {"secretName": "tenants"}})
    wrote(folder, llmaz=gateway, chat=playground("chat", gateway=own))
    (alone,) = rendered(folder, llmaz).values()
    wrote(folder, model=inference_model("taken", modelName="chat-model", poolRef={"name": "chat"}))
    text = rendered(folder, llmaz)["llm/taken.route.yaml"]
    for kind in ("SecurityPolicy", "BackendTrafficPolicy", "AIGatewayRoute"):
        (before,), (after,) = objects(alone, kind), objects(text, kind)
        before.pop("targetRefs", None), after.pop("targetRefs", None)
        assert after == before


def test_without_routes_there_are_none(folder: Path, llmaz: Llmaz) -> None:
    """The same tree for a cluster that has no gateway."""
    wrote(
        folder,
        llmaz=config(),
        chat=playground("chat"),
        model=inference_model(
            "model", modelName="other", poolRef={"name": "chat"}, targetModels=[{"name": "chat-model"}]
        ),
        route=route("talk", "{playground: chat}", "{provider: " + PROVIDER.replace("HOST", "api.example.com") + "}"),
    )
    assert sorted(rendered(folder, llmaz)) == ["llm/chat.yaml", "llm/model.route.yaml", "llm/talk.route.yaml"]
    assert sorted(rendered(folder, llmaz, "--set", "gateway.mode=off")) == ["llm/chat.yaml"]
    done = llmaz("routes", "--set", "gateway.mode=off")
    assert done.code == 0, done.err
    assert "talk" not in done.out
    assert "other" not in done.out


def test_several_names_in_a_namespace(folder: Path, llmaz: Llmaz) -> None:
    """Two names over the same workloads; another's change touches the one file only."""
    pair = ["{playground: a, weight: 1}", "{playground: b, weight: 1}"]
    wrote(
        folder,
        llmaz=config(create=True),
        a=playground("a"),
        b=playground("b"),
        one=route("one", *pair),
        two=route("two", *pair),
    )
    before = rendered(folder, llmaz)
    assert shares(before["llm/one.route.yaml"]) == shares(before["llm/two.route.yaml"])
    wrote(folder, two=route("two", pair[0], "{playground: b, weight: 2}"))
    middle = rendered(folder, llmaz)
    assert list(changed(before, middle)) == ["llm/two.route.yaml"]
    wrote(folder, three=route("three", *pair))
    assert list(changed(middle, rendered(folder, llmaz))) == ["llm/three.route.yaml"]


def test_hosts_of_the_gateway(folder: Path, llmaz: Llmaz) -> None:
    """Those of the Gateway, or fewer of them."""
    hosts = ["llm.example.com", "batch.example.com"]
    wrote(
        folder,
        llmaz=config(hostnames=hosts),
        chat=playground("chat"),
        all=route("all", "{playground: chat}"),
        some=route("some", "{playground: chat}", hostnames=hosts[1:]),
    )
    files = rendered(folder, llmaz)
    assert [spec["hostnames"] for spec in objects(files["llm/all.route.yaml"], "AIGatewayRoute")] == [hosts]
    assert [spec["hostnames"] for spec in objects(files["llm/some.route.yaml"], "AIGatewayRoute")] == [hosts[1:]]


def test_one_name_on_two_hosts(folder: Path, llmaz: Llmaz) -> None:
    """A public name may mean two things where no request can reach both."""
    hosts = ["a.example.com", "b.example.com"]
    wrote(
        folder,
        llmaz=config(hostnames=hosts),
        a=playground("a"),
        b=playground("b"),
        one=route("one", "{playground: a}", modelName="talk", hostnames=hosts[:1]),
        two=route("two", "{playground: b}", modelName="talk", hostnames=hosts[1:]),
    )
    files = rendered(folder, llmaz)
    assert shares(files["llm/one.route.yaml"]) == [("a", 1, 0)]
    assert shares(files["llm/two.route.yaml"]) == [("b", 1, 0)]
    wrote(folder, two=route("two", "{playground: b}", modelName="talk"))
    assert llmaz("render").code == 2


def test_packed_routes_leave_a_model_route_its_own(canary: Path, llmaz: Llmaz) -> None:
    """Only names without a ModelRoute are packed; a change of weights rewrites no packed file."""
    wrote(canary, llmaz=config(create=True, routeLayout="packed", routeBuckets=1))
    before = rendered(canary, llmaz)
    assert shares(before["llm/talk.route.yaml"]) == [("chat", 9, 0), ("chat-next", 1, 0)]
    (packed,) = objects(before["llm/_routes-0.yaml"], "AIGatewayRoute")
    names = [rule["matches"][0]["headers"][0]["value"] for rule in packed["rules"]]
    assert names == ["other-model"]
    file = canary / "route.yaml"
    file.write_text(file.read_text().replace("weight: 9", "weight: 4"))
    assert list(changed(before, rendered(canary, llmaz))) == ["llm/talk.route.yaml"]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("file", ["llm/talk.route.yaml"]),
        ("app", ["llm/talk.route/talk.route.yaml"]),
        ("object", ["llm/talk.route/aigatewayroute-talk.yaml"]),
    ],
)
def test_layouts(layout: str, expected: list[str], canary: Path, llmaz: Llmaz) -> None:
    before = rendered(canary, llmaz, "--set", f"output.layout={layout}")
    assert [path for path in before if ".route" in path] == expected
    file = canary / "route.yaml"
    file.write_text(file.read_text().replace("weight: 9", "weight: 4"))
    after = rendered(canary, llmaz, "--set", f"output.layout={layout}")
    assert changed(before, after) == {expected[0]: ["- weight: 9", "+ weight: 4"]}


def test_each_namespace_has_its_gateway(folder: Path, llmaz: Llmaz) -> None:
    """One name on two Gateways; a split of a team is on the team's own."""
    for team in ("red", "blue"):
        team_folder = folder / team
        team_folder.mkdir()
        for name in ("old", "new"):
            text = playground(name).replace('"metadata": {', f'"metadata": {{"namespace": "{team}", ')
            (team_folder / f"{name}.yaml").write_text(text)
        text = route("talk", "{playground: old, weight: 9}", "{playground: new}")
        (team_folder / "route.yaml").write_text(text.replace("{name: talk}", f"{{name: talk, namespace: {team}}}"))
    gateway = {"name": "blue-gateway", "namespace": "blue", "mode": "backend"}
    wrote(folder, llmaz=config(create=True, perNamespace={"blue": gateway}))
    files = rendered(folder, llmaz)
    parents = {}
    for team in ("red", "blue"):
        (spec,) = objects(files[f"{team}/talk.route.yaml"], "AIGatewayRoute")
        (parent,) = spec["parentRefs"]
        parents[team] = (parent["namespace"], parent["name"])
    assert parents == {"red": ("llmaz-system", "llmaz-gateway"), "blue": ("blue", "blue-gateway")}


# A part of the tree


@pytest.fixture
def parts(folder: Path) -> Path:
    """Two folders: what a name leads to, and the name, with an InferenceModel over a pool beside it."""
    for name in ("apps", "routes"):
        (folder / name).mkdir()
    wrote(folder, llmaz=config(create=True))
    wrote(
        folder / "apps",
        chat=playground("chat", replicas=2),
        chat_next=playground("chat-next"),
        pool=playground("pool", replicas=2, gateway={"mode": "pool"}),
    )
    model = {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferenceModel",
        "metadata": {"name": "vip"},
        "spec": {
            "modelName": "vip",
            "criticality": "Critical",
            "poolRef": {"name": "pool"},
            "targetModels": [{"name": "pool-model"}],
        },
    }
    backends = ["{playground: chat, weight: 9}", "{playground: chat-next}", provider("api.example.com", 1)]
    wrote(folder / "routes", talk=route("talk", *backends), vip=json.dumps(model))
    return folder


@pytest.mark.parametrize("part", ["apps", "routes", "routes/talk.yaml", "routes/vip.yaml", "apps/chat.yaml"])
def test_a_part_is_rendered_as_the_whole_would(part: str, parts: Path, llmaz: Llmaz) -> None:
    """The same bytes, whichever side of a route is rendered alone: into nothing, and over the whole."""
    whole = rendered(parts, llmaz)
    done = llmaz("render", part)
    assert (done.code, done.counts["changed"], done.counts["new"], done.counts["gone"]) == (0, 0, 0, 0), done.err
    assert tree(parts) == whole
    alone = llmaz("render", part, "-o", "alone")
    assert alone.code == 0, alone.err
    files = {
        path.relative_to(parts / "alone").as_posix(): path.read_text("utf-8")
        for path in (parts / "alone").rglob("*.yaml")
    }
    assert files
    assert {path: text for path, text in files.items() if whole.get(path) != text} == {}


def test_a_routes_folder_that_loses_a_route(parts: Path, llmaz: Llmaz) -> None:
    """Rendering the folder alone deletes the route's file; the apps get their own back when they are rendered."""
    rendered(parts, llmaz)
    (parts / "routes" / "talk.yaml").unlink()
    done = llmaz("render", "routes")
    assert (done.code, done.counts["gone"]) == (0, 1), done.err
    assert "llm/talk.route.yaml" not in tree(parts)
    after = rendered(parts, llmaz, "apps")
    assert objects(after["llm/chat.yaml"], "AIGatewayRoute")
    assert llmaz("render", "--check").code == 0


def test_an_inference_model_in_both_versions(parts: Path, llmaz: Llmaz) -> None:
    """What means the same is rendered the same."""
    whole = rendered(parts, llmaz)
    file = parts / "routes" / "vip.yaml"
    file.write_text(file.read_text().replace("v1alpha2", "v1alpha1"))
    assert changed(whole, rendered(parts, llmaz)) == {}


# What the pages say


def test_the_pickers_of_the_page() -> None:
    """docs/pools.md has a row for each, with its version and the group of what steers it."""
    page = (ROOT / "docs" / "pools.md").read_text("utf-8")
    pickers = sorted((ROOT / "presets" / "pickers").glob("*.yaml"))
    assert pickers
    for path in pickers:
        picker = yaml.safe_load(path.read_text("utf-8"))
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{picker['metadata']['name']}`")]
        version = picker["spec"]["version"].removeprefix("v").rpartition(".")[0]
        assert version in row
        assert f"`{picker['spec']['apiGroup']}`" in row


@pytest.mark.parametrize(
    ("picker", "version", "api"),
    [("llm-d", "v0.11.0", "llm-d.ai/v1"), ("llm-d-0.10", "v0.10.0", "llm-d.ai/v1alpha1")],
)
def test_two_versions_of_a_picker(picker: str, version: str, api: str, folder: Path, llmaz: Llmaz) -> None:
    """The newer one takes its configuration under another name, and nothing else is different."""
    wrote(folder, chat=playground("chat", gateway={"mode": "pool"}))
    outputs = {}
    for name in ("llm-d", "llm-d-0.10"):
        done = llmaz("render", "--stdout", "--set", f"gateway.picker={name}")
        assert done.code == 0, done.err
        outputs[name] = done.out
    assert f"endpoint-picker:{version}\n" in outputs[picker]
    assert f"apiVersion: {api}\n    kind: EndpointPickerConfig" in outputs[picker]
    differing = [
        one.strip().partition(":")[0].removeprefix("- ")
        for one, other in zip(outputs["llm-d"].splitlines(), outputs["llm-d-0.10"].splitlines(), strict=True)
        if one != other
    ]
    assert differing == ["apiVersion", "renderer.llmaz.io/config", "image"]


@pytest.mark.parametrize("backend", sorted(path.stem for path in (ROOT / "presets" / "backends").glob("*.yaml")))
def test_the_engines_of_the_page(backend: str, folder: Path, llmaz: Llmaz) -> None:
    """docs/pools.md says of each engine whether a pool can stand before it, and what its picker weighs."""
    page = (ROOT / "docs" / "pools.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith("| ") and f"`{backend}`" in line.split("|")[1]]
    model = "qwen3-0--6b-gguf" if backend in ("llamacpp", "ollama") else "qwen3-8b"
    fields = {"modelClaim": {"modelName": model}, "backendRuntimeConfig": {"backendName": backend}}
    wrote(folder, chat=playground("chat", gateway={"mode": "pool"}, **fields))
    done = llmaz("render", "--stdout")
    if "refused" in row:
        assert (done.code, "[E637]" in done.err) == (2, True), done.err
        return
    assert done.code == 0, done.err
    (config,) = [body["data"] for body in yaml.safe_load_all(done.out) if body["kind"] == "ConfigMap"]
    types = {plugin["type"] for plugin in yaml.safe_load(config["config.yaml"])["plugins"]}
    words = {"queue-scorer": "queue", "kv-cache-utilization-scorer": "KV cache", "prefix-cache-scorer": "prefix"}
    assert {word for scorer, word in words.items() if scorer in types} == {w for w in words.values() if w in row}
