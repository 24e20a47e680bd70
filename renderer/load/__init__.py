"""1: every input file, ours and the user's → Inputs, schema-valid."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from renderer import tree, yamlio
from renderer.api import Config, Inputs, Options, Scope
from renderer.load.environments import Environment, environment, names, one
from renderer.load.gathering import Gathering
from renderer.load.presets import PRESETS, Refused, named, preset, preset_names, shipped
from renderer.load.reading import plain
from renderer.load.rule import Rule
from renderer.load.settings import config, override
from renderer.parallel import Team
from renderer.problems import Origin, Problem, RenderError, Source, at_hand, failing, problem
from renderer.yamlio import Document

__all__ = [
    "PRESETS",
    "Refused",
    "ahead",
    "alone",
    "clusters",
    "config",
    "environment_names",
    "inputs",
    "manifests",
    "named",
    "nothing",
    "override",
    "preset",
    "preset_names",
    "scope",
    "scopes",
    "shipped",
]


def scope(options: Options) -> Scope:
    """Finds RenderConfig and the files. Raises RenderError for bad overrides or a path that is not there."""
    here = os.getcwd()
    overrides = [override(text) for text in options.overrides]
    ground = options.ground
    missing = [path for path in options.paths if not ground.exists(path)]
    if missing:
        raise RenderError(problem("E122", Origin(Rule(path))) for path in missing)
    base, config_path = ground.base_of(options.paths)
    config_name = os.path.relpath(config_path, here) if config_path else ""
    made, problems = config(config_path, config_name, overrides, ground, options.beside, options.env)
    paths = options.paths or (os.path.relpath(base, here) if config_path else ".",)
    wanted = (
        options.output
        if options.output is not None
        else os.path.join(base, str(made.get("output", "dir") or "rendered"))
    )
    folder = os.path.relpath(os.path.abspath(wanted), here)
    if options.compares:
        tree.refuse_links(wanted)
    around = os.path.realpath(wanted) + os.sep
    if options.compares and any((os.path.realpath(path) + os.sep).startswith(around) for path in paths):
        raise RenderError([problem("E143", Origin(Rule(folder)))])
    ignore = made.get("ignore") or ()
    files = ground.folder(base, paths, ignore, folder)
    keys = [os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/") for path in paths]
    part = () if "." in keys else tuple(keys)
    if part and config_path:
        files = files._replace(around=ground.around(base, paths, ignore, folder))
    own = f"{folder}/{options.env}" if options.env else folder
    return Scope(options, made, config_path, files, own, part, tuple(problems))


def scopes(options: Options, first: Scope | None = None) -> tuple[str, list[Scope]]:
    """The output folder of all, and the scope of each environment that is asked for; without environments just one.
    `first`: what `scope` finds, for who has it.
    """
    first = first or scope(options)
    if options.env:
        return os.path.dirname(first.folder), [first]
    return first.folder, [scope(options._replace(env=name)) for name in names(first.config.document)] or [first]


@contextmanager
def ahead(options: Options) -> Iterator[tuple[str, list[Scope]]]:
    """What `scopes` finds; other processes read the files of the first scope while the caller is about other things."""
    folder, found = scopes(options)
    with _readers(_under(found[0]), _files(found[0])) as readers:
        yield folder, [found[0]._replace(reading=lambda: _each(readers)), *found[1:]]


def environment_names(options: Options) -> tuple[str, ...]:
    """The environments that a run with these options renders, in RenderConfig's order. Raises RenderError."""
    return (options.env,) if options.env else names(_config(options))


def alone(options: Options, what: str) -> Options:
    """The options with the only environment that there is, for `what` is about one. Raises RenderError."""
    return options if options.env else options._replace(env=one(_config(options), what))


def _config(options: Options) -> Source:
    """RenderConfig's document, or what stands for it."""
    _, path = options.ground.base_of(options.paths)
    return config(path, os.path.relpath(path) if path else "", (), options.ground, options.beside)[0].document


def inputs(scope: Scope) -> tuple[Inputs, list[Problem]]:
    """Every document of ours in the tree, and what is wrong with them; what is wrong is left out of the Inputs.

    Where PATHS are a part of the tree, the rest of it brings models, runtimes and what public names lead to, and
    nothing else.
    """
    files, under = _files(scope), _under(scope)
    read: Iterable[Any] = scope.reading() if scope.reading else _read(scope.options, files, under)
    keeps = scope.options.spared and under is None
    read = list(read) if keeps else read
    gathering = Gathering(scope.config, scope.config_path, scope.options.ground, under)
    for (file, out), (data, foreign, values, problems, unreadable) in zip(files, read, strict=True):
        found = [Problem(*each) for each in problems]
        gathering.add(file, data, foreign, values, found, unreadable, outside=out)
    gathering.problems += [problem("E121", Origin(Rule(link.name)), target=link.target) for link in scope.tree.strayed]
    gathering.problems += [problem("E124", Origin(Rule(name))) for name in scope.tree.odd]
    gathering.problems += [problem("E120", Origin(Rule(each.name)), what=each.reason) for each in scope.tree.unreadable]
    gathering.unreadable |= bool(scope.tree.unreadable)
    gathered = gathering.inputs()
    if keeps:
        gathered = gathered._replace(read=_whole(files, read))
    if failing(scope.problems):  # what follows from the configuration is unknown
        gathered = gathered._replace(apps=(), own=(), traffic=())
    return gathered, list(dict.fromkeys([*scope.problems, *gathering.problems]))


_Files = Sequence[tuple[tree.Readable, bool]]  # with whether each lies outside PATHS


def _files(scope: Scope) -> _Files:
    return [*((file, False) for file in scope.tree.files), *((file, True) for file in scope.tree.around)]


def _under(scope: Scope) -> Environment | None:
    """The environment that the files are under."""
    namespace = str(scope.config.get("namespace") or "default")
    return environment(scope.config.document, scope.options.env, namespace)


_Readers = Team[tuple[tree.Readable, bool]]


def _readers(under: Environment | None, files: _Files) -> _Readers:
    """Who reads the files, from now on."""
    return Team(lambda: (lambda few: [plain(*each, under) for each in few], None), files, few=8)


def _each(readers: _Readers) -> Iterator[Any]:
    """Each file's share, as soon as it is there."""
    return (each for few in readers.results() for each in few)


def _read(options: Options, files: _Files, under: Environment | None) -> Iterator[Any]:
    """Each file's share; what another run had of the same contents is taken from there."""
    before = options.read if under is None else {}
    held = [before.get((file.name, outside)) for file, outside in files] if before else []
    known = {i: was for i, was in enumerate(held) if was and was[0] == files[i][0].read()}
    new = [each for i, each in enumerate(files) if i not in known]
    with _readers(under, new) as readers:
        made = _each(readers)
        for i in range(len(files)):
            yield known[i] if i in known else next(made)


def _whole(files: _Files, read: Iterable[Any]) -> dict[tuple[str, bool], Any]:
    """What was read of files of ours that nothing was wrong with: a finding says where it is, so it is found anew."""
    return {
        (file.name, outside): each for (file, outside), each in zip(files, read, strict=True) if each[0] and not each[3]
    }


def nothing(inputs: Inputs, scope: Scope, problems: Sequence[Problem]) -> list[Problem]:
    """An error when there was nothing to render, and nothing else is wrong."""
    if inputs.apps or inputs.own or inputs.ways or inputs.off or problems or scope.options.allow_empty:
        return []
    files = _counted(len(scope.tree.files))
    paths = scope.options.paths or (os.path.relpath(scope.tree.base),)
    return [problem("E123", Origin(Rule(path)), files=files) for path in paths]


def manifests(paths: Sequence[str]) -> tuple[list[Document], list[Problem]]:
    """Every document of every YAML file below the paths, of any kind, for `llmaz check`; of a List its items.

    Raises RenderError for a path that is not there.
    """
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise RenderError(problem("E122", Origin(Rule(path))) for path in missing)
    documents: list[Document] = []
    problems: list[Problem] = []
    found = tree.folder(tree.base_of(paths)[0], paths, (), None)
    problems += [problem("E120", Origin(Rule(each.name)), what=each.reason) for each in found.unreadable]
    files = found.files
    for file in files:
        with at_hand(file.name):
            try:
                read, wrong = yamlio.parse(file.name, file.read())
            except OSError as error:
                read, wrong = [], [problem("E120", Origin(Rule(file.name)), what=error.strerror or error)]
        for document in read:
            documents += document.parts("items") if _listed(document.value) else [document]
        problems += wrong
    if not documents and not problems:
        problems = [problem("E125", Origin(Rule(path)), files=_counted(len(files))) for path in paths]
    return documents, problems


def _listed(value: Any) -> bool:
    """Whether this is a List with something in it, such as kubectl prints of several objects."""
    return (
        isinstance(value, dict)
        and (value.get("apiVersion"), value.get("kind")) == ("v1", "List")
        and isinstance(value.get("items"), list)
        and bool(value["items"])
    )


def clusters(paths: Sequence[str], read: Sequence[Document]) -> list[tuple[Config, list[Problem], list[Document]]]:
    """What each cluster is given, for `llmaz check`: RenderConfig of the nearest `llmaz.yaml` at or above the paths, an
    empty one where there is none; what is wrong with it; and the documents. What lies in the output of environments
    goes to one cluster each, and what lies beside it to all of them. Raises RenderError for one that is no YAML.
    """
    base, path = tree.base_of(paths)
    made, problems = config(path, os.path.relpath(path) if path else "")
    output = os.path.abspath(os.path.join(base, str(made.get("output", "dir") or "rendered")))
    homes = [(os.path.join(output, name, ""), name) for name in names(made.document)]
    files = {each.name: os.path.abspath(each.name) for each in read} if homes else {}
    owners = {file: name for file, place in files.items() for home, name in homes if place.startswith(home)}
    made_of = [name for _, name in homes if name in owners.values()]
    if not made_of:
        return [(made, problems, [*read])]
    return [
        (*config(path, os.path.relpath(str(path)), env=name), [e for e in read if owners.get(e.name, name) == name])
        for name in made_of
    ]


def _counted(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
