"""An engine's command line: how it is read, whose option is whose, and what an option given again does.

How a line is read is the preset's data (`engine.options`); without it arguments are just appended
(docs/design/presets.md#command-lines).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from renderer import patterns
from renderer.api import BackendRuntime, OptionFile, OptionFiles, UnreadableList
from renderer.diagnostics import Collector, Origin
from renderer.resolve.layers import Position

if TYPE_CHECKING:
    from renderer.input_types import OptionsSpec

_FORM = "--name[,-n] ARITY [repeat] [{choices}] [since..until]"  # of a line of a list of options
# The same, less the range of versions.
_LINE = re.compile(r"(-[^\s,]+(?:,-[^\s,]+)*)\s+([?*+]|[0-9]{1,2})(\s+repeat)?(?:\s+\{([^\s{}]+)\})?")
_NUMBER = re.compile(r"^-\d+$|^-\d*\.\d+$")  # what argparse takes for a value though it begins with a dash


class Option(Struct, frozen=True):
    """One option of an engine: its first spelling, and how many values it takes: a number, `?`, `+` or `*`.

    `repeats`: given again it adds to what was there; `choices`: the values that it takes, where the list says them.
    """

    name: str
    arity: str
    repeats: bool
    choices: tuple[str, ...] = ()


class ReservedOption(Struct, frozen=True):
    """What is not for users to set: why, or what to do instead. `values`: globs, only such a value is meant; `warns`:
    it may be wanted.
    """

    why: str
    values: tuple[str, ...] = ()
    warns: bool = False


class OptionList(Struct, frozen=True):
    """The options of one version, by every spelling. `removed`: what now stops the server, and what to use instead ('':
    nothing); `ended`, `later`: options of other versions, and the version that has them no longer or first, as `in 1.2`
    or `by 1.2`.
    """

    version: str
    options: Mapping[str, Option]
    removed: Mapping[str, str]
    ended: Mapping[str, str] = {}
    later: Mapping[str, str] = {}


class LineForm(Struct, frozen=True, eq=False):
    """What becomes of lines with the same options in the same places. `pick` takes the arguments that are kept from
    those of all layers, with `more` behind them; `positions`: where each of them stands; `names`: the options that the
    line has; `sound`: a memory of values with which nothing is wrong.
    """

    pick: Callable[[Sequence[str]], tuple[str, ...]]
    more: list[str]
    positions: list[Position]
    names: frozenset[str]
    sound: set[tuple[Any, ...]]


class Dialect(Struct, frozen=True, eq=False):
    """How options are read. `kind`: argparse, exact, clap, click or none; `spelled`: other spellings and the names
    they stand for; `known`: the names (for unique prefixes); `names`, `lines`: memories.
    """

    kind: str
    underscores: bool
    dotted: bool
    duplicates: str
    splits: bool
    spelled: Mapping[str, str]
    groups: Mapping[str, frozenset[str]]
    known: frozenset[str]
    names: dict[str, str]
    lines: dict[tuple[Any, ...], LineForm]  # by the groups and shapes of layers

    @property
    def read(self) -> bool:
        """Whether options can be told from values."""
        return self.kind != "none"

    def name(self, token: str) -> str:
        """The option that a token such as `--port=80` or `-tp` names, spelt as the preset spells it; '' for a value."""
        if token[:1] != "-":
            return ""
        known = self.names.get(token)
        if known is None:
            known = self.names[token] = self._named(token)
        return known

    def head(self, token: str) -> tuple[str, str]:
        """The option of a token as it is compared, and what stands behind its dot."""
        name = token.partition("=")[0] if self.kind != "exact" else token
        head, dot, tail = name.partition(".") if self.dotted else (name, "", "")
        if self.underscores and head.startswith("--"):
            head = head.replace("_", "-")
        return head, dot + tail

    def matches(self, head: str) -> list[str]:
        """The names that it may stand for: one, several when it is an ambiguous prefix, or none."""
        if head in self.spelled:
            return [self.spelled[head]]
        if head in self.known:
            return [head]
        if self.kind != "argparse" or not head.startswith("--"):
            return []
        longer = {option for option in self.known if option.startswith(head)}
        longer |= {name for spelling, name in self.spelled.items() if spelling.startswith(head)}
        return sorted(longer)

    def is_option(self, token: str) -> bool:
        """Whether a token is an option at all, and no value such as -1."""
        if len(token) < 2 or token[0] != "-":
            return False
        if self.kind == "argparse" and " " in token.partition("=")[0]:
            return False
        # Where a dot makes a key of JSON, -0.5 is no number either.
        return not _NUMBER.match(token) or (self.dotted and "." in token)

    def _named(self, token: str) -> str:
        if not self.is_option(token):
            return ""
        head, tail = self.head(token)
        matches = self.matches(head)
        return (matches[0] if len(matches) == 1 else head) + tail.replace("-", "_")


def last_number(style: Dialect, layers: Iterable[Sequence[str]], option: str) -> int | None:
    """The last whole number that an option is given in these arguments, the strongest author's at the end."""
    number = None
    for args in layers:
        for i, token in enumerate(args):
            if style.name(token) == option and (value := number_of(args, i)) is not None:
                number = value
    return number


def number_of(args: Sequence[str], i: int) -> int | None:
    """The whole number that the option at an index is given."""
    _, glued, value = args[i].partition("=")
    value = value if glued else "".join(args[i + 1 : i + 2])
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


def is_number(token: str) -> bool:
    """Whether a token is a value though it begins with a dash."""
    return bool(_NUMBER.match(token))


def style(options: OptionsSpec, configs: Iterable[Sequence[str]], listed: OptionList | None = None) -> Dialect:
    """The style of a preset's `engine.options`; `listed`: the options of its version."""
    groups = options.get("groups") or {}
    spelled = {spelling: option.name for spelling, option in listed.options.items()} if listed else {}
    spelled.update(options.get("aliases") or {})
    # The preset's own words win: what it calls an option is the option's name.
    options_given = (
        token.partition("=")[0].partition(".")[0] for args in configs for token in args if token.startswith("-")
    )
    used = dict.fromkeys((*options_given, *(member for members in groups.values() for member in members)))
    mine = {spelled[word]: word for word in reversed(used) if word in spelled}  # of two spellings the first
    dotted = bool(options.get("dotted"))
    spelled = {spelling: mine.get(name, name) for spelling, name in spelled.items()}
    spelled.update(options.get("renamed") or {})
    return Dialect(
        kind=options.get("style", "none"),
        underscores=bool(options.get("underscores")),
        dotted=dotted,
        duplicates=options.get("duplicates", "last"),
        splits=bool(options.get("splits")),
        spelled=spelled,
        groups={name: frozenset(spelled.get(member, member) for member in members) for name, members in groups.items()},
        # An alias may stand for one key of an option, which nobody writes as an option of its own.
        known=frozenset(word for word in used if word.startswith("--") and word not in spelled).union(
            name for name in spelled.values() if not (dotted and "." in name)
        ),
        names={},
        lines={},
    )


def listed(
    files: OptionFiles, runtime: BackendRuntime, version: str, read: Mapping[str, OptionList | None] = {}
) -> OptionList | None:
    """The options of a version, of the nearest older one where nobody has listed its own; None without any. `read`:
    those that are read already, by version.

    Raises UnreadableList.
    """
    options = (runtime.spec.get("engine") or {}).get("options") or {}
    path = options.get("list")
    if not path or not version:
        return None
    versions = files.versions(runtime, path)
    nearest = version if version in versions else _nearest(versions, version)
    if not nearest or nearest in read:
        return read.get(nearest)
    name = versions[nearest]
    entries, ended, later = _entries(files.file(runtime, name) or OptionFile(()), name, nearest)
    own = options.get("removed") if name == path else None
    gone = files.file(runtime, own or name.removesuffix(".txt") + ".removed.txt") or OptionFile(())
    removed = {word: instead for word, _, instead in (line.partition(" ") for line in gone.lines)}
    removed = {word: instead for word, instead in removed.items() if word in ended or word not in later}
    return OptionList(nearest, entries, {**removed, **(options.get("renamed") or {})}, ended, later)


def known_versions(files: OptionFiles, runtime: BackendRuntime) -> list[str]:
    """Every version of an engine whose options somebody has listed, the oldest first. Raises UnreadableList."""
    path = ((runtime.spec.get("engine") or {}).get("options") or {}).get("list")
    return sorted(files.versions(runtime, path), key=order) if path else []


def counted(versions: Sequence[str]) -> str:
    """Versions as people say them: how many, the first and the last."""
    return f"{len(versions)} versions, {versions[0]} to {versions[-1]}" if len(versions) > 1 else "".join(versions)


def _nearest(versions: Iterable[str], version: str) -> str:
    """The newest of the versions that are not newer than this one; '' when all are."""
    asked, known = order(version), {order(text): text for text in versions}
    return known.get(max((place for place in known if place <= asked), default=()), "")


def _entries(file: OptionFile, path: str, version: str) -> tuple[dict[str, Option], dict[str, str], dict[str, str]]:
    """The options of a version by every spelling; those that ended before it, and those that came later, each with the
    version that did so. Raises UnreadableList.
    """
    options: dict[str, Option] = {}
    ended: dict[str, int] = {}
    later: dict[str, int] = {}
    place = {known: i for i, known in enumerate(file.versions)}
    position = place.get(version, 0)
    for line in file.lines:
        text, _, span = line.rpartition(" ") if place and ".." in line else (line, "", "")
        if span and span[0] == "{":  # a value with dots
            text, span = line, ""
        if span:
            since, _, until = span.partition("..")
            try:
                first, last = place[since] if since else 0, place[until] if until else len(place)
            except KeyError as error:
                raise UnreadableList(f"{path}: '{line[:60]}': {error} is none of its versions") from None
            if not first <= position < last:
                for name in text.partition(" ")[0].split(","):
                    if position < first:
                        later[name] = min(first, later.get(name, first))
                    else:
                        ended[name] = max(last, ended.get(name, 0))
                continue
        if (entry := _LINE.fullmatch(text.rstrip())) is None:
            raise UnreadableList(f"{path}: '{line[:60]}' is no '{_FORM}'")
        spelled, arity, repeats, choices = entry.groups()
        names = spelled.split(",")
        option = Option(names[0], arity, bool(repeats), tuple(choices.split(",")) if choices else ())
        for name in names:
            options[name] = option
    releases = [f"{'by' if file.sampled else 'in'} {known}" for known in file.versions]
    return options, {name: releases[i] for name, i in ended.items()}, {name: releases[i] for name, i in later.items()}


# What ranks before the version itself, and what behind it: 1.2.dev3, 1.2rc1, 1.2, 1.2.post1, 1.2.1.
_RANKS = {"dev": 0, "rc": 1, "end": 2, "post": 3, "": 4}


def order(version: str) -> tuple[tuple[int, int, str], ...]:
    """Versions in their order: the numbers in them, however long; zeros at the end make no difference."""
    parts: list[tuple[int, int, str]] = []
    for word, digits in [*re.findall(r"(dev|rc|post)?([0-9]+)", version), ("end", "")]:
        while word and parts and parts[-1] == (_RANKS[""], 0, ""):
            parts.pop()
        number = digits.lstrip("0")
        parts.append((_RANKS[word], len(number), number))
    return tuple(parts)


class ArgLayer(Struct, frozen=True):
    """Arguments from one author, and where they stand. `group`: the whole layer goes when a later one has any option of
    that group; `shape`: that of the arguments, where somebody knows it.
    """

    args: Sequence[str]
    origin: Origin
    group: str = ""
    shape: tuple[str, ...] = ()


_Token = tuple[int, str]  # an argument behind its place among those of all layers


def shape(args: Sequence[str]) -> tuple[str, ...]:
    """What of arguments counts where they are merged: values play no part in it."""
    return tuple([token if token[:1] == "-" else "" for token in args])


def merged(style: Dialect, layers: Sequence[ArgLayer]) -> tuple[str, ...]:
    """All layers' arguments in order; an option that a later layer gives again is dropped from the earlier ones."""
    return line(style, layers)[0]


def line(style: Dialect, layers: Sequence[ArgLayer]) -> tuple[tuple[str, ...], LineForm]:
    """The merged arguments, and their form."""
    tokens = list(chain.from_iterable([layer.args for layer in layers]))
    # Lines with the same options in the same places are merged alike.
    line_key = tuple([(layer.group, layer.shape or shape(layer.args)) for layer in layers])
    form = style.lines.get(line_key)
    if form is None:
        form = style.lines[line_key] = _form(style, layers, tokens)
    return form.pick(tokens + form.more), form


def origins(
    style: Dialect, layers: Sequence[ArgLayer], args: Sequence[str], form: LineForm
) -> Iterator[tuple[Origin, list[Origin]]]:
    """Of each merged argument, where it stands, and where all stand that give its option."""
    speakers: dict[str, list[Origin]] = {}
    for layer in layers:
        for i, token in enumerate(layer.args):
            if name := style.name(token):
                speakers.setdefault(name, []).append(layer.origin.at(i))
    name = ""
    for token, position in zip(args, form.positions, strict=True):
        name = style.name(token) or name
        yield layers[position.layer].origin.at(*position.item), speakers.get(name, [])


def _form(style: Dialect, layers: Sequence[ArgLayer], tokens: Sequence[str]) -> LineForm:
    kept: list[_Token] = list(enumerate(tokens))
    positions = [Position(number, (i,)) for number, layer in enumerate(layers) for i in range(len(layer.args))]
    if style.read and sum(bool(layer.args) for layer in layers) > 1:
        rest = iter(kept)
        kept = list(_merged(style, [(layer.group, list(islice(rest, len(layer.args)))) for layer in layers]))
    respelt = [text for place, text in kept if tokens[place] != text]
    behind = iter(range(len(tokens), len(tokens) + len(respelt)))
    picks = [place if tokens[place] == text else next(behind) for place, text in kept]
    names = frozenset(name for _, text in kept if (name := style.name(text)))
    return LineForm(_picking(picks), respelt, [positions[place] for place, _ in kept], names, set())


def _picking(places: Sequence[int]) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """Takes what stands at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda tokens: tuple(tokens[place] for place in places)


def _merged(style: Dialect, layers: Sequence[tuple[str, Sequence[_Token]]]) -> Iterator[_Token]:
    """`layers`: the group of each, and its arguments."""
    kept: list[Sequence[_Token]] = []
    later: set[str] = set()
    keyed: dict[str, str] = {}
    for group, args in reversed(layers):
        if group and later & style.groups.get(group, frozenset()):
            continue
        names = {name for _, token in args if (name := style.name(token))}
        again = {name for name in names if name in later or (style.dotted and name.partition(".")[0] in later)}
        again |= names & keyed.keys()
        left = _without(style, args, again) if again else args
        kept.append(_respelt(style, left, keyed) if keyed else left)
        later |= names
        keyed = {**option_spellings(style, [token for _, token in args]), **keyed} if style.dotted else keyed
    return chain.from_iterable(reversed(kept))


def option_spellings(style: Dialect, args: Sequence[str]) -> dict[str, str]:
    """The options that are given by keys (`--option.key`), and how their last key spells them.

    A parser gathers the keys of each spelling for itself, and the last spelling, or the keys where the option is given
    as a whole too, count alone.
    """
    spellings = {}
    for token in args:
        if token[:1] == "-" and "." in token:
            head, tail = style.head(token)
            if tail and (name := style.name(token)):
                spellings[name.partition(".")[0]] = head
    return spellings


def _respelt(style: Dialect, args: Sequence[_Token], keyed: Mapping[str, str]) -> Sequence[_Token]:
    """The arguments with the keys of each option behind the spelling that a later layer has for it."""
    out = []
    for place, token in args:
        head, tail = style.head(token) if token[:1] == "-" and "." in token else ("", "")
        spelt = keyed.get(style.name(token).partition(".")[0], head) if tail else head
        out.append((place, token if spelt == head else spelt + token[token.index(".") :]))
    return out


def _without(style: Dialect, args: Sequence[_Token], dropped: set[str]) -> list[_Token]:
    """The arguments less the dropped options and the values behind each."""
    out, skipping = [], False
    for place, token in args:
        if name := style.name(token):
            skipping = name in dropped
        if not skipping:
            out.append((place, token))
    return out


def reserved(
    style: Dialect, rules: Mapping[str, ReservedOption], args: Sequence[str], origin: Origin, diagnostics: Collector
) -> None:
    """An error, or a warning, for each option in `args` that is not for users to set; `rules`: by the option's name."""
    for i, token in enumerate(args):
        rule = rules.get(style.name(token))
        if rule is None:
            continue
        glued = "=" in token and style.kind != "exact"
        value = token.partition("=")[2] if glued else "".join(args[i + 1 : i + 2])
        if rule.values and not any(patterns.fits(value.strip("[]").lower(), glob) for glob in rule.values):
            continue
        option = token.partition("=")[0] + (f" {value}" if rule.values else "")
        if rule.warns:
            diagnostics.add("W235", origin.at(i), option=option, why=rule.why)
        else:
            diagnostics.add("E406", origin.at(i), option=option, hint=rule.why)


def validate_owned_env(
    renderer: Mapping[str, str], entries: Sequence[Mapping[str, object]], origin: Origin, diagnostics: Collector
) -> None:
    """An error for each variable that the renderer sets, where an engine is set by its environment."""
    for i, entry in enumerate(entries):
        if (name := str(entry.get("name"))) in renderer:
            diagnostics.add("E406", origin.at(i, "name"), option=name, hint=renderer[name])
