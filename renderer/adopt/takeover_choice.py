"""Chooses how each workload is taken over, by its kind and by what `--as` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from renderer.adopt.found_labels import FoundLabels
from renderer.adopt.free_names import FreeNames
from renderer.adopt.neighbours import NamedObjects, is_ours
from renderer.adopt.pod_changes import EnginePort, is_reserved
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.adopt.takeover import Takeover
from renderer.diagnostics import Collector
from renderer.diff.live.takeovers import SUFFIX
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.workloads import is_rendered, owner_names
from renderer.yamlio import Document

SAME: Final = "same"
"""What `--as` says for the name that a workload has."""
_LONGEST: Final = 50  # characters of a name, so that those of its Services and pods are none too long
_LONGEST_LABEL: Final = 63
_SERVING: Final = "inference-server"
_OTHER_NAME: Final = {
    wellknown.DEPLOYMENT: "the selector of a Deployment cannot be changed",
    "StatefulSet": "a StatefulSet becomes a LeaderWorkerSet, which makes a StatefulSet of its own name",
}
"""Why workloads of a kind get another name, as a rule."""


_CHANGED: Final = (wellknown.DEPLOYMENT, wellknown.LEADER_WORKER_SET)
"""Kinds of which ours is the object that runs, where it keeps its name."""
Services: TypeAlias = tuple[Document, ...]


class TakeoverChoice:
    """Chooses for the workloads of a run."""

    def __init__(
        self, workloads: Sequence[ServingWorkload], named: NamedObjects, found_labels: FoundLabels, wanted_name: str
    ) -> None:
        """`wanted_name`: what `--as` says, '' for nothing."""
        self._found_labels: Final = found_labels
        self._wanted: Final = wanted_name
        self._named: Final = named
        names: dict[str, set[str]] = {}
        self._count: Final = dict[int, int]()  # how many workloads a Service leads to, by its id
        self._services: Final[dict[int, list[Document]]] = {}
        for workload in workloads:
            namespace, name = workload.key
            names.setdefault(namespace, set()).add(name)
            services = self._services[id(workload)] = named.services_of(workload)
            for service in services:
                self._count[id(service)] = self._count.get(id(service), 0) + 1
        self._free: Final = {namespace: FreeNames(taken_names) for namespace, taken_names in names.items()}

    def of(self, workload: ServingWorkload, diagnostics: Collector) -> Takeover:
        """How the workload is taken over. Raises Stop where that is not possible as `--as` wants it."""
        reason = "" if is_rendered(workload.document.value) else _OTHER_NAME.get(workload.kind, "")
        origin, claims = workload.document.origin("metadata", "name"), self._held_claims(workload)
        services, shared = self._services_of(workload)
        keeps_name = self._wanted in (SAME, workload.name) or not (reason or self._wanted)
        if keeps_name and reason and (obstacle := _obstacle(workload)):
            diagnostics.stop("E950", origin, why=obstacle)
        if keeps_name and workload.kind in _CHANGED:
            return Takeover(
                name=workload.name,
                is_update=True,
                selector=_own_selector(workload),
                services=services,
                shared=shared,
                held_claims=claims,
            )
        moving, controlled, services = _parted(services)
        takeover = Takeover(
            name=workload.name,
            services=services,
            shared=shared,
            moving=moving,
            controlled=controlled,
            held_claims=claims,
        )
        if keeps_name:
            return takeover
        if workload.hosts > 1:
            diagnostics.stop("E950", origin, why="replicas of several hosts keep their name")
        name = self._name(workload, diagnostics)
        staying = tuple(service for service in moving if not self._is_led_away(service, name))
        moving, shared = tuple(service for service in moving if service not in staying), (*shared, *staying)
        labels = self._new_labels(workload, name, (*moving, *controlled), shared)
        why = reason or "--as says so"
        return replace(takeover, name=name, labels=labels, reason=why, moving=moving, shared=shared)

    def _services_of(self, workload: ServingWorkload) -> tuple[Services, Services]:
        """The Services that lead to the pods of the workload, and those that lead to pods of others too."""
        services = self._services[id(workload)]
        return (
            tuple(service for service in services if self._count[id(service)] == 1),
            tuple(service for service in services if self._count[id(service)] > 1),
        )

    def _new_labels(self, workload: ServingWorkload, name: str, moving: Services, staying: Services) -> dict[str, str]:
        """The labels of the pods that get another value, so that nothing which leads to the old pods leads to the new
        ones too: neither the old workload nor the Services that move later. `staying`: Services that lead to both.
        """
        kept_keys = {key for service in staying for key in map_at(service.value, "spec", "selector")}
        selectors = [map_at(workload.document.value, "spec", "selector", "matchLabels")]
        selectors += [map_at(service.value, "spec", "selector") for service in moving]
        changed: dict[str, str] = {}
        for selector in selectors:
            if any(key in changed or _is_another(key, value, name) for key, value in selector.items()):
                continue
            candidates = [
                key for key, value in selector.items() if self._may_change(key, value) and key not in kept_keys
            ]
            candidates.sort(key=lambda key: str(selector[key]) != workload.name)
            for key in candidates[:1]:
                changed[key] = (name if selector[key] != name else f"{name}-2")[:_LONGEST_LABEL].rstrip("-.")
        return changed

    def _may_change(self, key: str, value: object) -> bool:
        """Whether a label of pods may have another value on the new ones."""
        return not is_reserved(key) and not self._found_labels.have(key, value)

    def _is_led_away(self, service: Document, name: str) -> bool:
        """Whether a Service of the old pods leads to no new ones of the workload of this name, once labels have
        changed.
        """
        selector = map_at(service.value, "spec", "selector").items()
        return any(self._may_change(key, value) or _is_another(key, value, name) for key, value in selector)

    def _held_claims(self, workload: ServingWorkload) -> tuple[str, ...]:
        """The claims of the files that its pods mount, and that one node alone can mount."""
        volumes = maps_at(workload.template, "spec", "volumes")
        claims = (text_at(volume, "persistentVolumeClaim", "claimName") for volume in volumes)
        return tuple(name for name in claims if name and self._named.is_of_one_node(workload.key[0], name))

    def _name(self, workload: ServingWorkload, diagnostics: Collector) -> str:
        """A name that no workload of the namespace has."""
        namespace, name = workload.key
        wanted_name = self._wanted or name[: _LONGEST - len(SUFFIX)].rstrip("-.") + SUFFIX
        free = self._free[namespace].take(wanted_name)
        if self._wanted and free != wanted_name:
            diagnostics.stop("E959", workload.document.origin("metadata", "name"), what="workload", name=wanted_name)
        return free


def _parted(services: Services) -> tuple[Services, Services, Services]:
    """The Services that move to new pods, those that another controller makes, which gives each its selector back, and
    those that llmaz has rendered, and renders again.
    """
    others = [service for service in services if not is_ours(service)]
    return (
        tuple(service for service in others if not owner_names(service.value)),
        tuple(service for service in others if owner_names(service.value)),
        tuple(service for service in services if is_ours(service)),
    )


def _own_selector(workload: ServingWorkload) -> Body:
    """The labels by which a Deployment finds its pods, where they are not those of llmaz; {} for other kinds."""
    labels = map_at(workload.document.value, "spec", "selector", "matchLabels")
    return labels if workload.kind == wellknown.DEPLOYMENT and wellknown.WORKLOAD not in labels else {}


def _obstacle(workload: ServingWorkload) -> str:
    """Why a workload cannot keep its name; '' where it can."""
    if workload.kind != wellknown.DEPLOYMENT:
        return _OTHER_NAME[workload.kind]
    if owners := owner_names(workload.document.value):
        return f"{owners[0]} makes it, and gives its fields their values back"
    if maps_at(workload.document.value, "spec", "selector", "matchExpressions"):
        return "its selector has matchExpressions, and spec.workload.selector has labels alone"
    own = wellknown.own_labels(workload.name, _SERVING)
    others = [key for key, value in _own_selector(workload).items() if is_reserved(key) and own.get(key) != value]
    return f"its selector has the label {others[0]}, which llmaz sets itself" if others else ""


def _is_another(key: str, value: object, name: str) -> bool:
    """Whether a label that only llmaz sets has another value on the pods of the workload of this name."""
    return is_reserved(key) and wellknown.own_labels(name, _SERVING).get(key) != value


def with_labels(template: Body, changed: Body) -> Body:
    """The template of a pod with new values of its labels, where it has them and where it selects by them."""
    labels = map_at(template, "metadata", "labels")
    pairs = {(key, str(labels[key])): value for key, value in changed.items() if key in labels}
    if not pairs:
        return template
    metadata = {
        **map_at(template, "metadata"),
        "labels": {**labels, **{key: value for (key, _), value in pairs.items()}},
    }
    spec = dict(map_at(template, "spec"))
    for field in ("affinity", "topologySpreadConstraints"):
        if field in spec:
            spec[field] = _with_pairs(spec[field], pairs)
    return {**template, "metadata": metadata, "spec": spec}


def _with_pairs(value: Any, pairs: Mapping[tuple[str, str], str]) -> Any:
    """A value in which selectors of pods have the new values of labels."""
    if isinstance(value, list):
        return [_with_pairs(item, pairs) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {key: _with_pairs(item, pairs) for key, item in value.items()}
    if isinstance(value.get("matchLabels"), dict):
        labels = value["matchLabels"].items()
        fields["matchLabels"] = {key: pairs.get((key, str(text)), text) for key, text in labels}
    if text_at(value, "operator") == "In" and isinstance(value.get("values"), list):
        fields["values"] = [pairs.get((text_at(value, "key"), str(text)), text) for text in value["values"]]
    return fields


def moved_service(body: Body, selector: Body, port: EnginePort) -> dict[str, Any]:
    """A Service of clients as it leads to the new pods, whose engine listens on the port."""
    spec = dict(map_at(body, "spec"))
    ports = [{**entry, "targetPort": port.renamed(_target(entry))} for entry in maps_at(spec, "ports")]
    return {**body, "spec": {**spec, "selector": dict(selector), "ports": ports}}


def _target(entry: Body) -> object:
    return entry.get("targetPort", entry.get("port"))
