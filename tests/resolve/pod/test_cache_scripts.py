"""The Job of a cache, run as rendered: its containers' own commands and environment, on a folder in place of the claim.

The loader is rclone, which another rclone serves a bucket of two files over S3. `scripts/tools.sh rclone` builds it;
without it the tests that load are skipped, in CI they fail.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.paths import ROOT, TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Llmaz

EXAMPLE = ROOT / "examples/cache"
GOLDENS = TESTS / "cases/example-cache/expected/default"
SECRET = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}
FILES = {"config.json": b"{}", "weights.safetensors": random.Random(0).randbytes(400_000)}
SLOW = "100k"  # bytes a second, so that the weights take four


class Pod:
    """A pod of the Job in that file. `volume`: the folder in place of the claim; `speed`: the loader's, for rclone."""

    def __init__(self, name: str, job_file: Path, volume: Path, tools: Path, speed: str) -> None:
        *_, job = yaml.safe_load_all(job_file.read_text("utf-8"))
        spec = job["spec"]["template"]["spec"]
        self.lock, self.loader = spec["initContainers"]
        (self.complete,) = spec["containers"]
        self.name, self.volume, self.tools, self.speed = name, volume, tools, speed
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, container: Mapping[str, Any], command: list[str] | None = None) -> subprocess.Popen[bytes]:
        """The container's process, in a group of its own, with paths of the machine in place of those of the pod."""
        env = {
            "PATH": f"{self.tools}:{os.environ['PATH']}",
            "STEP": "1",
            "PATIENCE": "2",
            "RCLONE_BWLIMIT": self.speed,
        }
        env |= {entry["name"]: self._value(entry) for entry in container["env"]}
        words = command or [*container["command"], *container["args"]]
        (mount,) = container["volumeMounts"]
        target = self.volume / mount.get("subPath", "")
        assert mount.get("subPath") is None or target.is_dir()  # else the kubelet would make it as root
        place, path = str(mount["mountPath"]).rstrip("/"), str(target)
        env = {key: value.replace(place, path) if key != "PATH" else value for key, value in env.items()}
        words = [word.replace(place, path) if word.startswith(place) else word for word in words]
        process = subprocess.Popen(words, env=env, start_new_session=True)
        self.processes.append(process)
        return process

    def _value(self, entry: Mapping[str, Any]) -> str:
        if "value" in entry:
            return str(entry["value"])
        secret = entry["valueFrom"].get("secretKeyRef")
        return SECRET[secret["key"]] if secret else self.name

    def holds_lock(self) -> bool:
        """What the startup probe of the lock says."""
        command = self.lock["startupProbe"]["exec"]["command"]
        return self.start(self.lock, command).wait() == 0

    def kill(self) -> None:
        """The node is gone."""
        self._signal(signal.SIGKILL)

    def end(self) -> None:
        """The main container is done, or the pod deleted."""
        self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, number)
                process.wait(10)

    def run(self) -> None:
        """From start to end."""
        self.start(self.lock)
        until(self.holds_lock)
        assert self.start(self.loader).wait(20) == 0
        assert self.start(self.complete).wait(20) == 0
        self.end()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs that go before those of the machine."""
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


@pytest.fixture
def pods(tmp_path: Path, tools: Path) -> Iterator[Callable[..., Pod]]:
    """Makes pods of the Job in the example's golden, or in another file, all on one volume."""
    volume, started = tmp_path / "claim", list[Pod]()
    volume.mkdir()

    def start(name: str, job: Path = GOLDENS / "blue-70b.cache.yaml", speed: str = "off") -> Pod:
        started.append(Pod(name, job, volume, tools, speed))
        return started[-1]

    yield start
    for pod in started:
        pod.kill()


@pytest.fixture
def job(tmp_path: Path, folder: Path, tools: Path, llmaz: Llmaz) -> Iterator[Path]:
    """The example, rendered for a store that is there: its Job's file."""
    (tools / "rclone").symlink_to(tool("rclone"))
    bucket = tmp_path / "store/models/blue/blue-70b"
    bucket.mkdir(parents=True)
    for name, content in FILES.items():
        (bucket / name).write_bytes(content)
    words = ["serve", "s3", "--config=/dev/null", "--addr=127.0.0.1:0", f"--auth-key={','.join(SECRET.values())}"]
    with subprocess.Popen([tools / "rclone", *words, tmp_path / "store"], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            address = next(match[0] for line in server.stderr if (match := re.search(r"http://127[\d.:]+", line)))
            shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
            outcome = llmaz("render", "--set", f"loaders.store.endpoint={address}")
            assert outcome.code == 0, outcome.err
            yield folder / "rendered/default/blue-70b.cache.yaml"
        finally:
            server.terminate()


def contents(pod: Pod) -> dict[str, bytes]:
    """The files on the claim, below the folder of the weights; the marker's name is `complete`."""
    folder = next(entry["value"] for entry in pod.lock["env"] if entry["name"] == "FOLDER")
    files = {str(path.relative_to(pod.volume)): path.read_bytes() for path in pod.volume.rglob("*") if path.is_file()}
    return {key.removeprefix(f"{folder}/").removeprefix(f"{folder}."): text for key, text in files.items()}


def loading(pod: Pod) -> bool:
    """Whether a part of a file is there."""
    return any(name.endswith(".partial") for name in contents(pod))


WHOLE = {f"models--blue-70b/{name}": content for name, content in FILES.items()} | {"complete": b""}


def test_fill_and_fill_again(pods: Callable[..., Pod], job: Path) -> None:
    first = pods("first", job)
    first.run()
    assert contents(first) == WHOLE  # no lock is left
    [weights] = first.volume.rglob("weights.safetensors")
    inode = weights.stat().st_ino
    pods("second", job).run()
    assert contents(first) == WHOLE
    assert weights.stat().st_ino == inode  # the loader looks at its files again, and leaves them


def test_missing_weights(pods: Callable[..., Pod], job: Path, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / "store/models/blue/blue-70b" / name).unlink()
    pod = pods("first", job)
    pod.start(pod.lock)
    until(pod.holds_lock)
    assert pod.start(pod.loader).wait(20) == 1
    assert "complete" not in contents(pod)


def test_killed_in_the_middle(pods: Callable[..., Pod], job: Path) -> None:
    first = pods("first", job, speed=SLOW)
    first.start(first.lock)
    until(first.holds_lock)
    first.start(first.loader)
    until(lambda: loading(first))
    first.kill()
    assert "complete" not in contents(first)
    second = pods("second", job)
    second.start(second.lock)
    assert not second.holds_lock()  # the stamp may still change
    until(second.holds_lock)
    second.end()
    assert "lock.2/free" in contents(second)  # for the pod that takes its place
    pods("third", job).run()
    assert {name: content for name, content in contents(second).items() if not name.endswith(".partial")} == WHOLE


def test_restarted_with_its_lock(pods: Callable[..., Pod], job: Path) -> None:
    first = pods("first", job, speed=SLOW)
    first.start(first.lock)
    until(first.holds_lock)
    first.kill()
    again = pods("first", job)  # a container that restarts has the name of its pod
    again.run()
    assert contents(again) == WHOLE


def test_two_at_once(pods: Callable[..., Pod], job: Path) -> None:
    first, second = pods("first", job, speed=SLOW), pods("second", job)
    first.start(first.lock)
    until(first.holds_lock)
    loader = first.start(first.loader)
    second.start(second.lock)
    until(lambda: loading(first))
    while loader.poll() is None:
        assert not second.holds_lock()
        time.sleep(0.2)
    assert loader.returncode == 0
    assert "complete" not in contents(first)
    assert first.start(first.complete).wait(20) == 0
    until(second.holds_lock)
    assert second.start(second.loader).wait(20) == 0
    first.end()
    second.end()
    assert contents(first) == WHOLE


def test_the_wait_of_a_pod(pods: Callable[..., Pod]) -> None:
    lws, *_ = yaml.safe_load_all((GOLDENS / "chat.yaml").read_text("utf-8"))
    (wait,) = lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["initContainers"]
    pod = pods("chat-0")
    process = pod.start(wait)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    job = pods("first")
    assert job.start(job.complete).wait(20) == 0
    assert process.wait(20) == 0


def test_many_who_find_one_stale_lock(pods: Callable[..., Pod], tools: Path) -> None:
    first = pods("first")
    first.start(first.lock)
    until(first.holds_lock)
    first.kill()
    for program in ("mkdir", "mv"):  # who is slow to take the lock has decided long before
        delay = 'case "$*" in *.lock.*) sleep 1; [ "$HOLDER" = waiter-0 ] || sleep 2;; esac'
        (tools / program).write_text(f'#!/bin/sh\n{delay}\nexec {shutil.which(program)} "$@"\n')
        (tools / program).chmod(0o755)
    waiters = [pods(f"waiter-{number}") for number in range(10)]
    locks = [waiter.start(waiter.lock) for waiter in waiters]
    until(lambda: any(waiter.holds_lock() for waiter in waiters))
    seen = set[str]()
    for _ in range(6):
        time.sleep(1)
        seen |= {waiter.name for waiter in waiters if waiter.holds_lock()}
    assert len(seen) == 1
    assert [lock.poll() for lock in locks] == [None] * len(locks)  # nobody has lost a lock
