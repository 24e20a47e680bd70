"""`llmaz check --per-object` takes and refuses as a real API server did: `judged/<kind>/{taken,refused,stricter}/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

HERE = TESTS / "data" / "judged"
KINDS = sorted(path.name for path in HERE.iterdir() if path.is_dir())
FEWEST = 20


@pytest.mark.parametrize("kind", KINDS)
def test_taken(llmaz: Llmaz, kind: str) -> None:
    files = sorted((HERE / kind / "taken").glob("*.yaml"))
    assert len(files) >= FEWEST
    done = llmaz("check", "--per-object", "--strict", *files)
    assert (done.code, done.out, done.err) == (0, "", f"{len(files)} objects checked, 0 errors\n")


@pytest.mark.parametrize("kind", KINDS)
def test_refused(llmaz: Llmaz, kind: str) -> None:
    files = sorted((HERE / kind / "refused").glob("*.yaml"))
    assert len(files) >= FEWEST
    files += sorted((HERE / kind / "stricter").glob("*.yaml"))
    done = llmaz("check", "--per-object", "--strict", "--format", "json", *files)
    assert done.code == 2
    named = {Path(diagnostic["file"]).resolve() for diagnostic in json.loads(done.out)}
    assert sorted(set(files) - named) == []


def test_objects_are_judged_alone(llmaz: Llmaz, folder: Path) -> None:
    text = (HERE / "hpa" / "taken" / "plain.yaml").read_text(encoding="utf-8")
    (folder / "hpa.yaml").write_text(f"{text}---\n{text}", encoding="utf-8")
    assert llmaz("check", "hpa.yaml").code == 2
    assert llmaz("check", "--per-object", "hpa.yaml").code == 0
