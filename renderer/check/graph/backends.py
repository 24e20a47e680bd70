"""AIServiceBackend, Backend, Service and pods: the objects behind a route."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.pods import (
    KINDS,
    WorkloadPods,
    may_select,
    pods_by_namespace,
    selected_pods,
    view_replicas,
    workload_pods,
)
from renderer.check.graph.references import validate_grant
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.set_pods import validate_child_selector, validate_role_selector
from renderer.check.graph.view import ObjectView, Place, named_place
from renderer.diagnostics import Finding, Path, alternatives, listed
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import as_map, as_maps, as_text, as_texts, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import GROUPS, WORKER_INDEX
from renderer.kubernetes.workloads import CONTROLLER_LABELS, PodTemplate, selects

_SERVED = "renderer.llmaz.io/served-model-name"
_WORD_SEPARATORS = re.compile(
    r"[\s=\"]+"
)  # of the words in a line of a shell or in JSON, and of an option and its value
_HTTPS = 443


@reference_rules.about("AIServiceBackend")
def validate_ai_service_backend(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where the Backend of an AIServiceBackend does not exist."""
    reference = as_map(as_map(body.get("spec")).get("backendRef"))
    if reference.get("kind") == "Backend":
        place = named_place(reference, namespace)
        if view.find("Backend", *place) is None:
            yield view.missing("Backend", *place, ("spec", "backendRef", "name"))


@reference_rules.about("Backend")
def validate_backend(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the endpoints of a Backend: a Service of the cluster exists and has the port, and its pods listen
    on it.
    """
    spec = as_map(body.get("spec"))
    endpoints = as_maps(spec.get("endpoints"))
    if not endpoints:
        if spec.get("type") != "DynamicResolver":
            yield Finding("E593", ("spec",), {"name": name})
        return
    for i, endpoint in enumerate(endpoints):
        if fqdn := as_map(endpoint.get("fqdn")):
            path: Path = ("spec", "endpoints", i, "fqdn")
            host = as_text(fqdn.get("hostname"))
            place = host_place(view, host)
            if place is None:
                if fqdn["port"] == _HTTPS and "tls" not in spec and not _has_tls_policy(view, namespace, name):
                    yield Finding("E671", (*path, "port"), {"host": host})
                if _resembles_service(view, host):
                    key = ("Host", "", host)
                    words = {"host": host, "domain": view.external.domain}
                    yield from view.note_once("N587", key, (*path, "hostname"), **words)
                continue
            service = view.find("Service", *place)
            if service is None:
                # LWS makes a Service of its own name.
                if view.find("LeaderWorkerSet", *place) is None:
                    yield view.missing("Service", *place, (*path, "hostname"))
            elif service:
                yield from validate_service_port(view, service, place[0], fqdn["port"], (*path, "port"))


def _has_tls_policy(view: ObjectView, namespace: str, name: str) -> bool:
    """Whether a BackendTLSPolicy of the set, or a declared one of this name, makes Envoy ask a Backend by TLS."""
    policies = view.once("tls policies", _backends_with_tls)
    return (namespace, name) in policies or view.external.declared("BackendTLSPolicy", namespace, name)


def _backends_with_tls(view: ObjectView) -> set[Place]:
    """The Backends that a BackendTLSPolicy of the set names."""
    return {
        (namespace, text_at(target, "name"))
        for namespace, _, body in view.all("BackendTLSPolicy")
        for target in maps_at(body, "spec", "targetRefs")
        if target.get("kind") == "Backend"
    }


@reference_rules.about("Service")
def validate_service_selector(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where a Service selects no pod of the LeaderWorkerSet or DisaggregatedSet that its selector names."""
    yield from validate_group_selector(view, body, namespace, name, ("spec", "selector"))


def validate_group_selector(
    view: ObjectView, body: Body, namespace: str, name: str, path: tuple[str, ...]
) -> Iterator[Finding]:
    """A finding where the selector at `path` of an object names a LeaderWorkerSet or DisaggregatedSet of the set, and
    labels that none of its pods has.
    """
    selector = map_at(body, *path)
    if disaggregated_sets.SET in selector:
        yield from validate_role_selector(view, body, namespace, name, path)
    workload = view.find("LeaderWorkerSet", namespace, as_text(selector.get(GROUPS))) if GROUPS in selector else None
    if not workload:
        if workload is None and GROUPS in selector:
            yield from validate_child_selector(view, body, namespace, name, path)
        return
    replica = next(iter(view_replicas(view, workload)), None)
    if replica is None:
        return
    index, size = as_text(selector.get(WORKER_INDEX, "0")), replica.size
    words = {"kind": body["kind"], "name": name, "workload": selector[GROUPS]}
    if not index.isdecimal() or int(index) >= size:
        pods = f"groups of {size} pods" if size > 1 else "groups of one pod, the leader"
        yield Finding(
            "E670", (*path, WORKER_INDEX), {**words, "label": f"{WORKER_INDEX}: {index}", "why": f"it has {pods}"}
        )
        return
    own_labels = {key: value for key, value in selector.items() if not key.startswith(CONTROLLER_LABELS)}
    templates = [pods.labels for pods in workload_pods(view, workload)] if own_labels else []
    if own_labels and not any(selects({"matchLabels": own_labels}, labels) for labels in templates):
        label = next(
            (key for key, value in own_labels.items() if not any(labels.get(key) == value for labels in templates)),
            next(iter(own_labels)),
        )
        why = "no pod template of it has this label"
        yield Finding("E670", (*path, label), {**words, "label": f"{label}: {own_labels[label]}", "why": why})


def holds_pods(view: ObjectView, namespace: str) -> bool:
    """Whether a workload of the set makes pods in the namespace."""
    return namespace in pods_by_namespace(view)


def may_hide_pods(view: ObjectView, namespace: str, selector: Body) -> bool:
    """Whether a workload of the namespace cannot be looked into, so that nobody knows its pods, or has pods that are
    selected by labels that nobody knows.
    """
    if any(may_select(selector, pods) for pods in pods_by_namespace(view).get(namespace, ())):
        return True
    return any(kind in KINDS and space in (namespace, "") for kind, space, _ in view.external.present)


def host_place(view: ObjectView, host: str) -> Place | None:
    """Namespace and name of the Service with this host name; None for other hosts, and where it is not known."""
    parts = host.removesuffix(".").split(".", 3)
    if len(parts) > 2 and parts[2] == "svc" and (len(parts) == 3 or parts[3] == view.external.domain):
        return parts[1], parts[0]
    # `<service>.<namespace>` may as well be a host of the world.
    if len(parts) == 2 and any(
        view.find(kind, parts[1], parts[0]) is not None for kind in ("Service", "LeaderWorkerSet")
    ):
        return parts[1], parts[0]
    return None


def _resembles_service(view: ObjectView, host: str) -> bool:
    """Whether a host that is no Service's may be meant as one: of another cluster domain, or of a
    namespace of the set.
    """
    parts = host.removesuffix(".").split(".")
    return (len(parts) > 2 and parts[2] == "svc") or (len(parts) == 2 and view.holds(parts[1]))


def backend_model(view: ObjectView, body: Body) -> WorkloadModel | None:
    """The model behind a Backend; None where it is not known."""
    endpoints = as_maps(as_map(body.get("spec")).get("endpoints"))
    host = as_text(as_map(endpoints[0].get("fqdn")).get("hostname")) if len(endpoints) == 1 else ""
    place = host_place(view, host) if host else None
    if place is None:
        return None
    service = view.find("Service", *place)
    # LWS makes a Service of its own name.
    selector = {GROUPS: place[1]} if service is None else map_at(service, "spec", "selector")
    return served_by(view, place[0], selector)


class WorkloadModel(Struct, frozen=True):
    """A model that a workload serves."""

    workload: str  # its name; of a role, that of what autoscalers target of it
    leader: PodTemplate
    name: str  # the served name


def served_by(view: ObjectView, namespace: str, selector: Mapping[str, object]) -> WorkloadModel | None:
    """The model that the pods serve which a selector of ours selects; None where it is not known."""
    group, deployment = as_text(selector.get(GROUPS)), as_text(selector.get(wellknown.WORKLOAD))
    kind, name = (wellknown.LEADER_WORKER_SET, group) if group else (wellknown.DEPLOYMENT, deployment)
    if not name:
        kind, name = disaggregated_sets.KIND, as_text(selector.get(disaggregated_sets.SET))
    body = view.find(kind, namespace, name) if name else None
    served = text_at(body, "metadata", "annotations", _SERVED)
    for replica in view_replicas(view, body) if body and served else ():
        role = replica.set_role  # where the selector names none, the first: all run the same model
        if role is None or selector.get(disaggregated_sets.ROLE, role.name) == role.name:
            return WorkloadModel(role.scaler if role else name, replica.leader, served)
    return None


def unknown_model_words(view: ObjectView, served: WorkloadModel, model: str) -> dict[str, object] | None:
    """The words of E610 where the engine of a workload does not know the model name `model`; None where it does, or
    where that is not known.
    """
    name = served.name
    if model == name:
        return None
    words = _command_words(view, served.leader.spec)
    # Where its name is not among them, the engine calls its model something else, or takes any name.
    if name not in words or model in words:
        return None
    if model.startswith(f"{name}:") and model.removeprefix(f"{name}:") in words:  # an adapter, as some engines call it
        return None
    return {"sent": model, "workload": served.workload, "name": name}


def _command_words(view: ObjectView, pod: Body) -> Set[str]:
    """All words of the command lines of a pod, whole, up to their `=`, and split; found once a view."""
    # The entry keeps the pod, so that no other one gets its id.
    _, words = view.once(("command words", id(pod)), lambda _: (pod, _find_command_words(pod)))
    return words


def _find_command_words(pod: Body) -> Set[str]:
    command = [
        word
        for container in maps_at(pod, "containers")
        for word in (*as_texts(container.get("command")), *as_texts(container.get("args")))
    ]
    names = (word.partition("=")[0] for word in command)
    return {*command, *names, *(part for word in command for part in _WORD_SEPARATORS.split(word))}


def validate_service_port(
    view: ObjectView, service: Body, namespace: str, port: object, path: Path, *, by_name: bool = True
) -> Iterator[Finding]:
    """Findings where a Service does not forward this port to pods that listen.

    `by_name`: the Service is resolved as a host name, so that a headless one resolves to the pods, on any port.
    """
    spec, name = as_map(service.get("spec")), text_at(service, "metadata", "name")
    if spec.get("type") == "ExternalName":
        return
    headless = by_name and spec.get("clusterIP") == "None"
    target = None  # the pods' port, a number or a name, that the Service leads this one to
    service_ports = as_maps(spec.get("ports"))
    for service_port in service_ports:
        if service_port["port"] == port and service_port.get("protocol", "TCP") == "TCP":
            target = service_port.get("targetPort", port)
            break
    selector = as_map(spec.get("selector"))
    pods = selected_pods(view, namespace, {"matchLabels": selector}) if selector else ()
    listening_ports = declared_ports(pods)
    if target is None and not (headless and port in listening_ports):
        ports = [service_port["port"] for service_port in service_ports if service_port.get("protocol", "TCP") == "TCP"]
        yield Finding("E591", path, {"name": name, "port": port, "ports": ", ".join(map(str, ports)) or "none"})
        return
    if selector and not pods and not any(validate_service_selector(view, service, namespace, name)):
        yield from view.note_once("N581", ("Service", namespace, name), path, name=name)
    # Without a proxy between, the port that is asked is the pod's.
    pod_port = port if headless or target is None else target
    if listening_ports and pod_port not in listening_ports:
        if selector and WORKER_INDEX in selector and target is not None and target not in listening_ports:
            return  # E553 reports it for the Service
        yield Finding(
            "E592", path, {"what": f"Service '{name}'", "port": pod_port, "ports": format_ports(listening_ports)}
        )


def portless_service(view: ObjectView, namespace: str, name: str, path: Path) -> Iterator[Finding]:
    """A finding for the name of a Service that LWS makes for a LeaderWorkerSet of the set: it has no port."""
    body = view.find(wellknown.LEADER_WORKER_SET, namespace, name)
    if not body:
        return
    pods = [entry for entry in workload_pods(view, body) if entry.labels.get(WORKER_INDEX) == "0"]
    others = sorted(
        service
        for space, service, other in view.all("Service")
        if space == namespace
        and (selector := map_at(other, "spec", "selector"))
        and any(selects({"matchLabels": selector}, entry.labels) for entry in pods)
    )
    hint = (
        f"name the Service {alternatives(others)}" if others else "name a Service of your own that selects the leaders"
    )
    yield Finding("E577", path, {"name": name, "hint": hint})


def declared_ports(pods: Sequence[WorkloadPods]) -> frozenset[float | str]:
    """The ports, by number and name, that any of the pods listens on; empty where none is declared."""
    return pods[0].ports if len(pods) == 1 else frozenset(port for pod in pods for port in pod.ports)


def format_ports(ports: Set[object]) -> str:
    """The ports as text, numbers first: `8080, 9090 and 'http'`."""
    numbers, names = [[port for port in ports if isinstance(port, kind)] for kind in ((int, float), str)]
    return listed([*(f"{number:g}" for number in sorted(numbers)), *(f"'{name}'" for name in sorted(names))])


def resolve_backend(view: ObjectView, route: str, reference: Body, path: Path) -> tuple[Body | None, list[Finding]]:
    """The Backend of the AIServiceBackend that a rule of a route (of namespace `route`) names, and the findings on the
    way.
    """
    backend_namespace, name = named_place(reference, route)
    service_backend = view.find("AIServiceBackend", backend_namespace, name)
    if service_backend is None:
        return None, [view.missing("AIServiceBackend", backend_namespace, name, (*path, "name"))]
    findings: list[Finding] = []
    if backend_namespace != route:
        findings += validate_grant(
            view, "AIGatewayRoute", route, ("AIServiceBackend", backend_namespace, name), (*path, "namespace")
        )
    if not service_backend:
        return None, findings
    place = named_place(map_at(service_backend, "spec", "backendRef"), backend_namespace)
    if place[0] != route:
        # The HTTPRoute that is made of the route names the Backend itself.
        findings += validate_grant(view, "HTTPRoute", route, ("Backend", *place), (*path, "namespace"))
    return view.find("Backend", *place), findings


def validate_backend_mix(backends: Sequence[Body], path: Path) -> Iterator[Finding]:
    """Findings about backends of one rule that Envoy Gateway would split, so that the AI gateway's
    filter misses them.
    """
    specs = [as_map(backend.get("spec")) for backend in backends]
    by_name = [any("fqdn" in endpoint for endpoint in as_maps(spec.get("endpoints"))) for spec in specs]
    if any(by_name) and not all(by_name):
        yield Finding(
            "E594",
            path,
            {
                "what": "backends of host names beside backends of addresses",
                "hint": "give all Backends of the rule fqdn, or all of them ip",
            },
        )
    tls = [as_map(spec.get("tls")) for spec in specs]
    automatic = [bool(settings.get("autoSNIFromEndpointHostname")) for settings in tls]
    if any(automatic) and not all(automatic):
        yield Finding(
            "E594",
            path,
            {
                "what": "autoSNIFromEndpointHostname on some backends only",
                "hint": "write tls.sni: <hostname> in those Backends instead",
            },
        )
    versions = {_version(spec, settings) for spec, settings in zip(specs, tls, strict=True)} - {0}
    if len(versions) > 1:
        yield Finding(
            "E594",
            path,
            {"what": "backends that force HTTP/1 beside others that force HTTP/2", "hint": "let all use one of them"},
        )


def _version(spec: Body, tls: Body) -> int:
    """1 or 2 where a Backend forces that version of HTTP, else 0."""
    protocols = {protocol.rpartition("/")[2] for protocol in as_texts(spec.get("appProtocols"))}
    offered = as_texts(tls.get("alpnProtocols"))
    if "h2c" in protocols or offered == ["h2"]:
        return 2
    return 1 if protocols & {"ws", "wss"} or (offered and "h2" not in offered) else 0
