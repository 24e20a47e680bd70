"""Processes, where the system grants few of them or kills one: fewer workers, a word about it, never a hang, and nobody
left behind. A test a promise.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest

from renderer import workers
from renderer.diagnostics import RenderError
from tests.inputs import CONFIG, playground
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.conftest import Llmaz

APPS = 210
ENVIRONMENTS = CONFIG + '{gateway: {mode: "off"}, environments: {a: {}, b: {}, c: {}}}\n'
# The program as on a machine with four cores; MORE is done before.
PROGRAM = """\
import os, renderer.workers as w
w.process_count = lambda items: 4 if items >= 200 else 1
MORE
from renderer.cli import main
main()
"""


@pytest.fixture
def environments(folder: Path) -> Path:
    """As many apps as are shared between processes, in three environments."""
    (folder / "llmaz.yaml").write_text(ENVIRONMENTS)
    (folder / "all.yaml").write_text("---\n".join(playground(f"p{i}", "demo", backend="llamacpp") for i in range(APPS)))
    return folder


@pytest.fixture(autouse=True)
def nobody_left() -> Iterator[None]:
    """After each test there is no child, running or dead, and as many open files as before."""
    before = set(os.listdir("/dev/fd"))
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert len(set(os.listdir("/dev/fd")) - before) == 0


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def run(*words: str, more: str = "", limit: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own, as on a machine with four cores."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("MORE", more), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


# --- The system grants few


def counted(chunk: Sequence[int]) -> tuple[int, list[int]]:
    """The process that it is done in, and one more than each."""
    return os.getpid(), [item + 1 for item in chunk]


@pytest.mark.parametrize("only", [True, False], ids=["once", "from then on"])
@pytest.mark.parametrize("call", ["fork", "pipe"])
def test_any_call_that_fails_leaves_fewer_workers(call: str, only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the calls it is, by its number."""
    monkeypatch.setattr(workers, "process_count", lambda items: 4)
    real, left, sizes = getattr(os, call), 0, set()

    def failing(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 or (left < 0 and not only):
            raise OSError(24, "Too many open files")
        return real(*arguments)

    for number in range(1, 6):
        left = number
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            results = workers.run(counted, range(100), size=1)
            assert [item for _, chunk in results for item in chunk] == list(range(1, 101))
            sizes.add(len({process for process, _ in results}))
    assert sizes == {1, 2, 3, 4}


@pytest.mark.parametrize("call", ["fork", "pipe"])
def test_a_run_over_environments_with_few_processes(
    call: str, environments: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes, however many there are."""
    assert llmaz("render", "-o", "expected").code == 0
    expected = contents(environments / "expected")
    assert len(expected) == 3 * APPS
    monkeypatch.setattr(workers, "process_count", lambda items: 4 if items >= 200 else 1)
    real = getattr(os, call)
    for granted in (0, 1, 2, 5, 8):
        left = granted

        def failing(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            done = llmaz("render", "-o", str(granted))
        assert done.code == 0, done.err
        assert contents(environments / str(granted)) == expected


@pytest.mark.parametrize("descriptors", [6, 10, 16, 18, 24, 26, 28, 40])
def test_a_run_with_few_descriptors(descriptors: int, environments: Path) -> None:
    """The files that are read and written need some too: workers leave them."""
    done = run("validate", limit=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may have any number of processes")
def test_a_run_with_no_process_more(environments: Path) -> None:
    done = run("validate", limit=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
    assert done.returncode == 0, done.stderr


def test_who_hears_nothing_of_children() -> None:
    """A parent of ours may ignore SIGCHLD, and so do we then."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "process_count", lambda items: 3)
            results = workers.run(counted, range(100), size=1)
            assert [item for _, chunk in results for item in chunk] == list(range(1, 101))
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_one_worker_a_core_over_all_environments(
    environments: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "process_count", lambda items: 3 if items >= 200 else 1)
    fork, children, most = os.fork, set[int](), 0

    def runs(pid: int) -> bool:
        try:
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    def counted() -> int:
        nonlocal most
        if pid := fork():
            children.add(pid)
            most = max(most, sum(map(runs, children)))
        return pid

    monkeypatch.setattr(os, "fork", counted)
    assert llmaz("render").code == 0
    assert (most, len(children)) == (2, 3 * 2 * 2)  # of each environment: who renders, and who writes


# --- The system kills one


@pytest.mark.parametrize("when", ["at once", "behind a result", "half way"])
def test_a_worker_that_is_killed_is_told_as_that(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its first chunk, behind a result, or while a result is half sent that no pipe can hold."""
    monkeypatch.setattr(workers, "process_count", lambda items: 3)
    parent = os.getpid()

    def work(chunk: Sequence[int]) -> Any:
        if os.getpid() == parent:
            time.sleep(0.3 if when == "half way" and not chunk[0] else 0.0005)
        elif when == "at once" or (when == "behind a result" and chunk[0] > 50):
            os.kill(os.getpid(), signal.SIGKILL)
        elif when == "half way":
            Timer(0.05, os.kill, (os.getpid(), signal.SIGKILL)).start()
            return "x" * 1_000_000
        return chunk[0]

    with pytest.raises(RenderError, match=r"^llmaz: a worker process was killed by SIGKILL \[E180\]\n.*memory"):
        workers.run(work, range(200), size=1)


# A worker that is killed at a certain app, or when it is to write; the parent lets others take it.
KILLED = """
import os, signal, time
import renderer.resolve as resolve, renderer.output.manifest_files as emit
parent, plan, write = os.getpid(), resolve.plan, emit.write
def die(*given):
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.NAME)
    time.sleep(0.001)
def killed(context, item):
    die()
    return plan(context, item)
def never(*given):
    die()
    return write(*given)
"""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV"])
def test_nothing_is_written_where_one_is_killed(name: str, environments: Path) -> None:
    done = run("render", more=KILLED.replace("NAME", name) + "resolve.plan = killed")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"llmaz: a worker process was killed by {name} [E180]",
        "    hint: no file is half written; memory may have run out: give the run more memory, and run again",
        "1 error",
    ]
    assert not (environments / "rendered").exists()


def test_files_are_whole_where_one_is_killed_that_writes(environments: Path, llmaz: Llmaz) -> None:
    (environments / "llmaz.yaml").write_text(ENVIRONMENTS.replace(", environments: {a: {}, b: {}, c: {}}", ""))
    assert llmaz("render", "-o", "expected").code == 0
    done = run("render", more=KILLED.replace("NAME", "SIGKILL") + "emit.write = never")
    assert done.returncode == 2
    assert "[E180]" in done.stderr
    expected, left = contents(environments / "expected"), contents(environments / "rendered")
    assert left == {path: expected[path] for path in left}
    assert llmaz("render").code == 0
    assert contents(environments / "rendered") == expected


@pytest.mark.parametrize("where", ["os.getpid() == parent", "os.getpid() != parent", "True"])
def test_memory_that_runs_out_is_told_as_that(where: str, environments: Path) -> None:
    """In a worker, in the parent, wherever."""
    more = f"""
import renderer.resolve as resolve
parent, plan = os.getpid(), resolve.plan
def hungry(context, item):
    if {where}:
        raise MemoryError
    return plan(context, item)
resolve.plan = hungry
"""
    done = run("render", more=more)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "llmaz: memory ran out [E181]")
    assert not (environments / "rendered").exists()
