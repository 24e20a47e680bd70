"""YAML that is written: it is read as what was meant, by us and by others."""

from __future__ import annotations

import copy
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from renderer import yamlio
from tests.yamlio.reading import values, words

DATA = Path(__file__).resolve().parent.parent / "data"
PLAIN = json.loads((DATA / "yaml-plain-scalars.json").read_text("utf-8"))["plain"]


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
    with pytest.raises(ValueError, match="is not a valid JSON number"):
        yamlio.dump({"a": number})


def test_documents_are_parted_by_three_dashes() -> None:
    bodies: list[object] = [{"a": 1}, [{"b": 2}, [[3]]], "c", "d\ne\n", {}, None, [{"f": {"g": []}}]]
    assert yamlio.dump(*bodies) == "---\n".join(map(yamlio.dump, bodies))
    assert values(yamlio.dump(*bodies).encode()) == [body for body in bodies if body is not None]
    assert yamlio.dump() == ""


def test_shared_mappings_are_written_like_others() -> None:
    plain = {"a": {"b": ["c", {"d": "e\nf"}]}, "g": 1}
    shared = yamlio.SharedMap(plain)
    for body in (lambda x: {"k": x, "l": [x, [x]], "m": {"n": x}}, lambda x: x, lambda x: [x]):
        assert yamlio.dump(body(shared)) == yamlio.dump(body(plain))
        assert yamlio.dump(body(shared)) == yamlio.dump(body(plain))
    assert yamlio.dump({"a": yamlio.SharedMap({})}) == "a: {}\n"


def test_a_copy_of_a_shared_mapping_is_plain() -> None:
    shared = yamlio.SharedMap({"a": {"b": 1}})
    before = yamlio.dump({"k": shared})
    for copied in (copy.copy(shared), copy.deepcopy(shared), shared.copy(), pickle.loads(pickle.dumps(shared))):  # noqa: S301
        assert type(copied) is dict
        assert copied == shared
    deep = copy.deepcopy(shared)
    deep["a"]["b"] = 2
    assert yamlio.dump({"k": deep}) == before.replace("1", "2")


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
