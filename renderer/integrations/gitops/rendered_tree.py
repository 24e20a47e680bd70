"""The rendered tree, by RenderConfig and git: folder, environments, layout, apps."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from renderer import load
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError, has_errors
from renderer.kubernetes import wellknown
from renderer.source import git


class RenderedTree(Struct, frozen=True):
    """The rendered tree in its repository."""

    folder: str  # relative to the top of the repository, with `/`
    environments: tuple[str, ...]  # names in order
    repository: str  # the URL of `origin`, or ''


def rendered_tree(paths: tuple[str, ...] = ()) -> RenderedTree:
    """The tree that `llmaz render PATHS` writes. Raises RenderError for an invalid RenderConfig."""
    options = RenderOptions(paths=paths)
    scope = load.scope(options)
    if scope.problems:
        raise RenderError(scope.problems)
    base = scope.tree.base
    try:
        top = git.top(base)
        repository = git.remote(top)
    except RenderError:  # no repository or no git: the flags have to name it
        top, repository = base, ""
    folder = os.path.relpath(os.path.realpath(scope.folder), os.path.realpath(top)).replace(os.sep, "/")
    return RenderedTree(folder, load.rendered_environments(options), repository)


def select_environments(environments: tuple[str, ...], requested: tuple[str, ...]) -> tuple[str, ...]:
    """The requested environments, else all; ('',) if there are none. Raises RenderError."""
    for name in requested:
        load.scope(RenderOptions(env=name))
    return tuple(dict.fromkeys(requested)) or environments or ("",)


def layout(environment: str) -> str:
    """The output.layout of an environment, '' for none. Raises RenderError for an invalid RenderConfig."""
    scope = load.scope(RenderOptions(env=environment))
    if has_errors(scope.problems):
        raise RenderError(scope.problems)
    return scope.layout


def apps(environments: Iterable[str]) -> list[tuple[str, str]]:
    """Sorted namespace and name of every app in these environments; none if the input has errors.

    Raises RenderError.
    """
    names: set[tuple[str, str]] = set()
    for name in environments:
        inputs, problems = load.inputs(load.scope(RenderOptions(env=name)))
        if has_errors(problems):
            return []
        names |= {(app.namespace, app.name) for app in inputs.apps}
    return sorted(names)


def deployments(environments: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Namespace and name of every app in these environments that Deployments run. Raises RenderError."""
    names: set[tuple[str, str]] = set()
    for name in environments:
        inputs, _ = load.inputs(load.scope(RenderOptions(env=name)))
        names |= {
            (app.namespace, app.name)
            for app in inputs.apps
            if (app.spec.get("workload") or {}).get("kind") == wellknown.DEPLOYMENT
        }
    return frozenset(names)


def only_environment(paths: tuple[str, ...], name: str, what: str) -> str:
    """The environment of that name, else the only one, else ''. `what`: what needs one environment, for the message.

    Raises RenderError.
    """
    options = load.for_one_environment(RenderOptions(paths=paths, env=name), what)
    load.scope(options)
    return options.env
