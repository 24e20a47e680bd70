"""Start logs of real engines, as tests/data/fit_logs.json has them: one record each, with what the formulas say."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import Attention, read_attention
from renderer.fit.budget import Budget
from renderer.fit.kv_cache import CacheSettings, RequestCache, request_cache
from renderer.fit.verdict import FitQuestion
from renderer.fit.weights import ModelWeights
from renderer.load.preset_files import preset

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "fit_logs.json"
GIB = 2**30


class StartLog:
    """What an engine printed at its start. Sizes in GiB of one GPU; 0 and None: not printed."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        self.name: str = record["name"]
        self.backend: str = record["backend"]
        self.card_gib: float = record.get("cardGiB", 0)
        self.weights_gib: float = record.get("weightsGiB", 0)
        self.kv_gib: float = record.get("kvGiB", 0)
        self.kv_tokens: int = record.get("kvTokens", 0)
        self.requests: float = record.get("requests", 0)
        self.length: int = record.get("length", 0)
        self.step: int = record.get("batchedTokens", 0)  # tokens
        self.activations_gib: float = record.get("activationsGiB", 0)
        self.width: int = record["attention"]["hiddenSize"]

    @cached_property
    def attention(self) -> Attention:
        """The geometry of the model."""
        attention = read_attention(self.record)
        if attention is None:
            raise SystemExit(f"{DATA}: {self.name} has no whole attention")
        return attention

    @cached_property
    def need(self) -> RequestCache:
        """What a request takes, as the formulas say."""
        return request_cache(self.attention, settings_of(self))

    @property
    def tokens(self) -> float:
        """The tokens that the formulas make of the printed GiB, counted as that version of the engine counts them."""
        size = self.kv_gib * GIB
        match self.record.get("tokensCount"):
            case "requests times length":
                return self.need.requests(size, self.length) * self.length
            case "all layers alike":
                return size / (self.need.token_bytes / self.attention.full_layers * self.attention.layers)
            case _:
                return size / self.need.token_bytes

    @property
    def overhead(self) -> float | None:
        """What is neither weights nor cache of the part that the engine takes; None where that is not printed."""
        if not (self.card_gib and self.weights_gib and self.kv_gib and "fraction" in self.record):
            return None
        return self.card_gib * float(self.record["fraction"]) - self.weights_gib - self.kv_gib

    def question(self, length: int) -> FitQuestion:
        """Whether a request of `length` tokens fits, of a log that has an overhead."""
        memory = preset(f"backends/{self.backend}").value["spec"]["engine"]["memory"]
        return FitQuestion(
            AcceleratorType(self.record["accelerator"], "", self.card_gib),
            Budget(memory["budget"], self.record["fraction"]),
            ModelWeights(self.weights_gib * self.record["tensor"], is_measured=True),
            settings_of(self),
            self.attention,
            length,
            width=self.width,
            step=self.step,
        )


def settings_of(log: StartLog, **more: Any) -> CacheSettings:
    """What the engine of a log was told."""
    record = log.record
    settings = CacheSettings(
        value_type={"f16": "fp16"}.get(record["valueType"], record["valueType"]),
        tensor=record["tensor"],
        batched_tokens=record.get("batchedTokens", 2048),
        window_padding=256 if log.backend == "llamacpp" else 0,
    )
    return replace(settings, **more)


LOGS = [StartLog(record) for record in json.loads(DATA.read_text("utf-8"))]
