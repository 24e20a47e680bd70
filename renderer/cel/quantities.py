"""Kubernetes' functions about quantities."""

from __future__ import annotations

from typing import Final

from renderer.cel.carriers import QUANTITY, Carrier, carry, content
from renderer.cel.compiler import Function
from renderer.kubernetes import quantity

_NANO: Final = 10**9
_NO_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_MAX_INT: Final = 2**63


def nanos(value: object) -> int:
    """The number of a quantity, in billionths. Raises ValueError for a value of another type."""
    return int(content(value, QUANTITY))


def _quantity(text: str) -> Carrier:
    try:
        return _of_nanos(quantity.nanos(text))
    except ValueError:
        raise ValueError(_NO_QUANTITY) from None


def _of_nanos(amount: int) -> Carrier:
    return carry(QUANTITY, str(amount))


def _is_quantity(text: str) -> bool:
    try:
        quantity.nanos(text)
    except ValueError:
        return False
    return True


def _sign(value: object) -> int:
    amount = nanos(value)
    return (amount > 0) - (amount < 0)


def _is_integer(value: object) -> bool:
    whole, rest = divmod(nanos(value), _NANO)
    return rest == 0 and -_MAX_INT <= whole < _MAX_INT


def _as_integer(value: object) -> int:
    if not _is_integer(value):
        raise ValueError("cannot convert value to integer")
    return nanos(value) // _NANO


def _as_float(value: object) -> float:
    return nanos(value) / _NANO


def _operand(value: object) -> int:
    return value * _NANO if isinstance(value, int) else nanos(value)


def _add(one: object, other: object) -> Carrier:
    return _of_nanos(nanos(one) + _operand(other))


def _subtract(one: object, other: object) -> Carrier:
    return _of_nanos(nanos(one) - _operand(other))


_SUM: Final = (("Quantity", "Quantity", "Quantity"), ("Quantity", "int", "Quantity"))
FUNCTIONS: Final = (
    Function("quantity", False, (("string", "Quantity"),), _quantity),
    Function("isQuantity", False, (("string", "bool"),), _is_quantity),
    Function("sign", False, (("Quantity", "int"),), _sign),
    Function("isInteger", True, (("Quantity", "bool"),), _is_integer),
    Function("asInteger", True, (("Quantity", "int"),), _as_integer),
    Function("asApproximateFloat", True, (("Quantity", "double"),), _as_float),
    Function("add", True, _SUM, _add),
    Function("sub", True, _SUM, _subtract),
)
