"""What acts on objects besides the controllers of gateways: the loop that plays kubelet, Deployments' controller,
LeaderWorkerSet's, DNS and EndpointSlices.

Pods of Deployments whose programs are there run in containers. A LeaderWorkerSet gets a leader pod for each replica, as
its controller labels them, which a fake engine plays: its names are read off the command line. Workers there are where
their template has ports.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.apiserver.server import Body, CannotJudge
from tests.cluster.control import Cluster
from tests.gateway.containers import Container, Mount
from tests.gateway.fake_engines import Engine
from tests.gateway.fakes import Fakes
from tests.gateway.network import NODE, PodNetwork, engine_addresses, pod_addresses
from tests.gateway.pods import (
    OWNER,
    Probe,
    endpoint_slice,
    engine,
    expanded,
    group,
    key_of,
    pod_of,
    probes,
    running,
    selects,
    serves,
    variables,
)
from tests.gateway.programs import OF_CONTAINER

PAUSE = 0.4  # seconds between two looks
DOMAIN = "svc.cluster.local"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class Secretary:
    """Files of volumes, as the API server has them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def files(self, namespace: str, volume: Body, account: str) -> dict[str, bytes]:
        """What a volume holds, by path."""
        data_by_path: dict[str, bytes] = {}
        for source in [volume, *volume.get("projected", {}).get("sources", ())]:
            if "serviceAccountToken" in source:
                token = source["serviceAccountToken"]
                data_by_path[token["path"]] = self.token(namespace, account, token.get("audience", "")).encode()
                continue
            kind = next((kind for kind in ("secret", "configMap") if kind in source), None)
            if kind is None:
                continue
            entries = self._entries(namespace, kind, source[kind])
            items = source[kind].get("items")
            paths = {item["key"]: item["path"] for item in items} if items else {name: name for name in entries}
            data_by_path |= {paths[name]: data for name, data in entries.items() if name in paths}
        return data_by_path

    def _entries(self, namespace: str, kind: str, source: Body) -> dict[str, bytes]:
        name = source.get("secretName") or source["name"]
        metadata = {"namespace": namespace, "name": name}
        live = self._cluster.live(
            {"apiVersion": "v1", "kind": "Secret" if kind == "secret" else "ConfigMap", "metadata": metadata}
        )
        data: Mapping[str, str] = live.get("data") or {}
        if kind == "secret":
            return {key: base64.b64decode(value) for key, value in data.items()}
        return {key: value.encode() for key, value in data.items()}

    def token(self, namespace: str, account: str, audience: str = "") -> str:
        """A token of a service account, '' where there is none."""
        spec = {"expirationSeconds": 86400, **({"audiences": [audience]} if audience else {})}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        answer = self._cluster.client("POST", path, json.dumps(body))
        return "" if answer.message else str(answer.body["status"]["token"])


class RunningPod:
    """A pod whose programs run in containers."""

    def __init__(self, body: Body, address: str) -> None:
        self.body, self.network = body, PodNetwork(address)
        self.containers: dict[str, Container] = {}
        self.probes: list[Probe] = []
        self.ready = False

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    def stop(self) -> None:
        """All its programs have ended."""
        for container in self.containers.values():
            container.stop()
        self.network.remove()


class KubeletLoop:
    """The loop, in a thread of its own while a `with` block lasts. `fixed`: names that DNS knows besides Services.

    `pods`: those of Deployments, by namespace/name of the Deployment. `events`: what went wrong, in order.
    """

    def __init__(
        self,
        cluster: Cluster,
        fakes: Fakes,
        tools: Path,
        folder: Path,
        common: Sequence[Mount],
        fixed: Mapping[str, str],
    ) -> None:
        """`tools`: the folder of the programs; `folder`: for volumes and logs; `common`: what every container sees."""
        self.pods: dict[str, RunningPod] = {}
        self.events: list[str] = []
        self._cluster, self._fakes, self._tools, self._folder = cluster, fakes, tools, folder
        self._common, self._fixed = common, fixed
        host, port = cluster.client.place
        self._server = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": str(port)}
        self._secretary = Secretary(cluster)
        self._hashes: dict[str, str] = {}
        self._engines: dict[str, Engine] = {}  # by UID of the pod
        self._slices: dict[str, str] = {}
        self._pod_addresses, self._engine_addresses = pod_addresses(), engine_addresses()
        self._over, self._looks = threading.Event(), 0
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> KubeletLoop:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for pod in self.pods.values():
            pod.stop()

    def note(self, event: str) -> None:
        if event not in self.events[-20:]:
            self.events.append(event)

    def _work(self) -> None:
        while not self._over.wait(PAUSE):
            try:
                self._look()
            except (CannotJudge, OSError, KeyError, subprocess.CalledProcessError) as error:
                self.note(f"kubelet: {error!r}")

    def _look(self) -> None:
        """One round: engines and DNS first, since Envoy asks for a name that it did not find after 30 s only."""
        pods = self._leaders(self._cluster.listed("/api/v1/pods"))
        services = self._cluster.listed("/api/v1/services")
        self._publish(services, pods)
        self._balance(services)
        self._deployments()
        self._looks += 1
        if self._looks % 3 == 0:
            for pod in self.pods.values():
                for volume in pod.body["spec"].get("volumes", ()):
                    if "secret" in volume or "configMap" in volume:
                        self._volume(pod.body, volume)

    # ---- engines ----

    def _leaders(self, pods: Sequence[Body]) -> Sequence[Body]:
        """All pods, once each replica of each LeaderWorkerSet has its leader and workers that answer, and no other."""
        there = {key_of(pod): pod for pod in pods if OWNER in (pod["metadata"].get("annotations") or {})}
        expected = {
            key_of(pod): pod
            for lws in self._cluster.listed("/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets")
            for index in range(lws["spec"].get("replicas", 1))
            for pod in group(lws, index)
        }
        changed = False
        for key, pod in there.items():
            if (
                key not in expected
                or expected[key]["metadata"]["annotations"][OWNER] != pod["metadata"]["annotations"][OWNER]
            ):
                self._engines.pop(pod["metadata"]["uid"], None)
                self._delete(pod)
                changed = True
        for key in expected.keys() - there.keys():
            body = self._create(expected[key])
            if body:
                self._engines[body["metadata"]["uid"]] = engine(body)
                self.set_status(body, running(next(self._engine_addresses), ready=True))
                changed = True
        return self._cluster.listed("/api/v1/pods") if changed else pods

    # ---- DNS and EndpointSlices ----

    def _publish(self, services: Sequence[Body], pods: Sequence[Body]) -> None:
        """DNS, engines and EndpointSlices are as Services and pods have it."""
        zone: dict[str, list[str]] = {}
        for service in services:
            selected = [pod for pod in pods if selects(service, pod)]
            named = sorted(pod["status"]["podIP"] for pod in selected if serves(service, pod))
            zone[f"{'.'.join(reversed(key_of(service)))}.{DOMAIN}"] = named
            self._slice(service, selected)
        self._fakes.set_zone({**zone, **{name: [address] for name, address in self._fixed.items()}})
        engines = {
            pod["status"]["podIP"]: self._engines[pod["metadata"]["uid"]]
            for pod in pods
            if pod["metadata"]["uid"] in self._engines and pod.get("status", {}).get("podIP")
        }
        self._fakes.set_engines(engines)

    def _slice(self, service: Body, pods: Sequence[Body]) -> None:
        if not service["spec"].get("selector"):
            return
        body = endpoint_slice(service, pods)
        text = json.dumps(body)
        key = f"{service['metadata']['uid']}"
        if self._slices.get(key) != text:
            message = self._cluster.applied(body).message
            if message:
                self.note(f"EndpointSlice {body['metadata']['name']}: {message}")
            else:
                self._slices[key] = text

    def _balance(self, services: Sequence[Body]) -> None:
        """Each Service of type LoadBalancer has an address."""
        for service in services:
            if service["spec"].get("type") == "LoadBalancer" and not service["status"].get("loadBalancer"):
                self.set_status(service, {"loadBalancer": {"ingress": [{"ip": NODE}]}})

    # ---- Deployments ----

    def _deployments(self) -> None:
        """Each Deployment whose programs are there has a pod of its template, and says so once that is ready."""
        there = set()
        for deployment in self._cluster.listed("/apis/apps/v1/deployments"):
            template = deployment["spec"]["template"]
            if not any(container["name"] in OF_CONTAINER for container in template["spec"]["containers"]):
                continue
            key = "/".join(key_of(deployment))
            there.add(key)
            digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]
            pod = self.pods.get(key)
            if pod and self._hashes[key] == digest and not any(part.ended for part in pod.containers.values()):
                self._supervise(deployment, pod)
                continue
            if pod:
                if self._hashes[key] == digest:
                    stopped = ", ".join(name for name, part in pod.containers.items() if part.ended)
                    self.note(f"{key}: {stopped} ended, the pod is started again")
                self._remove(key)
            body = self._create({**pod_of(deployment, digest), "apiVersion": "v1", "kind": "Pod"})
            if body:
                self._hashes[key], self.pods[key] = digest, self._start(body)
        for key in self.pods.keys() - there:
            self._remove(key)

    def _supervise(self, deployment: Body, pod: RunningPod) -> None:
        """Says that the pod and its Deployment are ready, once they are."""
        if pod.ready or not all(probe.succeeds(pod.network.address) for probe in pod.probes):
            return
        pod.ready = True
        self.set_status(pod.body, running(pod.network.address, ready=True))
        counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), 1)
        self.set_status(deployment, {"observedGeneration": deployment["metadata"]["generation"], **counts})

    def _start(self, body: Body) -> RunningPod:
        """Starts the programs of a pod as the API server has it, webhooks' changes included."""
        address = next(self._pod_addresses)
        pod, spec = RunningPod(body, address), body["spec"]
        volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
        folders = {name: self._volume(body, volume) for name, volume in volumes.items()}
        own = self._account(body)
        sidecars = [part for part in spec.get("initContainers", ()) if part.get("restartPolicy") == "Always"]
        for container in [*sidecars, *spec["containers"]]:
            program = OF_CONTAINER.get(container["name"])
            if program is None:
                continue
            environment = variables(body, container, address, self._server)
            words = [*container.get("command", ())[1:], *container.get("args", ())]
            mounts = [
                Mount(
                    folders[mount["name"]] / mount.get("subPath", ""),
                    mount["mountPath"],
                    "emptyDir" in volumes[mount["name"]],
                )
                for mount in container.get("volumeMounts", ())
                if mount["name"] in folders
            ]
            pod.containers[container["name"]] = Container(
                pod.network,
                [self._tools / program, *(expanded(word, environment) for word in words)],
                [*self._common, *own, *(mount for mount in mounts if mount.target != ACCOUNT)],
                environment,
                self._folder / "logs" / f"{pod.name}.{container['name']}.log",
            )
            pod.probes += probes(container)
        self.set_status(body, running(address, ready=False))
        return pod

    def _account(self, body: Body) -> list[Mount]:
        """The mount of the service account, where the pod wants one."""
        metadata, spec = body["metadata"], body["spec"]
        account = spec.get("serviceAccountName")
        if not account or spec.get("automountServiceAccountToken") is False:
            return []
        folder = self._folder / "volumes" / metadata["name"] / "serviceaccount"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "token").write_text(self._secretary.token(metadata["namespace"], account))
        (folder / "namespace").write_text(metadata["namespace"])
        shutil.copy(self._cluster.client.certificate, folder / "ca.crt")
        return [Mount(folder, ACCOUNT)]

    def _volume(self, body: Body, volume: Body) -> Path:
        """The folder of a volume, its files as they are now."""
        metadata = body["metadata"]
        folder = self._folder / "volumes" / str(metadata["name"]) / str(volume["name"])
        folder.mkdir(parents=True, exist_ok=True)
        account = body["spec"].get("serviceAccountName", "default")
        for path, data in self._secretary.files(metadata["namespace"], volume, account).items():
            file = folder / path
            if not file.is_file() or file.read_bytes() != data:
                file.parent.mkdir(parents=True, exist_ok=True)
                new = file.with_name(f".{file.name}.new")
                new.write_bytes(data)
                new.replace(file)
        return folder

    # ---- the API server ----

    def _remove(self, key: str) -> None:
        pod = self.pods.pop(key)
        pod.stop()
        self._delete(pod.body)

    def _create(self, body: Body) -> Body | None:
        answer = self._cluster.client("POST", self._cluster.path(body, named=False), json.dumps(body))
        if answer.message:
            self.note(f"Pod {body['metadata']['name']}: {answer.message}")
            return None
        return answer.body

    def _delete(self, pod: Body) -> None:
        path = self._cluster.path({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]})
        self._cluster.client("DELETE", path, json.dumps({"gracePeriodSeconds": 0}))

    def set_status(self, body: Body, status: Body) -> None:
        """Merges into the status of a pod, Deployment or Service."""
        path = self._path(body)
        self._cluster.client("PATCH", f"{path}/status", json.dumps({"status": status}), "application/merge-patch+json")

    def _path(self, body: Body) -> str:
        namespace, name = key_of(body)
        if "template" in body["spec"]:
            return f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
        return f"/api/v1/namespaces/{namespace}/{'pods' if 'containers' in body['spec'] else 'services'}/{name}"
