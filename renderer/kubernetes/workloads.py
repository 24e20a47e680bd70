"""Kinds that run pods: where each has its pod templates, what controllers add to their pods, and which replace them.

A rule about pods asks `pod_templates`, `replicas` or `made_pods` of an object, and so holds for all kinds. Of a kind
that is not in the table, `pod_parts` may know something, and `maps_in` finds what looks like a pod. Bodies may be
anything: no schema has to have judged them.

Sources: the API reference of Kubernetes, KEDA and KubeRay; docs/design/kubernetes.md#leaderworkerset and
#disaggregatedset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from renderer.kubernetes.disaggregated_sets import (
    APP,
    GROUP,
    KIND,
    ROLE,
    ROLE_SCALER,
    SET,
    SLICE,
    SetRole,
    set_roles,
    slice_count,
)
from renderer.kubernetes.json_values import (
    Path,
    Pattern,
    as_map,
    as_text,
    as_texts,
    find,
    map_at,
    maps_at,
    number_at,
    text_at,
)
from renderer.kubernetes.wellknown import AUTOSCALERS, GROUPS, MANAGED_BY, WORKER_INDEX

Body: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = tuple[str, str]  # API group and name
PodRole: TypeAlias = Literal["leader", "worker"]

LEADER: Final = "leader"  # a pod that answers requests; those of workloads without groups are leaders
WORKER: Final = "worker"  # one that works for a leader
CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
"""The fields of a pod's spec that hold containers."""
CONTROLLER_LABELS: Final = (
    *("leaderworkerset.sigs.k8s.io/", "apps.kubernetes.io/", "statefulset.kubernetes.io/", "pod-template-hash"),
    *(
        "controller-revision-hash",
        "batch.kubernetes.io/",
        "job-name",
        "controller-uid",
        "scaledjob.keda.sh/",
        "ray.io/",
    ),
)
"""Prefixes of labels whose values controllers make up for each pod."""
_GROUP: Final = "leaderWorkerTemplate"


class WorkloadKind(Struct, frozen=True):
    """What is known of a kind that runs pods."""

    version: str  # that we render or read
    templates: Mapping[str, PodRole]  # by path, as `find` reads it; '' is the object
    is_scalable: bool = False  # it has the subresource `scale`, which autoscalers write
    replaces_pods: bool = False  # a change of a template ends its running pods, and others take their places
    rollout: Path = ()  # of the bounds of that, beside `replicas`
    makes_pods: bool = True  # its controller does
    is_ours: bool = False  # we render it, or LeaderWorkerSet's controller makes it of what we render
    has_groups: bool = False  # LeaderWorkerSet's: a replica has several pods, of both templates
    has_other_parts: bool = False  # parts of pods stand elsewhere too

    @property
    def rolls_replicas(self) -> bool:
        """Whether it has a number of replicas, which a rollout replaces: what serves models."""
        return self.is_scalable and self.replaces_pods


_HEAD_GROUP, _WORKER_GROUPS = "headGroupSpec", "workerGroupSpecs"
_RAY_GROUPS: Final = frozenset((_HEAD_GROUP, _WORKER_GROUPS))
_TEMPLATE: Final[Mapping[str, PodRole]] = {"spec.template": LEADER}


def _group_templates(spec: str) -> Mapping[str, PodRole]:
    """Those of a LeaderWorkerSet with its spec at a path; without the first, the second is that of leaders too."""
    return {f"{spec}.{_GROUP}.leaderTemplate": LEADER, f"{spec}.{_GROUP}.workerTemplate": WORKER}


def _ray_templates(cluster: str, submitter: str = "") -> Mapping[str, PodRole]:
    """Those of a kind of KubeRay with the spec of a cluster at a path, and the template of a pod that submits a job."""
    templates: dict[str, PodRole] = {f"{cluster}.{_HEAD_GROUP}.template": LEADER}
    templates[f"{cluster}.{_WORKER_GROUPS}.*.template"] = WORKER
    return {**templates, submitter: LEADER} if submitter else templates


_UPDATE: Final = ("updateStrategy", "rollingUpdate")
_GROUPS_ROLLOUT: Final = ("rolloutStrategy", "rollingUpdateConfiguration")
LEADER_WORKER_SET: Final = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
_KEEPS_COMMAND: Final = "ray.io/overwrite-container-cmd"  # an annotation of KubeRay
DISAGGREGATED_SET: Final = (GROUP, KIND)
DEPLOYMENT: Final = ("apps", "Deployment")
WORKLOADS: Final[Mapping[Kind, WorkloadKind]] = {
    ("", "Pod"): WorkloadKind("v1", {"": LEADER}, makes_pods=False),
    ("", "PodTemplate"): WorkloadKind("v1", {"template": LEADER}, makes_pods=False),
    ("", "ReplicationController"): WorkloadKind("v1", _TEMPLATE, is_scalable=True),
    ("apps", "DaemonSet"): WorkloadKind("v1", _TEMPLATE, replaces_pods=True, rollout=_UPDATE),
    DEPLOYMENT: WorkloadKind(
        "v1", _TEMPLATE, is_ours=True, is_scalable=True, replaces_pods=True, rollout=("strategy", "rollingUpdate")
    ),
    ("apps", "ReplicaSet"): WorkloadKind("v1", _TEMPLATE, is_scalable=True),
    ("apps", "StatefulSet"): WorkloadKind(
        "v1", _TEMPLATE, is_ours=True, is_scalable=True, replaces_pods=True, rollout=_UPDATE
    ),
    ("batch", "CronJob"): WorkloadKind("v1", {"spec.jobTemplate.spec.template": LEADER}),
    ("batch", "Job"): WorkloadKind("v1", _TEMPLATE, is_ours=True),
    LEADER_WORKER_SET: WorkloadKind(
        "v1",
        _group_templates("spec"),
        is_ours=True,
        is_scalable=True,
        replaces_pods=True,
        rollout=_GROUPS_ROLLOUT,
        has_groups=True,
    ),
    DISAGGREGATED_SET: WorkloadKind(
        "v1",
        _group_templates("spec.roles.*.spec"),
        is_ours=True,
        replaces_pods=True,
        rollout=_GROUPS_ROLLOUT,
        has_groups=True,
    ),
    ("keda.sh", "ScaledJob"): WorkloadKind("v1alpha1", {"spec.jobTargetRef.template": LEADER}),
    ("ray.io", "RayCluster"): WorkloadKind("v1", _ray_templates("spec"), has_other_parts=True),
    ("ray.io", "RayService"): WorkloadKind(
        "v1", _ray_templates("spec.rayClusterConfig"), replaces_pods=True, has_other_parts=True
    ),
    ("ray.io", "RayJob"): WorkloadKind(
        "v1", _ray_templates("spec.rayClusterSpec", "spec.submitterPodTemplate"), has_other_parts=True
    ),
    ("ray.io", "RayCronJob"): WorkloadKind(
        "v1",
        _ray_templates("spec.jobTemplate.rayClusterSpec", "spec.jobTemplate.submitterPodTemplate"),
        has_other_parts=True,
    ),
}
"""All kinds whose pods are known."""


def api_version(kind: Kind) -> str:
    """The apiVersion of a kind of the table."""
    version = WORKLOADS[kind].version
    return f"{kind[0]}/{version}" if kind[0] else version


QUOTA_KINDS: Final = (
    "ResourceQuota",
    "LimitRange",
    "ResourceClaim",
    "ResourceClaimTemplate",
    DISAGGREGATED_SET[1],
    *(name for (_, name), workload in WORKLOADS.items() if workload.is_scalable or not workload.makes_pods),
    *AUTOSCALERS,
)
"""Quotas of pods, and what decides how much they count."""

SCALE_TARGETS: Final[Mapping[str, str]] = {
    **{kind[1]: api_version(kind) for kind in (LEADER_WORKER_SET, DEPLOYMENT)},
    ROLE_SCALER: f"{GROUP}/v1",
}
"""What we render, or make of it, for autoscalers: the apiVersion by kind."""


class PodTemplate(Struct, frozen=True):
    """A template of pods, as it is written in an object; of a Pod, the object itself."""

    path: Path  # of the map that has `metadata` and `spec` of the pods
    body: Body
    spec: Body  # of its pods
    role: PodRole  # a template of both leaders and workers is that of leaders
    claims: Sequence[Body] = ()  # `volumeClaimTemplates` beside it, each a volume of the pods

    @property
    def labels(self) -> Body:
        """The labels that it gives its pods."""
        return map_at(self.body, "metadata", "labels")


class MadePods(Struct, frozen=True):
    """Pods of a template with the same labels, those that controllers add among them."""

    role: PodRole
    template: PodTemplate
    labels: Body


class Replica(Struct, frozen=True):
    """The pods of one replica: of a LeaderWorkerSet or a role of a DisaggregatedSet a group, of other kinds one pod."""

    path: Path  # of `spec`
    spec: Body  # the map that says the replicas, of other kinds than sets the one beside the template
    templates: Sequence[PodTemplate]  # that of the leaders first
    size: int = 1  # pods
    set_role: SetRole | None = None

    @property
    def leader(self) -> PodTemplate:
        """The template of the pods that answer requests."""
        return self.templates[0]

    @property
    def used_templates(self) -> Sequence[PodTemplate]:
        """Those of which pods are made: of a group of one pod that of its leader alone."""
        return self.templates if self.size > 1 else self.templates[:1]

    def pods(self, template: PodTemplate) -> int:
        """How many pods of a replica are made of one of its templates."""
        leaders = 1 if template is self.templates[0] else 0
        return leaders + (self.size - 1 if template is self.templates[-1] else 0)

    def made(self, added: Mapping[str, str]) -> Iterator[MadePods]:
        """The leader, and the workers where there are some. `added`: labels that controllers add to both."""
        leader, worker = self.templates[0], self.templates[-1]
        index = {WORKER_INDEX: "0"} if GROUPS in added or SET in added else {}
        yield MadePods(leader.role, leader, {**leader.labels, **added, **index})
        if self.size > 1:
            yield MadePods(WORKER, worker, {**worker.labels, **added, WORKER_INDEX: "1"})


def kind_of(body: Body) -> Kind:
    """The API group and kind of an object; '' for the core group."""
    return _kind(str(body.get("apiVersion")), str(body.get("kind")))


@lru_cache(maxsize=256)
def _kind(version: str, kind: str) -> Kind:
    return version.rpartition("/")[0], kind


@cache
def _pattern(text: str) -> Pattern:
    return tuple(text.split(".")) if text else ()


def template_pattern(kind: Kind) -> Pattern:
    """Where a kind with one template, which has no groups, has it."""
    (template,) = WORKLOADS[kind].templates
    return _pattern(template)


def replicas(body: Body) -> Iterator[Replica]:
    """The replicas that an object makes, one of each sort; nothing for a kind that is not in the table."""
    kind = kind_of(body)
    if kind == LEADER_WORKER_SET:
        yield from _group(as_map(body.get("spec")), ("spec",))
    elif kind == DISAGGREGATED_SET:
        for role in set_roles(body):
            yield from _group(role.spec, ("spec", "roles", role.index, "spec"), role)
    elif workload := WORKLOADS.get(kind):
        for pattern, pod_role in workload.templates.items():
            for path, template in find(body, _pattern(pattern)):
                if isinstance(template, dict):
                    spec = map_at(body, *path[:-1])
                    yield Replica(path[:-1], spec, (_template(path, template, pod_role, _claims(spec)),))


def _template(path: Path, body: Body, role: PodRole, claims: Sequence[Body]) -> PodTemplate:
    return PodTemplate(path, body, as_map(body.get("spec")), role, claims)


def _claims(parent: Body) -> Sequence[Body]:
    """The `volumeClaimTemplates` of the map with a template."""
    return maps_at(parent, "volumeClaimTemplates") if "volumeClaimTemplates" in parent else ()


def _group(spec: Body, path: Path, role: SetRole | None = None) -> Iterator[Replica]:
    """The group of a LeaderWorkerSet's spec, where it has a template."""
    group = as_map(spec.get(_GROUP))
    claims = _claims(group)
    leader, worker = as_map(group.get("leaderTemplate")), as_map(group.get("workerTemplate"))
    templates = []
    if leader:
        templates.append(_template((*path, _GROUP, "leaderTemplate"), leader, LEADER, claims))
    if worker:
        pod_role: PodRole = WORKER if leader else LEADER
        templates.append(_template((*path, _GROUP, "workerTemplate"), worker, pod_role, claims))
    if templates:
        yield Replica(path, spec, templates, int(number_at(group, "size", default=1)), role)


def pod_templates(body: Body) -> Iterator[PodTemplate]:
    """The pod templates of an object, as they are written; nothing for a kind that is not in the table."""
    for replica in replicas(body):
        yield from replica.templates


def pod_template(body: Body) -> Body:
    """The template of a workload's pods, of a LeaderWorkerSet that of its workers; {} for other objects."""
    templates = [*pod_templates(body)]
    return templates[-1].body if templates else {}


def added_mounts(template: PodTemplate) -> Sequence[Body]:
    """The mounts that a controller gives the first container of a template's pods, by name: KubeRay mounts memory at
    /dev/shm into the heads and workers of a cluster (BuildPod of its controllers/ray/common/pod.go), not into the pod
    that submits a job.
    """
    mount = {"name": "shared-mem", "mountPath": "/dev/shm"}  # noqa: S108 - a mount
    return (mount,) if _is_of_ray(template.path) else ()


def joins_command(template: Body, path: Path) -> bool:
    """Whether a controller makes one line for a shell of the command and arguments of the first container of a
    template's pods: KubeRay does so in heads and workers of a cluster, unless they start Ray themselves or an
    annotation keeps them as they are (BuildPod of its controllers/ray/common/pod.go). `path`: of the template.
    """
    if not _is_of_ray(path):
        return False
    annotations, container = map_at(template, "metadata", "annotations"), maps_at(template, "spec", "containers")[0]
    words = [word for key in ("command", "args") for word in as_texts(container.get(key))]
    return as_text(annotations.get(_KEEPS_COMMAND)).lower() != "true" and "ray start" not in " ".join(words)


def _is_of_ray(path: Path) -> bool:
    return path[-1:] == ("template",) and not _RAY_GROUPS.isdisjoint(path)


def ray_hosts(body: Body, path: Path) -> int:
    """The pods of the Ray cluster that the pod at a path is of, of whatever kind the object is that describes the
    cluster: engines spread over all of them. 0 for another pod.
    """
    for length in range(len(path)):
        cluster = map_at(body, *path[:length])
        if path[length] in _RAY_GROUPS and _HEAD_GROUP in cluster:
            grows = cluster.get("enableInTreeAutoscaling") is True
            return 1 + sum(_group_hosts(group, grows=grows) for group in maps_at(cluster, _WORKER_GROUPS))
    return 0


def _group_hosts(group: Body, *, grows: bool) -> int:
    """The pods of a group of workers, at most."""
    replicas = number_at(group, "replicas", default=number_at(group, "maxReplicas", default=1))
    most = max(replicas, number_at(group, "maxReplicas")) if grows else replicas
    return int(most * number_at(group, "numOfHosts", default=1))


def added_labels(body: Body, replica: Replica, *, numbers_slices: Sequence[bool] = (False, True)) -> Iterator[Body]:
    """The labels that controllers add to all pods of a replica, as far as they are known: for a role of a
    DisaggregatedSet one map for each slice and each way to number them, without the name of its LeaderWorkerSet, which
    holds a revision. `numbers_slices`: whether the controller does.
    """
    name, role = text_at(body, "metadata", "name"), replica.set_role
    if role is None:
        yield {GROUPS: name} if kind_of(body) == LEADER_WORKER_SET else {}
        return
    for is_numbered in numbers_slices:
        for number in range(slice_count(body) if is_numbered else 1):
            labels = {SET: name, ROLE: role.name, APP: f"{name}-{number}-{role.name}" if is_numbered else role.scaler}
            yield labels | ({SLICE: str(number)} if is_numbered else {})


def pod_selector(body: Body, replica: Replica) -> Mapping[str, Any]:
    """The labels by which objects lead to all pods of a replica and to no others."""
    name, role = text_at(body, "metadata", "name"), replica.set_role
    if role:
        return {SET: name, ROLE: role.name}
    return {GROUPS: name} if kind_of(body) == LEADER_WORKER_SET else map_at(replica.spec, "selector", "matchLabels")


def made_pods(body: Body, *, numbers_slices: Sequence[bool] = (False, True)) -> Iterator[MadePods]:
    """The pods that controllers make of an object, with their labels; nothing for a kind that is not in the table."""
    for replica in replicas(body):
        for added in added_labels(body, replica, numbers_slices=numbers_slices):
            yield from replica.made(added)


def scale_target(scaler: Body) -> tuple[str, str, str]:
    """Namespace, kind and name of what a HorizontalPodAutoscaler or ScaledObject scales; KEDA takes a Deployment where
    none is said.
    """
    target = map_at(scaler, "spec", "scaleTargetRef")
    return text_at(scaler, "metadata", "namespace"), text_at(target, "kind") or DEPLOYMENT[1], text_at(target, "name")


def containers(spec: Body) -> Iterator[tuple[Path, dict[str, Any]]]:
    """All containers of a pod's spec with their paths in it: init containers, sidecars among them, first."""
    for field in CONTAINERS:
        if field in spec:
            for i, container in enumerate(items) if isinstance(items := spec[field], list) else ():
                if isinstance(container, dict):
                    yield (field, i), container


def stays(path: Path, container: Body) -> bool:
    """Whether a container runs as long as its pod: an init container only where it is a sidecar. `path`: in the pod."""
    return path[0] != "initContainers" or container.get("restartPolicy") == "Always"


def maps_in(value: object, path: Path = ()) -> Iterator[tuple[Path, Body]]:
    """All maps in a value with their paths, a map before what is in it: where a kind that nobody knows may have pods or
    parts of them.
    """
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from maps_in(item, (*path, key))


def is_rendered(body: Body) -> bool:
    """Whether llmaz has rendered an object, or the template of a pod."""
    return text_at(body, "metadata", "labels", MANAGED_BY).startswith("llmaz")


def owner_names(body: Body) -> tuple[str, ...]:
    """Kind and name of each object that owns this one, and makes it anew: `('InferenceService chat',)`."""
    owners = maps_at(body, "metadata", "ownerReferences")
    return tuple(f"{text_at(owner, 'kind')} {text_at(owner, 'name')}" for owner in owners)


def selects(selector: Body, labels: Mapping[str, object]) -> bool:
    """Whether a selector (matchLabels, matchExpressions) takes these labels; an empty one takes all."""
    for key, value in as_map(selector.get("matchLabels")).items():
        if labels.get(key) != value:
            return False
    expressions = maps_at(selector, "matchExpressions") if "matchExpressions" in selector else ()
    return all(_holds(expression, labels) for expression in expressions)


def _holds(expression: Body, labels: Mapping[str, object]) -> bool:
    key, operator, values = text_at(expression, "key"), expression.get("operator"), expression.get("values")
    if operator in ("In", "NotIn"):
        is_listed = key in labels and isinstance(values, list) and labels[key] in values
        return bool(operator == "In") is is_listed
    return bool(operator == "Exists") is (key in labels)
