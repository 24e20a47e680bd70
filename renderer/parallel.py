"""The same work on every core, by fork: children see what the parent read, and send back plain values.

Where the system grants no further process or pipe there are fewer workers, in the end this process alone.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from renderer.problems import Fault, Origin, Path, Problem, RenderError, problem

T = TypeVar("T")
Work = tuple[Callable[[Sequence[T]], Any], Callable[[Any], Any] | None]
WORTH = 200  # below that many items a fork costs more than it brings
FEW = 96  # items at most that go through all stages together: code and tables stay in the processor's cache
_TURNS = 8_000  # whose numbers every system's pipe holds
_RESERVE = 16  # file descriptors that workers leave to whatever is read and written

# Descriptors that no child keeps: the parent's ends of the pipes of all children, so that none of these holds open what
# leads to another, and the reserve.
_parents_own: set[int] = set()


class _Worker:
    """A source without a place: a process of ours."""

    name = "llmaz"

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


def workers(items: int) -> int:
    """How many processes to use for that many items: 1, or one a core, eight at most."""
    if items < WORTH or not hasattr(os, "fork"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8)


class Team(Generic[T]):
    """Children that are at the items from now on; the parent joins them in `results`, so it may begin something else.
    Whoever is free takes the next few items.

    `begin()` is called once in each process, and returns what answers for a few items with plain values (what `marshal`
    takes), and what acts on each word that `tell` sends and answers too; None: nothing is told.
    """

    def __init__(self, begin: Callable[[], Work[T]], items: Sequence[T], few: int = FEW) -> None:
        self._begin = begin
        self._turns = _Turns(items, few)
        self._children: list[_Child] = []
        self._told: Callable[[Any], Any] | None = None
        if others := workers(len(items)) - 1:
            gc.freeze()
            sys.stdout.flush()
            sys.stderr.flush()
            try:
                with suppress(OSError), _reserved():  # no more descriptors, processes or memory: as many as there are
                    self._turns.share()
                    for _ in range(others):
                        self._children.append(_child(self._talk))
            except BaseException:
                self._end()
                raise

    def _talk(self, told: int, out: _Out) -> None:
        """What a child does."""
        work, rest = self._begin()
        for number, few in self._turns:
            out.say(("turn", number, work(few)))
        out.say(("end",))
        out.send()
        while rest and (word := _receive(told)):
            out.say(("told", rest(word[0])))
            out.send()

    def results(self) -> Iterator[Any]:
        """The answers for a few items each, in the order of the items; once. Between two of them the children go on."""
        work, self._told = self._begin()
        done: dict[int, Any] = {}
        due = 0
        for number, few in self._turns:
            done[number] = work(few)
            for child in self._children:  # what they say meanwhile, so that they never wait
                done |= child.turns(wait=False)
            while due in done:
                yield done.pop(due)
                due += 1
        for child in self._children:
            done |= child.turns(wait=True)
        if not self._told:
            self._end()
        for number in sorted(done):
            yield done[number]

    def tell(self, word: str) -> list[Any]:
        """Everybody acts on this word; what each answers. May be called again, after `results`."""
        for child in self._children:
            child.send((word,))
        return [self._told(word) if self._told else None, *(child.said()[0] for child in self._children)]

    def __enter__(self) -> Team[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        """Leaves nothing to take, and ends the children: they go home when nobody tells them anything, nor listens."""
        self._turns.close()
        children, self._children = self._children, []
        for child in children:
            child.close()
        for child in children:
            child.status()


@contextmanager
def _reserved() -> Iterator[None]:
    """So many descriptors are taken meanwhile that others need later. Raises OSError where there are not as many."""
    reserve: list[int] = []
    try:
        while len(reserve) < _RESERVE:
            reserve.append(os.open(os.devnull, os.O_RDONLY))
        _parents_own.update(reserve)
        yield
    finally:
        _parents_own.difference_update(reserve)
        for descriptor in reserve:
            os.close(descriptor)


class _Turns(Generic[T]):
    """A few items each, with their number; towards the end fewer, so that all end together. Once shared, all processes
    take from the same ones.
    """

    def __init__(self, items: Sequence[T], few: int) -> None:
        self._items = items
        few = max(few, len(items) // _TURNS + 1)
        ends, split = [0], 4 * workers(len(items))
        while (left := len(items) - ends[-1]) > 0:
            ends.append(ends[-1] + min(few, max(few // 6, left // split, 1)))
        self._bounds = ends
        self._left: int | None = None  # the pipe that the numbers of turns are taken from
        self._next = 0  # where it is not shared

    def share(self) -> None:
        """For processes that begin from now on. Raises OSError."""
        numbers = b"".join(number.to_bytes(2) for number in range(len(self._bounds) - 1))
        left, into = os.pipe()
        os.set_blocking(into, False)  # a user with many pipes gets small ones
        try:
            if os.write(into, numbers) < len(numbers):
                raise BlockingIOError
        except OSError:
            os.close(left)
            raise
        finally:
            os.close(into)
        self._left = left

    def __iter__(self) -> Iterator[tuple[int, Sequence[T]]]:
        while (number := self._taken()) is not None:
            yield number, self._items[self._bounds[number] : self._bounds[number + 1]]

    def _taken(self) -> int | None:
        """The number of a turn that is this process's; None: all are somebody's."""
        if self._left is not None:
            number = os.read(self._left, 2)
            return int.from_bytes(number) if number else None
        self._next += 1
        return self._next - 1 if self._next < len(self._bounds) else None

    def close(self) -> None:
        """Nothing is left to take."""
        self._next = len(self._bounds)
        if self._left is not None:
            os.read(self._left, 2 * _TURNS)
            os.close(self._left)
            self._left = None


class _Child:
    """A child as its parent sees it."""

    def __init__(self, pid: int, read: int, tell: int) -> None:
        self._pid, self._read, self._tell = pid, read, tell
        self._heard, self._ended = bytearray(), False
        self._status: int | None = None
        _parents_own.update((read, tell))
        os.set_blocking(read, False)

    def close(self) -> None:
        """Nobody talks to it, nor listens."""
        for pipe in (self._read, self._tell):
            _parents_own.discard(pipe)
            os.close(pipe)

    def status(self) -> int:
        """How it ended: minus the signal that killed it, or its exit code. Waits for it."""
        if self._status is None:
            self._status = 0
            with suppress(ChildProcessError):  # who ignores SIGCHLD hears nothing of its children
                self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._status

    def send(self, word: Any) -> None:
        """Raises RenderError or Fault where it has died."""
        try:
            _send(self._tell, word)
        except BrokenPipeError:
            raise self._death() from None

    def turns(self, *, wait: bool) -> dict[int, Any]:
        """What it answered for which turns since the last call, and with `wait` until its last one."""
        made = {}
        if wait:
            os.set_blocking(self._read, True)
        elif not self._ended:
            self._listen()
        while not self._ended and (wait or self._whole()):
            said = self.said()
            if len(said) == 2:
                made[said[0]] = said[1]
            self._ended = not said
        return made

    def said(self) -> list[Any]:
        """The next that it says. Raises its Fault, RenderError or OSError."""
        while not (end := self._whole()):
            self._listen()
        said: list[Any]
        with memoryview(self._heard)[8:end] as data:
            kind, *said = marshal.loads(data)
        del self._heard[:end]
        if kind == "os":
            raise OSError(*said)
        if kind == "wrong":
            raise RenderError(Problem(*each) for each in said[0])
        if kind == "fault":
            raise Fault(*said)
        return said

    def _whole(self) -> int:
        """Where a message ends that is all there; 0: none is."""
        end = 8 + int.from_bytes(self._heard[:8])
        return end if 8 < end <= len(self._heard) else 0

    def _listen(self) -> None:
        """Takes what is in the pipe. Raises RenderError or Fault when it is gone without having said all."""
        try:
            part = os.read(self._read, 1 << 16)  # what a pipe holds
        except BlockingIOError:
            return
        if not part:
            raise self._death()
        self._heard += part

    def _death(self) -> Exception:
        """Of what it died."""
        if (status := self.status()) < 0:
            return RenderError([problem("E180", Origin(_Worker()), signal=_signal(-status))])
        return Fault("llmaz", f"a worker process died with exit code {status}")


class _Out:
    """What a child says: it goes as far as the pipe takes it, and the rest with what comes next."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._left = pipe, bytearray()
        os.set_blocking(pipe, False)

    def say(self, value: Any) -> None:
        """Does not wait."""
        self._left += _framed(value)
        try:
            del self._left[: os.write(self._pipe, self._left)]
        except BlockingIOError:
            return

    def send(self) -> None:
        """Waits until all is said."""
        os.set_blocking(self._pipe, True)
        while self._left:
            del self._left[: os.write(self._pipe, self._left)]


def _child(talk: Callable[[int, _Out], None]) -> _Child:
    """A child that talks: what it is told comes from the one, what it says goes to the other. Raises OSError."""
    pipes: list[int] = []
    try:
        pipes += os.pipe()
        pipes += os.pipe()
        pid = os.fork()
    except OSError:
        for pipe in pipes:
            os.close(pipe)
        raise
    told, tell, read, write = pipes
    if pid:
        os.close(told)
        os.close(write)
        return _Child(pid, read, tell)
    status = 1
    out = _Out(write)
    try:
        for pipe in (tell, read, *_parents_own):
            os.close(pipe)
        _parents_own.clear()
        talk(told, out)
        status = 0
    except KeyboardInterrupt:
        status = 130
    except RenderError as fault:
        out.say(("wrong", [tuple(each) for each in fault.problems]))
    except OSError as fault:
        out.say(("os", fault.errno, fault.strerror, fault.filename))
    except BaseException as fault:  # noqa: BLE001 - the parent prints it
        if ran_out_of_memory(fault):
            out.say(("wrong", [tuple(out_of_memory())]))
        elif isinstance(fault, Fault):
            out.say(("fault", fault.at_hand, fault.what))
        else:
            out.say(("fault", "llmaz", f"{type(fault).__name__}: {fault}"))
    finally:
        with suppress(BrokenPipeError):
            out.send()
        os._exit(status)


def ran_out_of_memory(fault: BaseException | None) -> bool:
    """Whether the system refused memory, whatever was made of that."""
    while fault and not isinstance(fault, MemoryError):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


def out_of_memory() -> Problem:
    """What is said of it."""
    return problem("E181", Origin(_Worker()))


def _signal(number: int) -> str:
    """Its name, as SIGKILL."""
    from signal import Signals  # few runs need it

    try:
        return Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _framed(value: Any) -> bytes:
    """What goes over a pipe: the length, and the value."""
    data = marshal.dumps(value)
    return len(data).to_bytes(8) + data


def _send(pipe: int, value: Any) -> None:
    view = memoryview(_framed(value))
    while view:
        view = view[os.write(pipe, view) :]


def _receive(pipe: int) -> Any:
    head = _exactly(pipe, 8)
    return marshal.loads(_exactly(pipe, int.from_bytes(head))) if head else None


def _exactly(pipe: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(pipe, min(size, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
