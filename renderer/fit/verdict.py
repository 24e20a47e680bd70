"""Whether a model fits on accelerators of a type, and the first change by which it would."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import Attention
from renderer.fit.budget import Budget, activations_gib, cache_room
from renderer.fit.kv_cache import CacheSettings, request_cache
from renderer.fit.weights import GIB, ModelWeights, weights_per_gpu

FITS, TIGHT, CONTEXT, WEIGHTS = "fits", "tight", "context does not fit", "weights do not fit"
ACTIVATIONS = "tight: activations"
"""It would fit, but the activations of a step may take what a request needs."""
UNCHECKED = "not checked"
"""The weights are not known."""
FAILS, UNKNOWN = "does not fit", "not known"
MARGIN = 0.05
"""The part of an accelerator's memory within which nobody knows (docs/fit.md)."""


class FitQuestion(Struct, frozen=True):
    """A model on accelerators of a type, as an engine would run it."""

    accelerator: AcceleratorType
    budget: Budget
    weights: ModelWeights
    settings: CacheSettings
    attention: Attention | None = None  # None: what a request takes is not known
    length: int = 0  # tokens of the longest request, 0 where nobody says it
    heads: int = 0  # of the attention, which accelerators share out alike; 0 where nobody says it
    draft: Attention | None = None  # of a draft model beside it, whose weights are among `weights`
    width: int = 0  # of a hidden state; 0 where nobody says it
    step: int = 0  # tokens of one step, all requests together; 0 where nobody says it


class FitVerdict(Struct, frozen=True):
    """The answer, with its figures in GiB of one accelerator."""

    kind: str
    weights_gib: float
    room_gib: float  # for the KV cache
    sure_gib: float  # of it, what is left for certain: without the margin and what activations take beyond OVERHEAD
    request_gib: float = 0  # of the longest request; 0 where it is not known
    requests: float = 0  # such requests at once
    length: int = 0  # tokens of it
    missing: str = ""  # key of `spec.facts` for want of which the weights, or the longest request, are not known


def judge_fit(question: FitQuestion) -> FitVerdict:
    """Whether weights and one request of the longest context fit, as engines ask at their start."""
    card, settings = question.accelerator.memory_gib, question.settings
    weights = weights_per_gpu(question.weights, tensor=settings.tensor, pipeline=settings.pipeline)
    room, margin = cache_room(question.budget, card, weights), MARGIN * card
    activations = activations_gib(question.step, question.width)
    sure = cache_room(question.budget, card, weights, activations) - margin
    if room < -margin:
        return FitVerdict(WEIGHTS, weights, room, sure)
    if question.attention is None or not question.length:
        kind = TIGHT if room < margin else ACTIVATIONS if sure < 0 else FITS
        return FitVerdict(kind, weights, room, sure)
    length = question.length
    request = request_gib(question, length)
    if request - room > margin:
        kind = CONTEXT
    elif request > room - margin:
        kind = TIGHT
    else:
        kind = ACTIVATIONS if request > sure else FITS
    return FitVerdict(kind, weights, room, sure, request, room / request, length)


def request_gib(question: FitQuestion, length: int) -> float:
    """The GiB of KV cache that a request of `length` tokens takes on an accelerator, with that of a draft model."""
    size = 0.0
    for attention in (question.attention, question.draft):
        if attention:
            size += request_cache(attention, question.settings).request_bytes(length)
    return size / GIB


def measured_verdict(question: FitQuestion, tokens: int) -> FitVerdict:
    """The answer where an engine said how many tokens its cache has room for."""
    verdict = judge_fit(question)
    if not question.length:
        return replace(verdict, kind=FITS)
    requests = tokens / question.length
    return replace(verdict, kind=FITS if requests >= 1 else CONTEXT, requests=requests, length=question.length)


def outcome(kind: str) -> str:
    """The kind of a verdict, '' for none, as one of FITS, TIGHT, FAILS and UNKNOWN."""
    if kind in (CONTEXT, WEIGHTS):
        return FAILS
    if kind in (TIGHT, ACTIVATIONS):
        return TIGHT
    return FITS if kind == FITS else UNKNOWN


def describe_verdict(verdict: FitVerdict) -> str:
    """The answer for people, in a few words."""
    if verdict.kind == UNCHECKED:
        return f"{UNCHECKED}: facts.{verdict.missing} is missing"
    if verdict.missing and verdict.kind != WEIGHTS:
        weights = "the weights fit" if verdict.kind == FITS else f"the weights are {verdict.kind}"
        return f"{weights}, a request is {UNCHECKED}: facts.{verdict.missing} is missing"
    if verdict.kind == CONTEXT:
        return f"a request of {verdict.length:,} tokens does not fit"
    if verdict.kind == FITS and verdict.requests:
        return f"fits, {verdict.requests:.1f} requests of {verdict.length:,} tokens at once"
    if verdict.length:
        word, colon, why = verdict.kind.partition(":")
        return f"{word} at {verdict.length:,} tokens{colon}{why}"
    return verdict.kind
