"""The beginning of a run: the input of a tree, and what is known before its items are decided one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from msgspec import Struct

from renderer import load, resolve
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Scope, TrafficInput
from renderer.diagnostics import Diagnostic

Item = App | TrafficInput | OpenModel | BackendRuntime
Reader = Callable[[Scope], tuple[Inputs, list[Diagnostic]]]  # `load.inputs`, or a replacement


class LoadedTree(Struct, frozen=True):
    """The input of a tree."""

    scope: Scope
    inputs: Inputs
    context: resolve.RunContext
    problems: list[Diagnostic]  # of the files, the settings, and of names that several inputs have


def read_tree(scope: Scope, read: Reader = load.inputs) -> LoadedTree:
    """The input of one environment, and the problems that belong to no single item. Raises RenderError."""
    inputs, problems = read(scope)
    options = scope.options
    context = resolve.run_context(inputs, strict=options.strict, tells_all=options.strict or options.verbose)
    problems += [*context.problems, *resolve.validate_references(context), *resolve.name_conflicts(inputs)]
    return LoadedTree(scope, inputs, context, problems)


def items(inputs: Inputs) -> list[Item]:
    """What is rendered or checked one by one, below PATHS. Traffic follows its first app, whose cached results it uses;
    models and runtimes are mixed in, so that every process gets a share of each kind.
    """
    routes: dict[tuple[str, str], list[TrafficInput]] = {}  # by namespace and name of the first app
    for route in inputs.rendered_traffic:
        routes.setdefault((route.namespace, next(route.apps, "")), []).append(route)
    rendered: list[App | TrafficInput] = []
    for app in inputs.apps:
        rendered += [app, *routes.pop((app.namespace, app.name), ())]
    for rest in routes.values():
        rendered += rest
    return [item for pair in zip_longest(rendered, inputs.definitions) for item in pair if item]
