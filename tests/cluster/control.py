"""A cluster on the loopback interface, for as long as a `with` block lasts: everything is real but the nodes.

An API server with our CRDs, and what acts on objects there: Kubernetes' controllers and scheduler, LeaderWorkerSet's
manager with its webhooks, and kwok, which calls a pod Ready once it has a node. No metrics, no proxy, no gateway.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import yaml

from tests.apiserver.server import HOST, PATIENCE, Answer, Body, CannotJudge, Client, leashed, ports, running

from scripts.make_schemas import CRDS, files  # isort: skip  # tests.apiserver has put its neighbours on the path

MANAGER = "argocd-controller"  # the name under which Argo CD applies
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "lws-manager", "kwok", "drift")
CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "job-controller",
    "statefulset-controller",
    "endpointslice-controller",
    "horizontal-pod-autoscaler-controller",
    "disruption-controller",
    "serviceaccount-controller",
    "namespace-controller",
    "garbage-collector-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "resourceclaim-controller",
)
(LWS_CRDS,) = (source for source in CRDS if source.module.startswith("sigs.k8s.io/lws@"))


class Part(NamedTuple):
    """A program that runs, and what it says."""

    process: subprocess.Popen[bytes]
    log: Path


class Cluster(NamedTuple):
    """Where objects are kept. `parts` are the programs beside the API server."""

    client: Client
    kubeconfig: Path
    parts: Sequence[Part]

    def path(self, body: Body, *, named: bool = True) -> str:
        """Where an object is, or all of its kind. Raises CannotJudge for a kind that the server does not know."""
        version, metadata = str(body["apiVersion"]), body["metadata"]
        resource = self.client.resource(version, body["kind"])
        if resource is None:
            raise CannotJudge(f"no kind {body['kind']} in {version}")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        space = f"/namespaces/{quote(metadata.get('namespace', 'default'), safe='')}" if resource.namespaced else ""
        return f"{root}{space}/{resource.plural}" + (f"/{quote(metadata['name'], safe='')}" if named else "")

    def applied(self, body: Body, text: str = "") -> Answer:
        """Server-side apply, as Argo CD does it."""
        sent, how = text or json.dumps(body), {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"}
        return self.client("PATCH", self.path(body), sent, "application/apply-patch+yaml", **how)

    def live(self, body: Body) -> Body:
        """The object as it is there; empty when it is not."""
        answer = self.client("GET", self.path(body))
        return answer.body if answer.status == 200 else {}

    def listed(self, path: str, **query: str) -> list[Body]:
        """The objects at that path."""
        answer = self.client("GET", path, **query)
        if answer.message:
            raise CannotJudge(f"{path}: {answer.message}")
        return list(answer.body["items"])

    def settled(self, faults: Callable[[], list[str]], patience: float) -> list[str]:
        """Asks until nothing is wrong; what is when patience is over. Raises CannotJudge when a part ended."""
        end = time.monotonic() + patience
        while remaining := faults():
            for part in self.parts:
                if part.process.poll() is not None:
                    raise CannotJudge("\n".join([f"{part.log.stem} ended:", *tail(part.log)]))
            if time.monotonic() > end:
                break
            time.sleep(0.3)
        return remaining


def tail(log: Path) -> list[str]:
    """The last lines of a log."""
    return log.read_text("utf-8", "replace").splitlines()[-12:]


@contextmanager
def standing(tools: Path, equipment: Iterable[Body], *, stages: str = "") -> Iterator[Cluster]:
    """The cluster. `equipment`: its nodes, and what they are said to have. `stages`: kwok's, of pods that are not ready
    at once. All its programs have ended when the block is left. Raises CannotJudge when it does not stand up.
    """
    missing = [name for name in PROGRAMS if not (tools / name).exists()]
    if missing:
        raise CannotJudge(f"{', '.join(missing)} not built: scripts/tools.sh {' '.join(missing)}")
    with (
        running(tools, accounts=True) as client,
        tempfile.TemporaryDirectory(prefix="llmaz-cluster-") as folder,
        ExitStack() as programs,
    ):
        home = Path(folder)
        (home / "kubeconfig").write_text(client.kubeconfig())
        webhook = ports(1)[0]
        parts: list[Part] = []
        cluster = Cluster(client, home / "kubeconfig", parts)
        for name, options in commands(home, webhook, client.certificate, stages):
            log = home / f"{name}.log"
            parts.append(Part(programs.enter_context(leashed(tools / name, log, options)), log))
        for body in (*equipment, *hooks(webhook, client.certificate.read_bytes())):
            if message := client("POST", cluster.path(body, named=False), json.dumps(body)).message:
                raise CannotJudge(f"{body['kind']} {body['metadata']['name']}: {message}")
        if faults := cluster.settled(lambda: [*unready(cluster), *deaf(cluster)], PATIENCE):
            raise CannotJudge("\n".join(["the cluster does not get ready:", *faults]))
        try:
            yield cluster
        finally:
            for part in parts:  # all are told at once: each may take its ten seconds
                assert part.process.stdin is not None
                part.process.stdin.close()


def commands(home: Path, webhook: int, certificate: Path, stages: str) -> Iterator[tuple[str, list[str]]]:
    """(program, options) of each. Writes the files that they are given."""
    config = str(home / "kubeconfig")
    controllers, scheduler, kwok, metrics, health = ports(5)
    yield (
        "kube-controller-manager",
        [
            f"--kubeconfig={config}",
            f"--bind-address={HOST}",
            f"--secure-port={controllers}",
            f"--cert-dir={home / 'kube-controller-manager'}",
            f"--controllers={','.join(CONTROLLERS)}",
            "--leader-elect=false",
            "--horizontal-pod-autoscaler-sync-period=2s",
            "--pvclaimbinder-sync-period=2s",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ],
    )
    scheduling = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": config, "qps": 200, "burst": 400},
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 2,
    }
    (home / "scheduler.json").write_text(json.dumps(scheduling))
    yield (
        "kube-scheduler",
        [
            f"--config={home / 'scheduler.json'}",
            f"--bind-address={HOST}",
            f"--secure-port={scheduler}",
            f"--cert-dir={home / 'kube-scheduler'}",
        ],
    )
    (home / "stages.yaml").write_text(stages)
    yield (
        "kwok",
        [
            *([f"--config={home / 'stages.yaml'}"] if stages else []),
            f"--kubeconfig={config}",
            "--manage-all-nodes=true",
            "--cidr=10.128.0.1/12",
            f"--node-ip={HOST}",
            "--node-lease-duration-seconds=40",
            f"--server-address={HOST}:{kwok}",
        ],
    )
    keys = home / "webhook"
    keys.mkdir()
    shutil.copy(certificate, keys / "tls.crt")  # the API server's own is of this host too
    shutil.copy(certificate.with_suffix(".key"), keys / "tls.key")
    managing = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": HOST, "port": webhook, "certDir": str(keys)},
        "metrics": {"bindAddress": f"{HOST}:{metrics}"},
        "health": {"healthProbeBindAddress": f"{HOST}:{health}"},
    }
    (home / "lws.json").write_text(json.dumps(managing))
    yield "lws-manager", [f"--config={home / 'lws.json'}", f"--kubeconfig={config}", "--zap-log-level=info"]


def hooks(port: int, certificate: bytes) -> Iterator[Body]:
    """LeaderWorkerSet's webhook configurations, as they are installed, but for where the webhook is."""
    bundle = base64.b64encode(certificate).decode()
    for text in files(LWS_CRDS.module, "config/webhook", ".yaml"):
        for body in yaml.safe_load_all(text):
            if not isinstance(body, dict) or not str(body.get("kind")).endswith("WebhookConfiguration"):
                continue
            for webhook in body["webhooks"]:
                path = webhook["clientConfig"]["service"]["path"]
                webhook["clientConfig"] = {"url": f"https://{HOST}:{port}{path}", "caBundle": bundle}
                if any("pods" in rule["resources"] for rule in webhook["rules"]):  # theirs, by a patch beside it
                    requirement = {"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}
                    webhook["objectSelector"] = {"matchExpressions": [requirement]}
            yield body


def unready(cluster: Cluster) -> Iterator[str]:
    """The nodes that take no pods yet."""
    for node in cluster.listed("/api/v1/nodes"):
        conditions = {condition["type"]: condition["status"] for condition in node["status"].get("conditions", ())}
        taints = [
            taint["key"] for taint in node["spec"].get("taints", ()) if taint["key"].startswith("node.kubernetes.io/")
        ]
        if conditions.get("Ready") != "True" or taints:
            yield f"node {node['metadata']['name']} is not ready {' '.join(taints)}"


def deaf(cluster: Cluster) -> Iterator[str]:
    """What the webhook's API server says while the webhook does not answer."""
    pod = {"containers": [{"name": "a", "image": "a"}]}
    body = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "there", "namespace": "default"},
        "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": pod}}},
    }
    answer = cluster.client("POST", cluster.path(body, named=False), json.dumps(body), dryRun="All")
    if answer.message:
        yield f"LeaderWorkerSet's webhook: {answer.message}"
