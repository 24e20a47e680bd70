"""The page of an error code: its wording, and the sample of it that pages.json holds.

scripts/make_error_pages.py makes pages.json of the cases in tests/errors, which are not part of the wheel.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import msgspec
from msgspec import Struct

from renderer.diagnostics import Wording, suggestion
from renderer.diagnostics.wordings import AREAS, WORDINGS

FILE: Final = os.path.join(os.path.dirname(__file__), "pages.json")
INTERNAL_FAULT: Final = "E901"
"""The code of a fault of ours, which is printed without a wording."""
UNKNOWN_CODE: Final = "E146"
_INTERNAL = Wording(
    "internal fault: {what}",
    "a bug of llmaz; please report it with this file (LLMAZ_DEBUG=1 shows more)",
    about="a fault of llmaz itself, with exit code 3",
)
SHORTEST_WORD: Final = 3  # that messages are searched for
MOST_MATCHES: Final = 8  # codes that a hint names
_SEVERITIES = {"E": "error", "W": "warning", "N": "note"}
_CODE = re.compile(r"[ENW][0-9]{3}")
_PREFIX = re.compile(r"[ENW][0-9]{0,2}")


class Excerpt(Struct, frozen=True, omit_defaults=True):
    """A part of an input file."""

    file: str
    text: str
    first_line: int = 1
    is_whole: bool = True


class Sample(Struct, frozen=True, omit_defaults=True):
    """What pages.json holds for a code: the case that shows it best, and where the documentation is about it."""

    title: str = ""
    """What the case shows, in words."""
    excerpts: tuple[Excerpt, ...] = ()
    console: str = ""
    """The commands that show it, each behind `$ `, with what they print; '' where no small input shows it."""
    change: str = ""
    """The difference between the input and one that is valid, in unified format."""
    causes: tuple[str, ...] = ()
    """What an input looks like that has the problem, and what would come of it."""
    cases: tuple[str, ...] = ()
    """What other cases show."""
    pages: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Pages of docs/ with the anchors of headings below which the code is named, and the headings."""


class ErrorPage(Struct, frozen=True):
    """All that is known of a code."""

    code: str
    area: str
    wording: Wording
    sample: Sample

    @property
    def severity(self) -> str:
        """`error`, `warning` or `note`."""
        return _SEVERITIES[self.code[0]]

    @property
    def message(self) -> str:
        """The message, with words in braces that are filled in."""
        return self.wording.about or self.wording.message

    @property
    def hint(self) -> str:
        """The hint; '' where it is only what a rule passes."""
        return "" if re.fullmatch(r"\{\w+\}", self.wording.hint) else self.wording.hint


@cache
def read_samples() -> dict[str, Sample]:
    """The sample of each code."""
    with open(FILE, "rb") as file:
        return msgspec.json.decode(file.read(), type=dict[str, Sample])


def codes_in(word: str) -> list[str]:
    """The codes that the word names: one code, all that begin with E4 or W23, or those of an area; [] for an unknown
    word.
    """
    known = sorted((*WORDINGS, INTERNAL_FAULT))
    capitals = word.upper()
    if word.lower() in AREAS:
        return sorted(AREAS[word.lower()])
    if _CODE.fullmatch(capitals):
        return [capitals] if capitals in known else []
    return codes_from(capitals, known) if _PREFIX.fullmatch(capitals) else []


def error_page(code: str) -> ErrorPage:
    """The page of a known code."""
    area = next((name for name, wordings in AREAS.items() if code in wordings), "")
    wording = _INTERNAL if code == INTERNAL_FAULT else WORDINGS[code]
    return ErrorPage(code, area, wording, read_samples().get(code, Sample()))


def codes_from(prefix: str, codes: Iterable[str]) -> list[str]:
    """The codes that begin so."""
    return [code for code in codes if code.startswith(prefix)]


def codes_with(word: str) -> list[str]:
    """The codes whose messages hold the word."""
    return [code for code in sorted(WORDINGS) if word.lower() in error_page(code).message.lower()]


def unknown_code(word: str) -> tuple[str, str]:
    """Message and hint for a word that names no code."""
    codes = sorted((*WORDINGS, INTERNAL_FAULT))
    hint = "llmaz errors lists the areas, and llmaz errors E2 the codes that begin so"
    if re.fullmatch(r"[0-9]{3}", word):  # the letter is missing
        if same_number := [letter + word for letter in _SEVERITIES if letter + word in codes]:
            hint = f"did you mean {' or '.join(same_number)}?"
    elif re.fullmatch(r"[ENW]?[0-9]+", word.upper()) and len(word) > len(codes[0]):
        pass  # a number of another program
    elif re.match(r"[ENW]?[0-9]", word.upper()):
        prefixes = (word[:length].upper() for length in range(len(word), -1, -1))
        close = suggestion(word, next(filter(None, (codes_from(prefix, codes) for prefix in prefixes))))
        hint = close if close.startswith("did you mean") else hint
    elif (close := suggestion(word, list(AREAS))).startswith("did you mean"):
        hint = close
    elif len(word) >= SHORTEST_WORD and (matches := codes_with(word)):
        more = ", …" if len(matches) > MOST_MATCHES else ""
        hint = f"the word stands in the messages of {', '.join(matches[:MOST_MATCHES])}{more}"
    wording = WORDINGS[UNKNOWN_CODE]
    return wording.message.format(word=word), wording.hint.format(hint=hint)
