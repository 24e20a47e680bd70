"""A cluster's control plane and the controllers of its gateways on this machine, for as long as a `with` block lasts.

Real are etcd, the API server, Envoy Gateway, the AI gateway's controller with its webhook, and what they start: Envoy
with the external processor, the rate limit service, pickers; Redis too. Pretended are kubelet and the controllers of
Deployments, LeaderWorkerSets, EndpointSlices (`kubelet_loop`), DNS, engines and providers (`fakes`). Envoy Gateway is
configured as charts/llmaz configures it.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.apiserver.server import Body, CannotJudge, leashed, running
from tests.cluster.control import Cluster, Part, tail
from tests.gateway import network
from tests.gateway.certificates import Authority
from tests.gateway.containers import Container, Mount
from tests.gateway.fakes import Fakes
from tests.gateway.kubelet_loop import DOMAIN, KubeletLoop

from scripts.make_schemas import CRDS as OURS, Source, crds  # isort: skip  # tests.apiserver has put its neighbours on the path

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "tests" / "platform" / "token-limits" / "expected.yaml"
SYSTEM, AI_SYSTEM = "envoy-gateway-system", "envoy-ai-gateway-system"
ENVOY_GATEWAY, AI_GATEWAY = "10.88.0.11", "10.88.0.12"
REDIS = 6379
COUNTING = "5s"  # that Envoy waits for the rate limit service: it is 20 ms else, too few for a busy machine
XDS, RATE_LIMIT_XDS, WASM = 18000, 18001, 18002
EXTENSION, WEBHOOK = 1063, 9443
PATIENCE = 120  # seconds until a program listens
PROVIDER_HOSTS = ("DNS:*.example.com", "DNS:*.example.org", "DNS:*.example.net")
CHANNELS = ("standard", "experimental")
# The versions that Envoy Gateway and the picker are compiled with.
CRDS = (
    Source("sigs.k8s.io/lws@v0.9.0", "config/crd/bases", ("LeaderWorkerSet",)),
    Source("github.com/envoyproxy/ai-gateway@v1.0.0", "manifests/charts/ai-gateway-crds-helm/templates"),
    Source("github.com/envoyproxy/gateway@v1.9.1", "charts/gateway-helm/charts/crds/crds/generated"),
    Source("sigs.k8s.io/gateway-api-inference-extension@v1.5.0", "config/crd/bases"),
)
GATEWAY_API = "sigs.k8s.io/gateway-api@v1.6.1"
UNATTENDED = {"ScaledObject", "InterceptorRoute", "PodMonitor"}  # what examples have and no controller here looks at


class Stack(NamedTuple):
    """What stands. `logs`: a file for each program."""

    cluster: Cluster
    fakes: Fakes
    kubelet: KubeletLoop
    authority: Authority
    logs: Path
    containers: Sequence[Container]
    tools: Path  # the folder of the programs

    def forget_counts(self) -> None:
        """Every budget is whole again."""
        with socket.create_connection((network.NODE, REDIS), 5) as link:
            link.sendall(b"FLUSHALL\r\n")
            link.recv(64)


def definitions(channel: str) -> list[Body]:
    """The CustomResourceDefinitions, with Gateway API's of a channel."""
    unattended = [source for source in OURS if UNATTENDED.intersection(source.kinds)]
    sources = [*CRDS, Source(GATEWAY_API, f"config/crd/{channel}"), *unattended]
    return list({crd["metadata"]["name"]: crd for source in sources for crd in crds(source)}.values())


@contextmanager
def standing(tools: Path, folder: Path, channel: str) -> Iterator[Stack]:
    """The stack, in a network of its own that `network.create` made. `folder`: empty, for what it writes.

    All its programs have ended when the block is left. Raises CannotJudge when it does not stand up.
    """
    logs = folder / "logs"
    logs.mkdir(parents=True)
    authority = Authority(folder / "certificates")
    provider = authority.context("provider", *PROVIDER_HOSTS)
    with ExitStack() as stack:
        client = stack.enter_context(running(tools, host=network.NODE, instead=definitions(channel)))
        (folder / "kubeconfig").write_text(kubeconfig(json.loads(client.kubeconfig()), client.certificate))
        redis = Part(
            stack.enter_context(leashed(_redis(folder), logs / "redis.log", _redis_options())), logs / "redis.log"
        )
        cluster = Cluster(client, folder / "kubeconfig", [redis])
        _serving(cluster, channel)
        for body in objects():
            if message := cluster.applied(body).message:
                raise CannotJudge(f"{body['kind']} {body['metadata']['name']}: {message}")
        fakes = stack.enter_context(Fakes((network.NODE, 53), provider))
        containers: list[Container] = []
        stack.callback(stopped, containers)
        kubelet = KubeletLoop(cluster, fakes, tools, folder, _common(folder, authority), FIXED)
        containers += _controllers(cluster, tools, folder, authority, fakes)
        stack.enter_context(kubelet)
        for place in ((AI_GATEWAY, EXTENSION), (AI_GATEWAY, WEBHOOK), (ENVOY_GATEWAY, XDS), (network.NODE, REDIS)):
            listening(place, containers)
        yield Stack(cluster, fakes, kubelet, authority, logs, containers, tools)


def stopped(containers: Sequence[Container]) -> None:
    """Ends them all."""
    for container in containers:
        container.stop()


FIXED = {
    f"envoy-gateway.{SYSTEM}.{DOMAIN}": ENVOY_GATEWAY,
    f"ai-gateway-controller.{AI_SYSTEM}.{DOMAIN}": AI_GATEWAY,
    f"llmaz-redis.llmaz-system.{DOMAIN}": network.NODE,
}


def kubeconfig(config: Body, certificate: Path) -> str:
    """The text of a kubeconfig that holds the certificate itself, for programs that do not see the file."""
    cluster = config["clusters"][0]["cluster"]
    del cluster["certificate-authority"]
    cluster["certificate-authority-data"] = base64.b64encode(certificate.read_bytes()).decode()
    return json.dumps(config)


def listening(place: tuple[str, int], containers: Sequence[Container]) -> None:
    """Returns when somebody listens there. Raises CannotJudge when a container has ended, or after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(place, 1).close()
        except OSError:
            for container in containers:
                if container.ended:
                    raise CannotJudge("\n".join([f"{container.log.stem} ended:", *tail(container.log)])) from None
            if time.monotonic() > end:
                raise CannotJudge(f"nobody listens at {place[0]}:{place[1]}") from None
            time.sleep(0.1)
        else:
            return


def configuration() -> Body:
    """Envoy Gateway's, as charts/llmaz has it with budgets of tokens, and patient with the rate limit service."""
    for document in yaml.safe_load_all(CHART.read_text("utf-8")):
        if document and document["kind"] == "Application" and document["metadata"]["name"] == "llmaz-envoy-gateway":
            values: Body = document["spec"]["source"]["helm"]["valuesObject"]["config"]["envoyGateway"]
            kubernetes = {"leaderElection": {"disable": True}}
            return {
                **values,
                "rateLimit": {**values["rateLimit"], "timeout": COUNTING},
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": "EnvoyGateway",
                "provider": {**values["provider"], "kubernetes": kubernetes},
            }
    raise CannotJudge(f"{CHART}: no Application llmaz-envoy-gateway")


def objects() -> Iterator[Body]:
    """What Envoy Gateway's own chart installs, as far as Envoy Gateway looks for it, and the namespaces."""
    for name in (SYSTEM, AI_SYSTEM, "llmaz-system"):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    metadata, labels = {"namespace": SYSTEM, "name": "envoy-gateway"}, {"control-plane": "envoy-gateway"}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    ports = [{"name": f"port-{port}", "port": port, "targetPort": port} for port in (XDS, RATE_LIMIT_XDS, WASM)]
    yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels, "ports": ports}}
    pod = {"containers": [{"name": "envoy-gateway", "image": "envoy-gateway"}]}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    yield {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def webhook(authority: Authority) -> Body:
    """The configuration by which pods of Envoy get their external processor, as the AI gateway's chart has it."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": f"envoy-ai-gateway-gateway-pod-mutator.{AI_SYSTEM}"},
        "webhooks": [
            {
                "name": f"ai-gateway-controller.{AI_SYSTEM}.{DOMAIN}",
                "clientConfig": {"url": f"https://{AI_GATEWAY}:{WEBHOOK}/mutate", "caBundle": authority.bundle},
                "objectSelector": {"matchLabels": {"app.kubernetes.io/managed-by": "envoy-gateway"}},
                "rules": [rule],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 10,
                "failurePolicy": "Fail",
            }
        ],
    }


def _serving(cluster: Cluster, channel: str) -> None:
    """Returns when every kind can be listed: for seconds after a CRD came the API server says that it is not ready."""
    end = time.monotonic() + PATIENCE
    for crd in definitions(channel):
        spec = crd["spec"]
        for version in (version for version in spec["versions"] if version["served"]):
            path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            while cluster.client("GET", path).status != 200:
                if time.monotonic() > end:
                    raise CannotJudge(f"{path} is not served")
                time.sleep(0.2)


def _redis(folder: Path) -> Path:
    """The Redis server: one program with several names, of which redis-tools has others."""
    program = folder / "redis-server"
    program.symlink_to(str(shutil.which("redis-check-rdb")))
    return program


def _redis_options() -> list[str]:
    return ["--bind", network.NODE, "--port", str(REDIS), "--save", "", "--appendonly", "no", "--protected-mode", "no"]


def _common(folder: Path, authority: Authority) -> list[Mount]:
    """What every container sees: names are resolved by our DNS, and our authority is the one that is trusted."""
    resolver, switch = folder / "resolv.conf", folder / "nsswitch.conf"
    search = f"search {SYSTEM}.{DOMAIN} {DOMAIN} cluster.local"
    resolver.write_text(f"nameserver {network.NODE}\n{search}\noptions ndots:5 timeout:1 attempts:2\n")
    switch.write_text("hosts: files dns\n")
    return [
        Mount(resolver, "/etc/resolv.conf"),
        Mount(switch, "/etc/nsswitch.conf"),
        Mount(authority.certificate, "/etc/ssl/certs/ca-certificates.crt"),
    ]


def _controllers(
    cluster: Cluster, tools: Path, folder: Path, authority: Authority, fakes: Fakes
) -> Iterator[Container]:
    """Starts the AI gateway's controller, then Envoy Gateway, which calls it."""
    fakes.set_zone({name: [address] for name, address in FIXED.items()})
    common = [*_common(folder, authority), Mount(folder / "kubeconfig", "/kubeconfig")]
    environment = {
        "KUBECONFIG": "/kubeconfig",
        "ENVOY_GATEWAY_NAMESPACE": SYSTEM,
        "KUBERNETES_CLUSTER_DOMAIN": "cluster.local",
        "POD_NAMESPACE": AI_SYSTEM,
    }
    if message := cluster.applied(webhook(authority)).message:
        raise CannotJudge(f"webhook: {message}")
    own = folder / "ai-gateway"
    own.mkdir()
    certificate, key = authority.issue("webhook", f"IP:{AI_GATEWAY}")
    for name, source in (("tls.crt", certificate), ("tls.key", key), ("ca.crt", authority.certificate)):
        shutil.copy(source, own / name)
    yield Container(
        network.PodNetwork(AI_GATEWAY),
        [
            tools / "ai-gateway-controller",
            "-logLevel=info",
            "--extProcImage=ai-gateway-extproc",
            f"--envoyGatewayNamespace={SYSTEM}",
            "--tlsCertDir=/certs",
            f"--webhookPort={WEBHOOK}",
            "--enableLeaderElection=false",
            "--rootPrefix=/",
            "--maxRecvMsgSize=16777216",
        ],
        [*common, Mount(own, "/certs")],
        environment,
        folder / "logs" / "ai-gateway-controller.log",
    )
    place = folder / "envoy-gateway"
    (place / "certs").mkdir(parents=True)
    (place / "config").mkdir()
    (place / "config" / "envoy-gateway.json").write_text(json.dumps(configuration()))
    command = [str(tools / "envoy-gateway"), "certgen", "--disable-topology-injector"]
    outside = {**environment, "KUBECONFIG": str(folder / "kubeconfig"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=outside, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotJudge(f"envoy-gateway certgen: {done.stdout}{done.stderr}")
    metadata = {"namespace": SYSTEM, "name": "envoy-gateway"}
    for name, value in cluster.live({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})["data"].items():
        (place / "certs" / name).write_bytes(base64.b64decode(value))
    yield Container(
        network.PodNetwork(ENVOY_GATEWAY),
        [tools / "envoy-gateway", "server", "--config-path=/config/envoy-gateway.json"],
        [*common, Mount(place / "certs", "/certs"), Mount(place / "config", "/config")],
        environment,
        folder / "logs" / "envoy-gateway.log",
    )
