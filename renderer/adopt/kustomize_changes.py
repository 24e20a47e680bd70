"""What kustomizations change in workloads beside their patches, which adopt reads without these changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from renderer.adopt.serving_workload import ServingWorkload
from renderer.diagnostics import Diagnostic, Path, listed, make_diagnostic
from renderer.kubernetes.json_values import as_map, maps_at, text_at
from renderer.load.kustomize_patches import KustomizePatches
from renderer.resolve.kube.images import split_tag
from renderer.text.escapes import shell_word
from renderer.yamlio import Document

_NAMES = ("namePrefix", "nameSuffix")
_CONTAINERS = ("containers", "initContainers")


def tell_kustomize_changes(
    workloads: Sequence[ServingWorkload], patches: KustomizePatches | None
) -> Iterator[Diagnostic]:
    """A warning for each kustomization that changes a workload in a way that adopt does not follow: its image, its
    replicas, its name or namespace.
    """
    by_file = patches.kustomizations_by_file() if patches else {}
    kustomizations: dict[str, Document] = {}
    changes: dict[str, list[tuple[Path, ServingWorkload]]] = {}  # by the name of a kustomization
    for workload in workloads if by_file else ():
        for kustomization in by_file.get(os.path.abspath(workload.document.name), ()):
            kustomizations[kustomization.name] = kustomization
            places = changes.setdefault(kustomization.name, [])
            places += [(path, workload) for path in _changes(kustomization, workload)]
    for name, places in changes.items():
        if places:
            fields = listed([*dict.fromkeys(str(path[0]) for path, _ in places)])
            words = {"fields": fields, "workload": places[0][1].title}
            folder = shell_word(os.path.dirname(name) or os.curdir)
            yield make_diagnostic("W964", kustomizations[name].origin(*places[0][0]), **words, folder=folder)


def _changes(kustomization: Document, workload: ServingWorkload) -> Iterator[Path]:
    """Where a kustomization changes a workload."""
    value, body = kustomization.value, as_map(workload.document.value)
    bodies = [container for field in _CONTAINERS for container in maps_at(workload.template, "spec", field)]
    images = {split_tag(text_at(container, "image").partition("@")[0])[0] for container in bodies}
    yield from (("images", i) for i, entry in enumerate(maps_at(value, "images")) if entry.get("name") in images)
    name, namespace = text_at(body, "metadata", "name"), text_at(value, "namespace")
    yield from (("replicas", i) for i, entry in enumerate(maps_at(value, "replicas")) if entry.get("name") == name)
    if namespace and namespace != text_at(body, "metadata", "namespace"):
        yield ("namespace",)
    yield from ((field,) for field in _NAMES if text_at(value, field))
