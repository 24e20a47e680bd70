"""Where kinds have parts of pods beside pod templates: by kind for what is known, by its CRD for any other.

pod_parts.json has by API group where its CRDs are, and by kind the maps with fields of pods; `!` behind a path says
that the map is a whole pod, in which no containers need be written. A path is written with dots; `*` stands for each
item of a list or value of a map, `**` for any number of levels.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from renderer.kubernetes.json_values import Path, Pattern, as_map, map_at, maps_at, text_at
from renderer.kubernetes.workloads import CONTAINERS, WORKLOADS, Kind

_FILE: Final = os.path.join(os.path.dirname(__file__), "pod_parts.json")
ACCOUNTS: Final = ("serviceAccountName", "serviceAccount", "taskServiceAccountName")
PRIORITIES: Final = ("priorityClassName", "podPriorityClassName")
_NAMES: Final = frozenset((*CONTAINERS, *ACCOUNTS, *PRIORITIES, "hostNetwork", "hostPID", "securityContext", "image"))
_DEEPEST: Final = 64  # levels of a CRD's schema that are looked at

_WORKFLOWS: Final = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow", "WorkflowTaskSet")
_VOLUMES: Final[Mapping[Kind, Path]] = {
    ("", "PersistentVolume"): ("spec",),
    ("serving.kserve.io", "LocalModelNodeGroup"): ("spec", "persistentVolumeSpec"),
}
PODLESS_GROUPS: Final = frozenset(
    (
        *(
            f"{name}.k8s.io"
            for name in (
                "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization",
                "certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "gateway.networking",
                "inference.networking", "internal.apiserver", "metrics", "networking", "node", "rbac.authorization",
                "resource", "scheduling", "snapshot.storage", "storage", "storagemigration",
            )
        ),
        "gateway.networking.x-k8s.io",
        "inference.networking.x-k8s.io",
    )
)  # fmt: skip


class PodPart(Struct, frozen=True):
    """Where a kind has a pod, or a part of one."""

    pattern: Pattern
    is_whole: bool  # a pod, whether or not it has containers


def pod_parts(kind: Kind) -> tuple[PodPart, ...] | None:
    """Where a kind has pods or parts of them, of which it may have more elsewhere; None for a kind that is not known,
    and for one that has nothing of pods but templates.
    """
    return _known_parts().get(kind)


@cache
def _known_parts() -> Mapping[Kind, tuple[PodPart, ...]]:
    with open(_FILE, "rb") as file:
        groups: dict[str, dict[str, dict[str, list[str]]]] = json.loads(file.read())
    paths = {(group, name): paths for group, known in groups.items() for name, paths in known["kinds"].items()}
    for kind, workload in WORKLOADS.items():
        if workload.has_other_parts:
            paths[kind] = [f"{template}.spec" for template in workload.templates]
    return {
        kind: tuple(PodPart(tuple(path.rstrip("!").split(".")), path.endswith("!")) for path in patterns)
        for kind, patterns in paths.items()
    }


def yaml_texts(kind: Kind) -> tuple[Pattern, ...]:
    """Where a kind has texts that are the YAML of an object, or of a part of one."""
    is_workflow = kind[0] == "argoproj.io" and kind[1] in _WORKFLOWS
    return (("spec", "**", "podSpecPatch"), ("spec", "**", "resource", "manifest")) if is_workflow else ()


def volume_path(kind: Kind) -> Path | None:
    """Where a kind has the spec of a PersistentVolume."""
    return _VOLUMES.get(kind)


def is_known(kind: Kind) -> bool:
    """Whether it is known where objects of the kind have pods, or that they have none."""
    group = kind[0]
    return "." not in group or group in PODLESS_GROUPS or kind in WORKLOADS or kind in _known_parts()


class DefinedKind(Struct, frozen=True):
    """What a CRD says of the pods in its kind."""

    parts: tuple[PodPart, ...]
    is_open: bool  # it has fields of which it does not say what they hold

    @property
    def may_hold_pods(self) -> bool:
        """Whether objects may have pods or parts of them."""
        return self.is_open or bool(self.parts)


def defined_kinds(bodies: Iterable[Mapping[str, object]]) -> dict[Kind, DefinedKind]:
    """What the CRDs among these objects say, by the kinds that they define."""
    kinds = {}
    for body in bodies:
        if body.get("kind") == "CustomResourceDefinition" and text_at(body, "spec", "group"):
            kind = (text_at(body, "spec", "group"), text_at(body, "spec", "names", "kind"))
            kinds[kind] = _defined_kind(body)
    return kinds


def _defined_kind(body: Mapping[str, object]) -> DefinedKind:
    patterns: dict[Pattern, None] = {}
    is_open = False
    for version in maps_at(body, "spec", "versions"):
        schema = map_at(version, "schema", "openAPIV3Schema")
        fields = as_map(schema.get("properties"))
        rest = {"properties": {name: fields[name] for name in fields if name not in ("metadata", "status")}}
        is_open |= not fields or schema.get("x-kubernetes-preserve-unknown-fields") is True
        for pattern, is_part in _schema_parts(rest, ()):
            is_open |= not is_part
            patterns.update({pattern: None} if is_part else {})
    return DefinedKind(tuple(PodPart(pattern, is_whole=False) for pattern in patterns), is_open)


def _schema_parts(schema: Mapping[str, object], pattern: Pattern) -> Iterator[tuple[Pattern, bool]]:
    """The maps with fields of pods below a schema (True), and those of which it says nothing (False)."""
    fields = as_map(schema.get("properties"))
    if not _NAMES.isdisjoint(fields):
        yield pattern, True
    if schema.get("x-kubernetes-preserve-unknown-fields") is True:
        yield pattern, False
    if len(pattern) < _DEEPEST:
        for name, field in fields.items():
            yield from _schema_parts(as_map(field), (*pattern, name))
        for key in ("items", "additionalProperties"):
            yield from _schema_parts(as_map(schema.get(key)), (*pattern, "*")) if key in schema else ()
