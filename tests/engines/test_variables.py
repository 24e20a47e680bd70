"""Variables that a version of an engine does not read; what takes the place of each that ended, in every version."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from renderer import load
from renderer.api import BackendRuntime
from renderer.engines.name_lists import EngineNames, NameList, engine_names
from renderer.load.option_lists import OptionListReader
from tests.conftest import Llmaz
from tests.paths import ROOT

FILES = OptionListReader()
IMAGES = {"vllm": "vllm/vllm-openai:v{}", "sglang": "lmsysorg/sglang:v{}", "ollama": "ollama/ollama:{}"}
COMMANDS = {"vllm": ["vllm", "serve", "org/m"], "sglang": ["sglang", "serve", "--model-path", "org/m"]}
# Values that the options take which replace a variable.
VALUES = {
    "--all2all-backend": "naive",
    "--attention-backend": "FLASHINFER",
    "--attention-config.flash_attn_max_num_splits_for_cuda_graph": "16",
    "--attention-config.flash_attn_version": "2",
    "--disable-nccl-for-dp-synchronization": "",
    "--flashinfer-allreduce-fusion-backend": "cutedsl",
    "--fp4-gemm-backend": "auto",
    "--fp8-gemm-backend": "auto",
    "--grpc-port": "30001",
    "--linear-backend": "marlin",
    "--min-free-slots-delay": "1",
    "--mm-hasher-algorithm": "blake3",
    "--mm-processor-cache-gb": "4",
    "--moe-backend": "marlin",
    "--prefix-cache-retention-interval": "0",
    "--profiler-config.delay_iterations": "1",
    "--profiler-config.max_iterations": "1",
    "--profiler-config.profiler": "torch",
    "--profiler-config.torch_profiler_dir": "/profile",
}


@cache
def names_of(engine: str) -> EngineNames:
    document = load.preset(f"backends/{engine}")
    return engine_names(FILES, BackendRuntime(engine, document.value["spec"], document, ours=True))


def versions(engine: str) -> list[str]:
    file = names_of(engine).read(f"flags/{engine}.variables.txt")
    assert file is not None
    return list(file.versions)


def known(engine: str, version: str) -> NameList:
    listed = names_of(engine).variables(version)
    assert listed is not None
    return listed


def deployment(engine: str, version: str, variables: list[str], args: list[str] | None = None, value: str = "1") -> str:
    container = {
        "name": "engine",
        "image": IMAGES[engine].format(version),
        "command": [*COMMANDS.get(engine, ["ollama", "serve"]), *(args or [])],
        "env": [{"name": name, "value": value} for name in variables],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000 if engine == "vllm" else 30000}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 10}}},
    }
    return yaml.safe_dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "chat", "namespace": "llm"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "chat"}},
                "template": {"metadata": {"labels": {"app": "chat"}}, "spec": {"containers": [container]}},
            },
        },
        sort_keys=False,
    )


def findings(llmaz: Llmaz, tmp_path: Path, text: str) -> list[str]:
    """What is said of engines, each message with its hint."""
    (tmp_path / "d.yaml").write_text(text, "utf-8")
    lines = llmaz("check", tmp_path).err.splitlines()
    messages = [f"{line} {lines[i + 1].strip()}" for i, line in enumerate(lines[:-1]) if line.endswith("]")]
    return [message for message in messages if any(f"[{code}" in message for code in ("W47", "E4", "W43", "W44"))]


# Twenty faults by engine, version and variable: the code and a part of the hint; '' where nothing is wrong.
PLANTED = [
    ("vllm", "0.15.0", "VLLM_ATTENTION_BACKEND", "W475", "use --attention-backend instead, which accepts one of '"),
    ("vllm", "0.14.1", "VLLM_ATTENTION_BACKEND", "", ""),
    ("vllm", "0.11.1", "VLLM_USE_V1", "W475", "leave it out; it was removed in 0.11.1"),
    ("vllm", "0.11.0", "VLLM_USE_V1", "", ""),
    ("vllm", "0.33.0", "VLLM_LOGGING_LEVL", "W476", "did you mean 'VLLM_LOGGING_LEVEL'?"),
    ("vllm", "0.33.0", "VLLM_WORKER_MULTIPROC_METHODE", "W476", "did you mean 'VLLM_WORKER_MULTIPROC_METHOD'?"),
    ("vllm", "0.10.0", "VLLM_ENGINE_READY_TIMEOUT_S", "W476", "it was added by 0.14.0"),
    ("vllm", "0.16.0", "VLLM_TORCH_PROFILER_DIR", "W475", "use --profiler-config.torch_profiler_dir instead"),
    ("vllm", "0.13.0", "VLLM_MM_INPUT_CACHE_GIB", "W475", "use --mm-processor-cache-gb instead"),
    ("vllm", "0.24.0", "VLLM_USE_FLASHINFER_MOE_FP8", "W475", "use --moe-backend instead"),
    ("vllm", "0.6.5", "VLLM_TORCH_COMPILE_LEVEL", "W475", "leave it out"),
    ("vllm", "0.24.0", "VLLM_ASCEND_ENABLE_NZ", "", ""),
    ("vllm", "0.24.0", "VLLM_BUILD_COMMIT_OF_OURS", "", ""),
    ("vllm", "0.24.0", "VLLM_SKIP_WARMUP", "", ""),
    ("vllm", "0.5.4", "VLLM_LOGGING_LEVL", "", ""),
    ("vllm", "0.99.0", "VLLM_USE_V1", "", ""),
    ("sglang", "0.5.17", "SGLANG_DISAGG_STAGING_BUFFER_SIZE_MB", "W475", "leave it out; it was removed in 0.5.17"),
    ("sglang", "0.5.16", "SGLANG_DISAGG_STAGING_BUFFER_SIZE_MB", "", ""),
    ("sglang", "0.5.10", "SGLANG_SUPPORT_CUTLASS_BLOCK_FP8", "W475", "use --fp8-gemm-backend instead"),
    ("sglang", "0.5.21", "SGLANG_GC_LOG", "W475", "use SGLANG_LOG_GC instead"),
    ("sglang", "0.5.20", "SGLANG_GC_LOG", "", ""),
    ("sglang", "0.5.23", "SGLANG_USE_MODELSCOP", "W476", "did you mean 'SGLANG_USE_MODELSCOPE'?"),
    ("sglang", "0.5.3", "SGLANG_DISAGG_STAGING_BUFFER", "W476", "it was added by 0.5.10"),
    ("sglang", "0.5.2", "SGLANG_USE_MODELSCOP", "", ""),
    ("ollama", "0.32.15", "OLLAMA_NUM_PARALEL", "W476", "did you mean 'OLLAMA_NUM_PARALLEL'?"),
    ("ollama", "0.11.0", "OLLAMA_NUM_PARALEL", "", ""),
    ("ollama", "0.32.15", "OLLAMA_NUM_CTX", "W476", "did you mean 'OLLAMA_CONTEXT_LENGTH'?"),
    ("vllm", "0.33.0", "VLLM_MAX_MODEL_LEN", "W476", "write the option --max-model-len among the arguments"),
    ("vllm", "0.33.0", "VLLM_GPU_MEMORY_UTILIZATION", "W476", "write the option --gpu-memory-utilization among"),
    ("sglang", "0.5.23", "SGLANG_CONTEXT_LENGTH", "W476", "write the option --context-length among the arguments"),
    ("vllm", "0.33.0", "VLLM_OF_OUR_PLUGIN", "", ""),
]


@pytest.mark.parametrize(("engine", "version", "name", "code", "hint"), PLANTED)
def test_planted(llmaz: Llmaz, tmp_path: Path, engine: str, version: str, name: str, code: str, hint: str) -> None:
    lines = findings(llmaz, tmp_path, deployment(engine, version, [name]))
    assert len(lines) == bool(code), lines
    assert all(f"[{code}]" in text and hint in text for text in lines), lines


@pytest.mark.parametrize(
    ("version", "name", "value", "hint"),
    [
        ("0.15.0", "VLLM_ATTENTION_BACKEND", "FLASHINFER", "use --attention-backend instead; it was removed in 0.15.0"),
        ("0.15.0", "VLLM_ATTENTION_BACKEND", "flashinfer", "use --attention-backend instead; "),
        ("0.15.0", "VLLM_ATTENTION_BACKEND", "FLASH_ATTN_VLLM_V1", "use --attention-backend FLASH_ATTN instead; "),
        (
            "0.33.0",
            "VLLM_ATTENTION_BACKEND",
            "XFORMERS",
            "use --attention-backend instead, which accepts one of 'auto', '",
        ),
        ("0.33.0", "VLLM_ATTENTION_BACKEND", "$(BACKEND)", "use --attention-backend instead; "),
        ("0.33.0", "VLLM_FLASH_ATTN_VERSION", "3", "use --attention-config.flash_attn_version instead; "),
        ("0.33.0", "VLLM_FLASH_ATTN_VERSION", "1", "flash_attn_version instead, which accepts '2', '3' or '4'; "),
        ("0.33.0", "VLLM_TORCH_CUDA_PROFILE", "1", "profiler instead, which accepts 'cuda', 'proton' or 'torch'; "),
    ],
)
def test_the_value_of_what_takes_its_place(
    llmaz: Llmaz, tmp_path: Path, version: str, name: str, value: str, hint: str
) -> None:
    (line,) = findings(llmaz, tmp_path, deployment("vllm", version, [name], value=value))
    assert hint in line


def test_a_variable_that_the_container_names_itself_is_its_own(llmaz: Llmaz, tmp_path: Path) -> None:
    args = ["--attention-backend", "$(VLLM_ATTENTION_BACKEND)"]
    text = deployment("vllm", "0.33.0", ["VLLM_ATTENTION_BACKEND"], args, value="FLASHINFER")
    assert findings(llmaz, tmp_path, text) == []


def replacements() -> Iterator[tuple[str, str, str]]:
    """By engine and the first version without a variable, the variable that something took the place of."""
    for engine in ("vllm", "sglang"):
        listed = versions(engine)
        for name in known(engine, listed[-1]).replaced:
            yield engine, next(version for version in listed if name in known(engine, version).ended), name


@pytest.mark.parametrize(("engine", "version", "name"), [*replacements()])
def test_each_replacement_is_silent_where_it_is_followed(
    llmaz: Llmaz, tmp_path: Path, engine: str, version: str, name: str
) -> None:
    lines = findings(llmaz, tmp_path, deployment(engine, version, [name]))
    assert len(lines) == 1, lines
    instead = lines[0].partition("hint: use ")[2].partition(" instead")[0]
    assert instead, lines
    option = [instead, value] if (value := VALUES.get(instead, "true")) else [instead]
    is_option = instead.startswith("--")
    text = deployment(engine, version, [] if is_option else [instead], option if is_option else [])
    assert findings(llmaz, tmp_path, text) == []


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_a_name_has_no_two_states_in_a_version(engine: str) -> None:
    for version in versions(engine):
        names = known(engine, version)
        assert not names.names & {*names.ended, *names.later}
        assert len(names.names) > 40


def test_lists_are_of_the_versions_whose_source_tells() -> None:
    assert (versions("vllm")[0], versions("sglang")[0]) == ("0.6.0", "0.5.3")
    flags = ROOT / "presets" / "backends" / "flags"
    for engine in ("vllm", "sglang"):
        options = (flags / f"{engine}.txt").read_text("utf-8").splitlines()[2].split()
        assert versions(engine) == options[options.index(versions(engine)[0]) :]
