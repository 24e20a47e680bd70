"""What a LeaderWorkerSet says of the model that it runs, and how two of them differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from renderer.diff import gpus
from renderer.diff.gpus import Gpus, Kind
from renderer.diff.objects import WORKLOAD, Body, Item, Items, Key, at, maps, table
from renderer.diff.options import Flag, flags
from renderer.records import NamedTuple

# What the renderer notes on a workload, and how people call it.
_SAID = {
    "renderer.llmaz.io/backend": "backend",
    "renderer.llmaz.io/engine-version": "engine version",
    "renderer.llmaz.io/model-revision": "model revision",
    "renderer.llmaz.io/served-model-name": "public name",
}
_MODEL = "llmaz.io/model-name"
_RUNNER = "model-runner"  # the container of a hand-written template that serves the model is called so too


class Other(NamedTuple):
    """A container beside the engine's, as that which loads the weights."""

    image: str
    args: tuple[str, ...]
    env: Mapping[str, str]


_NOBODY = Other("", (), {})


class Pod(NamedTuple):
    """What one of the two templates says. `image`, `command` and `args`: those of the engine's container; `others`: the
    containers besides; `volumes`: where those lie that are not empty at first; `asks`: what that container asks for,
    accelerators aside.
    """

    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    env: Mapping[str, str]
    others: Mapping[str, Other]
    volumes: Mapping[str, str]
    asks: Mapping[str, str]


class Model(NamedTuple):
    """What runs. `said`: what annotations of ours say, by what people call it; `low` to `high` replicas, alike where
    nothing scales them; `scaled`: an autoscaler does; `fixed`: the replicas that are written in the workload, None
    where it leaves them to somebody; `nodes`: the labels of those that the pods ask for; `gpus`: accelerators of one
    replica.
    """

    name: str
    said: Mapping[str, str]
    size: int
    low: int
    high: int
    scaled: bool
    fixed: int | None
    nodes: str
    gpus: Mapping[Kind, int]
    leader: Pod
    worker: Pod

    @property
    def replicas(self) -> str:
        """`2`, or `1–4` under an autoscaler."""
        return f"{self.low}–{self.high}" if self.scaled else str(self.high)


class Fact(NamedTuple):
    """A word about a model that differs; '' on a side that says nothing."""

    what: str
    before: str
    after: str


class ModelChange(NamedTuple):
    """A model that was added, removed, changed or renamed (the key is the new one's, `was` the old one's)."""

    state: str
    key: Key
    was: Key | None
    before: Model | None
    after: Model | None
    facts: tuple[Fact, ...]
    flags: tuple[Flag, ...]
    gpus: tuple[Gpus, ...]


def model(item: Item, scalers: Mapping[tuple[str, str], Body], accelerates: Callable[[str], bool]) -> Model:
    """The model of a LeaderWorkerSet; `scalers` are the autoscalers, by namespace and the name of what they scale."""
    body, template = item.body, table(item.body, "spec", "leaderWorkerTemplate")
    said = table(body, "metadata", "annotations")
    worker = table(template, "workerTemplate")
    leader = table(template, "leaderTemplate") or worker
    size = _number(template.get("size"), 1)
    fixed = at(body, "spec", "replicas")
    scaler = scalers.get((item.key.namespace, item.key.name))
    least = _number(at(scaler, "spec", "minReplicas"), 1) if scaler else _number(fixed, 1)
    most = _number(at(scaler, "spec", "maxReplicas"), least) if scaler else least
    labels = table(worker, "metadata", "labels") or table(leader, "metadata", "labels")
    return Model(
        str(labels.get(_MODEL, "")),
        {what: str(said[key]) for key, what in _SAID.items() if key in said} | _flavor(worker),
        size,
        least,
        most,
        scaler is not None,
        None if fixed is None else _number(fixed, 1),
        gpus.nodes(worker),
        gpus.accelerators(((leader, 1), (worker, size - 1)), accelerates),
        _pod(leader, accelerates),
        _pod(worker, accelerates),
    )


def _flavor(pod: Body) -> dict[str, str]:
    return {"flavor": said} if (said := gpus.flavor(pod)) else {}


def _number(value: Any, otherwise: int) -> int:
    return value if value.__class__ is int else otherwise


def _pod(pod: Body, accelerates: Callable[[str], bool]) -> Pod:
    containers = maps(pod, "spec", "containers")
    runner = next((each for each in containers if each.get("name") == _RUNNER), containers[0] if containers else {})
    others = [*maps(pod, "spec", "initContainers"), *(each for each in containers if each is not runner)]
    asks = {
        f"{name} {kind}": str(value)
        for kind in ("requests", "limits")
        for name, value in table(runner, "resources", kind).items()
        if not accelerates(name)
    }
    return Pod(
        str(runner.get("image", "")),
        _words(runner.get("command")),
        _words(runner.get("args")),
        _environment(runner),
        {
            str(each.get("name")): Other(str(each.get("image", "")), _words(each.get("args")), _environment(each))
            for each in others
        },
        {str(each.get("name")): str(path) for each in maps(pod, "spec", "volumes") if (path := _lies(each))},
        asks,
    )


def _environment(container: Body) -> Mapping[str, str]:
    return {str(each.get("name")): _variable(each) for each in maps(container, "env")}


def _lies(volume: Body) -> Any:
    """Where the contents of a volume lie, as those of weights; None for others."""
    return (
        at(volume, "image", "reference")
        or at(volume, "hostPath", "path")
        or at(volume, "persistentVolumeClaim", "claimName")
    )


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _variable(entry: Body) -> str:
    """The value; where it comes from when it does not stand there."""
    if "valueFrom" not in entry:
        return str(entry.get("value", ""))
    for kind, place in table(entry, "valueFrom").items():
        words = [str(each) for each in place.values() if isinstance(each, str)] if isinstance(place, dict) else []
        return f"{kind} {' '.join(words)}".strip()
    return "elsewhere"


def compared(before: Model | None, after: Model | None) -> tuple[list[Fact], list[Flag], list[Gpus]]:
    """How two differ."""
    facts = list(_facts(before, after)) if before and after else []
    options: list[Flag] = []
    if before and after:
        leaders = flags(before.leader.args, after.leader.args)
        workers = flags(before.worker.args, after.worker.args) if after.size > 1 else []
        options = leaders + [each for each in workers if each not in leaders]
    old, new = before.gpus if before else {}, after.gpus if after else {}
    most = before.high if before else 0, after.high if after else 0
    return facts, options, list(gpus.compared(old, new, most, bool(before and after and _alike(before, after))))


def _alike(before: Model, after: Model) -> bool:
    """Whether both run on the same nodes, of which one side alone claims the flavor."""
    return before.nodes == after.nodes and ("flavor" in before.said) != ("flavor" in after.said)


def _facts(before: Model, after: Model) -> Iterator[Fact]:
    yield from _fact("model", before.name, after.name)
    told = [
        fact
        for what in (*_SAID.values(), "flavor")
        for fact in _fact(what, before.said.get(what, ""), after.said.get(what, ""))
    ]
    yield from told
    if before.said.get("flavor") == after.said.get("flavor"):
        yield from _fact("nodes", before.nodes, after.nodes)
    yield from _fact("replicas", _counted(before), _counted(after))
    yield from _fact("pods a replica", str(before.size), str(after.size))
    steps = {(fact.before, fact.after) for fact in told}
    yield from _pods("", before.leader, after.leader, steps)
    if (before.worker, after.worker) != (before.leader, after.leader):
        yield from _pods("worker: ", before.worker, after.worker, steps)


def _counted(model: Model) -> str:
    return f"{model.low} to {model.high} by an autoscaler" if model.scaled else str(model.high)


def _pods(of: str, before: Pod, after: Pod, told: Collection[tuple[str, str]]) -> Iterator[Fact]:
    """`told`: what the annotations say already, as of a revision, which a loader has as a variable."""
    yield from _fact(f"{of}image", before.image, after.image)
    for name in _either(before.others, after.others):
        old, new = before.others.get(name, _NOBODY), after.others.get(name, _NOBODY)
        yield from _fact(f"{of}image of {name}", old.image, new.image)
    yield from _fact(f"{of}command", " ".join(before.command), " ".join(after.command))
    for name in _either(before.asks, after.asks):
        yield from _fact(f"{of}{name}", before.asks.get(name, ""), after.asks.get(name, ""))
    for name in _either(before.volumes, after.volumes):
        yield from _fact(f"{of}volume {name}", before.volumes.get(name, ""), after.volumes.get(name, ""))
    known = list(_variables(before.env, after.env))
    for fact in known:
        yield Fact(f"{of}{fact.what}", fact.before, fact.after)
    for name in before.others:
        old, new = before.others[name], after.others.get(name, _NOBODY)
        if _repository(old.image) != _repository(new.image):
            continue  # another program, which is told another way
        for flag in flags(old.args, new.args):
            yield Fact(f"{of}{flag.name or 'argument'} of {name}", flag.before or "", flag.after or "")
        for fact in _variables(old.env, new.env):
            if fact not in known and (fact.before, fact.after) not in told:  # a loader has the engine's too
                yield Fact(f"{of}{fact.what} of {name}", fact.before, fact.after)


def _variables(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Fact]:
    for name in _either(before, after):
        old, new = (each.get(name) for each in (before, after))
        if old != new:
            yield Fact(f"env {name}", "" if old is None else old or "''", "" if new is None else new or "''")


def _repository(image: str) -> str:
    """The image without its tag and digest."""
    path, slash, name = image.partition("@")[0].rpartition("/")
    return path + slash + name.partition(":")[0]


def _fact(what: str, before: str, after: str) -> Iterator[Fact]:
    if before != after:
        yield Fact(what, before, after)


def _either(*maps: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for each in maps for name in each))


def scalers(found: Items, kind: str) -> Mapping[tuple[str, str], Body]:
    """The autoscalers, by namespace and the name of the workload that they scale."""
    return {
        (key.namespace, str(at(item.body, "spec", "scaleTargetRef", "name"))): item.body
        for key, item in found.items()
        if key.kind == kind and at(item.body, "spec", "scaleTargetRef", "kind") == WORKLOAD
    }
