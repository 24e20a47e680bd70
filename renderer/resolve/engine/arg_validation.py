"""Validates the arguments of OpenModel and Playground against the rest of the pod: reserved options, the preset's
files, and the accelerators.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.api import OpenModel
from renderer.diagnostics import Collector, Origin
from renderer.resolve.engine import dialect
from renderer.resolve.engine.backend_runtime import Engine, RecommendedConfig, model_settings
from renderer.resolve.engine.dialect import ArgLayer
from renderer.resolve.engine.given_options import GivenNumber, given_options, last_given_number
from renderer.resolve.engine.parallelism import Parallelism
from renderer.resolve.engine.shared_tokens import validate_shared_tokens
from renderer.resolve.flavors import Accelerator, Placement

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeConfigSpec

_GLOB = frozenset("*?[")


class AcceleratedEngine(Struct, frozen=True):
    """An engine on accelerators. `parallelism`: by default; `layers`: the arguments of OpenModel
    and Playground; `args`: the merged command line; `model`: the one whose flavors are the `placement`;
    `is_sized`: `spec.parallelism` of the Playground says sizes; `is_role`: it prefills or decodes;
    `number_origin`: where the number of accelerators that work is said, None where nobody says any.
    """

    engine: Engine
    accelerator: Accelerator
    parallelism: Parallelism
    layers: Sequence[ArgLayer]
    args: Sequence[str]
    placement: Placement
    model: OpenModel
    is_sized: bool
    is_role: bool
    number_origin: Origin | None


def validate_args(engine: Engine, layers: Sequence[ArgLayer], draft: bool, slots: int, diagnostics: Collector) -> None:
    """Reports arguments that conflict with what the renderer or the preset sets. `layers`: OpenModel first, then
    Playground, none empty; `slots`: the number of concurrent requests, 0 without `shared_tokens`.
    """
    validate_shared_tokens(engine, layers, slots, diagnostics)
    whole_options: set[str] = set()
    for layer in layers:
        dialect.validate_reserved_options(engine.style, engine.reserved, layer.args, layer.origin, diagnostics)
        for i, token in enumerate(layer.args) if draft and engine.draft_files else ():
            if path := engine.draft_files.get(engine.style.name(token)):
                diagnostics.add("W234", layer.origin.at(i), option=token.partition("=")[0], path=path)
        if whole_options:
            _validate_keyed_options(engine, layer, whole_options, diagnostics)
        if engine.style.dotted and layer is not layers[-1]:
            whole_options |= {name for token in layer.args if (name := engine.style.name(token)) and "." not in name}


def _validate_keyed_options(engine: Engine, layer: ArgLayer, whole_options: set[str], diagnostics: Collector) -> None:
    """A warning for the first key of each option that an earlier layer gives as a whole, whose value is then lost."""
    reported: set[str] = set()
    for i, token in enumerate(layer.args):
        keyed = token[:1] == "-" and "." in token and engine.style.head(token)[1]
        name = engine.style.name(token).partition(".")[0] if keyed else ""
        if name in whole_options - reported:
            reported.add(name)
            option = token.partition("=")[0]
            diagnostics.add("W232", layer.origin.at(i), of=engine.runtime.name, option=option, other=name)


def validate_draft_args(
    config: RecommendedConfig,
    args: Sequence[str],
    user: BackendRuntimeConfigSpec,
    origin: Origin,
    diagnostics: Collector,
) -> None:
    """An error where a config wants the path of a draft model and none is claimed: the argument is empty."""
    if "" in args:
        error_origin = origin.at("configName") if "configName" in user else config.origin.at("args")
        diagnostics.add("E417", error_origin, name=config.spec["name"])


def validate_draft_path(path: str, texts: Iterable[object], origin: Origin, diagnostics: Collector) -> None:
    """A warning where no text of the container names the draft model's path. `origin`: of its claim."""
    if not any(path in str(text) for text in texts):
        diagnostics.add("W222", origin)


def validate_drain(
    engine: Engine,
    layers: Sequence[ArgLayer],
    args: Sequence[str],
    *,
    grace: int,
    sleep: int,
    patch_origin: Origin | None,
    diagnostics: Collector,
) -> None:
    """A warning where the grace period is shorter than the hook's sleep and the engine's drain timeout together.
    `grace`, `sleep`: in seconds; `patch_origin`: where a podTemplate may set it, None without one.
    """
    option: str = (engine.spec.get("drain") or {}).get("option", "")
    if not option or not (patch_origin or option in given_options(engine, layers)):
        return
    drain_options = frozenset([option])
    seconds = _last_number(engine, args, drain_options)
    if seconds is not None and sleep <= grace < seconds + sleep:
        last = last_given_number(engine, layers, drain_options)
        if origin := last.origin if last else patch_origin:
            words = {"option": option, "seconds": seconds, "sleep": sleep, "grace": grace}
            diagnostics.add("W228", origin, **words, least=seconds + sleep + 10)


def validate_split_paths(args: Sequence[str], origins: Sequence[tuple[str, Origin]], diagnostics: Collector) -> None:
    """An error for each argument of the preset that a shell would split or expand. `origins`: paths of weights, and
    where each is said.
    """
    for arg in args:
        if arg and (arg.split() != [arg] or not _GLOB.isdisjoint(arg)):
            error_origin = next((origin for path, origin in origins if path == arg), origins[0][1])
            diagnostics.add("E436", error_origin, arg=arg)


def validate_parallelism(accelerated: AcceleratedEngine, diagnostics: Collector) -> None:
    """An error where the arguments use more accelerators than the pod has, a warning where they leave some unused."""
    engine, accelerator, layers = accelerated.engine, accelerated.accelerator, accelerated.layers
    if accelerated.is_sized or accelerated.parallelism.hosts > 1:
        _refuse_parallel_options(engine, layers, diagnostics)
    if accelerated.parallelism.hosts > 1 or not accelerator.resource or not engine.size_options:
        return
    count = accelerator.number if accelerator.group else 1
    overridden = not given_options(engine, layers).isdisjoint(engine.parallel_options)
    last = last_given_number(engine, layers, engine.size_options) if overridden else None
    hint = "raise the flavor's limits, or lower the number"
    hint += "; over several pods a model is shared by spec.parallelism" if engine.multi_host else ""
    words = {"count": accelerator.number, "name": accelerator.resource, "hint": hint}
    if last is not None and last.value > count:
        diagnostics.add("E416", last.origin, option=last.option, size=last.value, **words)
        return
    size = _accelerators_used(engine, accelerated.args) if overridden else accelerated.parallelism.size
    if size is None or size == count:
        return
    shared = (last_given_number(engine, layers, frozenset(engine.multipliers)) if overridden else None) or last
    if size > count and shared is not None:
        diagnostics.add("E416", shared.origin, option=shared.option, size=size, **words)
    elif size < count and (origin := shared.origin if shared else accelerated.number_origin):
        stages = not accelerated.is_role or (engine.spec.get("disaggregation") or {}).get("pipeline") != "none"
        hint = f"lower the flavor's limits, or use all by data {'or pipeline ' if stages else ''}parallelism"
        if shared and last is None:
            option = min(engine.size_options)
            hint = f"your own size drops the derived one: say {option} too, or lower the flavor's limits"
        diagnostics.add("W236", origin, size=size, count=count, name=accelerator.resource, hint=hint)


def _refuse_parallel_options(engine: Engine, layers: Sequence[ArgLayer], diagnostics: Collector) -> None:
    """An error for each argument that shares out accelerators, where `spec.parallelism` or the flavor does it."""
    refused = engine.parallel_options | engine.uncountable_options
    for layer in layers:
        for i, token in enumerate(layer.args):
            if engine.style.name(token) in refused:
                diagnostics.add("E343", layer.origin.at(i), option=token.partition("=")[0])


def validate_model_facts(accelerated: AcceleratedEngine, diagnostics: Collector) -> None:
    """A warning where attention heads are not divisible by the tensor parallel size, or the context exceeds the model's
    `facts.contextLength`.
    """
    engine, accelerator, layers = accelerated.engine, accelerated.accelerator, accelerated.layers
    args, placement, model = accelerated.args, accelerated.placement, accelerated.model
    facts, options = model.spec["facts"], given_options(engine, layers)
    flavor = placement.origins(model)
    heads: int = (
        (facts.get("attention") or {}).get("heads") or 0
        if accelerator.number > 1 or accelerated.parallelism.hosts > 1
        else 0
    )
    size: int | None = accelerated.parallelism.tensor
    if heads and not options.isdisjoint(engine.parallel_options):
        size = _last_number(engine, args, engine.size_options)
    if heads and size and heads % size:
        last = last_given_number(engine, layers, engine.size_options)
        fits = max(divisor for divisor in range(1, size) if heads % divisor == 0)
        size_path = ("params", "TP") if "TP" in placement.params else ("limits", accelerator.resource)
        if origin := last.origin if last else flavor and flavor.at(*size_path):
            diagnostics.add("W226", origin, size=size, heads=heads, fits=fits)
    longest, flavor_length = facts.get("contextLength") or math.inf, placement.params.get("MAX-MODEL-LEN", "")
    stated = last_given_number(engine, layers, engine.length_options)
    if stated is None and flavor and flavor_length.isascii() and flavor_length.isdigit() and len(flavor_length) < 10:
        stated = GivenNumber(int(flavor_length), "", flavor.at("params", "MAX-MODEL-LEN"))
    if stated is None and (length := model_settings(model, engine).get("maxModelLen")):
        origin = Origin(model.document, ("spec", "engines", engine.runtime.name, "maxModelLen"))
        stated = GivenNumber(length, "", origin)
    if stated and stated.value > longest and not any("rope" in arg for arg in args):
        diagnostics.add("W227", stated.origin, length=stated.value, longest=longest)


def _accelerators_used(engine: Engine, args: Sequence[str]) -> int | None:
    """The number of accelerators that a command line uses; None where it cannot be told."""
    options = {engine.style.name(token) for token in args if token[:1] == "-"}
    known = engine.size_options | engine.multipliers.keys()
    if options & engine.uncountable_options or options & engine.parallel_options - known:
        return None
    size = 1
    for alternatives in (engine.size_options, *(frozenset([share]) for share in engine.multipliers)):
        excluding = frozenset().union(*(engine.multipliers.get(option, ()) for option in alternatives))
        if options & alternatives and not options & excluding:
            number = _last_number(engine, args, alternatives)
            if number is None:
                return None
            size *= number
    return size


def _last_number(engine: Engine, args: Sequence[str], options: frozenset[str]) -> int | None:
    """The number that the last of these options in a command line has; None without such an option, or number."""
    last = next((i for i in range(len(args) - 1, -1, -1) if engine.style.name(args[i]) in options), None)
    return None if last is None else dialect.number_at(args, last)
