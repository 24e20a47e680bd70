#!/usr/bin/env python3
"""Writes the facts of the model presets from tests/data/model_facts.json, which holds each figure with its source.

    scripts/make_models.py                  writes the `facts:` of each preset, and nothing else of it
    scripts/make_models.py --check          exits 1 when one is stale
    scripts/make_models.py --draft HUB_ID   prints a first version of a preset: its name, source, flavor and facts

Parsers, recommended engines and comments are knowledge, and written by hand. What nobody has seen is in neither file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from renderer import load, yamlio
from renderer.fit.verdict import FITS, FitVerdict
from renderer.load import PresetRefused
from renderer.load.preset_files import accelerator_types
from renderer.preset_catalog.model_fit import fit_of_model

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "presets" / "models"
FACTS = ROOT / "tests" / "data" / "model_facts.json"
USED, HEADROOM = 0.92, 0.9  # of an accelerator: what the engine takes, and the part of that which a draft fills
START = "\n  facts:\n"
GGUF = "gguf"
# Where a draft looks for room: name of the flavor, type, and gigabytes printed on the box, the smallest first.
HARDWARE = (
    ("nvidia-gpu", "a100-80g", 80, (1, 2, 4, 8)),
    ("nvidia-h200", "h200-141g", 141, (8,)),
    ("nvidia-b200", "b200-180g", 180, (8,)),
    ("nvidia-b300", "b300-288g", 288, (8,)),
)
DRAFT = """\
# yaml-language-server: $schema=../../renderer/schemas/input/openmodel.json
# Say here in a line what it is.
{gated}apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: {name}
spec:
  familyName: {family}
  servedModelName: {served}
  source:
    modelHub:
      modelID: {hub_id}
{flavor}  facts:
{facts}"""
GATED = (
    "# Gated: accept the licence on the hub, and keep a token as HF_TOKEN in the Secret modelhub-secret of the"
    " namespace.\n"
)


class Base(NamedTuple):
    """What the weights of a preset are: the model that they were made from, and how they differ from it."""

    known: Mapping[str, Any]
    weights_format: str  # "" for the model as it was published, "gguf", or the precision of a quantized repository


def known_models() -> dict[str, Any]:
    """What is known, by hub id."""
    models: dict[str, Any] = json.loads(FACTS.read_text("utf-8"))
    return models


def base_of(hub: Mapping[str, str], models: Mapping[str, Any]) -> Base:
    """The base of the weights that `spec.source.modelHub` names."""
    repo, file = hub["modelID"], hub.get("filename")
    for hub_id, known in models.items():
        if file and {"repo": repo, "file": file} in known.get("gguf", []):
            return Base(known, GGUF)
        if not file and repo == hub_id:
            return Base(known, "")
        if not file and repo in known.get("variants", []):
            variants = known["vllm"]["variants"]
            return Base(known, next(variant["precision"] for variant in variants if variant["model_id"] == repo))
    raise SystemExit(f"{repo} is not in {FACTS.relative_to(ROOT)}")


def full_layers(arch: Mapping[str, Any]) -> int | None:
    """The layers that keep every token, where others do not."""
    if "sliding_layers" in arch:
        return int(arch["num_hidden_layers"] - arch["sliding_layers"])
    full: int | None = arch.get("full_attention_layers", arch.get("layer_types", {}).get("full_attention"))
    return full


def attention_of(arch: Mapping[str, Any]) -> dict[str, Any]:
    """The geometry as presets spell it."""
    if not arch:
        return {}
    beside = arch.get("num_kv_shared_layers", 0) + arch.get("cacheless_layers", 0)
    window_heads = arch.get("swa_num_key_value_heads")
    heads, global_dim = arch.get("num_key_value_heads"), arch.get("global_head_dim")
    state = arch.get("linear_attention", {})
    recurrent = {
        "layers": arch.get("linear_attention_layers"),
        "valueHeads": state.get("vh"),
        "keyHeads": state.get("kh"),
        "keyDim": state.get("kd"),
        "valueDim": state.get("vd"),
        "convKernel": state.get("conv"),
    }
    geometry = {
        "layers": arch["num_hidden_layers"] - beside,
        "fullLayers": full_layers(arch),
        "heads": arch.get("num_attention_heads"),
        "kvHeads": window_heads or heads,
        "headDim": arch.get("head_dim"),
        "hiddenSize": arch.get("hidden_size"),
        "valueDim": arch.get("v_head_dim"),
        "slidingWindow": arch.get("sliding_window"),
        "globalKVHeads": heads if window_heads else arch.get("num_global_key_value_heads") or (global_dim and heads),
        "globalHeadDim": global_dim,
        "latentDim": arch.get("kv_lora_rank"),
        "ropeDim": arch.get("qk_rope_head_dim"),
        "indexDim": arch.get("index_head_dim"),
        "indexLayers": arch.get("index_layers"),
        "recurrent": without_unknown(recurrent) if state else None,
    }
    return without_unknown(geometry)


def facts_of(base: Base) -> dict[str, Any]:
    """The facts of a preset. Size, precision and licence are those of the published weights; others leave them out."""
    known = base.known
    facts = {
        "kind": known["kind"],
        "parameters": f"{known['params_b']:g}B" if "params_b" in known else None,
        "activeParameters": f"{known['active_params_b']:g}B" if "active_params_b" in known else None,
        "weightsGiB": None if base.weights_format else known.get("weight_gib"),
        "contextLength": known.get("max_context"),
        "precision": None if base.weights_format == GGUF else base.weights_format or known.get("native_precision"),
        "quantization": None if base.weights_format else known.get("native_quantization"),
        "architecture": known.get("architecture"),
        "attention": attention_of(known.get("arch", {})) or None,
        "kvBytesPerToken": known.get("kv_bytes_per_token_bf16"),
        "licence": None if base.weights_format else known.get("license"),
        "gated": None if base.weights_format else known.get("gated"),
    }
    return without_unknown(facts)


def without_unknown(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that somebody knows."""
    return {key: value for key, value in facts.items() if value is not None}


def written(facts: Mapping[str, Any], indent: int = 4) -> Iterator[str]:
    """Facts as lines of YAML."""
    for key, value in facts.items():
        if isinstance(value, Mapping):
            yield f"{' ' * indent}{key}:\n"
            yield from written(value, indent + 2)
        else:
            yield f"{' ' * indent}{key}: {json.dumps(value) if isinstance(value, bool) else value}\n"


def rewritten(text: str, models: Mapping[str, Any]) -> str:
    """A preset with its facts made anew; they are its last key."""
    documents, problems = yamlio.parse("preset", text.encode())
    if problems:
        raise SystemExit(str(problems[0]))
    base = base_of(documents[0].value["spec"]["source"]["modelHub"], models)
    return text.partition(START)[0] + START + "".join(written(facts_of(base)))


def has_headroom(verdict: FitVerdict, facts: Mapping[str, Any], name: str) -> bool:
    """Whether it fits for certain, with a tenth of what an engine takes left over; mixtures of experts need 6 GiB for
    themselves.
    """
    own = max(2.3 + 0.05 * verdict.weights_gib, 6 if "activeParameters" in facts else 0)
    need = verdict.weights_gib * 1.02 + verdict.request_gib + own
    return verdict.kind == FITS and need <= accelerator_types().by_name[name].memory_gib * USED * HEADROOM


def flavor_of(known: Mapping[str, Any], hub_id: str) -> tuple[str, int, str]:
    """Name of the flavor, number of accelerators and their type ('' for cards of 80 GB) that hold the weights and the
    whole context. Where nobody knows the size: one card.
    """
    facts = facts_of(Base(known, ""))
    least = [
        variant["vram_minimum_gb"]
        for variant in known.get("vllm", {}).get("variants", [])
        if variant["model_id"] == hub_id
    ]
    runtime = load.preset("backends/vllm").value["spec"]
    try:
        fit = fit_of_model(hub_id, {"facts": facts}, "vllm", runtime)
    except PresetRefused:
        return "nvidia-gpu", 1, ""
    for flavor, name, gigabytes, counts in HARDWARE:
        for count in counts:
            verdict = fit.verdict(accelerator_types().by_name[name], count)
            if verdict and has_headroom(verdict, facts, name) and all(most <= gigabytes * count for most in least):
                return flavor, count, name if flavor != HARDWARE[0][0] else ""
    raise SystemExit(
        f"{hub_id} fits on none of {', '.join(name for _, name, *_ in HARDWARE)}: give it a shorter context"
    )


def draft(hub_id: str) -> str:
    """A first version of a preset."""
    models = known_models()
    if hub_id not in models:
        raise SystemExit(
            f"{hub_id} is not in {FACTS.relative_to(ROOT)}: write its facts there first, with their sources"
        )
    known = models[hub_id]
    served = hub_id.partition("/")[2].lower()
    name, count, accelerator = flavor_of(known, hub_id)
    lines = [
        "  inferenceConfig:\n    flavors:\n",
        f"      - name: {name if count == 1 else f'{name}-x{count}'}\n",
        f"        accelerator: {accelerator}\n" if accelerator else "",
        f"        limits:\n          nvidia.com/gpu: {count}\n",
    ]
    return DRAFT.format(
        gated=GATED if known.get("gated") else "",
        name=served.replace(".", "--"),
        family=known["family"],
        served=served,
        hub_id=hub_id,
        flavor="".join(lines),
        facts="".join(written(facts_of(Base(known, "")))),
    )


def main(arguments: list[str] | None = None) -> int:
    """The script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a preset is stale")
    parser.add_argument("--draft", metavar="HUB_ID", help="print a first version of a preset")
    options = parser.parse_args(arguments)
    if options.draft:
        print(draft(options.draft), end="")
        return 0
    models, stale = known_models(), False
    for path in sorted(MODELS.glob("*.yaml")):
        text = path.read_text("utf-8")
        if (new := rewritten(text, models)) != text:
            stale = True
            print(f"{path.relative_to(ROOT)}: {'stale' if options.check else 'rewritten'}")
            if not options.check:
                path.write_text(new, "utf-8")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
