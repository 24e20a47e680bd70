"""Where a value stands in its file."""

from __future__ import annotations

import pytest

from renderer import yamlio
from renderer.diagnostics import Origin
from renderer.yamlio import event_parser as event_parser
from tests.yamlio.reading import document

PLACED = """\
# head
a: 1
b:
  - c: 0.10
    'd':   "e"
  -   [x,  {w: z}]
empty:
---
s: &s {p: 1, q: 2}
t: *s
u:
  <<: *s
  q: 3
v: 'y'
"""


def test_places() -> None:
    first, second = yamlio.parse("test.yaml", PLACED.encode())[0]
    assert first.locate(()) == (2, 1)
    assert first.locate(("a",)) == (2, 4)
    assert first.locate(("a",), key=True) == (2, 1)
    assert first.locate(("b",)) == (4, 3)
    assert first.locate(("b",), key=True) == (3, 1)
    assert first.locate(("b", 0)) == (4, 5)
    assert first.locate(("b", 0, "c")) == (4, 8)
    assert first.locate(("b", 0, "d")) == (5, 12)
    assert first.locate(("b", 0, "d"), key=True) == (5, 5)
    assert first.locate(("b", 1)) == (6, 7)
    assert first.locate(("b", 1), key=True) == (6, 7)
    assert first.locate(("b", 1, 1, "w")) == (6, 16)
    assert first.locate(("b", 1, 1, "w"), key=True) == (6, 13)
    assert first.locate(("empty",)) == (7, 7)
    assert second.locate(("s", "q")) == (9, 17)


def test_the_place_of_what_is_missing_is_its_parents() -> None:
    first, second = yamlio.parse("test.yaml", PLACED.encode())[0]
    assert first.locate(("b", 0, "nope")) == (4, 5)
    assert first.locate(("b", 7)) == (4, 3)
    assert first.locate(("b", -1)) == (4, 3)
    assert first.locate(("b", "c")) == (4, 3)
    assert first.locate(("b", 7), key=True) == (3, 1)
    assert first.locate(("a", "b", "c")) == (2, 4)
    assert first.locate(("nope",)) == (2, 1)
    assert second.locate(("nope",), key=True) == (9, 1)


def test_places_of_aliases_and_merges() -> None:
    _, second = yamlio.parse("test.yaml", PLACED.encode())[0]
    assert second.locate(("t",)) == (10, 4)  # the alias
    assert second.locate(("t", "p")) == (9, 11)  # where it can be changed
    assert second.locate(("u", "p")) == (9, 11)
    assert second.locate(("u", "p"), key=True) == (9, 8)
    assert second.locate(("u", "q")) == (13, 6)


def test_columns_count_characters() -> None:
    assert document("ключ: {é: ü, b: c}\n").locate(("ключ", "b")) == (1, 17)
    assert document("\ufeffa: 1\n").locate(("a",)) == (1, 4)
    assert document("\ufeffa: 1\n").locate(("a",), key=True) == (1, 1)
    assert document("a: 1\r\nb: 2\r\n").locate(("b",)) == (2, 4)


def test_raw_text() -> None:
    first, second = yamlio.parse("test.yaml", PLACED.encode())[0]
    assert first.raw(("b", 0, "c")) == "0.10"
    assert first.raw(("b", 0, "d")) == "e"
    assert first.raw(("empty",)) == ""
    assert first.raw(("b",)) is None
    assert first.raw(("nope",)) is None
    assert first.raw(()) is None
    assert second.raw(("t", "p")) == "1"
    assert second.raw(("v",)) == "y"
    assert document("version: 1e3 # c\n").raw(("version",)) == "1e3"


def test_a_document_is_a_source() -> None:
    only = document("spec:\n  a: 1\n")
    assert only.origin("spec", "a") == Origin(only, ("spec", "a"))
    assert only.origin("spec", "a", key=True).place == ("test.yaml", 2, 3)
    assert only.origin("spec").at("a").place == ("test.yaml", 2, 6)
    assert (only.name, only.data, only.index) == ("test.yaml", b"spec:\n  a: 1\n", 0)


def test_a_document_is_small() -> None:
    """That it is frozen is seen to by mypy: documents are made so often that it would be felt otherwise."""
    only = document("a: 1\n")
    assert not hasattr(only, "__dict__")
    assert only != document("a: 1\n")


def test_places_are_found_once_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = yamlio.parse("test.yaml", b"a: &a 1\n---\nb: 2\n")[0]
    assert first.locate(("a",)) == (1, 4)
    monkeypatch.setattr(event_parser, "Parser", None)
    assert second.locate(("b",)) == (3, 4)
