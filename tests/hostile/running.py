"""Runs the program in this process, on a leash."""

from __future__ import annotations

import contextlib
import gc
import io
import signal
from collections.abc import Iterator

from renderer import cli

SECONDS = 5.0  # of one processor


class TooLong(BaseException):
    """The processor was busy for more than SECONDS."""


@contextlib.contextmanager
def leash(seconds: float = SECONDS) -> Iterator[None]:
    """Ends what uses a processor for more than so many seconds. Raises TooLong."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(arguments: tuple[str, ...]) -> tuple[object, str]:
    """Exit code and all that was printed, of one run in this process; of `--stdout` the manifests alone."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    aside = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") if "--stdout" in arguments else out
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(aside):
            try:
                cli.run(list(arguments))
            except SystemExit as end:
                code = end.code or 0
    finally:
        gc.unfreeze()
        gc.enable()
    return code, out.buffer.getvalue().decode("utf-8")
