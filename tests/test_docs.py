"""README.md and docs/ say what the program does: their examples run, their tables are those of the code.

Every YAML and console block is tried. What happens to it stands in the HTML comment above it:

    render         rendered without a problem, together with the quickstart when it holds a RenderConfig only
    render: W230   rendered, with warnings of that code and nothing else
    output         its lines stand in what the last `render` of the page made, in that order
    adopt          adopted; the lines of `output` blocks behind it stand in the files that are written, in that order
    refused: E406  refused, with that code (`E434, W230`: an error beside a warning)
    config         a valid llmaz.yaml
    file: PATH     written to the page's folder
    steps          its `run:` and `entry:` that begin with llmaz succeed in the page's folder
    example input, example output, mistake
                   of README.md and docs/index.md, tried by their own tests below

A `console` block runs in the page's folder, which begins as a copy of the quickstart; `…` stands for any lines.
`pytest --snapshot-update` writes what the commands print now into the pages.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pytest
import yaml

from renderer import schema_validation, yamlio
from renderer.diagnostics.wordings import WORDINGS
from renderer.resolve.engine import template_words
from renderer.resolve.pod import loaders
from scripts.make_error_pages import slug
from tests.console import Shell

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ROOT = Path(__file__).resolve().parent.parent
QUICKSTART = ROOT / "examples" / "quickstart"
FIRST_EXAMPLE = ROOT / "examples" / "vllm-tools"
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
ENGINES = sorted((DOCS / "engines").glob("*.md"))
LINKED = [
    README,
    ROOT / "CONTRIBUTING.md",
    *PAGES,
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "tests").rglob("README.md")),
]
# Prints the help of the next release of an engine, in place of `docker run vllm/… --help=all`.
DOCKER = f"""\
#!{sys.executable}
import sys

sys.path.insert(0, {str(ROOT)!r})
from tests.engine_helps import help_of

sys.stdout.write(help_of("vllm", "--kv-tiers N   how many"))
"""
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]+?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_CODE = re.compile(r"\b[ENW]\d{3}\b")


Node: TypeAlias = Mapping[str, Any]


class Block(NamedTuple):
    """A fenced block of a page. `mark`: the words of the comment above it; `line`: where its text begins."""

    page: Path
    mark: str
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(page, match["mark"] or "", match["language"], match["text"], text.count("\n", 0, match.start("text")) + 1)
        for match in _FENCE.finditer(text)
    ]


ALL = [block for page in PAGES for block in blocks(page)]


def marked(word: str) -> list[Block]:
    """The blocks of all pages whose mark begins with the word."""
    return [block for block in ALL if block.mark.partition(":")[0] == word]


def between(page: str, name: str) -> str:
    """What stands between `<!-- name -->` and `<!-- /name -->`, all of it where the marks are there several times."""
    parts = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)
    assert parts, f"{page} has no part '{name}'"
    return "".join(parts)


def rows(page: str, name: str) -> list[list[str]]:
    """The cells of the table between the marks, less its head."""
    lines = [line for line in between(page, name).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    lined = [i for i, row in enumerate(cells) if set(row[0]) == {"-"}]
    return [row for i, row in enumerate(cells) if i not in lined and i + 1 not in lined]


def plain(cell: str) -> str:
    """A cell without the marks of code."""
    return cell.replace("`", "")


def in_order(expected: str, text: str) -> str:
    """The first line of `expected` that does not come in `text` behind the ones before it; '' when all do."""
    lines = iter(text.splitlines())
    for line in expected.splitlines():
        if line and line not in lines:
            return line
    return ""


def documents(text: str) -> list[tuple[str, str]]:
    """Kind and text of each document."""
    parts = [part for part in re.split(r"^---\n", text, flags=re.MULTILINE) if part.strip()]
    return [(yaml.safe_load(part)["kind"], part) for part in parts]


def laid_out(block: Block, folder: Path) -> None:
    """Writes the documents of a block into the folder: RenderConfig to llmaz.yaml, the others to page.yaml; and the
    template of the block before it.
    """
    page = blocks(block.page)
    before = page[page.index(block) - 1]
    if before.mark.startswith("file: ") and before.language == "jinja":
        path = folder / before.mark.removeprefix("file: ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(before.text, "utf-8")
    parts = documents(block.text)
    configs = [part for kind, part in parts if kind == "RenderConfig"]
    others = [part for kind, part in parts if kind != "RenderConfig"]
    if configs:
        (folder / "llmaz.yaml").write_text("---\n".join(configs), "utf-8")
    if others:
        (folder / "page.yaml").write_text("---\n".join(others), "utf-8")
    else:
        shutil.copy(QUICKSTART / "chat.yaml", folder)


def presets(folder: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and spec of each preset."""
    for path in sorted((ROOT / "presets" / folder).glob("*.yaml"), key=lambda path: path.stem):
        document = yamlio.parse(path.name, path.read_bytes())[0][0]
        yield document.value["metadata"]["name"], document.value["spec"]


# The blocks


def test_every_block_is_tried() -> None:
    known = ("render", "adopt", "output", "refused", "config", "file", "steps", "example input", "example output")
    left = [str(b) for b in ALL if b.language == "yaml" and b.mark.partition(":")[0] not in known]
    assert left == []
    assert {block.language for block in ALL} <= {"yaml", "console", "sh", "mermaid", "jinja"}


@pytest.mark.parametrize("block", marked("render"), ids=str)
def test_example_renders(block: Block, folder: Path, llmaz: Llmaz) -> None:
    laid_out(block, folder)
    if warned := block.mark.partition(": ")[2]:
        done = llmaz("render", "--stdout")
        assert (done.code, set(_CODE.findall(done.err))) == (0, {warned}), done.err
    else:
        done = llmaz("render", "--strict", "--stdout")
        assert (done.code, done.err) == (0, "")
    page = blocks(block.page)
    for after in page[page.index(block) + 1 :]:
        if after.mark != "output":
            break
        assert in_order(after.text, done.out) == ""


@pytest.mark.parametrize("block", marked("adopt"), ids=str)
def test_example_is_adopted(block: Block, folder: Path, llmaz: Llmaz) -> None:
    (folder / "running.yaml").write_text(block.text, "utf-8")
    done = llmaz("adopt", "running.yaml", "-o", "adopted")
    assert done.code < 2, done.err
    texts = [path.read_text("utf-8") for path in sorted((folder / "adopted").rglob("*.yaml"))]
    page = blocks(block.page)
    for after in page[page.index(block) + 1 :]:
        if after.mark != "output":
            break
        assert in_order(after.text, "".join(texts)) == ""
    done = llmaz("validate", "adopted")
    assert done.code == 0, done.err


@pytest.mark.parametrize("block", marked("refused"), ids=str)
def test_example_is_refused(block: Block, folder: Path, llmaz: Llmaz) -> None:
    laid_out(block, folder)
    done = llmaz("render", "--stdout")
    assert done.code == 2
    assert set(_CODE.findall(done.err)) == set(block.mark.partition(": ")[2].split(", ")), done.err


def test_outputs_follow_what_is_rendered() -> None:
    for page in PAGES:
        marks = [block.mark for block in blocks(page)]
        before = [marks[i - 1].partition(":")[0] for i, mark in enumerate(marks) if mark == "output"]
        assert set(before) <= {"render", "adopt", "output"}, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands(page: Path, folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    shutil.copy(QUICKSTART / "chat.yaml", folder)
    shell = Shell(tmp_path / "bin")
    (tmp_path / "bin" / "docker").write_text(DOCKER)
    (tmp_path / "bin" / "docker").chmod(0o755)
    wrong = []
    for block in blocks(page):
        if block.mark.startswith("file: "):
            target = folder / block.mark.removeprefix("file: ")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.mark == "steps":
            assert yaml.safe_load(block.text)
            steps = re.findall(r"^\s*(?:- )?(?:run|entry): (llmaz .*)$", block.text, re.MULTILINE)
            assert steps
            for step in steps:
                code, out = shell.run(step)
                assert code == 0, f"{block}: {step}\n{out}"
        elif block.language == "console" and block.mark != "mistake":
            shown = shell.session(block.text)
            pattern = ".*?".join(re.escape(part) for part in re.split(r"^…\n", block.text, flags=re.MULTILINE))
            assert "[E901]" not in shown
            if not re.fullmatch(pattern, shown, re.DOTALL):
                wrong.append((block, shown))
    if request.config.option.update_snapshots:
        text = page.read_text("utf-8")
        for block, shown in wrong:
            assert "…\n" not in block.text, f"mend {block} by hand:\n{shown}"
            text = text.replace(f"```console\n{block.text}", f"```console\n{shown}")
        page.write_text(text, "utf-8")
    else:
        assert [f"{block}:\n{shown}" for block, shown in wrong] == []


# docs/config.md


def spec_of(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a kind's `spec`, and the whole schema."""
    whole = schema_validation.read_schema(f"input/{kind.lower()}")
    return whole["properties"]["spec"], whole


def resolved(node: Node, whole: Node) -> Node:
    """The node, or what its $ref leads to."""
    while "$ref" in node:
        node = whole["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node


def leaves(node: Node, whole: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every key, with its schema, below which the schema names no further keys."""
    for key, value in node["properties"].items():
        below = resolved(value, whole)
        key_path = f"{path}.{key}" if path else key
        if "properties" in below:
            yield from leaves(below, whole, key_path)
        else:
            yield key_path, below


def test_every_key_of_the_configuration_has_its_row() -> None:
    table = {plain(row[0]): plain(row[1]) for row in rows("config.md", "keys")}
    keys = dict(leaves(*spec_of("RenderConfig")))
    assert sorted(table) == sorted(keys)
    for key, node in keys.items():
        if "default" in node:
            assert table[key] == json.dumps(node["default"]).strip('"'), key
        else:
            assert table[key] in ("–", "the preset's"), key


def test_the_complete_configuration(folder: Path, llmaz: Llmaz) -> None:
    (block,) = marked("config")
    laid_out(block, folder)
    (folder / "extra").mkdir()
    (folder / "extra" / "words.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\n", "utf-8")
    done = llmaz("validate", "--strict")
    assert (done.code, done.err) == (0, "1 app, 21 objects: valid\n")
    spec = yaml.safe_load(block.text)["spec"]
    spec["gateway"]["auth"]["jwt"] = spec["gateway"]["perNamespace"]["search"]["auth"]["jwt"]  # not beside apiKeys
    spec["karpenter"]["instanceProfile"] = spec["karpenter"]["perFlavor"]["a100-80g"]["instanceProfile"]  # or a role
    spec["pods"]["caBundle"]["secret"] = "tenants"  # noqa: S105 - or a Secret's name
    for key, _ in leaves(*spec_of("RenderConfig")):
        if key.startswith("modelCache.") and not key.startswith("modelCache.perPod."):
            continue  # one of three
        node = spec
        for part in key.split("."):
            assert part in node, f"{key} is missing"
            node = node[part]


def extensions(kind: str) -> set[str]:
    """The fields of a kind that llmaz's own API does not have, as their descriptions say."""
    spec, whole = spec_of(kind)
    return {
        f"spec.{key}"
        for key, node in spec["properties"].items()
        if "Extension:" in {**resolved(node, whole), **node}.get("description", "")
    }


def test_every_extension_is_listed() -> None:
    text = (ROOT / "docs" / "config.md").read_text("utf-8")
    part = text[text.index("## Extensions") : text.index("## Who wins")]
    listed: dict[str, set[str]] = {}
    for kinds, field in re.findall(r"^\| ([\w, ]+) \| `(spec\.\w+)[\w.]*` \|", part, re.MULTILINE):
        for kind in kinds.split(", "):
            listed.setdefault(kind, set()).add(field)
    assert listed == {kind: extensions(kind) for kind in ("OpenModel", "Playground", "Service", "BackendRuntime")}
    spec, whole = spec_of("OpenModel")
    for key, _ in leaves(resolved(spec["properties"]["facts"], whole), whole):
        assert f"`{key.rpartition('.')[2]}`" in part, key


# docs/presets.md


def test_the_words_of_engines() -> None:
    table = {plain(row[0]): plain(row[2]) for row in rows("presets.md", "words")}
    assert set(table) == template_words.WORDS


def test_what_words_are_where_they_mean_nothing(folder: Path, llmaz: Llmaz) -> None:
    """An engine that prints every word, for a model on the node's disk without hub, flavor or draft."""
    table = {plain(row[0]): plain(row[2]) for row in rows("presets.md", "words")}
    args = json.dumps([f"{word}=<{{{{ {word} }}}}>" for word in sorted(table)])
    meta = "metadata: {name: it}"
    (folder / "all.yaml").write_text(
        f"{{apiVersion: inference.llmaz.io/v1alpha1, kind: BackendRuntime, {meta}, spec: {{image: i, version: v1, "
        f"engine: {{drain: {{seconds: 30}}}}, recommendedConfigs: [{{name: default, args: {args}}}]}}}}\n---\n"
        f"{{apiVersion: llmaz.io/v1alpha1, kind: OpenModel, {meta}, spec: {{familyName: f, source: {{uri: host:///it}}}}}}\n---\n"
        f"{{apiVersion: inference.llmaz.io/v1alpha1, kind: Playground, {meta}, spec: {{modelClaim: {{modelName: it}}, "
        "backendRuntimeConfig: {backendName: it}}}\n"
    )
    done = llmaz("render", "--stdout")
    assert done.code == 0, done.err
    values = dict(re.findall(r"(\w+)=<(.*?)>", done.out))
    assert set(values) == set(table)
    for word, nothing in table.items():
        assert values[word] if nothing == "always there" else values[word] == nothing.strip("'"), word


def test_the_words_of_loaders() -> None:
    assert {plain(row[0]) for row in rows("presets.md", "loader words")} == loaders.WORDS


def test_every_key_of_engine_has_its_row() -> None:
    spec, whole = spec_of("BackendRuntime")
    engine = resolved(spec["properties"]["engine"], whole)
    listed = {key for row in rows("presets.md", "engine keys") for key in re.findall(r"`(\w+)`", row[0])}
    assert listed == set(engine["properties"])
    text = (ROOT / "docs" / "presets.md").read_text("utf-8")
    for key, node in engine["properties"].items():
        below = resolved(node, whole)
        below = resolved(below.get("items", below), whole)
        for inner in below.get("properties", {}):
            assert re.search(rf"`{inner}`|\b{inner}:", text), f"{key}.{inner}"


def test_the_backends() -> None:
    expected = []
    for name, spec in presets("backends"):
        engine = spec["engine"]
        accelerators = ", ".join(dict.fromkeys(variant["accelerator"] for variant in engine["variants"]))
        free = "; none needed" if any(variant.get("unflavored") for variant in engine["variants"]) else ""
        image = f"`{spec['image']}:{spec['version']}`"
        formats, sources = ", ".join(engine["formats"]), ", ".join(engine["sources"])
        expected.append([f"[`{name}`](engines/{name}.md)", image, formats, sources, accelerators + free])
    assert rows("presets.md", "backends") == expected


MISSING = 9  # the column of the fact that is missing, behind those of the types
TYPES = ("l4-24g", "l40s-48g", "h100-80g", "h200-141g", "b200-180g")


def test_the_models() -> None:
    expected = []
    for name, spec in sorted(presets("models"), key=lambda model: (model[1]["facts"]["kind"], model[0])):
        gated = ", gated" if spec["facts"].get("gated") else ""
        link = f"[{name}](https://huggingface.co/{spec['source']['modelHub']['modelID']}){gated}"
        expected.append([link, spec["facts"].get("licence", "–")])
    table = rows("models.md", "models")
    assert [[row[0], row[-1]] for row in table] == expected
    for row in table:  # a number, or the fact that is missing
        assert len(row) == MISSING + 3
        missing = row[MISSING]
        assert (missing == "–") == all(re.fullmatch(r"[0-9]+|–", cell) for cell in row[4:MISSING])
        assert missing == "–" or re.fullmatch(r"`[A-Za-z.]+`.*", missing)


@pytest.mark.parametrize("count", [1, 8])
def test_the_models_that_fit_are_those_that_are_listed(count: int, llmaz: Llmaz) -> None:
    lines = llmaz("presets", "list", "--fits", f"{count}xh200-141g").out.splitlines()
    column = 4 + TYPES.index("h200-141g")
    least = {row[0].partition("]")[0].removeprefix("["): row[column] for row in rows("models.md", "models")}
    listed = {line.split()[0] for line in lines}
    assert listed >= {name for name, cell in least.items() if cell == str(count)}
    assert listed <= {name for name, cell in least.items() if cell.isdigit() and int(cell) <= count}


def test_the_accelerators() -> None:
    document = yamlio.parse("accelerators", (ROOT / "presets" / "accelerators.yaml").read_bytes())[0][0]
    expected = [
        [f"`{row.get('name') or row['pattern']}`", row.get("vendor", "–"), row["count"]]
        for row in document.value["spec"]["resources"]
    ]
    assert rows("flavors.md", "accelerators") == expected


# docs/engines/


def test_every_engine_has_its_page() -> None:
    assert [page.stem for page in ENGINES] == [name for name, _ in presets("backends")]


@pytest.mark.parametrize("page", ENGINES, ids=lambda page: page.stem)
def test_a_page_of_an_engine_is_whole(page: Path) -> None:
    text = page.read_text("utf-8")
    for table in ("facts", "images", "probes", "metrics", "added"):
        assert re.search(rf"<!-- {table} -->\n(\|.*\n){{3,}}<!-- /{table} -->", text), table
    headings = [
        "An example",
        "Command line",
        "Images",
        "Weights",
        "Probes",
        "The end of a pod",
        "Requests at once",
        "Metrics",
        "What is added",
        "Environment and security",
        "Speculative decoding",
        "Other versions",
        "Seen running",
        "Limits",
    ]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == headings
    examples = [block for block in blocks(page) if block.mark.partition(":")[0] == "render"]
    assert any(f"backendName: {page.stem}" in block.text for block in examples)


# docs/updates.md


def test_the_regular_expressions_for_renovate_find_their_lines() -> None:
    named = {block.mark: block.text for block in blocks(DOCS / "updates.md")}
    managers = json.loads(named["file: renovate.json"])["customManagers"]
    lines = [
        match.groupdict()
        for manager in managers
        for pattern in manager["matchStrings"]
        for match in re.finditer(pattern.replace("(?<", "(?P<"), named["file: models/coder.yaml"])
    ]
    address = "https://huggingface.co/Qwen/Qwen2.5-Coder-7B-Instruct"
    revision = "c03e6d358207e414f1eca0bb1891e29f1db0e242"
    assert lines == [
        {"depName": "vllm/vllm-openai", "currentValue": "v0.32.0"},
        {"depName": address, "currentValue": "main", "currentDigest": revision},
    ]


# docs/errors.md and docs/deviations.md


def test_what_is_made_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make_docs.py", "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "run scripts/make_docs.py"


def test_codes_exist() -> None:
    for page in LINKED:
        assert set(_CODE.findall(page.read_text("utf-8"))) <= {*WORDINGS, "E901"}, page.name


def test_codes_that_say_nothing_by_themselves_are_explained() -> None:
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    intro = text[text.index("## Every code") : text.index("<!-- errors -->")]
    silent = {code for code, wording in WORDINGS.items() if wording.message == "{what}"}
    assert silent <= set(_CODE.findall(intro))


def test_refusals_name_their_codes() -> None:
    assert [row for row in rows("errors.md", "refusals") if not _CODE.search(row[2])] == []


def test_deviations_keep_their_numbers() -> None:
    text = (ROOT / "docs" / "deviations.md").read_text("utf-8")
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]
    assert listed == list(range(1, 15))
    compare = (ROOT / "tests" / "conformance" / "compare.py").read_text("utf-8")
    required = compare[compare.index("REQUIRED = [") :]
    printed = {int(number) for number in re.findall(r"\((\d+), (?:None|'pod'|LWS|SVC|HPA)", required)}
    assert printed
    assert printed <= set(listed)


def test_bugs_are_in_order() -> None:
    numbers = [int(number) for row in rows("deviations.md", "bugs") for number in row[0].split(", ")]
    assert numbers == sorted(set(numbers))


def test_the_number_of_conformance_cases() -> None:
    cases = sum(path.is_dir() for path in (ROOT / "tests" / "conformance" / "cases").iterdir())
    assert f"{cases} cases" in (ROOT / "docs" / "deviations.md").read_text("utf-8")


# README.md, and the first page of docs/, which is its first screen

FIRST_PAGES = pytest.mark.parametrize("page", [README, DOCS / "index.md"], ids=lambda page: page.name)


def marked_once(page: Path, mark: str) -> str:
    """The block of a page below this comment."""
    (block,) = [block for block in blocks(page) if block.mark == mark]
    return block.text


@FIRST_PAGES
def test_the_first_example_is_one_that_ships(page: Path) -> None:
    lines = (FIRST_EXAMPLE / "chat.yaml").read_text("utf-8").splitlines()
    bare = [re.sub(r"\s+#.*$", "", line) for line in lines if not line.startswith("#")]
    assert marked_once(page, "example input").splitlines() == bare


@FIRST_PAGES
def test_the_first_example_shows_what_comes_out(page: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIRST_EXAMPLE)
    done = llmaz("render", "--strict", "--stdout")
    assert done.code == 0, done.err
    # Shortened: without the pods' indentation, and `…` ends a line that is cut.
    rendered_lines = iter(line.strip() for line in done.out.splitlines())
    shown = [line.strip() for line in marked_once(page, "example output").splitlines() if not line.startswith("#")]
    for line in shown:
        cut = line.removesuffix("…")
        assert any(
            rendered_line.startswith(cut) if cut != line else rendered_line == line for rendered_line in rendered_lines
        ), line
    assert len(shown) > 20


@FIRST_PAGES
def test_the_first_mistake(page: Path, folder: Path, llmaz: Llmaz, request: pytest.FixtureRequest) -> None:
    text = marked_once(page, "example input")
    wrong = text.replace("--max-model-len", "--ctx-size")
    assert wrong != text
    assert "`--ctx-size` in place of `--max-model-len`" in page.read_text("utf-8")
    (folder / "chat.yaml").write_text(wrong, "utf-8")
    done = llmaz("render")
    assert done.code == 2
    shown = f"$ llmaz render\n{done.err}"
    if request.config.option.update_snapshots:
        page.write_text(page.read_text("utf-8").replace(marked_once(page, "mistake"), shown), "utf-8")
    else:
        assert shown == marked_once(page, "mistake")


def test_the_first_page_is_the_first_screen_of_readme() -> None:
    index = between("index.md", "first screen")
    assert all(part in index for part in ("comparison.md", "pictures/comment.png", "example input", "mistake"))
    assert "sed " not in (DOCS / "index.md").read_text("utf-8")


def test_readme_counts_the_examples() -> None:
    words = ["twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    units = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
    words += [f"{ten}{unit}" for ten in ("twenty", "thirty") for unit in units]
    count = sum(path.is_dir() for path in (ROOT / "examples").iterdir())
    assert f"{words[count - 12]} inputs" in README.read_text("utf-8")


# Links


def anchors(page: Path) -> set[str]:
    """Everything in a page that a link can lead to."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {slug(heading) for heading in headings} | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text("utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    broken = []
    for link in links:
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_can_be_found() -> None:
    text = README.read_text("utf-8")
    pages = [page.relative_to(ROOT).as_posix() for page in PAGES]
    assert [page for page in pages if f"({page})" not in text] == []


# The tests of these tests


def test_lines_out_of_order_are_found() -> None:
    assert in_order("a\nb\n", "a\nx\nb\n") == ""
    assert in_order("b\na\n", "a\nx\nb\n") == "a"
    assert in_order("c\n", "a\n") == "c"


def test_a_heading_becomes_an_anchor() -> None:
    assert slug("Is it up to date: --check") == "is-it-up-to-date---check"
    assert slug("A BackendRuntime without `spec.engine`") == "a-backendruntime-without-specengine"
