"""What holds for the source as a whole and no linter knows. Who may import what stands in pyproject.toml."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from renderer import yamlio

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "renderer").rglob("*.py"))
NAMELESS = {"base", "common", "helpers", "manager", "utils"}
CATCH_ALL = {
    "renderer/cli/answers.py": "an unforeseen fault becomes one line and exit code 3",
    "renderer/parallel.py": "a child sends whatever fells it to its parent",
    "renderer/yamlio/__init__.py": "whatever the quick ways stumble over, the careful way has words for it",
    "renderer/yamlio/careful.py": "libyaml and PyYAML promise nothing about what they raise",
}
SCHEME = "ollama"  # also the scheme of a URI, which upstream's contract knows: once


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def preset_names() -> set[str]:
    """What the presets call engines, models and their families."""
    names = {SCHEME}
    for file in sorted((ROOT / "presets").glob("backends/*.yaml")) + sorted((ROOT / "presets").glob("models/*.yaml")):
        documents, problems = yamlio.parse(file.name, file.read_bytes())
        assert problems == []
        for document in documents:
            spec = document.value["spec"]
            words = (document.value["metadata"]["name"], spec.get("servedModelName"), spec.get("familyName"))
            names |= {word for word in words if word}
    return names


def mentions(names: Iterable[str], text: str) -> Counter[str]:
    """How often each name stands in the text as a word of its own; `_`, `-` and `.` end a word, letters do not."""
    found: Counter[str] = Counter()
    for name in names:
        found[name] = len(re.findall(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text, re.IGNORECASE))
    return +found


def catch_alls(text: str) -> list[int]:
    """The lines of `except:`, `except Exception` and `except BaseException`, in tuples too, that end in no `raise`."""
    lines = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
            caught: list[Any] = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(each is None or getattr(each, "id", "") in ("Exception", "BaseException") for each in caught):
                lines.append(node.lineno)
    return lines


def test_no_engine_and_no_model_is_named_in_python() -> None:
    """YAML knows engines, Python knows kinds: a new engine is one preset."""
    names = preset_names()
    total: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for path in SOURCES:
        found = mentions(names, path.read_text("utf-8"))
        total += found
        for name in found:
            where.setdefault(name, []).append(inside(path))
    if total[SCHEME] <= 1:
        where.pop(SCHEME, None)
    assert where == {}


def accelerators() -> set[str]:
    """What presets/accelerators.yaml calls accelerators, and their vendors."""
    documents, problems = yamlio.parse("", (ROOT / "presets" / "accelerators.yaml").read_bytes())
    assert problems == []
    rows = [row for row in documents[0].value["spec"]["resources"] if row["count"] != "none"]
    return {row.get("name") or row["pattern"].partition("*")[0] for row in rows} | {row["vendor"] for row in rows}


def test_no_python_names_an_accelerator() -> None:
    names = accelerators()
    assert len(names) > 10
    assert {inside(path): found for path in SOURCES if (found := mentions(names, path.read_text("utf-8")))} == {}


def test_the_presets_are_where_names_come_from() -> None:
    names = preset_names()
    for folder in ("backends", "models"):
        files = sorted((ROOT / "presets" / folder).glob("*.yaml"))
        assert files
        assert {file.stem for file in files} <= names  # a preset is called what its file is called


@pytest.mark.parametrize("text", ["x = 'a-b'", "# A-B", '"""For a-b."""', "if x == 'a-b:7':", "x_a-b = 1"])
def test_a_mention_is_found(text: str) -> None:
    assert mentions({"a-b"}, text) == Counter({"a-b": 1})


@pytest.mark.parametrize("text", ["aa-b", "a-bc", "a-b2", "a_b", "ab"])
def test_a_part_of_a_longer_word_is_no_mention(text: str) -> None:
    assert mentions({"a-b"}, text) == Counter()


def test_files_are_named_after_the_thing() -> None:
    assert [inside(path) for path in SOURCES if path.stem in NAMELESS or path.parent.name in NAMELESS] == []


def test_the_pipeline_fits_on_a_screen() -> None:
    assert len((ROOT / "renderer" / "pipeline.py").read_text("utf-8").splitlines()) <= 80


def test_nobody_else_catches_everything() -> None:
    found = {inside(path): catch_alls(path.read_text("utf-8")) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines and path not in CATCH_ALL} == {}
    assert [path for path in CATCH_ALL if not found[path]] == []  # an exception that is used no more


@pytest.mark.parametrize("caught", ["", " Exception", " BaseException as fault", " (OSError, Exception)"])
def test_a_catch_all_is_found(caught: str) -> None:
    assert catch_alls(f"try:\n    pass\nexcept{caught}:\n    pass\n") == [3]


@pytest.mark.parametrize("handler", [" OSError:\n    pass", " BaseException:\n    tidy()\n    raise"])
def test_a_named_fault_is_no_catch_all_nor_one_that_goes_on(handler: str) -> None:
    assert catch_alls(f"try:\n    pass\nexcept{handler}\n") == []
