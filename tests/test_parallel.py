"""A team of processes: answers in the order of the items, faults that come home, and nobody left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from renderer import parallel
from renderer.parallel import Team, Work
from renderer.problems import Fault, Problem, RenderError


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


def doubling() -> Work[int]:
    """Answers with the doubled items; at a word, with the word and the items."""
    worked: list[int] = []

    def work(few: Sequence[int]) -> list[int]:
        worked.extend(few)
        return [2 * each for each in few]

    return work, lambda word: (word, worked, os.getpid())


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, 1_000])
def test_answers_in_order(count: int, size: int) -> None:
    items = list(range(count))
    with Team(doubling, items, few=3) as team:
        assert [each for part in team.results() for each in part] == [2 * each for each in items]
        for word in ("write", "texts", "write"):
            told = team.tell(word)
            assert sorted(each for _, worked, _ in told for each in worked) == items
            assert {said for said, _, _ in told} == {word}
    assert len({pid for _, _, pid in told}) == max(1, min(size, count))
    assert told[0][2] == os.getpid()


@pytest.mark.parametrize("count", [parallel._TURNS - 1, parallel._TURNS, parallel._TURNS * 3 + 1])
def test_as_many_items_as_there_may_be(count: int, size: int) -> None:
    """However few go together, a pipe holds the numbers of all turns."""
    with Team(doubling, range(count), few=1) as team:
        assert [each for part in team.results() for each in part] == [2 * each for each in range(count)]


def test_answers_larger_than_a_pipe(size: int) -> None:
    text = "x" * 3_000_000
    with Team(lambda: (lambda few: text, lambda word: text + word), list(range(10)), few=1) as team:
        assert list(team.results()) == [text] * 10
        assert team.tell("y") == [text + "y"] * size


def test_a_team_is_at_work_before_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "workers", lambda items: 3)

    def work(few: Sequence[int]) -> int:
        (tmp_path / str(few[0])).touch()
        return os.getpid()

    with Team(lambda: (work, None), list(range(10)), few=1) as team:
        deadline = time.monotonic() + 30
        while len(os.listdir(tmp_path)) < 10:
            assert time.monotonic() < deadline
        assert os.getpid() not in list(team.results())


def failing(error: BaseException, *, first: bool) -> Callable[[], Work[int]]:
    """Work that fails in every child: at its first turn, or at the first word."""
    parent = os.getpid()

    def begin() -> Work[int]:
        def fail(_: Any) -> Any:
            if os.getpid() != parent:
                raise error
            time.sleep(0.001)
            return "fine"

        return fail if first else len, fail

    return begin


ERRORS = [
    (Fault("chat.yaml", "ZeroDivisionError: x"), Fault, "chat.yaml: ZeroDivisionError: x"),
    (OSError(28, "No space left on device", "out/a.yaml"), OSError, "[Errno 28] No space left on device: 'out/a.yaml'"),
    (RenderError([Problem("a.yaml", 1, 2, "E101", "", "wrong")]), RenderError, "a.yaml:1:2: wrong [E101]"),
    (LookupError("gone"), Fault, "llmaz: LookupError: gone"),
]


@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_what_fails_in_a_child_is_raised_here(
    error: BaseException, kind: type[BaseException], text: str, size: int
) -> None:
    with Team(failing(error, first=True), list(range(1_000)), few=1) as team, pytest.raises(kind) as at_once:
        list(team.results())
    assert str(at_once.value) == text
    with Team(failing(error, first=False), list(range(10))) as team:
        list(team.results())
        with pytest.raises(kind) as told:
            team.tell("write")
    assert str(told.value) == text


@pytest.mark.parametrize("size", [2], indirect=True)
def test_what_fails_behind_much_that_was_said(size: int) -> None:
    """What went before is heard as it was, although the pipe could not take all of it."""
    parent = os.getpid()

    def work(few: Sequence[int]) -> Any:
        if os.getpid() == parent:
            return time.sleep(0.2)
        if few[0] > 5:
            raise LookupError
        return "x" * 1_000_000

    with Team(lambda: (work, None), list(range(10)), few=1) as team, pytest.raises(Fault, match="LookupError"):
        list(team.results())


@pytest.mark.parametrize("size", [2, 3], indirect=True)
def test_a_child_that_dies(size: int) -> None:
    parent = os.getpid()

    def work(few: Sequence[int]) -> int:
        if os.getpid() != parent:
            os._exit(9)
        time.sleep(0.001)
        return few[0]

    with (
        Team(lambda: (work, None), list(range(1_000)), few=1) as team,
        pytest.raises(Fault, match="a worker process died"),
    ):
        list(team.results())


@pytest.mark.parametrize("size", [3], indirect=True)
def test_a_fault_of_the_parent_s_own(size: int) -> None:
    """While children have not been heard yet, with answers too large for a pipe; and in the block."""
    parent = os.getpid()

    def work(few: Sequence[int]) -> str:
        if os.getpid() == parent:
            raise LookupError
        return "x" * 100_000

    with pytest.raises(LookupError), Team(lambda: (work, None), list(range(50)), few=1):
        raise LookupError
    with pytest.raises(LookupError), Team(lambda: (work, None), list(range(1_000)), few=1) as team:
        list(team.results())


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
