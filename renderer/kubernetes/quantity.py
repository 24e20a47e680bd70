"""Kubernetes quantities: `1500m`, `32Gi`, `1e3`, as the API server prints them.

Whatever a manifest says is read and written back by controllers and webhooks; a spelling that they would change shows
up as drift. The rules are those of apimachinery's resource.Quantity, its habit of keeping a string that it takes for
canonical included (`+1` and `1.500` stay as they are).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from renderer.diagnostics import ReplacingHint

if TYPE_CHECKING:
    from fractions import Fraction

_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX: Final = ("", *_BINARY)
_MAX_INT64: Final = (1 << 63) - 1
_NANO: Final = 9  # digits behind the point that a quantity keeps
_FAST_DIGITS: Final = 18  # with so many digits apimachinery never leaves int64
_LONGEST: Final = 100  # characters, and powers of ten: far beyond what any resource has

_PARTS = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(.*)", re.DOTALL)
_EXPONENT: Final = r"[eE]([+-]?[0-9]+)"  # as text: few runs need it, and re keeps what it has compiled
_NUMBER_AND_UNIT: Final = r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)"
_THINGS: Final = ("b", "byte", "bytes", "core", "cores", "cpu", "cpus", "gpu", "gpus")  # units that no quantity has
BYTES: Final = frozenset(("memory", "ephemeral-storage", "storage"))
"""The resources that are counted in bytes."""
MEBI: Final = 2**20 * 10**9
"""A mebibyte in billionths."""
_THOUSANDTHS: Final = ("mc", "millicore", "millicores", "millicpu", "millicpus")


class _Quantity(Struct, frozen=True):
    """A number `units` * 10**`power`, as apimachinery parses it."""

    units: int
    power: int
    family: str  # decimal | binary | exponent
    text: str | None = None  # as it was written, where apimachinery keeps that


# Both memos are keyed by strings and integers only: True == 1 == 1.0 would share an entry.
_canonical: dict[str | int, str] = {}
_nanos: dict[str | int, int] = {}
_BOUND: Final = 10_000


def canonical(value: object) -> str:
    """The quantity that YAML gave as int, float or str, as apimachinery prints it: 0.5 → `500m`, `1024Mi` → `1Gi`.

    ValueError, with a short reason, for what is not a valid quantity or too large for one.
    """
    if value.__class__ is not str and value.__class__ is not int:
        return _format(_read_value(value))
    known = _canonical.get(value)
    if known is None:
        known = _format(_read_value(value))
        if len(_canonical) >= _BOUND:
            _canonical.clear()
        _canonical[value] = known
    return known


def nanos(value: object) -> int:
    """The number that the quantity stands for, in billionths; less than one is rounded up. ValueError likewise."""
    if value.__class__ is not str and value.__class__ is not int:
        return _in_nanos(_read_value(value))
    known = _nanos.get(value)
    if known is None:
        known = _in_nanos(_read_value(value))
        if len(_nanos) >= _BOUND:
            _nanos.clear()
        _nanos[value] = known
    return known


def amount(value: object) -> Fraction:
    """The number that the quantity stands for. To compare two, `nanos` is cheaper. ValueError likewise."""
    from fractions import Fraction  # costs more than all the rest of this module

    return Fraction(nanos(value), 10**_NANO)


def hint(value: object) -> str:
    """What to write instead of a value that `canonical` refuses: `did you mean 32G?` for `32GB`, else the form."""
    match = re.fullmatch(_NUMBER_AND_UNIT, str(value).strip())
    if match is not None:
        number, unit = match.groups()
        candidate = number + (unit if unit in _DECIMAL or unit in _BINARY else _meant_suffix(unit.lower()))
        if candidate != value and not _reason(candidate):
            return ReplacingHint(f"did you mean {candidate}?", str(value), candidate)
    return (
        "write a smaller number"
        if _reason(value).startswith("too large")
        else "write a quantity such as 500m, 2 or 16Gi"
    )


def thousandths(value: object) -> int:
    """A number of CPUs in thousandths, rounded up as the API server does. Raises ValueError."""
    return -(-nanos(value) // 10**6)


def limit_hint(name: str, request: object, limit: object) -> str:
    """What to write where a request is above its limit: the limit in the request's unit, where that alone makes it
    large enough; thousandths for whole CPUs, units for bytes; else the request.
    """
    request_parts, limit_parts = (re.fullmatch(_NUMBER_AND_UNIT, str(canonical(side))) for side in (request, limit))
    more = ", and as much or more in limits"
    if name == "cpu" and nanos(request) >= 1000 * 10**_NANO:
        thousandths = f"{nanos(request) // 10**_NANO}m"
        return f"write cpu: {thousandths} in requests{more if nanos(thousandths) > nanos(limit) else ''}"
    if request_parts and name in BYTES and nanos(request) < MEBI:
        return f"write units: {name}: {request_parts[1]}Gi in requests{more}"
    if request_parts and limit_parts and request_parts[2] != limit_parts[2]:
        in_units = limit_parts[1] + request_parts[2]
        if nanos(request) <= nanos(in_units) <= 16 * nanos(request):  # 1500m for a request of 2 is no 1500
            return f"write {name}: {in_units} in limits"
    return f"write {name}: {canonical(request)} in limits, or a smaller request"


def _meant_suffix(unit: str) -> str:
    """The suffix of a unit in lower case: `G` of `gb`, `Gi` of `gib`, none of `cores`; the unit if it is unknown."""
    if unit in _THINGS:
        return ""
    if unit in _THOUSANDTHS:
        return "m"
    suffixes: dict[str, str] = {suffix.lower(): suffix for suffix in (*"kMGTPE", *_BINARY)}
    return suffixes.get(unit.removesuffix("b"), unit)


def _reason(value: object) -> str:
    """Why `canonical` refuses a value; '' where it does not."""
    try:
        canonical(value)
    except ValueError as error:
        return str(error)
    return ""


def _read_value(value: object) -> _Quantity:
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("not a number or string")
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError("not a finite number")
        if value.is_integer() and abs(value) < 1e21:  # from there on Go writes JSON numbers with an exponent
            value = int(value)
    elif abs(value) >= 10**_LONGEST:
        raise ValueError("too large")
    return _parse(repr(value))


def _parse(text: str) -> _Quantity:
    if len(text) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters")
    match = _PARTS.fullmatch(text)
    if match is None:
        raise ValueError("does not begin with a number" if text else "empty")
    sign, whole, fraction, suffix = match.groups(default="")
    family, shift, power = _suffix(suffix)
    whole = whole.lstrip("0") or "0"
    digits = whole + fraction
    units = int(digits) << shift
    power -= len(fraction)

    if family == "binary":
        small = not fraction and len(whole) + shift * 3 // 10 < 15 and units <= _MAX_INT64
        keeps_text = small and int(digits) & 7 != 0
    else:
        small = len(digits) <= _FAST_DIGITS and power >= -_NANO
        keeps_text = small and power % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
    if not small:
        if power < -_NANO:
            units = -(-units // 10 ** (-_NANO - power))  # up, so that asking for little is not asking for nothing
            power = -_NANO
        if family == "binary":
            units, power = _cap(units, power)
            if 0 < units * 10 ** (power + _NANO) < 10**_NANO:
                family = "decimal"
    return _Quantity(-units if sign == "-" else units, power, family, text if keeps_text else None)


def _suffix(suffix: str) -> tuple[str, int, int]:
    """Family, bits to shift and power of ten that a suffix means."""
    if suffix in _DECIMAL:
        return "decimal", 0, _DECIMAL[suffix]
    if suffix in _BINARY:
        return "binary", _BINARY[suffix], 0
    match = re.fullmatch(_EXPONENT, suffix)
    if match is None:
        raise ValueError(f"unknown suffix '{suffix}', known: {' '.join([*_DECIMAL, *_BINARY]).replace('  ', ' ')}")
    power = int(match[1])
    if abs(power) > _LONGEST:
        raise ValueError("too large an exponent")
    return "exponent", 0, power


def _cap(units: int, power: int) -> tuple[int, int]:
    """Binary quantities end at the largest int64."""
    return (_MAX_INT64, 0) if units > _MAX_INT64 * 10**-power else (units, power)


def _in_nanos(quantity: _Quantity) -> int:
    _format(quantity)  # what cannot be printed has no amount either
    value: int = quantity.units * 10 ** (quantity.power + _NANO)
    return value


def _format(quantity: _Quantity) -> str:
    if quantity.text is not None:
        return quantity.text
    units, power, family = quantity.units, quantity.power, quantity.family
    if units == 0:
        return "0"
    while units % 10 == 0:
        units //= 10
        power += 1
    if family == "binary" and power >= 0 and abs(units * 10**power) >= 1024:
        units *= 10**power
        thousands = 0
        while units % 1024 == 0:
            units //= 1024
            thousands += 1
        return f"{units}{_BINARY_SUFFIX[thousands]}"
    units *= 10 ** (power % 3)
    power -= power % 3
    if family == "exponent":
        return f"{units}e{power}" if power else f"{units}"
    if power not in _DECIMAL_SUFFIX:
        raise ValueError("too large: nothing is above E")
    return f"{units}{_DECIMAL_SUFFIX[power]}"
