"""Compiles the templates and the `when` conditions of presets; parses chat templates, which engines fill; fills pages.

Most strings are plain text with `{{ Word }}` or `{{ Word + 1 }}`: those are filled here, without importing Jinja, which
takes longer than rendering ten models. All others go to a sandboxed Jinja with StrictUndefined, whose marks of comments
and blocks never occur, so that `{#` in a shell's `${#x}` is text.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, Final, NoReturn, cast

from msgspec import Struct

from renderer.text import escapes
from renderer.yamlio import SharedMap, scalar

Words = Mapping[str, object]
Filler = Callable[[Words], object]

_WORD = re.compile(r"\{\{\s*\.?([A-Za-z]\w*)\s*\}\}")
_SUM = r"\{\{\s*([A-Za-z]\w*)\s*\+\s*(0|[1-9][0-9]{0,8})\s*\}\}"
_DOTTED = r"\{\{(\s*)\.([A-Za-z]\w*\s*\}\})"
_INSIDE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)  # for `pieces` alone: in a text without end marks it is quadratic
_NAME = re.compile(r"[A-Za-z_]\w*")
# A term of a plain condition, which joins terms by `and`: a word, or a comparison with a text or a whole number.
_TERM = re.compile(r"(not )?([A-Za-z][A-Za-z0-9_]*)(?: ([=!]=|[<>]=?) (?:'([ !\"$-&(-[\]-~]*)'|(0|[1-9][0-9]{0,8})))?")
_COMPARISONS: Mapping[str | None, Callable[[Any, Any], object]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

# Limits, since users write templates; in characters unless the comment names another unit.
MAX_TEMPLATE: Final = 65_536  # of a condition, and of a template for Jinja
MAX_PLACES: Final = 256  # placeholders of a template
MAX_TEXT: Final = 1_048_576  # of a filled template: the limit of a ConfigMap
MAX_PARSED: Final = 262_144  # of a chat template; those that models have are below 64 KiB
MAX_VALUE: Final = 16_384  # of the result of an operator or `replace`
MAX_NODES: Final = 1_000  # nodes of Jinja's syntax tree
MAX_BITS: Final = 1_024  # bits of an operand
_WIDE = r"%[^A-Za-z%]*?(?:\*|[0-9]{4})"  # in a format: a width of more than 999 characters, or from an operand


class TemplateError(ValueError):
    """What is wrong with a template, in one short sentence."""

    def __init__(self, reason: str, path: tuple[str | int, ...] = (), word: str = "") -> None:
        super().__init__(reason)
        self.path = path  # of the string below the compiled value
        self.word = word  # the unknown word, '' for other errors


def compile_template(
    value: object, known: frozenset[str], path: tuple[str | int, ...] = (), texts: frozenset[str] = frozenset()
) -> Filler | None:
    """A function that fills the templates in a tree; None when the tree has none.

    A string of one bare word, or a word plus a number, becomes a value of that type, except below a key of `texts`,
    where it becomes text. An item of a list that is one bare word whose value is a list becomes the items of that.
    Raises TemplateError for an unknown word or an invalid template.
    """
    if isinstance(value, str):
        if "{{" not in value:
            return None
        filled = _compile_text(value, known, path)
        is_item = bool(path) and isinstance(path[-1], int)
        return _as_text(filled, keeps_list=is_item) if texts.intersection(path[-2:]) else filled
    if isinstance(value, dict):
        fillers = {
            key: filler for key, item in value.items() if (filler := compile_template(item, known, (*path, key), texts))
        }
        if not fillers:
            return None
        return _tree_filler(value, list(fillers.items()))
    if isinstance(value, list):
        parts = [
            (i, filler) for i, item in enumerate(value) if (filler := compile_template(item, known, (*path, i), texts))
        ]
        return _list_filler(value, parts) if parts else None
    return None


def _list_filler(value: list[Any], parts: Sequence[tuple[int, Filler]]) -> Filler:
    """A function that copies a list and fills these items of it."""
    fill_items = _tree_filler(value, parts)
    if not any(isinstance(item, str) and _WORD.fullmatch(item) for item in value):
        return fill_items

    def fill(words: Words) -> object:
        items = cast("list[object]", fill_items(words))
        if not any(isinstance(item, tuple) for item in items):
            return items
        return [part for item in items for part in (item if isinstance(item, tuple) else (item,))]

    return fill


def _tree_filler(value: Any, parts: Sequence[tuple[object, Filler]]) -> Filler:
    """A function that copies a map or list and fills these items of it."""

    def fill(words: Words) -> object:
        tree = value.copy()
        for place, filler in parts:
            tree[place] = filler(words)
        return tree

    return fill


def compile_condition(text: str, known: frozenset[str], path: tuple[str | int, ...] = ()) -> Filler:
    """A function that returns a true value where a `when` holds, a Jinja expression over the known words. Raises
    TemplateError, as the function does.
    """
    if len(text) > MAX_TEMPLATE:
        raise _source_too_long(text, path)
    if text == "true":
        return lambda words: True
    if plain := _compile_plain_condition(text, known, path):
        return plain
    return _compile_jinja_condition(text, known, path)


def condition_words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in a condition: those whose values it depends on, and those of which only the truth matters."""
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
    """Every name inside `{{ }}` of a tree's strings: a superset of the words."""
    if isinstance(value, str):
        return frozenset(name for inside in split_template(value)[1::2] for name in _NAME.findall(inside))
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return frozenset().union(*map(words_of, items))


def split_template(text: str) -> list[str]:
    """The parts outside and inside of `{{ }}`, alternating, outside first and last. Takes linear time."""
    closed, end, rest = text.rpartition("}}")
    parts: list[str] = _INSIDE.split(closed + end)
    parts[-1] += rest
    return parts


def matches_template(template: str, text: str) -> bool:
    """Whether the text is the template with any text for each `{{ }}`. Takes linear time."""
    first, *others = split_template(template)[::2]
    if not others:
        return first == text
    *between, last = others
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    begin, end = len(first), len(text) - len(last)
    for part in between:
        begin = text.find(part, begin, end)
        if begin < 0:
            return False
        begin += len(part)
    return True


def share_maps(value: object) -> Any:
    """The tree with SharedMaps for its maps, whose YAML is cached between manifests."""
    if isinstance(value, dict):
        return SharedMap({key: share_maps(item) for key, item in value.items()})
    if isinstance(value, list):
        return [share_maps(item) for item in value]
    return value


def _as_text(filler: Filler, *, keeps_list: bool) -> Filler:
    def fill(words: Words) -> object:
        value = filler(words)
        return value if keeps_list and isinstance(value, tuple) else str(value)

    return fill


def _compile_text(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    if "+" in text and re.search(_SUM, text):
        return _compile_sums(text, known, path)
    parts = _WORD.split(text)  # text, word, text, word, … text
    words = parts[1::2]
    if len(words) > MAX_PLACES:
        raise TemplateError(f"it has {len(words):,} places to fill, at most {MAX_PLACES} are allowed", path)
    if any("{{" in part for part in parts[::2]):
        return _compile_jinja_text(text, known, path)
    for word in words:
        if word not in known:
            raise TemplateError(f"there is no variable '{word}'", path, word)
    if len(words) == 1 and not parts[0] and not parts[2]:
        return operator.itemgetter(words[0])
    pattern = "".join(
        "{" + part + "}" if i % 2 else part.replace("{", "{{").replace("}", "}}") for i, part in enumerate(parts)
    )
    filled = pattern.format_map

    def fill(words: Words) -> str:
        filled_text = filled(words)
        return filled_text if len(filled_text) <= MAX_TEXT else _raise_too_long(filled_text, path)

    return fill


def _raise_too_long(text: str, path: tuple[str | int, ...]) -> NoReturn:
    raise TemplateError(f"it makes {len(text):,} characters, at most {MAX_TEXT:,} are allowed", path)


def _compile_sums(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    """A filler for text with sums of a word and a number; a text of one sum alone becomes the number."""
    pieces = re.split(_SUM, text)  # text, word, number, text, … text
    fillers: list[Filler] = []
    for i in range(0, len(pieces), 3):
        if piece := pieces[i]:
            fillers.append(compile_template(piece, known, path) or _constant_filler(piece))
        if i + 1 < len(pieces):
            fillers.append(_sum_filler(pieces[i + 1], int(pieces[i + 2]), known, path))
    if len(fillers) == 1:
        return fillers[0]
    return lambda words: "".join([str(filler(words)) for filler in fillers])


def strings_filler(filler: Filler) -> Callable[[Words], Sequence[str]]:
    """A filler of a list whose items become strings."""
    return lambda words: [
        value if isinstance(value, str) else str(value) for value in cast("Sequence[object]", filler(words))
    ]


def _constant_filler(text: str) -> Filler:
    return lambda words: text


def _sum_filler(word: str, number: int, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    if word not in known:
        raise TemplateError(f"there is no variable '{word}'", path, word)

    def fill(words: Words) -> object:
        value: Any = words[word]
        try:
            return value + number
        except TypeError as error:
            raise TemplateError(_fault_message(error), path) from None

    return fill


class _Term(Struct, frozen=True):
    """A word, or its comparison with an operand."""

    word: str
    compare: Callable[[Any, Any], object] | None
    operand: int | str | None
    truth: bool  # the term holds where the word or comparison has this truth value


def _compile_plain_condition(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler | None:
    """A filler for terms joined by `and`, which nearly all conditions are; None for others."""
    terms = []
    for part in text.split(" and "):
        term = _TERM.fullmatch(part)
        if not term or term[2] not in known:
            return None
        negated, word, sign, quoted, number = term.groups()
        terms.append(_Term(word, _COMPARISONS.get(sign), int(number) if number else quoted, not negated))
    if len(terms) == 1 and terms[0].compare is None and terms[0].truth:
        return operator.itemgetter(terms[0].word)

    def holds(words: Words) -> bool:
        try:
            for term in terms:
                value = words[term.word]
                if bool(term.compare(value, term.operand) if term.compare else value) is not term.truth:
                    return False
        except TypeError as error:
            raise TemplateError(_fault_message(error), path) from None
        return True

    return holds


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Bounded(ImmutableSandboxedEnvironment):
        """The sandbox, with operators that limit their operands."""

        intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)  # and none is folded

        def call_binop(self, context: Any, operator: str, left: Any, right: object) -> object:
            _check_operands(operator, left, right)
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
    environment.filters |= {"json": _json, "replace": _replace, "shell": _shell, "yaml": _yaml}
    return environment


def _check_operands(operator: str, left: object, right: object) -> None:
    """Raises ValueError for operands whose result would be too large or slow."""
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
        raise ValueError(_TOO_LONG.format(length))


_TOO_LONG = f"a value has {{:,}} characters, at most {MAX_VALUE:,} are allowed"


def _json(value: object) -> str:
    """The filter `json`, which makes a value of JSON."""
    return escapes.json_text(value)


def _shell(value: object) -> str:
    """The filter `shell`, which makes one word of a shell."""
    return escapes.shell_word(str(value))


def _yaml(value: object) -> str:
    """The filter `yaml`, which makes a scalar of YAML in one line."""
    return scalar(value)


def _replace(value: object, old: object, new: object, count: int = -1) -> str:
    """The filter `replace`, limited to MAX_VALUE characters."""
    text, before, after = str(value), str(old), str(new)
    length = len(text) + text.count(before) * (len(after) - len(before))
    if length > MAX_VALUE:
        raise ValueError(_TOO_LONG.format(length))
    return text.replace(before, after, count)


# Allowed are words, literals, comparisons, arithmetic, `a if b else c`, `~`, and these filters. Attributes, calls and
# items are not, so a template reaches no Python object and depends on the words only.
_ALLOWED = frozenset(  # names of Jinja's nodes
    """Template Output TemplateData Name Const Compare Operand And Or Not CondExpr Concat Add Sub Mul Div FloorDiv Mod
    Neg Pos Tuple List Filter""".split()  # noqa: SIM905
)
_KINDS = {"Getattr": "an attribute", "Getitem": "an item in brackets", "Call": "a call", "Pow": "'**'", "Test": "'is'"}
_FILTERS = frozenset({"json", "lower", "replace", "shell", "trim", "upper", "yaml"})


def _parse(source: str, known: frozenset[str], path: tuple[str | int, ...]) -> Any:
    """The syntax tree. Raises TemplateError for a construct that is not allowed."""
    from jinja2 import TemplateError as JinjaError
    from jinja2 import nodes

    if len(source) > MAX_TEMPLATE:
        raise _source_too_long(source, path)
    try:
        tree = _environment().parse(source)
        parts = list(tree.find_all(nodes.Node))
    except _FAULTS as error:
        raise TemplateError(_fault_message(error), path) from None
    except JinjaError as error:
        raise TemplateError(_syntax_message(error), path) from None
    if len(parts) > MAX_NODES:
        raise TemplateError(f"it has {len(parts):,} parts, at most {MAX_NODES:,} are allowed", path)
    for node in parts:
        kind = type(node).__name__
        if kind not in _ALLOWED or (kind == "Filter" and node.name not in _FILTERS):
            construct = f"the filter '{node.name}'" if kind == "Filter" else _KINDS.get(kind, f"'{kind.lower()}'")
            raise TemplateError(f"{construct} is not allowed in a template", path)
        if kind == "Const" and node.value in (math.inf, -math.inf):  # Jinja would write it down as a name
            raise TemplateError("a number is too large", path)
        if kind == "Name" and node.name not in known:
            raise TemplateError(f"there is no variable '{node.name}'", path, node.name)
    return tree


def _source_too_long(source: str, path: tuple[str | int, ...]) -> TemplateError:
    return TemplateError(f"it has {len(source):,} characters, at most {MAX_TEMPLATE:,} are allowed", path)


# Errors of expressions that are not Jinja's own, as for numbers of a thousand digits, or deep nesting (a SyntaxError of
# Python's compiler).
_FAULTS = (TypeError, ValueError, ArithmeticError, MemoryError, RecursionError, SyntaxError)
_TYPE_NAMES = {"int": "a number", "float": "a number", "str": "a string", "list": "a list", "bool": "a boolean"}
_UNSUPPORTED_TYPES = (  # as text: few runs need it
    r"(?:unsupported operand type\(s\) for (\S+): |'(\S+)' not supported between instances of )'(\w+)' and '(\w+)'"
)


def _fault_message(error: Exception) -> str:
    """A short message for one of these errors."""
    if isinstance(error, (RecursionError, SyntaxError)):
        return "it is nested too deep"
    message = str(error) or type(error).__name__
    if match := re.fullmatch(_UNSUPPORTED_TYPES, message):
        left, right = (_TYPE_NAMES.get(name, name) for name in match.group(3, 4))
        return f"'{match[1] or match[2]}' does not work with {left} and {right}"
    return "a number has too many digits" if message.startswith("Exceeds the limit") else message


def _compile_jinja_text(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    from jinja2 import TemplateError as JinjaError

    with _located(path):
        template = _jinja_template(text, known)

    def fill(words: Words) -> str:
        try:
            filled_text = str(template.render(words))
        except (JinjaError, *_FAULTS) as error:
            raise TemplateError(_fault_message(error), path) from None
        return filled_text if len(filled_text) <= MAX_TEXT else _raise_too_long(filled_text, path)

    return fill


def _compile_jinja_condition(text: str, known: frozenset[str], path: tuple[str | int, ...]) -> Filler:
    from jinja2 import TemplateError as JinjaError

    with _located(path):
        expression = _jinja_expression(text, known)

    def holds(words: Words) -> bool:
        try:
            return bool(expression(words))
        except (JinjaError, *_FAULTS) as error:
            raise TemplateError(_fault_message(error), path) from None

    return holds


@contextmanager
def _located(path: tuple[str | int, ...]) -> Iterator[None]:
    """Adds the path to a TemplateError."""
    try:
        yield
    except TemplateError as error:
        raise TemplateError(str(error), path, error.word) from None


# Both are cached: Jinja takes a millisecond for each, and runtimes are compiled several times.


@lru_cache(maxsize=2048)
def _jinja_template(text: str, known: frozenset[str]) -> Any:
    """Jinja's template. Raises TemplateError."""
    from jinja2 import TemplateError as JinjaError

    tree = _parse(re.sub(_DOTTED, r"{{\1\2", text), known, ())
    try:
        return _environment().from_string(tree)  # it works out what is constant
    except (JinjaError, *_FAULTS) as error:
        raise TemplateError(_fault_message(error)) from None


@lru_cache(maxsize=2048)
def _jinja_expression(text: str, known: frozenset[str]) -> Any:
    """Jinja's expression. Raises TemplateError."""
    from jinja2 import TemplateError as JinjaError

    tree = _parse("{{ " + text + " }}", known, ())
    if len(tree.body) != 1 or len(tree.body[0].nodes) != 1:
        raise TemplateError("it must be one expression")
    try:
        return _environment().compile_expression(text, undefined_to_none=False)
    except (JinjaError, *_FAULTS) as error:
        raise TemplateError(_fault_message(error)) from None


def fill_page(source: str, words: Words) -> str:
    """A page of HTML from a template of ours, which may loop and look into values, as templates of users may not.

    Every text of the words is text in the page, also where it holds tags, quotes or what cannot be printed; the filter
    `safe` is for styles and scripts of ours.
    """
    text: str = _page_environment().from_string(source).render(words)
    return text


@cache
def _page_environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def printable(value: object) -> object:
        return escapes.line(value) if isinstance(value, str) and not hasattr(value, "__html__") else value

    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=True,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def chat_template_fault(text: str) -> str:
    """The first fault of a chat template; '' for one that engines can parse, and for one above MAX_PARSED characters.
    It is not rendered.
    """
    from jinja2 import TemplateSyntaxError

    if len(text) > MAX_PARSED:
        return ""
    try:
        _chat_environment().parse(text)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {_syntax_message(error)}"
    except _FAULTS as error:
        return _fault_message(error)
    return ""


def _syntax_message(error: Any) -> str:
    """What Jinja says of a template that it cannot parse, as the sentences of other messages begin and end."""
    message = str(error.message or error).removesuffix(".")
    for sentence, part in _SENTENCES.items():
        message = message.replace(sentence, part)
    return message[:1].lower() + message[1:]


_SENTENCES = {
    "'end of print statement'": "'}}'",
    "'end of statement block'": "'%}'",
    ". The innermost": "; the innermost",
    ". Jinja was looking": "; Jinja was looking",
}


@cache
def _chat_environment() -> Any:
    """As transformers makes it (utils/chat_template_utils.py, 5.0.0): with break and continue, and a tag around what
    the model writes.
    """
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        tags: Any = frozenset(["generation"])

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    return ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )
