"""`llmaz routes`: every folder below routes/ holds an input, and what the command prints of it in each format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

HERE = Path(__file__).resolve().parent
CASES = sorted(path.parent.name for path in HERE.glob("routes/*/input"))
FORMS = {"table": "routes.txt", "markdown": "routes.md", "json": "routes.json"}
CONFIG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec:
  gateway: {mode: backend, perNamespace: {team-0: {name: first}}}
"""
PLAYGROUND = """\
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  modelClaim: {{modelName: {model}}}
  servedModelName: {served}
"""


def playground(name: str, namespace: str, served: str, model: str = "qwen3-8b") -> str:
    return PLAYGROUND.format(name=name, namespace=namespace, served=served, model=model)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_routes(case: str, form: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz, golden: Golden) -> None:
    monkeypatch.chdir(HERE / "routes" / case / "input")
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
    monkeypatch.chdir(HERE / "routes" / "odd" / "input")
    page = llmaz("routes", "--format", "markdown").out
    node, label = r"[a-z][\w.]*", r'"(?:[\w .:/@+,–…-]|<br>|#\d+;)*"'
    shapes = (
        r"flowchart LR",
        r'  clients\(\["clients"\]\) --> gateway',
        rf"  subgraph gateway\[{label}\]",
        rf"    {node}\(\[{label}\]\)",
        r"  end",
        rf'  {node} -->(?:\|"\d+ of \d+"\|)? {node}(?:\[{label}\])?',
        rf"  {node}\[\({label}\)\]",
    )
    lines = [line for chart in charts(page) for line in chart.splitlines()]
    assert len(lines) > 40
    assert [line for line in lines if not any(re.fullmatch(shape, line) for shape in shapes)] == []
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) > 20
    assert {line.count("|") for line in rows} == {9}


def test_many_models(here: Path, llmaz: Llmaz) -> None:
    """Enough for several processes: sorted all the same, and no chart larger than Mermaid draws."""
    (here / "llmaz.yaml").write_text(CONFIG)
    names = [(f"chat-{i}", f"team-{i % 7}", f"model-{i}.5") for i in range(250)]
    (here / "p.yaml").write_text("".join(playground(*each) for each in names))
    page = llmaz("routes", "--format", "markdown").out
    assert max(len(chart) for chart in charts(page)) < 50_000
    assert max(chart.count("-->") for chart in charts(page)) < 500
    for _, _, served in names:
        assert page.count(f"| `{served}` |") == 1
        assert sum(f'(["{served}<br>' in chart for chart in charts(page)) == 1
    routes = json.loads(llmaz("routes", "--format", "json").out)["routes"]
    order = [(each["gateway"]["name"], each["name"]) for each in routes]
    assert order == sorted(order)
    assert len(order) == 250
    table = llmaz("routes").out.splitlines()
    assert [line for line in table if line.startswith("Gateway")] == [
        "Gateway llmaz-system/first on any host",
        "Gateway llmaz-system/llmaz-gateway on any host",
    ]
    assert max(len(line) for line in table) < 120


def test_a_model_more_leaves_the_others_alone(here: Path, llmaz: Llmaz) -> None:
    """Charts are read in diffs: what is there keeps its lines."""
    (here / "llmaz.yaml").write_text(CONFIG)
    (here / "p.yaml").write_text(playground("b", "team-1", "b") + playground("d", "team-1", "d"))
    before = charts(llmaz("routes", "--format", "markdown").out)[0].splitlines()
    (here / "q.yaml").write_text(playground("c", "team-1", "c"))
    after = charts(llmaz("routes", "--format", "markdown").out)[0].splitlines()
    assert [line for line in after if line in before] == before
    assert len(after) == len(before) + 3


def test_problems_are_those_of_validate(here: Path, llmaz: Llmaz) -> None:
    (here / "llmaz.yaml").write_text(CONFIG)
    (here / "p.yaml").write_text(
        playground("a", "team-1", "same") + playground("b", "team-1", "same") + playground("c", "team-1", "c", "nobody")
    )
    done, told = llmaz("routes"), llmaz("validate")
    assert (done.code, done.out) == (2, "")
    assert done.err == told.err
    assert "[E625]" in done.err
    assert "[E203]" in done.err


def test_warnings(here: Path, llmaz: Llmaz) -> None:
    (here / "llmaz.yaml").write_text(CONFIG)
    (here / "p.yaml").write_text(playground("a", "team-1", "a") + "  backendRuntimeConfig: {backendName: tgi}\n")
    done = llmaz("routes")
    assert (done.code, "[W230]" in done.err, bool(done.out)) == (0, True, True)
    done = llmaz("routes", "--strict")
    assert (done.code, done.out) == (2, "")


def test_no_routes(here: Path, llmaz: Llmaz) -> None:
    (here / "p.yaml").write_text(playground("a", "team-1", "a"))
    off = ("routes", "--set", "gateway.mode=off")
    done = llmaz(*off)
    assert (done.code, done.out) == (0, "")
    assert done.err == "0 public names on 0 Gateways; 1 app without a route (gateway.mode: off)\n"
    assert llmaz(*off, "--format", "markdown").out == "# Routes\n\nNo model is routed.\n"
    assert json.loads(llmaz(*off, "--format", "json").out) == {
        "routes": [],
        "withoutRoute": [{"kind": "Playground", "namespace": "team-1", "name": "a"}],
    }


def test_no_input(here: Path, llmaz: Llmaz) -> None:
    done = llmaz("routes")
    assert (done.code, done.err) == (2, llmaz("validate").err)
    assert llmaz("routes", "--allow-empty").code == 0
