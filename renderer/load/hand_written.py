"""The manifests that `llmaz check` judges, and the files below its paths that hold none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer import yamlio
from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic, naming_file, read_error
from renderer.source import tree
from renderer.source.kustomizations import KUSTOMIZATIONS, part_paths, resource_paths
from renderer.yamlio import Document

_VERSION = re.compile(rb"apiVersion[\"']?[ \t]*:")


class Manifests(Struct, frozen=True):
    """The manifests in the files of a tree."""

    documents: list[Document] = []  # with Kubernetes objects, those in lists included
    problems: list[Diagnostic] = []
    file_count: int = 0  # of the files that were read
    charts: Sequence[str] = ()  # folders that Helm has to render first
    patches: list[str] = []  # files that a kustomization names as a part of it
    others: list[str] = []  # files without an object
    # Names of files and charts that `ignore` of the nearest llmaz.yaml names, unless they lie in a path that it names.
    ignored: frozenset[str] = frozenset()


def read_manifests(input_tree: tree.InputTree, paths: Sequence[str]) -> Manifests:
    """The manifests of a tree below the paths. A file that is itself one of the paths is always judged."""
    manifests = Manifests(file_count=len(input_tree.files), charts=input_tree.charts)
    names = input_tree.unprintable_names
    manifests.problems.extend(make_diagnostic("E124", Origin(NamedSource(name))) for name in names)
    absolute_paths = {os.path.abspath(path) for path in paths}
    parts = _parts_of_kustomizations((*input_tree.kustomizations, *_kustomizations_above(input_tree.base, paths)))
    for file in input_tree.files:
        if file.path not in absolute_paths and os.path.basename(file.path) in KUSTOMIZATIONS:
            continue
        if file.path not in absolute_paths and file.path in parts:
            manifests.patches.append(file.name)
            continue
        with naming_file(file.name):
            try:
                data = file.read()
            except OSError as error:
                manifests.problems.append(read_error(file.name, error))
                continue
            documents, problems = yamlio.parse(file.name, data, disputes=True)
            if file.path in absolute_paths or _holds_objects(documents, data if problems else b""):
                for document in documents:
                    manifests.documents.extend(document.objects or [document])  # an empty List
                manifests.problems.extend(problems)
            elif documents or problems:
                manifests.others.append(file.name)
    return manifests


def _holds_objects(documents: Sequence[Document], broken: bytes) -> bool:
    """Whether one of a file's documents is meant to be a Kubernetes object, which a misspelt field does not change.
    `broken`: the file, where it is not YAML.
    """
    return any(_is_meant_as_object(document.value) for document in documents) or bool(_VERSION.search(broken))


def _is_meant_as_object(value: object) -> bool:
    """Whether the document has two of the fields that nearly every object has, in whatever case."""
    keys = {str(key).lower() for key in value} if isinstance(value, dict) else set()
    return len(keys & {"apiversion", "kind", "metadata", "spec"}) > 1


def _kustomizations_above(base: str, paths: Sequence[str]) -> Iterator[tree.InputFile]:
    """The kustomizations in the folders from the paths up to the base."""
    for path in paths:
        folder = os.path.abspath(path)
        while folder != base and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
            for name in KUSTOMIZATIONS:
                if os.path.isfile(file := os.path.join(folder, name)):
                    yield tree.InputFile(os.path.relpath(file), name, file)


def _parts_of_kustomizations(kustomizations: Sequence[tree.InputFile]) -> set[str]:
    """The paths of the files that kustomizations name as patches, configuration or contents, and not as resources."""
    parts: set[str] = set()
    resources: set[str] = set()
    for file in kustomizations:
        try:
            documents, _ = yamlio.parse(file.name, file.read())
        except OSError:
            continue  # kustomize cannot read it either

        folder = os.path.dirname(file.path)
        for document in documents:
            resources |= resource_paths(document.value, folder)
            parts |= part_paths(document.value, folder)
    return parts - resources
