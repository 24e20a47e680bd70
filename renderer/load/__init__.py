"""Stage 1: all input files, the presets' and the user's → schema-valid Inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import workers
from renderer.api import Inputs, RenderConfig, RenderOptions, RenderPolicy, Scope
from renderer.diagnostics import Diagnostic, Origin, RenderError, Source, has_errors, make_diagnostic
from renderer.diagnostics.rule import NamedSource
from renderer.load.environments import Environment, environment_names, find_environment, only_environment
from renderer.load.index import InputIndex
from renderer.load.parsing import ParsedFile, parse_file
from renderer.load.preset_files import PRESETS, PresetRefused, find_preset, preset, preset_names, preset_paths
from renderer.load.render_config import parse_override, render_config
from renderer.load.render_policy import render_policies, tree_policy
from renderer.source import tree
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.load.hand_written import Manifests

__all__ = [
    "PRESETS",
    "PresetRefused",
    "find_preset",
    "for_one_environment",
    "inputs",
    "manifests",
    "no_input_errors",
    "parse_override",
    "policies_of",
    "preset",
    "preset_names",
    "preset_paths",
    "read_ahead",
    "render_config",
    "render_policies",
    "rendered_environments",
    "scope",
    "scopes",
    "split_by_cluster",
    "tree_policy",
]


def scope(options: RenderOptions) -> Scope:
    """RenderConfig and the input files of a run. Raises RenderError for bad overrides and missing paths."""
    cwd = os.getcwd()
    overrides = [parse_override(text) for text in options.overrides]
    file_system = options.file_system
    _require(options.paths, file_system.exists)
    base, config_path = file_system.base_of(options.paths)
    config_name = os.path.relpath(config_path, cwd) if config_path else ""
    skipped_keys, env = options.skipped_keys, options.env
    config, problems = render_config(config_path, config_name, overrides, file_system, skipped_keys, env)
    paths = options.paths or (os.path.relpath(base, cwd) if config_path else ".",)
    default_output = os.path.join(base, str(config.get("output", "dir") or "rendered"))
    output = default_output if options.output is None else options.output
    folder = os.path.relpath(os.path.abspath(output), cwd)
    if options.compares:
        tree.refuse_links(output)
    real_output = os.path.realpath(output) + os.sep
    if options.compares and any((os.path.realpath(path) + os.sep).startswith(real_output) for path in paths):
        raise RenderError([make_diagnostic("E143", Origin(NamedSource(folder)))])
    ignore = config.get("ignore") or ()
    files = file_system.folder(base, paths, ignore, folder)
    keys = [os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/") for path in paths]
    pruned_paths = () if "." in keys else tuple(keys)
    if pruned_paths and config_path:
        files = replace(files, other_files=file_system.other_files(base, paths, ignore, folder))
    output_folder = f"{folder}/{env}" if env else folder
    policies, policy_problems = render_policies(options, base)
    problems += policy_problems
    return Scope(options, config, config_path, files, output_folder, pruned_paths, tuple(problems), policies=policies)


def _require(paths: Iterable[str], exists: Callable[[str], bool]) -> None:
    """Raises RenderError for paths that do not exist."""
    if missing := [path for path in paths if not exists(path)]:
        raise RenderError(make_diagnostic("E122", Origin(NamedSource(path))) for path in missing)


def scopes(options: RenderOptions, first: Scope | None = None) -> tuple[str, list[Scope]]:
    """The output folder, and a Scope for each environment to render; without environments a single one.
    `first`: the result of `scope(options)` where the caller has it already.
    """
    first = first or scope(options)
    if options.env:
        return os.path.dirname(first.folder), [first]
    names = environment_names(first.config.document)
    return first.folder, [scope(replace(options, env=name)) for name in names] or [first]


@contextmanager
def read_ahead(options: RenderOptions) -> Iterator[tuple[str, list[Scope]]]:
    """As `scopes`; workers read the files of the first scope in the background while the context is open."""
    folder, found_scopes = scopes(options)
    with _start_reading(_environment(found_scopes[0]), _files(found_scopes[0])) as files:
        yield folder, [replace(found_scopes[0], parsed_files=files), *found_scopes[1:]]


def rendered_environments(options: RenderOptions) -> tuple[str, ...]:
    """The environments that a run with these options renders, in RenderConfig's order. Raises RenderError."""
    return (options.env,) if options.env else environment_names(_config(options))


def for_one_environment(options: RenderOptions, what: str) -> RenderOptions:
    """The options with the only environment chosen, since `what` handles just one. Raises RenderError for several."""
    return options if options.env else replace(options, env=only_environment(_config(options), what))


def _config(options: RenderOptions) -> Source:
    """The document of RenderConfig, or a NamedSource in its place."""
    _, path = options.file_system.base_of(options.paths)
    name = os.path.relpath(path) if path else ""
    return render_config(path, name, (), options.file_system, options.skipped_keys)[0].document


def inputs(scope: Scope) -> tuple[Inputs, list[Diagnostic]]:
    """The valid documents of our kinds in the tree, and all problems.

    Of files outside PATHS only models, runtimes, and the owners and targets of public names are used.
    """
    files, environment = _files(scope), _environment(scope)
    parsed_files: Iterable[ParsedFile] = scope.parsed_files or _read_files(scope.options, files, environment)
    keeps_parsed = scope.options.skip_texts and environment is None
    parsed_files = list(parsed_files) if keeps_parsed else parsed_files
    index = InputIndex(scope.config, scope.config_path, scope.options.file_system, environment, scope.options.policy)
    for (file, outside), parsed in zip(files, parsed_files, strict=True):
        index.add(file, parsed, outside=outside)
    index.problems += [
        make_diagnostic("E121", Origin(NamedSource(link.name)), target=link.target) for link in scope.tree.outside_links
    ]
    index.problems += [make_diagnostic("E124", Origin(NamedSource(name))) for name in scope.tree.unprintable_names]
    index.problems += _unreadable_folders(scope.tree)
    index.unreadable |= bool(scope.tree.unreadable)
    gathered = index.inputs()
    if keeps_parsed:
        gathered = replace(gathered, parsed_files=_problem_free(files, parsed_files))
    if has_errors(scope.problems):  # what follows from the configuration is unknown
        gathered = replace(gathered, apps=(), definitions=(), traffic=())
    return gathered, list(dict.fromkeys([*scope.problems, *index.problems]))


_Files = Sequence[tuple[tree.ReadableFile, bool]]  # each file, and whether it lies outside PATHS


def _files(scope: Scope) -> _Files:
    return [*((file, False) for file in scope.tree.files), *((file, True) for file in scope.tree.other_files)]


def _environment(scope: Scope) -> Environment | None:
    """The environment whose patches apply to the files."""
    namespace = str(scope.config.get("namespace") or "default")
    return find_environment(scope.config.document, scope.options.env, namespace)


@contextmanager
def _start_reading(environment: Environment | None, files: _Files) -> Iterator[Iterator[ParsedFile]]:
    """Starts workers that parse the files; yields the results in order, as they arrive."""

    def parse_files(chunk: _Files) -> list[ParsedFile]:
        return [parse_file(file, outside, environment) for file, outside in chunk]

    with workers.start(parse_files, files, size=8) as results:
        yield chain.from_iterable(results)


def _read_files(options: RenderOptions, files: _Files, environment: Environment | None) -> Iterator[ParsedFile]:
    """The parsed files in order; results of an earlier run are reused for unchanged contents."""
    earlier = options.parsed_files if environment is None else {}
    reused = [earlier.get((file.name, outside)) for file, outside in files] if earlier else []
    unchanged = {i: parsed for i, parsed in enumerate(reused) if parsed and parsed.data == files[i][0].read()}
    changed = [entry for i, entry in enumerate(files) if i not in unchanged]
    with _start_reading(environment, changed) as parsed_files:
        for i in range(len(files)):
            yield unchanged[i] if i in unchanged else next(parsed_files)


def _problem_free(files: _Files, parsed_files: Iterable[ParsedFile]) -> dict[tuple[str, bool], ParsedFile]:
    """The parsed files without problems, by name and `outside`. Problems hold places, so they are found anew."""
    return {
        (file.name, outside): parsed
        for (file, outside), parsed in zip(files, parsed_files, strict=True)
        if parsed.data and not parsed.problems
    }


def no_input_errors(inputs: Inputs, scope: Scope, problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    """An error for each path when there is nothing to render and no other problem."""
    if (
        inputs.apps
        or inputs.definitions
        or inputs.rendered_traffic
        or inputs.disabled
        or problems
        or scope.options.allow_empty
    ):
        return []
    files = _count_files(len(scope.tree.files))
    paths = scope.options.paths or (os.path.relpath(scope.tree.base),)
    return [make_diagnostic("E123", Origin(NamedSource(path)), files=files) for path in paths]


def manifests(paths: Sequence[str]) -> Manifests:
    """The manifests of all YAML files below the paths, of any kind, and what is none. For `llmaz check`. Raises
    RenderError for a missing path.
    """
    from renderer.load.hand_written import read_manifests  # few commands need it

    _require(paths, os.path.exists)
    input_tree = tree.folder(tree.base_of(paths)[0], paths, (), None)
    result = read_manifests(input_tree, paths)
    result.problems[:0] = _unreadable_folders(input_tree)
    if not result.documents and not result.problems:
        count = _count_files(result.file_count)
        result.problems.extend(make_diagnostic("E125", Origin(NamedSource(path)), files=count) for path in paths)
    return result


def _unreadable_folders(input_tree: tree.InputTree) -> list[Diagnostic]:
    return [
        make_diagnostic("E120", Origin(NamedSource(folder.name)), what=folder.reason)
        for folder in input_tree.unreadable
    ]


def split_by_cluster(
    paths: Sequence[str], documents: Sequence[Document]
) -> list[tuple[RenderConfig, list[Diagnostic], list[Document]]]:
    """For each cluster RenderConfig (empty without a `llmaz.yaml` at or above the paths), its problems, and the
    documents applied there. For `llmaz check`. The output folder of each environment belongs to a cluster of its own,
    files beside them to all clusters. Raises RenderError for a RenderConfig that is no YAML.
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


def _count_files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
