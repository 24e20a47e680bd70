"""The manifests that `llmaz check` judges, and the files below its paths that hold none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from renderer import yamlio
from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic, naming_file, read_error
from renderer.kubernetes.json_values import as_map
from renderer.kubernetes.sync_sources import is_sync_source
from renderer.load.kustomize_patches import KustomizePatches
from renderer.preset_tables import preset_table
from renderer.source import tree
from renderer.source.kustomizations import KUSTOMIZATIONS, named_paths, part_paths, resource_paths, takes_files
from renderer.yamlio import Document

_VERSION = re.compile(rb"apiVersion[\"']?[ \t]*:")


class Manifests(Struct, frozen=True):
    """The manifests in the files of a tree."""

    documents: list[Document] = []  # with Kubernetes objects, those in lists included
    problems: list[Diagnostic] = []
    file_count: int = 0  # of the files that were read
    charts: Sequence[str] = ()  # folders that Helm has to render first
    patches: list[str] = []  # files that a kustomization names as a part of it
    unapplied: dict[str, list[Document]] = {}  # by name of a file beside a kustomization that does not name it
    others: list[str] = []  # files without an object
    chart_values: dict[str, list[Document]] = {}  # by name, those among them with values of a chart that adopt reads
    # By name of a file: the folders of the kustomizations that take it. A file that none takes has its own folder
    # where one path is given, or an object says which folders are applied together.
    kustomizations: dict[str, Set[str]] = {}
    overlays: list[Document] = []  # the kustomizations
    variants: frozenset[str] = frozenset()  # names of files of which nothing says with what they are applied
    patches_of_tree: KustomizePatches | None = None  # those that kustomizations make
    # Names of files and charts that `ignore` of the nearest llmaz.yaml names, unless they lie in a path that it names.
    ignored: frozenset[str] = frozenset()


def read_manifests(input_tree: tree.InputTree, paths: Sequence[str]) -> Manifests:
    """The manifests of a tree below the paths. A file that is itself one of the paths is always judged."""
    kustomizations = _Kustomizations((*input_tree.kustomizations, *_kustomizations_above(input_tree.base, paths)))
    manifests = Manifests(
        file_count=len(input_tree.files),
        charts=input_tree.charts,
        overlays=kustomizations.documents,
        patches_of_tree=kustomizations.patches,
    )
    names = input_tree.unprintable_names
    manifests.problems.extend(make_diagnostic("E124", Origin(NamedSource(name))) for name in names)
    absolute_paths = {path if path == tree.STANDARD_INPUT else os.path.abspath(path) for path in paths}
    for file in input_tree.files:
        if file.path not in absolute_paths and os.path.basename(file.path) in KUSTOMIZATIONS:
            continue
        if file.path not in absolute_paths and file.path in kustomizations.parts:
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
                if file.path not in absolute_paths and kustomizations.leaves_out(file.path):
                    manifests.unapplied[file.name] = documents
                    continue
                for document in documents:
                    objects = document.objects or [document]  # an empty List
                    manifests.documents.extend(kustomizations.patches.applied(item, file.path) for item in objects)
                if file.path in kustomizations.takers:
                    manifests.kustomizations[file.name] = kustomizations.takers[file.path]
                manifests.problems.extend(problems)
            elif documents or problems:
                manifests.others.append(file.name)
                if any(_are_chart_values(document.value) for document in documents):
                    manifests.chart_values[file.name] = documents
    is_synced = any(is_sync_source(document.value) for document in manifests.documents)
    free = {document.name for document in manifests.documents} - manifests.kustomizations.keys()
    if len(paths) == 1 or is_synced:
        manifests.kustomizations.update((name, {os.path.dirname(name)}) for name in free)
    return replace(manifests, variants=frozenset(free)) if len(paths) == 1 and not is_synced else manifests


def _holds_objects(documents: Sequence[Document], broken: bytes) -> bool:
    """Whether one of a file's documents is meant to be a Kubernetes object, which a misspelt field does not change.
    `broken`: the file, where it is not YAML.
    """
    fields = [_object_fields(document.value) for document in documents]
    is_meant = any(len(names) > 1 for names in fields)
    if not all(fields) and not any(names & {"metadata", "spec"} for names in fields):
        is_meant = False  # configuration of another program, such as Talos
    return is_meant or bool(_VERSION.search(broken))


def _are_chart_values(value: object) -> bool:
    """Whether a document has the section with engines of the chart that presets/production_stack.yaml describes, as it
    is, or one level below where the chart is part of another.
    """
    section = preset_table("production_stack")["section"]
    return any(section in as_map(values) for values in (value, *as_map(value).values()))


def _object_fields(value: object) -> set[str]:
    """Which of the fields that nearly every object has the document has, in whatever case."""
    return {"apiversion", "kind", "metadata", "spec"} & {str(key).lower() for key in as_map(value)}


def _kustomizations_above(base: str, paths: Sequence[str]) -> Iterator[tree.InputFile]:
    """The kustomizations in the folders from the paths up to the base."""
    for path in paths:
        folder = os.path.abspath(path)
        while folder != base and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
            for name in KUSTOMIZATIONS:
                if os.path.isfile(file := os.path.join(folder, name)):
                    yield tree.InputFile(os.path.relpath(file), name, file)


class _Kustomizations:
    """What kustomizations name, by its path."""

    def __init__(self, files: Sequence[tree.InputFile]) -> None:
        self.takers: dict[str, set[str]] = {}  # the folders of those that name it as a resource
        named: set[str] = set()
        self._named_by: dict[str, set[str]] = {}  # by the folder of one that says which of its files are applied
        by_folder: dict[str, list[Document]] = {}
        self.documents: list[Document] = []
        for file in files:
            folder = os.path.dirname(file.path)
            by_folder[folder] = [*_readable_documents(file)]
            self.documents += by_folder[folder]
            for document in by_folder[folder]:
                named |= part_paths(document.value, folder)
                if takes_files(document.value):
                    self._named_by.setdefault(folder, set()).update(named_paths(document.value, folder))
                for path in resource_paths(document.value, folder):
                    self.takers.setdefault(path, set()).add(folder)
        self.parts = named - self.takers.keys()  # patches, configuration or contents
        self.patches = KustomizePatches(by_folder)

    def leaves_out(self, path: str) -> bool:
        """Whether a kustomization stands beside a file, and neither it nor another one names the file: nothing applies
        it.
        """
        names = self._named_by.get(os.path.dirname(path))
        return names is not None and path not in names and path not in self.takers and path not in self.parts


def _readable_documents(file: tree.InputFile) -> Sequence[Document]:
    """The documents of a file; none where kustomize cannot read it either."""
    try:
        return yamlio.parse(file.name, file.read())[0]
    except OSError:
        return ()
