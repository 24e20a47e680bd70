"""Runs a program on files of the tree: bounded, without plugins, and without network as far as its environment goes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence

from msgspec import Struct

from renderer.diagnostics import Origin, RenderError, make_diagnostic
from renderer.diagnostics.rule import NamedSource

HOMES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PATH", "TMPDIR", "HELM_PLUGINS")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
SECONDS = 60.0
MOST_BYTES = 64 * 1024 * 1024
_MOST_ERROR = 16 * 1024  # bytes of what it says of a failure
_ADVICE = "Use --debug flag to render out invalid YAML"
_NO_PROXY = "http://127.0.0.1:9"  # nothing listens on the port `discard`


class ProgramOutput(Struct, frozen=True):
    """What a program printed."""

    data: bytes
    error: str = ""  # why there is none


def run_program(name: str, arguments: Sequence[str], *, scratch: str) -> ProgramOutput:
    """The output of a program of the PATH, or why there is none. `scratch`: an empty folder in which it may write.
    Raises RenderError where there is no such program.

    Its environment has no PATH, so that it finds neither git nor plugins, no home, and a proxy that does not answer.
    """
    program = shutil.which(name)
    if not program:
        raise RenderError([make_diagnostic("E562", Origin(NamedSource(name)))])
    environment = dict.fromkeys(HOMES, scratch) | dict.fromkeys(PROXIES, _NO_PROXY)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=environment
        )
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            data = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
            if len(data) > MOST_BYTES:
                process.kill()
        finally:
            process.communicate()
            timed_out = not timer.is_alive()
            timer.cancel()
        errors.seek(0)
        message = errors.read(_MOST_ERROR).decode("utf-8", "replace").strip()
    if len(data) > MOST_BYTES:
        return ProgramOutput(b"", f"it printed more than {MOST_BYTES:,} bytes")
    if timed_out:
        return ProgramOutput(b"", f"it took more than {SECONDS:g} s")
    if process.returncode == 0:
        return ProgramOutput(data)
    return ProgramOutput(b"", _last_error(message) or "it failed")


def _last_error(message: str) -> str:
    """The error at the end of what a program says, in one line, without advice about its own options."""
    return " ".join(message.rpartition("Error: ")[2].replace(_ADVICE, "").split())
