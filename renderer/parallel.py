"""The same work on every core, by fork: children see what the parent read, and send back plain values."""

from __future__ import annotations

import gc
import itertools
import marshal
import os
import sys
from collections.abc import Callable, Sequence
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


class Team:
    """Children, each at its own part of the items; the parent does the first part itself.

    `work(part)` answers with plain values (what `marshal` takes), and with a function that acts on each word that
    `tell` sends and answers too. A fault in a child, and an OSError, is raised here.
    """

    def __init__(self, work: Callable[[Sequence[T]], tuple[Any, Callable[[Any], Any]]], items: Sequence[T]) -> None:
        count = workers(len(items))
        bounds = [len(items) * i // count for i in range(count + 1)]
        self._children: list[tuple[int, int, int]] = []
        if count > 1:
            gc.freeze()
            sys.stdout.flush()
            sys.stderr.flush()
        for start, end in itertools.pairwise(bounds[1:]):
            self._children.append(self._start(work, items[start:end]))
        try:
            self._own, self._rest = work(items[: bounds[1]])
        except BaseException:
            self.__exit__()
            raise

    def _start(
        self, work: Callable[[Sequence[T]], tuple[Any, Callable[[Any], Any]]], part: Sequence[T]
    ) -> tuple[int, int, int]:
        told, tell = os.pipe()
        read, write = os.pipe()
        if pid := os.fork():
            os.close(told)
            os.close(write)
            return pid, read, tell
        status = 1
        try:
            os.close(tell)
            os.close(read)
            for _, other_read, other_tell in self._children:
                os.close(other_read)
                os.close(other_tell)
            answer, rest = work(part)
            _send(write, ("ok", answer))
            while word := _receive(told):
                _send(write, ("ok", rest(word[0])))
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

    def results(self) -> list[Any]:
        """The first answers, in the order of the items."""
        return [self._own, *(self._answer(read) for _, read, _ in self._children)]

    def tell(self, word: str) -> list[Any]:
        """Everybody acts on this word; the answers, in the order of the items. May be called again."""
        for _, _, tell in self._children:
            _send(tell, (word,))
        return [self._rest(word), *(self._answer(read) for _, read, _ in self._children)]

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the children: they go home when nobody tells them anything any more."""
        children, self._children = self._children, []
        for pid, read, tell in children:
            os.close(tell)
            os.close(read)
            os.waitpid(pid, 0)

    def _answer(self, read: int) -> Any:
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
