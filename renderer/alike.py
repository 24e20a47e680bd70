"""What two runs have in common: an item whose input, and all that it uses, is the same on both sides is made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from renderer.api import App, Inputs, OpenModel, Traffic
from renderer.problems import Problem
from renderer.records import NamedTuple

T = TypeVar("T")
Key = tuple[str, str, str]  # kind, namespace, name


class Record(NamedTuple):
    """What came of an item, as plain as it passes between processes. `texts`: path and text of each file; `wanted`:
    what it needs together with others; `problems`: as tuples.
    """

    texts: tuple[tuple[str, str], ...]
    objects: int
    wanted: tuple[tuple[Any, ...], ...]
    problems: tuple[tuple[Any, ...], ...]


def key(item: App | Traffic) -> Key:
    """What an item is called on both sides."""
    return item.kind, item.namespace, item.name


class Known:
    """What another run made of a whole tree, and of what."""

    def __init__(self, inputs: Inputs, records: Mapping[Key, Record], problems: Iterable[Problem]) -> None:
        self._inputs, self._records = inputs, records
        self._faulty = {each.file for each in problems}

    @property
    def read(self) -> Mapping[tuple[str, bool], Any]:
        """What was read of files that nothing was wrong with; contents first."""
        return self._inputs.read

    def alike(self, inputs: Inputs) -> dict[Key, Record]:
        """What came of those items there of which the same would come here."""
        if not _surroundings(self._inputs, inputs):
            return {}
        sides = self._inputs, inputs
        one, other = (_items(side) for side in sides)
        models = _changed(*(_models(side) for side in sides))
        different = _changed(one, other) | {name for name, said in other.items() if models.intersection(_claimed(said))}
        # What leads to several apps may look at any of its namespace, and an app at what leads to it.
        led = {each.namespace for side in sides for each in side.traffic}
        touched = led & {namespace for _, namespace, _ in different}
        return {
            name: self._records[name]
            for name in other
            if name not in different and name[1] not in touched and name in self._records
        }

    def models(self, inputs: Inputs) -> set[str]:
        """The user's models of which there was nothing to say, as there will not be here."""
        if not _surroundings(self._inputs, inputs):
            return set()
        fine = {each.name for each in self._inputs.own if each.document.name not in self._faulty}
        changed = _changed(_models(self._inputs), _models(inputs))
        return fine - changed


def _surroundings(one: Inputs, other: Inputs) -> bool:
    """Whether everything is the same that any item may use: the configuration, backends, objects of others."""
    return (
        one.config.spec == other.config.spec
        and one.around == other.around
        # A backend of the user's own has lists of options beside it, which nobody compares.
        and all(isinstance(each, OpenModel) for side in (one, other) for each in side.own)
        and not any(side.unreadable or side.broken or side.beyond for side in (one, other))
    )


Said = tuple[str, Any, Any]  # the file that an item lies in, its spec, and its annotations or version


def _items(inputs: Inputs) -> dict[Key, Said]:
    apps: dict[Key, Said] = {key(each): (each.file, each.spec, each.annotations) for each in inputs.apps}
    return apps | {key(each): (each.file, each.spec, each.version) for each in inputs.ways}


def _models(inputs: Inputs) -> dict[str, Any]:
    return {each.name: (each.spec, each.document.value.get("metadata")) for each in inputs.own}


def _claimed(said: Said) -> Iterator[str]:
    """The models that an app names."""
    spec = said[1]
    if "modelClaim" in spec:
        yield spec["modelClaim"]["modelName"]
    for each in (spec.get("modelClaims") or {}).get("models") or ():
        yield each["name"]


def _changed(one: Mapping[T, Any], other: Mapping[T, Any]) -> set[T]:
    """The keys whose values are not the same on both sides."""
    return {each for each in one.keys() | other.keys() if one.get(each) != other.get(each)}
