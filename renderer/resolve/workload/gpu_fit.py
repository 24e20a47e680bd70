"""Whether the model of an app fits on the accelerators of its flavor."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from renderer.engines.options import given_options, last_number, last_text
from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import read_attention
from renderer.fit.budget import Budget
from renderer.fit.kv_cache import CacheSettings
from renderer.fit.verdict import FitQuestion, FitVerdict, judge_fit
from renderer.fit.weights import read_weights
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, texts_at
from renderer.resolve.workload.command_line import CommandLine


class GpuFit(Struct, frozen=True):
    """What was asked, and the answer."""

    command: CommandLine
    question: FitQuestion
    verdict: FitVerdict
    measured: Mapping[str, object] | None = None  # of facts.measured, under the same conditions


def gpu_fit(command: CommandLine) -> GpuFit | None:
    """Whether the model fits; None where model, engine or type of the accelerators are not known well enough, and where
    the engine puts weights elsewhere, by itself or as it was told.
    """
    run = command.run
    facts, memory = map_at(run.base.claim.main.spec.get("facts")), map_at(run.engine.spec.get("memory"))
    spreads_experts = run.size.parallelism.expert and run.size.parallelism.data > 1
    if not facts or memory.get("offload") != "none" or "budget" not in memory or spreads_experts:
        return None
    weights, accelerator = read_weights(facts), _accelerator_type(command)
    settings = _settings(command, memory)
    if weights is None or accelerator is None or settings is None:
        return None
    fraction = map_at(memory, "fraction")
    stated = last_text(run.engine.style, command.args, _names(command, text_at(fraction, "option")))
    try:
        part = float(stated) if stated else number_at(fraction, "default", default=1)
    except ValueError:
        return None
    question = FitQuestion(
        accelerator=accelerator,
        budget=Budget(text_at(memory, "budget"), part),
        weights=weights,
        settings=settings,
        attention=read_attention(facts),
        length=_length(command, facts),
    )
    return GpuFit(command, question, judge_fit(question), _measured(question, run.engine.runtime.name, facts))


def _accelerator_type(command: CommandLine) -> AcceleratorType | None:
    """The one type of all accelerators on which the pods may run."""
    flavors = command.run.base.placement.flavors
    if not command.run.size.accelerator.number or not flavors:
        return None
    types = command.run.base.context.inputs.accelerator_types()
    chosen = {types.by_name.get(flavor.accelerator) or types.of_labels(flavor.node) for flavor in flavors}
    return chosen.pop() if len(chosen) == 1 else None


def _settings(command: CommandLine, memory: Mapping[str, object]) -> CacheSettings | None:
    """What the engine was told; None where that is nothing that the formulas know."""
    run, style = command.run, command.run.engine.style
    chosen = given_options(style, command.user_layers)
    others = (*texts_at(memory, "sizeOptions"), *texts_at(memory, "offloadOptions"))
    unknown = frozenset(style.name(option) for option in others)
    if chosen & (unknown | run.engine.uncountable_options):
        return None
    value_type = map_at(memory, "valueType")
    value = last_text(style, command.args, _names(command, text_at(value_type, "option")))
    cache_type = text_at(value_type, "values", value) if value else "auto"
    batched = map_at(memory, "batchedTokens")
    tensor = run.size.parallelism.tensor
    if not chosen.isdisjoint(run.engine.parallel_options):
        tensor = last_number(style, command.args, run.engine.size_options) or tensor
    if not cache_type:
        return None
    return CacheSettings(
        value_type=cache_type,
        tensor=tensor,
        pipeline=run.size.parallelism.pipeline,
        decode_context=last_number(style, command.args, _names(command, text_at(memory, "decodeContext"))) or 1,
        batched_tokens=last_number(style, command.args, _names(command, text_at(batched, "option")))
        or int(number_at(batched, "default", default=2048)),
    )


def _length(command: CommandLine, facts: Mapping[str, object]) -> int:
    """The tokens of the longest request that the engine takes; 0 where nobody says it."""
    stated = last_number(command.run.engine.style, command.args, command.run.engine.length_options)
    return stated or int(number_at(facts, "contextLength"))


def _names(command: CommandLine, option: str) -> frozenset[str]:
    return frozenset([command.run.engine.style.name(option)] if option else ())


def _measured(question: FitQuestion, backend: str, facts: Mapping[str, object]) -> Mapping[str, object] | None:
    """The last measurement of the same backend, accelerator and tensor parallel size."""
    conditions = {
        "backend": backend, "accelerator": question.accelerator.name, "tensor": question.settings.tensor
    }  # fmt: skip
    entries = [entry for entry in maps_at(facts, "measured") if conditions.items() <= entry.items()]
    return entries[-1] if entries else None
