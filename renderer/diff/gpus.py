"""Accelerators of a replica by kind: the flavor, else the node labels that the pods select. Devices that pods claim by
dynamic resource allocation count as those in limits do, under the name of their DeviceClass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from renderer.diff.objects import Body, Items
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.device_claims import device_counts
from renderer.kubernetes.json_values import list_at, map_at, maps_at

CLAIM_TEMPLATE = "ResourceClaimTemplate"
_FLAVORS = wellknown.FLAVORS
_REQUIRED = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_OF_NO_KIND = ("kubernetes.io/", "topology.kubernetes.io/")  # system, processor, zone


class AcceleratorNames(Struct, frozen=True):
    """Which resources of pods are accelerators, as presets/accelerators.yaml says."""

    counts: Callable[[str], bool]  # whether a resource or a DeviceClass is one
    # Whether it is a part of a card, by its name, the resources beside it and the labels of the pod's nodes:
    are_parts: Callable[[str, Iterable[str], Mapping[str, str]], bool]


class AcceleratorKind(Struct, frozen=True):
    """A kind of accelerator."""

    resource: str
    hardware: str  # the flavor that the pods claim, else the selected node labels, else ''
    is_part: bool = False  # of a card that others have parts of

    def __str__(self) -> str:
        return f"{self.resource} ({self.hardware})" if self.hardware else self.resource


class GpuChange(Struct, frozen=True):
    """The number of accelerators of one kind, before and after: of one replica, and at the most replicas."""

    name: str
    replica: tuple[int, int]
    peak: tuple[int, int]
    is_part: bool = False  # of cards that others have parts of


def sum_gpus(name: str, changes: Iterable[GpuChange]) -> GpuChange:
    """The sum of these accelerators, all of them whole cards or parts, under a name; `replica` is the sum over one
    replica of each.
    """
    listed = list(changes)
    return GpuChange(
        name,
        (sum(gpu.replica[0] for gpu in listed), sum(gpu.replica[1] for gpu in listed)),
        (sum(gpu.peak[0] for gpu in listed), sum(gpu.peak[1] for gpu in listed)),
        is_part=any(gpu.is_part for gpu in listed),
    )


def count_gpus(kinds: Mapping[AcceleratorKind, int]) -> tuple[int, bool]:
    """The number of whole cards, or of parts where there is no card; and whether it is of parts."""
    cards = sum(count for kind, count in kinds.items() if not kind.is_part)
    parts = sum(kinds.values()) - cards
    return (cards, False) if cards or not parts else (parts, True)


def claim_templates(pod: Body) -> list[str]:
    """The names of the ResourceClaimTemplates that the pod claims devices by."""
    return [str(claim.get("resourceClaimTemplateName", "")) for claim in maps_at(pod, "spec", "resourceClaims")]


def claimed_devices(objects: Items) -> dict[tuple[str, str], Mapping[str, int]]:
    """The devices that each ResourceClaimTemplate asks for, by its namespace and name: their number by DeviceClass."""
    templates: dict[tuple[str, str], Mapping[str, int]] = {}
    for key, item in objects.items():
        if key.kind == CLAIM_TEMPLATE:
            templates[key.namespace, key.name] = device_counts(map_at(item.body, "spec", "spec"), of_all=1)
    return templates


def claimed_flavors(pod: Body) -> str:
    """The flavors that the app claims, separated by commas; '' if it claims none and may use all of the model's."""
    return str(map_at(pod, "metadata", "annotations").get(_FLAVORS, ""))


def describe_nodes(pod: Body) -> str:
    """The node labels that a pod selects, for people: `gpu=a100 or gpu=h100`."""
    chosen = _labels((key, [value]) for key, value in map_at(pod, "spec", "nodeSelector").items())
    terms = [
        _labels(
            (str(expression.get("key")), list_at(expression, "values"))
            for expression in maps_at(term, "matchExpressions")
        )
        for term in maps_at(pod, *_REQUIRED)
    ]
    return ", ".join(filter(None, [chosen, " or ".join(dict.fromkeys(filter(None, terms)))]))


def _selected_labels(pod: Body) -> dict[str, str]:
    """The node labels that a pod selects, of several values the first."""
    terms = maps_at(pod, *_REQUIRED)
    required = {
        str(expression.get("key")): str(value)
        for term in terms
        for expression in maps_at(term, "matchExpressions")
        for value in list_at(expression, "values")[:1]
    }
    return required | {key: str(value) for key, value in map_at(pod, "spec", "nodeSelector").items()}


def _labels(pairs: Iterable[tuple[str, list[object]]]) -> str:
    return ", ".join(
        f"{key.rpartition('/')[2]}={'|'.join(map(str, values))}" if values else key.rpartition("/")[2]
        for key, values in pairs
        if not key.startswith(_OF_NO_KIND)
    )


def accelerators(
    pods: Iterable[tuple[Body, int]], names: AcceleratorNames, claimed: Mapping[str, Mapping[str, int]]
) -> Mapping[AcceleratorKind, int]:
    """The accelerators of one replica, by kind. `pods`: pod templates, each with its number of pods in a replica;
    `claimed`: the devices that each ResourceClaimTemplate of the namespace asks for.
    """
    counts: dict[AcceleratorKind, int] = {}
    for pod, times in pods:
        kind, declared = "", declared_accelerator(pod)
        amounts = list(_amounts(pod, claimed))
        for name, amount in amounts:
            if (names.counts(name) or name == declared) and (count := amount * times):
                kind = kind or " or ".join(_active_flavors(pod)) or describe_nodes(pod)
                is_part = names.are_parts(name, (other for other, _ in amounts), _selected_labels(pod))
                key = AcceleratorKind(name, kind, is_part)
                counts[key] = counts.get(key, 0) + count
    return counts


def declared_accelerator(pod: Body) -> str:
    """The resource of a pod that is an accelerator because RenderConfig says so; '' without one."""
    return str(map_at(pod, "metadata", "annotations").get(wellknown.ACCELERATOR, ""))


def _amounts(pod: Body, claimed: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, int]]:
    """All that one pod asks for: resources of each container, and devices."""
    for container in maps_at(pod, "spec", "containers"):
        resources = map_at(container, "resources")
        for name, value in {**map_at(resources, "requests"), **map_at(resources, "limits")}.items():
            yield name, _amount(value)
    for template in claim_templates(pod):
        yield from claimed.get(template, {}).items()


def _active_flavors(pod: Body) -> list[str]:
    """The claimed flavors that the pod may run on: only the first one if a node selector fixes it, all of them with a
    node affinity or with llmaz's scheduler.
    """
    names = list(filter(None, claimed_flavors(pod).split(",")))
    spec = map_at(pod, "spec")
    llmaz_scheduler = str(spec.get("schedulerName", "")).startswith("inftyai")
    return names[:1] if spec.get("nodeSelector") and not maps_at(pod, *_REQUIRED) and not llmaz_scheduler else names


def compare_gpus(
    old: Mapping[AcceleratorKind, int],
    new: Mapping[AcceleratorKind, int],
    max_replicas: tuple[int, int],
    same_nodes: bool,
) -> Iterator[GpuChange]:
    """The change for each kind of accelerator. `old`, `new`: of one replica; `max_replicas`: on each side;
    `same_nodes`: both sides select the same nodes and only one claims a flavor, so its name counts for both.
    """
    if same_nodes and len(names := {kind.hardware for kind in new}) == 1:
        (hardware,) = names
        old = {replace(kind, hardware=hardware): count for kind, count in old.items()}
    for kind in sorted({*old, *new}, key=str):
        a, b = old.get(kind, 0), new.get(kind, 0)
        yield GpuChange(str(kind), (a, b), (a * max_replicas[0], b * max_replicas[1]), kind.is_part)


def _amount(value: object) -> int:
    try:
        return quantity.nanos(value) // 10**9
    except ValueError:
        return 0
