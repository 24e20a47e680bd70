"""The whole renderer: files → Inputs → Plans → Manifests → texts, and the folder that holds them."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from renderer import check, emit, expand, load, resolve
from renderer.api import App, Inputs, Options, Scope, Traffic
from renderer.emit import Text
from renderer.parallel import Team
from renderer.plan import Joint
from renderer.problems import Problem, failing
from renderer.work import Made, judged, share, together


class Rendered(NamedTuple):
    """What came of it. `states`: path → same, new, changed, foreign or gone; `texts` only where asked for."""

    folder: str
    problems: list[Problem]
    states: dict[str, str]
    texts: list[Text]
    objects: int
    inputs: Inputs
    apart: list[str]  # shared files that a part of the tree wants, and leaves alone


def app(outside: check.Outside, memo: resolve.Memo, scope: Scope, item: App | Traffic) -> Made:
    """One Playground or Service, ModelRoute or InferenceModel, from what the user wrote to texts."""
    plans, problems = resolve.plan(memo, item)
    if not plans:
        return Made(problems=problems)
    made = expand.manifests(plans)
    problems += check.manifests(made, outside._replace(present=resolve.leans(plans)))
    return Made(made, emit.texts(plans[0], made, scope.layout), problems, resolve.needs(plans))


def shared(joint: Joint) -> Made:
    """What apps share of one namespace, or of the cluster."""
    made = expand.shared(joint)
    return Made(made, emit.shared(joint, made), check.manifests(made))


def render(options: Options) -> Rendered:
    """Everything is read, made and checked; written with `options.write` when nothing is wrong. Raises RenderError."""
    scope = load.scope(options)
    inputs, problems = load.inputs(scope)
    memo = resolve.memo(inputs)
    problems += [*memo.problems, *resolve.dangling(memo), *resolve.clashes(inputs)]
    # Mixed, so that every process gets its share of all: apps are work, models and runtimes are hardly any.
    items = [each for some in zip_longest(inputs.apps, inputs.own, inputs.ways) for each in some if each]
    with Team(partial(share, partial(app, check.around(inputs)), inputs, scope), items) as team:
        shares = team.results()
        problems += [Problem(*each) for made in shares for each in made["problems"]]
        states = {path: state for made in shares for path, state in made["states"]}
        joint, apart, found = together(shared, memo, scope, shares)
        common, odd = emit.common(scope, states, [text for made in joint for text in made.texts])
        problems += found + odd + load.nothing(inputs, scope, problems) + check.folder(scope, states)
        if options.kubeconform and not failing(problems, options.strict):
            problems += [Problem(*each) for part in team.tell("kubeconform") for each in part] + judged(options, joint)
        gone, left = emit.stale(scope, states) if options.compares else ([], [])
        if options.write and not failing(problems, options.strict):
            with check.writable(scope):
                team.tell("write")
                emit.settle(scope, common, states, (*gone, *left))
        texts = [Text(*each) for part in team.tell("texts") for each in part] + common if options.texts else []
    count = sum(made["objects"] for made in shares) + sum(len(made.manifests) for made in joint)
    return Rendered(scope.folder, problems, states | dict.fromkeys(gone, "gone"), texts, count, inputs, apart)
