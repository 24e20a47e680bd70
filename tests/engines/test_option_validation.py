"""Our judgement of command lines against what the engines' own parsers said of them."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import pytest
import yaml

from renderer import load
from renderer.api import BackendRuntime, RenderOptions
from renderer.diagnostics import Collector
from renderer.engines import image_version, option_hints
from renderer.engines.option_validation import validate_options
from renderer.load.option_lists import OptionListReader
from renderer.pipeline import render
from renderer.resolve.engine import preset_args
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.compilation import compile_engine
from renderer.resolve.engine.template_words import ConstantWords
from renderer.secrets.detection import hide_in_args, hide_in_text
from tests.paths import ROOT, TESTS

DATA = TESTS / "data" / "option_judgements.yaml"
CODES = {"430": "unknown", "431": "removed", "432": "ambiguous", "433": "missing", "435": "extra", "437": "extra"}
# How many values the preset itself gives where no option takes them: the model.
POSITIONAL = {"vllm": 1, "sglang": 1}


def judgements() -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = yaml.safe_load(DATA.read_text("utf-8"))
    return value


@cache
def prepared(name: str) -> Engine:
    document = load.preset(f"backends/{name}")
    return compile_engine(
        OptionListReader(),
        BackendRuntime(name, document.value["spec"], document, ours=True),
        Collector(),
        ConstantWords(),
    )


def version(engine: Engine) -> str:
    return image_version.version_of_tag(engine.spec, engine.runtime.spec["version"])


def ours(name: str, args: list[str]) -> str:
    """Our verdict of a line, in the words of the data: the first thing that is wrong with it."""
    engine = prepared(name)
    judge = preset_args.option_rules(OptionListReader(), engine, version(engine), Collector())
    assert judge is not None
    codes = [finding.code[1:] for finding in validate_options(judge, args, POSITIONAL.get(name, 0))]
    return next((CODES[code] for code in codes if code in CODES), "ok")


# What we say differently: `removed` is the better word for what a parser does not know any more; a value of the wrong
# type is no matter of options; and a short option that no list holds is called unknown only where none has its value
# glued on.
AS_GOOD = {
    ("unknown", "removed"),
    ("ambiguous", "removed"),
    ("missing", "removed"),
    ("other", "ok"),
    ("other", "extra"),
    ("unknown", "extra"),
}


# A dot on an option that is not JSON; -O without its number; a negative number with a dot, which is taken for a key of
# JSON; a second model, which the preset reserves; nothing behind `--`; and a word that serve takes out of the line
# itself, by its whole name only.
KNOWN = [
    ["/models/m", "--enforce-eager.x", "1"],
    ["/models/m", "-O"],
    ["/models/m", "--gpu-memory-utilization", "-0.5", "--port", "8080"],
    ["/models/m", "--model", "/other"],
    ["/models/m", "--"],
    ["/models/m", "--model-ty", "llm"],
]
# That a model is there, and first, is the preset's business.
MODEL = ("--model-path is required", "`model` should be provided")


def differs(entry: dict[str, Any]) -> bool:
    verdict, real = ours(entry["engine"], entry["args"]), entry["verdict"]
    if any(words in entry["says"] for words in MODEL):
        return False
    glued = prepared(entry["engine"]).style.kind != "exact"
    short = glued and any(arg[:1] == "-" and arg[1:2] not in ("-", "") for arg in entry["args"])
    return verdict != real and (real, verdict) not in AS_GOOD and not (verdict == "ok" and short)


def test_we_judge_as_the_engines_parsers_do() -> None:
    entries = judgements()
    assert len(entries) > 300
    assert [entry["args"] for entry in entries if differs(entry)] == KNOWN


@pytest.mark.parametrize("name", load.preset_names("backends"))
def test_every_option_of_a_preset_is_one_of_its_engine(name: str) -> None:
    engine, collector = prepared(name), Collector()
    assert list(preset_args.refused_runtime_args(OptionListReader(), engine, collector)) == collector.problems == []
    assert (
        engine.spec["options"]["style"] == "none"
        or preset_args.option_rules(OptionListReader(), engine, version(engine), collector) is not None
    )


@pytest.mark.parametrize(
    "folder", sorted(example.name for example in (ROOT / "examples").iterdir() if example.is_dir())
)
def test_every_option_of_an_example_is_one_of_its_engine(folder: str) -> None:
    done = render(RenderOptions(paths=(str(ROOT / "examples" / folder),), texts=True))
    assert [problem for problem in done.problems if problem.code[1:] in ("231", *CODES)] == []


def test_quotes_hide_what_the_whole_line_hides() -> None:
    """A quoted word is hidden as it is in the whole command line."""
    words = [
        "--api-key",
        "s3cr3t-value-1",
        "s3cr3t-value-2",
        "env",
        "TOKEN=s3cr3t",
        "A_PASSWORD=s3cr3t",
        "-x y",
        "plain",
    ]
    for args in itertools.permutations(words, 4):
        for index in range(len(args)):
            whole = " ".join(hide_in_text(hide_in_args(args)[index]).split("\n"))
            assert option_hints.quote_arg(args, index) == whole
