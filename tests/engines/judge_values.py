#!/usr/bin/env python3
"""Asks the engines' own parsers and registries for tests/data/value_judgements.yaml. Not collected by pytest.

    STAND_IN_PYTHON tests/engines/judge_values.py vllm SOURCES      # prints the marks of one version
    .venv/bin/python tests/engines/judge_values.py llamacpp PROGRAM # the same, of a program made with value_judge.cpp
    .venv/bin/python tests/engines/judge_values.py --write ENGINE PYTHON CACHE

README.md says how sources, Python and programs are had. `--write` keeps the marks of all versions of the engine.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data" / "value_judgements.yaml"
SEEDS = ("0", "1", "2", "3")  # vLLM's parser depends on the order of hashes
TAKEN, REFUSED, ABSENT = "+", "-", "."

Values = Mapping[str, Sequence[str]]
Marks = dict[str, dict[str, str]]  # by option and value


def candidates(engine: str) -> Values:
    """The values of each option that are asked about."""
    values: Values = yaml.safe_load(DATA.read_text("utf-8"))[engine]["values"]
    return values


def python_marks(engine: str, sources: Path) -> Marks:
    """What the parser of vLLM or SGLang says, from its sources with stand-ins for what is not installed."""
    sys.path[0] = str(ROOT / "scripts")  # for this folder, whose modules have the engines' names
    importlib.import_module("stand_ins").install(engine, sources)
    make_options = importlib.import_module("make_options")
    with contextlib.redirect_stdout(sys.stderr):
        parser = make_options.PARSERS[engine]()
    actions = parser._option_string_actions

    def mark(option: str, value: str) -> str:
        action = actions.get(option)
        if action is None or action.nargs == 0:
            return ABSENT
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                words = [f"{option}={value}"] if value[:1] == "-" else [option, value]
                namespace = parser.parse_args([*POSITIONAL[engine], *words])
            except (SystemExit, Exception):  # noqa: BLE001 - the engines raise what they like
                return REFUSED
        parsed = getattr(namespace, action.dest)
        known = make_options.REGISTRIES[engine](action.dest)
        if known and parsed is not None and parsed not in known:
            return REFUSED
        return TAKEN if in_bounds(action.dest, parsed) else REFUSED

    return {option: {value: mark(option, value) for value in values} for option, values in candidates(engine).items()}


POSITIONAL = {"vllm": ["model"], "sglang": ["--model-path", "model"]}


def in_bounds(field: str, value: object) -> bool:
    """Whether each configuration of vLLM with this field takes the value, as pydantic says."""
    configs = vars(sys.modules.get("vllm.config", sys)).values()
    for config in {id(config): config for config in configs if isinstance(config, type)}.values():
        info = getattr(config, "__pydantic_fields__", {}).get(field)
        if info is None or value is None:
            continue
        pydantic: Any = importlib.import_module("pydantic")
        if info.metadata and isinstance(value, int | float):
            number = pydantic.TypeAdapter(typing.Annotated[(type(value), *info.metadata)])
            try:
                number.validate_python(value)
            except pydantic.ValidationError:
                return False
    return True


def program_marks(program: Path) -> Marks:
    """What llama.cpp's own handlers say."""
    names = {0: TAKEN, 1: REFUSED}
    marks: Marks = {}
    for option, values in candidates("llamacpp").items():
        lines = "".join(f"{option}\t{value}\n" for value in values)
        done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
        codes = [int(line.rsplit("\t", 1)[1]) for line in done.stdout.splitlines()]
        marks[option] = {value: names.get(code, ABSENT) for value, code in zip(values, codes, strict=True)}
    return marks


def asked(engine: str, python: str, place: Path) -> Marks:
    """The marks that this program prints about one version; where seeds differ, the value is taken."""
    every = []
    for seed in SEEDS if engine != "llamacpp" else SEEDS[:1]:
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [python, __file__, engine, str(place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            raise SystemExit(f"{place}: {done.stderr.strip()[-1000:]}")
        every.append(json.loads(done.stdout))
    first: Marks = every[0]
    return {
        option: {value: max((marks[option][value] for marks in every), key="-.+".index) for value in values}
        for option, values in first.items()
    }


def write(engine: str, python: str, cache: Path) -> None:
    """Keeps the marks of all versions of an engine in the data."""
    data = yaml.safe_load(DATA.read_text("utf-8"))
    versions = data[engine]["versions"]
    name = "judge" if engine == "llamacpp" else ""
    every = [asked(engine, python, cache / str(version) / name) for version in versions]
    values = {
        option: {value: "".join(marks[option][value] for marks in every) for value in candidates(engine)[option]}
        for option in candidates(engine)
    }
    head = re.match(r"(#.*\n)+", DATA.read_text("utf-8"))
    assert head is not None
    data[engine]["values"] = values
    text = yaml.safe_dump(data, sort_keys=False, width=120, default_flow_style=None)
    DATA.write_text(head[0] + text, "utf-8")


def main() -> None:
    words = sys.argv[1:]
    if words[0] == "--write":
        write(words[1], words[2], Path(words[3]))
        return
    engine, place = words
    marks = program_marks(Path(place)) if engine == "llamacpp" else python_marks(engine, Path(place))
    sys.stdout.write(json.dumps(marks))


if __name__ == "__main__":
    main()
