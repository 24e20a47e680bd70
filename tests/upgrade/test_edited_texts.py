"""Edits of texts: where they are written, which of them, and where a place of the new text was before."""

from __future__ import annotations

from pathlib import Path

import pytest

from renderer.diagnostics import Edit
from renderer.source.memory import memory_tree
from renderer.source.overlay import Overlay
from renderer.source.tree import DISK
from renderer.upgrade.edited_texts import apart, column_before, edited_contents, edited_text


def edit(line: int, column: int, end_column: int, text: str, file: str = "a.yaml") -> Edit:
    return Edit(file, line, column, line, end_column, text)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_each_edit_is_at_its_place(line_end: str, mark: str) -> None:
    text = mark + line_end.join(["a: 1, b: 2", "é: 𝄞 3", "", "z: 9"])
    edits = [edit(1, 4, 5, "100"), edit(4, 4, 5, "8"), edit(1, 10, 11, ""), edit(2, 6, 7, "30")]
    assert edited_text(text, edits) == mark + line_end.join(["a: 100, b: ", "é: 𝄞 30", "", "z: 8"])


def test_an_edit_over_lines() -> None:
    assert edited_text("a: |\n  b\n  c\nd: 1\n", [Edit("a", 1, 4, 3, 4, "x")]) == "a: x\nd: 1\n"


def test_edits_that_overlap_are_written_once() -> None:
    first, same, over, beside = edit(1, 4, 8, "x"), edit(1, 4, 8, "x"), edit(1, 7, 9, "y"), edit(1, 8, 9, "z")
    other = edit(1, 4, 8, "x", "b.yaml")
    assert apart([first, same, over, beside, other]) == [first, beside, other]


BEFORE, AFTER = "v: 1, w: 22, z", "v: 1000, w: 3, z"


@pytest.mark.parametrize("character", ["v", ",", "w", "z"])
def test_the_column_before_the_edits(character: str) -> None:
    edits = [edit(1, 10, 12, "3"), edit(1, 4, 5, "1000"), edit(2, 1, 9, "")]
    assert edited_text(f"{BEFORE}\n.........", edits) == f"{AFTER}\n."
    column = AFTER.index(character) + 1
    assert column_before(edits, "a.yaml", 1, column) == BEFORE.index(character) + 1
    assert column_before(edits, "b.yaml", 1, column) == column


def test_a_place_within_what_is_new_was_where_that_begins() -> None:
    edits = [edit(1, 4, 5, "1000")]
    assert [column_before(edits, "a.yaml", 1, column) for column in (3, 4, 7, 8)] == [3, 4, 4, 5]


def test_an_overlay_has_other_contents_and_all_else(folder: Path) -> None:
    for name, text in (("a.yaml", "a"), ("sub/b.yaml", "b"), ("llmaz.yaml", "c")):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    overlay = Overlay(DISK, {str(folder.resolve() / "sub" / "b.yaml"): b"new"})
    base, _ = overlay.base_of(())
    contents = {file.key: file.read() for file in overlay.folder(base, (".",), (), None).files}
    assert contents == {"a.yaml": b"a", "sub/b.yaml": b"new", "llmaz.yaml": b"c"}
    assert [file.read() for file in overlay.other_files(base, ("a.yaml",), ("llmaz.yaml",), None)] == [b"new"]
    assert overlay.read("sub/../sub/b.yaml", base) == overlay.read_entry("sub/b.yaml") == b"new"
    assert overlay.read("a.yaml", base) == b"a"
    assert overlay.names("sub", base) == ["b.yaml"]
    assert overlay.isfile("sub/b.yaml")
    with pytest.raises(FileNotFoundError):
        overlay.read("none.yaml", base)


def test_an_overlay_over_memory() -> None:
    tree = memory_tree("/tree", {"a.yaml": b"a: 1\n", "b.yaml": b"b: 1\n"})
    contents = edited_contents(tree, [edit(1, 4, 5, "2", "/tree/a.yaml")])
    assert contents == {"/tree/a.yaml": b"a: 2\n"}
    files = Overlay(tree, contents).folder("/tree", ("/tree",), (), None).files
    assert [file.read() for file in files] == [b"a: 2\n", b"b: 1\n"]
