"""InferencePools: their pods, their pickers, and the model names that reach their engines."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.backends import (
    declared_ports,
    format_ports,
    holds_pods,
    may_hide_pods,
    served_by,
    unknown_model_words,
    validate_group_selector,
)
from renderer.check.graph.gateways import CONFIG, envoy_gateways
from renderer.check.graph.pods import selected_pods
from renderer.check.graph.references import REWRITES
from renderer.check.graph.rules import check_rules, reference_rules
from renderer.check.graph.view import ObjectView, Place, named_place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.wellknown import GROUPS

OLD = "InferencePool.inference.networking.x-k8s.io"
_LOAD = "or load an adapter of this name with the engine's options"


@reference_rules.about("InferencePool")
def validate_pool(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about an InferencePool: its picker's Service exists and has the port, and its pods listen on the target
    ports.
    """
    spec = map_at(body, "spec")
    picker = map_at(spec, "endpointPickerRef")
    if not picker:
        yield Finding("E598", ("spec",), {"name": name})
    elif picker.get("kind", "Service") == "Service" and not picker.get("group"):
        yield from _validate_picker(view, picker, namespace)
    path = ("spec", "selector", "matchLabels")
    selector = map_at(body, *path)
    pods = selected_pods(view, namespace, {"matchLabels": selector}) if selector else []
    if not pods:
        workload = text_at(selector, GROUPS)
        findings = list(validate_group_selector(view, body, namespace, name, path))
        if findings or (workload and view.find("LeaderWorkerSet", namespace, workload)):
            yield from findings
        elif not holds_pods(view, namespace):
            yield Finding("N582", path, {"name": name})
        elif workload:
            yield view.missing("LeaderWorkerSet", namespace, workload, (*path, GROUPS))
        elif not may_hide_pods(view, namespace, map_at(spec, "selector")):
            yield Finding("W591", path, {"name": name})
        return
    listening_ports = declared_ports(pods)
    for i, port in enumerate(maps_at(spec, "targetPorts")):
        if listening_ports and port["number"] not in listening_ports:
            words = {"what": f"InferencePool '{name}'", "port": port["number"], "ports": format_ports(listening_ports)}
            yield Finding("E592", ("spec", "targetPorts", i, "number"), words)


@check_rules.about("InferencePool")
def validate_silent_pods(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each target port of an InferencePool that pods of one workload name, and those of another that the
    pool selects too do not.
    """
    selector = map_at(body, "spec", "selector")
    selected = selected_pods(view, namespace, selector) if map_at(selector, "matchLabels") else ()
    for port in maps_at(body, "spec", "targetPorts"):
        silent = [entry for entry in selected if entry.ports and port["number"] not in entry.ports]
        if silent and len(silent) < len(selected):
            words = {"name": name, "workload": silent[0].workload, "port": port["number"]}
            yield Finding("W510", ("spec", "selector"), words)


def _validate_picker(view: ObjectView, picker: Body, namespace: str) -> Iterator[Finding]:
    path: Path = ("spec", "endpointPickerRef")
    name = text_at(picker, "name")
    if picker.get("failureMode") == "FailOpen":
        yield Finding("W580", (*path, "failureMode"), {})
    service = view.find("Service", namespace, name)
    if service is None:
        yield view.missing("Service", namespace, name, (*path, "name"))
    elif service and "port" in picker:
        number = value_at(picker, "port", "number")
        ports = [port["port"] for port in maps_at(service, "spec", "ports")]
        if number not in ports:
            known = ", ".join(map(str, ports)) or "none"
            yield Finding("E591", (*path, "port", "number"), {"name": name, "port": number, "ports": known})


def validate_pool_reference(view: ObjectView, reference: Body, namespace: str, path: Path) -> Iterator[Finding]:
    """Findings about a route's reference to a pool, which is looked up in the route's own namespace."""
    name = text_at(reference, "name")
    if (route_namespace := reference.get("namespace")) and route_namespace != namespace:
        yield Finding("E596", (*path, "namespace"), {"name": name, "namespace": namespace})
    elif view.find("InferencePool", namespace, name) is None and view.find(OLD, namespace, name) is None:
        yield view.missing("InferencePool", namespace, name, (*path, "name"))


def validate_pool_model(view: ObjectView, namespace: str, name: str, model: str, path: Path) -> Iterator[Finding]:
    """A pool's engine must know the model name that it is sent, unless an InferenceModelRewrite replaces it."""
    for finding in _validate_served_name(view, namespace, name, model, path, "or write an InferenceModelRewrite"):
        rewritten = view.once("rewritten", _rewritten_names).get((namespace, name), ())
        if model not in rewritten and None not in rewritten:
            yield finding


@reference_rules.about(*REWRITES)
def validate_rewrite(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about an InferenceModelRewrite: the pool's engine must know the names that it writes."""
    spec = map_at(body, "spec")
    pool = text_at(spec, "poolRef", "name")
    for r, rule in enumerate(maps_at(spec, "rules")):
        for t, target in enumerate(maps_at(rule, "targets")):
            path: Path = ("spec", "rules", r, "targets", t, "modelRewrite")
            yield from _validate_served_name(view, namespace, pool, text_at(target, "modelRewrite"), path, _LOAD)
    yield from _validate_rewritten_streams(view, spec, namespace)


def _validate_rewritten_streams(view: ObjectView, spec: Body, namespace: str) -> Iterator[Finding]:
    """A warning where tokens are counted: the AI gateway rewrites streamed requests after the picker has."""
    counting = view.once("counting", _counting_gateways)
    gateways = view.once("gateways of pools", _gateways_by_pool).get((namespace, text_at(spec, "poolRef", "name")), ())
    place = next((gateway for gateway in gateways if gateway in counting), None)
    for r, rule in enumerate(maps_at(spec, "rules") if place else ()):
        matched_models = {value_at(match, "model", "value") for match in maps_at(rule, "matches") or [{}]}
        for t, target in enumerate(maps_at(rule, "targets")):
            if place and matched_models != {target["modelRewrite"]}:
                path: Path = ("spec", "rules", r, "targets", t, "modelRewrite")
                yield Finding("W585", path, {"what": counting[place], "gateway": "/".join(place)})
                return


def _counting_gateways(view: ObjectView) -> dict[Place, str]:
    """The Gateways on which tokens are counted, each with the object that configures it."""
    reasons: dict[Place, str] = {}
    for namespace, name, body in view.all("AIGatewayRoute"):
        for parent in maps_at(body, "spec", "parentRefs") if maps_at(body, "spec", "llmRequestCosts") else ():
            reasons.setdefault(named_place(parent, namespace), f"AIGatewayRoute '{name}'")
    for namespace, name, body in view.all("Gateway"):
        config = text_at(body, "metadata", "annotations", CONFIG)
        config_body = view.find("GatewayConfig", namespace, config) if config else None
        if maps_at(config_body, "spec", "globalLLMRequestCosts"):
            reasons.setdefault((namespace, name), f"GatewayConfig '{config}'")
    return reasons


def _gateways_by_pool(view: ObjectView) -> dict[Place, list[Place]]:
    """By pool, the Gateways of the routes that lead to it."""
    gateways: dict[Place, list[Place]] = {}
    for namespace, _, body in view.all("AIGatewayRoute"):
        names = {
            text_at(ref, "name")
            for rule in maps_at(body, "spec", "rules")
            for ref in maps_at(rule, "backendRefs")
            if ref.get("kind") == "InferencePool"
        }
        for name in names:
            for parent in maps_at(body, "spec", "parentRefs"):
                gateways.setdefault((namespace, name), []).append(named_place(parent, namespace))
    return gateways


def _validate_served_name(
    view: ObjectView, namespace: str, name: str, model: str, path: Path, hint: str
) -> Iterator[Finding]:
    selector = map_at(view.find("InferencePool", namespace, name), "spec", "selector", "matchLabels")
    served = served_by(view, namespace, selector)
    if served and (words := unknown_model_words(view, served, model)):
        yield Finding("E610", path, {**words, "hint": f"request '{served.name}', {hint}"})


def _rewritten_names(view: ObjectView) -> dict[Place, set[object]]:
    """By namespace and name of a pool, the names that requests lose; None among them for any name."""
    names_by_pool: dict[Place, set[object]] = {}
    for kind in REWRITES:
        for namespace, _, body in view.all(kind):
            names = names_by_pool.setdefault((namespace, text_at(body, "spec", "poolRef", "name")), set())
            for rule in maps_at(body, "spec", "rules"):
                names |= {value_at(match, "model", "value") for match in maps_at(rule, "matches") or [{}]}
    return names_by_pool


@reference_rules.about(OLD)
def report_old_pool(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """The error about a pool of the former API group, where a route of Envoy Gateway leads to it. Other gateways may
    know the group.
    """
    if (namespace, name) in view.once("pools of Envoy's routes", _routed_pools):
        yield Finding("E597", ("apiVersion",), {"name": name})


def _routed_pools(view: ObjectView) -> set[Place]:
    """The pools, of any group, to which AIGatewayRoutes and the HTTPRoutes of Envoy Gateway's Gateways lead."""
    gateways = envoy_gateways(view)
    routes = [
        (namespace, body)
        for kind in ("AIGatewayRoute", "HTTPRoute")
        for namespace, _, body in view.all(kind)
        if kind == "AIGatewayRoute"
        or any(named_place(parent, namespace) in gateways for parent in maps_at(body, "spec", "parentRefs"))
    ]
    return {
        (namespace, text_at(reference, "name"))
        for namespace, body in routes
        for rule in maps_at(body, "spec", "rules")
        for reference in maps_at(rule, "backendRefs")
        if reference.get("kind") == "InferencePool"
        and (
            reference.get("group") == OLD.partition(".")[2]
            or view.find("InferencePool", namespace, text_at(reference, "name")) is None
        )
    }
