"""LeaderWorkerSet or Deployment: the workload, with its pod templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from renderer.build.metadata import name_origins
from renderer.build.selectors import lasting_selector
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.server_defaults import LEADER_WORKER_SET
from renderer.kubernetes.workloads import DEPLOYMENT, SCALE_TARGETS, template_pattern
from renderer.plan import Body, Manifest, Plan, Pod, Rollout
from renderer.yamlio import SharedMap

_SETTINGS: Mapping[Path, Path] = {  # of spec.workload; all others are metadata
    ("rollout",): ("spec", "rolloutStrategy", "rollingUpdateConfiguration"),
    ("volumeClaimTemplates",): ("spec", "leaderWorkerTemplate", "volumeClaimTemplates"),
}
_DEPLOYED: Path = template_pattern(DEPLOYMENT)
_NETWORK = SharedMap({**LEADER_WORKER_SET["networkConfig"]})


def lws(plan: Plan) -> list[Manifest]:
    """One, unless a Deployment runs the pods. networkConfig and rolloutStrategy are in full: then LWS's webhook
    changes nothing (docs/design/drift.md#leaderworkersets-webhook).
    """
    if plan.kind != wellknown.LEADER_WORKER_SET:
        return []
    return [Manifest(_body(plan, _set_spec(plan)), lambda: _origins(plan))]


def disaggregated_set(plan: Plan) -> list[Manifest]:
    """One where it runs both roles of an app, each as a LeaderWorkerSet that its controller makes, to whose webhook
    networkConfig is left.
    """
    if not plan.partner:
        return []
    plans = (plan, plan.partner)
    metadata: dict[str, object] = {"name": plan.shared_name, "namespace": plan.namespace, "labels": plan.labels}
    if plan.annotations:
        metadata["annotations"] = plan.annotations
    spec = {"roles": [_role(role_plan) for role_plan in plans]}
    version = f"{disaggregated_sets.GROUP}/v1"
    body = {"apiVersion": version, "kind": disaggregated_sets.KIND, "metadata": metadata, "spec": spec}
    return [Manifest(body, lambda: _set_origins(plans))]


def _role(plan: Plan) -> dict[str, object]:
    role: dict[str, object] = {"name": plan.role.name if plan.role else ""}
    if plan.scaler:
        role["scaling"] = {"mode": "External"}
    role["spec"] = {key: value for key, value in _set_spec(plan).items() if key != "networkConfig"}
    return role


def _set_origins(plans: Sequence[Plan]) -> dict[Path, Origin]:
    """The origins by field of a DisaggregatedSet."""
    field_origins: dict[Path, Origin] = {}
    for i, plan in enumerate(plans):
        field_origins["spec", "roles", i, "name"] = plan.origin.at("metadata", "name")
        for path, origin in _origins(plan).items():
            field_origins[("spec", "roles", i, *path) if path[:1] == ("spec",) else path] = origin
    return field_origins


def _set_spec(plan: Plan) -> dict[str, object]:
    """The spec of a LeaderWorkerSet."""
    template: dict[str, object] = {"size": plan.size, "restartPolicy": plan.restart_policy}
    if plan.sub_groups:
        template["subGroupPolicy"] = plan.sub_groups
    if plan.template_fields:
        template |= plan.template_fields
    if plan.leader:
        template["leaderTemplate"] = _pod(plan.leader)
    template["workerTemplate"] = _pod(plan.worker)
    if plan.claim_templates:
        template["volumeClaimTemplates"] = list(plan.claim_templates)
    spec: dict[str, object] = {} if plan.replicas is None else {"replicas": plan.replicas}
    spec["startupPolicy"] = plan.startup_policy
    spec["rolloutStrategy"] = _rollout(plan.rollout)
    spec["networkConfig"] = _NETWORK
    if plan.set_fields:
        spec |= plan.set_fields
    spec["leaderWorkerTemplate"] = template
    return spec


def deployment(plan: Plan) -> list[Manifest]:
    """One instead of a LeaderWorkerSet, with the same pods and the same rollout: one pod at a time, and none more."""
    if plan.kind != wellknown.DEPLOYMENT:
        return []
    spec: dict[str, object] = {} if plan.replicas is None else {"replicas": plan.replicas}
    if plan.progress_deadline is not None:
        spec["progressDeadlineSeconds"] = plan.progress_deadline
    spec["selector"] = {"matchLabels": lasting_selector(plan)}
    spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": replace(plan.rollout, partition=None).body()}
    spec["template"] = _pod(plan.worker)
    return [Manifest(_body(plan, spec), lambda: _deployment_origins(plan))]


def _body(plan: Plan, spec: Body) -> dict[str, object]:
    """The workload with this spec."""
    labels = {**plan.labels, **plan.workload_labels} if plan.workload_labels else plan.labels
    metadata: dict[str, object] = {"name": plan.name, "namespace": plan.namespace, "labels": labels}
    if plan.annotations:
        metadata["annotations"] = plan.annotations
    return {"apiVersion": SCALE_TARGETS[plan.kind], "kind": plan.kind, "metadata": metadata, "spec": spec}


@lru_cache(maxsize=256)
def _rollout(rollout: Rollout) -> SharedMap:
    return SharedMap({"type": "RollingUpdate", "rollingUpdateConfiguration": rollout.body()})


def _pod(pod: Pod) -> dict[str, object]:
    """The pod template."""
    spec = pod.body()
    metadata = {**spec.pop("metadata", {}), **{key: spec.pop(key) for key in ("labels", "annotations") if key in spec}}
    return {"metadata": metadata, "spec": spec} if metadata else {"spec": spec}


def _origins(plan: Plan) -> dict[Path, Origin]:
    """The origins by field of the object; those of a hand-written template point into it."""
    plan_origins = plan.origins()
    field_origins = {**name_origins(plan.origin), ("spec", "replicas"): plan.origin.at("spec", "replicas")}
    root: Path = ("spec", "leaderWorkerTemplate")
    for part in ("leader", "worker"):
        if origin := plan_origins.get((part,)):
            field_origins[*root, f"{part}Template"] = origin
    if origin := plan_origins.get(("size",)):
        field_origins[*root, "size"] = origin
    if origin := plan_origins.get(("sub_groups",)):
        field_origins[*root, "subGroupPolicy"] = origin
        field_origins["spec", "rolloutStrategy", "rollingUpdateConfiguration"] = plan_origins["rollout",]
    if origin := plan_origins.get(("claim_templates",)):
        field_origins[*root, "volumeClaimTemplates"] = origin
    for path, origin in plan_origins.items():
        if path[:1] == ("workload",) and path != ("workload", "kind"):
            field_origins[_SETTINGS.get(path[1:], ("metadata", *path[1:]))] = origin
        elif path[:1] == ("set_fields",):
            field_origins["spec", *path[1:]] = origin
    worker: Path = (*root, "workerTemplate")
    in_pods = {key[1:]: origin for key, origin in plan_origins.items() if key[:1] == ("template",)}
    if plan.leader:
        field_origins |= {(*root, "leaderTemplate", *path): origin for path, origin in in_pods.items()}
        in_pods = dict(_moved_containers(in_pods, plan.leader, plan.worker))
    field_origins |= {(*worker, *path): origin for path, origin in in_pods.items()}
    for part in ("leader", "worker"):
        head: Path = (*root, f"{part}Template")
        field_origins |= {
            (*head, *key[1:]): origin for key, origin in plan_origins.items() if key[:1] == (f"{part}_template",)
        }
    return field_origins


def _moved_containers(origins: Mapping[Path, Origin], leader: Pod, worker: Pod) -> Iterator[tuple[Path, Origin]]:
    """The origins by field of the leader's pod, at the fields of a worker's, which may lack containers of it."""
    places = {
        (field, i): [other.name for other in others].index(container.name)
        for field, containers, others in (
            ("containers", leader.containers, worker.containers),
            ("initContainers", leader.init_containers, worker.init_containers),
        )
        for i, container in enumerate(containers)
        if any(other.name == container.name for other in others)
    }
    for path, origin in origins.items():
        if path[1:2] not in (("containers",), ("initContainers",)) or len(path) < 3:
            yield path, origin
        elif (place := places.get((str(path[1]), int(path[2])))) is not None:
            yield (*path[:2], place, *path[3:]), origin


def _deployment_origins(plan: Plan) -> dict[Path, Origin]:
    """The origins by field of a Deployment."""
    plan_origins = plan.origins()
    field_origins = {**name_origins(plan.origin), ("spec", "replicas"): plan.origin.at("spec", "replicas")}
    field_origins["kind",] = plan_origins["workload", "kind"]
    if origin := plan_origins.get(("leader",)) or plan_origins.get(("worker",)):
        field_origins[_DEPLOYED] = origin
    if origin := plan_origins.get(("rollout",)):
        field_origins["spec", "strategy", "rollingUpdate"] = origin
    for path, origin in plan_origins.items():
        if path == ("workload", "rollout"):
            field_origins["spec", "strategy", "rollingUpdate"] = origin
        elif path[:2] == ("workload", "selector"):
            field_origins["spec", "selector", "matchLabels", *path[2:]] = origin
        elif path[:1] == ("workload",) and len(path) > 2:
            field_origins["metadata", *path[1:]] = origin
        elif path[:1] == ("template",):
            field_origins[*_DEPLOYED, *path[1:]] = origin
    return field_origins
