"""`scripts/next_code.py`: the next free code of an area, and its case."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from renderer.diagnostics.wordings import WORDINGS
from scripts import next_code

WORDING_FILES = Path(__file__).resolve().parents[2] / "renderer" / "diagnostics" / "wordings"


@pytest.mark.parametrize("area", next_code.AREAS)
def test_a_code_that_nobody_has(area: str) -> None:
    code = next_code.next_code(area, "W")
    number = int(code[1:])
    assert number in next_code.AREAS[area]
    assert not {f"{letter}{number}" for letter in "EWN"} & WORDINGS.keys()


def test_all_numbers_of_an_area_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(next_code.AREAS, "nodes", range(201, 202))
    with pytest.raises(SystemExit, match="no number of nodes is free"):
        next_code.next_code("nodes", "E")


def test_a_number_belongs_to_one_area() -> None:
    numbers = [number for codes in next_code.AREAS.values() for number in codes]
    assert len(numbers) == len({*numbers})


def test_each_area_has_a_file_and_each_code_one_file() -> None:
    files = [path for path in WORDING_FILES.glob("*.py") if path.stem != "__init__"]
    assert {path.stem for path in files} == next_code.AREAS.keys()
    codes = [
        code
        for path in files
        for code in getattr(importlib.import_module(f"renderer.diagnostics.wordings.{path.stem}"), path.stem.upper())
    ]
    assert sorted(codes) == sorted(WORDINGS)


def test_the_folder_of_a_case(tmp_path: Path) -> None:
    folder = next_code.make_case("E499", "an-odd-port", tmp_path)
    assert folder == tmp_path / "tests/errors/E499-an-odd-port"
    assert "kind: Playground" in (folder / "app.yaml").read_text()
    with pytest.raises(SystemExit, match="is there already"):
        next_code.make_case("E499", "an-odd-port", tmp_path)


@pytest.mark.parametrize("name", ["", "An Odd Port", "../escape", "a--b", "-a", "a_b"])
def test_names_of_cases(name: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="small letters"):
        next_code.make_case("E499", name, tmp_path)
