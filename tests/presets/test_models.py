"""Model presets: their facts and arguments are those of tests/data/model_facts.json, their flavors fit, they render.

model_facts.json holds, by hub id and with the source of every figure, what is known of the models that presets are
made from; what nobody has seen is not there, and then no preset says it. parsers.json holds the names of tool and
reasoning parsers that each engine registers, at the version that its preset runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from msgspec.structs import replace

from renderer import schema_validation, yamlio
from renderer.fit.attention import read_attention
from renderer.fit.kv_cache import CacheSettings, request_cache
from renderer.fit.verdict import FITS
from renderer.load.preset_files import accelerator_types
from renderer.preset_catalog.model_fit import ModelFit, fit_of_model
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

PRESETS = ROOT / "presets"
CASE = TESTS / "cases" / "model-presets" / "input" / "chat.yaml"
KNOWN: Mapping[str, Mapping[str, Any]] = json.loads((TESTS / "data" / "model_facts.json").read_text("utf-8"))
PARSERS: Mapping[str, Mapping[str, Any]] = json.loads((TESTS / "data" / "parsers.json").read_text("utf-8"))
# Where the same format has another name than in model_facts.json: by engine and option, theirs → its own.
ALSO = {
    ("sglang", "--tool-call-parser"): {
        "openai": "gpt-oss",
        "llama3_json": "llama3",
        "minimax_m2": "minimax-m2",
        "minimax_m3": "minimax-m3",
        "deepseek_v31": "deepseekv31",
        "deepseek_v32": "deepseekv32",
        "deepseek_v4": "deepseekv4",
    },
    ("sglang", "--reasoning-parser"): {
        "minimax_m2": "minimax",
        "minimax_m3": "minimax-m3",
        "deepseek_r1": "deepseek-r1",
        "deepseek_v3": "deepseek-v3",
        "deepseek_v4": "deepseek-v4",
        "glm47": "glm45",
        "nemotron_v3": "nemotron_3",
    },
}
# The engine whose own detection takes these for granted, where the recipe of another has no word for them.
TOLD = {("sglang", "--reasoning-parser", "gpt-oss")}
RUNS_CODE = "--trust-remote-code"  # of the hub repository: every architecture here is built into the engine
SPREADS_EXPERTS = "--enable-expert-parallel"  # a flavor's params say it
# Files that lie in no image for certain: a template, which the model brings too, and parsers, which are left out with
# what names them.
FILES = {"--chat-template": (), "--tool-parser-plugin": ("--tool-call-parser", "--enable-auto-tool-choice"),
         "--reasoning-parser-plugin": ("--reasoning-parser",)}  # fmt: skip
USED = 0.92  # of a card, by the engine's default
HEADROOM = 0.9
LENGTH = "--max-model-len"  # which presets say as maxModelLen, for every engine
# What a flavor's name says of its accelerators: their type, and the gigabytes that are printed on the box.
HARDWARE = {
    "nvidia-gpu": ("a100-80g", 80),
    "nvidia-h200": ("h200-141g", 141),
    "nvidia-b200": ("b200-180g", 180),
    "nvidia-b300": ("b300-288g", 288),
}


def specs(folder: str) -> dict[str, Any]:
    """Name → spec of each preset."""
    by_name = {}
    for path in sorted((PRESETS / folder).glob("*.yaml")):
        documents, problems = yamlio.parse(path.name, path.read_bytes())
        assert problems == []
        by_name[path.stem] = documents[0].value["spec"]
    return by_name


MODELS = specs("models")
BACKENDS = specs("backends")


class Base(NamedTuple):
    """The model that a preset serves: its hub id, what is known of it, and how the preset's weights differ."""

    id: str
    known: Mapping[str, Any]
    weights_format: str  # "" for the model as it was published, "gguf", or the precision of a quantized repository


def base(name: str) -> Base:
    """What the preset is made from."""
    hub = MODELS[name]["source"]["modelHub"]
    repo, file = hub["modelID"], hub.get("filename")
    if file:
        (hub_id,) = [one for one, known in KNOWN.items() if {"repo": repo, "file": file} in known.get("gguf", [])]
        return Base(hub_id, KNOWN[hub_id], "gguf")
    if repo in KNOWN:
        return Base(repo, KNOWN[repo], "")
    (hub_id,) = [one for one, known in KNOWN.items() if repo in known.get("variants", [])]
    (precision,) = {
        variant["precision"] for variant in KNOWN[hub_id]["vllm"]["variants"] if variant["model_id"] == repo
    }
    return Base(hub_id, KNOWN[hub_id], precision)


def attention(arch: Mapping[str, Any]) -> dict[str, Any]:
    """Geometry as presets spell it. Layers with full attention are counted where others have a window, a state or
    nothing; those that keep nothing of a request are not counted at all.
    """
    if not arch:
        return {}
    full = arch.get("full_attention_layers", arch.get("layer_types", {}).get("full_attention"))
    if "sliding_layers" in arch:
        full = arch["num_hidden_layers"] - arch["sliding_layers"]
    plain = {
        "layers": arch["num_hidden_layers"] - arch.get("cacheless_layers", 0) - arch.get("num_kv_shared_layers", 0),
        "fullLayers": full,
    }
    names = {
        "heads": "num_attention_heads",
        "kvHeads": "num_key_value_heads",
        "headDim": "head_dim",
        "hiddenSize": "hidden_size",
        "valueDim": "v_head_dim",
        "slidingWindow": "sliding_window",
        "globalKVHeads": "num_global_key_value_heads",
        "globalHeadDim": "global_head_dim",
        "latentDim": "kv_lora_rank",
        "ropeDim": "qk_rope_head_dim",
        "indexDim": "index_head_dim",
        "indexLayers": "index_layers",
    }
    geometry = {**plain, **{ours: arch.get(theirs) for ours, theirs in names.items()}}
    if "swa_num_key_value_heads" in arch:  # there the other number is that of the full layers
        geometry |= {"kvHeads": arch["swa_num_key_value_heads"], "globalKVHeads": arch["num_key_value_heads"]}
    elif "global_head_dim" in arch:
        geometry["globalKVHeads"] = arch.get("num_global_key_value_heads", arch["num_key_value_heads"])
    if state := arch.get("linear_attention"):
        sizes = {"valueHeads": "vh", "keyHeads": "kh", "keyDim": "kd", "valueDim": "vd", "convKernel": "conv"}
        geometry["recurrent"] = {
            "layers": arch["linear_attention_layers"],
            **{ours: state[theirs] for ours, theirs in sizes.items()},
        }
    return {key: value for key, value in geometry.items() if value is not None}


def facts(model: Base) -> dict[str, Any]:
    """The facts that a preset of it states. Size, precision and licence are those of the published weights, so
    presets of other weights leave them out.
    """
    known = {
        "kind": model.known["kind"],
        "parameters": f"{model.known['params_b']:g}B" if "params_b" in model.known else None,
        "activeParameters": f"{model.known['active_params_b']:g}B" if "active_params_b" in model.known else None,
        "contextLength": model.known.get("max_context"),
        "architecture": model.known.get("architecture"),
        "attention": attention(model.known.get("arch", {})) or None,
        "kvBytesPerToken": model.known.get("kv_bytes_per_token_bf16"),
    }
    if not model.weights_format:
        known |= {
            "weightsGiB": model.known.get("weight_gib"),
            "precision": model.known.get("native_precision"),
            "quantization": model.known.get("native_quantization"),
            "licence": model.known.get("license"),
            "gated": model.known.get("gated"),
        }
    elif model.weights_format != "gguf":
        known["precision"] = model.weights_format
    return {key: value for key, value in known.items() if value is not None}


def options(args: list[str]) -> list[tuple[str, ...]]:
    """Arguments as (option, its values), sorted; `_` in names of options as `-`."""
    groups: list[list[str]] = []
    for word in args:
        if word.startswith("--"):
            groups.append([word.replace("_", "-")])
        else:
            groups[-1].append(word)
    return sorted(tuple(group) for group in groups)


def recipe(known: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What the recipe of the model adds to the command line, less what runs code of the hub or is a flavor's to say,
    and files that lie in no image.
    """
    its = known.get("vllm", {})
    arguments: list[tuple[str, ...]] = []
    for key in ("base_args", "tool_calling_args", "reasoning_args"):
        part = options(its.get(key, []))
        names = {name for name, *_ in part}
        left_out = {RUNS_CODE, SPREADS_EXPERTS, LENGTH, *FILES}
        left_out |= {name for file in names & set(FILES) for name in FILES[file]}
        arguments += [argument for argument in part if argument[0] not in left_out]
    return sorted(arguments)


@pytest.mark.parametrize("name", MODELS)
def test_facts_are_those_that_are_known(name: str) -> None:
    spec, model = MODELS[name], base(name)
    assert spec["facts"] == facts(model)
    assert spec["familyName"] == model.known["family"]
    assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", spec["familyName"])
    text = (PRESETS / "models" / f"{name}.yaml").read_text("utf-8")
    assert ("# Gated: " in text) == bool(spec["facts"].get("gated"))


def test_no_fact_is_left_over() -> None:
    assert {base(name).id for name in MODELS} == set(KNOWN)


@pytest.mark.parametrize("name", MODELS)
def test_names(name: str) -> None:
    served = MODELS[name]["servedModelName"]
    assert name == served.replace(".", "--")
    path = PRESETS / "models" / f"{name}.yaml"
    assert yamlio.parse(path.name, path.read_bytes())[0][0].value["metadata"]["name"] == name
    assert name.endswith("-gguf") == (base(name).weights_format == "gguf")


@pytest.mark.parametrize("name", MODELS)
def test_it_is_valid(name: str) -> None:
    path = PRESETS / "models" / f"{name}.yaml"
    assert schema_validation.findings("input/openmodel", yamlio.parse(path.name, path.read_bytes())[0][0].value) == []


@pytest.mark.parametrize("name", MODELS)
def test_arguments_are_those_of_the_recipe(name: str) -> None:
    model, by_engine = base(name), MODELS[name].get("engines", {})
    expected = recipe(model.known)
    if any(option == "--tool-call-parser" for option, *_ in expected):  # which one recipe has alone, where it is idle
        expected = sorted({*expected, ("--enable-auto-tool-choice",)})
    if model.known["kind"] != "chat" and model.weights_format != "gguf":
        assert options(by_engine["vllm"]["args"]) == sorted([("--runner", "pooling"), *expected])
    else:
        assert options(by_engine.get("vllm", {}).get("args", [])) == (
            [] if model.weights_format == "gguf" else expected
        )
    for engine in set(by_engine) - {"vllm"}:
        for option, *values in options(by_engine[engine].get("args", [])):
            if option.endswith("-parser"):
                (value,) = values
                theirs = [
                    ALSO.get((engine, option), {}).get(argument[1], argument[1])
                    for argument in expected
                    if argument[0] == option
                ]
                assert value in theirs or (engine, option, value) in TOLD
            else:
                # Whatever is no parser stands in the note, or is explained in the preset.
                note = model.known.get("note", "")
                assert f"{option} {' '.join(values)}".strip() in note or option == "--cache-ram"


@pytest.mark.parametrize("name", MODELS)
def test_no_parser_without_tools_in_the_chat_template(name: str) -> None:
    """A model whose tools need more than a parser has one only where its recipe gives what it needs beside it."""
    known = base(name).known
    if "tools_need" in known:
        assert known["tools_need_source"]
        arguments = {arg for settings in MODELS[name].get("engines", {}).values() for arg in settings.get("args", [])}
        assert "--tool-call-parser" not in arguments or "--chat-template" in known["vllm"]["tool_calling_args"]


@pytest.mark.parametrize("engine", sorted(PARSERS))
def test_parsers_exist(engine: str) -> None:
    known, names = PARSERS[engine], set()
    assert BACKENDS[engine]["version"].removeprefix("v") == known["version"], "parsers.json is of another version"
    for spec in MODELS.values():
        for option, *values in options(spec.get("engines", {}).get(engine, {}).get("args", [])):
            kind = {"--tool-call-parser": "tool", "--reasoning-parser": "reasoning"}.get(option)
            if kind:
                assert set(values) <= set(known[kind])
                names |= set(values)
    assert names


def question(name: str) -> ModelFit | None:
    """What `presets show --fit` asks on vLLM; None where nobody knows the size. Where the precision is all that is not
    known, the weights are taken for 16 bits: nobody publishes wider ones.
    """
    spec = MODELS[name]
    if spec["facts"].keys().isdisjoint({"precision", "weightsGiB"}):
        spec = {**spec, "facts": {**spec["facts"], "precision": "bf16"}}
    if spec["facts"].keys().isdisjoint({"parameters", "weightsGiB"}):
        return None
    return fit_of_model(name, spec, "vllm", BACKENDS["vllm"])


def fits(name: str, fit: ModelFit, kind: str, cards: int) -> bool:
    """Whether weights and one request of the longest context fit for certain and with headroom, which large mixtures of
    experts need, and the recipe asks for no more.
    """
    type_name, gigabytes = HARDWARE[kind]
    accelerator = accelerator_types().by_name[type_name]
    recommended = [
        variant["vram_minimum_gb"]
        for variant in KNOWN[base(name).id].get("vllm", {}).get("variants", [])
        if variant["model_id"] == MODELS[name]["source"]["modelHub"]["modelID"]
    ]
    verdict = fit.verdict(accelerator, cards)
    if verdict is None or verdict.kind != FITS or any(least > gigabytes * cards for least in recommended):
        return False
    own = max(2.3 + 0.05 * verdict.weights_gib, 6 if "activeParameters" in MODELS[name]["facts"] else 0)
    need = verdict.weights_gib * 1.02 + verdict.request_gib + own
    return bool(need <= accelerator.memory_gib * USED * HEADROOM)


ON_CARDS = [
    name
    for name, spec in MODELS.items()
    for flavor in spec.get("inferenceConfig", {}).get("flavors", [])
    if "limits" in flavor
]


@pytest.mark.parametrize("name", ON_CARDS)
def test_flavors_fit(name: str) -> None:
    """On the fewest cards of 80 GB; on whole nodes of larger ones where eight of these are too small."""
    (flavor,) = MODELS[name]["inferenceConfig"]["flavors"]
    (cards,) = flavor["limits"].values()
    assert set(flavor["limits"]) == {"nvidia.com/gpu"}
    kind = flavor["name"].removesuffix(f"-x{cards}")
    assert flavor["name"] == (kind if cards == 1 else f"{kind}-x{cards}")
    assert flavor.get("accelerator", HARDWARE["nvidia-gpu"][0]) == HARDWARE[kind][0]
    geometry = MODELS[name]["facts"].get("attention", {})
    assert cards in (1, 2, 4, 8)
    assert geometry.get("heads", geometry.get("kvHeads", 1)) % cards == 0
    fit = question(name)
    if fit is None:
        assert cards == 1
        assert base(name).known["kind"] in ("embedding", "reranker")
        return
    assert fits(name, fit, kind, cards)
    smaller = [(kind, cards // 2)] if cards > 1 else []
    smaller += [(other, 8) for other in list(HARDWARE)[: list(HARDWARE).index(kind)]]
    if MODELS[name]["facts"].get("quantization") != "MIXED_PRECISION":  # published for cards that multiply in 4 bits
        assert not any(fits(name, fit, *less) for less in smaller if less != (kind, 4) or kind == "nvidia-gpu")


BLOCKS = [
    name for name, spec in MODELS.items() if spec["facts"].get("precision") == "fp8" and "fp8_block" in base(name).known
]


@pytest.mark.parametrize("name", BLOCKS)
def test_each_accelerator_gets_whole_blocks_of_experts(name: str) -> None:
    """Or whole experts: both engines end where a part of an expert is no whole number of blocks."""
    known = base(name).known
    (flavor,) = MODELS[name]["inferenceConfig"]["flavors"]
    (cards,) = flavor["limits"].values()
    has_whole_blocks = known["expert_width"] % (known["fp8_block"] * cards) == 0
    assert has_whole_blocks or flavor["params"]["EP"] == "true"


def test_some_experts_have_blocks() -> None:
    assert {"minimax-m2--5", "minimax-m2--7", "qwen3-coder-480b-a35b-fp8"} <= set(BLOCKS)


def test_there_are_eighty_of_every_kind() -> None:
    assert len(MODELS) >= 80
    kinds = {spec["facts"]["kind"] for spec in MODELS.values()}
    assert kinds == {"chat", "embedding", "reranker"}
    assert sum("activeParameters" in spec["facts"] for spec in MODELS.values()) >= 20
    assert sum(spec["facts"].get("precision") == "fp8" for spec in MODELS.values()) >= 10
    assert sum(base(name).weights_format == "gguf" for name in MODELS) >= 6


@pytest.mark.parametrize("name", MODELS)
def test_kv_bytes_follow_from_the_attention(name: str) -> None:
    """The two facts are sums of the same: what a token takes in the layers that keep all of them."""
    its = MODELS[name]["facts"]
    geometry = read_attention(its)
    if geometry and "kvBytesPerToken" in its:
        growing = geometry.full_layers + geometry.window_layers
        alone = replace(geometry, layers=growing, index_dim=0, recurrent=None)
        assert request_cache(alone, CacheSettings()).token_bytes == its["kvBytesPerToken"]


def test_the_length_that_a_recipe_asks_for() -> None:
    """For every engine that the preset has settings for."""
    for name in MODELS:
        arguments = options(base(name).known.get("vllm", {}).get("base_args", []))
        for _, value in (argument for argument in arguments if argument[0] == LENGTH):
            assert {settings["maxModelLen"] for settings in MODELS[name]["engines"].values()} == {int(value)}


def best(name: str) -> str:
    """The engine that suits the model: the one of GGUF for a GGUF file, else the one that knows most models."""
    return "llamacpp" if name.endswith("-gguf") else "vllm"


def engines(name: str) -> list[str]:
    """Where a model is tried: the engine that suits it, and each that its preset has arguments for."""
    return sorted({best(name), *MODELS[name].get("engines", {})})


def cards_of(name: str) -> list[int]:
    """The accelerators of each flavor of a model."""
    flavors = MODELS[name].get("inferenceConfig", {}).get("flavors", [])
    return [int(number) for flavor in flavors for number in flavor.get("limits", {}).values()]


@pytest.mark.parametrize(("name", "engine"), [(name, engine) for name in MODELS for engine in engines(name)])
def test_renders(name: str, engine: str, folder: Path, llmaz: Llmaz) -> None:
    playground = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "it"},
        "spec": {"modelClaim": {"modelName": name}, "backendRuntimeConfig": {"backendName": engine}},
    }
    (folder / "it.yaml").write_text(yaml.safe_dump(playground), "utf-8")
    done = llmaz("render", "--stdout", "--strict")
    codes = {code for line in done.err.splitlines() for code in re.findall(r"\[([ENW][0-9]+)\]$", line)}
    # N256: nobody knows the size of the files, and by parameters they are large. N459: more accelerators than heads.
    # N480: a fact that a preset lacks, which --fit names.
    assert (done.code, codes - {"N256", "N459", "N480"}) == (0, set())
    assert "N256" not in codes or "weightsGiB" not in MODELS[name]["facts"]
    assert "N459" not in codes or max(cards_of(name)) > MODELS[name]["facts"]["attention"]["kvHeads"]
    workload = next(yaml.safe_load_all(done.out))
    (runner,) = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    args = MODELS[name].get("engines", {}).get(engine, {}).get("args", [])
    assert runner["args"][len(runner["args"]) - len(args) :] == args
    assert MODELS[name]["servedModelName"] in runner["args"]
    limits = [flavor.get("limits", {}) for flavor in MODELS[name].get("inferenceConfig", {}).get("flavors", [{}])]
    assert {key: int(value) for key, value in runner["resources"].get("limits", {}).items()} == limits[0]


def test_every_model_has_its_golden() -> None:
    """The case renders each on the engine that suits it."""
    claimed = {}
    for document in yaml.safe_load_all(CASE.read_text("utf-8")):
        backend = document["spec"].get("backendRuntimeConfig", {}).get("backendName", "vllm")
        claimed[document["spec"]["modelClaim"]["modelName"]] = backend
    assert claimed == {name: best(name) for name in MODELS}
