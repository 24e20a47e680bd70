"""Runs a program on files of the tree: bounded, without plugins, and without network.

Where the system has it, the program gets a network namespace of its own, in which no interface is up. Elsewhere its
environment alone keeps it from the network, and all that it might fetch is refused before it starts.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache

from msgspec import Struct

from renderer.diagnostics import NamedSource, Origin, RenderError, make_diagnostic

HOMES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PATH", "TMPDIR", "HELM_PLUGINS")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
SECONDS = 60.0
MOST_BYTES = 64 * 1024 * 1024
MOST_MEMORY = 2 * 1024 * 1024 * 1024  # bytes that it may write to, which Go asks for as it needs them
# Options of util-linux's unshare; what it starts has no network. Root needs no user namespace, in which it could not
# read what others own.
_UNSHARE = (("--net", "--"), ("--map-root-user", "--net", "--"))
_MOST_ERROR = 16 * 1024  # bytes of what it says of a failure
_ADVICE = "Use --debug flag to render out invalid YAML"
_CRASH = re.compile(rb"(?:fatal error|runtime|panic): [^\n]*")  # of a Go program, before the stacks of all its threads
_NO_PROXY = "http://127.0.0.1:9"  # nothing listens on the port `discard`


class ProgramOutput(Struct, frozen=True):
    """What a program printed."""

    data: bytes
    error: str = ""  # why there is none


class CommandResult(Struct, frozen=True):
    """How a command ended."""

    status: int
    data: bytes  # of its standard output
    message: str  # the end of its standard error
    stopped: str = ""  # why it was ended early


def run_program(name: str, arguments: Sequence[str], *, scratch: str) -> ProgramOutput:
    """The output of a program of the PATH, or why there is none. `scratch`: an empty folder in which it may write.
    Raises RenderError where there is no such program.

    Its environment has no PATH, so that it finds neither git nor plugins, no home, and a proxy that does not answer. It
    runs in a network namespace, where an unprivileged user may have one.
    """
    program = shutil.which(name)
    if not program:
        raise RenderError([make_diagnostic("E562", Origin(NamedSource(name)))])
    environment = dict.fromkeys(HOMES, scratch) | dict.fromkeys(PROXIES, _NO_PROXY)
    try:
        result = run_command([*network_namespace(), program, *arguments], environment, SECONDS, MOST_MEMORY)
    except (OSError, ValueError) as error:  # an argument that is too long, or holds NUL: a name of the input
        what = error.strerror if isinstance(error, OSError) else error
        return ProgramOutput(b"", f"it cannot be started: {what}")
    if result.stopped:
        return ProgramOutput(b"", result.stopped)
    if result.status == 0:
        return ProgramOutput(result.data)
    return ProgramOutput(b"", _last_error(result.message) or "it failed")


@cache
def network_namespace() -> tuple[str, ...]:
    """The words that start a program in a network namespace of its own; none where the system does not allow one."""
    unshare, true = shutil.which("unshare"), shutil.which("true")
    if not unshare or not true:
        return ()
    for options in _UNSHARE[os.geteuid() != 0 :]:
        words = (unshare, *options)
        with suppress(OSError):
            if run_command([*words, true], {}, SECONDS).status == 0:
                return words
    return ()


def run_command(
    command: Sequence[str], environment: Mapping[str, str], seconds: float, memory: int = 0
) -> CommandResult:
    """What a command prints in this environment. It is ended, with all that it has started, after so many seconds, when
    it prints too much, and when this process is interrupted. Raises OSError where it cannot be started.

    `memory`: how many bytes each of its processes may write to, where the system can bound that; 0 for any.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        _bound_memory(process.pid, memory)
        timer = threading.Timer(seconds, _end, (process,))
        timer.start()
        data = None
        try:
            data = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
        finally:
            if data is None or len(data) > MOST_BYTES:
                _end(process)
            process.communicate()
            timed_out = not timer.is_alive()
            timer.cancel()
        errors.seek(0)
        crash = _CRASH.match(errors.read(_MOST_ERROR))
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - _MOST_ERROR))
        message = (crash[0] if crash else errors.read()).decode("utf-8", "replace").strip()
    if len(data) > MOST_BYTES:
        return CommandResult(process.returncode, b"", message, f"it printed more than {MOST_BYTES:,} bytes")
    if timed_out:
        return CommandResult(process.returncode, b"", message, f"it took more than {seconds:g} s")
    if memory and crash and b"memory" in crash[0]:
        return CommandResult(process.returncode, b"", message, f"it needed more than {memory:,} bytes of memory")
    return CommandResult(process.returncode, data, message)


def _bound_memory(pid: int, memory: int) -> None:
    if memory and hasattr(resource, "prlimit"):
        with suppress(OSError):  # it has ended already, or has a lower limit
            resource.prlimit(pid, resource.RLIMIT_DATA, (memory, memory))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and those that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _last_error(message: str) -> str:
    """The error at the end of what a program says, in one line, without advice about its own options."""
    return " ".join(message.rpartition("Error: ")[2].replace(_ADVICE, "").split())
