"""Standard output and standard error: UTF-8, buffered, and every write checked; the only place that prints.

What a program downstream gets is all that was printed, or the exit status says otherwise: a short write, a full disk, a
reader that went away or a stream that was closed before the start is a failure, never an end of the text.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

UNWRITTEN = 2  # the exit status


class UnwritableError(BaseException):
    """A standard stream does not take what is written to it.

    No Exception: nothing between the write and `checked` is to take it for a fault of its own.
    """

    def __init__(self, descriptor: int, error: OSError) -> None:
        super().__init__(descriptor, error)
        self.descriptor, self.reason = descriptor, error.strerror or str(error)


class _Descriptor(io.FileIO):
    """A standard stream's descriptor, which stays open."""

    def write(self, data: ReadableBuffer) -> int:
        """How many bytes of it went out, one at least; waits for a pipe that never blocks. Raises Unwritable."""
        while True:
            try:
                count: int | None = super().write(data)
            except OSError as error:
                raise UnwritableError(self.fileno(), error) from None
            if count is not None:
                return count
            from select import select

            select((), (self.fileno(),), ())


def prepare() -> None:
    """Makes the standard streams anew: whatever the locale, PYTHONIOENCODING and PYTHONUNBUFFERED say.

    A descriptor that is closed gets one in its place that takes no writes, so that no other file gets its number.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = _stream(1), _stream(2)


def _stream(descriptor: int) -> io.TextIOWrapper:
    """What has no UTF-8, lone surrogates, is shown as escapes."""
    buffer = io.BufferedWriter(_Descriptor(descriptor, "w", closefd=False))
    return io.TextIOWrapper(buffer, "utf-8", "backslashreplace", newline="\n", line_buffering=True)


@contextmanager
def checked_output() -> Iterator[None]:
    """What is printed within has gone out at its end. Raises SystemExit where it did not, with a line about it."""
    try:
        try:
            yield
        except SystemExit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except UnwritableError as failure:
        if failure.descriptor != 2:
            from renderer.diagnostics import WORDINGS

            print_aside(f"standard output: {WORDINGS['E150'].message.format(what=failure.reason)} [E150]")
        raise SystemExit(UNWRITTEN) from None


def write(text: str) -> None:
    """Prints what a command was asked for. Raises Unwritable."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_aside(text: str) -> None:
    """Prints to standard error what has to be read there, such as problems. Raises Unwritable."""
    sys.stderr.write(text)
    sys.stderr.flush()


def print_aside(text: str) -> None:
    """A line for people on standard error; lost where nobody listens."""
    from renderer import escapes  # `--version` has nothing to escape

    with suppress(UnwritableError):
        write_aside(escapes.lines(escapes.line(text)) + "\n")


def exit_process(code: object) -> NoReturn:
    """Ends the process at once, with this exit status as `sys.exit` takes it; what could not be printed is not tried
    again.
    """
    with suppress(UnwritableError):
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
