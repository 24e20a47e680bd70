#!/usr/bin/env python3
"""Asks the engines' own parsers for what `llmaz upgrade --write` leaves of the trees of tests/upgrade/ended_options.py.

    .venv/bin/python tests/engines/judge_upgrades.py CACHE

CACHE as for versions.py. Not collected by pytest. A parser has to take each line that is mended, and to refuse each of
which the break is still told; exit status 1 where one does not.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STARTS = {
    "vllm": ["vllm", "serve", "/models/m"],
    "sglang": ["sglang", "serve", "--model-path", "/models/m"],
    "llamacpp": ["/app/llama-server", "--model", "/models/m.gguf"],
}


def upgraded_lines(versions, folder: Path) -> tuple[dict[str, list[str]], set[str]]:  # type: ignore[no-untyped-def]
    """The arguments of each Playground after the upgrade, and those of which a break is left."""
    yaml = __import__("yaml")
    apps = dict(__import__("tests.upgrade.ended_options", fromlist=["write_tree"]).write_tree(folder, versions))
    command = [sys.executable, "-m", "renderer", "upgrade", versions.target, "--write"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env={"PYTHONPATH": str(ROOT)}
    )
    left = set(re.findall(r"^(\w+)\.yaml:.*\[E", done.stderr, re.MULTILINE))
    documents = {name: yaml.safe_load((folder / f"{name}.yaml").read_bytes()) for name in apps}
    return {name: body["spec"]["backendRuntimeConfig"]["args"] for name, body in documents.items()}, left


def main(cache: str) -> None:
    sys.path.insert(0, str(ROOT))
    ask_parser = __import__("versions").ask_parser  # beside this file
    contrary = 0
    for versions in __import__("tests.upgrade.ended_options", fromlist=["UPGRADES"]).UPGRADES:
        with tempfile.TemporaryDirectory() as folder:
            lines, left = upgraded_lines(versions, Path(folder))
        words = [[*STARTS[versions.engine], *line] for line in lines.values()]
        faults = dict(zip(lines, ask_parser(versions.engine, versions.new, words, Path(cache)), strict=True))
        wrong = [name for name in lines if bool(faults[name]) != (name in left)]
        for name in wrong:
            sys.stdout.write(
                f"{versions.name}: {' '.join(lines[name])}: {faults[name] or 'is taken, and reported as a break'}\n"
            )
        accepted = sum(not fault for fault in faults.values())
        sys.stdout.write(
            f"{versions.name} to {versions.new}: {len(lines)} taken {accepted}, refused {len(lines) - accepted}\n"
        )
        contrary += len(wrong)
    raise SystemExit(1 if contrary else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
