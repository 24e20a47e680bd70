"""Input → Plans and no further, for what is asked of a whole tree without building anything of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from renderer import load, resolve, workers
from renderer.api import App, RenderOptions, Scope, TrafficInput
from renderer.diagnostics import Diagnostic, naming_file
from renderer.items import Item, items
from renderer.plan import Plan, SharedNeed, TrafficPlan

Ask = Callable[[resolve.RunContext, App | TrafficInput, Sequence[Plan | TrafficPlan]], Any]


class PlannedTree(Struct, frozen=True):
    """What was read, and what was answered of each item that has plans."""

    scope: Scope
    context: resolve.RunContext
    answers: list[Any]


def plan_tree(options: RenderOptions, ask: Ask) -> tuple[PlannedTree, list[Diagnostic]]:
    """What `ask` says of the plans of each item below PATHS, in plain values, and what is wrong with the input. What
    only shows in rendered objects is not found. Raises RenderError.
    """
    scope = load.scope(options)
    inputs, problems = load.inputs(scope)
    context = resolve.run_context(inputs)
    problems += [*context.problems, *resolve.validate_references(context), *resolve.name_conflicts(inputs)]
    parts = workers.run(partial(_answered, ask, context), items(inputs))
    problems += [problem for part in parts for problem in part.problems]
    wanted = {need for part in parts for need in part.wanted}
    problems += resolve.route_conflicts(inputs, wanted) + resolve.shared_plans(context, wanted)[1]
    problems += load.nothing(inputs, scope, problems)
    return PlannedTree(scope, context, [answer for part in parts for answer in part.answers]), problems


class _Part(Struct, frozen=True):
    """What came of some items: answers, problems, and what they need together with others."""

    answers: list[Any]
    problems: list[Diagnostic]
    wanted: set[SharedNeed]


def _answered(ask: Ask, context: resolve.RunContext, chunk: Sequence[Item]) -> _Part:
    answers: list[Any] = []
    problems: list[Diagnostic] = []
    wanted: set[SharedNeed] = set()
    for item in chunk:
        with naming_file(item.document.name):
            if not isinstance(item, (App, TrafficInput)):
                problems += resolve.validate_item(context, item)
                continue
            plans, plan_problems = resolve.plan(context, item)
            problems += plan_problems
            wanted.update(resolve.shared_needs(plans))
            if plans:
                answers.append(ask(context, item, plans))
    return _Part(answers, problems, wanted)
