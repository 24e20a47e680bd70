"""A folder as the root of a program: another user, no network, and nothing of this machine but its kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

TMP = "/tmp"  # noqa: S108 - of the sandbox
PATH = "/usr/local/bin:/usr/bin:/bin"
PROGRAMS = ("bwrap", "mmdebstrap", "setpriv", "skopeo", "umoci")


class CannotJudge(Exception):
    """Why nothing can be asked here."""


class Result(Struct, frozen=True):
    """What a program has printed, and its exit code."""

    code: int
    out: str
    err: str


class Sandbox(Struct, frozen=True):
    """A root, and the folders of this machine that a program sees in it."""

    root: Path
    user: int
    readable: Mapping[Path, str] = {}  # each by its path in the sandbox
    writable: Mapping[Path, str] = {}
    variables: Mapping[str, str] = {}

    def run(self, *command: str, folder: str = "/", **variables: str) -> Result:
        """Runs a command in a folder of the sandbox."""
        identity = ("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups")
        words = ["--ro-bind", str(self.root), "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", TMP]
        for path, target in self.readable.items():
            words += ["--ro-bind", str(path), target]
        for path, target in self.writable.items():
            words += ["--bind", str(path), target]
        for name, value in ({"PATH": PATH} | {**self.variables} | variables).items():
            words += ["--setenv", name, value]
        bubblewrap = ("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv")
        done = subprocess.run(
            [*identity, *bubblewrap, *words, "--chdir", folder, *command], capture_output=True, text=True, check=False
        )
        return Result(done.returncode, done.stdout, done.stderr)


def check_machine() -> None:
    """Raises CannotJudge where the machine lacks something."""
    lacking = [name for name in PROGRAMS if not shutil.which(name)]
    if lacking:
        raise CannotJudge(f"{', '.join(lacking)} cannot be found: apt-get install bubblewrap mmdebstrap skopeo umoci")
    if os.geteuid() != 0:
        raise CannotJudge("it needs root, to write the owners of files and to become another user")


def own(folder: Path, user: int) -> None:
    """Gives a folder and all that is in it to a user."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
