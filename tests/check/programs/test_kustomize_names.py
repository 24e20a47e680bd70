"""Which names kustomize takes for addresses and repositories: its own decision, name by name, beside ours."""

from __future__ import annotations

import itertools
import os
import posixpath
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from renderer.check.programs.process import run_program
from renderer.source.kustomizations import is_address, is_repository
from tests.programs import tool

HEADS = [
    *("", "./", "a/", "http:", "http:/", "http://", "HTTP://", "https:", "https://", "HTTPS:/", "ssh:", "ssh://"),
    *("SSH://", "file:", "file:/", "file://", "FILE://", "git:", "git:/", "git::", "GIT::", "git::git::", "git::a/"),
    *("git::https://", "git::ssh://", "git::github.com/", "git@", "git@@", "a-1@", "1a@", "a_b@", "a@b@", "me:x@"),
    *("ftp://", "hg::", "s3::", "oci://", "://", ":", "//", "github.com", "github.com/", "github.com:", "GitHub.com/"),
    *("g\u0130thub.com/", "github.co\u1e3f/", "www.github.com/", "github.com.a/", "git@github.com:", "git@github.com/"),
    *("ssh://git@", "https://me@", "https://github.com/", "http\u017f://", "\u017fsh://", "xhttp://", "http+a://"),
]
TAILS = [
    *("", "x", "x/y", "x/y/z", "127.0.0.1:9/x/y", "h:x", "h:x/y", "h:/x/y", "h/x:y", "x.git", "x/y.git/z", "x//y"),
    *("x/_git/y", "x?ref=v1", "x/y?ref=v1", "x/y/../z", "x/y/../../../z", "[::1]:9/x/y"),
]
ADDRESSES = ["http:", "http:/", "http://", "Https://", "https:", "ftp://", "http", "./http://", "git::http://", "git@"]
REST = ["x/y", "", "127.0.0.1:9/x", "[::1]:9/x", "[::1/x", "%zz/x", "x:y/z", "x?a#b", "a b/c", "a%20b", "x#\\n", "\\n"]
UNREADABLE = ("[::1/x", "%zz/x", "x:y/z", "a b/c", "a%20b")
FOLDER = "configMapGenerator: [{name: a}]\n"
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def names() -> list[str]:
    """Names of folders, each of which is a path below the folder that names it."""
    all_names = dict.fromkeys(f"{head}{tail}" for head, tail in itertools.product(HEADS, TAILS))
    below = [name for name in all_names if name and not name.startswith("/") and _path(name)[:2] not in (".", "..")]
    return [name for name in below if ".." not in name][::3] + [name for name in below if ".." in name][::4]


def _path(name: str) -> str:
    return posixpath.normpath(name)


def _is_folder_taken(folder: Path, name: str) -> bool:
    _write(folder / _path(name) / "kustomization.yaml", FOLDER)
    return _is_refused(folder, f"resources: ['{name}']\n")


def _is_file_taken(folder: Path, name: str) -> bool:
    _write(folder / _path(name.encode().decode("unicode_escape")), OBJECT)
    return _is_refused(folder, f'{FOLDER}patches: [{{path: "{name}", target: {{kind: ConfigMap}}}}]\n')


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _is_refused(folder: Path, text: str) -> bool:
    """Whether kustomize does not build a kustomization of which all that it names is there."""
    (folder / "kustomization.yaml").write_text(text)
    (folder / "scratch").mkdir()
    return bool(run_program("kustomize", ["build", str(folder)], scratch=str(folder / "scratch")).error)


def refused(is_taken: Callable[[Path, str], bool], spellings: Sequence[str], folder: Path) -> set[str]:
    """The names that kustomize takes for something else than what lies in the tree."""
    with ThreadPoolExecutor(2) as pool:
        verdicts = pool.map(is_taken, [folder / str(i) for i in range(len(spellings))], spellings)
        return set(itertools.compress(spellings, verdicts))


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kustomize itself, on the PATH."""
    monkeypatch.setenv("PATH", f"{tool('kustomize').parent}{os.pathsep}{os.environ['PATH']}")


def test_folders_that_kustomize_takes_for_repositories(tmp_path: Path) -> None:
    spellings = names()
    assert len(spellings) >= 300
    assert refused(_is_folder_taken, spellings, tmp_path) == set(filter(is_repository, spellings))


def test_files_that_kustomize_takes_for_addresses(tmp_path: Path) -> None:
    spellings = [f"{head}{rest}" for head, rest in itertools.product(ADDRESSES, REST)]
    refused_names = refused(_is_file_taken, spellings, tmp_path)
    ours = {name for name in spellings if is_address(name.encode().decode("unicode_escape"))}
    assert refused_names <= ours
    # It cannot read these as addresses: that a file of the tree is called so is no reason to look as closely.
    assert all(name[:4].lower() == "http" and name.endswith(UNREADABLE) for name in ours - refused_names)
