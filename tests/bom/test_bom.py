"""`llmaz bom`: the bill of materials of a tree, worked out by hand, and read by the strict schema of CycloneDX 1.6."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from renderer.bom.licences import spdx_id
from tests import inputs
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

TREE = TESTS / "bom" / "every-kind" / "input"
EXAMPLES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir())
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOADER, GUARD = "image:inftyai/model-loader:v0.0.10", f"image:registry.example:5000/guard@sha256:{'4' * 64}"
VLLM, PINNED = "image:vllm/vllm-openai:v0.33.0", f"image:vllm/vllm-openai:v0.33.0@sha256:{'3' * 64}"
MIRROR = "image:mirror.example/ghcr"
BLUE, IMAGE, PACKED = f"model:blue@{COMMIT}", f"model:image@sha256:{'1' * 64}", f"model:packed@sha256:{'2' * 64}"
# By hand: what each app depends on. prod has digests and a mirror, staging neither and three apps.
LAW = {BLUE, "model:blue-law", LOADER, "image:lmsysorg/sglang:v0.5.23"}
APPS = {
    "app:staging/llm/Playground/chat": {BLUE, "model:blue-draft@main", VLLM, GUARD, LOADER},
    "app:staging/llm/Playground/law": LAW,
    "app:staging/llm/Playground/split": {
        IMAGE, VLLM, "image:ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.11.0",
        "image:ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.11.0",
    },
    "app:prod/llm/Playground/chat": {BLUE, "model:blue-draft@main#2", PINNED, GUARD, LOADER},
    "app:prod/llm/Playground/law": LAW,
    "app:prod/llm/Playground/router": {
        "model:green", "model:claimed", LOADER, f"{MIRROR}/ggml-org/llama.cpp:server-b11434",
    },
    "app:prod/llm/Playground/packed": {PACKED, PINNED},
    "app:prod/llm/Playground/split": {
        IMAGE, PINNED, f"{MIRROR}/llm-d/llm-d-router-disagg-sidecar:v0.11.0",
        f"{MIRROR}/llm-d/llm-d-router-endpoint-picker:v0.11.0",
    },
    "app:prod/llm/Playground/cached": {"model:bucket", PINNED, "image:rclone/rclone:1.75.0"},
    "app:prod/llm/Playground/pulled": {"model:pulled", "image:ollama/ollama:0.32.15"},
    "app:prod/llm/Service/own": {"model:qwen3-8b", LOADER, "image:registry.example/server:1", "image:nginx"},
}  # fmt: skip
HOSTILE = "</script><script>alert(1)</script>\n=cmd()\u202e ##[error]mit\x00"
LICENCES: dict[str, list[dict[str, dict[str, str]]] | None] = {
    BLUE: [{"license": {"id": "Apache-2.0"}}],
    "model:blue-draft@main": [{"license": {"id": "MIT"}}],  # in staging
    "model:blue-draft@main#2": [{"license": {"name": "other"}}],
    "model:blue-law": [{"license": {"name": HOSTILE}}],
    "model:claimed": [{"license": {"name": "gemma"}}],
    IMAGE: [{"license": {"id": "MIT"}}],
    PACKED: None,
    "model:qwen3-8b": None,  # the preset says none
}
ADDRESSES = {
    BLUE: "hf://example/Blue-8B",
    "model:blue-law": "modelscope://example/Blue-Law",
    "model:claimed": "pvc://models/green/%C3%A4.gguf",
    IMAGE: f"oci://ghcr.io/example/blue:1.0@sha256:{'1' * 64}",
    PACKED: "oci://registry.example/models/packed:2",
    "model:bucket": "s3://models/blue",
    "model:pulled": "ollama://blue%3A8b",
}
URLS = {
    BLUE: f"pkg:huggingface/example/Blue-8B@{COMMIT}",
    "model:blue-draft@main": "pkg:huggingface/example/Blue-1B",  # a branch is no version there
    IMAGE: f"pkg:oci/blue@sha256:{'1' * 64}?repository_url=ghcr.io/example/blue&tag=1.0",
    PACKED: f"pkg:oci/packed@sha256:{'2' * 64}?repository_url=registry.example/models/packed&tag=2",
    VLLM: "pkg:oci/vllm-openai?repository_url=docker.io/vllm/vllm-openai&tag=v0.33.0",
    PINNED: f"pkg:oci/vllm-openai@sha256:{'3' * 64}?repository_url=docker.io/vllm/vllm-openai&tag=v0.33.0",
    GUARD: f"pkg:oci/guard@sha256:{'4' * 64}?repository_url=registry.example:5000/guard",
    "image:nginx": "pkg:oci/nginx?repository_url=docker.io/library/nginx",
}
HASHES = {IMAGE: "1", PACKED: "2", PINNED: "3", GUARD: "4"}
CONTAINERS = {
    LOADER: ["model-loader", "model-loader-1"],
    GUARD: ["guard"],
    PINNED: ["model-runner"],
    f"{MIRROR}/llm-d/llm-d-router-endpoint-picker:v0.11.0": ["epp"],
}


def read_bill(llmaz: Llmaz, *words: str) -> dict[str, Any]:
    """The bill of the current folder, which the strict schema takes."""
    done = llmaz("bom", *words)
    assert done.code == 0, done.err
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(done.out) is None
    bill: dict[str, Any] = json.loads(done.out)
    return bill


def by_ref(bill: dict[str, Any]) -> dict[str, Any]:
    components = {component["bom-ref"]: component for component in bill["components"]}
    assert len(components) == len(bill["components"])
    assert list(components) == sorted(components)
    return components


def values(component: dict[str, Any], name: str) -> list[str]:
    return [entry["value"] for entry in component.get("properties", ()) if entry["name"] == name]


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(TREE)
    return TREE


@pytest.mark.usefixtures("tree")
def test_what_apps_depend_on(llmaz: Llmaz, golden: Golden) -> None:
    bill = read_bill(llmaz)
    components = by_ref(bill)
    depends = {entry["ref"]: set(entry.get("dependsOn", ())) for entry in bill["dependencies"]}
    assert {ref: depends[ref] for ref in APPS} == APPS
    assert depends.pop("tree") == {*APPS}
    assert {*depends} == {*components} == {*APPS}.union(*APPS.values())
    assert all(not depends[ref] for ref in components if ref not in APPS)
    assert bill["metadata"] == {"component": {"type": "application", "bom-ref": "tree", "name": "chats"}}
    kinds = {"app": "application", "image": "container", "model": "machine-learning-model"}
    assert all(component["type"] == kinds[ref.partition(":")[0]] for ref, component in components.items())
    golden("bom/every-kind/bom.json", json.dumps(bill, indent=2, ensure_ascii=True) + "\n")


@pytest.mark.usefixtures("tree")
def test_what_is_known_of_each(llmaz: Llmaz) -> None:
    components = by_ref(read_bill(llmaz))
    assert {ref: components[ref].get("licenses") for ref in LICENCES} == LICENCES
    sources = {ref: entry["externalReferences"][0] for ref, entry in components.items() if ref in ADDRESSES}
    assert sources == {ref: {"type": "distribution", "url": address} for ref, address in ADDRESSES.items()}
    assert {ref: components[ref].get("purl") for ref in URLS} == URLS
    assert all(PackageURL.from_string(components[ref]["purl"]).to_string() == url for ref, url in URLS.items())
    hashes = {ref: entry["hashes"] for ref, entry in components.items() if "hashes" in entry}
    assert hashes == {ref: [{"alg": "SHA-256", "content": digit * 64}] for ref, digit in HASHES.items()}
    assert {ref: values(components[ref], "llmaz:container") for ref in CONTAINERS} == CONTAINERS
    assert values(components["model:green"], "llmaz:file") == ["green-Q4_K_M.gguf", "mmproj-F16.gguf"]
    assert components[BLUE]["version"] == COMMIT
    parameters = {"task": "chat", "architectureFamily": "blue", "modelArchitecture": "BlueForCausalLM"}
    assert components[BLUE]["modelCard"] == {"modelParameters": parameters}
    page = {"type": "model-card", "url": "https://huggingface.co/example/Blue-8B"}
    assert components[BLUE]["externalReferences"][1:] == [page]
    chat = components["app:prod/llm/Playground/chat"]
    assert (chat["group"], chat["name"]) == ("llm", "chat")
    names = ("environment", "kind", "file", "engine")
    assert [values(chat, f"llmaz:{name}") for name in names] == [
        ["prod"],
        ["Playground"],
        ["apps.yaml"],
        ["vllm 0.33.0"],
    ]


@pytest.mark.usefixtures("tree")
def test_two_runs_are_the_same(llmaz: Llmaz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the tree lies, whatever its files are called, and in which order they are read."""
    first = llmaz("bom")
    assert first.out == llmaz("bom").out
    shutil.copytree(TREE, tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert llmaz("bom").out == first.out
    Path("models.yaml").rename("a.yaml")
    assert llmaz("bom").out == first.out
    assert first.err == "11 apps, 11 models, 14 images; 4 models without a licence, 5 models on a branch or tag\n"


@pytest.mark.usefixtures("tree")
def test_one_environment(llmaz: Llmaz) -> None:
    components = by_ref(read_bill(llmaz, "--env", "staging"))
    assert {ref for ref in components if ref.startswith("app:")} == {ref for ref in APPS if "staging" in ref}
    assert IMAGE in components
    assert PACKED not in components


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(ROOT)
    bill = read_bill(llmaz, f"examples/{name}")
    components = by_ref(bill)
    refs = {"tree", *components}
    assert {entry["ref"] for entry in bill["dependencies"]} == refs
    for entry in bill["dependencies"]:
        assert refs.issuperset(entry.get("dependsOn", ()))
        if entry["ref"].startswith("app:"):
            assert {ref.partition(":")[0] for ref in entry["dependsOn"]} == {"image", "model"}


def test_a_preset_has_its_licence_or_none(monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    """Nothing is guessed: a preset that says no licence has none in the bill."""
    monkeypatch.chdir(TESTS / "cases" / "model-presets" / "input")
    components = by_ref(read_bill(llmaz))
    licences = {entry["name"]: entry.get("licenses") for ref, entry in components.items() if ref.startswith("model:")}
    silent = set()
    for name in licences:
        path = ROOT / "presets" / "models" / f"{name}.yaml"
        licence = yaml.safe_load(path.read_text("utf-8"))["spec"]["facts"].get("licence", "")
        known = {"id": spdx_id(licence)} if spdx_id(licence) else {"name": licence}
        assert licences[name] == ([{"license": known}] if licence else None)
        silent.update([] if licence else [name])
    assert {"qwen3-8b", "bge-m3"} <= silent < {*licences}


def test_licences() -> None:
    assert [spdx_id(text) for text in ("mit", "APACHE-2.0", "Gpl-3.0-Or-Later", "cc-by-nc-4.0")] == [
        "MIT", "Apache-2.0", "GPL-3.0-or-later", "CC-BY-NC-4.0",
    ]  # fmt: skip
    assert [spdx_id(text) for text in ("other", "gemma", "llama3.1", "modified-mit", "mit ", "Apache-2.0 OR MIT")] == [
        ""
    ] * 6


def test_errors_leave_no_bill(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(inputs.playground("chat", model="nobody-has-this"), "utf-8")
    done = llmaz("bom")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("1 error\n")


def test_a_tree_of_nothing(folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{{}}\n", "utf-8")
    bill = read_bill(llmaz, "--allow-empty")
    assert (bill["components"], bill["dependencies"]) == ([], [{"ref": "tree"}])
