"""Shares work between this process and forks of it; nothing else in the program forks.

A fork sees all data of its parent. It works on every n-th chunk of the items, and sends back the results. Where the
system grants no further process or pipe, the rest of the work is done in this process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EMFILE
from typing import Any, BinaryIO, TypeVar

from renderer.diagnostics import Diagnostic, InternalError, Origin, Path, RenderError, make_diagnostic

Item = TypeVar("Item")
Result = TypeVar("Result")
MIN_ITEMS = 200  # below, a fork costs more time than it saves
CHUNK = 96  # the most items that go through all stages together, so that data stays in the processor's cache
_INTERRUPTED = 130  # the exit code of a worker
_FREE = 16  # file descriptors that are left for other files


class _Process:
    """A source without places: the process itself."""

    name = "llmaz"

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


def process_count(items: int) -> int:
    """The number of processes for that many items: 1, or the number of cores, at most 8."""
    if items < MIN_ITEMS or not hasattr(os, "fork"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8)


def run(work: Callable[[Sequence[Item]], Result], items: Sequence[Item], size: int = CHUNK) -> list[Result]:
    """The results of `work` for each chunk of the items, in order. Raises what `work` raises, in any process."""
    with start(work, items, size) as results:
        return list(results)


@contextmanager
def start(
    work: Callable[[Sequence[Item]], Result], items: Sequence[Item], size: int = CHUNK
) -> Iterator[Iterator[Result]]:
    """As `run`, with an iterator of results. Workers start at once, this process works as the iterator advances."""
    count = process_count(len(items))
    parts = -(-len(items) // (size * count)) * count or 1  # equally many chunks for each process
    size = -(-len(items) // parts) or 1
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    workers: dict[int, _Worker] = {}  # by remainder of the chunks' numbers
    try:
        with suppress(OSError):  # no more processes, descriptors or memory: this process does the rest
            for share in range(1, min(count, len(chunks))):
                workers[share] = _fork(work, chunks[share::count])
        yield (
            workers[number % count].result() if number % count in workers else work(chunk)
            for number, chunk in enumerate(chunks)
        )
    finally:
        for worker in workers.values():
            worker.results.close()  # a running worker ends at its next result
        for worker in workers.values():
            worker.exit_code()


class _Worker:
    """A worker process, as seen by its parent."""

    def __init__(self, pid: int, results: BinaryIO) -> None:
        self.pid, self.results = pid, results
        self._exit_code: int | None = None

    def result(self) -> Any:
        """The result of its next chunk. Raises the worker's exception, and RenderError, InternalError or
        KeyboardInterrupt if the worker died.
        """
        from pickle import UnpicklingError, load  # few runs need it

        try:
            result = load(self.results)
        except (EOFError, UnpicklingError):
            raise self._early_end_error() from None
        if isinstance(result, BaseException):
            raise result
        return result

    def exit_code(self) -> int:
        """Its exit code, or minus the signal that killed it. Waits for its end."""
        if self._exit_code is None:
            self._exit_code = 0
            with suppress(ChildProcessError):  # where SIGCHLD is ignored
                self._exit_code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._exit_code

    def _early_end_error(self) -> BaseException:
        """The exception for its early end."""
        code = self.exit_code()
        if code == _INTERRUPTED:  # the signal may reach this process later
            return KeyboardInterrupt()
        if code < 0:
            return RenderError([make_diagnostic("E180", Origin(_Process()), signal=_signal(-code))])
        return InternalError("llmaz", f"a worker process died with exit code {code}")


def _fork(work: Callable[[Sequence[Any]], Any], chunks: Iterable[Sequence[object]]) -> _Worker:
    """Starts a worker on the chunks. Raises OSError."""
    read, write = os.pipe()
    try:
        if 0 < os.sysconf("SC_OPEN_MAX") < write + _FREE:
            raise OSError(EMFILE, os.strerror(EMFILE))
        pid = os.fork()
    except OSError:
        os.close(read)
        os.close(write)
        raise
    if pid:
        os.close(write)
        return _Worker(pid, open(read, "rb"))
    code = 1
    try:
        os.close(read)
        with open(write, "wb") as results:
            _work(work, chunks, results)
        code = 0
    except KeyboardInterrupt:
        code = _INTERRUPTED
    finally:
        os._exit(code)


def _work(work: Callable[[Sequence[object]], object], chunks: Iterable[Sequence[object]], results: BinaryIO) -> None:
    """Sends the result of each chunk. Raises BrokenPipeError where the results are not read any more."""
    from pickle import dumps  # few runs need it

    try:
        for chunk in chunks:
            results.write(dumps(work(chunk)))
            results.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except BaseException as error:  # noqa: BLE001 - raised again where the results are read
        results.write(dumps(_picklable_error(error)))


def _picklable_error(error: BaseException) -> BaseException:
    """The error in a form that can be pickled."""
    if ran_out_of_memory(error):
        return RenderError([out_of_memory()])
    if isinstance(error, (RenderError, InternalError, OSError, ImportError)):
        return error
    return InternalError("llmaz", f"{type(error).__name__}: {error}")


def ran_out_of_memory(error: BaseException | None) -> bool:
    """Whether a MemoryError caused the error."""
    while error and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def out_of_memory() -> Diagnostic:
    """The diagnostic for it."""
    return make_diagnostic("E181", Origin(_Process()))


def _signal(number: int) -> str:
    """The name of a signal, as SIGKILL."""
    from signal import Signals  # few runs need it

    try:
        return Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
