"""Whether the arguments that people give go with the rest of the pod: what is not theirs to set, the preset's files,
and the accelerators that the pod has.
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
from renderer.resolve.flavors import Accelerator, Placement

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeConfigSpec

_GLOB = frozenset("*?[")


class AcceleratedEngine(Struct, frozen=True):
    """An engine on accelerators. `derived`: the tensor parallel size where nobody says one; `given`: what people say;
    `line`: all arguments, as they will be; `model`: whose flavors are the `place`.
    """

    engine: Engine
    held: Accelerator
    derived: int
    given: Sequence[ArgLayer]
    line: Sequence[str]
    place: Placement
    model: OpenModel


def validate_args(engine: Engine, given: Sequence[ArgLayer], draft: bool, slots: int, diagnostics: Collector) -> None:
    """What the renderer or the preset has its own say in. `given`: the model's author first, then the Playground's,
    each with some arguments; `slots`: how many requests run at once, as far as the command line says.
    """
    _shared_tokens(engine, given, slots, diagnostics)
    wholes: set[str] = set()
    for layer in given:
        dialect.reserved(engine.style, engine.reserved, layer.args, layer.origin, diagnostics)
        for i, token in enumerate(layer.args) if draft and engine.filed else ():
            if path := engine.filed.get(engine.style.name(token)):
                diagnostics.add("W234", layer.origin.at(i), option=token.partition("=")[0], path=path)
        if wholes:
            _keyed(engine, layer, wholes, diagnostics)
        if engine.style.dotted and layer is not given[-1]:
            wholes |= {name for token in layer.args if (name := engine.style.name(token)) and "." not in name}


def _shared_tokens(engine: Engine, given: Sequence[ArgLayer], slots: int, diagnostics: Collector) -> None:
    """A warning for tokens that all requests at once share, where nobody says beside them how many these are."""
    shared = engine.shared_tokens
    if shared is None or slots < 2 or shared.among in _named(engine, given):
        return
    last = _last(engine, given, shared.options)
    if last is None:
        return
    tokens, option, origin = last
    listed = engine.lists.get(engine.version)
    if shared.instead and (listed is None or shared.instead in listed.options):
        amount = f" {tokens}' for {tokens} tokens each" if tokens else "' and what each may have"
        hint = f"write '{shared.instead}{amount}, or '{shared.among} {slots}' beside it if sharing is meant"
    else:
        amount = f" {tokens * slots}' and '{shared.among} {slots}' for {tokens} tokens each"
        hint = f"write '{option}{amount}" if tokens else f"write '{shared.among} {slots}' beside it if sharing is meant"
    what = f"the {tokens} tokens of '{option}'" if tokens else f"the model's whole context, which '{option} 0' asks for"
    share = f", so each gets {tokens // slots}" if tokens else ""
    diagnostics.add("W249", origin, slots=slots, tokens=what, share=share, hint=hint)


def _keyed(engine: Engine, given: ArgLayer, wholes: set[str], diagnostics: Collector) -> None:
    """A warning for the first key of each option that an earlier author gave as a whole, which is then lost."""
    reported: set[str] = set()
    for i, token in enumerate(given.args):
        keyed = token[:1] == "-" and "." in token and engine.style.head(token)[1]
        name = engine.style.name(token).partition(".")[0] if keyed else ""
        if name in wholes - reported:
            reported.add(name)
            option = token.partition("=")[0]
            diagnostics.add("W232", given.origin.at(i), of=engine.runtime.name, option=option, other=name)


def validate_draft_args(
    config: RecommendedConfig,
    line: Sequence[str],
    user: BackendRuntimeConfigSpec,
    origin: Origin,
    diagnostics: Collector,
) -> None:
    """An error where the path of a draft model that nobody claims is still in the line of a config that has it, as an
    empty argument.
    """
    if "" in line:
        place = origin.at("configName") if "configName" in user else config.origin.at("args")
        diagnostics.add("E417", place, name=config.spec["name"])


def validate_drafting(path: str, texts: Iterable[object], origin: Origin, diagnostics: Collector) -> None:
    """A warning where none of the texts that an engine gets holds the draft model's path. `origin`: of its claim."""
    if not any(path in str(text) for text in texts):
        diagnostics.add("W222", origin)


def validate_drain(
    engine: Engine,
    given: Sequence[ArgLayer],
    line: Sequence[str],
    grace: int,
    patch: Origin | None,
    diagnostics: Collector,
) -> None:
    """A warning where the pod is killed before the engine has finished what it was given time for. `grace`: what the
    pod has from the start of its hook; `patch`: who may have changed that, None where nobody could.
    """
    option: str = (engine.spec.get("drain") or {}).get("option", "")
    if not option or not (patch or option in _named(engine, given)):
        return
    drain_options, sleep = frozenset([option]), engine.constant["DrainSleep"]
    seconds = _told(engine, line, drain_options)
    if seconds is not None and sleep <= grace < seconds + sleep:
        last = _last(engine, given, drain_options)
        if origin := last[2] if last else patch:
            words = {"option": option, "seconds": seconds, "sleep": sleep, "grace": grace}
            diagnostics.add("W228", origin, **words, least=seconds + sleep + 10)


def validate_split_paths(args: Sequence[str], origins: Sequence[tuple[str, Origin]], diagnostics: Collector) -> None:
    """An error for each of the preset's filled arguments that a shell would take apart; `origins`: paths of weights,
    and who says them.
    """
    for arg in args:
        if arg and (arg.split() != [arg] or not _GLOB.isdisjoint(arg)):
            place = next((origin for path, origin in origins if path == arg), origins[0][1])
            diagnostics.add("E436", place, arg=arg)


def validate_parallelism(on: AcceleratedEngine, diagnostics: Collector) -> None:
    """An error where more accelerators are shared out than the pod has, a warning where some are left over."""
    engine, held, given, place = on.engine, on.held, on.given, on.place
    if not held.resource or not engine.sizes:
        return
    count = held.number if held.group else 1
    touched = not _named(engine, given).isdisjoint(engine.sharing)
    last = _last(engine, given, engine.sizes) if touched else None
    if last is not None and last[0] > count:
        diagnostics.add("E416", last[2], option=last[1], size=last[0], count=held.number, name=held.resource)
        return
    size = _used(engine, on.line) if touched else on.derived
    if size is None or size == count:
        return
    shared = (_last(engine, given, frozenset(engine.shares)) if touched else None) or last
    if size > count and shared is not None:
        diagnostics.add("E416", shared[2], option=shared[1], size=size, count=held.number, name=held.resource)
    elif size < count:
        flavor = place.origins(on.model)
        if origin := shared[2] if shared else flavor and flavor.at("params", "TP"):
            hint = "lower the flavor's limits, or use all by data or pipeline parallelism"
            if shared and last is None:
                hint = f"your own size drops the derived one: say {min(engine.sizes)} too, or lower the flavor's limits"
            diagnostics.add("W236", origin, size=size, count=count, name=held.resource, hint=hint)


def validate_model_facts(on: AcceleratedEngine, diagnostics: Collector) -> None:
    """A warning for what does not go with the model's `facts`: heads that cannot be shared out alike, a context beyond
    the one that it was made for.
    """
    engine, held, given, line, place, model = on.engine, on.held, on.given, on.line, on.place, on.model
    facts, mine = model.spec["facts"], _named(engine, given)
    flavor = place.origins(on.model)
    heads: int = (facts.get("attention") or {}).get("heads") or 0 if held.number > 1 else 0
    size: int | None = on.derived
    if heads and not mine.isdisjoint(engine.sharing):
        size = _told(engine, line, engine.sizes)
    if heads and size and heads % size:
        last, fits = (
            _last(engine, given, engine.sizes),
            max(divisor for divisor in range(1, size) if heads % divisor == 0),
        )
        sized = ("params", "TP") if "TP" in place.params else ("limits", held.resource)
        if origin := last[2] if last else flavor and flavor.at(*sized):
            diagnostics.add("W226", origin, size=size, heads=heads, fits=fits)
    longest, written = facts.get("contextLength") or math.inf, place.params.get("MAX-MODEL-LEN", "")
    stated = None if mine.isdisjoint(engine.lengths) else _last(engine, given, engine.lengths)
    if stated is None and flavor and written.isascii() and written.isdigit() and len(written) < 10:
        stated = int(written), "", flavor.at("params", "MAX-MODEL-LEN")
    if stated is None and (length := model_settings(model, engine).get("maxModelLen")):
        stated = length, "", Origin(model.document, ("spec", "engines", engine.runtime.name, "maxModelLen"))
    if stated and stated[0] > longest and not any("rope" in divisor for divisor in line):
        diagnostics.add("W227", stated[2], length=stated[0], longest=longest)


def _named(engine: Engine, given: Sequence[ArgLayer]) -> set[str]:
    """The options that authors give."""
    return {engine.style.name(token) for layer in given for token in layer.args if token[:1] == "-"}


def _used(engine: Engine, line: Sequence[str]) -> int | None:
    """How many accelerators a command line uses; None where it does not say that in numbers."""
    named = {engine.style.name(token) for token in line if token[:1] == "-"}
    known = engine.sizes | engine.shares.keys()
    if named & engine.uncounted or named & engine.sharing - known:
        return None
    size = 1
    for factor in (engine.sizes, *(frozenset([share]) for share in engine.shares)):
        beside = frozenset().union(*(engine.shares.get(option, ()) for option in factor))
        if named & factor and not named & beside:
            number = _told(engine, line, factor)
            if number is None:
                return None
            size *= number
    return size


def _last(engine: Engine, given: Sequence[ArgLayer], wanted: frozenset[str]) -> tuple[int, str, Origin] | None:
    """The last number that an author says by one of these options, in its spelling, and where."""
    for layer in reversed(given):
        for i in range(len(layer.args) - 1, -1, -1):
            if engine.style.name(layer.args[i]) in wanted and (number := dialect.number_of(layer.args, i)) is not None:
                return number, layer.args[i].partition("=")[0], layer.origin.at(i)
    return None


def _told(engine: Engine, line: Sequence[str], wanted: frozenset[str]) -> int | None:
    """The number that the last of these options in a command line is given; None without one of them, or a number."""
    last = next((i for i in range(len(line) - 1, -1, -1) if engine.style.name(line[i]) in wanted), None)
    return None if last is None else dialect.number_of(line, last)
