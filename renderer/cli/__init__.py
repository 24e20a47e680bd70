"""The command line: flags, output and exit codes; no other package prints."""

from __future__ import annotations

from renderer.cli.commands import Commands, cli, main, run

__all__ = [
    "Commands",
    "cli",
    "main",
    "run",
]
