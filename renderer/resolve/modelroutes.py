"""A ModelRoute → its Way: one public name over several apps and providers (routing.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from renderer.api import App, Spec, Traffic
from renderer.plan import Limit, Plan, Provider, Target, Way
from renderer.problems import Findings, Origin, Path, Stop, guess
from renderer.resolve import names, pools, routing
from renderer.resolve.gateways import Door
from renderer.resolve.memo import Memo, door
from renderer.resolve.routing import Asked, Part
from renderer.resolve.workloads import broken, workloads

_KINDS = {"playground": "Playground", "service": "Service"}
_COUNTS = {
    "total": "TotalToken",
    "input": "InputToken",
    "output": "OutputToken",
    "cachedInput": "CachedInputToken",
    "reasoning": "ReasoningToken",
}
# By what an API speaks: the kind of key, and who has a version and a prefix (apis.md, AIServiceBackend).
_KEYS = {
    "OpenAI": "APIKey",
    "Cohere": "APIKey",
    "Anthropic": "AnthropicAPIKey",
    "AzureOpenAI": "AzureAPIKey",
    "AWSBedrock": "AWSCredentials",
    "AWSAnthropic": "AWSCredentials",
}
_VERSIONED = ("AzureOpenAI",)
_PREFIXED = ("OpenAI", "Cohere")
_RETRIES = 2  # where priorities need some and nobody says how many (gateway-proof.md, sample 3)
_LABEL = 63


def way(memo: Memo, item: Traffic, found: Findings) -> Way:
    """Everything decided. Raises Stop when a backend leaves nothing to go on with."""
    names.route_name(item, found)
    here, spec = door(memo, item.namespace), item.spec
    off = here.mode == "off" and not any(_opened(memo, item, each, here) for each in spec["backends"])
    called = dict(provider_names(item))
    parts: list[Part] = []
    plans: list[Plan] = []
    providers: list[Provider] = []
    seen: dict[tuple[str, int], int] = {}
    for i, each in enumerate(spec["backends"]):
        at, priority = item.origin("spec", "backends", i), each.get("priority", 0)
        if "provider" in each:
            made = _provider(memo, item, each["provider"], called[i], at.at("provider"), found)
            providers.append(made)
            parts.append(Part((Target(made.name, 1, each["provider"]["modelName"]),), each.get("weight", 1), priority))
            continue
        field = "playground" if "playground" in each else "service"
        at = at.at(field)
        if seen.setdefault((each[field], priority), i) != i:
            found.add("E646", at, name=each[field])
        app = known(memo, item.namespace, each[field], _KINDS[field], at, found)
        _guarded(item, app, at, found)
        if off:  # it is judged as far as nothing leads anywhere
            parts.append(Part((Target(app.name, 1, ""),), each.get("weight", 1), priority))
            continue
        own = reached(memo, app, at, found)
        plans += own
        targets = [pools.target(own[0])] if routing.mode(app, here) == "pool" else routing.targets(own)
        parts.append(Part(targets, each.get("weight", 1), priority))
        if targets[0].pool:
            _alone(memo, item, own[0], at, found)
    _weighed(item, parts, found)
    hostnames, limits = _hostnames(item, here, found), _limits(item, here, found)
    if off:
        return Way(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    priorities = {part.priority for part in parts}
    retries = _retries(item, parts, plans, len(priorities), found)
    inner = [part for i, part in enumerate(parts) if part.weight and i not in called]
    if providers and not any(part.priority == min(priorities) for part in inner):
        found.add("W242", item.origin("spec", "backends"))
    model = memo.inputs.models[plans[0].model] if plans else None
    asked = Asked(
        model=spec["modelName"],
        named=item.origin("spec", "modelName"),
        targets=tuple(routing.split(parts)),
        of=model,
        owner="" if plans else providers[0].hostname,
        hostnames=hostnames,
        retries=retries,
        limits=limits,
    ).by(item)
    route = routing.route(item, here, asked, found)
    return Way(
        app=f"{item.name}.route",
        namespace=item.namespace,
        file=item.file,
        leans=leans(item.namespace, route.targets, [each.name for each in providers]),
        shared=(
            *routing.wanted(here, route),
            routing.claimed(item, here, route.model, asked.hostnames, route.name),
        ),
        providers=tuple(providers),
        route=route,
    )


def leans(namespace: str, targets: tuple[Target, ...], own: list[str]) -> tuple[tuple[str, str, str], ...]:
    """The objects of apps that a route names: by kind, namespace and name."""
    return tuple(
        (kind, namespace, each.name)
        for each in targets
        if each.name not in own
        for kind in (("InferencePool",) if each.pool else ("AIServiceBackend", "Backend"))
    )


def _opened(memo: Memo, item: Traffic, backend: Spec, here: Door) -> bool:
    """Whether a backend wants routes although RenderConfig wants none."""
    app = memo.apps.get((item.namespace, backend.get("playground") or backend.get("service") or ""))
    return app is not None and routing.mode(app, here) != "off"


def _guarded(item: Traffic, app: App, at: Origin, found: Findings) -> None:
    """What an app says of its own route is said here, or it counts for nothing: rights must not get lost."""
    own = app.spec.get("gateway") or {}
    if own.get("allow") and not (item.spec.get("gateway") or {}).get("allow"):
        found.add("E664", at, name=app.name, hint="write spec.gateway.allow here too")
    if own.get("timeouts") and "timeouts" not in item.spec:
        found.add("W245", at, name=app.name)


def known(memo: Memo, namespace: str, name: str, kind: str, at: Origin, found: Findings) -> App:
    """The app of that name. Raises Stop when there is none."""
    app = memo.apps.get((namespace, name))
    if app is None and broken(memo, namespace, name):
        raise Stop
    if app is None or app.kind != kind:
        _unknown(memo, namespace, name, kind, at, found)
    return app


def _unknown(memo: Memo, namespace: str, name: str, kind: str, at: Origin, found: Findings) -> NoReturn:
    app = memo.apps.get((namespace, name))
    hint = f"there is a {app.kind} of that name; write {app.kind.lower()}: {name}" if app else ""
    if not hint and (elsewhere := sorted(space for space, own in memo.apps if own == name)):
        hint = f"there is one in namespace '{elsewhere[0]}', and a route leads to its own namespace only"
    near = [own for (space, own), each in memo.apps.items() if space == namespace and each.kind == kind]
    found.stop("E640", at, kind=kind, name=name, namespace=namespace, hint=hint or guess(name, near))


def reached(memo: Memo, app: App, at: Origin, found: Findings) -> list[Plan]:
    """The workloads of an app that a public name of somebody else's leads to. Raises Stop where no route can."""
    if routing.mode(app, door(memo, app.namespace)) == "off":
        found.stop("E643", at, name=app.name)
    return workloads(memo, app, found)


def _alone(memo: Memo, item: Traffic, plan: Plan, at: Origin, found: Findings) -> None:
    """A pool takes all requests of its rule, by the name that its engine serves, or that an InferenceModel gives it."""
    named = [each for each in memo.traffic.get((item.namespace, plan.name), ()) if each.kind == "InferenceModel"]
    if len(item.spec["backends"]) > 1:
        found.add("E644", at, name=plan.name)
    elif item.spec["modelName"] not in (plan.serves, *(each.spec["modelName"] for each in named)):
        words = {"name": plan.name, "model": item.spec["modelName"], "served": plan.serves}
        found.add("E647", item.origin("spec", "modelName"), **words)


def _weighed(item: Traffic, parts: list[Part], found: Findings) -> None:
    """Nobody is asked where all weights are 0."""
    for priority in sorted({part.priority for part in parts}):
        same = [i for i, part in enumerate(parts) if part.priority == priority]
        if not any(parts[i].weight for i in same):
            found.add("E645", item.origin("spec", "backends", same[0], "weight"), priority=priority)


def _retries(item: Traffic, parts: list[Part], plans: list[Plan], priorities: int, found: Findings) -> int:
    said = (item.spec.get("retries") or {}).get("attempts")
    if said is None:
        return max(_RETRIES, priorities - 1) if priorities > 1 else 0
    at = item.origin("spec", "retries", "attempts")
    if said < priorities - 1:
        found.add("E649", at, attempts=said, count=priorities, least=priorities - 1)
    alone = len(parts) == 1 and len(plans) == 1 and not plans[0].scaler and plans[0].replicas == 1
    if parts[0].targets[0].pool:
        found.add("W248", at, name=plans[0].name)
    elif alone:
        found.add("W243", at, name=plans[0].name)
    return int(said)


def _hostnames(item: Traffic, here: Door, found: Findings) -> tuple[str, ...]:
    """Fewer of the Gateway's own hosts, never others."""
    said, served = item.spec.get("hostnames") or (), here.hostnames
    for i, host in enumerate(said):
        at = item.origin("spec", "hostnames", i)
        if left := [each for each in served if each not in said and routing.covers(host, each)]:
            found.add("E665", at, host=host, nearer=left[0])
        # Below a wildcard, the other names of the Gateway would answer 404 on this host: the nearest host wins.
        if host not in served:
            found.add("E648", at, host=host, name="/".join(here.gateway), served=", ".join(served) or "none are said")
    return tuple(dict.fromkeys(said))


def _limits(item: Traffic, here: Door, found: Findings) -> tuple[Limit, ...]:
    made: dict[tuple[str, str, str], Limit] = {}
    for i, each in enumerate(item.spec.get("tokenLimits") or ()):
        at = item.origin("spec", "tokenLimits", i)
        header = here.tenant if each["per"] == "tenant" else each["per"]["header"]
        _trusted(here, header, each["per"] == "tenant", at.at("per"), found)
        limit = Limit(header, each["tokens"], each["interval"], _COUNTS[each.get("count", "total")])
        if made.setdefault((header.lower(), limit.unit, limit.kind), limit) is not limit:
            found.add("E652", at)
    return tuple(made.values())


def _trusted(here: Door, header: str, tenant: bool, at: Origin, found: Findings) -> None:
    """A budget counts by what the Gateway says of a client, not by what the client says."""
    name = "/".join(here.gateway)
    claims = [claim for each in here.auth.get("jwt") or () for claim in each.get("claimToHeaders") or ()]
    if header.lower() == here.tenant.lower() and here.auth:
        return
    if tenant:
        found.add("E651", at, name=name)
    elif header.lower() in [str(claim["header"]).lower() for claim in claims]:
        return
    elif here.created:
        found.add("E650", at, header=header)
    else:
        found.add("N588", at, header=header, name=name)


def provider_names(item: Traffic) -> Iterator[tuple[int, str]]:
    """What the objects of a ModelRoute's providers are called, by the index of the backend."""
    taken: list[str] = []
    for i, each in enumerate(item.spec["backends"] if item.kind == "ModelRoute" else ()):
        if "provider" in each:
            name = f"{item.name}-{each['provider']['hostname'].replace('.', '-')}"
            while name in taken:
                name += "-2"
            taken.append(name)
            yield i, name


def _fitting(spec: Spec, at: Origin, found: Findings) -> None:
    """An API has its version where it needs one, and the kind of key that it usually takes."""
    speaks, kind = spec["schema"], spec["auth"]["type"]
    if speaks in _VERSIONED and "version" not in spec:
        words = {"what": "needs a version", "hint": "write version, such as 2025-01-01-preview"}
        found.add("E666", at, schema=speaks, **words)
    for key, known in (("version", (*_VERSIONED, "AWSAnthropic")), ("prefix", _PREFIXED)):
        if key in spec and speaks not in known:
            found.add("E666", at.at(key, key=True), schema=speaks, what=f"has no {key}", hint="leave it out")
    usual = _KEYS[speaks]
    if kind != usual:
        found.add("W246", at.at("auth", "type"), schema=speaks, kind=kind, usual=usual)


def _provider(memo: Memo, item: Traffic, spec: Spec, name: str, at: Origin, found: Findings) -> Provider:
    host, auth = spec["hostname"], spec["auth"]
    if len(name) > _LABEL:
        found.add("E663", at.at("hostname"), name=name, why=f"which is longer than {_LABEL} characters")
    elif app := memo.apps.get((item.namespace, name)):
        found.add("E663", at.at("hostname"), name=name, why=f"as those of a {app.kind}")
    _fitting(spec, at, found)
    aws = auth["type"] == "AWSCredentials"
    if aws and "region" not in auth:
        found.add("E653", at.at("auth"), type=auth["type"], what="needs a region", hint="write auth.region")
    elif not aws and "region" in auth:
        words = {"type": auth["type"], "what": "has no region", "hint": "leave it out"}
        found.add("E653", at.at("auth", "region", key=True), **words)
    speaks: dict[str, Any] = {"name": spec["schema"]}
    speaks |= {key: spec[key] for key in ("prefix", "version") if key in spec}
    return Provider(
        name=name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        speaks=speaks,
        hostname=host,
        port=spec.get("port", 443),
        auth=(auth["type"], auth["secretName"], auth.get("region", "")),
        origins=lambda: _places(item, at),
    )


def _places(item: Traffic, at: Origin) -> Mapping[Path, Origin]:
    """What says each field of a provider."""
    return {
        (): at,
        ("name",): item.origin("metadata", "name"),
        ("namespace",): item.origin("metadata", "namespace"),
        ("hostname",): at.at("hostname"),
        ("port",): at.at("port"),
        ("speaks",): at.at("schema"),
        ("auth",): at.at("auth"),
    }
