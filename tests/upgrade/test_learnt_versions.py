"""Upgrades to a version whose options are known by its own help alone, which `llmaz presets learn` has read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine_helps import help_of
from tests.upgrade.test_places import answer, app, in_version, written

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ARGS = (
    "--max-num-seqs",
    "4",
    "--max-logprobs",
    "2",
    "--dtype",
    "float16",
    "--scheduling-policy",
    "priority",
    "--profiler-config",
    '{"profiler": "torch"}',
)


def chat(tag: str) -> str:
    return app("chat", in_version(tag, more=f", args: [{', '.join(map(repr, ARGS))}]"))


@pytest.fixture
def tree(folder: Path, llmaz: Llmaz) -> Path:
    """A tree that has learnt 9.0.0: --max-num-seqs is a flag there, --dtype takes other values, and the help has no
    --max-logprobs.
    """
    gone = ("--max-num-seqs", "--max-logprobs", "--dtype")
    text = help_of("vllm", "--max-num-seqs   Yes.", "--dtype {auto,bfloat16}   Which.", without=gone)
    (folder / "help.txt").write_text(text)
    assert llmaz("presets", "learn", "vllm", "9.0.0", "help.txt").code == 0
    (folder / "help.txt").unlink()
    written(folder, chat=chat("v0.33.0"))
    return folder


def test_what_breaks_and_what_may(tree: Path, llmaz: Llmaz) -> None:
    """What the help proves breaks; what it leaves out may be there, or not."""
    done = llmaz("upgrade", "vllm=9.0.0")
    assert done.code == 1
    assert done.err == (
        "vllm=9.0.0: note: what vllm 9.0.0 takes is known by its own help alone: what that leaves out is judged by "
        "0.33.0, and its defaults are not known [N705]\n"
    )
    first, *_ = done.out.splitlines()
    assert first == "vllm 0.33.0 → 9.0.0: 1 place · 1 break · 2 may break"
    sections = {part.partition("\n")[0]: part.splitlines()[1:] for part in done.out.split("\n\n")}
    assert [line.partition("args")[2] for line in sections["Breaks"] if "args[" in line] == [
        "[1]: vllm 9.0.0: the value '4' does not belong to any option [E437]"
    ]
    assert [line.partition("args")[2] for line in sections["May break"] if "args[" in line] == [
        "[2]: the help of vllm 9.0.0 has no option '--max-logprobs' [W430]",
        "[5]: the help of vllm 9.0.0: '--dtype' does not accept 'float16' [W440]",
    ]
    markdown = llmaz("upgrade", "vllm=9.0.0", "--format", "markdown").out
    assert markdown.index("**Breaks**") < markdown.index("E437") < markdown.index("**May break**")
    assert markdown.index("**May break**") < markdown.index("W430")


def test_it_is_the_newest(tree: Path, llmaz: Llmaz) -> None:
    parsed = answer(llmaz, "vllm")
    assert parsed["version"] == "9.0.0"
    assert [(problem["code"], problem["severity"]) for problem in parsed["breaks"]] == [
        ("E437", "error"),
        ("W430", "warning"),
        ("W440", "warning"),
    ]


def test_what_the_help_leaves_out_is_not_mended(tree: Path, llmaz: Llmaz) -> None:
    done = llmaz("upgrade", "vllm=9.0.0", "--write")
    assert (tree / "chat.yaml").read_text() == chat("v9.0.0")
    assert done.err.endswith("1 file written; 1 break left to you\n")


def test_a_version_that_our_own_list_has(tree: Path, llmaz: Llmaz) -> None:
    done = llmaz("upgrade", "vllm=0.33.0")
    assert (done.code, done.err) == (0, "")
