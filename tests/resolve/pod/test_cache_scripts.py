"""The Job of a cache, run as rendered: its containers' own commands and environment, on a folder in place of the claim.

In place of rclone a stand-in copies two files from a folder, as slowly as a test needs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.paths import TESTS

GOLDEN = TESTS / "cases/example-cache/expected/default/blue-70b.cache.yaml"
FILES = {"config.json": "{}", "weights.safetensors": "weights"}
# copy SOURCE TARGET …: one file, a pause, the other file; a name that is not whole yet ends in .partial.
STAND_IN = """#!/bin/sh
set -e
echo run >> "$RUNS"
mkdir -p "$3"
for file in config.json weights.safetensors; do
  if cmp -s "$SOURCE/$file" "$3/$file"; then continue; fi
  cp "$SOURCE/$file" "$3/$file.partial"; sleep "$PAUSE"; mv "$3/$file.partial" "$3/$file"
done
"""


class Pod:
    """A pod of the Job. `volume`: the folder in place of the claim."""

    def __init__(self, name: str, volume: Path, tools: Path, pause: float) -> None:
        *_, job = yaml.safe_load_all(GOLDEN.read_text("utf-8"))
        spec = job["spec"]["template"]["spec"]
        self.lock, self.loader = spec["initContainers"]
        (self.complete,) = spec["containers"]
        self.name, self.volume, self.tools, self.pause = name, volume, tools, pause
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, container: Mapping[str, Any], command: list[str] | None = None) -> subprocess.Popen[bytes]:
        """The container's process, in a group of its own, with paths of the machine in place of those of the pod."""
        env = {
            "PATH": f"{self.tools}:{os.environ['PATH']}",
            "STEP": "1",
            "PATIENCE": "2",
            "PAUSE": str(self.pause),
            "SOURCE": str(self.tools / "source"),
            "RUNS": str(self.tools / "runs"),
        }
        env |= {entry["name"]: entry.get("value", self.name) for entry in container["env"]}
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

    def held(self) -> bool:
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
        until(self.held)
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
    folder = tmp_path / "tools"
    (folder / "source").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / "source" / name).write_text(text)
    (folder / "rclone").write_text(STAND_IN)
    (folder / "rclone").chmod(0o755)
    return folder


@pytest.fixture
def pods(tmp_path: Path, tools: Path) -> Iterator[Callable[..., Pod]]:
    volume, made = tmp_path / "claim", list[Pod]()
    volume.mkdir()

    def make(name: str, pause: float = 0) -> Pod:
        made.append(Pod(name, volume, tools, pause))
        return made[-1]

    yield make
    for pod in made:
        pod.kill()


def contents(pod: Pod) -> dict[str, str]:
    """The files on the claim, below the folder of the weights; the marker's name is `complete`."""
    folder = next(entry["value"] for entry in pod.lock["env"] if entry["name"] == "FOLDER")
    files = {str(path.relative_to(pod.volume)): path.read_text() for path in pod.volume.rglob("*") if path.is_file()}
    return {key.removeprefix(f"{folder}/").removeprefix(f"{folder}."): text for key, text in files.items()}


WHOLE = {f"models--blue-70b/{name}": text for name, text in FILES.items()} | {"complete": ""}


def test_fill_and_fill_again(pods: Callable[..., Pod], tools: Path) -> None:
    first = pods("first")
    first.run()
    assert contents(first) == WHOLE  # no lock is left
    pods("second").run()
    assert contents(first) == WHOLE
    assert (tools / "runs").read_text() == "run\n" * 2  # the loader looks at its files again


def test_killed_in_the_middle(pods: Callable[..., Pod]) -> None:
    first = pods("first", pause=60)
    first.start(first.lock)
    until(first.held)
    first.start(first.loader)
    until(lambda: any(name.endswith(".partial") for name in contents(first)))
    first.kill()
    assert "complete" not in contents(first)
    second = pods("second")
    second.start(second.lock)
    assert not second.held()  # the stamp may still change
    until(second.held)
    second.end()
    assert not any("lock" in name for name in contents(second))  # released, for the pod that takes its place
    pods("third").run()
    assert {name: text for name, text in contents(second).items() if not name.endswith(".partial")} == WHOLE


def test_restarted_with_its_lock(pods: Callable[..., Pod]) -> None:
    first = pods("first", pause=60)
    first.start(first.lock)
    until(first.held)
    first.kill()
    again = pods("first")  # a container that restarts has the name of its pod
    again.run()
    assert contents(again) == WHOLE


def test_two_at_once(pods: Callable[..., Pod]) -> None:
    first, second = pods("first", pause=2), pods("second")
    first.start(first.lock)
    until(first.held)
    loader = first.start(first.loader)
    second.start(second.lock)
    while loader.poll() is None:
        assert not second.held()
        time.sleep(0.2)
    assert "complete" not in contents(first)
    assert first.start(first.complete).wait(20) == 0
    until(second.held)
    assert second.start(second.loader).wait(20) == 0
    first.end()
    second.end()
    assert contents(first) == WHOLE


def test_the_wait_of_a_pod(pods: Callable[..., Pod]) -> None:
    lws, *_ = yaml.safe_load_all((GOLDEN.parent / "chat.yaml").read_text("utf-8"))
    (wait,) = lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["initContainers"]
    pod = pods("chat-0")
    process = pod.start(wait)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    pods("first").run()
    assert process.wait(20) == 0
