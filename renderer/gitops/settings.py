"""What RenderConfig and git know of the rendered tree."""

from __future__ import annotations

import os
from collections.abc import Iterable

from renderer import git, load
from renderer.api import Options
from renderer.problems import RenderError, failing
from renderer.records import NamedTuple


class Tree(NamedTuple):
    """The rendered tree. `folder`: in its repository, with `/`; `environments`: their names, in order; `repository`:
    the URL of `origin`, or ''.
    """

    folder: str
    environments: tuple[str, ...]
    repository: str


def tree(paths: tuple[str, ...] = ()) -> Tree:
    """The tree that `llmaz render PATHS` writes. Raises RenderError for a RenderConfig that is wrong."""
    options = Options(paths=paths)
    scope = load.scope(options)
    if scope.problems:
        raise RenderError(scope.problems)
    base = scope.tree.base
    try:
        top = git.top(base)
        repository = git.remote(top)
    except RenderError:  # no repository, or no git: flags say it all
        top, repository = base, ""
    folder = os.path.relpath(os.path.realpath(scope.folder), os.path.realpath(top)).replace(os.sep, "/")
    return Tree(folder, load.environment_names(options), repository)


def wanted(known: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    """The environments that are wanted: those named, else all; ('',) where there are none. Raises RenderError."""
    for name in named:
        load.scope(Options(env=name))
    return tuple(dict.fromkeys(named)) or known or ("",)


def layout(environment: str) -> str:
    """The output.layout of an environment, '' is none. Raises RenderError when its RenderConfig is wrong."""
    scope = load.scope(Options(env=environment))
    if failing(scope.problems):
        raise RenderError(scope.problems)
    return scope.layout


def apps(environments: Iterable[str]) -> list[tuple[str, str]]:
    """Namespace and name of every app in these environments; none where the input cannot be read.

    Raises RenderError.
    """
    made: set[tuple[str, str]] = set()
    for name in environments:
        inputs, problems = load.inputs(load.scope(Options(env=name)))
        if failing(problems):
            return []
        made |= {(app.namespace, app.name) for app in inputs.apps}
    return sorted(made)


def one(paths: tuple[str, ...], name: str, what: str) -> str:
    """The environment of that name, else the only one, '' when there is none. `what`: it is about one.

    Raises RenderError.
    """
    options = load.alone(Options(paths=paths, env=name), what)
    load.scope(options)
    return options.env
