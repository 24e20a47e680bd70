"""The examples, as a cluster is given them, and what they count on that somebody else makes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.apiserver.manifests import Manifest, manifests
from tests.apiserver.server import Body, CannotJudge

TESTS = Path(__file__).resolve().parents[1]
CASES = TESTS / "cases"
PREFIX = "example-"
NODES = 24  # of each sort: enough for several replicas of several hosts
MANY = 8  # accelerators of a node, as long as nobody asks for more
DEVICE = {"productName": {"string": "NVIDIA H100 80GB HBM3"}}  # what the examples choose a device by
CLAIMS = 16  # volumes for the claims of a workload's pods: more than it is ever scaled to
NETWORKS = "rdma/"
PLAIN = ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi")


class Example(NamedTuple):
    """What one `llmaz render` writes."""

    name: str
    manifests: tuple[Manifest, ...]


class Reference(NamedTuple):
    """An object that others name. `key`: what they want of it, where they say so."""

    kind: str
    namespace: str
    name: str
    key: str = ""


class Sort(NamedTuple):
    """What a pod asks of its node: resources that few nodes have, with how many at least, and labels."""

    resources: tuple[tuple[str, int], ...]
    labels: tuple[tuple[str, str], ...]


def examples(names: Sequence[str] = (), folder: Path = CASES) -> list[Example]:
    """All of them, or those named. One with environments is one for each. Of ours also what a new repository renders
    to, and the chart's own objects. Raises CannotJudge when there is none.
    """
    all_examples = [example for path in sorted(folder.glob(f"{PREFIX}*/expected")) for example in read(path)]
    if folder == CASES:
        all_examples += [initiated(), Example("platform", objects(TESTS / "platform" / "none", "expected.yaml"))]
    selected = [
        example for example in all_examples if not names or {example.name, example.name.partition("/")[0]} & {*names}
    ]
    known = {known for example in all_examples for known in (example.name, example.name.partition("/")[0])}
    if unknown := [name for name in names if name not in known]:
        raise CannotJudge(f"no example is called {' or '.join(unknown)}; there are {', '.join(sorted(known))}")
    if not selected:
        raise CannotJudge(f"there is no example in {folder}")
    return selected


def read(folder: Path) -> list[Example]:
    """The examples of a folder `expected`: one, or where objects come twice, one for each folder in it."""
    name = folder.parent.name.removeprefix(PREFIX)
    whole = Example(name, objects(folder))
    if not whole.manifests:
        raise CannotJudge(f"there is no object in {folder}")
    if not twice(whole):
        return [whole]
    parts = [Example(f"{name}/{path.name}", objects(path)) for path in sorted(folder.iterdir())]
    if sum(len(part.manifests) for part in parts) != len(whole.manifests) or any(map(twice, parts)):
        raise CannotJudge(f"{folder}: {', '.join(twice(whole))} come twice, and not once in each folder")
    return parts


def initiated() -> Example:
    """What `llmaz init --cpu-demo` and then `llmaz render` make. Raises CannotJudge."""
    with tempfile.TemporaryDirectory() as folder:
        for words in (["init", "--cpu-demo", "--ci", "none"], ["render"]):
            command = [sys.executable, "-m", "renderer", *words]
            around = {**os.environ, "PYTHONPATH": str(TESTS.parent)}
            done = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CannotJudge(f"llmaz {' '.join(words)}: {done.stderr}")
        return Example("init", objects(Path(folder, "rendered")))


def objects(folder: Path, files: str = "*.yaml") -> tuple[Manifest, ...]:
    """The objects of all files, without what only kustomize reads."""
    paths = sorted(path for path in folder.rglob(files) if path.name != "kustomization.yaml")
    return tuple(
        manifest for path in paths for manifest in manifests(str(path.relative_to(folder)), path.read_text("utf-8"))
    )


def twice(example: Example) -> list[str]:
    """The objects that come more than once."""
    labels = [shown(manifest.body) for manifest in example.manifests]
    return sorted({label for label in labels if labels.count(label) > 1})


def shown(body: Body) -> str:
    """Kind, namespace and name."""
    metadata = body["metadata"]
    return f"{body['kind']} {'/'.join(metadata[key] for key in ('namespace', 'name') if metadata.get(key))}"


def mappings(value: Any) -> Iterator[Body]:
    """Every mapping inside, outermost first."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from mappings(item)


def pods(bodies: Iterable[Body]) -> Iterator[Body]:
    """The spec of every pod template."""
    for body in bodies:
        yield from (mapping for mapping in mappings(body) if isinstance(mapping.get("containers"), list))


# ---- what somebody else makes ----


def referred(bodies: Sequence[Body]) -> list[Reference]:
    """What the objects refer to, and is not among them."""
    own = {(body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]) for body in bodies}
    all_references = {
        reference for body in bodies for reference in references(body, body["metadata"].get("namespace", ""))
    }
    return sorted(reference for reference in all_references if reference[:3] not in own)


def references(body: Body, namespace: str) -> Iterator[Reference]:
    """What an object refers to by a field whose meaning is known."""
    for mapping in mappings(body):
        if mapping.get("kind") == "Secret" and mapping.get("name") and "metadata" not in mapping:
            yield Reference("Secret", mapping.get("namespace", namespace), mapping["name"])
        for key, value in mapping.items():
            if key == "imagePullSecrets":
                yield from (Reference("Secret", namespace, item["name"]) for item in value)
            elif key == "serviceAccountName" and value:
                yield Reference("ServiceAccount", namespace, value)
            elif key in FIELDS and isinstance(value, Mapping) and value.get(FIELDS[key][1]):
                kind, name = FIELDS[key]
                yield Reference(kind, value.get("namespace", namespace), value[name], value.get("key", ""))


FIELDS = {
    "secretKeyRef": ("Secret", "name"),
    "secretRef": ("Secret", "name"),
    "secret": ("Secret", "secretName"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMap": ("ConfigMap", "name"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
}


def create_stand_ins(missing: Sequence[Reference]) -> list[Body]:
    """Objects that stand for them; for a claim also its volume."""
    bodies: list[Body] = []
    for kind, namespace, name in dict.fromkeys(reference[:3] for reference in missing):
        metadata = {"name": name, "namespace": namespace}
        body: Body = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
        keys = sorted(
            {reference.key for reference in missing if reference[:3] == (kind, namespace, name) and reference.key}
        )
        if kind in ("Secret", "ConfigMap"):
            body["stringData" if kind == "Secret" else "data"] = dict.fromkeys(keys, "made up")
        if kind == "PersistentVolumeClaim":
            volume, storage = f"{namespace}-{name}", {"storage": "1Ti"}
            shared = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
            body["spec"] = {**shared, "resources": {"requests": storage}, "volumeName": volume}
            place = {"hostPath": {"path": f"/made-up/{volume}"}, "claimRef": metadata}
            spec = {**shared, **place, "capacity": storage, "persistentVolumeReclaimPolicy": "Retain"}
            bodies.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": spec})
        bodies.append(body)
    return bodies


def volumes(bodies: Sequence[Body]) -> list[Body]:
    """What a storage class would make for the example's own claims, and for those of its pods."""
    persistent_volumes: list[Body] = []
    for body in bodies:
        namespace, name = body["metadata"].get("namespace", ""), body["metadata"]["name"]
        if body["kind"] == "PersistentVolumeClaim":
            persistent_volumes.append(volume(f"{namespace}-{name}", body["spec"]))
        for template in body.get("spec", {}).get("leaderWorkerTemplate", {}).get("volumeClaimTemplates", ()):
            persistent_volumes += [volume(f"{namespace}-{name}-{number}", template["spec"]) for number in range(CLAIMS)]
    return persistent_volumes


def volume(name: str, claim: Body) -> Body:
    """A volume that fits the claim."""
    spec = {
        "accessModes": claim["accessModes"],
        "storageClassName": claim.get("storageClassName", ""),
        "capacity": claim["resources"]["requests"],
        "hostPath": {"path": f"/made-up/{name}"},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


# ---- nodes ----


def nodes(bodies: Sequence[Body]) -> list[Body]:
    """Nodes for all pods: some of each sort that a pod asks for, and some without anything.

    A node with accelerators is tainted, as clouds do it: a pod without its toleration gets none. Network adapters bring
    no taint.
    """
    sorts = sorted({Sort((), ()), *map(sort, pods(bodies))})
    return [node(f"{number:02}-{copy}", node_sort) for number, node_sort in enumerate(sorts) for copy in range(NODES)]


def devices(bodies: Sequence[Body], nodes: Sequence[Body]) -> list[Body]:
    """What a driver would publish: devices of each class that a claim asks for, on every node."""
    named = (mapping.get("deviceClassName") for body in bodies for mapping in mappings(body))
    classes = sorted({name for name in named if name})
    device_bodies: list[Body] = []
    for name in classes:
        rule = {"cel": {"expression": f'device.driver == "{name}"'}}
        device_bodies.append(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "metadata": {"name": name},
                "spec": {"selectors": [rule]},
            }
        )
        device_bodies += [devices_of(node_body["metadata"]["name"], name) for node_body in nodes]
    return device_bodies


def devices_of(node: str, driver: str) -> Body:
    """The devices of a driver on a node."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    there = [{"name": f"device-{number}", "attributes": DEVICE} for number in range(MANY)]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}"},
        "spec": {"driver": driver, "nodeName": node, "pool": pool, "devices": there},
    }


def sort(pod: Body) -> Sort:
    """The sort of node that takes the pod."""
    amounts: dict[str, int] = {}
    for container in (*pod["containers"], *pod.get("initContainers", ())):
        resources = container.get("resources", {})
        for name, amount in {**resources.get("requests", {}), **resources.get("limits", {})}.items():
            if name not in PLAIN:
                amounts[name] = max(amounts.get(name, 0), int(amount))
    rounded = {name: max(MANY, amount) for name, amount in amounts.items()}
    labels = {**dict(find_affinity_labels(pod)), **pod.get("nodeSelector", {})}
    return Sort(tuple(sorted(rounded.items())), tuple(sorted(labels.items())))


def find_affinity_labels(pod: Body) -> Iterator[tuple[str, str]]:
    """Labels that satisfy the node affinity that a pod requires; of alternatives the first."""
    affinity = pod.get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
    for rule in terms[0].get("matchExpressions", ()) if terms else ():
        if rule["operator"] == "In":
            yield rule["key"], rule["values"][0]
        elif rule["operator"] == "Exists":
            yield rule["key"], "true"
        elif rule["operator"] in ("Gt", "Lt"):
            yield rule["key"], str(int(rule["values"][0]) + (1 if rule["operator"] == "Gt" else -1))


def node(name: str, sort: Sort) -> Body:
    """A node of that sort."""
    room = {"cpu": "192", "memory": "2Ti", "ephemeral-storage": "8Ti", "pods": "110"}
    room.update((resource, str(amount)) for resource, amount in sort.resources)
    labels = {"kubernetes.io/hostname": f"node-{name}", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    taints = [
        {"key": resource, "value": "present", "effect": "NoSchedule"}
        for resource, _ in sort.resources
        if not resource.startswith(NETWORKS)
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{name}", "labels": {**labels, **dict(sort.labels)}},
        "spec": {"taints": taints},
        "status": {"capacity": room, "allocatable": room},
    }
