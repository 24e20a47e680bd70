"""Each option that ended between two versions of an engine is a break at its place, and is mended or left to people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.upgrade.ended_options import UPGRADES, Versions, ended_spellings, quoted, write_tree

if TYPE_CHECKING:
    from tests.conftest import Llmaz

# What took the place of an option alone: by the engines' release notes and sources, as presets/backends/flags has it.
REPLACED = {
    "vllm": {
        "--guided-decoding-backend": "--structured-outputs-config.backend",
        "--rope-theta": "--hf-overrides.rope_parameters.rope_theta",
    },
    "sglang": {"--cuda-graph-max-bs": "--cuda-graph-max-bs-decode"},
    "llamacpp": {
        "--draft": "--spec-draft-n-max",
        "--draft-n": "--spec-draft-n-max",
        "--draft-max": "--spec-draft-n-max",
        "--draft-min": "--spec-draft-n-min",
        "--draft-n-min": "--spec-draft-n-min",
        "--spec-ngram-min-hits": "--spec-ngram-simple-min-hits",
        "--spec-ngram-size-m": "--spec-ngram-simple-size-m",
        "--spec-ngram-size-n": "--spec-ngram-simple-size-n",
    },
}


def place_of(text: str, words: list[str]) -> tuple[int, int]:
    """Line and column of the first of these arguments in a file."""
    text = text.removeprefix("\ufeff")
    forms = [quoted("=".join(words)), quoted(words[0])]
    start = next(text.index(form) for form in forms if form in text)
    before = text[:start].replace("\r\n", "\n")
    return before.count("\n") + 1, start - text.rfind("\n", 0, start)


@pytest.fixture(params=UPGRADES, ids=lambda versions: versions.name)
def versions(request: pytest.FixtureRequest) -> Versions:
    upgrade: Versions = request.param
    return upgrade


@pytest.fixture
def apps(versions: Versions, folder: Path) -> dict[str, list[str]]:
    """The arguments of each Playground of the tree, which lies in the current folder."""
    return dict(write_tree(folder, versions))


def test_there_are_so_many(versions: Versions) -> None:
    assert len(ended_spellings(versions)) == versions.number


def test_each_is_a_break_at_its_place(
    versions: Versions, apps: dict[str, list[str]], folder: Path, llmaz: Llmaz
) -> None:
    assert llmaz("validate").code == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = llmaz("upgrade", versions.target, "--format", "json")
    assert done.code == 1, done.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    answer: dict[str, Any] = json.loads(done.out)
    expected = {
        (f"{name}.yaml", *place_of((folder / f"{name}.yaml").read_bytes().decode(), words))
        for name, words in apps.items()
    }
    assert {
        (found_break["file"], found_break["line"], found_break["column"]) for found_break in answer["breaks"]
    } == expected
    assert {found_break["code"] for found_break in answer["breaks"]} == {"E431"}
    assert len(answer["changed"]) == versions.number
    mended = {
        apps[found_break["file"].removesuffix(".yaml")][0] for found_break in answer["breaks"] if found_break["mended"]
    }
    assert mended == {spelling for spelling in ended_spellings(versions) if spelling in REPLACED[versions.engine]}


def test_what_is_written_is_the_version_and_what_mends(
    versions: Versions, apps: dict[str, list[str]], folder: Path, llmaz: Llmaz
) -> None:
    """All else stays byte by byte: line ends, a byte order mark, comments, odd indentation, quotes, `--a=b`."""
    expected = {"own.yaml": (folder / "own.yaml").read_bytes()}
    for name, (spelling, *_) in apps.items():
        data = (folder / f"{name}.yaml").read_bytes()
        data = data.replace(versions.tag(versions.old).encode(), versions.tag(versions.new).encode())
        new = REPLACED[versions.engine].get(spelling, spelling)
        expected[f"{name}.yaml"] = data.replace(spelling.encode(), new.encode())
    done = llmaz("upgrade", versions.target, "--write")
    left = {f"{name}.yaml" for name, words in apps.items() if words[0] not in REPLACED[versions.engine]}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected
    assert {line.partition(":")[0] for line in done.err.splitlines() if "[E431]" in line} == left
    assert done.code == (1 if left else 0)
    assert done.err.splitlines()[-1].startswith(f"{len(apps)} files written")
    again = llmaz("upgrade", versions.target, "--write")
    assert (again.code, again.err.splitlines()[-1]) == (0, "0 files written")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected
