"""Fills the `{{ words }}` of a preset's strings and answers its `when`s.

Most leaves of a preset are plain text, `{{ Word }}`, `{{ Word + 1 }}`, or text around these: those are filled here,
without importing Jinja (which costs more than rendering ten models). Everything else goes to a sandboxed Jinja with
StrictUndefined. Comment and block marks are such that they never occur, so `{#` in a shell's `${#x}` stays what it is.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, Final, NoReturn

from renderer.yamlio import SharedMap

Words = Mapping[str, Any]
Filler = Callable[[Words], Any]

_WORD = re.compile(r"\{\{\s*\.?([A-Za-z]\w*)\s*\}\}")
_SUM = re.compile(r"\{\{\s*([A-Za-z]\w*)\s*\+\s*(0|[1-9][0-9]{0,8})\s*\}\}")
_DOTTED = re.compile(r"\{\{(\s*)\.([A-Za-z]\w*\s*\}\})")
_INSIDE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)  # for `pieces` alone: in a text without end marks it is quadratic
_NAME = re.compile(r"[A-Za-z_]\w*")
# A term of a plain condition, whose terms `and` joins: a word, or a comparison with a text or a whole number.
_TERM = re.compile(r"(not )?([A-Za-z][A-Za-z0-9_]*)(?: ([=!]=|[<>]=?) (?:'([ !\"$-&(-[\]-~]*)'|(0|[1-9][0-9]{0,8})))?")
_COMPARISONS: Mapping[str | None, Callable[[Any, Any], object]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

# A template is the author's own, so what it may cost is bounded, in characters where nothing else is said.
MAX_TEMPLATE: Final = 65_536  # of a condition, and of a text that Jinja has to read
MAX_PLACES: Final = 256  # in one text that are filled
MAX_TEXT: Final = 1_048_576  # of a text with all its places filled: a ConfigMap holds no more
MAX_VALUE: Final = 16_384  # of what an operator or `replace` makes, which is no text yet
MAX_NODES: Final = 1_000  # of Jinja's syntax tree
MAX_BITS: Final = 1_024  # of a whole number with which is calculated
_WIDE = r"%[^A-Za-z%]*?(?:\*|[0-9]{4})"  # in a format: what pads a value to more than 999 characters, or by an operand


class TemplateError(ValueError):
    """What is wrong with a template, in one short sentence; `path` leads to the leaf below the value that was
    compiled.
    """

    def __init__(self, reason: str, path: tuple[str | int, ...] = (), word: str = "") -> None:
        super().__init__(reason)
        self.path = path
        self.word = word  # the unknown one, if that is what is wrong


def compile_template(
    value: object, known: frozenset[str], path: tuple[str | int, ...] = (), texts: frozenset[str] = frozenset()
) -> Filler | None:
    """What fills the strings of a tree, or None when there is nothing to fill (then the tree stands as it is).

    A leaf that is one bare word becomes that word's value, a number too, as one that adds a number to it does, but text
    below a key of `texts`; words inside text are written out.
    Raises TemplateError for an unknown word or a broken template.
    """
    if isinstance(value, str):
        if "{{" not in value and "}}" not in value:
            return None
        filled = _text(value, known, path)
        return _written(filled) if texts.intersection(path[-2:]) else filled
    if isinstance(value, dict):
        fillers = {
            key: filler for key, item in value.items() if (filler := compile_template(item, known, (*path, key), texts))
        }
        if not fillers:
            return None
        return _filling(value, list(fillers.items()))
    if isinstance(value, list):
        parts = [
            (i, filler) for i, item in enumerate(value) if (filler := compile_template(item, known, (*path, i), texts))
        ]
        return _filling(value, parts) if parts else None
    return None


def _filling(value: Any, parts: Sequence[tuple[object, Filler]]) -> Filler:
    """Fills these parts of a map or list; the others stand as they are."""

    def fill(words: Words) -> object:
        filled_text = value.copy()
        for place, filler in parts:
            filled_text[place] = filler(words)
        return filled_text

    return fill


def condition(text: str, known: frozenset[str], path: tuple[str | int, ...] = ()) -> Filler:
    """What says by something true that a `when` holds: a Jinja expression over the known words. It, and what it
    returns, raise TemplateError.
    """
    if len(text) > MAX_TEMPLATE:
        raise _too_much(text, path)
    if text == "true":
        return lambda words: True
    if plain := _plain_condition(text, known, path):
        return plain
    return _jinja_expression(text, known, path)


def read_by(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in a condition: those whose values count, and those of which it asks only whether they are true."""
    names = frozenset(_NAME.findall(text))
    plain: set[str] = set()
    compared: set[str] = set()
    for part in text.split(" and "):
        if not (term := _TERM.fullmatch(part)):
            return names, frozenset()
        (compared if term[3] else plain).add(term[2])
    truth_tested = frozenset(plain - compared)
    return names - truth_tested, truth_tested


def words_of(value: object) -> frozenset[str]:
    """Every name inside `{{ }}` of a tree's strings; more than the words, never fewer."""
    if isinstance(value, str):
        return frozenset(name for inside in split_template(value)[1::2] for name in _NAME.findall(inside))
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return frozenset().union(*map(words_of, items))


def split_template(text: str) -> list[str]:
    """What stands outside and inside of `{{ }}`, in turns: text, inside, text, … text. Takes linear time."""
    closed, end, rest = text.rpartition("}}")
    parts: list[str] = _INSIDE.split(closed + end)
    parts[-1] += rest
    return parts


def matches_template(template: str, text: str) -> bool:
    """Whether the text is the template with anything in its `{{ }}`. Takes linear time."""
    first, *others = split_template(template)[::2]
    if not others:
        return first == text
    *between, last = others
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in between:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def share_maps(value: object) -> Any:
    """The tree with its maps marked as shared by many manifests, so that emitting it twice costs once."""
    if isinstance(value, dict):
        return SharedMap({key: share_maps(item) for key, item in value.items()})
    if isinstance(value, list):
        return [share_maps(item) for item in value]
    return value


def _written(filler: Filler) -> Filler:
    """The same as text."""
    return lambda words: str(filler(words))


def _text(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    if "+" in text and _SUM.search(text):
        return _with_sums(text, known, path)
    parts = _WORD.split(text)  # text, word, text, word, … text
    words = parts[1::2]
    if len(words) > MAX_PLACES:
        raise TemplateError(f"it has {len(words):,} places to fill, at most {MAX_PLACES} are allowed", path)
    if any("{{" in part or "}}" in part for part in parts[::2]):
        return _jinja_text(text, known, path)
    for word in words:
        if word not in known:
            raise TemplateError(f"no word is called '{word}'", path, word)
    if len(words) == 1 and not parts[0] and not parts[2]:
        return operator.itemgetter(words[0])
    pattern = "".join(
        "{" + part + "}" if i % 2 else part.replace("{", "{{").replace("}", "}}") for i, part in enumerate(parts)
    )
    filled = pattern.format_map

    def fill(words: Words) -> str:
        filled_text = filled(words)
        return filled_text if len(filled_text) <= MAX_TEXT else _too_long(filled_text, path)

    return fill


def _too_long(text: str, path: tuple[str | int, ...]) -> NoReturn:
    raise TemplateError(f"it makes {len(text):,} characters, at most {MAX_TEXT:,} are allowed", path)


def _with_sums(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    """For text with a word and a number added up in it; a leaf that is no more than that becomes the number."""
    pieces = _SUM.split(text)  # text, word, number, text, … text
    fillers: list[Filler] = []
    for i in range(0, len(pieces), 3):
        if piece := pieces[i]:
            fillers.append(compile_template(piece, known, path) or _constant(piece))
        if i + 1 < len(pieces):
            fillers.append(_sum(pieces[i + 1], int(pieces[i + 2]), known, path))
    if len(fillers) == 1:
        return fillers[0]
    return lambda words: "".join([str(filler(words)) for filler in fillers])


def _constant(text: str) -> Filler:
    return lambda words: text


def _sum(word: str, number: int, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    if word not in known:
        raise TemplateError(f"no word is called '{word}'", path, word)

    def fill(words: Words) -> Any:
        try:
            return words[word] + number
        except TypeError as error:
            raise TemplateError(str(error), path) from None

    return fill


def _plain_condition(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler | None:
    """For terms that `and` joins, which is nearly every condition, so that nobody imports `ast` for it; else None."""
    terms = []
    for part in text.split(" and "):
        term = _TERM.fullmatch(part)
        if not term or term[2] not in known:
            return None
        negated, word, sign, quoted, number = term.groups()
        terms.append((word, _COMPARISONS.get(sign), int(number) if number else quoted, not negated))
    match terms:
        case [(only, None, _, True)]:
            return operator.itemgetter(only)

    def holds(words: Words) -> bool:
        try:
            for word, compare, value, wanted in terms:
                if bool(compare(words[word], value) if compare else words[word]) is not wanted:
                    return False
        except TypeError as error:
            raise TemplateError(str(error), path) from None
        return True

    return holds


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Bounded(ImmutableSandboxedEnvironment):
        """The sandbox, with operators that refuse operands of which they would make too much."""

        intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)  # and none is folded

        def call_binop(self, context: Any, operator: str, left: Any, right: object) -> object:
            _bounded(operator, left, right)
            return super().call_binop(context, operator, left, right)

    never = "\x00never"
    environment = Bounded(
        undefined=StrictUndefined,
        autoescape=False,  # YAML values, no HTML
        keep_trailing_newline=True,
        block_start_string=never + "<",
        block_end_string=never + ">",
        comment_start_string=never + "(",
        comment_end_string=never + ")",
    )
    environment.globals.clear()
    environment.filters["replace"] = _replaced
    return environment


def _bounded(operator: str, left: object, right: object) -> None:
    """Raises ValueError where the operator would take long, or make much of little."""
    for value in (left, right):
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise ValueError(f"a number has more than {MAX_BITS:,} bits")
    if operator == "*" and (isinstance(left, (list, tuple)) or isinstance(right, (list, tuple))):
        raise ValueError("a list cannot be multiplied")
    if operator == "%" and isinstance(left, str) and re.search(_WIDE, left):
        raise ValueError("a format pads to at most 999 characters")
    length = 0
    if operator == "*" and isinstance(left, (str, int)) and isinstance(right, (str, int)):
        length = len(left) * int(right) if isinstance(left, str) else left * len(right) if isinstance(right, str) else 0
    elif isinstance(left, str):  # + and %, which repeat nothing
        length = len(left) + len(right if isinstance(right, str) else "")
    if length > MAX_VALUE:
        raise ValueError(_MUCH.format(length))


_MUCH = f"a value has {{:,}} characters, at most {MAX_VALUE:,} are allowed"


def _replaced(value: object, old: object, new: object, count: int = -1) -> str:
    """The filter `replace`, of which nobody can make more than MAX_VALUE characters."""
    text, before, after = str(value), str(old), str(new)
    length = len(text) + text.count(before) * (len(after) - len(before))
    if length > MAX_VALUE:
        raise ValueError(_MUCH.format(length))
    return text.replace(before, after, count)


# What a template may be made of: words, literals, comparisons, arithmetic, `a if b else c`, `~`, and these filters. No
# attribute, no call, no item: nothing of Python shows through, and the text never depends on more than the words.
_ALLOWED = frozenset(  # names of Jinja's nodes
    """Template Output TemplateData Name Const Compare Operand And Or Not CondExpr Concat Add Sub Mul Div FloorDiv Mod
    Neg Pos Tuple List Filter""".split()  # noqa: SIM905
)
_KINDS = {"Getattr": "an attribute", "Getitem": "an item in brackets", "Call": "a call", "Pow": "'**'", "Test": "'is'"}
_FILTERS = frozenset({"lower", "replace", "trim", "upper"})


def _parsed(source: str, known: frozenset[str], path: tuple[str | int, ...]) -> Any:
    """The syntax tree, made of what is allowed only. Raises TemplateError."""
    from jinja2 import TemplateError as JinjaError
    from jinja2 import nodes

    if len(source) > MAX_TEMPLATE:
        raise _too_much(source, path)
    try:
        tree = _environment().parse(source)
        parts = list(tree.find_all(nodes.Node))
    except _FAULTS as error:
        raise TemplateError(_said(error), path) from None
    except JinjaError as error:
        message = str(error.message or error).removesuffix(".")
        message = message[:1].lower() + message[1:]
        raise TemplateError(message.replace("'end of print statement'", "'}}'"), path) from None
    if len(parts) > MAX_NODES:
        raise TemplateError(f"it has {len(parts):,} parts, at most {MAX_NODES:,} are allowed", path)
    for node in parts:
        kind = type(node).__name__
        if kind not in _ALLOWED or (kind == "Filter" and node.name not in _FILTERS):
            what = f"the filter '{node.name}'" if kind == "Filter" else _KINDS.get(kind, f"'{kind.lower()}'")
            raise TemplateError(f"{what} is not allowed in a template", path)
        if kind == "Const" and node.value in (math.inf, -math.inf):  # Jinja would write it down as a name
            raise TemplateError("a number is too large", path)
        if kind == "Name" and node.name not in known:
            raise TemplateError(f"no word is called '{node.name}'", path, node.name)
    return tree


def _too_much(source: str, path: tuple[str | int, ...]) -> TemplateError:
    return TemplateError(f"it has {len(source):,} characters, at most {MAX_TEMPLATE:,} are allowed", path)


# What an expression may end in that is no error of Jinja's: numbers of a thousand digits, brackets nested deep (for
# Python's own compiler that is a SyntaxError).
_FAULTS = (TypeError, ValueError, ArithmeticError, MemoryError, RecursionError, SyntaxError)


def _said(error: Exception) -> str:
    """One of these faults, in few words."""
    if isinstance(error, (RecursionError, SyntaxError)):
        return "it is nested too deep"
    message = str(error) or type(error).__name__
    return "a number has too many digits" if message.startswith("Exceeds the limit") else message


def _jinja_text(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    from jinja2 import TemplateError as JinjaError

    with _at(path):
        template = _template(text, known)

    def fill(words: Words) -> str:
        try:
            filled_text = str(template.render(words))
        except (JinjaError, *_FAULTS) as error:
            raise TemplateError(_said(error), path) from None
        return filled_text if len(filled_text) <= MAX_TEXT else _too_long(filled_text, path)

    return fill


def _jinja_expression(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    from jinja2 import TemplateError as JinjaError

    with _at(path):
        expression = _expression(text, known)

    def holds(words: Words) -> bool:
        try:
            return bool(expression(words))
        except (JinjaError, *_FAULTS) as error:
            raise TemplateError(_said(error), path) from None

    return holds


@contextmanager
def _at(path: tuple[str | int, ...]) -> Iterator[None]:
    """Says where a template stands that is broken."""
    try:
        yield
    except TemplateError as error:
        raise TemplateError(str(error), path, error.word) from None


# Jinja takes a millisecond for each, and a runtime is compiled more than once.


@lru_cache(maxsize=2048)
def _template(text: str, known: frozenset[str]) -> Any:
    """Jinja's template. Raises TemplateError."""
    from jinja2 import TemplateError as JinjaError

    tree = _parsed(_DOTTED.sub(r"{{\1\2", text), known, ())
    try:
        return _environment().from_string(tree)  # it works out what is constant
    except (JinjaError, *_FAULTS) as error:
        raise TemplateError(_said(error)) from None


@lru_cache(maxsize=2048)
def _expression(text: str, known: frozenset[str]) -> Any:
    """Jinja's expression. Raises TemplateError."""
    from jinja2 import TemplateError as JinjaError

    tree = _parsed("{{ " + text + " }}", known, ())
    if len(tree.body) != 1 or len(tree.body[0].nodes) != 1:
        raise TemplateError("it must be one expression")
    try:
        return _environment().compile_expression(text, undefined_to_none=False)
    except (JinjaError, *_FAULTS) as error:
        raise TemplateError(_said(error)) from None
