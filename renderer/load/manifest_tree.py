"""The manifests that `llmaz check` reads, and the RenderConfig and policies that they are judged by."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from renderer.api import RenderConfig, RenderOptions, RenderPolicy
from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic
from renderer.load.environments import environment_names
from renderer.load.hand_written import Manifests, read_manifests
from renderer.load.input_files import count_files, unreadable_folders
from renderer.load.render_config import render_config
from renderer.load.render_policy import render_policies
from renderer.load.run_scope import require_paths
from renderer.source import tree
from renderer.yamlio import Document


def manifests(paths: Sequence[str]) -> Manifests:
    """The manifests of all YAML files below the paths, of any kind, and what is none. For `llmaz check`. Raises
    RenderError for a missing path.
    """
    require_paths(paths, os.path.exists)
    input_tree = tree.folder(tree.base_of(paths)[0], paths, (), None)
    result = read_manifests(input_tree, paths)
    result.problems[:0] = unreadable_folders(input_tree)
    if not result.documents and not result.problems:
        count = count_files(result.file_count)
        result.problems.extend(make_diagnostic("E125", Origin(NamedSource(path)), files=count) for path in paths)
    return result


def split_by_cluster(
    paths: Sequence[str], documents: Sequence[Document]
) -> list[tuple[RenderConfig, list[Diagnostic], list[Document]]]:
    """For each cluster RenderConfig (empty without a `llmaz.yaml` at or above the paths), its problems, and the
    documents applied there. For `llmaz check`. The output folder of each environment belongs to a cluster of its own,
    files beside them to all clusters. Raises RenderError for a RenderConfig that is not YAML.
    """
    base, path = tree.base_of(paths)
    config, problems = render_config(path, os.path.relpath(path) if path else "")
    output = os.path.abspath(os.path.join(base, str(config.get("output", "dir") or "rendered")))
    folders = [(os.path.join(output, name, ""), name) for name in environment_names(config.document)]
    absolute_paths = {document.name: os.path.abspath(document.name) for document in documents} if folders else {}
    owners = {
        file: name for file, place in absolute_paths.items() for folder, name in folders if place.startswith(folder)
    }
    environments = [name for _, name in folders if name in owners.values()]
    if not environments:
        return [(config, problems, [*documents])]
    return [
        (
            *render_config(path, os.path.relpath(str(path)), env=name),
            [e for e in documents if owners.get(e.name, name) == name],
        )
        for name in environments
    ]


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
    output = str((config and config.get("output", "dir")) or "rendered")
    return PolicyTree(base, os.path.abspath(os.path.join(base, output)), policies, problems)
