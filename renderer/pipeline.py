"""The whole renderer: files → Inputs → Plans → Manifests → texts, and the folder that holds them."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from renderer import check, emit, expand, load, resolve
from renderer.api import App, Inputs, Options, Scope
from renderer.emit import Text
from renderer.parallel import Team
from renderer.problems import Problem, failing
from renderer.work import Made, share


class Rendered(NamedTuple):
    """What came of it. `states`: path → same, new, changed, foreign or gone; `texts` only where asked for."""

    folder: str
    problems: list[Problem]
    states: dict[str, str]
    texts: list[Text]
    objects: int
    inputs: Inputs


def app(memo: resolve.Memo, scope: Scope, app: App) -> Made:
    """One Playground or Service, from what the user wrote to texts."""
    plan, problems = resolve.plan(memo, app)
    if plan is None:
        return Made(problems=problems)
    manifests = expand.manifests(plan)
    texts = emit.texts(plan, manifests, scope.layout)
    return Made(manifests, texts, problems + check.manifests(manifests))


def render(options: Options) -> Rendered:
    """Everything is read, made and checked; with `options.write` it is written when nothing is wrong.

    Raises RenderError.
    """
    scope = load.scope(options)
    inputs, problems = load.inputs(scope)
    problems += resolve.dangling(resolve.memo(inputs)) + resolve.clashes(inputs)
    # Mixed, so that every process gets its share of both: apps are work, models and runtimes are hardly any.
    items = [each for pair in zip_longest(inputs.apps, inputs.own) for each in pair if each]
    with Team(partial(share, app, inputs, scope), items) as team:
        shares = team.results()
        problems += [Problem(*each) for made in shares for each in made["problems"]]
        states = {path: state for made in shares for path, state in made["states"]}
        common, found = emit.common(scope, states)
        problems += found + load.nothing(inputs, scope, problems) + check.folder(scope, states)
        if options.kubeconform and not failing(problems, options.strict):
            problems += [Problem(*each) for part in team.tell("kubeconform") for each in part]
        gone, left = emit.stale(scope, states) if options.compares else ([], [])
        if options.write and not failing(problems, options.strict):
            with check.writable(scope):
                team.tell("write")
                emit.settle(scope, common, states, (*gone, *left))
        texts = [Text(*each) for part in team.tell("texts") for each in part] + common if options.texts else []
    states |= dict.fromkeys(gone, "gone")
    return Rendered(scope.folder, problems, states, texts, sum(made["objects"] for made in shares), inputs)
