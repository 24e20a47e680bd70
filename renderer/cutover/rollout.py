"""What a cutover does to the pods of a model: which restart, why, and what holds them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from renderer.admission.server_view import server_view
from renderer.diff.fields import diff_values
from renderer.diff.risks import restarting_fields
from renderer.kubernetes.json_values import as_map, map_at, number_at, value_at
from renderer.kubernetes.server_defaults import complete_leader_worker_set

_ROLLOUT = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
_MOST = 2**31 - 1  # that a field of Kubernetes holds


class Pods(Struct, frozen=True):
    """The pods of some groups of a LeaderWorkerSet, which are counted: a dump may ask for any number of them."""

    name: str  # of the LeaderWorkerSet
    groups: int = 0  # behind the first ones
    first: int = 0  # the number of the first group
    size: int = 1  # pods of a group

    @property
    def count(self) -> int:
        """How many there are."""
        return self.groups * self.size

    def names(self, most: int) -> list[str]:
        """The names of the first ones."""
        places = (divmod(number, self.size) for number in range(min(self.count, most)))
        return [f"{self.name}-{self.first + group}" + (f"-{pod}" if pod else "") for group, pod in places]


class PodChange(Struct, frozen=True):
    """The pods of a model, live and as rendered."""

    fields: list[str]  # short names of what differs in their template; none where they stay
    held_pods: Pods  # that the rendered partition holds, of those that restart when nothing holds them
    free_pods: Pods  # that nothing holds
    replicas: int  # that run
    partition: int  # as rendered
    most_replicas: int  # that may run while the partition holds: as many as an autoscaler may make
    rendered_replicas: int | None  # None where an autoscaler owns them
    has_partition: bool  # whether the controller that runs knows one


def compare_templates(name: str, live: object, rendered: object, most_replicas: int) -> PodChange:
    """What happens to the pods of a live LeaderWorkerSet when the rendered one is applied. `most_replicas`: that its
    autoscaler allows, 0 without one.
    """
    fields = restarting_fields(diff_values(_template(live), _template(rendered)))
    replicas = count_at(live, "spec", "replicas", default=1)
    partition = count_at(rendered, *_ROLLOUT, "partition")
    size = max(count_at(live, "spec", "leaderWorkerTemplate", "size", default=1), 1)
    groups = replicas if fields else 0
    held_groups = min(groups, partition)
    replicas_rendered = value_at(rendered, "spec", "replicas")
    return PodChange(
        fields=fields,
        held_pods=Pods(name, held_groups, 0, size),
        free_pods=Pods(name, groups - held_groups, held_groups, size),
        replicas=replicas,
        partition=partition,
        most_replicas=max(replicas, most_replicas),
        rendered_replicas=replicas_rendered if isinstance(replicas_rendered, int) else None,
        has_partition=value_at(live, *_ROLLOUT, "partition") is not None,
    )


def count_at(value: object, *path: str, default: int = 0) -> int:
    """The number at a path, as far as a cluster may have it."""
    return min(max(int(number_at(value, *path, default=default)), 0), _MOST)


def _template(body: object) -> Mapping[str, object]:
    """What of a LeaderWorkerSet its pods are made of, with what the API server fills in."""
    spec: dict[str, object] = {**map_at(server_view(as_map(body)), "spec")}
    complete_leader_worker_set(spec)
    template = _without_empty(spec.get("leaderWorkerTemplate"))
    spec = {"leaderWorkerTemplate": template, "networkConfig": spec["networkConfig"]}
    return {"metadata": {"annotations": map_at(body, "metadata", "annotations")}, "spec": spec}


def _without_empty(value: object) -> object:
    """The value without nulls and empty `resources`, which LeaderWorkerSet's webhook writes where nothing is."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_empty(item)
        for key, item in value.items()
        if item is not None and not (key == "resources" and item == {})
    }
