"""What a public name leads to: AIGatewayRoute, its policies, and providers; and how that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from renderer.diff.objects import Body, Items, Key, at, items_of, maps, table
from renderer.records import NamedTuple

ROUTE, LIMITS, RIGHTS, PROVIDER = "AIGatewayRoute", "BackendTrafficPolicy", "SecurityPolicy", "Backend"
_MODEL = "x-ai-eg-model"
_INSIDE = ".svc.cluster.local"


class Leg(NamedTuple):
    """A backend of a public name: weight, priority, and what the model is called there."""

    weight: int
    priority: int
    called: str
    pool: bool


class Public(NamedTuple):
    """A public name, which belongs to Gateways, and there to hosts: to all where none is named. `route`: the object."""

    gateways: tuple[str, ...]
    hosts: tuple[str, ...]
    name: str
    route: Key
    legs: Mapping[str, Leg]
    timeout: str


Named: TypeAlias = Mapping[tuple[str, Key], Public]  # by name and route


class Way(NamedTuple):
    """A word about traffic that differs, of a public name or an object; '' on a side that says nothing."""

    name: str
    what: str
    before: str
    after: str


def names(found: Items) -> Iterator[Public]:
    """The public names of these routes."""
    for key, item in found.items():
        if key.kind != ROUTE:
            continue
        parents = [
            f"{parent.get('namespace', key.namespace)}/{parent.get('name', '')}"
            for parent in maps(item.body, "spec", "parentRefs")
        ]
        hosts = [str(each) for each in items_of(item.body, "spec", "hostnames")]
        for rule in maps(item.body, "spec", "rules"):
            legs = {str(each.get("name", "")): _leg(each) for each in maps(rule, "backendRefs")}
            timeout = str(at(rule, "timeouts", "request") or "")
            for match in maps(rule, "matches"):
                for header in maps(match, "headers"):
                    if header.get("name") == _MODEL:
                        name = str(header.get("value", ""))
                        yield Public(tuple(parents), tuple(hosts), name, key, legs, timeout)


def _leg(reference: Body) -> Leg:
    weight, priority = reference.get("weight", 1), reference.get("priority", 0)
    return Leg(
        weight if weight.__class__ is int else 1,
        priority if priority.__class__ is int else 0,
        str(reference.get("modelNameOverride", "")),
        reference.get("kind") == "InferencePool",
    )


def ways(before: Items, after: Items, renamed: Mapping[Key, Key]) -> Iterator[Way]:
    """How the traffic of two sides differs, by public name and then by object."""
    old, new = ({(each.name, each.route): each for each in names(side)} for side in (before, after))
    backends = {
        (key.namespace, key.name): was.name
        for key, was in renamed.items()
        if key.kind in ("AIServiceBackend", "InferencePool")
    }
    moved = _moved(old, new, renamed)
    several = {name for side in (old, new) for name, many in Counter(name for name, _ in side).items() if many > 1}
    for each in sorted({*old, *new} - set(moved.values())):
        sides = old.get(moved.get(each, each)), new.get(each)
        hosts = next((side.hosts for side in reversed(sides) if side), ()) if each[0] in several else ()
        name = f"{each[0]} at {', '.join(hosts)}" if hosts else each[0]
        yield from _names(*sides, name, backends)
    for key in sorted({*before, *after}):
        was = renamed.get(key, key)
        pair = before[was].body if was in before else {}, after[key].body if key in after else {}
        if key.kind == LIMITS and key not in renamed.values():
            yield from _limits(key, *pair)
        elif key.kind == PROVIDER and key not in renamed.values():
            yield from _said(f"{key.place}", "provider", _hosts(pair[0]), _hosts(pair[1]))


def _moved(old: Named, new: Named, renamed: Mapping[Key, Key]) -> dict[tuple[str, Key], tuple[str, Key]]:
    """Public names that another route answers to: where from, by where. The route was renamed, or stands in the same
    namespace or at the same Gateway; one that has a host in common comes first.
    """
    left = {each: old[each] for each in sorted(set(old) - set(new))}
    came = {each: new[each] for each in sorted(set(new) - set(old))}
    found = {each: was for each in came if (was := (each[0], renamed.get(each[1], each[1]))) in left}
    called: dict[str, list[tuple[str, Key]]] = {}
    for each in left:
        called.setdefault(each[0], []).append(each)
    pairs = [
        (not _meet(left[was].hosts, came[each].hosts), was[1].namespace != each[1].namespace, each, was)
        for each in came
        for was in called.get(each[0], ())
        if was[1].namespace == each[1].namespace or _meet(left[was].gateways, came[each].gateways)
    ]
    for _, _, each, was in sorted(pairs):
        if each not in found and was not in found.values():
            found[each] = was
    return found


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two lists have something in common; an empty one has all."""
    return not one or not other or not set(one).isdisjoint(other)


def _names(
    before: Public | None, after: Public | None, name: str, backends: Mapping[tuple[str, str], str]
) -> Iterator[Way]:
    old, new = before.legs if before else {}, after.legs if after else {}
    if not before or not after:
        yield Way(name, "public name", _led(old) if before else "", _led(new) if after else "")
        return
    yield from _said(name, "namespace", before.route.namespace, after.route.namespace)
    doors = [", ".join((*each.gateways, *each.hosts)) for each in (before, after)]
    yield from _said(name, "Gateway and hosts", doors[0], doors[1])
    yield from _said(name, "request timeout", before.timeout, after.timeout)
    left = dict(old)
    for to, leg in new.items():
        was = left.pop(to, None) or left.pop(backends.get((after.route.namespace, to), ""), None)
        if was is None:
            yield Way(name, "leads to", "", _one(to, leg))
            continue
        yield from _said(name, f"weight of {to}", str(was.weight), str(leg.weight))
        yield from _said(name, f"priority of {to}", str(was.priority), str(leg.priority))
        yield from _said(name, f"called at {to}", was.called, leg.called)
    for to, leg in left.items():
        yield Way(name, "leads to", _one(to, leg), "")


def _one(to: str, leg: Leg) -> str:
    if leg.pool:
        return f"pool {to}"
    return f"{to}, weight {leg.weight}" + (f", priority {leg.priority}" if leg.priority else "")


def _led(legs: Mapping[str, Leg]) -> str:
    return "; ".join(_one(to, leg) for to, leg in legs.items()) or "nobody"


def _said(name: str, what: str, before: str, after: str) -> Iterator[Way]:
    if before != after:
        yield Way(name, what, before, after)


def _hosts(body: Body) -> str:
    """The hosts of an API outside of the cluster."""
    found = [table(each, "fqdn") for each in maps(body, "spec", "endpoints")]
    return ", ".join(
        f"{each.get('hostname')}:{each.get('port')}"
        for each in found
        if each and not str(each.get("hostname", "")).endswith(_INSIDE)
    )


def _limits(key: Key, before: Body, after: Body) -> Iterator[Way]:
    """Budgets by header, time and kind of tokens; retries and the silence of a stream."""
    old, new = _budgets(before), _budgets(after)
    for what in dict.fromkeys([*old, *new]):
        yield from _said(key.place, what, old.get(what, ""), new.get(what, ""))
    for what, path in (("retries", ("retry", "numRetries")), ("stream idle", ("timeout", "http", "streamIdleTimeout"))):
        a, b = (at(body, "spec", *path) for body in (before, after))
        yield from _said(key.place, what, "" if a is None else str(a), "" if b is None else str(b))


def _budgets(body: Body) -> dict[str, str]:
    made: dict[str, str] = {}
    for rule in maps(body, "spec", "rateLimit", "global", "rules"):
        headers = [str(h.get("name")) for each in maps(rule, "clientSelectors") for h in maps(each, "headers")]
        counted = str(at(rule, "cost", "response", "metadata", "key") or "requests")
        unit = str(at(rule, "limit", "unit") or "")
        what = f"limit of {counted} for each {' and '.join(headers) or 'client'} in an {unit.lower()}"
        made[what.replace("in an hour", "an hour").replace("in an ", "a ")] = _grouped(at(rule, "limit", "requests"))
    return made


def _grouped(value: Any) -> str:
    return f"{value:,}" if value.__class__ is int else str(value)
