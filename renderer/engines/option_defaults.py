"""What an engine does without an option, by version, and which of these defaults an upgrade moves.

The lists lie beside those of options, as `NAME.defaults.txt` (scripts/make_defaults.py says what a line means). They
are read where somebody asks. Nothing is known of a version that a list does not name, and of engines without a list.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from renderer.api import BackendRuntime, OptionFile, OptionFiles, UnreadableList
from renderer.engines.dialect import Dialect
from renderer.engines.known_engine import build_dialect
from renderer.engines.option_lists import list_path, parse_range, read_option_list
from renderer.engines.version_order import version_key

AT_START: Final = "decided at start"  # in place of a value that the parser leaves open
_OPEN = "-"  # the same in a list
_EMPTY = frozenset([AT_START, '""', "[]", "{}"])  # which say the same: nothing is asked for


class OptionDefault(Struct, frozen=True):
    """What a version does without an option."""

    names: tuple[str, ...]  # of the option, that by which it is known first
    setters: tuple[str, ...]  # other options that set the same, such as --no-NAME
    value: str  # as a user would write it, `true` or `false` for a flag, or AT_START


class MovedDefault(Struct, frozen=True, order=True):
    """An option that two versions have, with what each does without it."""

    option: str
    before: str  # as OptionDefault.value
    after: str


class DefaultMoves(Struct, frozen=True, eq=False):
    """The defaults that differ between two versions of an engine."""

    moves: tuple[tuple[MovedDefault, frozenset[str]], ...] = ()  # sorted, each with the options that set it
    styles: tuple[Dialect, ...] = ()  # of both versions

    def beside(self, args: Iterable[str]) -> tuple[MovedDefault, ...]:
        """Those of the options that a command line leaves out."""
        tokens = [token for token in args if token[:1] == "-"]
        letters = [token[:2] for token in tokens if token[1:2] != "-"]  # a value may stand right behind them
        written = _option_names(self.styles, (*tokens, *letters))
        return tuple([move for move, setters in self.moves if not setters & written])


def read_defaults(files: OptionFiles, runtime: BackendRuntime, version: str) -> dict[str, OptionDefault] | None:
    """The known defaults of a version by every name of an option; None where nobody looked at the version.

    Raises UnreadableList.
    """
    path = list_path(runtime.spec.get("engine") or {})
    if not path or not version:
        return None
    key = version_key(version)
    listed = next((name for known, name in files.versions(runtime, path).items() if version_key(known) == key), "")
    if not listed:
        return None
    defaults_path = f"{listed.removesuffix('.txt')}.defaults.txt"
    file = files.file(runtime, defaults_path) or OptionFile(())
    position = next((i for i, known in enumerate(file.versions) if version_key(known) == key), None)
    return None if position is None else _parse_defaults(file, defaults_path, position)


def default_moves(files: OptionFiles, runtime: BackendRuntime, before: str, after: str) -> DefaultMoves:
    """The defaults that differ between two versions of an engine; none where nobody looked at one of them. An option
    that one of them lacks, or of which one default is not known, is none, nor is one that went from an empty value to
    none.

    Raises UnreadableList.
    """
    older = read_defaults(files, runtime, before)
    newer = read_defaults(files, runtime, after)
    if older is None or newer is None:
        return DefaultMoves()
    lists = (read_option_list(files, runtime, version) for version in (before, after))
    styles = tuple([build_dialect(runtime.spec, option_list) for option_list in lists])
    moves = {}
    for default in newer.values():
        name = next((name for name in default.names if name in older), "")
        values = {older[name].value, default.value} if name else set[str]()
        if len(values) > 1 and not (AT_START in values and values <= _EMPTY):
            setters = (*older[name].names, *older[name].setters, *default.names, *default.setters)
            move = MovedDefault(name, older[name].value, default.value)
            moves[name] = move, _option_names(styles, setters)
    return DefaultMoves(tuple(sorted(moves.values(), key=operator.itemgetter(0))), styles)


def moved_defaults(
    files: OptionFiles, runtime: BackendRuntime, before: str, after: str, args: Iterable[str]
) -> tuple[MovedDefault, ...]:
    """The moved defaults of the options that a command line leaves out; of many command lines one asks default_moves.

    Raises UnreadableList.
    """
    return default_moves(files, runtime, before, after).beside(args)


def _option_names(styles: Iterable[Dialect], tokens: Iterable[str]) -> frozenset[str]:
    """The options that tokens name in one of the dialects, without their keys."""
    names = ((style.name(token), "." if style.dotted else "\0") for token in tokens for style in styles)
    return frozenset([name.partition(dot)[0] for name, dot in names if name])


def _parse_defaults(file: OptionFile, path: str, position: int) -> dict[str, OptionDefault]:
    """The defaults at a position of the file's versions by every name. Raises UnreadableList."""
    indexes = {known: i for i, known in enumerate(file.versions)}
    defaults = {}
    for line in file.lines:
        spelled, _, rest = line.partition(" ")
        value, _, version_range = rest.rpartition(" ")
        if not value or ".." not in version_range or spelled[0] != "-":
            raise UnreadableList(f"{path}: '{line[:60]}' is not '--name[,-n][/--no-name] VALUE since..until'")
        first, last = parse_range(version_range, path, indexes)
        if first <= position < last:
            names, _, setters = spelled.partition("/")
            default = OptionDefault(
                tuple(names.split(",")), tuple(filter(None, setters.split(","))), AT_START if value == _OPEN else value
            )
            defaults.update(dict.fromkeys(default.names, default))
    return defaults
