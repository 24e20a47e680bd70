"""What holds for the source as a whole and no linter knows. Who may import what stands in pyproject.toml."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from renderer import yamlio
from renderer.diagnostics.wordings import WORDINGS

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "renderer").rglob("*.py"))
NAMELESS = {"base", "common", "helpers", "manager", "utils"}
CATCH_ALL = {
    "renderer/cli/console.py": "an unforeseen fault becomes one line and exit code 3",
    "renderer/workers.py": "a worker sends whatever ends it to the process that started it",
    "renderer/yamlio/document.py": "whatever the quick ways stumble over, the careful way has words for it",
    "renderer/yamlio/located_reader.py": "libyaml and PyYAML promise nothing about what they raise",
}
SCHEME = "ollama"  # also the scheme of a URI, in the operator's API: once


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def preset_names() -> set[str]:
    """What the presets call engines, models and their families."""
    names = {SCHEME}
    for file in sorted((ROOT / "presets").glob("backends/*.yaml")) + sorted((ROOT / "presets").glob("models/*.yaml")):
        documents, problems = yamlio.parse(file.name, file.read_bytes())
        assert problems == []
        for document in documents:
            spec = document.value["spec"]
            words = (document.value["metadata"]["name"], spec.get("servedModelName"), spec.get("familyName"))
            names |= {word for word in words if word}
    return names


def mentions(names: Iterable[str], text: str) -> Counter[str]:
    """How often each name stands in the text as a word of its own; `_`, `-` and `.` end a word, letters do not."""
    counts: Counter[str] = Counter()
    for name in names:
        counts[name] = len(re.findall(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text, re.IGNORECASE))
    return +counts


def catch_alls(text: str) -> list[int]:
    """The lines of `except:`, `except Exception` and `except BaseException`, in tuples too, that end in no `raise`."""
    lines = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
            caught: list[Any] = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(
                exception is None or getattr(exception, "id", "") in ("Exception", "BaseException")
                for exception in caught
            ):
                lines.append(node.lineno)
    return lines


def test_no_engine_and_no_model_is_named_in_python() -> None:
    """YAML knows engines, Python knows kinds: a new engine is one preset."""
    names = preset_names()
    total: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for path in SOURCES:
        counts = mentions(names, path.read_text("utf-8"))
        total += counts
        for name in counts:
            where.setdefault(name, []).append(inside(path))
    if total[SCHEME] <= 1:
        where.pop(SCHEME, None)
    assert where == {}


def accelerators() -> set[str]:
    """What presets/accelerators.yaml calls accelerators, and their vendors."""
    documents, problems = yamlio.parse("", (ROOT / "presets" / "accelerators.yaml").read_bytes())
    assert problems == []
    rows = [row for row in documents[0].value["spec"]["resources"] if row["count"] != "none"]
    return {row.get("name") or row["pattern"].partition("*")[0] for row in rows} | {row["vendor"] for row in rows}


def test_no_python_names_an_accelerator() -> None:
    names = accelerators()
    assert len(names) > 10
    assert {inside(path): counts for path in SOURCES if (counts := mentions(names, path.read_text("utf-8")))} == {}


def test_the_presets_are_where_names_come_from() -> None:
    names = preset_names()
    for folder in ("backends", "models"):
        files = sorted((ROOT / "presets" / folder).glob("*.yaml"))
        assert files
        assert {file.stem for file in files} <= names  # a preset is called what its file is called


@pytest.mark.parametrize("text", ["x = 'a-b'", "# A-B", '"""For a-b."""', "if x == 'a-b:7':", "x_a-b = 1"])
def test_a_mention_is_found(text: str) -> None:
    assert mentions({"a-b"}, text) == Counter({"a-b": 1})


@pytest.mark.parametrize("text", ["aa-b", "a-bc", "a-b2", "a_b", "ab"])
def test_a_part_of_a_longer_word_is_no_mention(text: str) -> None:
    assert mentions({"a-b"}, text) == Counter()


def test_files_are_named_after_the_thing() -> None:
    assert [inside(path) for path in SOURCES if path.stem in NAMELESS or path.parent.name in NAMELESS] == []


POINTERS = {
    *("asked", "each", "found", "given", "handed", "held", "here", "kept", "made", "meant", "said", "taken", "told"),
    "wanted",
}


def pointers(text: str) -> list[str]:
    """Locals, parameters and fields that point at something instead of saying what it is; by line."""
    names = []
    for node in ast.walk(ast.parse(text)):
        name = node.arg if isinstance(node, ast.arg) else ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if name in POINTERS:
            names.append(f"{getattr(node, 'lineno', 0)}: {name}")
    return names


def test_no_two_public_classes_share_a_name() -> None:
    names: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names.setdefault(node.name, []).append(inside(path))
    assert {name: paths for name, paths in names.items() if len(paths) > 1} == {}


def test_locals_say_what_they_hold() -> None:
    paths = [path for folder in ("renderer", "scripts", "tests") for path in (ROOT / folder).rglob("*.py")]
    odd = {inside(path): pointers(path.read_text("utf-8")) for path in paths}
    assert {path: places for path, places in odd.items() if places} == {}


@pytest.mark.parametrize(
    "text", ["each = 1", "def f(each): pass", "[each for each in ()]", "for each in (): pass", "with a as each: pass"]
)
def test_a_pointer_is_found(text: str) -> None:
    assert pointers(text) == ["1: each"]


def test_a_field_can_be_a_pointer() -> None:
    assert pointers("class A:\n    asked: str\n    name: str") == ["2: asked"]


def test_nobody_else_catches_everything() -> None:
    lines_by_path = {inside(path): catch_alls(path.read_text("utf-8")) for path in SOURCES}
    assert {path: lines for path, lines in lines_by_path.items() if lines and path not in CATCH_ALL} == {}
    assert [path for path in CATCH_ALL if not lines_by_path[path]] == []  # an exception that is used no more


@pytest.mark.parametrize("caught", ["", " Exception", " BaseException as fault", " (OSError, Exception)"])
def test_a_catch_all_is_found(caught: str) -> None:
    assert catch_alls(f"try:\n    pass\nexcept{caught}:\n    pass\n") == [3]


@pytest.mark.parametrize("handler", [" OSError:\n    pass", " BaseException:\n    tidy()\n    raise"])
def test_a_named_fault_is_no_catch_all_nor_one_that_goes_on(handler: str) -> None:
    assert catch_alls(f"try:\n    pass\nexcept{handler}\n") == []


MOST_POSITIONAL = 7  # arguments of a call; above, a reader counts on his fingers
MOST_PARTS = 3
MANY_PARTS = ("groups", "opcodes")


def home_made(text: str) -> list[str]:
    """What is no standard machinery: `eval` and `exec`, metaclasses of our own, modules put into or taken out of
    `sys.modules`, and calls with more positional arguments, or tuples with more parts, than anybody can tell apart; by
    line. The groups of a match and difflib's operations may be as many as they are.
    """
    odd = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                odd.append(f"{node.lineno}: {node.func.id}")
            if len(node.args) > MOST_POSITIONAL:
                odd.append(f"{node.lineno}: {len(node.args)} positional arguments")
        elif isinstance(node, ast.ClassDef) and any(keyword.arg == "metaclass" for keyword in node.keywords):
            odd.append(f"{node.lineno}: metaclass")
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules":
            odd.append(f"{node.lineno}: sys.modules")
        elif isinstance(node, (ast.Assign, ast.For, ast.comprehension)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.value if isinstance(node, ast.Assign) else node.iter
            named = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in MANY_PARTS
            for target in () if named or isinstance(value, ast.Tuple) else targets:
                if (parts := max((len(part.elts) for part in tuples(target)), default=0)) > MOST_PARTS:
                    odd.append(f"{target.lineno}: {parts} parts")
    return odd


def tuples(target: ast.expr) -> Iterator[ast.Tuple]:
    """The tuples that an assignment takes apart."""
    if isinstance(target, ast.Tuple):
        yield target
        for part in target.elts:
            yield from tuples(part)


def test_machinery_is_the_standard_one() -> None:
    odd = {inside(path): home_made(path.read_text("utf-8")) for path in SOURCES}
    assert {path: places for path, places in odd.items() if places} == {}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("eval('1')", "1: eval"),
        ("f(1, 2, 3, 4, 5, 6, 7, 8)", "1: 8 positional arguments"),
        ("class A(metaclass=B): pass", "1: metaclass"),
        ("import sys\nsys.modules['a'] = b", "2: sys.modules"),
        ("a, b, c, d = f()", "1: 4 parts"),
        ("for i, (a, b, c, d) in f(): pass", "1: 4 parts"),
    ],
)
def test_home_made_machinery_is_found(text: str, place: str) -> None:
    assert home_made(text) == [place]


def test_methods_and_seven_arguments_are_no_home_made_machinery() -> None:
    assert home_made("program.eval(1, 2, 3, 4, 5, 6, 7, a=8)") == []


def test_three_parts_and_the_groups_of_a_match_are_no_home_made_machinery() -> None:
    assert home_made("a, (b, c, d) = f()\na, b, c, d = 1, 2, 3, 4\na, b, c, d = match.groups()") == []


def codes_in(text: str) -> set[str]:
    """The codes of diagnostics that a grep finds: string literals, and not parts of texts that are put together."""
    tree = ast.parse(text)
    parts = {part for node in ast.walk(tree) if isinstance(node, (ast.JoinedStr, ast.BinOp)) for part in ast.walk(node)}
    literals = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in parts)
    return {str(node.value) for node in literals if re.fullmatch(r"[EWN][0-9]{3}", str(node.value))}


def test_a_grep_finds_where_a_code_is_told() -> None:
    """A code stands whole where it is told, so that one word finds its page, its wording and its rule."""
    texts = [path.read_text("utf-8") for path in SOURCES if "wordings" not in path.parts]
    assert WORDINGS.keys() - {code for text in texts for code in codes_in(text)} == set()


@pytest.mark.parametrize(
    "text", ['code = f"{prefix}431"', 'code = prefix + "431"', 'code = "E" + "431"', 'code = "431"']
)
def test_a_code_that_is_put_together_is_not_found(text: str) -> None:
    assert codes_in(text) == set()
