"""What servers fill in where nobody says it: the API server in its own types, and LeaderWorkerSet's webhook.

The defaults of CRDs stand in their schemas (renderer/schemas/output), those that the source of Kubernetes states beside
its fields in api_types.json. What code fills in stands here: of pkg/apis/*/v*/defaults.go of Kubernetes, and of
pkg/webhooks/leaderworkerset_webhook.go of LeaderWorkerSet. It is the same in every version that is supported, but for
maxUnavailable of StatefulSets, which older ones leave out and take for the same. The real server and the real webhook
are asked for each (tests/apiserver/README.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from functools import cache
from typing import Any, Final, TypeAlias

from renderer.kubernetes.api_types import api_types
from renderer.kubernetes.json_values import as_map, list_at, map_at, maps_at

Value: TypeAlias = MutableMapping[str, Any]

_MODE: Final = 0o644
_TYPE: Final = "RollingUpdate"
_RBAC: Final = "rbac.authorization.k8s.io"

_BY_CODE: Final[Mapping[str, Mapping[str, object]]] = {
    "core.PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
    },
    "core.Container": {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    },
    "core.Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "core.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.SecretVolumeSource": {"defaultMode": _MODE},
    "core.ConfigMapVolumeSource": {"defaultMode": _MODE},
    "core.DownwardAPIVolumeSource": {"defaultMode": _MODE},
    "core.ProjectedVolumeSource": {"defaultMode": _MODE},
    "core.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core.HostPathVolumeSource": {"type": ""},
    "core.AzureDiskVolumeSource": {"cachingMode": "ReadWrite", "kind": "Shared"},
    "core.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.NamespaceStatus": {"phase": "Active"},
    "core.Secret": {"type": "Opaque"},
    "apps.DeploymentSpec": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    "apps.DeploymentStrategy": {"type": _TYPE},
    "apps.DaemonSetSpec": {"revisionHistoryLimit": 10},
    "apps.DaemonSetUpdateStrategy": {"type": _TYPE},
    "apps.StatefulSetSpec": {
        "podManagementPolicy": "OrderedReady",
        "persistentVolumeClaimRetentionPolicy": {},
        "replicas": 1,
        "revisionHistoryLimit": 10,
    },
    "apps.StatefulSetPersistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "apps.ReplicaSetSpec": {"replicas": 1},
    "batch.CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "batch.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "networking.NetworkPolicyPort": {"protocol": "TCP"},
    "rbac.RoleRef": {"apiGroup": _RBAC},
    "scheduling.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "autoscaling/v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
}

LEADER_WORKER_SET: Final[Mapping[str, Mapping[str, object]]] = {
    "networkConfig": {"subdomainPolicy": "Shared"},
    "rolloutStrategy": {
        "type": _TYPE,
        "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    },
}
"""What LeaderWorkerSet's webhook fills into `spec` (docs/design/drift.md#leaderworkersets-webhook)."""
DEPLOYMENT_ROLLOUT: Final = {"maxUnavailable": "25%", "maxSurge": "25%"}
"""How a Deployment replaces pods."""


@cache
def constants(type_name: str) -> Mapping[str, Any]:
    """The fields of a type that are filled in where they are empty, with their values."""
    return {**api_types().defaults.get(type_name, {}), **_BY_CODE.get(type_name, {})}


def _fill(value: Value, **defaults: object) -> None:
    for name, default in defaults.items():
        if value.get(name) in (None, ""):
            value[name] = default


def pull_policy(image: object) -> str:
    """Always for the tag latest, which is also meant where an image has neither tag nor digest."""
    name, _, digest = str(image).partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _container(value: Value) -> None:
    _fill(value, imagePullPolicy=pull_policy(value.get("image") or ""))


def _pod_spec(value: Value) -> None:
    account = value.get("serviceAccountName") or value.get("serviceAccount")
    if account:
        value["serviceAccountName"] = value["serviceAccount"] = account


def _pod(value: Value) -> None:
    spec: Value = dict(as_map(value.get("spec")))
    value["spec"] = spec
    _fill(spec, enableServiceLinks=True)
    for name in ("containers", "initContainers"):
        if name in spec:
            containers = maps_at(spec, name)
            spec[name] = [_pod_container(container, bool(spec.get("hostNetwork"))) for container in containers]


def _pod_container(container_spec: Mapping[str, object], has_host_network: bool) -> Value:
    """A container of a pod that no controller makes."""
    container: Value = dict(container_spec)
    resources = as_map(container.get("resources"))
    if limits := as_map(resources.get("limits")):
        container["resources"] = {**resources, "requests": {**limits, **as_map(resources.get("requests"))}}
    if has_host_network and (ports := maps_at(container, "ports")):
        container["ports"] = [{"hostPort": port.get("containerPort"), **port} for port in ports]
    return container


def _replication_controller(value: Value) -> None:
    spec, metadata = as_map(value.get("spec")), as_map(value.get("metadata"))
    if labels := map_at(spec, "template", "metadata", "labels"):
        value["spec"] = {**spec, "selector": spec.get("selector") or labels}
        value["metadata"] = {**metadata, "labels": metadata.get("labels") or labels}


def _volume(value: Value) -> None:
    if not any(item is not None for name, item in value.items() if name != "name"):
        value["emptyDir"] = {}
    if isinstance(image := value.get("image"), dict):
        value["image"] = {"pullPolicy": pull_policy(image.get("reference") or ""), **image}


def _rolling(**defaults: object) -> Callable[[Value], None]:
    """What an update strategy of type RollingUpdate has."""

    def fill(value: Value) -> None:
        if value.get("type") == _TYPE:
            value["rollingUpdate"] = rolling = dict(as_map(value.get("rollingUpdate")))
            _fill(rolling, **defaults)

    return fill


def _stateful_strategy(value: Value) -> None:
    if not value.get("type"):
        value["type"] = _TYPE
        value["rollingUpdate"] = value.get("rollingUpdate") or {}
    if value["type"] == _TYPE and value.get("rollingUpdate") is not None:
        value["rollingUpdate"] = rolling = dict(as_map(value["rollingUpdate"]))
        _fill(rolling, partition=0, maxUnavailable=1)


def _service_spec(spec: Value) -> None:
    _fill(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "ClientIP":
        if map_at(spec, "sessionAffinityConfig", "clientIP").get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    else:
        spec.pop("sessionAffinityConfig", None)
    is_external = spec["type"] in ("NodePort", "LoadBalancer")
    if is_external or (spec["type"] == "ClusterIP" and spec.get("externalIPs")):
        _fill(spec, externalTrafficPolicy="Cluster")
    if is_external or spec["type"] == "ClusterIP":
        _fill(spec, internalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        _fill(spec, allocateLoadBalancerNodePorts=True)


def _service_port(value: Value) -> None:
    if value.get("targetPort") in (None, "", 0):
        value["targetPort"] = value.get("port")


def _job(value: Value) -> None:
    spec: Value = dict(as_map(value.get("spec")))
    value["spec"] = spec
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    failure = spec.get("podFailurePolicy") is not None
    _fill(
        spec,
        parallelism=1,
        backoffLimit=6 if spec.get("backoffLimitPerIndex") is None else 2**31 - 1,
        completionMode="NonIndexed",
        suspend=False,
        podReplacementPolicy="Failed" if failure else "TerminatingOrFailed",
        manualSelector=False,
    )
    labels, metadata = map_at(spec, "template", "metadata", "labels"), as_map(value.get("metadata"))
    if labels and not metadata.get("labels"):
        value["metadata"] = {**metadata, "labels": labels}


def _network_policy(value: Value) -> None:
    if not value.get("policyTypes"):
        value["policyTypes"] = ["Ingress", *(["Egress"] if value.get("egress") else [])]


def _namespace(value: Value) -> None:
    metadata, spec = as_map(value.get("metadata")), as_map(value.get("spec"))
    if name := metadata.get("name"):
        labels = {**as_map(metadata.get("labels")), "kubernetes.io/metadata.name": name}
        value["metadata"] = {**metadata, "labels": labels}
    finalizers = list_at(spec, "finalizers")
    value["spec"] = {**spec, "finalizers": finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]}


def _subject(value: Value) -> None:
    if value.get("kind") in ("User", "Group"):
        _fill(value, apiGroup=_RBAC)


def _device_request(value: Value) -> None:
    _fill(value, allocationMode="ExactCount")
    if value["allocationMode"] == "ExactCount" and not value.get("count"):
        value["count"] = 1


_CPU: Final = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
_SCALE_UP: Final = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Final = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def _autoscaler(value: Value) -> None:
    if not value.get("metrics"):
        value["metrics"] = [_CPU]
    behavior = value.get("behavior")
    if behavior is not None:
        value["behavior"] = {
            name: {**defaults, **{key: item for key, item in map_at(behavior, name).items() if item is not None}}
            for name, defaults in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN))
        }


def _secret(value: Value) -> None:
    import base64  # few runs need it

    if texts := as_map(value.pop("stringData", None)):
        encoded = {name: base64.b64encode(str(text).encode()).decode() for name, text in texts.items()}
        value["data"] = {**as_map(value.get("data")), **encoded}


RULES: Final[Mapping[str, Callable[[Value], None]]] = {
    "core.Container": _container,
    "core.PodSpec": _pod_spec,
    "core.Pod": _pod,
    "core.ReplicationController": _replication_controller,
    "core.Volume": _volume,
    "core.ServiceSpec": _service_spec,
    "core.ServicePort": _service_port,
    "core.Secret": _secret,
    "core.Namespace": _namespace,
    "apps.DeploymentStrategy": _rolling(**DEPLOYMENT_ROLLOUT),
    "apps.DaemonSetUpdateStrategy": _rolling(maxUnavailable=1, maxSurge=0),
    "apps.StatefulSetUpdateStrategy": _stateful_strategy,
    "batch.Job": _job,
    "networking.NetworkPolicySpec": _network_policy,
    "rbac.Subject": _subject,
    "resource.ExactDeviceRequest": _device_request,
    "resource.DeviceSubRequest": _device_request,
    "autoscaling/v2.HorizontalPodAutoscalerSpec": _autoscaler,
}
"""By type, what is filled in by what else the value has. They change the map that they are given, and nothing below it
that they did not copy."""
FILLING_PARTS: Final = RULES.keys() - {"core.Container", "core.PodSpec", "core.ServicePort"}
"""Those types whose rule may fill in fields of a part of theirs, too."""


def complete_leader_worker_set(spec: Value) -> None:
    """Fills into the spec of a LeaderWorkerSet what its webhook does, after the defaults of the CRD."""
    for field, defaults in LEADER_WORKER_SET.items():
        spec[field] = {**defaults, **map_at(spec, field)}
    group = spec.get("leaderWorkerTemplate")
    if isinstance(group, dict) and group.get("restartPolicy") == "Default":
        group["restartPolicy"] = "None"


# Fields of pods and workloads; others are set though they are empty, as emptyDir is.
_NOTHING_WHEN_EMPTY = frozenset(
    {
        *("affinity", "nodeAffinity", "podAffinity", "podAntiAffinity", "nodeSelector", "tolerations"),
        *("securityContext", "resources", "lifecycle", "strategy", "annotations", "labels", "hostAliases"),
        *("initContainers", "volumes", "imagePullSecrets", "topologySpreadConstraints", "command", "args"),
        *("env", "envFrom", "ports", "volumeMounts"),
    }
)


def says_nothing(field: str, value: object) -> bool:
    """Whether a field is as if it were not there: an empty map or list."""
    return value in ({}, []) and field in _NOTHING_WHEN_EMPTY
