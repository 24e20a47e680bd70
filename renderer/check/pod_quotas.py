"""What ResourceQuotas count of the workloads of a namespace, and where that is more than one allows.

By Kubernetes 1.34: pkg/quota/v1/evaluator/core/pods.go and resource_claims.go (what they count, and of which scopes).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.shared_volumes import least_replicas, most_replicas
from renderer.diagnostics import Finding, Path, listed
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.device_claims import device_counts
from renderer.kubernetes.disaggregated_sets import ROLE_SCALER, slice_count
from renderer.kubernetes.json_values import list_at, map_at, maps_at, number_at, text_at, texts_at
from renderer.kubernetes.pod_amounts import BILLION, container_amounts, format_amount, pod_amounts
from renderer.kubernetes.rollouts import bound_count, surge_bound
from renderer.kubernetes.workloads import (
    DISAGGREGATED_SET,
    WORKLOADS,
    Replica,
    containers,
    kind_of,
    maps_in,
    scale_target,
)

QUOTA, DEFAULTS = "ResourceQuota.", "LimitRange."  # kinds as in Keys
CLAIM, CLAIM_TEMPLATE = "ResourceClaim.resource.k8s.io", "ResourceClaimTemplate.resource.k8s.io"
DEVICES = ".deviceclass.resource.k8s.io/devices"
"""What the name of a DeviceClass has behind it in a quota of its devices."""
ASKED = ("cpu", "memory")
"""What each container has to say where a quota counts it."""
_UNSCALED = (("", "Pod"), DISAGGREGATED_SET)  # kinds that have pods all the time beside those with the subresource
_PODS = ("pods", "count/pods")
_BARE = (*ASKED, "ephemeral-storage")  # counted as requests where nothing stands before the name
_PRIORITY, _BY_QUALITY = "PriorityClass", ("BestEffort", "NotBestEffort")  # scopes
_SHOWN = 3  # workloads that a message names

Target: TypeAlias = tuple[str, str, str]
"""Namespace, kind and name of what an autoscaler scales."""


class CountedPods(Struct, frozen=True):
    """Pods of a replica that are alike."""

    number: int
    usage: Mapping[str, int]  # of one of them, in billionths by the key of a quota
    templates: Sequence[str] = ()  # the ResourceClaimTemplates by which each claims devices
    scopes: Set[str] = frozenset()  # those of quotas in which they are
    priority: str = ""


class QuotaShare(Struct, frozen=True):
    """What quotas count of an object: of a workload for each sort of its replicas."""

    who: str  # kind and name
    namespace: str
    target: Target | None  # what an autoscaler of these replicas names; None for a single pod or claim
    replicas: int  # without one
    surge: object  # how many more a rollout adds: a number or a percentage
    pods: Sequence[CountedPods]

    def counts(self, bounds: Mapping[Target, tuple[int, int]]) -> tuple[int, int, int]:
        """The fewest replicas, the most, and the most at once while a rollout replaces them. `bounds`: those of
        autoscalers.
        """
        least, most = bounds.get(self.target, (self.replicas, self.replicas)) if self.target else (1, 1)
        return least, most, most + (bound_count(self.surge, most, up=True) if most else 0)


class QuotaBeside(Struct, frozen=True):
    """What else decides how much the workloads of a set have."""

    bounds: Mapping[Target, tuple[int, int]]  # of autoscalers
    devices: Mapping[tuple[str, str], Mapping[str, int]]  # of ResourceClaimTemplates, by the key of a quota
    filled: Set[str]  # namespaces where a LimitRange may add requests and limits


def quota_shares(body: Body, replicas: Iterable[Replica]) -> Iterator[QuotaShare]:
    """What quotas count of a workload that runs until somebody deletes it, and of a claim of devices; nothing of other
    objects, and of replicas with an amount that is no quantity.
    """
    kind, namespace, name = kind_of(body), text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")
    who, workload = f"{kind[1]} '{name}'", WORKLOADS.get(kind)
    if f"{kind[1]}.{kind[0]}" == CLAIM:
        yield QuotaShare(who, namespace, None, 1, 0, [CountedPods(1, claimed_devices(map_at(body, "spec")))])
    if not workload or not (workload.is_scalable or kind in _UNSCALED):
        return
    for replica in replicas:
        role = replica.set_role
        target = (namespace, ROLE_SCALER, role.scaler) if role else (namespace, kind[1], name)
        is_scaled = workload.is_scalable or role
        count = (slice_count(body) if role else 1) * int(number_at(replica.spec, "replicas", default=1))
        try:
            pods = [_counted_pods(replica.pods(template), template.spec) for template in replica.used_templates]
        except ValueError:
            continue  # told as such
        yield QuotaShare(who, namespace, target if is_scaled else None, count, surge_bound(kind, replica.spec), pods)


def _counted_pods(number: int, spec: Body) -> CountedPods:
    requests, limits = pod_amounts(spec), pod_amounts(spec, "limits")
    usage = dict.fromkeys(_PODS, BILLION)
    usage |= {f"requests.{name}": amount for name, amount in requests.items()}
    bare = [name for name in requests if name in _BARE or name.startswith("hugepages-")]
    usage |= {name: requests[name] for name in bare}
    usage |= {f"limits.{name}": limits[name] for name in _BARE if name in limits}
    templates = [text_at(claim, "resourceClaimTemplateName") for claim in maps_at(spec, "resourceClaims")]
    return CountedPods(number, usage, templates, frozenset(_scopes(spec)), text_at(spec, "priorityClassName"))


def _scopes(spec: Body) -> Iterator[str]:
    """The scopes of quotas in which a pod is, but for those of its priority."""
    yield "Terminating" if "activeDeadlineSeconds" in spec else "NotTerminating"
    sized = [spec, *(container for _, container in containers(spec))]
    yield _BY_QUALITY[any(name in ASKED for item in sized for name in container_amounts(item))]
    if any(term.get("namespaces") or "namespaceSelector" in term for _, term in maps_in(spec.get("affinity"))):
        yield "CrossNamespacePodAffinity"


def claimed_devices(spec: Body) -> dict[str, int]:
    """The devices of a ResourceClaim's spec, in billionths by the key of a quota."""
    return {f"{name}{DEVICES}": count * BILLION for name, count in device_counts(spec).items()}


def quota_beside(bodies: Iterable[tuple[str, Body]]) -> QuotaBeside:
    """What these autoscalers, ResourceClaimTemplates and LimitRanges decide, each with its kind as in Keys."""
    bounds: dict[Target, tuple[int, int]] = {}
    devices: dict[tuple[str, str], Mapping[str, int]] = {}
    filled: set[str] = set()
    for kind, body in bodies:
        place = text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")
        if kind == CLAIM_TEMPLATE:
            devices[place] = claimed_devices(map_at(body, "spec", "spec"))
        elif kind == DEFAULTS:
            filled.add(place[0])
        elif kind in wellknown.AUTOSCALERS:
            bounds[scale_target(body)] = least_replicas(body), most_replicas(body)
    return QuotaBeside(bounds, devices, filled)


class QuotaSum(Struct, frozen=True):
    """What the workloads of a namespace have of what one key of a quota counts, in billionths."""

    key: str
    allowed: int
    of_pod: Mapping[str, int]  # of the largest pod of each, in words, or of a claim
    parts: Sequence[tuple[str, tuple[int, int, int]]]  # of each: at the least, at the most, and in a rollout

    @property
    def totals(self) -> Sequence[int]:
        """Of all together: at the least, at the most, and in a rollout."""
        return [sum(amounts[i] for _, amounts in self.parts) for i in range(3)]

    def owners(self, index: int) -> str:
        """Those that have a part of a total, in words."""
        names = list(dict.fromkeys(who for who, amounts in self.parts if amounts[index]))
        return listed([*names[:_SHOWN], *([f"{len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else [])])


def quota_sums(quota: Body, shares: Iterable[QuotaShare], beside: QuotaBeside) -> Iterator[QuotaSum]:
    """What a quota counts of the workloads of its namespace, for each of its keys; nothing where nobody knows
    which pods are in its scopes.
    """
    spec, namespace = map_at(quota, "spec"), text_at(quota, "metadata", "namespace")
    scopes: list[Mapping[str, object]] = [
        {"scopeName": scope, "operator": "Exists"} for scope in texts_at(spec, "scopes")
    ]
    scopes += maps_at(spec, "scopeSelector", "matchExpressions")
    if namespace in beside.filled and any(scope.get("scopeName") in _BY_QUALITY for scope in scopes):
        return
    own = [(share, share.counts(beside.bounds)) for share in shares if share.namespace == namespace]
    for key, hard in map_at(spec, "hard").items():
        if scopes and key.endswith(DEVICES):
            continue  # claims are in no scope
        try:
            allowed = quantity.nanos(hard)
        except ValueError:
            continue  # the schema tells it
        of_pod: dict[str, int] = {}
        parts: list[tuple[str, tuple[int, int, int]]] = []
        for share, counts in own:
            pods = [alike for alike in share.pods if all(_holds(scope, alike) for scope in scopes)]
            usages = [_usage(namespace, alike, key, beside) for alike in pods]
            replica = sum(alike.number * usage for alike, usage in zip(pods, usages, strict=True))
            if replica and counts[2]:
                who = f"a pod of {share.who}" if share.target else share.who
                of_pod[who] = max(of_pod.get(who, 0), *usages)
                parts.append((share.who, (counts[0] * replica, counts[1] * replica, counts[2] * replica)))
        yield QuotaSum(key, allowed, of_pod, parts)


def _usage(namespace: str, pods: CountedPods, key: str, beside: QuotaBeside) -> int:
    """What one pod has of what a key counts, with the devices that it claims by templates."""
    claimed = [beside.devices.get((namespace, name), {}) for name in pods.templates] if key.endswith(DEVICES) else ()
    return pods.usage.get(key, 0) + sum(devices.get(key, 0) for devices in claimed)


def _holds(scope: Mapping[str, object], pods: CountedPods) -> bool:
    """Whether pods are in a scope of a quota."""
    name, operator = scope.get("scopeName"), scope.get("operator")
    if name != _PRIORITY:
        return name in pods.scopes
    if operator in ("In", "NotIn"):
        return bool(operator == "In") is (bool(pods.priority) and pods.priority in list_at(scope, "values"))
    return bool(operator == "Exists") is bool(pods.priority)


def exceeded(quota: Body, sums: Iterable[QuotaSum]) -> Iterator[Finding]:
    """A finding for each amount of a quota that one pod of its namespace exceeds, or all of them together: an error
    where they do with the fewest replicas, a warning where only the most do, or only a rollout of these. `sums`: what
    it counts.
    """
    metadata = map_at(quota, "metadata")
    words = {"name": metadata.get("name"), "namespace": metadata.get("namespace")}
    words["pods"] = "pods in its scopes" if map_at(quota, "spec").keys() & {"scopes", "scopeSelector"} else "pods"
    for entry in sums:
        if excess := _excess(entry):
            resource = entry.key.removeprefix("requests.").removeprefix("limits.")
            need, room = (format_amount(resource, amount) for amount in (excess.amount, entry.totals[2]))
            counts = {"key": entry.key, "hard": map_at(quota, "spec", "hard")[entry.key], "need": need, "room": room}
            path: Path = ("spec", "hard", entry.key)
            yield Finding(excess.code, path, {**words, **counts, "who": excess.who, "other": excess.other})


class _Excess(Struct, frozen=True):
    """That a quota is not enough."""

    code: str
    who: str  # needs how much
    amount: int
    other: str = "fewer replicas at the most"  # what helps beside a higher quota


def _excess(entry: QuotaSum) -> _Excess | None:
    """How a quota is not enough, by the worst; None where it is."""
    largest, amount = max(entry.of_pod.items(), key=lambda item: item[1], default=("", 0))
    least, most, surge = entry.totals
    if amount > entry.allowed:
        return _Excess("E929", f"{largest} needs", amount)
    if least > entry.allowed:
        return _Excess("E929", f"the least replicas of {entry.owners(0)} need", least)
    if most > entry.allowed:
        return _Excess("W930", f"the most replicas of {entry.owners(1)} need", most)
    if surge > entry.allowed:
        who = f"in a rollout the most replicas of {entry.owners(2)} need"
        return _Excess("W930", who, surge, "a smaller maxSurge")
    return None
