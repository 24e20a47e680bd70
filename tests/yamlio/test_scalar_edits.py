"""Edits of single keys and scalars: what is written, and that nothing is where it is not sure."""

from __future__ import annotations

import pytest

from renderer import yamlio
from renderer.diagnostics import Edit, Origin, Path, make_diagnostic, meant_name
from renderer.preset_tables import read_preset
from tests.yamlio.reading import document

STYLES = """\
plain: one  # why
single: 'it''s one'
double: "one"
number: 0.90
flag: yes
args: [--a=one, '--a=one', "--a=on\\x65", --b=one=one, --c=one]
time: 1T0
block: |
  exec x --a one \\

    --b two
  # two
folded: >
  --a one
several: one
  two
'key': {one: 1}
empty:
"""
SHARED = """\
a: &a {b: one}
c: *a
d:
  <<: *a
  e: one
  f: &f one
g: *f
h:
  <<: {i: one}
"""


def edited(text: str, path: Path, old: str, new: str | float, *, key: bool = False) -> str:
    """The line that the edit changes, as it is then; '' for none."""
    (only, *_), problems = yamlio.parse("f.yaml", text.encode())
    assert problems == []
    edits = only.edits(path, old, new, key=key)
    if not edits:
        return ""
    (edit,) = edits
    assert (edit.file, edit.line) == ("f.yaml", edit.end_line)
    line = text.removeprefix("\ufeff").splitlines()[edit.line - 1]
    return line[: edit.column - 1] + edit.text + line[edit.end_column - 1 :]


@pytest.mark.parametrize(
    ("path", "old", "new", "line"),
    [
        (("plain",), "one", "two", "plain: two  # why"),
        (("plain",), "one", "off", 'plain: "off"  # why'),
        (("plain",), "one", "1", 'plain: "1"  # why'),
        (("plain",), "one", 1, "plain: 1  # why"),
        (("plain",), "one", "0.9.1", "plain: 0.9.1  # why"),
        (("plain",), "one", "a: b", 'plain: "a: b"  # why'),
        (("plain",), "one", "a #b", 'plain: "a #b"  # why'),
        (("plain",), "one", "a\nb", ""),
        (("plain",), "other", "two", ""),
        (("single",), "it's one", "it's two", "single: 'it''s two'"),
        (("single",), "one", "two", ""),  # the quote is written twice there
        (("double",), "one", 'a "b" \\', 'double: "a \\"b\\" \\\\"'),
        (("double",), "one", "off", 'double: "off"'),
        (("number",), "0.90", "v0.9", "number: v0.9"),
        (("number",), "0.9", "v0.9", ""),
        (("number",), "0.90", "0.90", 'number: "0.90"'),
        (("number",), "", 7, "number: 7"),
        (("flag",), "yes", "yes", 'flag: "yes"'),
        (("args", 0), "one", "off", """args: [--a=off, '--a=one', "--a=on\\x65", --b=one=one, --c=one]"""),
        (("args", 0), "--a", "--c", """args: [--c=one, '--a=one', "--a=on\\x65", --b=one=one, --c=one]"""),
        (("args", 0), "--a=one", "a, b", """args: ["a, b", '--a=one', "--a=on\\x65", --b=one=one, --c=one]"""),
        (("args", 0), "one", "a, b", ""),
        (("args", 0), "one", 1, ""),
        (("args", 0), "on", "off", ""),  # a part of a word
        (("args", 1), "one", "two", """args: [--a=one, '--a=two', "--a=on\\x65", --b=one=one, --c=one]"""),
        (("args", 2), "--a", "--c", ""),
        (("args", 3), "one", "two", ""),  # which one?
        (("args", 4), "one", "a,b", ""),  # a comma ends a plain item
        (("args", 4), "--c=one", "a,b", """args: [--a=one, '--a=one', "--a=on\\x65", --b=one=one, "a,b"]"""),
        (("time",), "T", ":", ""),  # it would be a time
        (("time",), "1T0", "1:0", 'time: "1:0"'),
        (("block",), "one", "three", "  exec x --a three \\"),
        (("block",), "--b", "--c", "    --c two"),
        (("block",), "two", "three", ""),
        (("block",), "one", "a b", ""),
        (("folded",), "one", "two", ""),
        (("folded",), "--a one\n", "two", ""),
        (("several",), "one two", "three", ""),
        (("several",), "one", "three", ""),
        (("empty",), "", "one", ""),
        (("missing",), "one", "two", ""),
        (("args",), "one", "two", ""),
        ((), "one", "two", ""),
    ],
)
def test_a_scalar_keeps_its_style(path: Path, old: str, new: str | float, line: str) -> None:
    assert edited(STYLES, path, old, new) == line


@pytest.mark.parametrize(
    ("path", "new", "line"),
    [
        (("plain",), "other", "other: one  # why"),
        (("plain",), "off", '"off": one  # why'),
        (("key",), "it's", "'it''s': {one: 1}"),
        (("key", "one"), "a b", "'key': {a b: 1}"),
        (("block",), "other", "other: |"),
        (("plain",), "single", ""),  # which is there
    ],
)
def test_a_key_keeps_its_style(path: Path, new: str, line: str) -> None:
    assert edited(STYLES, path, str(path[-1]), new, key=True) == line


@pytest.mark.parametrize(
    ("path", "key", "line"),
    [
        (("a", "b"), False, ""),  # c is an alias of it
        (("a", "b"), True, ""),
        (("a",), True, "x: &a {b: one}"),
        (("c", "b"), False, ""),
        (("d", "b"), False, ""),
        (("d", "e"), False, "  e: two"),
        (("d", "f"), False, ""),
        (("g",), False, ""),
        (("h", "i"), False, "  <<: {i: two}"),  # it stands there alone
    ],
)
def test_what_is_shared_is_not_edited(path: Path, key: bool, line: str) -> None:
    old, new = (str(path[-1]), "x") if key else ("one", "two")
    assert edited(SHARED, path, old, new, key=key) == line


def test_a_file_of_ours_is_not_edited() -> None:
    assert read_preset("backends/vllm")[0][0].edits(("kind",), "BackendRuntime", "Other") == ()


def test_places_count_characters_without_a_mark() -> None:
    assert document("\ufeffä: 😀 one\r\nb: two\r\n").edits(("ä",), "one", "x") == (Edit("test.yaml", 1, 6, 1, 9, "x"),)
    assert document("a: 1\r\n\r\nb: two\r\n").edits(("b",), "two", "x") == (Edit("test.yaml", 3, 4, 3, 7, "x"),)
    assert document("a: |\r\n  one\r\n  two\r\n").edits(("a",), "two", "x") == (Edit("test.yaml", 3, 3, 3, 6, "x"),)
    assert document('a: "\u2028"\nb: two\n').edits(("b",), "two", "x") == ()  # programs do not agree on its line


def test_an_item_of_a_list_and_a_text_in_a_document() -> None:
    whole = document("kind: List\napiVersion: v1\nitems:\n- {a: one}\nvalues: |\n  b:\n    c: 'one'\n")
    (item,) = whole.parts("items")
    assert item.edits(("a",), "one", "two") == (Edit("test.yaml", 4, 7, 4, 10, "two"),)
    assert item.locate_end(("a",)) == (4, 10)
    nested, problems = yamlio.read_nested_texts(whole, [("values",)])
    assert problems == []
    source, path = Origin(nested, ("values", "b", "c")).behind
    diagnostic = make_diagnostic("E301", Origin(source, path), word="one", hint=meant_name("one", "two"))
    assert diagnostic.edits == (Edit("test.yaml", 7, 8, 7, 13, "'two'"),)
    assert (diagnostic.line, diagnostic.column, diagnostic.end_line, diagnostic.end_column) == (7, 8, 7, 13)


@pytest.mark.parametrize(
    ("path", "key", "end"),
    [
        (("plain",), False, (1, 11)),
        (("plain",), True, (1, 6)),
        (("single",), False, (2, 20)),
        (("args",), False, (6, 63)),
        (("args", 1), False, (6, 26)),
        (("block",), False, (12, 8)),
        (("folded",), False, (14, 10)),
        (("several",), False, (16, 6)),
        (("key", "one"), True, (17, 12)),
        (("empty",), False, (18, 7)),
        ((), False, (18, 7)),
    ],
)
def test_ends(path: Path, key: bool, end: tuple[int, int]) -> None:
    assert document(STYLES).locate_end(path, key=key) == end


def test_a_block_ends_with_what_is_last_in_it() -> None:
    only = document("a:\n- b: 1\n  c:\n    d: |\n      e\n\n# f\ng: [1,\n  2]\n")
    assert only.locate_end(("a",)) == (5, 8)
    assert only.locate_end(("a", 0, "c")) == (5, 8)
    assert only.locate_end(("g",)) == (9, 5)
