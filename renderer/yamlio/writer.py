"""Writes YAML that every reader reads alike; the text of shared maps is rendered once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from renderer.yamlio.scalars import ScalarCache

# Strings that YAML 1.1, YAML 1.2, PyYAML, go-yaml or Psych reads, or once read, as another type. Three numbers with
# dots are a string to all of them; they are quoted so that the versions 0.9 and 0.9.1 look alike. Words such as `yes`
# are in _SIMPLE_BUT.
_NO_STRING = re.compile(
    r"""
    | ~ | = | << | \.+
    | [-+]? (?i: \.inf ) | (?i: \.nan )
    | (?: [-+] _* )? 0 _* [xXoObB] [-+0-9a-fA-F_]+
    | (?: [-+] _* )? (?: [0-9][0-9_]* (?: \.[0-9_]* )? | \.[0-9_]+ ) (?: [eE] _* [-+]? [0-9_]+ )?
    | (?: [-+] _* )? [0-9][0-9_]* (?: :[0-5]?[0-9] )+ (?: \.[0-9_]* )?
    | [0-9]+ \. [0-9]+ \. [0-9]+
    | [0-9]{4} - [0-9]{1,2} - [0-9]{1,2} (?: [Tt\ ] .* )?
    """,
    re.VERBOSE,
)
# A letter, digit or harmless sign, or an indicator that its neighbour makes harmless; then nothing that ends a plain
# scalar, no tab, and nothing invisible.
_INVISIBLE = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\xa0\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f"
    "\\ud800-\\uf8ff\\ufeff\\ufff0-\\uffff\\U000e0000-\\U0010ffff"
)
_PLAIN_BUT = r"""(?! --- | \.\.\. )
    (?: [^\s\-?:,\[\]{{}}\#&*!|>'"%@`{0}] | [-?:] (?=[^\s]) )
    (?: [^\s:\#{0}] | : (?=[^\s]) | \# (?<=[^\s]\#) | \x20 (?=[^\s\#]|\x20) )*"""
_PLAIN = re.compile(_PLAIN_BUT.format(""), re.VERBOSE)  # of ASCII that can be seen
# The next three as text: few runs need them, and `re` caches the compiled patterns.
_PLAIN_OTHER = rf"(?x){_PLAIN_BUT.format(_INVISIBLE)}"
_ESCAPED = rf"""[\\"\t\n{_INVISIBLE}]"""
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_SIMPLE = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*").fullmatch
_SIMPLE_BUT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_NO_BLOCK = rf"(?m)^\t|\A\s*\Z|[{_INVISIBLE}]"


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}")


# Every text below begins with its separator from the text before (a line break, or the blank after a key or dash), and
# ends with its last visible character.


def _string_text(text: str) -> str:
    """The string on one line, plain if every reader takes it for this string, else in double quotes."""
    if _SIMPLE(text):
        return f" {text}" if len(text) > 5 or text.lower() not in _SIMPLE_BUT else f' "{text}"'
    seen = text.isascii() and text.isprintable()
    if (_PLAIN.fullmatch(text) if seen else re.fullmatch(_PLAIN_OTHER, text)) and not _NO_STRING.fullmatch(text):
        return f" {text}"
    if seen:
        return ' "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f' "{re.sub(_ESCAPED, _escape, text)}"'


def _key_text(lead: str, key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} is not a string")
    text = _string_text(key)[1:]
    if len(text) > 1000:  # readers look no further for the colon
        return f"\n{lead}? {text}\n{' ' * len(lead)}:"
    return f"\n{lead}{text}:"


def _block_text(text: str, pad: str) -> str:
    """A literal block whose lines begin with `pad`."""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    indent = "2" if text[0] in " \n" else ""
    lines = "".join(f"\n{pad}{line}" if line else "\n" for line in body.split("\n"))
    return f" |{indent}{('-', '', '+')[min(ends, 2)]}{lines}" + "\n" * (ends - 1)


class Markup:
    """A scalar that is not plain text, such as one with the actions of a template: it says itself how it is written."""

    __slots__ = ()

    def yaml_text(self, pad: str) -> str:
        """Its text behind a key or dash, without a blank before it. `pad`: the indentation of further lines."""
        raise NotImplementedError


class _MarkupText(str):
    """The text of a Markup, which nothing escapes."""

    __slots__ = ()


def scalar(value: object) -> str:
    """The text of a scalar in one line."""
    return (_string_text(value) if isinstance(value, str) else _leaf_text(value))[1:]


def quoted_part(text: str) -> str:
    """The text as it stands between double quotes."""
    return re.sub(_ESCAPED, _escape, text)


def block_text(text: str, pad: str) -> str:
    """The text as a literal block, whose lines begin with `pad`."""
    return _block_text(text, pad)[1:]


def is_block(text: str) -> bool:
    """Whether the text is written as a literal block."""
    return "\n" in text and not re.search(_NO_BLOCK, text)


def _other_text(value: object, pad: str) -> str:
    """The text of whatever is neither a string, nor a plain integer, nor a map or list with something in it."""
    return _MarkupText(f" {value.yaml_text(pad)}") if isinstance(value, Markup) else _leaf_text(value)


def _leaf_text(value: object) -> str:
    """The text of null, a boolean, a number, or an empty map or list."""
    if value is None:
        return " null"
    if isinstance(value, bool):
        return " true" if value else " false"
    if value.__class__ is int:
        return f" {value}"
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError(f"{value} is not a valid JSON number")
        text = repr(value)
        return f" {text if '.' in text else text.replace('e', '.0e')}"  # to YAML 1.1 a float has a dot
    if isinstance(value, (dict, list)) and not value:
        return " {}" if isinstance(value, dict) else " []"
    raise TypeError(f"{type(value).__name__} is not for YAML")


class _Level:
    """A level of indentation."""

    __slots__ = ("below", "dash", "heads", "items", "pad")

    def __init__(self, pad: str) -> None:
        self.pad = pad
        self.dash = f"\n{pad}-"
        self.heads = ScalarCache(lambda key: _key_text(pad, key))  # the beginning of a line, by its key
        # The same beginning with a dash, by the one without.
        self.items = ScalarCache(lambda text: f"\n{pad[2:]}- {text[len(pad) + 1 :]}")
        self.below: _Level | None = None

    def add_below(self) -> _Level:
        self.below = _Level(f"{self.pad}  ")
        return self.below


class SharedMap(dict[str, Any]):
    """An immutable mapping that many bodies share: `dump` caches its text. A copy is a plain dict."""

    __slots__ = ("texts",)

    def __init__(self, body: dict[str, object]) -> None:
        super().__init__(body)
        self.texts: dict[str, str] = {}  # by indentation; for list items by indentation and dash

    def __reduce__(self) -> tuple[type[dict[str, object]], tuple[dict[str, object]]]:
        return dict, (dict(self),)


TOP = _Level("")
STRINGS = ScalarCache(_string_text)


def dump(*bodies: object, head: str = "") -> str:
    """YAML documents in block style, indented by two blanks, with `---` between them, and `head` before the first.

    Takes dict, list, str, int, float, bool and None; another type is a TypeError, an infinity a ValueError.
    """
    parts = _parts(bodies)
    parts[0] = f"{head}{parts[0][1:]}"
    return "".join(parts)


def dump_template(body: object, escape: Callable[[str], str]) -> str:
    """A YAML document, with `escape` over all that no Markup wrote. A Markup has a key or dash before it."""
    runs = groupby(_parts([body]), key=lambda part: isinstance(part, _MarkupText))
    return "".join("".join(run) if is_markup else escape("".join(run)) for is_markup, run in runs)[1:]


def _parts(bodies: Iterable[object]) -> list[str]:
    """The parts of the documents' text, the first with a line break before it."""
    parts: list[str] = []
    for body in bodies:
        if parts:
            parts.append("\n---")
        if isinstance(body, dict) and body:
            _write_mapping(body, TOP, parts)
        elif isinstance(body, list) and body:
            _write_list(body, TOP, parts)
        else:
            text = _compute_string_text(body, "  ") if isinstance(body, str) else _leaf_text(body)
            parts.append(f"\n{text[1:]}")
    parts.append("\n")
    return parts


# The next two functions write nearly all output, so they look into the caches' `known` themselves.


def _write_mapping(body: dict[str, Any], level: _Level, parts: list[Any]) -> None:
    """Appends the lines of a non-empty mapping to `parts`."""
    strings, heads, below = STRINGS.known, level.heads.known, level.below or level.add_below()
    for key, value in body.items():
        try:
            parts.append(heads[key])
        except KeyError:
            parts.append(level.heads.compute(key))
        kind = type(value)
        if kind is str:
            parts.append(strings.get(value) or _compute_string_text(value, below.pad))
        elif kind is dict and value:
            _write_mapping(value, below, parts)
        elif kind is SharedMap and value:
            parts.append(value.texts.get(below.pad) or _shared_text(value, below, below.pad))
        elif kind is list and value:
            _write_list(value, below, parts)
        elif kind is int:
            parts.append(f" {value}")
        else:
            parts.append(_other_text(value, below.pad))


def _write_list(body: list[Any], level: _Level, parts: list[Any]) -> None:
    """Appends the lines of a non-empty list to `parts`."""
    strings, dash, below = STRINGS.known, level.dash, level.below or level.add_below()
    behind_dash = below.items.known
    for item in body:
        kind = type(item)
        if kind is str:
            parts.append(dash)
            parts.append(strings.get(item) or _compute_string_text(item, below.pad))
        elif kind is SharedMap and item:
            parts.append(item.texts.get(dash) or _shared_text(item, below, dash))
        elif kind is dict and item:
            first = len(parts)
            _write_mapping(item, below, parts)
            head = parts[first]
            parts[first] = behind_dash.get(head) or below.items.compute(head)
        elif kind is list and item:
            first = len(parts)
            _write_list(item, below, parts)
            parts[first] = below.items[parts[first]]
        else:
            parts.append(dash)
            parts.append(_other_text(item, below.pad))


def _compute_string_text(text: str, pad: str) -> str:
    """The text of a string that is not cached. `pad`: the indentation of further lines."""
    if is_block(text):
        return _block_text(text, pad)
    written: str = STRINGS.compute(text)
    return written


def _shared_text(body: SharedMap, level: _Level, place: str) -> str:
    """The text of a shared map, cached under `place`: the indentation of the level, or that and a dash."""
    parts: list[str] = []
    _write_mapping(body, level, parts)
    if place != level.pad:
        parts[0] = level.items[parts[0]]
    text = body.texts[place] = "".join(parts)
    return text
