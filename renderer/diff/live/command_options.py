"""The command line of an engine's container, option by option, as the engine's own parser reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.check.engines import clues_of
from renderer.diagnostics import NamedSource, Origin
from renderer.engines.catalog import EngineCatalog
from renderer.engines.container_engine import RecognisedEngine, recognise
from renderer.engines.dialect import Dialect
from renderer.engines.handwritten_command import Word, table_entry, usual_port
from renderer.engines.option_lists import Option
from renderer.kubernetes.json_values import list_at, text_at
from renderer.kubernetes.variable_references import ConfigMaps, fill_in, plain_variables
from renderer.kubernetes.wellknown import RUNNER

MODEL: Final = "model"  # the argument that stands first, of an engine that has no option for it
_PREFIX = re.compile(r"[A-Za-z_]\w*=.*|env|nohup|time", re.DOTALL)
_NOWHERE: Final = Origin(NamedSource(""))  # no message of ours leads to a word


class ContainerCommand(Struct, frozen=True):
    """The engine of a container, and how it is started."""

    recognised: RecognisedEngine
    start: tuple[str, ...]  # the words before the options
    options: Mapping[str, str]  # by name, the value; of several occurrences `a, b`
    repeats: bool  # whether an option is given several times
    port: int | None
    model_option: str  # the name under which `options` has the model
    variables: Mapping[str, str]  # those whose values are known

    @property
    def backend(self) -> str:
        """The preset of the engine."""
        return self.recognised.engine.runtime.name

    @property
    def starts_preset(self) -> bool:
        """Whether it is the preset's command in an image where that is known to be."""
        engine = self.recognised.engine
        return [*self.start] == [*(engine.runtime.spec.get("command") or ())] and bool(engine.version)

    @property
    def style(self) -> Dialect:
        """How the engine reads its options."""
        return self.recognised.engine.engine.style

    @property
    def parallel_options(self) -> frozenset[str]:
        """The options that distribute accelerators."""
        return self.recognised.engine.engine.parallel_options

    @property
    def port_options(self) -> Sequence[str]:
        """The options that say the port."""
        return [self.style.name(option) for option in table_entry(self.backend).get("port") or ()]

    @property
    def naming_options(self) -> Sequence[str]:
        """The options that say the public name, as they are spelled."""
        return table_entry(self.backend).get("servedName") or ()

    @property
    def template_options(self) -> Sequence[str]:
        """The options that name the file of a chat template."""
        return [self.style.name(option) for option in table_entry(self.backend).get("chatTemplate") or ()]

    @property
    def port_variables(self) -> Sequence[str]:
        """The variables that say it."""
        return table_entry(self.backend).get("portVariables") or ()


def read_command(
    container: Mapping[str, Any], catalog: EngineCatalog, config_maps: ConfigMaps | None = None
) -> ContainerCommand | None:
    """The engine of a container, with the variables of its command line filled in. None where it runs none that is
    known, or something beside it, or where what is filled in at run time may be an option.
    """
    variables = plain_variables(container, config_maps)
    command, args = (
        [Word(fill_in(word, variables), _NOWHERE) for word in list_at(container, field) if isinstance(word, str)]
        for field in ("command", "args")
    )
    image, clues = text_at(container, "image"), clues_of(catalog, container)
    recognised = recognise(catalog, command, args, image, variables, clues)
    is_runner = text_at(container, "name") == RUNNER  # the engine whatever else says so, such as the name of theirs
    if recognised is None or not (recognised.is_certain or is_runner):
        return None
    line, style = recognised.command, recognised.engine.engine.style
    start = line.words[: len(line.words) - len(line.arguments) - (line.first_model is not None)]
    if not line.is_alone or line.hides_options or any(_PREFIX.fullmatch(word.text) for word in start[:2]):
        return None
    entry = table_entry(recognised.engine.runtime.name)
    model_option = next(iter(entry.get("model") or ()), MODEL)
    rules = recognised.engine.option_rules
    known = rules.option_list.options if rules else {}
    occurrences = read_options(style, known, [word.text for word in line.arguments])
    if line.first_model is not None:
        occurrences.setdefault(model_option, []).insert(0, line.first_model.text)
    return ContainerCommand(
        recognised,
        tuple(word.text for word in start),
        {name: ", ".join(values) for name, values in occurrences.items()},
        any(len(values) > 1 for values in occurrences.values()),
        line.port if line.ports else usual_port(entry, variables, is_own_image=recognised.is_own_image),
        model_option,
        variables,
    )


def read_options(style: Dialect, known: Mapping[str, Option], args: Sequence[str]) -> dict[str, list[str]]:
    """By name, the values of each occurrence of an option; under '' the arguments that belong to none. `known`: the
    options of the version by their spellings.
    """
    options: dict[str, list[list[str]]] = {}
    current: list[str] | None = None
    most = 0
    for arg in args:
        option, equals, value = arg.partition("=")
        if name := style.name(option):
            current = [value] if equals else []
            most = 0 if equals else _most_values(known.get(style.head(option)[0]) or known.get(name))
            options.setdefault(name, []).append(current)
        elif current is None or not most:
            options.setdefault("", []).append([arg])
        else:
            current.append(arg)
            most -= 1
    return {name: [" ".join(values) for values in occurrences] for name, occurrences in options.items()}


def _most_values(option: Option | None) -> int:
    """How many values an option takes at most; of one that nobody knows all that follow."""
    if option is None or not option.arity.isdigit():
        return 1 if option and option.arity == "?" else 10**6
    return int(option.arity)


def json_meaning(text: str) -> str:
    """JSON of a map or list in one form; any other text as it is."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return text
