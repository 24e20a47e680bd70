"""The limits of a node pool: configured, or what the workloads need, rounded up to whole nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from renderer.diagnostics import Collector, Origin, quoted
from renderer.kubernetes import quantity
from renderer.nodes.demand import PodGroup
from renderer.nodes.instances import (
    InstanceChoice,
    is_countable,
)
from renderer.nodes.settings import KarpenterSettings


def configured_limits(karpenter: KarpenterSettings, diagnostics: Collector) -> Mapping[str, str]:
    """The limits in RenderConfig, as canonical quantities."""
    limits = {}
    for name, value in (karpenter.get("limits") or {}).items():
        try:
            limits[name] = quantity.canonical(value)
        except ValueError:
            diagnostics.add("E305", karpenter.at("limits").at(name), value=value, hint=quantity.hint(value))
    return limits


def check_limits(
    karpenter: KarpenterSettings,
    candidates: InstanceChoice,
    configured_limits: Mapping[str, str],
    diagnostics: Collector,
) -> None:
    """A warning for a limit in RenderConfig below the accelerators of one node; 0 is taken as intended."""
    for name, value in configured_limits.items():
        smallest = min(
            [instance.holds for instance in candidates.instances if instance.resource == name and instance.holds],
            default=0,
        )
        if candidates.sure and not candidates.open and 0 < quantity.nanos(value) < smallest * 10**9:
            what = (
                f"its limit is {value} of {name}, and the smallest instance that meets its requirements has {smallest}"
            )
            hint = "Karpenter makes no node that exceeds the limit: raise it, or fix the requirements"
            diagnostics.add("W790", karpenter.at("limits").at(name), name=karpenter.flavor, what=what, hint=hint)


def pool_limits(
    flavor: str,
    origin: Origin,
    candidates: InstanceChoice,
    pods: Sequence[PodGroup],
    resources: Sequence[str],
    diagnostics: Collector,
) -> Mapping[str, str]:
    """The limit in accelerators of whole nodes, if all pods request the same resource and the instances are known; else
    in nodes, one for each pod. `origin`: of the flavor.
    """
    nodes = {"nodes": str(sum(pod.surge_pods for pod in pods))}
    if len(resources) != 1 or not all(pod.accelerators for pod in pods) or not is_countable(resources[0]):
        return nodes
    [resource] = resources
    pods_by_count: dict[int, int] = {}
    for pod in pods:
        pods_by_count[pod.accelerators[resource]] = pods_by_count.get(pod.accelerators[resource], 0) + pod.surge_pods
    counts = [instance.holds for instance in candidates.instances if instance.resource == resource]
    if candidates.open or not candidates.sure:
        return nodes
    if (enough := accelerators_needed(pods_by_count, counts)) is not None:
        return {resource: str(enough)}
    words = {"asked": max(pods_by_count), "resource": resource, "most": max(counts, default=0)}
    if candidates.named and len(counts) == len(candidates.named) and not any(counts):
        what = (
            f"EC2 reports no whole {resource} for {quoted(candidates.named)}, so Karpenter makes no node for these pods"
        )
        hint = "name another instance type; if your Karpenter knows otherwise, ignore this"
        diagnostics.add("W790", origin, name=flavor, what=what, hint=hint)
    elif candidates.named:
        diagnostics.add("E798", origin, name=flavor, names=quoted(candidates.named), **words)
    else:
        what = "a pod requests {asked} of {resource}, but no instance known here that meets its requirements has more "
        what += "than {most}"
        hint = "fix the requirements; if there is such an instance, ignore this"
        diagnostics.add("W790", origin, name=flavor, what=what.format(**words), hint=hint)
    return nodes


def accelerators_needed(pods: Mapping[int, int], counts: Iterable[int]) -> int | None:
    """The accelerators of nodes that hold all pods; None if a pod requests more than any node has.

    `pods`: number of pods by accelerators of each; `counts`: accelerators of each possible instance. Karpenter makes no
    node that exceeds the rest of a limit, and may choose any of the instances, so the result is enough for each choice.
    """
    kinds = sorted(set(counts))
    totals = [_accelerators_by_kind(pods, kinds[i:]) for i in range(len(kinds))]
    return max(totals) if totals and max(pods, default=0) <= kinds[-1] else None


def _accelerators_by_kind(pods: Mapping[int, int], kinds: Sequence[int]) -> int:
    """The accelerators of nodes for the pods, each pod on the smallest node size that can hold it."""
    pods_by_size: dict[int, dict[int, int]] = {}
    for request, number in pods.items():
        if kind := next((size for size in kinds if size >= request), 0):
            pods_by_size.setdefault(kind, {})[request] = number
    return sum(kind * _nodes(kind, size_pods) for kind, size_pods in pods_by_size.items())


def _nodes(size: int, pods: Mapping[int, int]) -> int:
    """The number of nodes of that size for the pods, with the largest pods placed first."""
    free: dict[int, int] = {}  # nodes by what is left on them
    nodes = 0
    for request in sorted(pods, reverse=True):
        left = pods[request]
        for room in sorted(free, reverse=True):
            while left and free[room] and room >= request:
                per_node = room // request  # pods that one such node takes
                nodes_filled = min(free[room], left // per_node)
                if nodes_filled:
                    free[room] -= nodes_filled
                    free[room - per_node * request] = free.get(room - per_node * request, 0) + nodes_filled
                    left -= nodes_filled * per_node
                else:
                    free[room] -= 1
                    free[room - left * request] = free.get(room - left * request, 0) + 1
                    left = 0
        per_node = size // request
        full, rest = divmod(left, per_node)
        for number, used in ((full, per_node), (1 if rest else 0, rest)):
            if number:
                nodes += number
                free[size - used * request] = free.get(size - used * request, 0) + number
    return nodes
