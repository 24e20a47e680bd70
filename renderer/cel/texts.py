"""CEL's functions about strings, as Kubernetes has them: of our own, since what an expression makes is bounded here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from renderer.cel.compiler import TOO_LARGE, Function

MAX_TEXT: Final = 1 << 20  # characters of a text, and items of a list
_PRECISION: Final = 6
_LONGEST_PRECISION: Final = 1000
_CLAUSE: Final = r"%(?:%|(?:\.(\d+))?([a-zA-Z])?)"
_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def _bounded(size: int) -> None:
    """Raises ValueError for what is too large."""
    if size > MAX_TEXT:
        raise ValueError(TOO_LARGE)


def _in_range(index: int, most: int) -> None:
    if not 0 <= index <= most:
        raise ValueError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    _in_range(index, len(text))
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    return min(start, len(text)) if part == "" else text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    if part == "":
        return min(start, len(text))
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise ValueError(f"invalid substring range. start: {start}, end: {end}")
    _in_range(start, len(text))
    if end is not None:
        _in_range(end, len(text))
    return text[start:end]


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    most = text.count(old) if count < 0 else min(count, text.count(old))
    _bounded(len(text) + most * max(0, len(new) - len(old)))
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    _bounded(len(text))
    if count == 0:
        return []
    if separator == "":
        return [*text] if count < 0 else [*text[: count - 1], *([text[count - 1 :]] if text[count - 1 :] else [])]
    return text.split(separator, count - 1 if count > 0 else -1)


def _join(items: Sequence[object], separator: str = "") -> str:
    for item in items:
        if not isinstance(item, str):
            raise ValueError(f"join: invalid input: {_shown(item)}")
    texts = [item for item in items if isinstance(item, str)]
    _bounded(sum(map(len, texts)) + len(texts) * len(separator))
    return separator.join(texts)


def _lower(text: str) -> str:
    return re.sub("[A-Z]+", lambda match: match[0].lower(), text)


def _upper(text: str) -> str:
    return re.sub("[a-z]+", lambda match: match[0].upper(), text)


def _quote(text: str) -> str:
    return f'"{"".join(_ESCAPES.get(character, character) for character in text)}"'


# ---- format ----


def _format(text: str, values: Sequence[object]) -> str:
    """The text with the values in the place of its clauses."""
    parts: list[str] = []
    end = used = size = 0
    for match in re.finditer(_CLAUSE, text):
        parts.append(text[end : match.start()])
        end = match.end()
        if match[0] == "%%":
            parts.append("%")
            continue
        if match[2] is None:
            raise ValueError("unexpected end of string" if end == len(text) else _no_clause(text[end]))
        if used >= len(values):
            raise ValueError(f"index {used} out of range")
        parts.append(_clause(match[2], match[1], values[used]))
        used += 1
        size += len(parts[-1])
        _bounded(size)
    return "".join((*parts, text[end:]))


def _no_clause(letter: str) -> str:
    return f'could not parse formatting clause: unrecognized formatting clause "{letter}"'


def _clause(letter: str, digits: str | None, value: object) -> str:
    precision = int(digits[:9]) if digits else _PRECISION
    if precision > _LONGEST_PRECISION:
        raise ValueError(f"precision {precision} exceeds maximum allowed precision {_LONGEST_PRECISION}")
    if letter == "s":
        return _shown(value)
    if letter == "d":
        return str(_whole(value, "decimal", "integers"))
    if letter in ("f", "e"):
        return _floating(letter, precision, value)
    if letter == "b":
        return (
            str(int(value)) if isinstance(value, bool) else format(_whole(value, "binary", "integers and bools"), "b")
        )
    if letter in ("x", "X"):
        return _hexadecimal(letter, value)
    if letter == "o":
        return format(_whole(value, "octal", "integers"), "o")
    raise ValueError(_no_clause(letter))


def _whole(value: object, name: str, types: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(
        f"error during formatting: {name} clause can only be used on {types}, was given {_type_name(value)}"
    )


def _hexadecimal(letter: str, value: object) -> str:
    if isinstance(value, (str, bytes, bytearray)):
        text = (value.encode() if isinstance(value, str) else bytes(value)).hex()
        return text.upper() if letter == "X" else text
    types = "integers, byte buffers, and strings"
    return format(_whole(value, "hex", types), letter)


def _floating(letter: str, precision: int, value: object) -> str:
    if value in ("NaN", "Infinity", "-Infinity"):
        value = float(str(value))
    if not isinstance(value, float):
        name = "fixed-point" if letter == "f" else "scientific"
        raise ValueError(
            f"error during formatting: {name} clause can only be used on doubles, was given {_type_name(value)}"
        )
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if letter == "f":
        return f"{value:,.{precision}f}"
    mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
    superscripts = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
    sign, digits = exponent[:1], exponent[1:]
    return f"{mantissa}×10{(sign.replace('+', '') + digits).translate(superscripts)}"


def _shown(value: object) -> str:
    """A value as `%s` shows it."""
    if isinstance(value, (list, dict)):
        return _literal(value)
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (str, int)):
        return str(value)
    raise ValueError(TOO_LARGE)  # timestamps, durations and types are left to the server


def _double(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)


def _literal(value: object) -> str:
    """A value as a part of a list or map."""
    if isinstance(value, dict):
        pairs = sorted((_literal(key), _literal(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        return _quote(value)
    return f"{value:.{_PRECISION}f}" if isinstance(value, float) else _shown(value)


def _type_name(value: object) -> str:
    names: Mapping[type, str] = {bool: "bool", int: "int", float: "double", str: "string", list: "list", dict: "map"}
    return next((name for kind, name in names.items() if type(value) is kind), "null_type")


def _member(name: str, run: Callable[..., Any], *signatures: tuple[str, ...]) -> Function:
    return Function(name, True, signatures, run)


_TEXT: Final = ("string", "string")
FUNCTIONS: Final = (
    _member("charAt", _char_at, ("string", "int", "string")),
    _member("indexOf", _index_of, (*_TEXT, "int"), (*_TEXT, "int", "int")),
    _member("lastIndexOf", _last_index_of, (*_TEXT, "int"), (*_TEXT, "int", "int")),
    _member("substring", _substring, ("string", "int", "string"), ("string", "int", "int", "string")),
    _member("replace", _replace, (*_TEXT, "string", "string"), (*_TEXT, "string", "int", "string")),
    _member("split", _split, (*_TEXT, "list<string>"), (*_TEXT, "int", "list<string>")),
    _member("join", _join, ("list<string>", "string"), ("list<string>", "string", "string")),
    _member("lowerAscii", _lower, _TEXT),
    _member("upperAscii", _upper, _TEXT),
    _member("trim", str.strip, _TEXT),
    _member("format", _format, ("string", "list", "string")),
    Function("strings.quote", False, (_TEXT,), _quote),
)
