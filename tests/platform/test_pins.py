"""Nothing in what people copy from us moves or is secret, and charts/llmaz and its page say what is true of it."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts import make_chart_docs
from tests.platform.chart import (
    CHART,
    COMPONENTS,
    HERE,
    LOCATION,
    PARTS,
    ROOT,
    VALUES,
    chart_values,
    helm,
    notes,
    parts,
    render,
)
from tests.programs import tool

# --- nothing moves, nothing is secret -------------------------------------------------------------------------------

FLOATING = re.compile(
    r"""\b(?!HEAD:)[\w/.-]+:(?:latest|main|master|nightly)\b(?=["'\s]|$)"""
    r"""|\b(?:targetRevision|tag|version|branch|ref|revision):\s*["']?(?:latest|main|master|HEAD|\*|[\^~<>=]\s?v?\d)"""
    r"""|(?<!ubuntu)-latest\b""",
    re.MULTILINE,
)
SECRET = re.compile(
    r"sk-[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|ChangeMe|0p3n-w3bu"
    r"|PRIVATE KEY"
    r"""|\b(?:adminPassword|openaiApiKey|apiKey|OPENAI_API_KEY|HF_TOKEN)["']?:\s*["']?[A-Za-z0-9]"""
)
HASHED = re.compile(r"\benvoy-[a-z0-9-]+-[0-9a-f]{8}\b")
# Not ours to pin: a branch that Argo CD or Flux follows is how GitOps works, and a model's owner may name a branch.
MOVES = {
    "docs/argocd.md": ["targetRevision: HEAD"],
    "docs/flux.md": ["branch: main"],
    "docs/flavors.md": ["revision: main"],
    "presets/engine_commands.yaml": ['tag: "*'],  # a glob of tags
    "presets/operator_releases.yaml": ["tag: latest"],  # what the operator ran
}


@functools.cache
def published() -> dict[str, str]:
    """Every text file that people copy from."""
    folders = ("charts", "examples", "presets", "docs")
    files = (
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and path.suffix != ".png"
    )
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}


def find_matches(pattern: re.Pattern[str]) -> dict[str, list[str]]:
    every = {path: [match[0].strip() for match in pattern.finditer(text)] for path, text in published().items()}
    return {path: matches for path, matches in every.items() if matches}


def test_nothing_floats() -> None:
    left = {
        path: [text for text in texts if text not in MOVES.get(path, [])]
        for path, texts in find_matches(FLOATING).items()
    }
    assert {path: texts for path, texts in left.items() if texts} == {}
    assert all(set(texts) <= set(find_matches(FLOATING).get(path, [])) for path, texts in MOVES.items())


def test_no_literal_secret() -> None:
    assert find_matches(SECRET) == {}


def test_no_service_name_with_a_hash() -> None:
    assert find_matches(HASHED) == {}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (FLOATING, "image: docker.io/library/redis:latest"),
        (FLOATING, "targetRevision: HEAD"),
        (FLOATING, "version: ^1.2.3"),
        (FLOATING, "version: v0.0.0-latest"),
        (SECRET, "adminPassword: prom-operator"),
        (SECRET, "value: ChangeMe"),
        (HASHED, "http://envoy-default-eg-e41e7b31.envoy-gateway-system/v1"),
    ],
)
def test_what_those_look_for_is_found(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_every_pin_is_exact() -> None:
    pin = re.compile(r"(v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?|[0-9a-f]{40})")

    def versions(node: Any) -> Iterator[str]:
        for key, value in node.items() if isinstance(node, dict) else ():
            if key == "version":
                yield value
            yield from versions(value)

    pins = list(versions(VALUES))
    assert len(pins) >= len(COMPONENTS)
    assert [version for version in pins if not pin.fullmatch(version)] == []
    assert VALUES["envoyGateway"]["version"] == VALUES["envoyGateway"]["crds"]["version"]
    assert VALUES["envoyAIGateway"]["version"] == VALUES["envoyAIGateway"]["crds"]["version"]
    assert VALUES["karpenter"]["version"] == VALUES["karpenter"]["crds"]["version"]
    assert "v" + VALUES["leaderWorkerSet"]["version"] == VALUES["leaderWorkerSet"]["crds"]["version"]
    assert VALUES["certManager"]["version"] == VALUES["certManager"]["crds"]["version"]


# --- what it says of itself -----------------------------------------------------------------------------------------


def test_the_tables_and_defaults_are_those_of_the_values() -> None:
    for path, text in make_chart_docs.make_texts().items():
        assert path.read_text("utf-8") == text, "run scripts/make_chart_docs.py"


def test_every_value_is_in_the_table() -> None:
    rows = {row.path for row in make_chart_docs.rows((CHART / "values.yaml").read_text("utf-8"))}

    def leaves(node: Any, at: str) -> Iterator[str]:
        if at in rows:
            return
        if isinstance(node, dict) and node:
            for key, value in node.items():
                yield from leaves(value, f"{at}.{key}" if at else key)
        else:
            yield at

    assert list(leaves(VALUES, "")) == []


def test_a_value_without_words_is_found() -> None:
    with pytest.raises(ValueError, match=r"values.yaml:4: a.c has no comment"):
        list(make_chart_docs.rows("a:\n  # -- B.\n  b: 1\n  c: 2\n"))


@pytest.mark.parametrize("engine", ["argocd", "flux", "none"])
def test_notes(engine: str, tmp_path: Path) -> None:
    notes_text = notes(tmp_path, {"engine": engine})
    command = "kubectl annotate crd leaderworkersets.leaderworkerset.x-k8s.io helm.sh/resource-policy=keep\n"
    assert command in notes_text
    assert command not in notes(tmp_path, {"engine": engine, "leaderWorkerSet": {"enabled": False}})
    if engine == "none":
        assert "helm upgrade --install lws oci://registry.k8s.io/lws/charts/lws --version 0.9.0" in notes_text
        crds = "--version 0.9.0 --untar && kubectl apply --server-side --force-conflicts -f lws/crds\n"
        assert f"helm pull oci://registry.k8s.io/lws/charts/lws {crds}helm upgrade --install lws" in notes_text
        assert "extensionManager:" in notes_text
        assert (
            notes_text.index("kubectl apply")
            < notes_text.index("install ai-gateway ")
            < notes_text.index("install envoy-gateway ")
        )
    else:
        assert "* lws 0.9.0 in lws-system" in notes_text


# --- docs/platform.md -------------------------------------------------------------------------------------------------


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """They run on the files of the page, and no value set of it is refused; test_docs.py cannot ask Helm."""
    page = (ROOT / "docs" / "platform.md").read_text("utf-8")
    files = re.findall(r"^<!-- file: (\S+) -->\n```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(files) == 5
    for path, text in files:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "charts").symlink_to(ROOT / "charts")
    commands = re.findall(r"^```sh\n(helm .*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(commands) == 5
    for command in commands:
        done = helm(*shlex.split(command)[1:], home=tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    location = f"-schema-location={HERE.parent / 'data/schemas'}{LOCATION}"
    judged: list[str | Path] = [tool("kubeconform"), "-strict", location, tmp_path / "bootstrap" / "argocd.yaml"]
    done = subprocess.run(judged, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_page_says_the_numbers_of_the_templates(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "platform.md").read_text("utf-8")
    envoy = chart_values(parts(render(tmp_path, {"maxModels": 1000}))["envoy-gateway"])
    memory = envoy["deployment"]["envoyGateway"]["resources"]["limits"]["memory"]
    assert f"{int(memory.removesuffix('Mi')):,} MiB at 1,000" in page
    waves = {int(wave) for wave in re.findall(r"^\| (-?\d) \|", page, re.MULTILINE)}
    assert waves == {part["wave"] for part in PARTS} | {1}
