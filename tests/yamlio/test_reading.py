"""What YAML means: scalars, merge keys, aliases, and files that are fine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from renderer import yamlio
from tests.yamlio.reading import findings, places, values

DATA = Path(__file__).resolve().parent.parent / "data"
PLAIN = json.loads((DATA / "yaml-plain-scalars.json").read_text("utf-8"))["plain"]


# --- scalars ----------------------------------------------------------------------------------------------------------


FORMS = ["v: {}\n", "v: [{}]\n", "- v: {} # why\n", "v:\n  &a {}\n"]


@pytest.mark.parametrize(
    ("plain", "form"), [(plain, form) for plain in PLAIN for form in FORMS if "," not in plain or "[" not in form]
)
def test_a_plain_scalar_means_what_go_reads(plain: str, form: str) -> None:
    expected = PLAIN[plain]
    documents, problems = yamlio.parse("test.yaml", form.format(plain).encode())
    if expected.get("error"):
        assert [problem.code for problem in problems] == ["E110"]
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
    tagged: {!!merge <<: *x, c: 3}
    """
    (got,) = values(text)
    assert got["explicit"] == {"a": 1, "b": 9}
    assert got["list"] == {"a": 1, "b": 2, "c": 2, "d": 3}
    assert got["inline"] == {"a": 7, "b": 1}
    assert got["both"] == {"a": 5, "b": 1}
    assert got["quoted"] == {"<<": 1}
    assert got["tagged"] == {"a": 1, "b": 1, "c": 3}


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
