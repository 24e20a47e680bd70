"""How many bytes of KV cache a request takes on a GPU, and how many requests a cache has room for.

Held against start logs of engines (tests/data/fit_logs.json, docs/fit.md). What engines have in common: a full layer
keeps every token, a layer with a window as many tokens as the window and one batch, a recurrent layer pages of a
fixed size.
"""

from __future__ import annotations

import math

from msgspec import Struct

from renderer.fit.attention import Attention, Recurrent

VALUE_BYTES = {
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "q8_0": 34 / 32,
    "q4_0": 18 / 32,
    "nvfp4": 9 / 16,
}
"""Bytes of one value of the cache by its type, scales included."""
BLOCK = 16  # tokens of a page
_SPARSE_BYTES = 656  # of a token and layer of sparse MLA in 8 bits: 512 values, 16 of scales, 64 of 16 bits
_INDEX_GROUP = 128  # values of an indexer's key that share a scale of 4 bytes
_STATE_BYTES = 4  # a recurrent state is kept in 32 bits, what its convolution has seen in 16
_CLOSE = 1.25  # groups of layers are as large as the larger one where it is below this many times the smaller


class CacheSettings(Struct, frozen=True):
    """What an engine was told that changes its KV cache."""

    value_type: str = "auto"  # of VALUE_BYTES, or `auto`: what the family of the model defaults to
    tensor: int = 1  # GPUs that share each layer
    pipeline: int = 1  # groups of them that share the layers
    decode_context: int = 1  # GPUs of those that share the tokens
    batched_tokens: int = 2048  # tokens of one step, all requests together
    speculative_tokens: int = 0
    draft_layers: int = 0  # full layers that a draft head adds
    prefix_caching: bool = True
    window_padding: int = 0  # cells that windows are rounded up to; 0: to pages


class RequestCache(Struct, frozen=True):
    """The KV cache of requests on one GPU. Sizes in bytes."""

    token_bytes: float  # of each token of a request, in the layers that keep all of them
    fixed_bytes: float = 0  # of a request, however long
    window_bytes: float = 0  # of a token in the layers with a window
    window_tokens: int = 0  # tokens of a request that those keep
    page_tokens: int = 1  # tokens of a full layer's page: the whole pages of a request count

    def request_bytes(self, length: int) -> float:
        """The bytes of a request of `length` tokens."""
        whole = math.ceil(length / self.page_tokens) * self.page_tokens
        return whole * self.token_bytes + self.fixed_bytes + min(self.window_tokens, length + BLOCK) * self.window_bytes

    def requests(self, size: float, length: int) -> float:
        """How many requests of `length` tokens a cache of `size` bytes has room for."""
        return size / self.request_bytes(length)


def request_cache(attention: Attention, settings: CacheSettings) -> RequestCache:
    """What a request takes on each GPU."""
    if attention.is_latent:
        return _latent_need(attention, settings)
    width = VALUE_BYTES["bf16" if settings.value_type == "auto" else settings.value_type]
    heads = _heads_per_gpu(attention.kv_heads, settings.tensor)
    values = attention.head_dim + (attention.value_dim or attention.head_dim)
    layer_bytes = heads * values * width
    full_bytes = layer_bytes
    if attention.global_heads:
        global_values = 2 * attention.global_dim or values
        full_bytes = _heads_per_gpu(attention.global_heads, settings.tensor) * global_values * width
    full_layers = _layers_per_gpu(attention.full_layers, settings.pipeline) + settings.draft_layers
    if attention.recurrent:
        return _recurrent_need(attention.recurrent, settings, full_layers, full_bytes)
    return RequestCache(
        token_bytes=full_layers * full_bytes / settings.decode_context,
        window_bytes=_layers_per_gpu(attention.window_layers, settings.pipeline) * layer_bytes,
        window_tokens=_window_tokens(attention.window, settings) if attention.window_layers else 0,
        page_tokens=BLOCK,
    )


def _heads_per_gpu(heads: int, tensor: int) -> int:
    """Heads are shared out over the GPUs, and copied to all where there are fewer."""
    return max(1, math.ceil(heads / tensor))


def _layers_per_gpu(layers: int, pipeline: int) -> int:
    return math.ceil(layers / pipeline)


def _window_tokens(window: int, settings: CacheSettings) -> int:
    """The tokens of a request that a layer with a window keeps: those of the window, and of the step that is made."""
    if settings.window_padding:
        cells = window + settings.batched_tokens
        return math.ceil(cells / settings.window_padding) * settings.window_padding
    return math.ceil((window - 1 + settings.batched_tokens) / BLOCK) * BLOCK + BLOCK


def _latent_need(attention: Attention, settings: CacheSettings) -> RequestCache:
    """MLA: each GPU of a tensor parallel group has all of it. Sparse MLA defaults to 8 bits, and has keys of an
    indexer.
    """
    sparse = attention.index_dim > 0
    if sparse and settings.value_type in ("auto", "fp8"):
        layer_bytes: float = _SPARSE_BYTES
    else:
        width = VALUE_BYTES["bf16" if settings.value_type == "auto" else settings.value_type]
        layer_bytes = (attention.latent_dim + attention.rope_dim) * width
    index_bytes = attention.index_dim * (1 + 4 / _INDEX_GROUP)
    latent_layers = attention.full_layers + attention.window_layers
    layers = _layers_per_gpu(latent_layers, settings.pipeline) + settings.draft_layers
    if attention.recurrent:
        return _recurrent_need(attention.recurrent, settings, layers, layer_bytes)
    index_layers = _layers_per_gpu(attention.index_layers or attention.layers, settings.pipeline) if sparse else 0
    token_bytes = (layers * layer_bytes + index_layers * index_bytes) / settings.decode_context
    return RequestCache(token_bytes=token_bytes, page_tokens=BLOCK)


def _recurrent_need(recurrent: Recurrent, settings: CacheSettings, full_layers: int, full_bytes: float) -> RequestCache:
    """Full layers beside recurrent ones share pages: a page of a full layer has as many tokens as fit into the bytes
    of a state, layers are counted in groups of one size, and a request has some pages of each group of states.
    """
    page_tokens = BLOCK * math.ceil(_state_bytes(recurrent, settings.tensor) / (BLOCK * full_bytes))
    page_bytes = page_tokens * full_bytes
    layers = _layers_per_gpu(recurrent.layers, settings.pipeline)
    small, large = sorted((full_layers, layers))
    group = large if large < _CLOSE * small else small
    groups_of_states = math.ceil(layers / group)
    pages = groups_of_states * ((2 if settings.prefix_caching else 1) + settings.speculative_tokens)
    # Full layers that fill no whole group take the pages of one all the same.
    token_bytes = math.ceil(full_layers / group) * group * full_bytes
    return RequestCache(token_bytes=token_bytes, fixed_bytes=pages * page_bytes * group, page_tokens=page_tokens)


def _state_bytes(recurrent: Recurrent, tensor: int) -> int:
    """The bytes of a layer's state of one request on a GPU."""
    values = _heads_per_gpu(recurrent.value_heads, tensor)
    keys = _heads_per_gpu(recurrent.key_heads, tensor)
    state = values * recurrent.key_dim * recurrent.value_dim * _STATE_BYTES
    convolution = (2 * keys * recurrent.key_dim + values * recurrent.value_dim) * (recurrent.conv_kernel - 1) * 2
    return state + convolution
