"""What kubelet and controllers read out of manifests: pods, the engines in them, EndpointSlices. Nothing here runs."""

from __future__ import annotations

import http.client
import json
import re
import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.apiserver.server import Body
from tests.gateway.fake_engines import Engine

LWS = "leaderworkerset.sigs.k8s.io"
MAIN = "model-runner"
OWNER = "gateway-test/owner"  # annotation of engines' pods: the UID of their LeaderWorkerSet
VARIABLE = re.compile(r"\$\(([A-Za-z0-9_]+)\)")
READY = {"type": "Ready", "status": "True"}


class Probe(NamedTuple):
    """How to ask whether a container is ready. No path: whether it listens."""

    port: int
    path: str = ""

    def succeeds(self, address: str) -> bool:
        try:
            if not self.path:
                socket.create_connection((address, self.port), 0.5).close()
                return True
            link = http.client.HTTPConnection(address, self.port, timeout=1)
            try:
                link.request("GET", self.path)
                return link.getresponse().status == 200
            finally:
                link.close()
        except (OSError, http.client.HTTPException):
            return False


def key_of(body: Body) -> tuple[str, str]:
    """Namespace and name."""
    return str(body["metadata"]["namespace"]), str(body["metadata"]["name"])


def pod_of(deployment: Body, digest: str) -> Body:
    """The pod of a Deployment, with a name that no other has."""
    metadata, template = deployment["metadata"], deployment["spec"]["template"]
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"], "uid": metadata["uid"]}
    own = template.get("metadata", {})
    name = f"{metadata['name'][:40]}-{digest}-{secrets.token_hex(2)}"
    labels, annotations = own.get("labels") or {}, own.get("annotations") or {}
    return {
        "metadata": {
            "namespace": metadata["namespace"],
            "name": name,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [owner],
        },
        "spec": {**template["spec"], "nodeName": "node"},
    }


def group(lws: Body, index: int) -> Iterator[Body]:
    """The pods of a group that answer: its leader, and its workers where their template has ports."""
    yield leader(lws, index)
    parts = lws["spec"]["leaderWorkerTemplate"]
    if any(container.get("ports") for container in parts["workerTemplate"]["spec"]["containers"]):
        yield from (leader(lws, index, worker) for worker in range(1, parts.get("size", 1)))


def leader(lws: Body, index: int, worker: int = 0) -> Body:
    """The leader pod of a group, or one of its workers, with the labels that LeaderWorkerSet's controller gives it."""
    metadata, parts = lws["metadata"], lws["spec"]["leaderWorkerTemplate"]
    template = parts["workerTemplate"] if worker else parts.get("leaderTemplate") or parts["workerTemplate"]
    labels = {f"{LWS}/name": metadata["name"], f"{LWS}/worker-index": str(worker), f"{LWS}/group-index": str(index)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": metadata["namespace"],
            "name": f"{metadata['name']}-{index}" + (f"-{worker}" if worker else ""),
            "labels": {**(template.get("metadata") or {}).get("labels", {}), **labels},
            "annotations": {OWNER: metadata["uid"]},
        },
        "spec": {**template["spec"], "nodeName": "node"},
    }


def running(address: str, *, ready: bool) -> Body:
    """The status of a pod that runs at the address."""
    conditions = [READY if ready else {**READY, "status": "False"}]
    return {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": conditions}


def is_ready(pod: Body) -> bool:
    """Whether its condition says so."""
    conditions: Sequence[Body] = pod["status"].get("conditions", ())
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def selects(service: Body, pod: Body) -> bool:
    """Whether the pod is one of a Service's, ready or not."""
    selector, metadata = service["spec"].get("selector") or {}, pod["metadata"]
    if not selector or metadata["namespace"] != service["metadata"]["namespace"]:
        return False
    if not selector.items() <= (metadata.get("labels") or {}).items() or not pod.get("status", {}).get("podIP"):
        return False
    return not metadata.get("deletionTimestamp")


def serves(service: Body, pod: Body) -> bool:
    """Whether a Service leads to a pod of its own now."""
    return is_ready(pod) or bool(service["spec"].get("publishNotReadyAddresses"))


def endpoint_slice(service: Body, pods: Sequence[Body]) -> Body:
    """The EndpointSlice of a Service."""
    namespace, name = key_of(service)
    endpoints = [
        {
            "addresses": [pod["status"]["podIP"]],
            "conditions": {"ready": serves(service, pod)},
            "targetRef": {"kind": "Pod", "namespace": namespace, "name": pod["metadata"]["name"]},
        }
        for pod in pods
    ]
    ports = [
        {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
        for port in service["spec"].get("ports", ())
        if (number := target_port(port, pods)) is not None
    ]
    own = {"kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "gateway-test"}
    labels = {**(service["metadata"].get("labels") or {}), **own}  # by which Envoy Gateway knows that of its proxies
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": "IPv4",
        "metadata": {"namespace": namespace, "name": f"{name}-1", "labels": labels},
        "endpoints": endpoints,
        "ports": ports,
    }


def target_port(port: Body, pods: Sequence[Body]) -> int | None:
    """The number of a Service's target port; None for a name that no pod has."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    for pod in pods:
        for container in pod["spec"]["containers"]:
            for own in container.get("ports", ()):
                if own.get("name") == target:
                    return int(own["containerPort"])
    return None


def engine(pod: Body) -> Engine:
    """The engine of a leader pod, told by its container's command line and ports."""
    containers = pod["spec"]["containers"]
    main = next((container for container in containers if container["name"] == MAIN), containers[0])
    ports = {port["containerPort"] for container in containers for port in container.get("ports", ())} or {8080}
    models, adapters = served([*main.get("command", ()), *main.get("args", ())])
    return Engine("/".join(key_of(pod)), tuple(sorted(ports)), tuple(models), tuple(adapters))


def options(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The options of a command line with their values, `--name=value` and `--name value value`."""
    current: tuple[str, list[str]] | None = None
    for word in words:
        if word.startswith("-"):
            if current:
                yield current
            name, equals, value = word.partition("=")
            current = (name, [value] if equals else [])
        elif current:
            current[1].append(word)
    if current:
        yield current


def served(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """(names, adapters) that a command line makes an engine answer to; no names: it answers to any. SGLang's adapters
    are asked for behind the model's name.
    """
    names: list[str] = []
    adapters: list[str] = []
    for name, values in options(words):
        if name == "--served-model-name":
            names += values
        elif name in ("--alias", "-a"):
            names += values[:1]
        elif name in ("--lora-modules", "--lora-paths"):
            called = [json.loads(value)["name"] if value[0] == "{" else value.partition("=")[0] for value in values]
            adapters += called if name == "--lora-modules" else [f"{names[0]}:{adapter}" for adapter in called]
    return [*names, *adapters], adapters


def variables(pod: Body, container: Body, address: str, server: Mapping[str, str]) -> dict[str, str]:
    """The environment of a container. `server`: the variables that say where the API server is."""
    metadata = pod["metadata"]
    fields = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "status.podIP": address,
        "spec.nodeName": "node",
        "spec.serviceAccountName": pod["spec"].get("serviceAccountName", ""),
    }
    environment = {**server, "HOSTNAME": metadata["name"]}
    for variable in container.get("env", ()):
        field = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        text = fields.get(field, "") if field else variable.get("value", "")
        environment[variable["name"]] = expanded(text, environment)
    return environment


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """The text with $(NAME) as kubelet has it: of variables that there are."""
    return VARIABLE.sub(lambda match: environment.get(match[1], match[0]), text)


def probes(container: Body) -> Iterator[Probe]:
    """How to ask whether the container is ready, as its readiness probe has it."""
    probe = container.get("readinessProbe", {})
    if "httpGet" in probe:
        yield Probe(int(probe["httpGet"]["port"]), probe["httpGet"]["path"])
    elif "grpc" in probe:
        yield Probe(int(probe["grpc"]["port"]))
