"""The engine that a container runs by what its options are, where neither its command nor its image tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.engines.catalog import EngineCatalog
from renderer.engines.handwritten_command import (
    EngineCommand,
    Word,
    foreign_options,
    model_options,
    read_lines_as,
    table_entry,
)
from renderer.engines.option_lists import Option
from renderer.text import patterns

_ENOUGH = 2  # signs of an engine
_LONGEST_LETTER = 2  # of an option such as -m, which means something in many programs
_SHORTEST_PREFIX = 8  # of the beginning of an option that counts


class Clues(Struct, frozen=True):
    """What a container says of its engine besides its command line."""

    names: tuple[str, ...] = ()  # its own, and that of its image
    has_accelerator: bool = False


class OptionMatch(Struct, frozen=True):
    """An engine that options of a command line are of."""

    command: EngineCommand
    signs: tuple[str, ...]  # the options that it alone has, and a name
    is_certain: bool  # there are enough signs, and an accelerator or a model


def match_options(
    catalog: EngineCatalog,
    command: Sequence[Word],
    args: Sequence[Word],
    clues: Clues,
    variables: Mapping[str, str] | None = None,
) -> OptionMatch | None:
    """The one engine of which the options are, as far as it may be one; None where none or several have a sign, or one
    of the options is of another program.
    """
    matches = [
        match
        for backend in _known_options(catalog)
        for line in read_lines_as(backend, command, args, variables)
        if (match := _match(catalog, line, clues))
    ]
    return matches[0] if len(matches) == 1 else None


def _match(catalog: EngineCatalog, line: EngineCommand, clues: Clues) -> OptionMatch | None:
    known = _known_options(catalog)
    signs: list[str] = []
    for head in _heads(line.arguments):
        owners = {backend for backend, options in known.items() if head in options}
        is_foreign = head in foreign_options()
        if line.backend not in owners and (owners or is_foreign):
            return None
        takers = owners or {backend for backend in known if _begins_option(catalog, backend, head)}
        if takers == {line.backend} and not is_foreign and len(head) > _LONGEST_LETTER:
            signs.append(head)
    if not signs:
        return None
    signs = [*dict.fromkeys(signs), *[name for name in clues.names if _says(name, line.backend)][:1]]
    has_model = clues.has_accelerator or any(_values(line))
    return OptionMatch(line, tuple(signs), len(signs) >= _ENOUGH and has_model)


def _known_options(catalog: EngineCatalog) -> Mapping[str, Mapping[str, Option]]:
    """The options of each engine, in any version."""
    return {backend: options for backend in catalog.runtimes if (options := catalog.all_options(backend))}


def _begins_option(catalog: EngineCatalog, backend: str, head: str) -> bool:
    """Whether an engine takes a word for the one of its options that begins with it."""
    is_prefix = catalog.engine(backend, "").engine.style.kind == "argparse" and len(head) >= _SHORTEST_PREFIX
    return is_prefix and sum(option.startswith(head) for option in catalog.all_options(backend)) == 1


def _heads(words: Sequence[Word]) -> Iterator[str]:
    """The options of a line, as they are compared."""
    for word in words:
        head = word.text.partition("=")[0].partition(".")[0]
        if head[:1] == "-" and len(head) > 1 and not head[1].isdigit() and " " not in head:
            yield head.replace("_", "-") if head.startswith("--") else head


def _says(name: str, backend: str) -> bool:
    """Whether an engine, or the image of its project, is a word of a name."""
    images = table_entry(backend).get("images") or ()
    return patterns.fits_any(name, [backend, f"{backend}-*", f"*-{backend}", f"*-{backend}-*", *images])


def _values(line: EngineCommand) -> Iterator[str]:
    """What stands behind the options that name the model."""
    for word, following in zip(line.arguments, [*(word.text for word in line.arguments[1:]), ""], strict=True):
        head, glued, value = word.text.partition("=")
        if head in model_options() and (text := value if glued else following) and not text.startswith("-"):
            yield text
