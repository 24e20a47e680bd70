"""Services and autoscalers of workloads that become Playgrounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from renderer.adopt.adopted_workload import AdoptedWorkload
from renderer.adopt.pod_changes import EnginePort, is_reserved
from renderer.adopt.pod_patch import canonical_amount
from renderer.adopt.serving_workload import ServingWorkload
from renderer.diagnostics import Collector, quoted
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at, map_at, maps_at, number_at, text_at, value_at
from renderer.kubernetes.workloads import is_rendered, owner_names, selects
from renderer.yamlio import Document

Body = Mapping[str, Any]
_USUAL_LOAD = 80  # percent of the requested CPU, where an autoscaler of version v1 says none
_AMOUNTS = ("value", "averageValue")  # of the target of a metric
_SERVICE_FIELDS: Mapping[str, Sequence[object]] = {
    **dict.fromkeys(("selector", "ports", "type", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"), ()),
    "sessionAffinity": ("None",),
    "internalTrafficPolicy": ("Cluster",),
    "externalTrafficPolicy": ("Cluster",),
    "allocateLoadBalancerNodePorts": (True,),
}  # of a Service that a Playground can say: any value, or the one that a server fills in


def is_ours(document: Document) -> bool:
    """Whether llmaz has rendered an object, and renders it again."""
    return is_rendered(document.value)


def is_service(document: Document) -> bool:
    """Whether this is a Service of Kubernetes."""
    return (document.value.get("apiVersion"), document.value.get("kind")) == ("v1", "Service")


def is_autoscaler(document: Document) -> bool:
    """Whether this is a HorizontalPodAutoscaler."""
    group = text_at(document.value, "apiVersion").partition("/")[0]
    return (group, document.value.get("kind")) == ("autoscaling", wellknown.HPA)


def is_config_map(document: Document) -> bool:
    """Whether this is a ConfigMap."""
    return text_at(document.value, "kind") == "ConfigMap"


def namespace_of(document: Document) -> str:
    """The namespace of an object, `default` where it says none."""
    return key_of(document.value)[0]


def key_of(value: Body) -> tuple[str, str]:
    """The namespace of an object, `default` where it says none and '' where its kind has none, and its name."""
    is_cluster_scoped = text_at(value, "kind") in wellknown.CLUSTER_SCOPED
    namespace = "" if is_cluster_scoped else text_at(value, "metadata", "namespace") or "default"
    return namespace, text_at(value, "metadata", "name")


def _scaled(document: Document) -> tuple[str, str] | None:
    """The kind and name of what an object scales; None for one that scales nothing."""
    spec = map_at(document.value, "spec")
    target = map_at(spec, "scaleTargetRef") or map_at(spec, "targetRef")
    usual = wellknown.DEPLOYMENT if text_at(document.value, "kind") == wellknown.SCALED_OBJECT else ""
    kind, name = text_at(target, "kind") or usual, text_at(target, "name")
    return (kind, name) if kind and name else None


def tell_lost_autoscalers(
    adopted: AdoptedWorkload, others: Sequence[Document], diagnostics: Collector, *, has_own: bool
) -> None:
    """Tells of autoscalers that go on scaling the old workload alone, where the new one has another name, and of those
    whose number of replicas each apply takes back. `has_own`: its Playground has an autoscaler, and no number.
    """
    for document in others:
        kind, name = (text_at(document.value, *path) for path in (("kind",), ("metadata", "name")))
        what = f"the {kind} '{name}'"
        why = f"nothing like it scales '{adopted.takeover.name}'; write elasticConfig, or one of your own beside it"
        if adopted.takeover.is_update:
            if has_own or not map_at(document.value, "spec", "scaleTargetRef"):
                continue
            what = f"the number of replicas that {what} sets"
            why = "each apply writes the Playground's; write elasticConfig in the place of this autoscaler"
        diagnostics.add("W951", document.origin("metadata", "name"), what=what, why=why)


def tell_controlled_services(adopted: AdoptedWorkload, diagnostics: Collector) -> None:
    """Tells of Services of the old pods that cannot move, since another controller makes them."""
    for document in adopted.takeover.controlled:
        words = {"owner": owner_names(document.value)[0], "service": text_at(document.value, "metadata", "name")}
        words["own"] = f"{adopted.takeover.name}{wellknown.LB_SERVICE}"
        diagnostics.add("W953", document.origin("metadata", "name"), **words)


def replicas_without(others: Sequence[Document], replicas: int | None) -> int | None:
    """The number of replicas of a workload without these autoscalers, which may have found it at 0."""
    least = [int(number_at(document.value, "spec", "minReplicaCount")) for document in others]
    return max(1, *least) if others and replicas == 0 else replicas


class NamedObjects:
    """Services and autoscalers, by what leads to their workloads."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._services: dict[tuple[str, str, object], list[Document]] = {}
        self._autoscalers: dict[tuple[str, str, str], list[Document]] = {}
        self._claims: dict[tuple[str, str], Sequence[object]] = {}  # the access modes of claims
        self._own_kinds: dict[tuple[str, str], set[str]] = {}  # of what llmaz has rendered
        for document in documents:
            namespace = namespace_of(document)
            if is_ours(document):
                place = namespace, text_at(document.value, "metadata", "name")
                self._own_kinds.setdefault(place, set()).add(text_at(document.value, "kind"))
            if is_service(document) and (selector := map_at(document.value, "spec", "selector")):
                key, value = next(iter(selector.items()))
                self._services.setdefault((namespace, key, str(value)), []).append(document)
            elif text_at(document.value, "kind") == "PersistentVolumeClaim":
                self._claims[key_of(document.value)] = list_at(document.value, "spec", "accessModes")
            elif target := _scaled(document):
                self._autoscalers.setdefault((namespace, *target), []).append(document)

    def services_of(self, workload: ServingWorkload) -> list[Document]:
        """The Services that select the pods of a workload that answer requests."""
        template = workload.leader_template or workload.template
        labels = {
            **map_at(template, "metadata", "labels"),
            wellknown.GROUPS: workload.name,
            wellknown.WORKER_INDEX: "0",
        }
        return [
            service
            for key, value in labels.items()
            for service in self._services.get((workload.key[0], key, str(value)), ())
            if selects({"matchLabels": map_at(service.value, "spec", "selector")}, labels)
        ]

    def is_of_one_node(self, namespace: str, claim: str) -> bool:
        """Whether a claim is in the files, and pods of one node alone can mount it."""
        modes = self._claims.get((namespace, claim), ())
        return bool(modes) and not {"ReadWriteMany", "ReadOnlyMany"}.intersection(map(str, modes))

    def autoscaler_of(self, adopted: AdoptedWorkload) -> Document | None:
        """The HorizontalPodAutoscaler of a workload; None without one."""
        return next(filter(is_autoscaler, self._scalers_of(adopted)), None)

    def other_autoscalers_of(self, adopted: AdoptedWorkload) -> list[Document]:
        """All others that scale a workload, but for those that llmaz has rendered."""
        own = self.autoscaler_of(adopted)
        return [document for document in self._scalers_of(adopted) if document is not own and not is_ours(document)]

    def _scalers_of(self, adopted: AdoptedWorkload) -> list[Document]:
        return self._autoscalers.get((adopted.key[0], adopted.workload.kind, adopted.workload.name), [])

    def gateway_mode_of(self, adopted: AdoptedWorkload) -> str:
        """`spec.gateway.mode` of a Playground whose route or pool llmaz has rendered; '' without one."""
        kinds = self._own_kinds.get(adopted.key, set())
        return "pool" if "InferencePool" in kinds else "backend" if "AIGatewayRoute" in kinds else ""


def own_service(adopted: AdoptedWorkload, services: Sequence[Document], port: EnginePort) -> Document | None:
    """The Service that a Playground says in its own words: one port, to the engine's; None where there is none. One
    that llmaz has rendered comes before others, which stand beside what it has rendered.
    """
    fitting = [service for service in services if _is_plain(adopted, service, port)]
    ours = [service for service in fitting if is_ours(service)]
    return next(iter(ours if is_ours(adopted.workload.document) else [*ours, *fitting]), None)


def service_spec(value: Body) -> dict[str, Any]:
    """`spec.service` of a Playground for a Service."""
    spec: dict[str, Any] = {"name": text_at(value, "metadata", "name"), "port": _port_of(value)["port"]}
    if (kind := text_at(value, "spec", "type", default="ClusterIP")) != "ClusterIP":
        spec["type"] = kind
    for key in ("labels", "annotations"):
        texts = {
            name: text
            for name, text in map_at(value, "metadata", key).items()
            if not name.startswith(("app.kubernetes.io/", "kubectl.kubernetes.io/", "llmaz.io/", wellknown.OWN_PREFIX))
        }
        if texts:
            spec[key] = texts
    return spec


def tell_lost_name(service: Document, diagnostics: Collector) -> None:
    """Tells that a Service which a Playground takes over loses the name of its port, where it has another."""
    name, ours = text_at(_port_of(service.value), "name"), wellknown.RANK_PORTS[0]
    if name not in ("", ours):
        words = {"what": f"the name '{name}' of the port", "why": f"the Service of a Playground calls it {ours}"}
        diagnostics.add("W951", service.origin("spec", "ports", 0, "name"), **words)


def _port_of(value: Body) -> Body:
    return next(iter(maps_at(value, "spec", "ports")), {})


def _is_plain(adopted: AdoptedWorkload, service: Document, port: EnginePort) -> bool:
    """Whether a Service has nothing but one port to the engine, and no name that the workload's own one has."""
    value = service.value
    name, ports, own_name = text_at(value, "metadata", "name"), maps_at(value, "spec", "ports"), adopted.takeover.name
    if len(ports) != 1 or value_at(value, "spec", "clusterIP") == "None":
        return False
    if not all(_is_said(field, item) for field, item in map_at(value, "spec").items()):
        return False
    if name == own_name + wellknown.LB_SERVICE or ports[0].get("nodePort"):
        return False
    if name == own_name and not adopted.workload.as_deployment:
        return False
    target = ports[0].get("targetPort", ports[0].get("port"))
    return port.renamed(target) == port.ours and ports[0].get("protocol", "TCP") == "TCP"


def _is_said(field: str, value: object) -> bool:
    """Whether a Playground can say a field of a Service, or a server fills it in."""
    return field in _SERVICE_FIELDS and (not _SERVICE_FIELDS[field] or value in _SERVICE_FIELDS[field])


def elastic_config(autoscaler: Body) -> dict[str, Any]:
    """`spec.elasticConfig` of a Playground for a HorizontalPodAutoscaler."""
    spec = map_at(autoscaler, "spec")
    if text_at(autoscaler, "apiVersion") == "autoscaling/v1":
        target = {"type": "Utilization", "averageUtilization": spec.get("targetCPUUtilizationPercentage", _USUAL_LOAD)}
        spec = {**spec, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]}
    config: dict[str, Any] = {
        "minReplicas": int(number_at(spec, "minReplicas", default=1)),
        "maxReplicas": int(number_at(spec, "maxReplicas", default=1)),
    }
    trigger = {key: spec[key] for key in ("metrics", "behavior") if spec.get(key)}
    if "metrics" in trigger:
        trigger["metrics"] = _with_canonical_amounts(trigger["metrics"])
    return {**config, "scaleTrigger": {"hpa": trigger}} if trigger else config


def _with_canonical_amounts(value: Any) -> Any:
    """A copy with the quantities of targets as they are rendered."""
    if isinstance(value, list):
        return [_with_canonical_amounts(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: canonical_amount(item) if key in _AMOUNTS else _with_canonical_amounts(item) for key, item in value.items()
    }


def tell_service(service: Document, adopted: AdoptedWorkload, port: EnginePort, diagnostics: Collector) -> None:
    """A warning for a Service that stays as it is, where its target is not a port of the Playground's pods any more, or
    its selector does not lead to them.
    """
    name = text_at(service.value, "metadata", "name")
    selector = map_at(service.value, "spec", "selector")
    if reserved := [
        key for key in selector if is_reserved(key) and key not in (wellknown.GROUPS, wellknown.WORKER_INDEX)
    ]:
        words = {"name": name, "labels": quoted(reserved), "app": adopted.takeover.name}
        diagnostics.add("W955", service.origin("spec", "selector", reserved[0], key=True), **words)
    for i, entry in enumerate(maps_at(service.value, "spec", "ports")):
        target = entry.get("targetPort", entry.get("port"))
        if port.renamed(target) == port.ours and target not in (port.ours, port.ours_number):
            origin = service.origin("spec", "ports", i, "targetPort" if "targetPort" in entry else "port")
            diagnostics.add("W954", origin, name=name, target=target, ours=port.ours, app=adopted.takeover.name)
