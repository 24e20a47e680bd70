"""What a release is refused for, and what is written for one. `make release-check` builds; nothing here does."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from renderer import __version__
from scripts import release_check
from tests.paths import ROOT

TAG = f"v{__version__}"


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Git, in a repository with one commit on main."""

    def call(*words: str) -> str:
        identity = ("-c", "user.name=me", "-c", "user.email=me@example.com")
        done = subprocess.run(["git", *identity, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    call("init", "--quiet", "--initial-branch", "main")
    (tmp_path / "file").write_text("one\n")
    call("add", ".")
    call("commit", "--quiet", "--message", "One")
    return call


@pytest.mark.parametrize("tag", ["1.0.0", "v1", "v1.0", "v01.0.0", "v1.0.0-rc1", "main", "v1.0.0\n", "v-1.0.0"])
def test_a_tag_that_is_no_version(tag: str, git: Callable[..., str], tmp_path: Path) -> None:
    problem = f"the tag '{tag}' is not a version: write vMAJOR.MINOR.PATCH, such as {TAG}"
    assert release_check.tag_problems(tag, tmp_path) == [problem]
    assert release_check.changelog_problems(tag, "") == []


def test_a_tag_on_main(git: Callable[..., str], tmp_path: Path) -> None:
    assert release_check.tag_problems(TAG, tmp_path) == []
    git("tag", TAG)
    assert release_check.tag_problems(TAG, tmp_path) == []
    git("tag", "--annotate", "--force", "--message", "text", TAG)
    assert release_check.tag_problems(TAG, tmp_path) == []
    assert release_check.tag_problems("", tmp_path) == []


def test_a_tag_of_another_version(git: Callable[..., str], tmp_path: Path) -> None:
    problem = f"the tag is v99.0.0, but renderer/__init__.py says {__version__}"
    assert release_check.tag_problems("v99.0.0", tmp_path) == [problem]


def test_a_tag_that_is_not_on_main(git: Callable[..., str], tmp_path: Path) -> None:
    git("switch", "--quiet", "--create", "other")
    git("commit", "--quiet", "--allow-empty", "--message", "Two")
    head = git("rev-parse", "HEAD")[:12]
    problem = f"the commit {head} of {TAG} is not on main: merge it first, then tag main"
    assert release_check.tag_problems(TAG, tmp_path) == [problem]
    git("update-ref", "refs/remotes/origin/main", "HEAD")  # the remote's main counts, where there is one
    assert release_check.tag_problems(TAG, tmp_path) == []


def test_a_tag_without_a_main(git: Callable[..., str], tmp_path: Path) -> None:
    git("branch", "--move", "other")
    problem = "there is no branch main here: fetch it, since a release has to be on it"
    assert release_check.tag_problems(TAG, tmp_path) == [problem]


def test_a_tag_that_is_elsewhere(git: Callable[..., str], tmp_path: Path) -> None:
    git("tag", TAG)
    first = git("rev-parse", "HEAD")[:12]
    git("commit", "--quiet", "--allow-empty", "--message", "Two")
    head = git("rev-parse", "HEAD")[:12]
    problem = f"the tag {TAG} is at the commit {first}, but {head} is checked out"
    assert release_check.tag_problems(TAG, tmp_path) == [problem]


def test_changes_that_no_commit_has(git: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "untracked").write_text("")
    assert release_check.tag_problems(TAG, tmp_path) == []
    (tmp_path / "file").write_text("two\n")
    problem = "there are changes that are not committed: a release is built from a commit"
    assert release_check.tag_problems(TAG, tmp_path) == [problem]


CHANGELOG = "# Changelog\n\nText.\n\n## 1.2.0 (2026-01-02)\n\n- New.\n\n## 1.1.0\n\n- Old.\n"


def test_the_part_of_a_version() -> None:
    assert release_check.changelog_parts(CHANGELOG) == {"1.2.0": "- New.", "1.1.0": "- Old."}
    assert release_check.changelog_problems("v1.2.0", CHANGELOG) == []


@pytest.mark.parametrize(
    ("tag", "changelog", "problem"),
    [
        ("v1.3.0", CHANGELOG, "CHANGELOG.md has no part '## 1.3.0': rename '## Unreleased'"),
        ("v1.2.0", "## 1.2.0\n\n## 1.1.0\n\n- Old.\n", "CHANGELOG.md: the part '## 1.2.0' has no entry"),
        (
            "v1.2.0",
            f"## Unreleased\n\n- Late.\n\n{CHANGELOG}",
            "CHANGELOG.md: '## Unreleased' has entries, which v1.2.0 would hold and not tell",
        ),
        ("", CHANGELOG, f"CHANGELOG.md has neither '## Unreleased' nor '## {__version__}' with an entry"),
    ],
)
def test_a_changelog_without_the_part(tag: str, changelog: str, problem: str) -> None:
    assert release_check.changelog_problems(tag, changelog) == [problem]


@pytest.mark.parametrize("changelog", ["## Unreleased\n\n- New.\n", f"## Unreleased\n\n## {__version__}\n\n- New.\n"])
def test_a_changelog_before_its_release(changelog: str) -> None:
    assert release_check.changelog_problems("", changelog) == []
    assert release_check.changelog_problems("", (ROOT / "CHANGELOG.md").read_text("utf-8")) == []


def test_keys_without_the_version() -> None:
    versions = "OpenModel:\n  spec.next: [0.1.0, v0.0.3]\n  spec.facts: [next]\n  spec.ownedBy: [next, main]\n"
    problem = "scripts/key_versions.yaml has 'next' for spec.facts: write 0.2.0 instead of each 'next'"
    assert release_check.key_problems("v0.2.0", versions) == [problem]
    assert release_check.key_problems("", versions) == []
    assert release_check.key_problems("v0.2.0", versions.replace("[next", "[0.2.0")) == []


def test_the_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "team/llmaz-renderer")
    text = release_check.notes("v1.2.0", CHANGELOG)
    assert text.startswith("- New.\n\n## Install it\n")
    assert "pip install llmaz-renderer==1.2.0\n" in text
    assert f"`uses: team/llmaz-renderer@{release_check.revision('HEAD', ROOT)} # v1.2.0`" in text
    assert "`repo: https://github.com/team/llmaz-renderer`, `rev: v1.2.0`" in text
    assert "Old" not in text


@pytest.mark.parametrize(
    "name", ["renderer/tests/data.yaml", "renderer/test_x.py", "renderer/conftest.py", "docs/a.md"]
)
def test_files_that_do_not_belong_there(name: str, tmp_path: Path) -> None:
    wheel = tmp_path / f"llmaz_renderer-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr("renderer/attest.py", "")
        opened.writestr(name, "")
    assert release_check.content_problems(wheel) == [f"{wheel.name} holds {name}"]
    sdist = tmp_path / f"llmaz_renderer-{__version__}.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        for path in ("renderer/attest.py", name):
            archive.addfile(tarfile.TarInfo(f"llmaz_renderer-{__version__}/{path}"))
    assert release_check.content_problems(sdist) == [f"{sdist.name} holds {name}"]


def test_builds_that_differ(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("a")
    second.write_text("b")
    assert release_check.differences([first], [first]) == []
    (problem,) = release_check.differences([first], [second])
    assert problem == f"first: two builds differ: {release_check.digest(first)}, {release_check.digest(second)}"


def test_the_exit_code_and_the_words_of_a_wrong_tag() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.release_check", "--tag", "v1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"release_check.py: the tag 'v1' is not a version: write vMAJOR.MINOR.PATCH, such as {TAG}\n"


def locked(name: str) -> dict[str, Requirement]:
    """The packages of a lock, by name."""
    lines = (ROOT / "requirements" / name).read_text("utf-8").splitlines()
    entries = [Requirement(line.removesuffix("\\")) for line in lines if line and line[0] not in "# "]
    return {requirement.name: requirement for requirement in entries}


def test_the_locks_hold_what_they_are_made_from() -> None:
    """And an exact version with digests of each package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    runtime, release = locked("runtime.txt"), locked("release.txt")
    requirements = [(runtime, Requirement(text)) for text in project["project"]["dependencies"]]
    requirements += [(release, Requirement(text)) for text in project["build-system"]["requires"]]
    source = (ROOT / "requirements" / "release.in").read_text("utf-8").splitlines()
    requirements += [(release, Requirement(line)) for line in source if line and not line.startswith("#")]
    assert len(requirements) > 10
    for lock, requirement in requirements:
        (specifier,) = lock[requirement.name].specifier
        assert specifier.operator == "=="
        assert requirement.specifier.contains(specifier.version), requirement
    for name in ("runtime.txt", "release.txt"):
        entries = (ROOT / "requirements" / name).read_text("utf-8").replace("\\\n", "").splitlines()[1:]
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
