"""What people write for a number, a duration, true or false: `95%`, `0,9`, `8k`, `32,768`, `5 minutes`, `yes`."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_LONGEST: Final = 40  # characters of what is read
_FORM: Final = (
    r"([+-]?)(\d{1,18})(?:([.,])(\d{1,18}))?(?:[eE][+]?(\d{1,2}))?\s*(%|[A-Za-z]{0,12})"  # as text: few runs need it
)
_GROUPED: Final = r"(\d)[ ,_'](?=\d{3}(?:\D|$))"
_POWERS: Final = {"k": 1, "m": 2, "g": 3, "t": 4}
_UNITS: Final = {"ms": ("ms", "msec", "millisecond"), "s": ("s", "sec", "second"), "m": ("m", "min", "minute")}
_LONGER: Final = {"h": ("h", "hr", "hour"), "d": ("d", "day")}
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_TRUE: Final = ("true", "yes", "on", "y", "1", "enabled")
_FALSE: Final = ("false", "no", "off", "n", "0", "disabled")


class Number(Struct, frozen=True):
    """What a text says."""

    whole: tuple[int, ...] = ()  # as whole numbers, the likeliest first
    parts: tuple[float, ...] = ()  # as numbers with parts


def read_number(text: str) -> Number:
    """The numbers that a text may stand for; none for text that is no number in another form."""
    bare = text.strip() if len(text) <= _LONGEST else ""
    grouped = re.sub(_GROUPED, r"\1", bare)
    if grouped != bare and re.fullmatch(r"\d+", grouped) and re.match(r"\d{1,3}[ ,_']", bare):
        return Number((int(grouped),), (float(grouped),))
    match = re.fullmatch(_FORM, bare.replace("_", ""))
    if match is None:
        return Number()
    sign, digits, _, behind, exponent, unit = match.groups()
    value = float(f"{sign}{digits}.{behind or 0}e{exponent or 0}")
    if unit == "%":
        return Number((int(value),) if value.is_integer() else (), (_rounded(value / 100),))
    power = _POWERS.get(unit[:1].lower(), 0)
    if unit and (not power or unit[1:].lower() not in ("", "i", "b", "ib")):
        return Number()
    bases = (1024,) if "i" in unit else (1000, 1024)
    multiples = [value * base**power for base in bases[: 2 if unit else 1]]
    whole = tuple(int(multiple) for multiple in multiples if multiple.is_integer())
    # 90 where a share is wanted is 90 %.
    share = (_rounded(value / 100),) if not unit and 1 < value <= 100 else ()
    return Number(whole, (*map(_rounded, multiples), *share))


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")


def gibibytes(text: str) -> float | None:
    """The GiB of a size such as `15Gi` or `15GB`, the latter to three digits; None of what has no unit."""
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)\s*([kmgt])(i?)b?", text.strip()[:_LONGEST].lower())
    if match is None:
        return None
    power = _POWERS[match[2]]
    size = float(match[1]) * (1024 ** (power - 3) if match[3] else 1000**power / 1024**3)
    size = _rounded(size) if match[3] else float(f"{size:.3g}")
    return int(size) if size.is_integer() else size


def without_unit(text: str, unit: str) -> str:
    """The number in front of a unit, such as `4` of `4GiB` for `gb`; '' where another or none stands there."""
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)\s*([A-Za-z]{1,3})", text.strip()[:_LONGEST])
    return match[1] if match and match[2].lower().replace("ib", "b").replace("i", "b") == unit else ""


def short_counts(text: str) -> tuple[str, ...]:
    """A size such as `16G` of `16GiB`, and `16g` of `16GB`, for programs that read k as a thousand and K as 1024."""
    match = re.fullmatch(r"(\d{1,18})\s*([KMGTkmgt])(i?)[bB]?", text.strip()[:_LONGEST])
    return (match[1] + (match[2].upper() if match[3] else match[2].lower()),) if match else ()


def duration(value: object) -> str:
    """A duration such as `5m` of `5 minutes`, `1h30m` of `1.5h`, `30s` of 30; '' of what is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    seconds = _seconds(str(value))
    if seconds is None or seconds <= 0:
        return ""
    if not seconds.is_integer():
        return f"{round(seconds * 1000)}ms"
    left, parts = int(seconds), ""
    for unit in ("h", "m", "s"):
        count, left = divmod(left, _SECONDS[unit])
        parts += f"{count}{unit}" if count else ""
    return parts


def whole_seconds(text: str) -> int | None:
    """The seconds of a duration; None of what is none, and of parts of a second."""
    seconds = _seconds(text) if not text.strip().isdigit() else None
    return int(seconds) if seconds is not None and seconds.is_integer() else None


def _seconds(text: str) -> float | None:
    bare = text.strip().lower() if len(text) <= _LONGEST else ""
    if re.fullmatch(r"\d{1,9}(\.\d{1,3})?", bare):
        return float(bare)
    part = r"(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]+)"
    if not re.fullmatch(rf"(?:{part}[\s,]*)+", bare):
        return None
    total = 0.0
    for number, word in re.findall(part, bare):
        units = {name: unit for unit, names in (*_UNITS.items(), *_LONGER.items()) for name in names}
        unit = units.get(word) or units.get(word.removesuffix("s"), "")
        if not unit:
            return None
        total += float(number) * (0.001 if unit == "ms" else _SECONDS[unit])
    return round(total, 3)


def truth(value: object) -> bool | None:
    """What a word or a number says that stands for true or false; None for another."""
    word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    return True if word in _TRUE else False if word in _FALSE else None
