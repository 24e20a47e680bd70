"""What accelerators cost an hour, as RenderConfig says it (docs/fleet.md#prices)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal

from msgspec import Struct

from renderer.api import RenderConfig
from renderer.fit.accelerator_types import AcceleratorType

HOURS = 730
"""Hours of a month: a year has 8,760."""
_CENT = Decimal("0.01")


class Bounds(Struct, frozen=True):
    """An amount with the fewest replicas and with the most."""

    low: Decimal
    high: Decimal

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    @property
    def month(self) -> Bounds:
        """What amounts of an hour come to in a month."""
        return Bounds(per_month(self.low), per_month(self.high))


class Hardware(Struct, frozen=True):
    """What pods may run on: a flavor, '' where nodes are chosen by labels alone, and the type of its cards."""

    flavor: str
    card: AcceleratorType | None
    limits: Mapping[str, str]
    labels: Mapping[str, str]  # of the nodes


def price_range(config: RenderConfig, hardware: Iterable[Hardware], *, is_part: bool) -> Bounds | None:
    """The prices of an hour of one accelerator on the cheapest and on the dearest of these; None where one of them has
    no price. `is_part`: the pods have parts of cards, which the price of a whole one says nothing about.
    """
    prices = [_price(config, item, is_part=is_part) for item in hardware]
    known_prices = [price for price in prices if price is not None]
    return Bounds(min(known_prices), max(known_prices)) if known_prices and len(known_prices) == len(prices) else None


def _price(config: RenderConfig, hardware: Hardware, *, is_part: bool) -> Decimal | None:
    """The price of the flavor, else of its type."""
    own = config.get("flavors", hardware.flavor, "perHour") if hardware.flavor else None
    if own is None and hardware.card and not is_part:
        by_type: Mapping[str, object] = config.get("fleet", "perHour", default={})
        own = by_type.get(hardware.card.name)
    return None if own is None else Decimal(str(own))


def per_month(hour: Decimal) -> Decimal:
    """What an amount of an hour comes to in a month."""
    return hour * HOURS


def cents(amount: Decimal) -> str:
    """An amount with two decimals: 0.005 becomes 0.01."""
    return str(amount.quantize(_CENT, ROUND_HALF_UP))


def money(amount: Decimal, currency: str) -> str:
    """An amount for people: `1,752.00 USD`."""
    return f"{amount.quantize(_CENT, ROUND_HALF_UP):,} {currency}".rstrip()
