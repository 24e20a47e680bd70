"""Checkpoints with random weights and a real tokenizer, as a hub has them: configuration, tokenizer, safetensors.

The architecture is Llama's, or Mixtral's where there are experts, with the sizes of a `Shape`; the vocabulary and the
weights are those of the GGUF files.
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engines.models import BYTES, CHAT_TEMPLATE, LARGE, SMALL, SPECIAL, Shape, byte_tokens, halves, output_weights

ADAPTED = ("q_proj", "v_proj")
RANK = 8
ASKED = 2  # experts that a token asks
DENSE, EXPERT = ("gate_proj", "up_proj", "down_proj"), ("w1", "w3", "w2")
START, END = BYTES, BYTES + SPECIAL.index("<|im_end|>")


def write_checkpoint(folder: Path, shape: Shape, seed: int = 0) -> None:
    """Writes the model. The same shape and seed give the same files."""
    folder.mkdir()
    tokens = [*byte_tokens(), *SPECIAL]
    special = [_added(BYTES + number, token) for number, token in enumerate(SPECIAL)]
    tokenizer = {
        "version": "1.0",
        "added_tokens": special,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": []},
    }
    _write(folder / "tokenizer.json", tokenizer)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL[0],
        "eos_token": SPECIAL[2],
        "chat_template": CHAT_TEMPLATE,
        "model_max_length": shape.context,
    }
    _write(folder / "tokenizer_config.json", settings)
    _write(folder / "generation_config.json", {"bos_token_id": START, "eos_token_id": END})
    _write(folder / "config.json", _configuration(shape))
    _write_tensors(folder / "model.safetensors", _tensors(shape, random.Random(seed)))


def write_adapter(folder: Path, shape: Shape, seed: int = 0) -> None:
    """Writes a LoRA adapter for the model of that shape."""
    folder.mkdir()
    weights = random.Random(seed)
    configuration = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": RANK,
        "lora_alpha": 2 * RANK,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": ADAPTED,
        "base_model_name_or_path": "random",
    }
    _write(folder / "adapter_config.json", configuration)
    sizes = dict(zip(ADAPTED, (shape.heads * shape.head, shape.cache_heads * shape.head), strict=True))
    tensors: dict[str, tuple[tuple[int, ...], bytes]] = {}
    for layer in range(shape.layers):
        for name, size in sizes.items():
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            tensors[f"{prefix}.lora_A.weight"] = _random((RANK, shape.width), weights, LARGE)
            tensors[f"{prefix}.lora_B.weight"] = _random((size, RANK), weights)
    _write_tensors(folder / "adapter_model.safetensors", tensors)


def _configuration(shape: Shape) -> Mapping[str, Any]:
    labels = {"id2label": {str(number): f"LABEL_{number}" for number in range(shape.labels)}, "pad_token_id": END}
    architecture = "MixtralForCausalLM" if shape.experts else "LlamaForCausalLM"
    experts = {"num_local_experts": shape.experts, "num_experts_per_tok": ASKED, "sliding_window": None}
    return {
        "architectures": ["LlamaForSequenceClassification" if shape.labels else architecture],
        "model_type": "mixtral" if shape.experts else "llama",
        **(experts if shape.experts else {}),
        **(labels if shape.labels else {}),
        "torch_dtype": "bfloat16",
        "hidden_act": "silu",
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.cache_heads,
        "head_dim": shape.head,
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": shape.context,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "bos_token_id": START,
        "eos_token_id": END,
    }


def _tensors(shape: Shape, weights: random.Random) -> dict[str, tuple[tuple[int, ...], bytes]]:
    """Name → dimensions, the slowest first, and content, of halves."""
    queries, cached = shape.heads * shape.head, shape.cache_heads * shape.head
    output = (shape.vocabulary, shape.width), output_weights(shape.vocabulary, shape.width, weights)
    scores = _random((shape.labels, shape.width), weights, LARGE)
    tensors = {
        "model.embed_tokens.weight": _random((shape.vocabulary, shape.width), weights),
        "model.norm.weight": _ones(shape.width),
        **({"score.weight": scores} if shape.labels else {"lm_head.weight": output}),
    }
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}"
        tensors[f"{prefix}.input_layernorm.weight"] = _ones(shape.width)
        tensors[f"{prefix}.post_attention_layernorm.weight"] = _ones(shape.width)
        for name, size in (("q_proj", queries), ("k_proj", cached), ("v_proj", cached)):
            tensors[f"{prefix}.self_attn.{name}.weight"] = _random((size, shape.width), weights)
        tensors[f"{prefix}.self_attn.o_proj.weight"] = _random((shape.width, queries), weights)
        tensors |= _experts(shape, prefix, weights) if shape.experts else _inner(shape, f"{prefix}.mlp", DENSE, weights)
    return tensors


def _experts(shape: Shape, layer: str, weights: random.Random) -> dict[str, tuple[tuple[int, ...], bytes]]:
    prefix = f"{layer}.block_sparse_moe"
    tensors = {f"{prefix}.gate.weight": _random((shape.experts, shape.width), weights, LARGE)}
    for number in range(shape.experts):
        tensors |= _inner(shape, f"{prefix}.experts.{number}", EXPERT, weights)
    return tensors


def _inner(
    shape: Shape, prefix: str, names: tuple[str, str, str], weights: random.Random
) -> dict[str, tuple[tuple[int, ...], bytes]]:
    """The inner layers: two that go up, one that goes down."""
    *up, down = names
    tensors = {f"{prefix}.{name}.weight": _random((shape.inner, shape.width), weights) for name in up}
    return {**tensors, f"{prefix}.{down}.weight": _random((shape.width, shape.inner), weights)}


def _random(dimensions: tuple[int, ...], weights: random.Random, sizes: bytes = SMALL) -> tuple[tuple[int, ...], bytes]:
    return dimensions, halves(math.prod(dimensions), sizes, weights)


def _ones(count: int) -> tuple[tuple[int, ...], bytes]:
    return (count,), struct.pack("<e", 1.0) * count


def _added(number: int, token: str) -> Mapping[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": token, "special": True, **flags}


def _write_tensors(path: Path, tensors: Mapping[str, tuple[tuple[int, ...], bytes]]) -> None:
    """Writes a file of safetensors: the length of a header, the header as JSON, the contents in its order."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, (dimensions, content) in tensors.items():
        span = [offset, offset + len(content)]
        header[name] = {"dtype": "F16", "shape": dimensions, "data_offsets": span}
        offset = span[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(content for _, content in tensors.values())


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), "utf-8")
