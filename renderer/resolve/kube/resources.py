"""Merges resources: layers by key, then the flavor's limits (docs/design/contract.md#resources)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Collector, Diagnostic, Path, make_diagnostic
from renderer.kubernetes import quantity
from renderer.resolve.layers import History, Position, ValueLayer

_FIRST = ("cpu", "memory")
_OTHER = {"limits": "requests", "requests": "limits"}


class MergedResources(Struct, frozen=True):
    """`{limits, requests}`, and the history by side and name. An amount that follows the other side has that last."""

    sides: Mapping[str, Mapping[str, str]]
    history: History


def merge_resources(layers: Sequence[ValueLayer], flavor: Mapping[str, str], diagnostics: Collector) -> MergedResources:
    """`{limits, requests}` with canonical quantities, cpu and memory first, without empty sides. `layers`: the preset's
    first, the user's last; in the history the flavor's limits are one more layer.

    Where a request exceeds its limit and a layer sets only one of the two, the other follows it; E260 where it sets
    both, E261 where both are the preset's. No limit is added.
    """
    sides: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    history: dict[Path, list[Position]] = {}
    for number, layer in enumerate(layers):
        spec, origin = layer.value, layer.origin
        for side, values in sides.items():
            for name, value in (spec.get(side) or {}).items():
                try:
                    values[name] = quantity.canonical(value)
                except ValueError:
                    diagnostics.add("E305", origin.at(side, name), value=value, hint=quantity.hint(value))
                history.setdefault((side, name), []).append(Position(number, (side, name)))
        if number:
            fixed = flavor if number == len(layers) - 1 else {}
            names = sides["requests"].keys() - fixed.keys() if number == 1 else _resource_names(spec) - fixed.keys()
            names_in_order = [name for name in sides["requests"] if name in names]
            diagnostics.problems += _adjust(sides, history, layers, number, names_in_order)
    spec, origin = layers[-1].value, layers[-1].origin
    for side, values in sides.items():
        for name in spec.get(side) or {}:
            if name in flavor and values.get(name, flavor[name]) != flavor[name]:
                words = {"name": name, "value": values[name], "limit": flavor[name]}
                diagnostics.add("W215", origin.at(side, name), **words, hint=_flavor_hint(name, values[name]))
        for name, value in flavor.items():
            values[name] = value
            history.setdefault((side, name), []).append(Position(len(layers), ("limits", name)))
    return MergedResources({side: order_resources(values) for side, values in sides.items() if values}, history)


def _flavor_hint(name: str, value: str) -> str:
    """Where a flavor gets another value of a resource; of devices also with a flavor beside that of a preset."""
    if "/" not in name or not value.isdigit() or value == "0":
        return "set it in the flavor's limits"
    new = f"gpu-{value}"
    flavor = f"flavors: {{{new}: {{limits: {{{name}: {value}}}}}}} in RenderConfig and claim inferenceFlavors: [{new}]"
    return f"set it in the flavor's limits, for a flavor of a preset write {flavor}"


def _resource_names(spec: Mapping[str, Any]) -> set[str]:
    return {name for side in _OTHER for name in spec.get(side) or {}}


def _adjust(
    sides: Mapping[str, dict[str, str]],
    history: Mapping[Path, list[Position]],
    layers: Sequence[ValueLayer],
    number: int,
    names: Sequence[str],
) -> Iterator[Diagnostic]:
    """Adjusts requests of these names above their limits to what the layer of this number sets; an error for each where
    it sets both or neither.
    """
    for name in names:
        limit, request = sides["limits"].get(name), sides["requests"][name]
        if limit is None or request == limit or quantity.nanos(request) <= quantity.nanos(limit):
            continue
        sides_given = [side for side in _OTHER if name in (layers[number].value.get(side) or {})]
        if len(sides_given) == 1:
            other_side = _OTHER[sides_given[0]]
            sides[other_side][name] = sides[sides_given[0]][name]
            history[other_side, name].append(Position(number, (sides_given[0], name)))
            continue
        last = history["requests", name][-1]
        code = "E260" if sides_given else "E261"
        origin = layers[last.layer].origin.at(*last.item)
        hint = quantity.limit_hint(name, request, limit)
        yield make_diagnostic(code, origin, name=name, request=request, limit=limit, hint=hint)


def order_resources(values: Mapping[str, str]) -> dict[str, str]:
    """cpu, memory, then the others by name."""
    ordered = {name: values[name] for name in _FIRST if name in values}
    return ordered | {name: values[name] for name in sorted(values) if name not in ordered}
