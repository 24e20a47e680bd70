"""Presets in the user's hands: `llmaz presets list` with filters, `vendor`, `show --resolved` and `diff`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import __version__, load
from renderer.preset_catalog.preset_list import newest_release, option_versions
from scripts.knows import listed_versions
from tests.inputs import CONFIG, playground
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

PRESETS = ROOT / "presets"
BACKENDS = load.preset_names("backends")
MODELS = load.preset_names("models")
RUNTIME = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {{name: {name}}}
spec:
  image: registry.example/own
  version: v1
  recommendedConfigs:
    - {{name: default, args: [serve, "{{{{ ModelPath }}}}"], resources: {{requests: {{cpu: 1}}}}}}
  engine:
    options: {{style: argparse, list: none}}
    variants:
      - {{accelerator: none, unflavored: true}}
      - {{accelerator: nvidia}}
    sources: [{source}]
"""
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: mine}
spec:
  familyName: mine
  source: {modelHub: {modelID: org/mine}}
"""
EMPTY = CONFIG + "{}\n"
TWICE = "and two of one name are an error; llmaz presets diff vllm compares it\n"


def refused(done: Outcome) -> str:
    """What it says on refusing, without the number of errors behind a text that has no code; nothing goes to stdout."""
    assert (done.code, done.out) == (2, ""), done.err
    assert "[E" in done.err or "\nError: " in done.err or done.err.endswith("\n1 error\n")
    return done.err if "[E" in done.err else done.err.removesuffix("1 error\n")


def files(folder: Path) -> list[str]:
    """What lies below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


# --- list


def listed(llmaz: Llmaz, *words: str) -> list[str]:
    """The names of the models that are left, each a line of its own."""
    done = llmaz("presets", "list", *words)
    assert done.code == 0
    assert done.err == "" or ("--fits" in words and " may fit too: " in done.err)
    names = [line.split()[0] for line in done.out.splitlines()]
    assert set(names) <= set(MODELS)
    return names


def preset_facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = load.preset(f"models/{name}").value["spec"]["facts"]
    return facts


def test_models_by_a_part_of_a_name(llmaz: Llmaz) -> None:
    coders = listed(llmaz, "--search", "CODER")
    assert coders == [name for name in MODELS if "coder" in name]
    assert "gemma-3-4b-it-gguf" in listed(llmaz, "--search", "bartowski/google_gemma-3-4b-it-GGUF")
    assert listed(llmaz, "--search", "qwen3-0.6b") == ["qwen3-0--6b", "qwen3-0--6b-gguf"]  # as it is served
    assert set(listed(llmaz, "--search", "deepseek-distill")) == {  # a family
        name for name in MODELS if name.startswith("deepseek-r1-distill")
    }


def test_models_by_task(llmaz: Llmaz) -> None:
    for kind in ("chat", "embedding", "reranker"):
        assert listed(llmaz, "--task", kind) == [name for name in MODELS if preset_facts(name)["kind"] == kind]


def test_models_by_accelerators(llmaz: Llmaz) -> None:
    small, large, several = (listed(llmaz, "--fits", word) for word in ("l4-24g", "b200-180g", "8xb200-180g"))
    assert "llama-3--1-8b-instruct" in large
    assert "llama-3--1-8b-instruct" not in small  # its whole context takes 16 GiB
    assert "qwen3--5-4b" in small
    assert "deepseek-r1" in several
    assert "deepseek-r1" not in large
    assert "deepseek-v4-flash" not in several  # nobody knows what a request takes
    assert "bge-m3" not in several  # nobody knows how large it is
    assert set(small) < set(large)
    assert listed(llmaz, "--fits", "1xl4-24g") == small


def test_filters_hold_together(llmaz: Llmaz) -> None:
    words = {"--search": "qwen3", "--task": "chat", "--fits": "4xh100-80g"}
    apart = [set(listed(llmaz, *word)) for word in words.items()]
    assert set(listed(llmaz, *(text for word in words.items() for text in word))) == set.intersection(*apart)


@pytest.mark.parametrize("name", MODELS)
def test_a_list_says_what_the_table_says(name: str, llmaz: Llmaz) -> None:
    """Where one request of the longest context fits on two accelerators of a type."""
    table = llmaz("presets", "show", f"models/{name}", "--fit").out
    cells = next((line.split()[3] for line in table.splitlines() if line.startswith("  h200-141g ")), "")
    assert (name in listed(llmaz, "--fits", "2xh200-141g")) == bool(cells and cells[0].isdigit())


def test_programs_read_what_people_read(llmaz: Llmaz) -> None:
    text, record = llmaz("presets", "list").out, json.loads(llmaz("presets", "list", "--format", "json").out)
    names = {folder: [preset["name"] for preset in presets] for folder, presets in record.items()}
    folders = ("backends", "models", "loaders", "pickers")
    assert names == {folder: load.preset_names(folder) for folder in folders}
    for backend in record["backends"]:
        line = next(line for line in text.splitlines() if line.startswith(f"  {backend['name']} "))
        assert f" {backend['image']} (" in line
        assert line.endswith(f"released {backend['released']})")
        assert ("options of" in line) == bool(backend["optionsOf"])
        assert backend["newestKnown"] in line
    bge = {"name": "bge-m3", "task": "embedding", "weightsGiB": 2.11, "source": "BAAI/bge-m3"}
    assert bge in record["models"]


def test_programs_read_which_models_may_fit_too(llmaz: Llmaz) -> None:
    words = "presets", "list", "--fits", "2xh200-141g"
    record = json.loads(llmaz(*words, "--format", "json").out)
    assert [model["name"] for model in record["models"]] == listed(llmaz, *words[2:])
    assert llmaz(*words).err.startswith(f"{record['unknown']} other models may fit too")


@pytest.mark.parametrize("name", BACKENDS)
def test_the_newest_release_of_an_engine_is_that_of_its_list(name: str) -> None:
    """Whoever adds a version to a list by hand has to say its day in presets/releases.yaml."""
    release = newest_release(name)
    newest = [*option_versions(name), *listed_versions(name, "variables")[-1:]]
    assert set(newest[-1:]) == {release["version"]}
    assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", release["released"])
    assert release["source"]


OWN_MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: own}
spec:
  familyName: own
  source: {modelHub: {modelID: org/own}}
  facts: {weightsGiB: 20, contextLength: 8192, attention: {layers: 32, heads: 32, kvHeads: 8, headDim: 128}}
"""


def test_a_model_of_the_tree_has_a_table(folder: Path, llmaz: Llmaz) -> None:
    """One that has the name of a preset counts before it, where a llmaz.yaml says that this is a tree."""
    (folder / "own.yaml").write_text(OWN_MODEL)
    done = llmaz("presets", "show", "own", "--fit")
    assert (done.code, done.out.splitlines()[0]) == (0, "own on vllm v0.33.0: 20.0 GiB of weights, 8,192 tokens")
    assert refused(llmaz("presets", "show", "owm", "--fit")).startswith("no preset is named 'owm'; did you mean 'own'?")
    (folder / "own.yaml").write_text(OWN_MODEL.replace("name: own", "name: qwen3-8b"))
    (folder / "llmaz.yaml").write_text(
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec: {}\n"
    )
    assert llmaz("presets", "show", "qwen3-8b", "--fit").out.startswith("qwen3-8b on vllm v0.33.0: 20.0 GiB of weights")
    (folder / "own.yaml").write_text(OWN_MODEL.replace("familyName", "familyname"))
    assert "own.yaml:5:3: " in refused(llmaz("presets", "show", "own", "--fit"))


def test_models_of_which_nobody_knows_are_counted(llmaz: Llmaz) -> None:
    done = llmaz("presets", "list", "--fits", "2xh200-141g")
    count = int(done.err.split()[0])
    assert done.err == f"{count} other models may fit too: their facts do not say it (llmaz presets show MODEL --fit)\n"
    assert 0 < count < len(MODELS) - len(done.out.splitlines())


@pytest.mark.parametrize("folder_name", ["models", ""])
def test_a_copy_lies_where_models_are(folder_name: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / folder_name).mkdir(exist_ok=True)
    assert llmaz("presets", "vendor", "qwen3-8b").code == 0
    assert (folder / folder_name / "qwen3-8b.yaml").is_file()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--search", "nonesuch"], "no model preset is like that; llmaz presets list shows all of them"),
        (["--search", "bge", "--task", "chat"], "no model preset is like that; llmaz presets list shows all of them"),
        (["--task", "chatt"], "no model is for 'chatt'; did you mean 'chat'?"),
        (["--fits", "h100-81g"], "no accelerator type is named 'h100-81g'; did you mean 'h100-80g'?"),
        (["--fits", "4xh100-81g"], "no accelerator type is named 'h100-81g'; did you mean 'h100-80g'?"),
        (["--fits", "0xh100-80g"], "no accelerator type is named '0xh100-80g'"),
    ],
)
def test_wrong_filters(words: list[str], text: str, llmaz: Llmaz) -> None:
    assert text in refused(llmaz("presets", "list", *words))


# --- vendor


@pytest.mark.parametrize("name", [*(f"backends/{name}" for name in BACKENDS), *(f"models/{name}" for name in MODELS)])
def test_the_copy_is_the_preset_less_the_line_for_editors(name: str, folder: Path, llmaz: Llmaz) -> None:
    own = name.partition("/")[2]
    done = llmaz("presets", "vendor", own)
    stderr = f"{own}.yaml is yours now, and wins over the preset; llmaz presets diff {own} compares them\n"
    assert done == (0, "", stderr)
    first, rest = (folder / f"{own}.yaml").read_text("utf-8").split("\n", 1)
    assert first == f"# The preset {name} of llmaz {__version__}; to compare: llmaz presets diff {own}"
    editors, ours = (PRESETS / f"{name}.yaml").read_text("utf-8").split("\n", 1)
    assert editors.startswith("# yaml-language-server: $schema=../")
    assert rest == ours
    assert files(folder) == [f"{own}.yaml"]
    assert llmaz("presets", "diff", own, "--exit-code") == (0, "", f"{own}.yaml: the same as the preset\n")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_vendored_backend_renders_the_same_bytes(backend: str, folder: Path, llmaz: Llmaz) -> None:
    """Everything that the backend's case tries, its option lists and warnings among them."""
    shutil.copytree(TESTS / "cases" / f"engine-{backend}" / "input", folder, dirs_exist_ok=True)
    args = ("render", "--stdout", "--set", "hardening=restricted", "--set", "gateway.mode=off")
    before = llmaz(*args)
    assert before.code == 0, before.err
    assert f"renderer.llmaz.io/backend: {backend}\n" in before.out
    assert llmaz("presets", "vendor", backend, "--to", "pinned").code == 0
    assert llmaz(*args) == before


def test_vendored_models_and_backends_render_the_same_bytes(folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(TESTS / "cases" / "model-presets" / "input", folder, dirs_exist_ok=True)
    before = llmaz("render", "--stdout", "--set", "flavorPolicy=inftyai")  # which renders OpenModels too
    assert before.code == 0, before.err
    for name in [*BACKENDS, *MODELS]:
        assert llmaz("presets", "vendor", name, "--to", "pinned").code == 0
    assert len(files(folder / "pinned")) == len(BACKENDS) + len(MODELS)
    after = llmaz("render", "--stdout", "--set", "flavorPolicy=inftyai")
    assert (after.code, after.out) == (0, before.out)
    assert after.err == before.err.replace("presets/models/", "pinned/")  # notes on models whose size nobody says


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_options_are_found_with_a_vendored_backend_too(backend: str, folder: Path, llmaz: Llmaz) -> None:
    """Lists of options are looked up beside the user's file, then among ours."""
    shutil.copytree(TESTS / "cases" / f"engine-{backend}" / "input", folder, dirs_exist_ok=True)
    chosen = f"    backendName: {backend}\n"
    text = (folder / "playgrounds.yaml").read_text("utf-8")
    (folder / "playgrounds.yaml").write_text(text.replace(chosen, f"{chosen}    args: [--no-such-option]\n"), "utf-8")
    before = refused(llmaz("validate", "--strict"))
    assert "'--no-such-option'" in before or "takes no arguments" in before
    assert llmaz("presets", "vendor", backend, "--to", "pinned").code == 0
    assert refused(llmaz("validate", "--strict")) == before


def test_a_file_is_overwritten_by_force_only(folder: Path, llmaz: Llmaz) -> None:
    (folder / "vllm.yaml").write_text("mine\n")
    assert refused(llmaz("presets", "vendor", "vllm")) == (
        "vllm.yaml already exists; --force overwrites it, llmaz presets diff vllm compares it\n"
    )
    assert (folder / "vllm.yaml").read_text() == "mine\n"
    assert llmaz("presets", "vendor", "vllm", "--force").code == 0
    assert "kind: BackendRuntime" in (folder / "vllm.yaml").read_text()
    assert files(folder) == ["vllm.yaml"]
    assert llmaz("presets", "vendor", "vllm", "--force").code == 0  # its own name in its own place is no second one


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_folder_in_the_way(force: tuple[str, ...], folder: Path, llmaz: Llmaz) -> None:
    (folder / "vllm.yaml").mkdir()
    done = llmaz("presets", "vendor", "vllm", *force)
    assert refused(done) == "vllm.yaml is a folder; write another one with --to\n"


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (RUNTIME.format(name="vllm", source="hub"), 3),
        (RUNTIME.format(name="vllm", source="hub") + "  nonsense: 1\n", 3),  # wrong, and there
    ],
)
def test_one_of_that_name_is_in_the_tree(
    text: str, line: int, force: tuple[str, ...], folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "llmaz.yaml").write_text(EMPTY)
    (folder / "engines").mkdir()
    (folder / "engines" / "own.yaml").write_text(text)
    stderr = refused(llmaz("presets", "vendor", "vllm", *force))
    assert stderr == f"BackendRuntime 'vllm' is already in engines/own.yaml:{line}, {TWICE}"
    stderr = refused(llmaz("presets", "vendor", "vllm", "--to", "new/folder", *force))
    assert stderr == f"BackendRuntime 'vllm' is already in engines/own.yaml:{line}, {TWICE}"
    (folder / "apps").mkdir()
    monkeypatch.chdir(folder / "apps")  # the tree is that of llmaz.yaml, wherever one stands
    stderr = refused(llmaz("presets", "vendor", "vllm", *force))
    assert stderr == f"BackendRuntime 'vllm' is already in ../engines/own.yaml:{line}, {TWICE}"
    assert files(folder) == ["engines/own.yaml", "llmaz.yaml"]
    assert not (folder / "new").exists()
    assert llmaz("presets", "vendor", "sglang").code == 0


def test_a_model_of_the_backends_name_is_another_thing(folder: Path, llmaz: Llmaz) -> None:
    (folder / "own.yaml").write_text(MODEL.replace("name: mine", "name: vllm"))
    assert llmaz("presets", "vendor", "vllm").code == 0


def test_a_tree_that_cannot_be_known(folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text("a: [\n")
    assert "llmaz.yaml:2:1: " in refused(llmaz("presets", "vendor", "vllm"))
    assert files(folder) == ["llmaz.yaml"]


def test_mistakes_elsewhere_are_for_render_to_say(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(playground("chat", model="nowhere", backend="vllm") + "  nonsense: 1\n")
    assert llmaz("presets", "vendor", "vllm").code == 0


def test_a_file_where_the_folder_belongs(folder: Path, llmaz: Llmaz) -> None:
    (folder / "shut").write_text("")
    done = llmaz("presets", "vendor", "vllm", "--to", "shut")
    assert refused(done) == "shut/vllm.yaml: cannot be written: File exists\n"
    done = llmaz("presets", "vendor", "vllm", "--to", "shut/below")
    assert refused(done) == "shut/below/vllm.yaml: cannot be written: Not a directory\n"
    assert files(folder) == ["shut"]


@pytest.mark.parametrize("to", [".hidden", "rendered", "node_modules", "site-packages", "docs"])
def test_a_place_that_render_does_not_read(to: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text(CONFIG + '{ignore: ["docs/**"]}\n')
    done = llmaz("presets", "vendor", "vllm", "--to", to)
    assert (done.code, done.err.splitlines()[1:]) == (
        0,
        ["llmaz render does not read it there by itself: name it among PATHS, or choose another --to"],
    )
    assert (folder / to / "vllm.yaml").is_file()


def test_another_tree(folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "llmaz.yaml").write_text(EMPTY)
    (folder / "vllm.yaml").write_text(RUNTIME.format(name="vllm", source="hub"))
    done = llmaz("presets", "vendor", "vllm", "--to", other / "engines")
    assert (done.code, len(done.err.splitlines())) == (0, 1)
    assert files(other) == ["engines/vllm.yaml", "llmaz.yaml"]
    assert llmaz("presets", "vendor", "sglang", "--to", tmp_path / "new").code == 0
    assert files(tmp_path / "new") == ["sglang.yaml"]


# --- diff


def test_a_difference(folder: Path, llmaz: Llmaz) -> None:
    llmaz("presets", "vendor", "qwen3-8b", "--to", "models")
    path = folder / "models" / "qwen3-8b.yaml"
    path.write_text(path.read_text("utf-8").replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"), "utf-8")
    done = llmaz("presets", "diff", "qwen3-8b")
    assert done == (
        0,
        f"""\
--- ours (llmaz {__version__})
+++ models/qwen3-8b.yaml
@@ -11,7 +11,7 @@
     flavors:
       - name: nvidia-gpu
         limits:
-          nvidia.com/gpu: 1
+          nvidia.com/gpu: 2
   engines:
     vllm:
       args:
""",
        "",
    )
    assert llmaz("presets", "diff", "models/qwen3-8b", "models", "--exit-code") == (1, done.out, "")


def test_style_order_and_comments_are_no_difference(folder: Path, llmaz: Llmaz) -> None:
    value: Any = yaml.safe_load((PRESETS / "backends" / "vllm.yaml").read_text("utf-8"))
    value |= {"status": {"seen": True}}
    value["metadata"] |= {"labels": {"team": "ml"}}

    def backwards(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: backwards(value[key]) for key in reversed(value)}
        return [backwards(item) for item in value] if isinstance(value, list) else value

    (folder / "own.yaml").write_text("# mine\n" + yaml.safe_dump(backwards(value), sort_keys=False))
    assert llmaz("presets", "diff", "vllm", "--exit-code") == (0, "", "own.yaml: the same as the preset\n")


def test_items_of_one_name_keep_together(folder: Path, llmaz: Llmaz) -> None:
    """An item before them is all that is new, whatever the order of their keys."""
    value: Any = yaml.safe_load((PRESETS / "backends" / "vllm.yaml").read_text("utf-8"))
    value["spec"]["recommendedConfigs"].insert(0, {"name": "mine", "args": ["--mine"]})
    (folder / "own.yaml").write_text(yaml.safe_dump(value))  # keys from a to z
    done = llmaz("presets", "diff", "vllm", "--exit-code")
    changed = [line for line in done.out.splitlines()[2:] if line[0] in "+-"]
    assert (done.code, changed) == (1, ["+    - name: mine", "+      args:", "+        - --mine"])


def test_the_order_of_lists_is_a_difference(folder: Path, llmaz: Llmaz) -> None:
    value: Any = yaml.safe_load((PRESETS / "backends" / "vllm.yaml").read_text("utf-8"))
    value["spec"]["recommendedConfigs"][0]["args"].reverse()
    (folder / "own.yaml").write_text(yaml.safe_dump(value))
    assert llmaz("presets", "diff", "vllm", "--exit-code").code == 1


@pytest.mark.parametrize(("wrong", "shown"), [("true", "true"), ("{1e1: on}", "{}"), ("{a: .inf}", "")])
def test_a_copy_that_is_wrong_by_now_can_be_compared(wrong: str, shown: str, folder: Path, llmaz: Llmaz) -> None:
    llmaz("presets", "vendor", "vllm")
    path = folder / "vllm.yaml"
    path.write_text(path.read_text("utf-8").replace("  image: vllm/", f"  old: {wrong}\n  image: vllm/"), "utf-8")
    assert llmaz("validate").code == 2
    done = llmaz("presets", "diff", "vllm")
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if line.startswith("+  o")] == [f"+  old: {shown}".rstrip()]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("diff vlm", "no preset is named 'vlm'; did you mean 'vllm'?\n"),
        ("diff mine", "no preset is named 'mine'; "),
        ("diff vllm", "no BackendRuntime of yours is named 'vllm'; llmaz presets vendor vllm writes one\n"),
        ("diff qwen3-8b .", "no OpenModel of yours is named 'qwen3-8b'; llmaz presets vendor qwen3-8b writes one\n"),
        ("diff vllm nowhere", "nowhere: no such file or folder [E122]\n"),
        (
            "diff store",
            "'store' is a loader, and you cannot have your own yet; "
            "RenderConfig's loaders.store changes its image, resources and environment\n",
        ),
        (
            "vendor loaders/hub",
            "'loaders/hub' is a loader, and you cannot have your own yet; "
            "RenderConfig's loaders.hub changes its image, resources and environment\n",
        ),
        ("vendor vlm", "no preset is named 'vlm'; did you mean 'vllm'?\n"),
        ("vendor mine", "no preset is named 'mine'; "),
        ("vendor ../accelerators", "no preset is named '../accelerators'; "),
        ("vendor models/vllm", "no preset is named 'models/vllm'; did you mean 'backends/vllm'?\n"),
        ("show vlm --version v1", "no preset is named 'vlm'; did you mean 'vllm'?\n"),
        ("show qwen3-8b --version v1", "'qwen3-8b' is not a backend, so it has no versions\n"),
        ("show ollama --version 0.32.15", "'ollama' has no list of options\n"),
        ("show vllm --version nightly", "'nightly' is not a version of vllm; use a tag such as v0.33.0\n"),
        (
            "show vllm --version v0.5.5",
            "the options of vllm 0.5.5 are unknown; known are 66 versions, 0.6.0 to 0.33.0\n",
        ),
        (
            "show llamacpp --version server-v1.0.0",
            "'server-v1.0.0' is not a version of llamacpp; use a tag such as server-b11434\n",
        ),
        ("show --resolved vlm", "no backend or model is named 'vlm'; did you mean 'vllm'?\n"),
        ("show --resolved hub", "'hub' is a loader; only backends and models are resolved\n"),
        (
            "show --resolved qwen3-8b --model qwen3-8b",
            "'qwen3-8b' is a model, so --model has no meaning; name a backend with --backend\n",
        ),
        (
            "show --resolved vllm --backend vllm",
            "'vllm' is a backend, so --backend has no meaning; name a model with --model\n",
        ),
        (
            "show --resolved vllm --model qwen3-8",
            "llmaz presets show vllm --resolved: spec.modelClaim.modelName: no OpenModel is named 'qwen3-8' [E203]\n"
            "    hint: did you mean 'qwen3-8b'?\n1 error\n",
        ),
        (
            "show --resolved mine --backend sglan",
            "llmaz presets show mine --resolved: spec.backendRuntimeConfig.backendName: "
            "no BackendRuntime is named 'sglan' [E205]\n    hint: did you mean 'sglang'?\n1 error\n",
        ),
        (
            "show --resolved llamacpp --model qwen3-0--6b",
            "llmaz presets show llamacpp --resolved: spec.modelClaim.modelName: Playground default/resolved: "
            "'llamacpp' cannot read safetensors [E403]\n",
        ),
        ("show --resolved own", "no model known here runs on 'own'; write an OpenModel, and name it with --model\n"),
        (
            "show --resolved vllm --set hardening=hard",
            "--set hardening=hard: spec.hardening: "
            "'hard' is not allowed, only 'default', 'restricted', 'openshift' and 'off' [E304]\n",
        ),
    ],
)
def test_wrong_words(args: str, message: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "mine.yaml").write_text(MODEL + "---\n" + RUNTIME.format(name="own", source="ollama"))
    err = refused(llmaz("presets", *args.split()))
    assert err.startswith(message)
    assert not message.endswith("\n") or message.endswith("]\n") or err == message
    assert files(folder) == ["mine.yaml"]


def test_both_a_backend_and_a_model(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "own.yaml").write_text(MODEL.replace("name: mine", "name: vllm"))
    message = "'vllm' is ambiguous: it may be backends/vllm or models/vllm\n"
    assert refused(llmaz("presets", "show", "--resolved", "vllm")) == message
    assert llmaz("presets", "show", "--resolved", "backends/vllm", "--model", "qwen3-8b").code == 0
    monkeypatch.setattr(
        "renderer.load.preset_files.preset_names", lambda kind: ["vllm"] if kind in ("backends", "models") else []
    )
    assert refused(llmaz("presets", "vendor", "vllm")) == message
    assert refused(llmaz("presets", "diff", "vllm")) == message


@pytest.mark.parametrize("command", ["diff vllm", "show --resolved vllm"])
def test_a_file_that_is_no_yaml(command: str, folder: Path, llmaz: Llmaz) -> None:
    """It may hold what is asked for."""
    (folder / "own.yaml").write_text("kind: BackendRuntime\na: [\n")
    assert refused(llmaz("presets", *command.split())).startswith("own.yaml:3:1: ")


# --- show --version


@pytest.mark.parametrize(
    ("backend", "tag", "version", "listed", "options"),
    [
        ("vllm", "v0.8.5.post1-cu124", "0.8.5.post1", "0.8.5.post1", 151),
        ("vllm", "0.10.1.1", "0.10.1.1", "0.10.1.1", 218),
        ("vllm", "v0.33.1", "0.33.1", "0.33.0", 410),
        ("sglang", "v0.5.3rc1", "0.5.3rc1", "0.5.2", 211),
        ("llamacpp", "server-cuda-b4094", "b4094", "b4094", 127),
        ("llamacpp", "b9000", "b9000", "b8929", 237),
        ("llamacpp", "server-v0.3.0", "b10621", "b10621", 272),
        ("tgi", "3.3.7-rocm", "3.3.7", "3.3.7", 56),
    ],
)
def test_what_a_version_takes(
    backend: str, tag: str, version: str, listed: str, options: int, folder: Path, llmaz: Llmaz
) -> None:
    done = llmaz("presets", "show", backend, "--version", tag)
    assert (done.code, done.err) == (0, "")
    shown = yaml.safe_load(done.out)
    assert (shown["backend"], shown["engineVersion"], shown["checkedAgainst"]) == (backend, version, listed)
    assert listed in shown["knownVersions"]
    assert len(shown["options"]) == options


def test_what_a_version_does_without_an_option(folder: Path, llmaz: Llmaz) -> None:
    """By vLLM's parser; of llama.cpp nobody knows, nor of a version that only has a neighbour in the list."""

    def defaults(backend: str, tag: str) -> list[str] | None:
        shown = yaml.safe_load(llmaz("presets", "show", backend, "--version", tag).out)
        return (
            [line for line in shown["defaults"] if "allow" in line or "mamba-cache-m" in line]
            if "defaults" in shown
            else None
        )

    assert defaults("vllm", "v0.26.0") == [
        "--allow-credentials false",
        "--allow-deprecated-quantization false",
        '--allowed-headers ["*"]',
        '--allowed-local-media-path ""',
        "--allowed-media-domains decided at start",
        '--allowed-methods ["*"]',
        '--allowed-origins ["*"]',
        "--mamba-cache-mode none",
    ]
    assert "--mamba-cache-mode decided at start" in (defaults("vllm", "v0.33.0") or [])
    assert defaults("vllm", "v0.33.1") is None
    assert defaults("llamacpp", "b11434") is None


def test_what_a_preset_comes_to_in_a_version(folder: Path, llmaz: Llmaz) -> None:
    preset = resolved(llmaz, "vllm", "--version", "v0.32.0", "--model", "qwen3-8b")
    assert (preset["engineVersion"], preset["image"]) == ("0.32.0", "vllm/vllm-openai:v0.32.0")


# --- show --resolved


def resolved(llmaz: Llmaz, *args: str) -> dict[str, Any]:
    """What it prints, read."""
    done = llmaz("presets", "show", *args, "--resolved")
    assert done.code == 0, done.err
    preset = yaml.safe_load(done.out)
    assert isinstance(preset, dict)
    return preset


def test_what_a_preset_comes_to(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", "llamacpp", "--resolved", "--model", "qwen3-0--6b-gguf")
    assert done == (
        0,
        """\
backend: llamacpp
engineVersion: b11434
model: qwen3-0--6b-gguf
servedModelName: qwen3-0.6b-gguf
image: ghcr.io/ggml-org/llama.cpp:server-b11434
command:
  - /app/llama-server
args:
  - --model
  - /workspace/models/Qwen3-0.6B-Q4_K_M.gguf
  - --alias
  - qwen3-0.6b-gguf
  - --host
  - 0.0.0.0
  - --port
  - "8080"
  - --metrics
  - --parallel
  - "4"
  - --cache-ram
  - "1024"
  - --kv-unified-per-slot
  - "4096"
resources:
  requests:
    cpu: "2"
    memory: 4Gi
probes:
  startup:
    path: /health
    everySeconds: 10
    failsAfterSeconds: 600
  readiness:
    path: /health
    everySeconds: 5
    failsAfterSeconds: 15
  liveness:
    path: /health
    everySeconds: 10
    failsAfterSeconds: 60
gracePeriodSeconds: 155
""",
        "",
    )


def seconds(probe: dict[str, Any]) -> int:
    """After how many seconds it fails."""
    return int(probe.get("initialDelaySeconds", 0) + probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "config", ["{}", "{hardening: restricted, images: {mirrors: {docker.io: mirror.example/hub}}}"]
)
def test_it_is_what_render_makes(backend: str, config: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "llmaz.yaml").write_text(f"{CONFIG}{config}\n")
    preset = resolved(llmaz, backend)
    assert preset["backend"] == backend
    assert preset == resolved(llmaz, preset["model"], "--backend", backend)
    (folder / "app.yaml").write_text(playground("resolved", model=preset["model"], backend=backend))
    done = llmaz("render", "--stdout")
    assert done.code == 0, done.err
    documents = {body["kind"]: body for body in yaml.safe_load_all(done.out)}
    workload = documents["LeaderWorkerSet"]
    pod = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    (runner,) = pod["containers"]
    for key in ("image", "command", "args", "env", "resources"):
        assert preset.get(key) == runner.get(key), key
    for name, probe in preset["probes"].items():
        rendered = runner[f"{name}Probe"]
        assert probe["failsAfterSeconds"] == seconds(rendered)
        assert probe.get("path") == rendered.get("httpGet", {}).get("path")
    assert len(preset["probes"]) == sum(key.endswith("Probe") for key in runner)
    assert preset["gracePeriodSeconds"] == pod["terminationGracePeriodSeconds"]
    memory = [volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"] if volume["name"] == "dshm"]
    assert [preset[key] for key in ("sharedMemory",) if key in preset] == memory
    marks = workload["metadata"]["annotations"]
    assert preset["engineVersion"] == marks["renderer.llmaz.io/engine-version"]
    assert preset["servedModelName"] == marks["renderer.llmaz.io/served-model-name"]
    assert preset.get("files") == documents.get("ConfigMap", {}).get("data")


def test_configuration_on_the_command_line(folder: Path, llmaz: Llmaz) -> None:
    args = ("qwen3-8b", "--set", "backend=sglang", "--set", "images.mirrors={docker.io: mirror.example/hub}")
    preset = resolved(llmaz, *args)
    assert (preset["backend"], preset["image"].partition(":")[0]) == ("sglang", "mirror.example/hub/lmsysorg/sglang")
    assert resolved(llmaz, "qwen3-8b")["backend"] == "vllm"


def test_the_users_own_count(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "llmaz.yaml").write_text(EMPTY)
    (folder / "own.yaml").write_text(RUNTIME.format(name="own", source="hub") + "---\n" + MODEL)
    (folder / "apps").mkdir()
    monkeypatch.chdir(folder / "apps")
    done = llmaz("presets", "show", "own", "--resolved")
    assert (done.code, done.err) == (0, "for the model mine; --model names another\n")
    preset = yaml.safe_load(done.out)
    assert (preset["model"], preset["image"]) == ("mine", "registry.example/own:v1")
    assert preset["args"] == ["serve", "/workspace/models/models--org--mine"]
    assert "files" not in preset
    assert "env" not in preset
    assert resolved(llmaz, "mine", "--backend", "own") == preset
    (folder / "own.yaml").write_text(RUNTIME.format(name="vllm", source="hub"))
    assert resolved(llmaz, "vllm")["image"] == "registry.example/own:v1"


def test_chat_models_are_taken_before_others(folder: Path, llmaz: Llmaz) -> None:
    preset = resolved(llmaz, "vllm")
    assert load.preset(f"models/{preset['model']}").value["spec"]["facts"]["kind"] == "chat"


def test_warnings_stop_nothing(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", "tgi", "--resolved", "--model", "mistral-7b-instruct")
    assert (done.code, "[W230]" in done.err) == (0, True)
    assert yaml.safe_load(done.out)["backend"] == "tgi"


def test_mistakes_of_the_tree_are_said(folder: Path, llmaz: Llmaz) -> None:
    (folder / "own.yaml").write_text(RUNTIME.format(name="own", source="hub") + "  nonsense: 1\n")
    err = refused(llmaz("presets", "show", "vllm", "--resolved"))
    assert err.startswith("own.yaml:15:3: ")
    assert err.endswith("\n1 error\n")


@pytest.mark.parametrize("option", ["--model=qwen3-8b", "--backend=vllm", "--set=a=b"])
def test_options_of_what_is_resolved(option: str, llmaz: Llmaz) -> None:
    err = refused(llmaz("presets", "show", "vllm", option))
    assert err.endswith("\nError: --model, --backend and --set need --resolved\n")


def test_a_list_of_a_name(llmaz: Llmaz) -> None:
    """A word behind `list` is what to search for."""
    done = llmaz("presets", "list", "qwen3-8")
    assert (done.code, "did you mean llmaz presets list --search qwen3-8?" in done.err) == (2, True)


def test_a_commit_as_base_form(llmaz: Llmaz) -> None:
    """`--base` says what is read of BASE, which is an argument."""
    assert "BASE is an argument: llmaz diff main" in llmaz("diff", "--base", "main").err
