#!/usr/bin/env python3
"""Prints the option list of an engine's server, as presets/backends/flags/ keeps it, from the engine itself.

Run it with the Python that the engine is installed for (it needs nothing else), and keep what it prints:

    ENGINE_PYTHON scripts/make_options.py vllm
    ENGINE_PYTHON scripts/make_options.py sglang
    python3 scripts/make_options.py llamacpp VERSION PATH/llama-server PATH/common/arg.cpp
    python3 scripts/make_options.py llamacpp-removed VERSION PATH/llama-server
    python3 scripts/make_options.py tgi VERSION launcher.md       # the launcher's --help, or its reference page
    python3 scripts/make_options.py tensorrt-llm VERSION serve.py # the source of trtllm-serve (click decorators)

No GPU is needed: the parsers of vLLM and SGLang are only built, llama-server only prints its help.

Each line is `--name[,alias…] ARITY`: the first long name, the other spellings of the same option (long and short),
and how many values follow: `0` (a flag), a number, `?` (none or one), `*` (any number), `+` (one or more). A last word
`repeat` says that an option given twice means both. Spellings that switch an option off stand on a line of their own.
A line of a list of removed options is `--old [--new]`, with what the engine says to use instead.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.metadata
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

REMOVED = "the argument has been removed."
# What a handler of llama-server calls when it adds a value to those given before.
ADDS = re.compile(r"params\.\S+\.(push_back|emplace_back|insert)\(|parse_(kv_override|tensor_buffer_overrides)\(")


class Option(NamedTuple):
    """One line of a list: all spellings, in the engine's order, and how many values follow."""

    names: tuple[str, ...]
    arity: str
    repeat: bool = False

    def line(self) -> str:
        """The line, long names first."""
        names = sorted(self.names, key=lambda name: not name.startswith("--"))
        return f"{','.join(names)} {self.arity}{' repeat' * self.repeat}"


# --- argparse ---------------------------------------------------------------------------------------------------------


def vllm_parser() -> argparse.ArgumentParser:
    """The parser behind `vllm serve`; which platform is current does not change its options, but one must be."""
    platforms = importlib.import_module("vllm.platforms")
    cpu = importlib.import_module("vllm.platforms.cpu").CpuPlatform()
    platforms._current_platform = platforms.current_platform = cpu  # type: ignore[attr-defined]
    make = importlib.import_module("vllm.entrypoints.common.cli_args").make_arg_parser
    flexible = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser
    parser: argparse.ArgumentParser = make(flexible(prog="vllm serve"))
    return parser


def sglang_parser() -> argparse.ArgumentParser:
    """The parser behind `sglang serve`."""
    parser = argparse.ArgumentParser(prog="sglang serve")
    importlib.import_module("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
    parser.add_argument("--model-type")  # serve takes it out of the line before its parser reads the rest
    return parser


# What stands before the parser itself: vLLM rewrites -O3, -O=3 and -O 3 into --optimization-level 3.
EXTRA: Mapping[str, Mapping[str, str]] = {"vllm": {"-O": "--optimization-level"}}
PARSERS: Mapping[str, Callable[[], argparse.ArgumentParser]] = {"vllm": vllm_parser, "sglang": sglang_parser}


def argparse_options(engine: str) -> Iterator[Option]:
    """Every spelling that the parser knows, also those that its help does not show."""
    spellings: dict[tuple[int, bool], list[str]] = {}
    actions: dict[int, argparse.Action] = {}
    known = PARSERS[engine]()._option_string_actions
    for name, action in known.items():
        actions[id(action)] = action
        spellings.setdefault((id(action), name in negations(action)), []).append(name)
    for name, of in EXTRA.get(engine, {}).items():
        spellings[id(known[of]), False].append(name)
    for (which, _), names in spellings.items():
        action = actions[which]
        arity = "1" if action.nargs is None else str(action.nargs)
        yield Option(tuple(names), arity, isinstance(action, argparse._AppendAction | argparse._ExtendAction))


def negations(action: argparse.Action) -> set[str]:
    """The spellings that mean "no" of an option that can be switched on and off."""
    if not isinstance(action, argparse.BooleanOptionalAction):
        return set()
    said: Iterable[str] = getattr(action, "negative_option_strings", ())
    return set(said) or {name for name in action.option_strings if name.startswith("--no-")}


# --- llama-server -----------------------------------------------------------------------------------------------------


def llamacpp_help(server: str) -> Iterator[tuple[Option, str]]:
    """Each entry of `--help`: the option (negations apart) and what stands beside it."""
    text = subprocess.run([server, "--help"], capture_output=True, text=True, check=True).stdout
    for entry in re.split(r"\n(?=-)", text):
        match = re.match(r"(-[^\s,]+(?:, +-[^\s,]+)*)(?: (\S.*?))?(?: {3,}|\n)(.*)", entry + "\n", re.DOTALL)
        if entry.startswith("-----") or match is None:
            continue
        names = match[1].replace(",", " ").split()
        # Two hints stand for two values: `START END`.
        arity = "0" if not match[2] else "2" if re.fullmatch(r"[A-Z]+ [A-Z]+", match[2]) else "1"
        told = " ".join(match[3].split())
        off = switched_off(names)
        for group in ([name for name in names if name not in off], off):
            if group:
                yield Option(tuple(group), arity), told


def switched_off(names: list[str]) -> list[str]:
    """Those names of an entry that mean "no": all from the first -n… behind a long name, if a --no-… is among them."""
    if names[0].startswith("--no-") or not any(name.startswith("--no-") for name in names):
        return []
    long = next(i for i, name in enumerate(names) if name.startswith("--"))
    return names[next(i for i in range(long, len(names)) if names[i].startswith(("-n", "--no-"))) :]


def llamacpp_options(server: str, source: str) -> Iterator[Option]:
    """The options that still work; the source tells which handlers add to what was given before."""
    text = Path(source).read_text("utf-8")
    adding: set[str] = set()
    for block in text.split("add_opt(common_arg(")[1:]:
        if ADDS.search(block.split(".set_")[0]) and "hostnames.clear()" not in block:
            adding.update(re.findall(r'"(--?[^"]+)"', block[: block.index("}")]))
    for option, told in llamacpp_help(server):
        if not told.startswith(REMOVED):
            yield option._replace(repeat=option.arity != "0" and option.names[0] in adding)


def llamacpp_removed(server: str) -> Iterator[str]:
    """The options that now stop the server, each with the first option that the server names instead."""
    for option, told in llamacpp_help(server):
        if told.startswith(REMOVED):
            instead = re.findall(r"--[a-z*-]+[a-z]", told)
            for name in option.names:
                yield " ".join([name, *instead[:1]])


# --- written texts ----------------------------------------------------------------------------------------------------


def clap_options(page: str) -> Iterator[Option]:
    """From the long help of a clap program: `-p, --port <PORT>` at the start of an entry."""
    entry = re.compile(r"^ {2,6}(?:(-\w), )?(--[\w-]+)(?: (<\w+>))?$", re.MULTILINE)
    for short, name, value in entry.findall(Path(page).read_text("utf-8")):
        yield Option((name, *([short] if short else [])), "1" if value else "0")


def click_options(source: str) -> Iterator[Option]:
    """From the decorators of the function `serve`; click adds --help."""
    for node in ast.walk(ast.parse(Path(source).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == "serve":
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "option":
                    said = {word.arg: ast.unparse(word.value) for word in call.keywords}
                    names = [str(ast.literal_eval(each)) for each in call.args]
                    flag = said.get("is_flag") == "True"
                    spelled = tuple(name for name in names if name.startswith("-"))
                    yield Option(spelled, "0" if flag else "1", said.get("multiple") == "True")
    yield Option(("--help",), "0")


# --- the program ------------------------------------------------------------------------------------------------------


def written(head: str, lines: Iterable[str]) -> str:
    """The whole file."""
    legend = "# Made by scripts/make_options.py, which says what a line means."
    return "\n".join([f"# {head}", legend, *sorted(lines)])


def main(engine: str, *words: Any) -> str:
    """The list that was asked for."""
    if engine in PARSERS:
        with contextlib.redirect_stdout(sys.stderr):  # importing an engine says this and that
            lines = [option.line() for option in argparse_options(engine)]
        version = importlib.metadata.version(engine)
        return written(f"{engine} {version}, from its own parser under Python {platform.python_version()}.", lines)
    version, path, *more = words
    if engine == "llamacpp":
        lines = [option.line() for option in llamacpp_options(path, *more)]
        return written(f"llamacpp {version}, from the help of its server and its source.", lines)
    if engine == "llamacpp-removed":
        return "\n".join([f"# llamacpp {version}: options that now stop the server.", *sorted(llamacpp_removed(path))])
    if engine == "tgi":
        return written(f"tgi {version}, from the help of its launcher.", [each.line() for each in clap_options(path)])
    if engine == "tensorrt-llm":
        lines = [each.line() for each in click_options(path)]
        return written(f"tensorrt-llm {version}, from the source of trtllm-serve.", lines)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print(main(*sys.argv[1:]))
