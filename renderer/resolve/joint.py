"""What apps share: the objects that they want together → one Joint a file, everything decided.

A Plan only names what its app needs of them (Wanted), since each process plans its own apps; here all have spoken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from renderer.api import App, Traffic
from renderer.plan import Gate, Joint, Packed, Wanted
from renderer.problems import Findings, Origin, Path, Problem
from renderer.resolve import gateways, monitoring, openmodels, routing
from renderer.resolve.memo import Memo, door

_MODEL, _MONITOR = openmodels.KIND, monitoring.KIND


def joints(memo: Memo, wanted: Iterable[Wanted]) -> tuple[list[Joint], list[Problem]]:
    """What is shared of the cluster and of each namespace, in this order; and what is wrong with it, or with the
    settings for it.
    """
    inputs, found = memo.inputs, Findings()
    monitoring.settings(inputs, found)
    gates = _gates(memo, wanted := sorted(each for each in wanted if each.kind != routing.NAME))
    asked: dict[str, dict[str, list[Wanted]]] = {each.namespace: {} for each in gates}
    if gates:
        asked[""] = {}
    for each in wanted:
        asked.setdefault(each.namespace, {}).setdefault(each.kind, []).append(each)
    made = [
        Joint(
            namespace,
            models=tuple([openmodels.model(inputs, memo.catalog, each.name, found) for each in kinds.get(_MODEL, ())]),
            monitor=monitoring.monitor(inputs) if _MONITOR in kinds else None,
            classes=() if namespace else tuple({each.class_name: each for each in reversed(gates)}.values()),
            gates=tuple(each for each in gates if each.namespace == namespace),
        )
        for namespace, kinds in sorted(asked.items())
    ]
    return made + _packed(memo, wanted, found), found.problems


def _packed(memo: Memo, wanted: Iterable[Wanted], found: Findings) -> list[Joint]:
    """The routes that hold several models, a file each."""
    asked: dict[tuple[str, str], list[Wanted]] = {}
    for each in wanted:
        if each.kind == routing.ROUTE:
            asked.setdefault((each.namespace, each.name), []).append(each)
    made = []
    fitting: dict[str, int] = {}  # by namespace
    for (namespace, name), facts in asked.items():
        here, count = door(memo, namespace), len(facts)
        others: tuple[App | Traffic, ...] = (*memo.inputs.apps, *memo.inputs.ways)
        for other in others:
            if (other.namespace, other.name) == (namespace, name):
                found.add("E633", other.origin("metadata", "name"), name=name)
        if count > routing.MOST_RULES:
            if namespace not in fitting:
                all_of = [fact for other in asked if other[0] == namespace for fact in asked[other]]
                fitting[namespace] = _fitting(here, all_of)
            fits = fitting[namespace]
            words = {"name": name, "namespace": namespace, "count": count, "most": routing.MOST_RULES, "fits": fits}
            found.add("E628", here.at("routeBuckets"), **words)
            continue
        route = Packed(
            name=name,
            namespace=namespace,
            gateway=here.gateway,
            hostnames=here.hostnames,
            rules=tuple(routing.rules(facts)),
            origins=partial(_at, here),
        )
        made.append(Joint(namespace, part=name.replace("llmaz", "routes"), routes=route))
    return made


def _at(here: gateways.Door) -> Mapping[Path, Origin]:
    return {(): here.at("routeLayout")}


def _fitting(here: gateways.Door, facts: list[Wanted]) -> int:
    """The next number of buckets that holds all of a namespace's models."""
    models = [rule[0] for rule in routing.rules(facts)]
    buckets = {model: routing.packed(here, model) for model in models}
    scores = {model: routing.score(bucket, model) for model, bucket in buckets.items()}
    most = int(here.get("routeBuckets"))
    while max(Counter(buckets.values()).values()) > routing.MOST_RULES:
        bucket = routing.bucket(most)  # of one more, into which those go that it suits best
        most += 1
        for model, best in scores.items():
            if (score := routing.score(bucket, model)) > best:
                buckets[model], scores[model] = bucket, score
    return most


def _gates(memo: Memo, wanted: Iterable[Wanted]) -> list[Gate]:
    """The Gateways that RenderConfig makes, with the namespaces of their routes."""
    routes: dict[tuple[str, str], list[str]] = {}
    grants: dict[tuple[str, str], list[str]] = {}
    for each in wanted:
        if each.kind in (routing.GATEWAY, routing.GRANT):
            kept = routes if each.kind == routing.GATEWAY else grants
            kept.setdefault((each.namespace, each.name), []).append(each.fact)
    made = gateways.gates(memo.inputs.config, Findings())
    return [
        gateways.gate(door, tuple(routes.get(key, ())), tuple(grants.get(key, ())))
        for key, door in sorted(made.items())
        if door.created
    ]
