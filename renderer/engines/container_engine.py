"""The engine that a container runs, whoever wrote it: by its command line, its version by the tag of its image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.engines.catalog import EngineCatalog, VersionedEngine
from renderer.engines.dialect import ArgLayer
from renderer.engines.given_options import option_names
from renderer.engines.handwritten_command import (
    EngineCommand,
    Word,
    find_program,
    port_in,
    read_engine_command,
    table_entry,
    usual_port,
)
from renderer.engines.option_rules import OptionRules
from renderer.engines.recognition import Clues, match_options
from renderer.engines.running_engine import EngineLine, LineStart, SharedAccelerators, Subject
from renderer.kubernetes.json_values import maps_at, text_at, texts_at
from renderer.kubernetes.variable_references import plain_variables

_FILLED_IN = "$(VALUE)"  # what no rule about values judges
# How a path ends that a hub's client, or our loader, makes for a repository.
_DOWNLOADED = r"/models--([\w.-]+?)--([\w.-]+?)(?:/snapshots/[^/]*)?/?$"


class RecognisedEngine(Struct, frozen=True):
    """The engine of a container."""

    command: EngineCommand
    engine: VersionedEngine
    is_own_image: bool  # of a repository of the engine's project, or of a mirror of it
    signs: tuple[str, ...] = ()  # what tells the engine where neither command nor image does
    is_certain: bool = True  # else there are too few signs


class Surroundings(Struct, frozen=True):
    """What a container has around its command line."""

    name: str  # how messages speak of it
    limits: Mapping[str, object]
    limits_origin: Origin
    hosts: int  # pods of a replica
    is_whole: bool = True  # nobody adds to the command line, such as a chart or the controller of an unknown kind
    claims: Mapping[str, int] = {}  # devices by DeviceClass, of claims
    claims_origin: Origin | None = None


def recognise(
    catalog: EngineCatalog,
    command: Sequence[Word],
    args: Sequence[Word],
    image: str,
    variables: Mapping[str, str] | None = None,
    clues: Clues | None = None,
) -> RecognisedEngine | None:
    """The engine of a container with this command line; None where it runs none that is known. `variables`: of the
    container, as far as their values are known; `clues`: with which its options may tell the engine,
    which is not certain then.
    """
    line = read_engine_command(command, args, image, variables)
    if line.backend not in catalog.runtimes:
        match = match_options(catalog, command, args, clues, variables) if clues else None
        if match is None:
            return None
        engine = catalog.engine(match.command.backend, "")
        return RecognisedEngine(
            match.command, engine, is_own_image=False, signs=match.signs, is_certain=match.is_certain
        )
    of_image = catalog.image_engine(image)
    is_own_image = of_image is not None and of_image.backend == line.backend
    version = of_image.version if of_image and is_own_image else ""
    return RecognisedEngine(line, catalog.engine(line.backend, version), is_own_image)


def engine_line(catalog: EngineCatalog, recognised: RecognisedEngine, around: Surroundings) -> EngineLine:
    """The command line of an engine as rules see it. Without arguments where what is filled in at run time may be an
    option.
    """
    command, versioned = recognised.command, recognised.engine
    words = () if command.hides_options and not recognised.signs else command.arguments
    args = tuple(map(_known_text, words))
    shared = _shared_accelerators(catalog, recognised, around)
    layer = ArgLayer(args, around.limits_origin, origins=tuple(word.origin for word in words))
    return EngineLine(
        subject=Subject(
            around.name,
            "the count of the claim" if shared.accelerator.claimed else "the limits of the container",
            ways="tensor, data or pipeline",
        ),
        backend=versioned.runtime.name,
        engine=versioned.engine,
        version=versioned.version,
        args=args,
        options=option_names(versioned.engine.style, args),
        written=(layer,),
        option_rules=versioned.option_rules or _rules_of_others(catalog, recognised),
        shared=shared,
        is_own_image=lambda: recognised.is_own_image,
        start=_line_start(recognised) if around.is_whole else None,
        hides_options=command.hides_options,
    )


def _rules_of_others(catalog: EngineCatalog, recognised: RecognisedEngine) -> OptionRules | None:
    """By what options are judged in an image of somebody else."""
    return None if recognised.is_own_image else catalog.rules_of_any_version(recognised.engine.runtime.name)


def _line_start(recognised: RecognisedEngine) -> LineStart | None:
    command = recognised.command
    program = find_program(command, recognised.engine.version)
    if program is None:
        return None
    return LineStart(
        program, is_entrypoint=not command.program, repeated=command.repeated, first_model=command.first_model
    )


def known_facts(catalog: EngineCatalog, recognised: RecognisedEngine) -> Mapping[str, object]:
    """`facts` of our preset for the model that the command line names; empty where it names none that is known."""
    command, entry = recognised.command, table_entry(recognised.engine.runtime.name)
    texts = [*named_weights(command, entry)] or [word.text for word in command.words]
    known = (catalog.model_facts(_repository(text)) for text in texts)
    return next(filter(None, known), {})


def _repository(text: str) -> str:
    """The repository of a hub that a text names, as one or by the folder into which a hub's client downloads it."""
    folder = re.search(_DOWNLOADED, text)
    return f"{folder[1]}/{folder[2]}" if folder else text.partition(":")[0]


def known_model(recognised: RecognisedEngine) -> str:
    """The repository or the path that the command line names as weights; '' where it names none."""
    return next(named_weights(recognised.command, table_entry(recognised.engine.runtime.name)), "")


def named_weights(command: EngineCommand, entry: Mapping[str, Any]) -> Iterator[str]:
    """What the line names as weights: the model that stands first, and the values of the options for it."""
    if command.first_model:
        yield command.first_model.text
    options = {*texts_at(entry, "weights"), *texts_at(entry, "hubRepository")}
    for i, word in enumerate(command.arguments):
        option, glued, value = word.text.partition("=")
        if option in options:
            yield from (value,) if glued else (other.text for other in command.arguments[i + 1 : i + 2])


def listening_port(recognised: RecognisedEngine, container: Mapping[str, object]) -> int | None:
    """The port on which the engine of a container listens; None where it is not known."""
    command, entry = recognised.command, table_entry(recognised.engine.runtime.name)
    if command.ports or command.hides_options:
        return command.port if not command.hides_options else None
    variables = plain_variables(container)
    named = [text_at(variable, "name") for variable in maps_at(container, "env")]
    says_more = any(name in named and not port_in(variables.get(name, "")) for name in entry.get("portVariables") or ())
    settings_file = any(word.text.partition("=")[0] in (entry.get("settingsFile") or ()) for word in command.arguments)
    if says_more or settings_file or container.get("envFrom"):
        return None
    return usual_port(entry, variables, is_own_image=recognised.is_own_image)


def _known_text(word: Word) -> str:
    """The word; of a value that is filled in at run time only that it is one."""
    if word.known:
        return word.text
    option, glued, _ = word.text.partition("=")
    return f"{option}={_FILLED_IN}" if glued and option.startswith("-") else _FILLED_IN


def _shared_accelerators(
    catalog: EngineCatalog, recognised: RecognisedEngine, around: Surroundings
) -> SharedAccelerators:
    """The accelerators of the container. Of an engine that says no size one works, or all of them."""
    accelerator = catalog.accelerator(around.limits)
    place = around.limits_origin.at(accelerator.resource) if accelerator.resource else None
    if not accelerator.resource and around.claims:
        accelerator, place = catalog.claimed_accelerator(around.claims), around.claims_origin
    takes_all = table_entry(recognised.engine.runtime.name).get("usesAll") or recognised.command.hides_options
    origin = place if accelerator.resource else None
    return SharedAccelerators(
        accelerator=accelerator,
        size=accelerator.number if takes_all else 1,
        origin=origin,
        hosts=around.hosts,
        where=lambda: origin,
    )
