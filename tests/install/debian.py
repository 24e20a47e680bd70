"""llmaz in a fresh Debian: what docs/getting-started.md says up to the cluster's commands, without a network.

The root has python3, python3-venv, git and libstdc++6; wheels lie beside it. `make install-test` asks.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from renderer import __version__
from tests.install.sandbox import Result, Sandbox, own
from tests.paths import ROOT

PACKAGES = ("git", "libstdc++6", "python3", "python3-venv")
USER = 1000
HOME, WHEELS, DIST = "/home/user", "/media/wheels", "/media/dist"
URL = "https://git.example/team/models.git"
PAGE = ROOT / "docs" / "getting-started.md"
GLIBC = 36  # 2.36, the oldest of the suites
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
CONFIG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec: {ignore: ["docs/**"]}
"""


def questions(suite: str, stale: bool, folder: Path) -> Iterator[tuple[str, str]]:
    """Each question about a suite of Debian with what is wrong, '' where nothing is. `folder`: empty, others can read
    it.
    """
    root = make_root(suite, stale, folder / "root")
    version = run("chroot", str(root), "python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    wheels = download(version, folder / "wheels")
    for form, package in (("wheel", f"llmaz-renderer=={__version__}"), ("sdist", sdist())):
        home = folder / form
        home.mkdir()
        own(home, USER)
        sandbox = Sandbox(
            root,
            USER,
            {wheels: WHEELS, ROOT / "dist": DIST},
            {home: HOME},
            {
                "HOME": HOME,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": f"{WHEELS} {DIST}",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            },
        )
        install = f"python3 -m venv llmaz && llmaz/bin/pip install --quiet {package} && llmaz/bin/llmaz --version"
        result = sandbox.run("sh", "-c", install, folder=HOME)
        right = result.code == 0 and result.out == f"llmaz {__version__}\n"
        yield f"Python {version}: pip installs the {form}", problem(right, result)
        yield f"Python {version}, {form}: getting-started.md up to the push", start(sandbox)
    yield f"Python {version}: without libstdc++6, E161 names it", without_library(root, sandbox)


def make_root(suite: str, stale: bool, root: Path) -> Path:
    """A root of a suite. `stale`: also where the lists of its packages have expired, as those of an old mirror."""
    words = ("--variant=essential", "--format=directory", f"--include={','.join(PACKAGES)}")
    options = ('--aptopt=Acquire::Check-Valid-Until "false"',) if stale else ()
    run("mmdebstrap", "--quiet", *words, *options, suite, str(root))
    (root / HOME.strip("/")).mkdir()
    for path in (WHEELS, DIST):
        (root / path.strip("/")).mkdir()
    return root


def download(version: str, wheels: Path) -> Path:
    """The wheels that llmaz needs, and those that make it from its sdist."""
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in range(GLIBC, 4, -1)]
    words = (*platforms, f"--python-version={version}", "--only-binary=:all:", "--dest", str(wheels))
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check")
    run(*pip, *words, "--no-deps", "--require-hashes", "--requirement", str(ROOT / "requirements" / "runtime.txt"))
    run(*pip, *words, *BUILD)
    return wheels


def sdist() -> str:
    return f"{DIST}/llmaz_renderer-{__version__}.tar.gz"


def start(sandbox: Sandbox) -> str:
    """What is wrong when the page's commands run: their exit code, and what the page says that they print."""
    commands, output = page_commands(PAGE.read_text("utf-8"))
    prepare = (
        f"git init --quiet --bare origin.git && git config --global url.{HOME}/origin.git.insteadOf {URL}"
        " && git config --global user.name me && git config --global user.email me@example.com"
    )
    script = "\n".join((f"PATH={HOME}/llmaz/bin:$PATH", prepare, *commands, "git status --porcelain"))
    result = sandbox.run("sh", "-euc", script, folder=HOME)
    lacking = [line for line in output if line not in result.out.splitlines() + result.err.splitlines()]
    tree = sandbox.run("git", "--git-dir", f"{HOME}/origin.git", "ls-tree", "-r", "--name-only", "main")
    right = result.code == 0 and not lacking and "rendered/llm/chat.yaml" in tree.out.splitlines()
    return problem(right, result, *lacking)


def page_commands(page: str) -> tuple[list[str], list[str]]:
    """The commands of the page's steps 3 to 5, and the lines that they print."""
    part = page.partition("\n## 3. ")[2].partition("\n## 6. ")[0]
    commands: list[str] = []
    output: list[str] = []
    for language, text in re.findall(r"^```(sh|console)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL):
        for line in text.splitlines():
            if language == "sh" or line.startswith("$ "):
                commands.append(line.removeprefix("$ "))
            else:
                output.append(line)
    return commands, output


def without_library(root: Path, sandbox: Sandbox) -> str:
    for library in root.glob("usr/lib/*/libstdc++.so.6*"):
        library.rename(root / library.name)
    lines = f"mkdir bare && cd bare && printf '%s' '{CONFIG}' >llmaz.yaml && {HOME}/llmaz/bin/llmaz validate"
    result = sandbox.run("sh", "-euc", lines, folder=HOME)
    right = result.code == 2 and "the Python package re2 cannot be loaded" in result.err and "libstdc++6" in result.err
    return problem(right and "[E161]" in result.err, result)


def problem(right: bool, result: Result, *lines: str) -> str:
    """What is seen where it is not right. `lines`: what the page has besides."""
    return "" if right else "\n".join((f"exit code {result.code}", result.out[-2000:], result.err[-2000:], *lines))


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
