"""Kustomizations: the names of their files, and what they name: files, folders, addresses and repositories."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from typing import Final

from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, list_at, maps_at, text_at, texts_at

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names that kustomize looks for in a folder."""
_GROUP = "kustomize.config.k8s.io"
# Fields of a kustomization, in small letters: kustomize reads JSON as Go does, which takes a name in any.
RESOURCES: Final = ("resources", "bases", "components")
PATCHES: Final = ("patchesstrategicmerge", "patches", "patchesjson6902", "replacements")
PLUGINS: Final = ("generators", "transformers", "validators")
"""Fields with files that may name files in their turn."""
_NAME_FILES = (*RESOURCES, "patchesstrategicmerge", *PLUGINS, "crds", "configurations", "paths", "files", "envs")
_HOLD_NAMES = ("patches", "patchesjson6902", "replacements", "configmapgenerator", "secretgenerator", "openapi")
_PARTS = (*PATCHES, *PLUGINS, "configurations", "files")
_ADDRESS = r"(?ia)https?:[^\0-\x1f\x7f]*"
_SCHEME = "(?ia)(?:ssh|https?|file)://"
_USER = "[a-zA-Z][a-zA-Z0-9-]*@"
_GITHUB = ("github.com/", "github.com:")


def is_address(name: str) -> bool:
    """Whether kustomize takes the name of a file for an address, whatever lies in the tree."""
    return bool(re.fullmatch(_ADDRESS, name.partition("#")[0]))


def is_repository(name: str) -> bool:
    """Whether kustomize takes the name of a folder for a git repository, whatever lies in the tree.

    Its own decision, in its order: a scheme, or a user or github.com, and behind the host the path of a repository.
    """
    if name.startswith("/"):
        return False
    rest = name.partition("?")[0]
    rest = rest[5:] if rest[:5].lower() == "git::" else rest
    scheme = match[0].lower() if (match := re.match(_SCHEME, rest)) else ""
    rest = rest[len(scheme) :]
    if scheme == "file://":
        return _is_repository_path(rest, whole=True)
    user = match[0] if (match := re.match(_USER, rest)) else ""
    rest = rest[len(user) :]
    if scheme or user or rest.replace("\u0130", "i").lower().startswith(_GITHUB):  # which Go makes an `i`, too
        end, colon = rest.find("/"), rest.find(":")
        end = colon if not scheme and (end < 0 or 0 < colon < end) else end
        return end >= 0 and _is_repository_path(rest[end + 1 :])
    return False


def _is_repository_path(path: str, *, whole: bool = False) -> bool:
    """Whether a path names a repository and a folder inside of it. `whole`: the first part may be all that there is."""
    if "_git/" in path:
        repository, inside = "_git", path.partition("_git/")[2].partition("/")[2]
    elif "//" in path:
        repository, _, inside = path.partition("//")
    elif ".git" in path:
        repository, inside = ".git", path.partition(".git")[2]
    elif whole:
        repository, inside = path, ""
    else:
        parts = path.split("/", 2)
        repository, inside = "/".join(parts[:2]) if len(parts) > 1 else "", "".join(parts[2:])
    return bool(repository) and posixpath.normpath(inside.removeprefix("/")).split("/")[0] != ".."


def takes_files(kustomization: object) -> bool:
    """Whether a kustomization says which files of its folder are applied: by its resources, and by no plugin, which may
    read others.
    """
    group = text_at(kustomization, "apiVersion").partition("/")[0]
    has_plugins = any(str(key).casefold() in PLUGINS for key in as_map(kustomization))
    return group in ("", _GROUP) and bool(texts_at(kustomization, "resources")) and not has_plugins


def named_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of all files and folders that a kustomization in `folder` names, for whatever."""
    return _paths((name for _, _, name in named_files(kustomization)), folder)


def part_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of the files that a kustomization in `folder` names as patches, configuration or contents."""
    return _paths(_part_names(kustomization), folder)


def resource_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of the files and folders that a kustomization in `folder` names as resources."""
    return _paths(texts_at(kustomization, "resources"), folder)


def member_paths(kustomization: object, folder: str) -> set[str]:
    """The paths of all files and folders whose objects a kustomization in `folder` takes."""
    return _paths((name for field, _, name in named_files(kustomization) if field in RESOURCES), folder)


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
        elif field in ("path", "env", "targetfilepath") and isinstance(entry, str):
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
