"""Programs in containers: bubblewrap gives each a root of its own, with the files that its manifest mounts."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.gateway.network import PodNetwork

PATIENCE = 3  # seconds between SIGTERM and SIGKILL
EMPTY = ("/tmp", "/var", "/etc", "/data")  # noqa: S108  # of the container alone
USR_LINKS = {"/bin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib64"}


class Mount(NamedTuple):
    """A folder or file of this machine, and where a container sees it."""

    source: Path
    target: str
    writable: bool = False


class Container:
    """A program that runs in a pod's network. Its standard output and standard error go to `log`."""

    def __init__(
        self,
        network: PodNetwork,
        command: Sequence[str | Path],
        mounts: Sequence[Mount],
        environment: Mapping[str, str],
        log: Path,
    ) -> None:
        self.log = log
        program, *arguments = map(str, command)
        inside = f"/{Path(program).name}"
        sandbox = [*_root(mounts), "--ro-bind", program, inside, *_variables(environment), "--"]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*network.entry, "bwrap", "--die-with-parent", *sandbox, inside, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def stop(self) -> None:
        """SIGTERM, and SIGKILL when it takes longer than PATIENCE."""
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _root(mounts: Sequence[Mount]) -> list[str]:
    """This machine's /usr, read-only, and the mounts; all else is empty."""
    words = ["--ro-bind", "/usr", "/usr"]
    for link, target in USR_LINKS.items():
        words += ["--symlink", target, link]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for folder in EMPTY:
        words += ["--tmpfs", folder]
    for mount in mounts:
        words += ["--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target]
    return words


def _variables(environment: Mapping[str, str]) -> list[str]:
    words = ["--clearenv"]
    for name, value in {"PATH": "/usr/bin:/bin", "HOME": "/data", **environment}.items():
        words += ["--setenv", name, value]
    return words
