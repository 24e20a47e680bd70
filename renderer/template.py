"""Fills the `{{ words }}` of a preset's strings and answers its `when`s.

Most leaves of a preset are plain text, `{{ Word }}`, or text around such words: those are filled here, without
importing
Jinja (which costs more than rendering ten models). Everything else goes to a sandboxed Jinja with StrictUndefined.
Comment and block marks are such that they never occur, so `{#` in a shell's `${#x}` stays what it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from renderer.yamlio import Shared

Words = Mapping[str, Any]
Filler = Callable[[Words], Any]

_WORD = re.compile(r"\{\{\s*\.?([A-Za-z]\w*)\s*\}\}")
_DOTTED = re.compile(r"\{\{(\s*)\.([A-Za-z]\w*\s*\}\})")
_SIMPLE = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Compare, ast.Name, ast.Load, ast.Constant,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Tuple, ast.List,
)  # fmt: skip


class TemplateError(ValueError):
    """What is wrong with a template, in one short sentence; `path` leads to the leaf below the value that was
    compiled.
    """

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path


def compiled(value: Any, known: frozenset[str], path: tuple[str | int, ...] = ()) -> Filler | None:
    """What fills the strings of a tree, or None when there is nothing to fill (then the tree stands as it is).

    A leaf that is one bare word becomes that word's value, a number too; words inside text are written out.
    Raises TemplateError for an unknown word or a broken template.
    """
    if isinstance(value, str):
        return _text(value, known, path) if "{{" in value or "}}" in value else None
    if isinstance(value, dict):
        fillers = {key: filler for key, item in value.items() if (filler := compiled(item, known, (*path, key)))}
        if not fillers:
            return None
        return lambda words: {k: fillers[k](words) if k in fillers else item for k, item in value.items()}
    if isinstance(value, list):
        parts = [(item, compiled(item, known, (*path, i))) for i, item in enumerate(value)]
        if not any(filler for _, filler in parts):
            return None
        return lambda words: [filler(words) if filler else item for item, filler in parts]
    return None


def condition(text: str, known: frozenset[str]) -> Filler:
    """Whether a `when` holds: a Jinja expression over the known words. Raises TemplateError."""
    code = _simple_expression(text, known)
    if code is not None:
        return lambda words: bool(eval(code, {"__builtins__": {}}, words))  # noqa: S307 - only the nodes of _SIMPLE
    return _jinja_expression(text, known)


def shared(value: Any) -> Any:
    """The tree with its maps marked as shared by many manifests, so that emitting it twice costs once."""
    if isinstance(value, dict):
        return Shared({key: shared(item) for key, item in value.items()})
    if isinstance(value, list):
        return [shared(item) for item in value]
    return value


def _text(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    parts = _WORD.split(text)  # text, word, text, word, … text
    words = parts[1::2]
    if any("{{" in part or "}}" in part for part in parts[::2]):
        return _jinja_text(text, known, path)
    for word in words:
        if word not in known:
            raise TemplateError(f"no word is called '{word}'", path)
    if len(words) == 1 and not parts[0] and not parts[2]:
        only = words[0]
        return lambda filled: filled[only]
    pattern = "".join(
        "{" + part + "}" if i % 2 else part.replace("{", "{{").replace("}", "}}") for i, part in enumerate(parts)
    )
    return pattern.format_map


@lru_cache(maxsize=256)
def _simple_expression(text: str, known: frozenset[str]) -> Any:
    """Code for an expression that reads alike in Python and Jinja; None: ask Jinja. Words are checked either way."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(ast.walk(tree))
    if not all(isinstance(node, _SIMPLE) for node in nodes):
        return None
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in known:
            raise TemplateError(f"no word is called '{node.id}'")
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return None
    return compile(tree, "when", "eval")


def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return _made(ImmutableSandboxedEnvironment, StrictUndefined)


@lru_cache(maxsize=1)
def _made(environment: Any, undefined: Any) -> Any:
    never = "\x00never"
    made = environment(
        undefined=undefined,
        autoescape=False,  # YAML values, no HTML
        keep_trailing_newline=True,
        block_start_string=never + "<",
        block_end_string=never + ">",
        comment_start_string=never + "(",
        comment_end_string=never + ")",
    )
    made.globals.clear()
    return made


def _jinja_text(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    from jinja2 import TemplateError as JinjaError
    from jinja2.meta import find_undeclared_variables

    source = _DOTTED.sub(r"{{\1\2", text)
    environment = _environment()
    try:
        unknown = find_undeclared_variables(environment.parse(source)) - known
        template = environment.from_string(source)
    except JinjaError as error:
        raise TemplateError(str(error.message or error), path) from None
    if unknown:
        raise TemplateError(f"no word is called '{min(unknown)}'", path)

    def fill(words: Words) -> str:
        try:
            return str(template.render(words))
        except (JinjaError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
            raise TemplateError(str(error), path) from None

    return fill


def _jinja_expression(text: str, known: frozenset[str]) -> Filler:
    fill = _jinja_text("{{ 1 if (" + text + ") else 0 }}", known, ())
    return lambda words: fill(words) == "1"
