"""Where in a file a place of an expression stands, and what an expression reads."""

from __future__ import annotations

import pytest

from renderer import yamlio
from renderer.admission.source_text import place_in_file, read_paths, read_variables, without_literals


@pytest.mark.parametrize(
    ("text", "line", "column", "place"),
    [
        ("a: 'x == 1'\n", 1, 6, (1, 10)),
        ('a: "x == 1"\n', 1, 1, (1, 5)),
        ("a: x == 1\n", 1, 6, (1, 9)),
        ("a: x ==\n  1\n", 1, 6, (2, 3)),
        ("a: |\n  x ==\n    1\n", 2, 3, (3, 5)),
        ("a: >-\n  x ==\n  1\n", 1, 6, (3, 3)),
        ("a: 'x == ''b'' + 1'\n", 1, 12, (1, 18)),
        ('a: "x == \\"b\\" + 1"\n', 1, 12, (1, 18)),
        ("a: |\n  x == (\n", 2, 1, (2, 9)),
        ('a: "\\x78 == 1"\n', 1, 6, (1, 4)),
    ],
)
def test_a_place_of_an_expression(text: str, line: int, column: int, place: tuple[int, int]) -> None:
    documents, _ = yamlio.parse("a.yaml", text.encode())
    assert place_in_file(documents[0], ("a",), documents[0].value["a"], line, column) == place


def test_literals_are_no_names() -> None:
    assert without_literals("""request.x == 'request.y' + "it's" // object""").split() == [
        "request.x",
        "==",
        "'",
        "'",
        "+",
        '"',
        "'",
        '"',
    ]
    assert len(without_literals("'a' + 'b'")) == 9
    raw = r"""r'\' == request.a || br"\" == request.b || '\'request.c' == '' """
    assert [word for word in without_literals(raw).split() if "." in word] == ["request.a", "request.b"]


def test_what_an_expression_reads() -> None:
    text = (
        "object.spec.replicas > 1 && has(object.spec.a) && object.spec.b.all(x, x > 1) && 'object.c' != object.d['e']"
    )
    assert read_paths(text) == [("spec", "replicas"), ("spec", "a"), ("spec", "b"), ("d",)]
    assert read_paths(".object.spec.replicas > 1 && a.object.b && f(x).object.c") == [("spec", "replicas")]
    assert read_variables(".variables.a > variables . b && x.variables.c == 'variables.d'") == ["a", "b"]
