"""A team of processes: answers in the order of the items, faults that come home, and nobody left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from renderer import parallel
from renderer.parallel import Crew, Team
from renderer.problems import Fault, Problem, RenderError

Work = Callable[[Sequence[int]], tuple[Any, Callable[[Any], Any]]]


@pytest.fixture(params=[1, 2, 3, 5])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """That many processes, whatever the machine has."""
    size = int(request.param)
    monkeypatch.setattr(parallel, "workers", lambda items: max(1, min(size, items)))
    return size


@pytest.fixture(autouse=True)
def nobody_left() -> Any:
    """After each test there is no child, running or dead, and as many open files as before."""
    before = set(os.listdir("/dev/fd"))
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert len(set(os.listdir("/dev/fd")) - before) == 0


def doubling(part: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
    """Answers with the doubled items; at a word, with the word and the items."""
    return [2 * each for each in part], lambda word: (word, list(part), os.getpid())


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_answers_in_order(count: int, size: int) -> None:
    items = list(range(count))
    with Team(doubling, items) as team:
        assert [each for part in team.results() for each in part] == [2 * each for each in items]
        for word in ("write", "texts", "write"):
            told = team.tell(word)
            assert [each for _, part, _ in told for each in part] == items
            assert {said for said, _, _ in told} == {word}
    assert len({pid for _, _, pid in told}) == max(1, min(size, count))
    assert told[0][2] == os.getpid()


def test_answers_larger_than_a_pipe(size: int) -> None:
    text = "x" * 3_000_000

    def work(part: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
        return text, lambda word: text + word

    with Team(work, list(range(10))) as team:
        assert team.results() == [text] * size
        assert team.tell("y") == [text + "y"] * size


def failing(error: BaseException, *, first: bool) -> Work:
    """Work that fails in the process that has the last item: at once, or at the first word."""

    def work(part: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
        def fail(_: Any) -> Any:
            if 9 in part:
                raise error
            return "fine"

        return fail("") if first else "fine", fail

    return work


ERRORS = [
    (Fault("chat.yaml", "ZeroDivisionError: x"), Fault, "chat.yaml: ZeroDivisionError: x"),
    (OSError(28, "No space left on device", "out/a.yaml"), OSError, "[Errno 28] No space left on device: 'out/a.yaml'"),
    (RenderError([Problem("a.yaml", 1, 2, "E101", "", "wrong")]), RenderError, "a.yaml:1:2: wrong [E101]"),
]


@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_what_fails_in_a_child_is_raised_here(
    error: BaseException, kind: type[BaseException], text: str, size: int
) -> None:
    with Team(failing(error, first=True), list(range(10))) as team, pytest.raises(kind) as at_once:
        team.results()
    assert str(at_once.value) == text
    with Team(failing(error, first=False), list(range(10))) as team:
        team.results()
        with pytest.raises(kind) as told:
            team.tell("write")
    assert str(told.value) == text


@pytest.mark.parametrize("size", [2], indirect=True)
def test_an_unforeseen_fault_in_a_child(size: int) -> None:
    with (
        Team(failing(LookupError("gone"), first=True), list(range(10))) as team,
        pytest.raises(Fault, match="LookupError: gone"),
    ):
        team.results()


@pytest.mark.parametrize("size", [3], indirect=True)
def test_a_child_that_dies(size: int) -> None:
    def work(part: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
        if 9 in part:
            os._exit(9)
        return "fine", lambda word: word

    with Team(work, list(range(10))) as team, pytest.raises(Fault, match="a worker process died"):
        team.results()


@pytest.mark.parametrize("size", [3], indirect=True)
def test_a_fault_of_the_parent_s_own(size: int) -> None:
    """While children have not been heard yet, with answers too large for a pipe; and in the block."""

    def work(part: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
        return "x" * 1_000_000, lambda word: word

    with pytest.raises(LookupError), Team(work, list(range(10))):
        raise LookupError

    def own(part: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
        if 0 in part:
            raise LookupError
        return work(part)

    with pytest.raises(LookupError):
        Team(own, list(range(10)))


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert parallel.workers(0) == parallel.workers(parallel.WORTH - 1) == 1
    assert parallel.workers(parallel.WORTH) == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert parallel.workers(10_000) == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert parallel.workers(10_000) == 1
    monkeypatch.delattr(os, "fork")
    assert parallel.workers(10_000) == 1


@pytest.mark.parametrize("count", [0, 1, 7, 255, 256, 257, 2_000])
def test_a_crew_answers_in_order(count: int, size: int) -> None:
    with Crew(lambda each: (2 * each, os.getpid()), list(range(count))) as crew:
        answers = crew.results()
    assert [each for each, _ in answers] == [2 * each for each in range(count)]
    assert len({pid for _, pid in answers}) <= size


@pytest.mark.parametrize("size", [3], indirect=True)
def test_a_crew_is_at_work_before_it_is_asked(size: int, tmp_path: Path) -> None:
    def work(each: int) -> int:
        (tmp_path / str(each)).touch()
        return os.getpid()

    with Crew(work, list(range(10))) as crew:
        deadline = time.monotonic() + 30
        while len(os.listdir(tmp_path)) < 10:
            assert time.monotonic() < deadline
        assert os.getpid() not in crew.results()


@pytest.mark.parametrize("size", [3], indirect=True)
def test_a_crew_that_nobody_asks(size: int) -> None:
    with pytest.raises(LookupError), Crew(lambda each: "x" * 1_000_000, list(range(50))):
        raise LookupError


@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_what_fails_in_a_crew_is_raised_here(
    error: BaseException, kind: type[BaseException], text: str, size: int
) -> None:
    parent = os.getpid()

    def work(each: int) -> int:
        if os.getpid() != parent:
            raise error
        time.sleep(0.001)
        return each

    with Crew(work, list(range(1_000))) as crew, pytest.raises(kind) as at_once:
        crew.results()
    assert str(at_once.value) == text


@pytest.mark.parametrize("size", [2], indirect=True)
def test_a_crew_of_which_one_dies(size: int) -> None:
    parent = os.getpid()

    def work(each: int) -> int:
        if os.getpid() != parent:
            os._exit(9)
        time.sleep(0.001)
        return each

    with Crew(work, list(range(1_000))) as crew, pytest.raises(Fault, match="a worker process died"):
        crew.results()
