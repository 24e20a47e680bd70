"""The program where the locale has no UTF-8, and where the interpreter cannot load a package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.diff.repository import CHAT, CONFIG, MODEL, Repository
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.conftest import Llmaz

POSIX = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    around = {**os.environ, **environment}
    around["PYTHONPATH"] = os.pathsep.join(filter(None, (environment.get("PYTHONPATH"), str(ROOT))))
    command = [sys.executable, "-m", "renderer", *words]
    return subprocess.run(command, cwd=folder, env=around, capture_output=True, encoding="utf-8", check=False)


# --- Names of files


@pytest.fixture
def repository(folder: Path) -> Repository:
    """A model and a Playground in files with names beyond ASCII, in one commit, below a folder with such a name."""
    path = folder / "größe"
    path.mkdir()
    repo = Repository(path)
    repo.write(llmaz=CONFIG, modèle=MODEL, ü=CHAT)
    (path / "日本").mkdir()
    (path / "ü.yaml").rename(path / "日本" / "ü.yaml")
    repo.commit("first")
    return repo


@pytest.mark.parametrize(
    "words",
    [
        ("validate",),
        ("render",),
        ("render", "--stdout"),
        ("render", "日本/ü.yaml", "modèle.yaml"),
        ("diff",),
        ("diff", "--format", "json"),
        ("diff", "HEAD..HEAD", "--", "日本"),
        ("routes",),
        ("explain", "lws/chat.replicas"),
        ("check", "日本"),
        ("render", "--to", "helm"),
    ],
    ids=" ".join,
)
def test_names_are_utf_8_in_whatever_locale(words: tuple[str, ...], repository: Repository) -> None:
    chat = repository.folder / "日本" / "ü.yaml"
    chat.write_text(chat.read_text("utf-8").replace("replicas: 2", "replicas: 3"), "utf-8")
    seen: list[tuple[object, ...]] = []
    for environment in ({"PYTHONUTF8": "1"}, POSIX):
        done = run(*words, folder=repository.folder, **environment)
        seen.append((done.returncode, done.stdout, done.stderr))
        for output in ("rendered", "chart"):
            if (repository.folder / output).exists():
                files = sorted((repository.folder / output).rglob("*.yaml"))
                seen[-1] += tuple(path.read_text("utf-8") for path in files)
                shutil.rmtree(repository.folder / output)
    assert seen[0] == seen[1]
    assert seen[0][0] == 0, seen[0]


@pytest.mark.parametrize("environment", [{"PYTHONUTF8": "1"}, POSIX], ids=["UTF-8", "POSIX"])
@pytest.mark.parametrize("words", [("validate",), ("diff",), ("check", "."), ("explain", "lws/chat")], ids=" ".join)
def test_names_that_are_no_utf_8_are_told(
    words: tuple[str, ...], environment: dict[str, str], repository: Repository
) -> None:
    with open(os.fsencode(repository.folder) + b"/x\xff.yaml", "w", encoding="utf-8") as file:
        file.write("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
    done = run(*words, folder=repository.folder, **environment)
    if words[0] != "explain":
        assert "'x\\udcff.yaml': this name contains control characters, or is not UTF-8 [E124]" in done.stderr
    assert done.returncode == (0 if words[0] == "explain" else 2)


# --- Packages

LIBRARY = "libstdc++.so.6: cannot open shared object file: No such file or directory"


def unloadable(folder: Path, package: str, what: str) -> str:
    """A folder in which a package is that cannot be loaded, as an extension module without its library."""
    path = folder / "packages" / package
    path.mkdir(parents=True)
    (path / "__init__.py").write_text(f"raise ImportError({what!r}, name='_{package}', path='/x/_{package}.so')\n")
    return str(path.parent)


def glob(folder: Path) -> tuple[str, ...]:
    (folder / "llmaz.yaml").write_text(f'{CONFIG}  ignore: ["docs/**"]\n')
    return ("render",)


def misspelt(folder: Path) -> tuple[str, ...]:
    (folder / "chat.yaml").write_text(CHAT.replace("blue-30b", "blue-30"))
    return ("validate",)


def manifests(folder: Path) -> tuple[str, ...]:
    route = "metadata: {name: chat, namespace: llm}\nspec:\n  parentRefs: [{name: gateway}]\n"
    rule = "  rules: [{backendRefs: [{name: chat}], timeouts: {request: 7m, backendRequest: 61s}}]\n"
    kind = "apiVersion: aigateway.envoyproxy.io/v1beta1\nkind: AIGatewayRoute\n"
    (folder / "route.yaml").write_text(
        f"{kind}{route}{rule}"
    )  # unlike those of our cases, whose rules are known to hold
    return ("check", "route.yaml")


@pytest.mark.parametrize(
    ("package", "prepare"),
    [
        ("re2", glob),
        ("rapidfuzz", misspelt),
        ("jsonschema_rs", lambda folder: ("render",)),
        ("cel_expr_python", manifests),
    ],
)
def test_a_package_without_its_shared_library(
    package: str, prepare: Callable[[Path], tuple[str, ...]], folder: Path
) -> None:
    Repository(folder).write(llmaz=CONFIG, models=MODEL, chat=CHAT)
    words = prepare(folder)
    done = run(*words, folder=folder, PYTHONPATH=unloadable(folder, package, LIBRARY))
    assert done.stderr == (
        f"llmaz: the Python package {package} cannot be loaded: {LIBRARY} [E161]\n"
        "    hint: install the C++ library that it needs, such as the package libstdc++6 of Debian\n"
        "1 error\n"
    )
    assert done.returncode == 2
    assert not (folder / "rendered").exists()


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ("libfoo-2.so.1: cannot open", "install the system package that contains libfoo-2.so.1"),
        ("undefined symbol: x", "install llmaz again for this Python, with the packages that it needs"),
    ],
)
def test_other_reasons_for_which_a_package_cannot_be_loaded(what: str, hint: str, folder: Path) -> None:
    Repository(folder).write(llmaz=CONFIG, models=MODEL, chat=CHAT)
    done = run("render", folder=folder, PYTHONPATH=unloadable(folder, "jsonschema_rs", what))
    assert done.stderr == (
        f"llmaz: the Python package jsonschema_rs cannot be loaded: {what} [E161]\n    hint: {hint}\n1 error\n"
    )


def test_a_module_of_ours_that_is_missing_is_our_fault(
    folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'renderer.x'", name="renderer.x")

    monkeypatch.setattr("renderer.load.run_scope.scope", lacking)
    done = llmaz("render")
    assert (done.code, "[E901]" in done.err) == (3, True)
