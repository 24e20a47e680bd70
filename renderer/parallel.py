"""The same work on every core, by fork: children see what the parent read, and send back plain values."""

from __future__ import annotations

import gc
import itertools
import marshal
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from renderer.problems import Fault, Problem, RenderError

T = TypeVar("T")
WORTH = 200  # below that many items a fork costs more than it brings


def workers(items: int) -> int:
    """How many processes to use for that many items: 1, or one a core, eight at most."""
    if items < WORTH or not hasattr(os, "fork"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8)


def _start(talk: Callable[[int, int], None], inherited: Sequence[int] = ()) -> tuple[int, int, int]:
    """A child, and the pipes from and to it, over which it talks: it reads from one and writes to the other.

    `inherited`: what it must not hold open.
    """
    told, tell = os.pipe()
    read, write = os.pipe()
    if pid := os.fork():
        os.close(told)
        os.close(write)
        return pid, read, tell
    status = 1
    try:
        for pipe in (tell, read, *inherited):
            os.close(pipe)
        talk(told, write)
        status = 0
    except KeyboardInterrupt:
        status = 130
    except Fault as fault:
        _send(write, ("fault", fault.at_hand, fault.what))
    except RenderError as fault:
        _send(write, ("wrong", [tuple(each) for each in fault.problems]))
    except OSError as fault:
        _send(write, ("os", fault.errno, fault.strerror, fault.filename))
    except BaseException as fault:  # noqa: BLE001 - the parent prints it
        _send(write, ("fault", "llmaz", f"{type(fault).__name__}: {fault}"))
    finally:
        os._exit(status)


class _Children:
    """Processes that answer. A fault in one of them, and an OSError, is raised here."""

    def __init__(self) -> None:
        self._children: list[tuple[int, int, int]] = []

    def _begin(self, talks: Sequence[Callable[[int, int], None]]) -> None:
        """One child each."""
        if talks:
            gc.freeze()
            sys.stdout.flush()
            sys.stderr.flush()
        for talk in talks:
            others = [pipe for _, *pipes in self._children for pipe in pipes]
            self._children.append(_start(talk, others))

    def _answers(self) -> list[Any]:
        """What each says next."""
        return [_answer(read) for _, read, _ in self._children]

    def __exit__(self, *_: object) -> None:
        """Ends the children: they go home when nobody tells them anything any more, nor listens."""
        children, self._children = self._children, []
        for pid, read, tell in children:
            os.close(tell)
            os.close(read)
            os.waitpid(pid, 0)


class Team(_Children):
    """Children, each at its own part of the items; the parent does the first part itself.

    `work(part)` answers with plain values (what `marshal` takes), and with a function that acts on each word that
    `tell` sends and answers too.
    """

    def __init__(self, work: Callable[[Sequence[T]], tuple[Any, Callable[[Any], Any]]], items: Sequence[T]) -> None:
        super().__init__()
        count = workers(len(items))
        bounds = [len(items) * i // count for i in range(count + 1)]

        def talk(part: Sequence[T], told: int, write: int) -> None:
            answer, rest = work(part)
            _send(write, ("ok", answer))
            while word := _receive(told):
                _send(write, ("ok", rest(word[0])))

        self._begin([partial(talk, items[start:end]) for start, end in itertools.pairwise(bounds[1:])])
        try:
            self._own, self._rest = work(items[: bounds[1]])
        except BaseException:
            self.__exit__()
            raise

    def results(self) -> list[Any]:
        """The first answers, in the order of the items."""
        return [self._own, *self._answers()]

    def tell(self, word: str) -> list[Any]:
        """Everybody acts on this word; the answers, in the order of the items. May be called again."""
        for _, _, tell in self._children:
            _send(tell, (word,))
        return [self._rest(word), *self._answers()]

    def __enter__(self) -> Team:
        return self


class Crew(_Children):
    """Children that are at the items from now on; the parent joins them in `results`, so it may begin something else.

    `work(item)` answers with plain values (what `marshal` takes). Whoever is free takes the next few items.
    """

    def __init__(self, work: Callable[[T], Any], items: Sequence[T]) -> None:
        super().__init__()
        self._work, self._items = work, items
        self._step = len(items) // 256 + 1
        self._turns, turns = os.pipe()  # a byte for each few, which the one who takes them reads
        os.write(turns, bytes(range(len(items[:: self._step]))))
        os.close(turns)
        self._begin([self._talk] * (workers(len(items)) - 1))

    def _talk(self, _: int, write: int) -> None:
        _send(write, ("ok", self._done()))

    def _done(self) -> dict[int, list[Any]]:
        """What came of the items that were taken here, by turns."""
        done = {}
        while turn := os.read(self._turns, 1):
            start = turn[0] * self._step
            done[turn[0]] = [self._work(each) for each in self._items[start : start + self._step]]
        return done

    def results(self) -> list[Any]:
        """What came of the items, in their order, once. Nobody waits here for the children to be gone."""
        done = self._done()
        for more in self._answers():
            done |= more
        return [each for _, few in sorted(done.items()) for each in few]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves nothing to take, and ends the children."""
        os.read(self._turns, 256)
        os.close(self._turns)
        super().__exit__()


def _answer(read: int) -> Any:
    received = _receive(read) or ("fault", "llmaz", "a worker process died")
    if received[0] == "os":
        raise OSError(*received[1:])
    if received[0] == "wrong":
        raise RenderError(Problem(*each) for each in received[1])
    if received[0] == "fault":
        raise Fault(*received[1:])
    return received[1]


def _send(pipe: int, value: Any) -> None:
    data = marshal.dumps(value)
    view = memoryview(len(data).to_bytes(8, "big") + data)
    while view:
        view = view[os.write(pipe, view) :]


def _receive(pipe: int) -> Any:
    head = _exactly(pipe, 8)
    return marshal.loads(_exactly(pipe, int.from_bytes(head, "big"))) if head else None


def _exactly(pipe: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(pipe, min(size, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
