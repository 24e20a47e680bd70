"""Whether an option of an engine takes a value, as the engine's own parser would say."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from renderer.engines.dialect import Dialect
from renderer.engines.option_lists import Option

TYPES = {
    "int": "a whole number",
    "float": "a number",
    "json": "JSON",
    "object": "a JSON object",
    "map": "JSON in its braces",
    "count": "a whole number or one like 8k",
    "kv": "key=type:value, with int, float, bool or str for the type",
}
# Patterns as text: few runs need them. A thousand is k, 1024 is K; only of the former there may be parts.
COUNT = r"\s*([0-9]+(\.[0-9]+)?[kmgt]|[0-9]+[KMGT])\s*"
_TEXT_OR_COUNT = r'"(?:[^"\\]|\\.)*"|\b[0-9]+(?:\.[0-9]+)?[kKmMgGtT]\b'  # in JSON
# What llama.cpp's string_parse_kv_override takes (common/common.cpp of b11434).
_KEY_VALUE = r"[^=]{0,127}=(int:.*|float:.*|bool:(true|false)|str:.{0,127})"
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_BOUND_WORDS = {">": "above", ">=": "of at least", "<": "below", "<=": "of at most"}
# What C++'s stoi and stof read: the beginning of the text.
LEADING_NUMBERS = {
    "int": r"\s*[+-]?[0-9]+",
    "float": r"(?i)\s*[+-]?(inf(inity)?|nan|0x[0-9a-f]+|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)",
}
_MAX_INT = 2**31 - 1  # of a C++ int
JSON = ("json", "object", "map")


def is_choice(option: Option, value: str) -> bool:
    return value in option.choices or ("None" in option.choices and not value)


def type_mismatch(style: Dialect, option: Option, value: str) -> str:
    """What an option takes, such as `a whole number of at least 1`, where a value does not fit; else ''."""
    if option.takes_none and value in ("", "None"):
        return ""
    words = TYPES[option.type]
    try:
        if option.type == "map" and not (value.strip()[:1] == "{" and value.strip()[-1:] == "}"):
            return ""
        if option.type == "kv":
            first, *others = value.split(",") if '"' not in value else [value]
            pairs = [first, *(part for part in others if "=" in part)]
            return "" if all(re.fullmatch(_KEY_VALUE, pair) for pair in pairs) else words
        if option.type in JSON:
            content = _read_json(value, with_counts=option.type == "object" and style.dotted)
            return "" if option.type != "object" or isinstance(content, dict) else words
        if option.type == "count" and re.fullmatch(COUNT, value):
            return ""
        if style.kind == "exact" and option.type in LEADING_NUMBERS:
            read = re.match(LEADING_NUMBERS[option.type], value)
            if read is None:
                return words
            is_large = option.type == "int" and abs(int(read[0])) > _MAX_INT
            return f"{words} of at most {_MAX_INT}" if is_large else ""
        number = float(value) if option.type == "float" else int(value)
    except ValueError:
        return words
    if all(_COMPARISONS[sign](number, bound) for sign, bound in option.bounds):
        return ""
    return f"{words} {' and '.join(f'{_BOUND_WORDS[sign]} {bound:g}' for sign, bound in option.bounds)}"


def is_disproven(style: Dialect, option: Option, value: str) -> bool:
    """Whether the help of the version itself tells a type that a value of the option is not of."""
    if not option.proven or value in ("", "None"):  # no help tells whether these are taken
        return False
    if option.proven not in JSON:
        return bool(type_mismatch(style, replace(option, type=option.proven, bounds=()), value))
    try:
        _read_json(value, with_counts=style.dotted)
    except ValueError:
        return True
    return False


def _read_json(text: str, *, with_counts: bool) -> object:
    """What a text of JSON says. `with_counts`: it may have numbers such as 8k. Raises ValueError."""
    try:
        return json.loads(text)
    except ValueError:
        if not with_counts:
            raise
    # _expand_json_human_readable_numbers in engine/arg_utils.py of 0.33.0; since which release is not known.
    return json.loads(re.sub(_TEXT_OR_COUNT, lambda match: match[0] if match[0][0] == '"' else "1", text))


def read_part(option: Option, value: str) -> str:
    """What an engine reads that takes the beginning of a value for the number; '' where that is all of it."""
    read = re.match(LEADING_NUMBERS[option.type], value)
    return read[0].strip() if read and read[0] != value and read[0].strip() != value.strip() else ""
