"""Models that only some tenants may call: what leads to their pods without asking who calls.

A model is guarded where the SecurityPolicy of its own route has an authorization. Beside rendered objects that is said
by spec.gateway.allow (renderer/check/foreign/guarded_models.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.pods import selected_pods
from renderer.check.graph.policies import targets
from renderer.check.graph.route_matches import route_matches
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import Key, ObjectView, Place, kind_in, named_place
from renderer.diagnostics import Finding, Path, quoted
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import as_map, as_text, list_at, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import MODEL_HEADER
from renderer.kubernetes.workloads import CONTROLLER_LABELS

ROUTES = (
    "AIGatewayRoute",
    "HTTPRoute",
    "GRPCRoute",
    *(f"{kind}.gateway.networking.k8s.io" for kind in ("TCPRoute", "TLSRoute", "UDPRoute")),
    "Ingress.networking.k8s.io",
)
"""The kinds that lead requests from outside to pods."""
_OPEN_SERVICES = ("LoadBalancer", "NodePort")
_POD_NAME = "statefulset.kubernetes.io/pod-name"
_NAMED_ROUTES = ("AIGatewayRoute", "HTTPRoute", "GRPCRoute")  # those that can match the name of a model
_MOST_NAMES = 3  # that one message names
_ANY_NAMES = frozenset(("a", "0/Z.z_9:-", "no model is called so"))  # all of which only `.*` and its like match
_MOST_STEPS = 8  # from a route to the pods


class GuardedModel(Struct, frozen=True):
    """A model that only some may call."""

    name: str  # of its app
    rule: str  # words for the setting that guards it
    # The clients, by what tells them apart; empty where any authorization of a route will do.
    allowed: frozenset[str] = frozenset()


class GuardedPods(Struct, frozen=True):
    """The objects and pods that lead to guarded models."""

    objects: Mapping[Key, GuardedModel]  # by key of an object whose pods are those of a guarded model
    labels: Mapping[str, Sequence[tuple[Mapping[str, object], GuardedModel]]]  # of the pods, by namespace
    find: Callable[[str, str, str], Body | None]  # returns the body of another object
    domain: str  # of the cluster

    def behind(self, kind: str, namespace: str, name: str, steps: int = 0) -> GuardedModel | None:
        """The guarded model to which an object leads; None where it leads to none, or nobody knows."""
        if guard := self.objects.get((kind, namespace, name)):
            return guard
        body = self.find(kind, namespace, name)
        if not body or steps > _MOST_STEPS:
            return None
        spec = map_at(body, "spec")
        if kind == "AIServiceBackend":
            reference = map_at(spec, "backendRef")
            return self.behind(_kind(reference, "Backend"), *named_place(reference, namespace), steps + 1)
        if kind == "Backend":
            hosts = [text_at(endpoint, "fqdn", "hostname") for endpoint in maps_at(spec, "endpoints")]
            return next(filter(None, (self.behind_host(host, steps + 1) for host in hosts)), None)
        if kind == "Service" and spec.get("type") == "ExternalName":
            return self.behind_host(text_at(spec, "externalName"), steps + 1)
        path = ("selector", "matchLabels") if kind == "InferencePool" else ("selector",)
        return self.selected(namespace, map_at(spec, *path)) if kind in ("Service", "InferencePool") else None

    def behind_host(self, host: str, steps: int = 0) -> GuardedModel | None:
        """The guarded model behind a host name of the cluster, in any of its spellings."""
        name = host.lower().rstrip(".")
        labels = name.removesuffix(f".{self.domain.lower()}").split(".")
        if labels[-1] == "svc":
            labels.pop()
        elif len(labels) != 2:
            return None
        return self.behind("Service", labels[-1], labels[-2], steps) if len(labels) > 1 else None

    def selected(self, namespace: str, selector: Mapping[str, object]) -> GuardedModel | None:
        """The guarded model of which a selector selects pods."""
        for labels, guard in self.labels.get(namespace, ()) if selector else ():
            if all(_has_label(labels, key, value) for key, value in selector.items()):
                return guard
        return None


def _has_label(labels: Mapping[str, object], key: str, value: object) -> bool:
    """Whether pods with these labels, or one of them, have a label, perhaps one that a controller makes up."""
    if key in labels:
        return labels[key] == value
    workload = labels.get(wellknown.GROUPS) or labels.get(disaggregated_sets.SET)
    if not workload or not key.startswith(CONTROLLER_LABELS):
        return False
    return key not in (wellknown.GROUPS, _POD_NAME) or str(value).startswith(f"{workload}-")


def _kind(reference: Body, default: str) -> str:
    """The kind, as in Keys, of a reference in a route."""
    kind = text_at(reference, "kind", default=default)
    group = reference.get("group")
    return kind if group is None and kind == default else kind_in(as_text(group), kind)


def route_references(kind: str, body: Body) -> Iterator[tuple[Path, str, Body]]:
    """Where a route leads: the path of the name, the kind and the reference of each."""
    if kind.startswith("Ingress."):
        for place, backend in _ingress_backends(map_at(body, "spec")):
            yield (*place, "service", "name"), "Service", map_at(backend, "service")
        return
    default = "AIServiceBackend" if kind == "AIGatewayRoute" else "Service"
    for r, rule in enumerate(list_at(body, "spec", "rules")):
        path: Path = ("spec", "rules", r)
        for b, reference in enumerate(list_at(rule, "backendRefs")):
            yield (*path, "backendRefs", b, "name"), _kind(as_map(reference), default), as_map(reference)
        for f, route_filter in enumerate(list_at(rule, "filters")):
            if mirror := map_at(route_filter, "requestMirror", "backendRef"):
                yield (*path, "filters", f, "requestMirror", "backendRef", "name"), _kind(mirror, default), mirror


def _ingress_backends(spec: Body) -> Iterator[tuple[Path, Body]]:
    if default := map_at(spec, "defaultBackend"):
        yield ("spec", "defaultBackend"), default
    for r, rule in enumerate(list_at(spec, "rules")):
        for p, http_path in enumerate(list_at(rule, "http", "paths")):
            yield ("spec", "rules", r, "http", "paths", p, "backend"), map_at(http_path, "backend")


def authorized(policy: Body) -> frozenset[str] | None:
    """Who may call by the authorization of a SecurityPolicy, as the values that tell a client; None for anybody."""
    authorization = map_at(policy, "spec", "authorization")
    if not authorization or authorization.get("defaultAction", "Deny") != "Deny":
        return None
    values: set[str] = set()
    for rule in maps_at(authorization, "rules"):
        if rule.get("action", "Allow") == "Allow":
            principal = map_at(rule, "principal")
            if not principal:
                return None
            values |= set(_texts(principal))
    return frozenset(values)


def _texts(value: object) -> Iterator[str]:
    """All values in a principal, but for names of headers, claims and who issues them."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("name", "provider", "valueType"):
                yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        yield str(value)


def validate_guard(
    pods: GuardedPods, policies: Mapping[Key, frozenset[str]], kind: str, body: Body, place: Place
) -> Iterator[Finding]:
    """Findings where an object opens a guarded model to others. `policies`: by route, who may call by its own
    SecurityPolicy.
    """
    namespace, name = place
    if kind in ROUTES:
        allowed = policies.get(("HTTPRoute" if kind == "AIGatewayRoute" else kind, namespace, name))
        for path, target_kind, reference in route_references(kind, body):
            guard = pods.behind(target_kind, *named_place(reference, namespace))
            is_guarded = allowed is not None and guard and (not guard.allowed or allowed <= guard.allowed)
            if guard and not is_guarded:
                yield Finding("W672", path, _words(kind, guard))
    elif kind == "Service":
        spec = map_at(body, "spec")
        is_open = spec.get("type") in _OPEN_SERVICES or bool(list_at(spec, "externalIPs"))
        if is_open and (guard := pods.selected(namespace, map_at(spec, "selector"))):
            field = "type" if spec.get("type") in _OPEN_SERVICES else "externalIPs"
            yield Finding("W673", ("spec", field), {"name": guard.name, "rule": guard.rule})
    elif kind == "ReferenceGrant":
        yield from _validate_reference_grant(pods, body, namespace)


def _words(kind: str, guard: GuardedModel) -> dict[str, object]:
    return {"kind": kind.partition(".")[0], "name": guard.name, "rule": guard.rule}


def _validate_reference_grant(pods: GuardedPods, body: Body, namespace: str) -> Iterator[Finding]:
    """A finding where routes of other namespaces may lead to a guarded model."""
    sources = [
        source
        for source in maps_at(body, "spec", "from")
        if kind_in(text_at(source, "group"), text_at(source, "kind")) in ROUTES
        and text_at(source, "namespace") != namespace
    ]
    for t, target in enumerate(list_at(body, "spec", "to") if sources else ()):
        kind = kind_in(text_at(target, "group"), text_at(target, "kind"))
        for key, guard in sorted(pods.objects.items(), key=lambda entry: entry[0]):
            if key[:2] == (kind, namespace) and text_at(target, "name", default=key[2]) == key[2]:
                words = {**_words(kind, guard), "namespace": text_at(sources[0], "namespace")}
                yield Finding("W674", ("spec", "to", t), words)
                break


@reference_rules.about(*ROUTES, "ReferenceGrant", "Service")
def validate_guarded_models(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings where an object of a set opens a model to others than the SecurityPolicy of the model's own route."""
    pods = view.once("guarded pods", _guarded_pods)
    if pods.objects:
        kind = kind_in(text_at(body, "apiVersion").rpartition("/")[0], text_at(body, "kind"))
        yield from validate_guard(pods, view.once("route policies", route_policies), kind, body, (namespace, name))


def route_policies(view: ObjectView) -> dict[Key, frozenset[str]]:
    """By route, who may call by the SecurityPolicies that target it; an AIGatewayRoute counts as its HTTPRoute."""
    policies: dict[Key, frozenset[str]] = {}
    for namespace, _, policy in view.all("SecurityPolicy"):
        if (allowed := authorized(policy)) is not None:
            for target in targets(view, policy, namespace):
                if target.kind in ROUTES and not target.section:
                    policies.setdefault((target.kind, target.namespace, target.name), allowed)
    return policies


def _guarded_pods(view: ObjectView) -> GuardedPods:
    """The guarded models of a set: those whose own route has an authorization."""
    objects: dict[Key, GuardedModel] = {}
    labels: dict[str, list[tuple[Mapping[str, object], GuardedModel]]] = {}
    for kind, namespace, name in view.once("route policies", route_policies):
        route = view.find("AIGatewayRoute", namespace, name) if kind == "HTTPRoute" else None
        app = text_at(route, "metadata", "labels", wellknown.NAME) or name
        if not route:
            continue
        guard = GuardedModel(app, f"the SecurityPolicy of the AIGatewayRoute '{name}'")
        for _, target_kind, reference in route_references("AIGatewayRoute", route):
            place = named_place(reference, namespace)
            target = view.find(target_kind, *place)
            if target and text_at(target, "metadata", "labels", wellknown.NAME) in (app, ""):
                _add_guarded(view, guard, (target_kind, *place), objects, labels)
    return GuardedPods(objects, labels, view.find, view.external.domain)


def _add_guarded(
    view: ObjectView,
    guard: GuardedModel,
    key: Key,
    objects: dict[Key, GuardedModel],
    labels: dict[str, list[tuple[Mapping[str, object], GuardedModel]]],
) -> None:
    """Adds what stands between a model's own route and its pods, and the labels of these."""
    for link in _chain(view, key):
        objects[link] = guard
        path = ("spec", "selector", "matchLabels") if link[0] == "InferencePool" else ("spec", "selector")
        selector = map_at(view.find(*link), *path) if link[0] in ("Service", "InferencePool") else {}
        for pods in selected_pods(view, link[1], {"matchLabels": selector}) if selector else ():
            labels.setdefault(link[1], []).append((pods.labels, guard))
            if group := as_text(pods.labels.get(wellknown.GROUPS)):
                objects["Service", link[1], group] = guard  # LeaderWorkerSet makes one of its own name


def _chain(view: ObjectView, key: Key) -> Iterator[Key]:
    """The objects from a route backend to the pods."""
    yield key
    kind, namespace, _ = key
    body = view.find(*key)
    if kind == "AIServiceBackend":
        reference = map_at(body, "spec", "backendRef")
        yield from _chain(view, ("Backend", *named_place(reference, namespace)))
    elif kind == "Backend":
        for endpoint in maps_at(body, "spec", "endpoints"):
            labels = text_at(endpoint, "fqdn", "hostname").removesuffix(f".{view.external.domain}").split(".")
            if len(labels) == 3 and labels[2] == "svc":
                yield "Service", labels[1], labels[0]


@reference_rules.about("AIGatewayRoute", "HTTPRoute")
def validate_name_patterns(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each regular expression of a route that matches every name, where other routes of its Gateway match
    some exactly. One that matches some names may be meant to share them.
    """
    if any(_matched_names(pattern, _ANY_NAMES) == sorted(_ANY_NAMES) for _, pattern in model_patterns(body)):
        yield from validate_patterns(body, namespace, view.once("names of gateways", _names_by_gateway))


def _names_by_gateway(view: ObjectView) -> dict[Place, set[str]]:
    names: dict[Place, set[str]] = {}
    for match in route_matches(view, _NAMED_ROUTES):
        if match.model:
            names.setdefault(match.gateway, set()).add(match.model)
    return names


def validate_patterns(body: Body, namespace: str, names: Mapping[Place, Set[str]]) -> Iterator[Finding]:
    """The same, for the public names of each Gateway."""
    gateways = {named_place(parent, namespace) for parent in maps_at(body, "spec", "parentRefs")}
    for path, pattern in model_patterns(body):
        for gateway in sorted(gateways & names.keys()):
            if models := _matched_names(pattern, names[gateway]):
                more = f" and {len(models) - _MOST_NAMES:,} more" if len(models) > _MOST_NAMES else ""
                yield Finding(
                    "W675", path, {"names": quoted(models[:_MOST_NAMES]), "more": more, "gateway": "/".join(gateway)}
                )


def _matched_names(pattern: str, names: Set[str]) -> list[str]:
    """The names that a regular expression matches as a whole."""
    from renderer.text import patterns  # few routes have one

    try:
        expression = patterns.expression(pattern)
    except patterns.PatternError:
        return []
    return [name for name in sorted(names) if expression.fullmatch(name)]


def model_patterns(body: Body) -> Iterator[tuple[Path, str]]:
    """The regular expressions by which a route matches the model's name, with their paths."""
    for r, rule in enumerate(list_at(body, "spec", "rules")):
        for m, match in enumerate(list_at(rule, "matches")):
            for h, header in enumerate(list_at(match, "headers")):
                if text_at(header, "type") == "RegularExpression" and text_at(header, "name").lower() == MODEL_HEADER:
                    yield ("spec", "rules", r, "matches", m, "headers", h, "value"), text_at(header, "value")
