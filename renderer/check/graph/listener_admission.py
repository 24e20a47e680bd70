"""Which listeners of a Gateway take a route: by namespace, kind and host name."""

from __future__ import annotations

from renderer.check.finding import Body
from renderer.check.graph.view import ListenerAdmission, ObjectView, Place
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.workloads import selects

_NAMESPACE = "kubernetes.io/metadata.name"  # a label that every namespace has


def listener_admission(
    view: ObjectView, gateway: Body, place: Place, reference: Body, namespace: str
) -> ListenerAdmission:
    """Which listeners of a Gateway admit the routes of a namespace that refer to it with this section
    and port; cached.
    """
    section, port = reference.get("sectionName"), reference.get("port")
    # The admission of a namespace is the same for all its routes, in whichever ObjectView they are.
    others = view.external.others
    holder = view if others is None or ("Gateway", *place) in view.objects else others
    admissions = holder.admissions
    key = (place, namespace, section, port)
    admission = admissions.get(key)
    if admission is None:
        admission = admissions[key] = _compute_admission(view, gateway, place, namespace, section, port)
    return admission


def _compute_admission(
    view: ObjectView, gateway: Body, place: Place, namespace: str, section: object, port: object
) -> ListenerAdmission:
    listeners = maps_at(gateway, "spec", "listeners")
    matching = [listener for listener in listeners if section is None or listener["name"] == section]
    candidates = [listener for listener in matching if port is None or listener["port"] == port]
    if not candidates:
        complaint = f"called '{section}'" if section is not None and not matching else f"on port {port}"
        known = ", ".join(f"{listener['name']} (port {listener['port']})" for listener in listeners) or "none"
        field = "sectionName" if section is not None and not matching else "port"
        words = {"gateway": place[1], "what": complaint, "known": known}
        return ListenerAdmission((), problem=("E581", field, words))
    verdicts = [(_admits(view, listener, place[0], namespace), listener) for listener in candidates]
    admitting = [listener for verdict, listener in verdicts if verdict is not False]
    hosts = tuple(text_at(listener, "hostname") for listener in admitting)
    names = tuple(text_at(listener, "name") for listener in admitting)
    if not hosts:
        words = {
            "gateway": f"{place[0]}/{place[1]}",
            "namespace": namespace,
            "hint": admission_hint(candidates[0], namespace),
        }
        return ListenerAdmission((), problem=("E582", "name", words))
    if not any(verdict for verdict, _ in verdicts):
        words = {"gateway": f"{place[0]}/{place[1]}", "namespace": namespace}
        return ListenerAdmission(hosts, names, ("N584", "name", words))
    return ListenerAdmission(hosts, names)


def _admits(view: ObjectView, listener: Body, gateway_namespace: str, namespace: str) -> bool | None:
    """Whether a listener admits HTTPRoutes of a namespace; None where that depends on labels that are not known."""
    kinds = maps_at(listener, "allowedRoutes", "kinds")
    if listener["protocol"] not in ("HTTP", "HTTPS") or (kinds and "HTTPRoute" not in [kind["kind"] for kind in kinds]):
        return False
    namespaces = map_at(listener, "allowedRoutes", "namespaces")
    origin = namespaces.get("from", "Same")
    if origin == "All" or not namespace or not gateway_namespace:
        return True
    if origin != "Selector":
        return origin == "Same" and namespace == gateway_namespace
    selector = map_at(namespaces, "selector")
    namespace_body = view.find("Namespace", "", namespace)
    labels = map_at(namespace_body, "metadata", "labels")
    if namespace_body or _selector_keys(selector) <= {_NAMESPACE}:
        return selects(selector, {**labels, _NAMESPACE: namespace})
    return None


def _selector_keys(selector: Body) -> set[str]:
    """The label keys that a selector looks at."""
    return {
        *map_at(selector, "matchLabels"),
        *(text_at(expression, "key") for expression in maps_at(selector, "matchExpressions")),
    }


def admission_hint(listener: Body, namespace: str) -> str:
    """What to change so that the listener admits routes of the namespace."""
    if listener["protocol"] not in ("HTTP", "HTTPS"):
        return f"the listener's protocol is {listener['protocol']}: use one with HTTP or HTTPS"
    kinds = maps_at(listener, "allowedRoutes", "kinds")
    if kinds and "HTTPRoute" not in [kind["kind"] for kind in kinds]:
        return "allowedRoutes.kinds has to include HTTPRoute"
    namespaces = map_at(listener, "allowedRoutes", "namespaces")
    origin = namespaces.get("from", "Same")
    if origin == "Selector":
        match_labels = map_at(namespaces, "selector", "matchLabels")
        missing = [f"{key}: {value}" for key, value in match_labels.items() if key != _NAMESPACE]
        if missing:
            return f"label the Namespace '{namespace}' with {', '.join(missing)}"
        return f"its selector has to match {_NAMESPACE}: {namespace}"
    return (
        f"allowedRoutes is {origin}: write namespaces: {{from: Selector, selector: {{matchLabels: "
        f"{{{_NAMESPACE}: {namespace}}}}}}} at the listener"
    )


def hostnames_overlap(hostname: str, other_hostname: str) -> bool:
    """Whether two hostnames, possibly wildcards like `*.example.com`, have a host in common."""
    return (
        hostname == other_hostname
        or (hostname.startswith("*") and other_hostname.endswith(hostname[1:]))
        or (other_hostname.startswith("*") and hostname.endswith(other_hostname[1:]))
    )


def host_exactness(host: str) -> tuple[bool, int]:
    """A sort key that grows with how exact a host is: hosts without a wildcard last, then by length."""
    return bool(host) and not host.startswith("*"), len(host)
