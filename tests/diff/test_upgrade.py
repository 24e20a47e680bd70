"""`llmaz diff --llmaz`: another renderer of the same tree, in a virtual environment of its own."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from renderer.check.programs import other_renderer
from renderer.diff.comparison import compare
from renderer.diff.json_format import to_json
from renderer.output.manifest_files import OutputFile
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

EXAMPLES = ("quickstart", "vllm-gpu", "gateway-teams")
ANCESTOR = "ac10f405"  # a commit at which the inputs of these examples were the same, and their goldens were not
PACKED = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "renderer", "presets", "charts")
CHANGED_EXAMPLES = ("hpa", "gateway-teams", "model-split")
VERSION = b"version: v0.0.10\n"  # of the loader's image
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(source: Path, folder: Path) -> Path:
    """The wheel of a checkout."""
    command: list[str | Path] = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return build_wheel(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def older_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, whose model loader has an older image."""
    patched = tmp_path_factory.mktemp("older") / wheel.name
    count = 0
    with zipfile.ZipFile(wheel) as opened, zipfile.ZipFile(patched, "w") as written:
        for item in opened.infolist():
            data = opened.read(item)
            if item.filename.startswith("renderer/presets/loaders"):
                count += data.count(VERSION)
                data = data.replace(VERSION, b"version: v0.0.9\n")
            written.writestr(item, data)
    assert count == 1
    return patched


@pytest.fixture(scope="module")
def ancestor_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of an older commit."""
    folder = tmp_path_factory.mktemp("ancestor")
    archive = subprocess.run(["git", "archive", ANCESTOR, *PACKED], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"the commit {ANCESTOR} is not here: a shallow clone, or no repository")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as opened:
        opened.extractall(folder, filter="data")
    return build_wheel(folder, folder / "dist")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The Python of each wheel's environment, so that a wheel is installed once."""
    return {}


@pytest.fixture
def once(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    install = other_renderer._install

    def install_once(source: other_renderer.RendererSource, folder: str) -> str:
        if source.wheel not in installed:
            installed[source.wheel] = install(source, str(tmp_path_factory.mktemp("venv")))
        return installed[source.wheel]

    monkeypatch.setattr(other_renderer, "_install", install_once)


@pytest.fixture
def tree(folder: Path) -> Path:
    shutil.copy(ROOT / "examples" / "quickstart" / "chat.yaml", folder)
    return folder


def make_wheel(folder: Path, name: str, more: str = "") -> Path:
    """A wheel of nothing but a package's metadata."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name.replace('-', '_')}-0.0.1-py3-none-any.whl"
    info = f"{name.replace('-', '_')}-0.0.1.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("renderer/__init__.py", "")
        wheel.writestr(f"{info}/METADATA", METADATA.format(name=name, version="0.0.1") + more)
        wheel.writestr(f"{info}/WHEEL", WHEEL)
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_same_version_shows_nothing(example: str, wheel: Path, folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(ROOT / "examples" / example, folder, dirs_exist_ok=True)
    before = sorted(folder.rglob("*"))
    done = llmaz("diff", "--llmaz", wheel, "--exit-code")
    assert (done.code, done.out) == (0, "no object changes\n"), done.err
    assert re.fullmatch(r"base: llmaz (\S+); compared with llmaz \1\n", done.err)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.usefixtures("once")
def test_another_preset_shows_as_any_change(older_wheel: Path, tree: Path, llmaz: Llmaz) -> None:
    done = llmaz("diff", "--llmaz", older_wheel, "--exit-code", "--format", "json")
    assert done.code == 1, done.err
    answer = json.loads(done.out)
    [changed] = answer["objects"]
    assert (changed["kind"], changed["state"]) == ("LeaderWorkerSet", "changed")
    images = {(change["before"], change["after"]) for change in changed["changes"]}
    assert images == {("inftyai/model-loader:v0.0.9", "inftyai/model-loader:v0.0.10")}
    assert [risk["risk"] for risk in answer["risks"]] == ["restart"]


def git_files(commit: str, folder: str) -> list[OutputFile]:
    """The files that a commit holds in a folder."""
    command = ["git", "ls-tree", "-r", "--name-only", commit, f"{folder}/"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    show = ["git", "show"]
    texts = [
        subprocess.run([*show, f"{commit}:{name}"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in names
    ]
    return [OutputFile(name.removeprefix(f"{folder}/"), text) for name, text in zip(names, texts, strict=True)]


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("example", CHANGED_EXAMPLES)
def test_an_older_commit_shows_what_the_goldens_of_both_do(
    example: str, ancestor_wheel: Path, folder: Path, llmaz: Llmaz
) -> None:
    for file in git_files(ANCESTOR, f"examples/{example}"):
        today = (ROOT / "examples" / example / file.path).read_text("utf-8")
        assert [*yaml.safe_load_all(today)] == [*yaml.safe_load_all(file.text)], "choose a newer commit"
        (folder / file.path).write_text(file.text, "utf-8")
    expected = TESTS / "cases" / f"example-{example}" / "expected"
    paths = sorted(path for path in expected.rglob("*.yaml"))
    after = [OutputFile(path.relative_to(expected).as_posix(), path.read_text("utf-8")) for path in paths]
    goldens = to_json(compare(git_files(ANCESTOR, f"tests/cases/example-{example}/expected"), after), "")
    done = llmaz("diff", "--llmaz", ancestor_wheel, "--format", "json")
    assert done.code == 0, done.err
    shown, golden_diff = json.loads(done.out), json.loads(goldens)
    assert shown["objects"]
    assert (shown["objects"], shown["risks"]) == (golden_diff["objects"], golden_diff["risks"])


@pytest.mark.usefixtures("once")
def test_an_environment_and_paths(older_wheel: Path, folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(ROOT / "examples" / "environments", folder, dirs_exist_ok=True)
    several = llmaz("diff", "--llmaz", older_wheel)
    assert (several.code, "[E756]" in several.err) == (2, True)
    words = ["--env", "dev", "--format", "json", "--", "playgrounds.yaml"]
    done = llmaz("diff", "--llmaz", older_wheel, *words)
    assert done.code == 0, done.err
    objects = json.loads(done.out)["objects"]
    assert {item["state"] for item in objects} == {"changed"}
    assert {path for item in objects for path in item["file"].values()} == {"llm/chat.yaml"}


def test_a_package_that_the_wheel_misses(tree: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    path = make_wheel(
        tmp_path / "dist", "llmaz-renderer", "Requires-Dist: msgspec>=0.1\nRequires-Dist: no-such-pkg>=1\n"
    )
    done = llmaz("diff", "--llmaz", path)
    assert done.code == 2
    assert "pip cannot install it: " in done.err
    assert "no-such-pkg" in done.err
    assert "msgspec" not in done.err
    assert "[E746]" in done.err


def test_a_wheel_of_another_package(tree: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    done = llmaz("diff", "--llmaz", make_wheel(tmp_path / "dist", "other-thing"))
    assert done.code == 2
    assert "cannot compare with this renderer: the wheel is of the package 'other-thing' [E744]" in done.err


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("latest", "there is no such file, and it is not a version"),
        ("missing.whl", "there is no such file, and it is not a version"),
        ("chat.yaml", "the file is not a wheel"),
        (".", "Is a directory"),
        ("empty.whl", "the file is not a wheel"),
    ],
)
def test_what_is_no_wheel(text: str, what: str, tree: Path, llmaz: Llmaz) -> None:
    with zipfile.ZipFile(tree / "empty.whl", "w"):
        pass
    done = llmaz("diff", "--llmaz", text)
    assert (done.code, f"{text}: cannot compare with this renderer: {what} [E744]" in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["HEAD"], "BASE"),
        (["--base", "inputs"], "--base"),
        (["--env-a", "a", "--env-b", "b"], "--env-a"),
        (["--live", "chat.yaml"], "--live"),
    ],
)
def test_what_does_not_go_with_it(words: list[str], what: str, tree: Path, llmaz: Llmaz) -> None:
    done = llmaz("diff", *words, "--llmaz", "0.0.1")
    assert done.code == 2
    assert f"--llmaz compares two renderers of the work tree, so it cannot be used with {what}\n" in done.err


def test_an_empty_value(tree: Path, llmaz: Llmaz) -> None:
    done = llmaz("diff", "--llmaz", "")
    assert (done.code, "--llmaz has no value" in done.err) == (2, True)


def test_our_own_errors_come_first(tree: Path, llmaz: Llmaz) -> None:
    (tree / "chat.yaml").write_text((tree / "chat.yaml").read_text().replace("modelName: q", "modelName: x"))
    done = llmaz("diff", "--llmaz", "0.0.1", "--format", "markdown")
    assert done.code == 2
    assert "[E203]" in done.err
    assert "E203" in done.out


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shell script in place of the Python that runs the other renderer."""
    path = tmp_path / "python"
    monkeypatch.setattr(other_renderer, "_install", lambda source, folder: str(path))
    return path


def write(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_a_version_that_is_older_than_the_input(program: Path, tree: Path, llmaz: Llmaz) -> None:
    """Its errors are told as its own, at their places."""
    problem = {"file": "chat.yaml", "line": 20, "column": 3, "code": "E301", "severity": "error"}
    problem |= {"field": "spec.workload", "message": "unknown key", "hint": "leave it out"}
    write(program, f"cat <<'END'\n{json.dumps([problem, problem | {'severity': 'warning'}])}\nEND\nexit 2")
    done = llmaz("diff", "--llmaz", "v0.0.1")
    assert done.code == 2
    assert done.err == (
        "pip fetches llmaz-renderer 0.0.1 and what it needs from the network\n"
        "chat.yaml:20:3: llmaz 0.0.1 says: spec.workload: unknown key [E301] [E747]\n"
        "    hint: leave it out; if the input has keys that it does not know, compare with a newer one\n"
        "1 error\n"
    )


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo Traceback >&2; echo 'ImportError: no yaml' >&2; exit 1", "ImportError: no yaml"),
        ("exit 3", "it ended with 3"),
        ("echo '{\"a\": 1}'; exit 2", "it ended with 2"),
        ("echo '[1]'; exit 2", "it ended with 2"),
    ],
)
def test_a_renderer_that_does_not_run(script: str, what: str, program: Path, tree: Path, llmaz: Llmaz) -> None:
    write(program, script)
    done = llmaz("diff", "--llmaz", "0.0.1")
    assert (done.code, f"0.0.1: llmaz 0.0.1 rendered nothing: {what} [E748]" in done.err) == (2, True), done.err


def test_a_renderer_that_takes_too_long(
    program: Path, tree: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ended with what it has started, which would hold its output open."""
    monkeypatch.setattr(other_renderer, "RENDER_SECONDS", 0.3)
    write(program, "sleep 60 & sleep 60")
    done = llmaz("diff", "--llmaz", "0.0.1")
    assert (done.code, "rendered nothing: it took more than 0.3 s [E748]" in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo '/usr/bin/python3: No module named venv' >&2; exit 1", "/usr/bin/python3: No module named venv"),
        ("echo 'ensurepip is not'; echo 'available.'; exit 1", "ensurepip is not available."),
    ],
)
def test_without_venv_or_pip(
    script: str, what: str, tree: Path, tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "python", script)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    done = llmaz("diff", "--llmaz", "0.0.1")
    assert done.code == 2
    assert (
        f"0.0.1: no virtual environment can be made for it: {what} [E745]\n    hint: install Python's venv" in done.err
    )


def test_an_interpreter_that_is_gone(tree: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    done = llmaz("diff", "--llmaz", "0.0.1")
    assert (done.code, "/nowhere/python: No such file or directory [E745]" in done.err) == (2, True)


def test_a_version_that_pip_does_not_find(
    tree: Path, tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first error is told, and nothing of the folder or of PYTHONPATH is loaded on the way."""
    monkeypatch.setenv("PYTHONPATH", str(tree))
    (tree / "json.py").write_text("raise SystemExit('the tree was loaded')\n")
    (tree / "empty").mkdir()
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(tree / "empty"))):
        monkeypatch.setenv(name, value)
    done = llmaz("diff", "--llmaz", "0.0.1")
    assert done.code == 2
    assert "0.0.1: pip cannot install it: Could not find a version that satisfies" in done.err
    assert "hint: see whether pip finds it: pip download --no-deps llmaz-renderer==0.0.1\n" in done.err
    assert os.listdir(tree / "empty") == []


CODE = "open({canary!r}, 'a').write(__file__)\n"
LINKS = "[global]\nno-index = false\nfind-links = {tree}\nindex-url = file://{tree}\n"
PLACES = ("sitecustomize.py", "usercustomize.py", "pip.py", "venv.py", "json.py", "renderer/__init__.py")


def write_traps(tree: Path, canary: Path) -> None:
    """All that might be run, installed or obeyed in place of what the command line names."""
    for name in (*PLACES, "renderer/__main__.py", "llmaz-renderer==0.0.1/setup.py"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(CODE.format(canary=str(canary)))
    for name in ("pip.conf", "pip.ini", ".pip/pip.conf", ".config/pip/pip.conf", "setup.cfg", "pyvenv.cfg"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(LINKS.format(tree=tree))
    (tree / "evil.pth").write_text(f"import os; {CODE.format(canary=str(canary))}")
    for name in ("0.0.1", "v0.0.1", "llmaz-renderer-0.0.1", "llmaz_renderer"):
        shutil.copy(make_wheel(tree, "llmaz-renderer"), tree / name)


@pytest.mark.parametrize("version", ["0.0.1", "v0.0.1"])
def test_nothing_of_the_tree_takes_the_place_of_a_version(
    version: str, tree: Path, tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_traps(tree, tmp_path / "canary")
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(tmp_path / "empty"))):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(tree))
    (tmp_path / "empty").mkdir()
    done = llmaz("diff", "--llmaz", version)
    assert "pip fetches llmaz-renderer 0.0.1 and what it needs from the network\n" in done.err
    assert "pip cannot install it: Could not find a version that satisfies" in done.err
    assert not (tmp_path / "canary").exists()


def test_nothing_of_the_tree_takes_the_place_of_a_wheel(
    tree: Path, tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_traps(tree, tmp_path / "canary")
    monkeypatch.setenv("PYTHONPATH", str(tree))
    done = llmaz("diff", "--llmaz", make_wheel(tmp_path / "dist", "llmaz-renderer"))
    assert "rendered nothing: " in done.err
    assert "No module named renderer.__main__" in done.err
    assert not (tmp_path / "canary").exists()
