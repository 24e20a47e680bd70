"""AIServiceBackend, Backend, Service, pods: where a request ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from renderer.check.chain.references import granted
from renderer.check.chain.view import Place, View
from renderer.check.finding import Body, Finding
from renderer.problems import Path
from renderer.records import NamedTuple

LEADERS = "leaderworkerset.sigs.k8s.io/name"
_SERVED = "renderer.llmaz.io/served-model-name"
_BETWEEN = re.compile(r"[\s=\"]+")  # of the words in a line of a shell or in JSON, and of an option and its value
_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


class Pods(NamedTuple):
    """Pods that a workload makes: their labels, and the ports of their containers by number and name."""

    labels: Mapping[str, str]
    ports: frozenset[int | str]


def ai_service_backend(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Its Backend is there."""
    reference = body["spec"]["backendRef"]
    if reference.get("kind") == "Backend":
        space = reference.get("namespace") or namespace
        if view.find("Backend", space, reference["name"]) is None:
            yield view.missing("Backend", space, reference["name"], ("spec", "backendRef", "name"))


def backend(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """It leads somewhere: a Service of the cluster exists and has the port, and its pods listen there."""
    spec = body["spec"]
    endpoints = spec.get("endpoints")
    if not endpoints:
        if spec.get("type") != "DynamicResolver":
            yield "E593", ("spec",), {"name": name}
        return
    for i, endpoint in enumerate(endpoints):
        if fqdn := endpoint.get("fqdn"):
            path: Path = ("spec", "endpoints", i, "fqdn")
            place = _place(view, fqdn["hostname"])
            if place is None:
                if _like_a_service(view, fqdn["hostname"]):
                    key = ("Host", "", fqdn["hostname"])
                    words = {"host": fqdn["hostname"], "domain": view.outside.domain}
                    yield from view.noted("N587", key, (*path, "hostname"), **words)
                continue
            service = view.find("Service", *place)
            if service is None:
                # LWS makes a Service of its own name.
                if view.find("LeaderWorkerSet", *place) is None:
                    yield view.missing("Service", *place, (*path, "hostname"))
            elif service:
                yield from reached(view, service, place[0], fqdn["port"], (*path, "port"))


def _place(view: View, host: str) -> Place | None:
    """Namespace and name of the Service that a host is; None where it is another host, or nobody can tell."""
    parts = host.removesuffix(".").split(".", 3)
    if len(parts) > 2 and parts[2] == "svc" and (len(parts) == 3 or parts[3] == view.outside.domain):
        return parts[1], parts[0]
    # `<service>.<namespace>` may as well be a host of the world.
    if len(parts) == 2 and any(
        view.find(kind, parts[1], parts[0]) is not None for kind in ("Service", "LeaderWorkerSet")
    ):
        return parts[1], parts[0]
    return None


def _like_a_service(view: View, host: str) -> bool:
    """Whether a host that is no Service's may be meant for one: of another domain, or of a namespace of the set."""
    parts = host.removesuffix(".").split(".")
    return (len(parts) > 2 and parts[2] == "svc") or (len(parts) == 2 and view.holds(parts[1]))


def told(view: View, body: Body) -> tuple[Body, str] | None:
    """The LeaderWorkerSet that a Backend leads to, and the name that clients call its model by; None where one of
    them is not known.
    """
    endpoints = body["spec"].get("endpoints") or []
    fqdn = endpoints[0].get("fqdn") if len(endpoints) == 1 else None
    place = _place(view, fqdn["hostname"]) if fqdn else None
    if place is None:
        return None
    service = view.find("Service", *place)
    # LWS makes a Service of its own name.
    workload: str | None = place[1]
    if service is not None:
        workload = (service["spec"].get("selector") or {}).get(LEADERS) if service else None
    return served_by(view, place[0], workload) if workload else None


def served_by(view: View, namespace: str, workload: str) -> tuple[Body, str] | None:
    """See `told`, of the LeaderWorkerSet of that name."""
    found = view.find("LeaderWorkerSet", namespace, workload)
    name = (found["metadata"].get("annotations") or {}).get(_SERVED) if found else None
    return (found, name) if found and name else None


def unknown(workload: Body, name: str, sent: str) -> dict[str, Any] | None:
    """The words of E610 where the engine of a workload, whose clients call its model `name`, does not know what is
    sent; None where it does, or nobody can tell.
    """
    if sent == name:
        return None
    words = command_words(workload)
    # Where its name is not among them, the engine calls its model something else, or takes any name.
    if name not in words or sent in words:
        return None
    if sent.startswith(f"{name}:") and sent.removeprefix(f"{name}:") in words:  # an adapter, as some engines call it
        return None
    return {"sent": sent, "workload": workload["metadata"]["name"], "name": name}


def command_words(workload: Body) -> set[str]:
    """All words of the command lines in a LeaderWorkerSet's leader, whole and in their parts."""
    template = workload["spec"]["leaderWorkerTemplate"]
    leader = template.get("leaderTemplate") or template["workerTemplate"]
    said = [
        word
        for container in leader["spec"]["containers"]
        for word in (*(container.get("command") or ()), *(container.get("args") or ()))
    ]
    return {*said, *(part for word in said for part in _BETWEEN.split(word))}


def reached(
    view: View, service: Body, namespace: str, port: int, path: Path, *, by_name: bool = True
) -> Iterator[Finding]:
    """Whether a Service leads this port to pods that listen.

    `by_name`: it is resolved as a host name, so that a headless one gives the pods themselves, on any port.
    """
    spec, name = service["spec"], service["metadata"]["name"]
    if spec.get("type") == "ExternalName":
        return
    headless = by_name and spec.get("clusterIP") == "None"
    target = None  # the pods' port, a number or a name, that the Service leads this one to
    for each in spec.get("ports") or ():
        if each["port"] == port and each.get("protocol", "TCP") == "TCP":
            target = each.get("targetPort", port)
            break
    selector = spec.get("selector")
    pods = view_pods(view, namespace, selector) if selector else ()
    listened = listening(pods)
    if target is None and not (headless and port in listened):
        ports = [each["port"] for each in spec.get("ports") or () if each.get("protocol", "TCP") == "TCP"]
        yield "E591", path, {"name": name, "port": port, "ports": ", ".join(map(str, ports)) or "none"}
        return
    if selector and not pods:
        yield from view.noted("N581", ("Service", namespace, name), path, name=name)
    # Without a proxy between, the port that is asked is the pod's.
    wanted = port if headless or target is None else target
    if listened and wanted not in listened:
        if selector and _INDEX in selector and target is not None and target not in listened:
            return  # E553 says so of the Service
        yield "E592", path, {"what": f"Service '{name}'", "port": wanted, "ports": listed(listened)}


def listening(pods: Sequence[Pods]) -> frozenset[int | str]:
    """The ports, by number and name, that any of the pods listens on; none where nobody says."""
    return pods[0].ports if len(pods) == 1 else frozenset(port for each in pods for port in each.ports)


def listed(ports: frozenset[int | str]) -> str:
    """Ports in words, numbers first."""
    return ", ".join(str(each) for each in sorted(ports, key=lambda each: (isinstance(each, str), each)))


def view_pods(view: View, namespace: str, selector: Mapping[str, str]) -> list[Pods]:
    """The pods of the set that a selector takes, one for each template."""
    if workload := selector.get(LEADERS):
        found = view.find("LeaderWorkerSet", namespace, workload)
        return _taken(selector, _group(workload, found)) if found else []
    key, value = next(iter(selector.items()))
    made = _taken(selector, view.once("pods", _labelled).get((namespace, key, value), ()))
    others = view.outside.others
    return made if others is None else made + view_pods(others, namespace, selector)


def _taken(selector: Mapping[str, str], pods: Iterable[Pods]) -> list[Pods]:
    wanted = selector.items()
    return [each for each in pods if wanted <= each.labels.items()]


def _group(name: str, body: Body) -> Iterator[Pods]:
    """Leader and workers of a LeaderWorkerSet, with the labels that its controller adds."""
    template = body["spec"]["leaderWorkerTemplate"]
    leader = template.get("leaderTemplate") or template["workerTemplate"]
    yield _pods(leader, {LEADERS: name, _INDEX: "0"})
    if template.get("size", 1) > 1:
        yield _pods(template["workerTemplate"], {LEADERS: name, _INDEX: "1"})


def _pods(template: Body, more: Mapping[str, str] = {}) -> Pods:
    spec = template["spec"]
    ports: set[int | str] = set()
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        for port in container.get("ports") or ():
            ports.add(port["containerPort"])
            if "name" in port:
                ports.add(port["name"])
    return Pods({**((template.get("metadata") or {}).get("labels") or {}), **more}, frozenset(ports))


def _labelled(view: View) -> dict[tuple[str, str, str], list[Pods]]:
    """All pods of the set by namespace and each label."""
    made: dict[tuple[str, str, str], list[Pods]] = {}
    for (kind, namespace, name), body in view.objects.items():
        if not body:
            continue
        if kind == "LeaderWorkerSet":
            several = list(_group(name, body))
        elif kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
            several = [_pods(body["spec"]["template"])] if "template" in body["spec"] else []
        elif kind == "Pod":
            several = [_pods(body)]
        else:
            continue
        for pods in several:
            for key, value in pods.labels.items():
                made.setdefault((namespace, key, value), []).append(pods)
    return made


def behind(view: View, route: str, reference: Body, path: Path) -> tuple[Body | None, list[Finding]]:
    """The Backend behind an AIServiceBackend that a rule of a route (of namespace `route`) names, and what is wrong on
    the way.
    """
    name, space = reference["name"], reference.get("namespace") or route
    found = view.find("AIServiceBackend", space, name)
    if found is None:
        return None, [view.missing("AIServiceBackend", space, name, (*path, "name"))]
    wrong: list[Finding] = []
    if space != route:
        wrong += granted(view, "AIGatewayRoute", route, ("AIServiceBackend", space, name), (*path, "namespace"))
    if not found:
        return None, wrong
    next_ = found["spec"]["backendRef"]
    space = next_.get("namespace") or space
    if space != route:
        # The HTTPRoute that is made of the route names the Backend itself.
        wrong += granted(view, "HTTPRoute", route, ("Backend", space, next_["name"]), (*path, "namespace"))
    return view.find("Backend", space, next_["name"]), wrong


def mixed(backends: Sequence[Body], path: Path) -> Iterator[Finding]:
    """What makes Envoy Gateway split the backends of one rule, so that the AI gateway's filter misses them."""
    specs = [each["spec"] for each in backends]
    by_name = [any("fqdn" in endpoint for endpoint in spec.get("endpoints") or ()) for spec in specs]
    if any(by_name) and not all(by_name):
        yield (
            "E594",
            path,
            {
                "what": "backends of host names beside backends of addresses",
                "hint": "give all Backends of the rule fqdn, or all of them ip",
            },
        )
    tls = [spec.get("tls") or {} for spec in specs]
    automatic = [bool(each.get("autoSNIFromEndpointHostname")) for each in tls]
    if any(automatic) and not all(automatic):
        yield (
            "E594",
            path,
            {
                "what": "autoSNIFromEndpointHostname on some backends only",
                "hint": "write tls.sni: <hostname> in those Backends instead",
            },
        )
    spoken = {_version(spec, each) for spec, each in zip(specs, tls, strict=True)} - {0}
    if len(spoken) > 1:
        yield (
            "E594",
            path,
            {"what": "backends that force HTTP/1 beside others that force HTTP/2", "hint": "let all speak one of them"},
        )


def _version(spec: Body, tls: Mapping[str, Any]) -> int:
    """1 or 2 where a Backend forces that version of HTTP, else 0."""
    protocols = {each.rpartition("/")[2] for each in spec.get("appProtocols") or ()}
    offered = tls.get("alpnProtocols") or ()
    if "h2c" in protocols or list(offered) == ["h2"]:
        return 2
    return 1 if protocols & {"ws", "wss"} or (offered and "h2" not in offered) else 0
