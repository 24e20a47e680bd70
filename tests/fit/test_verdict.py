"""Whether a model fits, and the first change by which it would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import Attention, missing_attention_fact, read_attention
from renderer.fit.budget import FREE_BEFORE, REST, TOTAL, Budget, cache_room
from renderer.fit.kv_cache import CacheSettings, request_cache
from renderer.fit.remedies import Remedy, first_remedy
from renderer.fit.verdict import (
    ACTIVATIONS,
    CONTEXT,
    FITS,
    MARGIN,
    TIGHT,
    UNCHECKED,
    WEIGHTS,
    FitQuestion,
    FitVerdict,
    describe_verdict,
    judge_fit,
    measured_verdict,
)
from renderer.fit.weights import ModelWeights, missing_weights_fact, read_weights

CARD = AcceleratorType("card-80g", "maker", 80.0, fp8=True)
DENSE = Attention(layers=32, full_layers=32, kv_heads=8, head_dim=128)  # 128 KiB a token
QUESTION = FitQuestion(CARD, Budget(TOTAL, 0.9), ModelWeights(16, is_measured=True), CacheSettings(), DENSE, 8192)


@pytest.mark.parametrize(
    ("length", "kind"),
    [(8192, FITS), (380_000, FITS), (430_000, TIGHT), (460_000, TIGHT), (500_000, CONTEXT)],
)
def test_kinds_by_length(length: int, kind: str) -> None:
    assert judge_fit(replace(QUESTION, length=length)).kind == kind  # 52.8 GiB are left: 432,537 tokens


@pytest.mark.parametrize(
    ("gib", "kind"), [(60, FITS), (66, TIGHT), (71.5, TIGHT), (72, CONTEXT), (74, WEIGHTS), (90, WEIGHTS)]
)
def test_kinds_by_weights(gib: float, kind: str) -> None:
    assert judge_fit(replace(QUESTION, weights=ModelWeights(gib, is_measured=True))).kind == kind


def test_a_step_of_29_000_tokens_on_a_card_of_24_gigabytes() -> None:
    """Llama 3.1 8B on an RTX 3090, with 90 % of it for the engine: 21.2 GiB, of which the weights take 15.0 and the
    rest 0.9, so 5.3 are left, and a request of 29,000 tokens takes 3.5. The engine found 2.9, and refused to start
    (vllm-project/vllm#10517).
    """
    weights = ModelWeights(14.9888, is_measured=True)
    card = AcceleratorType("rtx-3090-24g", "maker", 23.58)
    small = FitQuestion(card, Budget(TOTAL, 0.9), weights, CacheSettings(), DENSE, 29_000, width=4096, step=2048)
    verdict = judge_fit(small)
    assert (verdict.kind, round(verdict.room_gib, 1), round(verdict.request_gib, 1)) == (FITS, 5.3, 3.5)
    assert judge_fit(replace(small, step=0)) == verdict
    assert judge_fit(replace(small, step=29_000, width=0)) == verdict
    large = judge_fit(replace(small, step=29_000))
    assert large == replace(verdict, kind=ACTIVATIONS, sure_gib=large.sure_gib)
    assert large.sure_gib + MARGIN * card.memory_gib < 2.89
    assert describe_verdict(large) == "tight at 29,000 tokens: activations"


def test_a_step_alone_never_says_that_it_does_not_fit() -> None:
    endless = replace(QUESTION, width=2**20, step=2**20)
    for length, kind in ((0, ACTIVATIONS), (8192, ACTIVATIONS), (430_000, TIGHT), (500_000, CONTEXT)):
        assert judge_fit(replace(endless, length=length)).kind == kind


def test_what_is_offered_has_room_for_a_step() -> None:
    question = replace(QUESTION, length=500_000, width=8192, step=32_768)
    assert first_remedy(question, judge_fit(question), takes_fp8=True) == Remedy(length=344_064)
    assert judge_fit(replace(question, length=344_064)).kind == FITS
    assert judge_fit(replace(question, length=350_000)).kind == ACTIVATIONS


@pytest.mark.parametrize(("form", "room"), [(TOTAL, 58), (FREE_BEFORE, 68), (REST, 61.2)])
def test_activations_count_where_the_engine_has_them(form: str, room: float) -> None:
    """Within its part beside the cache, in what it leaves of the card, or before it takes its part of the rest."""
    assert cache_room(Budget(form, 0.9), 100, 20, activations=12) == pytest.approx(room)


def test_remedies() -> None:
    question = replace(QUESTION, length=500_000)
    assert first_remedy(question, judge_fit(question), takes_fp8=True) == Remedy(length=399_360)
    heavy = replace(QUESTION, weights=ModelWeights(150, is_measured=True))
    assert first_remedy(heavy, judge_fit(heavy), takes_fp8=True) == Remedy(tensor=4)
    endless = replace(QUESTION, weights=ModelWeights(5000, is_measured=True))
    assert first_remedy(endless, judge_fit(endless), takes_fp8=True) is None
    small_share = replace(QUESTION, budget=replace(QUESTION.budget, fraction=0.1))
    verdict = judge_fit(small_share)
    assert verdict.kind == WEIGHTS
    assert first_remedy(small_share, verdict, takes_fp8=False, usual_share=0.9) == Remedy(share=0.9)
    assert first_remedy(small_share, verdict, takes_fp8=False) != Remedy(share=0.9)


def test_what_is_offered_fits() -> None:
    question = replace(QUESTION, length=500_000)
    remedy = first_remedy(question, judge_fit(question), takes_fp8=False)
    assert remedy is not None
    assert judge_fit(replace(question, length=remedy.length)).kind in (FITS, TIGHT)


def test_heads_are_copied_where_there_are_fewer_than_gpus() -> None:
    alone = request_cache(replace(DENSE, kv_heads=2), CacheSettings(tensor=2)).token_bytes
    assert request_cache(replace(DENSE, kv_heads=2), CacheSettings(tensor=8)).token_bytes == alone
    shared = CacheSettings(tensor=8, decode_context=4)
    assert request_cache(replace(DENSE, kv_heads=2), shared).token_bytes == alone / 4


def test_a_latent_cache_is_not_shared_by_tensor_parallelism() -> None:
    latent = Attention(layers=61, full_layers=61, latent_dim=512, rope_dim=64)
    assert request_cache(latent, CacheSettings(tensor=8)).token_bytes == 61 * 576 * 2
    assert request_cache(latent, CacheSettings(decode_context=8)).token_bytes == 61 * 576 * 2 / 8
    sparse = replace(latent, index_dim=128, index_layers=21)
    assert request_cache(sparse, CacheSettings()).token_bytes == 61 * 656 + 21 * 132


def test_a_latent_cache_beside_states() -> None:
    """Only layers with attention grow, and their pages are as large as a state."""
    facts = {"layers": 93, "fullLayers": 24, "latentDim": 512, "ropeDim": 64}
    states = {"layers": 69, "valueHeads": 96, "keyHeads": 96, "keyDim": 128, "valueDim": 128}
    hybrid = read_attention({"attention": {**facts, "recurrent": states}})
    assert hybrid is not None
    need = request_cache(hybrid, CacheSettings(tensor=8))
    assert need.token_bytes == 24 * 576 * 2
    state = 12 * 128 * 128 * 4 + 3 * 12 * 128 * 3 * 2
    assert need.page_tokens * 576 * 2 >= state
    assert need.fixed_bytes == 3 * 2 * need.page_tokens * 576 * 2 * 24


def test_full_layers_with_heads_of_their_own() -> None:
    """Of another dimension too, or of the same as the layers with a window, values included."""
    window = Attention(layers=48, full_layers=9, kv_heads=8, head_dim=192, value_dim=128, window=128, global_heads=4)
    assert request_cache(window, CacheSettings()).token_bytes == 9 * 4 * (192 + 128) * 2
    assert request_cache(replace(window, global_dim=512), CacheSettings()).token_bytes == 9 * 4 * 2 * 512 * 2


def test_windows_keep_a_step() -> None:
    window = Attention(layers=4, full_layers=2, kv_heads=1, head_dim=1, window=128)
    small, large = (request_cache(window, CacheSettings(batched_tokens=n)) for n in (2048, 65536))
    assert small.request_bytes(100_000) == 2 * 100_000 * 4 + (2176 + 16) * 2 * 4
    assert large.window_tokens > 30 * small.window_tokens - 30 * 144


def test_speculation_and_prefix_caching_take_pages() -> None:
    facts = {"layers": 40, "fullLayers": 10, "kvHeads": 2, "headDim": 256}
    states = {"layers": 30, "valueHeads": 32, "keyHeads": 16, "keyDim": 128, "valueDim": 128}
    hybrid = read_attention({"attention": {**facts, "recurrent": states}})
    assert hybrid is not None
    needs = [
        request_cache(hybrid, CacheSettings(speculative_tokens=n, prefix_caching=caching)).fixed_bytes
        for n, caching in ((0, False), (0, True), (3, True))
    ]
    assert [need / needs[0] for need in needs] == [1, 2, 5]


DIMS = {"layers": 32, "kvHeads": 8, "headDim": 128}
STATE_DIMS = {"valueHeads": 32, "keyHeads": 16, "keyDim": 128, "valueDim": 128}


@pytest.mark.parametrize(
    ("attention", "missing"),
    [
        ({}, "attention"),
        ({"layers": 32}, "attention.kvHeads"),
        ({"layers": 32, "kvHeads": 8}, "attention.headDim"),
        ({"kvHeads": 8, "headDim": 128}, "attention.layers"),
        ({**DIMS, "slidingWindow": 1024}, "attention.fullLayers"),  # how many layers have it is not said
        ({**DIMS, "fullLayers": 8}, "attention.slidingWindow or attention.recurrent"),  # what the others keep
        ({**DIMS, "fullLayers": 8, "recurrent": {"layers": 24}}, "attention.recurrent.valueHeads"),
        ({**DIMS, "fullLayers": 0, "slidingWindow": 128}, "attention"),  # no layer grows
        ({**DIMS, "fullLayers": 0, "latentDim": 512}, "attention"),
        ({**DIMS, "fullLayers": 40}, "attention"),
        ({**DIMS, "recurrent": {**STATE_DIMS, "layers": 33}}, "attention"),  # more of them than layers
    ],
)
def test_what_is_missing_is_unknown(attention: dict[str, object], missing: str) -> None:
    facts = {"attention": attention}
    assert read_attention(facts) is None
    assert missing_attention_fact(facts) == missing
    assert missing_attention_fact({"attention": DIMS}) == ""


numbers = st.integers(1, 2**40)
SIZES = (
    "layers",
    "fullLayers",
    "kvHeads",
    "headDim",
    "slidingWindow",
    "latentDim",
    "ropeDim",
    "indexDim",
    "indexLayers",
)
STATES = ("layers", "valueHeads", "keyHeads", "keyDim", "valueDim", "convKernel")


@given(
    st.dictionaries(st.sampled_from((*SIZES, "valueDim", "globalKVHeads", "globalHeadDim")), numbers),
    st.dictionaries(st.sampled_from(STATES), numbers),
    st.builds(
        CacheSettings,
        value_type=st.sampled_from(("auto", "fp8", "q4_0")),
        tensor=numbers,
        pipeline=numbers,
        decode_context=numbers,
        batched_tokens=numbers,
    ),
    st.integers(0, 2**40),
    st.floats() | st.floats(0, 2),
)
def test_any_facts_have_an_answer(
    attention: dict[str, object], states: dict[str, int], settings: CacheSettings, length: int, fraction: float
) -> None:
    facts = {"attention": {**attention, **({"recurrent": states} if states else {})}}
    question = FitQuestion(CARD, Budget(TOTAL, fraction), QUESTION.weights, settings, read_attention(facts), length)
    verdict = judge_fit(question)
    assert verdict.kind in (FITS, TIGHT, CONTEXT, WEIGHTS)
    first_remedy(question, verdict, takes_fp8=True)


def test_weights() -> None:
    assert read_weights({"weightsGiB": 3.5, "parameters": "8B", "precision": "bf16"}) == ModelWeights(3.5, True)
    assert read_weights({"parameters": "8B"}) is None
    assert read_weights({"parameters": "8B", "precision": "odd"}) is None
    by_number = read_weights({"parameters": "8.0B", "precision": "bf16", "quantization": "fp8"})
    assert by_number is not None
    assert (round(by_number.gib, 2), by_number.is_measured) == (7.45, False)


def test_budgets() -> None:
    assert cache_room(Budget(TOTAL, 0.9), 100, 20) == pytest.approx(66)
    assert cache_room(Budget(FREE_BEFORE, 0.8), 100, 20) == pytest.approx(60)
    assert cache_room(Budget(REST, 0.9), 100, 20) == pytest.approx(68.4)


def test_other_remedies() -> None:
    heavy = replace(QUESTION, weights=ModelWeights(150, is_measured=True))
    large = replace(heavy, accelerator=AcceleratorType("card-288g", "maker", 288.0))
    assert first_remedy(heavy, judge_fit(heavy), takes_fp8=True, flavors=[("large", large)]) == Remedy(tensor=4)
    odd = replace(heavy, heads=7)  # which no number of accelerators shares out
    assert first_remedy(odd, judge_fit(odd), takes_fp8=True, flavors=[("same", odd), ("large", large)]) == Remedy(
        flavor="large"
    )


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (8191, "a request of 8,192 tokens does not fit"),
        (8192, "fits, 1.0 requests of 8,192 tokens at once"),
        (20480, "fits, 2.5 requests of 8,192 tokens at once"),
    ],
)
def test_what_was_measured_counts(tokens: int, words: str) -> None:
    assert describe_verdict(measured_verdict(QUESTION, tokens)) == words


def test_words_of_verdicts() -> None:
    questions = [replace(QUESTION, weights=ModelWeights(gib, is_measured=True), attention=None) for gib in (16, 70, 90)]
    assert [describe_verdict(judge_fit(question)) for question in questions] == [FITS, TIGHT, WEIGHTS]


def test_what_is_not_checked_is_not_called_a_fit() -> None:
    unknown = FitVerdict(UNCHECKED, 0, 0, 0, missing="precision")
    assert describe_verdict(unknown) == "not checked: facts.precision is missing"
    questions = [replace(QUESTION, weights=ModelWeights(gib, is_measured=True), attention=None) for gib in (16, 70, 90)]
    verdicts = [replace(judge_fit(question), missing="attention") for question in questions]
    assert [describe_verdict(verdict) for verdict in verdicts] == [
        "the weights fit, a request is not checked: facts.attention is missing",
        "the weights are tight, a request is not checked: facts.attention is missing",
        WEIGHTS,
    ]


@pytest.mark.parametrize(
    ("facts", "key"),
    [
        ({"parameters": "8B"}, "precision"),
        ({"parameters": "8B", "precision": "q4_k_m"}, "weightsGiB"),
        ({"precision": "bf16"}, "weightsGiB"),
        ({}, "weightsGiB"),
    ],
)
def test_the_fact_that_is_missing(facts: dict[str, str], key: str) -> None:
    assert read_weights(facts) is None
    assert missing_weights_fact(facts) == key


@given(st.integers(1, 140), st.integers(1, 4_000_000), st.sampled_from([16, 24, 28, 32, 40]))
def test_every_offer_fits(gib: int, length: int, heads: int) -> None:
    question = replace(QUESTION, weights=ModelWeights(gib, is_measured=True), length=length, heads=heads)
    large = replace(question, accelerator=AcceleratorType("card-288g", "maker", 288.0))
    verdict = judge_fit(question)
    if verdict.kind not in (CONTEXT, WEIGHTS):
        return
    remedy = first_remedy(question, verdict, takes_fp8=True, flavors=[("large", large)])
    if remedy is None:
        return
    settings = replace(
        question.settings,
        tensor=remedy.tensor or question.settings.tensor,
        value_type=remedy.value_type or question.settings.value_type,
    )
    changed = replace(large if remedy.flavor else question, settings=settings, length=remedy.length or length)
    assert judge_fit(changed).kind == FITS
