"""The copy of docs/ from which the site is built, and the check of the built one."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from renderer import __version__
from renderer.diagnostics import addresses
from renderer.diagnostics.addresses import page_address
from scripts import check_site, make_site, rank_search
from tests.paths import ROOT
from tests.test_docs import PAGES

PUBLISHED = "https://docs.example/llmaz/"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_site, "SITE", folder)
        patch.setattr(make_site, "REPOSITORY", "")
        make_site.main()
    return folder


def navigation() -> list[str]:
    """The pages that mkdocs.yml leads to."""
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    return re.findall(r"^ +- [^\n]*: ([\w/.-]+\.md)$", text[text.index("\nnav:") :], re.MULTILINE)


def test_one_address() -> None:
    """Until somebody publishes the site, no program and no page names an address."""
    assert yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["site_url"] == addresses.SITE
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project.get("urls", {}).get("Documentation", "") == addresses.SITE
    assert page_address("E203") == (f"{addresses.SITE}errors/E203/" if addresses.SITE else "")


def test_a_site_that_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "SITE", "https://docs.example/llmaz/")
    assert page_address("E203") == "https://docs.example/llmaz/errors/E203/"


def test_every_page_of_the_documentation_is_in_the_navigation_once(copy: Path) -> None:
    pages = navigation()
    assert sorted(pages) == sorted(set(pages))
    documented = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES}
    assert documented <= set(pages)
    assert [page for page in pages if not (copy / page).exists()] == []


def test_no_link_leads_out_of_the_copy(copy: Path) -> None:
    broken = []
    for path in copy.rglob("*.md"):
        links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", make_site.FENCE.sub("", path.read_text("utf-8")))
        own_links = [link for link in links if not link.startswith("https://")]
        broken += [f"{path.relative_to(copy)}: {link}" for link in own_links if not (path.parent / link).exists()]
    assert broken == []


def test_the_first_page_has_its_two_columns(copy: Path) -> None:
    page = (copy / "index.md").read_text("utf-8")
    assert page.count("<div markdown>") == 2
    assert page.count("<div") == page.count("</div>") == 3
    assert "<td" not in page


SEARCHES: dict[str, str] = json.loads((ROOT / "scripts" / "searches.json").read_text("utf-8"))


@pytest.mark.parametrize("words", SEARCHES)
def test_words_of_users_are_in_the_heading_that_they_lead_to(words: str, copy: Path) -> None:
    """Else a heading of another page, or an error's, comes first: the search sorts by hits in headings."""
    page, _, anchor = SEARCHES[words].partition("#")
    headings = re.findall(
        r"^#+ (.*?) \{#(.*)\}$|^(# E.*)$", (copy / f"{page.strip('/')}.md").read_text("utf-8"), re.MULTILINE
    )
    heading = next(text or code for text, its_anchor, code in headings if anchor in ("", its_anchor))
    titled = re.split(r"\W+", heading.lower())
    assert all(any(part.startswith(word) for part in titled) for word in words.lower().split())


def test_pages_are_found_before_error_codes() -> None:
    page = {"location": "pods/#x", "title": "X", "text": "x", "path": ["How to", "Write", "Pods"]}
    code = {"location": "errors/E203/", "title": "E203: no model: x", "text": "<p>y</p>", "path": ["E203: no model: x"]}
    part = {"location": "errors/E203/#cause", "title": "Cause", "text": "x", "path": ["E203: no model: x"]}
    table = {"location": "errors/", "title": "Errors", "text": "x", "path": ["Reference", "Errors"]}
    assert list(rank_search.ranked([page, code, part, table])) == [
        {**page, "path": ["Pods"]},
        {**code, "title": "E203", "text": "<p>no model: x</p> <p>y</p>", "path": ["Errors"]},
        {**table, "path": ["Errors"]},
    ]


def test_links_lead_to_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    repository = "https://git.example/org/llmaz-renderer"
    monkeypatch.setattr(make_site, "REPOSITORY", repository)
    assert make_site.site_link("checks.md", "../tests/README.md#goldens") == (
        f"{repository}/blob/v{__version__}/tests/README.md#goldens"
    )
    assert make_site.site_link("checks.md", "../presets") == f"{repository}/tree/v{__version__}/presets"
    assert make_site.site_link("engines/vllm.md", "../errors.md#e444") == "../errors/E444.md"
    assert make_site.site_link("checks.md", "../examples/README.md") == "examples/index.md"
    assert make_site.site_link("engines/vllm.md", "../pods.md#x") == "../pods.md#x"
    assert make_site.site_link("checks.md", "https://example.com/x") == "https://example.com/x"


def test_links_lead_to_copies_without_an_address(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_site, "REPOSITORY", "")
    assert make_site.site_link("engines/vllm.md", "../../presets/backends/vllm.yaml") == (
        "../repository/presets/backends/vllm.yaml.txt"
    )
    preset = (ROOT / "presets" / "backends" / "vllm.yaml").read_text("utf-8")
    assert (copy / "repository" / "presets" / "backends" / "vllm.yaml.txt").read_text("utf-8") == preset
    assert "examples/quickstart/chat.yaml" in (copy / "repository" / "examples" / "quickstart.txt").read_text("utf-8")


def test_every_chart_has_its_picture() -> None:
    charts = [
        chart
        for page in PAGES
        for chart in re.findall(r"^```mermaid\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    ]
    expected = {make_site.diagram_file(chart) for chart in charts}
    assert expected == {f"diagrams/{path.name}" for path in (ROOT / "docs" / "diagrams").iterdir()}


def test_made_pages(copy: Path) -> None:
    assert len(list((copy / "errors").iterdir())) == len(make_site.CODES)
    page = (copy / "errors" / "E203.md").read_text("utf-8")
    assert "# E203: no OpenModel is named" in page
    assert "+    modelName: qwen3-0--6b" in page
    assert {path.stem for path in (copy / "examples").iterdir()} == {
        "index",
        *(path.name for path in (ROOT / "examples").iterdir() if path.is_dir()),
    }
    assert "kind: LeaderWorkerSet" in (copy / "examples" / "quickstart.md").read_text("utf-8")
    assert "## spec.source {#spec-source}" in (copy / "reference" / "openmodel.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone/">x</a>', "index.html: gone/: no such page"),
        ('<a href="#gone">x</a>', "index.html: #gone: no such anchor"),
        ('<script src="https://example.com/x.js"></script>', "index.html: loads https://example.com/x.js"),
        ('<img src="//example.com/x.png">', "index.html: loads //example.com/x.png"),
        (f'<a href="{PUBLISHED}gone/">x</a>', f"index.html: {PUBLISHED}gone/: no such page"),
    ],
)
def test_faults_of_a_site(body: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_site, "SITE", PUBLISHED)
    (tmp_path / "index.html").write_text(f'<a id="x"></a><a href="#x">x</a>{body}')
    assert check_site.faults(tmp_path)[0] == [fault]


def test_a_site_without_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_site, "SITE", PUBLISHED)
    (tmp_path / "index.html").write_text(
        f'<a id="x"></a><a href="#x"></a><a href="https://example.com/"></a><a href="{PUBLISHED}">x</a>'
    )
    assert check_site.faults(tmp_path) == ([], 3 - 1)


def test_a_site_that_nobody_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page for unknown addresses links from the root."""
    monkeypatch.setattr(check_site, "SITE", "")
    (tmp_path / "index.html").write_text('<a href="/"></a><a href="/gone/"></a>')
    assert check_site.faults(tmp_path) == (["index.html: /gone/: no such page"], 2)
