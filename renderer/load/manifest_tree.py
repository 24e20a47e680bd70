"""The manifests that `llmaz check` reads, and the RenderConfig and policies that they are judged by."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import RenderConfig, RenderOptions, RenderPolicy
from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic
from renderer.load.environments import environment_names
from renderer.load.flux_trees import read_flux_tree
from renderer.load.hand_written import Manifests, read_manifests
from renderer.load.input_files import count_files, unreadable_folders
from renderer.load.later_text import fill_documents
from renderer.load.render_config import render_config
from renderer.load.render_policy import render_policies
from renderer.load.run_scope import output_folder, require_paths
from renderer.source import tree
from renderer.yamlio import Document


def manifests(paths: Sequence[str]) -> Manifests:
    """The manifests of all YAML files below the paths, of any kind, and what is none; `-` is standard input. For
    `llmaz check`. Raises RenderError for a missing path.
    """
    on_disk = [path for path in paths if path != tree.STANDARD_INPUT]
    require_paths(on_disk, os.path.exists)
    base, config_path = tree.base_of(on_disk)
    input_tree = tree.folder(base, on_disk, (), None)
    if len(on_disk) < len(paths):
        input_tree = replace(input_tree, files=(*input_tree.files, tree.StandardInput()))
    result = read_manifests(input_tree, paths)
    documents, notes = filled_documents(result.documents, base)
    result = replace(result, documents=documents, problems=[*result.problems, *notes])
    config, _ = render_config(config_path, "")
    if patterns := [tree.glob(pattern) for pattern in config.get("ignore") or ()]:
        result = replace(result, ignored=frozenset(_ignored_names(input_tree, paths, patterns)))
    result.problems[:0] = unreadable_folders(input_tree)
    if not (result.documents or result.problems or result.chart_values):
        count = count_files(result.file_count)
        result.problems.extend(make_diagnostic("E125", Origin(NamedSource(path)), files=count) for path in paths)
    return result


def filled_documents(
    documents: Sequence[Document], base: str, built_of: str = ""
) -> tuple[list[Document], list[Diagnostic]]:
    """The documents with what the Flux Kustomizations of a tree fill in, and a note on what nobody is seen to fill in.
    `built_of`: the folder that kustomize made the documents of.
    """
    flux_tree = cache(lambda: read_flux_tree(base))
    return fill_documents(documents, lambda document: flux_tree().of(built_of or document.name))


def _ignored_names(input_tree: tree.InputTree, paths: Sequence[str], patterns: Sequence[tree.Glob]) -> Iterator[str]:
    """The names of the files and charts that the patterns of `ignore` match, but for those in paths that they match."""

    def is_ignored(path: str) -> bool:
        key = os.path.relpath(path, input_tree.base).replace(os.sep, "/")
        return any(pattern.fullmatch(key) for pattern in patterns)

    named_paths = [os.path.join(os.path.abspath(path), "") for path in paths if is_ignored(os.path.join(path, "any"))]
    places = [(file.name, file.path) for file in input_tree.files]
    places += [(name, os.path.join(name, "any")) for name in input_tree.charts]
    for name, path in places:
        if is_ignored(path) and not os.path.abspath(path).startswith(tuple(named_paths)):
            yield name


def split_by_cluster(
    paths: Sequence[str], documents: Sequence[Document]
) -> list[tuple[RenderConfig, list[Diagnostic], list[Document]]]:
    """For each cluster RenderConfig (empty without a `llmaz.yaml` at or above the paths), its problems, and the
    documents applied there. For `llmaz check`. The output folder of each environment belongs to a cluster of its own,
    files beside them to all clusters. Of a file that passThrough has copied to the output the copy alone counts. Raises
    RenderError for a RenderConfig that is not YAML.
    """
    base, path = tree.base_of(paths)
    config, problems = render_config(path, os.path.relpath(path) if path else "")
    output = os.path.abspath(output_folder(base, config))
    folders = [(os.path.join(output, name, ""), name) for name in environment_names(config.document)]
    places = {document.name: os.path.abspath(document.name) for document in documents}
    owners = {file: name for file, place in places.items() for folder, name in folders if place.startswith(folder)}
    environments = [name for _, name in folders if name in owners.values()]
    if not environments:
        return [(config, problems, _without_originals(documents, places, base, output))]
    return [
        (
            *render_config(path, os.path.relpath(str(path)), env=name),
            _without_originals(
                [document for document in documents if owners.get(document.name, name) == name],
                places,
                base,
                os.path.join(output, name),
            ),
        )
        for name in environments
    ]


def _without_originals(
    documents: Sequence[Document], places: Mapping[str, str], base: str, output: str
) -> list[Document]:
    """The documents, without those of which the output folder has the copy that is applied. `places`: by name."""
    copies = os.path.join(output, tree.PASSED, "")
    originals = {
        os.path.join(base, place.removeprefix(copies)) for place in places.values() if place.startswith(copies)
    }
    return [document for document in documents if places[document.name] not in originals]


class EnvironmentFolders(Struct, frozen=True):
    """Where the environments of a tree are rendered."""

    top: str  # of the repository
    output: str  # the folder above theirs, from there
    names: Sequence[str]

    def has_file(self, path: str) -> bool:
        """Whether the repository has the file."""
        return os.path.isfile(os.path.join(self.top, path))

    def folders_in(self, path: str) -> list[str] | None:
        """The names of the folders in one of the repository; None where it does not exist."""
        folder = os.path.join(self.top, path)
        if not os.path.isdir(folder):
            return None
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))

    def path_of(self, name: str) -> str:
        """The path of a file from the top of the repository. `name`: from the working directory."""
        return os.path.relpath(name, self.top).replace(os.sep, "/")


def environment_folders(paths: Sequence[str]) -> EnvironmentFolders:
    """Where the environments of the RenderConfig at or above the paths are rendered. For `llmaz check`. Raises
    RenderError.
    """
    base, path = tree.base_of(paths)
    config, _ = render_config(path, "")
    top = tree.repository_top(base, os.path.exists)
    output = os.path.relpath(output_folder(base, config), top)
    return EnvironmentFolders(top, output.replace(os.sep, "/"), environment_names(config.document))


class PolicyTree(Struct, frozen=True):
    """The policies that manifests are judged by, the problems of their files, and the folders of llmaz.yaml and of its
    output.
    """

    base: str
    output: str
    policies: Sequence[RenderPolicy]
    problems: Sequence[Diagnostic]


def policies_of(paths: Sequence[str], policy: str = "") -> PolicyTree:
    """What manifests below the paths are judged by. `policy`: the file that the command line names. For `llmaz check`.
    Raises RenderError.
    """
    base, path = tree.base_of(paths)
    policies, problems = render_policies(RenderOptions(policy=policy), base)
    config, _ = render_config(path, os.path.relpath(path) if path else "") if policies else (None, [])
    return PolicyTree(base, os.path.abspath(output_folder(base, config)), policies, problems)
