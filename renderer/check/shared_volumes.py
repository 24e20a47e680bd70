"""Claims for volumes that several pods mount, and whose access modes let only one node, or one pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer.check.finding import Body, IndexedFinding
from renderer.diagnostics import Path
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import as_map, map_at, maps_at, number_at, text_at, texts_at
from renderer.kubernetes.server_defaults import DEPLOYMENT_ROLLOUT

CLAIM = "PersistentVolumeClaim"
_ONE_POD, _ONE_NODE = "ReadWriteOncePod", "ReadWriteOnce"
_MODES: Path = ("spec", "accessModes")
_TEMPLATED = frozenset({wellknown.DEPLOYMENT, "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "Deployment"})


class MountedClaim(Struct, frozen=True):
    """A claim that the pods of a workload mount."""

    name: str
    pods: int  # at once, without those that an autoscaler adds
    group: int  # pods of a replica among them


def mounted_claims(kind: str, body: Body) -> tuple[MountedClaim, ...]:
    """The claims that the pods of a workload mount. `kind`: of the workload."""
    if kind == wellknown.LEADER_WORKER_SET:
        return tuple(_claims_of_group(map_at(body, "spec")))
    if kind == disaggregated_sets.KIND:
        return tuple(claim for role in disaggregated_sets.set_roles(body) for claim in _claims_of_group(role.spec))
    if kind not in _TEMPLATED:
        return ()
    spec = map_at(body, "spec")
    count = int(number_at(spec, "replicas", default=number_at(spec, "parallelism", default=1)))
    if kind == "DaemonSet":
        count = 2  # one a node
    rollout: Body = {**DEPLOYMENT_ROLLOUT, **map_at(spec, "strategy", "rollingUpdate")}
    surge = rollout["maxSurge"] if kind.startswith("Deployment") else 0
    rolling = text_at(spec, "strategy", "type", default="RollingUpdate") == "RollingUpdate"
    pods = count + (1 if rolling and surge not in (0, "0", "0%") else 0)
    return tuple(MountedClaim(name, pods, 1) for name in sorted(_claims_of_pod(map_at(spec, "template"))))


def _claims_of_group(spec: Body) -> Iterator[MountedClaim]:
    """Those of a LeaderWorkerSet's spec."""
    template = map_at(spec, "leaderWorkerTemplate")
    size, replicas = int(number_at(template, "size", default=1)), int(number_at(spec, "replicas", default=1))
    surge = map_at(spec, "rolloutStrategy", "rollingUpdateConfiguration").get("maxSurge", 0)
    replicas += 1 if surge not in (0, "0", "0%") else 0
    workers = _claims_of_pod(map_at(template, "workerTemplate"))
    leaders = _claims_of_pod(map_at(template, "leaderTemplate")) if template.get("leaderTemplate") else workers
    for name in sorted({*leaders, *workers}):
        group = (1 if name in leaders else 0) + (size - 1 if name in workers else 0)
        yield MountedClaim(name, group * replicas, group)


def _claims_of_pod(template: Body) -> set[str]:
    names = (text_at(volume, "persistentVolumeClaim", "claimName") for volume in maps_at(template, "spec", "volumes"))
    return {name for name in names if name}


def claim_finding(claim: Body, mounted: MountedClaim, owner: str, replicas: int = 0) -> tuple[str, Path, Body] | None:
    """What is wrong with a claim that the pods of `owner` mount; None where its access modes let them. `replicas`: at
    the most, by an autoscaler.
    """
    modes = texts_at(claim, *_MODES)
    pods = max(mounted.pods, mounted.group * replicas)
    if pods < 2 or not modes or not {_ONE_POD, _ONE_NODE}.issuperset(modes):
        return None
    one = "pod" if _ONE_NODE not in modes else "node"
    words = {"modes": " and ".join(modes), "one": one, "pods": pods, "owner": owner}
    return "W500", _MODES, words


def shared_claims(bodies: Sequence[Body]) -> Iterator[IndexedFinding]:
    """A finding for each claim of a set of objects that more pods of the set mount than its access modes let."""
    claims = {_key(body): i for i, body in enumerate(bodies) if body["kind"] == CLAIM}
    most = {_target(body): most_replicas(body) for body in bodies if body["kind"] in wellknown.AUTOSCALERS}
    for body in bodies:
        kind, (namespace, name) = str(body["kind"]), _key(body)
        for mounted in mounted_claims(kind, body):
            index = claims.get((namespace, mounted.name))
            owner = f"{kind} {namespace}/{name}"
            if index is not None and (
                finding := claim_finding(bodies[index], mounted, owner, most.get((namespace, kind, name), 0))
            ):
                yield IndexedFinding(index, *finding)


def _target(scaler: Body) -> tuple[str, str, str]:
    """Namespace, kind and name of what an autoscaler scales."""
    target = map_at(scaler, "spec", "scaleTargetRef")
    return _key(scaler)[0], text_at(target, "kind", default="Deployment"), text_at(target, "name")


def most_replicas(scaler: Body) -> int:
    """The most replicas that an autoscaler may ask for; 0 where it does not say."""
    spec = as_map(scaler.get("spec"))
    return int(number_at(spec, "maxReplicas", default=number_at(spec, "maxReplicaCount", default=0)))


def _key(body: Body) -> tuple[str, str]:
    return text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")
