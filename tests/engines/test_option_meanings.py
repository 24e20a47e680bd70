"""What is said of an option of another engine, against what a person wrote for it (tests/data/foreign_options.yaml);
and the names that are proposed for a misspelt one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache

import pytest
import yaml

from renderer.diagnostics import Collector
from renderer.engines.option_meanings import _meanings, _spellings
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import validate_options
from renderer.load.option_lists import OptionListReader
from renderer.preset_tables import preset_table
from renderer.resolve.engine import preset_args
from tests.engines.test_option_validation import prepared, version
from tests.paths import TESTS

ANSWERS: Mapping[str, Mapping[str, Mapping[str, str]]] = yaml.safe_load(
    (TESTS / "data" / "foreign_options.yaml").read_text("utf-8")
)
PAIRS = [(engine, owner, word) for engine, owners in ANSWERS.items() for owner in owners for word in owners[owner]]


@cache
def rules(engine: str, at: str = "") -> OptionRules:
    compiled = prepared(engine)
    line_rules = preset_args.option_rules(OptionListReader(), compiled, at or version(compiled), Collector())
    assert line_rules is not None
    return line_rules


def hint(engine: str, *args: str, at: str = "") -> str:
    """The first hint about a line."""
    finding = validate_options(rules(engine, at), args)[0]
    assert finding.code[1:] in ("430", "432"), finding
    return str(finding.words["hint"])


def answer(text: str, owner: str) -> str:
    """A hint in the words of the table, for those who mean the option of an engine."""
    for option, name in re.findall(r", or write '([^']+)' where (\S+)'s is meant", text):
        if name == preset_table("option_meanings")["engines"][owner]:
            return str(option)
    if match := re.match(r"an option of [^;]+; \S+'s is '([^']+)'|did you mean '([^']+)'\?$", text):
        return match[1] or match[2]
    if re.fullmatch(r"an option of [^;]+: leave it out; \S+ does that by itself", text):
        return "itself"
    return "-" if re.fullmatch(r"an option of [^;:]+: leave it out(?:, or write .*)?", text) else text


def test_an_option_of_another_engine_leads_where_a_person_would_go() -> None:
    assert len({(engine, word) for engine, _, word in PAIRS}) >= 300
    assert {(engine, owner, word): answer(hint(engine, word), owner) for engine, owner, word in PAIRS} == {
        (engine, owner, word): ANSWERS[engine][owner][word] for engine, owner, word in PAIRS
    }


def test_no_option_of_another_engine_leads_to_a_name_that_is_merely_similar() -> None:
    for engine in ANSWERS:
        options = rules(engine).option_list
        for owner in ANSWERS:
            words = [word for word in _spellings()[owner] if owner != engine and word[:2] == "--" and "." not in word]
            for finding in itertools.chain.from_iterable(validate_options(rules(engine), [word]) for word in words):
                if finding.code[1:] in ("430", "432") and finding.words["option"] not in options.later:
                    text = str(finding.words["hint"])
                    respelt = f"did you mean '{str(finding.words['option'])[2:].replace('-', '_')}'?".replace(
                        "'", "'--", 1
                    )
                    assert text.startswith("an option of ") or text.replace("-", "_") == respelt.replace("-", "_"), text


def test_the_table_is_about_options_of_the_other_engine_alone() -> None:
    for engine, owner, word in PAIRS:
        assert word.replace("_", "-") in _spellings()[owner], word
        assert word not in rules(engine).option_list.options


def test_every_option_of_the_meanings_is_one_of_its_engine() -> None:
    """And each means one thing."""
    named = [
        (engine, option)
        for row in preset_table("option_meanings")["meanings"]
        for field in ("options", "also")
        for engine, options in row.get(field, {}).items()
        for option in options
    ]
    assert {
        (engine, option) for engine, option in named if option.replace("_", "-") not in _spellings()[engine]
    } == set()
    assert len(named) == len({*named})
    for row in preset_table("option_meanings")["meanings"]:
        assert not row.get("forms") or {*row["forms"]} >= {*row["options"]} - {"llamacpp"}
        assert {*row.get("always", ())}.isdisjoint(row["options"])


@pytest.mark.parametrize("engine", [*preset_table("option_meanings")["engines"]])
def test_options_of_one_meaning_take_what_it_says(engine: str) -> None:
    kinds = {"int": "number", "float": "number", "count": "number", "json": "json", "object": "json"}
    for (owner, folded), meaning in _meanings().items():
        option = rules(engine).option_list.options.get(folded)
        if owner == engine and option:
            assert (option.arity == "0") == (meaning.value == "flag"), folded
            assert not option.type or kinds[option.type] == meaning.value, folded


# Where the forms of a value differ, or a version has another option.
@pytest.mark.parametrize(
    ("engine", "at", "args", "advice"),
    [
        ("sglang", "", ["--max-model-len", "8192"], "an option of vLLM; SGLang's is '--context-length'"),
        (
            "vllm",
            "",
            ["--n-cpu-moe", "3"],
            "an option of llama.cpp; vLLM's is '--cpu-offload-gb', in GiB of weights, not in layers",
        ),
        (
            "vllm",
            "",
            ["--schedule-policy", "lpm"],
            "an option of SGLang; vLLM's is '--scheduling-policy', which accepts 'fcfs' or 'priority'",
        ),
        ("vllm", "", ["--schedule-policy", "fcfs"], "an option of SGLang; vLLM's is '--scheduling-policy'"),
        (
            "llamacpp",
            "",
            ["--max-num-batched-tokens=512"],
            "an option of vLLM; llama.cpp's is '--batch-size', with its value as the next item of the list",
        ),
        ("llamacpp", "", ["--max-num-batched-tokens", "8k"], "an option of vLLM; llama.cpp's is '--batch-size'"),
        (
            "sglang",
            "",
            ["--seed", "auto"],
            "an option of vLLM and llama.cpp; SGLang's is '--random-seed', which takes a whole number",
        ),
        ("sglang", "0.5.10", ["--cudagraph-capture-sizes", "1"], "an option of vLLM; SGLang's is '--cuda-graph-bs'"),
        ("vllm", "0.10.2", ["--rope-freq-base", "1e6"], "an option of llama.cpp; vLLM's is '--rope-theta'"),
        ("vllm", "0.10.2", ["--speculative-draft-model-path", "/d"], "an option of SGLang: leave it out"),
        (
            "vllm",
            "0.10.2",
            ["--grammar-backend", "outlines"],
            "an option of SGLang; vLLM's is '--guided-decoding-backend'",
        ),
        ("sglang", "", ["\N{EN DASH}max-model-len", "8192"], "an option of vLLM; SGLang's is '--context-length'"),
    ],
)
def test_what_differs_is_told(engine: str, at: str, args: Sequence[str], advice: str) -> None:
    findings = validate_options(rules(engine, at), args)
    assert findings[0].words["hint"] == advice


NOTHING = "leave it out: no option of this version has a similar name"


@pytest.mark.parametrize(
    ("engine", "args", "advice"),
    [
        ("vllm", ["--speculative-konfig.method", "ngram"], "did you mean '--speculative-config'?"),
        ("sglang", ["--speculative-config.method", "ngram"], "an option of vLLM: leave it out"),
        (
            "sglang",
            ["--default-chat-template-kwargs.thinking", "true"],
            "write '--default-chat-template-kwargs' with JSON that has the key 'thinking'",
        ),
        # The same kind of value, and close.
        ("vllm", ["--max-modell-length", "8192"], "did you mean '--max-model-len'?"),
        ("sglang", ["--context-lenght", "8192"], "did you mean '--context-length'?"),
        ("vllm", ["--enforce-eagerly"], "did you mean '--enforce-eager'?"),
        ("tensorrt-llm", ["--max_seq_length", "8192"], "did you mean '--max_seq_len'?"),
        ("tgi", ["--max-total", "8192"], "did you mean '--max-total-tokens'?"),
        ("llamacpp", ["--ctx", "8192"], "it may be --ctx-checkpoints, --ctx-size"),
        # Another kind.
        ("sglang", ["--model-len", "8192"], NOTHING),
        ("llamacpp", ["--contex", "8192"], NOTHING),
        ("vllm", ["--enforce-eagre", "8192"], NOTHING),
        ("vllm", ["--max-model-lens", '{"a": 1}'], NOTHING),
        # Nobody knows the type: two letters.
        ("sglang", ["--modle-type", "llm"], "did you mean '--model-type'?"),
        ("sglang", ["--model-types", "llm"], "did you mean '--model-type'?"),
        ("sglang", ["--model-typings", "llm"], NOTHING),
        ("vllm", ["--max-modell-len", "$(LENGTH)"], "did you mean '--max-model-len'?"),
        ("vllm", ["--max-model-length", "$(LENGTH)"], NOTHING),
        # Two letters of a short name are another name.
        ("llamacpp", ["--tp", "2"], NOTHING),
    ],
)
def test_a_misspelt_name_is_mended_within_its_kind(engine: str, args: Sequence[str], advice: str) -> None:
    assert hint(engine, *args) == advice
