"""One process's share of the work: its items made into texts and compared; then what it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from renderer import emit, resolve
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Options, Scope, Traffic
from renderer.emit import Text
from renderer.plan import Joint, Manifest, Wanted
from renderer.problems import Problem, at_hand


class Made(NamedTuple):
    """One app's objects and files, and what it needs together with others; empty when something stands in the way."""

    manifests: Sequence[Manifest] = ()
    texts: Sequence[Text] = ()
    problems: Sequence[Problem] = ()
    shared: Sequence[Wanted] = ()


Item = App | Traffic | OpenModel | BackendRuntime


def share(
    make: Callable[[resolve.Memo, Scope, App | Traffic], Made], inputs: Inputs, scope: Scope, items: Sequence[Item]
) -> tuple[Any, Callable[[str], Any]]:
    """Works on the items: `make` renders an app or what leads to apps; models and runtimes are only checked.

    Answers with plain values: problems, states (path, state), the number of objects, and what apps need together with
    others; and with what to do at a word: `write` what differs, hand over the `texts`, run `kubeconform` over them.
    """
    memo = resolve.memo(inputs)
    options = scope.options
    problems: list[Problem] = []
    states: list[tuple[str, str]] = []
    kept: list[Text] = []
    objects: list[Made] = []
    shared: set[Wanted] = set()
    count = 0
    for item in items:
        with at_hand(item.document.name):
            if not isinstance(item, (App, Traffic)):
                problems += resolve.checked(memo, item)
                continue
            made = make(memo, scope, item)
        problems += made.problems
        shared.update(made.shared)
        if not made.texts:
            continue
        count += len(made.manifests)
        compared = emit.compare(scope, made.texts)
        states += compared
        kept += [
            text for text, (_, state) in zip(made.texts, compared, strict=True) if options.texts or state != "same"
        ]
        if options.kubeconform:
            objects.append(made)

    def told(word: str) -> Any:
        if word == "write":
            return emit.write(scope, kept)
        if word == "kubeconform":
            return [tuple(each) for each in judged(options, objects)]
        return [tuple(each) for each in kept]

    said = {"problems": [tuple(each) for each in problems], "states": states, "objects": count}
    return {**said, "shared": [tuple(each) for each in shared]}, told


def together(
    make: Callable[[Joint], Made], memo: resolve.Memo, scope: Scope, shares: Sequence[Any]
) -> tuple[list[Made], list[str], list[Problem]]:
    """What the apps of all shares need together, the files that are left alone, and what is wrong. `make` renders one
    file.

    All are left alone when PATHS are a part of the tree only: shared files depend on all of it.
    """
    wanted = {Wanted(*each) for made in shares for each in made["shared"]}
    crossed = resolve.crossed(memo.inputs, wanted)
    joints, problems = resolve.joints(memo, wanted)
    joint = [make(each) for each in joints]
    if scope.prunes:
        return [], sorted(text.path for made in joint for text in made.texts), crossed + problems
    return joint, [], crossed + problems + [each for made in joint for each in made.problems]


def judged(options: Options, made: Sequence[Made]) -> list[Problem]:
    """What kubeconform says of these files, where the options ask for it."""
    if not options.kubeconform:
        return []
    from renderer.check.kubeconform import kubeconform

    return kubeconform(options.kubeconform, [(each.manifests, each.texts) for each in made])
