"""A field is documented by a comment where it stands, a parameter in the docstring of its function: both are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "renderer").rglob("*.py"))

_NAME = r"`\*{0,2}([a-z_][a-z0-9_]*)`"
_DOCUMENTED = re.compile(rf"(?:{_NAME}(?:, (?:and )?| and | or ))*{_NAME}:(?!:)")
_SECTION = re.compile(
    r"^\s*(?:Attributes|Fields|Args|Arguments|Parameters):\s*$|^\s*:(?:ivar|var|cvar|param)\b", re.MULTILINE
)


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def documented_names(docstring: str) -> list[str]:
    """The names that a docstring documents, as `name`: …, or several with one text."""
    text = " ".join(docstring.split())
    return [name for match in _DOCUMENTED.finditer(text) for name in re.findall(_NAME, match[0])]


def documented_fields(text: str) -> list[str]:
    """The classes whose docstrings document fields, each with its line and what is documented there."""
    places = []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.ClassDef):
            docstring = ast.get_docstring(node) or ""
            names = documented_names(docstring) + [match[0].strip() for match in _SECTION.finditer(docstring)]
            places += [f"{node.lineno}: {node.name}: {', '.join(names)}"] if names else []
    return places


def stale_docs(text: str) -> list[str]:
    """The docs of fields and parameters that are not there, each with its line; those of functions around one count."""
    return [f"{node.lineno}: {node.name}: {name}" for node, name in _stale_names(parsed(text), frozenset())]


Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _stale_names(tree: ast.AST, outer_names: frozenset[str]) -> Iterator[tuple[Documented, str]]:
    for node in ast.iter_child_nodes(tree):
        names = outer_names
        if isinstance(node, Documented):
            names = _fields(node) if isinstance(node, ast.ClassDef) else outer_names | _parameters(node)
            for name in documented_names(ast.get_docstring(node) or ""):
                if name not in names:
                    yield node, name
        yield from _stale_names(node, frozenset() if isinstance(node, ast.ClassDef) else names)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    arguments = function.args
    all_arguments = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return frozenset(argument.arg for argument in all_arguments if argument)


def _fields(class_: ast.ClassDef) -> frozenset[str]:
    """The fields, properties and methods of a class, and what its methods set on it."""
    names = {node.name for node in class_.body if isinstance(node, Documented)}
    for node in ast.walk(class_):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            names.add(node.attr)
    for node in class_.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(names)


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_fields_are_documented_where_they_stand() -> None:
    places = {inside(path): documented_fields(path.read_text("utf-8")) for path in SOURCES}
    assert {path: classes for path, classes in places.items() if classes} == {}


def test_what_is_documented_is_there() -> None:
    places = {inside(path): stale_docs(path.read_text("utf-8")) for path in SOURCES}
    assert {path: stale for path, stale in places.items() if stale} == {}


@pytest.mark.parametrize(
    ("docstring", "names"),
    [
        ("A pod. `image`: of the engine; `env`: by name.", "image, env"),
        ("`image`: of the engine.", "image"),
        ("A pod. `low`, `high`: bounds; others.", "low, high"),
        ("A pod. `low` and `high`: bounds.", "low, high"),
        ("A pod.\n\n    Attributes:\n        image: of the engine.\n    ", "Attributes:"),
        ("A pod.\n\n    :ivar image: of the engine\n    ", ":ivar"),
    ],
)
def test_a_field_in_the_docstring_of_a_class_is_found(docstring: str, names: str) -> None:
    text = f'class Pod(Struct):\n    """{docstring}"""\n\n    image: str\n'
    assert documented_fields(text) == [f"1: Pod: {names}"]


@pytest.mark.parametrize(
    "docstring",
    [
        "A pod.",
        "As `image` says: nothing.",
        "Has `engine.image`: not ours.",
        "The key `readOnly`: of another.",
        "A `::`.",
    ],
)
def test_other_docstrings_document_no_field(docstring: str) -> None:
    assert documented_fields(f'class Pod(Struct):\n    """{docstring}"""\n\n    image: str\n') == []


@pytest.mark.parametrize(
    "text",
    [
        'class A(Struct):\n    """A. `fixed`: replicas."""\n\n    spec_replicas: int\n',
        'class A(TypedDict):\n    """A. `replicas`: of it, `fixed`: too."""\n\n    replicas: int\n',
        'class A(Protocol):\n    """A. `fixed`: replicas."""\n\n    def spec_replicas(self) -> int: ...\n',
        'def A(spec_replicas: int) -> None:\n    """A. `fixed`: replicas."""\n',
        'def A(spec_replicas: int) -> None:\n    """A. `spec_replicas` and `fixed`: replicas."""\n',
    ],
)
def test_a_stale_doc_is_found(text: str) -> None:
    assert stale_docs(text) == ["1: A: fixed"]


@pytest.mark.parametrize(
    "text",
    [
        'class A(Struct):\n    """A. `fixed`: replicas."""\n\n    fixed: int\n',
        'class A:\n    """A. `fixed`: replicas."""\n\n    def __init__(self) -> None:\n        self.fixed = 1\n',
        'class A(Protocol):\n    """A. `fixed`: replicas."""\n\n    @property\n    def fixed(self) -> int: ...\n',
        'def a(*fixed: int, **low: int) -> None:\n    """A. `fixed`, `low`: replicas."""\n',
        'def a(fixed: int) -> None:\n    def b() -> None:\n        """B. `fixed`: replicas."""\n',
        'def a(low: int) -> None:\n    """A, `fixed` or not; a call of `low`."""\n',
    ],
)
def test_docs_of_what_is_there_are_not_stale(text: str) -> None:
    assert stale_docs(text) == []
