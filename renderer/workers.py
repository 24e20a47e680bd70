"""The one place where work is shared between processes: this one, and forks of it.

A fork sees all that its parent has read. It works on every n-th chunk of the items, and sends back what came of each.
Where the system grants no further process or pipe there are fewer of them, in the end this process alone.
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
MIN_ITEMS = 200  # below that many a fork costs more than it brings
CHUNK = 96  # items at most that go through all stages together: code and tables stay in the processor's cache
_INTERRUPTED = 130  # the exit code of a worker
_FREE = 16  # file descriptors that workers leave to whatever is read and written


class _Process:
    """A source without a place: a process of ours."""

    name = "llmaz"

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


def process_count(items: int) -> int:
    """How many processes to use for that many items: 1, or one a core, eight at most."""
    if items < MIN_ITEMS or not hasattr(os, "fork"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8)


def run(work: Callable[[Sequence[Item]], Result], items: Sequence[Item], size: int = CHUNK) -> list[Result]:
    """What `work` returns for each chunk of the items, in their order. Raises what it raises, in whichever process."""
    with started(work, items, size) as results:
        return list(results)


@contextmanager
def started(
    work: Callable[[Sequence[Item]], Result], items: Sequence[Item], size: int = CHUNK
) -> Iterator[Iterator[Result]]:
    """As `run`, with the results one by one. The workers begin at once, this process when it is asked for a result."""
    count = process_count(len(items))
    parts = -(-len(items) // (size * count)) * count or 1  # as many chunks for each process
    size = -(-len(items) // parts) or 1
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    workers: dict[int, _Worker] = {}  # each has the chunks whose numbers leave this remainder
    try:
        with suppress(OSError):  # no more processes, descriptors or memory: this process does what others do not
            for share in range(1, min(count, len(chunks))):
                workers[share] = _fork(work, chunks[share::count])
        yield (
            workers[number % count].result() if number % count in workers else work(chunk)
            for number, chunk in enumerate(chunks)
        )
    finally:
        for worker in workers.values():
            worker.results.close()  # who still works ends at the next result
        for worker in workers.values():
            worker.exit_code()


class _Worker:
    """A process as the one sees it that started it."""

    def __init__(self, pid: int, results: BinaryIO) -> None:
        self.pid, self.results = pid, results
        self._exit_code: int | None = None

    def result(self) -> Any:
        """What came of its next chunk. Raises what went wrong there, and RenderError, Fault or KeyboardInterrupt where
        it has ended.
        """
        from pickle import UnpicklingError, load  # few runs need it

        try:
            result = load(self.results)
        except (EOFError, UnpicklingError):
            raise self._death() from None
        if isinstance(result, BaseException):
            raise result
        return result

    def exit_code(self) -> int:
        """How it ended: minus the signal that killed it, or its exit code. Waits for it."""
        if self._exit_code is None:
            self._exit_code = 0
            with suppress(ChildProcessError):  # who ignores SIGCHLD hears nothing of its children
                self._exit_code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._exit_code

    def _death(self) -> BaseException:
        """Of what it died."""
        code = self.exit_code()
        if code == _INTERRUPTED:  # with this process, which may hear of it later
            return KeyboardInterrupt()
        if code < 0:
            return RenderError([make_diagnostic("E180", Origin(_Process()), signal=_signal(-code))])
        return InternalError("llmaz", f"a worker process died with exit code {code}")


def _fork(work: Callable[[Sequence[Any]], Any], chunks: Iterable[Sequence[Any]]) -> _Worker:
    """A process that works on the chunks. Raises OSError."""
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


def _work(work: Callable[[Sequence[Any]], Any], chunks: Iterable[Sequence[Any]], results: BinaryIO) -> None:
    """What a worker does. Raises BrokenPipeError where nobody reads its results any more."""
    from pickle import dumps  # few runs need it

    try:
        for chunk in chunks:
            results.write(dumps(work(chunk)))
            results.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except BaseException as error:  # noqa: BLE001 - raised again where the results are read
        results.write(dumps(_sendable(error)))


def _sendable(error: BaseException) -> BaseException:
    """The error as another process may take it."""
    if ran_out_of_memory(error):
        return RenderError([out_of_memory()])
    if isinstance(error, (RenderError, InternalError, OSError)):
        return error
    return InternalError("llmaz", f"{type(error).__name__}: {error}")


def ran_out_of_memory(error: BaseException | None) -> bool:
    """Whether the system refused memory, whatever was made of that."""
    while error and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def out_of_memory() -> Diagnostic:
    """What is printed of it."""
    return make_diagnostic("E181", Origin(_Process()))


def _signal(number: int) -> str:
    """Its name, as SIGKILL."""
    from signal import Signals  # few runs need it

    try:
        return Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
