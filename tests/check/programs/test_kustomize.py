"""Kustomize fetches addresses: none that a kustomization may name is asked."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

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
    "inline": f"transformers: [{PLUGIN.format('PatchTransformer') + 'path: URL'!r}]".replace("'", '"'),
    "a plugin's file": "transformers: [plugin.yaml]",
    "a folder of plugins": "transformers: [plugins]",
}
FILES = {
    "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    "plugin.yaml": PLUGIN.format("PatchTransformer") + "path: URL\n",
    "plugins/kustomization.yaml": "resources: [plugin.yaml]\n",
    "plugins/plugin.yaml": PLUGIN.format("ConfigMapGenerator") + "name: b\nfiles: [URL]\n",
}


def write_tree(folder: Path, name: str, server: Listener) -> None:
    """A kustomization that names an address in a field."""
    resources = "" if "ources" in FIELDS[name] or "RES" in FIELDS[name] else "resources: [map.yaml]\n"
    for path, content in {**FILES, "kustomization.yaml": f"{resources}{FIELDS[name]}\n"}.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content.replace("URL", f"http://127.0.0.1:{server.server_port}/a.yaml"))


@pytest.mark.parametrize("name", FIELDS)
def test_no_address_is_asked(
    name: str, listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.setenv("PATH", str(tool("kustomize").parent))
    write_tree(tmp_path, name, listener)
    monkeypatch.chdir(tmp_path)
    done = llmaz("check", "--kustomize", ".")
    assert done.code == 2
    assert "[E564]" in done.err
    assert listener.paths == []


# Of a component it takes a folder alone, and a folder of plugins is built as one of resources before.
@pytest.mark.parametrize("name", sorted({*FIELDS} - {"components", "a folder of plugins"}))
def test_kustomize_by_itself_asks(name: str, listener: Listener, tmp_path: Path) -> None:
    write_tree(tmp_path, name, listener)
    subprocess.run([tool("kustomize"), "build", tmp_path], capture_output=True, check=False)
    assert listener.paths == ["/a.yaml"]
