#!/usr/bin/env python3
"""Asks the engines' own parsers for the command lines of tests/data/command_lines.yaml. Not collected by pytest.

    .venv/bin/python tests/engines/judge_lines.py vllm PYTHON CACHE
    .venv/bin/python tests/engines/judge_lines.py sglang PYTHON CACHE

README.md says how sources and Python are had. The marks of all versions are written into the data.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data" / "command_lines.yaml"
COMMANDS = {"vllm": 2, "sglang": 3}  # words before the options
SEEDS = ("0", "1", "2", "3")  # vLLM's parser depends on the order of hashes
DERIVED = ("max_model_len",)  # fields that a configuration has of another one, which has read the value


def words_of(engine: str) -> dict[str, list[str]]:
    """The words behind the command of each line."""
    lines = yaml.safe_load(DATA.read_text("utf-8"))[engine]["lines"]
    return {line: shlex.split(line)[COMMANDS[engine] :] for line in lines}


def python_marks(engine: str, sources: Path) -> dict[str, str]:
    """What the parser of vLLM or SGLang says, from its sources with stand-ins for what is not installed."""
    sys.path[0] = str(ROOT / "scripts")  # for this folder, whose modules have the engines' names
    importlib.import_module("stand_ins").install(engine, sources)
    make_options = importlib.import_module("make_options")
    sys.path.insert(1, str(Path(__file__).parent))
    in_bounds = importlib.import_module("judge_values").in_bounds
    with contextlib.redirect_stdout(sys.stderr):
        parser = make_options.PARSERS[engine]()
    modules = [sys.modules.get(f"vllm.entrypoints.{name}.cli_args") for name in ("openai", "common")]
    validate = next(filter(None, (getattr(module, "validate_parsed_serve_args", None) for module in modules)), None)

    def mark(words: list[str]) -> str:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            try:
                namespace = parser.parse_args(words)
                if validate:
                    namespace.subparser = "serve"
                    validate(namespace)
            except (SystemExit, Exception):  # noqa: BLE001 - the engines raise what they like
                return "-"
        names = {name for action in parser._actions for name in action.option_strings}
        spellings = {word.partition("=")[0].replace("_", "-") for word in words} & names
        for action in parser._actions:
            if not spellings & {*action.option_strings}:
                continue
            value: Any = getattr(namespace, action.dest, None)
            known = make_options.REGISTRIES[engine](action.dest)
            if known and value is not None and value not in known:
                return "-"
            if action.dest not in DERIVED and not in_bounds(action.dest, value):
                return "-"
        return "+"

    return {line: mark(words) for line, words in words_of(engine).items()}


def version_marks(engine: str, python: str, sources: Path) -> dict[str, str]:
    """The marks of one version; a line that is taken under any order of hashes is taken."""
    marks: dict[str, str] = {}
    for seed in SEEDS if engine == "vllm" else SEEDS[:1]:
        command = [python, __file__, "--print", engine, str(sources)]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            raise SystemExit(f"{sources}: {done.stderr.strip()[-1000:]}")
        for line, mark in json.loads(done.stdout).items():
            marks[line] = max(marks.get(line, "-"), mark, key="-+".index)
    return marks


def write(engine: str, every: list[dict[str, str]]) -> None:
    """Keeps the marks of all versions of an engine in the data."""
    text = DATA.read_text("utf-8")
    data = yaml.safe_load(text)
    data[engine]["lines"] = {line: "".join(marks[line] for marks in every) for line in data[engine]["lines"]}
    head = re.match(r"(#.*\n)+", text)
    assert head is not None
    DATA.write_text(head[0] + yaml.safe_dump(data, sort_keys=False, width=1000), "utf-8")


def main(engine: str, *rest: str) -> None:
    if engine == "--print":
        sys.stdout.write(json.dumps(python_marks(rest[0], Path(rest[1]))))
    else:
        versions = yaml.safe_load(DATA.read_text("utf-8"))[engine]["versions"]
        python, cache = rest
        write(engine, [version_marks(engine, python, Path(cache) / engine / str(version)) for version in versions])


if __name__ == "__main__":
    main(*sys.argv[1:])
