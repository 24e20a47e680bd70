#!/usr/bin/env python3
"""Compares what is learnt from an engine's own help with the list that ships: names, numbers of values, judgements.

    CACHE/env/bin/python tests/engines/judge_helps.py help vllm CACHE/vllm/0.33.0 80 >help.txt   # by stand-ins
    .venv/bin/python tests/engines/judge_helps.py vllm 0.33.0 help.txt

The first prints the help of the engine's parser, built as scripts/make_options.py builds it, for a terminal of so many
columns; of llama.cpp and TGI it is what their programs print. The second takes the version out of the list, learns it
from the help, and judges with both: all command lines of tests/data/command_lines.yaml, and 2,000 that are made up.
README.md says what the answers are called, and holds the last figures. Exit code 1: less than what it has to come to.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import random
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
MADE_UP, SEED = 2_000, 7
FLOOR = 0.80  # of the judgements have to be equal
NAMES = 0.99  # of the names in our list have to be in the help, or known to be hidden
_SILENT = ("E434", "E440", "E441", "E477", "E478")  # what a help does not tell, where an older version tells nothing
_FITTING: dict[str, tuple[str, ...]] = {
    "int": ("1", "8", "4096"),
    "float": ("0.5", "1"),
    "json": ('{"a": 1}',),
    "object": ('{"a": 1}',),
    "map": ('{"a": 1}',),
    "count": ("8k", "4096"),
}
_WORDS = ("7", "0", "-1", "0.5", "auto", "x", "true", "1k", '{"a": 1}', "[1]", "fp8", "a,b", "")


def print_help(engine: str, sources: str, columns: str) -> None:
    """Prints the whole help of the engine's parser for a terminal of so many columns."""
    make_options, stand_ins = map(importlib.import_module, ("make_options", "stand_ins"))
    os.environ["COLUMNS"] = columns
    stand_ins.install(engine, Path(sources))
    out, sys.argv = io.StringIO(), [engine, "serve", "--help=all"]
    with contextlib.redirect_stdout(sys.stderr):
        parser = make_options.PARSERS[engine]()
    if engine == "vllm":  # it reads the command line itself
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            parser.parse_args(["--help=all"])
    else:
        out.write(parser.format_help())
    sys.stdout.write(out.getvalue())


def compare(engine: str, version: str, path: str) -> list[str]:
    """Prints the figures. Returns what is wrong with them, in words."""
    from renderer.api import BackendRuntime, OptionFile
    from renderer.engines import option_lists
    from renderer.engines.help_text import read_help
    from renderer.engines.known_engine import build_dialect, build_option_rules
    from renderer.engines.option_rules import OptionRules
    from renderer.engines.option_validation import validate_options
    from renderer.load import preset
    from renderer.load.option_lists import OptionListReader
    from renderer.preset_catalog.learning import list_text

    document = preset(f"backends/{engine}")
    runtime = BackendRuntime(engine, document.value["spec"], document, ours=True)
    spec = runtime.spec["engine"]["options"]
    text = list_text(read_help(Path(path).read_text("utf-8"), spec["style"]), engine, version, spec.get("help") or {})
    lines = [line for line in text.splitlines() if line[0] != "#"]

    class Learnt(OptionListReader):
        """The lists of a release that does not know the version."""

        def versions(self, runtime: BackendRuntime, list_path: str) -> dict[str, str]:
            return {**super().versions(runtime, list_path), version: "learnt"}

        def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
            return OptionFile(lines[1:], learnt=version) if path == "learnt" else super().file(runtime, path)

    rules = []
    for files in (OptionListReader(), Learnt()):
        listed = option_lists.read_option_list(files, runtime, version)
        assert listed is not None
        style = build_dialect(runtime.spec, listed)
        rules.append(build_option_rules(files, runtime, style, listed, version))
    ours, learnt = rules
    known, named = ours.option_list.options, learnt.option_list.options
    shown = {name for name in known if name in named and not named[name].unnamed}
    wrong = sorted(name for name in shown if named[name].arity != known[name].arity)
    missing = sorted({*known} - {*named} | {name for name in known if name in named and named[name].unnamed})
    hidden = [name for name in missing if name in named and named[name].hidden]
    extra = sorted(name for name in named if name not in known and not named[name].unnamed)
    faults = [f"another number of values: {', '.join(wrong)}"] if wrong else []
    if len(shown) + len(hidden) < NAMES * len(known):
        faults.append(f"less than {NAMES:.0%} of the names are in the help or known to be hidden")
    _say(f"{engine} {version}: {len(known)} names, {len(shown)} in the help, {len(hidden)} known to be hidden")
    _say(f"  missing {[name for name in missing if name not in hidden]}, further {extra}, other arity {wrong}")

    def judge(rules: OptionRules, args: Sequence[str]) -> dict[int, str]:
        return {finding.index: finding.code for finding in validate_options(rules, args, 1)}

    every = option_lists.options_of_all_versions(OptionListReader(), runtime)
    made_up = list(_made_up(random.Random(SEED), {**every, **known}))
    for what, all_args in (("command lines", list(_command_lines(engine))), ("made up", made_up)):
        answers, pairs = Counter[str](), Counter[str]()
        for args in all_args:
            first, second = judge(ours, args), judge(learnt, args)
            answers[answer := _answer(first, second)] += 1
            for index in {*first, *second} if answer == "unknown" else ():
                one, other = first.get(index, "none"), second.get(index, "none")
                pairs[f"{one} {other}"] += one != other
            if answer == "contrary":
                _say(f"    contrary: {shlex.join(args)}: {first} {second}")
        shown_answers, shown_pairs = dict(sorted(answers.items())), dict((+pairs).most_common(8))
        _say(f"  {what}: {len(all_args)}, {shown_answers}; unknown: {shown_pairs}")
        if answers["contrary"]:
            faults.append(f"{what}: {answers['contrary']} contrary")
        if answers["equal"] < FLOOR * len(all_args):
            faults.append(f"{what}: less than {FLOOR:.0%} equal")
    return faults


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _answer(ours: dict[int, str], learnt: dict[int, str]) -> str:
    """`equal`: the same errors, and no other warning; `contrary`: an error that the other side does not have, of which
    nobody says that it is not known; else `unknown`.
    """
    if ours == learnt:
        return "equal"
    for index in {*ours, *learnt}:
        one, other = ours.get(index, ""), learnt.get(index, "")
        if other.startswith("E") and one != other:
            return "contrary"
        if one.startswith("E") and not other and one not in _SILENT:
            return "contrary"
    return "unknown"


def _command_lines(engine: str) -> Iterator[list[str]]:
    import yaml

    data = yaml.safe_load((ROOT / "tests" / "data" / "command_lines.yaml").read_text("utf-8"))
    for line in data.get(engine, {}).get("lines", ()):
        words = shlex.split(line)
        yield words[2 if words[0] == "vllm" else 3 :]


def _made_up(chance: random.Random, options: Mapping[str, Any]) -> Iterator[list[str]]:
    names = sorted(options)
    for _ in range(MADE_UP):
        args = []
        for name in chance.sample(names, chance.randint(1, 4)):
            option = options[name]
            kind = chance.random()
            if kind < 0.1:  # misspelt, or only a part of it
                at = chance.randrange(2, len(name) + 1)
                other = name[:at] + chance.choice("abz-_") + name[at:]
                name = chance.choice([name[:at], other, name.replace("-", "_")])
            fitting = (*option.choices.values, *_FITTING.get(option.type, ())) or _WORDS
            values = [chance.choice(fitting if chance.random() < 0.85 else _WORDS) for _ in range(3)]
            count = {"0": 0, "?": chance.randint(0, 1)}.get(option.arity, 1)
            count = chance.randint(0, 2) if kind > 0.9 else count
            args += [f"{name}={values[0]}"] if 0.1 < kind < 0.2 and count else [name, *values[:count]]
        yield args


if __name__ == "__main__":
    if sys.argv[1] == "help":
        print_help(*sys.argv[2:])
    else:
        shortfalls = compare(*sys.argv[1:])
        for shortfall in shortfalls:
            _say(f"  too little: {shortfall}")
        sys.exit(1 if shortfalls else 0)
