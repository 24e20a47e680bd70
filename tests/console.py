"""Console sessions, commands with what they print, as pages of docs/ and of error codes show them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

_END = "\x1e"  # behind what a command has printed
_COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)
_AUTHOR = {f"GIT_{role}_{key}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
_DATES = {f"GIT_{role}_DATE": "2026-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
GIT_ENVIRONMENT = {**_AUTHOR, **_DATES, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
"""Variables by which commits of git depend on nobody's settings, and on no clock."""


class Shell:
    """Runs scripts in the current folder, with the program on the PATH. Commits of git depend on nobody's settings."""

    def __init__(self, programs: Path) -> None:
        programs.mkdir()
        (programs / "llmaz").write_text(
            f"#!{sys.executable}\nimport sys\n\nsys.path.insert(0, {str(ROOT)!r})\n"
            "from renderer.cli import main\n\nmain()\n"
        )
        (programs / "llmaz").chmod(0o755)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, **GIT_ENVIRONMENT, "PATH": path, "PYTHONUTF8": "1", "COLUMNS": "100"}

    def run(self, script: str) -> tuple[int, str]:
        """Exit code, and all that is printed."""
        done = subprocess.run(
            ["sh", "-c", script], env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return done.returncode, done.stdout.decode()

    def session(self, text: str) -> str:
        """A block of commands and outputs as it looks when the commands are typed now."""
        commands = _COMMAND.findall(text)
        # `(exit $rc)` keeps `$?` for the next command.
        script = "".join(f"{command}\nrc=$?; printf '\\036'; (exit $rc)\n" for command in commands)
        outputs = self.run(script)[1].split(_END)[:-1]
        return "".join(f"$ {command}\n{output}" for command, output in zip(commands, outputs, strict=True))


def steps(session: str) -> list[tuple[str, str]]:
    """Each command of a session with its output."""
    parts = _COMMAND.split(session)
    return [(command, output.removeprefix("\n")) for command, output in zip(parts[1::2], parts[2::2], strict=True)]
