"""Bodies of one form: they differ in nothing but what they were given, so that the text of all else is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

Build = TypeVar("Build", bound=Callable[..., dict[str, Any]])


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


class Filled(dict[str, Any]):
    """A body that is a form filled in, and that nobody changes any more. A copy is a plain dict."""

    __slots__ = ("form", "given")

    form: Form
    given: tuple[Any, ...]

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def form(build: Build) -> Build:
    """The same function, but `dump` puts into words only what its bodies were given.

    It is given strings, numbers, lists and maps, by position, puts each below a key, and looks into none of them.
    Parameters with a default may be None, and their keys left out.
    """
    forms: dict[tuple[bool, ...], Form] = {}  # by which of the parameters with a default are there
    count = build.__code__.co_argcount
    needed = count - len(build.__defaults__ or ())

    def new(there: Iterable[bool]) -> Form:
        blanks = [Blank(i) if is_there else None for i, is_there in enumerate((*[True] * needed, *there))]
        return Form(build(*blanks))

    def fill(*given: Any) -> Filled:
        body = Filled(build(*given))
        there = tuple([each is not None for each in given[needed:]]) if needed < count else ()
        body.form, body.given = forms.get(there) or forms.setdefault(there, new(there)), given
        return body

    return cast(Build, fill)
