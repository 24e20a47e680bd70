"""Gateways, what they are made of, and which routes their listeners take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.chain.references import granted, secret
from renderer.check.chain.view import EXISTS, Admission, Place, View, kind_in, selects
from renderer.check.finding import Body, Finding
from renderer.problems import Path

_NAMESPACE = "kubernetes.io/metadata.name"  # a label that every namespace has
CONFIG = "aigateway.envoyproxy.io/gateway-config"


def parents(view: View, spec: Body, namespace: str) -> Iterator[Finding]:
    """Each parent of a route is there, and one of its listeners takes the route by namespace and hostname."""
    for i, reference in enumerate(spec.get("parentRefs") or ()):
        kind = kind_in(reference.get("group", "gateway.networking.k8s.io"), reference.get("kind", "Gateway"))
        space, name = reference.get("namespace") or namespace, reference["name"]
        path: Path = ("spec", "parentRefs", i)
        gateway = view.find(kind, space, name)
        if gateway is None:
            yield view.missing(kind, space, name, (*path, "name"))
        elif gateway and kind == "Gateway":
            yield from _attached(view, gateway, (space, name), reference, namespace, spec.get("hostnames") or (), path)


def _attached(
    view: View, gateway: Body, place: Place, reference: Body, namespace: str, hostnames: Sequence[str], path: Path
) -> Iterator[Finding]:
    admission = admitted(view, gateway, place, reference, namespace)
    if admission.wrong:
        code, field, words = admission.wrong
        if code.startswith("N"):
            yield from view.noted(code, ("Namespace", "", namespace), (*path, field), **words)
        else:
            yield code, (*path, field), dict(words)
    if admission.hosts and "" not in admission.hosts:
        for i, hostname in enumerate(hostnames):
            if not any(meet(hostname, host) for host in admission.hosts):
                served = ", ".join(admission.hosts)
                yield "E583", ("spec", "hostnames", i), {"gateway": place[1], "hostname": hostname, "served": served}


def admitted(view: View, gateway: Body, place: Place, reference: Body, namespace: str) -> Admission:
    """Which listeners take a route of a namespace that refers to their Gateway."""
    section, port = reference.get("sectionName"), reference.get("port")
    # What a Gateway says to a namespace is alike for all its routes, in whichever View they are.
    others = view.outside.others
    holder = view if others is None or ("Gateway", *place) in view.objects else others
    said = holder.admissions
    key = (place, namespace, section, port)
    admission = said.get(key)
    if admission is None:
        admission = said[key] = _admitted(view, gateway, place, namespace, section, port)
    return admission


def _admitted(
    view: View, gateway: Body, place: Place, namespace: str, section: str | None, port: int | None
) -> Admission:
    listeners = gateway["spec"].get("listeners") or ()
    named = [each for each in listeners if section is None or each["name"] == section]
    chosen = [each for each in named if port is None or each["port"] == port]
    if not chosen:
        what = f"called '{section}'" if section is not None and not named else f"on port {port}"
        known = ", ".join(f"{each['name']} (port {each['port']})" for each in listeners) or "none"
        field = "sectionName" if section is not None and not named else "port"
        return Admission((), ("E581", field, {"gateway": place[1], "what": what, "known": known}))
    verdicts = [(_takes(view, each, place[0], namespace), each) for each in chosen]
    hosts = tuple(each.get("hostname", "") for verdict, each in verdicts if verdict is not False)
    if not hosts:
        words = {"gateway": f"{place[0]}/{place[1]}", "namespace": namespace, "hint": _to_take(chosen[0], namespace)}
        return Admission((), ("E582", "name", words))
    if not any(verdict for verdict, _ in verdicts):
        return Admission(hosts, ("N584", "name", {"gateway": f"{place[0]}/{place[1]}", "namespace": namespace}))
    return Admission(hosts)


def _takes(view: View, listener: Body, own: str, namespace: str) -> bool | None:
    """Whether a listener takes HTTPRoutes of a namespace; None: that depends on labels that nobody here knows."""
    allowed = listener.get("allowedRoutes") or {}
    kinds = allowed.get("kinds")
    if listener["protocol"] not in ("HTTP", "HTTPS") or (kinds and "HTTPRoute" not in [each["kind"] for each in kinds]):
        return False
    namespaces = allowed.get("namespaces") or {}
    origin = namespaces.get("from", "Same")
    if origin == "All" or not namespace or not own:
        return True
    if origin != "Selector":
        return origin == "Same" and namespace == own
    selector = namespaces.get("selector") or {}
    known = view.find("Namespace", "", namespace)
    labels = (known["metadata"].get("labels") or {}) if known else {}
    if known or _wanted(selector) <= {_NAMESPACE}:
        return selects(selector, {**labels, _NAMESPACE: namespace})
    return None


def _wanted(selector: Body) -> set[str]:
    return {*(selector.get("matchLabels") or {}), *(each["key"] for each in selector.get("matchExpressions") or ())}


def _to_take(listener: Body, namespace: str) -> str:
    if listener["protocol"] not in ("HTTP", "HTTPS"):
        return f"the listener speaks {listener['protocol']}: name one for HTTP or HTTPS"
    allowed = listener.get("allowedRoutes") or {}
    if allowed.get("kinds") and "HTTPRoute" not in [each["kind"] for each in allowed["kinds"]]:
        return "allowedRoutes.kinds has to hold HTTPRoute"
    namespaces = allowed.get("namespaces") or {}
    origin = namespaces.get("from", "Same")
    if origin == "Selector":
        wanted = (namespaces.get("selector") or {}).get("matchLabels") or {}
        more = [f"{key}: {value}" for key, value in wanted.items() if key != _NAMESPACE]
        if more:
            return f"label the Namespace '{namespace}' with {', '.join(more)}"
        return f"its selector has to take {_NAMESPACE}: {namespace}"
    return (
        f"allowedRoutes is {origin}: write namespaces: {{from: Selector, selector: {{matchLabels: "
        f"{{{_NAMESPACE}: {namespace}}}}}}} at the listener"
    )


def meet(one: str, other: str) -> bool:
    """Whether two hostnames, wildcards like `*.example.com` among them, have a host in common."""
    return (
        one == other
        or (one.startswith("*") and other.endswith(one[1:]))
        or (other.startswith("*") and one.endswith(other[1:]))
    )


def gateway(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Its class, its parameters and the Secrets of its certificates are there."""
    spec = body["spec"]
    class_name = spec["gatewayClassName"]
    if view.find("GatewayClass", "", class_name) is None:
        yield view.missing("GatewayClass", "", class_name, ("spec", "gatewayClassName"))
    if parameters := (spec.get("infrastructure") or {}).get("parametersRef"):
        path: Path = ("spec", "infrastructure", "parametersRef", "name")
        kind = kind_in(parameters["group"], parameters["kind"])
        if view.find(kind, namespace, parameters["name"]) is None:
            yield view.missing(kind, namespace, parameters["name"], path)
    annotations = body["metadata"].get("annotations") or {}
    config = annotations.get(CONFIG)
    if config and view.find("GatewayConfig", namespace, config) is None:
        key = ("GatewayConfig", namespace, config)
        at: Path = ("metadata", "annotations", CONFIG)
        yield from view.noted("N580", key, at, kind=key[0], name=config, namespace=namespace)
    for i, listener in enumerate(spec.get("listeners") or ()):
        for j, reference in enumerate((listener.get("tls") or {}).get("certificateRefs") or ()):
            if reference.get("kind", "Secret") != "Secret":
                continue
            at = ("spec", "listeners", i, "tls", "certificateRefs", j)
            space, title = reference.get("namespace") or namespace, reference["name"]
            # cert-manager makes the Secret of a Gateway that asks for it.
            if not any(each.startswith("cert-manager.io/") for each in annotations):
                yield from secret(view, (space, title), (*at, "name"), ("tls.crt", "tls.key"))
            yield from granted(view, "Gateway", namespace, ("Secret", space, title), (*at, "namespace"))


def gateway_class(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Its parameters are there."""
    if parameters := body["spec"].get("parametersRef"):
        kind = kind_in(parameters["group"], parameters["kind"])
        space = parameters.get("namespace") or ""
        if view.find(kind, space, parameters["name"]) is None:
            yield view.missing(kind, space, parameters["name"], ("spec", "parametersRef", "name"))


def envoy_proxy(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """It does not merge the backends of a Gateway that models are reached through."""
    if "mergeBackends" in body["spec"] and (namespace, name) in view.once("proxies", _proxies):
        words = {"what": "mergeBackends on a Gateway of models", "hint": "leave mergeBackends out"}
        yield "E594", ("spec", "mergeBackends"), words


def _proxies(view: View) -> set[Place]:
    """The EnvoyProxies of all Gateways that an AIGatewayRoute names."""
    made: set[Place] = set()
    for place in model_gateways(view):
        found = view.find("Gateway", *place) or EXISTS
        if found:
            parameters = (found["spec"].get("infrastructure") or {}).get("parametersRef")
            if parameters:
                made.add((place[0], parameters["name"]))
            above = view.find("GatewayClass", "", found["spec"]["gatewayClassName"]) or EXISTS
            if above and (parameters := above["spec"].get("parametersRef")):
                made.add((parameters.get("namespace") or "", parameters["name"]))
    return made


def model_gateways(view: View) -> set[Place]:
    """The Gateways that an AIGatewayRoute of the set names."""
    return view.once(
        "model gateways",
        lambda view: {
            (parent.get("namespace") or namespace, parent["name"])
            for namespace, _, body in view.all("AIGatewayRoute")
            for parent in body["spec"].get("parentRefs") or ()
        },
    )
