#!/usr/bin/env python3
"""Writes the parts of README.md and docs/ that follow from the program: help texts, the table of error codes.

`scripts/make_docs.py` rewrites them, `--check` exits 1 when they are stale (a test runs that).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from click.testing import CliRunner

from renderer.cli import cli
from renderer.problems import WORDINGS

ROOT = Path(__file__).resolve().parent.parent


def help_text(command: str) -> str:
    """What a command such as `llmaz render --help` prints."""
    words = command.split()
    result = CliRunner().invoke(cli, words[1:], prog_name=words[0], terminal_width=100)
    return f"$ {command}\n{result.output}"


def error_table() -> str:
    """One row a code: how it reads, what to do."""
    rows = ["| code | says | and hints |", "|---|---|---|"]
    for code, wording in sorted(WORDINGS.items()):
        cells = [text.replace("|", "\\|").replace("{hint}", "…") for text in (wording.message, wording.hint)]
        rows.append(f'| <a id="{code.lower()}"></a>{code} | {cells[0]} | {cells[1]} |')
    return "\n".join(rows)


def rewritten(text: str) -> str:
    """The page with its made parts made again."""
    text = re.sub(
        r"(<!-- help: (.*?) -->\n```\n).*?(```)",
        lambda match: match[1] + help_text(match[2]) + match[3],
        text,
        flags=re.DOTALL,
    )
    return re.sub(
        r"(<!-- errors -->\n).*?(<!-- /errors -->)",
        lambda match: match[1] + error_table() + "\n" + match[2],
        text,
        flags=re.DOTALL,
    )


def main() -> int:
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        old = path.read_text()
        if (new := rewritten(old)) != old:
            stale.append(path)
            if "--check" not in sys.argv[1:]:
                path.write_text(new)
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale' if '--check' in sys.argv[1:] else 'rewritten'}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
