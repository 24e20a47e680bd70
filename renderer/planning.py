"""Input → Plans, for commands that need the plans of a whole tree, but no objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, resolve, workers
from renderer.api import App, RenderOptions, Scope, TrafficInput
from renderer.diagnostics import Diagnostic, naming_file
from renderer.loaded_tree import Item, items, read_tree
from renderer.plan import Plan, SharedNeed, TrafficPlan
from renderer.result import merge_problems

Ask = Callable[[resolve.RunContext, App | TrafficInput, Sequence[Plan | TrafficPlan]], object]


class PlannedTree(Struct, frozen=True):
    """The input of a tree, and the answers for its items."""

    scope: Scope
    context: resolve.RunContext
    answers: list[Any]


def plan_tree(options: RenderOptions, ask: Ask) -> tuple[PlannedTree, list[Diagnostic]]:
    """The answers of `ask` (plain values) for the plans of each item below PATHS, and the problems of the input; those
    of rendered objects are not found. Raises RenderError.
    """
    scope = load.scope(options)
    tree = read_tree(scope)
    inputs, context = tree.inputs, tree.context
    parts = workers.run(partial(_ask_items, ask, context), items(inputs))
    problems = [*tree.problems, *(problem for part in parts for problem in part.problems)]
    needs = {need for part in parts for need in part.needs}
    problems += resolve.route_conflicts(inputs, needs) + resolve.shared_plans(context, needs)[1]
    problems += load.no_input_errors(inputs, scope, problems)
    return PlannedTree(scope, context, [answer for part in parts for answer in part.answers]), problems


def plan_environments(options: RenderOptions, ask: Ask) -> tuple[dict[str, PlannedTree], list[Diagnostic]]:
    """What `plan_tree` makes of each environment, or of the one of the options, by its name, '' for a tree without
    environments; and the problems of all. Raises RenderError.
    """
    trees: dict[str, PlannedTree] = {}
    problems: dict[str, list[Diagnostic]] = {}
    for name in load.rendered_environments(options) or ("",):
        trees[name], problems[name] = plan_tree(replace(options, env=name), ask)
    return trees, [*merge_problems(problems)]


class _Part(Struct, frozen=True):
    """The results of a chunk: answers, problems, and the shared objects that the items need."""

    answers: list[object]
    problems: list[Diagnostic]
    needs: set[SharedNeed]


def _ask_items(ask: Ask, context: resolve.RunContext, items: Sequence[Item]) -> _Part:
    answers: list[object] = []
    problems: list[Diagnostic] = []
    needs: set[SharedNeed] = set()
    for item in items:
        with naming_file(item.document.name):
            if not isinstance(item, (App, TrafficInput)):
                problems += resolve.validate_item(context, item)
                continue
            plans, plan_problems = resolve.plan(context, item)
            problems += plan_problems
            needs.update(resolve.shared_needs(plans))
            if plans:
                answers.append(ask(context, item, plans))
    return _Part(answers, problems, needs)
