"""Learns the options of an engine's version, which this release does not know, from the help that the engine prints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from renderer import load, yamlio
from renderer.api import BackendRuntime, RenderOptions, Scope
from renderer.diagnostics import Diagnostic, RenderError, suggestion
from renderer.engines import option_lists
from renderer.engines.help_text import MAX_BYTES, HelpOption, HelpText, plain, read_help
from renderer.engines.image_version import version_of_tag
from renderer.engines.option_lists import OTHERS, VERSION, is_hidden, is_listed, list_path, list_stem, older_listed
from renderer.load import PresetRefused
from renderer.load.option_lists import OptionListReader
from renderer.output.folder_writer import write_file
from renderer.source import tree
from renderer.source.paths import CONFIG, is_inside, read_file

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec, HelpSpec

_FOLDER = "flags"  # beside llmaz.yaml, where nobody names another
_KEY = "optionLists"
_LONGEST = 60  # characters of a tag, or of a name in a message
_TAG = re.compile(rf"[A-Za-z0-9._-]{{1,{_LONGEST}}}")
_SHOWN = 5  # options in a message
_LEAST = 0.5  # of the options of an older version, that the help of another one names too


class LearntList(Struct, frozen=True):
    """A list that was written."""

    version: str
    path: str = ""  # '' where nothing was
    count: int = 0  # of its options
    config: str = ""  # the file to which the key was added that names the folder, '' where it was there
    unnamed: Sequence[str] = ()  # options of the older version that the help does not name
    older: str = ""  # that version, '' without one
    ours: bool = False  # this release has a list of the version itself, which counts
    further: Sequence[str] = ()  # options of the help that this list does not have
    recounted: Sequence[str] = ()  # options with another number of values there, each with both


def learn(engine: str, version: str, data: bytes, force: bool = False) -> LearntList:
    """Writes the list of a version's options that its help names, into the folder that RenderConfig names, else beside
    the tree's BackendRuntime of that name, else into a new one; RenderConfig then names it. `data`: of the help.

    Nothing is written of a version that this release knows, without `force`. Raises PresetRefused, with nothing
    written, for what is no help of that engine, or not all of it; RenderError.
    """
    scope = load.scope(RenderOptions(allow_empty=True))
    inputs, problems = load.inputs(scope)
    if engine not in inputs.runtimes:
        if inputs.unreadable:  # there it may be
            raise RenderError(problems)
        raise PresetRefused(f"no backend is named '{engine[:_LONGEST]}'; {suggestion(engine, [*inputs.runtimes])}")
    runtime = inputs.runtimes[engine]
    engine_spec: EngineSpec = runtime.spec.get("engine") or {}
    number = _number(engine_spec, engine, version)
    stem = _stem(engine_spec, engine)
    folder = _folder(scope, runtime)
    files = OptionListReader()
    is_ours = is_listed(files, runtime, number)
    if is_ours and not force:
        return LearntList(number, ours=True)
    spec: HelpSpec = (engine_spec.get("options") or {}).get("help") or {}
    help_text = _read(data, runtime, spec)
    older = option_lists.read_option_list(files, runtime, older_listed(files, runtime, number))
    unnamed = _judge(help_text, runtime, spec, older)
    text = list_text(help_text, engine, number, spec)
    target = os.path.normpath(os.path.join(folder, f"{stem}-{number}.txt"))
    config = _config_text(scope, os.path.relpath(folder, _base(scope)))
    for path in (target, *([config[0]] if config else ())):
        tree.refuse_links(path)
    if os.path.lexists(target) and not force and not _is_learnt(target):
        raise PresetRefused(f"{target} is not a list that was learnt; --force overwrites it")
    try:
        write_file(target, text)
        if config:
            write_file(*config)
    except OSError as error:
        raise PresetRefused(f"{error.filename or target}: cannot be written: {error.strerror or error}") from None
    further, recounted = _contradictions(help_text, spec, older) if older and is_ours else ((), ())
    return LearntList(
        number,
        target,
        count=sum(line[0] == "-" for line in text.splitlines()),
        config=config[0] if config else "",
        unnamed=unnamed,
        older=older.version if older else "",
        ours=is_ours,
        further=further,
        recounted=recounted,
    )


def list_text(help_text: HelpText, engine: str, version: str, spec: HelpSpec) -> str:
    """The list of a version's options, in the form of those that ship. `engine`: the name of its runtime."""
    lines = dict.fromkeys(line for option in _kept(help_text, spec) for line in _lines(option, spec))
    head = (
        f"# {engine} {version}: what its own help says, by llmaz presets learn; what it leaves out an older list tells."
    )
    return "\n".join([head, f"learnt {version}", *sorted(lines), ""])


def _kept(help_text: HelpText, spec: HelpSpec) -> Iterator[HelpOption]:
    """The options that the engine takes: its help may name others that it refuses."""
    removed = spec.get("removed")
    return (option for option in help_text.options if not (removed and removed in option.description))


def _lines(option: HelpOption, spec: HelpSpec) -> Iterator[str]:
    """The line of an option, and that of its values."""
    names = sorted(option.names, key=lambda name: not name.startswith("--"))
    is_json = "json" in spec and spec["json"] in option.description
    yield f"{','.join(names)} {option.arity}{' json' if is_json else ''}"
    if option.values:
        yield f"={names[0]} {' '.join([*([OTHERS] if option.is_open else []), *option.values])}"


# --- what is asked for ------------------------------------------------------------------------------------------------


def _number(engine_spec: EngineSpec, engine: str, version: str) -> str:
    """The version, which may be given as an image's tag. Raises PresetRefused."""
    number = (version_of_tag(engine_spec, version) or version) if _TAG.fullmatch(version) else ""
    if not VERSION.fullmatch(number):
        raise PresetRefused(
            f"'{version[:_LONGEST]}' is not a version of {engine}; write one such as 1.2.0, or an image's tag"
        )
    return number


def _stem(engine_spec: EngineSpec, engine: str) -> str:
    """The beginning of the name of each list of the engine. Raises PresetRefused for one without options."""
    options = engine_spec.get("options") or {}
    if options.get("style") == "none":
        raise PresetRefused(f"{engine} takes no options: it is configured by variables, so there is nothing to learn")
    path = list_path(engine_spec)
    if not path:
        raise PresetRefused(
            f"{engine} has no list of options; name one in its BackendRuntime: options.list: flags/{engine}.txt"
        )
    return os.path.basename(list_stem(path))


def _base(scope: Scope) -> str:
    """The folder of RenderConfig, where it is or will be."""
    return os.path.dirname(scope.config_path) if scope.config_path else os.getcwd()


def _folder(scope: Scope, runtime: BackendRuntime) -> str:
    """The folder for the list, relative to the current one. Raises PresetRefused."""
    base = _base(scope)
    if named := scope.config.get(_KEY):
        return os.path.relpath(os.path.join(base, str(named)))
    if not runtime.ours:
        beside = os.path.dirname(runtime.document.name), os.path.dirname(list_path(runtime.spec["engine"]))
        folder = os.path.abspath(os.path.join(*beside))
        if folder != base and is_inside(folder, base):
            return os.path.relpath(folder)
    return os.path.relpath(os.path.join(base, _FOLDER))


def _is_learnt(path: str) -> bool:
    """Whether a file is a list that was learnt."""
    try:
        lines = read_file(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    return next((line for line in lines if line and line[0] != "#"), "").startswith("learnt ")


# --- what the help says -----------------------------------------------------------------------------------------------


def _read(data: bytes, runtime: BackendRuntime, spec: HelpSpec) -> HelpText:
    """What a help says. Raises PresetRefused for one that is too long, no text, or the help of something else."""
    command = _command(spec)
    if len(data) > MAX_BYTES:
        raise PresetRefused(f"the help has more than {MAX_BYTES:,} bytes; {command}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PresetRefused(f"the help is not valid UTF-8, byte {error.start}; {command}") from None
    partial = spec.get("partial")
    if partial and partial in plain(text):
        raise PresetRefused(f"this help of {runtime.name} is not the whole one; {command}")
    help_text = read_help(text, (runtime.spec["engine"].get("options") or {}).get("style", ""))
    if not help_text.options:
        raise PresetRefused(f"no option of {runtime.name} stands in this text; {command}")
    usage = help_text.usage
    if usage and spec.get("usage") and not any(word in usage for word in spec["usage"]):
        raise PresetRefused(f"this is the help of another command, '{usage[:_LONGEST]}'; {command}")
    if help_text.unexplained:
        names = ", ".join(help_text.unexplained[:_SHOWN])
        raise PresetRefused(f"the help is cut: its usage names {names}, and no line explains it; {command}")
    return help_text


def _judge(
    help_text: HelpText, runtime: BackendRuntime, spec: HelpSpec, older: option_lists.OptionList | None
) -> Sequence[str]:
    """The options of an older version that the help does not name. Raises PresetRefused where these are so many that it
    is the help of something else, or a part of it.
    """
    if older is None:
        return ()
    named = {name for option in help_text.options for name in option.names}
    groups: dict[int, list[str]] = {}
    for name, option in older.options.items():
        groups.setdefault(id(option), []).append(name)
    unnamed = [names[0] for names in groups.values() if named.isdisjoint(names)]
    if len(groups) - len(unnamed) < _LEAST * len(groups):
        raise PresetRefused(
            f"of {len(groups)} options of {runtime.name} {older.version} this help names {len(groups) - len(unnamed)}: "
            f"it is cut, or of another program; {_command(spec)}"
        )
    return [name for name in unnamed if not is_hidden(spec, name)]


def _contradictions(help_text: HelpText, spec: HelpSpec, known: option_lists.OptionList) -> tuple[list[str], list[str]]:
    """The options of a help that a list does not have, and those with another number of values there."""
    further, recounted = [], []
    for option in _kept(help_text, spec):
        further += [name for name in option.names if name not in known.options]
        name = next((name for name in option.names if name in known.options), "")
        if name and (count := known.options[name].arity) != option.arity:
            recounted.append(f"{name} {option.arity} in place of {count}")
    return further, recounted


def _command(spec: HelpSpec) -> str:
    """What to do instead."""
    return f"save what '{spec['command']}' prints" if "command" in spec else "save all that its --help prints"


# --- the configuration ------------------------------------------------------------------------------------------------


def _config_text(scope: Scope, folder: str) -> tuple[str, str] | None:
    """Path and text of RenderConfig with the key that names the folder; None where it is there. Raises PresetRefused
    where it cannot be added as a line.
    """
    if scope.config.get(_KEY):
        return None
    line = f"  {_KEY}: {folder}\n"
    if scope.config_path is None:
        head = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec:\n"
        return CONFIG, head + line
    path = os.path.relpath(scope.config_path)
    text = read_file(path).decode("utf-8")
    before = yamlio.parse(path, text.encode())[0]
    for old in ("\nspec:\n", "\nspec:\r\n"):
        head, matched, rest = text.partition(old)
        indent = rest[: len(rest) - len(rest.lstrip(" "))]
        changed = head + matched + (indent or "  ") + line.strip() + matched[5:].lstrip(":") + rest
        if matched and _spec_of(path, changed) == {**_spec(before), _KEY: folder}:
            return path, changed
    raise PresetRefused(f"{path}: write {_KEY}: {folder} into its spec, then run this again")


def _spec_of(path: str, text: str) -> Mapping[str, Any]:
    documents, problems = yamlio.parse(path, text.encode())
    return {} if problems else _spec(documents)


def _spec(documents: Iterable[yamlio.Document]) -> Mapping[str, Any]:
    """The spec of the first RenderConfig."""
    values = [document.value for document in documents if isinstance(document.value, dict)]
    spec = next((value.get("spec") for value in values if value.get("kind") == "RenderConfig"), None)
    return spec if isinstance(spec, dict) else {}


def problems_of_version(problems: Iterable[Diagnostic], engine: str, version: str) -> list[Diagnostic]:
    """Those of a tree's problems that are about the options of a version."""
    subjects = (f"{engine} {version}", f"the help of {engine} {version}", f"(the nearest known to {version})")
    return [
        problem
        for problem in problems
        if any(f"{subject}:" in problem.message or f"{subject} " in problem.message for subject in subjects)
    ]
