"""`scripts/make_models.py`: presets have the facts that are known, and what is written by hand stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from renderer import schema_validation
from scripts import make_models

KNOWN = make_models.known_models()
ENDLESS = "meta-llama/Llama-4-Scout-17B-16E-Instruct"  # its context of ten million tokens fits no node


def test_facts_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_models.main(["--check"]) == 0, "run scripts/make_models.py"
    assert capsys.readouterr().out == ""


def test_stale_facts_are_written_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (make_models.MODELS / "gpt-oss-20b.yaml").read_text("utf-8")
    path = tmp_path / "presets" / "models" / "gpt-oss-20b.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("layers: 24", "layers: 25").replace("    kind: chat\n", "    kind: chat  # old\n"))
    monkeypatch.setattr(make_models, "ROOT", tmp_path)
    monkeypatch.setattr(make_models, "MODELS", path.parent)
    stale = path.read_text("utf-8")
    assert make_models.main(["--check"]) == 1
    assert capsys.readouterr().out == "presets/models/gpt-oss-20b.yaml: stale\n"
    assert path.read_text("utf-8") == stale
    assert make_models.main([]) == 0
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("hub_id", [hub_id for hub_id in KNOWN if hub_id != ENDLESS])
def test_a_draft_is_a_preset(hub_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Schema-valid, with the facts of the model."""
    assert make_models.main(["--draft", hub_id]) == 0
    text = capsys.readouterr().out
    value: Any = yaml.safe_load(text)
    assert schema_validation.findings("input/openmodel", value) == []
    assert value["metadata"]["name"] == value["spec"]["servedModelName"].replace(".", "--")
    assert value["spec"]["source"]["modelHub"]["modelID"] == hub_id
    assert ("# Gated: " in text) == bool(value["spec"]["facts"].get("gated"))
    assert make_models.rewritten(text, KNOWN) == text


def test_a_model_of_which_nothing_is_known() -> None:
    with pytest.raises(SystemExit, match=r"org/none is not in .*: write its facts there first"):
        make_models.main(["--draft", "org/none"])


def test_a_model_that_fits_nowhere() -> None:
    with pytest.raises(SystemExit, match=r"fits on none of a100-80g, .*: give it a shorter context"):
        make_models.main(["--draft", ENDLESS])
