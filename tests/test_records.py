"""Our named tuples are what typing.NamedTuple makes."""

from __future__ import annotations

import pickle
import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from renderer.records import NamedTuple, Record, quick

_NONE: Mapping[str, str] = MappingProxyType({})


class Ours(NamedTuple):
    """A record."""

    name: str
    number: int = 3
    words: Mapping[str, str] = _NONE

    @property
    def twice(self) -> int:
        """The number, doubled."""
        return self.number * 2

    @classmethod
    def of(cls, name: str) -> Ours:
        """One with that name."""
        return cls(name)


class Theirs(typing.NamedTuple):
    """A record."""

    name: str
    number: int = 3
    words: Mapping[str, str] = _NONE

    @property
    def twice(self) -> int:
        """The number, doubled."""
        return self.number * 2

    @classmethod
    def of(cls, name: str) -> Theirs:
        """One with that name."""
        return cls(name)


class Bare(NamedTuple):
    only: int


def test_they_look_alike() -> None:
    made: list[Any] = [kind("a", 4, {"b": "c"}) for kind in (Ours, Theirs)]
    ours, theirs = made
    assert repr(ours).removeprefix("Ours") == repr(theirs).removeprefix("Theirs")
    assert ours == theirs == ("a", 4, {"b": "c"})
    assert ours._asdict() == theirs._asdict()
    assert (ours.name, ours.number, ours.twice) == ("a", 4, 8)
    assert ours._replace(number=5) == theirs._replace(number=5)
    assert hash(Ours("a", words=_NONE, number=1)[:2]) == hash(("a", 1))
    assert [Ours.of("x"), Theirs.of("x")] == [("x", 3, {})] * 2


def test_their_classes_are_alike() -> None:
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__bases__", "__match_args__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    assert Ours.__qualname__ == "Ours"
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert Bare(only=1) == (1,)


def test_they_are_pickled() -> None:
    back = pickle.loads(pickle.dumps(Bare(7)))  # noqa: S301 - our own bytes
    assert (type(back), back) == (Bare, (7,))


def test_what_is_missing_or_too_much_is_an_error() -> None:
    wrong: Any = Ours
    for arguments, named in (((), {}), (("a", 1, _NONE, 2), {}), (("a",), {"other": 1})):
        with pytest.raises(TypeError):
            wrong(*arguments, **named)
    with pytest.raises(AttributeError):
        wrong("a").name = "b"


def test_the_quick_way_makes_the_same() -> None:
    of = quick(Ours)
    for made in (of("a"), of("a", 3), of(number=3, name="a", words=_NONE)):
        assert made == Ours("a")
        assert type(made) is Ours
        assert made.twice == 6
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        of()  # type: ignore[call-arg]


class Kept(Record):
    """A record."""

    name: str
    number: int = 3

    @property
    def twice(self) -> int:
        """The number, doubled."""
        return self.number * 2


def test_a_record_is_made_as_a_named_tuple() -> None:
    assert repr(Kept("a")) == "Kept(name='a', number=3)"
    assert repr(Kept(number=4, name="b")) == repr(Kept("a", 4)._replace(name="b"))
    assert Kept("a", 5).twice == 10
    assert Kept("a")._asdict() == {"name": "a", "number": 3}


@pytest.mark.parametrize(("parts", "named"), [((), {}), (("a", 1, 2), {}), (("a",), {"other": 1})])
def test_a_record_wants_its_fields(parts: tuple[Any, ...], named: dict[str, Any]) -> None:
    kind: Any = Kept
    with pytest.raises(TypeError, match="Kept takes name, number"):
        kind(*parts, **named)


def test_a_record_stays_as_it_is() -> None:
    made: Any = Kept("a")
    with pytest.raises(AttributeError, match="a Kept is frozen: name"):
        made.name = "b"
    with pytest.raises(AttributeError, match="a Kept is frozen: other"):
        made.other = "b"
    assert not hasattr(made, "__dict__")
    assert made != Kept("a")
