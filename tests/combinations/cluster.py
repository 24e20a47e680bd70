"""What a cluster makes of rendered objects: which pods reach each other, who may write a volume, where requests go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from renderer.kubernetes.workloads import MadePods, made_pods, selects

Node = dict[str, Any]
COMPONENT = "app.kubernetes.io/component"
NAMESPACE = "kubernetes.io/metadata.name"
PROXY = {COMPONENT: "proxy", "app.kubernetes.io/managed-by": "envoy-gateway"}
STORED = ("persistentVolumeClaim", "ephemeral", "hostPath")  # volumes that belong to root until somebody says else


class Pods(NamedTuple):
    """Pods of one template in a namespace."""

    namespace: str
    workload: str  # kind and name
    as_made: MadePods

    @property
    def spec(self) -> Node:
        """The spec of the pods."""
        return dict(self.as_made.template.spec)

    def __str__(self) -> str:
        return f"{self.as_made.role} of {self.workload}"


def all_pods(documents: Iterable[Node]) -> list[Pods]:
    """The pods of all workloads, as their controllers label them."""
    return [
        Pods(body["metadata"].get("namespace", ""), f"{body['kind']} {body['metadata']['name']}", template_pods)
        for body in documents
        for template_pods in made_pods(body)
    ]


def is_engine(pods: Pods) -> bool:
    """Whether the pods run a model."""
    return pods.as_made.labels.get(COMPONENT) == "inference-server"


def shut_out(documents: Sequence[Node]) -> Iterator[str]:
    """Pods that a NetworkPolicy keeps from those that they need, or that stay open where it closes others."""
    policies = [body for body in documents if body["kind"] == "NetworkPolicy"]
    pods = [pod for pod in all_pods(documents) if policies and is_engine(pod)]
    pickers = [pod for pod in all_pods(documents) if pod.as_made.labels.get(COMPONENT) == "endpoint-picker"]
    interceptors = [body for body in documents if body["kind"] == "InterceptorRoute"]
    for pod in pods:
        rules = rules_over(policies, pod)
        if rules is None:
            yield f"no NetworkPolicy covers the {pod}"
            continue
        for other in (*pods, *pickers):
            if other.namespace == pod.namespace and not _admits(
                rules, pod.namespace, other.namespace, other.as_made.labels
            ):
                yield f"the NetworkPolicy keeps the {other} from the {pod}"
        if not _admits(rules, pod.namespace, "envoy-gateway-system", PROXY):
            yield f"the NetworkPolicy keeps the gateway from the {pod}"
        if interceptors and not _admits(rules, pod.namespace, "keda", {}):
            yield f"the NetworkPolicy keeps the interceptor from the {pod}"


def rules_over(policies: Iterable[Node], pod: Pods) -> list[Node] | None:
    """The rules of the policies that cover a pod; None where none does."""
    covering = [
        policy["spec"]
        for policy in policies
        if policy["metadata"].get("namespace", "") == pod.namespace
        and selects(policy["spec"]["podSelector"], pod.as_made.labels)
    ]
    return [rule for spec in covering for rule in spec.get("ingress") or ()] if covering else None


def _admits(rules: Iterable[Node], own: str, namespace: str, labels: Mapping[str, object]) -> bool:
    for rule in rules:
        peers: list[Node] = rule.get("from") or [{}]
        for peer in peers:
            spaces = peer.get("namespaceSelector")
            in_space = namespace == own if spaces is None and peer else selects(spaces or {}, {NAMESPACE: namespace})
            if in_space and selects(peer.get("podSelector") or {}, labels):
                return True
    return False


def counted_without(pods: Pods) -> Iterator[str]:
    """Spread constraints of pods that they are not counted by themselves: they pull towards where few others are."""
    for constraint in pods.spec.get("topologySpreadConstraints") or ():
        if not selects(constraint.get("labelSelector") or {}, pods.as_made.labels):
            yield f"the spread over {constraint['topologyKey']} does not count the {pods} itself"


def unwritable_volumes(pods: Pods) -> Iterator[str]:
    """Volumes that belong to root, which a container with another user is to write."""
    spec = pods.spec
    pod_security = spec.get("securityContext") or {}
    volumes: dict[str, Node] = {volume["name"]: volume for volume in spec.get("volumes") or ()}
    volumes |= {claim["metadata"]["name"]: {"ephemeral": claim} for claim in pods.as_made.template.claims}
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        user = (container.get("securityContext") or {}).get("runAsUser", pod_security.get("runAsUser"))
        for mount in container.get("volumeMounts") or () if user else ():
            volume = volumes.get(mount["name"], {})
            source = next((key for key in STORED if key in volume), "")
            if mount.get("readOnly") or not source or (volume[source] or {}).get("readOnly"):
                continue
            if source == "hostPath" or "fsGroup" not in pod_security:
                yield f"{container['name']} is user {user}, and cannot write the volume {mount['name']} of the {pods}"


def past_the_guard(documents: Sequence[Node], guarded: Mapping[str, int]) -> Iterator[str]:
    """Ways of requests that do not lead to the port of an app's own container. `guarded`: the ports by app."""
    for body in documents:
        namespace, name, spec = body["metadata"].get("namespace", ""), body["metadata"]["name"], body.get("spec") or {}
        if name not in guarded:
            continue
        ports: set[object] = set()
        if body["kind"] == "InterceptorRoute":
            ports |= target_ports(documents, namespace, spec["target"]["service"], spec["target"]["port"])
        elif body["kind"] == "InferencePool":
            ports |= {port["number"] for port in spec["targetPorts"]}
        elif body["kind"] == "Backend":
            for endpoint in spec.get("endpoints") or ():
                service, space = endpoint["fqdn"]["hostname"].split(".")[:2]
                ports |= target_ports(documents, space, service, endpoint["fqdn"]["port"])
        for port in ports - {guarded[name]}:
            yield f"the {body['kind']} {name} leads to port {port}, past the guard"


def target_ports(documents: Iterable[Node], namespace: str, name: str, port: int) -> set[object]:
    """The ports of pods that a port of a Service leads to."""
    return {
        entry["targetPort"]
        for body in documents
        if (body["kind"], body["metadata"]["name"], body["metadata"].get("namespace", ""))
        == ("Service", name, namespace)
        for entry in body["spec"]["ports"]
        if entry["port"] == port
    }


def faults(documents: Sequence[Node], guarded: Mapping[str, int]) -> Iterator[str]:
    """All of these. `guarded`: by app, the port of the container that answers for its engine."""
    yield from shut_out(documents)
    yield from past_the_guard(documents, guarded)
    for pods in all_pods(documents):
        yield from counted_without(pods)
        yield from unwritable_volumes(pods)
