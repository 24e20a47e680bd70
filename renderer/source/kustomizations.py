"""Kustomizations: the names of their files, and the files that they name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from renderer.kubernetes.json_values import list_at, maps_at, texts_at

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names that kustomize looks for in a folder."""


def part_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of the files that a kustomization in `folder` names as patches, configuration or contents."""
    return _paths(_part_names(kustomization), folder)


def resource_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of the files and folders that a kustomization in `folder` names as resources."""
    return _paths(texts_at(kustomization, "resources"), folder)


def _paths(names: Iterator[str] | list[str], folder: str) -> set[str]:
    # An inline patch stands where a name may stand, and has several lines.
    return {os.path.normpath(os.path.join(folder, name)) for name in names if name and "\n" not in name}


def _part_names(kustomization: object) -> Iterator[str]:
    for field in ("patchesStrategicMerge", "configurations", "transformers", "generators", "validators"):
        yield from texts_at(kustomization, field)
    for field in ("patches", "patchesJson6902", "replacements"):
        yield from (str(entry["path"]) for entry in maps_at(kustomization, field) if "path" in entry)
    for field in ("configMapGenerator", "secretGenerator"):
        for generator in maps_at(kustomization, field):
            yield from (name.rpartition("=")[2] for name in texts_at(generator, "files"))
    for chart in maps_at(kustomization, "helmCharts"):
        yield from map(str, (chart.get("valuesFile", ""), *list_at(chart, "additionalValuesFiles")))
