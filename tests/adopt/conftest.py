"""`llmaz adopt` on objects of a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.conftest import Llmaz

Body = dict[str, Any]


class Adopted:
    """What `llmaz adopt` made of some manifests, and what the tree renders to."""

    def __init__(self, folder: Path, code: int, report: str, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
        self.code, self.report, self.folder = code, report, folder
        self._llmaz, self._monkeypatch = llmaz, monkeypatch

    @property
    def texts(self) -> str:
        """All that was written."""
        return "".join(path.read_text("utf-8") for path in sorted(self.folder.rglob("*.yaml")))

    def only(self, kind: str) -> Body:
        """The one object of a kind that was written."""
        (body,) = (body for body in yaml.safe_load_all(_joined(self.folder)) if body["kind"] == kind)
        result: Body = body
        return result

    def rendered(self, kind: str) -> Body:
        """The first object of a kind that the tree renders to."""
        self._monkeypatch.chdir(self.folder)
        done = self._llmaz("render", "--stdout")
        assert done.code == 0, done.err
        result: Body = next(body for body in yaml.safe_load_all(done.out) if body and body["kind"] == kind)
        return result

    def engine(self, kind: str = "Deployment") -> Body:
        """The engine's container as it is rendered."""
        template = self.rendered(kind)["spec"]
        template = template.get("leaderWorkerTemplate", {}).get("workerTemplate") or template["template"]
        result: Body = next(body for body in template["spec"]["containers"] if body["name"] == "model-runner")
        return result


def _joined(folder: Path) -> str:
    return "---\n".join(path.read_text("utf-8") for path in sorted(folder.rglob("*.yaml")))


@pytest.fixture
def adopt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> Callable[..., Adopted]:
    def run(*bodies: Mapping[str, Any], words: tuple[str, ...] = ()) -> Adopted:
        (tmp_path / "input.yaml").write_text(yaml.safe_dump_all(bodies))
        monkeypatch.chdir(tmp_path)
        done = llmaz("adopt", "input.yaml", "-o", "out", *words)
        return Adopted(tmp_path / "out", done.code, done.err + done.out, llmaz, monkeypatch)

    return run
