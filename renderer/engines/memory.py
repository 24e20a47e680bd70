"""How `engine.memory` of a BackendRuntime says what its engine takes of a GPU, and what a command line says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.engines.dialect import Dialect
from renderer.engines.given_options import option_names, option_values, value_or_key, whole_number
from renderer.engines.known_engine import SizeOptions
from renderer.fit.budget import Budget
from renderer.fit.kv_cache import CacheSettings
from renderer.kubernetes.json_values import map_at, number_at, text_at
from renderer.text import patterns

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_TOKENS = 2048  # of a step, where nobody says how many


class MemoryOptions(Struct, frozen=True):
    """What an engine takes, and the options that change it, by their names in comparisons; '' where there is none."""

    budget: str
    fraction: float  # without its option
    fraction_option: str
    type_option: str
    types: Mapping[str, str]  # of the cache, by the values of the option
    tokens_option: str  # of a step
    tokens: int
    decode_context_option: str
    method_option: str  # of speculation
    draft_tokens_option: str
    layers: Mapping[str, int]  # that a method adds, by pattern
    without_prefixes: frozenset[str]
    unknown: frozenset[str]  # with which nothing is known
    of_hosts: frozenset[str]  # likewise, unless the sizes over several hosts are known without them
    sizes: frozenset[str]  # with the tensor parallel size
    lengths: frozenset[str]  # with the longest context
    names: frozenset[str]  # all of these, and options whose JSON has one of them as a key


class MemorySettings(Struct, frozen=True):
    """What an engine takes, as it was told."""

    budget: Budget
    cache: CacheSettings
    length: int | None  # the longest context; 0 where no option says it, None where one says no number, such as auto
    step: int  # tokens of one step, 0 where no option says it: what an engine takes else depends on version and card
    has_other_weights: bool  # it speculates by weights of which nobody knows how much they take


def memory_options(
    style: Dialect, engine_spec: EngineSpec, lengths: frozenset[str], sizes: SizeOptions
) -> MemoryOptions | None:
    """The options of a runtime; None where it says nothing of memory, and of an engine that puts weights elsewhere by
    itself.
    """
    memory = engine_spec.get("memory") or {}
    if memory.get("offload") != "none" or "budget" not in memory:
        return None
    fraction, value_type = map_at(memory, "fraction"), map_at(memory, "valueType")
    batched, speculation = map_at(memory, "batchedTokens"), map_at(memory, "speculation")
    single = {
        option: style.name(option)
        for option in (
            *(text_at(field, "option") for field in (fraction, value_type, batched)),
            *(text_at(speculation, key) for key in ("method", "tokens")),
            text_at(memory, "decodeContext"),
        )
    }
    layers = map_at(speculation, "layers")
    heads = {option.partition(".")[0] for option in single.values()}
    without_prefixes = option_names(style, memory.get("withoutPrefixCaching"))
    named = without_prefixes | sizes.uncountable | sizes.size | lengths
    unknown = option_names(style, memory.get("sizeOptions")) | option_names(style, memory.get("offloadOptions"))
    return MemoryOptions(
        budget=memory["budget"],
        fraction=number_at(fraction, "default", default=1),
        fraction_option=single[text_at(fraction, "option")],
        type_option=single[text_at(value_type, "option")],
        types={value: str(meaning) for value, meaning in map_at(value_type, "values").items()},
        tokens_option=single[text_at(batched, "option")],
        tokens=int(number_at(batched, "default", default=_TOKENS)),
        decode_context_option=single[text_at(memory, "decodeContext")],
        method_option=single[text_at(speculation, "method")],
        draft_tokens_option=single[text_at(speculation, "tokens")],
        layers={pattern: int(number_at(layers, pattern)) for pattern in layers},
        without_prefixes=without_prefixes,
        unknown=unknown,
        of_hosts=sizes.uncountable,
        sizes=sizes.size,
        lengths=lengths,
        names=frozenset({*single.values(), *heads} - {""}) | unknown | named,
    )


def memory_settings(
    options: MemoryOptions, style: Dialect, args: Sequence[str], *, tensor: int, pipeline: int, hosts: int = 1
) -> MemorySettings | None:
    """What a command line says; None where it says something with which nothing is known. `tensor`: without an option
    for it; `hosts`: of a replica, as far as its sizes are known.
    """
    values = option_values(style, args, options.names)
    fraction = _as_fraction(values.get(options.fraction_option, ""), options.fraction)
    value = values.get(options.type_option, "")
    value_type = options.types.get(value, "") if value else "auto"
    unknown = options.unknown if hosts > 1 else options.unknown | options.of_hosts
    if fraction is None or not value_type or not unknown.isdisjoint(values):
        return None
    method = value_or_key(values, options.method_option)
    layers = _added_layers(options, method) if method else 0
    tokens = whole_number(value_or_key(values, options.draft_tokens_option)) if method else 0
    step = _number(values, options.tokens_option)
    cache = CacheSettings(
        value_type=value_type,
        tensor=_first_number(values, options.sizes) or tensor,
        pipeline=pipeline,
        decode_context=_number(values, options.decode_context_option) or 1,
        batched_tokens=step or options.tokens,
        speculative_tokens=tokens or 0,
        draft_layers=layers or 0,
        prefix_caching=options.without_prefixes.isdisjoint(values),
    )
    lengths = [values[option] for option in options.lengths if option in values]
    length = None if any(not text.isdigit() for text in lengths) else _first_number(values, options.lengths)
    return MemorySettings(Budget(options.budget, fraction), cache, length, step, has_other_weights=layers is None)


def _added_layers(options: MemoryOptions, method: str) -> int | None:
    """The layers that a method of speculation adds to the model's own; None where it has weights of its own."""
    return next((number for pattern, number in options.layers.items() if patterns.fits(method, pattern)), None)


def _number(values: Mapping[str, str], option: str) -> int:
    """The number that an option has; 0 without it."""
    return whole_number(values.get(option, "")) or 0


def _first_number(values: Mapping[str, str], options: frozenset[str]) -> int:
    """The number that one of the options has; 0 without one."""
    for option in options:
        if number := _number(values, option):
            return number
    return 0


def _as_fraction(text: str, otherwise: float) -> float | None:
    """A part of the memory; None for a text that is not a number."""
    try:
        return float(text) if text else otherwise
    except ValueError:
        return None
