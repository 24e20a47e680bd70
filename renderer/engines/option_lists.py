"""The options that a version of an engine is known to have, by its option list; and the order of versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import BackendRuntime, OptionFile, OptionFiles, UnreadableList
from renderer.engines.version_order import version_key

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec, HelpSpec

ANY_CASE: Final = "^"  # stands among values whose letters may be of another case
OTHERS: Final = "*"  # stands among values where the option may take others too
VERSION: Final = re.compile(r"[a-z]?\d+(\.\d+)*((\.?(post|dev)|rc)\d+)*")  # in file names and `versions` lines
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+(\.\d+)?(\.post\d+)?")  # and no candidate
NO_LIST: Final = "none"  # what `options.list` says where there is meant to be no list

# The form of a line of a list of options; scripts/make_options.py says what it means.
_FORM = "--name[,-n] ARITY [int|float|json|object|map|count|kv][?][bounds] [repeat] [{choices}] [since..until]"
# The same without the range of versions.
_LINE = re.compile(
    r"(-[^\s,]+(?:,-[^\s,]+)*)\s+([?*+]|[0-9]{1,2})"
    r"(?:\s+(int|float|json|object|map|count|kv)(\?)?((?:[<>]=?-?[0-9.]+){0,2}))?(\s+repeat)?(?:\s+\{([^\s{}]+)\})?"
)
_BOUND = re.compile(r"([<>]=?)(-?[0-9.]+)")


class Choices(Struct, frozen=True):
    """The values that an option takes in one version; without `values` nobody knows them."""

    values: tuple[str, ...] = ()
    synonyms: frozenset[str] = frozenset()  # other spellings of them
    earlier: Mapping[str, str] = {}  # values of older versions, and the version that removed each, as `in 1.2`
    later: Mapping[str, str] = {}  # values of newer versions, and the version that added each, as `by 1.2`
    any_case: bool = False  # their letters may be of another case
    is_open: bool = False  # the option may take others too
    unnamed: frozenset[str] = frozenset()  # values of an older version that the help of this one does not name

    def __contains__(self, value: object) -> bool:
        if value in self.values or value in self.synonyms:
            return True
        return self.any_case and isinstance(value, str) and value.lower() in map(str.lower, self.values)


_NO_CHOICES = Choices()


class Option(Struct, frozen=True):
    """One option of an engine."""

    name: str  # its first spelling
    arity: str  # how many values it takes: a number, `?`, `+` or `*`
    repeats: bool  # given again, it adds a value
    choices: Choices = _NO_CHOICES
    type: str = ""  # how the engine reads its value: int, float, json, object or count; '' for a text
    takes_none: bool = False  # `None` too
    bounds: tuple[tuple[str, float], ...] = ()  # of a number, as `(">=", 1)`
    assumed: bool = False  # type and values are those of an older version, or may not be all
    unnamed: bool = False  # an older version has it, and the help of this one does not name it
    hidden: bool = False  # the help of no version names it
    proven: str = ""  # the type that the help of this version tells itself; '' where it tells none


class OptionList(Struct, frozen=True):
    """The options of one version."""

    version: str
    options: Mapping[str, Option]  # by every spelling
    removed: Mapping[str, str]  # options that the server refuses, and their replacements, '' for none
    ended: Mapping[str, str] = {}  # options of older versions, and the version that removed each, as `in 1.2`
    later: Mapping[str, str] = {}  # options of newer versions, and the version that added each, as `by 1.2`
    is_learnt: bool = False  # it is from the help of that version
    older: str = ""  # where it is: the version that tells what a help does not, '' without one


def list_path(engine_spec: EngineSpec) -> str:
    """The file that lists the options of a `spec.engine`; '' without one, which `list: none` says outright."""
    path = (engine_spec.get("options") or {}).get("list", "")
    return "" if path == NO_LIST else path


def list_stem(path: str) -> str:
    """The path of an engine's list without the version, and without `.txt`."""
    bare = path.removesuffix(".txt")
    stem, _, version = bare.rpartition("-")
    return stem if VERSION.fullmatch(version) else bare


def learnt_from(engine_spec: EngineSpec) -> str:
    """The command whose help tells the options of a version without a list; '' where nobody knows it."""
    return ((engine_spec.get("options") or {}).get("help") or {}).get("command", "")


def read_option_list(
    files: OptionFiles, runtime: BackendRuntime, version: str, known_lists: Mapping[str, OptionList | None] = {}
) -> OptionList | None:
    """The options of a version, else of the nearest older listed one; None without any. `known_lists`: by version,
    those that were read before.

    Raises UnreadableList.
    """
    options = (runtime.spec.get("engine") or {}).get("options") or {}
    path = list_path(runtime.spec.get("engine") or {})
    if not path or not version:
        return None
    versions = files.versions(runtime, path)
    nearest = version if version in versions else _nearest_version(versions, version)
    if not nearest or nearest in known_lists:
        return known_lists.get(nearest)
    name = versions[nearest]
    file = files.file(runtime, name) or OptionFile(())
    if file.learnt:
        older = read_option_list(files, runtime, older_listed(files, runtime, nearest), known_lists)
        return learnt_list(parse_options(file, name, nearest)[0], nearest, older, options.get("help") or {})
    entries, ended, later = parse_options(file, name, nearest)
    removed_path = options.get("removed") if name == path else None
    removed_file = files.file(runtime, removed_path or name.removesuffix(".txt") + ".removed.txt") or OptionFile(())
    removed = {word: instead for word, _, instead in (line.partition(" ") for line in removed_file.lines)}
    names = {word: word.partition("=")[0] for word in removed}  # some are about one value
    removed = {word: instead for word, instead in removed.items() if names[word] in ended or names[word] not in later}
    return OptionList(nearest, entries, {**removed, **(options.get("renamed") or {})}, ended, later)


def options_of_all_versions(files: OptionFiles, runtime: BackendRuntime) -> dict[str, Option]:
    """The options that any listed version of an engine has, by every spelling, each with all values that one of them
    takes. Raises UnreadableList.
    """
    path = list_path(runtime.spec.get("engine") or {})
    options: dict[str, Option] = {}
    for name in dict.fromkeys(files.versions(runtime, path).values()) if path else ():
        lines = (files.file(runtime, name) or OptionFile(())).lines
        choices = {
            taker: tuple(
                word.lstrip("~") for word in words.split() if word[0] != "@" and word not in (ANY_CASE, OTHERS)
            )
            for takers, _, words in (line[1:].partition(" ") for line in lines if line[0] == "=")
            for taker in takers.split(",")
        }
        for line in lines:
            entry = _LINE.match(line) if line[0] != "=" else None
            if entry is None:
                continue
            spellings, arity, *_, values = entry.groups()
            for spelling in (names := spellings.split(",")):
                known = options.get(spelling)
                choice_words = (*(values.split(",") if values else ()), *choices.get(names[0], ()))
                if known:  # in other versions it may be another one
                    choice_words = (
                        (*known.choices.values, *choice_words) if known.choices.values and choice_words else ()
                    )
                    arity = known.arity if known.arity == arity else "*"
                options[spelling] = Option(names[0], arity, repeats=True, choices=Choices(choice_words))
    return options


def known_versions(files: OptionFiles, runtime: BackendRuntime) -> list[str]:
    """The versions of an engine whose options are listed, the oldest first. Raises UnreadableList."""
    path = list_path(runtime.spec.get("engine") or {})
    return sorted(files.versions(runtime, path), key=version_key) if path else []


def released_around(files: OptionFiles, runtime: BackendRuntime, version: str) -> tuple[str, str] | None:
    """The nearest releases below and above a version that is none; None for a release, for candidates, and where not
    all releases are listed. Raises UnreadableList.
    """
    file = files.file(runtime, f"{list_stem(list_path(runtime.spec.get('engine') or {}))}.txt")
    if file is None or file.sampled or not _RELEASE.fullmatch(version):
        return None
    key, keys = version_key(version), {version_key(release): release for release in file.versions}
    below, above = [other for other in keys if other < key], [other for other in keys if other > key]
    return (keys[max(below)], keys[min(above)]) if key not in keys and below and above else None


def completed_version(files: OptionFiles, runtime: BackendRuntime, tag: str) -> str:
    """The newest listed version that begins with a tag of fewer numbers, 0.33.0 for v0.33; '' for other tags."""
    begin = f"{tag.removeprefix('v')}."
    return next((version for version in reversed(known_versions(files, runtime)) if version.startswith(begin)), "")


def completed_tag(files: OptionFiles, runtime: BackendRuntime, tag: str) -> str:
    """The tag of that version, as the runtime's own tag is written; '' likewise."""
    version = completed_version(files, runtime, tag)
    return f"{'v' if runtime.spec['version'].startswith('v') else ''}{version}" if version else ""


def older_listed(files: OptionFiles, runtime: BackendRuntime, version: str) -> str:
    """The nearest older version with a list that was not learnt; '' without one. Raises UnreadableList."""
    path = list_path(runtime.spec.get("engine") or {})
    own = [known for known, name in files.versions(runtime, path).items() if not _is_learnt(files, runtime, name)]
    return _nearest_version(own, version)


def is_listed(files: OptionFiles, runtime: BackendRuntime, version: str) -> bool:
    """Whether a list that was not learnt has the version. Raises UnreadableList."""
    name = files.versions(runtime, list_path(runtime.spec.get("engine") or {})).get(version)
    return name is not None and not _is_learnt(files, runtime, name)


def _is_learnt(files: OptionFiles, runtime: BackendRuntime, name: str) -> bool:
    """Whether the list at a path is from the help of its version. Raises UnreadableList."""
    return bool((files.file(runtime, name) or OptionFile(())).learnt)


def learnt_list(
    entries: Mapping[str, Option], version: str, older: OptionList | None, help_spec: HelpSpec
) -> OptionList:
    """The options that the help of a version names, with what only an older version's list tells of them: types, what
    repeats, further values. Options of that version that the help leaves out are in it, marked as such.
    """
    older = older or OptionList("", {}, {})
    known: dict[str, Option] = {}  # by the first name of an option, what an older list has of one of its spellings
    for name, option in entries.items():
        if name in older.options:
            known.setdefault(option.name, older.options[name])
    merged = {option.name: _with_older(option, known.get(option.name)) for option in entries.values()}
    options = {name: merged[option.name] for name, option in entries.items()}
    rest: dict[tuple[str, bool], Option] = {}
    for name, option in older.options.items():
        if name not in options:
            hidden = is_hidden(help_spec, name)
            if (option.name, hidden) not in rest:
                rest[option.name, hidden] = replace(option, assumed=True, unnamed=True, hidden=hidden)
            options[name] = rest[option.name, hidden]
    ended = {name: since for name, since in older.ended.items() if name not in options}
    later = {name: since for name, since in older.later.items() if name not in options}
    removed = {word: instead for word, instead in older.removed.items() if word not in options}
    return OptionList(version, options, removed, ended, later, is_learnt=True, older=older.version)


def is_hidden(help_spec: HelpSpec, name: str) -> bool:
    """Whether the help of no version names an option."""
    return any(fnmatchcase(name, pattern) for pattern in help_spec.get("hidden") or ())


def _with_older(option: Option, older: Option | None) -> Option:
    """An option of a help with what an older list tells of it."""
    choices = option.choices
    if older is None or older.arity != option.arity:
        return replace(option, repeats=True, takes_none=True, assumed=choices.is_open, proven=option.type)
    is_other = option.type not in ("", older.type) and (option.type, older.type) != ("json", "object")
    known = older.choices
    if choices.values and not choices.is_open:
        unnamed = frozenset({*known.values, *known.synonyms}) - {*choices.values}
        choices = replace(known, values=choices.values, unnamed=unnamed, synonyms=frozenset())
    elif known.values:
        choices = replace(known, values=tuple(dict.fromkeys([*choices.values, *known.values])))
    is_exact = bool(option.choices.values) and not option.choices.is_open and not older.type
    return replace(
        option,
        repeats=older.repeats,
        choices=choices,
        type=option.type if is_other else older.type,
        takes_none=is_other or older.takes_none,
        bounds=option.bounds if is_other else older.bounds,
        assumed=not is_exact,
        proven=option.type,
    )


def _nearest_version(versions: Iterable[str], version: str) -> str:
    """The newest of the versions that is not newer than this one; '' when all are newer."""
    bound, known = version_key(version), {version_key(text): text for text in versions}
    return known.get(max((key for key in known if key <= bound), default=()), "")


def parse_options(
    file: OptionFile, path: str, version: str
) -> tuple[dict[str, Option], dict[str, str], dict[str, str]]:
    """The options of a version by every spelling; those that ended before it, and those that came later, each with that
    version. Raises UnreadableList.
    """
    options: dict[str, Option] = {}
    ended: dict[str, int] = {}
    later: dict[str, int] = {}
    indexes = {known: i for i, known in enumerate(file.versions)}
    position = indexes.get(version, 0)
    releases = [f"{'by' if file.sampled else 'in'} {known}" for known in file.versions]
    choices: dict[str, Choices] = {}
    for line in file.lines:
        if line[0] == "=":
            takers, _, words = line[1:].partition(" ")
            choices.update(dict.fromkeys(takers.split(","), _parse_choices(words, path, indexes, position, releases)))
    for line in file.lines:
        if line[0] == "=":
            continue
        text, _, version_range = line.rpartition(" ") if indexes and ".." in line else (line, "", "")
        if version_range and version_range[0] == "{":  # a value with dots
            text, version_range = line, ""
        if version_range:
            first, last = parse_range(version_range, path, indexes)
            if not first <= position < last:
                for name in text.partition(" ")[0].split(","):
                    if position < first:
                        later[name] = min(first, later.get(name, first))
                    else:
                        ended[name] = max(last, ended.get(name, 0))
                continue
        if (entry := _LINE.fullmatch(text.rstrip())) is None:
            raise UnreadableList(f"{path}: '{line[:60]}' is not '{_FORM}'")
        spellings, arity, value_type, optional, bounds, repeats, values = entry.groups()
        names = spellings.split(",")
        option = Option(
            names[0],
            arity,
            bool(repeats),
            choices=Choices(tuple(values.split(","))) if values else choices.get(names[0], _NO_CHOICES),
            type=value_type or "",
            takes_none=bool(optional),
            bounds=tuple([(sign, float(number)) for sign, number in _BOUND.findall(bounds)]) if bounds else (),
        )
        for name in names:
            options[name] = option
    return options, {name: releases[i] for name, i in ended.items()}, {name: releases[i] for name, i in later.items()}


def parse_range(text: str, path: str, indexes: Mapping[str, int]) -> tuple[int, int]:
    """The positions of the first version of a range and of the first behind it. Raises UnreadableList."""
    since, _, until = text.partition("..")
    try:
        return indexes[since] if since else 0, indexes[until] if until else len(indexes)
    except KeyError as error:
        raise UnreadableList(f"{path}: '{text[:60]}': {error} is not one of its versions") from None


def _parse_choices(
    words: str, path: str, indexes: Mapping[str, int], position: int, releases: Sequence[str]
) -> Choices:
    """The values of a line of values at a position. `releases`: by position, as messages have them.

    Raises UnreadableList.
    """
    of_all_versions, *parts = f" {words}".split(" @")
    texts = of_all_versions.split()
    earlier: dict[str, int] = {}
    later: dict[str, int] = {}
    for part in parts:
        version_range, _, words = part.partition(" ")
        first, last = parse_range(version_range, path, indexes)
        values = words.split()
        if first <= position < last:
            texts += values
        elif position < first:
            later.update({value: min(first, later.get(value, first)) for value in values if value != ANY_CASE})
        else:
            earlier.update({value: max(last, earlier.get(value, 0)) for value in values if value != ANY_CASE})
    shown = tuple([text for text in texts if text[0] != "~" and text not in (ANY_CASE, OTHERS)])
    synonyms = frozenset([text[1:] for text in texts if text[0] == "~"])
    return Choices(
        shown,
        synonyms,
        earlier={value: releases[i] for value, i in earlier.items()},
        later={value: releases[i] for value, i in later.items()},
        any_case=ANY_CASE in texts,
        is_open=OTHERS in texts,
    )
