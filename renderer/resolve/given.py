"""Whether the arguments that people give go with the rest of the pod: what is not theirs to set, the preset's files,
and the accelerators that the pod has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from renderer.api import OpenModel
from renderer.problems import Findings, Origin
from renderer.records import NamedTuple
from renderer.resolve import options
from renderer.resolve.engines import Engine
from renderer.resolve.flavors import Accelerator, Placement

_GLOB = frozenset("*?[")


class Given(NamedTuple):
    """One author's arguments, and where they stand."""

    args: Sequence[str]
    origin: Origin


def judge(engine: Engine, given: Sequence[Given], draft: bool, found: Findings) -> None:
    """What the renderer or the preset has its own say in. `given`: the model's author first, then the Playground's,
    each with some arguments.
    """
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


def drafted(path: str, texts: Iterable[object], origin: Origin, found: Findings) -> None:
    """A warning where none of the texts that an engine gets holds the draft model's path. `origin`: of its claim."""
    if not any(path in str(each) for each in texts):
        found.add("W222", origin)


def unsplit(args: Sequence[str], origins: Sequence[tuple[str, Origin]], found: Findings) -> None:
    """An error for each of the preset's filled arguments that a shell would take apart; `origins`: paths of weights,
    and who says them.
    """
    for arg in args:
        if arg and (arg.split() != [arg] or not _GLOB.isdisjoint(arg)):
            place = next((origin for path, origin in origins if path == arg), origins[0][1])
            found.add("E436", place, arg=arg)


def shared_out(
    engine: Engine,
    held: Accelerator,
    size: int,
    given: Sequence[Given],
    line: Sequence[str],
    place: Placement,
    model: OpenModel,
    found: Findings,
) -> None:
    """An error where an author's tensor parallel size is above the pod's accelerators, a warning where some of these
    are left over. `size`: the derived one; `line`: all arguments, as they will be; `model`: whose flavors are the
    `place`.
    """
    if not held.resource or not engine.sizes:
        return
    count = held.number if held.group else 1
    last = next((said for each in reversed(given) for said in _sizes(engine, each)), None)
    if last is not None:
        number, option, origin = last
        if number > count:
            found.add("E416", origin, option=option, size=number, count=held.number, name=held.resource)
            return
        size = number
    if size < count and not any(engine.style.name(token) in engine.sharing - engine.sizes for token in line):
        params = place.places(model, "params")
        origin_ = last[2] if last else params.at("TP") if params else None
        if origin_:
            found.add("W236", origin_, size=size, count=count, name=held.resource)


def _sizes(engine: Engine, given: Given) -> Iterator[tuple[int, str, Origin]]:
    """Each tensor parallel size that an author says, the last first."""
    style = engine.style
    for i in range(len(given.args) - 1, -1, -1):
        token = given.args[i]
        if token[:1] == "-" and style.name(token) in engine.sizes:
            option, glued, value = token.partition("=")
            value = value if glued else "".join(given.args[i + 1 : i + 2])
            if value.isascii() and value.isdigit() and 0 < len(value) < 10:
                yield int(value), option, given.origin.at(i)
