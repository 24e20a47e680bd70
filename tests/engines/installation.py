"""Engines of the version that their presets name, built from sources and kept in .tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from scripts.release_sources import LLAMACPP, Index, with_index
from tests.apiserver.server import CannotJudge

ROOT = Path(__file__).resolve().parents[2]
PRESETS = ROOT / "presets" / "backends"
# Every processor with AVX2 runs what is built; nothing is fetched while it is.
LLAMACPP_FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DGGML_NATIVE=OFF",
    "-DGGML_OPENMP=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
)
BUILD_TOOLS = ("cmake", "make", "cc", "c++")


def preset_version(engine: str) -> str:
    """The version that the preset of an engine stands for, as b11434."""
    spec = yaml.safe_load((PRESETS / f"{engine}.yaml").read_text("utf-8"))["spec"]
    match = re.search(spec["engine"]["options"]["version"], spec["version"])
    if match is None:
        raise CannotJudge(f"{engine}: its preset's version {spec['version']} says no build")
    build: str = next(group for group in match.groups() if group)
    return build


def llamacpp(tools: Path, version: str) -> Path:
    """The folder of llama-server of that build. Builds it where it is not there yet: minutes."""
    folder = tools / "engines" / f"llamacpp-{version}"
    if folder.is_dir():
        return folder
    if version not in LLAMACPP:
        raise CannotJudge(f"llamacpp {version}: scripts/release_sources.py knows no source of it")
    missing = [name for name in BUILD_TOOLS if shutil.which(name) is None]
    if missing:
        raise CannotJudge(f"llamacpp {version} is not built, and not on the PATH: {', '.join(missing)}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".llamacpp-{version}-", dir=folder.parent) as work:
        sources = _sources(version, Path(work))
        build = Path(work) / "build"
        _run(["cmake", "-S", str(sources), "-B", str(build), *LLAMACPP_FLAGS], Path(work) / "log")
        jobs = f"-j{os.cpu_count() or 1}"
        _run(["cmake", "--build", str(build), "--target", "llama-server", jobs], Path(work) / "log")
        (build / "bin").rename(folder)
    return folder


def _sources(version: str, work: Path) -> Path:
    """The root of llama.cpp's sources, fetched into the folder."""
    package, number = LLAMACPP[version]

    def fetch(index: Index) -> None:
        file = index.sdist(package, number)
        if file is None:
            raise CannotJudge(f"llamacpp {version}: the package index has no source of {package} {number}")
        with tempfile.TemporaryFile() as archive:
            index.download(file, archive)
            with tarfile.open(fileobj=archive) as opened:
                opened.extractall(work / "sources", filter="data")

    try:
        with_index(fetch)
    except (SystemExit, OSError, tarfile.TarError) as error:
        raise CannotJudge(f"llamacpp {version}: its source is not to be had: {error}") from error
    roots = sorted((work / "sources").rglob("tools/server/server.cpp"))
    if not roots:
        raise CannotJudge(f"llamacpp {version}: no source of llama-server in {package} {number}")
    return roots[0].parents[2]


def _run(command: Sequence[str], log: Path) -> None:
    with log.open("ab") as file:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file).returncode
    if status:
        tail = "\n".join(log.read_text("utf-8", "replace").splitlines()[-15:])
        raise CannotJudge(f"{' '.join(command[:2])} failed with {status}:\n{tail}")
