"""A question → the objects that it means, and for each of their fields who made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from renderer.api import Options
from renderer.explain import asking
from renderer.explain.asking import APPS, Asked, Missing
from renderer.explain.making import House, Item, Made
from renderer.explain.reasons import Place, Reason, Reasons
from renderer.problems import Path, Problem, RenderError, dotted, guess, problem
from renderer.records import NamedTuple
from renderer.secrets import hidden_in_line, veiled


class Block(NamedTuple):
    """One object, or a field of it at `path`: its value, and who made each of its leaves, `path` of these being the
    object's.
    """

    made: Made
    path: Path
    value: Any
    leaves: tuple[tuple[Path, Any, Reason], ...]


class Answer(NamedTuple):
    """`field`: whether a field was asked for, not whole objects."""

    blocks: tuple[Block, ...]
    field: bool


def answer(text: str, options: Options, show: bool = False) -> Answer:
    """What the question comes to; with `show` values too that may be secrets. Raises RenderError for one that means
    nothing, and for input that does not hold.
    """
    given = asking.asked(text)
    house = House(options)
    if house.wrong:
        raise RenderError(house.wrong)
    found, name = _found(house, given)
    parts = asking.steps(given, given.field(name))
    reasons = Reasons(house)
    if not parts:
        return Answer(tuple(_block(reasons, each, (), show) for each in found), False)
    made, path = _field(given, found, parts)
    return Answer((_block(reasons, made, path, show),), True)


def _block(reasons: Reasons, made: Made, path: Path, show: bool) -> Block:
    body = made.body if show else veiled(made.body)
    value, real = _at(body, path), leaves(_at(made.body, path), path)
    found = []
    for (at, leaf), (_, held) in zip(leaves(value, path), real, strict=True):
        reason = reasons.of(made, at)
        found.append((at, leaf, reason if show else _veiled(reason, made.body, at, leaf != held)))
    return Block(made, path, value, tuple(found))


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _veiled(reason: Reason, body: Any, path: Path, hidden: bool) -> Reason:
    """The reason without secrets in the lines that it quotes; without lines where the field itself is `hidden`."""
    name = _at(body, path[:-1]).get("name") if path[-1:] == ("value",) else ""

    def place(each: Place) -> Place:
        return each._replace(text="" if hidden else hidden_in_line(each.text, name if isinstance(name, str) else ""))

    return reason._replace(
        place=reason.place and place(reason.place),
        others=tuple(map(place, reason.others)),
        words=tuple((word, each and place(each)) for word, each in reason.words),
    )


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Every field that holds no further ones: scalars, and what is empty."""
    if isinstance(value, dict) and value:
        return [each for key, item in value.items() for each in leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [each for i, item in enumerate(value) for each in leaves(item, (*path, i))]
    return [(path, value)]


# Which objects


def _found(house: House, given: Asked) -> tuple[list[Made], str]:
    """The objects, and the name that was meant. Raises RenderError."""
    names = list(given.names())
    near = [each for each in house.items if any(f"{name}-".startswith(f"{each.label}-") for name in names)]
    for stage in ("near", "apps", "shared"):
        made = house.shared() if stage == "shared" else house.made(near if stage == "near" else house.items)
        for name in reversed(names):
            if objects := _chosen(house, given, name, made):
                return objects, name
        if house.refused and any(each.label in names for each in near):
            break
    if house.refused or any(each.forbids() for each in house.problems):
        # What is asked for may be what is wrong.
        raise RenderError([*house.refused, *(each for each in house.problems if each.forbids())])
    raise RenderError([_unknown(house, given, names)])


def _chosen(house: House, given: Asked, name: str, made: Sequence[Made]) -> list[Made]:
    """The objects of this name; those of an app, where its name or its own kind is given."""
    exact = [
        each
        for each in made
        if each.key[2] == name and each.key[0] == given.kind and (not given.namespace or given.namespace == each.key[1])
    ]
    if given.kind and exact:
        if len(exact) > 1:
            raise RenderError([_ambiguous(given, [str(each) for each in exact])])
        return exact
    if given.kind and given.kind not in APPS:
        return []
    items = [
        each
        for each in house.items
        if each.label == name
        and (not given.kind or each.kind == given.kind)
        and (not given.namespace or each.namespace == given.namespace)
    ]
    if len(items) > 1:
        raise RenderError([_ambiguous(given, [f"{each.kind}/{each.namespace}/{each.label}" for each in items])])
    if items:
        return house.made(items)
    named = [each for each in made if each.key[2] == name] if not given.kind else []
    spaces = sorted({each.key[1] for each in named})
    if len(spaces) > 1:
        raise RenderError([_ambiguous(given, [str(each) for each in named])])
    return named


def _ambiguous(given: Asked, known: Sequence[str]) -> Problem:
    few = ", ".join(known[:6]) + (", …" if len(known) > 6 else "")
    return problem("E776", given.origin, count=len(known), known=few)


def _unknown(house: House, given: Asked, names: Sequence[str]) -> Problem:
    """With a guess: the same name elsewhere first."""
    every = [*house.made(house.items), *house.shared()]
    whole = "/".join(filter(None, (given.kind, given.namespace, names[0])))
    same = [str(each) for each in every if each.key[2] in names]
    items: list[Item] = house.items
    alike = [f"{each.kind}/{each.namespace}/{each.label}" for each in items if each.label in names]
    same = [each for each in same if each.startswith(f"{given.kind}/")] or same
    alike = [] if given.kind and given.kind not in APPS else alike
    if same or alike:
        hint = f"there is {', '.join(list(dict.fromkeys([*alike, *same]))[:4])}"
    elif given.kind:
        of_kind = [each for each in every if each.key[0] == given.kind]
        known = sorted({each.key[2] for each in of_kind} | {each.label for each in items if each.kind == given.kind})
        hint = guess(names[0], known) or f"no {given.kind} is rendered"
    else:
        hint = guess(names[0], sorted({each.label for each in items} | {each.key[2] for each in every}))
    return problem("E777", given.origin, what=whole, hint=hint)


def _field(given: Asked, found: Sequence[Made], parts: Sequence[str]) -> tuple[Made, Path]:
    """The one object that has the field. Raises RenderError."""
    led = [(each, asking.path_in(given, each.body, parts, str(each))) for each in found]
    there = [(made, path) for made, path in led if not isinstance(path, Missing)]
    if not there:
        led += [(made, path) for made in found for path in _further_in(given, made, parts)]
        there = [(made, path) for made, path in led if not isinstance(path, Missing)]
    if len(there) > 1:
        one = len({id(made) for made, _ in there}) == 1
        raise RenderError([_ambiguous(given, [dotted(path) if one else str(made) for made, path in there])])
    if there:
        return there[0]
    # The object in which it went furthest is the one that was meant.
    raise RenderError([max((path for _, path in led if isinstance(path, Missing)), key=lambda each: each.deep).problem])


def _further_in(given: Asked, made: Made, parts: Sequence[str]) -> Iterator[Path | Missing]:
    """Where a path begins further in: `containers[model-runner].image`."""
    for start, value in _maps(made.body):
        if parts[0] in value:
            path = asking.path_in(given, value, parts, str(made))
            yield path if isinstance(path, Missing) else (*start, *path)


def _maps(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        yield path, value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _maps(item, (*path, key))
