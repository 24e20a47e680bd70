"""The container of a pod that runs an engine, with its command line taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.check.engines import clues_of
from renderer.diagnostics import Collector, Origin, Path, quoted
from renderer.engines.catalog import EngineCatalog, VersionedEngine
from renderer.engines.container_engine import RecognisedEngine, recognise
from renderer.engines.dialect import Dialect
from renderer.engines.handwritten_command import Word, common_entry, option_variable, table_entry
from renderer.kubernetes.json_values import list_at, maps_at, text_at
from renderer.kubernetes.variable_references import fill_in, plain_variables, references

_TEMPLATE = re.compile(r"\{\{|<[A-Za-z_ -]+>")
_PLACEHOLDER = re.compile(r"\$\w+|\$\{\w+\}")
_CONTAINERS: Path = ("spec", "containers")


class EngineOption(Struct, frozen=True):
    """An option of a command line, with its values."""

    name: str  # in the spelling of the preset
    words: tuple[str, ...]  # as they stand: the option, and the values behind it
    values: tuple[str, ...]
    origin: Origin


class AdoptedContainer(Struct, frozen=True):
    """The container that runs the engine of a pod."""

    body: Body
    path: Path  # in the template
    recognised: RecognisedEngine
    options: Sequence[EngineOption]
    strays: Sequence[Word]  # words that belong to no option
    first_model: str  # the model that stands first, '' for none
    values: Mapping[str, str]  # of the variables that have one
    used_variables: frozenset[str]  # variables whose values stand in the command line
    variables_origin: Origin

    @property
    def backend(self) -> str:
        """The preset of the engine."""
        return self.recognised.engine.runtime.name

    @property
    def engine(self) -> VersionedEngine:
        """The engine in its version."""
        return self.recognised.engine

    @property
    def entry(self) -> Mapping[str, Any]:
        """What presets/engine_commands.yaml says of the engine."""
        return table_entry(self.backend)

    @property
    def hub_variables(self) -> frozenset[str]:
        """The variables of the hub's client, which the loader of a Playground must not get."""
        return frozenset(common_entry()["hubVariables"])

    def option_names(self, field: str) -> frozenset[str]:
        """The options of a field of presets/engine_commands.yaml, in the preset's spelling."""
        style = self.engine.engine.style
        return frozenset(style.name(option) or option for option in self.entry.get(field) or ())

    def value_of(self, field: str) -> EngineOption | None:
        """The last option of such a field, or the variable that says it where none does; None without one."""
        names = self.option_names(field)
        option = next((option for option in reversed(self.options) if option.name in names), None)
        return option or next(self._variable_options(field), None)

    def variables_of(self, field: str) -> frozenset[str]:
        """The variables that say the options of such a field; none for an engine without variables for options."""
        return frozenset(name for _, name in self._variables(field))

    def _variables(self, field: str) -> Iterator[tuple[str, str]]:
        """The options of such a field, each with its variable."""
        for option in self.entry.get(field) or ():
            if option.startswith("--") and (name := option_variable(self.entry, option)):
                yield option, name

    def _variable_options(self, field: str) -> Iterator[EngineOption]:
        for option, name in self._variables(field):
            if name in self.values:
                yield EngineOption(option, (), (self.values[name],), self.variables_origin)


def find_engine(
    workload: ServingWorkload, template: Body, catalog: EngineCatalog, diagnostics: Collector
) -> AdoptedContainer | None:
    """The one container of the pod that runs an engine; None where no engine is known. Raises Stop where there are
    several, or where the command line cannot be taken apart.
    """
    containers = maps_at(template, *_CONTAINERS)
    engines = [
        container
        for i, body in enumerate(containers)
        if (container := _read_container(workload, body, (*_CONTAINERS, i), catalog, diagnostics))
    ]
    if len(engines) > 1:
        names = quoted([text_at(container.body, "name") for container in engines])
        diagnostics.stop("E951", workload.engine_origin_of(engines[1].path), names=names)
    for i, body in enumerate(containers if not engines else ()):
        if of_image := catalog.image_engine(text_at(body, "image")):
            why = f"the image is one of {of_image.backend}, but the command starts no known engine"
            diagnostics.stop("E952", workload.engine_origin_of((*_CONTAINERS, i)), why=why)
    return engines[0] if engines else None


def _read_container(
    workload: ServingWorkload, body: Body, path: Path, catalog: EngineCatalog, diagnostics: Collector
) -> AdoptedContainer | None:
    values = plain_variables(body, workload.config_maps)
    command, args = (
        [
            Word(fill_in(str(word), values), workload.engine_origin_of((*path, field, i)))
            for i, word in enumerate(list_at(body, field))
        ]
        for field in ("command", "args")
    )
    recognised = recognise(catalog, command, args, text_at(body, "image"), values, clues_of(catalog, body))
    if recognised is None or not recognised.is_certain:
        return None
    _require_filled(workload, body, path, [*command, *args], diagnostics)
    if workload.hosts == 1:  # templates of several hosts stay as they are
        _require_readable(workload, path, recognised, len(command) + len(args), diagnostics)
    options, strays = split_options(recognised.engine.engine.style, recognised.command.arguments)
    return AdoptedContainer(
        body=body,
        path=path,
        recognised=recognised,
        options=options,
        strays=strays,
        first_model=recognised.command.first_model.text if recognised.command.first_model else "",
        values=values,
        used_variables=frozenset(values.keys() & {*references(body)}),
        variables_origin=workload.engine_origin_of((*path, "env" if "env" in body else "envFrom")),
    )


def _require_filled(
    workload: ServingWorkload, body: Body, path: Path, line: Sequence[Word], diagnostics: Collector
) -> None:
    """Raises Stop for templates and placeholders that nobody has filled in."""
    texts = [(text_at(body, "image"), workload.engine_origin_of((*path, "image")))]
    texts += [(word.text, word.origin) for word in line]
    for i, variable in enumerate(maps_at(body, "env")):
        value = text_at(variable, "value")
        origin = workload.engine_origin_of((*path, "env", i, "value"))
        texts.append((value if _TEMPLATE.search(value) or _PLACEHOLDER.fullmatch(value) else "", origin))
    for text, origin in texts:
        if match := _TEMPLATE.search(text) or _PLACEHOLDER.fullmatch(text):
            diagnostics.stop("E955", origin, what=match[0])


def _require_readable(
    workload: ServingWorkload, path: Path, recognised: RecognisedEngine, length: int, diagnostics: Collector
) -> None:
    """Raises Stop for scripts that are more than one plain command. `length`: words of the container's line."""
    command = recognised.command
    if not command.is_alone:
        diagnostics.stop("E952", workload.engine_origin_of(path), why="it is a script of several commands")
    is_script = len(command.words) != length
    if command.hides_options or (is_script and not all(word.known for word in command.words)):
        diagnostics.stop(
            "E952", workload.engine_origin_of(path), why="some words are filled in only when the container starts"
        )


def split_options(style: Dialect, words: Sequence[Word]) -> tuple[list[EngineOption], list[Word]]:
    """The options of a command line, and the words before the first one."""
    options: list[EngineOption] = []
    strays: list[Word] = []
    start: int | None = None
    for i in range(len(words) + 1):
        if i < len(words) and not style.is_option(words[i].text):
            if start is None:
                strays.append(words[i])
            continue
        if start is not None:
            options.append(_option(style, words[start:i]))
        start = i
    return options, strays


def _option(style: Dialect, words: Sequence[Word]) -> EngineOption:
    head, *values = (word.text for word in words)
    _, glued, value = head.partition("=") if style.kind != "exact" else (head, "", "")
    return EngineOption(
        name=style.name(head),
        words=(head, *values),
        values=(value, *values) if glued else tuple(values),
        origin=words[0].origin,
    )
