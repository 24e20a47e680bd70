"""All of a release but its uploads: `make release-check`, before a tag `make release-check TAG=v0.2.0`.

Builds sdist and wheel twice, in two folders with other times and another umask, and compares them; looks at what is in
them; writes both, their bill of materials, the release's notes and checksums into dist/. What is built is the commit
that is checked out. docs/releasing.md says what the workflow release.yml then does.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from renderer import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
TAG: Final = re.compile(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
MAIN: Final = ("origin/main", "main")
UNRELEASED: Final = "Unreleased"
KEY_VERSIONS: Final = "scripts/key_versions.yaml"
SBOM: Final = "llmaz_renderer.cdx.json"
NOTES: Final = "release-notes.md"
CHECKSUMS: Final = "SHA256SUMS"
SDIST_TOPS: Final = {
    *("renderer", "presets", "charts", "man"),
    *("CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"),
}
INSTALL: Final = """
## Install it

```sh
pip install llmaz-renderer=={version}
```

| where | what to write |
|---|---|
| a workflow of GitHub | `uses: {repository}@{revision} # {tag}` |
| `.pre-commit-config.yaml` | `repo: https://github.com/{repository}`, `rev: {tag}` |
"""


class ReleaseError(Exception):
    """What is wrong with the release, a line each."""


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="release_check.py", description="All of a release but its uploads.")
    parser.add_argument("--tag", default="", help="the tag of the release, such as v0.2.0; none: that of no release")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="default: dist")
    options = parser.parse_args(words)
    try:
        check(options.tag, options.output)
    except ReleaseError as error:
        for line in str(error).splitlines():
            print(f"release_check.py: {line}", file=sys.stderr)
        return 1
    return 0


def check(tag: str, output: Path) -> None:
    """Checks the commit that is checked out, and writes the files of its release. Raises ReleaseError."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    keys = (ROOT / KEY_VERSIONS).read_text("utf-8")
    if problems := [*tag_problems(tag, ROOT), *changelog_problems(tag, changelog), *key_problems(tag, keys)]:
        raise ReleaseError("\n".join(problems))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first = build(folder / "first", 0o022, 1_600_000_000)
        second = build(folder / "a second folder", 0o077, 1_700_000_000)
        if problems := [*differences(first, second), *(line for path in first for line in content_problems(path))]:
            raise ReleaseError("\n".join(problems))
        run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, first))
        output.mkdir(exist_ok=True)
        for old in output.glob("llmaz_renderer*"):
            old.unlink()
        files = [Path(shutil.copy(path, output)) for path in first]
        files.append(write_sbom(next(path for path in files if path.suffix == ".whl"), output, folder / "venv"))
    (output / NOTES).write_text(notes(tag, changelog), "utf-8")
    checksums = "".join(f"{digest(path)}  {path.name}\n" for path in sorted(files))
    (output / CHECKSUMS).write_text(checksums, "utf-8")
    print(checksums, end="")
    print(f"release_check.py: {__version__}{f', the tag {tag}' if tag else ''}: {len(files)} files, built twice alike")


def tag_problems(tag: str, folder: Path) -> list[str]:
    """What is wrong with the tag for the commit that is checked out in `folder`; nothing without a tag."""
    if not tag:
        return []
    if not TAG.fullmatch(tag):
        return [f"the tag '{tag}' is not a version: write vMAJOR.MINOR.PATCH, such as v{__version__}"]
    problems = []
    if tag != f"v{__version__}":
        problems.append(f"the tag is {tag}, but renderer/__init__.py says {__version__}")
    head = revision("HEAD", folder)
    if (tag_commit := revision(f"refs/tags/{tag}^{{commit}}", folder)) and tag_commit != head:
        problems.append(f"the tag {tag} is at the commit {tag_commit[:12]}, but {head[:12]} is checked out")
    mains = [name for name in MAIN if revision(f"{name}^{{commit}}", folder)]
    if not mains:
        problems.append("there is no branch main here: fetch it, since a release has to be on it")
    elif git("merge-base", "--is-ancestor", head, mains[0], folder=folder).returncode:
        problems.append(f"the commit {head[:12]} of {tag} is not on {mains[0]}: merge it first, then tag main")
    if git("status", "--porcelain", "--untracked-files=no", folder=folder).stdout:
        problems.append("there are changes that are not committed: a release is built from a commit")
    return problems


def changelog_problems(tag: str, changelog: str) -> list[str]:
    """What CHANGELOG.md lacks for the tag; without one, for a release to come."""
    parts = changelog_parts(changelog)
    if not tag:
        texts = [parts[name] for name in (UNRELEASED, __version__) if parts.get(name)]
        return [] if texts else [f"CHANGELOG.md has neither '## {UNRELEASED}' nor '## {__version__}' with an entry"]
    if not TAG.fullmatch(tag):
        return []  # tag_problems says so
    version = tag.removeprefix("v")
    problems = []
    if version not in parts:
        problems.append(f"CHANGELOG.md has no part '## {version}': rename '## {UNRELEASED}'")
    elif not parts[version]:
        problems.append(f"CHANGELOG.md: the part '## {version}' has no entry")
    if version in parts and parts.get(UNRELEASED):
        problems.append(f"CHANGELOG.md: '## {UNRELEASED}' has entries, which {tag} would hold and not tell")
    return problems


def key_problems(tag: str, versions: str) -> list[str]:
    """What is missing in the text of key_versions.yaml for the tag."""
    keys = re.findall(r"^  (\S+): \[next\b", versions, re.MULTILINE)
    if not tag or not keys:
        return []
    return [f"{KEY_VERSIONS} has 'next' for {keys[0]}: write {tag.removeprefix('v')} instead of each 'next'"]


def changelog_parts(changelog: str) -> dict[str, str]:
    """The text of each part by its version. A heading may have a date behind the version."""
    pieces = re.split(r"^## (\S+).*$", changelog, flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def notes(tag: str, changelog: str) -> str:
    """The text of the release: what has changed, and how it is installed."""
    parts = changelog_parts(changelog)
    version = tag.removeprefix("v") or __version__
    install = INSTALL.format(
        version=version,
        tag=tag or f"v{version}",
        repository=os.environ.get("GITHUB_REPOSITORY", "OWNER/llmaz-renderer"),
        revision=revision("HEAD", ROOT),
    )
    return f"{parts.get(version) or parts[UNRELEASED]}\n{install}"


def build(folder: Path, umask: int, time: int) -> list[Path]:
    """The sdist, and the wheel that is made from it, of the commit, cloned into `folder`."""
    run("git", "clone", "--quiet", "--no-tags", str(ROOT), str(folder / "source"), umask=umask)
    for path in (folder / "source").rglob("*"):
        os.utime(path, (time, time), follow_symlinks=False)
    words = ("-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(folder / "source"))
    run(sys.executable, *words, umask=umask)
    paths = sorted((folder / "dist").iterdir())
    names = [f"llmaz_renderer-{__version__}-py3-none-any.whl", f"llmaz_renderer-{__version__}.tar.gz"]
    if (files := [path.name for path in paths]) != names:
        raise ReleaseError(f"the build made {', '.join(files)}, not {' and '.join(names)}")
    return paths


def differences(first: Iterable[Path], second: Iterable[Path]) -> list[str]:
    """Which files differ between two builds."""
    return [
        f"{one.name}: two builds differ: {digest(one)}, {digest(other)}"
        for one, other in zip(first, second, strict=True)
        if digest(one) != digest(other)
    ]


def content_problems(path: Path) -> list[str]:
    """What is in a wheel or sdist and does not belong there."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
        tops = {"renderer", f"llmaz_renderer-{__version__}.dist-info"}
    else:
        with tarfile.open(path) as sdist:
            names = [member.name.partition("/")[2] for member in sdist.getmembers()]
        tops = SDIST_TOPS
    return [f"{path.name} holds {name}" for name in names if name.split("/")[0] not in tops or is_test(name)]


def is_test(name: str) -> bool:
    """Whether a file is one of tests, by its path."""
    folders, _, file = name.rpartition("/")
    return "tests" in folders.split("/") or re.fullmatch(r"(test_.*|.*_test|conftest)\.py", file) is not None


def write_sbom(wheel: Path, output: Path, venv: Path) -> Path:
    """The bill of materials: llmaz and the packages of requirements/runtime.txt, as pip installs them here."""
    run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    pip = (sys.executable, "-m", "pip", "--python", str(venv), "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--require-hashes", "--requirement", str(ROOT / "requirements" / "runtime.txt"))
    name = f"llmaz-renderer=={__version__}"
    run(*pip, "--no-deps", "--no-index", "--find-links", str(wheel.parent), name)
    sbom = output / SBOM
    project = venv / "pyproject.toml"  # with the version, which hatchling reads from the package
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project.write_text(text.replace('dynamic = ["version"]', f'version = "{__version__}"'), "utf-8")
    words = ["--output-reproducible", "--spec-version", "1.6", "--pyproject", str(project)]
    words += ["--output-file", str(sbom), str(venv)]
    run(sys.executable, "-m", "cyclonedx_py", "environment", *words)
    return sbom


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def revision(name: str, folder: Path) -> str:
    """The commit of a name; '' if there is none."""
    return git("rev-parse", "--quiet", "--verify", name, folder=folder).stdout.strip()


def git(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)


def run(*command: str, umask: int = -1) -> None:
    """Runs a program. Raises ReleaseError with what it printed when it fails."""
    variables = {key: os.environ[key] for key in os.environ if key not in ("SOURCE_DATE_EPOCH", "PYTHONPATH")}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, umask=umask)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    raise SystemExit(main())
