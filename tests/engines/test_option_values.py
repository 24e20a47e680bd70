"""Our judgement of options' values against what the engines' own parsers and registries said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import pytest
import yaml

from renderer import load
from renderer.api import BackendRuntime
from renderer.diagnostics import Collector
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import validate_options
from renderer.load.option_lists import OptionListReader
from renderer.resolve.engine import preset_args
from renderer.resolve.engine.compilation import compile_engine
from renderer.resolve.engine.template_words import ConstantWords
from tests.paths import TESTS

DATA = yaml.safe_load((TESTS / "data" / "value_judgements.yaml").read_text("utf-8"))
FILES = OptionListReader()

# What we say differently: by engine, option and value, the versions, and why.
OTHERWISE: Mapping[tuple[str, str, str], str] = {
    (
        "vllm",
        "--limit-mm-per-prompt",
        '{"image": 2}',
    ): "image=2 before 0.8, read by code of its own",
    ("vllm", "--limit-mm-per-prompt", "image:2"): "the same",
    ("llamacpp", "--seed", "x"): "read by stoul, which takes numbers above those of a type of the lists",
    ("llamacpp", "--tensor-split", "half"): "read by code of its own, as numbers with commas",
    ("sglang", "--json-model-override-args", "anything"): "read behind its parser, by json.loads in model_config.py",
}


class Judgement(NamedTuple):
    """What an engine said of a value."""

    engine: str
    version: str
    option: str
    value: str
    mark: str


def judgements() -> Iterator[Judgement]:
    for engine, data in DATA.items():
        for option, values in data["values"].items():
            for value, marks in values.items():
                for version, mark in zip(data["versions"], marks, strict=True):
                    if mark != ".":
                        yield Judgement(engine, str(version), option, "None" if value is None else str(value), mark)


@cache
def rules(engine: str, version: str) -> OptionRules:
    document = load.preset(f"backends/{engine}")
    runtime = BackendRuntime(engine, document.value["spec"], document, ours=True)
    compiled = compile_engine(FILES, runtime, Collector(), ConstantWords(), version)
    judge = preset_args.option_rules(FILES, compiled, version, Collector())
    assert judge is not None
    assert judge.option_list.version == version
    return judge


def verdict(judgement: Judgement) -> str:
    """Our mark of a value."""
    words = [judgement.option, judgement.value]
    if judgement.engine != "llamacpp" and judgement.value[:1] == "-":
        words = ["=".join(words)]
    codes = [finding.code for finding in validate_options(rules(judgement.engine, judgement.version), words)]
    return "-" if any(code[0] == "E" for code in codes) else "+"


@pytest.mark.parametrize("engine", [*DATA])
def test_values_are_judged_as_the_engine_does(engine: str) -> None:
    differing: dict[str, dict[str, list[str]]] = {}
    for judgement in judgements():
        key = judgement.engine, judgement.option, judgement.value
        if judgement.engine == engine and verdict(judgement) != judgement.mark and key not in OTHERWISE:
            by_value = differing.setdefault(judgement.option, {})
            by_value.setdefault(f"{judgement.value} {judgement.mark}", []).append(judgement.version)
    assert differing == {}


@pytest.mark.parametrize(
    ("option", "value", "mark"),
    [
        ("--kv-transfer-config", '{"kv_connector_extra_config": {"cpu_bytes_to_use": 80g}}', "+"),
        ("--kv-transfer-config", '{"kv_connector_extra_config": {"cpu_bytes_to_use": 2.5m}}', "+"),
        ("--kv-transfer-config", '{"kv_connector_extra_config": {"cpu_bytes_to_use": 80x}}', "-"),
        ("--kv-transfer-config", '{"kv_role": kv_both}', "-"),
        ("--limit-mm-per-prompt", '{"image": 8k}', "-"),
    ],
)
def test_counts_in_the_json_of_a_config(option: str, value: str, mark: str) -> None:
    """As the parser of vLLM 0.33.0 reads them, built from its sources: in objects, not in maps."""
    assert verdict(Judgement("vllm", "0.33.0", option, value, mark)) == mark


def test_what_we_say_differently_is_still_different() -> None:
    differing = {
        (judgement.engine, judgement.option, judgement.value)
        for judgement in judgements()
        if verdict(judgement) != judgement.mark
    }
    assert differing == set(OTHERWISE)


def test_enough_values_of_enough_versions_are_judged() -> None:
    counts = Counter((judgement.engine, judgement.mark) for judgement in judgements())
    assert min(counts.values()) >= 200, counts
    assert len({(judgement.engine, judgement.version) for judgement in judgements()}) >= 20
