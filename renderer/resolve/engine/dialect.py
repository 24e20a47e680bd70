"""An engine's command line: how it is parsed, which options its versions have, and how layers of arguments are merged.

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

from renderer import patterns
from renderer.diagnostics import Collector, Origin
from renderer.resolve.engine.known_options import OptionList
from renderer.resolve.layers import Position

if TYPE_CHECKING:
    from renderer.input_types import OptionsSpec

_NUMBER = re.compile(r"^-\d+$|^-\d*\.\d+$")  # what argparse takes for a value though it begins with a dash


class ReservedOption(Struct, frozen=True):
    """An option that users must not set. `reason`: why, or what to do instead; `values`: globs, if only such values are
    reserved; `warns`: a warning suffices.
    """

    reason: str
    values: tuple[str, ...] = ()
    warns: bool = False


class LineForm(Struct, frozen=True, eq=False):
    """How layers with the same options at the same indexes are merged. `select` takes the kept arguments from those of
    all layers followed by `respelt`; `positions`: of each kept argument; `names`: of the options; `valid`: a cache of
    values that were found to be valid.
    """

    select: Callable[[Sequence[str]], tuple[str, ...]]
    respelt: list[str]
    positions: list[Position]
    names: frozenset[str]
    valid: set[tuple[object, ...]]


class Dialect(Struct, frozen=True, eq=False):
    """How options are parsed. `kind`: argparse, exact, clap, click or none; `spellings`: other spellings, and the names
    they stand for; `options`: the names (for unique prefixes); `sorted_names`: by each spelling and name, the name;
    `names`, `lines`: caches.
    """

    kind: str
    underscores: bool
    dotted: bool
    duplicates: str
    splits: bool
    spellings: Mapping[str, str]
    groups: Mapping[str, frozenset[str]]
    options: frozenset[str]
    sorted_names: Sequence[tuple[str, str]]
    names: dict[str, str]
    lines: dict[tuple[object, ...], LineForm]  # by the groups and shapes of layers

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


def last_number(style: Dialect, layers: Iterable[Sequence[str]], option: str) -> int | None:
    """The last whole number that the layers give an option; None without one."""
    number = None
    for args in layers:
        for i, token in enumerate(args):
            if style.name(token) == option and (value := number_at(args, i)) is not None:
                number = value
    return number


def number_at(args: Sequence[str], i: int) -> int | None:
    """The whole number given to the option at an index; None without one."""
    _, glued, value = args[i].partition("=")
    value = value if glued else "".join(args[i + 1 : i + 2])
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


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
    # An alias may stand for one key of an option, which is no option itself.
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
    """Arguments of one author, and where they stand. `group`: the layer is dropped when a later one has an option of
    that group; `shape`: that of the arguments where it is known; `origins`: of each argument, where these are no items
    of one list.
    """

    args: Sequence[str]
    origin: Origin
    group: str = ""
    shape: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()

    def origin_of(self, *item: str | int) -> Origin:
        """Where an argument stands."""
        return self.origins[int(item[0])] if self.origins else self.origin.at(*item)


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


def validate_reserved_options(
    style: Dialect, rules: Mapping[str, ReservedOption], args: Sequence[str], origin: Origin, diagnostics: Collector
) -> None:
    """An error or a warning for each reserved option in `args`. `rules`: by the option's name."""
    for i, token in enumerate(args):
        rule = rules.get(style.name(token))
        if rule is None:
            continue
        has_value = "=" in token and style.kind != "exact"
        value = token.partition("=")[2] if has_value else "".join(args[i + 1 : i + 2])
        if rule.values and not any(patterns.fits(value.strip("[]").lower(), glob) for glob in rule.values):
            continue
        option = token.partition("=")[0] + (f" {value}" if rule.values else "")
        if rule.warns:
            diagnostics.add("W235", origin.at(i), option=option, why=rule.reason)
        else:
            diagnostics.add("E406", origin.at(i), option=option, hint=rule.reason)


def validate_reserved_env(
    reserved: Mapping[str, str], entries: Sequence[Mapping[str, object]], origin: Origin, diagnostics: Collector
) -> None:
    """An error for each variable that the renderer sets. `reserved`: by name, what to do instead."""
    for i, entry in enumerate(entries):
        if (name := str(entry.get("name"))) in reserved:
            diagnostics.add("E406", origin.at(i, "name"), option=name, hint=reserved[name])
