"""Undoes the actions of a chart's templates with its values, without Helm: the manifests that the chart stands for.

Only what references.py, replicas.py and actions.py write is understood: values by field and `index`, one variable,
`default`, `or`, `max`, `int`, `ge`, `lt`, `fail`, strings, and `if` and `with` around them. Anything else was not
written by us, and is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.text import escapes

_MAX_TEXT = 16 * 1024 * 1024  # characters of an undone template
_MAX_DEPTH = 20  # of parentheses and of blocks
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<string>"(?:[^"\\\n]|\\.)*" | `[^`]*`)
    | (?P<number>-?\d{1,18}(?![\w.]))
    | (?P<path>\$?(?:(?<=\$)[A-Za-z_]\w*)?(?:\.[A-Za-z_]\w*)+ | \$(?:[A-Za-z_]\w*)? | \.(?![\w.]))
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>:= | \| | \( | \))
    """,
    re.VERBOSE | re.ASCII,
)
_OPEN = re.compile(r"\{\{(?:-(?=\s))?")
_CLOSE = re.compile(r"(?:(?<=\s)-)?\}\}")


class NotComparable(ValueError):
    """Why a template cannot be undone, and the line."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.line = line


class _Token(Struct, frozen=True):
    """A word of an action."""

    kind: str  # a group of _TOKEN
    text: str


class _Block(Struct):
    """An open `if` or `with`."""

    prints: bool  # its text is printed now
    other_prints: bool  # the text of its `else` would be printed
    dot: object  # the value of `.` in it


def undo(template: str, values: object) -> str:
    """The text that Helm makes of a template of ours. Raises NotComparable."""
    evaluation = _Evaluation({"Values": values})
    for position, text, tokens in _pieces(template):
        try:
            evaluation.add(text, tokens)
        except (NotComparable, ValueError, TypeError, OverflowError) as error:
            raise NotComparable(str(error), template.count("\n", 0, position) + 1) from None
    if evaluation.blocks:
        raise NotComparable("a block that is never closed", template.count("\n") + 1)
    return "".join(evaluation.parts)


def _pieces(template: str) -> Iterator[tuple[int, str, list[_Token]]]:
    """Each text with the action behind it, if there is one, and the position of that. Raises NotComparable."""
    start, trims = 0, False
    while opening := _OPEN.search(template, start):
        text = template[start : opening.start()]
        text = text.lstrip() if trims else text
        try:
            tokens, closing = _tokens(template, opening.end())
        except ValueError as error:
            raise NotComparable(str(error), template.count("\n", 0, opening.start()) + 1) from None
        yield opening.start(), text.rstrip() if opening[0].endswith("-") else text, tokens
        start, trims = closing.end(), closing[0].startswith("-")
    yield len(template), template[start:].lstrip() if trims else template[start:], []


def _tokens(template: str, position: int) -> tuple[list[_Token], re.Match[str]]:
    """The words of an action, and its end. Raises ValueError."""
    tokens: list[_Token] = []
    while not (closing := _CLOSE.match(template, position)):
        match = _TOKEN.match(template, position)
        if not match or not match[0]:
            raise ValueError("an action that llmaz does not write")
        position = match.end()
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match[0]))
    if not tokens:
        raise ValueError("an empty action")
    return tokens, closing


class _Evaluation:
    """What a template has printed so far."""

    def __init__(self, root: object) -> None:
        self.parts: list[str] = []
        self.blocks: list[_Block] = []
        self._room = _MAX_TEXT
        self._names: dict[str, object] = {"": root}

    def add(self, text: str, tokens: Sequence[_Token]) -> None:
        """Prints a text, and runs the action behind it. Raises NotComparable, ValueError, TypeError."""
        if self._prints:
            self._print(text)
        if not tokens:
            return
        first = tokens[0].text
        if first in ("if", "with"):
            self._open(first, tokens[1:])
        elif first in ("else", "end") and len(tokens) == 1:
            self._continue(first)
        elif len(tokens) > 1 and tokens[1].text == ":=":
            self._assign(first, tokens[2:])
        elif self._prints:
            self._print(_printed(self._value(tokens)))

    @property
    def _prints(self) -> bool:
        return not self.blocks or self.blocks[-1].prints

    @property
    def _dot(self) -> object:
        return self.blocks[-1].dot if self.blocks else self._names[""]

    def _print(self, text: str) -> None:
        self._room -= len(text)
        if self._room < 0:
            raise NotComparable(f"it makes more than {_MAX_TEXT:,} characters")
        self.parts.append(text)

    def _open(self, word: str, tokens: Sequence[_Token]) -> None:
        if len(self.blocks) >= _MAX_DEPTH:
            raise NotComparable(f"more than {_MAX_DEPTH} levels of blocks")
        value = self._value(tokens) if self._prints else None
        prints = self._prints and bool(value)
        dot = value if word == "with" and prints else self._dot
        self.blocks.append(_Block(prints, self._prints and not prints, dot))

    def _continue(self, word: str) -> None:
        if not self.blocks:
            raise NotComparable(f"'{word}' without a block")
        block = self.blocks.pop()
        if word == "else":
            self.blocks.append(_Block(block.other_prints, False, self._dot))

    def _assign(self, name: str, tokens: Sequence[_Token]) -> None:
        if self.blocks or not re.fullmatch(r"\$[A-Za-z_]\w*", name):
            raise NotComparable("an action that llmaz does not write")
        self._names[name[1:]] = self._value(tokens)

    def _value(self, tokens: Sequence[_Token]) -> object:
        """The value of a whole pipeline."""
        return _Pipeline(tokens, self._lookup).value()

    def _lookup(self, path: str) -> object:
        """The value of `.Values.x`, `$app.x` or `.`; None where there is none."""
        start, *fields = path.split(".")
        value = self._names.get(start[1:], None) if start else self._dot
        for field in filter(None, fields):
            value = value.get(field) if isinstance(value, dict) else None
        return value


class _Pipeline:
    """The words of a pipeline, read from left to right."""

    def __init__(self, tokens: Sequence[_Token], lookup: Callable[[str], object]) -> None:
        self._tokens, self._lookup = list(tokens), lookup
        self._at = 0

    def value(self, depth: int = 0) -> object:
        """The value of the pipeline up to its end, or to a closing parenthesis. Raises NotComparable."""
        value = self._command([], depth)
        while self._at < len(self._tokens) and self._tokens[self._at].text == "|":
            self._at += 1
            value = self._command([value], depth)
        if not depth and self._at < len(self._tokens):
            raise NotComparable(f"'{self._tokens[self._at].text}' in an action that llmaz does not write")
        return value

    def _command(self, last: list[object], depth: int) -> object:
        """The value of a command. `last`: its last argument, from the command before."""
        word = self._tokens[self._at] if self._at < len(self._tokens) else _Token("", "")
        if word.kind != "word":
            return self._operand(depth)
        function = _FUNCTIONS.get(word.text)
        if not function:
            raise NotComparable(f"'{word.text}' in an action that llmaz does not write")
        self._at += 1
        arguments: list[object] = []
        while self._at < len(self._tokens) and self._tokens[self._at].text not in ("|", ")"):
            arguments.append(self._operand(depth))
        return function(*arguments, *last)

    def _operand(self, depth: int) -> object:
        token = self._tokens[self._at] if self._at < len(self._tokens) else _Token("", "")
        self._at += 1
        if token.kind == "string":
            return token.text[1:-1] if token.text[0] == "`" else escapes.from_go_string(token.text)
        if token.kind == "number":
            return int(token.text)
        if token.kind == "path":
            return self._lookup(token.text)
        if token.text == "(" and depth < _MAX_DEPTH:
            value = self.value(depth + 1)
            if self._at < len(self._tokens) and self._tokens[self._at].text == ")":
                self._at += 1
                return value
        raise NotComparable("an action that llmaz does not write")


def _printed(value: object) -> str:
    """What Helm prints of a text or a whole number. Raises NotComparable."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise NotComparable("a value that is missing, or is neither a string nor an integer")


def _index(mapping: object, *keys: object) -> object:
    for key in keys:
        mapping = mapping.get(key) if isinstance(mapping, dict) and isinstance(key, str) else None
    return mapping


def _int(value: object) -> int:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return int(value)
    raise NotComparable("a value that is missing, or is not an integer")


def _fail(message: object) -> str:
    raise NotComparable(f"it fails: {message}")


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "index": _index,
    "int": _int,
    "default": lambda default, value: value or default,
    "or": lambda first, second: first or second,
    "max": lambda *values: max(map(_int, values)),
    "ge": lambda one, other: _int(one) >= _int(other),
    "lt": lambda one, other: _int(one) < _int(other),
    "fail": _fail,
}
