"""The presets that many runs read, compiled: what they say is what stands in presets/."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from renderer import preset_tables, yamlio
from renderer.load.preset_files import preset_names
from renderer.preset_tables import COMPILED, read_preset
from scripts.make_compiled_presets import PRESETS, compiled_presets
from tests.paths import ROOT

COMPILED_NAMES = sorted(path.removesuffix(".json") for path in compiled_presets())


def test_compiled_presets_are_fresh() -> None:
    """The files are those that the script makes today."""
    folder = Path(COMPILED)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}
    assert files == compiled_presets(), "run .venv/bin/python -m scripts.make_compiled_presets"


def flat(value: object) -> object:
    """A value with the types of all that is in it, in their order."""
    if isinstance(value, dict):
        return [(flat(key), flat(item)) for key, item in value.items()]
    return [flat(item) for item in value] if isinstance(value, list) else (type(value), value)


@pytest.mark.parametrize("name", COMPILED_NAMES)
def test_compiled_values_are_those_of_the_yaml(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types and order of keys are the same, too, and nothing parses the YAML to know them; so is each place."""
    data = (PRESETS / f"{name}.yaml").read_bytes()
    expected, _ = yamlio.parse(f"presets/{name}.yaml", data)
    with monkeypatch.context() as patch:
        patch.setattr(yamlio, "parse", None)
        documents, problems = read_preset(name)
    assert not problems
    assert [flat(document.value) for document in documents] == [flat(document.value) for document in expected]
    assert documents[0].name == f"presets/{name}.yaml"
    assert documents[0].locate(("spec",)) == expected[0].locate(("spec",)) != (0, 0)


@pytest.mark.parametrize("name", ["chart_values", "backends/ollama"])
def test_a_changed_preset_is_read_itself(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in presets/ counts, not what was compiled of it before."""
    shutil.copytree(ROOT / "presets", tmp_path / "presets")
    path = tmp_path / "presets" / f"{name}.yaml"
    path.write_text(path.read_text("utf-8").replace("\nspec:\n", "\nspec:\n  added: 1\n"), "utf-8")
    monkeypatch.setattr(preset_tables, "PRESETS", str(tmp_path / "presets"))
    documents, _ = read_preset(name)
    assert documents[0].value["spec"]["added"] == 1


@pytest.mark.parametrize("name", preset_names("models"))
def test_model_ids_hold_the_first_word_of_the_name(name: str) -> None:
    """By that word a model is looked for among the presets (preset_facts)."""
    document = read_preset(f"models/{name}")[0][0]
    assert name.partition("-")[0] in document.value["spec"]["source"]["modelHub"]["modelID"].lower()
