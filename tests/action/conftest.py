"""The action run in a repository, for a pull request of a GitHub of our own."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.action import run as action
from tests.action.github import Act, Hub, Ran, Repository, prepare


@pytest.fixture
def hub() -> Iterator[Hub]:
    served = Hub()
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one, for all tests to copy."""
    folder = tmp_path_factory.mktemp("original")
    path = folder / "repository"
    path.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        prepare(patch, folder)
        Repository(path)
    return path


@pytest.fixture
def repository(folder: Path, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    prepare(monkeypatch, tmp_path)
    monkeypatch.setattr(action, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(action, "LONGEST_PAUSE", 0.01)
    shutil.copytree(original, folder, dirs_exist_ok=True)
    return Repository(folder)


@pytest.fixture
def act(repository: Repository, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Act:
    """Runs the action for pull request 7; inputs by name, `event` and others as the runner sets them."""
    runner = tmp_path / "runner"
    runner.mkdir()

    def run(
        fork: bool = False, event: dict[str, Any] | None = None, name: str = "pull_request", **variables: str
    ) -> Ran:
        head = repository.git("rev-parse", "HEAD")
        pull = {
            "number": 7,
            "base": {"sha": repository.base, "repo": {"full_name": "o/r"}},
            "head": {"sha": head, "repo": {"full_name": "someone/r" if fork else "o/r"}},
        }
        files = {key: runner / key for key in ("event", "output", "summary")}
        files["event"].write_text(json.dumps({"pull_request": pull} if event is None else event))
        for key in ("output", "summary"):
            files[key].unlink(missing_ok=True)
        environment = {
            "GITHUB_API_URL": hub.address,
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(files["event"]),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_SHA": head,
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            "GITHUB_WORKSPACE": str(repository.folder),
            "RUNNER_TEMP": str(runner),
            "INPUT_TOKEN": "secret-token",
            **variables,
        }
        capsys.readouterr()
        code = action.main(environment)
        log = capsys.readouterr().out
        assert "secret-token" not in log
        written = files["output"].read_text("utf-8") if files["output"].exists() else ""
        outputs = {m[1]: m[3] for m in re.finditer(r"^([\w-]+)<<(\w+)\n(.*?)\n\2$", written, re.MULTILINE | re.DOTALL)}
        return Ran(code, log, outputs, files["summary"].read_text("utf-8") if files["summary"].exists() else "")

    return run
