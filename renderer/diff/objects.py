"""Rendered files → the objects that they hold, each known by API group, kind, namespace and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from renderer import yamlio
from renderer.emit import Text
from renderer.records import NamedTuple

Body: TypeAlias = Mapping[str, Any]
WORKLOAD, SCALER = "LeaderWorkerSet", "HorizontalPodAutoscaler"


class Key(NamedTuple):
    """What an object is known by. `twin`: 0, or which one it is where a side holds several of them."""

    group: str
    kind: str
    namespace: str
    name: str
    twin: int = 0

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"

    @property
    def place(self) -> str:
        """namespace/name, or the name alone."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Item(NamedTuple):
    """An object, and the file that it stands in, below the output folder. `place`: its number there."""

    key: Key
    file: str
    body: Body
    place: int = 0


Items: TypeAlias = dict[Key, Item]


def changed(before: Iterable[Text], after: Iterable[Text]) -> tuple[list[Text], list[Text], list[Text]]:
    """The files that one side alone holds so, of each side; and those that both hold alike, which nobody parses."""
    old, new = dict(before), dict(after)
    left = [Text(path, text) for path, text in old.items() if new.get(path) != text]
    right = [Text(path, text) for path, text in new.items() if old.get(path) != text]
    return left, right, [Text(path, text) for path, text in new.items() if old.get(path) == text]


def items(texts: Iterable[Text]) -> Items:
    """The objects of these files. A file that is no YAML is one object, of its text."""
    found: Items = {}
    for path, text in texts:
        documents, problems = yamlio.parse(path, text.encode("utf-8", "surrogateescape"))
        bodies = [{"text": text}] if problems else [document.value for document in documents]
        listed = (pair for each in bodies for pair in _objects(path, each))
        for place, (key, body) in enumerate(listed):
            while key in found:
                key = key._replace(twin=key.twin + 1)
            found[key] = Item(key, path, body, place)
    return found


def _objects(path: str, value: Any) -> Iterator[tuple[Key, Body]]:
    """The object, or those of a List. What is no object goes by its file."""
    if not isinstance(value, dict):
        value = {"text": value}
    kind, metadata = value.get("kind"), value.get("metadata")
    if kind == "List" and isinstance(value.get("items"), list):
        for each in value["items"]:
            yield from _objects(path, each)
        return
    metadata = metadata if isinstance(metadata, dict) else {}
    named = isinstance(kind, str) and bool(kind)
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    name = metadata.get("name") or path
    yield Key(group, kind if named else "File", str(metadata.get("namespace") or ""), str(name)), value


def beside(texts: Iterable[Text], folders: Iterable[str], kind: str, names: Iterable[str]) -> Items:
    """Objects of a kind in files that did not change, in the same folders as what did: where each object has a file of
    its own, an autoscaler and its workload stand apart. Only files that name one of the names are parsed.
    """
    wanted, marks = set(folders), [f"name: {name}\n" for name in names]
    near = [
        each
        for each in texts
        if each.path.rpartition("/")[0] in wanted
        and f"kind: {kind}\n" in each.text
        and any(mark in each.text for mark in marks)
    ]
    return {key: item for key, item in items(near).items() if key.kind == kind}


def at(value: Any, *path: str | int) -> Any:
    """What stands at a path of a body; None where nothing does, or something else than one expects."""
    for part in path:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return None
    return value


def table(value: Any, *path: str | int) -> Body:
    """The map at a path; an empty one where none is."""
    found = at(value, *path)
    return found if isinstance(found, dict) else {}


def items_of(value: Any, *path: str | int) -> list[Any]:
    """The items of the list at a path; none where no list is."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def maps(value: Any, *path: str | int) -> list[Body]:
    """The maps of the list at a path."""
    return [each for each in items_of(value, *path) if isinstance(each, dict)]
