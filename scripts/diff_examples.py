#!/usr/bin/env python3
"""Prints, in Markdown, what `llmaz diff --llmaz` says of the examples: what this checkout renders, compared with what
another llmaz renders, and its risks.

    .venv/bin/python -m scripts.diff_examples llmaz_renderer-0.1.0-py3-none-any.whl                # of all examples
    .venv/bin/python -m scripts.diff_examples llmaz_renderer-0.1.0-py3-none-any.whl hpa quickstart

An example in which nothing changes is only counted. Exit code 1 where one of the two refuses an example, with its
errors on standard error; the others are printed all the same.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.make_version_table import ROOT, environments

EXAMPLES = ROOT / "examples"
LLMAZ = Path(sys.executable).parent / "llmaz"
NOTHING, CHANGED = 0, 1  # exit codes of `llmaz diff --exit-code`


def diffs(example: Path, wheel: Path) -> Iterator[tuple[str, subprocess.CompletedProcess[str]]]:
    """What an example is called with its environment, and how `llmaz diff` ended; for each of its environments."""
    for environment in environments(example):
        words = ["--env", environment] if environment else []
        command = [str(LLMAZ), "diff", "--llmaz", str(wheel), "--exit-code", "--format", "markdown", *words]
        done = subprocess.run(command, cwd=example, capture_output=True, text=True, check=False)
        yield f"{example.name}{environment and f' ({environment})'}", done


def main() -> int:
    """Prints the differences. The exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("wheel", type=Path, help="the wheel of the other llmaz")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="the name of an example (default: all)")
    options = parser.parse_args()
    names = options.examples or sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    if unknown := [name for name in names if not (EXAMPLES / name).is_dir()]:
        parser.error(f"no example is called {', '.join(unknown)}")
    unchanged, code = 0, 0
    for name in names:
        for title, done in diffs(EXAMPLES / name, options.wheel.absolute()):
            if done.returncode == NOTHING:
                unchanged += 1
            elif done.returncode == CHANGED:
                print(f"#### {title}\n\n{done.stdout}", flush=True)
            else:
                print(f"{title}: exit code {done.returncode}\n{done.stderr}", file=sys.stderr, flush=True)
                code = 1
    print(f"Nothing changes in {unchanged} renderings of examples.")
    return code


if __name__ == "__main__":
    sys.exit(main())
