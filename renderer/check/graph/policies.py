"""Policies: their targets exist, no other policy of the kind has the same target, and they take effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.gateways import CONFIG, model_gateways
from renderer.check.graph.references import secret_bytes, validate_grant, validate_secret
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import EXISTS, ObjectView, Place, kind_in, named_place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.workloads import selects

_GATEWAY_GROUP = "gateway.networking.k8s.io"
EARLY_FILTERS = ("apiKeyAuth", "basicAuth", "cors", "extAuth", "jwt", "oidc")
"""What acts before the AI filter has read the model, on the catch-all of the first route.

docs/design/gateway.md#order-of-the-filters
"""
_TARGET_KEYS = {"targetRef", "targetRefs", "targetSelectors", "mergeType"}
_COST_NAMESPACE = "io.envoy.ai_gateway"
_SECRET_KEYS = {"apiKey": "apiKey", "anthropicAPIKey": "apiKey", "azureAPIKey": "apiKey"}
_TARGETING = (
    "BackendTLSPolicy",
    "BackendTrafficPolicy",
    "ClientTrafficPolicy",
    "EnvoyExtensionPolicy",
    "EnvoyPatchPolicy",
    "SecurityPolicy",
    "BackendSecurityPolicy",
    "QuotaPolicy",
)


class PolicyTarget(Struct, frozen=True):
    """A target of a policy."""

    kind: str
    namespace: str
    name: str
    section: str  # of the object, '' for all of it
    path: Path  # where the policy names the target


def targets(view: ObjectView, body: Body, namespace: str) -> Iterator[PolicyTarget]:
    """All targets of a policy; its selectors are resolved among the objects of the set."""
    spec = map_at(body, "spec")
    references: list[tuple[Path, Body]] = []
    if reference := map_at(spec, "targetRef"):
        references.append((("spec", "targetRef"), reference))
    references += [(("spec", "targetRefs", i), reference) for i, reference in enumerate(maps_at(spec, "targetRefs"))]
    for path, reference in references:
        kind = kind_in(reference.get("group", _GATEWAY_GROUP), reference["kind"])
        target_namespace = "" if kind == "GatewayClass" else namespace
        name, section = text_at(reference, "name"), text_at(reference, "sectionName")
        yield PolicyTarget(kind, target_namespace, name, section, path)
    for i, selector in enumerate(maps_at(spec, "targetSelectors")):
        kind = kind_in(selector.get("group", _GATEWAY_GROUP), selector["kind"])
        for target_namespace, name in _selected_objects(view, kind, selector, namespace):
            yield PolicyTarget(kind, target_namespace, name, "", ("spec", "targetSelectors", i))


def _selected_objects(view: ObjectView, kind: str, selector: Body, namespace: str) -> Iterator[Place]:
    """Namespace and name of the objects that a targetSelector matches; an AIGatewayRoute passes its labels on to its
    HTTPRoute.
    """
    scope = text_at(selector, "namespaces", "from", default="Same")
    labels = map_at(selector, "matchLabels")
    pairs = view.once("labels", _objects_by_label)
    if labels:
        key, value = next(iter(labels.items()))
        candidates = pairs.get((kind, key, value), ())
    else:
        candidates = pairs.get((kind, "", ""), ())
    for object_namespace, name, object_labels in candidates:
        if (scope != "Same" or object_namespace == namespace) and selects(selector, object_labels):
            yield object_namespace, name


def _objects_by_label(view: ObjectView) -> dict[tuple[str, str, object], list[tuple[str, str, Mapping[str, object]]]]:
    """Gateways and routes by kind, key and value of each label; all of a kind under the label ''."""
    objects: dict[tuple[str, str, object], list[tuple[str, str, Mapping[str, object]]]] = {}
    for kind, route_kind in (
        ("Gateway", "Gateway"),
        ("HTTPRoute", "HTTPRoute"),
        ("AIGatewayRoute", "HTTPRoute"),
        ("GRPCRoute", "GRPCRoute"),
    ):
        for namespace, name, body in view.all(kind):
            labels = map_at(body, "metadata", "labels")
            for key, value in (*labels.items(), ("", "")):
                objects.setdefault((route_kind, key, value), []).append((namespace, name, labels))
    return objects


@reference_rules.about(*_TARGETING)
def validate_targets(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the targets of a policy of any kind: they exist, and no other policy of the kind has them."""
    kind = text_at(body, "kind")
    claims: dict[tuple[str, ...], str] = view.once("claims", lambda _: {})
    paths = set()
    for target in targets(view, body, namespace):
        paths.add(target.path)
        path: Path = target.path if "targetSelectors" in target.path else (*target.path, "name")
        object_ = _find_target(view, target)
        if object_ is None:
            hint = ""
            if elsewhere := _other_namespace(view, target):
                hint = f"there is one in namespace '{elsewhere}', but a policy acts in its own namespace only"
            yield view.missing(target.kind, target.namespace, target.name, path, hint)
            continue
        if target.section and target.kind == "Gateway" and object_:
            listeners = [text_at(listener, "name") for listener in maps_at(object_, "spec", "listeners")]
            if target.section not in listeners:
                words = {"what": f"called '{target.section}'", "known": ", ".join(listeners), "gateway": target.name}
                yield Finding("E581", (*target.path, "sectionName"), words)
        if target.section and target.kind == "HTTPRoute" and object_ and target.section not in _rule_names(object_):
            yield Finding("E611", (*target.path, "sectionName"), _section_words(kind, name, target))
        claim = (kind, target.kind, target.namespace, target.name, target.section)
        if (owner := claims.setdefault(claim, f"{namespace}/{name}")) != f"{namespace}/{name}":
            code = "E600" if kind == "BackendSecurityPolicy" else "E599"
            section = f" ({target.section})" if target.section else ""
            aim = f"{target.kind.partition('.')[0]} '{target.name}'{section}"
            yield Finding(code, path, {"kind": kind, "target": aim, "other": owner.rpartition("/")[2]})
    for i, selector in enumerate(maps_at(body, "spec", "targetSelectors")):
        path, selected_kind = ("spec", "targetSelectors", i), text_at(selector, "kind")
        if path not in paths and not _may_be_elsewhere(view, selected_kind, namespace):
            yield Finding("E608", path, {"kind": selected_kind})


def _may_be_elsewhere(view: ObjectView, kind: str, namespace: str) -> bool:
    """Whether there may be an object of a kind that the rules cannot look into."""
    is_there = any(key[0] == kind and not body for key, body in view.objects.items())
    return is_there or view.external.may_be_made(namespace) or view.external.declared(kind, namespace, "*")


def _rule_names(route: Body) -> list[str]:
    """The names of the rules of a route: the HTTPRoute of an AIGatewayRoute names only the one for requests that match
    nothing.
    """
    if route["kind"] == "AIGatewayRoute":
        return ["route-not-found"]
    return [text_at(rule, "name") for rule in maps_at(route, "spec", "rules") if "name" in rule]


def _section_words(kind: str, name: str, target: PolicyTarget) -> dict[str, object]:
    """The words of E611 for a section of a route that does not exist."""
    return {
        "what": f"{kind} '{name}'",
        "why": f"the HTTPRoute '{target.name}' has no rule called '{target.section}'",
        "effect": "it acts on nothing",
        "hint": "leave sectionName out: the rules of an AIGatewayRoute have no names",
    }


def _find_target(view: ObjectView, target: PolicyTarget) -> Body | None:
    """The target of a policy as `ObjectView.find` returns it; for an HTTPRoute also the AIGatewayRoute
    that makes it.
    """
    if target.kind == "HTTPRoute":
        route = view.find("AIGatewayRoute", target.namespace, target.name)
        if route is not None:
            return route
    return view.find(target.kind, target.namespace, target.name)


def _other_namespace(view: ObjectView, target: PolicyTarget) -> str:
    """Another namespace that has an object of the target's kind and name, '' when none does."""
    kinds = ("HTTPRoute", "AIGatewayRoute") if target.kind == "HTTPRoute" else (target.kind,)
    namespaces = {
        object_namespace for kind in kinds for object_namespace, name, _ in view.all(kind) if name == target.name
    }
    return min(namespaces - {target.namespace}, default="")


def _model_routes(view: ObjectView, body: Body, namespace: str) -> Iterator[tuple[PolicyTarget, Body]]:
    """The targets that are HTTPRoutes of AIGatewayRoutes in the set, each with that AIGatewayRoute."""
    for target in targets(view, body, namespace):
        if target.kind == "HTTPRoute" and (route := view.find("AIGatewayRoute", target.namespace, target.name)):
            yield target, route


def parent_gateways(route: Body, namespace: str) -> Iterator[tuple[Place, str]]:
    """Place and section of each Gateway that is a parent of a route."""
    for parent in maps_at(route, "spec", "parentRefs"):
        yield named_place(parent, namespace), text_at(parent, "sectionName")


def policies_by_gateway(view: ObjectView, kind: str) -> dict[Place, list[tuple[str, Body]]]:
    """By Gateway, the policies of a kind that target it, each with its listener, '' for all."""

    def walk(view: ObjectView) -> dict[Place, list[tuple[str, Body]]]:
        policies: dict[Place, list[tuple[str, Body]]] = {}
        for namespace, _, body in view.all(kind):
            for target in targets(view, body, namespace):
                if target.kind == "Gateway":
                    policies.setdefault((target.namespace, target.name), []).append((target.section, body))
        return policies

    return view.once(("on gateways", kind), walk)


@reference_rules.about("BackendTrafficPolicy", "EnvoyExtensionPolicy", "SecurityPolicy")
def validate_route_overrides(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Warnings about a route's policy without mergeType: it replaces that of the Gateway, and what it does not repeat
    is lost.
    """
    spec, kind = map_at(body, "spec"), text_at(body, "kind")
    if "mergeType" in spec:
        return
    reported = set()
    for target, route in _model_routes(view, body, namespace):
        for place, section in parent_gateways(route, target.namespace):
            for listener, gateway_policy in policies_by_gateway(view, kind).get(place, ()):
                if not listener or not section or listener == section:
                    gateway_spec = map_at(gateway_policy, "spec")
                    lost = [key for key in gateway_spec if not _repeats(spec, gateway_spec, key, kind)]
                    words = (kind, place[1], ", ".join(lost))
                    if lost and words not in reported:
                        reported.add(words)
                        yield Finding("W581", target.path, dict(zip(("kind", "gateway", "lost"), words, strict=True)))


@reference_rules.about("BackendTrafficPolicy", "ClientTrafficPolicy", "EnvoyExtensionPolicy", "SecurityPolicy")
def validate_listener_overrides(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about a policy of one listener: it replaces that of the Gateway there, and what it does not repeat is
    lost.
    """
    spec, kind = map_at(body, "spec"), text_at(body, "kind")
    if "mergeType" in spec:
        return
    for target in targets(view, body, namespace):
        place = target.namespace, target.name
        if target.kind != "Gateway" or not target.section or place not in model_gateways(view):
            continue
        words = {"kind": kind, "gateway": target.name, "listener": target.section}
        for listener, gateway_policy in policies_by_gateway(view, kind).get(place, ()):
            if listener:
                continue
            gateway_spec = map_at(gateway_policy, "spec")
            # Another method may be intended; no authentication at all is likely a mistake.
            if (methods := _authentication(gateway_spec)) and not _authentication(spec):
                yield Finding("E609", target.path, {**words, "asked": ", ".join(methods)})
            if lost := [key for key in _missing_keys(spec, gateway_spec) if key not in (*_TARGET_KEYS, *methods)]:
                yield Finding("W584", target.path, {**words, "lost": ", ".join(lost)})


def _authentication(spec: Body) -> list[str]:
    """The keys of a SecurityPolicy by which clients authenticate."""
    return [key for key in EARLY_FILTERS if key in spec and key != "cors"]


def _missing_keys(policy: Body, other_policy: Body) -> Iterator[str]:
    """The keys of `other_policy`, dotted, that `policy` does not have."""
    for key, value in other_policy.items():
        if key not in policy:
            yield key
        elif isinstance(value, dict) and isinstance(own_value := policy[key], dict):
            yield from (f"{key}.{nested_key}" for nested_key in _missing_keys(own_value, value))


def _repeats(spec: Body, other_spec: Body, key: str, kind: str) -> bool:
    """Whether a policy has the same value for a key as the other. Authentication is compared in
    `validate_security_policy`.
    """
    if key in _TARGET_KEYS or (kind == "SecurityPolicy" and key in EARLY_FILTERS):
        return True
    return bool(_normalize(spec.get(key)) == _normalize(other_spec[key]))


def _normalize(value: object) -> object:
    """A value without the namespaces of its references, and without the defaults of a reference to a Secret."""
    if isinstance(value, Mapping):
        return {
            key: _normalize(item)
            for key, item in value.items()
            if key != "namespace" and (key, item) not in (("group", ""), ("kind", "Secret"))
        }
    return [_normalize(item) for item in value] if isinstance(value, list) else value


@reference_rules.about("SecurityPolicy")
def validate_security_policy(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the Secrets of a SecurityPolicy; and on a model's route, its authentication equals
    the Gateway's.
    """
    spec = map_at(body, "spec")
    for path, reference, secret_key in secret_references(spec):
        secret = named_place(reference, namespace)
        yield from validate_secret(view, secret, (*path, "name"), (secret_key,) if secret_key else ())
        yield from validate_grant(view, "SecurityPolicy", namespace, ("Secret", *secret), (*path, "namespace"))
    early = {key: spec[key] for key in EARLY_FILTERS if key in spec}
    if "mergeType" in spec:
        return
    for target, route in _model_routes(view, body, namespace):
        if not early and "authorization" in spec:
            yield Finding("E602", ("spec", "authorization"), {"route": target.name})
            continue
        normal_early = _normalize(early)
        for place, section in parent_gateways(route, target.namespace):
            if not view.find("Gateway", *place):
                key = ("Gateway", *place)
                yield from view.note_once("N583", key, target.path, gateway="/".join(place))
                continue
            policies = policies_by_gateway(view, "SecurityPolicy").get(place, [])
            gateway_policies = [policy for listener, policy in policies if not listener] or [EXISTS]
            listener_policies = [policy for listener, policy in policies if listener and section in ("", listener)]
            for policy in listener_policies or gateway_policies:
                gateway_spec = map_at(policy, "spec")
                gateway_methods = {key: gateway_spec[key] for key in EARLY_FILTERS if key in gateway_spec}
                if not early:
                    if _authentication(gateway_methods):
                        yield Finding("E602", target.path, {"route": target.name})
                        break
                elif _normalize(gateway_methods) != normal_early:
                    words = {"asked": ", ".join(gateway_methods) or "nothing", "own": ", ".join(early)}
                    yield Finding("E601", ("spec", next(iter(early))), {**words, "gateway": "/".join(place)})
                    break


def secret_references(spec: Body) -> Iterator[tuple[Path, Body, str]]:
    """The references to Secrets in a SecurityPolicy, with their paths and the key that each must have, '' for any: by
    Envoy Gateway 1.6, api/v1alpha1 (BasicAuthUsersSecretKey, OIDCClientSecretKey, OIDCClientIDKey).
    """
    for i, credential in enumerate(maps_at(spec, "apiKeyAuth", "credentialRefs")):
        yield ("spec", "apiKeyAuth", "credentialRefs", i), credential, ""
    for field, inner, key in (
        ("basicAuth", "users", ".htpasswd"),
        ("oidc", "clientSecret", "client-secret"),
        ("oidc", "clientIDRef", "client-id"),
    ):
        if reference := map_at(spec, field, inner):
            yield ("spec", field, inner), reference, key


@reference_rules.about("BackendTrafficPolicy")
def validate_traffic_policy(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the costs that a BackendTrafficPolicy counts by, which must be set; and it must not split a
    model's backends.
    """
    spec = map_at(body, "spec")
    if "zoneAware" in map_at(spec, "loadBalancer") and _targets_models(view, body, namespace):
        words = {"what": "zoneAware on a model's route", "hint": "leave zoneAware out"}
        yield Finding("E594", ("spec", "loadBalancer", "zoneAware"), words)
    counted_costs = list(_counted_costs(spec))
    if not counted_costs:
        return
    known_keys: set[str] = set()
    complete = True
    for target in targets(view, body, namespace):
        costs, target_complete = _available_costs(view, target)
        known_keys |= costs
        complete &= target_complete
    for path, key in counted_costs:
        if key not in known_keys:
            listed_keys = ", ".join(sorted(known_keys)) or "none"
            if complete:
                yield Finding("E603", path, {"key": key, "known": listed_keys})
            else:
                yield Finding("N585", path, {"key": key, "known": listed_keys})


def _targets_models(view: ObjectView, body: Body, namespace: str) -> bool:
    """Whether a policy targets a Gateway or a route of models."""
    gateways = model_gateways(view)
    return any(
        (target.namespace, target.name) in gateways
        if target.kind == "Gateway"
        else view.find("AIGatewayRoute", target.namespace, target.name) is not None
        for target in targets(view, body, namespace)
    )


def _counted_costs(spec: Body) -> Iterator[tuple[Path, str]]:
    """The metadata keys of the AI gateway that rate limits count by, with their paths."""
    for scope in ("global", "local"):
        for r, rule in enumerate(maps_at(spec, "rateLimit", scope, "rules")):
            for when, cost in map_at(rule, "cost").items():
                metadata = map_at(cost, "metadata")
                if metadata.get("namespace") == _COST_NAMESPACE:
                    path: Path = ("spec", "rateLimit", scope, "rules", r, "cost", when, "metadata", "key")
                    yield path, text_at(metadata, "key")


def _available_costs(view: ObjectView, target: PolicyTarget) -> tuple[set[str], bool]:
    """The cost keys that are set for a target's requests, and whether these are all."""
    if target.kind == "Gateway":
        place = target.namespace, target.name
        routes = [(namespace, body) for namespace, _, body in view.all("AIGatewayRoute")]
        routes_on_gateway = [
            body
            for namespace, body in routes
            if place in {parent_place for parent_place, _ in parent_gateways(body, namespace)}
        ]
        gateways = {place}
    else:
        route = view.find("AIGatewayRoute", target.namespace, target.name)
        if not route:
            return set(), route is None
        routes_on_gateway, gateways = [route], {place for place, _ in parent_gateways(route, target.namespace)}
    keys = {
        text_at(cost, "metadataKey") for body in routes_on_gateway for cost in maps_at(body, "spec", "llmRequestCosts")
    }
    complete = True
    for place in gateways:
        gateway = view.find("Gateway", *place)
        if not gateway:
            complete = complete and gateway is None
        elif config := text_at(gateway, "metadata", "annotations", CONFIG):
            config_body = view.find("GatewayConfig", place[0], config)
            complete = complete and bool(config_body)
            keys |= {text_at(cost, "metadataKey") for cost in maps_at(config_body, "spec", "globalLLMRequestCosts")}
    return keys, complete


@reference_rules.about("BackendSecurityPolicy")
def validate_backend_security_policy(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the Secret of a BackendSecurityPolicy, which must be in its namespace and have the key: without it
    the AI gateway leaves the backend out in silence.
    """
    for path, reference, key in credential_references(map_at(body, "spec")):
        if (secret_namespace := reference.get("namespace")) and secret_namespace != namespace:
            yield Finding("E605", (*path, "namespace"), {"namespace": namespace})
        else:
            place = namespace, text_at(reference, "name")
            yield from validate_secret(view, place, (*path, "name"), (key,) if key else ())


def credential_references(spec: Body) -> Iterator[tuple[Path, Body, str]]:
    """The references to Secrets in a BackendSecurityPolicy, with their paths and the key that each must have, '' for
    any.
    """
    for field, key in _SECRET_KEYS.items():
        if reference := map_at(spec, field, "secretRef"):
            yield ("spec", field, "secretRef"), reference, key
    for field, inner, key in (
        ("awsCredentials", "credentialsFile", "credentials"),
        ("gcpCredentials", "credentialsFile", ""),
    ):
        if reference := map_at(spec, field, inner, "secretRef"):
            yield ("spec", field, inner, "secretRef"), reference, key
    if reference := map_at(spec, "azureCredentials", "clientSecretRef"):
        yield ("spec", "azureCredentials", "clientSecretRef"), reference, ""


def api_keys(view: ObjectView) -> dict[Place, int | None]:
    """By Gateway with API keys, the bytes of its keys; None where a Secret is not in the set."""
    key_bytes: dict[Place, int | None] = {}
    for place, policies in policies_by_gateway(view, "SecurityPolicy").items():
        for _, body in policies:
            for path, reference, _ in secret_references(map_at(body, "spec")):
                if "apiKeyAuth" in path:
                    secret_body = view.find("Secret", *named_place(reference, place[0]))
                    byte_count = key_bytes.get(place, 0)
                    key_bytes[place] = (
                        byte_count + secret_bytes(secret_body) if secret_body and byte_count is not None else None
                    )
    return key_bytes
