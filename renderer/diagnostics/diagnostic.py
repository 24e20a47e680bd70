"""What is wrong with something, ready to print; and what collects it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NoReturn

from msgspec import Struct

from renderer import escapes
from renderer.diagnostics.errors import ERRORS
from renderer.diagnostics.origin import Origin, dotted
from renderer.diagnostics.warnings import WARNINGS
from renderer.diagnostics.wording import Wording
from renderer.suggestions import Vocabulary

WORDINGS: dict[str, Wording] = ERRORS | WARNINGS


class Diagnostic(Struct, frozen=True, order=True):
    """One finding, ready to print; sorts by place. `warning`: legal, but likely wrong.

    Codes that begin with N are notes: what could not be judged, or is otherwise in an older engine, so they never
    forbid anything.
    """

    file: str
    line: int
    column: int
    code: str
    field: str
    message: str
    hint: str = ""
    warning: bool = False

    def __str__(self) -> str:
        hint = f"\n    hint: {escapes.line(self.hint)}" if self.hint else ""
        kind = "" if self.severity == "error" else f"{self.severity}: "
        return f"{escapes.line(self.place)}: {kind}{escapes.line(self.text)} [{self.code}]{hint}"

    @property
    def place(self) -> str:
        """`file:line:column`, as far as they are known; the file as it is called."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    @property
    def text(self) -> str:
        """The message, behind the field where there is one; what the input says is in there as it is."""
        return f"{self.field}: {self.message}" if self.field else self.message

    @property
    def severity(self) -> str:
        """error, warning or note."""
        return "note" if self.code.startswith("N") else "warning" if self.warning else "error"

    def forbids(self, strict: bool = False) -> bool:
        """Whether it forbids to go on: an error, or with `strict` a warning too."""
        return not self.code.startswith("N") and (strict or not self.warning)


class RenderError(Exception):
    """Everything that one stage found wrong."""

    def __init__(self, problems: Iterable[Diagnostic]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[RenderError], tuple[list[Diagnostic]]]:
        return RenderError, (self.problems,)


def make_diagnostic(code: str, origin: Origin, **words: Any) -> Diagnostic:
    """The finding `code` at `origin`. A code that begins with W is a warning. A word of the wording that is missing
    is a KeyError."""
    wording = WORDINGS[code]
    return Diagnostic(
        *origin.place,
        code,
        dotted(origin.behind[1]),
        escapes.line(wording.message.format(**words)),
        escapes.line(wording.hint.format(**words)),
        code.startswith("W"),
    )


def has_errors(problems: Iterable[Diagnostic], strict: bool = False) -> bool:
    """Whether any of them forbids to write: an error, or with `strict` a warning too."""
    return any(problem.forbids(strict) for problem in problems)


class InternalError(Exception):
    """A fault of ours, with the file at hand."""

    def __init__(self, at_hand: str, what: str) -> None:
        super().__init__(f"{at_hand}: {what}")
        self.at_hand, self.what = at_hand, what

    def __reduce__(self) -> tuple[type[InternalError], tuple[str, str]]:
        return InternalError, (self.at_hand, self.what)


class naming_file:
    """Names the file at hand, which a function may say, when something unforeseen happens. Raises Fault.

    An OSError is nobody's fault here, and names its own file.
    """

    __slots__ = ("file",)

    def __init__(self, file: str | Callable[[], str]) -> None:
        self.file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (RenderError, InternalError, OSError)):
            file = self.file if isinstance(self.file, str) else self.file()
            raise InternalError(file, f"{type(error).__name__}: {error}") from error


class Stop(Exception):
    """One thing cannot be worked out any further; what was found stands in its Findings."""


class Collector:
    """Collects what is wrong with one thing, so that all of it is said at once."""

    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []

    def add(self, code: str, origin: Origin, **words: Any) -> None:
        """Notes a finding and goes on."""
        self.problems.append(make_diagnostic(code, origin, **words))

    def stop(self, code: str, origin: Origin, **words: Any) -> NoReturn:
        """Notes a finding after which nothing further can be said. Raises Stop."""
        self.add(code, origin, **words)
        raise Stop


def quoted(words: Iterable[object]) -> str:
    """`'a', 'b' and 'c'`."""
    items = [f"'{word}'" for word in words]
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def suggestion(word: str, known: Sequence[str], first: Iterable[str] = ()) -> str:
    """`did you mean 'x'?` when something known is close, else what is known, the `first` of it first."""
    names = tuple(known)
    folded, vocabulary = _folded(names)
    if close := vocabulary.closest(word.lower(), 0.6):
        return f"did you mean '{folded[close]}'?"
    return _listed(names, tuple(first))


@lru_cache(maxsize=8)
def _folded(names: tuple[str, ...]) -> tuple[dict[str, str], Vocabulary]:
    """The names by what they are in small letters, of two the first; and these small letters."""
    folded = {name.lower(): name for name in reversed(names)}
    return folded, Vocabulary((*folded,))


@lru_cache(maxsize=8)
def _listed(names: tuple[str, ...], first: tuple[str, ...]) -> str:
    if not names:
        return ""
    preferred = frozenset(first)
    listed = sorted(names, key=lambda name: (name not in preferred, name))
    return f"known: {', '.join(listed[:12])}{', …' if len(listed) > 12 else ''}"
