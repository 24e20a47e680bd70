"""InferencePool, its picker, and the objects that steer the picker: InferenceObjective and InferenceModelRewrite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from renderer.build.metadata import name_origins, route_labels
from renderer.build.selectors import app_selector, serving_selector
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Body, Manifest, Plan, PoolPlan, Rewrite, Steering, TrafficPlan
from renderer.yamlio import SharedMap

_GROUP = wellknown.POOL_GROUP
_GRPC, _HEALTH, _METRICS = 9002, 9003, 9090
_SELECTOR_LABELS = (wellknown.NAME, wellknown.COMPONENT)
# The picker answers for these services with and without leader election; without, both fail until it has read the pool.
_LIVENESS_PROBE = SharedMap(
    {"grpc": {"port": _HEALTH, "service": "liveness"}, "initialDelaySeconds": 5, "periodSeconds": 10},
)
_READINESS_PROBE = SharedMap({"grpc": {"port": _HEALTH, "service": "readiness"}, "periodSeconds": 2})
_STEERING_RESOURCES = ("inferenceobjectives", "inferencemodelrewrites")


def inference_pool(plan: Plan) -> list[Manifest]:
    """One in pool mode: over the pods that answer requests, with a reference to their picker."""
    pool = plan.pool
    if not pool:
        return []
    picker = {
        "group": "",
        "kind": "Service",
        "name": pool.name,
        "port": {"number": _GRPC},
        "failureMode": "FailClose",
    }
    selector = app_selector(plan, of_leaders=not plan.all_serve) if plan.role else serving_selector(plan)
    spec = {
        "selector": {"matchLabels": selector},
        "targetPorts": [{"number": port.number} for port in plan.pool_ports],
        "endpointPickerRef": picker,
    }
    metadata = {"name": plan.shared_name, "namespace": plan.namespace, "labels": route_labels(plan)}
    body = {"apiVersion": f"{_GROUP}/v1", "kind": "InferencePool", "metadata": metadata, "spec": spec}
    return [Manifest(body, lambda: name_origins(plan.origin))]


def picker(plan: Plan) -> list[Manifest]:
    """The objects of a pool's picker: ConfigMap, ServiceAccount, Role, RoleBinding, Deployment, Service,
    PodDisruptionBudget.
    """
    pool = plan.pool
    if not pool:
        return []
    selector = SharedMap({key: pool.labels[key] for key in _SELECTOR_LABELS})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": pool.name}
    subject = {"kind": "ServiceAccount", "name": pool.name, "namespace": plan.namespace}
    bodies: tuple[tuple[str, str, Body], ...] = (
        ("v1", "ConfigMap", {"data": pool.config}),
        ("v1", "ServiceAccount", {}),
        ("rbac.authorization.k8s.io/v1", "Role", {"rules": _role_rules(plan.shared_name, pool.watched_groups)}),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": reference, "subjects": [subject]}),
        ("apps/v1", "Deployment", {"spec": _deployment(pool, selector)}),
        ("v1", "Service", {"spec": {"selector": selector, "ports": _SERVICE_PORTS}}),
        (
            "policy/v1",
            "PodDisruptionBudget",
            {"spec": {**pool.disruption_budget, "selector": {"matchLabels": selector}}},
        ),
    )
    metadata = SharedMap({"name": pool.name, "namespace": plan.namespace, "labels": pool.labels})
    return [
        Manifest(
            {"apiVersion": version, "kind": kind, "metadata": metadata, **rest},
            (lambda: _deployment_origins(plan, pool)) if kind == "Deployment" else lambda: name_origins(plan.origin),
        )
        for version, kind, rest in bodies
    ]


def _deployment_origins(plan: Plan, pool: PoolPlan) -> dict[Path, Origin]:
    container: Path = ("spec", "template", "spec", "containers", 0)
    return {**name_origins(plan.origin), **{(*container, key): pool.origin.at(key) for key in ("args", "resources")}}


_SERVICE_PORTS = [
    SharedMap(
        {
            "name": "grpc-ext-proc",
            "port": _GRPC,
            "targetPort": _GRPC,
            "protocol": "TCP",
            "appProtocol": "kubernetes.io/h2c",
        }
    ),
    SharedMap({"name": "http-metrics", "port": _METRICS, "targetPort": _METRICS, "protocol": "TCP"}),
]
_VERBS = ["get", "list", "watch"]
_POD_RULE = SharedMap({"apiGroups": [""], "resources": ["pods"], "verbs": _VERBS})


def _role_rules(name: str, groups: tuple[str, ...]) -> list[Body]:
    """The rules of the picker's Role: read access, to no pool but its own. A picker that may not read the steering
    kinds of the cluster never gets ready.
    """
    return [
        _POD_RULE,
        {"apiGroups": [_GROUP], "resources": ["inferencepools"], "resourceNames": [name], "verbs": _VERBS},
        _steering_rule(groups),
    ]


@cache
def _steering_rule(groups: tuple[str, ...]) -> SharedMap:
    return SharedMap({"apiGroups": list(groups), "resources": list(_STEERING_RESOURCES), "verbs": _VERBS})


def _field_variable(name: str, path: str) -> Body:
    return SharedMap({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}})


def _port(name: str, number: int) -> Body:
    return SharedMap({"name": name, "containerPort": number, "protocol": "TCP"})


_ENV = [_field_variable("NAMESPACE", "metadata.namespace"), _field_variable("POD_NAME", "metadata.name")]
_PORTS = [_port("grpc", _GRPC), _port("grpc-health", _HEALTH), _port("metrics", _METRICS)]
_MOUNTS = [SharedMap({"name": "config", "mountPath": "/config", "readOnly": True})]
_STRATEGY = SharedMap({"type": "Recreate"})


def _deployment(pool: PoolPlan, selector: Body) -> dict[str, object]:
    """The spec of the picker's Deployment: one replica, recreated in updates, since two would choose by different views
    of the same pods.
    """
    container = {
        "name": wellknown.PICKER_CONTAINER,
        "image": pool.image,
        "args": list(pool.args),
        "env": _ENV,
        "ports": _PORTS,
        "resources": pool.resources,
        "livenessProbe": _LIVENESS_PROBE,
        "readinessProbe": _READINESS_PROBE,
        "securityContext": pool.security,
        "volumeMounts": _MOUNTS,
    }
    spec: dict[str, object] = {
        "serviceAccountName": pool.name,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 130,
        "securityContext": pool.pod_security,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": pool.name}}],
    }
    spec |= pool.pod_fields
    return {
        "replicas": 1,
        "strategy": _STRATEGY,
        "selector": {"matchLabels": selector},
        "template": {"metadata": {"labels": pool.pod_labels, "annotations": pool.pod_annotations}, "spec": spec},
    }


def steering(plan: Plan | TrafficPlan) -> Iterator[Manifest]:
    """An InferenceObjective where requests have a priority, and an InferenceModelRewrite where other model names
    replace public names.
    """
    steering_plan = plan.steering
    if not steering_plan:
        return
    pool = {"group": _GROUP, "kind": "InferencePool", "name": steering_plan.pool}
    if steering_plan.priority is not None:
        objective = {"poolRef": pool, "priority": steering_plan.priority}
        yield _steering_manifest(steering_plan, "InferenceObjective", objective)
    if steering_plan.rewrites:
        rules = [_rewrite_rule(rewrite) for rewrite in steering_plan.rewrites]
        yield _steering_manifest(steering_plan, "InferenceModelRewrite", {"poolRef": pool, "rules": rules})


def _rewrite_rule(rewrite: Rewrite) -> Body:
    targets = [
        {"modelRewrite": name, **({} if weight is None else {"weight": weight})} for name, weight in rewrite.targets
    ]
    return {"matches": [{"model": {"type": "Exact", "value": rewrite.model}}], "targets": targets}


def _steering_manifest(plan: Steering, kind: str, spec: Body) -> Manifest:
    metadata = {"name": plan.name, "namespace": plan.namespace, "labels": plan.labels}
    body = {"apiVersion": f"{plan.group}/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}
    return Manifest(body, lambda: _steering_origins(plan))


def _rewrite_origins(plan: Steering) -> Iterator[tuple[Path, Origin]]:
    for r, rewrite in enumerate(plan.rewrites):
        rule: Path = ("spec", "rules", r)
        yield (*rule, "matches"), rewrite.origin
        yield (*rule, "matches", 0, "model", "value"), rewrite.origin
        for i, origin in enumerate(rewrite.target_origins):
            yield (*rule, "targets", i, "modelRewrite"), origin
            yield (*rule, "targets", i, "weight"), Origin(origin.source, (*origin.path[:-1], "weight"))


def _steering_origins(plan: Steering) -> dict[Path, Origin]:
    return {
        **name_origins(plan.item),
        ("spec", "priority"): plan.item.at("spec", "criticality"),
        ("spec", "poolRef"): plan.pool_origin,
        ("spec", "poolRef", "name"): plan.pool_origin,
        ("spec", "rules"): plan.rewrites_origin,
        **dict(_rewrite_origins(plan)),
    }
