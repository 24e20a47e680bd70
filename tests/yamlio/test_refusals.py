"""YAML that is refused: with the place, the word and the hint."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
import yaml

from renderer import yamlio
from renderer.yamlio import event_parser as event_parser
from tests.yamlio.reading import findings, places, values


def test_duplicate_keys_are_all_found() -> None:
    text = "a: 1\nb:\n  - c: 1\n    d: 2\n    c: 3\n    c: 4\na: 2\n---\n{x: 1, x: 2}\n"
    assert findings(text) == [
        (5, 5, "E102", "the key 'c' is given twice, first in line 3"),
        (6, 5, "E102", "the key 'c' is given twice, first in line 3"),
        (7, 1, "E102", "the key 'a' is given twice, first in line 1"),
        (9, 8, "E102", "the key 'x' is given twice, first in line 9"),
    ]
    documents, problems = yamlio.parse("f", text.encode())
    assert [problem.field for problem in problems] == ["b[0].c", "b[0].c", "a", "x"]
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
    refusals = places("\n".join(lines))
    assert time.process_time() - began < 1
    assert refusals == [(5, 45, "E104")]  # 110 + 1,110 + 11,110 + 8 times 11,111 values


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
    assert findings("a: &x [1, *x]\n") == [(1, 11, "E101", "the alias '*x' is inside its own anchor")]
    assert findings("&x {<<: *x}\n") == [(1, 9, "E101", "the alias '*x' is inside its own anchor")]
    assert findings("a: *x\n") == [(1, 4, "E101", "there is no anchor '&x' above this alias")]
    assert places("a: &x 1\n---\nb: *x\n") == [(3, 4, "E101")]
    assert findings("a: &x [&x 1, *x]\nb: *x\n") == []


@pytest.mark.parametrize("levels", [20_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "column"), [("[", 101), ("{a: ", 401), ("- ", 201), ("? ", 201), ("[{a: ", 251), ("!x [", 404)]
)
def test_endless_nesting_is_refused_at_once(levels: int, opening: str, column: int) -> None:
    began = time.process_time()
    refusals = places(opening * levels)
    assert time.process_time() - began < 3
    assert [code for *_, code in refusals if code != "E107"] == ["E105"]
    assert refusals[-1][:2] == (1, column if opening != "!x [" else 401)


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
    problems = findings("a: 1\n" * 1_000)
    assert [code for *_, code, _ in problems] == ["E102"] * 200 + ["E115"]
    assert problems[-1] == (201, 1, "E115", "too many problems (200): the rest of the file is not read")
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
        (1, 4, "E110", ".nan is not a valid JSON number"),
        (2, 5, "E110", "-.inf is not a valid JSON number"),
        (2, 12, "E110", "+.INF is not a valid JSON number"),
        (4, 1, "E110", ".inf is not a valid JSON number"),
    ]


SYNTAX = [
    ("a:\n\tb: 1\n", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: 1\n\tb: 2\n", (2, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("\ta: 1\n", (1, 1), "a tab cannot indent YAML", "indent with spaces"),
    ("a: b: c\n", (1, 5), "a ':' is not allowed here", "indentation"),
    ("a: 1\n  b: 2\n", (2, 4), "a ':' is not allowed here", "indentation"),
    ("a: @x\n", (1, 4), "a value cannot begin with '@'", "quotes"),
    ("a: `x\n", (1, 4), "a value cannot begin with '`'", "quotes"),
    ("- %x\n", (1, 3), "a value cannot begin with '%'", "quotes"),
    ("a: 'x\nb: 1\n", (1, 4), "the quote that begins here is never closed", "close it"),
    ('- "x\n---\n"\n', (1, 3), "the quote that begins here is never closed", "close it"),
    ("a: [1, 2\nb: 3\n", (2, 2), "',' or ']' is missing in the brackets that begin in line 1", "close"),
    ("\na: {x: 1\nb: 3\n", (3, 2), "',' or '}' is missing in the braces that begin in line 2", "close"),
    ("a: [\n", (2, 1), "a value is missing here", "brackets"),
    ("a: ]\n", (1, 4), "a value is missing here", "brackets"),
    ('a: "\\q"\n', (1, 5), "double quotes have no such escape", "backslash"),
    ('a: "\\xZZ"\n', (1, 7), "this escape names no character", "backslash"),
    ('a: "\\ud800"\n', (1, 7), "this escape names no character", "backslash"),
    ("a: *.safetensors\n", (1, 4), "no name follows the '*'", "quotes"),
    ("a: & b\n", (1, 4), "no name follows the '&'", "quotes"),
    ("- a\nb: 1\n", (2, 1), "expected a list item like line 1", "indentation"),
    ("a:\n   b: 1\n  c: 2\n", (3, 3), "expected a key of the mapping that begins in line 1", "indentation"),
    ("a: 'it's'\n", (1, 8), "expected a key of the mapping that begins in line 1", "indentation"),
    ("a: 1\nb\nc: 2\n", (2, 1), "no ':' follows this key", "key: value"),
    ("a: |x\n  y\n", (1, 5), "only - + 1 to 9 can follow '|' or '>'", "next line"),
    ("a: |0\n  y\n", (1, 5), "only - + 1 to 9 can follow '|' or '>'", "next line"),
    ("a: - b\n", (1, 4), "a list item is not allowed here", "below"),
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
    _, (problem,) = yamlio.parse("f", text.encode())
    assert hint in problem.hint


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
    assert [(problem.line, problem.column, problem.code) for problem in problems] == [(4, 1, "E102"), (7, 1, "E101")]
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
        assert all(problem.line >= 1 and problem.column >= 1 for problem in problems)
        for document in documents:
            assert document.locate(("a", 0, "b"))[0] >= 1


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a: 1\n<<: {a: 2}\n", [(2, "the key 'a' is given twice, first in line 1")]),
        ("<<: {a: 1}\n<<: {b: 2}\n", [(2, "the key '<<' is given twice, first in line 1")]),
        ("a: [{b: 1, <<: {b: 2}}]\n", [(1, "the key 'b' is given twice, first in line 1")]),
        ("<<: {a: 1}\na: 2\n", []),
        ("a: 1\n<<: {b: 2}\n", []),
        ("<<: [{a: 1}, {a: 2}]\n", []),
    ],
)
def test_merge_keys_that_readers_take_differently(text: str, reported: list[tuple[int, str]]) -> None:
    _, problems = yamlio.parse("a.yaml", text.encode(), disputes=True)
    assert [(problem.line, problem.message) for problem in problems] == reported
    assert yamlio.parse("a.yaml", text.encode())[1] == []
