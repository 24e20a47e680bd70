"""The pages of error codes: made of the cases, and printed by `llmaz errors`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from renderer import error_pages
from renderer.diagnostics.wordings import AREA_TITLES, AREAS, WORDINGS
from scripts import make_error_pages

if TYPE_CHECKING:
    from tests.conftest import Llmaz

CODES = sorted(WORDINGS)
MOST_BYTES = 1_200  # of a page, on average
WITH_A_CHANGE = 140  # at least so many pages say what to write instead


def test_pages_are_fresh() -> None:
    text = make_error_pages.file_text()
    with open(error_pages.FILE, encoding="utf-8") as file:
        assert file.read() == text, "run scripts/make_error_pages.py"


def test_pages_are_small() -> None:
    assert os.path.getsize(error_pages.FILE) < MOST_BYTES * len(CODES)


def test_every_code_has_its_page() -> None:
    assert sorted(error_pages.read_samples()) == CODES
    assert all(sample.console for sample in error_pages.read_samples().values())


def test_so_many_pages_say_what_to_write() -> None:
    assert sum(bool(sample.change) for sample in error_pages.read_samples().values()) >= WITH_A_CHANGE


@pytest.mark.parametrize("code", CODES)
def test_the_output_is_of_the_code(code: str) -> None:
    commands, output = re.subn(r"^\$ .*\n", "", error_pages.read_samples()[code].console, flags=re.MULTILINE)[::-1]
    assert commands
    assert code in output


def test_every_area_has_its_title() -> None:
    assert list(AREA_TITLES) == list(AREAS)
    assert sum(map(len, AREAS.values())) == len(WORDINGS)


def test_a_page_holds_all_its_parts(llmaz: Llmaz) -> None:
    done = llmaz("errors", "e203")
    assert (done.code, done.err) == (0, "")
    for part in (
        "E203  error about OpenModels",
        "no OpenModel is named '{name}'",
        "Cause\n- a model that does not exist",
        "Example: misspelt model",
        "  $ llmaz render -o out\n  playground.yaml:6:16: ",
        "did you mean 'qwen3-0--6b'?",
        "Write instead\n",
        "  -    modelName: qwen3-0--6\n  +    modelName: qwen3-0--6b\n",
        "Also seen with\n",
        "Read on:\n",
    ):
        assert part in done.out, part


def test_each_page_is_printed(llmaz: Llmaz) -> None:
    done = llmaz("errors", *CODES, "E901")
    assert (done.code, done.err) == (0, "")
    for code in (*CODES, "E901"):
        assert f"{code}  " in done.out
    assert all(line.isprintable() for line in done.out.split("\n"))


def test_lists(llmaz: Llmaz) -> None:
    assert all(name in llmaz("errors").out for name in AREAS)
    listed = [line[:4] for line in llmaz("errors", "engines").out.splitlines()]
    assert listed == sorted(AREAS["engines"])
    listed = [line[:4] for line in llmaz("errors", "w23").out.splitlines()]
    assert listed == [code for code in CODES if code.startswith("W23")]
    assert all(len(line) <= 100 for line in llmaz("errors", "E").out.splitlines())
