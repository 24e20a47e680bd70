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

from renderer import yamlio
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

PRESETS = ROOT / "presets"
CASE = TESTS / "cases" / "model-presets" / "input" / "chat.yaml"
KNOWN: Mapping[str, Mapping[str, Any]] = json.loads((TESTS / "data" / "model_facts.json").read_text("utf-8"))
PARSERS: Mapping[str, Mapping[str, Any]] = json.loads((TESTS / "data" / "parsers.json").read_text("utf-8"))
# Where the same format has another name than in model_facts.json: by engine and option, theirs → its own.
ALSO = {
    ("sglang", "--tool-call-parser"): {"openai": "gpt-oss", "minimax_m2": "minimax-m2"},
    ("sglang", "--reasoning-parser"): {"minimax_m2": "minimax"},
}
# The engine whose own detection takes these for granted, where the recipe of another has no word for them.
TOLD = {("sglang", "--reasoning-parser", "gpt-oss")}
RUNS_CODE = "--trust-remote-code"  # of the hub repository: every architecture here is built into the engine
CARD = 79.0  # GiB of an 80 GB card
USED = 0.92  # of it, by the engine's default
HEADROOM = 0.9


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


def attention(arch: Mapping[str, Any]) -> dict[str, int]:
    """Geometry as presets spell it. Layers with full attention are counted where others have a window or none."""
    full = arch.get("full_attention_layers", arch.get("layer_types", {}).get("full_attention"))
    if "sliding_layers" in arch:
        full = arch["num_hidden_layers"] - arch["sliding_layers"]
    geometry = {
        "layers": arch.get("num_hidden_layers"),
        "fullLayers": full,
        "heads": arch.get("num_attention_heads"),
        "kvHeads": arch.get("num_key_value_heads"),
        "headDim": arch.get("head_dim"),
        "slidingWindow": arch.get("sliding_window"),
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
    """What the recipe of the model adds to the command line, less what runs code of the hub."""
    its = known.get("vllm", {})
    arguments = options(
        [word for key in ("base_args", "tool_calling_args", "reasoning_args") for word in its.get(key, [])]
    )
    # A template that lies in no image for certain; the model brings its own.
    return [argument for argument in arguments if argument[0] not in (RUNS_CODE, "--chat-template")]


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
def test_arguments_are_those_of_the_recipe(name: str) -> None:
    model, by_engine = base(name), MODELS[name].get("engines", {})
    expected = recipe(model.known)
    if model.known["kind"] != "chat" and model.weights_format != "gguf":
        assert options(by_engine["vllm"]["args"]) == [("--runner", "pooling")]
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


def weights(name: str) -> float | None:
    """GiB of the weights, estimated from the parameters where nobody has measured them; None when neither is known."""
    its = MODELS[name]["facts"]
    if "weightsGiB" in its:
        return float(its["weightsGiB"])
    if "parameters" not in its:
        return None
    bytes_per_parameter = {"fp8": 1.0, "mxfp4": 0.6}.get(its.get("precision", ""), 2.0)
    return float(its["parameters"].removesuffix("B")) * 1e9 * bytes_per_parameter / 2**30


def fits(name: str, cards: int) -> bool:
    """Whether weights, one request of the whole context and the engine's own share fit so many 80 GB cards."""
    its, size = MODELS[name]["facts"], weights(name)
    assert size is not None
    recommended = [
        variant["vram_minimum_gb"]
        for variant in KNOWN[base(name).id].get("vllm", {}).get("variants", [])
        if variant["model_id"] == MODELS[name]["source"]["modelHub"]["modelID"]
    ]
    if any(gigabytes > 80 * cards for gigabytes in recommended):
        return False
    spread = min(cards, its["attention"]["kvHeads"]) if "attention" in its else cards
    cache = its.get("kvBytesPerToken", 0) * its["contextLength"] / 2**30 / spread
    own = max(2.3 + 0.05 * size / cards, 6 if "activeParameters" in its else 0)
    return bool(size / cards * 1.02 + cache + own <= CARD * USED * HEADROOM)


ON_CARDS = [
    name
    for name, spec in MODELS.items()
    for flavor in spec.get("inferenceConfig", {}).get("flavors", [])
    if "limits" in flavor
]


@pytest.mark.parametrize("name", ON_CARDS)
def test_flavors_fit(name: str) -> None:
    (flavor,) = MODELS[name]["inferenceConfig"]["flavors"]
    (cards,) = flavor["limits"].values()
    assert set(flavor["limits"]) == {"nvidia.com/gpu"}
    assert flavor["name"] == ("nvidia-gpu" if cards == 1 else f"nvidia-gpu-x{cards}")
    geometry = MODELS[name]["facts"].get("attention", {})
    assert cards in (1, 2, 4, 8)
    assert geometry.get("heads", geometry.get("kvHeads", 1)) % cards == 0
    if weights(name) is None:
        assert cards == 1
        assert base(name).known["kind"] in ("embedding", "reranker")
    else:
        assert fits(name, cards)
        assert cards == 1 or not fits(name, cards // 2)


def test_there_are_twenty_of_every_kind() -> None:
    assert len(MODELS) >= 20
    kinds = {spec["facts"]["kind"] for spec in MODELS.values()}
    assert kinds == {"chat", "embedding", "reranker"}
    assert sum("activeParameters" in spec["facts"] for spec in MODELS.values()) >= 3
    assert sum(spec["facts"].get("precision") == "fp8" for spec in MODELS.values()) >= 3
    assert sum(base(name).weights_format == "gguf" for name in MODELS) >= 4


def best(name: str) -> str:
    """The engine that suits the model: the one of GGUF for a GGUF file, else the one that knows most models."""
    return "llamacpp" if name.endswith("-gguf") else "vllm"


def engines(name: str) -> list[str]:
    """Where a model is tried: the engine that suits it, and each that its preset has arguments for."""
    return sorted({best(name), *MODELS[name].get("engines", {})})


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
    assert (done.code, done.err) == (0, "")
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
