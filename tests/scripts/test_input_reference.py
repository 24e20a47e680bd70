"""The reference pages of the input kinds: each key with its type, default, example and version."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scripts import input_reference, make_key_versions
from scripts.input_reference import Examples, Key, Kind, kind_markdown, read_kinds, read_versions

WITHOUT_AN_EXAMPLE = {  # their values are long, or of several lines, or of no engine that ships
    "Service spec.scheduling",
    "BackendRuntime spec.engine.files[].content",
    "BackendRuntime spec.engine.notice",
    "BackendRuntime spec.engine.versions[].adapters.asked",
    "BackendRuntime spec.engine.versions[].envs",
    "BackendRuntime spec.engine.versions[].metrics.cacheInfo",
    "RenderConfig spec.gateway.auth.jwt",
    "RenderConfig spec.images.digests",
}


@pytest.fixture(scope="module")
def kinds() -> dict[str, Kind]:
    return read_kinds()


@pytest.fixture(scope="module")
def examples(kinds: dict[str, Kind]) -> Examples:
    return Examples(kinds.values())


def key_of(kind: Kind, path: str) -> Key:
    return next(key for key in kind.keys if key.path == path)


def test_the_versions_are_fresh() -> None:
    text = make_key_versions.file_text()
    assert input_reference.VERSIONS.read_text("utf-8") == text, "run `make schemas ONLY=input`"


def test_a_new_key_is_of_the_next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = input_reference.VERSIONS.read_text("utf-8")
    path = tmp_path / "key_versions.yaml"
    path.write_text(
        text.replace("  spec.facts.gated: [0.1.0]\n", "").replace("spec.familyName:", "spec.gone:"), "utf-8"
    )
    for module in (input_reference, make_key_versions):
        monkeypatch.setattr(module, "VERSIONS", path)
    new_text = make_key_versions.file_text()
    versions = yaml.safe_load(new_text)["OpenModel"]
    assert versions["spec.facts.gated"] == versions["spec.familyName"] == ["next"]
    assert "spec.gone" not in versions
    assert new_text.startswith("# Since when the keys of the input kinds exist")


def test_keys_that_kubernetes_defines_are_left_out(kinds: dict[str, Kind]) -> None:
    paths = {key.path for key in kinds["playground"].keys}
    assert {"spec.podTemplate", "spec.podTemplate.spec", "spec.modelClaims.models[].role"} <= paths
    assert not [path for path in paths if path.startswith("spec.podTemplate.spec.")]


def test_every_example_is_valid(kinds: dict[str, Kind], examples: Examples) -> None:
    texts = {
        f"{kind.name} {key.path}": (kind, key, examples.example(kind, key))
        for kind in kinds.values()
        for key in kind.keys
        if not kind.is_table(key.schema)
    }
    invalid = [
        name
        for name, (kind, key, text) in texts.items()
        if text and not kind.is_valid(key.schema, yaml.safe_load(text))
    ]
    assert invalid == []
    without = {name for name, (_, key, text) in texts.items() if not text and "default" not in key.schema}
    assert without == WITHOUT_AN_EXAMPLE


@pytest.mark.parametrize(
    ("file", "path", "example"),
    [
        ("openmodel", "spec.facts.architecture", "Qwen3ForCausalLM"),  # of the schema
        ("openmodel", "spec.inferenceConfig.flavors[].limits", "{nvidia.com/gpu: 1}"),
        ("playground", "spec.disaggregation.kind", "DisaggregatedSet"),  # not the default
        ("playground", "spec.disaggregation", ""),  # the rows below it show it
        ("service", "spec.gateway.mode", "pool"),  # of a Playground
        ("backendruntime", "spec.engine.versions[].memory.valueType.option", "--kv-cache-dtype"),
    ],
)
def test_examples(file: str, path: str, example: str, kinds: dict[str, Kind], examples: Examples) -> None:
    assert examples.example(kinds[file], key_of(kinds[file], path)) == example


def test_a_page(kinds: dict[str, Kind], examples: Examples) -> None:
    kind = kinds["openmodel"]
    blocks = list(kind_markdown(kind, "openmodel", read_versions()[kind.name], examples))
    assert blocks[0] == "# OpenModel"
    rows = blocks[blocks.index("## spec.source {#spec-source}") + 1].splitlines()
    assert rows[0] == "| key and type | what it is | since |"
    assert "| <strong><code>(itself)</code></strong><br>object | Where the weights are" in rows[2]
    (row,) = (row for row in rows if "<code>modelHub<wbr>.name</code>" in row)
    assert row.endswith(
        "<br>`Huggingface`, `ModelScope` | The hub.<br>Default: `Huggingface`"
        "<br>Example: `ModelScope` | 0.1.0<br>operator v0.0.3 |"
    )
