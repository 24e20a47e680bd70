"""CPU, memory and the rest: the user's by key over the config's, then the flavor's limits over both (contract,
section 2).
"""

from __future__ import annotations

from collections.abc import Mapping

from renderer import quantity
from renderer.api import Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin
from renderer.records import NamedTuple

_FIRST = ("cpu", "memory")


class Side(NamedTuple):
    """Somebody's `resources`; `origin`: of what they belong to."""

    spec: Spec
    origin: Origin


def merged(preset: Side, user: Side, flavor: Mapping[str, str], found: Findings) -> Body:
    """`{limits, requests}` with canonical quantities, cpu and memory first; a side without any is left out.

    Where a request is above its limit and one of the two is the user's, the other follows it; both the user's is E260,
    both the preset's E261. No limit is invented.
    """
    if not preset.spec and not user.spec and not flavor:
        return {}
    sides: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    for side, values in sides.items():
        for each in (preset, user):
            for name, value in (each.spec.get(side) or {}).items():
                try:
                    values[name] = quantity.canonical(value)
                except ValueError:
                    found.add("E305", each.origin.at("resources", side, name), value=value)
    limits, requests = sides["limits"], sides["requests"]
    mine = {side: user.spec.get(side) or {} for side in sides}
    for name, request in requests.items():
        limit = limits.get(name)
        if limit is None or request == limit or name in flavor or quantity.nanos(request) <= quantity.nanos(limit):
            continue
        if name in mine["requests"] and name in mine["limits"]:
            found.add("E260", user.origin.at("resources", "requests", name), name=name, request=request, limit=limit)
        elif name in mine["limits"]:
            requests[name] = limit
        elif name in mine["requests"]:
            limits[name] = request
        else:
            found.add("E261", preset.origin.at("resources", "requests", name), name=name, request=request, limit=limit)
    for side, given in mine.items():
        for name in given:
            if name in flavor and sides[side].get(name, flavor[name]) != flavor[name]:
                words = {"name": name, "value": sides[side][name], "limit": flavor[name]}
                found.add("W215", user.origin.at("resources", side, name), **words)
    limits.update(flavor)
    requests.update(flavor)
    return {side: ordered(values) for side, values in sides.items() if values}


def ordered(values: Mapping[str, str]) -> dict[str, str]:
    """cpu, memory, then the others by name."""
    made = {name: values[name] for name in _FIRST if name in values}
    return made | {name: values[name] for name in sorted(values) if name not in made}
