"""The options of a model's section in a file of models, as words of a command line; and what on the command line of the
server is about such a file (`modelsFile` of presets/engine_commands.yaml).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from renderer.engines.dialect import Dialect
from renderer.engines.models_file import OFF, ON, ReadPair, ReadSection, read_models, switch_value
from renderer.engines.option_lists import Option

_NO = "--no-"


class PairWords(Struct, frozen=True):
    """A pair of a section as the server passes it to the process of the model."""

    words: tuple[str, ...]
    read: str = ""  # how the server reads a value that is none of its words for on and off


def option_of(options: Mapping[str, Option], key: str) -> Option | None:
    """The option that a key names; None for an unknown one."""
    return options.get(_spelled(options, key))


def _spelled(options: Mapping[str, Option], key: str) -> str:
    return next((dashes + key for dashes in ("--", "-") if dashes + key in options), f"--{key}")


def pair_words(options: Mapping[str, Option], pair: ReadPair) -> PairWords:
    """A pair as words. `options`: of the engine."""
    option, spelled = option_of(options, pair.key), _spelled(options, pair.key)
    if option is None or option.arity != "0":
        return PairWords((spelled, pair.value))
    value, positive = switch_value(pair.value), _positive(options, option)
    if positive != option.name:  # what is no word for on is off there
        word = option.name if value == ON else positive
    else:
        word = option.name if value != OFF else f"{_NO}{option.name[2:]}"
    return PairWords((word,) if word in options else (), read="" if value else "on" if word == option.name else "off")


def setting_of(options: Mapping[str, Option], key: str) -> str:
    """What a key sets, the same for all keys that set it: also for one that switches off what another switches on."""
    option = option_of(options, key)
    return _positive(options, option) if option else key


def _positive(options: Mapping[str, Option], option: Option) -> str:
    """The option that switches on what this one switches off; else its own name."""
    positive = f"--{option.name.removeprefix(_NO)}" if option.name.startswith(_NO) else option.name
    return positive if positive in options else option.name


class ModelsFile:
    """What the server makes of the sections of a file."""

    def __init__(self, text: str, options: Mapping[str, Option], entry: Mapping[str, Any]) -> None:
        """`options`: of the engine; `entry`: its `modelsFile` in the table."""
        self.file, self.options, self.entry = read_models(text), options, entry

    @cached_property
    def models(self) -> list[ReadSection]:
        """The sections of models that count: of those of one name the last."""
        by_name = {section.name: section for section in self.file.sections if not section.is_shared}
        counted = {by_name[name].model: by_name[name] for name in sorted(by_name)}
        return [section for section in by_name.values() if counted[section.model] is section]

    @cached_property
    def shared(self) -> ReadSection | None:
        """The section of what all share."""
        return next((section for section in reversed(self.file.sections) if section.is_shared), None)

    def pairs_of(self, section: ReadSection) -> dict[str, tuple[ReadSection, ReadPair]]:
        """The pairs that count for a model, by what they set, each with its section: its own before those of all."""
        of_all = self.last_pairs(self.shared) if self.shared and self.shared is not section else {}
        return {**of_all, **self.last_pairs(section)}

    def words_of(self, section: ReadSection, beating: Mapping[str, Sequence[str]] = {}) -> dict[str, tuple[str, ...]]:
        """The words of the options of a model, by what they set. `beating`: those of the server's command line, which
        count before those of the file.
        """
        pairs = {setting: pair for setting, (_, pair) in self.pairs_of(section).items() if self.is_judged(pair.key)}
        words = {setting: pair_words(self.options, pair).words for setting, pair in pairs.items()}
        return words | {setting: tuple(of_server) for setting, of_server in beating.items()}

    def last_pairs(self, section: ReadSection) -> dict[str, tuple[ReadSection, ReadPair]]:
        """The pairs of a section that count: of each key the last; of several keys of one option the last by the
        alphabet.
        """
        by_key = {pair.key: pair for pair in section.pairs}
        counted = {setting_of(self.options, key): key for key in sorted(by_key)}
        settings = dict.fromkeys(setting_of(self.options, key) for key in by_key)
        return {setting: (section, by_key[counted[setting]]) for setting in settings}

    def setting(self, role: str) -> str:
        """What the option of a role in the table sets, as the pairs of a section have it."""
        return setting_of(self.options, self.entry[role].lstrip("-"))

    def value_of(self, section: ReadSection, role: str) -> str:
        """The value of a model's option that has a role in the table; '' without it."""
        pair = self.pairs_of(section).get(self.setting(role))
        return pair[1].value if pair else ""

    def names_of(self, section: ReadSection) -> list[str]:
        """The further names of a model."""
        return [*filter(None, (name.strip() for name in self.value_of(section, "name").split(",")))]

    def is_preloaded(self, section: ReadSection) -> bool:
        """Whether a model is loaded at the start."""
        pair = self.pairs_of(section).get(self.entry["preload"])
        return pair is not None and switch_value(pair[1].value) == ON

    def is_option(self, key: str) -> bool:
        """Whether a key is to be one of the engine's options; not of its variables, which nobody lists here."""
        return key != self.entry["preload"] and key not in self.entry["keys"] and not key.isupper()

    def is_judged(self, key: str) -> bool:
        """Whether a key counts as an option."""
        return self.is_option(key)

    def of_server(self, style: Dialect, args: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The words that the command line of the server gives each model, by what they set."""
        apart = {*self.entry["own"], *self.entry["apart"]}
        lines: dict[str, tuple[str, ...]] = {}
        for i, arg in enumerate(args):
            option = self.options.get(style.head(arg)[0])
            if option and option.name not in apart:
                count = int(option.arity) if option.arity.isdigit() else 1
                lines[setting_of(self.options, option.name.lstrip("-"))] = tuple(args[i : i + 1 + count])
        return lines

    def most(self, style: Dialect, args: Sequence[str], variables: Mapping[str, str]) -> int | None:
        """How many models may be in memory at once, 0 for any number; None where that is not known."""
        text = variables.get(self.entry["mostVariable"], str(self.entry["mostDefault"]))
        for word, value in zip(args, (*args[1:], ""), strict=False):
            text = value if style.name(word) == self.entry["most"] else text
        return int(text) if text.lstrip("-").isdecimal() else None


def models_path(args: Sequence[str], variables: Mapping[str, str], entry: Mapping[str, Any]) -> str:
    """The path of the file of models that a server reads; '' where it reads none, or serves one model."""
    ones = {*(entry.get("one") or ())}
    if ones & {*args} or any(variables.get(name) for name in ones):
        return ""
    path = next((variables[name] for name in entry.get("variables") or () if name in variables), "")
    for word, value in zip(args, (*args[1:], ""), strict=False):
        path = value if word in (entry.get("options") or ()) else path
    return path
