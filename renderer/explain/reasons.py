"""Who made one field of a rendered object: a line that says it, a line of which it is made, or a rule of ours.

Nothing is claimed that cannot be seen: a line counts as saying a value when the same field, followed step by step in
its document, holds that value, or a template for it; items of lists are followed by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

from renderer import quantity
from renderer.explain import rules
from renderer.explain.making import House, Made
from renderer.explain.shipped import Shipped
from renderer.plan import Manifest, Plan
from renderer.problems import Origin, Path, dotted
from renderer.records import NamedTuple
from renderer.template import could_make
from renderer.yamlio import Document

SAID, FILLED, MADE, RULE = "said", "filled", "made", "rule"
_WORKER: Path = ("spec", "leaderWorkerTemplate", "workerTemplate")
_RUNNER: Path = (*_WORKER, "spec", "containers", 0)
_PODS: Mapping[str, tuple[Path, ...]] = {
    "LeaderWorkerSet": (_WORKER, (*_WORKER[:-1], "leaderTemplate")),
    "Deployment": (("spec", "template"),),
}
_COPIES = ("ConfigMap", "Deployment", "LeaderWorkerSet", "OpenModel", "PodMonitor")  # what they hold was said as it is
_EXACT = ("modelNameOverride", "weight")  # another name is not made of one


class Place(NamedTuple):
    """A line of input. `field`: the path in its document; `preset`: it is one of ours; `text`: the line itself."""

    file: str
    line: int
    column: int
    field: str
    preset: bool
    text: str


class Reason(NamedTuple):
    """`how`: said (the line holds the value), filled (the line is a template of it), made (of that line, by the rule),
    rule (of no line). `others`: all lines that speak of the field, the one that wins last. `words`: those of a
    template, with the line that each is made of, None for the renderer's own.
    """

    how: str
    place: Place | None
    rule: str = ""
    others: tuple[Place, ...] = ()
    words: tuple[tuple[str, Place | None], ...] = ()


class _Match(NamedTuple):
    """What an origin comes to: how it makes the value, where exactly, and what stands there."""

    how: str
    origin: Origin
    value: Any = None


class Reasons:
    """Answers for the objects of one run."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._shipped = Shipped(house.inputs)
        self._lines: dict[Document, list[str]] = {}
        self._pods: dict[int, Mapping[Path, Origin]] = {}
        self._known: dict[int, tuple[Manifest, Mapping[Path, Origin]]] = {}

    def _origins(self, made: Made) -> Mapping[Path, Origin]:
        key = id(made.manifest)
        if key not in self._known:
            self._known[key] = made.manifest, made.manifest.origins()
        return self._known[key][1]

    def of(self, made: Made, path: Path) -> Reason:
        """Who made the field at this path, which must be there."""
        others = self._chain(made, path)
        match = self._match(made, path, others)
        rule = rules.rule(made.key[0], path, made.body)
        if match is None or match.how == MADE:
            if rule and rules.OWN in rule.of:
                match = None
            for key in rule.of if rule else ():
                better = self._told(made, key, _value(made.body, path))
                if better and (better.how != MADE or path[-1] not in _EXACT):
                    match = better
                    break
        text = rule.text if rule else ""
        if match is None:
            return Reason(RULE, None, text or f"made for {made.owner}")
        place = self._place(match.origin)
        listed = tuple(self._place(each) for each in others) if len(others) > 1 else ()
        words = self._words(made, path, match.value) if match.how == FILLED else ()
        return Reason(match.how, place, text if match.how == MADE else "", listed, words)

    def _words(self, made: Made, path: Path, said: str) -> tuple[tuple[str, Place | None], ...]:
        """The words of a template, and what they are made of."""
        found = []
        index = _loader(made.body, path)
        for word in dict.fromkeys(re.findall(r"\{\{\s*\.?([A-Z]\w*)\s*\}\}", said)):
            key: Path = ("said", "word", word) if index is None else ("said", "source", index)
            there = self._look(made.told[key]) if key in made.told else None
            found.append((word, self._place(there[0]) if there else None))
        return tuple(found)

    # Who it may be

    def _match(self, made: Made, path: Path, others: Sequence[Origin]) -> _Match | None:
        """The first that says the value, else the first of which it is made."""
        value, first = _value(made.body, path), None
        for origin, rest, here in self._candidates(made, path, others):
            match = self._follow(origin, rest, _value(made.body, here))
            if match is None and (made.key[0] not in _COPIES or "affinity" in here):
                match = self._dug(origin, value)
            if match and (match.how != MADE or (path[-2] == "args" and not rest)):
                return match
            if made.key[0] != "LeaderWorkerSet" or path[-2] not in ("labels", "annotations") or not rest:
                first = first or match
        for origin, rest, here in self._elsewhere(made, path):
            match = self._follow(origin, rest, _value(made.body, here), sure=False)
            if match and match.how != MADE:
                return match
        if path == ("metadata", "namespace"):
            match = self._follow(self._house.inputs.config.origin("namespace"), (), value)
            first = match if match and match.how == SAID else None
        return first

    def _candidates(self, made: Made, path: Path, others: Sequence[Origin]) -> Iterator[tuple[Origin, Path, Path]]:
        """Origins with the steps that are left behind them, and the field that they are of; the surest first."""
        if others and path[-2] != "args":  # who speaks of an argument speaks of its option
            rest = _below_chain(path)
            yield others[-1], rest, path[: len(path) - len(rest)]
        tables = [self._pods_of(made), self._origins(made)]
        if made.key[0] == "AIGatewayRoute" and made.item is None:
            tables.append(self._packed(made, path))
        for length in range(len(path), 0, -1):
            for table in tables:
                if path[:length] in table:
                    yield table[path[:length]], path[length:], path[:length]

    def _pods_of(self, made: Made) -> Mapping[Path, Origin]:
        """What the plan knows of the fields of a LeaderWorkerSet."""
        if made.key[0] != "LeaderWorkerSet":
            return {}
        key = id(made.manifest)
        if key not in self._pods:
            told: dict[Path, Origin] = {}
            for known, origin in made.told.items():
                if known[:2] == ("said", "template"):
                    told |= {(*root, *known[2:]): origin for root in _PODS["LeaderWorkerSet"]}
                elif known[:2] == ("said", "annotations"):
                    told["metadata", *known[1:]] = origin
            self._pods[key] = told
        return self._pods[key]

    def _packed(self, made: Made, path: Path) -> dict[Path, Origin]:
        """A rule of several models belongs to the one that it names."""
        index = path[2] if path[:2] == ("spec", "rules") and len(path) > 2 else 0
        rule = made.body["spec"]["rules"][index]
        own = self._house.route_of(made.key[1], rule["matches"][0]["headers"][0]["value"])
        if not own:
            return {}
        head: Path = ("spec", "rules", index)
        told = {("metadata", "namespace"): own["namespace",], (*head, "matches"): own["model",]}
        told[*head, "timeouts", "request"] = own["said", "request"]
        for i in range(len(rule["backendRefs"])):
            told[*head, "backendRefs", i, "name"] = own["name",]
            told[*head, "backendRefs", i, "modelNameOverride"] = own["model",]
        return told

    def _elsewhere(self, made: Made, path: Path) -> Iterator[tuple[Origin, Path, Path]]:
        """What may have been added from elsewhere: it counts only where it says the very value."""
        config = self._house.inputs.config
        for root in _PODS.get(made.key[0], ()):
            if path[: len(root)] != root:
                continue
            inside = path[len(root) :]
            if inside[0] == "metadata" and len(inside) == 3:
                yield config.origin("pods", str(inside[1])), inside[2:], path[:-1]
            elif inside[2:3] and inside[1] in ("containers", "initContainers") and len(inside) > 4:
                at = len(root) + 4
                if inside[3] == "env":
                    yield config.origin("pods", "env"), path[at:], path[:at]
                    if runner := _same_variable(made.body, root, path):
                        yield from self._candidates(made, runner, self._chain(made, runner))
                    for origin in reversed(self._said(made, ("env", _value(made.body, path[: at + 1])["name"]))):
                        yield origin, path[at + 1 :], path[: at + 1]
                yield from self._claimed(made, path, inside)
            elif inside[0] == "spec" and len(inside) > 1:
                at = len(root) + 2
                yield config.origin("pods", str(inside[1])), path[at:], path[:at]
                for name in config.get("flavors", default={}):
                    yield config.origin("flavors", name, str(inside[1])), path[at:], path[:at]
        yield from self._shipped.candidates(made, path)

    def _claimed(self, made: Made, path: Path, inside: Path) -> Iterator[tuple[Origin, Path, Path]]:
        """The limits of a flavor in a hand-written pod."""
        plan, models = made.plan, self._house.inputs.models
        if inside[3] != "resources" or len(inside) != 6 or not isinstance(plan, Plan) or plan.model not in models:
            return
        model = models[plan.model]
        for i, each in enumerate((model.spec.get("inferenceConfig") or {}).get("flavors") or ()):
            yield Origin(model.document, ("spec", "inferenceConfig", "flavors", i, "limits")), path[-1:], path[:-1]
            yield self._house.inputs.config.origin("flavors", each["name"], "limits"), path[-1:], path[:-1]

    def _chain(self, made: Made, path: Path) -> list[Origin]:
        """All who speak of the field, the one that wins last."""
        key: Path = ()
        if made.key[0] == "LeaderWorkerSet" and path[: len(_RUNNER)] == _RUNNER and len(path) > len(_RUNNER):
            field, *rest = path[len(_RUNNER) :]
            if field == "image":
                key = ("image",)
            elif field == "args" and rest:
                key = ("args", rest[0])
            elif field == "env" and rest:
                key = ("env", _value(made.body, path[: len(_RUNNER) + 2])["name"])
            elif field == "resources" and len(rest) == 2:
                key = ("resources", *rest)
        elif made.key[0] == "HorizontalPodAutoscaler" and path[:2] in (("spec", "metrics"), ("spec", "behavior")):
            key = ("scale",)
        return self._said(made, key) if key else []

    def _said(self, made: Made, key: Path) -> list[Origin]:
        """All who speak of a field of the plan."""
        numbered = takewhile(made.told.__contains__, (("said", *key, i) for i in count()))
        return [made.told[each] for each in numbered]

    def _told(self, made: Made, key: Path, value: Any) -> _Match | None:
        """The origin of another field of the object, or of what the plan or Gateway knows by this name."""
        origin = self._origins(made).get(key) or made.told.get(key)
        if origin is None:
            return None
        match = self._follow(origin, (), value)
        return self._dug(origin, value) if match and match.how == MADE else match

    def _dug(self, origin: Origin, value: Any) -> _Match | None:
        """The one place below an origin that holds the very value, else the origin itself."""
        there = self._look(origin)
        if there is None:
            return None
        origin, said = there
        sure = (isinstance(value, str) and len(value) > 2) or (type(value) is int and value > 9)
        found = list(_holding(said, value)) if sure else []
        if len(found) == 1 and (deeper := self._look(Origin(origin.source, (*origin.path, *found[0])))):
            return _Match(SAID, deeper[0], deeper[1])
        return _Match(MADE, origin, said)

    # Whether it is

    def _follow(self, origin: Origin, rest: Path, made: Any, *, sure: bool = True) -> _Match | None:
        """The origin and its value, followed by the steps that lead on from the field `made`; None where nothing is
        there, or it is about something else. `sure`: whatever stands there made the field.
        """
        there = self._look(origin)
        if there is None:
            return None
        origin, value = there
        for step in rest:
            below = _below(value, made, step)
            if below is None:
                return None
            origin, value, made = origin.at(below), value[below], made[step]
        return _Match(_how(made, value, exact=sure and not rest), origin, value)

    def _look(self, origin: Origin) -> tuple[Origin, Any] | None:
        """The origin with its value; None where nothing stands there."""
        config = self._house.inputs.config
        if origin.source is config.document or any(origin.source is each for each in config.sources.values()):
            path = origin.path[1:]
            value = _reached(config.spec, path)
            source = config.origin(*(str(each) for each in path)).source
            return None if value is _NOTHING else (Origin(source, origin.path, origin.key), value)
        if isinstance(origin.source, Document):
            value = _reached(origin.source.value, origin.path)
            return None if value is _NOTHING else (origin, value)
        return None

    def _place(self, origin: Origin) -> Place:
        source, path = origin.behind
        ours = self._shipped.ours(origin.source)
        line, column = source.locate(path, key=origin.key)
        text = ""
        if isinstance(source, Document) and line:
            lines = self._lines.get(source)
            if lines is None:
                lines = self._lines[source] = source.data.decode("utf-8", "replace").splitlines()
            text = lines[line - 1] if line <= len(lines) else ""
        return Place(source.name, line, column, dotted(path), ours and source.name.startswith("presets/"), text)


class _Nothing:
    pass


_NOTHING = _Nothing()


def _reached(value: Any, path: Path) -> Any:
    for part in path:
        listed = isinstance(value, (list, tuple)) and isinstance(part, int) and part < len(value)
        if not listed and not (isinstance(value, Mapping) and part in value):
            return _NOTHING
        value = value[part]
    return value


def _holding(value: Any, wanted: Any) -> Iterator[Path]:
    """Where below a value the wanted scalar stands."""
    if isinstance(value, Mapping):
        yield from ((key, *path) for key, each in value.items() for path in _holding(each, wanted))
    elif isinstance(value, (list, tuple)):
        yield from ((i, *path) for i, each in enumerate(value) for path in _holding(each, wanted))
    elif value == wanted and type(value) is type(wanted):
        yield ()


def _loader(body: Any, path: Path) -> int | None:
    """Which of the loaders a field is of."""
    if "initContainers" not in path:
        return None
    at = path.index("initContainers")
    name = str(_value(body, path[: at + 2])["name"])
    if not name.startswith("model-loader"):
        return None
    number = name.removeprefix("model-loader").removeprefix("-")
    return int(number) if number.isdigit() else 0


def _value(body: Any, path: Path) -> Any:
    for part in path:
        body = body[part]
    return body


def _below(value: Any, made: Any, step: str | int) -> str | int | None:
    """The key or index in `value` of what `step` leads to in `made`."""
    if isinstance(step, str):
        return step if isinstance(value, Mapping) and step in value else None
    if not isinstance(value, (list, tuple)) or step >= len(made):
        return None
    item = made[step]
    for key in ("mountPath", "name"):  # one volume may be mounted twice
        if isinstance(item, Mapping) and key in item and key in (value[0] if value and _is_map(value[0]) else {}):
            return next((i for i, each in enumerate(value) if _is_map(each) and each.get(key) == item[key]), None)
    if step < len(value) and _alike(item, value[step]):
        return step
    plain = not isinstance(item, (Mapping, list))  # a template that stands elsewhere may be anything's
    return next(
        (i for i, each in enumerate(value) if (_how(item, each) == SAID if plain else _alike(item, each))), None
    )


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _alike(made: Any, said: Any) -> bool:
    """Whether the whole item is the one that was said, but for what is filled in."""
    if isinstance(made, Mapping) and isinstance(said, Mapping):
        return all(key in made and _alike(made[key], each) for key, each in said.items() if each is not None)
    if isinstance(made, (list, tuple)) and isinstance(said, (list, tuple)):
        return len(made) == len(said) and all(_alike(*each) for each in zip(made, said, strict=True))
    return _how(made, said) != MADE


def _how(made: Any, said: Any, *, exact: bool = False) -> str:
    """How a value follows from what stands there. `exact`: it surely does."""
    if made == said or (not isinstance(said, (Mapping, list)) and str(made) == str(said)):
        return SAID
    if isinstance(said, str) and "{{" in said:
        if exact:
            return FILLED
        return FILLED if could_make(said, str(made)) else MADE
    if isinstance(made, str) and isinstance(said, (str, int, float)):
        try:
            return SAID if quantity.canonical(said) == quantity.canonical(made) else MADE
        except ValueError:
            return MADE
    return MADE


def _below_chain(path: Path) -> Path:
    """The steps below the field of which a chain is."""
    inside = path[len(_RUNNER) :] if path[: len(_RUNNER)] == _RUNNER else ()
    if inside[:1] == ("env",):
        return inside[2:]
    if not inside and path[:1] == ("spec",):
        return path[1:]  # of an autoscaler: metrics, behavior
    return ()


def _same_variable(body: Any, root: Path, path: Path) -> Path:
    """The runner's own entry of the variable that a container beside it repeats."""
    length = len(root)
    entry = _value(body, path[: length + 5])
    for i, container in enumerate(_value(body, (*root, "spec", "containers"))):
        for j, each in enumerate(container.get("env") or ()):
            here: Path = (*root, "spec", "containers", i, "env", j)
            if container["name"] == "model-runner" and each == entry and path[: length + 5] != here:
                return (*here, *path[length + 5 :])
    return ()
