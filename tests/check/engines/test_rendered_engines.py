"""What `llmaz check` says of engines in our own output is what `render` said of the same input."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from renderer.check import ExternalObjects
from renderer.check.engines import validate_engines
from renderer.load.index import engine_catalog
from renderer.load.manifest_tree import manifests, split_by_cluster
from tests.paths import TESTS

CASES = sorted(path.parent for path in (TESTS / "cases").glob("*/expected"))
# Codes of `check` that stand for another one of `render`.
TOLD_OTHERWISE = {
    ("pod-template-accelerators", "W236"): "W212, since the number is the podTemplate's",
    ("pod-template-with-likely-mistakes", "W496"): "W212, since a podTemplate deletes the flavor's limits",
    ("options-not-checked", "N454"): "nothing: the runtime is the reader's own, and has no hook",
    ("version-of-own-images", "N454"): "the same",
}


def engine_codes(folder: Path) -> set[str]:
    """The codes about engines that `check` gives a folder."""
    files = manifests((str(folder),))
    ((config, _, documents),) = split_by_cluster((str(folder),), files.documents)[:1]
    return {problem.code for problem in validate_engines(documents, engine_catalog(config), ExternalObjects())}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_no_code_that_render_did_not_give(case: Path) -> None:
    warnings = case / "stderr.txt"
    render_codes = re.findall(r"\[([EWN][0-9]{3})\]", warnings.read_text("utf-8")) if warnings.exists() else []
    # Most trees keep Secrets out of git, so `render` says nothing of those with tokens for gated models.
    codes = engine_codes(case / "expected") - {*render_codes, "N533"}
    assert {code for code in codes if (case.name, code) not in TOLD_OTHERWISE} == set()


def test_some_are_told() -> None:
    assert engine_codes(TESTS / "cases" / "tensor-parallel" / "expected") == {"N482", "W236"}
