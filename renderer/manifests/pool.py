"""InferencePool, its picker, and what the picker is told: InferenceObjective and InferenceModelRewrite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from renderer.plan import Body, Manifest, Plan, Pool, Steering, Way, named, of_route
from renderer.problems import Origin, Path
from renderer.yamlio import Shared

_GROUP = "inference.networking.k8s.io"
_GRPC, _HEALTH, _METRICS = 9002, 9003, 9090
_NAMED = ("app.kubernetes.io/name", "app.kubernetes.io/component")
# By these names it answers with and without leader election; without, both fail until it has read the pool.
_LIVE = Shared(
    {"grpc": {"port": _HEALTH, "service": "liveness"}, "initialDelaySeconds": 5, "periodSeconds": 10},
)
_READY = Shared({"grpc": {"port": _HEALTH, "service": "readiness"}, "periodSeconds": 2})
_STEERS = ("inferenceobjectives", "inferencemodelrewrites")


def inference_pool(plan: Plan) -> list[Manifest]:
    """One in pool mode: the leaders, and who picks one of them."""
    pool = plan.pool
    if not pool:
        return []
    selector = {"leaderworkerset.sigs.k8s.io/name": plan.name, "leaderworkerset.sigs.k8s.io/worker-index": "0"}
    picker = {
        "group": "",
        "kind": "Service",
        "name": pool.name,
        "port": {"number": _GRPC},
        "failureMode": "FailClose",
    }
    spec = {
        "selector": {"matchLabels": selector},
        "targetPorts": [{"number": plan.port.number}],
        "endpointPickerRef": picker,
    }
    metadata = {"name": plan.name, "namespace": plan.namespace, "labels": of_route(plan)}
    body = {"apiVersion": f"{_GROUP}/v1", "kind": "InferencePool", "metadata": metadata, "spec": spec}
    return [Manifest(body, lambda: named(plan))]


def picker(plan: Plan) -> list[Manifest]:
    """The endpoint picker of a pool: configuration, account, rights, Deployment, Service, disruption budget."""
    pool = plan.pool
    if not pool:
        return []
    selector = Shared({key: pool.labels[key] for key in _NAMED})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": pool.name}
    subject = {"kind": "ServiceAccount", "name": pool.name, "namespace": plan.namespace}
    bodies: tuple[tuple[str, str, Body], ...] = (
        ("v1", "ConfigMap", {"data": pool.config}),
        ("v1", "ServiceAccount", {}),
        ("rbac.authorization.k8s.io/v1", "Role", {"rules": _rules(plan.name, pool.groups)}),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": reference, "subjects": [subject]}),
        ("apps/v1", "Deployment", {"spec": _deployment(pool, selector)}),
        ("v1", "Service", {"spec": {"selector": selector, "ports": _SERVED}}),
        ("policy/v1", "PodDisruptionBudget", {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector}}}),
    )
    metadata = Shared({"name": pool.name, "namespace": plan.namespace, "labels": pool.labels})
    return [
        Manifest({"apiVersion": version, "kind": kind, "metadata": metadata, **rest}, lambda: named(plan))
        for version, kind, rest in bodies
    ]


_SERVED = [
    Shared(
        {
            "name": "grpc-ext-proc",
            "port": _GRPC,
            "targetPort": _GRPC,
            "protocol": "TCP",
            "appProtocol": "kubernetes.io/h2c",
        }
    ),
    Shared({"name": "http-metrics", "port": _METRICS, "targetPort": _METRICS, "protocol": "TCP"}),
]
_VERBS = ["get", "list", "watch"]
_READS_PODS = Shared({"apiGroups": [""], "resources": ["pods"], "verbs": _VERBS})


def _rules(name: str, groups: tuple[str, ...]) -> list[Body]:
    """It reads; of the pools, its own. Without a right to what the cluster has, it never gets ready."""
    return [
        _READS_PODS,
        {"apiGroups": [_GROUP], "resources": ["inferencepools"], "resourceNames": [name], "verbs": _VERBS},
        _reads_steers(groups),
    ]


@cache
def _reads_steers(groups: tuple[str, ...]) -> Shared:
    return Shared({"apiGroups": list(groups), "resources": list(_STEERS), "verbs": _VERBS})


def _field(name: str, path: str) -> Body:
    return Shared({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}})


def _port(name: str, number: int) -> Body:
    return Shared({"name": name, "containerPort": number, "protocol": "TCP"})


_ENV = [_field("NAMESPACE", "metadata.namespace"), _field("POD_NAME", "metadata.name")]
_PORTS = [_port("grpc", _GRPC), _port("grpc-health", _HEALTH), _port("metrics", _METRICS)]
_MOUNTS = [Shared({"name": "config", "mountPath": "/config", "readOnly": True})]
_STRATEGY = Shared({"type": "Recreate"})


def _deployment(pool: Pool, selector: Body) -> dict[str, Any]:
    """One replica that is replaced, not doubled: two would choose by different views of the same pods."""
    container = {
        "name": "epp",
        "image": pool.image,
        "args": list(pool.args),
        "env": _ENV,
        "ports": _PORTS,
        "resources": pool.resources,
        "livenessProbe": _LIVE,
        "readinessProbe": _READY,
        "securityContext": pool.security,
        "volumeMounts": _MOUNTS,
    }
    spec: dict[str, Any] = {
        "serviceAccountName": pool.name,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 130,
        "securityContext": pool.pod_security,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": pool.name}}],
    }
    spec |= pool.more
    return {
        "replicas": 1,
        "strategy": _STRATEGY,
        "selector": {"matchLabels": selector},
        "template": {"metadata": {"labels": pool.pod_labels, "annotations": pool.annotations}, "spec": spec},
    }


def steering(way: Way) -> Iterator[Manifest]:
    """InferenceObjective, and InferenceModelRewrite where requests go on by other names."""
    made = way.steering
    if not made:
        return
    pool = {"group": _GROUP, "kind": "InferencePool", "name": made.pool}
    yield _steered(made, "InferenceObjective", {"poolRef": pool, "priority": made.priority})
    if made.names:
        targets = [
            {"modelRewrite": name, **({} if weight is None else {"weight": weight})} for name, weight in made.names
        ]
        match = {"model": {"type": "Exact", "value": made.model}}
        yield _steered(
            made, "InferenceModelRewrite", {"poolRef": pool, "rules": [{"matches": [match], "targets": targets}]}
        )


def _steered(made: Steering, kind: str, spec: Body) -> Manifest:
    metadata = {"name": made.name, "namespace": made.namespace, "labels": made.labels}
    body = {"apiVersion": f"{made.group}/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}
    return Manifest(body, lambda: _origins(made))


def _origins(made: Steering) -> dict[Path, Origin]:
    said = made.origins()
    return {
        (): said[()],
        ("metadata", "name"): said["name",],
        ("metadata", "namespace"): said["namespace",],
        ("spec", "priority"): said["priority",],
        ("spec", "poolRef"): said["pool",],
        ("spec", "poolRef", "name"): said["pool",],
        ("spec", "rules"): said["targets",],
        ("spec", "rules", 0, "matches"): said["model",],
    }
