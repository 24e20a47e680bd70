"""What a cluster would refuse: a good object passes, and one changed field is found, at its place, and nothing else.

Each rule is tried at its edge: what is just inside passes, what is just outside does not. What schemas refuse is in
test_schemas.py; whole files, and how findings read, in errors/check-*.
"""

from __future__ import annotations

import base64
import copy
from functools import partial
from typing import Any

import pytest

from renderer import check, yamlio
from renderer.check.documents import validate_documents
from renderer.check.finding import locate_finding
from renderer.check.graph import ExternalObjects
from renderer.check.kinds.pod_template import validate_pod
from renderer.check.node_sizes import largest_node, node_sizes
from renderer.check.relations import validate_relations
from renderer.diagnostics import Finding, Origin, Path
from renderer.kubernetes.component_versions import TargetVersions
from renderer.nodes.instances import instances
from renderer.nodes.labels import TYPE as INSTANCE_TYPE
from renderer.plan import Manifest

GONE: Any = object()  # as a value: the field is taken away
POD = """
volumes:
  - {name: model, emptyDir: {}}
  - {name: shm, emptyDir: {}}
initContainers:
  - name: loader
    image: loader:1
    volumeMounts: [{name: model, mountPath: /models}]
containers:
  - name: runner
    image: engine:1
    env: [{name: A, value: "1"}, {name: B, value: "2"}]
    ports: [{name: http, containerPort: 8080, protocol: TCP}, {name: metrics, containerPort: 9090, protocol: TCP}]
    resources:
      limits: {memory: 2Gi, nvidia.com/gpu: "1"}
      requests: {cpu: "4", memory: 1Gi, nvidia.com/gpu: "1"}
    startupProbe: {httpGet: {path: /, port: http}}
    readinessProbe: {tcpSocket: {port: metrics}}
    livenessProbe: {httpGet: {path: /, port: 8080}}
    volumeMounts: [{name: model, mountPath: /models}, {name: shm, mountPath: /dev/shm}]
  - name: sidecar
    image: sidecar:1
    resources: {requests: {cpu: 10m}}
    ports: [{name: http, containerPort: 8081, protocol: TCP}]
"""


def below(spaces: int) -> str:
    return POD.replace("\n", "\n" + " " * spaces)


GOOD = f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: chat, namespace: llm}}
spec:
  replicas: 2
  startupPolicy: LeaderCreated
  rolloutStrategy:
    type: RollingUpdate
    rollingUpdateConfiguration: {{partition: 0, maxUnavailable: 1, maxSurge: 0}}
  networkConfig: {{subdomainPolicy: Shared}}
  leaderWorkerTemplate:
    size: 4
    restartPolicy: RecreateGroupOnPodRestart
    subGroupPolicy: {{subGroupPolicyType: LeaderWorker, subGroupSize: 2}}
    leaderTemplate:
      spec: {below(8)}
    workerTemplate:
      spec: {below(8)}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: chat, namespace: llm}}
spec:
  scaleTargetRef: {{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: other}}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Resource
      resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 80}}}}
    - type: Pods
      pods: {{metric: {{name: queue}}, target: {{type: AverageValue, averageValue: "5"}}}}
    - type: Object
      object:
        describedObject: {{apiVersion: v1, kind: Service, name: x}}
        metric: {{name: rate}}
        target: {{type: Value, value: 10k}}
    - type: External
      external: {{metric: {{name: jobs}}, target: {{type: AverageValue, averageValue: 500m}}}}
    - type: ContainerResource
      containerResource: {{container: runner, name: cpu, target: {{type: AverageValue, averageValue: "1"}}}}
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies: [{{type: Pods, value: 1, periodSeconds: 60}}]
    scaleDown:
      stabilizationWindowSeconds: 300
---
apiVersion: v1
kind: Service
metadata: {{name: chat-lb, namespace: llm}}
spec:
  selector:
    leaderworkerset.sigs.k8s.io/name: chat
    leaderworkerset.sigs.k8s.io/worker-index: "0"
  ports:
    - {{name: http, port: 80, targetPort: http, protocol: TCP}}
    - {{name: metrics, port: 9090, targetPort: 9090, protocol: TCP}}
    - {{name: dns, port: 80, protocol: UDP, targetPort: 8080}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: chat, namespace: llm}}
spec:
  maxUnavailable: 1
  selector: {{matchLabels: {{leaderworkerset.sigs.k8s.io/name: chat}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: llm}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, more: x}}}}
    spec: {below(6)}
"""
SET, HPA, SERVICE, BUDGET, DEPLOYMENT = range(5)
READ, _ = yamlio.parse("good.yaml", GOOD.encode())
BODIES: list[dict[str, Any]] = [document.value for document in READ]


def steps(path: str) -> Path:
    """`a.b.0.c` as a path."""
    return tuple(int(step) if step.isdigit() else step for step in path.split(".") if step)


def changed(body: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with the values at the paths."""
    copied = copy.deepcopy(body)
    for path, value in changes.items():
        *parents, last = steps(path)
        within: Any = copied
        for step in parents:
            within = within[step]
        if value is GONE:
            del within[last]
        elif isinstance(within, list) and last == len(within):
            within.append(value)
        else:
            within[last] = value
    return copied


def list_findings(body: dict[str, Any]) -> list[tuple[str, Path]]:
    """Code and place of each finding in the object."""
    return [(finding.code, finding.path) for finding in check.validate_object(body)]


def test_good_objects_pass() -> None:
    problems, unknown = validate_documents(READ, ExternalObjects(declarations=("LeaderWorkerSet/llm/other",)))
    assert (problems, unknown) == ([], [])
    assert len(BODIES) == 5


def test_what_many_pods_share_is_judged_in_each_of_them() -> None:
    """A part with something wrong is wrong wherever it stands; whether its words fit is for each pod to say."""
    probe = yamlio.SharedMap({"httpGet": {"path": "/", "port": "http"}})
    sides = yamlio.SharedMap({"limits": {"memory": "1Gi"}, "requests": {"memory": "2Gi"}})
    hooks = yamlio.SharedMap({"preStop": {"sleep": {"seconds": 40}}})
    codes = []
    for name, grace in (("http", 60), ("web", 60), ("http", 30), ("web", 30)):
        runner: dict[str, Any] = {"name": "runner", "livenessProbe": probe, "resources": sides, "lifecycle": hooks}
        runner["ports"] = [{"name": name, "containerPort": 8080}]
        spec = {"terminationGracePeriodSeconds": grace, "containers": [runner]}
        codes.append([finding.code for finding in validate_pod(spec)])
        assert codes[-1] == [finding.code for finding in validate_pod(copy.deepcopy(spec))]  # a copy is not shared
    assert codes == [["E523"], ["E522", "E523"], ["E523", "E527"], ["E522", "E523", "E527"]]


# --- LeaderWorkerSet

UPDATE = "spec.rolloutStrategy.rollingUpdateConfiguration"
GROUPS = "spec.leaderWorkerTemplate.subGroupPolicy"
SIZE = "spec.leaderWorkerTemplate.size"
EXCLUSIVE = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({SIZE: 1, GROUPS: GONE}, None),
        ({"spec.replicas": 0}, None),
        ({"spec.replicas": GONE}, None),
        ({"spec.replicas": 1_000_000, SIZE: 2147, GROUPS: GONE}, None),
        ({"spec.replicas": 1_000_000, SIZE: 2148, GROUPS: GONE}, "E511 spec.replicas"),
        ({f"{UPDATE}.partition": 1}, None),
        ({f"{UPDATE}.maxUnavailable": "50%"}, None),
        ({f"{UPDATE}.maxUnavailable": "100%"}, None),
        ({f"{UPDATE}.maxUnavailable": "101%"}, f"E512 {UPDATE}.maxUnavailable"),
        ({f"{UPDATE}.maxSurge": "101%"}, f"E512 {UPDATE}.maxSurge"),
        # Both come to 0: down is rounded down, up is rounded up.
        ({f"{UPDATE}.maxUnavailable": 0}, f"E513 {UPDATE}"),
        ({f"{UPDATE}.maxUnavailable": "49%"}, f"E513 {UPDATE}"),
        ({f"{UPDATE}.maxUnavailable": "49%", f"{UPDATE}.maxSurge": "1%"}, None),
        ({f"{UPDATE}.maxUnavailable": 0, f"{UPDATE}.maxSurge": "0%"}, f"E513 {UPDATE}"),
        ({f"{UPDATE}.maxUnavailable": 0, "spec.replicas": 0}, None),
        ({f"{UPDATE}.maxUnavailable": GONE}, None),
        ({"spec.rolloutStrategy": GONE}, None),
        # Sub groups divide the size, or the size less the leader.
        ({GROUPS: GONE}, None),
        ({f"{GROUPS}.subGroupSize": 1}, None),
        ({f"{GROUPS}.subGroupSize": 4}, None),
        ({f"{GROUPS}.subGroupSize": 5}, f"E514 {GROUPS}.subGroupSize"),
        ({f"{GROUPS}.subGroupSize": 3}, None),
        ({f"{GROUPS}.subGroupSize": 3, SIZE: 5}, f"E514 {GROUPS}.subGroupSize"),
        ({f"{GROUPS}.subGroupPolicyType": "LeaderExcluded"}, f"E514 {GROUPS}.subGroupSize"),
        ({f"{GROUPS}.subGroupPolicyType": "LeaderExcluded", SIZE: 5}, None),
        ({"metadata.annotations": {EXCLUSIVE: "zone"}}, None),
        ({"metadata.annotations": {EXCLUSIVE: "zone"}, GROUPS: GONE}, "E516 metadata.annotations"),
        ({"spec.leaderWorkerTemplate.restartPolicy": "None"}, None),
        ({"spec.leaderWorkerTemplate.restartPolicy": "Default"}, "E515 spec.leaderWorkerTemplate.restartPolicy"),
    ],
)
def test_set(changes: dict[str, Any], expected: str | None) -> None:
    code, _, path = (expected or "").partition(" ")
    where = (*steps(path), EXCLUSIVE) if code == "E516" else steps(path)
    assert list_findings(changed(BODIES[SET], changes)) == ([(code, where)] if expected else [])


# --- pods, wherever their template stands

RUNNER, LOADER = "containers.0", "initContainers.0"
FIELD = {"fieldPath": "metadata.name"}
SPREAD = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
PLACES = [
    (SET, "spec.leaderWorkerTemplate.leaderTemplate.spec"),
    (SET, "spec.leaderWorkerTemplate.workerTemplate.spec"),
    (DEPLOYMENT, "spec.template.spec"),
]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"volumes.1.name": "model"}, "E520 volumes.1.name"),
        ({"containers.1.name": "runner"}, "E520 containers.1.name"),
        ({"containers.1.name": "loader"}, "E520 containers.1.name"),  # one name space with the first containers
        ({f"{RUNNER}.ports.1.name": "http", f"{RUNNER}.readinessProbe": GONE}, f"E520 {RUNNER}.ports.1.name"),
        ({f"{RUNNER}.ports.2": {"containerPort": 1, "protocol": "TCP"}}, None),
        ({f"{RUNNER}.env.1.name": "A"}, f"E520 {RUNNER}.env.1.name"),
        ({f"{RUNNER}.volumeMounts.1.mountPath": "/models"}, f"E520 {RUNNER}.volumeMounts.1.mountPath"),
        ({f"{RUNNER}.volumeMounts.1.name": "model"}, None),  # one volume at two places
        ({f"{RUNNER}.volumeMounts.1.name": "nope"}, f"E521 {RUNNER}.volumeMounts.1.name"),
        ({f"{LOADER}.volumeMounts.0.name": "nope"}, f"E521 {LOADER}.volumeMounts.0.name"),
        ({f"{RUNNER}.startupProbe.httpGet.port": 1}, None),  # a number needs no port that says so
        ({f"{RUNNER}.startupProbe.httpGet.port": "x"}, f"E522 {RUNNER}.startupProbe.httpGet.port"),
        ({f"{RUNNER}.readinessProbe.tcpSocket.port": "x"}, f"E522 {RUNNER}.readinessProbe.tcpSocket.port"),
        ({f"{RUNNER}.livenessProbe.httpGet.port": "x"}, f"E522 {RUNNER}.livenessProbe.httpGet.port"),
        (
            {"containers.1.livenessProbe": {"httpGet": {"port": "metrics"}}},  # its neighbour's port is none of its own
            "E522 containers.1.livenessProbe.httpGet.port",
        ),
        ({f"{RUNNER}.resources.requests.memory": "2Gi"}, None),
        ({f"{RUNNER}.resources.requests.memory": "2048Mi"}, None),
        ({f"{RUNNER}.resources.requests.memory": "2049Mi"}, f"E523 {RUNNER}.resources.requests.memory"),
        ({f"{RUNNER}.resources.requests.ephemeral-storage": "1Ti"}, None),  # without a limit
        (
            {f"{RUNNER}.env.1.valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}, f"{RUNNER}.env.1.value": GONE},
            None,
        ),
        ({f"{RUNNER}.env.1.valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, f"E524 {RUNNER}.env.1"),
        ({f"{RUNNER}.env.1": {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", **FIELD}}}}, None),
        (
            {f"{RUNNER}.env.1": {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v2", **FIELD}}}},
            f"E528 {RUNNER}.env.1.valueFrom.fieldRef.apiVersion",
        ),
        ({"topologySpreadConstraints": [SPREAD, {**SPREAD, "topologyKey": "kubernetes.io/hostname"}]}, None),
        ({"topologySpreadConstraints": [SPREAD, {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]}, None),
        ({"topologySpreadConstraints": [SPREAD, {**SPREAD, "maxSkew": 2}]}, "E520 topologySpreadConstraints.1"),
    ],
)
@pytest.mark.parametrize(("body", "place"), PLACES, ids=["leader", "worker", "deployment"])
def test_pod(body: int, place: str, changes: dict[str, Any], expected: str | None) -> None:
    variant = changed(BODIES[body], {f"{place}.{path}": value for path, value in changes.items()})
    code, _, path = (expected or "").partition(" ")
    assert list_findings(variant) == ([(code, steps(f"{place}.{path}"))] if expected else [])


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"spec.template.metadata.labels.app": "x"}, [("E542", ("spec", "selector", "matchLabels"))]),
        ({"spec.template.metadata": GONE}, [("E542", ("spec", "selector", "matchLabels"))]),
        ({"spec.selector.matchLabels.more": "x"}, []),
    ],
)
def test_selector_of_a_workload(kind: str, changes: dict[str, Any], expected: list[tuple[str, Path]]) -> None:
    more = {"kind": kind} | ({"spec.serviceName": "web"} if kind == "StatefulSet" else {})
    assert list_findings(changed(BODIES[DEPLOYMENT], {**more, **changes})) == expected


@pytest.mark.parametrize(
    ("version", "kind", "path"),
    [
        ("v1", "Pod", "spec"),
        ("v1", "PodTemplate", "template.spec"),
        ("batch/v1", "Job", "spec.template.spec"),
        ("batch/v1", "CronJob", "spec.jobTemplate.spec.template.spec"),
    ],
)
def test_pods_without_a_workload_of_apps(version: str, kind: str, path: str) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}
    body: dict[str, Any] = {"schedule": "0 3 * * *"} if kind == "CronJob" else {}
    inner: Any = pod
    for step in reversed(steps(path)):
        inner = {step: inner}
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **inner}
    if body:
        manifest["spec"] |= body
    assert list_findings(manifest) == []
    pod["containers"] = [*pod["containers"], {"name": "a", "image": "a"}]
    assert list_findings(manifest) == [("E520", steps(f"{path}.containers.1.name"))]


# --- Role and RoleBinding

ROLE, BINDING = yamlio.parse(
    "rbac.yaml",
    b"""
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: llm}
rules:
  - {apiGroups: [""], resources: [pods], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: llm}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: llm}]
""",
)[0]
RBAC = "rbac.authorization.k8s.io"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"rules": []}, None),
        ({"rules.0.resources": []}, "rules.0.resources"),
        ({"rules.0.apiGroups": GONE}, "rules.0"),
        ({"rules.0.resourceNames": ["one"]}, None),
        ({"rules.0.nonResourceURLs": ["/metrics"]}, "rules.0.nonResourceURLs"),
    ],
)
def test_role(changes: dict[str, Any], expected: str | None) -> None:
    assert list_findings(changed(ROLE.value, changes)) == ([("E543", steps(expected))] if expected else [])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"subjects": GONE}, None),
        ({"roleRef.kind": "ClusterRole"}, None),
        ({"subjects.0.name": "a.b"}, None),
        ({"subjects.0.name": "a..b"}, "subjects.0.name"),
        ({"subjects.0.name": "A"}, "subjects.0.name"),
        ({"subjects.0.name": "a" * 253}, None),
        ({"subjects.0.name": "a" * 254}, "subjects.0.name"),
        ({"subjects.0.apiGroup": RBAC}, "subjects.0.apiGroup"),
        ({"subjects.0.kind": "User", "subjects.0.name": "a b", "subjects.0.namespace": GONE}, None),
        ({"subjects.0.kind": "User", "subjects.0.name": "a b", "subjects.0.apiGroup": RBAC}, None),
    ],
)
def test_binding(changes: dict[str, Any], expected: str | None) -> None:
    assert list_findings(changed(BINDING.value, changes)) == ([("E543", steps(expected))] if expected else [])


# --- ScaledObject

KEDA_SCALER = {
    "apiVersion": "keda.sh/v1alpha1",
    "kind": "ScaledObject",
    "metadata": {"name": "chat", "namespace": "llm"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "chat"},
        "minReplicaCount": 1,
        "triggers": [{"type": "cpu", "metricType": "Utilization", "metadata": {"value": "80"}}],
    },
}
CRON: dict[str, Any] = {
    "type": "cron",
    "metadata": {"timezone": "UTC", "start": "0 8 * * *", "end": "0 9 * * *", "desiredReplicas": "2"},
}
ALWAYS = {"type": "cron", "metadata": {**CRON["metadata"], "end": "0 8 * * *"}}
ENDLESS = {"type": "cron", "metadata": {key: CRON["metadata"][key] for key in ("timezone", "start", "desiredReplicas")}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"spec.minReplicaCount": 0}, None),
        ({"spec.minReplicaCount": 0, "spec.scaleTargetRef": {"name": "chat"}}, "spec.triggers"),
        ({"spec.minReplicaCount": GONE, "spec.scaleTargetRef.kind": "StatefulSet"}, "spec.triggers"),
        ({"spec.minReplicaCount": 0, "spec.triggers.0": CRON}, None),
        ({"spec.triggers.0": ALWAYS}, "spec.triggers.0.metadata.end"),
        ({"spec.triggers.0": ENDLESS}, "spec.triggers.0.metadata"),
        ({"spec.fallback": {"failureThreshold": 3, "replicas": 1}}, "spec.fallback"),
        ({"spec.fallback": {"failureThreshold": 3, "replicas": 1}, "spec.triggers.0": CRON}, None),
        ({"spec.idleReplicaCount": 0}, None),
        ({"spec.idleReplicaCount": 1}, "spec.idleReplicaCount"),
        ({"metadata.name": "c" * 54}, None),
        ({"metadata.name": "c" * 55}, "metadata.name"),
        ({"metadata.name": "c" * 55, "spec.advanced": {"horizontalPodAutoscalerConfig": {"name": "c"}}}, None),
    ],
)
def test_scaled_object(changes: dict[str, Any], expected: str | None) -> None:
    assert list_findings(changed(KEDA_SCALER, changes)) == ([("E530", steps(expected))] if expected else [])


# --- HorizontalPodAutoscaler

METRIC = "spec.metrics"
UP = "spec.behavior.scaleUp"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec.minReplicas": 4}, None),
        ({"spec.minReplicas": 5}, "E530 spec.minReplicas"),
        ({"spec.minReplicas": GONE, "spec.maxReplicas": 1}, None),
        ({METRIC: GONE}, None),
        # what a target may say
        ({f"{METRIC}.0.resource.target": {"type": "AverageValue", "averageValue": "1"}}, None),
        ({f"{METRIC}.0.resource.target": {"type": "Value", "value": "1"}}, f"E531 {METRIC}.0.resource.target.type"),
        # the value counts, whatever the type beside it; but the type says how metrics of objects are measured
        ({f"{METRIC}.0.resource.target": {"type": "Value", "averageValue": "1"}}, None),
        ({f"{METRIC}.1.pods.target": {"type": "Value", "averageValue": "1"}}, None),
        ({f"{METRIC}.3.external.target": {"type": "Value", "averageValue": "1"}}, None),
        (
            {f"{METRIC}.2.object.target": {"type": "Value", "averageValue": "1"}},
            f"E531 {METRIC}.2.object.target.type",
        ),
        ({f"{METRIC}.2.object.target": {"type": "AverageValue", "averageValue": "1"}}, None),
        (
            {f"{METRIC}.3.external.target": {"type": "Utilization", "averageUtilization": 1}},
            f"E531 {METRIC}.3.external.target.type",
        ),
        ({f"{METRIC}.4.containerResource.target": {"type": "Utilization", "averageUtilization": 1}}, None),
        # above nothing
        ({f"{METRIC}.1.pods.target.averageValue": "1n"}, None),
        ({f"{METRIC}.1.pods.target.averageValue": "0"}, f"E531 {METRIC}.1.pods.target.averageValue"),
        ({f"{METRIC}.2.object.target.value": "-1"}, f"E531 {METRIC}.2.object.target.value"),
        # the edges of how fast
        ({f"{UP}.stabilizationWindowSeconds": 3600}, None),
        ({f"{UP}.policies.0.periodSeconds": 1800}, None),
    ],
)
def test_autoscaler(changes: dict[str, Any], expected: str | None) -> None:
    code, _, path = (expected or "").partition(" ")
    assert list_findings(changed(BODIES[HPA], changes)) == ([(code, steps(path))] if expected else [])


# --- Service and disruption budget


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec.ports": [{"port": 80, "protocol": "TCP"}]}, None),  # a single port needs no name
        ({"spec.ports.1.name": "http"}, "E540 spec.ports.1"),
        ({"spec.ports.1.port": 80}, "E540 spec.ports.1"),
        ({"spec.ports.2.protocol": "TCP"}, "E540 spec.ports.2"),
        ({"spec.clusterIP": ""}, "E540 spec.clusterIP"),
        ({"spec.clusterIP": "10.0.0.1"}, None),
        ({"spec.clusterIP": "None", "spec.ports.2": GONE}, None),
        ({"spec.clusterIP": "None", "spec.ports.2.targetPort": 80}, None),
        ({"spec.clusterIP": "None"}, None),  # nobody but a leader's clients is misled
    ],
)
def test_service(changes: dict[str, Any], expected: str | None) -> None:
    code, _, path = (expected or "").partition(" ")
    assert list_findings(changed(BODIES[SERVICE], changes)) == ([(code, steps(path))] if expected else [])


LIMIT = 1 << 20  # bytes of all values of a ConfigMap or Secret


def encoded(size: int) -> str:
    """So many bytes in Base64."""
    return base64.b64encode(bytes(size)).decode()


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("ConfigMap", {"data": {"a": "x" * (LIMIT - 1), "b": "x"}}, ()),
        ("ConfigMap", {"data": {"a": "x" * LIMIT, "b": "x"}}, ("data", "a")),
        ("ConfigMap", {"data": {"a": "ü" * (LIMIT // 2 + 1)}}, ("data", "a")),
        ("ConfigMap", {"data": {"a": "x"}, "binaryData": {"b": encoded(LIMIT)}}, ("binaryData", "b")),
        ("ConfigMap", {"binaryData": {"b": encoded(LIMIT)}}, ()),
        ("Secret", {"data": {"a": encoded(LIMIT)}, "stringData": {"b": "x"}}, ("data", "a")),
        ("Secret", {"data": {"a": encoded(LIMIT)}}, ()),
    ],
)
def test_size_of_data(kind: str, fields: dict[str, Any], expected: tuple[str, ...]) -> None:
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "large", "namespace": "llm"}, **fields}
    assert list_findings(body) == ([("E838", expected)] if expected else [])


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"limits": {"hugepages-2Mi": "1Gi"}}, None),
        ({"limits": {"hugepages-2Mi": "1Gi"}, "requests": {"hugepages-2Mi": "1Gi"}}, None),
        ({"requests": {"hugepages-2Mi": "1Gi"}}, ("E525", "requests", "hugepages-2Mi")),
        (
            {"limits": {"hugepages-2Mi": "2Gi"}, "requests": {"hugepages-2Mi": "1Gi"}},
            ("E525", "requests", "hugepages-2Mi"),
        ),
        ({"requests": {"memory": "1Mi"}}, None),
        ({"requests": {"memory": "0"}}, None),
        ({"requests": {"memory": "512m"}}, ("W524", "requests", "memory")),
        ({"limits": {"ephemeral-storage": 100}}, ("W524", "limits", "ephemeral-storage")),
        ({"requests": {"cpu": 896, "memory": "32Ti"}}, None),
        ({"requests": {"cpu": "896001m"}}, ("W532", "requests", "cpu")),
        ({"limits": {"cpu": 4000}, "requests": {"cpu": 2}}, None),
        ({"limits": {"cpu": 4000}}, ("W532", "limits", "cpu")),
        ({"limits": {"memory": "33Ti"}}, ("W532", "limits", "memory")),
    ],
)
def test_resources_that_nobody_means(resources: dict[str, Any], expected: tuple[str, str, str] | None) -> None:
    where = "spec.template.spec.containers.0.resources"
    expected_findings = [(expected[0], (*steps(where), *expected[1:]))] if expected else []
    assert list_findings(changed(BODIES[DEPLOYMENT], {where: resources})) == expected_findings


def test_hints_about_requests_above_any_node() -> None:
    """A unit that was meant is named only where it would make sense."""
    hints = {}
    for name, value in (("cpu", 4000), ("cpu", "1k"), ("cpu", 1e9), ("memory", "64000Gi"), ("memory", "640Ti")):
        resources = {"spec.template.spec.containers.0.resources": {"requests": {name: value}}}
        (finding,) = check.validate_object(changed(BODIES[DEPLOYMENT], resources))
        hints[value] = finding.words["hint"]
    assert hints == {
        4000: "did you mean 4000m?",
        "1k": "did you mean 1000m?",
        1e9: "request less",
        "64000Gi": "did you mean 64000Mi?",
        "640Ti": "did you mean 640Gi?",
    }


def test_sizes_of_nodes_are_those_of_the_instances() -> None:
    """But for two families that Karpenter's list no longer has; a larger node is in no family."""
    sizes = node_sizes()
    types = {instance.labels[INSTANCE_TYPE] for instance in instances()}
    assert {name.partition(".")[0] for name in types - sizes.keys()} == {"p3", "dl1"}
    assert sizes.keys() - types == {largest_node().instance_type}
    assert all(size.cpu > 2 and size.memory >= 8 * 2**30 for size in sizes.values())


def test_disruption_budget() -> None:
    assert list_findings(changed(BODIES[BUDGET], {"spec.minAvailable": "50%", "spec.maxUnavailable": GONE})) == []
    assert list_findings(changed(BODIES[BUDGET], {"spec.maxUnavailable": GONE})) == []  # the API server takes it
    assert list_findings(changed(BODIES[BUDGET], {"spec.minAvailable": 1})) != []


# --- between objects


def between(changes: dict[int, dict[str, Any]], *more: dict[str, Any]) -> list[tuple[int, str, Path]]:
    """Object, code and place of what does not go together."""
    bodies = [changed(body, changes.get(i, {})) for i, body in enumerate(BODIES)]
    assert [list_findings(body) for body in [*bodies, *more]] == [[] for _ in [*bodies, *more]]
    return [(index, finding.code, finding.path) for index, finding in validate_relations([*bodies, *more])]


SCALED = {HPA: {"spec.scaleTargetRef.name": "chat"}}


def test_replicas_beside_an_autoscaler() -> None:
    assert between(SCALED) == [(SET, "E551", ("spec", "replicas"))]
    assert between({**SCALED, SET: {"spec.replicas": GONE}}) == []
    assert between({HPA: {**SCALED[HPA], "metadata.namespace": "other"}}) == []
    assert between({HPA: {**SCALED[HPA], "spec.scaleTargetRef.kind": "Deployment"}}) == []


def test_one_autoscaler_a_workload() -> None:
    second = changed(BODIES[HPA], {"metadata.name": "second"})
    assert between({}, second) == [(5, "E550", ("spec", "scaleTargetRef", "name"))]
    assert between({}, changed(second, {"spec.scaleTargetRef.name": "third"})) == []
    assert between({}, changed(second, {"spec.scaleTargetRef.kind": "Deployment"})) == []
    assert between({}, changed(second, {"metadata.namespace": "other"})) == []


def test_no_service_in_the_way_of_the_sets_own() -> None:
    mine = changed(BODIES[SERVICE], {"metadata.name": "chat", "spec.selector": {"app": "x"}})
    assert between({}, mine) == [(5, "E552", ("metadata", "name"))]
    assert between({}, changed(mine, {"metadata.namespace": "other"})) == []
    other = changed(mine, {"metadata.namespace": "other"})
    sets = [changed(body, {"metadata.namespace": "other"}) for body in BODIES if body["kind"] == "LeaderWorkerSet"]
    hints = [
        [finding.words["hint"] for _, finding in validate_relations(bodies) if finding.code == "E552"]
        for bodies in ([*BODIES, mine], [*sets, other])
    ]
    assert hints == [["rename it, or leave it out: 'chat-lb' is there"], ["call this one 'chat-lb'"]]


SET_NAME = "leaderworkerset.sigs.k8s.io/name"
LEADER = "spec.leaderWorkerTemplate.leaderTemplate"


@pytest.mark.parametrize(
    ("set_", "service", "expected"),
    [
        ({}, {"spec.ports.0.targetPort": "metrics"}, None),
        ({}, {"spec.ports.0.targetPort": "nope"}, 0),
        ({}, {"spec.ports.1.targetPort": 9091}, 1),
        ({}, {"spec.ports.1.targetPort": GONE}, None),  # then it is the port
        ({}, {"spec.ports.2.targetPort": GONE}, 2),
        ({}, {"spec.ports.2.targetPort": 8081}, None),  # the sidecar's
        ({f"{LEADER}.spec.containers.0.ports.0.containerPort": 1}, {}, 2),
        ({f"{LEADER}.spec.containers.0.ports.1.containerPort": 1}, {}, 1),
        ({LEADER: GONE}, {}, None),  # then the first worker leads
        ({LEADER: GONE, "spec.leaderWorkerTemplate.workerTemplate.spec.containers.0.ports.1.containerPort": 1}, {}, 1),
        ({}, {"spec.ports.1.targetPort": 9091, "metadata.namespace": "other"}, None),
        ({}, {"spec.ports.1.targetPort": 9091, "spec.selector": {"app": "x"}}, None),  # no Service of the leaders
        ({}, {"spec.ports.1.targetPort": 9091, "spec.selector": {SET_NAME: "chat"}}, None),  # nor is one of all pods
    ],
)
def test_a_service_reaches_what_the_leaders_listen_on(
    set_: dict[str, Any], service: dict[str, Any], expected: int | None
) -> None:
    expected_findings = [] if expected is None else [(SERVICE, "E553", ("spec", "ports", expected))]
    assert between({SET: set_, SERVICE: service}) == expected_findings


def test_where_nobody_says_what_he_listens_on_nothing_can_be_said() -> None:
    quiet = {f"{LEADER}.spec.containers.{i}.ports": GONE for i in (0, 1)}
    probes = {f"{LEADER}.spec.containers.0.{probe}Probe": GONE for probe in ("startup", "readiness")}
    assert between({SET: {**quiet, **probes}}) == []


METRIC = "spec.metrics.0"
RUNNER = f"{LEADER}.spec.containers.0"
REQUESTING = {"name": "web", "resources": {"requests": {"cpu": 1}}}


@pytest.mark.parametrize(
    ("metric", "workload", "expected"),
    [
        ({}, {}, None),
        ({}, {f"{RUNNER}.resources": {"limits": {"cpu": "2"}}}, None),  # a request is taken from the limit
        ({}, {f"{RUNNER}.resources": GONE}, ("W555", "resource.name")),
        ({}, {f"{RUNNER}.resources": {"requests": {"memory": "1Gi"}}}, ("W555", "resource.name")),
        ({f"{METRIC}.resource.name": "nvidia.com/gpu"}, {}, ("W556", "resource.name")),
        (
            {f"{METRIC}.resource.target": {"type": "AverageValue", "averageValue": "1"}},
            {f"{RUNNER}.resources": GONE},
            None,
        ),
        ({"spec.metrics": GONE}, {f"{RUNNER}.resources": GONE}, None),
    ],
)
def test_what_an_autoscaler_measures(
    metric: dict[str, Any], workload: dict[str, Any], expected: tuple[str, str] | None
) -> None:
    findings = between({HPA: {**SCALED[HPA], **metric}, SET: {"spec.replicas": GONE, **workload}})
    assert findings == ([(HPA, expected[0], steps(f"{METRIC}.{expected[1]}"))] if expected else [])


@pytest.mark.parametrize(
    ("pod", "warns"),
    [
        ({"containers": [{"name": "web"}], "resources": {"requests": {"cpu": 1}}}, False),  # of the pod as a whole
        ({"containers": [{"name": "web"}], "resources": {"requests": {"memory": "1Gi"}}}, True),
        ({"containers": [REQUESTING], "initContainers": [{"name": "beside", "restartPolicy": "Always"}]}, True),
        ({"containers": [REQUESTING], "initContainers": [{"name": "before"}]}, False),
    ],
)
def test_requests_of_pods_and_sidecars(pod: dict[str, Any], warns: bool) -> None:
    scaler, workload = (
        changed(BODIES[HPA], SCALED[HPA]),
        changed(BODIES[SET], {"spec.replicas": GONE, f"{LEADER}.spec": pod}),
    )
    assert ("W555" in {finding.code for _, finding in validate_relations([workload, scaler])}) is warns


@pytest.mark.parametrize(("container", "code"), [("runner", ""), ("runer", "E555"), ("loader", "E555")])
def test_the_container_that_an_autoscaler_measures(container: str, code: str) -> None:
    source = {"name": "cpu", "container": container, "target": {"type": "Utilization", "averageUtilization": 50}}
    metrics = [{"type": "ContainerResource", "containerResource": source}]
    findings = between({HPA: {**SCALED[HPA], "spec.metrics": metrics}, SET: {"spec.replicas": GONE}})
    assert [finding[1] for finding in findings] == ([code] if code else [])


@pytest.mark.parametrize(
    ("kind", "trigger", "reported"),
    [
        ("Deployment", {"metricType": "Utilization"}, True),
        ("Deployment", {"metricType": "AverageValue"}, True),  # KEDA's webhook asks for a request all the same
        ("Deployment", {"metricType": "Utilization", "metadata": {"containerName": "web"}}, False),
        ("Deployment", {"metricType": "Utilization", "metadata": {"containerName": "beside"}}, True),
        ("Deployment", {"type": "cron"}, False),
        ("ReplicaSet", {"metricType": "Utilization"}, True),
        ("ReplicaSet", {"metricType": "AverageValue"}, False),
    ],
)
def test_what_keda_measures(kind: str, trigger: dict[str, Any], reported: bool) -> None:
    containers = [{"name": "web", "resources": {"limits": {"cpu": 1}}}, {"name": "beside"}]
    workload = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }
    spec = {"scaleTargetRef": {"kind": kind, "name": "web"}, "triggers": [{"type": "cpu", **trigger}]}
    scaler = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "web"},
        "spec": spec,
    }
    findings = [(finding.code, finding.path) for _, finding in validate_relations([workload, scaler])]
    assert findings == ([("W555", ("spec", "triggers", 0, "type"))] if reported else [])


# --- what is found leads back to the input


def test_a_finding_stands_where_the_input_made_the_field() -> None:
    (document,), _ = yamlio.parse("chat.yaml", b"spec:\n  replicas: 1000000\n")
    origins: dict[Path, Origin] = {(): document.origin(), ("spec", "replicas"): document.origin("spec", "replicas")}
    body = changed(BODIES[SET], {"spec.replicas": 10**6, SIZE: 2148, f"{GROUPS}.subGroupSize": 2149})
    problems = check.validate_manifests([Manifest(body, lambda: origins)])
    assert [(problem.code, problem.file, problem.line, problem.column) for problem in problems] == [
        ("E511", "chat.yaml", 2, 13),
        ("E514", "chat.yaml", 2, 3),
    ]
    assert "LeaderWorkerSet" in problems[1].message


def test_a_finding_between_objects_stands_at_the_one_to_change() -> None:
    (first, second), _ = yamlio.parse("chat.yaml", b"a: 1\n---\nb: 2\n")
    scaler = Manifest(changed(BODIES[HPA], SCALED[HPA]), lambda: {(): Origin(first)})
    workload = Manifest(BODIES[SET], lambda: {(): Origin(second)})
    assert [(problem.code, problem.line) for problem in check.validate_manifests([scaler, workload])] == [("E551", 3)]


def app(*bodies: Any) -> list[Manifest]:
    """Manifests of one file of input, each at a line of its own."""
    text = "a: 1\n" + "".join(f"a{i}: 1\n" for i in range(len(bodies)))
    (document,), _ = yamlio.parse("chat.yaml", text.encode())
    origins: list[dict[Path, Origin]] = [{(): document.origin(f"a{i}")} for i in range(len(bodies))]
    return [Manifest(body, partial(dict, origin)) for body, origin in zip(bodies, origins, strict=True)]


WRONG: tuple[tuple[int, dict[str, Any]], ...] = (
    (SET, {}),
    (SET, {"spec.networkConfig": {"subdomainPolicy": "Odd"}}),  # its schema alone
    (SET, {"spec.networkConfig": {"subdomainPolicy": "Shared"}, "spec.replicas": 10**6, SIZE: 2148}),  # a rule
    (SET, {"spec.networkConfig": {"subdomainPolicy": "Shared"}}),  # too new for some
    (SERVICE, {}),
    (SERVICE, {"spec.clusterIP": ""}),
    (HPA, {"spec.minReplicas": 9, "spec.maxReplicas": 3}),
    (HPA, {}),
)


@pytest.mark.parametrize("versions", [{}, {"leaderWorkerSet": "0.5"}])
def test_a_batch_finds_what_each_app_alone_does(versions: dict[str, str]) -> None:
    outside = ExternalObjects(targets=TargetVersions(versions))
    bodies = [changed(BODIES[kind], values) for kind, values in WRONG]
    apps = [app(body, changed(BODIES[SERVICE], {})) for body in bodies] + [app(*bodies), app()]
    judge = check.manifest_validator(apps, outside)
    problems_by_app = [judge(manifests, frozenset()) for manifests in apps]
    assert problems_by_app == [check.validate_manifests(manifests, external=outside) for manifests in apps]
    alone = {"E304", "E511", "E530", "E540"}
    assert [i for i, problems in enumerate(problems_by_app[:8]) if alone & {problem.code for problem in problems}] == [
        1,
        2,
        5,
        6,
    ]
    assert any(problem.code == "E700" for problems in problems_by_app for problem in problems) is bool(versions)


def test_a_fault_in_a_batch_is_met_at_the_app_that_has_it() -> None:
    """Nothing that was not seen through counts as sound."""
    apps = [app(changed(BODIES[SET], values)) for values in ({}, {"spec.replicas": object()}, {"spec.replicas": "x"})]
    judge = check.manifest_validator(apps, ExternalObjects())
    assert judge(apps[0], frozenset()) == []
    with pytest.raises(ValueError, match="object"):
        judge(apps[1], frozenset())
    assert [problem.code for problem in judge(apps[2], frozenset())] == ["E303"]


def test_a_manifest_without_origins_is_a_fault_of_ours() -> None:
    with pytest.raises(LookupError):
        locate_finding(Manifest(BODIES[SET], dict), Finding("E515", (), {}))
