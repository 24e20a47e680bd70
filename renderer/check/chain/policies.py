"""Policies: what they aim at is there, no other of their kind aims at it, and they act on the model that is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from renderer.check.chain.gateways import CONFIG, model_gateways
from renderer.check.chain.references import granted, secret, weight
from renderer.check.chain.view import EXISTS, Place, View, kind_in, selects
from renderer.check.finding import Body, Finding
from renderer.problems import Path
from renderer.records import NamedTuple

_GATEWAY_GROUP = "gateway.networking.k8s.io"
_EARLY = ("apiKeyAuth", "basicAuth", "cors", "extAuth", "jwt", "oidc")
"""What acts before the AI filter has read the model, on the catch-all of the first route (gateway-proof.md, 1)."""
_AIMS = {"targetRef", "targetRefs", "targetSelectors", "mergeType"}
_COSTS = "io.envoy.ai_gateway"
_SECRET_KEYS = {"apiKey": "apiKey", "anthropicAPIKey": "apiKey", "azureAPIKey": "apiKey"}


class Target(NamedTuple):
    """What a policy aims at: an object, or a section of it; `path`: where the policy says so."""

    kind: str
    namespace: str
    name: str
    section: str
    path: Path


def targets(view: View, body: Body, namespace: str) -> Iterator[Target]:
    """All that a policy aims at, of what its selectors take only what is in the set."""
    spec = body["spec"]
    one = spec.get("targetRef")
    named: list[tuple[Path, Body]] = [(("spec", "targetRef"), one)] if one else []
    named += [(("spec", "targetRefs", i), each) for i, each in enumerate(spec.get("targetRefs") or ())]
    for path, each in named:
        kind = kind_in(each.get("group", _GATEWAY_GROUP), each["kind"])
        space = "" if kind == "GatewayClass" else namespace
        yield Target(kind, space, each["name"], each.get("sectionName") or "", path)
    for i, selector in enumerate(spec.get("targetSelectors") or ()):
        kind = kind_in(selector.get("group", _GATEWAY_GROUP), selector["kind"])
        for space, name in _selected(view, kind, selector, namespace):
            yield Target(kind, space, name, "", ("spec", "targetSelectors", i))


def _selected(view: View, kind: str, selector: Body, namespace: str) -> Iterator[Place]:
    """The objects that a targetSelector takes; an AIGatewayRoute passes its labels on to its HTTPRoute."""
    origin = (selector.get("namespaces") or {}).get("from", "Same")
    labels = selector.get("matchLabels") or {}
    pairs = view.once("labels", _labelled)
    if labels:
        key, value = next(iter(labels.items()))
        candidates = pairs.get((kind, key, value), ())
    else:
        candidates = pairs.get((kind, "", ""), ())
    for space, name, held in candidates:
        if (origin != "Same" or space == namespace) and selects(selector, held):
            yield space, name


def _labelled(view: View) -> dict[tuple[str, str, str], list[tuple[str, str, Mapping[str, str]]]]:
    """Gateways and routes by kind and each label, and all of a kind by the label ''."""
    made: dict[tuple[str, str, str], list[tuple[str, str, Mapping[str, str]]]] = {}
    for kind, shown in (
        ("Gateway", "Gateway"),
        ("HTTPRoute", "HTTPRoute"),
        ("AIGatewayRoute", "HTTPRoute"),
        ("GRPCRoute", "GRPCRoute"),
    ):
        for namespace, name, body in view.all(kind):
            labels = body["metadata"].get("labels") or {}
            for key, value in (*labels.items(), ("", "")):
                made.setdefault((shown, key, value), []).append((namespace, name, labels))
    return made


def aimed(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Whatever kind the policy is of: its targets are there, and its alone."""
    kind = body["kind"]
    claims: dict[tuple[str, ...], str] = view.once("claims", lambda _: {})
    found = set()
    for target in targets(view, body, namespace):
        found.add(target.path)
        path: Path = target.path if "targetSelectors" in target.path else (*target.path, "name")
        there = _there(view, target)
        if there is None:
            hint = ""
            if other := _elsewhere(view, target):
                hint = f"there is one in namespace '{other}', but a policy acts in its own namespace only"
            yield view.missing(target.kind, target.namespace, target.name, path, hint)
            continue
        if target.section and target.kind == "Gateway" and there:
            listeners = [each["name"] for each in there["spec"].get("listeners") or ()]
            if target.section not in listeners:
                words = {"what": f"called '{target.section}'", "known": ", ".join(listeners), "gateway": target.name}
                yield "E581", (*target.path, "sectionName"), words
        if target.section and target.kind == "HTTPRoute" and there and target.section not in _rules(there):
            yield "E611", (*target.path, "sectionName"), _unnamed(kind, name, target)
        claim = (kind, *target[:4])
        if (first := claims.setdefault(claim, f"{namespace}/{name}")) != f"{namespace}/{name}":
            code = "E600" if kind == "BackendSecurityPolicy" else "E599"
            section = f" ({target.section})" if target.section else ""
            aim = f"{target.kind.partition('.')[0]} '{target.name}'{section}"
            yield code, path, {"kind": kind, "target": aim, "other": first.rpartition("/")[2]}
    for i, selector in enumerate(body["spec"].get("targetSelectors") or ()):
        path = ("spec", "targetSelectors", i)
        if path not in found and not view.outside.declared(selector["kind"], namespace, "*"):
            yield "E608", path, {"kind": selector["kind"]}


def _rules(route: Body) -> list[str]:
    """What the rules of a route are called: in the HTTPRoute of an AIGatewayRoute only the one that finds nothing."""
    if route["kind"] == "AIGatewayRoute":
        return ["route-not-found"]
    return [rule["name"] for rule in route["spec"].get("rules") or () if "name" in rule]


def _unnamed(kind: str, name: str, target: Target) -> dict[str, Any]:
    return {
        "what": f"{kind} '{name}'",
        "why": f"the HTTPRoute '{target.name}' has no rule called '{target.section}'",
        "effect": "it acts on nothing",
        "hint": "leave sectionName out: the rules of an AIGatewayRoute have no names",
    }


def _there(view: View, target: Target) -> Body | None:
    if target.kind == "HTTPRoute":
        made = view.find("AIGatewayRoute", target.namespace, target.name)
        if made is not None:
            return made
    return view.find(target.kind, target.namespace, target.name)


def _elsewhere(view: View, target: Target) -> str:
    """Another namespace that holds the target, '' when none does."""
    kinds = ("HTTPRoute", "AIGatewayRoute") if target.kind == "HTTPRoute" else (target.kind,)
    places = {space for kind in kinds for space, name, _ in view.all(kind) if name == target.name}
    return min(places - {target.namespace}, default="")


def _routes(view: View, body: Body, namespace: str) -> Iterator[tuple[Target, Body]]:
    """The AIGatewayRoutes of the set whose HTTPRoute the policy aims at."""
    for target in targets(view, body, namespace):
        if target.kind == "HTTPRoute" and (found := view.find("AIGatewayRoute", target.namespace, target.name)):
            yield target, found


def _gateways(route: Body, namespace: str) -> Iterator[tuple[Place, str]]:
    """Place and section of each Gateway that a route names."""
    for parent in route["spec"].get("parentRefs") or ():
        yield (parent.get("namespace") or namespace, parent["name"]), parent.get("sectionName") or ""


def _on_gateways(view: View, kind: str) -> dict[Place, list[tuple[str, Body]]]:
    """By Gateway, the policies of a kind that aim at it, with the listener that they name."""

    def walk(view: View) -> dict[Place, list[tuple[str, Body]]]:
        made: dict[Place, list[tuple[str, Body]]] = {}
        for namespace, _, body in view.all(kind):
            for target in targets(view, body, namespace):
                if target.kind == "Gateway":
                    made.setdefault((target.namespace, target.name), []).append((target.section, body))
        return made

    return view.once(("on gateways", kind), walk)


def hidden(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Without mergeType a route's policy takes the place of the Gateway's: what it does not say again is gone."""
    spec, kind = body["spec"], body["kind"]
    if "mergeType" in spec:
        return
    said = set()
    for target, route in _routes(view, body, namespace):
        for place, section in _gateways(route, target.namespace):
            for listener, other in _on_gateways(view, kind).get(place, ()):
                if not listener or not section or listener == section:
                    lost = [key for key in other["spec"] if not _says(spec, other["spec"], key, kind)]
                    words = (kind, place[1], ", ".join(lost))
                    if lost and words not in said:
                        said.add(words)
                        yield "W581", target.path, dict(zip(("kind", "gateway", "lost"), words, strict=True))


def listened(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A policy of one listener takes the place of the Gateway's there: what it does not say again is gone."""
    spec, kind = body["spec"], body["kind"]
    if "mergeType" in spec:
        return
    for target in targets(view, body, namespace):
        place = target.namespace, target.name
        if target.kind != "Gateway" or not target.section or place not in model_gateways(view):
            continue
        words = {"kind": kind, "gateway": target.name, "listener": target.section}
        for listener, other in _on_gateways(view, kind).get(place, ()):
            if listener:
                continue
            # Another way of asking is a choice; to ask for nothing looks like a slip.
            if (asked := _authentication(other["spec"])) and not _authentication(spec):
                yield "E609", target.path, {**words, "asked": ", ".join(asked)}
            if lost := [each for each in _unsaid(spec, other["spec"]) if each not in (*_AIMS, *asked)]:
                yield "W584", target.path, {**words, "lost": ", ".join(lost)}


def _authentication(spec: Body) -> list[str]:
    """The keys by which a SecurityPolicy asks who calls."""
    return [key for key in _EARLY if key in spec and key != "cors"]


def _unsaid(own: Body, other: Body) -> Iterator[str]:
    """The keys of `other`, dotted, that `own` says nothing of."""
    for key, value in other.items():
        if key not in own:
            yield key
        elif isinstance(value, dict) and isinstance(own[key], dict):
            yield from (f"{key}.{each}" for each in _unsaid(own[key], value))


def _says(spec: Body, other: Body, key: str, kind: str) -> bool:
    """Whether a policy says the same of a key. What it says of authentication is judged elsewhere."""
    if key in _AIMS or (kind == "SecurityPolicy" and key in _EARLY):
        return True
    return bool(_normal(spec.get(key)) == _normal(other[key]))


def _normal(value: Any) -> Any:
    """A value less the namespaces of its references, and the defaults of a reference to a Secret."""
    if isinstance(value, Mapping):
        return {
            key: _normal(each)
            for key, each in value.items()
            if key != "namespace" and (key, each) not in (("group", ""), ("kind", "Secret"))
        }
    return [_normal(each) for each in value] if isinstance(value, list) else value


def security_policy(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Its Secrets may be read; and on a model's route it asks for what the Gateway asks for."""
    spec = body["spec"]
    for path, reference in _secrets(spec):
        space, title = reference.get("namespace") or namespace, reference["name"]
        yield from secret(view, (space, title), (*path, "name"))
        yield from granted(view, "SecurityPolicy", namespace, ("Secret", space, title), (*path, "namespace"))
    early = {key: spec[key] for key in _EARLY if key in spec}
    if "mergeType" in spec:
        return
    for target, route in _routes(view, body, namespace):
        if not early and "authorization" in spec:
            yield "E602", ("spec", "authorization"), {"route": target.name}
            continue
        wanted = _normal(early)
        for place, section in _gateways(route, target.namespace):
            if not view.find("Gateway", *place):
                key = ("Gateway", *place)
                yield from view.noted("N583", key, target.path, gateway="/".join(place))
                continue
            policies = _on_gateways(view, "SecurityPolicy").get(place, [])
            whole = [each for listener, each in policies if not listener] or [{"spec": {}}]
            own = [each for listener, each in policies if listener and section in ("", listener)]
            for policy in own or whole:
                asked = {key: policy["spec"][key] for key in _EARLY if key in policy["spec"]}
                if not early:
                    if _authentication(asked):
                        yield "E602", target.path, {"route": target.name}
                        break
                elif _normal(asked) != wanted:
                    words = {"asked": ", ".join(asked) or "nothing", "own": ", ".join(early)}
                    yield "E601", ("spec", next(iter(early))), {**words, "gateway": "/".join(place)}
                    break


def _secrets(spec: Body) -> Iterator[tuple[Path, Body]]:
    """The references to Secrets in a SecurityPolicy."""
    for i, each in enumerate((spec.get("apiKeyAuth") or {}).get("credentialRefs") or ()):
        yield ("spec", "apiKeyAuth", "credentialRefs", i), each
    for field, key in (("basicAuth", "users"), ("oidc", "clientSecret"), ("oidc", "clientIDRef")):
        if each := (spec.get(field) or {}).get(key):
            yield ("spec", field, key), each


def traffic_policy(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """The costs that it counts are set by somebody; and it does not split the backends of a model."""
    spec = body["spec"]
    if "zoneAware" in (spec.get("loadBalancer") or {}) and _of_models(view, body, namespace):
        words = {"what": "zoneAware on a model's route", "hint": "leave zoneAware out"}
        yield "E594", ("spec", "loadBalancer", "zoneAware"), words
    counted = list(_counted(spec))
    if not counted:
        return
    known: set[str] = set()
    sure = True
    for target in targets(view, body, namespace):
        costs, certain = _costs(view, target)
        known |= costs
        sure &= certain
    for path, key in counted:
        if key not in known:
            said = ", ".join(sorted(known)) or "none"
            if sure:
                yield "E603", path, {"key": key, "known": said}
            else:
                yield "N585", path, {"key": key, "known": said}


def _of_models(view: View, body: Body, namespace: str) -> bool:
    gateways = model_gateways(view)
    return any(
        (target.namespace, target.name) in gateways
        if target.kind == "Gateway"
        else view.find("AIGatewayRoute", target.namespace, target.name) is not None
        for target in targets(view, body, namespace)
    )


def _counted(spec: Body) -> Iterator[tuple[Path, str]]:
    """The metadata keys of the AI gateway that rate limits count by."""
    for where in ("global", "local"):
        for r, rule in enumerate(((spec.get("rateLimit") or {}).get(where) or {}).get("rules") or ()):
            for when, cost in (rule.get("cost") or {}).items():
                metadata = cost.get("metadata") or {}
                if metadata.get("namespace") == _COSTS:
                    path: Path = ("spec", "rateLimit", where, "rules", r, "cost", when, "metadata", "key")
                    yield path, metadata["key"]


def _costs(view: View, target: Target) -> tuple[set[str], bool]:
    """The keys that are set for a target's requests, and whether there can be no others."""
    if target.kind == "Gateway":
        place = target.namespace, target.name
        routes = [(namespace, body) for namespace, _, body in view.all("AIGatewayRoute")]
        on = [body for namespace, body in routes if place in {each for each, _ in _gateways(body, namespace)}]
        gateways = {place}
    else:
        found = view.find("AIGatewayRoute", target.namespace, target.name)
        if not found:
            return set(), found is None
        on, gateways = [found], {place for place, _ in _gateways(found, target.namespace)}
    keys = {cost["metadataKey"] for body in on for cost in body["spec"].get("llmRequestCosts") or ()}
    sure = True
    for place in gateways:
        gateway = view.find("Gateway", *place)
        if not gateway:
            sure = sure and gateway is None
        elif config := (gateway["metadata"].get("annotations") or {}).get(CONFIG):
            body = view.find("GatewayConfig", place[0], config) or EXISTS
            sure = sure and bool(body)
            costs = body["spec"].get("globalLLMRequestCosts") if body else ()
            keys |= {cost["metadataKey"] for cost in costs or ()}
    return keys, sure


def backend_security_policy(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Its Secret lies beside it and has the key; without it the AI gateway leaves the backend out, and says nothing."""
    for path, reference, key in _credentials(body["spec"]):
        if (said := reference.get("namespace")) and said != namespace:
            yield "E605", (*path, "namespace"), {"namespace": namespace}
        else:
            yield from secret(view, (namespace, reference["name"]), (*path, "name"), (key,) if key else ())


def _credentials(spec: Body) -> Iterator[tuple[Path, Body, str]]:
    """The references to Secrets in a BackendSecurityPolicy, and the key of each, '' where any will do."""
    for field, key in _SECRET_KEYS.items():
        if reference := (spec.get(field) or {}).get("secretRef"):
            yield ("spec", field, "secretRef"), reference, key
    for field, inner, key in (
        ("awsCredentials", "credentialsFile", "credentials"),
        ("gcpCredentials", "credentialsFile", ""),
    ):
        if reference := ((spec.get(field) or {}).get(inner) or {}).get("secretRef"):
            yield ("spec", field, inner, "secretRef"), reference, key
    if reference := (spec.get("azureCredentials") or {}).get("clientSecretRef"):
        yield ("spec", "azureCredentials", "clientSecretRef"), reference, ""


def api_keys(view: View) -> dict[Place, int | None]:
    """By Gateway that asks for API keys, the bytes of its keys; None where a Secret is not in the set."""
    made: dict[Place, int | None] = {}
    for place, policies in _on_gateways(view, "SecurityPolicy").items():
        for _, body in policies:
            for path, reference in _secrets(body["spec"]):
                if "apiKeyAuth" in path:
                    space = reference.get("namespace") or place[0]
                    found = view.find("Secret", space, reference["name"])
                    before = made.get(place, 0)
                    made[place] = before + weight(found) if found and before is not None else None
    return made
