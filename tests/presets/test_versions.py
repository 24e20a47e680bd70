"""Presets in every listed version of their engines: what they give is what that version takes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace

from renderer.api import BackendRuntime, OpenModel
from renderer.diagnostics import Collector, Origin
from renderer.engines import image_version, runtime_versions, version_order
from renderer.engines.option_lists import known_versions
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import validate_options
from renderer.kubernetes.json_values import value_at
from renderer.load import preset, preset_names
from renderer.load.option_lists import OptionListReader
from renderer.resolve import tasks
from renderer.resolve.engine import (
    adapters,
    arg_merge,
    compilation,
    grace_period,
    model_args,
    preset_args,
    template_words,
    versions,
)
from renderer.resolve.engine.adapters import EngineAdapter
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.model_args import ModelArgs
from renderer.resolve.engine.preset_args import refused_preset_options
from renderer.yamlio import ChangedDocument

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec, ModelEngineSpec


FILES = OptionListReader()
RANGED = ("llamacpp", "sglang", "vllm")
PLAIN: dict[str, Any] = {
    "ModelPath": "/workspace/models/m",
    "ModelName": "m",
    "DraftModelPath": "",
    "ProjectorPath": "",
    **template_words.ONE_MODEL,
    "ChatTemplatePath": "",
    "Revision": "",
    "DraftRevision": "",
    "Hub": "Huggingface",
    "Filename": "",
    "Endpoint": "",
    "Source": "hub",
    "Format": "safetensors",
    "Skip": False,
    "Stream": False,
    "Accelerator": "nvidia",
    "TP": 1,
    "PP": 1,
    "DP": 1,
    "EP": False,
    "WorldSize": 1,
    "Hosts": 1,
    "LocalRanks": 1,
    "RankPorts": 0,
    "Role": "",
    "Task": "chat",
    "EnginePort": 8080,
    "MaxModelLen": 0,
    "Slots": 4,
    "Region": "",
    "Anonymous": False,
    **template_words.NO_OFFLOADING,
    "Adapters": 0,
    **template_words.ConstantWords().words(),
}
TEMPLATE = {"ChatTemplatePath": "/etc/llmaz/chat-template.jinja"}
DRAFT = {"DraftModelPath": "/workspace/models/d"}
STREAM = {"Skip": True, "Stream": True, "Source": "objectStore", "Hub": ""}
OFFLOAD = {"KVOffloadGiB": 64, "KVOffloadShareGB": 34}
FILES_OF_KV = {**OFFLOAD, "KVOffloadTiers": "/mnt/kv-cache-0", "KVOffloadDiskShare": 10**11}
RANKS = {"DP": 16, "WorldSize": 16, "Hosts": 2, "LocalRanks": 8, "RankPorts": 8}
# What the words of apps may be, so that every entry of `derived` holds for some of them.
USES: dict[str, dict[str, Any]] = {
    "default": {},
    "tensor parallel": {"TP": 2, "WorldSize": 2, "MaxModelLen": 4096},
    "speculative": {**DRAFT, "TP": 2, "WorldSize": 2},
    "skip-loader": {"Skip": True, "Revision": "main", "ModelPath": "org/m"},
    "skip-loader, speculative": {"Skip": True, "Revision": "main", "DraftRevision": "main", **DRAFT},
    "skip-loader, ModelScope": {"Skip": True, "Hub": "ModelScope", "Revision": "master"},
    "streaming": {**STREAM, "ModelPath": "s3://bucket/m", "Endpoint": "https://minio.example", "Region": "eu"},
    "streaming from gs": {**STREAM, "ModelPath": "gs://bucket/m", "Anonymous": True},
    "gguf": {"Format": "gguf", "ModelPath": "/workspace/models/m.gguf"},
    "projector": {
        "Format": "gguf",
        "ModelPath": "/workspace/models/m/m.gguf",
        "ProjectorPath": "/workspace/models/m/p.gguf",
    },
    "chat template": TEMPLATE,
    "no accelerator": {"Accelerator": "none"},
    "pipeline on one host": {"TP": 2, "PP": 2, "WorldSize": 4},
    "pipeline of single accelerators": {"PP": 2, "WorldSize": 2, "Hosts": 2},
    "data parallel on one host": {"DP": 4, "WorldSize": 4, "LocalRanks": 4, "EP": True},
    "tensor parallel over hosts": {"TP": 16, "WorldSize": 16, "Hosts": 2, "EP": True},
    "pipeline over hosts": {"TP": 8, "PP": 2, "WorldSize": 16, "Hosts": 2, "EP": True},
    "data parallel over hosts": {"DP": 16, "WorldSize": 16, "Hosts": 2, "LocalRanks": 8, "EP": True},
    "data parallel over hosts, one rank each": {"DP": 2, "WorldSize": 2, "Hosts": 2},
    "prefill": {"Role": "prefill"},
    "decode": {"Role": "decode", "EnginePort": 8200},
    "prefill on CPUs": {"Role": "prefill", "Accelerator": "none"},
    "decode on CPUs": {"Role": "decode", "EnginePort": 8200, "Accelerator": "none"},
    "prefill over hosts": {"Role": "prefill", "TP": 16, "WorldSize": 16, "Hosts": 2},
    "decode over hosts": {"Role": "decode", "EnginePort": 8200, "TP": 16, "WorldSize": 16, "Hosts": 2},
    "ports of ranks that decode": {"Role": "decode", "EnginePort": 8200, **RANKS},
    "ports of ranks": RANKS,
    "KV cache in memory": OFFLOAD,
    "KV cache in memory, by a policy": {**OFFLOAD, "KVOffloadPolicy": "lru"},
    "KV cache in memory, AMD": {**OFFLOAD, "Accelerator": "amd"},
    "KV cache in files": FILES_OF_KV,
    "adapters": {"Adapters": 2},
    **{task: {"Task": task} for task in ("embedding", "reranker", "classifier", "transcription")},
}


def shipped(name: str) -> BackendRuntime:
    document = preset(f"backends/{name}")
    return BackendRuntime(name, document.value["spec"], document, ours=True)


def compiled(runtime: BackendRuntime, version: str) -> Engine:
    return compilation.compile_engine(FILES, runtime, Collector(), template_words.ConstantWords(), version)


_PLACE = Origin(shipped("vllm").document)
ADAPTERS = [
    EngineAdapter(name, name, f"/workspace/models/{name}", rank, _PLACE, _PLACE) for name, rank in (("a", 8), ("b", 64))
]


@cache
def listed(name: str) -> tuple[str, ...]:
    return tuple(known_versions(FILES, shipped(name)))


def refused(engine: Engine, words: dict[str, Any]) -> bool:
    return any(entry.when(words) for entry in engine.refusals)


def used(engine: Engine) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every use that a version does not refuse, with each config that goes with it."""
    for use, more in USES.items():
        words = {**PLAIN, **more}
        if refused(engine, {**words, "Role": words["Role"] and "prefill"}):  # said once, of both
            continue
        for name, config in engine.configs.items():
            if config.drafts == bool(words["DraftModelPath"]):
                yield use, name, words


def untaken_options(runtime: BackendRuntime, version: str) -> Iterator[str]:
    """What the list of a version does not have of what the preset gives."""
    engine = compiled(runtime, version)
    judge = preset_args.option_rules(FILES, engine, version, Collector())
    assert judge is not None
    assert judge.option_list.version == version
    for use, name, words in used(engine):
        layers = [engine.configs[name].layer(words), *engine.derivation(words).layers]
        if words["Adapters"] and adapters.can_load(engine):
            layers += adapters.adapter_layers(engine, ADAPTERS, (), Collector())
        for option, _ in refused_preset_options(judge, layers, len(layers)):
            yield f"{runtime.name} {version}, {use}, {name}: {option}"


def unread_variables(runtime: BackendRuntime, version: str) -> Iterator[str]:
    """The engine's own variables that the preset sets in a version which does not read them."""
    engine = compiled(runtime, version)
    if (known := engine.names.variables(version)) is None:
        return
    for use, _, words in used(engine):
        layers = [engine.envs(words), *(layer.value for layer in engine.derivation(words).envs)]
        for name in [entry["name"] for layer in layers for entry in layer]:
            if name.startswith(engine.names.prefix) and name not in known.names:
                yield f"{runtime.name} {version}, {use}: {name}"


# What no list of options says, by the releases' own sources (in order of versions: what holds until, what from there).
FACTS: dict[str, list[tuple[str, Any, str, Any]]] = {
    "vllm": [
        ("kvUsage", "vllm:gpu_cache_usage_perc", "0.9.2", "vllm:kv_cache_usage_perc"),
        ("reranker", False, "0.7.0", True),
        ("transcription", False, "0.7.3", True),
        ("classifier", False, "0.9.0", True),
        ("adapters", None, "0.6.4", "vllm:lora_requests_info"),
        ("ready timeout", False, "0.14.0", True),
        ("sleep", 35, "0.18.0", 10),
        ("drain option", None, "0.18.0", "--shutdown-timeout"),
        ("s3", False, "0.6.6", True),
        ("rank", "8", "0.11.1", "1"),
        ("gs", False, "0.10.2", True),
        ("experts", False, "0.8.0", True),
        ("data parallel", False, "0.8.3", True),
        ("data parallel over hosts", False, "0.10.0", True),
        ("tensor parallel over hosts", False, "0.11.1", True),
        ("ports of ranks", False, "0.22.0", True),
        ("prefill", False, "0.18.0", True),
        ("kv in memory", False, "0.14.0", True),
        ("kv in files", False, "0.22.0", True),
        ("kv beside Intel", False, "0.23.0", True),
        ("kv in shm", False, "0.27.0", True),
        ("kv files by hash", ["PYTHONHASHSEED"], "0.29.0", []),
    ],
    "sglang": [
        ("command", ("python3", "-m", "sglang.launch_server"), "0.5.5", ("sglang", "serve")),
        ("ready", "/health", "0.5.20", "/ready"),
        ("reranker", False, "0.4.8", True),
        ("transcription", False, "0.5.10", True),
        ("started", "/health", "0.5.20", "/ready"),
        ("cacheBlocks", None, "0.5.11", "sglang:num_pages"),
        ("cacheBlockSize", None, "0.5.11", "sglang:page_size"),
        ("draft", False, "0.5.2", True),
        ("adapters by name", False, "0.5.4", True),
        ("s3", False, "0.5.10", True),
        ("pipeline", False, "0.4.6.post2", True),
        ("prefill", False, "0.5.1", True),
        ("data parallel by", ["--data-parallel-size", "--enable-dp-attention"], "0.5.22", ["--attn-dp-size"]),
        ("kv in memory", False, "0.4.5.post3", True),
        ("kv in files", False, "0.4.10", True),
        ("kv by policy", False, "0.5.3", True),
        ("kv files bounded", [], "0.5.14", ["SGLANG_HICACHE_FILE_BACKEND_MAX_SIZE"]),
    ],
    "llamacpp": [
        ("command", ("/llama-server",), "b4295", ("/app/llama-server",)),
        ("draft", False, "b4295", True),
        ("projector", False, "b6628", True),
        ("several models", False, "b10566", True),
        ("template", False, "b4579", True),
        ("template by", ["--jinja", "--chat-template-file"], "b7376", ["--chat-template-file"]),
        ("cache", False, "b6751", True),
        ("type", False, "b9294", True),
        ("new names", False, "b9093", True),
        ("threads", ["256"], "b8672", []),
        ("context", [("--ctx-size", "16384")], "b10809", [("--kv-unified-per-slot", "4096")]),
    ],
}


# vLLM's three forms; of an option that is there twice the last counts.
DRAFT_BY = [
    ["--speculative-model", "--num-speculative-tokens"],
    ["--speculative-config"],
    [f"--speculative-config.{key}" for key in ("method", "model", "num_speculative_tokens", "revision")],
]


# The options of embeddings, scores and classes, until each version.
POOLING = ["--runner pooling"] * 3
TASKS_BY = {
    "0.6.4": ["", "", ""],
    "0.6.5": ["--task embedding", "", ""],
    "0.10.1": ["--task embed", "--task score", "--task classify"],
}


OVER_HOSTS = ("data parallel over hosts", "tensor parallel over hosts", "ports of ranks")


def variables_of(engine: Engine, words: dict[str, Any], start: str) -> list[str]:
    """The derived variables whose name begins so."""
    layers = engine.derivation({**PLAIN, **words}).envs
    return [entry["name"] for layer in layers for entry in layer.value if entry["name"].startswith(start)]


def _options_of(engine: Engine, words: dict[str, Any], value: str) -> list[str]:
    """The options that stand with a value."""
    layers = engine.derivation(words).layers
    return [arg for layer in layers if value in layer.args for arg in layer.args if arg != value]


def facts(engine: Engine) -> dict[str, Any]:
    words = {**PLAIN, **USES["tensor parallel"]}
    shell, metrics = engine.shell(words), engine.spec["metrics"]
    variables = [entry["name"] for layer in engine.derivation(words).envs for entry in layer.value]
    stop = shell.lifecycle["preStop"]
    drafting = {**PLAIN, **USES["skip-loader, speculative"]}
    layers = [engine.configs["speculative-decoding"].layer(drafting), *engine.derivation(drafting).layers]
    line, _ = arg_merge.merge_args(engine.style, layers)
    return {
        "draft by": [arg for arg in line if arg.startswith(("--spec", "--num-spec"))],
        "context": [
            (option, value)
            for layer in engine.derivation(words).layers
            for option, value in itertools.pairwise(layer.args)
            if option in ("--ctx-size", "--kv-unified-per-slot")
        ],
        "threads": [layer.args[1] for layer in engine.derivation(words).layers if layer.args[0] == "--threads-http"],
        "cache": "--cache-ram" in line,
        "type": "--spec-type" in line,
        "new names": "--spec-draft-n-max" in line,
        "command": shell.command,
        "ready": value_at(shell.readiness_probe, "httpGet", "path"),
        "started": value_at(shell.startup_probe, "httpGet", "path"),
        "sleep": value_at(stop, "sleep", "seconds"),
        "drain option": engine.spec["drain"].get("option"),
        "ready timeout": "VLLM_ENGINE_READY_TIMEOUT_S" in variables,
        "rank": _rank(engine),
        "adapters by name": not refused(engine, {**PLAIN, "Adapters": 2}),
        "draft": not refused(engine, {**PLAIN, **DRAFT}),
        "projector": not refused(engine, {**PLAIN, "ProjectorPath": "/workspace/models/m/p.gguf"}),
        "several models": not refused(engine, {**PLAIN, "Models": 2}),
        "template": not refused(engine, {**PLAIN, **TEMPLATE}),
        "template by": _options_of(engine, {**PLAIN, **TEMPLATE}, TEMPLATE["ChatTemplatePath"]),
        "kv in memory": not refused(engine, {**PLAIN, **OFFLOAD}),
        "kv in files": not refused(engine, {**PLAIN, **FILES_OF_KV}),
        "kv by policy": not refused(engine, {**PLAIN, **OFFLOAD, "KVOffloadPolicy": "lru"}),
        "kv beside Intel": not refused(engine, {**PLAIN, **OFFLOAD, "Accelerator": "intel"}),
        "kv in shm": engine.derivation({**PLAIN, **OFFLOAD}).shared_memory_holds_kv_cache,
        "kv in shm, AMD": engine.derivation({**PLAIN, **OFFLOAD, "Accelerator": "amd"}).shared_memory_holds_kv_cache,
        "kv in shm, files": engine.derivation({**PLAIN, **FILES_OF_KV}).shared_memory_holds_kv_cache,
        "kv files by hash": variables_of(engine, FILES_OF_KV, "PYTHON"),
        "kv files bounded": variables_of(engine, FILES_OF_KV, "SGLANG_HICACHE_FILE_BACKEND_MAX"),
        "draft on CPUs": not refused(engine, {**PLAIN, **DRAFT, "Accelerator": "none"}),
        "experts": not refused(engine, {**PLAIN, "EP": True}),
        **{task: not refused(engine, {**PLAIN, "Task": task}) for task in tasks.SCHEMAS},
        "tasks by": [" ".join(engine.args_of_task(task, PLAIN)) for task in ("embedding", "reranker", "classifier")],
        "prefill": not refused(engine, {**PLAIN, "Role": "prefill"}),
        "pipeline": not refused(engine, {**PLAIN, **USES["pipeline on one host"]}),
        "data parallel": not refused(engine, {**PLAIN, "DP": 2, "LocalRanks": 2}),
        **{use: not refused(engine, {**PLAIN, **USES[use]}) for use in OVER_HOSTS},
        "data parallel by": [
            arg
            for layer in engine.derivation({**PLAIN, **USES["data parallel over hosts"]}).layers
            for arg in layer.args
            if arg in ("--attn-dp-size", "--data-parallel-size", "--enable-dp-attention")
        ],
        "s3": not refused(engine, {**PLAIN, **USES["streaming"]}),
        "gs": not refused(engine, {**PLAIN, **USES["streaming from gs"]}),
        **{name: metrics.get(name) for name in ("kvUsage", "adapters", "cacheBlocks", "cacheBlockSize")},
    }


def _rank(engine: Engine) -> str:
    """What is written for an adapter of rank 1."""
    if not adapters.can_load(engine):
        return ""
    layers = adapters.adapter_layers(engine, [replace(ADAPTERS[0], rank=1)], (), Collector())
    return next((layer.args[1] for layer in layers if layer.args[0] == "--max-lora-rank"), "")


def faults(runtime: BackendRuntime) -> Iterator[str]:
    """What is wrong with a preset, over all versions."""
    names = listed(runtime.name)
    for version, able in (("0.5.1", False), ("0.5.2", True)) if runtime.name == "vllm" else ():
        if refused(compiled(runtime, version), PLAIN) == able:  # before all lists: the program
            yield f"vllm {version}: starts is {not able}"
    for place, version in enumerate(names):
        yield from untaken_options(runtime, version)
        yield from unread_variables(runtime, version)
        known = facts(compiled(runtime, version))
        for fact, before, since, behind in FACTS[runtime.name]:
            expected = before if place < names.index(since) else behind
            if known[fact] != expected:
                yield f"{runtime.name} {version}: {fact} is {known[fact]}, not {expected}"
        if runtime.name == "vllm":  # versions that run a draft model, and some that do not between them
            able = not names.index("0.10.0") <= place < names.index("0.15.0")
            if known["draft"] != able:
                yield f"vllm {version}: draft is {known['draft']}"
            able = place >= names.index("0.20.0")
            if known["draft on CPUs"] != able:
                yield f"vllm {version}: draft on CPUs is {known['draft on CPUs']}"
            able = names.index("0.27.0") <= place < names.index("0.32.0")
            if known["kv in shm, AMD"] != able or not known["kv in shm, files"]:
                yield f"vllm {version}: KV cache in shared memory"
            form = sum(place >= names.index(border) for border in TASKS_BY)
            if known["tasks by"] != [*TASKS_BY.values(), POOLING][form]:
                yield f"vllm {version}: tasks by {known['tasks by']}"
            form = 0 if place < names.index("0.8.3") else 1 if place < names.index("0.9.0") else 2
            if known["draft by"] != DRAFT_BY[form]:
                yield f"vllm {version}: draft by {known['draft by']}"


@pytest.mark.parametrize("name", RANGED)
def test_every_version(name: str) -> None:
    assert list(faults(shipped(name))) == []


@pytest.mark.parametrize("name", [name for name in preset_names("backends") if name not in RANGED])
def test_the_one_version(name: str) -> None:
    for version in listed(name):
        assert list(untaken_options(shipped(name), version)) == []
        assert list(unread_variables(shipped(name), version)) == []


def without(name: str) -> Iterator[tuple[str, BackendRuntime]]:
    """The preset less one of its ranges, each once."""
    whole = shipped(name)
    engine = whole.spec["engine"]

    def less(change: Any) -> BackendRuntime:
        value = copy.deepcopy(whole.document.value)
        change(value["spec"]["engine"])
        return replace(whole, spec=value["spec"], document=ChangedDocument(whole.document, value, {}))

    for i, ranged in enumerate(engine["versions"]):
        if ranged.keys() <= {"since", "until", "memory"}:  # tests/fit asks about these
            continue
        yield f"versions[{i}]", less(lambda own, i=i: own["versions"].pop(i))
        for border in ("since", "until"):
            if border in engine["versions"][i]:
                yield f"versions[{i}].{border}", less(lambda own, i=i, border=border: own["versions"][i].pop(border))
    for i, entry in enumerate(engine["derived"]):
        if "since" in entry:
            yield f"derived[{i}].since", less(lambda own, i=i: own["derived"][i].pop("since"))


LESS = [(name, place, runtime) for name in RANGED for place, runtime in without(name)]


@pytest.mark.parametrize(("name", "place", "runtime"), LESS, ids=[f"{name} {place}" for name, place, _ in LESS])
def test_every_range_counts(name: str, place: str, runtime: BackendRuntime) -> None:
    assert next(faults(runtime), "")


def test_every_use_holds_every_entry() -> None:
    for name in RANGED:
        engine = compiled(shipped(name), "")
        entries = {entry for _, _, words in used(engine) for entry in engine.derivation(words).entries}
        assert entries == set(engine.derived)


def test_what_is_left_out_is_told() -> None:
    for name in RANGED:
        for entry in shipped(name).spec["engine"]["versions"]:
            if [] in (entry.get("args") or {}).values():
                assert "left out" in entry["notes"][0]["what"]


def test_ranges_make_sense() -> None:
    for name in RANGED:
        assert list(versions.invalid_versions(shipped(name))) == []


def test_the_own_version_is_the_preset_itself() -> None:
    for name in RANGED:
        runtime = shipped(name)
        own = image_version.version_of_tag(runtime.spec["engine"], runtime.spec["version"])
        assert runtime_versions.runtime_in_version(runtime, own) is runtime
        assert runtime_versions.runtime_in_version(runtime, "") is runtime


# ---- the mechanism ----


GIVEN = ["m", "--a", "1", "-2", "--b.c", "3", "--b.d", "4", "--e=5"]


def changed(entries: list[dict[str, Any]], **engine: Any) -> BackendRuntime:
    """A small runtime in version 1, with entries."""
    whole = shipped("tgi")
    spec = {
        "command": ["serve"],
        "envs": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "recommendedConfigs": [{"name": "default", "args": GIVEN}],
        "engine": {"drain": {"seconds": 9, "option": "--a"}, **engine, "versions": entries},
    }
    runtime = BackendRuntime(
        "small", cast("BackendRuntimeSpec", spec), ChangedDocument(whole.document, {"spec": spec}, {})
    )
    return runtime_versions.runtime_in_version(runtime, "1")


def where(runtime: BackendRuntime, *path: str | int) -> str:
    """Where a field stands in the document."""
    field = Origin(runtime.document, ("spec", *path)).behind[1]
    return ".".join(map(str, field[1:])).removeprefix("engine.")


def args(runtime: BackendRuntime) -> list[str]:
    return list(runtime.spec["recommendedConfigs"][0]["args"])


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"--a": []}, "m --b.c 3 --b.d 4 --e=5"),
        ({"--a": "--z"}, "m --z 1 -2 --b.c 3 --b.d 4 --e=5"),
        ({"--b": []}, "m --a 1 -2 --e=5"),
        ({"--b": "--z"}, "m --a 1 -2 --z.c 3 --z.d 4 --e=5"),
        ({"--b": ["--y", "7", "--z"]}, "m --a 1 -2 --y 7 --z --e=5"),
        ({"--b.d": ["--y"]}, "m --a 1 -2 --b.c 3 --y --e=5"),
        ({"--e": "--z"}, "m --a 1 -2 --b.c 3 --b.d 4 --z=5"),
        ({"--e": ["--z", "6"], "--a": "--aa"}, "m --aa 1 -2 --b.c 3 --b.d 4 --z 6"),
        ({"--nothing": []}, "m --a 1 -2 --b.c 3 --b.d 4 --e=5"),
    ],
)
def test_arguments_are_rewritten(rules: dict[str, Any], expected: str) -> None:
    assert " ".join(args(changed([{"args": rules}]))) == expected


def test_arguments_know_where_they_stand() -> None:
    runtime = changed([{"args": {"--b": ["--y", "7"], "--a": "--z"}}, {"args": {"--y": "--x"}}, {"args": {"--e": []}}])
    assert args(runtime) == ["m", "--z", "1", "-2", "--x", "7"]
    place = ("recommendedConfigs", 0, "args")
    assert [where(runtime, *place, i) for i in range(6)] == [
        "recommendedConfigs.0.args.0",
        "versions.0.args.--a",
        "recommendedConfigs.0.args.2",
        "recommendedConfigs.0.args.3",
        "versions.1.args.--y",
        "versions.0.args.--b.1",
    ]


def test_later_entries_win() -> None:
    runtime = changed([{"command": ["b"]}, {"until": "2", "command": ["c"]}, {"since": "2", "command": ["d"]}])
    assert runtime.spec["command"] == ["c"]
    assert where(runtime, "command", 0) == "versions.1.command.0"


def test_what_is_empty_takes_its_key_away() -> None:
    runtime = changed([{"drain": {"seconds": 5, "option": ""}}])
    assert runtime.spec["engine"]["drain"] == {"seconds": 5}
    assert where(runtime, "engine", "drain", "seconds") == "versions.0.drain.seconds"


@pytest.mark.parametrize(("earlier", "later"), [("seconds", "gracePeriodSeconds"), ("gracePeriodSeconds", "seconds")])
def test_the_later_grace_period_wins_whichever_its_name(earlier: str, later: str) -> None:
    runtime = changed([{"drain": {earlier: 50}}, {"drain": {later: 60}}])
    engine = runtime.spec["engine"]
    assert engine["drain"] == {later: 60, "option": "--a"}
    assert grace_period.grace_seconds(engine, 15) == 65
    assert where(runtime, "engine", "drain", later) == f"versions.1.drain.{later}"


def test_a_probe_has_one_handler() -> None:
    runtime = changed([{"readinessProbe": {"exec": {"command": ["true"]}}}])
    assert runtime.spec["readinessProbe"] == {"exec": {"command": ["true"]}, "periodSeconds": 5}
    assert where(runtime, "readinessProbe", "periodSeconds") == "readinessProbe.periodSeconds"
    assert where(runtime, "readinessProbe", "exec", "command", 0) == "versions.0.readinessProbe.exec.command.0"


def test_variables_come_and_go() -> None:
    more: dict[str, Any] = {"derived": [{"envs": [{"name": "C", "value": "3"}, {"name": "D", "value": "4"}]}]}
    runtime = changed([{"envs": {"A": "", "C": "", "B": "5"}}, {"envs": {"E": "6"}}], **more)
    assert runtime.spec["envs"] == [{"name": "B", "value": "5"}, {"name": "E", "value": "6"}]
    assert [where(runtime, "envs", i) for i in range(2)] == ["versions.0.envs.B", "versions.1.envs.E"]
    assert runtime.spec["engine"]["derived"] == [{"envs": [{"name": "D", "value": "4"}]}]
    assert where(runtime, "engine", "derived", 0, "envs", 0, "value") == "derived.0.envs.1.value"


def test_derived_entries_have_ranges() -> None:
    own: dict[str, Any] = {
        "derived": [{"until": "1", "args": ["--a"]}, {"args": ["--b"]}, {"since": "1", "args": ["--c", "1"]}]
    }
    added = {"derived": [{"since": "2", "args": ["--d"]}, {"args": ["--e"]}]}
    runtime = changed([added, {"args": {"--c": "--z"}}], **own)
    assert [entry["args"] for entry in runtime.spec["engine"]["derived"]] == [["--b"], ["--z", "1"], ["--e"]]
    assert where(runtime, "engine", "derived", 0) == "derived.1"
    assert where(runtime, "engine", "derived", 1, "args", 0) == "versions.1.args.--c"
    assert where(runtime, "engine", "derived", 1, "args", 1) == "derived.2.args.1"
    assert where(runtime, "engine", "derived", 2, "args", 0) == "versions.0.derived.1.args.0"


@pytest.mark.parametrize(
    ("since", "until", "version", "expected"),
    [
        ("0.18", "", "0.18.0", True),
        ("0.18", "", "0.18.0rc1", False),
        ("", "0.18", "0.18.0rc1", True),
        ("", "0.18", "0.17.1", True),
        ("", "0.18", "0.18", False),
        ("0.5.2", "", "0.5.2.post1", True),
        ("", "0.5.2.post1", "0.5.2", True),
        ("0.9", "0.30", "0.10.1.1", True),
        ("0.9", "0.30", "0.30.0", False),
        ("b4295", "b9093", "b8929", True),
        ("b4295", "b9093", "b11434", False),
    ],
)
def test_ranges(since: str, until: str, version: str, expected: bool) -> None:
    assert version_order.in_range({"since": since, "until": until}, version) == expected


# --- models


MODELS = {name: preset(f"models/{name}") for name in preset_names("models")}


def settings_of(model: str) -> dict[str, Any]:
    settings: dict[str, Any] = MODELS[model].value["spec"].get("engines") or {}
    return settings


ENGINES_OF_MODELS = [
    (model, engine) for model in MODELS for engine in RANGED if settings_of(model).get(engine, {}).get("args")
]


def args_of_model(model: str, engine: str, version: str) -> tuple[OptionRules, ModelArgs]:
    rules = preset_args.option_rules(FILES, compiled_engine(engine, version), version, Collector())
    assert rules is not None
    document = MODELS[model]
    origin = Origin(document, ("spec", "engines", engine))
    of_model = OpenModel(model, document.value["spec"], document, ours=True)
    settings = cast("ModelEngineSpec", settings_of(model)[engine])
    return rules, model_args.model_args(of_model, settings, origin, version, rules)


@cache
def compiled_engine(name: str, version: str) -> Engine:
    return compilation.compile_engine(FILES, shipped(name), Collector(), template_words.ConstantWords(), version)


@pytest.mark.parametrize(("model", "engine"), ENGINES_OF_MODELS)
def test_arguments_of_a_model_in_every_version(model: str, engine: str) -> None:
    for version in known_versions(
        FILES, BackendRuntime(engine, preset(f"backends/{engine}").value["spec"], MODELS[model])
    ):
        rules, result = args_of_model(model, engine, version)
        assert validate_options(rules, result.layer.args) == (), version
        assert len(result.layer.origins) in (0, len(result.layer.args))


@pytest.mark.parametrize(("model", "engine"), ENGINES_OF_MODELS)
def test_what_a_version_knows_stays(model: str, engine: str) -> None:
    """Where a version gets an option of a model, a newer one does too, under this name or another; the newest gets all.
    So a parser that an engine renames is found.
    """
    got: set[str] = set()
    for version in listed(engine):
        _, result = args_of_model(model, engine, version)
        lost = {text.partition(" ")[0] for text in result.left_out}
        assert not lost & got, version
        got = {arg for arg in result.layer.args if arg.endswith("-parser")}
    assert result.left_out == ()


@pytest.mark.parametrize(
    ("model", "engine", "version", "args", "left_out"),
    [
        ("qwen3-8b", "sglang", "0.4.9", "--tool-call-parser qwen25 --reasoning-parser qwen3", ()),
        ("qwen3-8b", "sglang", "0.5.9", "--tool-call-parser hermes --reasoning-parser qwen3", ()),
        ("qwen3-8b", "sglang", "0.4.4", "--tool-call-parser qwen25", ("--reasoning-parser qwen3",)),
        (
            "qwen3-8b",
            "vllm",
            "0.8.5",
            "--enable-auto-tool-choice --tool-call-parser hermes --enable-reasoning --reasoning-parser deepseek_r1",
            (),
        ),
        ("deepseek-r1", "vllm", "0.8.5", "--enable-reasoning --reasoning-parser deepseek_r1", ()),
        ("deepseek-r1", "vllm", "0.7.0", "", ("--reasoning-parser deepseek_r1",)),
        (
            "llama-3--1-8b-instruct",
            "vllm",
            "0.6.2",
            "",
            ("--enable-auto-tool-choice", "--tool-call-parser llama3_json"),
        ),
        (
            "glm-4--7",
            "vllm",
            "0.20.0",
            "--enable-auto-tool-choice --tool-call-parser glm47 --reasoning-parser glm45",
            (),
        ),
        ("gpt-oss-20b", "vllm", "0.10.1", "", ("--enable-auto-tool-choice", "--tool-call-parser openai")),
        ("gpt-oss-20b", "vllm", "0.10.2", "--enable-auto-tool-choice --tool-call-parser openai", ()),
        ("gpt-oss-120b", "sglang", "0.4.8", "", ("--tool-call-parser gpt-oss", "--reasoning-parser gpt-oss")),
        ("qwen3-embedding-0--6b", "vllm", "0.9.2", "--task embed", ()),
        ("qwen3-embedding-0--6b", "vllm", "0.6.4", "--task embedding", ()),
        ("qwen3-embedding-0--6b", "vllm", "0.6.1", "", ("--task embedding",)),
        ("bge-reranker-v2-m3", "vllm", "0.10.0", "--task score", ()),
        ("qwen3-embedding-0--6b-gguf", "llamacpp", "b6628", "--embedding --pooling last", ("--cache-ram 0",)),
    ],
)
def test_what_a_version_gets_of_a_model(
    model: str, engine: str, version: str, args: str, left_out: tuple[str, ...]
) -> None:
    _, result = args_of_model(model, engine, version)
    assert (" ".join(result.layer.args), result.left_out) == (args, left_out)
