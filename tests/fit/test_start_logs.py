"""What the formulas of the KV cache say of engines that printed it at their start."""

from __future__ import annotations

import pytest

from renderer.fit.kv_cache import request_cache
from scripts.start_logs import GIB, LOGS, StartLog, settings_of


@pytest.mark.parametrize("log", [log for log in LOGS if log.kv_gib and log.kv_tokens], ids=lambda log: log.name)
def test_tokens_are_within_a_hundredth(log: StartLog) -> None:
    assert log.tokens == pytest.approx(log.kv_tokens, rel=0.01)


@pytest.mark.parametrize("log", [log for log in LOGS if log.requests], ids=lambda log: log.name)
def test_requests_at_once_are_within_a_hundredth(log: StartLog) -> None:
    size = log.kv_gib * GIB or log.kv_tokens * log.need.token_bytes
    assert log.need.requests(size, log.length) == pytest.approx(log.requests, rel=0.01)


@pytest.mark.parametrize("log", [log for log in LOGS if log.overhead is not None], ids=lambda log: log.name)
def test_what_is_left_over_is_within_seven_hundredths_of_the_card(log: StartLog) -> None:
    assert log.overhead is not None
    assert log.room - log.kv_gib == pytest.approx(0, abs=0.07 * log.card_gib)


def test_all_logs_are_asked_something() -> None:
    assert len(LOGS) == 15
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
