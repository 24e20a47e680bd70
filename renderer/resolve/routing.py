"""How an app is reached: its public name, the route to it, and who may call (routing.md)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from renderer.api import App, Inputs, OpenModel, Traffic
from renderer.plan import Body, Limit, Plan, Route, Target, Wanted, new_route, new_target, new_wanted
from renderer.problems import Findings, Origin, Path, Problem, new_origin
from renderer.records import NamedTuple, quick
from renderer.resolve import gateways
from renderer.resolve.gateways import Door
from renderer.schema import spec_default
from renderer.yamlio import Shared

if TYPE_CHECKING:
    from fractions import Fraction

GATEWAY, GRANT = "Gateway", "ReferenceGrant"  # what apps want together with others
ROUTE = "AIGatewayRoute"
MOST_RULES = 15  # of a route; the sixteenth is the AI gateway's own
NAME = "PublicName"  # what each wants for itself
_SEPARATOR = "\n"  # in no name, not even a public one
_MESSAGE, _RULE, _EACH = 4 << 20, 3400, 8  # bytes: a message, a model and a key in it (routing.md, Who may call)
_MOST_WEIGHT = 1_000_000  # of a backend (Gateway API)
_HEADER = 4096  # bytes of a header's value (Gateway API)
_WITHOUT = 10  # seconds until endpoints have dropped a pod, where no DNS answer is in between


class Fact(NamedTuple):
    """A public name, as all must know it. `kind`: of a Traffic, '' of an app; `object`: the route that is made of it
    alone; `hostnames`: with commas between.
    """

    gateway: tuple[str, str]
    namespace: str
    kind: str
    name: str
    object: str
    hostnames: str
    model: str

    @property
    def owner(self) -> tuple[str, str, str]:
        """Who claims it."""
        return self.namespace, self.kind, self.name


def mode(app: App, door: Door) -> str:
    """backend, pool or off: the app's own word, else RenderConfig's."""
    own = app.spec.get("gateway")
    return str(own.get("mode") or door.mode) if own else door.mode


def drain(door: Door, mode: str) -> int:
    """Seconds that a pod sleeps before it ends, so that nobody is sent to it any more: a DNS answer's life where Envoy
    asks the DNS (routing.md, Drain).
    """
    return door.answered + 5 if mode == "backend" else _WITHOUT


def host(app: App, door: Door, mode: str) -> str:
    """The name under which Envoy finds the leaders of an app, or of a variant of one; '' where no route leads there."""
    if mode != "backend":
        return ""
    return f"{app.name}-leaders.{door.namespace}.svc.{door.get('clusterDomain')}"


def targets(plans: Sequence[Plan]) -> list[Target]:
    """The backends of an app: its variants share by their replicas, 1 each where they are scaled."""
    if len(plans) == 1:
        return [new_target(plans[0].name, 1, plans[0].called)]
    sizes = [1 if plan.replicas is None else plan.replicas for plan in plans]
    return [Target(plan.name, size if any(sizes) else 1, plan.called) for plan, size in zip(plans, sizes, strict=True)]


class Part(NamedTuple):
    """The backends of one app among several, with the weight and the priority that they have together."""

    targets: Sequence[Target]
    weight: int
    priority: int = 0


def split(parts: Sequence[Part]) -> list[Target]:
    """All backends, so that each app gets its weight within its priority and shares it among its variants, in the
    smallest whole numbers; where nobody shares, in the numbers that the user wrote.
    """
    if all(len(part.targets) == 1 and part.weight <= _MOST_WEIGHT for part in parts):
        return [part.targets[0]._replace(weight=part.weight, priority=part.priority) for part in parts]
    from fractions import Fraction  # few runs need it

    shares: dict[int, list[Fraction]] = {}
    for part in parts:
        own = sum(each.weight for each in part.targets) if len(part.targets) > 1 else 1
        shares.setdefault(part.priority, []).extend(
            Fraction(part.weight * (each.weight if len(part.targets) > 1 else 1), own) for each in part.targets
        )
    shared = {part.priority for part in parts if len(part.targets) > 1}
    weights = {priority: iter(_whole(of, least=priority in shared)) for priority, of in shares.items()}
    return [
        each._replace(weight=next(weights[part.priority]), priority=part.priority)
        for part in parts
        for each in part.targets
    ]


def _whole(shares: Sequence[Fraction], *, least: bool) -> list[int]:
    """In these proportions, as far as numbers of Gateway API show them; `least`: the smallest such numbers."""
    scale = math.lcm(*(each.denominator for each in shares))
    whole = [int(each * scale) for each in shares]
    if least and (common := math.gcd(*whole)):
        whole = [each // common for each in whole]
    if (most := max(whole)) > _MOST_WEIGHT:
        whole = [max(1, round(each * _MOST_WEIGHT / most)) if each else 0 for each in whole]
    return whole


class Asked(NamedTuple):
    """What an app or a ModelRoute wants of its route; what it leaves out the Gateway says. `named`: who says the public
    name; `timed`, `allowing`: who says the timeouts, and who may call.
    """

    model: str
    named: Origin
    targets: tuple[Target, ...]
    of: OpenModel | None
    owner: str = ""
    timeouts: Mapping[str, str] = {}
    timed: Origin | None = None
    allow: tuple[str, ...] = ()
    allowing: Origin | None = None
    hostnames: tuple[str, ...] = ()
    retries: int = 0
    limits: tuple[Limit, ...] = ()

    def by(self, app: App | Traffic) -> Asked:
        """With the timeouts and rights that an app or a ModelRoute says of itself."""
        own = app.spec.get("gateway") or {}
        timeouts, where = (own, ("spec", "gateway")) if isinstance(app, App) else (app.spec, ("spec",))
        return self._replace(
            timeouts=timeouts.get("timeouts") or {},
            timed=app.origin(*where, "timeouts") if "timeouts" in timeouts else None,
            allow=tuple(dict.fromkeys(own.get("allow") or ())),
            allowing=app.origin("spec", "gateway", "allow", key=True) if "allow" in own else None,
        )


asking = quick(Asked)


def route(app: App | Traffic, door: Door, asked: Asked, found: Findings) -> Route:
    """The route of a public name."""
    if (length := len(asked.model.encode())) > _HEADER:
        found.add("E623", asked.named, length=length, most=_HEADER)
    timeouts = {**door.timeouts, **asked.timeouts} if asked.timeouts else door.timeouts
    if asked.allowing:
        _secured(app, door, asked, asked.allowing, found)
    plain = not asked.allow and not asked.retries and not asked.limits and "streamIdle" not in timeouts
    model = asked.of.spec if asked.of else {}
    name = app.label
    namespace, gateway = app.namespace, door.gateway
    return new_route(  # by position, as a Plan
        name,
        namespace,
        labels(name),
        asked.model,
        gateway,
        asked.hostnames or door.hostnames,
        asked.targets,
        timeouts.get("request", gateways.REQUEST),
        asked.owner or model.get("ownedBy") or str(spec_default("OpenModel", "ownedBy")),
        lambda: _origins(app, door, asked),
        timeouts.get("streamIdle", ""),
        model.get("createdAt") or "",
        asked.allow,
        door.tenant,
        gateways.policy(door, across=gateway[0] != namespace),
        packed(door, asked.model) if plain and isinstance(app, App) else "",
        asked.retries,
        asked.limits,
    )


def _secured(app: App | Traffic, door: Door, asked: Asked, at: Origin, found: Findings) -> None:
    """What stands in the way of rights on this model."""
    if not door.auth:
        found.add("E624", at, name="/".join(door.gateway))
    if asked.allow and door.created and door.gateway == (app.namespace, app.label):
        found.add("E631", app.origin("metadata", "name"), name=app.label)
    elsewhere = [
        "remoteJWKS.backendRefs" if "backendRefs" in (each.get("remoteJWKS") or {}) else "localJWKS.valueRef"
        for each in door.auth.get("jwt") or ()
        if "backendRefs" in (each.get("remoteJWKS") or {}) or "valueRef" in (each.get("localJWKS") or {})
    ]
    if asked.allow and elsewhere and door.gateway[0] != app.namespace:
        found.add("E636", at, what=elsewhere[0])


def packed(door: Door, model: str) -> str:
    """The object that holds the rule of this public name in the packed layout, '' in the other.

    By rendezvous hash, so that a name stays where it is when others come and go.
    """
    if door.get("routeLayout") != "packed":
        return ""
    return max(map(bucket, range(int(door.get("routeBuckets")))), key=lambda name: score(name, model))


def bucket(number: int) -> str:
    """The object of that number, from 0, in the packed layout."""
    return f"llmaz-{number}"


def score(bucket: str, model: str) -> bytes:
    """How well a public name suits an object: it is in the one that it suits best."""
    import hashlib  # few runs need it

    return hashlib.sha256(f"{bucket.removeprefix('llmaz-')}/{model}".encode()).digest()


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
    if door.created:
        kinds = (GATEWAY, GRANT) if route.allowed else (GATEWAY,)
        made += [new_wanted(kind, *door.gateway, door.namespace) for kind in kinds]
    return tuple(made)


def claimed(app: App | Traffic, door: Door, model: str, hostnames: Sequence[str] = (), object_name: str = "") -> Wanted:
    """That somebody claims a public name on its Gateway, for some of its hosts or for all, and makes an object of some
    name for it: what all must know.
    """
    kind = app.kind if isinstance(app, Traffic) else ""
    parts = (app.namespace, kind, app.label, object_name, ",".join(hostnames), model)
    namespace, name = door.gateway
    return new_wanted(NAME, namespace, name, _SEPARATOR.join(parts))


def crossed(inputs: Inputs, wanted: Iterable[Wanted]) -> list[Problem]:
    """Public names that two claim on one Gateway, objects that two make, and Gateways with more names than they
    bear.
    """
    found = Findings()
    claims = [each for each in wanted if each.kind == NAME]
    if several := _several(claims):
        _collided(inputs, several, found)
    count = Counter((each.namespace, each.name) for each in claims)
    for door in {each.gateway: each for each in reversed(list(gateways.doors(inputs.config)))}.values():
        _crowded(inputs, door, count[door.gateway], found)
    return found.problems


def _several(claims: Iterable[Wanted]) -> list[Fact]:
    """The claims of a name, or of an object, that others claim too: hardly ever any of thousands."""
    first: dict[tuple[str, ...], Wanted] = {}
    shared: set[Wanted] = set()
    for each in claims:
        namespace, _, _, made, _, model = each.fact.split(_SEPARATOR, 5)
        other = first.setdefault((each.namespace, each.name, model), each)
        same = first.setdefault((namespace, made), each) if made else each
        if other is not each or same is not each:
            shared |= {each, other, same}
    return sorted(Fact((each.namespace, each.name), *each.fact.split(_SEPARATOR, 5)) for each in shared)


def _collided(inputs: Inputs, facts: Iterable[Fact], found: Findings) -> None:
    owners: dict[tuple[str, str, str], App | Traffic] = {
        (each.namespace, "", each.name): each for each in inputs.apps
    } | {(each.namespace, each.kind, each.name): each for each in inputs.traffic if not each.outside}
    first: dict[tuple[tuple[str, str], str], list[Fact]] = {}
    made: dict[tuple[str, str], Fact] = {}
    for each in facts:
        before = first.setdefault((each.gateway, each.model), [])
        if other := next((one for one in before if _meet(one, each)), None):
            _twice(owners[each.owner], owners[other.owner], each, found)
        before.append(each)
        same = made.setdefault((each.namespace, each.object), each)
        if each.object and same is not each:
            at, its = sorted((owners[each.owner], owners[same.owner]), key=lambda one: isinstance(one, Traffic))[::-1]
            file, line, _ = its.origin("metadata", "name").place
            words = {"name": each.object, "kind": its.kind, "file": file, "line": line}
            found.add("E642", at.origin("metadata", "name"), **words)


def _meet(one: Fact, other: Fact) -> bool:
    """Whether there may be a host that both claim."""
    hosts, its = (each.hostnames.split(",") if each.hostnames else [] for each in (one, other))
    return not hosts or not its or any(covers(a, b) or covers(b, a) for a in hosts for b in its)


def covers(host: str, other: str) -> bool:
    """Whether a host name, perhaps with a wildcard for its first part, is the other or stands for it too."""
    return host == other or (host.startswith("*.") and other.endswith(host[1:]))


def _twice(app: App | Traffic, other: App | Traffic, fact: Fact, found: Findings) -> None:
    file, line, _ = other.origin("metadata", "name").place
    near = app.namespace == other.namespace
    both = isinstance(app, App) and isinstance(other, App)
    hint = "set spec.servedModelName" if isinstance(app, App) else "give one of them another modelName"
    if not near:
        hint += ", or give the namespace a Gateway of its own"
    elif both:
        hint += ", or write a ModelRoute over both"
    if isinstance(app, Traffic):
        at = app.origin("spec", "modelName")
    else:
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


_MADE: dict[str, Body] = {}


def labels(name: str) -> Body:
    """Of what leads to an app, or to several."""
    if name not in _MADE:
        _MADE[name] = Shared(
            {
                "app.kubernetes.io/name": name,
                "app.kubernetes.io/component": "route",
                "app.kubernetes.io/part-of": "llmaz",
                "app.kubernetes.io/managed-by": "llmaz-renderer",
            }
        )
    return _MADE[name]


def named(app: App, model: OpenModel) -> Origin:
    """Who says the public name."""
    if "servedModelName" in app.spec:
        return app.origin("spec", "servedModelName")
    if "servedModelName" in model.spec:
        return new_origin(model.document, ("spec", "servedModelName"))
    return new_origin(model.document, ("metadata", "name"))


def _backends(app: App | Traffic, asked: Asked) -> Path:
    """Which field says what the name leads to."""
    if app.kind != "InferenceModel":
        return ("backends",)
    return ("poolRef", "name") if any(each.pool for each in asked.targets) else ("targetModels",)


def _timed(door: Door, asked: Asked, key: str) -> Origin:
    """Who says one of the timeouts."""
    return asked.timed.at(key) if asked.timed and key in asked.timeouts else door.at("timeouts", key)


def _origins(app: App | Traffic, door: Door, asked: Asked) -> Mapping[Path, Origin]:
    return {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("model",): asked.named,
        ("gateway",): door.at("name"),
        ("gateway namespace",): door.at("namespace"),
        ("auth",): door.at("auth"),
        ("hostnames",): app.origin("spec", "hostnames") if asked.hostnames else door.at("hostnames"),
        ("request",): asked.timed or door.at("timeouts"),
        **{("said", key): _timed(door, asked, key) for key in ("request", "streamIdle")},
        ("allowed",): asked.allowing or app.origin(),
        ("backends",): app.origin("spec", *_backends(app, asked)),
        ("limits",): app.origin("spec", "tokenLimits"),
        ("retries",): app.origin("spec", "retries"),
    }
