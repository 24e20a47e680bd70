"""1: every input file, ours and the user's → Inputs, schema-valid."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from msgspec.structs import replace

from renderer import workers, yamlio
from renderer.api import Inputs, RenderConfig, RenderOptions, Scope
from renderer.diagnostics import Diagnostic, Origin, RenderError, Source, has_errors, make_diagnostic, naming_file
from renderer.diagnostics.rule import NamedSource
from renderer.load.environments import Environment, environment, names, one
from renderer.load.index import InputIndex
from renderer.load.parsing import plain
from renderer.load.preset_files import PRESETS, PresetRefused, named, preset, preset_names, shipped
from renderer.load.render_config import override, render_config
from renderer.source import tree
from renderer.yamlio import Document

__all__ = [
    "PRESETS",
    "PresetRefused",
    "ahead",
    "alone",
    "clusters",
    "environment_names",
    "inputs",
    "manifests",
    "named",
    "nothing",
    "override",
    "preset",
    "preset_names",
    "render_config",
    "scope",
    "scopes",
    "shipped",
]


def scope(options: RenderOptions) -> Scope:
    """Finds RenderConfig and the files. Raises RenderError for bad overrides or a path that is not there."""
    cwd = os.getcwd()
    overrides = [override(text) for text in options.overrides]
    ground = options.ground
    missing = [path for path in options.paths if not ground.exists(path)]
    if missing:
        raise RenderError(make_diagnostic("E122", Origin(NamedSource(path))) for path in missing)
    base, config_path = ground.base_of(options.paths)
    config_name = os.path.relpath(config_path, cwd) if config_path else ""
    config, problems = render_config(config_path, config_name, overrides, ground, options.beside, options.env)
    paths = options.paths or (os.path.relpath(base, cwd) if config_path else ".",)
    wanted = (
        options.output
        if options.output is not None
        else os.path.join(base, str(config.get("output", "dir") or "rendered"))
    )
    folder = os.path.relpath(os.path.abspath(wanted), cwd)
    if options.compares:
        tree.refuse_links(wanted)
    around = os.path.realpath(wanted) + os.sep
    if options.compares and any((os.path.realpath(path) + os.sep).startswith(around) for path in paths):
        raise RenderError([make_diagnostic("E143", Origin(NamedSource(folder)))])
    ignore = config.get("ignore") or ()
    files = ground.folder(base, paths, ignore, folder)
    keys = [os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/") for path in paths]
    part = () if "." in keys else tuple(keys)
    if part and config_path:
        files = replace(files, around=ground.around(base, paths, ignore, folder))
    own = f"{folder}/{options.env}" if options.env else folder
    return Scope(options, config, config_path, files, own, part, tuple(problems))


def scopes(options: RenderOptions, first: Scope | None = None) -> tuple[str, list[Scope]]:
    """The output folder of all, and the scope of each environment that is asked for; without environments just one.
    `first`: what `scope` finds, for who has it.
    """
    first = first or scope(options)
    if options.env:
        return os.path.dirname(first.folder), [first]
    return first.folder, [scope(replace(options, env=name)) for name in names(first.config.document)] or [first]


@contextmanager
def ahead(options: RenderOptions) -> Iterator[tuple[str, list[Scope]]]:
    """What `scopes` finds; other processes read the files of the first scope while the caller is about other things."""
    folder, opened = scopes(options)
    with _reading(_under(opened[0]), _files(opened[0])) as read:
        yield folder, [replace(opened[0], reading=read), *opened[1:]]


def environment_names(options: RenderOptions) -> tuple[str, ...]:
    """The environments that a run with these options renders, in RenderConfig's order. Raises RenderError."""
    return (options.env,) if options.env else names(_config(options))


def alone(options: RenderOptions, what: str) -> RenderOptions:
    """The options with the only environment that there is, for `what` is about one. Raises RenderError."""
    return options if options.env else replace(options, env=one(_config(options), what))


def _config(options: RenderOptions) -> Source:
    """RenderConfig's document, or what stands for it."""
    _, path = options.ground.base_of(options.paths)
    return render_config(path, os.path.relpath(path) if path else "", (), options.ground, options.beside)[0].document


def inputs(scope: Scope) -> tuple[Inputs, list[Diagnostic]]:
    """Every document of ours in the tree, and what is wrong with them; what is wrong is left out of the Inputs.

    Where PATHS are a part of the tree, the rest of it brings models, runtimes and what public names lead to, and
    nothing else.
    """
    files, under = _files(scope), _under(scope)
    read: Iterable[Any] = scope.reading or _read(scope.options, files, under)
    keeps = scope.options.spared and under is None
    read = list(read) if keeps else read
    gathering = InputIndex(scope.config, scope.config_path, scope.options.ground, under)
    for (file, out), (data, foreign, values, problems, unreadable) in zip(files, read, strict=True):
        file_problems = [Diagnostic(*problem) for problem in problems]
        gathering.add(file, data, foreign, values, file_problems, unreadable, outside=out)
    gathering.problems += [
        make_diagnostic("E121", Origin(NamedSource(link.name)), target=link.target) for link in scope.tree.strayed
    ]
    gathering.problems += [make_diagnostic("E124", Origin(NamedSource(name))) for name in scope.tree.odd]
    gathering.problems += [
        make_diagnostic("E120", Origin(NamedSource(folder.name)), what=folder.reason)
        for folder in scope.tree.unreadable
    ]
    gathering.unreadable |= bool(scope.tree.unreadable)
    gathered = gathering.inputs()
    if keeps:
        gathered = replace(gathered, read=_whole(files, read))
    if has_errors(scope.problems):  # what follows from the configuration is unknown
        gathered = replace(gathered, apps=(), own=(), traffic=())
    return gathered, list(dict.fromkeys([*scope.problems, *gathering.problems]))


_Files = Sequence[tuple[tree.ReadableFile, bool]]  # with whether each lies outside PATHS


def _files(scope: Scope) -> _Files:
    return [*((file, False) for file in scope.tree.files), *((file, True) for file in scope.tree.around)]


def _under(scope: Scope) -> Environment | None:
    """The environment that the files are under."""
    namespace = str(scope.config.get("namespace") or "default")
    return environment(scope.config.document, scope.options.env, namespace)


@contextmanager
def _reading(under: Environment | None, files: _Files) -> Iterator[Iterator[Any]]:
    """Each file's share, as soon as it is there; the files are read from now on."""

    def read(chunk: _Files) -> list[Any]:
        return [plain(file, outside, under) for file, outside in chunk]

    with workers.started(read, files, size=8) as results:
        yield chain.from_iterable(results)


def _read(options: RenderOptions, files: _Files, under: Environment | None) -> Iterator[Any]:
    """Each file's share; what another run had of the same contents is taken from there."""
    before = options.read if under is None else {}
    held = [before.get((file.name, outside)) for file, outside in files] if before else []
    known = {i: was for i, was in enumerate(held) if was and was[0] == files[i][0].read()}
    new = [entry for i, entry in enumerate(files) if i not in known]
    with _reading(under, new) as read:
        for i in range(len(files)):
            yield known[i] if i in known else next(read)


def _whole(files: _Files, read: Iterable[Any]) -> dict[tuple[str, bool], Any]:
    """What was read of files of ours that nothing was wrong with: a finding says where it is, so it is found anew."""
    return {
        (file.name, outside): contents
        for (file, outside), contents in zip(files, read, strict=True)
        if contents[0] and not contents[3]
    }


def nothing(inputs: Inputs, scope: Scope, problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    """An error when there was nothing to render, and nothing else is wrong."""
    if inputs.apps or inputs.own or inputs.ways or inputs.off or problems or scope.options.allow_empty:
        return []
    files = _counted(len(scope.tree.files))
    paths = scope.options.paths or (os.path.relpath(scope.tree.base),)
    return [make_diagnostic("E123", Origin(NamedSource(path)), files=files) for path in paths]


def manifests(paths: Sequence[str]) -> tuple[list[Document], list[Diagnostic]]:
    """Every document of every YAML file below the paths, of any kind, for `llmaz check`; of a List its items.

    Raises RenderError for a path that is not there.
    """
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise RenderError(make_diagnostic("E122", Origin(NamedSource(path))) for path in missing)
    documents: list[Document] = []
    problems: list[Diagnostic] = []
    input_tree = tree.folder(tree.base_of(paths)[0], paths, (), None)
    problems += [
        make_diagnostic("E120", Origin(NamedSource(folder.name)), what=folder.reason)
        for folder in input_tree.unreadable
    ]
    files = input_tree.files
    for file in files:
        with naming_file(file.name):
            try:
                read, wrong = yamlio.parse(file.name, file.read())
            except OSError as error:
                read, wrong = (
                    [],
                    [make_diagnostic("E120", Origin(NamedSource(file.name)), what=error.strerror or error)],
                )
        for document in read:
            documents += document.parts("items") if _listed(document.value) else [document]
        problems += wrong
    if not documents and not problems:
        problems = [make_diagnostic("E125", Origin(NamedSource(path)), files=_counted(len(files))) for path in paths]
    return documents, problems


def _listed(value: Any) -> bool:
    """Whether this is a List with something in it, such as kubectl prints of several objects."""
    return (
        isinstance(value, dict)
        and (value.get("apiVersion"), value.get("kind")) == ("v1", "List")
        and isinstance(value.get("items"), list)
        and bool(value["items"])
    )


def clusters(
    paths: Sequence[str], read: Sequence[Document]
) -> list[tuple[RenderConfig, list[Diagnostic], list[Document]]]:
    """What each cluster is given, for `llmaz check`: RenderConfig of the nearest `llmaz.yaml` at or above the paths, an
    empty one where there is none; what is wrong with it; and the documents. What lies in the output of environments
    goes to one cluster each, and what lies beside it to all of them. Raises RenderError for one that is no YAML.
    """
    base, path = tree.base_of(paths)
    config, problems = render_config(path, os.path.relpath(path) if path else "")
    output = os.path.abspath(os.path.join(base, str(config.get("output", "dir") or "rendered")))
    homes = [(os.path.join(output, name, ""), name) for name in names(config.document)]
    files = {document.name: os.path.abspath(document.name) for document in read} if homes else {}
    owners = {file: name for file, place in files.items() for home, name in homes if place.startswith(home)}
    environments = [name for _, name in homes if name in owners.values()]
    if not environments:
        return [(config, problems, [*read])]
    return [
        (
            *render_config(path, os.path.relpath(str(path)), env=name),
            [e for e in read if owners.get(e.name, name) == name],
        )
        for name in environments
    ]


def _counted(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
