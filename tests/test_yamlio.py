"""YAML in and out: what scalars mean, where things stand, what is refused, and that nothing changes on the way."""

from __future__ import annotations

import copy
import json
import pickle
import random
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from yaml._yaml import CParser

from renderer import yamlio
from renderer.problems import Origin
from renderer.yamlio import brackets, events, quick, scalars, writing
from renderer.yamlio import parser as event_parser
from renderer.yamlio.careful import Careful

DATA = Path(__file__).parent / "data"
PLAIN = json.loads((DATA / "yaml-plain-scalars.json").read_text("utf-8"))["plain"]


@pytest.fixture(params=["libyaml", "pure"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both of PyYAML's parsers: a platform without the C extension reads the same."""
    monkeypatch.setattr(event_parser, "Parser", CParser if request.param == "libyaml" else event_parser.PureParser)
    return str(request.param)


def values(text: str | bytes) -> list[Any]:
    """The documents of a file that must be fine."""
    documents, problems = yamlio.parse("test.yaml", text if isinstance(text, bytes) else text.encode())
    assert problems == []
    return [document.value for document in documents]


def findings(text: str | bytes) -> list[tuple[int, int, str, str]]:
    """Line, column, code and message of every problem."""
    _, problems = yamlio.parse("test.yaml", text if isinstance(text, bytes) else text.encode())
    assert {found.file for found in problems} <= {"test.yaml"}
    return [(found.line, found.column, found.code, found.message) for found in problems]


def places(text: str | bytes) -> list[tuple[int, int, str]]:
    """Line, column and code of every problem."""
    return [found[:3] for found in findings(text)]


def words(text: str) -> list[str]:
    return text.split(" ")


def document(text: str) -> yamlio.Document:
    """The only document of a file that must be fine."""
    (only,), problems = yamlio.parse("test.yaml", text.encode())
    assert problems == []
    return only


# --- scalars ----------------------------------------------------------------------------------------------------------


FORMS = ["v: {}\n", "v: [{}]\n", "- v: {} # why\n", "v:\n  &a {}\n"]


@pytest.mark.parametrize(
    ("plain", "form"), [(plain, form) for plain in PLAIN for form in FORMS if "," not in plain or "[" not in form]
)
def test_a_plain_scalar_means_what_go_reads(plain: str, form: str) -> None:
    expected = PLAIN[plain]
    documents, problems = yamlio.parse("test.yaml", form.format(plain).encode())
    if expected.get("error"):
        assert [found.code for found in problems] == ["E110"]
        return
    assert problems == []
    got = documents[0].value
    got = (got[0] if isinstance(got, list) else got)["v"]
    got = got[0] if isinstance(got, list) else got
    if isinstance(expected["value"], (int, float)) and not isinstance(expected["value"], bool):
        assert isinstance(got, (int, float))
        assert not isinstance(got, bool)
        assert float(got) == float(expected["value"])
    else:
        assert type(got) is type(expected["value"])
        assert got == expected["value"]


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("1e3", 1000),
        ("1.0", 1),
        ("-0.0", 0),
        ("1e20", 10**20),
        ("1e21", 1e21),  # Go writes it into JSON with an exponent: no integer any more
        ("0.10", 0.1),
        ("9007199254740993", 2**53 + 1),
        ("18446744073709551616", 2**64),
        ("-9223372036854775809", -(2**63) - 1),
        ("1" * 300, int("1" * 300)),
        ("1" * 5000, "1" * 5000),  # Go: out of range
        ("1e400", "1e400"),
        ("0x8000000000000000", 2**63),
        ("+0x8000000000000000", "+0x8000000000000000"),  # Go reads unsigned numbers without a sign only
        ("0x10000000000000000", "0x10000000000000000"),
        ("0777", 511),
        ("0888", 888),
        (".5_0", 0.5),
        ("._5", "._5"),
        ("+_1", 1),
        ("\uff12", "\uff12"),  # a digit, but not YAML's
    ],
)
def test_numbers_at_their_edges(plain: str, value: Any) -> None:
    (got,) = values(f"- {plain}\n")[0]
    assert type(got) is type(value)
    assert got == value


def test_quoted_scalars_are_strings(parser: str) -> None:
    assert values("""{a: "1", b: 'y', c: "null", d: "~", e: '.nan', "8": '<<'}""") == [
        {"a": "1", "b": "y", "c": "null", "d": "~", "e": ".nan", "8": "<<"}
    ]


# --- what is fine -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# nothing\n", []),
        ("---\n---\n", []),
        ("null\n", []),
        ("a: 1", [{"a": 1}]),
        ("a:\n- 1\n- b:\n  - c\nd:\n", [{"a": [1, {"b": ["c"]}], "d": None}]),
        ("- - 1\n  - 2\n-\n  - 3\n-\n", [[[1, 2], [3], None]]),
        ("a: {b: [c, {d: }], e}\n", [{"a": {"b": ["c", {"d": None}], "e": None}}]),
        ('{"a": {"b": [1, 2.5, null, true, "\\u00e9"]}}', [{"a": {"b": [1, 2.5, None, True, "é"]}}]),
        ("%YAML 1.2\n---\na: 1\n", [{"a": 1}]),
        ("\ufeffa: 1\n", [{"a": 1}]),
        ("a: 1\r\nb:\r\n  - c\r\n", [{"a": 1, "b": ["c"]}]),
        ("a: |\n  x\n   y\nb: >-\n  u\n  v\n", [{"a": "x\n y\n", "b": "u v"}]),
        ("a: x\n  y\nb: 'p\n  q'\n", [{"a": "x y", "b": "p q"}]),
        ("a: b # c\nd: e#f\n#g\n", [{"a": "b", "d": "e#f"}]),
        ("a: http://x:80/?q=1&r=!2*\n", [{"a": "http://x:80/?q=1&r=!2*"}]),
        ("? a\n: b\n", [{"a": "b"}]),
        ("ключ: значение 😀\n", [{"ключ": "значение 😀"}]),
        ("just text\n", ["just text"]),
    ],
)
def test_what_is_fine(text: str, expected: list[Any], parser: str) -> None:
    assert values(text) == expected


def test_documents_without_content_count() -> None:
    documents, _ = yamlio.parse("f", b"---\n# none\n---\na: 1\n---\n---\nb: 2\n...\n")
    assert [(document.index, document.value) for document in documents] == [(1, {"a": 1}), (3, {"b": 2})]


def test_merge_keys(parser: str) -> None:
    text = """
    first: &x {a: 1, b: 1}
    second: &z {b: 2, c: 2}
    explicit: {b: 9, <<: *x}
    list: {<<: [*z, *x], d: 3}
    inline: {<<: {a: 7}, <<: *x}
    both:
      <<: [{a: 5}, *x]
    quoted: {"<<": 1}
    """
    (got,) = values(text)
    assert got["explicit"] == {"a": 1, "b": 9}
    assert got["list"] == {"a": 1, "b": 2, "c": 2, "d": 3}
    assert got["inline"] == {"a": 7, "b": 1}
    assert got["both"] == {"a": 5, "b": 1}
    assert got["quoted"] == {"<<": 1}


def test_aliases(parser: str) -> None:
    assert values("a: &x [1]\nb: *x\n") == [{"a": [1], "b": [1]}]
    assert values("a: &x 1\n---\na: &x 2\nb: *x\n") == [{"a": 1}, {"a": 2, "b": 2}]
    assert values("a: &x 1\nb: &x 2\nc: *x\nd: &k e\n*k : 3\n") == [{"a": 1, "b": 2, "c": 2, "d": "e", "e": 3}]


def test_many_values_without_aliases_are_fine() -> None:
    (got,) = values("[" + "1," * 200_000 + "]")
    assert len(got) == 200_000


def test_a_hundred_levels_are_fine(parser: str) -> None:
    values("[" * 100 + "]" * 100)
    values("\n".join("  " * level + "k:" for level in range(100)))
    assert places("[" * 101 + "]" * 101) == [(1, 101, "E105")]
    assert places("\n".join(" " * level + "k:" for level in range(101)) + " {}\n") == [(101, 101, "E105")]
    # 94 levels, and what stands in brackets in the last line
    block = "\n".join(" " * level + "k:" for level in range(94))
    assert findings(f"{block} [[[[[[]]]]]]\n") == []
    assert places(f"{block} [[[[[[[]]]]]]]\n") == [(94, 103, "E105")]


# --- what is refused --------------------------------------------------------------------------------------------------


def test_duplicate_keys_are_all_found() -> None:
    text = "a: 1\nb:\n  - c: 1\n    d: 2\n    c: 3\n    c: 4\na: 2\n---\n{x: 1, x: 2}\n"
    assert findings(text) == [
        (5, 5, "E102", "the key 'c' is given twice, first in line 3"),
        (6, 5, "E102", "the key 'c' is given twice, first in line 3"),
        (7, 1, "E102", "the key 'a' is given twice, first in line 1"),
        (9, 8, "E102", "the key 'x' is given twice, first in line 9"),
    ]
    documents, problems = yamlio.parse("f", text.encode())
    assert [found.field for found in problems] == ["b[0].c", "b[0].c", "a", "x"]
    assert [document.value for document in documents] == [{"a": 1, "b": [{"c": 1, "d": 2}]}, {"x": 1}]


def test_a_key_in_other_quotes_is_the_same_key() -> None:
    assert places("a: 1\n'a': 2\n") == [(2, 1, "E102")]
    assert places('a: 1\n"\\x61": 2\n') == [(2, 1, "E102")]


def test_keys_that_are_no_strings() -> None:
    text = "y: 1\n8080: 1\n1.5: 1\n~: 1\n? [a]\n: 1\n? {a: b}\n: 1\nok: {off: 1}\n"
    assert findings(text) == [
        (1, 1, "E103", "the key 'y' is a boolean, not a string"),
        (2, 1, "E103", "the key '8080' is a number, not a string"),
        (3, 1, "E103", "the key '1.5' is a number, not a string"),
        (4, 1, "E103", "the key '~' is null, not a string"),
        (5, 3, "E103", "the key '[…]' is a list, not a string"),
        (7, 3, "E103", "the key '{…}' is a mapping, not a string"),
        (9, 6, "E103", "the key 'off' is a boolean, not a string"),
    ]
    assert findings("?\n: 1\n") == [(1, 2, "E103", "the key '' is null, not a string")]
    _, problems = yamlio.parse("f", b"a:\n  y: 1\n")
    assert (problems[0].field, problems[0].hint) == ("a", 'write "y" in quotes')


def test_aliases_that_explode() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 60)]
    began = time.process_time()
    found = places("\n".join(lines))
    assert time.process_time() - began < 1
    assert found == [(5, 45, "E104")]  # 110 + 1,110 + 11,110 + 8 times 11,111 values


def test_aliases_up_to_the_bound() -> None:
    text = "a: &a [{}]\nb: [{}]\n"
    at_bound = text.format(", ".join("x" * 99), ", ".join(["*a"] * 1000))
    assert findings(at_bound) == []
    assert [code for *_, code in places(at_bound.replace("b: [", "b: [*a, "))] == ["E104"]


def test_merge_keys_count_as_aliases() -> None:
    big = "\n".join(f"  k{n}: 1" for n in range(1000))
    merges = "\n".join(f"- {{<<: *b, m: {n}}}" for n in range(200))
    assert [code for *_, code in places(f"a: &b\n{big}\nc:\n{merges}\n")] == ["E104"]


def test_a_chain_of_aliases_is_not_deeper_than_brackets() -> None:
    chain = "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 120))
    assert places(chain) == [(100, 12, "E105")]


def test_recursive_aliases(parser: str) -> None:
    assert findings("a: &x [1, *x]\n") == [(1, 11, "E101", "the alias '*x' stands inside its own anchor")]
    assert findings("&x {<<: *x}\n") == [(1, 9, "E101", "the alias '*x' stands inside its own anchor")]
    assert findings("a: *x\n") == [(1, 4, "E101", "no anchor '&x' stands above this alias")]
    assert places("a: &x 1\n---\nb: *x\n") == [(3, 4, "E101")]
    assert findings("a: &x [&x 1, *x]\nb: *x\n") == []


@pytest.mark.parametrize("levels", [20_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "column"), [("[", 101), ("{a: ", 401), ("- ", 201), ("? ", 201), ("[{a: ", 251), ("!x [", 404)]
)
def test_endless_nesting_is_refused_at_once(levels: int, opening: str, column: int) -> None:
    began = time.process_time()
    found = places(opening * levels)
    assert time.process_time() - began < 3
    assert [code for *_, code in found if code != "E107"] == ["E105"]
    assert found[-1][:2] == (1, column if opening != "!x [" else 401)


def test_nesting_line_by_line_is_refused_at_once() -> None:
    text = "\n".join(" " * level + "a:" for level in range(4000))
    assert places(text) == [(101, 101, "E105")]


def test_large_files_are_not_read() -> None:
    comments = b"#" * 63 + b"\n"
    assert findings(b"a: 1\n" + comments * (16 * 1024 * 16)) == [
        (1, 1, "E106", "the file has 16,777,221 bytes, at most 16,777,216 are read")
    ]
    assert findings(b"a: 1" + b" " * 59 + b"\n" + comments * (16 * 1024 * 16 - 1)) == []


def test_long_lines_are_not_read(parser: str) -> None:
    """A base64 bundle of certificates in one line is."""
    assert values(f"a: {'Zm9v' * 75_000}\nb: 1\n") == [{"a": "Zm9v" * 75_000, "b": 1}]
    most = 512 * 1024
    for line in (f"a: {'x ' * most}"[:most], f'a: "{"x" * (most - 5)}"', f"# {'x' * (most - 2)}"):
        assert len(line) == most
        assert places(f"b: 1\n{line}\nc: 1") == []
        assert places(f"{line}\nb: 1") == []
        assert findings(f"b: 1\n  \n{line} \nc: 1") == [
            (3, 1, "E111", "the line has 524,289 bytes, at most 524,288 are read")
        ]
        assert places(f"\ufeff{line}") == [(1, 1, "E111")]


def test_long_keys_are_not_read(parser: str) -> None:
    for quote in ("", "'", '"'):
        key = f"{quote}{'k' * 1_024}{quote}"
        assert places(f"? {key}\n: 1\n") == []
        assert findings(f"a:\n  ? k{key}\n  : 1\n" if not quote else f"a:\n  ? {quote}k{key[1:]}\n  : 1\n") == [
            (2, 5, "E113", "the key has 1,025 characters, at most 1,024 are read")
        ]
    assert places(f"a: [&k {'k' * 1_025}, {{*k : 1}}]\n") == [(1, 1036, "E113")]


@pytest.mark.parametrize("item", ["- 1\n", "- {a: 1}\n"])
def test_files_of_very_many_values_are_not_read(item: str) -> None:
    most = (600_000 - 3) // (3 if "a" in item else 1)  # beside a map, its key, and the list
    assert findings("a:\n" + item * most) == []
    assert findings("a:\n" + item * (most + 1))[0][2:] == ("E112", "the file holds more than 600,000 values")


def test_documents_count_as_values() -> None:
    assert findings("---\n" * 600_000) == []
    assert findings("---\n" * 600_001) == [(600_002, 1, "E112", "the file holds more than 600,000 values")]


def test_aliases_of_long_texts_are_refused() -> None:
    text = "a: &a " + "x" * 65_536 + "\nb: [" + "*a, " * 64
    assert findings(text + "1]\n") == []
    assert findings(text + "*a]\n") == [
        (2, 261, "E114", "the aliases of this file expand to more than 4,194,304 characters")
    ]


def test_very_many_problems_are_not_told() -> None:
    found = findings("a: 1\n" * 1_000)
    assert [code for *_, code, _ in found] == ["E102"] * 200 + ["E115"]
    assert found[-1] == (201, 1, "E115", "here are 200 problems: the rest of the file is not read")
    assert len(findings("a: !b 1\nc: [" + "!d 1, " * 5_000)) == 201


def test_tags() -> None:
    text = (
        "a: !foo 1\nb: !!str 2\nc: ! 3\nd: !!python/object:os.system x\ne: !<tag:x> {}\n"
        "f: [!!int '1', &a !x y]\n!!str g: 1\n"
    )
    assert findings(text) == [
        (1, 4, "E107", "the tag !foo is not allowed"),
        (2, 4, "E107", "the tag !!str is not allowed"),
        (3, 4, "E107", "the tag ! is not allowed"),
        (4, 4, "E107", "the tag !!python/object:os.system is not allowed"),
        (5, 4, "E107", "the tag tag:x is not allowed"),
        (6, 5, "E107", "the tag !!int is not allowed"),
        (6, 16, "E107", "the tag !x is not allowed"),
        (7, 1, "E107", "the tag !!str is not allowed"),
    ]
    assert findings("a: !x!y 1\n") == [(1, 4, "E107", "the tag !x!y is not allowed")]
    assert findings("a: [!<x]\n") == [(1, 5, "E107", "the tag !<x is not allowed")]
    assert places("!\n") == [(1, 1, "E107")]


@pytest.mark.parametrize(
    ("data", "place", "byte"),
    [
        (b"a: \xff", (1, 4), "0xff"),
        (b"a: 1\nb: \xc3\xa4\xc3\n", (2, 5), "0xc3"),
        (b"a: 1\r\nb: \x80\n", (2, 4), "0x80"),
        (b"\xef\xbb\xbfa: \xe9t\xe9\n", (1, 4), "0xe9"),
        (b"a: \xed\xa0\x80\n", (1, 4), "0xed"),
        (b"a: \xf4\x90\x80\x80\n", (1, 4), "0xf4"),
        ("a: 1\n".encode("utf-16"), (1, 1), "0xff"),
        (b"\xfe\xff" + "a: 1\n".encode("utf-16-be"), (1, 1), "0xfe"),
        ("a: 1\n".encode("utf-32"), (1, 1), "0xff"),
    ],
)
def test_what_is_no_utf8(data: bytes, place: tuple[int, int], byte: str, parser: str) -> None:
    assert findings(data) == [(*place, "E108", f"not valid UTF-8: byte {byte}")]


@pytest.mark.parametrize("char", ["\x00", "\x01", "\x0b", "\x1b", "\x7f", "\x80", "\x9f", "\ufffe", "\uffff"])
def test_characters_that_yaml_forbids(char: str, parser: str) -> None:
    message = f"the character U+{ord(char):04X} is not allowed in YAML"
    assert findings(f"a: 1\nä: x{char}y\n") == [(2, 5, "E109", message)]
    assert findings(f"a: 1\n# {char}\n") == [(2, 3, "E109", message)]
    assert findings(f"\ufeff{char}") == [(1, 1, "E109", message)]


def test_utf16_without_a_mark_has_nul_bytes() -> None:
    assert places("a: 1\n".encode("utf-16-le")) == [(1, 2, "E109")]


def test_numbers_that_json_does_not_know() -> None:
    text = "a: .nan\nb: [-.inf, +.INF]\nc: '.nan'\n.inf: 1\n"
    assert findings(text) == [
        (1, 4, "E110", ".nan is not a number that JSON knows"),
        (2, 5, "E110", "-.inf is not a number that JSON knows"),
        (2, 12, "E110", "+.INF is not a number that JSON knows"),
        (4, 1, "E110", ".inf is not a number that JSON knows"),
    ]


SYNTAX = [
    ("a:\n\tb: 1\n", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: 1\n\tb: 2\n", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("\ta: 1\n", (1, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: b: c\n", (1, 5), "a ':' cannot stand here", "indentation"),
    ("a: 1\n  b: 2\n", (2, 4), "a ':' cannot stand here", "indentation"),
    ("a: @x\n", (1, 4), "a value cannot begin with '@'", "quotes"),
    ("a: `x\n", (1, 4), "a value cannot begin with '`'", "quotes"),
    ("- %x\n", (1, 3), "a value cannot begin with '%'", "quotes"),
    ("a: 'x\nb: 1\n", (1, 4), "the quote that begins here is never closed", "close it"),
    ('- "x\n---\n"\n', (1, 3), "the quote that begins here is never closed", "close it"),
    ("a: [1, 2\nb: 3\n", (2, 2), "',' or ']' is missing in the brackets that begin in line 1", "close"),
    ("\na: {x: 1\nb: 3\n", (3, 2), "',' or '}' is missing in the braces that begin in line 2", "close"),
    ("a: [\n", (2, 1), "a value should stand here", "brackets"),
    ("a: ]\n", (1, 4), "a value should stand here", "brackets"),
    ('a: "\\q"\n', (1, 5), "double quotes know no such escape", "backslash"),
    ('a: "\\xZZ"\n', (1, 7), "this escape names no character", "backslash"),
    ('a: "\\ud800"\n', (1, 7), "this escape names no character", "backslash"),
    ("a: *.safetensors\n", (1, 4), "no name follows the '*'", "quotes"),
    ("a: & b\n", (1, 4), "no name follows the '&'", "quotes"),
    ("- a\nb: 1\n", (2, 1), "this is no item of the list of line 1", "indentation"),
    ("a:\n   b: 1\n  c: 2\n", (3, 3), "this is no key of the mapping of line 1", "indentation"),
    ("a: 'it's'\n", (1, 8), "this is no key of the mapping of line 1", "indentation"),
    ("a: 1\nb\nc: 2\n", (2, 1), "no ':' follows this key", "key: value"),
    ("a: |x\n  y\n", (1, 5), "only - + 1 to 9 can follow '|' or '>'", "next line"),
    ("a: |0\n  y\n", (1, 5), "only - + 1 to 9 can follow '|' or '>'", "next line"),
    ("a: - b\n", (1, 4), "a list item cannot stand here", "below"),
    ("a: 1\n...\nb: 2\n", (3, 1), "the document ended above, only '---' can follow", "---"),
    ("%FOO\n---\na: 1\n", (1, 5), "YAML has no such directive", "%"),
    ("%YAML 2.0\n---\na: 1\n", (1, 1), "only YAML 1.1 and 1.2 are known", "%"),
    ("a: {<<: 1}\n", (1, 9), "'<<' merges a mapping or a list of mappings, nothing else", ""),
    ("a: {<<: [{}, 1]}\n", (1, 14), "'<<' merges a mapping or a list of mappings, nothing else", ""),
    ("\ufeffa: @x\n", (1, 4), "a value cannot begin with '@'", "quotes"),
    ("a: 1\r\nb: @x\r\n", (2, 4), "a value cannot begin with '@'", "quotes"),
    ("ä: @x\n", (1, 4), "a value cannot begin with '@'", "quotes"),
]


@pytest.mark.parametrize(("text", "place", "message", "hint"), SYNTAX)
def test_syntax_errors(text: str, place: tuple[int, int], message: str, hint: str) -> None:
    assert findings(text) == [(*place, "E101", message)]
    _, (found,) = yamlio.parse("f", text.encode())
    assert hint in found.hint


@pytest.mark.parametrize("text", [text for text, *_ in SYNTAX if "%FOO" not in text])  # which PyYAML skips
def test_the_pure_parser_refuses_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_parser, "Parser", event_parser.PureParser)
    ((line, _, code, message),) = findings(text)
    monkeypatch.undo()
    ((same_line, _, same_code, same_message),) = findings(text)
    assert (code, message) == (same_code, same_message)
    assert line == same_line


def test_documents_before_a_broken_one_are_kept() -> None:
    documents, problems = yamlio.parse("f", b"a: 1\n---\nb: 2\nb: 3\n---\nc: [\n")
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}]
    assert [(found.line, found.column, found.code) for found in problems] == [(4, 1, "E102"), (7, 1, "E101")]
    documents, _ = yamlio.parse("f", b"a\nb: 1\n")
    assert documents == []


@pytest.mark.parametrize("fault", [ValueError, MemoryError, RecursionError, yaml.YAMLError, AttributeError])
def test_a_fault_of_the_parser_is_a_problem(fault: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> Any:
        raise fault("out of order")

    monkeypatch.setattr(event_parser, "Parser", broken)
    assert findings("a: |\n  new text\n") == [(1, 1, "E101", "the YAML cannot be read: out of order")]


def test_random_bytes_never_raise() -> None:
    dice = random.Random(3)
    pieces = ["a", ": ", "- ", "\n", "  ", "[", "]", "{", "}", "&x ", "*x", "!t ", "<<", "'", '"', "|", ">", "#", ","]
    pieces += [
        "\t",
        "\x00",
        "é",
        "\ufeff",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "? ",
        "\\",
        "y",
        "1e3",
        ".nan",
        "\r",
        "@",
        "\x85",
        "\u2028",
    ]
    for _ in range(5000):
        text = "".join(dice.choice(pieces) for _ in range(dice.randrange(12))).encode()
        if dice.random() < 0.1:
            text += bytes(dice.randrange(256) for _ in range(3))
        documents, problems = yamlio.parse("f", text)
        assert all(found.line >= 1 and found.column >= 1 for found in problems)
        for document in documents:
            assert document.locate(("a", 0, "b"))[0] >= 1


# --- places -----------------------------------------------------------------------------------------------------------

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
    first, second = yamlio.parse("test.yaml", b"a: 1\n---\nb: 2\n")[0]
    assert first.locate(("a",)) == (1, 4)
    monkeypatch.setattr(event_parser, "Parser", None)
    assert second.locate(("b",)) == (3, 4)


# --- the quick ways ---------------------------------------------------------------------------------------------------

KEYS = [
    "a",
    "b",
    "name",
    "key",
    "nvidia.com/gpu",
    "x-y",
    "$k",
    "8080",
    "y",
    '"q r"',
    '"8"',
    "'s'",
    "a b",
    "<<",
    "?",
    "-",
]
VALUES = [
    *words(
        "x 1 y off 1e3 0.10 http://a:80 a:b a#b 'q' \"q\" 'it''s' {a:1} [] {} [a @x `x %x ,x ] ?x :x a: ~ = << --- ..."
    ),
    *("a #c", "'x: y'", "[a, b]", "{a: 1}", "{a: 1, b: [x, {c: d}]}", "{a: 1}: b", "[a]: b", '"k": v', '"a" b', "- a"),
    *words('#c - -a --f > >- | |- *x a,b (x) ^x ; <x \\x "" \'a "a"#c [a]#c {a} {y:1} .nan x:y:z 1:20 a{b} {{x}} é'),
    *(
        "&a b",
        "!t x",
        "? x",
        ": x",
        "a: b",
        "a  b",
        "",
        "  ",
        "\t",
        "a\tb",
        '"a" #c',
        "[a] #c",
        "{a: 1, a: 2}",
        "{y: 1}",
    ),
    *(
        "a ? b",
        "a - b",
        "a & b",
        "a ! b",
        "{{ x }}",
        "[[[[[[a]]]]]]",
        "\x00",
        "\u2028x",
        "a\u2028b",
        "\ufeffx",
        "a\x85b",
    ),
]


def nearly_yaml(dice: random.Random) -> str:
    """A file in block style with, often, something wrong or odd in it."""
    lines: list[str] = []

    def value() -> str:
        return dice.choice(VALUES[:14] if dice.random() < 0.93 else VALUES)

    def mapping(column: int, lead: str, depth: int) -> None:
        for _ in range(dice.randint(1, 3)):
            key = dice.choice(KEYS[:7] if dice.random() < 0.95 else KEYS)
            chance = dice.random()
            if chance < 0.5 or depth > 4:
                lines.append(f"{lead}{key}: {value()}")
            else:
                lines.append(f"{lead}{key}:")
                if chance < 0.75 and dice.random() < 0.9:
                    below = column + dice.choice([2, 2, 2, 1, 4])
                    mapping(below, " " * below, depth + 1)
                elif chance >= 0.75:
                    items(column + dice.choice([0, 2, 2]), depth + 1)
            lead = " " * column

    def items(column: int, depth: int) -> None:
        for _ in range(dice.randint(1, 3)):
            chance = dice.random()
            if chance < 0.4:
                lines.append(" " * column + "- " + value())
            elif chance < 0.9:
                dash = dice.choice(["- ", "- ", "- ", "-   "])
                mapping(column + len(dash), " " * column + dash, depth + 1)
            else:
                lines.append(" " * column + "-")
                if dice.random() < 0.8:
                    below = column + dice.choice([1, 2, 3])
                    mapping(below, " " * below, depth + 1)

    for number in range(dice.choice([1, 1, 1, 2, 3])):
        if number or dice.random() < 0.3:
            lines.append(dice.choice(["---", "---", "--- # c"]))
        if dice.random() < 0.9:
            column = dice.choice([0, 0, 0, 2])
            mapping(column, " " * column, 0)
        elif dice.random() < 0.5:
            items(0, 0)
    for _ in range(dice.choice([0, 0, 0, 1, 1, 2, 3])):
        if not lines:
            break
        at = dice.randrange(len(lines))
        chance = dice.random()
        if chance < 0.2:
            del lines[at]
        elif chance < 0.35:
            lines.insert(at, dice.choice(lines))
        elif chance < 0.65:
            lines[at] = " " * dice.randint(0, 5) + lines[at].lstrip(" ")
        elif chance < 0.8:
            lines[at] += dice.choice([" ", "  # c", "\t", ":", " :", "x", " x", "#", "\r"])
        else:
            cut = dice.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + dice.choice(" -:#'\"[]{},|>&*!%@`a1?\t~") + lines[at][cut:]
    return "\n".join(lines) + dice.choice(["\n", "\n", "", "\n\n"])


def test_the_quick_ways_read_what_the_careful_way_reads() -> None:
    dice = random.Random(20)
    vouched = {"from_lines": 0, "from_events": 0}
    for _ in range(2500):
        text = nearly_yaml(dice)
        careful = Careful("f", text.encode())
        expected = [node and node.value for node in careful.read()]
        for name, source in (("from_lines", text), ("from_events", text.encode())):
            try:
                got = getattr(quick, name)(source)
            except (scalars.Odd, IndexError):
                continue
            vouched[name] += 1
            assert careful.problems == [], text
            assert repr(got) == repr(expected), text
    assert vouched["from_lines"] > 600
    assert vouched["from_events"] > vouched["from_lines"]


def test_brackets_hold_what_the_careful_way_reads() -> None:
    dice = random.Random(7)
    pieces = words("[ ] { } {} [] , , : a b y 1 -x --y a:b it's 'q' \"q\" '[b' \"!x\" #c ? * & ~ 1.50 0x1F == << \\")
    pieces += [", ", ", ", ", ", ": ", ": ", " ", " #c", "- ", "a > 1", "a: b", "'c: d'"]
    vouched = 0
    for _ in range(40_000):
        inner = "".join(dice.choices(pieces, k=dice.randint(0, 7)))
        text = dice.choice(["[%s]", "{%s}", "{a: %s}", "[a, %s]", "{a: 1, b: %s}", "%s"]) % inner
        try:
            got = brackets.read(text, 5)
        except scalars.Odd:
            continue
        vouched += 1
        careful = Careful("f", f"k: {text}".encode())
        (node,) = careful.read()
        assert careful.problems == [], text
        assert repr({"k": got}) == repr(node and node.value), text
    assert vouched > 4_000


def test_a_usual_file_is_read_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_parser, "Parser", None)
    text = 'a: {b: [c, \'d e\', {f: 1}], "g": h:1} # i\nj: []\nk: {}\n--l: "m"\n'
    assert values(text.encode()) == [{"a": {"b": ["c", "d e", {"f": 1}], "g": "h:1"}, "j": [], "k": {}, "--l": "m"}]


def test_ordinary_files_are_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DATA / "rendered-chat.yaml").read_bytes()
    expected = values(text)
    quick.LINES.known.clear()
    monkeypatch.setattr(yamlio, "_careful", None)
    assert values(text) == expected
    of_lines = quick.from_lines(text.decode())
    assert of_lines == expected
    assert events.read(text) == expected
    assert expected == list(yaml.safe_load_all(text))


def test_flow_collections_of_a_line_are_not_shared() -> None:
    text = "a: {b: [1]}\n"
    (first,), (second,) = values(text), values(text)
    assert first == second
    assert first["a"] is not second["a"]
    assert first["a"]["b"] is not second["a"]["b"]


def test_memos_are_bounded() -> None:
    for number in range(9_000):
        yamlio.parse("f", b"a: v%d\n" % number)
        yamlio.dump({f"k{number}": f"v{number}"})
    for memo in (quick.LINES, scalars.VALUES, scalars.KEYS, writing.STRINGS, writing.TOP.heads):
        assert 0 < len(memo.known) <= 4_000


# --- out --------------------------------------------------------------------------------------------------------------


def test_the_example_comes_back_byte_by_byte() -> None:
    text = (DATA / "rendered-chat.yaml").read_text("utf-8")
    expected = text.split("\n", 1)[1].split("---\n")
    assert [yamlio.dump(value) for value in values(text)] == expected
    assert len(expected) == 4


@pytest.mark.parametrize(
    "word",
    [
        *words(
            "--flag -fa -1x --a=b 0.0.0.0 10Gi 500m 1e3Mi /a/b ./x ../x http://x:80 v1.2.3 1.2.3.4 2001-01-01x 1:99"
        ),
        *words(
            "a:b a#b a,b a=b a&b a*b a@b x% x[0] f(x) $(POD_NAME) _1 <<x ~x yes! nope ye null-ish :8080 ?x inf nan +"
        ),
        *words("0xZZ sha256:0a1b Qwen/Qwen3-8B é 中文 😀"),
        *("a b", "a  b", "x {{ y }}", "a - b", "a 'b' \"c\""),
    ],
)
def test_what_stays_plain(word: str) -> None:
    assert yamlio.dump({"k": word}) == f"k: {word}\n"
    assert yamlio.dump([word]) == f"- {word}\n"
    assert yamlio.dump({word: "v"}) == f"{word}: v\n"


@pytest.mark.parametrize(
    "word",
    [
        *words(
            "1e3 1E5 12e03 .1e3 1.e3 -1e-3 0o14 0O7 0X1f 0x1F 0b1 0B1 0b-0 08 007 0 1 -1 +1 1_000 1_ +_1 0x_ 1.5 .5 1."
        ),
        *words(
            "-.5 0.10 y Y n N yes No ON off true False TRUE null Null NULL ~ = << . .. ... --- .inf -.INF .nan .NaN"
        ),
        *words(
            "1:20 12:30:45 1:2 190:20:30.15 2001-01-01 2001-1-1 2001-01-01T00:00:00Z 0.33.0 {x} [x] *a &a !a %a @a `a"
        ),
        *words("|x >x #x 'x' \"x\" ,x ]x }x - ? : a:"),
        *("", " ", "- x", "? x", ": x", " x", "x ", "a: b", "a #b", "--- x", "... x", "{{ x }}", "2001-01-01 00:00:00"),
    ],
)
def test_what_is_quoted(word: str) -> None:
    quoted = json.dumps(word)
    assert yamlio.dump({"k": word}) == f"k: {quoted}\n"
    assert yamlio.dump([word]) == f"- {quoted}\n"
    assert yamlio.dump({word: "v"}) == f"{quoted}: v\n"


@pytest.mark.parametrize("plain", [plain for plain, read in PLAIN.items() if read.get("value") != plain])
def test_what_go_reads_as_something_else_is_quoted(plain: str) -> None:
    assert yamlio.dump({"k": plain}) == f"k: {json.dumps(plain)}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x00\x07\x1b\x7f", r'"\u0000\u0007\u001b\u007f"'),
        ("a\tb", r'"a\tb"'),
        ("a\rb", r'"a\rb"'),
        ("\x85\u2028\u2029\ufeff", r'"\u0085\u2028\u2029\ufeff"'),
        ("\u200b\u202e\xa0\xad", r'"\u200b\u202e\u00a0\u00ad"'),
        ("\ud800", r'"\ud800"'),
        ("\ufffe\U000e0001\U0010ffff", r'"\ufffe\U000e0001\U0010ffff"'),
        ('"\\', r'"\"\\"'),
        ("\n", r'"\n"'),
        ("\n\n", r'"\n\n"'),
        (" \n ", r'" \n "'),
        ("a\n\tb", r'"a\n\tb"'),
        ("a\nb\x00", r'"a\nb\u0000"'),
        ("a\r\nb", r'"a\r\nb"'),
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n\n", "|+\n  a\n\n"),
        ("a\n  b \n\n# c\n", "|\n  a\n    b \n\n  # c"),
        (" a\nb", "|2-\n   a\n  b"),
        ("\na\n", "|2\n\n  a"),
        ("a\n---\nb: [", "|-\n  a\n  ---\n  b: ["),
        ("a\n \n", "|\n  a\n   "),
        ("{% for x in y %}\n\ty\n", r'"{% for x in y %}\n\ty\n"'),
    ],
)
def test_how_strings_are_written(text: str, expected: str) -> None:
    assert yamlio.dump({"k": text}) == f"k: {expected}\n"
    if "\ud800" not in text:
        assert values(yamlio.dump({"k": [text]})) == [{"k": [text]}]


def test_layout() -> None:
    body = {
        "a": {"b": {}, "c": [], "d": None, "e": True, "f": False, "g": 1, "h": 1.5},
        "l": ["x", 1, None, {}, [], {"m": {"p": 1}, "o": ["p"]}, ["q", ["r", {"s": 1, "t": 2}]], "u\nv"],
        "w": [{"x": "y\nz"}],
    }
    text = """\
a:
  b: {}
  c: []
  d: null
  e: true
  f: false
  g: 1
  h: 1.5
l:
  - x
  - 1
  - null
  - {}
  - []
  - m:
      p: 1
    o:
      - p
  - - q
    - - r
      - s: 1
        t: 2
  - |-
    u
    v
w:
  - x: |-
      y
      z
"""
    assert yamlio.dump(body) == text
    assert values(text) == [body]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        (None, "null\n"),
        ("x", "x\n"),
        ("y", '"y"\n'),
        ("a\nb\n", "|\n  a\n  b\n"),
        (7, "7\n"),
        (True, "true\n"),
        ([1, True, 1.0, "1"], '- 1\n- true\n- 1.0\n- "1"\n'),
        ({"a": 1, "b": True, "c": 1.0}, "a: 1\nb: true\nc: 1.0\n"),
        ([1e-7, 1e22, 5e-324], "- 1.0e-07\n- 1.0e+22\n- 5.0e-324\n"),
    ],
)
def test_other_roots_and_numbers(body: object, text: str) -> None:
    assert yamlio.dump(body) == text
    assert yaml.safe_load(text) == body


def test_a_key_longer_than_readers_look() -> None:
    body = {"a" * 1020: {"b": ["c"]}, "l": [{"k" * 1023: "v", "w": {"x" * 1024: 1}}]}
    text = yamlio.dump(body)
    assert values(text) == [body]
    assert yaml.safe_load(text) == body


@pytest.mark.parametrize("body", [{1: 2}, {None: 1}, {"a": object()}, {"a": {1}}, [b"x"], ("a",), {"a": ("b",)}])
def test_what_is_no_yaml_is_a_type_error(body: object) -> None:
    with pytest.raises(TypeError):
        yamlio.dump(body)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_infinities_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not a number that JSON knows"):
        yamlio.dump({"a": number})


def test_documents_are_parted_by_three_dashes() -> None:
    bodies: list[object] = [{"a": 1}, [{"b": 2}, [[3]]], "c", "d\ne\n", {}, None, [{"f": {"g": []}}]]
    assert yamlio.dump(*bodies) == "---\n".join(map(yamlio.dump, bodies))
    assert values(yamlio.dump(*bodies).encode()) == [each for each in bodies if each is not None]
    assert yamlio.dump() == ""


def test_shared_mappings_are_written_like_others() -> None:
    plain = {"a": {"b": ["c", {"d": "e\nf"}]}, "g": 1}
    shared = yamlio.Shared(plain)
    for body in (lambda x: {"k": x, "l": [x, [x]], "m": {"n": x}}, lambda x: x, lambda x: [x]):
        assert yamlio.dump(body(shared)) == yamlio.dump(body(plain))
        assert yamlio.dump(body(shared)) == yamlio.dump(body(plain))
    assert yamlio.dump({"a": yamlio.Shared({})}) == "a: {}\n"


def test_a_copy_of_a_shared_mapping_is_plain() -> None:
    shared = yamlio.Shared({"a": {"b": 1}})
    before = yamlio.dump({"k": shared})
    for made in (copy.copy(shared), copy.deepcopy(shared), shared.copy(), pickle.loads(pickle.dumps(shared))):  # noqa: S301
        assert type(made) is dict
        assert made == shared
    deep = copy.deepcopy(shared)
    deep["a"]["b"] = 2
    assert yamlio.dump({"k": deep}) == before.replace("1", "2")


@yamlio.form
def _filled(name: object, labels: object, rest: object = None, more: object = None) -> dict[str, Any]:
    spec: dict[str, Any] = {"kind": "None", "on": name, "list": [{"first": labels, "name": name}, ["0"]]}
    if rest is not None:
        spec["rest"] = rest
    if more is not None:
        spec["more"] = {"more": more}
    return {"name": name, "metadata": {"labels": labels}, "spec": spec}


GIVEN: list[Any] = [
    *("a", "a", "b", "", "no", "a: b", "a\nb\n", " a\nb", "\n", "a\tb", 0, 1, True, False, 1.0, -1, 1e30),
    *({}, {"a": "b"}, {"a": {"b": ["c"]}}, [], ["a", "b\nc"], [{"a": 1}], [[]]),
    *(yamlio.Shared({}), yamlio.Shared({"a": {"b": "c\nd"}})),
]


@pytest.mark.parametrize("value", GIVEN)
def test_filled_forms_are_written_like_the_bodies(value: Any) -> None:
    for given in [(value, "a"), ("a", value), ("a", {}, value), ("a", {}, None, value), ("a", {}, value, value)]:
        body, filled = _filled(*given)
        assert yamlio.dump(filled) == yamlio.dump(body)
        assert yamlio.dump("a", filled, filled, head="# a\n") == "# a\n" + yamlio.dump("a", body, body)


def test_what_a_form_leaves_out_is_not_mixed_up() -> None:
    made = [("a", "b"), ("a", "b", "c"), ("a", "b", None, "c"), ("a", "b", "c", "d"), ("a", "b", None, None)]
    texts = [yamlio.dump(_filled(*given)[1]) for given in made]
    assert [text.count("rest: c") for text in texts] == [0, 1, 0, 1, 0]
    assert [text.count("more: ") for text in texts] == [0, 0, 1, 1, 0]
    assert texts[0] == texts[-1]


def test_a_form_has_no_blanks_in_lists() -> None:
    @yamlio.form
    def wrong(name: str) -> dict[str, Any]:
        return {"names": [name]}

    with pytest.raises(TypeError, match="Blank is not for YAML"):
        yamlio.dump(wrong("a")[1])


BITS = [
    *words("a b y no null ~ 1 0 e3 0x 0o _ . - + : # ' \" \\ { } [ ] , & * ! | > % @ ` ? = << é 中 😀 --- ... 1:20"),
    *words("\xa0 \x85 \u2028 \u2029 \ufeff \x00 \x07 \x1b \x7f \u200b \u3000 \ufffe \uffff \ue000 \U000e0001 --flag"),
    *(
        ": ",
        " #",
        " ",
        "  ",
        "   ",
        "\n",
        "\n\n",
        "\t",
        "\r",
        "\n  ",
        "\n ",
        "\n\t",
        " \n",
        "- ",
        "? ",
        "{{ x }}",
        "k: v",
    ),
    "x" * 90,
]
NUMBERS: list[Any] = [0, 1, -1, 10**20, 2**63, True, False, None, 0.1, -2.5, 1e-7, 1e22, 1.7e308, 3.0, {}, []]


def nasty_string(dice: random.Random) -> str:
    """A string that YAML could stumble over; sometimes an ordinary one."""
    if dice.random() < 0.2:
        return dice.choice(["name", "--max-model-len", "16384", "0.10", "http://x:80", "10Gi", "1e3", "on", ""])
    return "".join(dice.choice(BITS) for _ in range(dice.randint(1, 6)))


def nasty_tree(dice: random.Random, depth: int = 0) -> Any:
    """A tree of such strings, as keys too, and of other values."""
    chance = dice.random()
    if depth > 4 or chance < 0.35:
        return nasty_string(dice)
    if chance < 0.45:
        return dice.choice(NUMBERS)
    if chance < 0.8:
        return {nasty_string(dice): nasty_tree(dice, depth + 1) for _ in range(dice.randint(0, 4))}
    return [nasty_tree(dice, depth + 1) for _ in range(dice.randint(0, 4))]


def test_what_is_written_is_what_is_read() -> None:
    dice = random.Random(7)
    for _ in range(2000):
        tree = nasty_tree(dice)
        text = yamlio.dump(tree)
        assert all(char.isprintable() or char in "\n\t\u3000" for char in text)
        documents, problems = yamlio.parse("f", text.encode())
        assert problems == []
        assert [document.value for document in documents] == ([] if tree is None else [tree])
        assert yaml.load(text, yaml.SafeLoader) == tree
        assert yaml.load(text, yaml.CSafeLoader) == tree
        again = "".join(f"---\n{text}" for _ in range(2))
        assert list(yaml.load_all(again, yaml.CSafeLoader)) == [tree, tree]


@pytest.mark.parametrize("name", ["backends/sglang", "backends/tgi", "backends/vllm", "loaders/hub"])
def test_presets_that_most_runs_read_need_no_events(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each run imports PyYAML, which takes as long as rendering ten models."""

    def refuse(data: bytes) -> list[Any]:
        raise AssertionError(data)

    monkeypatch.setattr(quick, "from_events", refuse)
    path = Path(__file__).resolve().parent.parent / "presets" / f"{name}.yaml"
    assert quick.read(path.read_bytes())
