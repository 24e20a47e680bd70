"""Whether the model of an app fits on the accelerators of its flavor."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import Inputs
from renderer.engines.options import number_at
from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import read_attention
from renderer.fit.budget import Budget
from renderer.fit.kv_cache import CacheSettings
from renderer.fit.verdict import FITS, TIGHT, FitQuestion, FitVerdict, judge_fit, measured_verdict
from renderer.fit.weights import ModelWeights, read_weights
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.resolve import flavors
from renderer.resolve.flavors import Flavor
from renderer.resolve.workload.command_line import CommandLine
from renderer.text import patterns

if TYPE_CHECKING:
    from renderer.input_types import MemorySpec


class GpuFit(Struct, frozen=True):
    """What was asked, and the answer."""

    command: CommandLine
    question: FitQuestion
    verdict: FitVerdict
    measured: Mapping[str, Any] | None = None  # of facts.measured, under the same conditions


def gpu_fit(command: CommandLine) -> GpuFit | None:
    """Whether the model fits; None where model, engine or type of the accelerators are not known well enough, and where
    the engine puts weights elsewhere, by itself or as it was told.
    """
    run = command.run
    facts, memory = run.base.claim.main.spec.get("facts"), run.engine.spec.get("memory")
    if not facts or not memory or memory.get("offload") != "none" or "budget" not in memory:
        return None
    accelerator = _accelerator_type(command)
    weights = read_weights(facts) if accelerator else None
    if accelerator is None or weights is None or (run.size.parallelism.expert and run.size.parallelism.data > 1):
        return None
    options = _Options(command)
    settings, part = _settings(options, memory), options.fraction(memory)
    if settings is None or part is None:
        return None
    question = FitQuestion(
        accelerator=accelerator,
        budget=Budget(memory["budget"], part),
        weights=weights,
        settings=settings,
        attention=read_attention(facts),
        length=options.number(run.engine.length_options) or facts.get("contextLength") or 0,
        heads=(facts.get("attention") or {}).get("heads") or 0,
    )
    if draft := _draft_facts(command):
        draft_weights = read_weights(draft)
        question = replace(
            question,
            weights=ModelWeights(weights.gib + (draft_weights.gib if draft_weights else 0), weights.is_measured),
            draft=read_attention(draft),
        )
    measured = _measured(question, run.engine.runtime.name, facts)
    verdict = measured_verdict(question, int(measured["kvTokens"])) if measured else judge_fit(question)
    if verdict.kind in (FITS, TIGHT) and not measured and _holds_more(options, memory, question):
        return None
    return GpuFit(command, question, verdict, measured)


def _draft_facts(command: CommandLine) -> Mapping[str, object]:
    """What is known of the draft model; nothing without one."""
    drafts = [claimed.model for claimed in command.run.base.claim.models if claimed.role == "draft"]
    return map_at(drafts[0].spec, "facts") if drafts else {}


def _holds_more(options: _Options, memory: MemorySpec, question: FitQuestion) -> bool:
    """Whether the engine holds weights or layers for speculation of which nobody knows how much they take."""
    if options.command.run.base.claim.draft:
        return question.draft is None
    method = options.text((memory.get("speculation") or {}).get("method", ""))
    return bool(method) and _speculation_layers(memory, method) is None


def _speculation_layers(memory: MemorySpec, method: str) -> int | None:
    """The layers that a method of speculation adds to the model's own; None where it has weights of its own."""
    layers = (memory.get("speculation") or {}).get("layers") or {}
    return next((number for pattern, number in layers.items() if patterns.fits(method, pattern)), None)


def questions_of_other_flavors(fit: GpuFit) -> Iterator[tuple[str, FitQuestion]]:
    """The same question on each other flavor of the model, with the name of the flavor."""
    run = fit.command.run
    inputs, claimed = run.base.context.inputs, {flavor.name for flavor in run.base.placement.flavors}
    for flavor in flavors.model_flavors(inputs, run.base.context.catalog, run.base.claim.main):
        accelerator = _type_of(inputs, flavor)
        count = flavors.accelerator_count(inputs, flavor)
        if flavor.name not in claimed and accelerator and count:
            settings = replace(fit.question.settings, tensor=count)
            yield flavor.name, replace(fit.question, accelerator=accelerator, settings=settings)


class _Options:
    """The options of a command line by their names; of one that is given again the last."""

    def __init__(self, command: CommandLine) -> None:
        style = command.run.engine.style
        self.command, self._args, self._name = command, command.args, style.name
        self._indexes = {name: i for i, arg in enumerate(command.args) if (name := style.name(arg))}

    def holds(self, options: Iterable[str]) -> bool:
        """Whether one of them is given."""
        return any(self._name(option) in self._indexes for option in options)

    def text(self, option: str) -> str:
        """The value of an option; '' without it."""
        index = self._indexes.get(self._name(option)) if option else None
        if index is None:
            head, dot, key = option.partition(".")
            return self._text_in_json(head, key) if dot else ""
        _, glued, value = self._args[index].partition("=")
        return value if glued else "".join(self._args[index + 1 : index + 2])

    def _text_in_json(self, option: str, key: str) -> str:
        """The value of a key in the JSON that an option has; '' without it."""
        with suppress(ValueError):
            value = json.loads(self.text(option) or "{}")
            return str(value.get(key, "")) if isinstance(value, dict) else ""
        return ""

    def number(self, options: Iterable[str]) -> int:
        """The number that one of the options has; 0 without one."""
        for option in options:
            index = self._indexes.get(self._name(option))
            if index is not None and (number := number_at(self._args, index)):
                return number
        return 0

    def fraction(self, memory: MemorySpec) -> float | None:
        """The part of the memory that the engine takes; None for what is not a number."""
        fraction = memory.get("fraction") or {}
        try:
            return float(self.text(fraction.get("option", "")) or fraction.get("default", 1))
        except ValueError:
            return None


def _accelerator_type(command: CommandLine) -> AcceleratorType | None:
    """The one type of all accelerators on which the pods may run."""
    placement, inputs = command.run.base.placement, command.run.base.context.inputs
    if not command.run.size.accelerator.number or not placement.flavors:
        return None
    chosen = {_type_of(inputs, flavor) for flavor in placement.flavors}
    return chosen.pop() if len(chosen) == 1 else None


def _type_of(inputs: Inputs, flavor: Flavor) -> AcceleratorType | None:
    """The type of a flavor's accelerators, by its name or by the labels of its nodes."""
    types = inputs.accelerator_types()
    return types.by_name.get(flavor.accelerator) or types.of_labels(flavor.node)


def _settings(options: _Options, memory: MemorySpec) -> CacheSettings | None:
    """What the engine was told; None where that is nothing that the formulas know."""
    run = options.command.run
    others = (*memory.get("sizeOptions", ()), *memory.get("offloadOptions", ()), *run.engine.uncountable_options)
    value_type, batched = memory.get("valueType") or {}, memory.get("batchedTokens") or {}
    speculation = memory.get("speculation") or {}
    value = options.text(value_type.get("option", ""))
    cache_type = (value_type.get("values") or {}).get(value, "") if value else "auto"
    if not cache_type or options.holds(others):
        return None
    return CacheSettings(
        value_type=cache_type,
        tensor=options.number(run.engine.size_options) or run.size.parallelism.tensor,
        pipeline=run.size.parallelism.pipeline,
        decode_context=options.number((memory.get("decodeContext", ""),)) or 1,
        speculative_tokens=int(tokens) if (tokens := options.text(speculation.get("tokens", ""))).isdecimal() else 0,
        draft_layers=_speculation_layers(memory, options.text(speculation.get("method", ""))) or 0,
        prefix_caching=not options.holds(memory.get("withoutPrefixCaching") or ()),
        batched_tokens=options.number((batched.get("option", ""),)) or batched.get("default", 2048),
    )


def _measured(question: FitQuestion, backend: str, facts: Mapping[str, object]) -> Mapping[str, Any] | None:
    """The last measurement of the same backend, accelerator and tensor parallel size."""
    if "measured" not in facts:
        return None
    conditions = {
        "backend": backend, "accelerator": question.accelerator.name, "tensor": question.settings.tensor
    }  # fmt: skip
    entries = [entry for entry in maps_at(facts, "measured") if conditions.items() <= entry.items()]
    return entries[-1] if entries else None
