"""Objects of rendered files, keyed by API group, kind, namespace and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from renderer import disaggregated_sets, wellknown, yamlio
from renderer.output.manifest_files import OutputFile

Body: TypeAlias = Mapping[str, object]
WORKLOAD = "LeaderWorkerSet"


class ObjectKey(Struct, frozen=True, order=True):
    """The identity of an object. `twin`: 0, or a counter where a side has the same object several times."""

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


def is_workload(key: ObjectKey, body: Body) -> bool:
    """Whether the object runs the pods of an app: a LeaderWorkerSet or DisaggregatedSet, or a Deployment that we
    rendered for one.
    """
    if key.kind in (WORKLOAD, disaggregated_sets.KIND):
        return True
    labels = map_at(body, "metadata", "labels") if key.kind == wellknown.DEPLOYMENT else {}
    own = wellknown.own_labels("", "inference-server")
    return bool(labels) and all(labels.get(name) == value for name, value in own.items())


def pod_template(body: Body) -> Body:
    """The template of a workload's pods; that of the workers of a LeaderWorkerSet."""
    return map_at(body, "spec", "leaderWorkerTemplate", "workerTemplate") or map_at(body, "spec", "template")


class ObjectItem(Struct, frozen=True):
    """An object, its file relative to the output folder, and its position in that file, `place`."""

    key: ObjectKey
    file: str
    body: Body
    place: int = 0


Items: TypeAlias = dict[ObjectKey, ObjectItem]


def role_items(item: ObjectItem) -> dict[str, ObjectItem]:
    """The roles of a DisaggregatedSet by name, each as the LeaderWorkerSet that it becomes, with the replicas of all
    slices; an object of another kind itself, under ''. A role is called as what an autoscaler targets of it.
    """
    if item.key.kind != disaggregated_sets.KIND:
        return {"": item}
    slices = disaggregated_sets.slice_count(item.body)
    roles = {}
    for role in disaggregated_sets.set_roles(item.body):
        replicas = role.spec.get("replicas")
        if slices > 1:
            replicas = slices * (replicas if isinstance(replicas, int) else 1)
        spec = role.spec if replicas is None else {**role.spec, "replicas": replicas}
        body = {"metadata": map_at(item.body, "metadata"), "spec": spec}
        roles[role.name] = ObjectItem(replace(item.key, name=role.scaler), item.file, body, item.place)
    return roles


def changed_files(
    before: Iterable[OutputFile], after: Iterable[OutputFile]
) -> tuple[list[OutputFile], list[OutputFile], list[OutputFile]]:
    """The files that differ, of each side, and the files that are the same on both, which are not parsed."""
    old, new = dict(before), dict(after)
    old_files = [OutputFile(path, text) for path, text in old.items() if new.get(path) != text]
    new_files = [OutputFile(path, text) for path, text in new.items() if old.get(path) != text]
    return old_files, new_files, [OutputFile(path, text) for path, text in new.items() if old.get(path) == text]


def items(texts: Iterable[OutputFile]) -> Items:
    """The objects of these files by key. An invalid file becomes one object of kind File with its text."""
    objects: Items = {}
    for path, text in texts:
        documents, problems = yamlio.parse(path, text.encode("utf-8", "surrogateescape"))
        bodies = [{"text": text}] if problems else [document.value for document in documents]
        pairs = (pair for body in bodies for pair in _objects(path, body))
        for place, (key, body) in enumerate(pairs):
            while key in objects:
                key = replace(key, twin=key.twin + 1)
            objects[key] = ObjectItem(key, path, body, place)
    return objects


def _objects(path: str, value: Any) -> Iterator[tuple[ObjectKey, Body]]:
    """Key and body of the object, or of each item of a List. A value that is no object gets kind File."""
    if not isinstance(value, dict):
        value = {"text": value}
    kind, metadata = value.get("kind"), value.get("metadata")
    if kind == "List" and isinstance(value.get("items"), list):
        for item in value["items"]:
            yield from _objects(path, item)
        return
    metadata = metadata if isinstance(metadata, dict) else {}
    has_kind = isinstance(kind, str) and bool(kind)
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    name = metadata.get("name") or path
    yield ObjectKey(group, kind if has_kind else "File", str(metadata.get("namespace") or ""), str(name)), value


def unchanged_objects(texts: Iterable[OutputFile], folders: Iterable[str], kind: str, names: Iterable[str]) -> Items:
    """Objects of a kind in unchanged files of these folders. Where each object has its own file, an autoscaler and its
    workload are in different files. Only files that contain one of the names are parsed.
    """
    folder_set, marks = set(folders), [f"name: {name}\n" for name in names]
    candidates = [
        text
        for text in texts
        if text.path.rpartition("/")[0] in folder_set
        and f"kind: {kind}\n" in text.text
        and any(mark in text.text for mark in marks)
    ]
    return {key: item for key, item in items(candidates).items() if key.kind == kind}


def value_at(value: object, *path: str | int) -> object:
    """The value at a path of a body; None where it is missing or a part of the path has another type."""
    for part in path:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return None
    return value


def map_at(value: object, *path: str | int) -> Body:
    """The map at a path; an empty one if it is missing or no map."""
    mapping = value_at(value, *path)
    return mapping if isinstance(mapping, dict) else {}


def list_at(value: object, *path: str | int) -> list[object]:
    """The list at a path; an empty one if it is missing or no list."""
    items = value_at(value, *path)
    return items if isinstance(items, list) else []


def maps_at(value: object, *path: str | int) -> list[Body]:
    """The maps of the list at a path."""
    return [item for item in list_at(value, *path) if isinstance(item, dict)]
