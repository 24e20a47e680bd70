"""What users install: the wheel, made from the sdist, in a clean environment far from the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import renderer

ROOT = Path(__file__).resolve().parent.parent
QUICKSTART = ROOT / "examples" / "quickstart"
FOLDERS = {  # in the checkout, in the wheel
    "charts": "renderer/charts",
    "presets": "renderer/presets",
    "renderer/error_pages": "renderer/error_pages",
    "renderer/scaffold/files": "renderer/scaffold/files",
    "renderer/schemas": "renderer/schemas",
}


def run(*command: str | Path, cwd: Path) -> str:
    """Its standard output. Neither the checkout nor this Python's packages can be seen from there."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def wheel(elsewhere: Path) -> Path:
    run(sys.executable, "-m", "build", "--outdir", elsewhere / "dist", ROOT, cwd=elsewhere)
    [built] = (elsewhere / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def llmaz(elsewhere: Path, wheel: Path) -> Iterator[Path]:
    """The installed command."""
    run(sys.executable, "-m", "venv", "--without-pip", elsewhere / "venv", cwd=elsewhere)
    installed = elsewhere / "venv" / "bin"
    pip = ("-m", "pip", "--python", str(elsewhere / "venv"), "--disable-pip-version-check", "--quiet")
    run(sys.executable, *pip, "install", wheel, cwd=elsewhere)
    yield installed / "llmaz"
    shutil.rmtree(elsewhere / "venv")  # pytest would keep it for three runs


def test_the_wheel_carries_its_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        packed = set(opened.namelist())
    for ours, theirs in FOLDERS.items():
        paths = (path for path in (ROOT / ours).rglob("*") if path.is_file() and path.suffix != ".pyc")
        files = {f"{theirs}/{path.relative_to(ROOT / ours).as_posix()}" for path in paths}
        assert files
        assert {path for path in packed if path.startswith(f"{theirs}/")} == files


def test_the_wheel_carries_no_more_than_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        tops = {path.split("/")[0] for path in opened.namelist()}
    assert tops == {"renderer", f"llmaz_renderer-{renderer.__version__}.dist-info"}


def test_the_sdist_carries_the_man_pages(wheel: Path) -> None:
    [sdist] = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        packed = {Path(*Path(name).parts[1:]) for name in opened.getnames()}
    pages = {path.relative_to(ROOT) for path in (ROOT / "man").glob("*.1")}
    assert pages
    assert {path for path in packed if path.parts[:1] == ("man",)} == pages


def test_the_page_of_the_package_index_leads_nowhere_wrong(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        metadata = opened.read(f"llmaz_renderer-{renderer.__version__}.dist-info/METADATA").decode()
    assert "OWNER/" not in metadata
    assert "![" not in metadata
    links = re.findall(r"\]\(([^)\s]+)\)", metadata)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_it_says_its_version(llmaz: Path, elsewhere: Path) -> None:
    assert renderer.__version__ in run(llmaz, "--version", cwd=elsewhere)


def test_it_explains_a_code(llmaz: Path, elsewhere: Path) -> None:
    assert "Write instead" in run(llmaz, "errors", "E416", cwd=elsewhere)


def test_it_knows_every_preset(llmaz: Path, elsewhere: Path) -> None:
    listed = run(llmaz, "presets", "list", cwd=elsewhere)
    presets = [file.stem for folder in ("backends", "models") for file in (ROOT / "presets" / folder).glob("*.yaml")]
    assert presets
    assert [name for name in presets if name not in listed] == []


def test_it_renders_the_quickstart_as_the_checkout_does(llmaz: Path, elsewhere: Path) -> None:
    commands: dict[str, list[str | Path]] = {"installed": [llmaz], "checkout": [sys.executable, "-m", "renderer"]}
    rendered = []
    for place, command in commands.items():
        folder = elsewhere / place
        shutil.copytree(QUICKSTART, folder / "input")
        run(*command, "render", "input", "-o", "rendered", cwd=folder)
        files = sorted((folder / "rendered").rglob("*.yaml"))
        rendered.append({file.relative_to(folder).as_posix(): file.read_bytes() for file in files})
    assert rendered[0] == rendered[1]
    assert b"kind: LeaderWorkerSet" in b"".join(rendered[0].values())


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_a_new_repository_is_that_of_the_checkout(engine: str, llmaz: Path, elsewhere: Path) -> None:
    """And renders at the first try."""
    commands: dict[str, list[str | Path]] = {"installed": [llmaz], "checkout": [sys.executable, "-m", "renderer"]}
    repositories = []
    for place, command in commands.items():
        folder = elsewhere / f"init-{engine}" / place
        folder.mkdir(parents=True)
        run(*command, "init", "--gitops", engine, "--cpu-demo", cwd=folder)
        for words in (["render"], ["validate"], ["render", "--check"]):
            run(*command, *words, "--strict", cwd=folder)
        files = [path for path in folder.rglob("*") if path.is_file()]
        repositories.append({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})
    assert repositories[0] == repositories[1]
    assert {"platform/llmaz/Chart.yaml", "platform/llmaz/values.schema.json", "rendered/llm/chat.yaml"} <= set(
        repositories[0]
    )
