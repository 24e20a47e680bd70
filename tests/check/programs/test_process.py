"""What programs of others are given to run in, and what stops them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from renderer.check.programs import process
from renderer.check.programs.process import run_program
from tests.conftest import Llmaz
from tests.programs import tool


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_a_program_finds_no_other_program_and_no_home(programs: Path, tmp_path: Path) -> None:
    script(programs, "shown", "/usr/bin/env; /bin/cat")
    lines = run_program("shown", [], scratch=str(tmp_path)).data.decode().splitlines()
    environment = dict(line.split("=", 1) for line in lines)
    assert {environment[name] for name in ("HOME", "PATH", "TMPDIR", "HELM_PLUGINS")} == {str(tmp_path)}
    assert environment["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert set(environment) <= {*process.HOMES, *process.PROXIES, "PWD", "SHLVL", "_"}


@pytest.fixture
def probed() -> Iterator[None]:
    """The namespace is looked for anew."""
    process.network_namespace.cache_clear()
    yield
    process.network_namespace.cache_clear()


@pytest.mark.parametrize(("user", "options"), [(1000, "--map-root-user --net --"), (0, "--net --")])
def test_a_network_namespace_where_the_system_allows_one(
    user: int, options: str, programs: Path, tmp_path: Path, probed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root keeps its user namespace: in another one it could not read the files of others."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    script(programs, "shown", "echo shown")
    script(programs, "unshare", f'echo "$@" >> {tmp_path}/asked; while [ "$1" != -- ]; do shift; done; shift; "$@"')
    for _ in range(2):
        assert run_program("shown", [], scratch=str(tmp_path)).data == b"shown\n"
    command_lines = (tmp_path / "asked").read_text().splitlines()
    assert command_lines[0].startswith(f"{options} ")
    assert command_lines[1:] == [f"{options} {programs}/shown"] * 2


@pytest.mark.parametrize("unshare", ["echo 'unshare failed: Operation not permitted' >&2; exit 1", ""])
def test_no_network_namespace_where_the_system_allows_none(
    unshare: str, programs: Path, tmp_path: Path, probed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(programs, "shown", "echo shown")
    if unshare:
        script(programs, "unshare", unshare)
    else:
        monkeypatch.setenv("PATH", str(programs))
    assert run_program("shown", [], scratch=str(tmp_path)).data == b"shown\n"
    assert process.network_namespace() == ()


def test_what_is_written_in_a_network_namespace_is_ours(programs: Path, tmp_path: Path) -> None:
    script(programs, "writing", "echo a > $HOME/a; exit 7")
    assert run_program("writing", [], scratch=str(tmp_path)).error == "it failed"
    assert ((tmp_path / "a").stat().st_uid, (tmp_path / "a").read_text()) == (os.getuid(), "a\n")


@pytest.mark.parametrize("name", ["a\0b", "a" * 2_000_000])
def test_an_argument_that_no_program_can_have(name: str, programs: Path, tmp_path: Path) -> None:
    script(programs, "shown", "echo shown")
    assert run_program("shown", [name], scratch=str(tmp_path)).error.startswith("it cannot be started: ")


def test_a_crash_is_told_in_a_line(programs: Path, tmp_path: Path) -> None:
    script(programs, "crashing", 'printf "panic: no\\n\\ngoroutine 1:\\nError: a\\n" >&2; exit 2')
    assert run_program("crashing", [], scratch=str(tmp_path)).error == "panic: no"


@pytest.mark.parametrize("option", ["--kustomize", "--charts"])
def test_a_program_that_is_missing(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
    (tmp_path / "charts" / "vllm").mkdir(parents=True)
    (tmp_path / "charts/vllm/Chart.yaml").write_text("apiVersion: v2\nname: vllm\nversion: 1.0.0\n")
    (tmp_path / "release.yaml").write_text(f"{release}spec: {{chart: {{spec: {{chart: vllm}}}}}}\n")
    (tmp_path / "kustomization.yaml").write_text("resources: [release.yaml]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    done = llmaz("check", option, "." if option == "--kustomize" else "charts", "release.yaml")
    name = {"--kustomize": "kustomize", "--charts": "helm"}[option]
    assert done.code == 2
    assert f"{name}: this program is not on PATH [E562]\n" in done.err


def test_what_takes_too_long_is_ended(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SECONDS", 0.2)
    script(programs, "slow", "exec /bin/sleep 60")
    assert run_program("slow", [], scratch=str(tmp_path)).error == "it took more than 0.2 s"


def test_what_prints_too_much_is_ended(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_BYTES", 1000)
    script(programs, "loud", "while true; do echo 0123456789; done")
    assert run_program("loud", [], scratch=str(tmp_path)).error == "it printed more than 1,000 bytes"


def test_the_last_error_is_told_in_a_line(programs: Path, tmp_path: Path) -> None:
    script(programs, "failing", 'echo "level=ERROR" >&2; echo "Error: one\n  two" >&2; exit 1')
    assert run_program("failing", [], scratch=str(tmp_path)).error == "one two"
    script(programs, "silent", "exit 3")
    assert run_program("silent", [], scratch=str(tmp_path)).error == "it failed"


def test_a_link_in_a_chart_that_leads_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.setenv("PATH", str(tool("helm").parent))
    chart = tmp_path / "charts" / "vllm"
    (chart / "files").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: vllm\nversion: 1.0.0\n")
    (tmp_path / "secret").write_text("hidden")
    (chart / "files" / "secret").symlink_to(tmp_path / "secret")
    release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
    (tmp_path / "release.yaml").write_text(f"{release}spec: {{chart: {{spec: {{chart: vllm}}}}}}\n")
    monkeypatch.chdir(tmp_path)
    done = llmaz("check", "--charts", "charts", "release.yaml")
    assert done.code == 2
    assert "charts/vllm/files/secret: this symbolic link points outside the tree" in done.err
    (chart / "files" / "secret").unlink()
    (chart / "files" / "secret").symlink_to(chart / "Chart.yaml")
    assert llmaz("check", "--charts", "charts", "release.yaml").code == 0


def test_archives_of_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    helm = tool("helm")
    monkeypatch.setenv("PATH", str(helm.parent))
    chart = tmp_path / "sources" / "vllm"
    (chart / "templates").mkdir(parents=True)
    (chart / "templates" / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: [1]\n")
    (tmp_path / "charts").mkdir()
    for version in ("1.0.0", "1.1.0"):
        (chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: vllm\nversion: {version}\n")
        subprocess.run([helm, "package", "-d", tmp_path / "charts", chart], check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
    for version, words in (("1.1.0", "release.yaml:4:15: ConfigMap a.data"), ("2.0.0", "no chart 'vllm' in charts")):
        text = f"{head}spec: {{chart: {{spec: {{chart: vllm, version: {version}}}}}}}\n"
        (tmp_path / "release.yaml").write_text(text)
        done = llmaz("check", "--charts", "charts", "release.yaml")
        assert words in done.err
