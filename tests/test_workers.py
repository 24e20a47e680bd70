"""Work shared between processes: results in the order of the items, errors that come home, and nobody left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from renderer import workers
from renderer.diagnostics import Diagnostic, InternalError, RenderError


@pytest.fixture(params=[1, 2, 3, 5])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """That many processes, whatever the machine has."""
    size = int(request.param)
    monkeypatch.setattr(workers, "process_count", lambda items: size)
    return size


@pytest.fixture(autouse=True)
def nobody_left() -> Iterator[None]:
    """After each test there is no child, running or dead, and as many open files as before."""
    before = set(os.listdir("/dev/fd"))
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert len(set(os.listdir("/dev/fd")) - before) == 0


def doubled(chunk: Sequence[int]) -> tuple[int, list[int]]:
    return os.getpid(), [2 * item for item in chunk]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, 1_000])
def test_results_come_in_order(count: int, size: int) -> None:
    results = workers.run(doubled, range(count), size=3)
    assert [item for _, chunk in results for item in chunk] == [2 * item for item in range(count)]
    assert all(0 < len(chunk) <= 3 for _, chunk in results)
    processes = [process for process, _ in results]
    assert len(set(processes)) == min(size, len(results))
    assert processes[:1] == [os.getpid()] * (count > 0)
    if size > 1 and count >= 100:
        most, least = (pick(map(processes.count, set(processes))) for pick in (max, min))
        assert most - least <= 1


def test_one_chunk_a_process(size: int) -> None:
    results = workers.run(doubled, range(1_000), size=1_000)
    assert [len(chunk) for _, chunk in results] == [-(-1_000 // size)] * (size - 1) + [
        1_000 - -(-1_000 // size) * (size - 1)
    ]


def test_results_larger_than_a_pipe(size: int) -> None:
    text = "x" * 3_000_000
    assert workers.run(lambda chunk: text, range(10), size=1) == [text] * 10


def test_workers_begin_before_they_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "process_count", lambda items: 3)

    def work(chunk: Sequence[int]) -> int:
        (tmp_path / str(chunk[0])).touch()
        return os.getpid()

    with workers.start(work, range(9), size=1) as results:
        deadline = time.monotonic() + 30
        while len(os.listdir(tmp_path)) < 6:
            assert time.monotonic() < deadline
        assert sorted(os.listdir(tmp_path)) == ["1", "2", "4", "5", "7", "8"]
        processes = list(results)
    assert processes[::3] == [os.getpid()] * 3
    assert len(set(processes)) == 3


def failing(error: BaseException, at: int = 0) -> Callable[[Sequence[int]], str]:
    """Work that fails in every other process, from an item on; before it a result larger than a pipe."""
    parent = os.getpid()

    def work(chunk: Sequence[int]) -> str:
        if os.getpid() == parent:
            return ""
        if chunk[0] >= at:
            raise error
        return "x" * 1_000_000

    return work


ERRORS = [
    (InternalError("chat.yaml", "ZeroDivisionError: x"), InternalError, "chat.yaml: ZeroDivisionError: x"),
    (OSError(28, "No space left on device", "out/a.yaml"), OSError, "[Errno 28] No space left on device: 'out/a.yaml'"),
    (RenderError([Diagnostic("a.yaml", 1, 2, "E101", "", "wrong")]), RenderError, "a.yaml:1:2: wrong [E101]"),
    (LookupError("gone"), InternalError, "llmaz: LookupError: gone"),
]


@pytest.mark.parametrize("at", [0, 6])
@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_what_fails_elsewhere_is_raised_here(
    error: BaseException, kind: type[BaseException], text: str, at: int, size: int
) -> None:
    with pytest.raises(kind) as raised:
        workers.run(failing(error, at), range(1_000), size=1)
    assert str(raised.value) == text


@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_a_result_that_cannot_be_sent(size: int) -> None:
    parent = os.getpid()
    with pytest.raises(InternalError, match=r"llmaz: .*pickle"):
        workers.run(lambda chunk: None if os.getpid() == parent else lambda: chunk, range(10), size=1)


@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_a_process_that_ends(size: int) -> None:
    parent = os.getpid()

    def work(chunk: Sequence[int]) -> int:
        if os.getpid() != parent:
            os._exit(9)
        return chunk[0]

    with pytest.raises(InternalError, match="a worker process died with exit code 9"):
        workers.run(work, range(1_000), size=1)


@pytest.mark.parametrize("size", [3], indirect=True)
def test_an_error_of_the_parent_s_own(size: int) -> None:
    """While others have results too large for a pipe; and in the block."""
    parent = os.getpid()

    def work(chunk: Sequence[int]) -> str:
        if os.getpid() == parent and chunk[0]:
            raise LookupError
        return "x" * 100_000

    with pytest.raises(LookupError), workers.start(work, range(50), size=1):
        raise LookupError
    with pytest.raises(LookupError):
        workers.run(work, range(1_000), size=1)


@pytest.mark.parametrize("size", [3], indirect=True)
def test_an_interrupt_ends_all(size: int) -> None:
    parent = os.getpid()

    def work(chunk: Sequence[int]) -> str:
        if os.getpid() == parent and chunk[0]:
            raise KeyboardInterrupt
        return "x" * 100_000

    with pytest.raises(KeyboardInterrupt):
        workers.run(work, range(1_000), size=1)


@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_a_worker_that_is_interrupted(size: int) -> None:
    """Ctrl-C reaches all; who hears of it first does not matter."""
    with pytest.raises(KeyboardInterrupt):
        workers.run(failing(KeyboardInterrupt()), range(1_000), size=1)


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert workers.process_count(0) == workers.process_count(workers.MIN_ITEMS - 1) == 1
    assert workers.process_count(workers.MIN_ITEMS) == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert workers.process_count(10_000) == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert workers.process_count(10_000) == 1
    monkeypatch.delattr(os, "fork")
    assert workers.process_count(10_000) == 1
