"""Diagnostics, the exceptions that carry them, and their collector."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics.edit import Edit, EditableSource, ReplacingHint, meant_name
from renderer.diagnostics.origin import NamedSource, Origin, dotted
from renderer.diagnostics.wording import Wording
from renderer.text import escapes
from renderer.text.suggestions import Vocabulary

_NUMBER: Final = re.compile("[0-9]+")
_MOST_MEANT: Final = 6  # names that a hint proposes
MAX_PROBLEMS: Final = 1_000  # errors of one object that are told, and warnings and notes likewise


class Diagnostic(Struct, frozen=True, eq=False):
    """A finding, ready to print; sorts by place. Codes that begin with N are notes, which never make a run fail.

    Where it ends and how it is mended are no part of what it says: findings that differ in these alone are equal.
    """

    file: str
    line: int
    column: int
    code: str
    field: str
    message: str
    hint: str = ""
    warning: bool = False  # legal, but likely wrong
    document: int = 0  # the index in its file of the object that it is about
    end_line: int = 0  # of the first character behind the key or value; 0 where it is not known
    end_column: int = 0
    edits: tuple[Edit, ...] = ()  # what the hint says, where that is exactly one replacement

    @property
    def _said(self) -> tuple[object, ...]:
        """What it says and where."""
        return (
            self.file,
            self.line,
            self.column,
            self.code,
            self.field,
            self.message,
            self.hint,
            self.warning,
            self.document,
        )

    def __eq__(self, other: object) -> bool:
        return self._said == other._said if isinstance(other, Diagnostic) else NotImplemented

    def __lt__(self, other: Diagnostic) -> bool:
        return self._said < other._said

    def __hash__(self) -> int:
        return hash(self._said)

    def moved(self, file: str, line: int, column: int) -> Diagnostic:
        """The same at another place, which nobody knows how to edit."""
        return replace(self, file=file, line=line, column=column, end_line=0, end_column=0, edits=())

    def __str__(self) -> str:
        hint = f"\n    hint: {escapes.line(self.hint)}" if self.hint else ""
        kind = "" if self.severity == "error" else f"{self.severity}: "
        return f"{escapes.line(self.place)}: {kind}{escapes.line(self.text)} [{self.code}]{hint}"

    @property
    def place(self) -> str:
        """`file:line:column`, as far as they are known; not escaped."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    @property
    def text(self) -> str:
        """The message, after the field if there is one; not escaped."""
        return f"{self.field}: {self.message}" if self.field else self.message

    @property
    def severity(self) -> str:
        """error, warning or note."""
        return "note" if self.code.startswith("N") else "warning" if self.warning else "error"

    def forbids(self, strict: bool = False) -> bool:
        """Whether it makes the run fail: an error, or with `strict` also a warning."""
        return not self.code.startswith("N") and (strict or not self.warning)


class RenderError(Exception):
    """The problems of a stage, sorted and without duplicates."""

    def __init__(self, problems: Iterable[Diagnostic]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[RenderError], tuple[list[Diagnostic]]]:
        return RenderError, (self.problems,)


def make_diagnostic(code: str, origin: Origin, **words: object) -> Diagnostic:
    """The diagnostic `code` at `origin`; W codes are warnings. `words` fill the wording (KeyError when missing)."""
    from renderer.diagnostics.wordings import WORDINGS  # a quiet run needs none of them

    wording = WORDINGS[code]
    source, path = origin.behind
    end, edits = (0, 0), tuple[Edit, ...]()
    if isinstance(source, EditableSource):
        end = source.locate_end(path, key=origin.key)
        if replacement := _replacement(wording, words):
            edits = source.edits(path, *replacement, key=origin.key)
    return Diagnostic(
        source.name,
        *source.locate(path, key=origin.key),
        code,
        dotted(path),
        message=escapes.line(wording.message.format(**words)),
        hint=escapes.line(wording.hint.format(**words)),
        warning=code.startswith("W"),
        document=getattr(source, "index", 0),
        end_line=end[0],
        end_column=end[1],
        edits=edits,
    )


def _replacement(wording: Wording, words: Mapping[str, object]) -> tuple[str, str | float] | None:
    """The text that the hint says to replace, and by which; None where it says something else, or more."""
    if wording.replaces:
        old, new = (words.get(part, part) for part in wording.replaces)
        return str(old), new if isinstance(new, str | int | float) else str(new)
    for name, word in words.items():
        if isinstance(word, ReplacingHint) and wording.hint in (f"{{{name}}}", f"write {{{name}}}"):
            return word.old, word.new
    return None


def read_error(name: str, error: OSError) -> Diagnostic:
    """The diagnostic for a file `name` that cannot be read."""
    return make_diagnostic("E120", Origin(NamedSource(name)), what=error.strerror or error)


def told_problems(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The problems sorted by place, each once. Of an object at most MAX_PROBLEMS errors and as many warnings and notes
    are among them; where there are more, the last says so.
    """
    ordered = sorted(set(problems))
    if len(ordered) <= MAX_PROBLEMS:
        return ordered
    bounded = {(problem.file, problem.document, True) for problem in ordered if problem.code == "E116"}
    counts: dict[tuple[str, int, bool], int] = {}
    bounded_problems: list[Diagnostic] = []
    for problem in ordered:
        key = problem.file, problem.document, problem.severity == "error"
        counts[key] = count = counts.get(key, 0) + (problem.code != "E116")
        if count <= MAX_PROBLEMS:
            bounded_problems.append(problem)
        elif key not in bounded:
            bounded.add(key)
            bounded_problems.append(_bound_finding(problem))
    return bounded_problems


def _bound_finding(problem: Diagnostic) -> Diagnostic:
    """What takes the place of the first problem beyond the bound."""
    from renderer.diagnostics.wordings import WORDINGS

    code = "E116" if problem.severity == "error" else "W117"
    wording = WORDINGS[code]
    message = wording.message.format(limit=MAX_PROBLEMS)
    return replace(problem, code=code, message=message, hint=wording.hint, warning=code.startswith("W"))


def has_errors(problems: Iterable[Diagnostic], strict: bool = False) -> bool:
    """Whether any problem makes the run fail: an error, or with `strict` also a warning."""
    return any(problem.forbids(strict) for problem in problems)


class InternalError(Exception):
    """An internal fault, with the input file that was being processed."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"{file}: {message}")
        self.file, self.what = file, message

    def __reduce__(self) -> tuple[type[InternalError], tuple[str, str]]:
        return InternalError, (self.file, self.what)


class naming_file:
    """A context that turns unforeseen exceptions into an InternalError with the file, or what the function `file`
    returns. An OSError passes: it names its own file; and so does an ImportError, which no file is the cause of.
    """

    __slots__ = ("file",)

    def __init__(self, file: str | Callable[[], str]) -> None:
        self.file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (RenderError, InternalError, OSError, ImportError)):
            file = self.file if isinstance(self.file, str) else self.file()
            raise InternalError(file, f"{type(error).__name__}: {error}") from error


_MAX_COLLECTED = 2 * MAX_PROBLEMS  # of an object; more than are told, since some may be there twice


class Stop(Exception):
    """Work on an item cannot go on; the problems are in its Collector."""


class Collector:
    """Collects the problems of an item, so that all of them are reported."""

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []
        self._counts: dict[tuple[int, bool], int] = {}

    def add(self, code: str, origin: Origin, **words: object) -> None:
        """Adds a problem, unless more problems of its object are there than are told."""
        key = id(origin.source), code.startswith("E")
        self._counts[key] = count = self._counts.get(key, 0) + 1
        if count <= _MAX_COLLECTED:
            self.problems.append(make_diagnostic(code, origin, **words))

    def stop(self, code: str, origin: Origin, **words: object) -> NoReturn:
        """Adds a problem after which work on the item cannot go on. Raises Stop."""
        self.add(code, origin, **words)
        raise Stop


def counted(number: int, word: str) -> str:
    """`1 model`, `2 models`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def quoted(words: Iterable[object]) -> str:
    """`'a', 'b' and 'c'`."""
    return listed([f"'{word}'" for word in words])


def listed(items: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def meant_names(word: str, names: Sequence[str]) -> str:
    """The question which of these names was meant by a word."""
    return meant_name(word, names[0]) if len(names) == 1 else f"did you mean {alternatives(names)}?"


def suggestion(word: str, known: Sequence[str], first: Iterable[str] = (), *, by_number: bool = False) -> str:
    """`did you mean 'x'?` for a close known name, and for all of which it is a part, between dashes; else the known
    names, those in `first` before others. `by_number`: a name with another number is another thing (h100-x4, h100-x8),
    so such names are in the list alone, before others.
    """
    names = tuple(known)
    folded, vocabulary = _folded(names)
    whole = folded.get(word.lower())
    if not whole and len(parts := _parts(names).get(word.lower(), ())) > 1:
        return f"did you mean {alternatives(parts)}?" if len(parts) <= _MOST_MEANT else _known_names(parts, ())
    close = whole or folded.get(vocabulary.closest(word.lower(), 0.6))
    if by_number and close and not whole and _without_numbers(close) == _without_numbers(word):
        return _known_names(names, tuple(name for name in names if _without_numbers(name) == _without_numbers(word)))
    return meant_name(word, close) if close else _known_names(names, tuple(first))


def _without_numbers(name: str) -> str:
    """A name in lower case with 0 for each of its numbers."""
    return _NUMBER.sub("0", name.lower())


def alternatives(words: Sequence[str]) -> str:
    """`'a', 'b' or 'c'`."""
    named = [f"'{word}'" for word in words]
    return " or ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))


@lru_cache(maxsize=8)
def _parts(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """By lower-case part of names between dashes, the names that have it."""
    by_part: dict[str, dict[str, None]] = {}
    for name in names:
        for part in filter(None, name.lower().split("-")):
            by_part.setdefault(part, {})[name] = None
    return {part: tuple(having) for part, having in by_part.items()}


@lru_cache(maxsize=8)
def _folded(names: tuple[str, ...]) -> tuple[dict[str, str], Vocabulary]:
    """Lower-case name → name (the first of equal ones), and a Vocabulary of the lower-case names."""
    folded = {name.lower(): name for name in reversed(names)}
    return folded, Vocabulary((*folded,))


@lru_cache(maxsize=8)
def _known_names(names: tuple[str, ...], first: tuple[str, ...]) -> str:
    if not names:
        return ""
    preferred = frozenset(first)
    ordered = sorted(names, key=lambda name: (name not in preferred, name))
    return f"known: {', '.join(ordered[:12])}{', …' if len(ordered) > 12 else ''}"
