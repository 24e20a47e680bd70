"""presets/model_families.yaml: its values are those that the engines register, and what our presets give each model is
right by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from renderer.engines.handwritten_command import table_entry
from renderer.preset_tables import preset_table
from tests.conftest import Llmaz
from tests.paths import ROOT, TESTS

PARSERS: Mapping[str, Mapping[str, Any]] = json.loads((TESTS / "data" / "parsers.json").read_text("utf-8"))
ROWS = preset_table("model_families")["rows"]
KINDS = {"--tool-call-parser": "tool", "--reasoning-parser": "reasoning"}
OF_OLDER_VERSIONS = {("sglang", "--tool-call-parser", "qwen3")}


def test_values_are_those_of_the_engines() -> None:
    for row in ROWS:
        for engine, options in row["values"].items():
            for option, values in options.items():
                assert option in table_entry(engine)["familyOptions"]
                names = PARSERS.get(engine, {}).get(KINDS.get(option, ""), values)
                unknown = [value for value in values if value not in names]
                assert not [value for value in unknown if (engine, option, value) not in OF_OLDER_VERSIONS], row


def test_presets_fit_their_families(folder: Path, llmaz: Llmaz) -> None:
    """The arguments of each model preset, as if a user wrote them."""
    apps = []
    for path in sorted((ROOT / "presets" / "models").glob("*.yaml")):
        model = yaml.safe_load(path.read_text("utf-8"))
        for engine, settings in model["spec"].get("engines", {}).items():
            if "familyOptions" not in table_entry(engine):
                continue
            name = f"{model['metadata']['name']}-{engine}".replace("--", "-")
            config = {"backendName": engine, "args": settings.get("args", [])}
            claim = {"modelName": model["metadata"]["name"]}
            apps.append(
                {
                    "apiVersion": "inference.llmaz.io/v1alpha1",
                    "kind": "Playground",
                    "metadata": {"name": name, "namespace": "llm"},
                    "spec": {"modelClaim": claim, "backendRuntimeConfig": config},
                }
            )
    (folder / "all.yaml").write_text(yaml.safe_dump_all(apps), "utf-8")
    done = llmaz("validate", "-v")
    assert len(apps) > 100
    assert "[W831]" not in done.err, done.err
