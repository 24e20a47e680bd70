"""What the facts of a model say of its attention, as far as the KV cache follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from renderer.kubernetes.json_values import map_at, number_at


class Recurrent(Struct, frozen=True):
    """Layers that hold a state of a fixed size for each request: Gated DeltaNet, Mamba."""

    layers: int
    value_heads: int
    key_heads: int
    key_dim: int
    value_dim: int
    conv_kernel: int = 4  # tokens that the convolution sees, all but one of which are kept


class Attention(Struct, frozen=True):
    """The geometry of a model's attention. 0: it has none of that."""

    layers: int  # hidden layers of all kinds that keep something of a request
    full_layers: int  # those that keep every token
    kv_heads: int = 0  # of the layers with a window, and of the full ones where global_heads is 0
    head_dim: int = 0
    value_dim: int = 0  # of a head's value, where it is another than head_dim
    window: int = 0  # tokens that the other layers keep
    global_heads: int = 0  # of the full layers
    global_dim: int = 0
    latent_dim: int = 0  # MLA: the compressed key and value
    rope_dim: int = 0
    index_dim: int = 0  # of a sparse indexer's keys
    index_layers: int = 0
    recurrent: Recurrent | None = None

    @property
    def is_latent(self) -> bool:
        """Whether keys and values are compressed into one vector (MLA)."""
        return self.latent_dim > 0

    @property
    def window_layers(self) -> int:
        """Layers that keep the tokens of a window alone."""
        return self.layers - self.full_layers - (self.recurrent.layers if self.recurrent else 0)


def read_attention(facts: Mapping[str, Any]) -> Attention | None:
    """The attention that `spec.facts` of an OpenModel describes; None where something that counts is missing."""
    attention: Mapping[str, Any] = facts.get("attention") or {}
    numbers = {_FIELDS[field]: int(value) for field, value in attention.items() if field in _FIELDS}
    recurrent: Mapping[str, Any] = attention.get("recurrent") or {}
    states = {_STATE_FIELDS[field]: int(value) for field, value in recurrent.items() if field in _STATE_FIELDS}
    if recurrent and not recurrent.keys() >= _STATE_NEEDS:
        return None
    if "full_layers" not in numbers:
        if "window" in numbers:
            return None
        numbers["full_layers"] = numbers.get("layers", 0) - states.get("layers", 0)
    record = Attention(**{"layers": 0, **numbers}, recurrent=Recurrent(**states) if recurrent else None)
    is_known = record.full_layers > 0 and (record.is_latent or (record.kv_heads and record.head_dim))
    is_whole = record.window_layers == 0 or (record.window_layers > 0 and record.window > 0)
    return record if record.layers and is_known and is_whole else None


def missing_attention_fact(facts: Mapping[str, object]) -> str:
    """The key of `spec.facts` for want of which `read_attention` knows nothing; '' where it knows enough."""
    attention, recurrent = map_at(facts, "attention"), map_at(facts, "attention", "recurrent")
    if read_attention(facts):
        return ""
    if recurrent:
        return _first_absent(recurrent, _STATE_NEEDS, "attention.recurrent.")
    if "slidingWindow" in attention:
        return _first_absent(attention, ("fullLayers", *_HEADS), "attention.")
    if 0 < number_at(attention, "fullLayers") < number_at(attention, "layers") and "headDim" in attention:
        return "attention.slidingWindow or attention.recurrent"  # what the other layers keep
    return _first_absent(attention, _HEADS, "attention.") if attention else "attention"


def _first_absent(node: Mapping[str, object], fields: Iterable[str], prefix: str) -> str:
    """The first of the fields that a map does not have, with what stands before it; `attention` where it has all."""
    return next((f"{prefix}{field}" for field in fields if field not in node), "attention")


_FIELDS = {
    "layers": "layers",
    "fullLayers": "full_layers",
    "kvHeads": "kv_heads",
    "headDim": "head_dim",
    "valueDim": "value_dim",
    "slidingWindow": "window",
    "globalKVHeads": "global_heads",
    "globalHeadDim": "global_dim",
    "latentDim": "latent_dim",
    "ropeDim": "rope_dim",
    "indexDim": "index_dim",
    "indexLayers": "index_layers",
}
"""Fields of Attention by those of `facts.attention`."""
_STATE_FIELDS = {
    "layers": "layers",
    "valueHeads": "value_heads",
    "keyHeads": "key_heads",
    "keyDim": "key_dim",
    "valueDim": "value_dim",
    "convKernel": "conv_kernel",
}
_HEADS = ("layers", "kvHeads", "headDim")
_STATE_NEEDS = dict.fromkeys(("layers", "valueHeads", "keyHeads", "keyDim", "valueDim")).keys()
