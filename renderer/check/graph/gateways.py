"""Gateways, the objects that they refer to, and the routes that their listeners admit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body
from renderer.check.graph.listener_admission import hostnames_overlap, listener_admission
from renderer.check.graph.references import validate_grant, validate_secret
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place, kind_in, named_place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_maps, as_texts, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import ENVOY_CONTROLLER

CONFIG = "aigateway.envoyproxy.io/gateway-config"


def validate_parents(view: ObjectView, spec: Body, namespace: str) -> Iterator[Finding]:
    """Findings about the parents of a route: each exists, and one of its listeners admits the route by namespace and
    hostname.
    """
    for i, reference in enumerate(as_maps(spec.get("parentRefs"))):
        kind = kind_in(reference.get("group", "gateway.networking.k8s.io"), reference.get("kind", "Gateway"))
        place = named_place(reference, namespace)
        path: Path = ("spec", "parentRefs", i)
        gateway = view.find(kind, *place)
        if gateway is None:
            yield view.missing(kind, *place, (*path, "name"))
        elif gateway and kind == "Gateway":
            yield from _validate_parent(
                view, gateway, place, reference, namespace, as_texts(spec.get("hostnames")), path
            )


def _validate_parent(
    view: ObjectView, gateway: Body, place: Place, reference: Body, namespace: str, hostnames: Sequence[str], path: Path
) -> Iterator[Finding]:
    admission = listener_admission(view, gateway, place, reference, namespace)
    if admission.problem:
        code, field, words = admission.problem
        if code.startswith("N"):
            yield from view.note_once(code, ("Namespace", "", namespace), (*path, field), **words)
        else:
            yield Finding(code, (*path, field), dict(words))
    if admission.hosts and "" not in admission.hosts:
        for i, hostname in enumerate(hostnames):
            if not any(hostnames_overlap(hostname, host) for host in admission.hosts):
                served = ", ".join(admission.hosts)
                yield Finding(
                    "E583", ("spec", "hostnames", i), {"gateway": place[1], "hostname": hostname, "served": served}
                )


@reference_rules.about("Gateway")
def validate_gateway(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the class, the parameters and the certificates' Secrets of a Gateway, which must exist."""
    spec = map_at(body, "spec")
    class_name = text_at(spec, "gatewayClassName")
    if view.find("GatewayClass", "", class_name) is None:
        yield view.missing("GatewayClass", "", class_name, ("spec", "gatewayClassName"))
    if parameters := map_at(spec, "infrastructure", "parametersRef"):
        path: Path = ("spec", "infrastructure", "parametersRef", "name")
        kind, parameters_name = kind_in(parameters["group"], parameters["kind"]), text_at(parameters, "name")
        if view.find(kind, namespace, parameters_name) is None:
            yield view.missing(kind, namespace, parameters_name, path)
    annotations = map_at(body, "metadata", "annotations")
    config = text_at(annotations, CONFIG)
    if config and view.find("GatewayConfig", namespace, config) is None:
        yield from view.unseen("GatewayConfig", namespace, config, ("metadata", "annotations", CONFIG))
    for i, listener in enumerate(maps_at(spec, "listeners")):
        for j, reference in enumerate(maps_at(listener, "tls", "certificateRefs")):
            if reference.get("kind", "Secret") != "Secret":
                continue
            field_path = ("spec", "listeners", i, "tls", "certificateRefs", j)
            secret = named_place(reference, namespace)
            # cert-manager makes the Secret of a Gateway that asks for it.
            if not any(annotation.startswith("cert-manager.io/") for annotation in annotations):
                yield from validate_secret(view, secret, (*field_path, "name"), ("tls.crt", "tls.key"))
            yield from validate_grant(view, "Gateway", namespace, ("Secret", *secret), (*field_path, "namespace"))


@reference_rules.about("GatewayClass")
def validate_gateway_class(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where the parameters of a GatewayClass do not exist."""
    if parameters := map_at(body, "spec", "parametersRef"):
        kind, place = kind_in(parameters["group"], parameters["kind"]), named_place(parameters, "")
        if view.find(kind, *place) is None:
            yield view.missing(kind, *place, ("spec", "parametersRef", "name"))


@reference_rules.about("EnvoyProxy")
def validate_envoy_proxy(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where an EnvoyProxy merges the backends of a Gateway of models."""
    if "mergeBackends" in map_at(body, "spec") and (namespace, name) in view.once("proxies", _proxies):
        words = {"what": "mergeBackends on a Gateway of models", "hint": "leave mergeBackends out"}
        yield Finding("E594", ("spec", "mergeBackends"), words)


def _proxies(view: ObjectView) -> set[Place]:
    """The EnvoyProxies of all Gateways that AIGatewayRoutes name."""
    proxies: set[Place] = set()
    for place in model_gateways(view):
        if gateway := view.find("Gateway", *place):
            if parameters := map_at(gateway, "spec", "infrastructure", "parametersRef"):
                proxies.add((place[0], text_at(parameters, "name")))
            gateway_class = view.find("GatewayClass", "", text_at(gateway, "spec", "gatewayClassName"))
            if parameters := map_at(gateway_class, "spec", "parametersRef"):
                proxies.add(named_place(parameters, ""))
    return proxies


def envoy_gateways(view: ObjectView) -> set[Place]:
    """The Gateways that Envoy Gateway serves, as far as the set says it."""
    return model_gateways(view) | {
        (namespace, name)
        for namespace, name, body in view.all("Gateway")
        if text_at(view.find("GatewayClass", "", text_at(body, "spec", "gatewayClassName")), "spec", "controllerName")
        == ENVOY_CONTROLLER
    }


def model_gateways(view: ObjectView) -> set[Place]:
    """The Gateways that AIGatewayRoutes of the set name."""
    return view.once(
        "model gateways",
        lambda view: {
            named_place(parent, namespace)
            for namespace, _, body in view.all("AIGatewayRoute")
            for parent in maps_at(body, "spec", "parentRefs")
        },
    )
