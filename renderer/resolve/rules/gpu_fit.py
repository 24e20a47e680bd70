"""What is told about a model that does not fit on its accelerators."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from renderer.diagnostics import Diagnostic, Origin, counted, make_diagnostic, rule
from renderer.fit.kv_cache import request_cache
from renderer.fit.remedies import Remedy, first_remedy
from renderer.fit.verdict import CONTEXT, TIGHT, WEIGHTS, FitVerdict
from renderer.fit.weights import GIB
from renderer.kubernetes.json_values import map_at, number_at, text_at
from renderer.resolve.workload.flavor_limits import raised_limits
from renderer.resolve.workload.gpu_fit import GpuFit, UncheckedFit, questions_of_other_flavors

_LARGE_NODE = 8  # accelerators, as many as nearly all large nodes have
_AUTO = "auto"  # a context as long as the engine finds room for


@rule(of=GpuFit, when=lambda fit: fit.verdict.kind == WEIGHTS and not fit.measured)
def too_large_weights(fit: GpuFit) -> Iterator[Diagnostic]:
    """A warning where the weights do not fit; an error where their size is known, and above the whole memory."""
    verdict, question = fit.verdict, fit.question
    card, weights = question.accelerator.memory_gib, question.weights
    is_certain = weights.is_measured and verdict.weights_gib > card
    words = {
        "size": f"{weights.gib:.1f}" if weights.is_measured else f"about {weights.gib:.0f}",
        "share": f"{verdict.weights_gib:.1f}",
        "count": counted(question.settings.tensor * question.settings.pipeline, "accelerator"),
        "type": question.accelerator.name,
        "card": f"{card:.1f}",
    }
    yield make_diagnostic("E455" if is_certain else "W455", _origin(fit), **words, hint=_hint(fit))


@rule(of=GpuFit, when=lambda fit: fit.verdict.kind == CONTEXT)
def too_long_context(fit: GpuFit) -> Iterator[Diagnostic]:
    """A warning where the cache has no room for one request of the longest context."""
    verdict, question = fit.verdict, fit.question
    if fit.measured:
        version = text_at(fit.measured, "version")
        where = f" with version {version}" if version and version != fit.command.run.version else ""
        words = {"length": f"{question.length:,}", "tokens": f"{fit.measured['kvTokens']:,}", "where": where}
        yield make_diagnostic("W457", _origin(fit), **words)
    else:
        words = {
            "length": f"{question.length:,}",
            "request": f"{verdict.request_gib:.1f}",
            "room": f"{max(verdict.room_gib, 0):.1f}",
            "weights": f"{verdict.weights_gib:.1f}",
            "type": question.accelerator.name,
            "card": f"{question.accelerator.memory_gib:.1f}",
        }
        yield make_diagnostic("W456", _origin(fit), **words, hint=_hint(fit))


@rule(of=UncheckedFit, when=lambda fit: fit.too_large is not None)
def weights_above_all_types(fit: UncheckedFit) -> Iterator[Diagnostic]:
    """A warning where no accelerator of the vendor holds its share of the weights."""
    if too_large := fit.too_large:
        weights, largest = too_large.weights, too_large.largest
        words = {
            "size": f"{weights.gib:.1f}" if weights.is_measured else f"about {weights.gib:.0f}",
            "share": f"{too_large.share_gib:.1f}",
            "count": counted(too_large.count, "accelerator"),
            "largest": largest.name,
            "card": f"{largest.memory_gib:.1f}",
        }
        yield make_diagnostic("W480", _origin(fit), **words)


@rule(of=UncheckedFit, when=lambda fit: fit.verdict is not None)
def unchecked_weights(fit: UncheckedFit) -> Iterator[Diagnostic]:
    """A note, for who asks, that nobody knows whether the model fits, and which fact is missing."""
    if fit.verdict:
        yield from _unchecked(fit, fit.verdict, "whether the model fits on its accelerators")


@rule(of=GpuFit, when=lambda fit: bool(fit.verdict.missing))
def unchecked_request(fit: GpuFit) -> Iterator[Diagnostic]:
    """The same where only the weights are known."""
    if fit.verdict.kind != WEIGHTS:
        yield from _unchecked(fit, fit.verdict, "whether a request fits beside the weights")


def _unchecked(fit: GpuFit | UncheckedFit, verdict: FitVerdict, what: str) -> Iterator[Diagnostic]:
    if fit.command.run.base.context.tells_all:
        model = fit.command.run.base.claim.main.name
        yield make_diagnostic("N480", _origin(fit), what=what, model=model, fact=verdict.missing)


@rule(of=GpuFit, when=lambda fit: fit.verdict.kind == TIGHT)
def unknown_fit(fit: GpuFit) -> Iterator[Diagnostic]:
    """With `--strict` a warning where it is so close that nobody knows."""
    verdict, question = fit.verdict, fit.question
    if fit.command.run.base.context.strict:
        words = {
            "room": f"{max(verdict.room_gib, 0):.1f}",
            "request": f", and a request of {question.length:,} tokens takes {verdict.request_gib:.1f}"
            if verdict.request_gib
            else "",
            "type": question.accelerator.name,
            "card": f"{question.accelerator.memory_gib:.1f}",
        }
        yield make_diagnostic("W458", _origin(fit), **words)


@rule(of=GpuFit, when=lambda fit: fit.copies_heads)
def copied_heads(fit: GpuFit) -> Iterator[Diagnostic]:
    """A note on what it costs that several accelerators keep the same heads."""
    attention, settings, length = fit.question.attention, fit.question.settings, fit.question.length
    if attention is None or not length:
        return
    whole = request_cache(attention, settings).request_bytes(length) * settings.tensor / GIB
    fewer = replace(settings, tensor=attention.kv_heads, decode_context=1)
    least = request_cache(attention, fewer).request_bytes(length) * attention.kv_heads / GIB
    words = {
        "tensor": settings.tensor,
        "heads": counted(attention.kv_heads, "KV head"),
        "length": f"{length:,}",
        "whole": f"{whole:.1f}",
        "least": f"{least:.1f}",
    }
    yield make_diagnostic("N459", _origin(fit), **words)


def _hint(fit: GpuFit) -> str:
    """The first change that would fit."""
    engine, question = fit.command.run.engine, fit.question
    memory = engine.spec.get("memory") or {}
    values, fraction = memory.get("valueType") or {}, map_at(memory, "fraction")
    takes_fp8 = (
        question.accelerator.fp8 and question.settings.value_type == "auto" and "fp8" in values.get("values", {})
    )
    flavors = questions_of_other_flavors(fit)
    share = number_at(fraction, "default")
    remedy = first_remedy(question, fit.verdict, takes_fp8=takes_fp8, usual_share=share, flavors=flavors) or Remedy()
    if remedy.share:
        return f"{text_at(fraction, 'option')} {remedy.share:g} would fit"
    if remedy.length:
        option = min(engine.length_options, default="a context")
        return f"{option} {remedy.length} would fit{_or_auto(fit, option)}"
    if remedy.value_type:
        return f"{values.get('option')} {remedy.value_type} would fit"
    if remedy.tensor and (stages := question.settings.pipeline) > 1:
        size = remedy.tensor
        stage = f"{size} with tensor parallel size {size} in each of {stages} stages"
        return f"{size * stages} accelerators would fit, {stage}"
    per_host = question.settings.tensor // fit.command.run.size.parallelism.hosts
    if remedy.tensor > _LARGE_NODE and "multiHost" in engine.spec and per_host:
        hosts = remedy.tensor // per_host
        return f"parallelism: {{tensor: {remedy.tensor}}} would fit, {hosts} hosts of {per_host} accelerators"
    if remedy.tensor:
        run = fit.command.run
        is_more = run.size.parallelism.hosts == 1 and remedy.tensor > run.size.accelerator.number
        way = raised_limits(run, remedy.tensor) if is_more else ""
        fits = f"{remedy.tensor} accelerators with tensor parallel size {remedy.tensor} would fit"
        return f"{fits}: {way}" if way else fits
    if remedy.flavor:
        return f"flavor '{remedy.flavor}' of the model would fit"
    return "take larger accelerators, or a smaller model"


def _or_auto(fit: GpuFit, option: str) -> str:
    """That the engine itself lowers the context to what fits, where its version can."""
    rules = fit.command.option_rules
    known = rules.option_list.options.get(option) if rules else None
    return f", and {option} {_AUTO} chooses what fits" if known and _AUTO in known.choices.values else ""


def _origin(fit: GpuFit | UncheckedFit) -> Origin:
    return fit.command.app.origin(*fit.command.run.base.claim.models[0].path)
