"""NetworkPolicies that together leave pods without what they need: what a loader fetches, or requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body
from renderer.check.graph.pods import WorkloadPods, pods_by_namespace
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, texts_at
from renderer.kubernetes.workloads import containers, is_rendered, selects

_POLICY = "NetworkPolicy.networking.k8s.io"
_KIND = "NetworkPolicy"  # how the names of kinds of others end that allow and deny, too
_OUT, _IN = "Egress", "Ingress"
_DNS_PORTS = (53, 5353)
_DNS = "add {ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]} to egress"
# Variables with which a container fetches from a hub or a bucket.
_FETCHING = frozenset(
    (
        *("MODEL_SOURCE_TYPE", "RCLONE_CONFIG_STORE_TYPE", "AWS_ACCESS_KEY_ID"),
        *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT", "MODELSCOPE_API_TOKEN"),
    )
)


@side_rules.about(_POLICY)
def validate_isolation(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where the policies of a namespace together allow nothing in a direction that some pods need, or no DNS:
    at the first of them that was written by hand.
    """
    spec = map_at(body, "spec")
    if is_rendered(body) or view.external.ambiguous or _has_others(view):
        return
    beside = [(other, policy) for space, other, policy in view.all(_POLICY) if space == namespace]
    for direction in (direction for direction in (_OUT, _IN) if _isolates(spec, direction)):
        for pods in pods_by_namespace(view).get(namespace, ()):
            selecting = [(other, policy) for other, policy in beside if _selects(policy, pods, direction)]
            names = [other for other, policy in selecting if not is_rendered(policy)]
            rules = [rule for _, policy in selecting for rule in _rules(map_at(policy, "spec"), direction)]
            if name not in names or name != min(names) or any(_allows_names(rule) for rule in rules):
                continue
            if (rules and direction == _IN) or not (need := _need(view, pods, direction, namespace)):
                continue
            what = "resolve a name" if rules else "send anything" if direction == _OUT else "receive anything"
            path: Path = ("spec", direction.lower() if direction.lower() in spec else "policyTypes")
            words = {
                "workload": pods.workload,
                "what": f"{what}, and they need {need}",
            }
            hint = _DNS if rules else f"write {direction.lower()}: [{{}}]"
            yield Finding("W577", path if path[1] in spec else ("spec", "podSelector"), {**words, "hint": hint})
            return


def _allows_names(rule: Body) -> bool:
    """Whether a rule may lead to a DNS server: to its port or OpenShift's, to one with a name, or to all."""
    ports = maps_at(rule, "ports")
    for entry in ports:
        port, last = entry.get("port"), number_at(entry, "endPort")
        if not isinstance(port, int) or any(port <= known <= max(port, last) for known in _DNS_PORTS):
            return True
    return not ports


def _isolates(spec: Body, direction: str) -> bool:
    """Whether a policy allows nothing but its rules. Without `policyTypes` it always does so for what comes in."""
    types = texts_at(spec, "policyTypes")
    return direction in types if types else direction == _IN or bool(_rules(spec, direction))


def _rules(spec: Body, direction: str) -> Sequence[Body]:
    return maps_at(spec, direction.lower())


def _selects(policy: Body, pods: WorkloadPods, direction: str) -> bool:
    spec = map_at(policy, "spec")
    return _isolates(spec, direction) and selects(map_at(spec, "podSelector"), pods.labels)


def _has_others(view: ObjectView) -> bool:
    """Whether the set has policies of a network plugin, or of the whole cluster."""
    return any(_KIND in kind.partition(".")[0] and kind != _POLICY for kind, _, _ in view.objects)


def _need(view: ObjectView, pods: WorkloadPods, direction: str, namespace: str) -> str:
    """What pods need of a direction, in words; '' where that is not known."""
    if pods.replica.size > 1:
        return "the other pods of their group, and DNS" if direction == _OUT else "the other pods of their group"
    if direction == _IN:
        selectors = [map_at(body, "spec", "selector") for space, _, body in view.all("Service") if space == namespace]
        leads = any(selector and selects({"matchLabels": selector}, pods.labels) for selector in selectors)
        return "the requests of Services" if leads and is_rendered(pods.body) else ""
    names = {text_at(entry, "name") for _, container in containers(pods.spec) for entry in maps_at(container, "env")}
    return "DNS and the source of their weights" if names & _FETCHING else ""
