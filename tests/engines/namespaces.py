"""Linux namespaces: one that ends everything in it, and a network with nothing in it.

Python has os.unshare from 3.12 on; until then libc is asked.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from tests.apiserver.server import CannotJudge

MOUNTS, PIDS, NETWORK = 0x0002_0000, 0x2000_0000, 0x4000_0000  # CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def enclosed(work: Callable[[Path], int]) -> int:
    """The exit status of the work, done in a process of its own with an empty folder.

    That process is the first of a PID namespace, and its mounts are private: all that it starts and mounts ends with
    it. It ends when it is done, on Ctrl-C or SIGTERM (status 130), and when this process is killed. Needs root.
    """
    with tempfile.TemporaryDirectory(prefix="llmaz-engines-") as folder:
        try:
            _call("unshare", PIDS)
        except OSError as error:
            raise CannotJudge(f"this machine gives root no namespaces: {error}") from error
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os._exit(_first(work, Path(folder)))

        def forward(number: int, _: FrameType | None) -> None:
            os.kill(child, number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, forward)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


def _first(work: Callable[[Path], int], folder: Path) -> int:
    """The exit status of the work, in the first process of the namespace. Raises nothing: nobody is there to see it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        _call("prctl", PARENT_DEATH_SIGNAL, signal.SIGKILL)
        _call("unshare", MOUNTS)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
        return work(folder)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; all pods are gone\n")
        return 130
    except BaseException:  # noqa: BLE001  # the process ends here, whatever it was
        traceback.print_exc()
        return 3
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def leave_network() -> None:
    """Gives this process, and all that it starts from here on, a network of its own with nothing in it."""
    _call("unshare", NETWORK)


def _call(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
