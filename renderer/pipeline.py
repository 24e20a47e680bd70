"""The whole renderer: files → Inputs → Plans → Manifests → texts; then the folder that holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from renderer import check, emit, expand, load, resolve
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Options, Scope
from renderer.emit import Text
from renderer.parallel import Team
from renderer.problems import Problem, at_hand, failing


class Rendered(NamedTuple):
    """What came of it. `states`: path → same, new, changed, foreign or gone; `texts` only where `options.texts` asks."""

    folder: str
    problems: list[Problem]
    states: dict[str, str]
    texts: list[Text]
    objects: int
    inputs: Inputs


def render(options: Options) -> Rendered:
    """Everything is read, decided, built and checked; with `options.write` it is written when nothing is wrong."""
    scope = load.scope(options)
    inputs, problems = load.inputs(scope)
    with Team(partial(_share, inputs, scope), (*inputs.apps, *inputs.own)) as team:
        shares = team.results()
        states = {path: state for share in shares for path, state in share["states"]}
        problems += [Problem(*each) for share in shares for each in share["problems"]]
        problems += resolve.dangling(resolve.memo(inputs))
        common, found = emit.common(scope, states)
        problems += found + load.nothing(inputs, scope, problems) + check.folder(scope, states)
        if options.kubeconform and not failing(problems, options.strict):
            problems += [Problem(*each) for part in team.tell("kubeconform") for each in part]
        gone = emit.stale(scope, states) if scope.compares else []
        if options.write and not failing(problems, options.strict):
            with check.writable(scope):
                team.tell("write")
                emit.settle(scope, common, states, gone)
        texts = [Text(*each) for part in team.tell("texts") for each in part] + common if options.texts else []
    states |= dict.fromkeys(gone, "gone")
    return Rendered(scope.folder, problems, states, texts, sum(share["objects"] for share in shares), inputs)


def _share(
    inputs: Inputs, scope: Scope, items: Sequence[App | OpenModel | BackendRuntime]
) -> tuple[Any, Callable[[str], Any]]:
    """One process's share of the items: checked and made into texts; then what `tell` asks for."""
    memo = resolve.memo(inputs)
    problems: list[Problem] = []
    files: list[Text] = []
    states: list[tuple[str, str]] = []
    made: list[check.Made] = []
    objects = 0
    for item in items:
        if not isinstance(item, App):
            with at_hand(item.document.name):
                problems += resolve.checked(memo, item)
            continue
        with at_hand(item.document.name):
            plan, found = resolve.plan(memo, item)
            manifests = expand.manifests(plan) if plan else []
            problems += found + check.manifests(manifests)
        if plan:
            texts = emit.texts(plan, manifests, scope.layout)
            ours = emit.compare(scope, texts)
            states += ours
            files += [text for text, (_, state) in zip(texts, ours, strict=True) if scope.keeps or state != "same"]
            made += [check.Made(manifests, texts)] if scope.options.kubeconform else []
            objects += len(manifests)

    def then(word: str) -> Any:
        if word == "write":
            emit.write(scope, files)
        elif word == "kubeconform":
            return [tuple(each) for each in check.kubeconform(scope.options.kubeconform, made)]
        return [tuple(each) for each in files] if word == "texts" else []

    return {"problems": [tuple(each) for each in problems], "states": states, "objects": objects}, then
