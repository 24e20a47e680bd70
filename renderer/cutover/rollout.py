"""What a cutover does to the pods of a model: which restart, why, and what holds them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from renderer.diff.fields import diff_values
from renderer.diff.risks import restarting_fields
from renderer.kubernetes.json_values import map_at, number_at, value_at

_ROLLOUT = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")


class PodChange(Struct, frozen=True):
    """The pods of a model, live and as rendered."""

    fields: list[str]  # short names of what differs in their template; none where they stay
    pods: list[str]  # that restart when nothing holds them
    held_pods: list[str]  # those of them that the rendered partition holds
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
    replicas = int(number_at(live, "spec", "replicas", default=1))
    partition = int(number_at(rendered, *_ROLLOUT, "partition"))
    size = int(number_at(live, "spec", "leaderWorkerTemplate", "size", default=1))
    groups = [[f"{name}-{index}", *(f"{name}-{index}-{i}" for i in range(1, size))] for index in range(replicas)]
    replicas_rendered = value_at(rendered, "spec", "replicas")
    return PodChange(
        fields=fields,
        pods=[pod for group in groups for pod in group] if fields else [],
        held_pods=[pod for group in groups[:partition] for pod in group] if fields else [],
        replicas=replicas,
        partition=partition,
        most_replicas=max(replicas, most_replicas),
        rendered_replicas=replicas_rendered if isinstance(replicas_rendered, int) else None,
        has_partition=value_at(live, *_ROLLOUT, "partition") is not None,
    )


def _template(body: object) -> Mapping[str, object]:
    """What of a LeaderWorkerSet its pods are made of, with what the API server fills in."""
    template = {"size": 1, "restartPolicy": "RecreateGroupOnPodRestart", **map_at(body, "spec", "leaderWorkerTemplate")}
    network = {"subdomainPolicy": "Shared", **map_at(body, "spec", "networkConfig")}
    spec = {"leaderWorkerTemplate": _without_empty(template), "networkConfig": network}
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
