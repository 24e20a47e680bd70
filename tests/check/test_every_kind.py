"""Every rule of `llmaz check` about pods is asked of every kind that runs pods: each fault is planted into every one of
their templates, in containers, sidecars and init containers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.check.documents import validate_documents
from renderer.check.graph import ExternalObjects
from renderer.diagnostics import dotted
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.workloads import WORKLOADS
from renderer.load.index import engine_catalog
from tests.inputs import CONFIG
from tests.paths import ROOT
from tests.workload_kinds import (
    ALL_SORTS,
    NAME,
    NAMESPACE,
    SHAPES,
    STAYING,
    Body,
    Excepted,
    Path,
    Spot,
    at,
    containers,
    excepted,
    kind_of,
    role_spots,
    spots,
    workload,
)

BESIDE = "beside"
Planted = tuple[Sequence[Body], Path]
"""Objects beside the workload, and the path of the finding: in the last of them where it begins with BESIDE, else in
the workload.
"""


class Fault(NamedTuple):
    """A fault, and how it is planted."""

    code: str
    what: str
    plant: Callable[[Spot], Planted]
    sorts: tuple[str, ...]  # of containers in which it makes sense; the first one alone for a fault of the pod

    @property
    def name(self) -> str:
        """As a test is called."""
        return f"{self.code} {self.what}"


FAULTS: list[Fault] = []


def fault(code: str, what: str, sorts: tuple[str, ...] = ALL_SORTS[:1]) -> Callable[[Callable[[Spot], Planted]], None]:
    """Adds a fault that a function plants."""
    return lambda plant: FAULTS.append(Fault(code, what, plant, sorts))


def of_container(code: str, what: str, fields: Body, place: Path, sorts: tuple[str, ...] = ALL_SORTS) -> None:
    """Adds a fault of a container: fields of it, and the place of the finding in it."""

    @fault(code, what, sorts)
    def plant(spot: Spot) -> Planted:
        spot.container.update(fields)
        return (), (*spot.container_path, *place)


def of_pod(code: str, what: str, fields: Body, place: Path, *beside: Body) -> None:
    """Adds a fault of a pod: fields of its spec, and the place of the finding there."""

    @fault(code, what)
    def plant(spot: Spot) -> Planted:
        spot.spec.update(fields)
        return beside, (*spot.template_path, "spec", *place)


def thing(kind: str, version: str = "v1", name: str = "thing", **content: Any) -> Body:
    """An object beside the workload."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **content}


def service(port: int | str, name: str = "thing", **selector: str) -> Body:
    """A Service with this target port."""
    return thing("Service", name=name, spec={"selector": selector, "ports": [{"port": 80, "targetPort": port}]})


def budget(selector: Mapping[str, str], **spec: object) -> Body:
    """A PodDisruptionBudget over pods with these labels."""
    return thing("PodDisruptionBudget", "policy/v1", spec={"selector": {"matchLabels": {**selector}}, **spec})


def pool(number: int, **labels: str) -> Body:
    """An InferencePool over pods with these labels; its picker is PICKER."""
    picker = {"name": "picker", "port": {"number": 9002}, "failureMode": "FailClose"}
    spec = {"selector": {"matchLabels": labels}, "targetPorts": [{"number": number}], "endpointPickerRef": picker}
    return thing("InferencePool", "inference.networking.k8s.io/v1", spec=spec)


def another(labels: Mapping[str, str], **spec: object) -> Body:
    """A Deployment beside the workload whose pods have these labels."""
    body, _ = workload("Deployment", "another")
    body["spec"]["selector"] = {"matchLabels": {"model": "another"}}
    template = body["spec"]["template"]
    template["metadata"]["labels"] = {**labels, "model": "another"}
    template["spec"] |= spec
    return body


PICKER = thing("Service", name="picker", spec={"selector": {"model": "picker"}, "ports": [{"port": 9002}]})
CLAIM = thing(
    "PersistentVolumeClaim",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)

# --- A pod by itself (check/kinds/pod_template.py)

SPREAD: Body = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
EMPTY: Body = {"name": "a", "emptyDir": {}}
GPU = "nvidia.com/gpu"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
of_pod("E520", "volumes", {"volumes": [EMPTY, EMPTY]}, ("volumes", 1, "name"))
of_pod("E520", "constraints", {"topologySpreadConstraints": [SPREAD] * 2}, ("topologySpreadConstraints", 1))
NAMED_PORTS = [{"name": "a", "containerPort": 1}, {"name": "a", "containerPort": 2}]
of_container("E520", "ports", {"ports": NAMED_PORTS}, ("ports", 1, "name"))
of_container("E520", "variables", {"env": [{"name": "A", "value": "1"}] * 2}, ("env", 1, "name"))
of_container("E521", "mount", {"volumeMounts": [{"name": "gone", "mountPath": "/a"}]}, ("volumeMounts", 0, "name"))
for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
    action = {probe: {"httpGet": {"path": "/", "port": "gone"}}}
    of_container("E522", f"port of a {probe}", action, (probe, "httpGet", "port"), STAYING)
ABOVE = {"requests": {"cpu": 2}, "limits": {"cpu": 1}}
of_container("E523", "request above limit", {"resources": ABOVE}, ("resources", "requests", "cpu"))
FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}
of_container("E524", "two values", {"env": [{"name": "A", "value": "1", "valueFrom": FIELD}]}, ("env", 0))
of_container("E525", "no limit", {"resources": {"requests": {GPU: 1}}}, ("resources", "requests", GPU))
of_container("E526", "half a GPU", {"resources": {"limits": {GPU: "500m"}}}, ("resources", "limits", GPU))
of_container("E305", "no quantity", {"resources": {"limits": {"cpu": "1x"}}}, ("resources", "limits", "cpu"))
of_container("W524", "half a byte", {"resources": {"limits": {"memory": "512m"}}}, ("resources", "limits", "memory"))
of_container("W532", "4,000 CPUs", {"resources": {"limits": {"cpu": 4000}}}, ("resources", "limits", "cpu"))
SLEEP = {"preStop": {"sleep": {"seconds": 60}}}
of_container("E527", "long sleep", {"lifecycle": SLEEP}, ("lifecycle", "preStop", "sleep", "seconds"), STAYING)
OTHER_FIELD = {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}
OTHER_PLACE = ("env", 0, "valueFrom", "fieldRef", "apiVersion")
of_container("E528", "other version", {"env": [{"name": "A", "valueFrom": OTHER_FIELD}]}, OTHER_PLACE)
of_container("W300", "variable", {"env": [{"name": "API_TOKEN", "value": "abcdefgh12345678"}]}, ("env", 0, "value"))
of_container("W300", "option", {"args": ["--api-key=abcdefgh12345678"]}, ("args", 0))
of_container("W254", "port of two", {"ports": [{"containerPort": 8000}]}, ("ports", 0, "containerPort"), STAYING)


@fault("E520", "containers", ALL_SORTS)
def same_name(spot: Spot) -> Planted:
    spot.container["name"] = "main"
    # Init containers are read first, so that the second one of the name is a container.
    return (), (*spot.template_path, "spec", "containers", 1 if spot.sort == "container" else 0, "name")


@fault("E520", "mounts", ALL_SORTS)
def same_mount(spot: Spot) -> Planted:
    spot.spec["volumes"] = [EMPTY]
    spot.container["volumeMounts"] = [{"name": "a", "mountPath": "/a"}] * 2
    return (), (*spot.container_path, "volumeMounts", 1, "mountPath")


# --- What pods name (check/graph/pod_references.py)

ACCOUNT, SECRET = thing("ServiceAccount", name="settings"), thing("Secret", name="settings")
SETTINGS = thing("ConfigMap", name="settings", data={"known": "1"})
PRIORITY: Body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
PRIORITY["metadata"] = {"name": "settings"}
AS_ROOT = {"runAsNonRoot": True, "runAsUser": 0}
of_pod("E848", "root that is forbidden", {"securityContext": AS_ROOT}, ("securityContext", "runAsUser"))
IDLE_TOLERATION = {"key": "cloud.google.com/gke-spot", "effect": "NoSchedule"}
of_pod("W847", "idle toleration", {"tolerations": [IDLE_TOLERATION]}, ("tolerations", 0))
of_pod("W505", "account", {"serviceAccountName": "setings"}, ("serviceAccountName",), ACCOUNT)
of_pod("W505", "priority", {"priorityClassName": "setings"}, ("priorityClassName",), PRIORITY)
of_pod("W505", "pull secret", {"imagePullSecrets": [{"name": "setings"}]}, ("imagePullSecrets", 0, "name"), SECRET)
for source, key, named in (
    ("persistentVolumeClaim", "claimName", {**CLAIM, "metadata": SECRET["metadata"]}),
    ("configMap", "name", SETTINGS),
    ("secret", "secretName", SECRET),
):
    of_pod("W505", source, {"volumes": [{"name": "a", source: {key: "setings"}}]}, ("volumes", 0, source, key), named)


def of_environment(code: str, fields: Body, place: Path) -> None:
    """Adds a fault of what the environment of a container names."""

    @fault(code, ".".join(map(str, place)), ALL_SORTS)
    def plant(spot: Spot) -> Planted:
        spot.container.update(fields)
        return (SECRET, SETTINGS), (*spot.container_path, *place)


for ref in ("secretKeyRef", "configMapKeyRef"):
    value = {"name": "A", "valueFrom": {ref: {"name": "setings", "key": "known"}}}
    of_environment("W505", {"env": [value]}, ("env", 0, "valueFrom", ref, "name"))
for ref in ("secretRef", "configMapRef"):
    of_environment("W505", {"envFrom": [{ref: {"name": "setings"}}]}, ("envFrom", 0, ref, "name"))
UNKNOWN_KEY = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "gone"}}}
of_environment("W506", {"env": [UNKNOWN_KEY]}, ("env", 0, "valueFrom", "configMapKeyRef", "key"))
UNKNOWN_FILE = {"name": "a", "configMap": {"name": "settings", "items": [{"key": "gone", "path": "known"}]}}
FILE = {"volumes": [{"name": "a", "configMap": {"name": "settings", "items": [{"key": "known", "path": "known"}]}}]}


@fault("W506", "variable beside a file", ALL_SORTS)
def variable_beside_file(spot: Spot) -> Planted:
    spot.spec.update(FILE)
    spot.container.update({"env": [UNKNOWN_KEY]})
    return (SETTINGS,), (*spot.container_path, "env", 0, "valueFrom", "configMapKeyRef", "key")


of_pod("W506", "file", {"volumes": [UNKNOWN_FILE]}, ("volumes", 0, "configMap", "items", 0, "key"), SETTINGS)

# --- What selects pods, counts them and leads to them (check/graph, check/relations.py)

OTHERS = {**SPREAD, "labelSelector": {"matchLabels": {"model": "another"}}}
OTHERS_PLACE = ("topologySpreadConstraints", 0, "labelSelector")
NO_LABEL = {**SPREAD, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
NO_LABEL_PLACE = ("topologySpreadConstraints", 0, "topologyKey")
IDLE_DOMAINS = {**SPREAD, "minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"}
IDLE_DOMAINS_PLACE = ("topologySpreadConstraints", 0, "minDomains")
of_pod("E846", "domains that do not count", {"topologySpreadConstraints": [IDLE_DOMAINS]}, IDLE_DOMAINS_PLACE)
of_pod("W549", "label of no node", {"topologySpreadConstraints": [NO_LABEL]}, NO_LABEL_PLACE)
NO_NAME: Body = {"nodeSelector": {"nvidia.com/gpu.product": "H100"}}
of_pod("W557", "accelerators by a name of no node", NO_NAME, ("nodeSelector", "nvidia.com/gpu.product"))
TWO_TYPES: Body = {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-L4", INSTANCE_TYPE: "g5.xlarge"}}
of_pod("W547", "labels of two types", TWO_TYPES, ("nodeSelector", INSTANCE_TYPE))

LEVEL: Body = {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}
ENFORCING: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": LEVEL}
of_pod("W399", "what its namespace refuses", {"hostPID": True}, ("hostPID",), ENFORCING)


@fault("W548", "nodes of another vendor")
def nodes_of_another_vendor(spot: Spot) -> Planted:
    spot.spec["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-L4"}
    spot.container["resources"] = {"limits": {"amd.com/gpu": 1}}
    return (), (*spot.template_path, "spec", "nodeSelector", "nvidia.com/gpu.product")


of_pod("W503", "spread over pods of others", {"topologySpreadConstraints": [OTHERS]}, OTHERS_PLACE)


@fault("W329", "name of a Service on the network of the node", ALL_SORTS)
def unknown_name(spot: Spot) -> Planted:
    spot.spec["hostNetwork"] = True
    spot.container["args"] = ["--url=http://thing/v1"]
    return [service(80, model="another")], (*spot.container_path, "args", 0)


@fault("W355", "port of the node")
def node_port(spot: Spot) -> Planted:
    spot.spec["hostNetwork"] = True
    return [another({}, hostNetwork=True)], (*spot.template_path, "spec", "hostNetwork")


@fault("W507", "name of no port")
def named_port(spot: Spot) -> Planted:
    return [service("metrics", **spot.labels)], (BESIDE, "spec", "ports", 0, "targetPort")


def of_selector(kind: str, version: str, field: str, **spec: object) -> None:
    """Adds the fault of a selector that no pod fits in one label."""

    @fault("W504", kind)
    def plant(spot: Spot) -> Planted:
        selector = {"matchLabels": {**spot.labels, "team": "b"}}
        return [thing(kind, version, spec={field: selector, **spec})], (BESIDE, "spec", field, "matchLabels", "team")


of_selector("PodDisruptionBudget", "policy/v1", "selector", maxUnavailable=1)
of_selector("NetworkPolicy", "networking.k8s.io/v1", "podSelector")
of_selector("PodMonitor", "monitoring.coreos.com/v1", "selector", podMetricsEndpoints=[{"port": "http"}])


@fault("W518", "budget that keeps all")
def budget_of_all(spot: Spot) -> Planted:
    return [budget(spot.labels, maxUnavailable=0)], (BESIDE, "spec", "maxUnavailable")


@fault("W518", "budget of as many pods as there are")
def counted_budget(spot: Spot) -> Planted:
    pods = 2 * len(role_spots(spot)) if spot.count_path else 1
    if spot.count_path:
        at(spot.body, spot.count_path[:-1])[spot.count_path[-1]] = 2
    selector = group_labels(spot) if len(role_spots(spot)) > 1 else spot.labels
    return [budget(selector, minAvailable=pods)], (BESIDE, "spec", "minAvailable")


@fault("W500", "claim of one node")
def one_node(spot: Spot) -> Planted:
    spot.spec["volumes"] = [{"name": "a", "persistentVolumeClaim": {"claimName": "thing"}}]
    if spot.count_path:
        at(spot.body, spot.count_path[:-1])[spot.count_path[-1]] = 2
    return [CLAIM], (BESIDE, "spec", "accessModes")


@fault("E592", "port of a pool")
def deaf_pods(spot: Spot) -> Planted:
    return [PICKER, pool(9999, **spot.labels)], (BESIDE, "spec", "targetPorts", 0, "number")


@fault("E592", "port of an init container that has ended")
def ended_container(spot: Spot) -> Planted:
    spot.spec["initContainers"][0]["ports"] = [{"containerPort": 9999}]
    return [PICKER, pool(9999, **spot.labels)], (BESIDE, "spec", "targetPorts", 0, "number")


@fault("E592", "port of a Service")
def deaf_backend(spot: Spot) -> Planted:
    endpoint = {"fqdn": {"hostname": f"thing.{NAMESPACE}.svc", "port": 80}}
    backend = thing("Backend", "gateway.envoyproxy.io/v1alpha1", spec={"endpoints": [endpoint]})
    return [service(9999, **spot.labels), backend], (BESIDE, "spec", "endpoints", 0, "fqdn", "port")


@fault("W510", "pods of a pool that do not listen")
def silent_pods(spot: Spot) -> Planted:
    labels = {key: value for key, value in spot.labels.items() if key != "model"}
    main = {"name": "main", "image": "registry.example/main:v1", "ports": [{"containerPort": 9000}]}
    return [PICKER, another(labels, containers=[main]), pool(9000, **labels)], (BESIDE, "spec", "selector")


# --- Groups of several pods (check/graph/partial_selections.py, check/relations.py)

INDEX = "leaderworkerset.sigs.k8s.io/worker-index"


def group_labels(spot: Spot) -> dict[str, str]:
    """The labels by which controllers know the pods of a group."""
    if spot.kind != "DisaggregatedSet":
        return {"leaderworkerset.sigs.k8s.io/name": NAME}
    names = {f"disaggregatedset.x-k8s.io/{key}" for key in ("name", "role")}
    return dict(zip(sorted(names), (NAME, spot.role.partition(" ")[0]), strict=True))


def leaders(spot: Spot) -> dict[str, str]:
    """The labels of the leaders of a group."""
    return {**group_labels(spot), INDEX: "0"}


@fault("W536", "workers that do not listen")
def silent_workers(spot: Spot) -> Planted:
    for _, container in containers(role_spots(spot)[-1].spec):
        container.pop("ports", None)
    return [service(8000, **group_labels(spot))], (BESIDE, "spec", "selector")


@fault("W537", "Service of leaders beside one of all pods")
def two_services(spot: Spot) -> Planted:
    return [service(8000, "all", **group_labels(spot)), service(8000, **leaders(spot))], (BESIDE, "spec", "selector")


@fault("W538", "some ports of ranks")
def some_ranks(spot: Spot) -> Planted:
    ranks = [{"name": "rank", "containerPort": 8000}, {"name": "rank-1", "containerPort": 8001}]
    role_spots(spot)[0].spec["containers"][0]["ports"] = ranks
    return [PICKER, pool(8000, **leaders(spot))], (BESIDE, "spec", "targetPorts")


@fault("W539", "budget of leaders")
def budget_of_leaders(spot: Spot) -> Planted:
    return [budget(leaders(spot), maxUnavailable=1)], (BESIDE, "spec", "selector")


@fault("E553", "port of leaders")
def deaf_leaders(spot: Spot) -> Planted:
    return [service(9999, **leaders(spot))], (BESIDE, "spec", "ports", 0)


@fault("E554", "headless Service")
def headless_service(spot: Spot) -> Planted:
    body = service(8000, **leaders(spot))
    body["spec"]["clusterIP"] = "None"
    return [body], (BESIDE, "spec", "ports", 0, "targetPort")


# --- Autoscalers (check/relations.py, check/scaling_metrics.py)


def autoscaler(spot: Spot, metric: str, **source: object) -> Body:
    """An HPA of the workload, or of the role of a DisaggregatedSet that a template belongs to."""
    target = {"apiVersion": spot.body["apiVersion"], "kind": spot.kind, "name": NAME}
    if spot.kind == "DisaggregatedSet":
        role = at(spot.body, spot.template_path[:3])
        role["scaling"] = {"mode": "External"}
        target |= {"kind": "DisaggregatedSetRoleScaler", "name": f"{NAME}-{role['name']}"}
    used = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}, **source}
    metrics = [{"type": f"{metric[:1].upper()}{metric[1:]}", metric: used}]
    spec = {"scaleTargetRef": target, "maxReplicas": 4, "metrics": metrics}
    return thing("HorizontalPodAutoscaler", "autoscaling/v2", spec=spec)


@fault("W555", "no request")
def no_request(spot: Spot) -> Planted:
    return [autoscaler(spot, "resource")], (BESIDE, "spec", "metrics", 0, "resource", "name")


@fault("E555", "no such container")
def no_container(spot: Spot) -> Planted:
    path = ("spec", "metrics", 0, "containerResource", "container")
    return [autoscaler(spot, "containerResource", container="gone")], (BESIDE, *path)


@fault("W556", "no such resource")
def no_metric(spot: Spot) -> Planted:
    return [autoscaler(spot, "resource", name=GPU)], (BESIDE, "spec", "metrics", 0, "resource", "name")


@fault("E551", "replicas beside an autoscaler")
def own_replicas(spot: Spot) -> Planted:
    if spot.count_path:
        at(spot.body, spot.count_path[:-1])[spot.count_path[-1]] = 2
    return [autoscaler(spot, "containerResource", container="main")], spot.count_path


# --- Engines (check/engines, engines/rules)

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where engines look for it
ENGINE: Body = {
    "image": "vllm/vllm-openai:v0.24.0",
    "command": ["vllm", "serve", "org/blue", "--port=8010"],
    "ports": [{"containerPort": 8010}],
    "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
    "volumeMounts": [{"name": "shm", "mountPath": SHARED_MEMORY}],
}
KNOWN_MODEL = ["vllm", "serve", "Qwen/Qwen3-32B", "--port=8010"]


def run_engine(spot: Spot, *words: str, **fields: object) -> None:
    """Makes a container run vLLM with further words behind its command; fields that are None go."""
    merged = {**ENGINE, **fields}
    merged["command"] = [*merged["command"], *words]
    spot.container.update({key: value for key, value in merged.items() if value is not None})
    spot.spec["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]


def of_engine(code: str, what: str, place: Path, *words: str, **fields: object) -> None:
    """Adds a fault of a container that runs vLLM, and the place of the finding in it."""

    @fault(code, what, STAYING)
    def plant(spot: Spot) -> Planted:
        run_engine(spot, *words, **fields)
        return (), (*spot.container_path, *place)


for code, what, index, *words in (
    ("E430", "unknown option", 4, "--no-such-option"),
    ("E431", "removed option", 4, "--task=embed"),
    ("E432", "ambiguous option", 4, "--max-n=1"),
    ("E433", "option without its value", 4, "--max-num-seqs"),
    ("W434", "option given twice", 5, "--max-num-seqs=1", "--max-num-seqs=2"),
    ("E435", "flag with a value", 4, "--enforce-eager=1"),
    ("E437", "value of no option", 5, "--enforce-eager", "x"),
    ("E440", "value that is no choice", 4, "--tool-call-parser=hermez"),
    ("E441", "value of another type", 4, "--max-num-seqs=many"),
    ("W451", "local host", 4, "--host=127.0.0.1"),
):
    of_engine(str(code), str(what), ("command", int(index)), *map(str, words))
TWO: Body = {"limits": {GPU: 2}}
LIMIT = ("resources", "limits", GPU)
of_engine("E416", "too few GPUs", ("command", 4), "--tensor-parallel-size=4", resources=TWO)
of_engine("W236", "idle GPUs", ("command", 4), "--tensor-parallel-size=1", resources=TWO)
of_engine("E253", "size of zero", ("command", 4), "--tensor-parallel-size=0", resources=TWO)
of_engine("W428", "no shared memory", LIMIT, "--tensor-parallel-size=2", resources=TWO, volumeMounts=None)
of_engine("W226", "attention heads", ("command", 4), "--tensor-parallel-size=3", command=KNOWN_MODEL)
of_engine("W227", "context length", ("command", 4), "--max-model-len=9999999", command=KNOWN_MODEL)
of_engine("E465", "command twice", ("command", 2), command=["vllm", "serve", "serve", "org/blue", "--port=8010"])
SWALLOWED = ["vllm", "serve", "--served-model-name", "blue", "--port=8010", "org/blue"]
of_engine("E466", "model where it is not read", ("command", 5), command=SWALLOWED)
of_engine("E467", "no model", ("command", 2), command=["vllm", "serve", "--port=8010"])
of_engine("W468", "option without another one", ("command", 4), "--tool-call-parser=hermes")
of_engine("E485", "two limits", ("command", 4), "--max-num-seqs=512", "--max-num-batched-tokens=256")
ONE: Body = {GPU: 1}
SHARED = "nvidia.com/gpu.shared"
of_engine("W484", "all memory of a shared GPU", ("resources", "limits", SHARED), resources={"limits": {SHARED: 1}})
SMALL_DISK: Body = {"limits": {**ONE, "ephemeral-storage": "1Gi"}}
DISK_LIMIT = ("resources", "limits", "ephemeral-storage")
of_engine("E486", "weights above the disk", DISK_LIMIT, command=KNOWN_MODEL, resources=SMALL_DISK)
SMALL_MEMORY: Body = {"limits": {**ONE, "memory": "8Gi"}}
of_engine("E488", "cache above the memory", ("command", 4), "--kv-offloading-size=64", resources=SMALL_MEMORY)
TINY_MEMORY: Body = {"limits": {**ONE, "memory": "64M"}}
of_engine("W491", "memory of a typing error", ("resources", "limits", "memory"), resources=TINY_MEMORY)
TINY_CPU: Body = {"limits": ONE, "requests": {"cpu": "4m"}}
of_engine("W524", "thousandths of a CPU", ("resources", "requests", "cpu"), resources=TINY_CPU)
RDMA: Body = {"limits": {**ONE, "rdma/ib": 1}}
of_engine("N482", "RDMA without locked memory", ("resources", "limits", "rdma/ib"), resources=RDMA)
of_engine("W482", "weights of another format", ("command", 4), "--quantization=awq", command=KNOWN_MODEL)
of_engine("W831", "weights of another family", ("command", 4), "--load-format=mistral", command=KNOWN_MODEL)
of_engine("W887", "release that never was", ("image",), image="vllm/vllm-openai:v0.12.9")
of_engine("W492", "older than its model", ("image",), image="vllm/vllm-openai:v0.7.3", command=KNOWN_MODEL)
of_engine(
    "E488",
    "weights above the memory",
    ("command", 4),
    "--cpu-offload-gb=9",
    command=KNOWN_MODEL,
    resources=SMALL_MEMORY,
)
SECOND = [{"name": "CUDA_VISIBLE_DEVICES", "value": "1"}]
of_engine("W494", "accelerator of another pod", ("env", 0, "name"), env=SECOND, resources={"limits": ONE})
ALL_OF_NODE = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
of_engine("W494", "accelerators of the node", ("env", 0, "name"), env=ALL_OF_NODE, resources={"limits": ONE})
SECOND_DEVICE = ["llama-server", "-m", "/m.gguf", "--device", "CUDA1", "--host=0.0.0.0", "--port=8010"]
SERVER = "ghcr.io/ggml-org/llama.cpp:server-cuda-b11434"
of_engine(
    "W494", "device of another pod", ("command", 3), image=SERVER, command=SECOND_DEVICE, resources={"limits": ONE}
)
ON_CPUS: Body = {
    "image": "ghcr.io/ggml-org/llama.cpp:server-b11434",
    "command": ["llama-server", "-m", "/m.gguf", "-ngl", "99", "--host=0.0.0.0", "--port=8010"],
}
of_engine("W833", "layers on no accelerator", ("command", 3), **ON_CPUS)
OFFLINE = [{"name": "HF_HUB_OFFLINE", "value": "1"}]
of_engine("E829", "offline without a model", ("env", 0, "name"), env=OFFLINE)
of_engine("E830", "name for a template", ("command", 4), "--chat-template=qwen3")
of_engine("W834", "task of another model", ("command", 4), "--runner=pooling", command=KNOWN_MODEL)
FIXED_ROOT = {"readOnlyRootFilesystem": True}
of_engine("W829", "root that is read-only", ("securityContext", "readOnlyRootFilesystem"), securityContext=FIXED_ROOT)
TRUE = [{"name": "NCCL_P2P_DISABLE", "value": "true"}]
of_engine("W832", "word for a number", ("env", 0, "name"), env=TRUE)
of_engine("W498", "random weights", ("command", 4), "--load-format=dummy")
of_engine("W499", "all memory of a card", ("command", 4), "--gpu-memory-utilization=1.0", resources={"limits": ONE})
of_engine("E499", "experts of a dense model", ("command", 4), "--enable-expert-parallel", command=KNOWN_MODEL)
NOT_READY = {"httpGet": {"path": "/healthz", "port": 8010}}
of_engine("E469", "probe of an absent path", ("readinessProbe", "httpGet", "path"), readinessProbe=NOT_READY)
of_engine("N472", "code from a moving source", ("command", 4), "--trust-remote-code")


@fault("W428", "small shared memory", STAYING)
def small_volume(spot: Spot) -> Planted:
    run_engine(spot, "--tensor-parallel-size=2", resources=TWO)
    spot.spec["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}]
    return (), (*spot.template_path, "spec", "volumes", 0, "emptyDir", "sizeLimit")


@fault("E489", "cache above the shared memory", STAYING)
def small_shared_memory(spot: Spot) -> Planted:
    run_engine(spot, "--kv-offloading-size=64", image="vllm/vllm-openai:v0.33.0", resources={"limits": ONE})
    spot.spec["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]
    return (), (*spot.container_path, "command", 4)


@fault("E483", "value that the card cannot compute", STAYING)
def old_card(spot: Spot) -> Planted:
    run_engine(spot, "--dtype=bfloat16", resources={"limits": ONE})
    spot.spec["nodeSelector"] = {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}
    return (), (*spot.container_path, "command", 4)


@fault("N490", "weights beside a claim", STAYING)
def unused_claim(spot: Spot) -> Planted:
    mounts = [*ENGINE["volumeMounts"], {"name": "weights", "mountPath": "/weights"}]
    run_engine(spot, resources={"limits": ONE}, volumeMounts=mounts)
    spot.spec["volumes"].append({"name": "weights", "persistentVolumeClaim": {"claimName": "weights"}})
    return (), spot.container_path


@fault("W469", "no readiness probe behind a Service", STAYING)
def asked_too_early(spot: Spot) -> Planted:
    run_engine(spot, readinessProbe=None)
    return [service(8010, model=NAME)], spot.container_path


@fault("W487", "Service of a port without an engine", STAYING)
def port_of_nobody(spot: Spot) -> Planted:
    for number, (_, container) in enumerate(containers(spot.spec)):
        container.setdefault("ports", [{"containerPort": 9000 + number}])
    run_engine(spot, ports=None)
    return [service(8011, model=NAME)], (BESIDE, "spec", "ports", 0, "targetPort")


@fault("E529", "whole line as a program", ALL_SORTS)
def whole_line(spot: Spot) -> Planted:
    spot.container["command"] = ["python3 -m server"]
    return (), (*spot.container_path, "command", 0)


LIVE, READY = {"httpGet": {"path": "/health", "port": 8010}}, {"httpGet": {"path": "/health", "port": 9999}}
of_engine("W452", "impatient probe", ("livenessProbe",), livenessProbe=LIVE)
of_engine("W453", "probe of another port", ("readinessProbe", "httpGet", "port"), readinessProbe=READY)
BY_TLS = {"httpGet": {"path": "/health", "port": 8010, "scheme": "HTTPS"}}
of_engine("E495", "probe by HTTPS", ("readinessProbe", "httpGet", "scheme"), readinessProbe=BY_TLS)
of_engine("E495", "probe by HTTP", ("livenessProbe", "httpGet", "scheme"), "--ssl-certfile=/a", livenessProbe=LIVE)
of_engine("W495", "start of 30 s", ("startupProbe",), command=KNOWN_MODEL, startupProbe=LIVE)
of_engine("W496", "image for an accelerator", ("image",))
of_engine("N454", "no hook", (), lifecycle=None)
of_engine("W309", "unknown user", ("securityContext", "runAsUser"), securityContext={"runAsUser": 1234})


@fault("E262", "port of the engine", STAYING)
def port_of_the_engine(spot: Spot) -> Planted:
    run_engine(spot, ports=None)
    spot.spec["containers"][0]["ports"].append({"containerPort": 8010})
    return (), (*spot.template_path, "spec", "containers", 0, "ports", 1, "containerPort")


@fault("E428", "variable of a Service", STAYING)
def service_variable(spot: Spot) -> Planted:
    run_engine(spot)
    other = thing("Service", name="vllm", spec={"ports": [{"port": 80}]})
    return [other], (*spot.template_path, "spec", "enableServiceLinks")


@fault("W250", "name that the engine does not know", STAYING)
def unknown_model(spot: Spot) -> Planted:
    run_engine(spot, "--served-model-name=blue")
    backend = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "thing"}
    matches = [{"headers": [{"name": "x-ai-eg-model", "value": "green"}]}]
    rule = {"matches": matches, "backendRefs": [backend], "timeouts": {"request": "600s"}}
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gateway"}
    route = thing("AIGatewayRoute", "aigateway.envoyproxy.io/v1beta1", spec={"parentRefs": [parent], "rules": [rule]})
    return [PICKER, pool(8010, **spot.labels), route], (*spot.container_path, "command", 4)


@fault("W429", "autoscaler that cannot wake the engine", STAYING)
def sleeping_engine(spot: Spot) -> Planted:
    run_engine(spot)
    metadata = {"serverAddress": "http://prometheus", "query": "sum(vllm:num_requests_waiting)", "threshold": "1"}
    target = autoscaler(spot, "resource")["spec"]["scaleTargetRef"]
    spec = {"scaleTargetRef": target, "minReplicaCount": 0, "triggers": [{"type": "prometheus", "metadata": metadata}]}
    return [thing("ScaledObject", "keda.sh/v1alpha1", spec=spec)], (BESIDE, "spec", "minReplicaCount")


# --- What is not told, and why

RAY = "Ray*"
NOT_GROUPED = tuple(f"{shape}/*" for shape in SHAPES if not shape.endswith("of groups"))
NOT_OF_SETS = tuple(f"{shape}/*" for shape in SHAPES if not re.match("(LeaderWorker|Disaggregated)Set", shape))
NOT_SCALED = ("Pod/*", "PodTemplate/*", "DaemonSet/*", "Job/*", "CronJob/*", "ScaledJob/*", RAY)
EXCEPTIONS = (
    Excepted(
        ("W500 *", "W518 budget of as many*"),
        ("Pod/*", "PodTemplate/*", "Ray*/head/*", "Ray*/submitter/*"),
        "it has no number of pods",
    ),
    Excepted(
        ("W518 budget of as many*",),
        ("DaemonSet/*", "Job/*", "CronJob/*", "ScaledJob/*"),
        "how many pods there are depends on the nodes, or on how far the Job is",
    ),
    Excepted(
        ("N454 *",),
        ("Pod/*", "PodTemplate/*", "ReplicationController/*", "ReplicaSet/*", "*Job/*"),
        "no rollout replaces its pods",
    ),
    Excepted(("N454 *",), ("RayCluster/*",), "KubeRay replaces its pods with no rollout: it deletes the cluster"),
    Excepted(
        ("N454 *", "W451 *", "W469 *", "W487 *"),
        ("* of groups/*worker/*", "Ray*/workers/*"),
        "its leader alone answers requests",
    ),
    Excepted(
        ("E416 *", "W236 *", "E253 *"),
        ("* of groups/*", "Ray*/head/*", "Ray*/workers/*"),
        "how an engine spreads over several pods is not known",
    ),
    Excepted(
        ("W496 *",),
        ("* of groups/*", "Ray*/head/*", "Ray*/workers/*"),
        "another pod of the group may have the accelerators",
    ),
    Excepted(("E555 *", "W555 *", "W556 *"), ("Pod/*", "PodTemplate/*"), "E572 refuses its autoscaler as a whole"),
    Excepted(("E551 *",), (*NOT_SCALED, "DisaggregatedSet*"), "it has no replicas; those of a role are W391"),
    Excepted(("W536 *", "W537 *", "W538 *", "W539 *"), NOT_GROUPED, "it has no workers beside leaders"),
    Excepted(("E553 *", "E554 *"), NOT_OF_SETS, "its pods have no labels of leaders"),
)
ELSEWHERE: Mapping[str, str] = {
    "routes, Gateways, policies, pools and what they refer to: they have no pods": (
        "E580 E581 E582 E583 E584 E585 E586 E587 E588 E589 E590 E591 E593 E594 E595 E596 E597 E598 E599 E600 E601 E602"
        " E603 E604 E605 E606 E607 E608 E609 E610 E611 E612 E613 E614 E653 E669 E671 E672 E673 E674 N580 N583 N584 N585"
        " N586 N587 N588 N590 W509 W580 W581 W582 W583 W584 W585 W590 W672 W673 W674 W675 W684"
        " W685"
    ),
    "selectors of pods that are not there, whose kind nobody knows": ("E393 E670 N581 N582 W591"),
    "autoscalers by themselves, and two for one target": "E392 E530 E531 E550 E572 W519",
    "Services, Roles, node pools, claims and ConfigMaps by themselves": "E304 E306 E540 E543 E552 E838 W508",
    "a field of the workload beside its pod templates": ("E390 E391 E511 E512 E513 E514 E515 E516 E542 E703 W390 W391"),
    "the schema, and what a CRD itself says": "E301 E302 E570 E571 E700 W700",
    "files, charts, programs and objects as a whole": (
        "E121 E140 E141 E144 E201 E501 E502 E560 E561 E562 E563 E564 E565 E567 E743 E744 E745 E746 E747 E748 N475 N476"
        " N517 N565 W546 W565 W566 W568 W615 W727 W730 W731 W732 W733"
        " W734"
    ),
    "the Secrets of all gated models in one note; tests/errors has it": "N533",
    "what the platform of the tree, and its namespaces, lack": "N535 W535",
    "objects beside rendered ones": "E211 W260 W261 W262 W263 W264 W265 W266 W267 W280",
    "hosts of one StatefulSet, and Deployments whose rollout waits for an accelerator": "E470 E471 N473",
    "what a claim beside the workload requests": "W486",
    "what stands beside all pods of a namespace; tests/errors and test_sides.py have each": (
        "E576 E577 E578 E880 W576 W577 W578 W579 W586 W881"
    ),
    "quotas, which are about all pods of a namespace; tests/errors has each": "E929 W930 W931",
    "selectors with the name of a workload in a label of their own; tests/errors has each": "W559",
    "a deadline, which the pods of a Job may have; tests/errors has it of each other kind": "E545",
    "rendered engines alone: what a key of ours asks for, and what a preset gives": "E370 E371 E445 W445",
    "command lines that other faults show to be read; tests/engines has each": (
        "E434 E436 E443 W465 W466 W467 W232 W430 W431 W432 W433 W435 W437 W439 W440 W441 W442 W443 E477 E478 W477 W478"
    ),
    "variables, metrics and programs of versions; tests/engines, test_metric_names.py and tests/errors have each": (
        "W475 W476 E479 W541 W544 W558"
    ),
    "files of several models, in ConfigMaps; test_models_files.py and tests/errors have each": (
        "E933 W933 W934 W935 W936 W481"
    ),
}
"""By what they are about, the codes of `check` and of the rules about engines that no fault here is planted for."""

# --- The run of a fault


@cache
def catalog() -> EngineCatalog:
    document = yamlio.parse("llmaz.yaml", f"{CONFIG}{{}}\n".encode())[0][0]
    return engine_catalog(RenderConfig({}, document))


EXTERNAL = ExternalObjects(declarations=(f"Gateway/{NAMESPACE}/gateway",))


def told(bodies: Sequence[Body]) -> list[tuple[str, str, str]]:
    """Code, file and field of what `llmaz check` tells of objects, each in its own file."""
    documents = [
        document
        for number, body in enumerate(bodies)
        for document in yamlio.parse(f"{number}.yaml", yamlio.dump(body).encode())[0]
    ]
    problems, _ = validate_documents(documents, EXTERNAL, engines=catalog())
    return [(problem.code, problem.file, problem.field) for problem in problems]


def findings(planted: Fault, spot: Spot) -> tuple[list[tuple[str, str, str]], tuple[str, str, str]]:
    """What is told of a planted fault, and what should be."""
    beside, path = planted.plant(spot)
    is_beside = path[:1] == (BESIDE,)
    bodies = [*beside[:-1], spot.body, *beside[-1:]] if is_beside else [*beside, spot.body]
    return told(bodies), (planted.code, f"{len(bodies) - 1}.yaml", dotted(path[1:] if is_beside else path))


@pytest.mark.parametrize("planted", FAULTS, ids=[planted.name for planted in FAULTS])
def test_each_fault_is_told_at_its_place(planted: Fault) -> None:
    for shape in SHAPES:
        for spot in spots(shape, planted.sorts):
            problems, expected = findings(planted, spot)
            of_code = [problem for problem in problems if problem[0] == planted.code]
            assert of_code == ([] if excepted(EXCEPTIONS, planted.name, spot) else [expected]), spot.address


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_told_without_a_fault(shape: str) -> None:
    assert told([workload(shape)[0]]) == []


def test_each_exception_excepts_something() -> None:
    planted = [(fault.name, spot) for fault in FAULTS for shape in SHAPES for spot in spots(shape, fault.sorts)]
    used = {row for name, spot in planted for row in excepted(EXCEPTIONS, name, spot)}
    assert used == {*EXCEPTIONS}


def test_each_rule_is_planted_or_has_no_pods() -> None:
    files = [path for room in ("check", "engines") for path in (ROOT / "renderer" / room).rglob("*.py")]
    texts = {
        node.value
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    codes = {code for code in texts if re.fullmatch(r"[EWN]\d{3}", code)}
    codes |= {letter + code for code in texts if re.fullmatch(r"4\d\d", code) for letter in "EW"}
    elsewhere = [code for codes in ELSEWHERE.values() for code in codes.split()]
    assert codes == {*elsewhere, *(fault.code for fault in FAULTS)}
    assert len(elsewhere) == len({*elsewhere})


def test_each_kind_of_the_table_has_a_shape() -> None:
    assert {kind_of(shape) for shape in SHAPES} == {*WORKLOADS}


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.startswith("Ray")])
def test_kuberay_mounts_shared_memory_into_the_first_container_of_a_cluster(shape: str) -> None:
    for spot in spots(shape):
        run_engine(spot, "--tensor-parallel-size=2", resources=TWO, volumeMounts=None)
        spot.spec["containers"].reverse()
        expected = ["W428"] if spot.role == "submitter" else []
        assert [code for code, _, _ in told([spot.body]) if code == "W428"] == expected, spot.role


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.startswith("Ray")])
def test_kuberay_makes_one_line_of_the_first_command_of_a_cluster(shape: str, keeps: bool) -> None:
    lines = (("E529", ["vllm serve", "org/some"]), ("E437", ["vllm", "serve", "org/some", "--max-num-seqs 4"]))
    for code, command in lines:
        for spot in spots(shape):
            first, second = ({"name": name, "image": "vllm/vllm-openai:v0.24.0"} for name in ("ray", "beside"))
            spot.spec["containers"] = [{**first, "command": command}, second]
            if keeps:
                spot.template["metadata"]["annotations"] = {"ray.io/overwrite-container-cmd": "true"}
            expected = [code] if keeps or spot.role == "submitter" else []
            assert [row[0] for row in told([spot.body]) if row[0] == code] == expected, spot.role


def test_ray_that_starts_itself_is_started_as_it_is_written() -> None:
    for spot in spots("RayCluster"):
        spot.spec["containers"] = [{"name": "ray", "image": "rayproject/ray:2.52.0", "command": ["ray start --block"]}]
        assert [code for code, _, _ in told([spot.body]) if code == "E529"] == ["E529"], spot.role
