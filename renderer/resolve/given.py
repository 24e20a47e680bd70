"""Whether the arguments that people give go with the rest of the pod: what is not theirs to set, the preset's files,
and the accelerators that the pod has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from renderer.api import OpenModel, Spec
from renderer.problems import Findings, Origin
from renderer.records import NamedTuple
from renderer.resolve import options
from renderer.resolve.engines import Engine, Recommended, model_settings
from renderer.resolve.flavors import Accelerator, Placement

_GLOB = frozenset("*?[")


class Given(NamedTuple):
    """One author's arguments, and where they stand."""

    args: Sequence[str]
    origin: Origin


class Accelerated(NamedTuple):
    """An engine on accelerators. `derived`: the tensor parallel size where nobody says one; `given`: what people say;
    `line`: all arguments, as they will be; `model`: whose flavors are the `place`.
    """

    engine: Engine
    held: Accelerator
    derived: int
    given: Sequence[Given]
    line: Sequence[str]
    place: Placement
    model: OpenModel


def judge(engine: Engine, given: Sequence[Given], draft: bool, slots: int, found: Findings) -> None:
    """What the renderer or the preset has its own say in. `given`: the model's author first, then the Playground's,
    each with some arguments; `slots`: how many requests run at once, as far as the command line says.
    """
    _shared_tokens(engine, given, slots, found)
    wholes: set[str] = set()
    for each in given:
        options.reserved(engine.style, engine.reserved, each.args, each.origin, found)
        for i, token in enumerate(each.args) if draft and engine.filed else ():
            if path := engine.filed.get(engine.style.name(token)):
                found.add("W234", each.origin.at(i), option=token.partition("=")[0], path=path)
        if wholes:
            _keyed(engine, each, wholes, found)
        if engine.style.dotted and each is not given[-1]:
            wholes |= {name for token in each.args if (name := engine.style.name(token)) and "." not in name}


def _shared_tokens(engine: Engine, given: Sequence[Given], slots: int, found: Findings) -> None:
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
    found.add("W249", origin, slots=slots, tokens=what, share=share, hint=hint)


def _keyed(engine: Engine, given: Given, wholes: set[str], found: Findings) -> None:
    """A warning for the first key of each option that an earlier author gave as a whole, which is then lost."""
    said: set[str] = set()
    for i, token in enumerate(given.args):
        keyed = token[:1] == "-" and "." in token and engine.style.head(token)[1]
        name = engine.style.name(token).partition(".")[0] if keyed else ""
        if name in wholes - said:
            said.add(name)
            option = token.partition("=")[0]
            found.add("W232", given.origin.at(i), of=engine.runtime.name, option=option, other=name)


def undrafted(config: Recommended, line: Sequence[str], user: Spec, origin: Origin, found: Findings) -> None:
    """An error where the path of a draft model that nobody claims is still in the line of a config that has it, as an
    empty argument.
    """
    if "" in line:
        place = origin.at("configName") if "configName" in user else config.origin.at("args")
        found.add("E417", place, name=config.spec["name"])


def drafted(path: str, texts: Iterable[object], origin: Origin, found: Findings) -> None:
    """A warning where none of the texts that an engine gets holds the draft model's path. `origin`: of its claim."""
    if not any(path in str(each) for each in texts):
        found.add("W222", origin)


def drained(
    engine: Engine,
    given: Sequence[Given],
    line: Sequence[str],
    grace: int,
    patch: Origin | None,
    found: Findings,
) -> None:
    """A warning where the pod is killed before the engine has finished what it was given time for. `grace`: what the
    pod has from the start of its hook; `patch`: who may have changed that, None where nobody could.
    """
    option: str = (engine.spec.get("drain") or {}).get("option", "")
    if not option or not (patch or option in _named(engine, given)):
        return
    asked, sleep = frozenset([option]), engine.constant["DrainSleep"]
    seconds = _told(engine, line, asked)
    if seconds is not None and sleep <= grace < seconds + sleep:
        said = _last(engine, given, asked)
        if origin := said[2] if said else patch:
            words = {"option": option, "seconds": seconds, "sleep": sleep, "grace": grace}
            found.add("W228", origin, **words, least=seconds + sleep + 10)


def unsplit(args: Sequence[str], origins: Sequence[tuple[str, Origin]], found: Findings) -> None:
    """An error for each of the preset's filled arguments that a shell would take apart; `origins`: paths of weights,
    and who says them.
    """
    for arg in args:
        if arg and (arg.split() != [arg] or not _GLOB.isdisjoint(arg)):
            place = next((origin for path, origin in origins if path == arg), origins[0][1])
            found.add("E436", place, arg=arg)


def shared_out(on: Accelerated, found: Findings) -> None:
    """An error where more accelerators are shared out than the pod has, a warning where some are left over."""
    engine, held, derived, given, line, place, model = on
    if not held.resource or not engine.sizes:
        return
    count = held.number if held.group else 1
    touched = not _named(engine, given).isdisjoint(engine.sharing)
    last = _last(engine, given, engine.sizes) if touched else None
    if last is not None and last[0] > count:
        found.add("E416", last[2], option=last[1], size=last[0], count=held.number, name=held.resource)
        return
    size = _used(engine, line) if touched else derived
    if size is None or size == count:
        return
    shared = (_last(engine, given, frozenset(engine.shares)) if touched else None) or last
    if size > count and shared is not None:
        found.add("E416", shared[2], option=shared[1], size=size, count=held.number, name=held.resource)
    elif size < count:
        params = place.places(model, "params")
        if origin := shared[2] if shared else params and params.at("TP"):
            hint = "lower the flavor's limits, or use all by data or pipeline parallelism"
            if shared and last is None:
                hint = f"your own size drops the derived one: say {min(engine.sizes)} too, or lower the flavor's limits"
            found.add("W236", origin, size=size, count=count, name=held.resource, hint=hint)


def known(on: Accelerated, found: Findings) -> None:
    """A warning for what does not go with the model's `facts`: heads that cannot be shared out alike, a context beyond
    the one that it was made for.
    """
    engine, held, derived, given, line, place, model = on
    facts, mine = model.spec["facts"], _named(engine, given)
    params, limits = place.places(model, "params"), place.places(model, "limits")
    heads: int = (facts.get("attention") or {}).get("heads") or 0 if held.number > 1 else 0
    size: int | None = derived
    if heads and not mine.isdisjoint(engine.sharing):
        size = _told(engine, line, engine.sizes)
    if heads and size and heads % size:
        said, fits = _last(engine, given, engine.sizes), max(each for each in range(1, size) if heads % each == 0)
        flavor = (params and "TP" in place.params and params.at("TP")) or (limits and limits.at(held.resource))
        if origin := said[2] if said else flavor:
            found.add("W226", origin, size=size, heads=heads, fits=fits)
    longest, written = facts.get("contextLength") or math.inf, place.params.get("MAX-MODEL-LEN", "")
    told = None if mine.isdisjoint(engine.lengths) else _last(engine, given, engine.lengths)
    if told is None and params and written.isascii() and written.isdigit() and len(written) < 10:
        told = int(written), "", params.at("MAX-MODEL-LEN")
    if told is None and (length := model_settings(model, engine).get("maxModelLen")):
        told = length, "", Origin(model.document, ("spec", "engines", engine.runtime.name, "maxModelLen"))
    if told and told[0] > longest and not any("rope" in each for each in line):
        found.add("W227", told[2], length=told[0], longest=longest)


def _named(engine: Engine, given: Sequence[Given]) -> set[str]:
    """The options that authors give."""
    return {engine.style.name(token) for each in given for token in each.args if token[:1] == "-"}


def _used(engine: Engine, line: Sequence[str]) -> int | None:
    """How many accelerators a command line uses; None where it does not say that in numbers."""
    said = {engine.style.name(token) for token in line if token[:1] == "-"}
    known = engine.sizes | engine.shares.keys()
    if said & engine.uncounted or said & engine.sharing - known:
        return None
    size = 1
    for factor in (engine.sizes, *(frozenset([each]) for each in engine.shares)):
        beside = frozenset().union(*(engine.shares.get(each, ()) for each in factor))
        if said & factor and not said & beside:
            number = _told(engine, line, factor)
            if number is None:
                return None
            size *= number
    return size


def _last(engine: Engine, given: Sequence[Given], wanted: frozenset[str]) -> tuple[int, str, Origin] | None:
    """The last number that an author says by one of these options, in its spelling, and where."""
    for each in reversed(given):
        for i in range(len(each.args) - 1, -1, -1):
            if engine.style.name(each.args[i]) in wanted and (number := options.number_of(each.args, i)) is not None:
                return number, each.args[i].partition("=")[0], each.origin.at(i)
    return None


def _told(engine: Engine, line: Sequence[str], wanted: frozenset[str]) -> int | None:
    """The number that the last of these options in a command line is given; None without one of them, or a number."""
    last = next((i for i in range(len(line) - 1, -1, -1) if engine.style.name(line[i]) in wanted), None)
    return None if last is None else options.number_of(line, last)
