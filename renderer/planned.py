"""Input → Plans and no further, for what is asked of a whole tree without building anything of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from renderer import load, resolve
from renderer.api import App, Options, Scope, Traffic
from renderer.parallel import Team
from renderer.plan import Plan, Wanted, Way
from renderer.problems import Problem, at_hand
from renderer.records import NamedTuple
from renderer.work import Item, mixed

Ask = Callable[[resolve.Memo, App | Traffic, Sequence[Plan | Way]], Any]


class Planned(NamedTuple):
    """What was read, and what was answered of each item that has plans."""

    scope: Scope
    memo: resolve.Memo
    answers: list[Any]


def planned(options: Options, ask: Ask) -> tuple[Planned, list[Problem]]:
    """What `ask` says of the plans of each item below PATHS, in plain values, and what is wrong with the input. What
    only shows in rendered objects is not found. Raises RenderError.
    """
    scope = load.scope(options)
    inputs, problems = load.inputs(scope)
    memo = resolve.memo(inputs)
    problems += [*memo.problems, *resolve.dangling(memo), *resolve.clashes(inputs)]
    with Team(lambda: (partial(_share, ask, memo), None), mixed(inputs)) as team:
        shares = list(team.results())
    problems += [Problem(*each) for made in shares for each in made["problems"]]
    wanted = {Wanted(*each) for made in shares for each in made["wanted"]}
    problems += resolve.crossed(inputs, wanted) + resolve.joints(memo, wanted)[1]
    problems += load.nothing(inputs, scope, problems)
    return Planned(scope, memo, [each for made in shares for each in made["answers"]]), problems


def _share(ask: Ask, memo: resolve.Memo, items: Sequence[Item]) -> dict[str, Any]:
    """What came of some items, as plain values: answers, what all must know, problems."""
    answers: list[Any] = []
    problems: list[Problem] = []
    wanted: set[Wanted] = set()
    for item in items:
        with at_hand(item.document.name):
            if not isinstance(item, (App, Traffic)):
                problems += resolve.checked(memo, item)
                continue
            plans, found = resolve.plan(memo, item)
            problems += found
            wanted.update(resolve.needs(plans))
            if plans:
                answers.append(ask(memo, item, plans))
    said = {"answers": answers, "wanted": [tuple(each) for each in wanted]}
    return {**said, "problems": [tuple(each) for each in problems]}
