"""The same work on every core, by fork: children see what the parent read, and send back plain values."""

from __future__ import annotations

import gc
import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from renderer.problems import Fault, Problem, RenderError

T = TypeVar("T")
Work = tuple[Callable[[Sequence[T]], Any], Callable[[Any], Any] | None]
WORTH = 200  # below that many items a fork costs more than it brings
FEW = 96  # items at most that go through all stages together: code and tables stay in the processor's cache
_TURNS = 8_000  # whose numbers every system's pipe holds


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
            for _ in range(others):
                self._children.append(_child(self._talk, [pipe for each in self._children for pipe in each.pipes]))

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
        for number in sorted(done):
            yield done[number]

    def tell(self, word: str) -> list[Any]:
        """Everybody acts on this word; what each answers. May be called again, after `results`."""
        for child in self._children:
            _send(child.tell, (word,))
        return [self._told(word) if self._told else None, *(child.said()[0] for child in self._children)]

    def __enter__(self) -> Team[T]:
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves nothing to take, and ends the children: they go home when nobody tells them anything, nor listens."""
        self._turns.close()
        children, self._children = self._children, []
        for child in children:
            for pipe in child.pipes:
                os.close(pipe)
            os.waitpid(child.pid, 0)


class _Turns(Generic[T]):
    """A few items each, with their number; towards the end fewer, so that all end together. All processes take from the
    same ones.
    """

    def __init__(self, items: Sequence[T], few: int) -> None:
        self._items = items
        few = max(few, len(items) // _TURNS + 1)
        ends, split = [0], 4 * workers(len(items))
        while (left := len(items) - ends[-1]) > 0:
            ends.append(ends[-1] + min(few, max(few // 6, left // split, 1)))
        self._bounds = ends
        self._left, numbers = os.pipe()
        os.write(numbers, b"".join(number.to_bytes(2) for number in range(len(ends) - 1)))
        os.close(numbers)

    def __iter__(self) -> Iterator[tuple[int, Sequence[T]]]:
        while taken := os.read(self._left, 2):
            number = int.from_bytes(taken)
            yield number, self._items[self._bounds[number] : self._bounds[number + 1]]

    def close(self) -> None:
        """Nothing is left to take."""
        os.read(self._left, 2 * _TURNS)
        os.close(self._left)


class _Child:
    """A child as its parent sees it."""

    def __init__(self, pid: int, read: int, tell: int) -> None:
        self.pid, self.tell, self.pipes = pid, tell, (read, tell)
        self._read, self._heard, self._ended = read, bytearray(), False
        os.set_blocking(read, False)

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
        """Takes what is in the pipe. Raises Fault when it is gone without having said all."""
        try:
            part = os.read(self._read, 1 << 16)  # what a pipe holds
        except BlockingIOError:
            return
        if not part:
            raise Fault("llmaz", "a worker process died")
        self._heard += part


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


def _child(talk: Callable[[int, _Out], None], inherited: Sequence[int]) -> _Child:
    """A child that talks: what it is told comes from the one, what it says goes to the other.

    `inherited`: what it must not hold open.
    """
    told, tell = os.pipe()
    read, write = os.pipe()
    if pid := os.fork():
        os.close(told)
        os.close(write)
        return _Child(pid, read, tell)
    status = 1
    out = _Out(write)
    try:
        for pipe in (tell, read, *inherited):
            os.close(pipe)
        talk(told, out)
        status = 0
    except KeyboardInterrupt:
        status = 130
    except Fault as fault:
        out.say(("fault", fault.at_hand, fault.what))
    except RenderError as fault:
        out.say(("wrong", [tuple(each) for each in fault.problems]))
    except OSError as fault:
        out.say(("os", fault.errno, fault.strerror, fault.filename))
    except BaseException as fault:  # noqa: BLE001 - the parent prints it
        out.say(("fault", "llmaz", f"{type(fault).__name__}: {fault}"))
    finally:
        with suppress(BrokenPipeError):
            out.send()
        os._exit(status)


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
