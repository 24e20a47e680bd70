"""What all tests share: the program run inside this process, and goldens that are the real files.

A golden is compared with `golden(path_below_tests, text)`; `pytest --snapshot-update` writes it.
"""

from __future__ import annotations

import contextlib
import gc
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SerializedData, SnapshotIndex

from renderer import cli
from tests.paths import TESTS

# No test fails because the machine is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

_SUMMARY = re.compile(
    r"(?P<apps>[\d,]+) apps?, (?P<objects>[\d,]+) objects? → (?P<folder>.+)/: "
    r"(?P<new>\d+) new, (?P<changed>\d+) changed, (?P<unchanged>\d+) unchanged(, (?P<gone>\d+) deleted)?\n\Z"
)


class Outcome(NamedTuple):
    """What one run of the program came to."""

    code: int
    out: str
    err: str

    @property
    def folder(self) -> str:
        """The output folder that `render` names in its last line."""
        return self._summary()["folder"]

    @property
    def counts(self) -> dict[str, int]:
        """apps, objects, new, changed, unchanged, gone: what `render` says in its last line."""
        groups = self._summary().groupdict(default="0")
        return {key: int(text.replace(",", "")) for key, text in groups.items() if key != "folder"}

    @property
    def warnings(self) -> str:
        """What `render` says before its last line."""
        return self.err[: self._summary().start()]

    def _summary(self) -> re.Match[str]:
        match = _SUMMARY.search(self.err)
        assert match, f"no summary of a render:\n{self.err}"
        return match


class Llmaz(Protocol):
    """Runs the program with these arguments, in the current folder."""

    def __call__(self, *args: str | Path) -> Outcome: ...


class Golden(Protocol):
    """Compares text with the golden file at this path below tests/; fails with the difference."""

    def __call__(self, path: str, text: str) -> None: ...


def run(args: Sequence[str | Path]) -> Outcome:
    """One run inside this process; a fault of ours is exit code 3, as it is for users."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.run([str(arg) for arg in args])
            except SystemExit as end:
                code = end.code
    finally:
        gc.unfreeze()
        gc.enable()  # the program turns it off, since it lives for seconds only
    assert code is None or isinstance(code, int), code
    return Outcome(code or 0, out.getvalue(), err.getvalue())


@pytest.fixture
def llmaz() -> Llmaz:
    """The program."""
    return lambda *args: run(args)


class GoldenFile(SingleFileSnapshotExtension):
    """One golden is one file, at the path that the test names; superfluous ones are the business of `superfluous`."""

    _write_mode = WriteMode.TEXT

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return str(TESTS / str(index))

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return True

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        return SnapshotCollections()

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> str | None:
        try:
            return Path(snapshot_location).read_bytes().decode()
        except FileNotFoundError:
            return None

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        data: SerializedData | None = next(iter(snapshot_collection)).data
        assert isinstance(data, str)
        Path(snapshot_collection.location).write_bytes(data.encode())


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> Golden:
    """See Golden."""

    def compare(path: str, text: str) -> None:
        assert text == snapshot(name=path, extension_class=GoldenFile)

    return compare


@pytest.fixture
def superfluous(request: pytest.FixtureRequest) -> Callable[[Path, set[Path]], list[Path]]:
    """Files below a folder of goldens that nothing makes any more; `--snapshot-update` deletes them, and says none."""
    update = bool(request.config.option.update_snapshots)

    def find(folder: Path, expected: set[Path]) -> list[Path]:
        left = sorted(path for path in folder.rglob("*") if path.is_file() and path not in expected)
        for path in left if update else ():
            path.unlink()
            for parent in path.parents:
                if parent == folder or any(parent.iterdir()):
                    break
                parent.rmdir()
        return [] if update else left

    return find


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and the current one."""
    path = tmp_path / "here"
    path.mkdir()
    monkeypatch.chdir(path)
    return path
