#!/usr/bin/env python3
"""Makes the lists of what engines do without an option, by release, from the engines' own parsers.

    .venv/bin/python -m scripts.make_defaults vllm CACHE      # writes presets/backends/flags/vllm.defaults.txt
    .venv/bin/python -m scripts.make_defaults sglang CACHE

CACHE is the folder of scripts/make_options.py, into which that script or release_sources.py fetched the sources; its
Python runs the parsers, with stand-ins for what is missing (stand_ins.py).

The line `versions …` holds the releases that were looked at, the oldest first: of others nothing is known. Each further
line is `NAMES VALUE RANGE`. NAMES are the spellings of the option, `--name[,-n…]`, the first long one first; behind `/`
those that set the same besides: `--no-name`, and older options that lead to it. VALUE is what a user would write: a
number, a text, JSON for lists and maps, `true` or `false` for a flag that is given or not, and `-` where the parser
leaves the value open: the engine decides at its start. A text is a JSON text where it is empty or could be taken for
something else. RANGE is `since..until`, as in the lists of options, `..` for all.

An option has no line where there is nothing to say: it must be given or is only passed on when it is (SUPPRESS), a
positional argument takes its place, its value is an object of the engine, or differs between machines, which running
the parser as on several of them shows.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from packaging.version import Version

from scripts import make_options
from scripts.make_options import BACKENDS, ROOT, spans

AT_START = "-"
# Fields that a positional argument sets, whatever their option's default is: `vllm serve MODEL`.
_POSITIONAL: Mapping[str, frozenset[str]] = {"vllm": frozenset(["model"])}
_MACHINES = 3


# --- one parser -------------------------------------------------------------------------------------------------------


def default_lines(engine: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """`NAMES VALUE` of each option whose default can be written."""
    fields: dict[str, list[argparse.Action]] = {}
    for action in parser._actions:
        if action.option_strings and action.dest not in _POSITIONAL.get(engine, ()):
            fields.setdefault(action.dest, []).append(action)
    for actions in fields.values():
        # A namespace has the default of the first option of a field.
        first = next((action for action in actions if action.default is not argparse.SUPPRESS), None)
        if first is None or any(action.required for action in actions):
            continue
        value = written(first, parser)
        own = [name for name in first.option_strings if name not in make_options.negations(first)]
        others = sorted({name for action in actions for name in action.option_strings}.difference(own))
        if value and own:
            own.sort(key=lambda name: not name.startswith("--"))
            yield f"{','.join(own)}{'/' if others else ''}{','.join(others)} {value}"


def written(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """What a user would write to have the default, `AT_START` where there is none; '' where nobody could write it."""
    default: Any = action.default
    if isinstance(default, str):  # argparse reads a text as if it were given
        with contextlib.suppress(SystemExit, Exception):
            default = parser._get_value(action, default)
    if default is None:
        return AT_START
    if action.nargs == 0 and not make_options.negations(action):
        return "true" if default == action.const else "false" if isinstance(default, bool) else ""
    if isinstance(default, Enum):
        default = default.value
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int | float):
        return repr(int(default)) if default == default // 1 else repr(default)
    if isinstance(default, str):
        plain = default.isprintable() and default == default.strip() and default not in ("", AT_START)
        return default if plain and default[0] != '"' else json.dumps(default)
    if isinstance(default, set | frozenset):
        default = sorted(default)
    if isinstance(default, list | tuple | dict):
        with contextlib.suppress(TypeError, ValueError):
            return json.dumps(default, ensure_ascii=False)
    return ""


def print_defaults(engine: str, sources: str, machine: int) -> None:
    """Prints the lines of a release, on a machine that differs from others of another number."""
    os.cpu_count = lambda: 2**machine
    os.sched_getaffinity = lambda _: set(range(2**machine))
    socket.gethostname = platform.node = lambda: f"host{machine}"
    importlib.import_module("scripts.stand_ins").install(engine, Path(sources))
    with contextlib.redirect_stdout(sys.stderr):  # importing an engine says this and that
        lines = [*default_lines(engine, make_options.PARSERS[engine]())]
    print("\n".join(lines))


# --- the lists --------------------------------------------------------------------------------------------------------


def release_defaults(engine: str, sources: Path, python: Path) -> set[str]:
    """The lines of a release that are the same on all machines."""
    by_machine = []
    for machine in range(_MACHINES):
        with tempfile.TemporaryDirectory() as folder:
            places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), folder)
            own = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "USER": f"user{machine}", **places}
            own |= {"PYTHONHASHSEED": str(machine), "PYTHONDONTWRITEBYTECODE": "1"}
            command = [str(python), "-m", "scripts.make_defaults", "print", engine, str(sources), str(machine)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=own)
        if done.returncode:
            raise SystemExit(f"{sources}: {done.stderr.strip()[-2000:]}")
        by_machine.append(set(done.stdout.splitlines()))
    same = set.intersection(*by_machine)
    print(f"{sources.name}: {len(same)}; by machine: {sorted(set.union(*by_machine) - same)}", file=sys.stderr)
    return same


def ranged(by_version: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The lines of all versions, each with its range."""
    lists = {version: {*lines} for version, lines in by_version.items()}
    versions: Sequence[str] = [*lists]
    spanned = {
        line: spans(versions, [line in lines for lines in lists.values()]) for line in set().union(*lists.values())
    }
    # An option's lines in the order of their versions.
    keys = {
        f"{line} {span or '..'}": (line.partition(" ")[0].partition("/")[0].partition(",")[0], order(versions, span))
        for line, its_spans in spanned.items()
        for span in its_spans
    }
    yield from sorted(keys, key=lambda line: (keys[line], line))


def order(versions: Sequence[str], span: str) -> int:
    """The position of the first version of a range."""
    since = span.partition("..")[0]
    return versions.index(since) if since else 0


def main(engine: str, cache: str) -> None:
    folders = sorted((Path(cache) / engine).iterdir(), key=lambda path: Version(path.name))
    python = Path(cache).absolute() / "env" / "bin" / "python"
    by_version = {path.name: release_defaults(engine, path.absolute(), python) for path in folders if path.is_dir()}
    target = BACKENDS / "flags" / f"{engine}.defaults.txt"
    title = make_options.ENGINES[engine]
    head = f"# {title}: what its server does without an option, in every release, from its own parser."
    legend = "# Made by scripts/make_defaults.py, which says what a line means."
    known = f"versions {' '.join(by_version)}"
    target.write_text("\n".join([head, legend, known, *ranged(by_version), ""]), "utf-8")
    print(target.relative_to(ROOT))


if __name__ == "__main__":
    if sys.argv[1:2] == ["print"] and len(sys.argv) == 5:
        print_defaults(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        raise SystemExit(__doc__)
