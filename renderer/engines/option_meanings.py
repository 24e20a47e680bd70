"""Options of other engines, and which option of an engine means the same (presets/option_meanings.yaml).

It is read when a command line has an option that its engine does not know.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from msgspec import Struct

from renderer.engines.option_lists import OptionList
from renderer.preset_tables import preset_table
from renderer.source.paths import PRESETS

_NAME = "option_meanings"


class Meaning(Struct, frozen=True):
    """Options with one meaning."""

    value: str  # number, text, json or flag
    options: Mapping[str, Sequence[str]]  # by engine, what to write
    also: Mapping[str, Sequence[str]] = {}  # by engine, other options that mean this
    forms: Mapping[str, str] = {}  # by engine, how a value is to be read
    note: str = ""
    always: Sequence[str] = ()  # engines that do this without an option
    variable: str = ""  # of the engine without options
    shapes: str = ""  # what of an answer has a field of its own with it


class Offer(Struct, frozen=True):
    """What an engine has in place of an option of others; without `option` nothing that is known."""

    owners: Sequence[str]  # the names of the engines that have the option
    engine: str = ""  # the name of this one
    option: str = ""
    note: str = ""  # how the value of `option` differs
    always: bool = False  # it does the same without an option
    by_owner: Sequence[tuple[str, str]] = ()  # where it means several things: the name of an engine, and what says that


@cache
def engine_of_list(path: str) -> str:
    """The engine of the table whose options a list has, by the path of the list; '' for another one."""
    return next((engine for engine in preset_table(_NAME)["engines"] if _is_list(os.path.basename(path), engine)), "")


def value_kind(list_path: str, option: str) -> str:
    """What an option takes by the table: number, text, json or flag; '' for one that is not in it."""
    meaning = _meanings().get((engine_of_list(list_path), _fold(option)))
    return meaning.value if meaning else ""


def find_offer(list_path: str, options: OptionList, word: str) -> Offer | None:
    """What the engine with that list has in place of an option of another engine; None where none has one of that
    name. A key of an option (`--option.key`) is in no other.
    """
    engine, folded = engine_of_list(list_path), _fold(word)
    owners = _owners(folded, engine) or _owners(folded.partition(".")[0], engine)
    if not owners:
        return None
    names = preset_table(_NAME)["engines"]
    nothing = Offer([names[owner] for owner in owners], names.get(engine, ""))
    offers, by_owner = [], []
    for owner in owners:
        if meaning := _meanings().get((owner, folded)):
            option = next((name for name in meaning.options.get(engine, ()) if _takes(options, name, meaning)), "")
            form = meaning.forms.get(engine, "") if option else ""
            note = meaning.note if form == meaning.forms.get(owner, "") or not form else form
            by_owner += [(names[owner], option)] if option else []
            offers.append(Offer(nothing.owners, nothing.engine, option, note, engine in meaning.always))
    # Where it means one thing in one engine and another one elsewhere, nobody knows which was meant.
    if offers and len({(offer.option, offer.always) for offer in offers}) == 1:
        return offers[0]
    return Offer(nothing.owners, nothing.engine, by_owner=by_owner)


@cache
def shaping_options() -> Sequence[Meaning]:
    """The options without which a part of an answer stands in its text."""
    return [meaning for row in preset_table(_NAME)["meanings"] if (meaning := Meaning(**row)).shapes]


def find_variables(args: Iterable[str], prefix: str) -> dict[str, str]:
    """The options among arguments that say what a variable says to an engine without options, whose variables begin
    with `prefix`: each with the variable, and how its value is to be read where that differs.
    """
    variables = {}
    for arg in args:
        word = arg.partition("=")[0]
        rows = [(owner, _meanings().get((owner, _fold(word)))) for owner in _owners(_fold(word))]
        meanings = [(owner, meaning) for owner, meaning in rows if meaning]
        if meanings and all(meaning == meanings[0][1] for _, meaning in meanings):
            owner, meaning = meanings[0]
            form = meaning.forms.get("variable", "")
            note = f" ({form})" if form != meaning.forms.get(owner, "") else ""
            if prefix and meaning.variable.startswith(prefix):
                variables[word] = f"{meaning.variable}{note}"
    return variables


def _owners(folded: str, engine: str = "") -> list[str]:
    """The engines with an option of that name, but for one."""
    return [owner for owner, spellings in _spellings().items() if owner != engine and folded in spellings]


def _takes(options: OptionList, name: str, meaning: Meaning) -> bool:
    """Whether a version has an option that takes a value of that meaning."""
    option = options.options.get(name)
    return option is not None and (option.arity in "0?*" if meaning.value == "flag" else option.arity != "0")


def _fold(word: str) -> str:
    """An option as engines spell it that take either of - and _."""
    return word.replace("_", "-")


@cache
def _spellings() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """By engine the options of all versions: each folded spelling, and all of the same option."""
    folder = os.path.join(PRESETS, "backends", "flags")
    by_engine: dict[str, dict[str, frozenset[str]]] = {}
    for engine in preset_table(_NAME)["engines"]:
        files = [name for name in os.listdir(folder) if _is_list(name, engine)]
        spellings = by_engine.setdefault(engine, {})
        for name in sorted(files):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in file:
                    if line[0] == "-":
                        group = frozenset(map(_fold, line.split()[0].split(",")))
                        spellings.update({spelling: group | spellings.get(spelling, group) for spelling in group})
    return by_engine


def _is_list(file_name: str, engine: str) -> bool:
    """Whether a file lists options of an engine: those of all versions, or of one."""
    stem = file_name.removesuffix(".txt")
    return stem == engine or stem.startswith(f"{engine}-")


@cache
def _meanings() -> Mapping[tuple[str, str], Meaning]:
    """By engine and folded spelling what an option means."""
    table: dict[tuple[str, str], Meaning] = {}
    for row in preset_table(_NAME)["meanings"]:
        meaning = Meaning(**row)
        for named in (meaning.options, meaning.also):
            for engine, options in named.items():
                for option in options:
                    for spelling in _spellings()[engine].get(_fold(option), ()):
                        table[engine, spelling] = meaning
    return table
