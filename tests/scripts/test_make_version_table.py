"""`scripts/make_version_table.py`: what a release changes in the manifests of the examples."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts.make_version_table import make_table
from tests.diff.repository import Repository
from tests.paths import ROOT


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Of this renderer and three examples, with the tags older, newer and strict."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("renderer", "presets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("environments", "gateway-basic", "quickstart"):
        shutil.copytree(ROOT / "examples" / name, folder / "examples" / name)
    repository = Repository(folder)
    repository.commit("older")
    repository.git("tag", "older")
    loader = folder / "presets" / "loaders" / "hub.yaml"
    loader.write_text(loader.read_text("utf-8").replace("version: v0.0.10\n", "version: v0.0.11\n"), "utf-8")
    (folder / "examples" / "quickstart" / "chat.yaml").write_text("")  # examples are those of the older one
    repository.commit("newer")
    repository.git("tag", "newer")
    schema = folder / "renderer" / "schemas" / "input" / "openmodel.json"
    schema.write_text(schema.read_text("utf-8").replace('"familyName"', '"family"'), "utf-8")
    repository.commit("strict")
    repository.git("tag", "strict")
    return repository


def test_a_change_of_a_preset(repository: Repository) -> None:
    change = "`initContainers[model-loader].image`: `inftyai/model-loader:v0.0.10` → `inftyai/model-loader:v0.0.11`"
    examples = "environments (dev), environments (prod), environments (staging), gateway-basic, quickstart"
    lines = make_table(repository.folder, "older", "newer").splitlines()
    assert lines[:3] == [
        "| object | what changes | risk | in examples |",
        "|---|---|---|---|",
        f"| LeaderWorkerSet | {change} | restarts pods | {examples} |",
    ]
    assert len(lines) == 5
    assert lines[4].startswith("Pods that restart: environments (dev): `llm/chat`; environments (prod): `llm/batch`, ")
    assert lines[4].endswith("; quickstart: `demo/chat`.")


def test_no_change(repository: Repository) -> None:
    assert make_table(repository.folder, "older", "older") == "Nothing changes in what the 3 examples render to."


def test_an_input_that_is_taken_no_more(repository: Repository) -> None:
    lines = make_table(repository.folder, "older", "strict").splitlines()
    refused = [line for line in lines if "is refused" in line]
    assert refused
    assert all(line.startswith("| input | is refused: `") for line in refused)
    assert any("familyName" in line and line.endswith(" | – | environments |") for line in refused)


def test_a_commit_that_is_not_there(repository: Repository) -> None:
    with pytest.raises(SystemExit, match=r"make_version_table\.py: v9: "):
        make_table(repository.folder, "v9", "newer")


def test_a_release_that_does_not_render_its_examples(repository: Repository) -> None:
    with pytest.raises(SystemExit, match="newer does not render quickstart: "):
        make_table(Path(repository.folder), "newer", "newer")
