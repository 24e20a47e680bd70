"""Public names, their routes, policies and providers, read from objects, and the differences between two sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from renderer.diff.objects import Body, Items, ObjectKey
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at, map_at, maps_at, value_at

ROUTE, LIMITS, RIGHTS, PROVIDER = "AIGatewayRoute", "BackendTrafficPolicy", "SecurityPolicy", "Backend"
_POOL, _REWRITE = "InferencePool", "InferenceModelRewrite"
_MODEL = wellknown.MODEL_HEADER
_INSIDE = ".svc.cluster.local"


class TrafficLeg(Struct, frozen=True):
    """A route backend of a public name."""

    weight: int
    priority: int
    called: str  # the model's name there, '' for the same
    pool: bool  # it is an InferencePool


class PublicName(Struct, frozen=True):
    """A public name on its Gateways and hosts."""

    gateways: tuple[str, ...]
    hosts: tuple[str, ...]  # none for all of them
    name: str
    route: ObjectKey  # of the AIGatewayRoute
    legs: Mapping[str, TrafficLeg]
    timeout: str


NameKey: TypeAlias = tuple[str, ObjectKey]
Named: TypeAlias = Mapping[NameKey, PublicName]  # by name and route
_Place: TypeAlias = tuple[str, str]  # namespace and name of a pool


class TrafficChange(Struct, frozen=True):
    """An aspect of a public name or an object that differs; '' on a side that does not have it."""

    name: str
    aspect: str
    before: str
    after: str


def public_names(objects: Items) -> Iterator[PublicName]:
    """The public names of these routes."""
    for key, item in objects.items():
        if key.kind != ROUTE:
            continue
        parents = [
            f"{parent.get('namespace', key.namespace)}/{parent.get('name', '')}"
            for parent in maps_at(item.body, "spec", "parentRefs")
        ]
        hosts = [str(host) for host in list_at(item.body, "spec", "hostnames")]
        for rule in maps_at(item.body, "spec", "rules"):
            legs = _legs(maps_at(rule, "backendRefs"))
            timeout = str(value_at(rule, "timeouts", "request") or "")
            for match in maps_at(rule, "matches"):
                for header in maps_at(match, "headers"):
                    if header.get("name") == _MODEL:
                        name = str(header.get("value", ""))
                        yield PublicName(tuple(parents), tuple(hosts), name, key, legs, timeout)


def _legs(references: Sequence[Body]) -> dict[str, TrafficLeg]:
    """The backends of a rule by their names; those of one name by that of the model too, as of several adapters, and
    those that come again, as at a second priority, by that.
    """
    called: dict[str, set[str]] = {}
    for reference in references:
        called.setdefault(str(reference.get("name", "")), set()).add(_leg(reference).called)
    legs: dict[str, TrafficLeg] = {}
    for reference in references:
        name, leg = str(reference.get("name", "")), _leg(reference)
        key = name if len(called[name]) == 1 else f"{name} as {leg.called}"
        while key in legs:
            key += " again"
        legs[key] = leg
    return legs


def _leg(reference: Body) -> TrafficLeg:
    priority = reference.get("priority", 0)
    return TrafficLeg(
        _weight(reference),
        priority if priority.__class__ is int else 0,
        str(reference.get("modelNameOverride", "")),
        reference.get("kind") == _POOL,
    )


def _weight(target: Body) -> int:
    weight = target.get("weight", 1)
    return weight if isinstance(weight, int) else 1


def traffic_changes(before: Items, after: Items, renamed: Mapping[ObjectKey, ObjectKey]) -> Iterator[TrafficChange]:
    """The differences in traffic between two sides: first by public name, then by object.

    `renamed`: by new key, the old one.
    """
    old, new = ({(public.name, public.route): public for public in public_names(side)} for side in (before, after))
    backends = {
        (key.namespace, key.name): was.name for key, was in renamed.items() if key.kind in ("AIServiceBackend", _POOL)
    }
    pools = {(was.namespace, was.name): (key.namespace, key.name) for key, was in renamed.items() if key.kind == _POOL}
    moved = _match_moved(old, new, renamed)
    called = _match_called(old, new, moved, renamed)
    moved |= called
    several = {name for side in (old, new) for name, count in Counter(name for name, _ in side).items() if count > 1}
    for public_key in sorted({*old, *new} - set(moved.values())):
        sides = old.get(moved.get(public_key, public_key)), new.get(public_key)
        hosts = next((side.hosts for side in reversed(sides) if side), ()) if public_key[0] in several else ()
        name = f"{public_key[0]} at {', '.join(hosts)}" if hosts else public_key[0]
        yield from _name_changes(*sides, name, backends)
    gone = {name for name, _ in old} - {name for name, _ in new}
    told_names = gone | {name for name, _ in called}
    yield from _rewrite_changes(_rewrites(before, pools), _rewrites(after, {}), told_names)
    for key in sorted({*before, *after}):
        was = renamed.get(key, key)
        pair = before[was].body if was in before else {}, after[key].body if key in after else {}
        if key.kind == LIMITS and key not in renamed.values():
            yield from _limit_changes(key, *pair)
        elif key.kind == PROVIDER and key not in renamed.values():
            yield from _change_if_different(f"{key.place}", "provider", _hosts(pair[0]), _hosts(pair[1]))


def _match_moved(old: Named, new: Named, renamed: Mapping[ObjectKey, ObjectKey]) -> dict[NameKey, NameKey]:
    """By new key, the old key of public names that moved to another route: one that was renamed, or is in the same
    namespace or on the same Gateway. Routes with a common host are preferred.
    """
    left = {key: old[key] for key in sorted(set(old) - set(new))}
    added = {key: new[key] for key in sorted(set(new) - set(old))}
    old_keys = {key: was for key in added if (was := (key[0], renamed.get(key[1], key[1]))) in left}
    called: dict[str, list[NameKey]] = {}
    for key in left:
        called.setdefault(key[0], []).append(key)
    pairs = [
        (key, was)
        for key in added
        for was in called.get(key[0], ())
        if was[1].namespace == key[1].namespace or _overlap(left[was].gateways, added[key].gateways)
    ]

    def preference(pair: tuple[NameKey, NameKey]) -> tuple[bool, bool, tuple[NameKey, NameKey]]:
        key, was = pair
        return not _overlap(left[was].hosts, added[key].hosts), was[1].namespace != key[1].namespace, pair

    for key, was in sorted(pairs, key=preference):
        if key not in old_keys and was not in old_keys.values():
            old_keys[key] = was
    return old_keys


def _match_called(
    old: Named, new: Named, moved: Mapping[NameKey, NameKey], renamed: Mapping[ObjectKey, ObjectKey]
) -> dict[NameKey, NameKey]:
    """By new key, the old key of public names that are called otherwise now: the only one that goes from a route, and
    the only one that comes there. `moved`: those that are matched already.
    """
    gone, came = dict[ObjectKey, list[NameKey]](), dict[ObjectKey, list[NameKey]]()
    for key in old.keys() - new.keys() - set(moved.values()):
        gone.setdefault(key[1], []).append(key)
    for key in new.keys() - old.keys() - moved.keys():
        came.setdefault(renamed.get(key[1], key[1]), []).append(key)
    return {keys[0]: gone[was][0] for was, keys in came.items() if len(keys) == len(gone.get(was, ())) == 1}


def _overlap(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two lists have an item in common; an empty list stands for all items."""
    return not first or not second or not set(first).isdisjoint(second)


def _name_changes(
    before: PublicName | None, after: PublicName | None, name: str, backends: Mapping[tuple[str, str], str]
) -> Iterator[TrafficChange]:
    old, new = before.legs if before else {}, after.legs if after else {}
    if not before or not after:
        yield TrafficChange(
            name, "public name", _describe_legs(old) if before else "", _describe_legs(new) if after else ""
        )
        return
    yield from _change_if_different(name, "public name", before.name, after.name)
    yield from _change_if_different(name, "namespace", before.route.namespace, after.route.namespace)
    gateways = [", ".join((*public.gateways, *public.hosts)) for public in (before, after)]
    yield from _change_if_different(name, "Gateway and hosts", gateways[0], gateways[1])
    yield from _change_if_different(name, "request timeout", before.timeout, after.timeout)
    left = dict(old)
    for to, leg in new.items():
        was = left.pop(to, None) or left.pop(backends.get((after.route.namespace, to), ""), None)
        if was is None:
            yield TrafficChange(name, "leads to", "", _describe_leg(to, leg))
            continue
        if was.pool != leg.pool:
            yield TrafficChange(name, "leads to", _describe_leg(to, was), _describe_leg(to, leg))
            continue
        yield from _change_if_different(name, f"weight of {to}", str(was.weight), str(leg.weight))
        yield from _change_if_different(name, f"priority of {to}", str(was.priority), str(leg.priority))
        if (was.called, leg.called) != (before.name, after.name):
            yield from _change_if_different(name, f"called at {to}", was.called, leg.called)
    for to, leg in left.items():
        yield TrafficChange(name, "leads to", _describe_leg(to, leg), "")


def _describe_leg(to: str, leg: TrafficLeg) -> str:
    if leg.pool:
        return f"pool {to}"
    return f"{to}, weight {leg.weight}" + (f", priority {leg.priority}" if leg.priority else "")


def _rewrites(objects: Items, pools: Mapping[_Place, _Place]) -> dict[tuple[str, _Place], dict[str, int]]:
    """By public name and pool, the names by which its picker asks the engine, each with its weight. `pools`: the new
    places of renamed ones.
    """
    rewrites: dict[tuple[str, _Place], dict[str, int]] = {}
    for key, item in objects.items():
        if key.kind != _REWRITE:
            continue
        pool = key.namespace, str(value_at(item.body, "spec", "poolRef", "name"))
        for rule in maps_at(item.body, "spec", "rules"):
            targets = {str(target.get("modelRewrite")): _weight(target) for target in maps_at(rule, "targets")}
            for match in maps_at(rule, "matches"):
                rewrites[str(value_at(match, "model", "value")), pools.get(pool, pool)] = targets
    return rewrites


def _rewrite_changes(
    before: Mapping[tuple[str, _Place], Mapping[str, int]],
    after: Mapping[tuple[str, _Place], Mapping[str, int]],
    told_names: set[str],
) -> Iterator[TrafficChange]:
    """What pickers make of public names, as of a route with several backends. `told_names` are left out."""
    for key in sorted({*before, *after}):
        (name, (_, pool)), old, new = key, before.get(key, {}), after.get(key, {})
        if name in told_names:
            continue
        if len(old) < 2 and len(new) < 2:
            yield from _change_if_different(name, f"called at {pool}", "".join(old), "".join(new))
            continue
        for called in dict.fromkeys([*new, *old]):
            if called in old and called in new:
                what = f"weight of {pool} as {called}"
                yield from _change_if_different(name, what, str(old[called]), str(new[called]))
            else:
                words = [
                    f"pool {pool} as {called}, weight {side[called]}" if called in side else "" for side in (old, new)
                ]
                yield TrafficChange(name, "leads to", *words)


def _describe_legs(legs: Mapping[str, TrafficLeg]) -> str:
    return "; ".join(_describe_leg(to, leg) for to, leg in legs.items()) or "nobody"


def _change_if_different(name: str, what: str, before: str, after: str) -> Iterator[TrafficChange]:
    if before != after:
        yield TrafficChange(name, what, before, after)


def _hosts(body: Body) -> str:
    """The endpoints `host:port` of a provider, without those inside the cluster."""
    hosts = [map_at(endpoint, "fqdn") for endpoint in maps_at(body, "spec", "endpoints")]
    return ", ".join(
        f"{host.get('hostname')}:{host.get('port')}"
        for host in hosts
        if host and not str(host.get("hostname", "")).endswith(_INSIDE)
    )


def _limit_changes(key: ObjectKey, before: Body, after: Body) -> Iterator[TrafficChange]:
    """Changes of a BackendTrafficPolicy: rate limits, retries and the idle timeout of streams."""
    old, new = _budgets(before), _budgets(after)
    for what in dict.fromkeys([*old, *new]):
        yield from _change_if_different(key.place, what, old.get(what, ""), new.get(what, ""))
    for what, path in (("retries", ("retry", "numRetries")), ("stream idle", ("timeout", "http", "streamIdleTimeout"))):
        a, b = (value_at(body, "spec", *path) for body in (before, after))
        yield from _change_if_different(key.place, what, "" if a is None else str(a), "" if b is None else str(b))


def _budgets(body: Body) -> dict[str, str]:
    budgets: dict[str, str] = {}
    for rule in maps_at(body, "spec", "rateLimit", "global", "rules"):
        headers = [
            str(h.get("name")) for selector in maps_at(rule, "clientSelectors") for h in maps_at(selector, "headers")
        ]
        unit_name = str(value_at(rule, "cost", "response", "metadata", "key") or "requests")
        unit = str(value_at(rule, "limit", "unit") or "")
        what = f"limit of {unit_name} for each {' and '.join(headers) or 'client'} in an {unit.lower()}"
        budgets[what.replace("in an hour", "an hour").replace("in an ", "a ")] = _grouped(
            value_at(rule, "limit", "requests")
        )
    return budgets


def _grouped(value: object) -> str:
    return f"{value:,}" if value.__class__ is int else str(value)
