"""One process's share of the work: its items made into texts and compared; then what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

from renderer import alike, emit, resolve
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Options, Scope, Traffic
from renderer.emit import Text
from renderer.plan import Joint, Manifest, Wanted
from renderer.problems import Problem, at_hand
from renderer.records import NamedTuple
from renderer.writer import OutputFolder


class Made(NamedTuple):
    """One app's objects and files, and what it needs together with others; empty when something stands in the way."""

    manifests: Sequence[Manifest] = ()
    texts: Sequence[Text] = ()
    problems: Sequence[Problem] = ()
    shared: Sequence[Wanted] = ()


Share = dict[str, Any]  # what came of some items: plain values


class Rendered(NamedTuple):
    """What came of it. `states`: path → same, new, changed, foreign or gone; `texts` only where asked for; `spared`:
    shares of the items whose texts nobody wants.
    """

    folder: str
    problems: list[Problem]
    states: dict[str, str]
    texts: list[Text]
    objects: int
    inputs: Inputs
    apart: list[str]  # shared files that a part of the tree wants, and leaves alone
    spared: Sequence[Share] = ()


def over(
    options: Options, folder: str, scopes: Sequence[Scope], made: Sequence[Rendered]
) -> tuple[Rendered, list[str]]:
    """What came of all environments, with paths below the folder of all; and rubbish of a full run beside them.

    What one environment was asked for, or there are none, is handed on as it is. `inputs`: of the first, with the apps
    of all.
    """
    names = [scope.options.env for scope in scopes]
    if options.env or not names[0]:
        return made[0], []
    rest = scopes[0]._replace(folder=folder)
    beside = emit.leftovers(rest, {}, names)
    gone, left = (beside.stale, beside.temporary) if not rest.prunes else ([], [])
    problems = [
        each._replace(message=f"{each.message} (in {' and '.join(where)})") if _elsewhere(each, where, names) else each
        for each, where in _where(names, made).items()
    ]
    problems += emit.findings(rest, beside)
    inputs = made[0].inputs._replace(apps=tuple(app for each in made for app in each.inputs.apps))
    states = {
        f"{name}/{path}": state for name, each in zip(names, made, strict=True) for path, state in each.states.items()
    }
    texts = [Text(f"{name}/{path}", text) for name, each in zip(names, made, strict=True) for path, text in each.texts]
    apart = [f"{name}/{path}" for name, each in zip(names, made, strict=True) for path in each.apart]
    count = sum(each.objects for each in made)
    done = Rendered(folder, problems, states | dict.fromkeys(gone, "gone"), texts, count, inputs, apart)
    return done, [*gone, *left]


def _where(names: Sequence[str], made: Sequence[Rendered]) -> dict[Problem, list[str]]:
    """The problems of all environments, and in which each is."""
    found: dict[Problem, list[str]] = {}
    for name, each in zip(names, made, strict=True):
        for wrong in dict.fromkeys(each.problems):
            found.setdefault(wrong, []).append(name)
    return found


def _elsewhere(wrong: Problem, where: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a problem has to say in which environments it is: not where all have it, or its place says so."""
    return len(where) < len(names) and not wrong.field.startswith("spec.environments")


Item = App | Traffic | OpenModel | BackendRuntime
Items = Sequence[App | Traffic]
Read = Callable[[Scope], tuple[Inputs, list[Problem]]]  # `load.inputs`, or who has read them already
T = TypeVar("T")


def each(items: Sequence[Item], stage: Callable[..., T], *given: Iterable[Any]) -> list[T]:
    """What a stage makes of each item, and of what is given beside it; a fault in there names the item's file."""
    made: list[T] = []
    with at_hand(lambda: items[len(made)].document.name):  # once for all
        for one in map(stage, *(given or (items,))):
            made.append(one)
    return made


def mixed(inputs: Inputs) -> list[Item]:
    """All items, so mixed that every process gets its share of each kind: apps are work, models are hardly any. What
    leads to apps stands behind one of them, since it asks for what was worked out of that.
    """
    led: dict[tuple[str, str], list[App | Traffic]] = {}
    for way in inputs.ways:
        led.setdefault((way.namespace, next(way.apps, "")), []).append(way)
    work: Iterable[App | Traffic] = inputs.apps
    if led:
        work = [each for app in inputs.apps for each in (app, *led.pop((app.namespace, app.name), ()))]
        work += [way for ways in led.values() for way in ways]
    return [each for some in zip_longest(work, inputs.own) for each in some if each]


def parted(inputs: Inputs, options: Options) -> tuple[list[Item], Set[alike.Key], Sequence[Share]]:
    """The items that there is work on; those of them whose texts nobody wants; and shares of what is known already."""
    spared = options.spared(inputs) if options.spared else frozenset()
    if not options.known:
        return mixed(inputs), spared, ()
    known, models, shares = options.known
    items = [
        each
        for each in mixed(inputs)
        if (alike.key(each) not in known if isinstance(each, (App, Traffic)) else each.name not in models)
    ]
    return items, spared, shares


Make = Callable[[resolve.Memo, Scope, Items, bool], list[Made]]


def share(
    make: Make, memo: resolve.Memo, scope: Scope, spared: Set[alike.Key]
) -> tuple[Callable[[Sequence[Item]], Share], Callable[[str], Any]]:
    """What works on items in one process, and what it does then at a word: `write` what differs, hand over the `texts`,
    run `kubeconform` over them.

    `make` renders apps and what leads to apps; models and runtimes are only checked. What comes of items are plain
    values: problems, states (path, state), the number of objects, what apps need together with others; and the same of
    the `spared`, whose texts nobody wants, so theirs have nothing in them.
    """
    process = _Process(make, memo, scope, spared)
    return process.worked, process.told


class _Process:
    """What one process has at hand, and what it keeps of its items until it is told what to do with it."""

    def __init__(self, make: Make, memo: resolve.Memo, scope: Scope, spared: Set[alike.Key]) -> None:
        self._make, self._memo, self._scope, self._spared = make, memo, scope, spared
        self._texts: list[Text] = []
        self._objects: list[Made] = []
        self._output = OutputFolder(scope.folder) if scope.options.compares else None
        self._wanted: dict[bool, set[Wanted]] = {True: set(), False: set()}  # said already, with texts and without

    def worked(self, items: Sequence[Item]) -> Share:
        """What came of them."""
        problems: list[Problem] = []
        models = [item for item in items if not isinstance(item, (App, Traffic))]
        for wrong in each(models, partial(resolve.checked, self._memo)):
            problems += wrong
        apps = [item for item in items if isinstance(item, (App, Traffic))]
        if not self._spared:
            return self._rendered(apps, problems)
        own = self._rendered([app for app in apps if alike.key(app) not in self._spared], problems)
        spared = [app for app in apps if alike.key(app) in self._spared]
        return {**own, "spared": self._rendered(spared, [], texts=False)}

    def _rendered(self, apps: Items, problems: list[Problem], *, texts: bool = True) -> Share:
        options = self._scope.options
        states: list[tuple[str, str]] = []
        wanted: set[Wanted] = set()
        count = 0
        for made in self._make(self._memo, self._scope, apps, texts) if apps else ():
            problems += made.problems
            wanted.update(made.shared)
            if not made.texts:
                continue
            count += len(made.manifests)
            compared = emit.compare(self._output, made.texts)
            states += compared
            if texts:
                pairs = zip(made.texts, compared, strict=True)
                self._texts.extend([text for text, (_, state) in pairs if options.texts or state != "same"])
            if options.kubeconform:
                self._objects.append(made)
        new = wanted - self._wanted[texts]
        self._wanted[texts] |= new
        said = {"problems": [tuple(each) for each in problems], "states": states, "objects": count}
        return {**said, "shared": [tuple(each) for each in new]}

    def told(self, word: str) -> Any:
        """What is answered to a word, after doing it."""
        if word == "write":
            return emit.write(self._output, self._texts) if self._output else None
        if word == "kubeconform":
            return [tuple(each) for each in judged(self._scope.options, self._objects)]
        return [tuple(each) for each in self._texts]


def gathered(results: Iterable[Share], known: Sequence[Share]) -> tuple[list[Share], list[Share]]:
    """The shares of all items, and those of the spared alone."""
    shares = list(results)
    aside = [each["spared"] for each in shares if "spared" in each]
    return [*shares, *aside, *known], aside


def files(parts: Iterable[Iterable[tuple[str, str]]]) -> list[Text]:
    """The texts of all processes, by path: who made which is not the same in every run."""
    return sorted(Text(*each) for part in parts for each in part)


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
