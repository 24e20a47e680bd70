"""Quantities against a table that apimachinery itself made."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction

import pytest

from renderer.kubernetes import quantity
from tests.paths import ROOT

TABLE = json.loads((ROOT / "tests" / "data" / "quantities.json").read_text("utf-8"))
PRINTED: dict[str, str] = TABLE["quantities"]


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_a_quantity_is_printed_as_kubernetes_prints_it(text: str, printed: str) -> None:
    assert quantity.canonical(text) == printed
    assert quantity.canonical(text) == printed  # from the memo


@pytest.mark.parametrize("printed", sorted(set(PRINTED.values())))
def test_what_is_printed_stays(printed: str) -> None:
    assert quantity.canonical(printed) == printed


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_printing_keeps_the_amount(text: str, printed: str) -> None:
    assert quantity.amount(text) == quantity.amount(printed)


@pytest.mark.parametrize("text", TABLE["refused"] + TABLE["refused by us only"])
def test_what_is_no_quantity(text: str) -> None:
    for function in (quantity.canonical, quantity.amount, quantity.nanos):
        with pytest.raises(ValueError, match=r"."):
            function(text)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0, "0"),
        (8, "8"),
        (-8, "-8"),
        (1000, "1k"),
        (4096, "4096"),
        (1073741824, "1073741824"),
        (10**9, "1G"),  # also `1e9` without quotes
        (0.1, "100m"),
        (0.5, "500m"),
        (1.5, "1500m"),
        (-0.25, "-250m"),
        (2.0, "2"),
        (1e3, "1k"),
        (1e-7, "100e-9"),  # Go writes such a JSON number with an exponent
    ],
)
def test_numbers_of_yaml(value: float, printed: str) -> None:
    assert quantity.canonical(value) == printed


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "empty"),
        ("lots", "does not begin with a number"),
        ("1GB", "unknown suffix 'GB', known: n u m k M G T P E Ki Mi Gi Ti Pi Ei"),
        ("1e101", "too large an exponent"),
        ("1000E", "too large: nothing is above E"),
        ("1" * 101, "longer than 100 characters"),
        (10**100, "too large"),
        (True, "not a number or string"),
        (None, "not a number or string"),
        ([1], "not a number or string"),
        ({}, "not a number or string"),
        (float("nan"), "not a finite number"),
        (float("-inf"), "not a finite number"),
    ],
)
def test_the_reason_is_short(value: object, reason: str) -> None:
    for function in (quantity.canonical, quantity.amount, quantity.nanos):
        with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
            function(value)


@pytest.mark.parametrize(
    ("value", "replacement"),
    [
        ("32GB", "32G"),
        ("16 Gi", "16Gi"),
        ("16gib", "16Gi"),
        ("4MI", "4Mi"),
        ("512mb", "512M"),
        ("500 m", "500m"),
        ("1.5TB", "1.5T"),
        ("10K", "10k"),
        ("1EB", "1E"),
        ("2 cores", "2"),
        ("500 millicores", "500m"),
        ("4000mc", "4000m"),
        ("0.5 CPU", "0.5"),
        ("1 GPU", "1"),
        ("64 bytes", "64"),
        (" 2", "2"),
    ],
)
def test_what_was_meant(value: str, replacement: str) -> None:
    assert quantity.hint(value) == f"did you mean {replacement}?"
    assert quantity.canonical(replacement)


@pytest.mark.parametrize("value", ["two", "much", "-1Gi", "-1GB", "5 apples", "", True, [1], "9" * 101 + "GB"])
def test_the_form_where_nothing_is_meant_for_certain(value: object) -> None:
    assert quantity.hint(value) == "write a quantity such as 500m, 2 or 16Gi"


@pytest.mark.parametrize("value", ["1e400", "1e200", "1e+200", 1e200])
def test_a_number_that_is_too_large(value: object) -> None:
    assert quantity.hint(value) == "write a smaller number"


@pytest.mark.parametrize("text", TABLE["refused"] + TABLE["refused by us only"])
def test_what_is_meant_is_never_refused(text: str) -> None:
    hint = quantity.hint(text)
    if hint.startswith("did you mean"):
        assert quantity.canonical(hint.removeprefix("did you mean ").removesuffix("?"))


def test_equal_values_of_other_types_do_not_share_a_memo() -> None:
    assert quantity.canonical(1) == "1"
    assert quantity.canonical(1.0) == "1"
    with pytest.raises(ValueError, match="not a number or string"):
        quantity.canonical(True)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("1500m", Fraction(3, 2)),
        ("1Gi", Fraction(2**30)),
        ("1.5Ki", Fraction(1536)),
        ("-0.5Gi", Fraction(-(2**29))),
        ("1e-3", Fraction(1, 1000)),
        ("1e3", Fraction(1000)),
        ("0.1n", Fraction(1, 10**9)),  # up to a nano
        ("-0.1n", Fraction(-1, 10**9)),
        ("9Ei", Fraction(2**63 - 1)),  # the largest
        ("0", Fraction(0)),
        (0.1, Fraction(1, 10)),
        (7, Fraction(7)),
    ],
)
def test_amounts(value: object, number: Fraction) -> None:
    assert quantity.amount(value) == number
    assert quantity.nanos(value) == number * 10**9


@pytest.mark.parametrize(
    ("name", "request_", "limit", "hint"),
    [
        ("memory", "24Gi", "16Gi", "write memory: 24Gi in limits, or a smaller request"),
        ("memory", "2Gi", "1024Mi", "write memory: 2Gi in limits, or a smaller request"),
        ("memory", "16Gi", "24m", "write memory: 24Gi in limits"),
        ("memory", "16Gi", 24, "write memory: 24Gi in limits"),
        ("memory", 32, "64m", "write units: memory: 32Gi in requests, and as much or more in limits"),
        ("cpu", 4, "8m", "write cpu: 8 in limits"),
        ("cpu", 4, "2m", "write cpu: 4 in limits, or a smaller request"),
        ("cpu", 2, "1500m", "write cpu: 2 in limits, or a smaller request"),
        ("cpu", 4000, 8, "write cpu: 4000m in requests"),
        ("cpu", 4000, 2, "write cpu: 4000m in requests, and as much or more in limits"),
        ("nvidia.com/gpu", 4, 2, "write nvidia.com/gpu: 4 in limits, or a smaller request"),
    ],
)
def test_hints_about_requests_above_their_limits(name: str, request_: object, limit: object, hint: str) -> None:
    assert quantity.limit_hint(name, request_, limit) == hint


def test_memos_are_bounded() -> None:
    for number in range(25_000):
        quantity.canonical(f"{number}m")
        quantity.nanos(f"{number}m")
    assert len(quantity._canonical) <= 10_000
    assert len(quantity._nanos) <= 10_000


def test_nothing_slow_is_imported() -> None:
    code = (
        "import sys; before = set(sys.modules); import renderer.kubernetes.quantity; print(*set(sys.modules) - before)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "renderer.kubernetes.quantity" in loaded
    assert {"fractions", "yaml"}.isdisjoint(loaded)
