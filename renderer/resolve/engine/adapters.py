"""The LoRA adapters that an engine loads for a claim: their options, ranks and limits, by `engine.adapters` of the
preset (docs/adapters.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer import template
from renderer.diagnostics import Collector, Diagnostic, Origin, make_diagnostic
from renderer.engines.dialect import ArgLayer
from renderer.engines.given_options import GivenNumber, given_options, last_given_number
from renderer.plan import NamedModel
from renderer.resolve.engine.backend_runtime import Engine
from renderer.text import escapes

if TYPE_CHECKING:
    from renderer.input_types import AdaptersSpec

_WORDS = frozenset(["ModelName", "Adapter"])
_MARKS = "=,"  # which a name cannot hold where the value of an option is name=path
_FIRST = "-{"  # with which it cannot begin


class EngineAdapter(Struct, frozen=True):
    """An adapter of the claim."""

    model: str  # its OpenModel
    name: str  # its public name, by which the engine loads it
    path: str  # of its weights
    rank: int  # 0 where it is unknown
    origin: Origin  # of its name in the claim
    facts: Origin  # of its known facts


def asked_name(rules: AdaptersSpec, served: str, adapter: str) -> str:
    """The name by which requests ask the engine for an adapter. `served`: the public name of the main model."""
    filler = template.compile_template(rules.get("asked", ""), _WORDS)
    return str(filler({"ModelName": served, "Adapter": adapter})) if filler else adapter


def plan_adapters(engine: Engine, adapters: Sequence[EngineAdapter], served: str) -> tuple[NamedModel, ...]:
    """The adapters as routes know them."""
    rules = engine.spec.get("adapters") or {}
    return tuple(NamedModel(item.name, asked_name(rules, served, item.name), item.model) for item in adapters)


def can_load(engine: Engine) -> bool:
    """Whether the engine loads adapters and serves each by a name."""
    return bool((engine.spec.get("adapters") or {}).get("options"))


def adapter_layers(
    engine: Engine, adapters: Sequence[EngineAdapter], user_layers: Sequence[ArgLayer], diagnostics: Collector
) -> list[ArgLayer]:
    """The arguments that load the adapters; errors where those of users contradict. `user_layers`: of OpenModel and
    Playground.
    """
    rules, origin = engine.spec["adapters"], engine.origin.at("engine", "adapters")
    diagnostics.problems += _competing_options(engine, rules, user_layers)
    layers = [ArgLayer(list(rules.get("enable") or ()), origin.at("enable"))]
    layers += _limit_layers(engine, rules, adapters, user_layers, diagnostics)
    layers.append(ArgLayer([rules["options"][0]], origin.at("options")))
    for adapter in adapters:
        value = escapes.container_text(f"{adapter.name}={adapter.path}")
        layers.append(ArgLayer([value], adapter.origin, origins=(adapter.origin,)))
    return [layer for layer in layers if layer.args]


def _competing_options(engine: Engine, rules: AdaptersSpec, user_layers: Sequence[ArgLayer]) -> Iterator[Diagnostic]:
    """An error for each option that would take the place of the claim's adapters, or switch all of them off."""
    options = {engine.style.name(option) for option in rules["options"]}
    enabling = rules.get("enable") or ()
    off = {option.replace("--", "--no-", 1) for option in enabling}
    off |= {option.replace("--enable-", "--disable-", 1) for option in enabling} - set(enabling)
    for layer in user_layers:
        for i, token in enumerate(layer.args):
            if engine.style.name(token) in options:
                yield make_diagnostic("E364", layer.origin_of(i), option=token.partition("=")[0])
            elif token.replace("_", "-") in off:
                yield make_diagnostic("E396", layer.origin_of(i), option=token)


def _limit_layers(
    engine: Engine,
    rules: AdaptersSpec,
    adapters: Sequence[EngineAdapter],
    user_layers: Sequence[ArgLayer],
    diagnostics: Collector,
) -> Iterator[ArgLayer]:
    """How many adapters a batch has and memory holds, and their highest rank; what users say is left out."""
    origin, count = engine.origin.at("engine", "adapters"), len(adapters)
    batch_rule, held_rule = rules.get("batch"), rules.get("held")
    batch = _given(engine, batch_rule["option"] if batch_rule else "", user_layers)
    capacity = _given(engine, held_rule["option"] if held_rule else "", user_layers)
    if capacity and capacity.value < count:
        diagnostics.add("E365", capacity.origin, option=capacity.option, value=capacity.value, count=count)
    if batch and batch.value < 1:
        diagnostics.add("E397", batch.origin, option=batch.option, value=batch.value)
    in_batch = batch.value if batch else count
    if batch_rule and not batch:
        in_batch += batch_rule.get("more", 0)
        in_batch = min(in_batch, capacity.value) if capacity else in_batch
        at = origin.at("batch")
        yield ArgLayer([batch_rule["option"], str(in_batch)], at, origins=(at.at("option"), _claim_list(adapters)))
    if held_rule and not capacity:
        at = origin.at("held")
        follows = at if batch_rule and not batch else _claim_list(adapters)
        yield ArgLayer([held_rule["option"], str(max(count, in_batch))], at, origins=(at.at("option"), follows))
    if "rank" in rules and (rank := _rank(engine, rules, adapters, user_layers, diagnostics)):
        at, highest = origin.at("rank"), max(adapters, key=lambda adapter: adapter.rank)
        origins = at.at("option"), highest.facts.at("rank") if highest.rank else at
        yield ArgLayer([rules["rank"]["option"], str(rank)], at, origins=origins)


def _claim_list(adapters: Sequence[EngineAdapter]) -> Origin:
    """The list of the claim that names the adapters."""
    name = adapters[0].origin
    return Origin(name.source, name.path[:-2])


def _rank(
    engine: Engine,
    rules: AdaptersSpec,
    adapters: Sequence[EngineAdapter],
    user_layers: Sequence[ArgLayer],
    diagnostics: Collector,
) -> int:
    """The highest rank to write, 0 for none; errors for adapters above the limit that users set, or any."""
    rule = rules["rank"]
    values, default = rule.get("values") or (), rule.get("default", 0)
    highest = max(adapter.rank for adapter in adapters)
    for adapter in adapters if values and highest > values[-1] else ():
        if adapter.rank > values[-1]:
            words = {"name": adapter.model, "rank": adapter.rank, "most": values[-1], "option": rule["option"]}
            hint = f"{engine.runtime.name} supports no higher rank: train the adapter again, or merge it into its model"
            diagnostics.add("E363", adapter.facts.at("rank"), **words, hint=hint)
    if values and highest > values[-1]:
        return 0
    if limit := _given(engine, rule["option"], user_layers):
        for adapter in adapters:
            if adapter.rank > limit.value:
                least = next((value for value in values if value >= adapter.rank), adapter.rank)
                words = {"name": adapter.model, "rank": adapter.rank, "most": limit.value, "option": limit.option}
                hint = f"write at least {least}, or leave the option out: it follows from spec.facts.adapter.rank"
                diagnostics.add("E363", limit.origin, **words, hint=hint)
        if values and limit.value not in values and limit.value >= highest:
            least = next((value for value in values if value >= limit.value), values[-1])
            words = {"option": limit.option, "value": limit.value, "least": least}
            diagnostics.add("E398", limit.origin, **words, values=", ".join(map(str, values)))
        return 0
    fitting = next((value for value in values if value >= highest), highest)
    unknown = [adapter for adapter in adapters if not adapter.rank] if default else []
    for adapter in unknown:
        words = {"name": adapter.model, "most": max(default, fitting), "backend": engine.runtime.name}
        diagnostics.add("W360", adapter.origin, **words)
    if not default or (unknown and fitting <= default):
        return 0
    return fitting


def _given(engine: Engine, option: str, user_layers: Sequence[ArgLayer]) -> GivenNumber | None:
    """What users give an option; None without one."""
    if not option or not user_layers or option not in given_options(engine.style, user_layers):
        return None
    return last_given_number(engine.style, user_layers, frozenset([engine.style.name(option)]))
