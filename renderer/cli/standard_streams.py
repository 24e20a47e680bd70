"""Standard output and standard error: UTF-8, buffered, with every write checked; nothing else in the program prints.

If a program downstream does not get the whole output, the exit status says so: a short write, a full disk and a stream
that was closed before the start are errors, never an early end of the text. After a reader that went away, such as
`head`, it is that of a program which SIGPIPE ends, without a message.
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

UNWRITABLE = 2  # the exit status
READER_GONE = 141  # 128 and the number of SIGPIPE, which Python ignores


class UnwritableError(BaseException):
    """A failed write to a standard stream.

    A BaseException, so that no `except Exception` between the write and `checked_output` handles it.
    """

    def __init__(self, descriptor: int, error: OSError) -> None:
        super().__init__(descriptor, error)
        self.descriptor, self.reason = descriptor, error.strerror or str(error)
        self.reader_gone = isinstance(error, BrokenPipeError)


class _Descriptor(io.FileIO):
    """A standard stream's descriptor, which stays open."""

    def write(self, data: ReadableBuffer) -> int:
        """Writes at least one byte, waiting for non-blocking pipes; returns the number. Raises UnwritableError."""
        while True:
            try:
                count: int | None = super().write(data)
            except OSError as error:
                raise UnwritableError(self.fileno(), error) from None
            if count is not None:
                return count
            from select import select

            select((), (self.fileno(),), ())


def use_utf8() -> None:
    """Starts this program anew in Python's UTF-8 mode where the locale has another encoding: names of files are bytes,
    which git and manifests hold as UTF-8, whatever the locale says.
    """
    if sys.getfilesystemencoding() == "utf-8" or not sys.executable or not hasattr(os, "execv"):
        return
    with suppress(OSError):  # without it names that are no ASCII are refused
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 itself, with its words


def prepare() -> None:
    """Replaces the standard streams, independent of the locale, PYTHONIOENCODING and PYTHONUNBUFFERED.

    A closed descriptor is replaced by one that takes no writes, so that no other file gets its number.
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
    """A UTF-8 stream to the descriptor; lone surrogates are escaped."""
    buffer = io.BufferedWriter(_Descriptor(descriptor, "w", closefd=False))
    return io.TextIOWrapper(buffer, "utf-8", "backslashreplace", newline="\n", line_buffering=True)


@contextmanager
def checked_output() -> Iterator[None]:
    """A context that flushes standard output at its end. Raises SystemExit, after a message, if a write failed."""
    try:
        try:
            yield
        except SystemExit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except UnwritableError as failure:
        if failure.reader_gone:
            raise SystemExit(READER_GONE) from None
        if failure.descriptor != 2:
            from renderer.diagnostics.wordings import WORDINGS

            code = "E150"
            print_aside(f"standard output: {WORDINGS[code].message.format(what=failure.reason)} [{code}]")
        raise SystemExit(UNWRITABLE) from None


def write(text: str) -> None:
    """Prints to standard output. Raises UnwritableError."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_aside(text: str) -> None:
    """Prints to standard error. Raises UnwritableError."""
    sys.stderr.write(text)
    sys.stderr.flush()


def print_aside(text: str) -> None:
    """Prints a line to standard error; ignores failed writes."""
    from renderer.text import escapes  # `--version` has nothing to escape

    with suppress(UnwritableError):
        write_aside(escapes.lines(escapes.line(text)) + "\n")


def exit_process(code: object) -> NoReturn:
    """Ends the process at once, with an exit status as for `sys.exit`; failed writes are not repeated."""
    with suppress(UnwritableError):
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
