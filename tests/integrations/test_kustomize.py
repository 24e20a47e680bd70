"""`llmaz kustomize`: what it answers (kustomize/lists: a list and its answer a folder), and the real kustomize over it.

The answer of a list that is fine holds what `llmaz render` makes of the same input, object by object; of all examples,
as a generator and as a transformer. Lists that are wrong stand in errors/kustomize-*.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import pty
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from renderer import yamlio
from renderer.api import RenderOptions
from renderer.integrations.kustomize import run_function
from tests.inputs import document
from tests.paths import ROOT, TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

LISTS = sorted(path.parent.name for path in TESTS.glob("data/kustomize/lists/*/list.yaml"))
EXAMPLES = sorted({path.parent.name for path in (ROOT / "examples").glob("*/*.yaml")})
PLUGINS, EXEC = "--enable-alpha-plugins", "--enable-exec"
MARKER = {"apiVersion": "renderer.llmaz.io/v1alpha1", "kind": "Rendered", "metadata": {"name": "llmaz"}}
FUNCTION = "exec: {path: llmaz, args: [kustomize]}\n"
CONFIG: dict[str, Any] = {
    "apiVersion": "renderer.llmaz.io/v1alpha1",
    "kind": "RenderConfig",
    "metadata": {"name": "config", "annotations": {"config.kubernetes.io/function": FUNCTION}},
}
PATCH = {"patch": yamlio.dump({"$patch": "delete", **MARKER})}
BEHIND = {"apiVersion": "builtin", "kind": "PatchTransformer", "metadata": {"name": "rendered"}, **PATCH}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}, "data": {"a": "1e3", "b": "y"}}
PLAYGROUND = document("Playground", "chat", {"modelClaim": {"modelName": "qwen3-8b"}}, "llm")
Objects: TypeAlias = dict[tuple[Any, ...], Any]


def by_identity(items: Iterable[Any]) -> Objects:
    """The objects by group, kind, namespace and name; each is there once."""
    objects: Objects = {}
    for item in items:
        metadata = item["metadata"]
        key = (item["apiVersion"], item["kind"], metadata.get("namespace"), metadata["name"])
        assert key not in objects, key
        objects[key] = item
    return objects


def documents(text: str) -> list[Any]:
    """What Go reads in a YAML stream."""
    read, problems = yamlio.parse("stream", text.encode())
    assert problems == []
    return [parsed.value for parsed in read]


def write(path: Path, *values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n".join(map(yamlio.dump, values)))


def example(name: str, folder: Path) -> dict[str, Any]:
    """Copies an example into the folder; its RenderConfig as a functionConfig."""
    for path in (ROOT / "examples" / name).glob("*.yaml"):
        shutil.copy(path, folder)
    if (templates := ROOT / "examples" / name / "templates").exists():
        shutil.copytree(templates, folder / "templates")
    config = folder / "llmaz.yaml"
    body = documents(config.read_text())[0] if config.exists() else {**CONFIG, "spec": {}}
    return {**body, "metadata": CONFIG["metadata"]}


def environment(config: dict[str, Any]) -> list[str]:
    """The flag for the first environment, where there are some."""
    return [f"--env={name}" for name in config["spec"].get("environments", ())][:1]


def plain(llmaz: Llmaz, *flags: str) -> Objects:
    """What `render` makes here."""
    done = llmaz("render", "--stdout", *flags)
    assert done.code == 0, done.err
    return by_identity(documents(done.out))


def listed(config: Any, *items: Any) -> str:
    """A file with a ResourceList."""
    body = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": list(items)}
    write(Path("list.json"), {**body, "functionConfig": config})
    return "list.json"


def input_here() -> list[Any]:
    """Every document of the example's files, less the RenderConfig."""
    bodies = [body for path in sorted(Path().glob("*.yaml")) for body in documents(path.read_text())]
    return [body for body in bodies if body["kind"] != "RenderConfig"]


# Without kustomize


@pytest.mark.parametrize("case", LISTS)
def test_lists(case: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz, golden: Golden) -> None:
    monkeypatch.chdir(TESTS / "data" / "kustomize" / "lists" / case)
    done = llmaz("kustomize", "list.yaml")
    golden(f"data/kustomize/lists/{case}/answer.json", done.out)
    golden(f"data/kustomize/lists/{case}/stderr.txt", done.err)
    results = json.loads(done.out).get("results", [])
    assert done.code == (2 if any(result["severity"] == "error" for result in results) else 0)


def test_there_are_cases() -> None:
    assert len(LISTS) > 4
    assert len(EXAMPLES) > 15


@pytest.mark.parametrize("name", EXAMPLES)
def test_generator_makes_what_render_makes(name: str, folder: Path, llmaz: Llmaz) -> None:
    config = example(name, folder)
    rendered = plain(llmaz, *environment(config))
    done = llmaz("kustomize", *environment(config), listed(config, config))
    assert done.code == 0, done.err
    *items, last = json.loads(done.out)["items"]
    assert last == MARKER
    assert by_identity(items) == rendered


@pytest.mark.parametrize("name", EXAMPLES)
def test_transformer_makes_what_render_makes(name: str, folder: Path, llmaz: Llmaz) -> None:
    config, items = example(name, folder), input_here()
    rendered = plain(llmaz, *environment(config))
    done = llmaz("kustomize", *environment(config), listed(config, *items))
    assert done.code == 0, done.err
    *items, last = [body for body in json.loads(done.out)["items"] if body != CONFIG_MAP]
    assert last == MARKER
    others = by_identity(body for body in input_here() if "llmaz.io/" not in body["apiVersion"])
    assert by_identity(items) == {
        **rendered,
        **{key: body for key, body in others.items() if key[1] != "InferenceModel"},
    }


def test_others_pass_untouched(folder: Path, llmaz: Llmaz) -> None:
    """Down to kustomize's own annotations, and to words that a YAML reader takes for something else."""
    other = {
        "apiVersion": "example.com/v1",
        "kind": "Anything",
        "metadata": {"name": "x", "annotations": {"config.k8s.io/id": "7", "internal.config.kubernetes.io/index": "7"}},
        "spec": {"a": "1e3", "b": None, "c": [], "d": {}, "e": 1.5, "f": "\x7f\u2028\U0001f600\ufeff", "y": 10**20},
    }
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat"}, "spec": {"ports": [{"port": 1}]}}
    done = llmaz("kustomize", listed({**CONFIG, "spec": {}}, CONFIG_MAP, PLAYGROUND, other, service))
    assert done.code == 0, done.err
    items = json.loads(done.out)["items"]
    assert items[:3] == [CONFIG_MAP, other, service]
    assert not any(item["kind"] == "Playground" for item in items)
    assert "\x7f" not in done.out
    assert documents(done.out)[0]["items"] == items  # to YAML's readers it is the same


def test_what_kustomize_notes_on_input_means_nothing(folder: Path, llmaz: Llmaz) -> None:
    noted = {
        "config.kubernetes.io/origin": "path: chat.yaml\n",
        "config.kubernetes.io/index": 1,
        "internal.config.kubernetes.io/previousNames": "chat",
        "alpha.config.kubernetes.io/transformations": "- {}\n",
        "kustomize.config.k8s.io/id": "kind: Playground\n",
        "config.k8s.io/id": "2",
    }
    model = {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": "m"},
        "spec": {
            "familyName": "f",
            "source": {"modelHub": {"modelID": "a/b"}},
            "inferenceConfig": {"flavors": [{"name": "a", "limits": {"nvidia.com/gpu": 1}}]},
        },
    }
    config = {**CONFIG, "spec": {"flavorPolicy": "inftyai"}}  # the OpenModels are part of the output
    app = {**PLAYGROUND, "spec": {"modelClaim": {"modelName": "m"}}}
    clean = llmaz("kustomize", listed(config, model, app))
    model_noted = {**model, "metadata": {"name": "m", "namespace": "llm", "annotations": noted}}
    app_noted = {**app, "metadata": {**PLAYGROUND["metadata"], "annotations": noted}}
    marked = llmaz("kustomize", listed(config, model_noted, app_noted))
    assert clean.code == 0, clean.err
    assert (marked.code, marked.out) == (0, clean.out)


def test_own_annotations_count(folder: Path, llmaz: Llmaz) -> None:
    app = {**PLAYGROUND, "metadata": {"name": "chat", "annotations": {"llmaz.io/skip-model-loader": "true"}}}
    done = llmaz("kustomize", listed({**CONFIG, "spec": {}}, app))
    assert done.code == 0, done.err
    assert "model-loader" not in done.out.replace("skip-model-loader", "")


def test_plain_off_is_a_word(folder: Path, llmaz: Llmaz) -> None:
    text = (TESTS / "data" / "kustomize" / "lists" / "transformer" / "list.yaml").read_text()
    assert 'mode: "off"' in text
    outs = []
    for word in ('"off"', "off", "OFF"):
        Path("list.yaml").write_text(text.replace('mode: "off"', f"mode: {word}"))
        outs.append(llmaz("kustomize", "list.yaml"))
        assert outs[-1].code == 0, outs[-1].err
    assert outs[0].out == outs[1].out == outs[2].out


def test_places_in_the_file_of_the_configuration(folder: Path, llmaz: Llmaz) -> None:
    """Wherever it lies; it is no second RenderConfig, and one like it in another file is."""
    config = {**CONFIG, "spec": {"paths": ["."], "gateway": {"mode": "on"}}}
    write(folder / "deep" / "gen.yaml", config)
    write(folder / "chat.yaml", PLAYGROUND)
    done = llmaz("kustomize", listed(config, config))
    assert done.err.startswith("deep/gen.yaml:12:11: spec.gateway.mode: ")
    assert done.err.endswith("[E304]\n    hint: write mode: backend\n1 error\n")
    config = {**config, "spec": {"paths": ["."]}}
    done = llmaz("kustomize", listed(config, config))
    assert done.err == (
        "deep/gen.yaml:2:7: kind: this is a second RenderConfig [E734]\n"
        "    hint: keep the functionConfig, which kustomize passes; ignore skips files\n1 error\n"
    )


def test_paths(folder: Path, llmaz: Llmaz) -> None:
    """What they do not name is not read, and a part is all: shared objects are made."""
    write(folder / "models" / "chat.yaml", PLAYGROUND)
    write(folder / "elsewhere" / "chat.yaml", {**PLAYGROUND, "metadata": {"name": "elsewhere"}})
    write(folder / "llmaz.yaml", {**CONFIG, "spec": {"gateway": {"mode": "off"}}})  # not for this entry
    config = {**CONFIG, "spec": {"paths": ["models"], "gateway": {"create": True, "className": "eg"}}}
    done = llmaz("kustomize", listed(config, config))
    assert done.code == 0, done.err
    items = json.loads(done.out)["items"]
    assert {item["metadata"]["name"] for item in items if item["kind"] == "LeaderWorkerSet"} == {"chat"}
    assert "Gateway" in {item["kind"] for item in items}


def test_paths_above(folder: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    write(folder / "models" / "chat.yaml", PLAYGROUND)
    (folder / "overlays" / "prod").mkdir(parents=True)
    monkeypatch.chdir(folder / "overlays" / "prod")
    config = {**CONFIG, "spec": {"paths": ["../../models"]}}
    done = llmaz("kustomize", listed(config, config))
    assert done.code == 0, done.err
    assert '"LeaderWorkerSet"' in done.out


def test_render_does_not_know_paths(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "llmaz.yaml", {**CONFIG, "spec": {"paths": ["."]}})
    write(folder / "chat.yaml", PLAYGROUND)
    done = llmaz("render", "--stdout")
    assert (done.code, "spec.paths" in done.err, "[E301]" in done.err) == (2, True, True)


def test_files_that_pass_through(folder: Path, llmaz: Llmaz) -> None:
    """And a kustomization for the output folder is nothing for a cluster."""
    write(folder / "chat.yaml", PLAYGROUND)
    write(folder / "extra" / "maps.yaml", CONFIG_MAP, {**CONFIG_MAP, "metadata": {"name": "second"}})
    config = {**CONFIG, "spec": {"passThrough": ["extra/*"], "output": {"kustomization": True}}}
    done = llmaz("kustomize", listed(config, config))
    assert done.code == 0, done.err
    items = json.loads(done.out)["items"]
    assert [item["metadata"]["name"] for item in items if item["kind"] == "ConfigMap"] == ["other", "second"]
    assert not any(item["kind"] == "Kustomization" for item in items)
    (folder / "extra" / "list.yaml").write_text("- a\n")
    done = llmaz("kustomize", listed(config, config))
    assert done.code == 2
    assert done.err.startswith(
        "extra/list.yaml: passThrough takes YAML text only: a document in it is not an object [E142]"
    )


def test_nothing_is_an_error_whatever_else_there_is(folder: Path, llmaz: Llmaz) -> None:
    """A file that passes through is no model, and a model that nobody serves is none either, warnings or not."""
    write(folder / "extra" / "map.yaml", CONFIG_MAP)
    config = {**CONFIG, "spec": {"passThrough": ["extra/*"]}}
    done = llmaz("kustomize", listed(config, config))
    assert (done.code, "[E737]" in done.err) == (2, True)
    gpu = {"name": "a", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCETYPE": "x"}}
    spec = {"familyName": "f", "source": {"modelHub": {"modelID": "a/b"}}, "inferenceConfig": {"flavors": [gpu]}}
    model = {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "m"}, "spec": spec}
    done = llmaz("kustomize", listed({**CONFIG, "spec": {}}, model))
    assert (done.code, "[E737]" in done.err, "warning" in done.err) == (2, True, True)
    assert MARKER not in json.loads(done.out)["items"]


def test_warnings_are_results(folder: Path, llmaz: Llmaz) -> None:
    app = {**PLAYGROUND, "spec": {**PLAYGROUND["spec"], "backendRuntimeConfig": {"backendName": "tgi"}}}
    listed({**CONFIG, "spec": {}}, app)
    done, strict = llmaz("kustomize", "list.json"), llmaz("kustomize", "--strict", "list.json")
    assert (done.code, strict.code) == (0, 2)
    [result] = json.loads(done.out)["results"]
    assert (result["severity"], result["resourceRef"]["name"]) == ("warning", "chat")
    assert "[W230]" in result["message"]
    assert MARKER in json.loads(done.out)["items"]
    assert json.loads(strict.out)["items"] == [app]


def test_flags(folder: Path, llmaz: Llmaz) -> None:
    listed({**CONFIG, "spec": {}}, PLAYGROUND)
    assert "AIGatewayRoute" in llmaz("kustomize", "list.json").out
    assert "AIGatewayRoute" not in llmaz("kustomize", "--set", "gateway.mode=off", "list.json").out
    done = llmaz("kustomize", "--set", "gateway", "list.json")
    assert (done.code, "[E130]" in done.err) == (2, True)
    assert "[E130]" in json.loads(done.out)["results"][0]["message"]


def test_environments(folder: Path, llmaz: Llmaz) -> None:
    """One at a time: the objects of several would have the same names."""
    both = {"prod": {"config": {"namespace": "prod"}}, "dev": {"config": {"namespace": "dev"}}}
    app = {**PLAYGROUND, "metadata": {"name": "chat"}}
    listed({**CONFIG, "spec": {"environments": both}}, app)
    done = llmaz("kustomize", "--env", "prod", "list.json")
    assert done.code == 0, done.err
    assert {item["metadata"].get("namespace") for item in json.loads(done.out)["items"]} == {"prod", None}
    done = llmaz("kustomize", "list.json")
    assert (done.code, "[E756]" in done.err) == (2, True)


_ODD: tuple[Any, ...] = (
    None,
    True,
    3,
    1.5,
    "",
    "x",
    [],
    {},
    [None],
    {"a": None},
    "a\nb",
    {"name": 3},
    "RenderConfig",
    "Rendered",
)


def fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path below a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from fields(inner, (*path, key))


@pytest.mark.parametrize("case", ["generator", "transformer"])
def test_whatever_a_list_holds_is_answered(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a fault, and with models only where nothing is wrong."""
    monkeypatch.chdir(TESTS / "data" / "kustomize" / "lists" / case)
    [whole] = documents(Path("list.yaml").read_text())
    chance, fine = random.Random(case), 0
    for _ in range(60):
        changed = copy.deepcopy(whole)
        *above, last = chance.choice(list(fields(changed)))
        within = functools.reduce(lambda value, key: value[key], above, changed)
        if chance.random() < 0.3:
            del within[last]
        else:
            within[last] = chance.choice(_ODD)
        answer = run_function("list", json.dumps(changed).encode(), RenderOptions())
        wrong = any(not problem.warning for problem in answer.problems)
        items = json.loads(answer.text)["items"]
        assert (MARKER in items) != wrong, (above, last)
        fine += not wrong
    assert 0 < fine < 60


def test_a_terminal_is_no_list() -> None:
    _, slave = pty.openpty()
    with os.fdopen(slave, "rb") as terminal:
        done = subprocess.run(
            [sys.executable, "-m", "renderer", "kustomize"],
            stdin=terminal,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "kustomize runs this command" in done.stderr


# The real one


def program(path: Path, text: str) -> None:
    """A shell script that can be run."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def build(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `kustomize build`, with a program `llmaz` on the PATH."""
    kustomize = tool("kustomize")
    programs = folder.parent / "bin"
    programs.mkdir()
    program(programs / "llmaz", f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m renderer "$@"')
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def run(*flags: str, target: str = ".") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [kustomize, "build", *flags, target],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=120,
            check=False,
        )

    return run


Build: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


def generator(folder: Path, config: Any, **more: Any) -> None:
    """A kustomization that renders the files of its folder, and deletes the marker."""
    write(folder / "llmaz.yaml", config)
    write(folder / "kustomization.yaml", {"generators": ["llmaz.yaml"], "patches": [PATCH], **more})


def transformer(folder: Path, config: Any, *resources: str, **more: Any) -> None:
    """A kustomization that renders what it lists, and deletes the marker behind that."""
    write(folder / "llmaz.yaml", config)
    write(folder / "rendered.yaml", BEHIND)
    body = {"resources": list(resources), "transformers": ["llmaz.yaml", "rendered.yaml"], **more}
    write(folder / "kustomization.yaml", body)


REAL = ("hpa", "object-store", "gateway-auth", "gateway-pool", "model-split")


@pytest.mark.parametrize("name", REAL)
def test_kustomize_generates(name: str, folder: Path, llmaz: Llmaz, build: Build) -> None:
    config = example(name, folder)
    rendered = plain(llmaz)
    generator(folder, config)
    done = build(PLUGINS, EXEC)
    assert done.returncode == 0, done.stderr
    assert by_identity(documents(done.stdout)) == rendered


@pytest.mark.parametrize("name", REAL)
def test_kustomize_transforms(name: str, folder: Path, llmaz: Llmaz, build: Build) -> None:
    config = example(name, folder)
    rendered = plain(llmaz)
    resources = sorted(path.name for path in folder.glob("*.yaml") if path.name != "llmaz.yaml")
    transformer(folder, config, *resources)
    done = build(PLUGINS, EXEC)
    assert done.returncode == 0, done.stderr
    assert by_identity(documents(done.stdout)) == rendered


def test_kustomize_keeps_what_is_beside(folder: Path, build: Build) -> None:
    write(folder / "chat.yaml", PLAYGROUND)
    write(folder / "map.yaml", CONFIG_MAP)
    for lay_out in (
        functools.partial(generator, folder, {**CONFIG, "spec": {"paths": ["chat.yaml"]}}, resources=["map.yaml"]),
        functools.partial(transformer, folder, {**CONFIG, "spec": {}}, "map.yaml", "chat.yaml"),
    ):
        lay_out()
        done = build(PLUGINS, EXEC)
        assert done.returncode == 0, done.stderr
        bodies = documents(done.stdout)
        assert CONFIG_MAP in bodies
        assert "LeaderWorkerSet" in {body["kind"] for body in bodies}
        assert not {"Playground", "Rendered"} & {body["kind"] for body in bodies}


def test_words_survive_kustomize(folder: Path, llmaz: Llmaz, build: Build) -> None:
    """What YAML readers take for numbers and more, there and back."""
    words = ["1e3", "1E5", "1e-3", "12e03", ".1e3", "6.02e23", "0o14", "0X1f", "08", "010", "1:20", "2001-01-01"]
    words += ["y", "Y", "n", "on", "off", "yes", "null", "~", "=", "- a", "!x", "&x", "*x", "%x", "@x", "`x"]
    words += ["", " ", "a\tb", "\u2028", "\U0001f600", "a: b", "# c", "{{ x }}", "\ufeff", "l\n\nm\n"]
    envs = [{"name": f"V{i}", "value": word} for i, word in enumerate(words)]
    runtime = {"backendName": "vllm", "envs": envs}
    app = {**PLAYGROUND, "spec": {**PLAYGROUND["spec"], "backendRuntimeConfig": runtime}}
    (folder / "chat.yaml").write_text(yamlio.dump(app))
    rendered = plain(llmaz)
    [lws] = [body for key, body in rendered.items() if key[1] == "LeaderWorkerSet"]
    env = lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["env"]
    assert [
        variable for variable in env if variable["name"].startswith("V") and variable["name"][1:].isdecimal()
    ] == envs
    generator(folder, {**CONFIG, "spec": {}})
    assert by_identity(documents(build(PLUGINS, EXEC).stdout)) == rendered
    transformer(folder, {**CONFIG, "spec": {}}, "chat.yaml")
    assert by_identity(documents(build(PLUGINS, EXEC).stdout)) == rendered


def test_an_overlay_deletes_the_marker(folder: Path, build: Build) -> None:
    write(folder / "chat.yaml", {**PLAYGROUND, "metadata": {"name": "chat"}})
    write(folder / "base" / "llmaz.yaml", {**CONFIG, "spec": {}})
    shutil.move(folder / "chat.yaml", folder / "base")
    base = {"resources": ["chat.yaml"], "transformers": ["llmaz.yaml"], "namespace": "team"}
    write(folder / "base" / "kustomization.yaml", base)
    write(folder / "kustomization.yaml", {"resources": ["base"], "patches": [PATCH]})
    assert build(PLUGINS, EXEC, target="base").returncode == 0  # with the marker
    done = build(PLUGINS, EXEC)
    assert done.returncode == 0, done.stderr
    assert {body["metadata"]["namespace"] for body in documents(done.stdout)} == {"team"}
    done = build(PLUGINS)
    assert done.returncode == 1
    assert "failed to find unique target for patch" in done.stderr


@pytest.mark.parametrize("lay_out", [generator, transformer])
@pytest.mark.parametrize("flags", [(), (PLUGINS,), (EXEC,)])
def test_kustomize_without_its_flags_fails(
    lay_out: Callable[..., None], flags: tuple[str, ...], folder: Path, build: Build
) -> None:
    """Also where kustomize itself says nothing, which is without --enable-exec."""
    write(folder / "chat.yaml", PLAYGROUND)
    lay_out(folder, {**CONFIG, "spec": {}}, **({} if lay_out is generator else {"resources": ["chat.yaml"]}))
    assert build(PLUGINS, EXEC).returncode == 0
    done = build(*flags)
    assert (done.returncode, done.stdout) == (1, "")
    assert ("Rendered.v1alpha1.renderer.llmaz.io/llmaz" in done.stderr) == (flags == (PLUGINS,))


def test_without_the_marker_kustomize_says_nothing(folder: Path, build: Build) -> None:
    """Why there is one."""
    write(folder / "chat.yaml", PLAYGROUND)
    write(folder / "llmaz.yaml", {**CONFIG, "spec": {}})
    write(folder / "kustomization.yaml", {"generators": ["llmaz.yaml"]})
    done = build(PLUGINS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("lay_out", [generator, transformer])
def test_kustomize_fails_with_the_function(lay_out: Callable[..., None], folder: Path, build: Build) -> None:
    write(folder / "chat.yaml", {**PLAYGROUND, "spec": {"modelClaim": {"modelName": "nobody"}}})
    lay_out(folder, {**CONFIG, "spec": {}}, **({} if lay_out is generator else {"resources": ["chat.yaml"]}))
    done = build(PLUGINS, EXEC)
    assert (done.returncode, done.stdout) == (1, "")
    assert "spec.modelClaim.modelName: no OpenModel is named 'nobody' [E203]" in done.stderr


@pytest.mark.parametrize("lay_out", [generator, transformer])
def test_kustomize_fails_when_nothing_is_rendered(lay_out: Callable[..., None], folder: Path, build: Build) -> None:
    write(folder / "map.yaml", CONFIG_MAP)
    lay_out(folder, {**CONFIG, "spec": {}}, resources=["map.yaml"])
    done = build(PLUGINS, EXEC)
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing was rendered" in done.stderr


@pytest.mark.parametrize("text", ["exit 0", "cat", "echo '{}'", "exit 7"])
def test_kustomize_fails_when_something_else_answers(text: str, folder: Path, build: Build) -> None:
    """An old or a foreign program: no marker, so the patch finds nothing."""
    write(folder / "chat.yaml", PLAYGROUND)
    program(folder / "other", text)
    function = {"config.kubernetes.io/function": "exec: {path: ./other}\n"}
    generator(folder, {**CONFIG, "metadata": {"name": "config", "annotations": function}, "spec": {}})
    done = build(PLUGINS, EXEC)
    assert (done.returncode, done.stdout) == (1, "")


def test_patches_beside_a_transformer_come_too_early(folder: Path, build: Build) -> None:
    """As the page says: they run before it."""
    write(folder / "chat.yaml", PLAYGROUND)
    write(folder / "llmaz.yaml", {**CONFIG, "spec": {}})
    body = {"resources": ["chat.yaml"], "transformers": ["llmaz.yaml"], "patches": [PATCH]}
    write(folder / "kustomization.yaml", body)
    assert build(PLUGINS, EXEC).returncode == 1


def test_the_page(folder: Path, build: Build) -> None:
    """Its files and commands, in their order. (What of it needs no kustomize is tried in test_docs.py.)"""
    page = (ROOT / "docs" / "kustomize.md").read_text("utf-8")
    shutil.copy(ROOT / "examples" / "quickstart" / "chat.yaml", folder)
    built = failed = 0
    for mark, language, text in re.findall(
        r"^(?:<!-- ([^\n]+?) -->\n)?```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    ):
        word, _, rest = mark.partition(": ")
        if word == "file":
            (folder / rest).parent.mkdir(exist_ok=True)
            (folder / rest).write_text(text)
        elif word == "fails":
            done = build(*rest.split())
            assert done.returncode == 1
            assert done.stderr.startswith(text.strip())
            failed += 1
        elif language == "console" and text.startswith("$ cp "):
            subprocess.run(text.removeprefix("$ ").split(), cwd=folder, check=True)
        elif language == "sh":
            *flags, target = text.removeprefix("kustomize build ").split()
            done = build(*flags, target=target)
            assert done.returncode == 0, done.stderr
            kinds = {body["kind"] for body in documents(done.stdout)}
            assert "LeaderWorkerSet" in kinds
            assert not {"Playground", "OpenModel", "Rendered"} & kinds
            built += 1
    assert (built, failed) == (2, 1)


@pytest.mark.parametrize("layout", ["file", "object"])
def test_kustomize_builds_the_rendered_tree(layout: str, folder: Path, llmaz: Llmaz, build: Build) -> None:
    example("gateway-auth", folder)
    rendered = plain(llmaz)
    flags = ("--set", "output.kustomization=true", "--set", f"output.layout={layout}")
    assert llmaz("render", *flags).code == 0
    done = build(target="rendered")
    assert done.returncode == 0, done.stderr
    assert by_identity(documents(done.stdout)) == rendered


def test_the_configuration_is_found_as_kustomize_hands_it_over(folder: Path, build: Build) -> None:
    """In the file that is written as people write: were it taken for a second one, the build would fail."""
    write(folder / "models" / "chat.yaml", PLAYGROUND)
    (folder / "llmaz.yaml").write_text(
        yamlio.dump(CONFIG)
        + """\
spec:  # what holds for all
  hardening: off
  backend:
  gateway: {mode: off, hostnames: [a.example.com]}
  schedulerName: "1e3"
  pods:
    env:
    - &proxy {name: HTTP_PROXY, value: "y"}
    - <<: *proxy
      name: HTTPS_PROXY
    - {name: NUM, value: '010'}
    - name: T
      value: >-
        folded
        text
    labels: {a: 'on', b: "2001-01-01"}
"""
    )
    write(folder / "kustomization.yaml", {"generators": ["llmaz.yaml"], "patches": [PATCH]})
    done = build(PLUGINS, EXEC)
    assert done.returncode == 0, done.stderr
    (folder / "llmaz.yaml").write_text((folder / "llmaz.yaml").read_text().replace("mode: off", "mode: of"))
    done = build(PLUGINS, EXEC)
    assert "llmaz.yaml:11:19: spec.gateway.mode: 'of' is not allowed" in done.stderr
