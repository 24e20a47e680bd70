"""Kustomizations: the names of their files, and the files that they name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from renderer.diagnostics import Path
from renderer.kubernetes.json_values import list_at, maps_at, texts_at

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names that kustomize looks for in a folder."""
# Fields of a kustomization, in small letters: kustomize reads JSON as Go does, which takes a name in any.
RESOURCES: Final = ("resources", "bases", "components")
PATCHES: Final = ("patchesstrategicmerge", "patches", "patchesjson6902", "replacements")
PLUGINS: Final = ("generators", "transformers", "validators")
"""Fields with files that may name files in their turn."""
_NAME_FILES = (*RESOURCES, "patchesstrategicmerge", *PLUGINS, "crds", "configurations", "paths", "files", "envs")
_HOLD_NAMES = ("patches", "patchesjson6902", "replacements", "configmapgenerator", "secretgenerator", "openapi")
_PARTS = (*PATCHES, *PLUGINS, "configurations", "files")


def part_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of the files that a kustomization in `folder` names as patches, configuration or contents."""
    return _paths(_part_names(kustomization), folder)


def resource_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of the files and folders that a kustomization in `folder` names as resources."""
    return _paths(texts_at(kustomization, "resources"), folder)


def _paths(names: Iterator[str] | list[str], folder: str) -> set[str]:
    # An inline patch stands where a name may stand, and has several lines.
    return {os.path.normpath(os.path.join(folder, name)) for name in names if name and "\n" not in name}


def named_files(value: object) -> Iterator[tuple[str, Path, str]]:
    """Each file or folder that a kustomization names: the field in small letters, as Go's JSON takes any, the path of
    the name, and the name.
    """
    for key, entry in value.items() if isinstance(value, dict) else ():
        field = str(key).casefold()
        if field in _NAME_FILES:
            for i, name in enumerate(entry if isinstance(entry, list) else ()):
                if isinstance(name, str):
                    yield field, (key, i), name.rpartition("=")[2] if field == "files" else name
        elif field in ("path", "env") and isinstance(entry, str):
            yield field, (key,), entry
        elif field in _HOLD_NAMES:
            for i, part in enumerate(entry if isinstance(entry, list) else [entry]):
                step = (key, i) if isinstance(entry, list) else (key,)
                for below, path, name in named_files(part):
                    yield field if below == "path" else below, (*step, *path), name


def _part_names(kustomization: object) -> Iterator[str]:
    yield from (name for field, _, name in named_files(kustomization) if field in _PARTS)
    for chart in maps_at(kustomization, "helmCharts"):
        yield from map(str, (chart.get("valuesFile", ""), *list_at(chart, "additionalValuesFiles")))
