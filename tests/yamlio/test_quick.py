"""The quick ways of reading agree with the careful one, and are taken."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from renderer import yamlio
from renderer.yamlio import event_parser as event_parser
from renderer.yamlio import event_reader, fast_reader, inline_values, scalars, writer
from renderer.yamlio.located_reader import LocatedReader
from tests.yamlio.reading import values, words

DATA = Path(__file__).resolve().parent.parent / "data"


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
        careful = LocatedReader("f", text.encode())
        expected = [node and node.value for node in careful.read()]
        for name, source in (("from_lines", text), ("from_events", text.encode())):
            try:
                got = getattr(fast_reader, name)(source)
            except (scalars.UncertainError, IndexError):
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
            got = inline_values.read(text, 5)
        except scalars.UncertainError:
            continue
        vouched += 1
        careful = LocatedReader("f", f"k: {text}".encode())
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
    fast_reader.LINES.known.clear()
    monkeypatch.setattr("renderer.yamlio.document._located_reader", None)
    assert values(text) == expected
    of_lines = fast_reader.from_lines(text.decode())
    assert of_lines == expected
    assert event_reader.read(text) == expected
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
    for memo in (fast_reader.LINES, scalars.VALUES, scalars.KEYS, writer.STRINGS, writer.TOP.heads):
        assert 0 < len(memo.known) <= 4_000


@pytest.mark.parametrize("name", ["backends/sglang", "backends/tgi", "backends/vllm", "loaders/hub"])
def test_presets_that_most_runs_read_need_no_events(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each run imports PyYAML, which takes as long as rendering ten models."""

    def refuse(data: bytes) -> list[Any]:
        raise AssertionError(data)

    monkeypatch.setattr(fast_reader, "from_events", refuse)
    path = Path(__file__).resolve().parents[2] / "presets" / f"{name}.yaml"
    assert fast_reader.read_fast(path.read_bytes())
