"""Bodies of one form: they differ in nothing but what they were given, so that the text of all else is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, cast


class Blank:
    """What stands in a form in the place of an argument."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Form:
    """A body with blanks, and its text once somebody has asked for that: `blanks` are the text before each, the index
    of the argument that goes there, and the level of its lines; `end` is the text behind the last.
    """

    __slots__ = ("blanks", "body", "end")

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body
        self.blanks: list[tuple[str, int, Any]] = []
        self.end = ""


class Filled(tuple[Form, tuple[Any, ...]]):
    """A form, and what it was given."""

    __slots__ = ()


Given = ParamSpec("Given")


def form(build: Callable[Given, dict[str, Any]]) -> Callable[Given, tuple[dict[str, Any], Filled]]:
    """A function that makes the same bodies, and says of each which form was filled in with what: in place of a body
    that nobody changes any more, `dump` takes that, and puts into words only what was given.

    `build` is given strings, numbers, lists and maps, by position, puts each below a key, and looks into none of them.
    Parameters with a default may be None, and their keys left out.
    """
    forms: dict[tuple[bool, ...], Form] = {}  # by which of the parameters with a default are there
    count = build.__code__.co_argcount
    needed = count - len(build.__defaults__ or ())
    make = cast("Callable[..., dict[str, Any]]", build)

    def new(there: tuple[bool, ...]) -> Form:
        return Form(make(*[Blank(i) if each else None for i, each in enumerate((*[True] * needed, *there))]))

    def fill(*given: Any) -> tuple[dict[str, Any], Filled]:
        there = tuple([each is not None for each in given[needed:]]) if needed < count else ()
        return make(*given), Filled((forms.get(there) or forms.setdefault(there, new(there)), given))

    return cast("Callable[Given, tuple[dict[str, Any], Filled]]", fill)
