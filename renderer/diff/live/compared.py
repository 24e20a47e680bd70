"""Two objects beside each other, and all workloads of both sides, which Services and autoscalers lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Final

from renderer.diff.live.counterparts import Counterparts, PodSide, match_pods, read_pod
from renderer.diff.live.server_fields import comparable, is_compared, template_paths
from renderer.diff.objects import ObjectKey
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.variable_references import ConfigMaps
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import made_pods, pod_selector, replicas, selects


def selector_path(key: ObjectKey) -> tuple[str, ...]:
    """Where an object says which pods it leads to; () for a kind that does not."""
    if key.kind == "PodDisruptionBudget" or (is_compared(key.api_kind) and key.kind != wellknown.LEADER_WORKER_SET):
        return "spec", "selector", "matchLabels"
    return ("spec", "selector") if key.kind == "Service" else ()


class ObjectSide:
    """An object of one side."""

    def __init__(
        self,
        key: ObjectKey,
        body: Mapping[str, Any],
        catalog: EngineCatalog,
        file: str = "",
        config_maps: ConfigMaps | None = None,
    ) -> None:
        self.key: Final = key
        self.body: Final = body
        self.file: Final = file
        self._catalog: Final = catalog
        self.config_maps: Final = config_maps

    @cached_property
    def view(self) -> dict[str, Any]:
        """The object in the form that is compared. `replicas` only where somebody wrote it, or nothing scales it."""
        return comparable(self.body)

    @cached_property
    def pods(self) -> Mapping[str, PodSide]:
        """The pod templates of a workload, by whose they are: `leader` and `worker`."""
        return {
            role: read_pod(map_at(self.view, *path), path, self._catalog, self.config_maps)
            for path, role in template_paths(self.view).items()
        }

    @property
    def is_workload(self) -> bool:
        """Whether the object runs pods that can be compared."""
        return is_compared(self.key.api_kind) and bool(self.pods)

    @property
    def serves(self) -> bool:
        """Whether it runs an engine."""
        return self.is_workload and any(pod.engines for pod in self.pods.values())

    @property
    def engine_port(self) -> int | None:
        """The port on which its engine listens, where that is one."""
        pod = self.pods.get("leader")
        return pod.engines[pod.engine].port if pod and pod.engine else None

    @cached_property
    def _ports(self) -> Mapping[str, object]:
        """The numbers of the ports of the leaders' containers, by their names."""
        containers = maps_at(self.pods["leader"].spec, "containers") if "leader" in self.pods else []
        ports: dict[str, object] = {}
        for entry in (entry for body in containers for entry in maps_at(body, "ports")):
            ports.setdefault(text_at(entry, "name"), entry.get("containerPort"))
        return ports

    def port_number(self, port: object) -> object:
        """The number of a port of the leaders' containers that goes by a name; anything else as it is."""
        return self._ports.get(port, port) if isinstance(port, str) else port

    def selects(self, selector: Mapping[str, Any], namespace: str) -> frozenset[str]:
        """Whose pods of the workload a selector leads to."""
        if not selector or namespace != self.key.namespace or not self.is_workload:
            return frozenset()
        return frozenset(pods.role for pods in made_pods(self.view) if selects({"matchLabels": selector}, pods.labels))

    @property
    def selector(self) -> Mapping[str, Any]:
        """The labels by which objects lead to its pods."""
        return next((pod_selector(self.view, replica) for replica in replicas(self.view)), {})


class Workloads:
    """Workloads of one side, found by the labels of their pods."""

    def __init__(self, sides: Iterable[ObjectSide]) -> None:
        self.sides: Final = [side for side in sides if side.is_workload]

    @cached_property
    def by_name(self) -> Mapping[tuple[str, str, str], ObjectSide]:
        """By namespace, kind and name."""
        return {(side.key.namespace, side.key.kind, side.key.name): side for side in self.sides}

    @cached_property
    def names(self) -> frozenset[tuple[object, object]]:
        """Their kinds and names."""
        return frozenset((side.key.kind, side.key.name) for side in self.sides)

    @cached_property
    def _by_label(self) -> Mapping[tuple[str, str, str], Iterable[ObjectSide]]:
        """By namespace and each label of their pods."""
        index: dict[tuple[str, str, str], dict[int, ObjectSide]] = {}
        for workload in self.sides:
            for pods in made_pods(workload.view):
                for key, value in pods.labels.items():
                    index.setdefault((workload.key.namespace, key, str(value)), {})[id(workload)] = workload
        return {place: [*sides.values()] for place, sides in index.items()}

    def selected_by(self, side: ObjectSide) -> list[tuple[ObjectSide, frozenset[str]]]:
        """The workloads whose pods an object selects, and whose pods of each."""
        selector = map_at(side.view, *(selector_path(side.key) or ("spec", "selector")))
        if not selector:
            return []
        key, value = next(iter(selector.items()))
        candidates = self._by_label.get((side.key.namespace, key, str(value)), ())
        roles = [(workload, workload.selects(selector, side.key.namespace)) for workload in candidates]
        return [(workload, selected) for workload, selected in roles if selected]


class Surrounding:
    """The workloads of both sides, and which of them are counterparts; and the autoscalers of ours."""

    def __init__(
        self,
        pairs: Sequence[tuple[ObjectSide, ObjectSide]],
        theirs: Sequence[ObjectSide],
        ours: Sequence[ObjectSide],
    ) -> None:
        self.theirs: Final = Workloads(theirs)
        self.ours: Final = Workloads(ours)
        self.engines: Final = Workloads(side for side in theirs if side.serves)  # those of theirs that run one
        self.pairs: Final = {id(old): new for old, new in pairs}
        self.scaled: Final = {
            (side.key.namespace, text_at(side.view, "spec", "scaleTargetRef", "name"))
            for side in ours
            if side.key.kind in wellknown.AUTOSCALERS
        }

    def same_pods(self, theirs: ObjectSide, ours: ObjectSide) -> bool:
        """Whether the selectors of two objects lead to the pods of counterparts, ours by all that tells them apart."""
        old, new = self.theirs.selected_by(theirs), self.ours.selected_by(ours)
        path = selector_path(ours.key)
        selector = map_at(ours.view, *path)
        if selector.items() <= map_at(theirs.view, *path).items() or not old:
            return False
        whole = all(workload.selector.items() <= selector.items() for workload, _ in new)
        return whole and [(id(self.pairs.get(id(workload))), roles) for workload, roles in old] == [
            (id(workload), roles) for workload, roles in new
        ]


class LivePair:
    """An object of theirs and its counterpart."""

    def __init__(self, theirs: ObjectSide, ours: ObjectSide, around: Surrounding) -> None:
        self.theirs: Final = theirs
        self.ours: Final = ours
        self.around: Final = around

    @cached_property
    def pods(self) -> Mapping[str, PodPair]:
        """The pod templates of both, by whose they are. A template of pods of several kinds is that of each."""
        old, new = dict(self.theirs.pods), dict(self.ours.pods)
        for some, others in ((old, new), (new, old)):
            if "worker" in others and "worker" not in some and "leader" in some:
                some["worker"] = some["leader"]
        return {role: PodPair(old[role], new[role]) for role in old if role in new}

    @cached_property
    def roots(self) -> Mapping[str, str]:
        """What stands for the beginning of the paths in each pod: the path in theirs."""
        return {
            f"@{role}": ".".join(map(str, pods.theirs.place if role in self.theirs.pods else pods.ours.place))
            for role, pods in self.pods.items()
        }

    @property
    def other_kind(self) -> bool:
        """Whether a workload of another kind takes its place."""
        return self.theirs.key.kind != self.ours.key.kind

    @cached_property
    def of_operator(self) -> bool:
        """Whether theirs is what the llmaz operator makes of its custom resources."""
        labels = [map_at(pod.template, "metadata", "labels") for pod in self.theirs.pods.values()]
        is_managed = any(wellknown.MANAGED_BY in keys for keys in labels)
        return not is_managed and any(wellknown.MODEL_NAME in keys for keys in labels)


class PodPair:
    """A pod template of theirs and its counterpart."""

    def __init__(self, theirs: PodSide, ours: PodSide) -> None:
        self.theirs: Final = theirs
        self.ours: Final = ours

    @cached_property
    def counterparts(self) -> Counterparts:
        """Which container and which volumes have other names."""
        return match_pods(self.theirs, self.ours)

    @cached_property
    def new_loaders(self) -> Mapping[str, Mapping[str, Any]]:
        """The loaders of ours that theirs has not, by name."""
        known = {text_at(body, "name") for body in self.theirs.loaders}
        return {name: body for body in self.ours.loaders if (name := text_at(body, "name")) not in known}

    @cached_property
    def new_loader_volumes(self) -> Set[str]:
        """The names of the volumes that these mount, and theirs does not have."""
        loaders = self.new_loaders.values()
        volumes = {text_at(mount, "name") for body in loaders for mount in maps_at(body, "volumeMounts")}
        return volumes - self.theirs.volumes.keys()

    def name_of_theirs(self, container: str) -> str:
        """The name that the counterpart of a container of ours has in theirs."""
        renamed = self.counterparts.container
        return renamed if renamed and container == (self.ours.engine or RUNNER) else container

    @cached_property
    def commands(self) -> Mapping[str, str]:
        """The containers of ours whose command lines are compared option by option, and the names of theirs."""
        names = {name: self.name_of_theirs(name) for name in self.ours.engines}
        return {
            name: old
            for name, old in names.items()
            if old in self.theirs.engines and self.theirs.engines[old].backend == self.ours.engines[name].backend
        }
