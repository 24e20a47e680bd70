"""`llmaz fleet --html`: the page's figures, links and public names, and what is never overwritten or run."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer import template
from renderer.fleet_page import MARK
from renderer.fleet_page.source_links import source_link
from tests import inputs
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

TREE = TESTS / "fleet" / "every-kind" / "input"
URL = "https://git.example/models/blob/main/{file}#L{line}"
MODEL = inputs.gpu_model("blue")
CHAT = inputs.playground("chat", model="blue")
HOSTILE = "</td></table><script>alert(1)</script>\"'&"
NEWLINE = "\n"
EMPTY = {"meta", "link", "input", "br", "rect"}


class Node:
    """An element, with its own text and that of elements in it."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes = tag, attributes
        self.parts: list[Node | str] = []

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, tag: str, style: str = "") -> Iterator[Node]:
        for part in self.parts:
            if isinstance(part, Node):
                if part.tag == tag and (not style or style in part.attributes.get("class", "").split()):
                    yield part
                yield from part.all(tag, style)


class Page(HTMLParser):
    """A page as a tree; a cell ends where the next one or its row ends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Node("", {})
        self.open = [self.root]
        self.feed(text)
        assert [node.tag for node in self.open] == [""], "each element ends"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td" and self.open[-1].tag == "td":
            self.open.pop()
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(node)
        if tag not in EMPTY:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr" and self.open[-1].tag == "td":
            self.open.pop()
        if tag not in EMPTY:
            assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)

    def table(self, name: str) -> tuple[list[str], list[list[Node]]]:
        """The heads of a table, and the cells of its rows."""
        (table,) = (node for node in self.root.all("table") if node.attributes["id"] == name)
        heads = [head.text for head in table.all("th")]
        rows = [list(row.all("td")) for row in table.all("tr")][1:]
        assert {len(row) for row in rows} == {len(heads)}
        return heads, rows

    def records(self, name: str) -> list[dict[str, str]]:
        heads, rows = self.table(name)
        return [dict(zip(heads, (cell.text for cell in row), strict=True)) for row in rows]

    def bars(self, key: str) -> dict[str, tuple[str, str, str]]:
        """Of a chart, by the name of each bar: its amount, its other figures, its share."""
        (figure,) = (node for node in self.root.all("figure") if f"By {key}" in node.text)
        texts = [[next(bar.all("span", style)).text for style in STYLES] for bar in figure.all("li")]
        return {name: (amount, rest, share) for name, amount, rest, share in texts}


STYLES = ("name", "amount", "rest", "share")


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "fleet.html"


@pytest.fixture
def page(every_kind: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> Page:
    """The page of a tree with everything that fleet counts."""
    monkeypatch.chdir(TREE)
    if not every_kind.exists():
        done = llmaz("fleet", "--html", str(every_kind), "--source-url", URL)
        assert (done.code, done.out) == (0, ""), done.err
    return Page(every_kind.read_text("utf-8"))


def grouped(text: str) -> str:
    return re.sub(r"\B(?=(\d{3})+\.)", ",", text)


def bounds(count: dict[str, int]) -> str:
    return str(count["min"]) if count["min"] == count["max"] else f"{count['min']}–{count['max']}"


def test_every_row_has_the_figures_of_json(page: Page, llmaz: Llmaz) -> None:
    rows = page.records("workloads")
    workloads = json.loads(llmaz("fleet", "--format", "json").out)["workloads"]
    assert len(rows) == len(workloads) == 19
    for row, workload in zip(rows, workloads, strict=True):
        assert row["Workload"] == f"{workload['namespace']}/{workload['name']}"
        assert (row["Environment"], row["Owner"]) == (workload["environment"], workload["owner"])
        assert (row["Model"], row["Pods"]) == (workload["model"], bounds(workload["pods"]))
        assert row["GPUs"] == bounds(workload["accelerators"]) + (" part" if workload["parts"] else "")
        hour, month = ({}, {}) if workload["price"] is None else workload["price"].values()
        assert row["An hour"] in ("no price", hour.get("min"), f"{hour.get('min')}–{hour.get('max')}")
        assert (row["An hour"] == "no price") is (workload["price"] is None)
        assert row["A month at most"] == grouped(month.get("max", ""))
        assert row["Fit"] == (workload["fit"] or "not known")


def test_totals(page: Page) -> None:
    """By hand, as in tests/fleet: 104.75 dollars × 730 hours."""
    tiles = {next(tile.all("dt")).text: [note.text for note in tile.all("dd")] for tile in page.root.all("dl")}
    assert tiles["A month with the most replicas"] == [
        "at least 76,467.50 USD",
        "71,868.50 with the fewest replicas",
        "98.45–104.75 an hour",
        "no price for 4 workloads on nvidia-gpu and mig",
    ]
    assert tiles["GPUs"][:2] == ["56–65", "and 2 parts of GPUs"]
    assert tiles["Workloads"][0] == "19"
    assert next(page.root.all("h1")).text == "19 workloads on 56–65 GPUs and 2 parts of GPUs"


def test_bars(page: Page) -> None:
    """By hand, of the table in tests/fleet: 92.80 of 104.75 dollars an hour are for H100, 5.49 for the owner search; 39
    are 2 + 2 + 32 + 2 + 1.
    """
    accelerators = page.bars("accelerator")
    assert list(accelerators) == ["h100-80g", "l4-24g", "nvidia-gpu", "mig"]  # the dearest first
    assert accelerators["h100-80g"] == ("67,744.00 USD", "5 workloads · 39 GPUs", "89 %")
    assert accelerators["mig"] == ("no price", "2 workloads · 2 parts of GPUs", "")
    assert page.bars("owner")["search"][0] == "824.90–4,007.70 USD"  # 2 × 0.215 + 0.70, and 5.49
    assert set(page.bars("environment")) == {"staging", "prod"}


def test_each_row_leads_to_its_input(page: Page) -> None:
    """Line 3 of apps.yaml is the first line after its comment."""
    _, rows = page.table("workloads")
    links = {row[0].text: next(row[0].all("a")).attributes["href"] for row in rows}
    lines = (TREE / "apps.yaml").read_text().split("\n")
    assert len(links) > 5
    for name, link in links.items():
        file, line = re.fullmatch(r"https://git\.example/models/blob/main/(.+)#L(\d+)", link).groups()  # type: ignore[union-attr]
        assert file == "apps.yaml"
        place = int(line) - 1
        assert lines[place].startswith("apiVersion:")
        app = re.sub(r"-(l4|spot|decode|prefill)$", "", name.removeprefix("llm/"))
        assert f"name: {app}" in lines[place + 2]


def test_public_names_and_where_they_lead(folder: Path, llmaz: Llmaz) -> None:
    """A route to two Playgrounds, nine of ten requests to one of them."""
    route = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: ModelRoute
metadata: {name: blue}
spec:
  modelName: blue
  backends: [{playground: chat, weight: 90}, {playground: next, weight: 10}]
"""
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{{gateway: {{mode: backend}}}}\n")
    (folder / "in.yaml").write_text("---\n".join([MODEL, CHAT, inputs.playground("next", model="blue"), route]))
    assert llmaz("fleet", "--html", "fleet.html").code == 0
    names = Page((folder / "fleet.html").read_text("utf-8")).records("names")
    assert [(row["Public name"], row["Leads to"], row["Weight"]) for row in names] == [
        ("blue", "chat", "90"),
        ("blue", "next", "10"),
    ]
    routes = json.loads(llmaz("routes", "--format", "json").out)["routes"]
    assert [row["name"] for row in routes] == ["blue"]


def test_nothing_is_loaded_and_only_our_script_runs(page: Page, every_kind: Path) -> None:
    (policy,) = (
        node.attributes["content"]
        for node in page.root.all("meta")
        if node.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for tag in ("style", "script"):
        (part,) = page.root.all(tag)
        digest = base64.b64encode(hashlib.sha256(part.text.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert set(rules) == {"default-src", "style-src", "script-src", "img-src", "base-uri", "form-action"}
    assert rules["img-src"] == "data:"
    text = every_kind.read_text("utf-8")
    assert not re.search(r"<[^>]* (?:style|on\w+)=", text)  # which the policy would forbid
    assert [node.attributes["href"] for node in page.root.all("link")] == ["data:,"]


def test_a_table_can_be_read_without_seeing_it(page: Page) -> None:
    html = next(page.root.all("html"))
    assert html.attributes["lang"] == "en"
    for table in page.root.all("table"):
        assert next(table.all("caption")).text.strip()
        assert {head.attributes["scope"] for head in table.all("th")} == {"col"}
    labels = {label.attributes["for"] for label in page.root.all("label")}
    controls = {node.attributes["id"] for tag in ("input", "select") for node in page.root.all(tag)}
    assert labels == controls
    for picture in page.root.all("svg"):
        assert picture.attributes.get("aria-label") or picture.attributes.get("aria-hidden") == "true"
    ids = [node.attributes["id"] for tag in ("h2", "table", "search", "input") for node in page.root.all(tag)]
    assert len(set(ids)) == len(ids)


def test_texts_of_others_are_texts(folder: Path, llmaz: Llmaz) -> None:
    """Owners, public names and files come from whoever opens a pull request."""
    config = "{fleet: {ownerLabel: team}, gateway: {mode: backend}}"
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{config}\n")
    owner = json.dumps(HOSTILE)
    chat = CHAT.replace("metadata: {name: chat", f"metadata: {{labels: {{team: {owner}}}, name: chat")
    chat += f"  servedModelName: {json.dumps('‮' + HOSTILE)}\n"
    assert owner in chat
    (folder / "{{ 7 * 7 }} <b>.yaml").write_text(f"{MODEL}---\n{chat}")
    done = llmaz("fleet", "--html", "fleet.html", "--source-url", "https://git.example/?at={file}&l={line}")
    assert done.code == 0, done.err
    page = Page((folder / "fleet.html").read_text("utf-8"))
    (row,), (name,) = page.records("workloads"), page.records("names")
    assert row["Owner"] == HOSTILE
    assert HOSTILE in page.bars("owner")
    assert name["Public name"] == f"\\u202e{HOSTILE}"  # which would turn the line around
    (link,) = (node.attributes["href"] for node in page.root.all("a") if node.text.endswith("/chat"))
    assert link == f"https://git.example/?at=%7B%7B%207%20%2A%207%20%7D%7D%20%3Cb%3E.yaml&l={MODEL.count(NEWLINE) + 2}"
    assert len(list(page.root.all("script"))) == 1


@pytest.mark.parametrize("mark", ["<b>", '"', "'", "&", "<!--", "{{ x }}", "{% raw %}", "\x1b[31m", "a\nb"])
def test_a_page_of_a_template(mark: str) -> None:
    text = template.fill_page(
        '<i title="{{ x }}">{% for part in parts %}{{ part }}{% endfor %}</i>', {"x": mark, "parts": [mark]}
    )
    (node,) = Page(text).root.all("i")
    shown = mark if mark.isprintable() else repr(mark)[1:-1]
    assert (node.attributes["title"], node.text) == (shown, shown)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://git.example/models", "has no {file}"),
        ("https://git.example/{line}", "has no {file}"),
        ("javascript:alert('{file}')", "does not begin with https:// or http://"),
        ("file:///srv/{file}", "does not begin with https:// or http://"),
        ("git.example/{file}", "does not begin with https:// or http://"),
        ("https:///{file}", "names no host"),
        ("https://{file}/models", "names no host"),
        ("https://[git/{file}", "is no address"),
        ("https://token@git.example/{file}", "holds a user"),
        ("https://git.example/a b/{file}", "has a character that addresses do not have"),
        ("https://git.example/\u202e{file}", "has a character that addresses do not have"),
        ("https://git.example/{revision}/{file}", "nothing is written in place of '{revision}'"),
        ("https://git.example/{file}}", "nothing is written in place of '}'"),
    ],
)
def test_no_address_of_files(url: str, words: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "in.yaml").write_text(f"{MODEL}---\n{CHAT}")
    done = llmaz("fleet", "--html", "fleet.html", "--source-url", url)
    assert (done.code, "[E706]" in done.err, words in done.err) == (2, True, True), done.err
    assert "token" not in done.err
    assert not (folder / "fleet.html").exists()


@pytest.mark.parametrize(
    ("file", "line", "link"),
    [
        ("models/a.yaml", 7, "https://h/models/a.yaml#L7"),
        ("a b#?&%.yaml", 7, "https://h/a%20b%23%3F%26%25.yaml#L7"),
        ("{line}.yaml", 7, "https://h/%7Bline%7D.yaml#L7"),
        ("a.yaml", 0, "https://h/a.yaml#L1"),  # no place
        ("../a.yaml", 7, ""),  # in another folder than the address speaks of
        ("/srv/a.yaml", 7, ""),
    ],
)
def test_the_address_of_a_line(file: str, line: int, link: str) -> None:
    assert source_link("https://h/{file}#L{line}", file, line) == link


def test_options_that_do_not_go_together(folder: Path, llmaz: Llmaz) -> None:
    (folder / "in.yaml").write_text(f"{MODEL}---\n{CHAT}")
    for words, message in (
        (("--source-url", URL), "--source-url is for the page of --html FILE"),
        (("--html", "f.html", "--by", "owner"), "leave --by and --format out"),
        (("--html", "f.html", "--format", "json"), "leave --by and --format out"),
        (("--html", ""), "--html has no value"),
        (("--html", "f.html", "--source-url", ""), "--source-url has no value"),
    ):
        done = llmaz("fleet", *words)
        assert (done.code, message in done.err) == (2, True), done.err
    assert not (folder / "f.html").exists()


def test_one_environment(tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TREE)
    page = tmp_path / "fleet.html"
    assert llmaz("fleet", "--env", "staging", "--html", str(page)).code == 0
    rows = Page(page.read_text("utf-8")).records("workloads")
    assert {row["Environment"] for row in rows} == {"staging"}


def test_a_page_of_ours_is_written_anew(folder: Path, llmaz: Llmaz) -> None:
    (folder / "in.yaml").write_text(f"{MODEL}---\n{CHAT}")
    first, second = llmaz("fleet", "--html", "site/fleet.html"), llmaz("fleet", "--html", "site/fleet.html")
    assert first.err == "1 workload on 1 GPU → site/fleet.html\n"
    assert second.err == "1 workload on 1 GPU → site/fleet.html: unchanged\n"
    page = folder / "site" / "fleet.html"
    page.write_text(f"{MARK}\r\nanother")
    assert llmaz("fleet", "--html", "site/fleet.html").code == 0
    assert "another" not in page.read_text("utf-8")


def test_what_is_not_ours_stays(folder: Path, llmaz: Llmaz) -> None:
    (folder / "in.yaml").write_text(f"{MODEL}---\n{CHAT}")
    (folder / "index.html").write_text(f"<p>ours</p>{MARK}")
    (folder / "folder").mkdir()
    (folder / "linked.html").symlink_to("index.html")
    (folder / "linked").symlink_to("folder")
    for file, code in (
        ("index.html", "E796"),
        ("in.yaml", "E796"),
        ("folder", "E140"),
        ("new/", "E140"),
        ("linked.html", "E144"),
        ("linked/fleet.html", "E144"),
        ("in.yaml/fleet.html", "E140"),
        ("rendered/fleet.html", "E797"),
        ("/proc/fleet.html", "E140"),  # where nobody may write
    ):
        done = llmaz("fleet", "--html", file)
        assert (done.code, f"[{code}]" in done.err) == (2, True), done.err
    assert (folder / "index.html").read_text() == f"<p>ours</p>{MARK}"
    assert sorted(os.listdir(folder)) == ["folder", "in.yaml", "index.html", "linked", "linked.html"]
    assert os.listdir(folder / "folder") == []


def test_a_tree_with_errors_makes_no_page(folder: Path, llmaz: Llmaz) -> None:
    (folder / "in.yaml").write_text(inputs.playground("chat", model="nobodys"))
    done = llmaz("fleet", "--html", "fleet.html")
    assert (done.code, done.err.split("\n")[-2]) == (2, "1 error; nothing was written")
    assert not (folder / "fleet.html").exists()


def test_no_prices_no_owners_no_names(folder: Path, llmaz: Llmaz) -> None:
    """Neither columns nor words about what nobody has said."""
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{{gateway: {{mode: 'off'}}}}\n")
    (folder / "in.yaml").write_text(f"{MODEL}---\n{CHAT}")
    assert llmaz("fleet", "--html", "fleet.html").code == 0
    page = Page((folder / "fleet.html").read_text("utf-8"))
    (row,) = page.records("workloads")
    assert {"Owner", "Environment", "An hour", "A month at most"}.isdisjoint(row)
    assert not list(next(page.root.all("td")).all("a"))
    tiles = [next(tile.all("dt")).text for tile in page.root.all("dl")]
    assert tiles == ["GPUs", "Workloads", "Public names"]
    assert "1 app without a route (gateway.mode: off)." in next(page.root.all("main")).text
    assert page.bars("namespace") == {"default": ("1 GPU", "1 workload", "100 %")}


def test_an_empty_tree(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("fleet", "--allow-empty", "--html", "fleet.html")
    assert done.code == 0, done.err
    page = Page((folder / "fleet.html").read_text("utf-8"))
    assert next(page.root.all("h1")).text == "0 workloads on no GPUs"
    assert not list(page.root.all("table"))
    assert not list(page.root.all("figure"))


def test_many_owners_share_a_bar(folder: Path, llmaz: Llmaz) -> None:
    """Fifteen owners are twelve bars and one with the sum of the others, whose workloads are all in the table."""
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{{fleet: {{ownerLabel: team}}, gateway: {{mode: 'off'}}}}\n")
    apps = []
    for i in range(15):
        app = inputs.playground(f"chat-{i:02}", model="blue")
        apps.append(app.replace("metadata: {", f"metadata: {{labels: {{team: t{i:02}}}, "))
    (folder / "in.yaml").write_text("---\n".join([MODEL, *apps]))
    assert llmaz("fleet", "--html", "fleet.html").code == 0
    page = Page((folder / "fleet.html").read_text("utf-8"))
    bars = page.bars("owner")
    assert list(bars) == [*(f"t{i:02}" for i in range(12)), "3 others"]
    assert bars["3 others"] == ("3 GPUs", "3 workloads", "20 %")
    assert len(page.records("workloads")) == 15


def test_a_thousand_models_are_a_megabyte_at_most(folder: Path, llmaz: Llmaz) -> None:
    names = [f"chat-with-a-name-of-some-length-{i:04}" for i in range(1000)]
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{{fleet: {{ownerLabel: team}}, gateway: {{mode: backend}}}}\n")
    apps = [f"{inputs.playground(name, model='blue')}  servedModelName: {name}\n" for name in names]
    (folder / "in.yaml").write_text("---\n".join([MODEL, *apps]))
    done = llmaz("fleet", "--html", "fleet.html", "--source-url", URL)
    assert done.code == 0, done.err
    page = folder / "fleet.html"
    assert page.stat().st_size <= 1024 * 1024
    read = Page(page.read_text("utf-8"))
    assert [row["Workload"].partition("/")[2] for row in read.records("workloads")] == names
    assert len(read.records("names")) == 1000
