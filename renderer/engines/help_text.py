"""The options that an engine's own help names: what `--help` prints, read line by line.

Four forms, told apart by the style of the engine's parser: argparse (of Python 3.11 to 3.13, at any width), clap,
click, and that of an engine whose entries begin at the first column (`exact`). A description may have lines that begin
with a name: they stand further to the right. A help has no types, and not every option: what it leaves out, this does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

MAX_BYTES = 1 << 20  # of a help text; those of the engines have at most a fifth of it
_MAX_NAME = 100
# Colours and other orders to a terminal, then all that is no text. Of an order that has no end its first characters go.
_ORDERS = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,256}(?:\x07|\x1b\\)?|[@-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_NAME = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9_.-]*")
_COLUMNS = {"argparse": (2,), "click": (2,), "clap": (2, 6), "exact": (0,)}  # at which entries begin, by style
_OPENING, _CLOSING = "[{(<", "]})>"
_WORD = re.compile(r"[A-Z][A-Z0-9_]*")  # what stands for a value
_VALUE = re.compile(r"[^\s@=~^*{}#,][^\s@{},]*")  # that a list of options can hold
_ALTERNATIVES = re.compile(r"[\[{<(](\w[\w.-]*(?:\|[\w.-]+)+)[\]}>)]")
_CLAP_VALUES = "[possible values: "
_CLAP_LIST, _CLAP_ITEM = "Possible values:", re.compile(r"- ([\w.-]+)(?::|$)")
_MANY = " ...]"
_OPPOSITES = (("--no-", "--"), ("--disable-", "--enable-"), ("--enable-", "--disable-"))
_AFTER_COMMA = re.compile(r", {2,}(?=-)")  # some write more than one blank between two spellings


class HelpOption(Struct, frozen=True):
    """One option, as a help names it; spellings that switch it off are another one."""

    names: tuple[str, ...]  # in the order of the help
    arity: str  # how many values it takes: a number, `?`, `+` or `*`
    values: tuple[str, ...] = ()  # that it takes; () where the help does not tell
    is_open: bool = False  # it may take other values too
    description: str = ""  # what stands beside it, in one line


class HelpText(Struct, frozen=True):
    """What a help says."""

    options: tuple[HelpOption, ...]
    usage: str  # its first lines, in one
    unexplained: tuple[str, ...]  # options of the usage without an entry: the text was cut


def plain(text: str) -> str:
    """A text without colours and control characters, with `\\n` at the end of its lines."""
    lines = _ORDERS.sub("", text).replace("\r\n", "\n").replace("\r", "\n").expandtabs(8)
    return _CONTROLS.sub("", lines)


def read_help(text: str, style: str) -> HelpText:
    """What a help says. `style`: of the engine's parser, as `options.style` of its preset has it."""
    lines = plain(text).split("\n")
    usage = _usage(lines)
    options, known = list[HelpOption](), set[str]()
    for header, description in _entries(lines, style):
        for option in _read(header, description, style):
            if names := tuple([name for name in option.names if name not in known]):  # a parser takes the first
                options.append(replace(option, names=names))
                known.update(names)
    in_usage = dict.fromkeys(re.findall(r"(?:\[|\| )(--[A-Za-z0-9][\w-]*)", usage)) if style == "argparse" else ()
    return HelpText(tuple(options), usage, tuple([name for name in in_usage if name not in known]))


def _usage(lines: Sequence[str]) -> str:
    """The first paragraph that says how the program is called, in one line; '' without one."""
    start = next((i for i, line in enumerate(lines) if line[:1].strip() and "usage:" in line[:40].lower()), None)
    if start is None:
        return ""
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].strip()), len(lines))
    return " ".join(" ".join(lines[start:end]).split())


def _entries(lines: Sequence[str], style: str) -> Iterator[tuple[str, list[str]]]:
    """Each entry: what stands before its description, and the lines of that."""
    columns = _COLUMNS.get(style, (2,))
    header, description = "", list[str]()
    in_words = was_heading = False  # in the words that stand between a heading and the entries
    for line in lines:
        bare = line.strip()
        column = len(line) - len(line.lstrip(" "))
        in_words = bool(bare) and (in_words or (was_heading and column > 0 and bare[0] != "-"))
        was_heading = column == 0 < columns[0] and bare[-1:] == ":"
        if bare[:1] == "-" and column in columns and not in_words and _NAME.match(bare):
            if header:
                yield header, description
            header, _, beside = _AFTER_COMMA.sub(", ", bare).partition("  ")
            description = [beside.strip()]
        elif header and bare and column == 0 < columns[0]:  # the next heading
            yield header, description
            header = ""
        elif header:
            description.append(bare)
    if header:
        yield header, description


def _read(header: str, description: Sequence[str], style: str) -> Iterator[HelpOption]:
    """The option of an entry, and another one of the spellings that switch it off; none where it is no entry."""
    spellings = list(_spellings(header))
    names = [name for name, _ in spellings]
    form = next((form for _, form in reversed(spellings) if form), "")
    if not names or max(map(len, names)) > _MAX_NAME or any(_NAME.fullmatch(name) is None for name in names):
        return
    arity, element = _COUNTS.get(style, _argparse_count)(form)
    values, is_open = _values(element, description, style) if arity != "0" else ((), False)
    words = " ".join(filter(None, description))
    off = dict.fromkeys(_switched_off(names, style) if arity == "0" or style == "exact" else ())
    for group in ([name for name in names if name not in off], off):
        if group:
            yield HelpOption(tuple(group), arity, values, is_open, words)


def _spellings(header: str) -> Iterator[tuple[str, str]]:
    """Each spelling in `-x X, --long X` with what stands behind it. A click program writes `--on / --off`."""
    start = depth = 0
    for i, letter in enumerate(header):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        ends = header.startswith((", -", " / -"), i) and depth <= 0
        if ends:
            yield _spelling(header[start:i])
            start, depth = header.index("-", i), 0
    yield _spelling(header[start:])


def _spelling(text: str) -> tuple[str, str]:
    """A spelling, and what stands behind it."""
    word, _, form = text.strip().partition(" ")
    name, equals, rest = word.partition("=")
    if equals and name[-1:] == "[":  # of clap: the value may be left out
        return name[:-1], f"[{rest}"
    return name, f"{rest} {form}".strip()


def _switched_off(names: Sequence[str], style: str) -> list[str]:
    """Those names of an entry that mean "no"."""
    if style == "exact":  # all from the first -n… behind a long name
        if names[0].startswith("--no-") or not any(name.startswith("--no-") for name in names):
            return []
        long = next(i for i, name in enumerate(names) if name.startswith("--"))
        return list(names[next(i for i in range(long, len(names)) if names[i].startswith(("-n", "--no-"))) :])
    seen, off = set[str](), []
    for name in names:
        opposites = {name.replace(begin, other, 1) for begin, other in _OPPOSITES if name.startswith(begin)}
        if not seen.isdisjoint(opposites):
            off.append(name)
        seen.add(name)
    return off


# --- how many values --------------------------------------------------------------------------------------------------


def _argparse_count(form: str) -> tuple[str, str]:
    """How many values follow, and how one of them is written: `X`, `[X]`, `[X ...]`, `X [X ...]`, `X X`. What stands
    for a value may have blanks, and be a list in brackets.
    """
    if not form:
        return "0", ""
    if form == "...":
        return "*", ""
    if form.endswith(_MANY):
        length = (len(form) - len(_MANY) - 2) // 2
        if form[:length] == form[length + 2 : -len(_MANY)] and form[length : length + 2] == " [":
            return "+", form[:length]
        if form[0] == "[":
            return "*", form[1 : -len(_MANY)]
    if form[0] == "[" and form[-1] == "]" and form[1:2] not in ("'", '"') and "', '" not in form:
        return "?", form[1:-1]
    words = form.split(" ")
    for count in range(min(len(words), _MOST_VALUES), 1, -1):  # the same `count` times
        if len(words) % count == 0:
            size = len(words) // count
            if words == words[:size] * count:
                return str(count), " ".join(words[:size])
    if 1 < len(words) <= _MOST_VALUES and all(map(_WORD.fullmatch, words)):
        return str(len(words)), ""
    return "1", form


_MOST_VALUES = 9


def _clap_count(form: str) -> tuple[str, str]:
    """The same of `<X>`, `[<X>]`, `<X>...`, `[<X>...]`, `<X> <Y>`."""
    if not form:
        return "0", ""
    many, optional = "..." in form, form[0] == "["
    if many or optional:
        return ("*" if optional else "+") if many else "?", ""
    return str(max(1, form.count("<"))), ""


def _click_count(form: str) -> tuple[str, str]:
    """The same of `TEXT`, `[a|b]`, `INTEGER RANGE`, `<TEXT INTEGER>...`."""
    if form.endswith(">...") and form[0] == "<":
        return str(len(form[1:-4].split())), ""
    return ("1", form) if form else ("0", "")


def _exact_count(form: str) -> tuple[str, str]:
    """The same of `N`, `[a|b]`, `FIRST SECOND`."""
    words = form.split()
    if len(words) == 2 and all(map(_WORD.fullmatch, words)):
        return "2", ""
    return ("1", form) if form else ("0", "")


_COUNTS = {"argparse": _argparse_count, "clap": _clap_count, "click": _click_count, "exact": _exact_count}


# --- which values -----------------------------------------------------------------------------------------------------


def _values(element: str, description: Sequence[str], style: str) -> tuple[tuple[str, ...], bool]:
    """The values that an option takes, and whether it may take others too."""
    if style == "clap":
        return _listable(_clap_values(description)), False
    if style == "argparse":
        inner, brace, behind = element[1:].partition("}")
        return (_listable(inner.split(",")), behind != "") if element[:1] == "{" and brace else ((), False)
    match = _ALTERNATIVES.fullmatch(element)
    # What a hand has written beside the option may leave out values.
    return (_listable(match[1].split("|")), style != "click") if match else ((), False)


def _clap_values(description: Sequence[str]) -> list[str]:
    """The values of `[possible values: a, b]`, or of a list with a line for each."""
    words = " ".join(description)
    if (start := words.find(_CLAP_VALUES)) >= 0:
        return words[start + len(_CLAP_VALUES) :].partition("]")[0].split(", ")
    if _CLAP_LIST not in description:
        return []
    items = description[list(description).index(_CLAP_LIST) + 1 :]
    return [match[1] for match in map(_CLAP_ITEM.match, items) if match]


def _listable(values: Sequence[str]) -> tuple[str, ...]:
    """The values; none where a list of options cannot hold one of them, or where all are numbers of a range."""
    fits = all(_VALUE.fullmatch(value) for value in values)
    return tuple(dict.fromkeys(values)) if fits and not all(value == "None" for value in values) else ()
