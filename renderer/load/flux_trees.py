"""The Flux Kustomizations of a tree that fill in variables, and the files that each of them reaches.

What Flux reads, and which value of a variable wins: the spec (v1) of Kustomizations of fluxcd/kustomize-controller
at 00852088, "Path" and "Post build variable substitution".
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from renderer import yamlio
from renderer.kubernetes.json_values import as_text, map_at, maps_at, text_at, texts_at
from renderer.source import tree
from renderer.source.kustomizations import KUSTOMIZATIONS, member_paths
from renderer.source.paths import is_inside
from renderer.text.variables import has_unknown
from renderer.yamlio import Document

_GROUP = "kustomize.toolkit.fluxcd.io/"
_KIND = "Kustomization"
_SOURCES = ("ConfigMap", "Secret")


class FluxTree(Struct, frozen=True):
    """What the Flux Kustomizations of a tree fill in."""

    variables: Mapping[str, Mapping[str, str]]  # by path: those whose value is known, and alike for all

    def of(self, path: str) -> Mapping[str, str] | None:
        """The variables of a file, or of what is built of a folder; None where no Kustomization with a postBuild
        reaches it.
        """
        return self.variables.get(os.path.abspath(path))


def read_flux_tree(base: str) -> FluxTree:
    """What the Flux Kustomizations in the repository of a folder fill in."""
    top = tree.repository_top(base, os.path.exists)
    files = [*yamlio.read_files(tree.folder(top, (top,), (), None).files)]
    kustomizations = [
        _Kustomization(document, top) for document in yamlio.find_objects(files, _GROUP.encode()) if _is_flux(document)
    ]
    members = _Members()
    for parent in kustomizations:
        if builds := [*parent.patched_builds()]:
            reached = parent.reached_paths(members)
            for child in kustomizations:
                if os.path.abspath(child.document.name) in reached:
                    child.builds += builds
    substituting = [kustomization for kustomization in kustomizations if kustomization.substitutes]
    names = {name.encode() for kustomization in substituting for name in kustomization.source_names()}
    sources = [source for source in yamlio.find_objects(files, *names) if text_at(source.value, "kind") in _SOURCES]
    variables: dict[str, dict[str, str]] = {}
    for kustomization in substituting:
        values = kustomization.values(sources)
        for path in kustomization.reached_paths(members):
            known = variables.setdefault(path, dict(values))
            for name in [*known]:
                if known[name] != values.get(name):
                    del known[name]
    return FluxTree(variables)


def _is_flux(document: Document) -> bool:
    is_of_group = text_at(document.value, "apiVersion").startswith(_GROUP)
    return is_of_group and text_at(document.value, "kind") == _KIND


class _Kustomization:
    """A Flux Kustomization."""

    def __init__(self, document: Document, top: str) -> None:
        self.document = document
        self.builds: list[Mapping[str, object]] = [map_at(document.value, "spec", "postBuild")]  # later ones win
        self._top = os.path.normpath(top)

    @property
    def substitutes(self) -> bool:
        """Whether Flux fills in variables, which it does where it has one, or a source of some."""
        return any(value for build in self.builds for value in build.values())

    def patched_builds(self) -> Iterator[Mapping[str, object]]:
        """What its patches say of the Kustomizations that it applies."""
        for patch in maps_at(self.document.value, "spec", "patches"):
            if "postBuild" not in (text := text_at(patch, "patch")):
                continue
            for document in yamlio.parse("", text.encode())[0]:
                if _is_flux(document) and (build := map_at(document.value, "spec", "postBuild")):
                    yield build

    def source_names(self) -> Iterator[str]:
        """The names of the ConfigMaps and Secrets that it takes variables from."""
        for build in self.builds:
            for source in maps_at(build, "substituteFrom"):
                yield text_at(source, "name")

    def values(self, sources: Iterable[Document]) -> dict[str, str]:
        """The variables whose value is known: of `substitute`, else of the last ConfigMap or Secret of the tree that it
        names. Of namesakes, as each cluster of a tree may have one, only what they agree on is known.
        """
        values: dict[str, str] = {}
        for build in self.builds:
            for reference in maps_at(build, "substituteFrom"):
                named = [_literals(source.value) for source in sources if self._takes(reference, source.value)]
                for name in {name for literals in named for name in literals}:
                    texts = {literals.get(name) for literals in named}
                    text = texts.pop() if len(texts) == 1 else None
                    if text is None:
                        values.pop(name, None)
                    else:
                        values[name] = text
        for build in self.builds:
            values |= {name: as_text(value) for name, value in map_at(build, "substitute").items()}
        return {name: value.replace("\n", "") for name, value in values.items() if not has_unknown(value, {})}

    def _takes(self, reference: object, source: object) -> bool:
        """Whether a reference names an object."""
        namespace = text_at(source, "metadata", "namespace")
        return (
            text_at(source, "kind") == text_at(reference, "kind")
            and text_at(source, "metadata", "name") == text_at(reference, "name")
            and namespace in ("", text_at(self.document.value, "metadata", "namespace"))
        )

    def reached_paths(self, members: _Members) -> set[str]:
        """The paths of the files and folders that it applies: those that the kustomizations from its folder on name,
        and all files below a folder without one.
        """
        start = self._start()
        pending = [start, *(os.path.join(start, name) for name in texts_at(self.document.value, "spec", "components"))]
        reached: set[str] = set()
        while pending:
            path = os.path.normpath(pending.pop())
            if path not in reached and is_inside(path, self._top):
                reached.add(path)
                pending += members.of(path)
        return reached

    def _start(self) -> str:
        """The folder of `spec.path`: of the repository, or of the part of it that is an artifact, which is the nearest
        folder above the Kustomization that has it.
        """
        path = text_at(self.document.value, "spec", "path", default=".").lstrip("/")
        if not os.path.isdir(os.path.join(self._top, path)):
            folder = os.path.dirname(os.path.abspath(self.document.name))
            while is_inside(folder, self._top) and folder != self._top:
                if os.path.isdir(start := os.path.join(folder, path)):
                    return start
                folder = os.path.dirname(folder)
        return os.path.join(self._top, path)


def _literals(source: object) -> dict[str, str]:
    """What a ConfigMap or Secret says, but for what is encrypted."""
    values = {name: value for name, value in map_at(source, "data").items() if isinstance(value, str)}
    if text_at(source, "kind") == "Secret":
        values = {name: text for name, value in values.items() if (text := _decoded(value)) is not None}
        values |= {name: as_text(value) for name, value in map_at(source, "stringData").items()}
    return {name: value for name, value in values.items() if not value.startswith("ENC[")}


def _decoded(value: str) -> str | None:
    """The text in base64; None for what is none."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return None


class _Members:
    """What kustomize takes of each folder, each read once."""

    def __init__(self) -> None:
        self._members: dict[str, list[str]] = {}

    def of(self, path: str) -> list[str]:
        """The paths that the kustomization of a folder names, or all in a folder without one; none for a file."""
        if path not in self._members:
            self._members[path] = [*self._read(path)] if os.path.isdir(path) else []
        return self._members[path]

    def _read(self, folder: str) -> Iterator[str]:
        kustomizations = [os.path.join(folder, name) for name in KUSTOMIZATIONS]
        for path in filter(os.path.isfile, kustomizations):
            for document in yamlio.find_objects(yamlio.read_files([tree.InputFile(path, path, path)]), b""):
                yield from member_paths(document.value, folder)
            return
        yield from (os.path.join(folder, name) for name in tree.DISK.names(folder, folder))
