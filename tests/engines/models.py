"""Models with random weights and a real tokenizer, for engines that are asked whether they work, not what they know.

A GGUF file of the architecture `llama`, with the sizes that cost memory and time as a trial wants them. `struct` alone
writes it: the format is a header, keys with values, and arrays, so the packages `gguf` and `numpy` are not needed. What
the model writes is letters and blanks, and nothing that would end its text.
"""

from __future__ import annotations

import math
import random
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

VERSION = 3
ALIGNMENT = 32
UINT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 2, 4, 5, 6, 7, 8, 9  # types of values
F32, F16 = 0, 1  # types of tensors
NORMAL, CONTROL = 1, 3  # types of tokens
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
BYTES = 256
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# The upper byte of a half: sign, exponent, two bits of the fraction. All weights lie between 1/64 and 1/32, or between
# 8 and 16, with either sign.
SMALL = bytes(byte & 0x83 | 0x24 for byte in range(256))
LARGE = bytes(byte & 0x83 | 0x48 for byte in range(256))

IMAGE = 28  # pixels of a side
IMAGE_TOKENS = 4  # two by two patches
_SIGHT = 64  # width of a projector's encoder

Value: TypeAlias = bool | int | float | str | Sequence[int] | Sequence[str]


class Shape(NamedTuple):
    """The sizes of a model. The cache takes 4 * `layers` * `cache_heads` * `head` bytes for a token."""

    width: int = 128
    layers: int = 2
    heads: int = 2
    cache_heads: int = 2
    head: int = 64
    vocabulary: int = 512
    context: int = 32768
    experts: int = 0  # of each layer in a checkpoint, two of which a token asks; 0: there is no choice
    labels: int = 0  # of a checkpoint that classifies, 1 of one that ranks; 0: it writes

    @property
    def inner(self) -> int:
        return 2 * self.width


class Tensor(NamedTuple):
    """One array of a model: its dimensions, the fastest first, and its type."""

    name: str
    dimensions: tuple[int, ...]
    type: int

    @property
    def size(self) -> int:
        return math.prod(self.dimensions) * (4 if self.type == F32 else 2)


def write_gguf(path: Path, shape: Shape, seed: int = 0) -> None:
    """Writes the model. The same shape and seed give the same file."""
    values = [_string(key) + _value(value) for key, value in _values(shape).items()]
    _write(path, values, list(_tensors(shape)), random.Random(seed))


def write_split_gguf(folder: Path, name: str, shape: Shape, count: int) -> None:
    """Writes the model as so many files, NAME-00001-of-00003.gguf and so on, each with some of its tensors; the first
    has all else.
    """
    tensors = list(_tensors(shape))
    values = [_string(key) + _value(value) for key, value in _values(shape).items()]
    for number in range(count):
        split = [
            _string("split.no") + struct.pack("<IH", UINT16, number),
            _string("split.count") + struct.pack("<IH", UINT16, count),
            _string("split.tensors.count") + struct.pack("<Ii", INT32, len(tensors)),
        ]
        path = folder / f"{name}-{number + 1:05}-of-{count:05}.gguf"
        _write(path, [*values, *split] if number == 0 else split, tensors[number::count], random.Random(number))


def write_projector(path: Path, width: int) -> None:
    """Writes a projector for models of that width, by which they read images of IMAGE by IMAGE pixels: an encoder of
    two layers, of the kind that LLaVA has.
    """
    values: Mapping[str, Value] = {
        "general.architecture": "clip",
        "clip.has_vision_encoder": True,
        "clip.projector_type": "mlp",
        "clip.use_gelu": True,
        "clip.vision.image_size": IMAGE,
        "clip.vision.patch_size": IMAGE // 2,
        "clip.vision.embedding_length": _SIGHT,
        "clip.vision.feed_forward_length": 2 * _SIGHT,
        "clip.vision.block_count": 2,
        "clip.vision.attention.head_count": 2,
        "clip.vision.attention.layer_norm_epsilon": 1e-5,
        "clip.vision.projection_dim": width,
    }
    shades = [_string(f"clip.vision.image_{key}") + _halves_of_one() for key in ("mean", "std")]
    encoded = [_string(key) + _value(value) for key, value in values.items()]
    _write(path, [*encoded, *shades], list(_projector_tensors(width)), random.Random(0))


def _halves_of_one() -> bytes:
    """An array of 0.5 for each color."""
    return struct.pack("<IIQ3f", ARRAY, FLOAT32, 3, 0.5, 0.5, 0.5)


def _projector_tensors(width: int) -> Iterator[Tensor]:
    yield Tensor("v.class_embd", (_SIGHT,), F32)
    yield Tensor("v.patch_embd.weight", (IMAGE // 2, IMAGE // 2, 3, _SIGHT), F16)
    yield Tensor("v.position_embd.weight", (_SIGHT, IMAGE_TOKENS + 1), F16)
    for layer in range(2):
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            yield Tensor(f"v.blk.{layer}.{part}.weight", (_SIGHT, _SIGHT), F16)
        for part in ("ln1", "ln2"):
            yield Tensor(f"v.blk.{layer}.{part}.weight", (_SIGHT,), F32)
            yield Tensor(f"v.blk.{layer}.{part}.bias", (_SIGHT,), F32)
        yield Tensor(f"v.blk.{layer}.ffn_up.weight", (_SIGHT, 2 * _SIGHT), F16)
        yield Tensor(f"v.blk.{layer}.ffn_down.weight", (2 * _SIGHT, _SIGHT), F16)
    for number, inputs in ((0, _SIGHT), (2, width)):
        yield Tensor(f"mm.{number}.weight", (inputs, width), F16)
        yield Tensor(f"mm.{number}.bias", (width,), F32)


def png(shade: int) -> bytes:
    """An image of IMAGE by IMAGE pixels of one gray."""
    lines = zlib.compress((b"\0" + bytes([shade]) * IMAGE) * IMAGE)
    header = struct.pack(">II", IMAGE, IMAGE) + bytes((8, 0, 0, 0, 0))  # eight bits of gray, nothing else
    parts = ((b"IHDR", header), (b"IDAT", lines), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _write(path: Path, values: Sequence[bytes], tensors: Sequence[Tensor], weights: random.Random) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<4sIQQ", b"GGUF", VERSION, len(tensors), len(values)))
        file.write(b"".join(values))
        offset = 0
        for tensor in tensors:
            count = len(tensor.dimensions)
            head = struct.pack(f"<I{count}QIQ", count, *tensor.dimensions, tensor.type, offset)
            file.write(_string(tensor.name) + head)
            offset += tensor.size + _padding(tensor.size)
        file.write(bytes(_padding(file.tell())))
        for tensor in tensors:
            file.write(_content(tensor, weights) + bytes(_padding(tensor.size)))


def byte_tokens() -> list[str]:
    """How byte-level BPE spells each byte: itself where it is printed, else a character from 256 on."""
    printed = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = (chr(BYTES + number) for number in range(BYTES))
    return [chr(byte) if byte in printed else next(others) for byte in range(BYTES)]


def _values(shape: Shape) -> Mapping[str, Value]:
    tokens = [*byte_tokens(), *SPECIAL]
    tokens += [f"<|unused {number}|>" for number in range(shape.vocabulary - len(tokens))]
    return {
        "general.architecture": "llama",
        "general.name": "random",
        "llama.context_length": shape.context,
        "llama.embedding_length": shape.width,
        "llama.block_count": shape.layers,
        "llama.feed_forward_length": shape.inner,
        "llama.attention.head_count": shape.heads,
        "llama.attention.head_count_kv": shape.cache_heads,
        "llama.attention.key_length": shape.head,
        "llama.attention.value_length": shape.head,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": shape.head,
        "llama.vocab_size": shape.vocabulary,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [NORMAL] * BYTES + [CONTROL] * (len(tokens) - BYTES),
        "tokenizer.ggml.merges": ["t h"],
        "tokenizer.ggml.bos_token_id": BYTES,
        "tokenizer.ggml.eos_token_id": BYTES + SPECIAL.index("<|im_end|>"),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": CHAT_TEMPLATE,
    }


def _tensors(shape: Shape) -> Iterator[Tensor]:
    queries, cached = shape.heads * shape.head, shape.cache_heads * shape.head
    yield Tensor("token_embd.weight", (shape.width, shape.vocabulary), F16)
    yield Tensor("output_norm.weight", (shape.width,), F32)
    yield Tensor("output.weight", (shape.width, shape.vocabulary), F16)
    for layer in range(shape.layers):
        yield Tensor(f"blk.{layer}.attn_norm.weight", (shape.width,), F32)
        yield Tensor(f"blk.{layer}.attn_q.weight", (shape.width, queries), F16)
        yield Tensor(f"blk.{layer}.attn_k.weight", (shape.width, cached), F16)
        yield Tensor(f"blk.{layer}.attn_v.weight", (shape.width, cached), F16)
        yield Tensor(f"blk.{layer}.attn_output.weight", (queries, shape.width), F16)
        yield Tensor(f"blk.{layer}.ffn_norm.weight", (shape.width,), F32)
        yield Tensor(f"blk.{layer}.ffn_gate.weight", (shape.width, shape.inner), F16)
        yield Tensor(f"blk.{layer}.ffn_up.weight", (shape.width, shape.inner), F16)
        yield Tensor(f"blk.{layer}.ffn_down.weight", (shape.inner, shape.width), F16)


def _content(tensor: Tensor, weights: random.Random) -> bytes:
    if tensor.type == F32:
        return struct.pack("<f", 1.0) * math.prod(tensor.dimensions)
    if tensor.name != "output.weight":
        return halves(math.prod(tensor.dimensions), SMALL, weights)
    width, rows = tensor.dimensions
    return output_weights(rows, width, weights)


def output_weights(rows: int, width: int, weights: random.Random) -> bytes:
    """The rows of the output layer: large for letters and the blank, 0 for all else, which is hardly ever written."""
    written = {byte for byte in range(BYTES) if chr(byte).isascii() and (chr(byte).isalpha() or chr(byte) == " ")}
    content = b"".join(halves(width, LARGE, weights) if row in written else bytes(2 * width) for row in range(BYTES))
    return content + bytes(2 * width * (rows - BYTES))


def halves(count: int, upper: bytes, weights: random.Random) -> bytes:
    """So many random numbers of two bytes, whose upper byte is one of these."""
    content = bytearray(weights.randbytes(2 * count))
    content[1::2] = content[1::2].translate(upper)
    return bytes(content)


def _padding(size: int) -> int:
    return -size % ALIGNMENT


def _string(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _value(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", UINT32, value)
    if isinstance(value, float):
        return struct.pack("<If", FLOAT32, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + _string(value)
    kind = STRING if isinstance(value[0], str) else INT32
    items = (_string(item) if isinstance(item, str) else struct.pack("<i", item) for item in value)
    return struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(items)
