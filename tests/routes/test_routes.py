"""`llmaz routes`: every folder below routes/ holds an input, and what the command prints of it in each format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import inputs
from tests.paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Golden, Llmaz

CASES = sorted(path.parent.name for path in TESTS.glob("routes/*/input"))
FORMS = {"table": "routes.txt", "markdown": "routes.md", "json": "routes.json"}
CONFIG = inputs.CONFIG + "{gateway: {mode: backend, perNamespace: {team-0: {name: first}}}}\n"


def playground(name: str, namespace: str, served: str, model: str = "qwen3-8b") -> str:
    return f"---\n{inputs.playground(name, namespace, model)}  servedModelName: {served}\n"


_NODE, _LABEL = r"[a-z][\w.]*", r'"(?:[\w .:/@+,–…-]|<br>|#\d+;)*"'
SHAPES = (
    r"flowchart LR",
    r'  clients\(\["clients"\]\) --> gateway',
    rf"  subgraph gateway\[{_LABEL}\]",
    rf"    {_NODE}\(\[{_LABEL}\]\)",
    r"  end",
    rf"  {_NODE} -->(?:\|{_LABEL}\|)? {_NODE}",
    rf"  {_NODE}\[{_LABEL}\](?: --> {_NODE})?",
    rf"  {_NODE}\[/{_LABEL}/\]",
    rf"  {_NODE}\[\({_LABEL}\)\]",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_routes(case: str, form: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz, golden: Golden) -> None:
    monkeypatch.chdir(TESTS / "routes" / case / "input")
    done = llmaz("routes", "--format", form)
    assert done.code == 0, done.err
    golden(f"routes/{case}/{FORMS[form]}", done.out)
    golden(f"routes/{case}/stderr.txt", done.err)


def test_there_are_cases() -> None:
    assert CASES


def charts(text: str) -> list[str]:
    """The Mermaid charts of a page."""
    return re.findall(r"^```mermaid\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_what_is_odd_is_escaped(monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    """A line of a chart has one shape, whatever the names hold; a row of a table as many cells as its head."""
    monkeypatch.chdir(TESTS / "routes" / "odd" / "input")
    page = llmaz("routes", "--format", "markdown").out
    lines = [line for chart in charts(page) for line in chart.splitlines()]
    assert len(lines) > 40
    assert [line for line in lines if not any(re.fullmatch(shape, line) for shape in SHAPES)] == []
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) > 20
    assert {line.count("|") for line in rows} == {
        8,
        7,
    }  # who may call differs on the first Gateway, weights on the other


def test_many_models(folder: Path, llmaz: Llmaz) -> None:
    """Enough for several processes: sorted all the same, and no chart larger than Mermaid draws."""
    (folder / "llmaz.yaml").write_text(CONFIG)
    names = [(f"chat-{i}", f"team-{i % 7}", f"model-{i}.5") for i in range(250)]
    (folder / "p.yaml").write_text("".join(playground(*args) for args in names))
    page = llmaz("routes", "--format", "markdown").out
    assert max(len(chart) for chart in charts(page)) < 50_000
    assert max(chart.count("-->") for chart in charts(page)) < 500
    for _, _, served in names:
        assert page.count(f"| `{served}` |") == 1
        assert sum(f'(["{served}<br>' in chart for chart in charts(page)) == 1
    routes = json.loads(llmaz("routes", "--format", "json").out)["routes"]
    order = [(route["gateway"]["name"], route["name"]) for route in routes]
    assert order == sorted(order)
    assert len(order) == 250
    table = llmaz("routes").out.splitlines()
    assert [line for line in table if line.startswith("Gateway")] == [
        "Gateway llmaz-system/first on any host",
        "Gateway llmaz-system/llmaz-gateway on any host",
    ]
    assert max(len(line) for line in table) < 120


def test_a_model_more_leaves_the_others_alone(folder: Path, llmaz: Llmaz) -> None:
    """Charts are read in diffs: what is there keeps its lines."""
    (folder / "llmaz.yaml").write_text(CONFIG)
    (folder / "p.yaml").write_text(playground("b", "team-1", "b") + playground("d", "team-1", "d"))
    before = charts(llmaz("routes", "--format", "markdown").out)[0].splitlines()
    (folder / "q.yaml").write_text(playground("c", "team-1", "c"))
    after = charts(llmaz("routes", "--format", "markdown").out)[0].splitlines()
    assert [line for line in after if line in before] == before
    assert len(after) == len(before) + 3


def test_problems_are_those_of_validate(folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text(CONFIG)
    (folder / "p.yaml").write_text(
        playground("a", "team-1", "same") + playground("b", "team-1", "same") + playground("c", "team-1", "c", "nobody")
    )
    done, validated = llmaz("routes"), llmaz("validate")
    assert (done.code, done.out) == (2, "")
    assert done.err == validated.err
    assert "[E625]" in done.err
    assert "[E203]" in done.err


def test_warnings(folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text(CONFIG)
    (folder / "p.yaml").write_text(playground("a", "team-1", "a") + "  backendRuntimeConfig: {backendName: tgi}\n")
    done = llmaz("routes")
    assert (done.code, "[W230]" in done.err, bool(done.out)) == (0, True, True)
    done = llmaz("routes", "--strict")
    assert (done.code, done.out) == (2, "")


def test_no_routes(folder: Path, llmaz: Llmaz) -> None:
    (folder / "p.yaml").write_text(playground("a", "team-1", "a"))
    off = ("routes", "--set", "gateway.mode=off")
    done = llmaz(*off)
    assert (done.code, done.out) == (0, "")
    assert done.err == "0 public names on 0 Gateways; 1 app without a route (gateway.mode: off)\n"
    assert llmaz(*off, "--format", "markdown").out == "# Routes\n\nNo model is routed.\n"
    assert json.loads(llmaz(*off, "--format", "json").out) == {
        "routes": [],
        "reserved": [],
        "withoutRoute": [{"kind": "Playground", "namespace": "team-1", "name": "a", "why": "gateway.mode: off"}],
        "replaced": [],
    }


def test_no_input(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("routes")
    assert (done.code, done.err) == (2, llmaz("validate").err)
    assert llmaz("routes", "--allow-empty").code == 0


ROUTE = """\
---
apiVersion: renderer.llmaz.io/v1alpha1
kind: ModelRoute
metadata: {{name: way, namespace: team-1}}
spec: {{modelName: {name}, backends: [{backends}]}}
"""
NAME = """\
---
apiVersion: inference.networking.x-k8s.io/{version}
kind: InferenceModel
metadata: {{name: way, namespace: team-1}}
spec: {{modelName: {name}, poolRef: {{name: {pool}}}, targetModels: [{targets}]}}
"""
VARIANTS = """\
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: big}
spec:
  familyName: family
  source: {modelHub: {modelID: org/big}}
  inferenceConfig:
    flavors:
      - {name: h100, limits: {nvidia.com/gpu: 1}}
      - {name: l40s, limits: {nvidia.com/gpu: 2}}
"""
ELSEWHERE = "provider: {schema: OpenAI, hostname: api.example.com, modelName: m, auth: {type: APIKey, secretName: key}}"


def way(name: str, *backends: str) -> str:
    return ROUTE.format(name=name, backends=", ".join(f"{{{backend}}}" for backend in backends))


def named(name: str, pool: str, *targets: str, version: str = "v1alpha2") -> str:
    return NAME.format(name=name, pool=pool, targets=", ".join(f"{{{target}}}" for target in targets), version=version)


@pytest.fixture
def routes_json(folder: Path, llmaz: Llmaz) -> Callable[..., Any]:
    """What --format json says of PATHS."""
    (folder / "llmaz.yaml").write_text(CONFIG)

    def ask(*paths: str) -> Any:
        done = llmaz("routes", "--format", "json", *paths)
        assert done.code == 0, done.err
        return json.loads(done.out)

    return ask


def test_every_node_of_a_chart_is_said_once(monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    """Several names may lead to one backend, and owners of several kinds may be called alike."""
    monkeypatch.chdir(TESTS / "routes" / "ways" / "input")
    for chart in charts(llmaz("routes", "--format", "markdown").out):
        lines = chart.splitlines()
        assert [line for line in lines if not any(re.fullmatch(shape, line) for shape in SHAPES)] == []
        nodes = re.findall(r"^ +([a-z][\w.]*)[\[(]", chart, re.MULTILINE)
        assert len(nodes) == len(set(nodes))
        led = re.findall(r"(?:-->|-->\|.*\|) ([a-z][\w.]*)$", chart, re.MULTILINE)
        assert set(led) - {"gateway"} <= set(nodes)


def test_every_backend_has_every_key(monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(TESTS / "routes" / "ways" / "input")
    routes = json.loads(llmaz("routes", "--format", "json").out)["routes"]
    assert len({tuple(route) for route in routes}) == 1
    assert len({tuple(backend) for route in routes for backend in route["backends"]}) == 1


def test_what_lies_outside_of_paths(folder: Path, routes_json: Callable[..., Any]) -> None:
    """A route shows the apps outside of PATHS that it leads to; an app that a route outside leads to has one."""
    (folder / "apps.yaml").write_text(playground("a", "team-1", "a") + playground("b", "team-1", "b"))
    (folder / "way.yaml").write_text(way("both", "playground: a", "playground: b, weight: 2"))
    whole, ways, apps = routes_json(), routes_json("way.yaml"), routes_json("apps.yaml")
    assert [backend["model"] for backend in whole["routes"][0]["backends"]] == ["qwen3-8b", "qwen3-8b"]
    assert ways == whole
    assert apps == {"routes": [], "reserved": [], "withoutRoute": [], "replaced": []}


def test_variants_outside_of_paths(folder: Path, routes_json: Callable[..., Any]) -> None:
    """Found by the names of their workloads; an app whose name begins alike is another."""
    (folder / "apps.yaml").write_text(
        VARIANTS
        + playground("a-h", "team-1", "a-h")
        + playground("a", "team-1", "a", "big")
        + "  flavorPolicy: variants\n"
    )
    (folder / "way.yaml").write_text(way("both", "playground: a"))
    backends = routes_json("way.yaml")["routes"][0]["backends"]
    assert [(backend["name"], backend["app"]["name"], backend["model"]) for backend in backends] == [
        ("a-h100", "a", "big"),
        ("a-l40s", "a", "big"),
    ]


def test_what_only_reserves_a_name_leads_nowhere(folder: Path, routes_json: Callable[..., Any]) -> None:
    """Not even to the app whose own name it is: that one has no route, within PATHS or outside of them."""
    (folder / "apps.yaml").write_text(playground("a", "team-1", "a"))
    (folder / "way.yaml").write_text(named("a", "a", "name: a, weight: 0", version="v1alpha1"))
    apart = [{"kind": "Playground", "namespace": "team-1", "name": "a", "why": "its name is reserved"}]
    whole = routes_json()
    assert (whole["routes"], whole["withoutRoute"]) == ([], apart)
    assert [entry["owner"] for entry in whole["reserved"]] == [
        {"kind": "InferenceModel", "namespace": "team-1", "name": "way"}
    ]
    assert routes_json("apps.yaml") == {"routes": [], "reserved": [], "withoutRoute": apart, "replaced": []}


def test_many_ways(folder: Path, routes_json: Callable[..., Any]) -> None:
    """Enough for several processes: what one leads to, another may have planned."""
    apps = [playground(f"chat-{i}", "team-1", f"own-{i}") for i in range(120)]
    ways = [
        way(f"model-{i:03}", f"playground: chat-{i}", f"playground: chat-{(i + 60) % 120}").replace("way", f"way-{i}")
        for i in range(60)
    ]
    (folder / "in.yaml").write_text("".join(apps + ways))
    report = routes_json()
    assert [route["name"] for route in report["routes"]] == [f"model-{i:03}" for i in range(60)]
    assert {backend["model"] for route in report["routes"] for backend in route["backends"]} == {"qwen3-8b"}
    assert report["withoutRoute"] == []


WRONG = {
    "E640": way("big", "playground: nobody"),
    "E643": way("big", "playground: shut"),
    "E645": way("big", "playground: a, weight: 0"),
    "E646": way("big", "playground: a", "playground: a"),
    "E625": way("other", "playground: a"),
    "E649": way("big", "playground: a", f"{ELSEWHERE}, priority: 2", f"{ELSEWHERE}, priority: 1").replace(
        "modelName: big", "modelName: big, retries: {attempts: 1}"
    ),
    "E656": named("big", "a", "name: a, weight: 0"),
    "E658": named("big", "nobody"),
    "E660": named("big", "a", "name: nobody"),
    "E307": way("big", "playground: a, service: a"),
}


@pytest.mark.parametrize("code", WRONG)
def test_problems_of_routes_are_those_of_render(code: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text(CONFIG)
    apps = playground("a", "team-1", "a") + playground("shut", "team-1", "shut") + "  gateway: {mode: 'off'}\n"
    (folder / "p.yaml").write_text(apps + playground("other", "team-1", "other"))
    (folder / "way.yaml").write_text(WRONG[code])
    done, validated = llmaz("routes"), llmaz("validate")
    assert (done.code, done.out, done.err) == (2, "", validated.err)
    assert re.search(rf"^way.yaml:\d+:\d+: .* \[{code}\]$", done.err, re.MULTILINE)
