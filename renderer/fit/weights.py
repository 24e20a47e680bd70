"""How many GiB of weights each GPU holds."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from renderer.kubernetes.json_values import number_at, text_at

GIB = 2**30
_PARAMETERS = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKMBT]?)")
_UNITS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
# Bytes of a parameter by what `facts.precision` or `facts.quantization` says, scales included.
_PARAMETER_BYTES = {
    "bf16": 2.0, "bfloat16": 2.0, "fp16": 2.0, "float16": 2.0, "fp32": 4.0, "fp8": 1.0, "int8": 1.0, "w8a8": 1.0,
    "mxfp4": 0.531, "nvfp4": 0.5625, "int4": 0.52, "awq": 0.52, "gptq": 0.52, "w4a16": 0.52,
}  # fmt: skip


class ModelWeights(Struct, frozen=True):
    """The weights of a model."""

    gib: float
    is_measured: bool  # the sum of the files, not what follows from the number of parameters


def read_weights(facts: Mapping[str, object]) -> ModelWeights | None:
    """The weights as `spec.facts` of an OpenModel says; None where it says neither their size nor how it follows."""
    if size := number_at(facts, "weightsGiB"):
        return ModelWeights(size, is_measured=True)
    width = _PARAMETER_BYTES.get(text_at(facts, "quantization").lower()) or _PARAMETER_BYTES.get(
        text_at(facts, "precision").lower()
    )
    number = _PARAMETERS.fullmatch(str(facts.get("parameters", "")))
    if not width or not number:
        return None
    return ModelWeights(float(number[1]) * _UNITS[number[2]] * width / GIB, is_measured=False)


def missing_weights_fact(facts: Mapping[str, object]) -> str:
    """The key of `spec.facts` for want of which `read_weights` knows nothing."""
    formats = [text_at(facts, key) for key in ("precision", "quantization")]
    return "precision" if "parameters" in facts and not any(formats) else "weightsGiB"


def weights_per_gpu(weights: ModelWeights, *, tensor: int, pipeline: int) -> float:
    """The GiB that each GPU holds: a replica shares them, data parallel ranks repeat them."""
    return weights.gib / (tensor * pipeline)
