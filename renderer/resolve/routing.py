"""How an app is reached: its public name, the route to it, and who may call (routing.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from renderer.api import App, Inputs, OpenModel
from renderer.plan import Body, Plan, Route, Target, Wanted
from renderer.problems import Findings, Origin, Path, Problem
from renderer.resolve import gateways
from renderer.resolve.gateways import Door
from renderer.schema import spec_default
from renderer.yamlio import Shared

GATEWAY, GRANT = "Gateway", "ReferenceGrant"  # what apps want together with others
ROUTE = "AIGatewayRoute"
MOST_RULES = 15  # of a route; the sixteenth is the AI gateway's own
NAME = "PublicName"  # what each wants for itself
_SEPARATOR = "\n"  # in no name of a namespace or an app
_MESSAGE, _RULE, _EACH = 4 << 20, 3400, 8  # bytes: a message, a model and a key in it (routing.md, Who may call)
_HEADER = 4096  # bytes of a header's value (Gateway API)
_WITHOUT = 10  # seconds until endpoints have dropped a pod, where no DNS answer is in between


class Fact(NamedTuple):
    """A public name, as all must know it."""

    gateway: tuple[str, str]
    namespace: str
    app: str
    model: str


def mode(app: App, door: Door) -> str:
    """backend, pool or off: the app's own word, else RenderConfig's."""
    return str((app.spec.get("gateway") or {}).get("mode") or door.get("mode"))


def drain(door: Door, mode: str) -> int:
    """Seconds that a pod sleeps before it ends, so that nobody is sent to it any more: a DNS answer's life where Envoy
    asks the DNS (routing.md, Drain).
    """
    return int(door.get("dnsTTL")) + 5 if mode == "backend" else _WITHOUT


def host(door: Door, workload: str) -> str:
    """The name under which Envoy finds a workload's leaders."""
    return f"{workload}-leaders.{door.namespace}.svc.{door.get('clusterDomain')}"


def route(app: App, door: Door, model: OpenModel, served: str, plans: Sequence[Plan], found: Findings) -> Route:
    """The route to these workloads, which are one app."""
    own, at = app.spec.get("gateway") or {}, app.origin("spec", "gateway")
    if len(served.encode()) > _HEADER:
        found.add("E623", _named(app, model), length=len(served.encode()), most=_HEADER)
    weights = [1 if plan.replicas is None else plan.replicas for plan in plans]
    timeouts = {**(door.get("timeouts") or {}), **(own.get("timeouts") or {})}
    allowed = tuple(own.get("allow") or ())
    if "allow" in own and not door.auth:
        found.add("E624", at.at("allow", key=True), name="/".join(door.gateway))
    _secured(app, door, allowed, found)
    return Route(
        name=app.label,
        namespace=app.namespace,
        labels=_labels(app.label),
        model=served,
        gateway=door.gateway,
        hostnames=tuple(door.get("hostnames")),
        targets=tuple(
            Target(plan.name, weight if any(weights) else 1, plan.called)
            for plan, weight in zip(plans, weights, strict=True)
        ),
        request=timeouts.get("request", gateways.REQUEST),
        stream_idle=timeouts.get("streamIdle", ""),
        owned_by=model.spec.get("ownedBy") or str(spec_default("OpenModel", "ownedBy")),
        created_at=model.spec.get("createdAt") or "",
        allowed=allowed,
        tenant=door.tenant,
        authentication=gateways.policy(door, across=door.gateway[0] != app.namespace),
        packed=packed(door, served) if not allowed and "streamIdle" not in timeouts else "",
        origins=lambda: _origins(app, door, model),
    )


def _secured(app: App, door: Door, allowed: tuple[str, ...], found: Findings) -> None:
    """What stands in the way of rights on this model."""
    at = app.origin("spec", "gateway", "allow", key=True)
    if allowed and door.get("create") and door.gateway == (app.namespace, app.label):
        found.add("E631", app.origin("metadata", "name"), name=app.label)
    elsewhere = [
        "remoteJWKS.backendRefs" if "backendRefs" in (each.get("remoteJWKS") or {}) else "localJWKS.valueRef"
        for each in door.auth.get("jwt") or ()
        if "backendRefs" in (each.get("remoteJWKS") or {}) or "valueRef" in (each.get("localJWKS") or {})
    ]
    if allowed and elsewhere and door.gateway[0] != app.namespace:
        found.add("E636", at, what=elsewhere[0])


def packed(door: Door, model: str) -> str:
    """The object that holds the rule of this public name in the packed layout, '' in the other.

    By rendezvous hash, so that a name stays where it is when others come and go.
    """
    if door.get("routeLayout") != "packed":
        return ""
    import hashlib  # few runs need it

    buckets = range(int(door.get("routeBuckets")))
    return f"llmaz-{max(buckets, key=lambda n: hashlib.sha256(f'{n}/{model}'.encode()).digest())}"


def rules(facts: Iterable[Wanted]) -> Iterator[tuple[str, tuple[Target, ...], str, str, str]]:
    """The rules that such facts hold, by public name."""
    for model, targets, request, owned_by, created_at in sorted(json.loads(each.fact) for each in facts):
        yield model, tuple(Target(*each) for each in targets), request, owned_by, created_at


def wanted(door: Door, route: Route) -> tuple[Wanted, ...]:
    """What the route needs together with others: of a Gateway that we make, and of a packed route."""
    made: list[Wanted] = []
    if route.packed:
        fact = json.dumps([route.model, route.targets, route.request, route.owned_by, route.created_at])
        made.append(Wanted(ROUTE, route.namespace, route.packed, fact))
    if door.get("create"):
        kinds = (GATEWAY, GRANT) if route.allowed else (GATEWAY,)
        made += [Wanted(kind, *door.gateway, door.namespace) for kind in kinds]
    return tuple(made)


def claimed(route: Route) -> Wanted:
    """That the route claims its public name on its Gateway: what all must know."""
    return Wanted(NAME, *route.gateway, _SEPARATOR.join((route.namespace, route.name, route.model)))


def crossed(inputs: Inputs, wanted: Iterable[Wanted]) -> list[Problem]:
    """Public names that two apps claim on one Gateway, and Gateways with more of them than they bear."""
    found, apps = Findings(), {(app.namespace, app.name): app for app in inputs.apps}
    facts = (Fact((each.namespace, each.name), *each.fact.split(_SEPARATOR, 2)) for each in wanted if each.kind == NAME)
    first: dict[tuple[tuple[str, str], str], Fact] = {}
    count: dict[tuple[str, str], int] = {}
    for each in sorted(facts):
        count[each.gateway] = count.get(each.gateway, 0) + 1
        other = first.setdefault((each.gateway, each.model), each)
        if other is not each:
            _twice(inputs, apps[each.namespace, each.app], apps[other.namespace, other.app], each, found)
    for door in {each.gateway: each for each in reversed(list(gateways.doors(inputs.config)))}.values():
        _crowded(inputs, door, count.get(door.gateway, 0), found)
    return found.problems


def _twice(inputs: Inputs, app: App, other: App, fact: Fact, found: Findings) -> None:
    file, line, _ = other.origin("metadata", "name").place
    near = fact.namespace == other.namespace
    hint = "set spec.servedModelName" + ("" if near else ", or give the namespace a Gateway of its own")
    at = app.origin("spec", "servedModelName") if "servedModelName" in app.spec else app.origin("metadata", "name")
    words = {"kind": other.kind, "other": f"{other.namespace}/{other.name}", "file": file, "line": line}
    found.add("E625", at, model=fact.model, gateway="/".join(fact.gateway), hint=hint, **words)


def _crowded(inputs: Inputs, door: Door, count: int, found: Findings) -> None:
    name, at = "/".join(door.gateway), door.at("name")
    if count > door.most:
        found.add("E626", at, name=name, count=count, most=door.most)
    elif count > gateways.MANY_ROUTES and door.get("routeLayout") == "model":
        found.add("W240", at, name=name, count=count, most=gateways.MANY_ROUTES)
    keys = door.auth.get("apiKeys")
    weight = _weight(inputs, door.gateway[0], keys["secretName"]) if keys else 0
    if keys and weight is None and count > gateways.MANY_WITH_KEYS:
        found.add("W241", door.at("auth", "apiKeys", key=True), name=name, count=count)
    elif weight and not door.get("maxModels") and (most := _MESSAGE // (_RULE + 2 * weight)) < count:
        found.add("E617", door.at("auth", "apiKeys", key=True), name=name, count=count, most=most)


def _weight(inputs: Inputs, namespace: str, secret: str) -> int | None:
    """Bytes of the API keys in a Secret of the tree, as each route repeats them; None when it is not there."""
    for body in inputs.around:
        metadata = body.get("metadata")
        named = isinstance(metadata, dict) and (metadata.get("namespace"), metadata.get("name")) == (namespace, secret)
        if body.get("kind") == "Secret" and named:
            said = (body.get("data"), body.get("stringData"))  # nobody has looked at them
            coded, plain = (part if isinstance(part, dict) else {} for part in said)
            size = sum(len(key) + len(str(value)) * 3 // 4 + _EACH for key, value in coded.items())
            return size + sum(len(key) + len(str(value)) + _EACH for key, value in plain.items())
    return None


_LABELS: dict[str, Body] = {}


def _labels(name: str) -> Body:
    if name not in _LABELS:
        _LABELS[name] = Shared(
            {
                "app.kubernetes.io/name": name,
                "app.kubernetes.io/component": "route",
                "app.kubernetes.io/part-of": "llmaz",
                "app.kubernetes.io/managed-by": "llmaz-renderer",
            }
        )
    return _LABELS[name]


def _named(app: App, model: OpenModel) -> Origin:
    """Who says the public name."""
    if "servedModelName" in app.spec:
        return app.origin("spec", "servedModelName")
    if "servedModelName" in model.spec:
        return Origin(model.document, ("spec", "servedModelName"))
    return Origin(model.document, ("metadata", "name"))


def _origins(app: App, door: Door, model: OpenModel) -> Mapping[Path, Origin]:
    own = app.spec.get("gateway") or {}
    at = app.origin("spec", "gateway")
    return {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("model",): _named(app, model),
        ("gateway",): door.at("name"),
        ("auth",): door.at("auth"),
        ("hostnames",): door.at("hostnames"),
        ("request",): at.at("timeouts") if "timeouts" in own else door.at("timeouts"),
        ("allowed",): at.at("allow"),
    }
