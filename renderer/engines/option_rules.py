"""What is known of how an engine's version reads a command line, and what is said of an argument."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from msgspec import Struct

from renderer.engines.dialect import Dialect
from renderer.engines.name_lists import NameList
from renderer.engines.option_lists import OptionList

# The warnings in place of errors where the list of options is uncertain.
_UNCERTAIN = {
    "E430": "W430",
    "E431": "W431",
    "E432": "W432",
    "E433": "W433",
    "E435": "W435",
    "E437": "W437",
    "E440": "W440",
    "E441": "W441",
    "E443": "W443",
    "E445": "W445",
    "E465": "W465",
    "E466": "W466",
    "E467": "W467",
    "E477": "W477",
    "E478": "W478",
}
# Errors that the help of a version proves: about the names in it, how many values each takes, and what it says of them.
_PROVEN = frozenset(["E430", "E431", "E432", "E433", "E435", "E437", "E440", "E441"])


class OptionFinding(Struct, frozen=True):
    """What is wrong with an argument."""

    index: int  # of the argument
    code: str  # of a diagnostic
    words: Mapping[str, object]  # of its message


class OptionRules(Struct, frozen=True):
    """How an engine parses a command line, and its options."""

    style: Dialect
    option_list: OptionList
    engine: str  # name and version as messages have them
    list_path: str = ""  # of the option list, relative to the runtime
    is_certain: bool = True  # that the version has these options and no others
    knows_all: bool = True  # that it has; else only what looks like another one is unknown
    is_beyond: bool = False  # the version is newer than all that are listed
    around: tuple[str, str] | None = None  # the releases below and above a version that is none
    is_learnt: bool = False  # the list is from the version's own help, which proves less than others
    older: str = ""  # name and version of what tells the rest, as messages have them
    plugins: Mapping[str, Sequence[str]] = {}  # options that load a plugin, and those to which it may add values
    requires: Mapping[str, Sequence[str]] = {}  # options, and those without which the engine refuses each
    keys: Callable[[], Mapping[str, NameList]] = dict  # of JSON, by option or key, where others are refused
    idle_without: Mapping[str, Sequence[str]] = {}  # options, and those without which each does nothing

    def code(self, code: str) -> str:
        """The code, or its warning where the list is uncertain."""
        is_proven = self.is_certain or (self.is_learnt and code in _PROVEN)
        return code if is_proven else _UNCERTAIN.get(code, code)

    def is_among(self, option: str, value: str, values: Container[str]) -> bool:
        """Whether an option's value is one of some, of which the engine may read the letters in any case."""
        known = self.option_list.options.get(option)
        return value in values or (known is not None and known.choices.any_case and value.upper() in values)

    def finding(self, index: int, code: str, **words: object) -> OptionFinding:
        """A finding, a warning where the list is uncertain."""
        return OptionFinding(index, self.code(code), {"of": self.engine, **words})

    def finding_of(self, is_assumed: bool, index: int, code: str, **words: object) -> OptionFinding:
        """A finding, a warning also where only an older version is known to take what is asked for."""
        if not is_assumed:
            return self.finding(index, code, **words)
        return OptionFinding(index, _UNCERTAIN.get(code, code), {"of": self.older or self.engine, **words})
