"""Claims for volumes that several pods mount, and whose access modes let only one node, or one pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer.check.finding import Body, IndexedFinding
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import as_map, maps_at, number_at, text_at, texts_at
from renderer.kubernetes.rollouts import surge_bound
from renderer.kubernetes.workloads import Replica, kind_of, replicas, scale_target

CLAIM = "PersistentVolumeClaim"
_ONE_POD, _ONE_NODE = "ReadWriteOncePod", "ReadWriteOnce"
_MODES: Path = ("spec", "accessModes")


class MountedClaim(Struct, frozen=True):
    """A claim that the pods of a workload mount."""

    name: str
    pods: int  # at once, without those that an autoscaler adds
    group: int  # pods of a replica among them


def mounted_claims(body: Body) -> tuple[MountedClaim, ...]:
    """The claims that the pods of a workload mount; nothing for other objects."""
    return tuple(claim for replica in replicas(body) for claim in _claims_of_replica(body, replica))


def _claims_of_replica(body: Body, replica: Replica) -> Iterator[MountedClaim]:
    groups: Counter[str] = Counter()
    for template in replica.templates:
        groups.update(dict.fromkeys(_claims_of_pod(template.spec), replica.pods(template)))
    for name in sorted(groups):
        yield MountedClaim(name, groups[name] * _most_at_once(body, replica), groups[name])


def _most_at_once(body: Body, replica: Replica) -> int:
    """How many replicas run at once: of a DaemonSet one on each node, of others one more where a rollout surges."""
    spec = replica.spec
    count = int(number_at(spec, "replicas", default=number_at(spec, "parallelism", default=1)))
    if body["kind"] == "DaemonSet":
        return 2
    return count + (1 if surge_bound(kind_of(body), spec) not in (0, "0", "0%") else 0)


def _claims_of_pod(pod: Body) -> set[str]:
    names = (text_at(volume, "persistentVolumeClaim", "claimName") for volume in maps_at(pod, "volumes"))
    return {name for name in names if name}


def claim_finding(claim: Body, mounted: MountedClaim, owner: str, replicas: int = 0) -> Finding | None:
    """What is wrong with a claim that the pods of `owner` mount; None where its access modes let them. `replicas`: at
    the most, by an autoscaler.
    """
    modes = texts_at(claim, *_MODES)
    pods = max(mounted.pods, mounted.group * replicas)
    if pods < 2 or not modes or not {_ONE_POD, _ONE_NODE}.issuperset(modes):
        return None
    one = "pod" if _ONE_NODE not in modes else "node"
    words = {"modes": " and ".join(modes), "one": one, "pods": pods, "owner": owner}
    return Finding("W500", _MODES, words)


def shared_claims(bodies: Sequence[Body]) -> Iterator[IndexedFinding]:
    """A finding for each claim of a set of objects that more pods of the set mount than its access modes let."""
    claims = {_key(body): i for i, body in enumerate(bodies) if body["kind"] == CLAIM}
    most = {scale_target(body): most_replicas(body) for body in bodies if body["kind"] in wellknown.AUTOSCALERS}
    for body in bodies:
        kind, (namespace, name) = str(body["kind"]), _key(body)
        for mounted in mounted_claims(body):
            index = claims.get((namespace, mounted.name))
            owner = f"{kind} {namespace}/{name}"
            if index is not None and (
                finding := claim_finding(bodies[index], mounted, owner, most.get((namespace, kind, name), 0))
            ):
                yield index, finding


def least_replicas(scaler: Body) -> int:
    """The fewest replicas that an autoscaler may ask for."""
    spec = as_map(scaler.get("spec"))
    if text_at(scaler, "kind") == wellknown.HPA:
        return int(number_at(spec, "minReplicas", default=1))
    least = number_at(spec, "minReplicaCount", default=0)
    return int(min(least, number_at(spec, "idleReplicaCount", default=least)))


def most_replicas(scaler: Body) -> int:
    """The most replicas that an autoscaler may ask for; 0 where it does not say."""
    spec = as_map(scaler.get("spec"))
    return int(number_at(spec, "maxReplicas", default=number_at(spec, "maxReplicaCount", default=0)))


def _key(body: Body) -> tuple[str, str]:
    return text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")
