"""No request leaves, whatever the input names: by its judgement alone, and once more by the network namespace."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from renderer.check.programs import process
from renderer.check.programs.process import ProgramOutput, run_program
from tests.conftest import Llmaz
from tests.hostile.listeners import Listeners
from tests.programs import tool

IN_USE = process.network_namespace
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
RELEASE = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
PLUGIN = '{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, path: "NAME"}'
KUSTOMIZATIONS = (
    'resources: ["NAME"]',
    'components: ["NAME"]',
    'resources: [a.yaml]\ncrds: ["NAME"]',
    'resources: [a.yaml]\npatches: [{path: "NAME"}]',
    'resources: [a.yaml]\nopenapi: {path: "NAME"}',
    'configMapGenerator: [{name: b, files: ["NAME"]}]',
    f"resources: [a.yaml]\ntransformers: ['{PLUGIN}']",
)
FORMS = ("{}/a.yaml", "{}/a/b", "git::{}/a/b.git", "{}/a//b?ref=v1", "{}#/a.yaml", "./{}/a.yaml")
SCHEMAS = ('{"$ref": "NAME"}', '{"$schema": "NAME"}', '{"$id": "NAME", "$ref": "b"}', '{"items": {"$ref": "NAME"}}')


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real programs on the PATH, and a folder as the current one."""
    folders = dict.fromkeys(str(tool(name).parent) for name in ("kustomize", "helm"))
    monkeypatch.setenv("PATH", os.pathsep.join([*folders, os.environ["PATH"]]))
    monkeypatch.chdir(tmp_path)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_kustomization(folder: Path, text: str) -> None:
    write(folder / "kustomization.yaml", f"{text}\n")
    write(folder / "a.yaml", OBJECT)


def write_chart(folder: Path, schema: str) -> None:
    write(folder / "vllm/Chart.yaml", "apiVersion: v2\nname: vllm\nversion: 1.0.0\n")
    write(folder / "vllm/templates/a.yaml", OBJECT)
    write(folder / "vllm/values.schema.json", schema)


@pytest.mark.parametrize("kustomization", KUSTOMIZATIONS)
def test_kustomizations(kustomization: str, heard: Listeners, tmp_path: Path, llmaz: Llmaz) -> None:
    addresses = [*heard.addresses()[:3], heard.addresses("HTTP")[0], heard.addresses("ssh")[0]]
    for i, (address, form) in enumerate(itertools.product(addresses, FORMS)):
        name = form.format(address)
        write_kustomization(tmp_path / str(i), kustomization.replace("NAME", name))
        write(tmp_path / str(i) / os.path.normpath(name.partition("?")[0]), OBJECT)  # by its path, once it is cleaned
        done = llmaz("check", "--kustomize", str(i))
        assert heard.seen() == [], name
        assert done.code == 2 or not name.lower().startswith("http")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_charts(schema: str, heard: Listeners, tmp_path: Path, llmaz: Llmaz) -> None:
    write(tmp_path / "release.yaml", f"{RELEASE}spec: {{chart: {{spec: {{chart: vllm}}}}}}\n")
    for address in heard.addresses():
        write_chart(tmp_path / "charts", schema.replace("NAME", f"{address}/a.json"))
        assert llmaz("check", "--charts", "charts", "release.yaml").code == 0
        assert heard.seen() == []


def _kustomize(folder: Path, address: str) -> ProgramOutput:
    write_kustomization(folder, f"resources: ['{address}/a.yaml']")
    (folder / "scratch").mkdir()
    return run_program("kustomize", ["build", str(folder)], scratch=str(folder / "scratch"))


def _helm(folder: Path, address: str) -> ProgramOutput:
    write_chart(folder, f'{{"$ref": "{address}/a.json"}}')
    (folder / "scratch").mkdir()
    return run_program("helm", ["template", "a", str(folder / "vllm")], scratch=str(folder / "scratch"))


@pytest.mark.parametrize("run", [_kustomize, _helm])
def test_a_network_namespace_keeps_programs_from_asking(
    run: Callable[[Path, str], ProgramOutput], heard: Listeners, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "SECONDS", 2.0)  # nobody answers
    for address in heard.addresses()[:2]:
        run(tmp_path / f"without{address[7]}", address)
        assert len(heard.seen()) == 1
    monkeypatch.setattr(process, "SECONDS", 60.0)
    monkeypatch.setattr(process, "network_namespace", IN_USE)
    if not IN_USE():
        pytest.skip("this system allows no network namespace")
    for address in heard.addresses()[:2]:
        assert ": connect: " in run(tmp_path / f"within{address[7]}", address).error
        assert heard.seen() == []
