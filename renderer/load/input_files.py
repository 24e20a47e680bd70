"""All input files of a run, the presets' and the user's → schema-valid Inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from renderer import workers
from renderer.api import Inputs, RenderOptions, Scope
from renderer.diagnostics import Diagnostic, NamedSource, Origin, has_errors, make_diagnostic
from renderer.load.environments import Environment, find_environment
from renderer.load.index import InputIndex
from renderer.load.parsing import ParsedFile, parse_file
from renderer.load.run_scope import scopes
from renderer.source import tree
from renderer.source.paths import FileTooLargeError

_MOST_READ = 100  # files of a tree without input that are looked at
ScopedFiles = Sequence[tuple[tree.ReadableFile, bool]]  # each file, and whether it lies outside PATHS


def inputs(scope: Scope) -> tuple[Inputs, list[Diagnostic]]:
    """The valid documents of our kinds in the tree, and all problems."""
    return gather_inputs(scope, read_files(scope, scoped_files(scope)))


def gather_inputs(scope: Scope, parsed_files: Iterable[ParsedFile]) -> tuple[Inputs, list[Diagnostic]]:
    """As `inputs`, of files that are parsed already, in the order of `scoped_files`.

    Of files outside PATHS only models, runtimes, and the owners and targets of public names are used.
    """
    index = InputIndex(
        scope.config, scope.config_path, scope.options.file_system, environment_of(scope), scope.options.policy
    )
    for (file, outside), parsed in zip(scoped_files(scope), parsed_files, strict=True):
        index.add(file, parsed, outside=outside)
    index.problems += [
        make_diagnostic("E121", Origin(NamedSource(link.name)), target=link.target) for link in scope.tree.outside_links
    ]
    index.problems += [make_diagnostic("E124", Origin(NamedSource(name))) for name in scope.tree.unprintable_names]
    index.problems += unreadable_folders(scope.tree)
    index.unreadable |= bool(scope.tree.unreadable)
    gathered = index.inputs()
    if has_errors(scope.problems):  # what follows from the configuration is unknown
        gathered = replace(gathered, apps=(), definitions=(), traffic=())
    return gathered, list(dict.fromkeys([*scope.problems, *index.problems]))


def scoped_files(scope: Scope) -> ScopedFiles:
    """The files of a run in the order in which they are read."""
    return [*((file, False) for file in scope.tree.files), *((file, True) for file in scope.tree.other_files)]


class ReadAhead(Struct, frozen=True):
    """A run whose input files are being read."""

    folder: str  # the output folder
    scopes: list[Scope]
    files: Iterator[ParsedFile]  # of the first scope, in order, as they arrive

    def inputs(self, scope: Scope) -> tuple[Inputs, list[Diagnostic]]:
        """As the function of that name, once for each scope."""
        return gather_inputs(scope, self.files) if scope is self.scopes[0] else inputs(scope)


@contextmanager
def read_ahead(options: RenderOptions) -> Iterator[ReadAhead]:
    """The scopes of a run; workers read the files of the first one while the context is open. Raises RenderError."""
    folder, found_scopes = scopes(options)
    with _start_reading(environment_of(found_scopes[0]), scoped_files(found_scopes[0])) as files:
        yield ReadAhead(folder, found_scopes, files)


def read_files(scope: Scope, files: ScopedFiles) -> Iterator[ParsedFile]:
    """Parses the files, in several processes where they are many; the results come in order."""
    with _start_reading(environment_of(scope), files) as parsed_files:
        yield from parsed_files


def environment_of(scope: Scope) -> Environment | None:
    """The environment whose patches apply to the files."""
    namespace = str(scope.config.get("namespace") or "default")
    return find_environment(scope.config.document, scope.options.env, namespace)


@contextmanager
def _start_reading(environment: Environment | None, files: ScopedFiles) -> Iterator[Iterator[ParsedFile]]:
    """Starts workers that parse the files; yields the results in order, as they arrive."""

    def parse_files(chunk: ScopedFiles) -> list[ParsedFile]:
        return [parse_file(file, outside, environment) for file, outside in chunk]

    with workers.start(parse_files, files, size=8) as results:
        yield chain.from_iterable(results)


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
    files = count_files(len(scope.tree.files))
    paths = scope.options.paths or (os.path.relpath(scope.tree.base),)
    hint = _hint_of_others(scope.tree) or "name another path, or allow it with --allow-empty"
    return [make_diagnostic("E123", Origin(NamedSource(path)), files=files, hint=hint) for path in paths]


def _hint_of_others(input_tree: tree.InputTree) -> str:
    """How llmaz gets its input from the objects of others in a tree; '' where nobody knows."""
    from renderer.foreign_words import object_hint  # few runs need it

    for file in input_tree.files[:_MOST_READ]:
        try:
            kinds = re.findall(rb"(?m)^kind:\s*[\"']?(\w+)", file.read())
        except (OSError, FileTooLargeError):
            continue
        for kind in kinds:
            if hint := object_hint(kind.decode(), file.name):
                return hint
    if input_tree.charts:
        return f"a chart is rendered first: helm template {input_tree.charts[0]} > manifests.yaml"
    return ""


def unreadable_folders(input_tree: tree.InputTree) -> list[Diagnostic]:
    """An error for each folder that cannot be read."""
    return [
        make_diagnostic("E120", Origin(NamedSource(folder.name)), what=folder.reason)
        for folder in input_tree.unreadable
    ]


def count_files(count: int) -> str:
    """The number with its noun."""
    return f"{count} file{'' if count == 1 else 's'}"
