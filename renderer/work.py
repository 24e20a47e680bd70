"""One process's share of the work: its items made into texts and compared; then what it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from renderer import emit, resolve
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Scope
from renderer.emit import Text
from renderer.plan import Manifest
from renderer.problems import Problem, at_hand


class Made(NamedTuple):
    """One app's objects and files; empty when something stands in the way."""

    manifests: Sequence[Manifest] = ()
    texts: Sequence[Text] = ()
    problems: Sequence[Problem] = ()


Item = App | OpenModel | BackendRuntime


def share(
    make: Callable[[resolve.Memo, Scope, App], Made], inputs: Inputs, scope: Scope, items: Sequence[Item]
) -> tuple[Any, Callable[[str], Any]]:
    """Works on the items: `make` renders an app; models and runtimes are only checked.

    Answers with plain values: problems, states (path, state) and the number of objects; and with what to do at a word:
    `write` what differs, hand over the `texts`, run `kubeconform` over them.
    """
    memo = resolve.memo(inputs)
    options = scope.options
    problems: list[Problem] = []
    states: list[tuple[str, str]] = []
    kept: list[Text] = []
    objects: list[tuple[Sequence[Manifest], Sequence[Text]]] = []
    count = 0
    for item in items:
        with at_hand(item.document.name):
            if not isinstance(item, App):
                problems += resolve.checked(memo, item)
                continue
            made = make(memo, scope, item)
        problems += made.problems
        if not made.texts:
            continue
        count += len(made.manifests)
        compared = emit.compare(scope, made.texts)
        states += compared
        kept += [
            text for text, (_, state) in zip(made.texts, compared, strict=True) if options.texts or state != "same"
        ]
        if options.kubeconform:
            objects.append((made.manifests, made.texts))

    def told(word: str) -> Any:
        if word == "write":
            return emit.write(scope, kept)
        if word == "kubeconform" and options.kubeconform:
            from renderer.check.kubeconform import kubeconform

            return [tuple(each) for each in kubeconform(options.kubeconform, objects)]
        return [tuple(each) for each in kept]

    return {"problems": [tuple(each) for each in problems], "states": states, "objects": count}, told
