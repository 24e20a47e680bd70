"""Objects of rendered files, keyed by API group, kind, namespace and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from renderer import yamlio
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.object_lists import listed_objects, own_fields
from renderer.kubernetes.workloads import LEADER_WORKER_SET, WORKLOADS, Kind, api_version, pod_template
from renderer.output.manifest_files import OutputFile

Body: TypeAlias = Mapping[str, object]
WORKLOAD = "LeaderWorkerSet"
_SET_IDENTITY = {"apiVersion": api_version(LEADER_WORKER_SET), "kind": WORKLOAD}
ROLES = (wellknown.PREFILL, wellknown.DECODE)  # of two LeaderWorkerSets of one app


class ObjectKey(Struct, frozen=True, order=True):
    """The identity of an object."""

    group: str
    kind: str
    namespace: str
    name: str
    twin: int = 0  # counts where a side has the same object several times

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"

    @property
    def api_kind(self) -> Kind:
        """The API group and kind."""
        return self.group, self.kind

    @property
    def place(self) -> str:
        """namespace/name, or the name alone."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def is_workload(key: ObjectKey, body: Body) -> bool:
    """Whether the object runs the pods of an app: a LeaderWorkerSet or DisaggregatedSet, or a Deployment that we
    rendered for one.
    """
    workload = WORKLOADS.get(key.api_kind)
    if workload and workload.has_groups:
        return True
    labels = map_at(body, "metadata", "labels") if key.kind == wellknown.DEPLOYMENT else {}
    own = wellknown.own_labels("", "inference-server")
    return bool(labels) and all(labels.get(name) == value for name, value in own.items())


class ObjectItem(Struct, frozen=True):
    """An object of one side."""

    key: ObjectKey
    file: str  # relative to the output folder
    body: Body
    place: int = 0  # its position in the file
    role: str = ""  # the name of a role of a DisaggregatedSet


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
        body = {**_SET_IDENTITY, "metadata": map_at(item.body, "metadata"), "spec": spec}
        roles[role.name] = ObjectItem(replace(item.key, name=role.scaler), item.file, body, item.place, role.name)
    return roles


def app_and_role(item: ObjectItem) -> tuple[str, str]:
    """The app of a workload that does a part of its work, and that part: a role of a DisaggregatedSet, or prefill or
    decode. Both are '' for a workload that does all of it.
    """
    if item.role:
        return text_at(item.body, "metadata", "name"), item.role
    app = text_at(item.body, "metadata", "labels", wellknown.NAME)
    labels = map_at(pod_template(item.body), "metadata", "labels")
    for role in ROLES:
        if item.key.kind == WORKLOAD and item.key.name == f"{app}-{role}" and role in labels.values():
            return app, role
    return "", ""


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
    """Key and body of each object of a document. A value that is no object gets kind File."""
    for _, listed in listed_objects(value):
        body = own_fields(listed) if isinstance(listed, dict) else {"text": listed}
        kind, metadata = body.get("kind"), map_at(body, "metadata")
        has_kind = isinstance(kind, str) and bool(kind)
        group = str(body.get("apiVersion") or "").rpartition("/")[0]
        name = metadata.get("name") or path
        yield ObjectKey(group, str(kind) if has_kind else "File", str(metadata.get("namespace") or ""), str(name)), body


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
