"""Kustomize fetches addresses: none that a kustomization may name is asked."""

from __future__ import annotations

import base64
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from renderer.check.programs import process
from tests.conftest import Llmaz
from tests.programs import tool


class Listener(HTTPServer):
    """A server that knows what it was asked for."""

    paths: list[str]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Listener)
        self.server.paths.append(self.path)
        self.send_error(404)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Writes nothing."""

    log_error = log_request  # type: ignore[assignment]


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener(("127.0.0.1", 0), Handler)
    server.paths = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


PLUGIN = "apiVersion: builtin\nkind: {}\nmetadata: {{name: a}}\n"
PATCH = PLUGIN.format("PatchTransformer") + "path: URL\n"
LINE = '{"apiVersion":"builtin","kind":"PatchTransformer","metadata":{"name":"a"},"path":"URL"}'
CHANGE = """patch: '[{"op": "replace", "path": "/path", "value": "URL"}]'\ntarget: {kind: PatchTransformer}\n"""
DEPTH = 400  # of folders, each of which names the next; Python's own stack is no deeper than 1,000
FOLDERS = ("example.com/x", "github.com/a/b", "base?ref=v1", "app@1.2")
FIELDS = {
    "resources": "resources: [URL]",
    "a list in capitals": "RESOURCES: [URL]",
    "a letter that Go folds": "re\u017fources: [URL]",
    "bases": "bases: [URL]",
    "components": "components: [URL]",
    "crds": "crds: [URL]",
    "configurations": "configurations: [URL]",
    "generators": "generators: [URL]",
    "transformers": "transformers: [URL]",
    "validators": "validators: [URL]",
    "patches": "patches: [{path: URL}]",
    "Patches": "patches: [{Path: URL}]",
    "patchesStrategicMerge": "patchesStrategicMerge: [URL]",
    "patchesJson6902": "patchesJson6902: [{path: URL, target: {kind: ConfigMap, name: a, version: v1}}]",
    "replacements": "replacements: [{path: URL}]",
    "openapi": "openapi: {path: URL}",
    "files": "configMapGenerator: [{name: b, files: [URL]}]",
    "named files": "secretGenerator: [{name: b, files: [b=URL]}]",
    "envs": "configMapGenerator: [{name: b, envs: [URL]}]",
    "env": "configMapGenerator: [{name: b, env: URL}]",
    "inline": f"transformers: [{PATCH!r}]".replace("'", '"'),
    "inline in a line": f"transformers: ['{LINE}']",
    "inline, with a tag of no meaning": f"transformers: [{PATCH.replace('URL', '!a URL')!r}]".replace("'", '"'),
    "inline, before a name": f"transformers: [{'---' + chr(10) + PATCH!r}]".replace("'", '"'),
    "a plugin's file": "transformers: [plugin.yaml]",
    "a plugin's targetFilePath": "transformers: [value.yaml]",
    "a plugin in a List": "transformers: [list.yaml]",
    "a plugin in a list of another kind": "validators: [lists.yaml]",
    "a plugin in a ResourceList": "transformers: [resources.yaml]",
    "a separator that only kustomize knows": "transformers: [separated.yaml]",
    "a text that only kustomize separates": "transformers: [text.yaml]",
    "a tag": "resources: [!!binary BASE64]",
    "a merged key": "<<: {resources: [URL]}",
    "a folder of plugins": "transformers: [plugins]",
    "a folder of folders of plugins": "transformers: [folders]",
    "a plugin that a patch changes": "transformers: [patched]",
    "a plugin that a transformer changes": "transformers: [transformed]",
    "a plugin that a component changes": "transformers: [composed]",
    "behind a link": "resources: [link]",
    "a key that is merged behind one that wins for others": "resources: [map.yaml]\n<<: {resources: [URL]}",
    "a key of two merges": "<<: {resources: [map.yaml]}\n<<: {resources: [URL]}",
    "a merge in a patch": "patches: [{path: map.yaml, <<: {path: URL}}]",
}
CODES = {
    "a plugin that a patch changes": "E567",
    "a plugin that a transformer changes": "E567",
    "a plugin that a component changes": "E567",
    "a key that is merged behind one that wins for others": "E102",
    "a key of two merges": "E102",
    "a merge in a patch": "E102",
}
FILES = {
    "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    "plugin.yaml": PATCH,
    "value.yaml": PLUGIN.format("ValueAddTransformer") + "targetFilePath: URL\n",
    "list.yaml": f"apiVersion: v1\nkind: List\nitems: [{LINE}]\n",
    "lists.yaml": f"apiVersion: v1\nkind: AList\nmetadata: {{name: a}}\nitems: [{{kind: List, items: [{LINE}]}}]\n",
    "resources.yaml": f"kind: ResourceList\nitems: [{LINE}]\n",
    "separated.yaml": f"\n---#: |\n {PATCH}".replace("\nk", "\n k").replace("\nm", "\n m").replace("\np", "\n p"),
    "text.yaml": f"\n---#\n{LINE}\n",
    "plugins/kustomization.yaml": "resources: [plugin.yaml]\n",
    "plugins/plugin.yaml": PATCH,
    "folders/kustomization.yaml": "resources: [../plugins]\n",
    "harmless/kustomization.yaml": "resources: [plugin.yaml]\n",
    "harmless/plugin.yaml": PLUGIN.format("PatchTransformer") + "path: map.yaml\n",
    "patched/kustomization.yaml": "resources: [../harmless]\npatches: [{path: patch.yaml}]\n",
    "patched/patch.yaml": PATCH,
    "transformed/kustomization.yaml": "resources: [../harmless]\ntransformers: [change.yaml]\n",
    "transformed/change.yaml": PLUGIN.format("PatchTransformer") + CHANGE,
    "composed/kustomization.yaml": "resources: [../harmless]\ncomponents: [../component]\n",
    "component/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"
    f"patches: [{{{CHANGE.strip().replace(chr(10), ', ')}}}]\n",
    "deep/down/kustomization.yaml": "resources: [../named]\n",
    "deep/named/kustomization.yaml": "resources: [URL]\n",
    "named/kustomization.yaml": "resources: [../map.yaml]\n",
}


def write_tree(folder: Path, name: str, server: Listener) -> None:
    """A kustomization that names an address in a field, and a file whose path is the address once it is cleaned."""
    url = f"http://127.0.0.1:{server.server_port}/a.yaml"
    encoded = base64.b64encode(url.encode()).decode()
    resources = "" if "resources:" in FIELDS[name].lower().replace("\u017f", "s") else "resources: [map.yaml]\n"
    contents = {**FILES, "kustomization.yaml": f"{resources}{FIELDS[name]}\n", url: FILES["map.yaml"]}
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content.replace("URL", url).replace("BASE64", encoded))
    (folder / "link").symlink_to("deep/down")


@pytest.mark.parametrize("name", FIELDS)
def test_no_address_is_asked(
    name: str, listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.setenv("PATH", str(tool("kustomize").parent))
    monkeypatch.setattr(process, "network_namespace", tuple)  # so that the names alone keep it from asking
    write_tree(tmp_path, name, listener)
    monkeypatch.chdir(tmp_path)
    done = llmaz("check", "--kustomize", ".")
    assert done.code == 2
    assert f"[{CODES.get(name, 'E564')}]" in done.err
    assert listener.paths == []


@pytest.mark.parametrize("name", sorted({*FIELDS} - {"components"}))  # of which it takes a folder alone
def test_kustomize_by_itself_asks(name: str, listener: Listener, tmp_path: Path) -> None:
    write_tree(tmp_path, name, listener)
    subprocess.run([tool("kustomize"), "build", tmp_path], capture_output=True, check=False)
    assert listener.paths == ["/a.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        "resources: [example.com/x]",
        "resources: [./github.com/a/b, map.yaml]",
        "resources: ['base?ref=v1']",
        "resources: [app@1.2]",
        "resources: [map.yaml]\ntransformers: [plain]",
        "resources: [map.yaml]\ntransformers: [folder]",
        f"resources: [map.yaml]\ntransformers: ['{LINE.replace('URL', 'plain')}']",
        "resources: [map.yaml]\nconfigMapGenerator: [{name: b, files: [a=github.com/a/b/map.yaml]}]",
        "<<: {namePrefix: a-}\nresources: [map.yaml]\nnamePrefix: b-",
        "resources: [map.yaml]\ncommonAnnotations: {example.com/docs: 'https://example.com'}",
    ],
)
def test_what_lies_in_the_tree_is_built(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.setenv("PATH", str(tool("kustomize").parent))
    monkeypatch.chdir(tmp_path)
    plugin = PLUGIN.format("PatchTransformer") + "path: patch.yaml\n"
    names = {f"{folder}/map.yaml": f"m{i}" for i, folder in enumerate(FOLDERS)}
    contents = {
        "kustomization.yaml": f"{text}\n",
        "map.yaml": FILES["map.yaml"],
        "patch.yaml": FILES["map.yaml"] + "data: {a: b}\n",
        "plain": plugin if "[plain]" in text else FILES["map.yaml"],
        "folder/kustomization.yaml": "resources: [plugin.yaml]\n",
        "folder/plugin.yaml": plugin,
        **{f"{folder}/kustomization.yaml": "resources: [map.yaml]\n" for folder in FOLDERS},
        **{path: FILES["map.yaml"].replace("name: a", f"name: {name}") for path, name in names.items()},
    }
    for path, content in contents.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    done = llmaz("check", "--kustomize", ".")
    assert (done.code, done.err.count("\n")) == (0, 1), done.err


def test_many_folders_one_below_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.setenv("PATH", str(tool("kustomize").parent))
    monkeypatch.chdir(tmp_path)
    for i in range(DEPTH):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "kustomization.yaml").write_text(f"resources: [../{i + 1}]\n")
    (tmp_path / str(DEPTH)).mkdir()
    (tmp_path / str(DEPTH) / "kustomization.yaml").write_text("resources: [map.yaml]\n")
    (tmp_path / str(DEPTH) / "map.yaml").write_text(FILES["map.yaml"])
    assert llmaz("check", "--kustomize", "0").code == 0
