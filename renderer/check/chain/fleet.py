"""What only all routes together can show: one model twice, hosts that lose models, more rules than a message holds.

The facts are small and plain, so that they can be gathered from several processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from renderer.check.chain.gateways import admitted, meet
from renderer.check.chain.view import Outside, Place, View
from renderer.check.finding import Body
from renderer.problems import Path
from renderer.records import NamedTuple

MODEL = "x-ai-eg-model"  # what the AI gateway calls the model of a request
MANY_ROUTES = 300  # above, Envoy Gateway's memory grows with the square (gateway-proof.md, 5)
MOST_RULES, MOST_PACKED, _PACKED = 1200, 1400, 5
"""Rules that the 4 MiB of one message hold: one to a route, or at least `_PACKED` of them on the average."""
_MESSAGE = 4 << 20
_RULE, _MANY_WITH_KEYS = 3400, 250  # bytes of a model in that message; models with keys that nobody can count

Found = tuple[int, str, Path, dict[str, Any]]


class RouteFact(NamedTuple):
    """One match of one rule of an AIGatewayRoute on one parent.

    `section`: the listener, '' for all; `hostnames`: narrowed to the listeners' own; `model`: '' where the match names
    none exactly; `also`: what else it asks of headers; `route`: namespace/name; `path`: of the model's name; `at`: the
    route's index among the objects; `said`: the hostnames are its own, not its listeners'.
    """

    gateway: Place
    section: str
    hostnames: tuple[str, ...]
    model: str
    also: str
    route: str
    parent: int
    rule: int
    path: Path
    at: int
    said: bool = True


def facts(view: View) -> list[RouteFact]:
    """What the AIGatewayRoutes of a set say, in its order."""
    made = []
    for index, (kind, namespace, name) in enumerate(view.keys):
        if kind != "AIGatewayRoute":
            continue
        spec = view.objects[kind, namespace, name]["spec"]
        hostnames = tuple(spec.get("hostnames") or ())
        for p, parent in enumerate(spec.get("parentRefs") or ()):
            gateway, section = (parent.get("namespace") or namespace, parent["name"]), parent.get("sectionName") or ""
            hosts = _narrowed(view, hostnames, gateway, parent, namespace)
            for r, rule in enumerate(spec["rules"]):
                for m, match in enumerate(rule.get("matches") or ({},)):
                    model, also = "", ""
                    path: Path = ("spec", "rules", r, "matches", m)
                    headers = match.get("headers") or ()
                    for h, header in enumerate(headers):
                        if header["name"].lower() == MODEL and header.get("type", "Exact") == "Exact":
                            model, path = header["value"], (*path, "headers", h, "value")
                        elif len(headers) > 1:
                            also += f"{header['name'].lower()}={header['value']};"
                    route = f"{namespace}/{name}" if namespace else name
                    made.append(
                        RouteFact(gateway, section, hosts, model, also, route, p, r, path, index, bool(hostnames))
                    )
    return made


def _narrowed(view: View, hostnames: tuple[str, ...], gateway: Place, parent: Body, namespace: str) -> tuple[str, ...]:
    """Hostnames as Envoy has them: wildcards replaced by what the listeners of their Gateway leave of them, and none
    by those of the listeners, where each has one.
    """
    if hostnames and not any(each.startswith("*") for each in hostnames):
        return hostnames
    found = view.find("Gateway", *gateway)
    served = admitted(view, found, gateway, parent, namespace).hosts if found else ()
    if not hostnames:
        return () if "" in served else tuple(dict.fromkeys(served))
    left = [max(one, host, key=_exact) for one in hostnames for host in served if not host or meet(one, host)]
    return tuple(dict.fromkeys(left)) or hostnames


def _exact(host: str) -> tuple[bool, int]:
    """Grows with how exact a host is: among those that meet, one without a wildcard, then the longest."""
    return bool(host) and not host.startswith("*"), len(host)


def fleet(facts: Iterable[RouteFact], outside: Outside, keys: Mapping[Place, int | None] = {}) -> Iterator[Found]:
    """What is wrong between routes: the index of the route that has to change, a code, where, and the wording's words.

    `keys`: by Gateway that asks for API keys, how many bytes they have, None where nobody knows.
    """
    by_gateway: dict[Place, list[RouteFact]] = {}
    first: dict[tuple[Place, str, str], list[RouteFact]] = {}
    for fact in facts:
        by_gateway.setdefault(fact.gateway, []).append(fact)
        if not fact.model:
            continue
        known = first.setdefault((fact.gateway, fact.model, fact.also), [])
        for other in known:
            if (other.route, other.rule) != (fact.route, fact.rule) and _same_door(fact, other):
                alike = not {*fact.hostnames}.isdisjoint(other.hostnames) or fact.hostnames == other.hostnames
                so = "so nothing comes here" if alike else "and a host that both take leads to one of them only"
                words = {"model": fact.model, "other": other.route, "gateway": fact.gateway[1], "so": so}
                yield fact.at, "E585", fact.path, words
                break
        else:
            known.append(fact)
    for gateway, on in by_gateway.items():
        yield from _half_named(gateway, on)
        yield from _outdone(gateway, on)
        yield from _too_many(gateway, on, outside.limits.get(gateway, 0), keys.get(gateway, 0))


def _same_door(one: RouteFact, other: RouteFact) -> bool:
    """Whether one request can reach both: a listener and a host in common."""
    if one.section and other.section and one.section != other.section:
        return False
    if one.hostnames == other.hostnames:
        return True
    return any(meet(host, its) for host in one.hostnames for its in other.hostnames)


def _half_named(gateway: Place, on: list[RouteFact]) -> Iterator[Found]:
    """Routes with hostnames beside routes without on one listener: the fewer of them have to change."""
    named = {(fact.at, fact.section): fact for fact in on if fact.hostnames}
    bare = {(fact.at, fact.section): fact for fact in on if not fact.hostnames} if named else {}
    fewer, more = sorted((bare, named), key=len)
    if not fewer:
        return
    first = next(iter(more.values()))
    by_section: dict[str, RouteFact] = {}
    for fact in more.values():
        by_section.setdefault(fact.section, fact)
    for fact in fewer.values():
        other = by_section.get(fact.section) or (by_section.get("") if fact.section else first)
        if other:
            path: Path = ("spec", "hostnames") if fact.hostnames else ("spec",)
            own, its = ("hostnames", "none") if fact.hostnames else ("no hostnames", "some")
            hint = "give all routes of a listener hostnames, or none of them"
            words = {"own": own, "its": its, "other": other.route, "gateway": gateway[1]}
            yield fact.at, "E584", path, {**words, "hosts": "the hosts that are named", "hint": hint}


def _outdone(gateway: Place, on: list[RouteFact]) -> Iterator[Found]:
    """Routes with a wildcard beside routes with a host that it takes: Envoy looks for that host at the latter only."""
    wild = [fact for fact in on if any(host.startswith("*") for host in fact.hostnames)]
    if not wild:
        return
    exact: dict[tuple[str, str], RouteFact] = {}
    for fact in on:
        for host in fact.hostnames:
            exact.setdefault((host, fact.section), fact)
    models = {(host, fact.section, fact.model) for fact in on for host in fact.hostnames}
    done = set()
    for fact in wild:
        for (host, section), other in exact.items():
            if host in fact.hostnames or (section and fact.section and section != fact.section):
                continue
            if fact.at in done or (host, section, fact.model) in models:  # a model that is there too is E585
                continue
            taken = next((each for each in fact.hostnames if each.startswith("*") and host.endswith(each[1:])), None)
            if taken:
                own = f"'{taken}'" if fact.said else f"no hostnames, which means its listener's '{taken}'"
                words = {"own": own, "its": f"'{host}'", "other": other.route, "gateway": gateway[1]}
                hint = f"name '{host}' here too, or a host that is not below '{taken}' there"
                path: Path = ("spec", "hostnames") if fact.said else ("spec",)
                yield fact.at, "E584", path, {**words, "hosts": f"'{host}'", "hint": hint}
                done.add(fact.at)


def _too_many(gateway: Place, on: list[RouteFact], limit: int, keys: int | None) -> Iterator[Found]:
    routes = len({fact.route for fact in on})
    rules = len({(fact.route, fact.rule) for fact in on}) if len(on) > _MANY_WITH_KEYS or keys else 0
    most = limit or (MOST_PACKED if rules >= _PACKED * routes else MOST_RULES)
    last = on[-1]
    path: Path = ("spec", "parentRefs", last.parent, "name")
    words = {"gateway": "/".join(gateway), "routes": routes, "rules": rules, "most": most}
    if rules > most:
        yield last.at, "E606", path, words
    elif most <= MOST_PACKED and keys is not None and keys and (size := rules * (_RULE + 2 * keys)) > _MESSAGE:
        fit = _MESSAGE // (_RULE + 2 * keys)
        yield last.at, "E607", path, {**words, "size": f"{size / (1 << 20):.1f}", "most": fit}
    elif most <= MOST_PACKED and keys is None and rules > _MANY_WITH_KEYS:
        yield last.at, "W583", path, words
    if routes > MANY_ROUTES and rules <= most:
        yield last.at, "W582", path, {**words, "most": MANY_ROUTES}
