"""What the formulas of the KV cache say of engines that printed it at their start."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from msgspec.structs import replace

from renderer.fit.budget import ACTIVATION_BYTES, activations_gib, cache_room
from renderer.fit.kv_cache import request_cache
from renderer.fit.verdict import ACTIVATIONS, FITS, judge_fit
from scripts.start_logs import GIB, LOGS, StartLog, settings_of

LARGE = 10_000  # tokens of a step; in smaller ones the logits of all requests take more than the activations of a layer
STEPS = sorted((log for log in LOGS if log.overhead is not None and log.step), key=lambda log: log.name)
FITTED, JUDGED = STEPS[::2], STEPS[1::2]


@pytest.mark.parametrize("log", [log for log in LOGS if log.kv_gib and log.kv_tokens], ids=lambda log: log.name)
def test_tokens_are_within_a_hundredth(log: StartLog) -> None:
    assert log.tokens == pytest.approx(log.kv_tokens, rel=0.01)


@pytest.mark.parametrize("log", [log for log in LOGS if log.requests], ids=lambda log: log.name)
def test_requests_at_once_are_within_a_hundredth(log: StartLog) -> None:
    size = log.kv_gib * GIB or log.kv_tokens * log.need.token_bytes
    assert log.need.requests(size, log.length) == pytest.approx(log.requests, rel=0.01)


@pytest.mark.parametrize("log", [log for log in LOGS if log.overhead is not None], ids=lambda log: log.name)
def test_what_is_left_over_is_within_seven_hundredths_of_the_card(log: StartLog) -> None:
    room = cache_room(log.question(0).budget, log.card_gib, log.weights_gib, activations_gib(log.step, log.width))
    assert room - log.kv_gib == pytest.approx(0, abs=0.07 * log.card_gib)


def bytes_of_a_value(log: StartLog) -> float:
    """What activations took for each token of the step and each value of a hidden state; 0 where it was not printed."""
    return log.activations_gib * GIB / (log.step * log.width)


def too_long(log: StartLog) -> int:
    """A request for which the cache that the engine made has no room, by less than a thousand tokens."""
    return 1024 * bisect_right(range(0, 100_000_000, 1024), log.kv_gib * GIB, key=log.need.request_bytes)


def test_activations_are_those_of_one_half_of_the_logs() -> None:
    """The largest of that half, rounded up to whole values of 16 bits."""
    largest = max(bytes_of_a_value(log) for log in FITTED if log.step >= LARGE)
    assert largest <= ACTIVATION_BYTES < largest + 2


@pytest.mark.parametrize("log", [log for log in JUDGED if log.step >= LARGE], ids=lambda log: log.name)
def test_activations_are_near_in_the_other_half(log: StartLog) -> None:
    """Up to half as much again, where the layers are narrow for the width; little below, where they are wide."""
    assert 0.9 < activations_gib(log.step, log.width) / log.activations_gib < 1.5


@pytest.mark.parametrize("log", JUDGED, ids=lambda log: log.name)
def test_nothing_fits_where_there_was_no_room_for_it(log: StartLog) -> None:
    assert judge_fit(log.question(too_long(log))).kind != FITS


def test_without_activations_something_would() -> None:
    questions = {log.name: log.question(too_long(log)) for log in STEPS}
    wrong = {name for name, question in questions.items() if judge_fit(replace(question, step=0)).kind == FITS}
    assert wrong == {"llama8b-3090-20k", "llama8b-3090-29k", "qwen2.5-1.5b-t4-32k"}
    assert {judge_fit(questions[name]).kind for name in wrong} == {ACTIVATIONS}


def test_all_logs_are_asked_something() -> None:
    assert (len(LOGS), len(FITTED), len(JUDGED)) == (23, 7, 6)
    assert all(log.kv_gib or (log.kv_tokens and log.requests) for log in LOGS)


def test_a_cache_for_the_whole_context() -> None:
    """llama.cpp makes the whole cache at its start: 9,216 MiB of full layers and 90 MiB of windows, for two slots."""
    (log,) = [log for log in LOGS if log.backend == "llamacpp"]
    need = request_cache(log.attention, settings_of(log))
    assert 2 * 131072 * need.token_bytes == 9216 * 2**20
    assert 2 * need.window_tokens * need.window_bytes == 90 * 2**20


def test_decode_context_parallelism_shares_a_latent_cache() -> None:
    """The log of Kimi K2 says 5,721,088 tokens of the same GiB over eight GPUs, against 715,072."""
    (log,) = [log for log in LOGS if log.name.startswith("kimi")]
    need = request_cache(log.attention, settings_of(log, decode_context=8))
    assert log.kv_gib * GIB / need.token_bytes == pytest.approx(5_721_088, rel=0.01)
