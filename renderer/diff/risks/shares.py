"""Backends of a public name that get more requests than their replicas have part in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from renderer.diff.models import most_replicas
from renderer.diff.objects import Items, ObjectKey
from renderer.diff.risks.kinds import Risk, marked
from renderer.diff.traffic import PublicName, public_names

_MORE = 1.1  # times the requests of a replica before, which count as more


def overloaded_backends(before: Items, after: Items) -> Iterator[Risk]:
    """Risks for backends of which each replica gets a larger share of a name's requests than any replica did before; of
    a name that is new, than all alike. Nothing is said where the replicas of a backend are not known, as of providers.
    """
    old_replicas, new_replicas = most_replicas(before), most_replicas(after)
    old_loads: dict[str, float] = {}
    old_shares: dict[tuple[str, ObjectKey], dict[str, float]] = {}
    for public in public_names(before):
        old_shares[public.name, public.route] = shares = _shares(public)
        loads = _loads(shares, _counts(public, shares, old_replicas))
        old_loads[public.name] = max([old_loads.get(public.name, 0.0), *loads.values()])
    for public in public_names(after):
        shares = _shares(public)
        counts = _counts(public, shares, new_replicas)
        loads, total = _loads(shares, counts), sum(counts.values())
        is_as_before = (
            old_shares.get((public.name, public.route)) == shares and _counts(public, shares, old_replicas) == counts
        )
        if len(loads) < 2 or is_as_before:
            continue
        known = old_loads.get(public.name) or 1 / total
        for app, load in loads.items():
            if load > _MORE * known:
                part = f"{shares[app]:.0%} of the requests, on {counts[app]} of {total} replicas"
                yield Risk("share", public.route, f"{marked(public.name)}: {marked(app)} gets {part}")


def _counts(public: PublicName, shares: Iterable[str], replicas: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """The replicas of each backend, 0 where they are not known."""
    return {app: replicas.get((public.route.namespace, app), 0) for app in shares}


def _shares(public: PublicName) -> dict[str, float]:
    """By backend, its part of the requests of a name, those of the first priority."""
    first = min((leg.priority for leg in public.legs.values() if leg.weight > 0), default=0)
    weights: dict[str, int] = {}
    for to, leg in public.legs.items():
        if leg.weight > 0 and leg.priority == first:
            app = to.partition(" as ")[0]
            weights[app] = weights.get(app, 0) + leg.weight
    return {app: weight / sum(weights.values()) for app, weight in weights.items()}


def _loads(shares: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    """By backend, the part of the requests that each of its replicas gets; nothing where one is not known."""
    return {app: share / counts[app] for app, share in shares.items()} if all(counts.values()) else {}
