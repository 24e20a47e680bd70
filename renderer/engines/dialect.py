"""How an engine's command line is read: what is an option, by which names it goes, and which belong together.

The preset describes the parser (`engine.options`); without that, arguments are only appended
(docs/design/presets.md#command-lines).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.diagnostics import Origin
from renderer.engines.option_lists import OptionList

if TYPE_CHECKING:
    from renderer.input_types import OptionsSpec

_NUMBER = re.compile(r"^-\d+$|^-\d*\.\d+$")  # what argparse takes for a value though it begins with a dash


class ReservedOption(Struct, frozen=True):
    """An option that users must not set."""

    reason: str  # or what to do instead
    values: tuple[str, ...] = ()  # globs, if only such values are reserved
    warns: bool = False  # a warning suffices


class LineForm(Struct, frozen=True, eq=False):
    """How layers with the same options at the same indexes are merged."""

    select: Callable[[Sequence[str]], tuple[str, ...]]  # the kept arguments, of those of all layers and `respelt`
    respelt: list[str]  # arguments in another spelling than their layer's
    positions: list[tuple[int, int]]  # of each kept argument: the number of its layer, its index there
    names: frozenset[str]  # of the options


class Dialect(Struct, frozen=True, eq=False):
    """How options are parsed."""

    kind: str  # argparse, exact, clap, click or none
    underscores: bool  # `--a_b` is `--a-b`
    dotted: bool  # `--a.b` is the key b of the option --a
    duplicates: str  # what the parser makes of an option that is given twice: the last one, or an error
    splits: bool  # the image's entrypoint splits arguments at blanks
    spellings: Mapping[str, str]  # other spellings, and the names that they stand for
    groups: Mapping[str, frozenset[str]]  # options of which one drops the others' derived values
    options: frozenset[str]  # the names, for unique prefixes
    sorted_names: Sequence[tuple[str, str]]  # by each spelling and name, the name
    names: dict[str, str]  # a cache by token
    lines: dict[tuple[object, ...], LineForm]  # a cache by the groups and shapes of layers

    @property
    def parses_options(self) -> bool:
        """Whether options can be distinguished from values."""
        return self.kind != "none"

    def name(self, token: str) -> str:
        """The option that a token such as `--port=80` or `-tp` names, in the preset's spelling; '' for a value."""
        if token[:1] != "-":
            return ""
        known = self.names.get(token)
        if known is None:
            known = self.names[token] = self._resolve_name(token)
        return known

    def head(self, token: str) -> tuple[str, str]:
        """The option of a token in its form for comparison, and the key behind its dot, with the dot."""
        name = token.partition("=")[0] if self.kind != "exact" else token
        head, dot, tail = name.partition(".") if self.dotted else (name, "", "")
        if self.underscores and head.startswith("--"):
            head = head.replace("_", "-")
        return head, dot + tail

    def matches(self, head: str) -> list[str]:
        """The options that a head may stand for: one, several for an ambiguous prefix, or none."""
        if head in self.spellings:
            return [self.spellings[head]]
        if head in self.options:
            return [head]
        if self.kind != "argparse" or not head.startswith("--"):
            return []
        start = bisect_left(self.sorted_names, (head, ""))
        longer = takewhile(lambda pair: pair[0].startswith(head), islice(self.sorted_names, start, None))
        return sorted({name for _, name in longer})

    def is_option(self, token: str) -> bool:
        """Whether a token is an option, and no value such as -1."""
        if len(token) < 2 or token[0] != "-":
            return False
        if self.kind == "argparse" and " " in token.partition("=")[0]:
            return False
        # Where a dot makes a key of JSON, -0.5 is no number either.
        return not _NUMBER.match(token) or (self.dotted and "." in token)

    def _resolve_name(self, token: str) -> str:
        if not self.is_option(token):
            return ""
        head, tail = self.head(token)
        matches = self.matches(head)
        return (matches[0] if len(matches) == 1 else head) + tail.replace("-", "_")


def is_number(token: str) -> bool:
    """Whether a token that begins with a dash is a negative number."""
    return bool(_NUMBER.match(token))


def build_style(
    options: OptionsSpec, preset_args: Iterable[Sequence[str]], option_list: OptionList | None = None
) -> Dialect:
    """The dialect of a preset's `engine.options`. `preset_args`: all arguments of the preset; `option_list`: of its
    version.
    """
    groups = options.get("groups") or {}
    spellings = {spelling: option.name for spelling, option in option_list.options.items()} if option_list else {}
    spellings.update(options.get("aliases") or {})
    # An option's name is the spelling that the preset uses.
    options_given = (
        token.partition("=")[0].partition(".")[0] for args in preset_args for token in args if token.startswith("-")
    )
    preset_options = dict.fromkeys((*options_given, *(member for members in groups.values() for member in members)))
    preset_names = {
        spellings[word]: word for word in reversed(preset_options) if word in spellings
    }  # of two spellings the first
    dotted = bool(options.get("dotted"))
    spellings = {spelling: preset_names.get(name, name) for spelling, name in spellings.items()}
    spellings.update(options.get("renamed") or {})
    # An alias may stand for one key of an option, which is not an option itself.
    names = frozenset(word for word in preset_options if word.startswith("--") and word not in spellings).union(
        name for name in spellings.values() if not (dotted and "." in name)
    )
    return Dialect(
        kind=options.get("style", "none"),
        underscores=bool(options.get("underscores")),
        dotted=dotted,
        duplicates=options.get("duplicates", "last"),
        splits=bool(options.get("splits")),
        spellings=spellings,
        groups={
            name: frozenset(spellings.get(member, member) for member in members) for name, members in groups.items()
        },
        options=names,
        sorted_names=sorted([*spellings.items(), *((name, name) for name in names)]),
        names={},
        lines={},
    )


class ArgLayer(Struct, frozen=True):
    """Arguments of one author."""

    args: Sequence[str]
    origin: Origin  # of their list
    group: str = ""  # the layer is dropped when a later one has an option of that group
    shape: tuple[str, ...] = ()  # of the arguments where it is known: args_shape()
    origins: tuple[Origin, ...] = ()  # of each argument, where these are no items of one list

    def origin_of(self, index: int) -> Origin:
        """Where an argument stands."""
        return self.origins[index] if self.origins else self.origin.at(index)


def args_shape(args: Sequence[str]) -> tuple[str, ...]:
    """The arguments as far as a merge depends on them: options, and '' for each value."""
    return tuple([token if token[:1] == "-" else "" for token in args])


def option_spellings(style: Dialect, args: Sequence[str]) -> dict[str, str]:
    """The options that are given by keys (`--option.key`), and the spelling of each at its last key.

    A parser collects the keys of each spelling separately; only the last spelling counts, and keys win over the option
    as a whole.
    """
    spellings = {}
    for token in args:
        if token[:1] == "-" and "." in token:
            head, tail = style.head(token)
            if tail and (name := style.name(token)):
                spellings[name.partition(".")[0]] = head
    return spellings
