"""What an engine knows of itself: lists of options, versions, the time that a start may take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from renderer import load
from renderer.api import BackendRuntime, UnreadableList
from renderer.diagnostics import Collector
from renderer.engines import image_version, option_lists
from renderer.load.option_lists import OptionListReader
from renderer.resolve.engine import startup_probe
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.compilation import compile_engine
from renderer.resolve.engine.template_words import ConstantWords
from renderer.text.patterns import PatternError
from renderer.yamlio import Document, parse

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec


def runtime(folder: Path, listed: str) -> BackendRuntime:
    """A runtime in that folder with a list of options."""
    documents, _ = parse(str(folder / "own.yaml"), f"engine: {{options: {{style: argparse, list: {listed}}}}}".encode())
    document: Document = documents[0]
    return BackendRuntime("own", document.value, document, ours=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"--foo\n", "is not '--name"),
        (b"--foo x\n", "is not '--name"),
        (b"--foo 1 twice\n", "is not '--name"),
        (b"foo 1\n", "is not '--name"),
        (b"--foo, 1\n", "is not '--name"),
        (b"--caf\xe9 1\n", "not valid UTF-8"),
    ],
)
def test_a_list_that_nobody_can_read(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "own-1.txt").write_bytes(text)
    with pytest.raises(UnreadableList, match=message):
        option_lists.read_option_list(OptionListReader(), runtime(tmp_path, "own-1.txt"), "1")


def test_a_pipe_is_no_list(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own-1.txt")
    with pytest.raises(UnreadableList, match="not a regular file"):
        OptionListReader().file(runtime(tmp_path, "own-1.txt"), "own-1.txt")


def test_the_nearest_version_of_any_length(tmp_path: Path) -> None:
    for version in ("9", "10", "0100"):
        (tmp_path / f"own-{version}.txt").write_text(f"--of-{version} 0\n")
    own = runtime(tmp_path, "own-9.txt")
    lists = {
        engine_version: option_lists.read_option_list(OptionListReader(), own, engine_version)
        for engine_version in ("8", "09", "99", "9" * 5000)
    }
    assert {
        engine_version[:3]: option_list and option_list.version for engine_version, option_list in lists.items()
    } == {
        "8": None,
        "09": "9",
        "99": "10",
        "999": "0100",
    }


def prepared() -> Engine:
    document = load.preset("backends/vllm")
    return compile_engine(
        OptionListReader(),
        BackendRuntime("any", document.value["spec"], document, ours=True),
        Collector(),
        ConstantWords(),
    )


@pytest.mark.parametrize(
    ("period", "budget", "weights", "failures"),
    [
        (10, {"seconds": 1800, "perGiB": 10}, 15, 180),
        (10, {"seconds": 1800, "perGiB": 10}, 181, 181),
        (10, {"seconds": 0, "perGiB": 10}, 0.01, 1),
        (7, {"seconds": 15}, 1, 3),
        (0, {"seconds": 1800}, 1, 180),  # Kubernetes' default
        (10, {"seconds": 1, "perGiB": 1e308}, 1e300, 2**31 - 1),
        ("x", {"seconds": 1800}, 1, 5),
        (-1, {"seconds": 1800}, 1, 5),
    ],
)
def test_the_time_that_a_start_may_take(period: Any, budget: dict[str, float], weights: float, failures: int) -> None:
    engine = replace(prepared(), spec={"startup": budget})
    probe = startup_probe.startup_probe(engine, {"periodSeconds": period, "failureThreshold": 5}, weights)
    assert probe["failureThreshold"] == failures


def test_a_version_by_a_broken_expression_is_none() -> None:
    assert image_version.version_of_tag({"options": {"version": "v(["}}, "v1") == ""
    for pattern in ("(" * 500 + ")" * 500 + "{", "(" * 20_000, "a" * 1_001, r"(a)\1", "(?=a)", "(a{1000}){1000}"):
        with pytest.raises(PatternError):
            image_version.compile_version_pattern(pattern)


def test_a_version_is_found_in_linear_time() -> None:
    spec: EngineSpec = {"options": {"version": "^(a+)+$"}}
    assert image_version.version_of_tag(spec, "a" * 100_000 + "!") == ""
    assert image_version.version_of_tag(spec, "a" * 128) == "a" * 128
