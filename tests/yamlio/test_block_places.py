"""The places of fields that are found by the lines of a file are those that LocatedReader finds."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pytest

from renderer import yamlio
from renderer.diagnostics import Path
from renderer.yamlio import block_places, document, event_parser
from renderer.yamlio.located_reader import LocatedReader
from renderer.yamlio.scalar_edits import ScalarEdits
from renderer.yamlio.scalars import UncertainError
from tests.paths import TESTS
from tests.yamlio.test_quick import nearly_yaml

BLOCK = """\
# head
a: 1
b:
  - c: 0.10
    "d":   "e"   # f

  -   [x,  {w: z}]
  -
    - deep:
      - deeper:
"""


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """The paths of the value and of all in it, and in each mapping and list of a field that is not there."""
    yield path
    if isinstance(value, dict | list):
        yield (*path, "no-such-key")
        yield (*path, len(value))
        for part, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(child, (*path, part))


def compared_places(files: Iterable[bytes]) -> int:
    """The number of files in plain block style, all of whose places LocatedReader finds as well."""
    count = 0
    for data in files:
        try:
            documents = block_places.documents(data)
        except UncertainError:
            continue
        count += 1
        roots, edits = LocatedReader("test.yaml", data).read(), ScalarEdits("test.yaml", data)
        for block_document, root in zip(documents, roots, strict=True):
            for path in paths(root.value) if root else ():
                for key in (False, True):
                    expected = root.locate(path, key=key) if root else None
                    assert block_document.locate(path, key=key) == expected, (path, key, data.decode())
                    end = edits.end_of(root.nearest(path, key=key)) if root else None
                    with suppress(UncertainError):  # a text with escapes
                        assert block_document.locate_end(path, key=key) == end, (path, key, data.decode())
    return count


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_places, "_MAX_SEARCHES", 1_000_000)


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("folder", ["errors", "cases"])
def test_places_in_inputs_of_goldens(folder: str) -> None:
    files = (path for path in (TESTS / folder).rglob("*.yaml") if path.is_file() and "expected" not in path.parts)
    assert compared_places({path.read_bytes() for path in files}) > 200


@pytest.mark.usefixtures("unlimited")
def test_places_in_files_that_are_nearly_yaml() -> None:
    dice = random.Random(35)
    assert compared_places(nearly_yaml(dice).encode() for _ in range(2_500)) > 600


@pytest.mark.parametrize(
    ("path", "place", "key_place"),
    [
        ((), (2, 1), (2, 1)),
        (("a",), (2, 4), (2, 1)),
        (("b",), (4, 3), (3, 1)),
        (("b", 0), (4, 5), (4, 5)),
        (("b", 0, "d"), (5, 12), (5, 5)),
        (("b", 1), (7, 7), (7, 7)),
        (("b", 1, 1, "w"), (7, 16), (7, 13)),
        (("b", 2, 0, "deep"), (10, 7), (9, 7)),
        (("b", 2, 0, "deep", 0, "deeper"), (10, 16), (10, 9)),
        (("b", 3), (4, 3), (3, 1)),
    ],
)
def test_places_by_lines(path: Path, place: tuple[int, int], key_place: tuple[int, int]) -> None:
    (only,) = block_places.documents(BLOCK.encode())
    assert only.locate(path, key=False) == place
    assert only.locate(path, key=True) == key_place


def test_a_value_with_a_line_of_its_own_needs_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a small tree with one warning imports PyYAML, which takes as long as rendering ten models."""
    monkeypatch.setattr(event_parser, "Parser", None)
    (only,) = yamlio.parse("test.yaml", BLOCK.encode())[0]
    assert only.locate(("b", 0, "c")) == (4, 8)


def test_many_places_are_found_by_reading_the_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for each would take time that grows with the square of the file."""
    reads: list[str] = []

    def located_reader(name: str, data: bytes) -> LocatedReader:
        reads.append(name)
        return LocatedReader(name, data)

    monkeypatch.setattr(document, "_located_reader", located_reader)
    text = "".join(f"k{number}: {number}\n" for number in range(100)) + "---\nother: 1\n"
    first, second = yamlio.parse("test.yaml", text.encode())[0]
    for number in range(20):
        assert first.locate((f"k{number}",), key=True) == (number + 1, 1)
    assert second.locate(("other",)) == (102, 8)
    assert reads == []
    for number in range(100):
        assert first.locate((f"k{number}",), key=True) == (number + 1, 1)
    assert reads == ["test.yaml"]
