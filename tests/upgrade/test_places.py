"""Which places name the version of an engine, what each says in another version, and which stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import inputs

if TYPE_CHECKING:
    from tests.conftest import Llmaz

DIGEST = f"sha256:{'0' * 64}"
ON_GPU = "qwen3-8b"


def app(name: str, settings: str, model: str = ON_GPU) -> str:
    """A Playground that no route leads to, with lines of its spec."""
    return f"{inputs.playground(name, 'llm', model)}  gateway: {{mode: 'off'}}\n{settings}"


def in_version(tag: str, backend: str = "vllm", more: str = "") -> str:
    return f"  backendRuntimeConfig: {{backendName: {backend}, version: {tag}{more}}}\n"


def runner(image: str) -> str:
    """A podTemplate with the image of the engine's container."""
    return f"  podTemplate: {{spec: {{containers: [{{name: model-runner, image: '{image}'}}]}}}}\n"


def written(folder: Path, **files: str) -> None:
    for stem, text in files.items():
        (folder / f"{stem}.yaml").write_text(text, "utf-8")


def answer(llmaz: Llmaz, *words: str) -> dict[str, Any]:
    done = llmaz("upgrade", *words, "--format", "json")
    assert done.code in (0, 1), done.err
    parsed: dict[str, Any] = json.loads(done.out)
    return parsed


def changes(parsed: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """By place, what stands there before and after."""
    return {f"{it['file']}:{it['line']}:{it['column']}": (it["before"], it["after"]) for it in parsed["changed"]}


def reasons(parsed: dict[str, Any]) -> dict[str, str]:
    """By place, why it stays as it is."""
    return {f"{it['file']}:{it['line']}": it["reason"] for it in parsed["left"]}


@pytest.mark.parametrize(
    ("engine", "tag", "new_tag"),
    [
        ("vllm", "v0.26.0", "v0.33.0"),
        ("vllm", "0.26.0", "0.33.0"),
        ("vllm", "v0.11.0.post1-x86_64", "v0.33.0-x86_64"),
        ("llamacpp", "server-b8929", "server-b11434"),
        ("llamacpp", "server-cuda-b8929", "server-cuda-b11434"),
        ("llamacpp", "server-v0.3.0", "server-b11434"),
        ("sglang", "v0.5.10.post1-cu129", "v0.5.23-cu129"),
        ("tgi", "3.3.6-rocm", "3.3.7-rocm"),
    ],
)
def test_of_a_tag_only_the_version_changes(engine: str, tag: str, new_tag: str, folder: Path, llmaz: Llmaz) -> None:
    model = inputs.PRESET if engine == "llamacpp" else ON_GPU
    written(folder, chat=app("chat", in_version(tag, engine), model))
    column = len(f"  backendRuntimeConfig: {{backendName: {engine}, version: ") + 1
    assert changes(answer(llmaz, engine)) == {f"chat.yaml:7:{column}": (tag, new_tag)}


def test_a_release_is_called_by_its_name(folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=app("chat", in_version("server-v0.3.0", "llamacpp"), inputs.PRESET))
    for word in ("v0.5.0", "b11146", "server-v0.5.0", "server-cuda-b11146"):
        assert [*changes(answer(llmaz, f"llamacpp={word}")).values()] == [("server-v0.3.0", "server-v0.5.0")]


@pytest.mark.parametrize("word", ["0.28.0", "v0.28.0", "v0.28.0-x86_64", "0.28"])
def test_a_version_may_be_written_as_a_tag(word: str, folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=app("chat", in_version("v0.26.0")))
    assert [*changes(answer(llmaz, f"vllm={word}")).values()] == [("v0.26.0", "v0.28.0")]


def test_an_image_names_the_version_too(folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=app("chat", in_version("v0.26.0") + runner("vllm/vllm-openai:v0.26.0")))
    parsed = answer(llmaz, "vllm")
    assert [*changes(parsed).values()] == [
        ("v0.26.0", "v0.33.0"),
        ("vllm/vllm-openai:v0.26.0", "vllm/vllm-openai:v0.33.0"),
    ]
    assert parsed["breaks"] == []


def test_an_image_of_a_mirror(folder: Path, llmaz: Llmaz) -> None:
    mirrors = f"{inputs.CONFIG}\n  images: {{mirrors: {{docker.io: registry.example.com:5000/hub}}}}\n"
    image = "registry.example.com:5000/hub/vllm/vllm-openai"
    written(folder, llmaz=mirrors, chat=app("chat", in_version("v0.26.0") + runner(f"{image}:v0.26.0")))
    assert [*changes(answer(llmaz, "vllm")).values()][1] == (f"{image}:v0.26.0", f"{image}:v0.33.0")


def test_an_image_of_somebody_else_stays(folder: Path, llmaz: Llmaz) -> None:
    image = "registry.example.com/own:v0.26.0"
    written(folder, chat=app("chat", in_version("v0.26.0") + runner(image)))
    llmaz("upgrade", "vllm", "--write")
    assert (folder / "chat.yaml").read_text() == app("chat", in_version("v0.33.0") + runner(image))


def test_both_templates_of_a_service(folder: Path, llmaz: Llmaz) -> None:
    def pod(name: str, tag: str) -> str:
        engine = f"{{name: model-runner, image: 'vllm/vllm-openai:{tag}', command: [vllm, serve, /m]}}"
        return f"    {name}: {{spec: {{containers: [{{name: proxy, image: 'vllm/vllm-openai:v0.9.0'}}, {engine}]}}}}\n"

    service = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {name: own, namespace: llm}
spec:
  modelClaims: {models: [{name: qwen3-8b}]}
  gateway: {mode: "off"}
  workloadTemplate:
    size: 2
"""
    written(folder, own=service + pod("leaderTemplate", "v0.26.0") + pod("workerTemplate", "v0.26.0"))
    assert [*changes(answer(llmaz, "vllm")).values()] == [
        ("vllm/vllm-openai:v0.26.0", "vllm/vllm-openai:v0.33.0"),
        ("vllm/vllm-openai:v0.26.0", "vllm/vllm-openai:v0.33.0"),
    ]


RUNTIME = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: ours}
spec:
  image: registry.example.com/vllm
  version: v0.26.0-team
  command: [vllm, serve]
  recommendedConfigs:
    - {name: default, args: ["{{ ModelPath }}", --port, "{{ Port }}"], resources: {requests: {cpu: 1, memory: 1Gi}}}
  engine:
    variants:
      - {accelerator: nvidia}
      - {accelerator: none, version: v0.26.0-x86_64}
    options: {style: argparse, underscores: true, list: flags/vllm.txt, version: '^v(\\d+\\.\\d+\\.\\d+)'}
"""


def test_a_runtime_of_ones_own_with_its_variants(folder: Path, llmaz: Llmaz) -> None:
    """Its options are in the list of the preset, so it is upgraded with it; also by its own name."""
    written(folder, ours=RUNTIME, chat=app("chat", "  backendRuntimeConfig: {backendName: ours}\n"))
    for engine in ("vllm", "ours"):
        parsed = answer(llmaz, engine)
        assert [*changes(parsed).values()] == [("v0.26.0-team", "v0.33.0-team"), ("v0.26.0-x86_64", "v0.33.0-x86_64")]
        assert reasons(parsed) == {"chat.yaml:3": "follows BackendRuntime ours, v0.26.0-team"}


def test_a_copy_of_the_preset_stays(folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("presets", "vendor", "vllm", "--to", ".").code == 0
    text = (folder / "vllm.yaml").read_text().replace("version: v0.33.0", "version: v0.26.0")
    written(folder, vllm=text, chat=app("chat", "  backendRuntimeConfig: {backendName: vllm}\n"))
    parsed = answer(llmaz, "vllm")
    assert parsed["changed"] == []
    reason = "a copy of the preset: llmaz presets vendor vllm --force writes it anew"
    assert {*reasons(parsed).values()} == {reason, "follows BackendRuntime vllm, v0.26.0"}


ENVIRONMENTS = (
    inputs.CONFIG
    + """
  environments:
    dev: {}
    test: {playgrounds: {chat: {backendRuntimeConfig: {version: v0.30.0}}}}
    prod:
      playgrounds:
        llm/chat:
          backendRuntimeConfig:
            version: "v0.28.0" # tried
"""
)


def test_patches_of_environments(folder: Path, llmaz: Llmaz) -> None:
    written(folder, llmaz=ENVIRONMENTS, chat=app("chat", in_version("v0.26.0")))
    parsed = answer(llmaz, "vllm=0.30.0")
    assert changes(parsed) == {
        "chat.yaml:7:54": ("v0.26.0", "v0.30.0"),
        "llmaz.yaml:12:22": ("v0.28.0", "v0.30.0"),
    }
    assert reasons(parsed) == {"llmaz.yaml:7": "it is that version"}
    assert [it["environment"] for it in parsed["environments"]] == ["dev", "test", "prod"]


def test_what_all_environments_patch_away(folder: Path, llmaz: Llmaz) -> None:
    config = ENVIRONMENTS.replace("    dev: {}\n", "")
    written(folder, llmaz=config, chat=app("chat", in_version("v0.26.0")))
    llmaz("upgrade", "vllm", "--write")
    assert (folder / "chat.yaml").read_text() == app("chat", in_version("v0.33.0"))
    assert (folder / "llmaz.yaml").read_text() == config.replace("v0.30.0", "v0.33.0").replace("v0.28.0", "v0.33.0")


def test_what_stays_and_why(folder: Path, llmaz: Llmaz) -> None:
    tags = {
        "digest": f"'v0.26.0@{DIGEST}'",
        "bare": f"'{DIGEST}'",
        "moving": "latest",
        "ahead": "v0.99.0",
        "same": "v0.33.0",
        "alias": "&tag v0.26.0",
    }
    written(folder, **{name: app(name, in_version(tag)) for name, tag in tags.items()})
    written(folder, none=app("none", ""), image=app("image", runner(f"vllm/vllm-openai:v0.26.0@{DIGEST}")))
    written(folder, other=app("other", in_version("server-b8929", "llamacpp"), inputs.PRESET))
    written(folder, broken=app("broken", in_version("v0.26.0") + "  replicas: -1\n"))
    parsed = answer(llmaz, "vllm")
    assert parsed["changed"] == []
    assert reasons(parsed) == {
        "alias.yaml:7": "it is an alias, or not said there alone: change it by hand",
        "ahead.yaml:7": "it is newer than 0.33.0, the newest that is known",
        "bare.yaml:7": "it is pinned by a digest",
        "broken.yaml:7": "the file has errors: llmaz validate",
        "digest.yaml:7": "it is pinned by a digest",
        "image.yaml:7": "it is pinned by a digest",
        "moving.yaml:7": "its tag does not say which version it is",
        "none.yaml:3": "follows the preset, v0.33.0",
        "same.yaml:7": "it is that version",
    }


SHARED = (
    inputs.CONFIG
    + """
  environments:
    dev:
      playgrounds:
        one: {backendRuntimeConfig: &both {version: v0.26.0, args: [--max-num-partial-prefills, "4"]}}
        two: {backendRuntimeConfig: *both}
        three: {backendRuntimeConfig: {<<: *both, args: []}}
"""
)


def test_what_two_apps_share_stays(folder: Path, llmaz: Llmaz) -> None:
    written(folder, llmaz=SHARED, **{name: app(name, "") for name in ("one", "two", "three")})
    before = {path: path.read_bytes() for path in folder.iterdir()}
    parsed = answer(llmaz, "vllm", "--write")
    assert reasons(parsed) == {"llmaz.yaml:8": "it is an alias, or not said there alone: change it by hand"}
    assert parsed["left"][0]["owners"] == ["Playground llm/one", "Playground llm/three", "Playground llm/two"]
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_paths_choose_apps(folder: Path, llmaz: Llmaz) -> None:
    written(folder, one=app("one", in_version("v0.26.0")), two=app("two", in_version("v0.27.0")))
    assert [*changes(answer(llmaz, "vllm", "two.yaml")).values()] == [("v0.27.0", "v0.33.0")]


def test_a_digest_of_the_tree_is_missed(folder: Path, llmaz: Llmaz) -> None:
    digests = f"{inputs.CONFIG}\n  images: {{digests: {{'vllm/vllm-openai:v0.26.0': '{DIGEST}'}}}}\n"
    written(folder, llmaz=digests, chat=app("chat", in_version("v0.26.0")))
    [environment] = answer(llmaz, "vllm")["environments"]
    assert environment["diff"]["notes"] == [
        "llm/chat: vllm/vllm-openai:v0.33.0 has no digest; write one into images.digests of RenderConfig"
    ]
