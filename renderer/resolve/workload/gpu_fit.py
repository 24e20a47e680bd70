"""Whether the model of an app fits on the accelerators of its flavor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, Inputs
from renderer.engines.accelerator_parts import accelerator_of_pod
from renderer.engines.given_options import last_number
from renderer.engines.memory import MemoryOptions, MemorySettings, memory_settings
from renderer.fit.accelerator_types import AcceleratorType, AcceleratorTypes
from renderer.fit.attention import missing_attention_fact, read_attention
from renderer.fit.verdict import (
    ACTIVATIONS,
    FITS,
    TIGHT,
    UNCHECKED,
    WEIGHTS,
    FitQuestion,
    FitVerdict,
    judge_fit,
    measured_verdict,
)
from renderer.fit.weights import ModelWeights, missing_weights_fact, read_weights, weights_per_gpu
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.resolve import flavors
from renderer.resolve.engine.parallel_sizes import Parallelism
from renderer.resolve.flavors import Flavor
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import EngineRun

_SIZES = frozenset(("parameters", "precision", "quantization", "attention", "contextLength"))
"""The facts beside `weightsGiB` from which it follows whether a model fits."""


class TooLarge(Struct, frozen=True):
    """Weights that no accelerator of a vendor holds."""

    weights: ModelWeights
    share_gib: float  # of one accelerator
    count: int  # accelerators that share them
    largest: AcceleratorType


class UncheckedFit(Struct, frozen=True):
    """A fit that is not known."""

    command: EngineProcess
    verdict: FitVerdict | None = None  # which fact of the model is missing; None where that is not the reason
    too_large: TooLarge | None = None


class GpuFit(Struct, frozen=True):
    """What was asked, and the answer."""

    command: EngineProcess
    question: FitQuestion
    verdict: FitVerdict
    measured: Mapping[str, Any] | None = None  # of facts.measured, under the same conditions

    @property
    def copies_heads(self) -> bool:
        """Whether several accelerators keep the same heads of the cache."""
        attention, settings = self.question.attention, self.question.settings
        if attention is None or attention.is_latent:
            return False
        return 0 < attention.kv_heads * settings.decode_context < settings.tensor


def gpu_fit(command: EngineProcess) -> GpuFit | None:
    """Whether the model fits; None where model, engine or type of the accelerators are not known well enough, and where
    the engine puts weights elsewhere, by itself or as it was told.
    """
    run = command.run
    facts, options, parallelism = run.base.claim.main.spec.get("facts"), run.engine.memory, run.size.parallelism
    if not facts or not options or run.mains:  # nobody knows which of several models share the memory at a time
        return None
    accelerator = accelerator_type(run)
    weights = read_weights(facts) if accelerator else None
    if accelerator is None or weights is None or _spreads_data(parallelism):
        return None
    settings = _settings(command, options)
    if settings is None:
        return None
    draft = _draft_facts(command) if run.base.claim.draft else {}
    draft_weights = read_weights(draft) if draft else None
    question = FitQuestion(
        accelerator=accelerator,
        budget=settings.budget,
        weights=ModelWeights(weights.gib + draft_weights.gib, weights.is_measured) if draft_weights else weights,
        settings=settings.cache,
        attention=read_attention(facts),
        length=0 if settings.length is None else settings.length or facts.get("contextLength") or 0,
        heads=(facts.get("attention") or {}).get("heads") or 0,
        draft=read_attention(draft) if draft else None,
        width=(facts.get("attention") or {}).get("hiddenSize") or 0,
        step=settings.step,
    )
    measured = _measured(question, run.engine.runtime.name, facts) if "measured" in facts else None
    verdict = measured_verdict(question, int(measured["kvTokens"])) if measured else judge_fit(question)
    if not measured and settings.length is not None:
        missing = missing_attention_fact(facts) or ("" if question.length else "contextLength")
        verdict = replace(verdict, missing=missing)
    holds_more = question.draft is None if run.base.claim.draft else settings.has_other_weights
    return (
        None
        if holds_more and not measured and verdict.kind in (FITS, TIGHT, ACTIVATIONS)
        else GpuFit(command, question, verdict, measured)
    )


def unchecked_fit(command: EngineProcess) -> UncheckedFit | None:
    """What is known where `gpu_fit` knows no answer: which fact of the model is missing, or that no accelerator of the
    vendor holds the weights, where nobody says the type; None for neither.
    """
    run = command.run
    facts, parallelism, accelerator = run.base.claim.main.spec.get("facts"), run.size.parallelism, run.size.accelerator
    if not facts or not run.engine.memory or not accelerator.number or run.mains:
        return None
    if (weights := read_weights(facts)) is None:
        if _SIZES.isdisjoint(facts):  # nobody began to say them
            return None
        return UncheckedFit(command, FitVerdict(UNCHECKED, 0, 0, 0, missing=missing_weights_fact(facts)))
    largest = run.base.context.inputs.accelerator_types().largest(accelerator.vendor)
    if not largest or weights.gib <= largest.memory_gib or _spreads_data(parallelism) or accelerator_type(run):
        return None
    settings = _settings(command, run.engine.memory)
    if settings is None:
        return None
    sizes = settings.cache
    share = weights_per_gpu(weights, tensor=sizes.tensor, pipeline=sizes.pipeline)
    if share <= largest.memory_gib:
        return None
    return UncheckedFit(command, too_large=TooLarge(weights, share, sizes.tensor * sizes.pipeline, largest))


def _spreads_data(parallelism: Parallelism) -> bool:
    """Whether ranks of data parallelism share weights, or lie on several hosts: nobody knows what each holds."""
    return parallelism.data > 1 and (parallelism.expert or parallelism.hosts > 1)


def _settings(command: EngineProcess, options: MemoryOptions) -> MemorySettings | None:
    """What a command line says of the memory; None where it says something with which nothing is known."""
    run, args = command.run, command.args
    engine, parallelism = run.engine, run.size.parallelism
    tensor, pipeline = parallelism.tensor, parallelism.pipeline
    if engine.size_options and not command.user_options.isdisjoint(engine.parallel_options):
        # A size of the user's own takes the place of all derived ones, and the engine's own is 1.
        tensor, pipeline = 1, last_number(engine.style, args, engine.pipeline_options) or 1
        shares = engine.multipliers.keys() - engine.pipeline_options
        is_mixture = "activeParameters" in (run.base.claim.main.spec.get("facts") or {})
        if is_mixture and any(last_number(engine.style, args, frozenset([option])) for option in shares):
            return None  # its ranks may share experts, and nobody knows what each holds
    return memory_settings(options, engine.style, args, tensor=tensor, pipeline=pipeline, hosts=parallelism.hosts)


def verdict_on_one_host(command: EngineProcess) -> str:
    """The kind of answer for the accelerators of one pod, where a replica has several; '' where nobody knows."""
    run, count = command.run, command.run.size.accelerator.number
    if fit := gpu_fit(command):
        settings = replace(fit.question.settings, tensor=count, pipeline=1)
        return judge_fit(replace(fit.question, settings=settings)).kind
    weights = read_weights(run.base.claim.main.spec.get("facts") or {})
    largest = max(known.memory_gib for known in run.base.context.inputs.accelerator_types().by_name.values())
    return WEIGHTS if weights and weights.gib > max(count, 1) * largest else ""


def _draft_facts(command: EngineProcess) -> Mapping[str, object]:
    """What is known of the draft model."""
    drafts = (claimed.model for claimed in command.run.base.claim.models if claimed.role == "draft")
    return map_at(next(drafts).spec, "facts")


def questions_of_other_flavors(fit: GpuFit) -> Iterator[tuple[str, FitQuestion]]:
    """The same question on each other flavor of the model, with the name of the flavor."""
    run = fit.command.run
    inputs, claimed = run.base.context.inputs, {flavor.name for flavor in run.base.placement.flavors}
    for flavor in flavors.model_flavors(inputs, run.base.context.catalog, run.base.claim.main):
        accelerator = _type_of(inputs, flavor, {})
        count = flavors.accelerator_count(inputs, flavor)
        if flavor.name not in claimed and accelerator and count:
            settings = replace(fit.question.settings, tensor=count)
            yield flavor.name, replace(fit.question, accelerator=accelerator, settings=settings)


def accelerator_type(run: EngineRun) -> AcceleratorType | None:
    """The type of the accelerators on which the pods may run, the one with the least memory of several; None where one
    of them is not known.
    """
    placement, inputs = run.base.placement, run.base.context.inputs
    if not run.size.accelerator.number or not placement.flavors:
        return None
    own = own_labels(run.base.app)
    types = [_type_of(inputs, flavor, own) for flavor in placement.flavors]
    known = [accelerator for accelerator in types if accelerator is not None]
    return min(known, key=lambda accelerator: accelerator.memory_gib) if len(known) == len(types) else None


def own_labels(app: App) -> Mapping[str, str]:
    """The labels of nodes that an app's podTemplate selects, which win over those of its flavors."""
    labels = map_at(app.spec, "podTemplate", "spec", "nodeSelector") if "podTemplate" in app.spec else {}
    return {key: str(value) for key, value in labels.items()}


def possible_cards(run: EngineRun) -> list[AcceleratorType]:
    """The types of cards on which pods may run, whole or in parts; none where that is not known of one flavor."""
    types, own = run.base.context.inputs.accelerator_types(), own_labels(run.base.app)
    cards = [flavor_card(types, flavor, own) for flavor in run.base.placement.flavors]
    return list(dict.fromkeys(filter(None, cards))) if None not in cards else []


def flavor_card(types: AcceleratorTypes, flavor: Flavor, own: Mapping[str, str]) -> AcceleratorType | None:
    """The cards of the nodes of a flavor: of the type that it names, or that the labels say. `own`: labels that win
    over the flavor's.
    """
    return types.by_name.get(flavor.accelerator) or types.of_labels({**flavor.node, **own} if own else flavor.node)


def _type_of(inputs: Inputs, flavor: Flavor, own: Mapping[str, str]) -> AcceleratorType | None:
    """The accelerators of a flavor as its limits request them, whole or in parts."""
    types = inputs.accelerator_types()
    card, labels = flavor_card(types, flavor, own), {**flavor.node, **own} if own else flavor.node
    return accelerator_of_pod(types, inputs.accelerators, flavor.limits, labels, card)


def _measured(question: FitQuestion, backend: str, facts: Mapping[str, object]) -> Mapping[str, Any] | None:
    """The last measurement of the same backend, accelerator and tensor parallel size."""
    conditions = {
        "backend": backend, "accelerator": question.accelerator.name, "tensor": question.settings.tensor
    }  # fmt: skip
    entries = [entry for entry in maps_at(facts, "measured") if conditions.items() <= entry.items()]
    return entries[-1] if entries else None
