"""The objects that policies judge here: those of bases.yaml, and what is made of them by changing a thing or two."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from renderer import yamlio

HERE = Path(__file__).parent
COUNT = 306  # of which the server takes 300
LABEL = "judged-by"  # the policy that is to judge an object
FREQUENT = {"ConfigMap": 6, "Deployment": 2, "PersistentVolumeClaim": 2}  # so many more of them
Body: TypeAlias = dict[str, Any]
Chance: TypeAlias = random.Random

NAMES = ("web", "settings", "tmp-job", "a-long-name-of-a-thing", "dotted.name", "x1-300", "zeta", "team-a-web-7")
IMAGES = (
    "registry.example.com/app:1.2.3", "ghcr.io/org/app", "nginx:latest", "docker.io/library/nginx:1.27",
    "localhost:5000/app",
    "ghcr.io/org/app@sha256:0000000000000000000000000000000000000000000000000000000000000000",
)  # fmt: skip
AMOUNTS = ("500m", "1", "1500m", "3", "0.25", "2000m", "12")
MEMORY = ("512Mi", "1Gi", "1024Mi", "64Gi", "0.5Gi", "128Gi", "1e9", "2G")
SETTINGS = {
    "url": ("https://api.example.com/v1?token=1", "http://api.example.com", "https://api.example.com:443/", "ftp//x",
            "/only/a/path", "https://evil.org:8443/a%20b?x=1&x=2", "https://[::1]:8080/x",
            "https://user@a.example.com/#f", ""),
    "ip": ("10.1.2.3", "192.168.1.1", "127.0.0.1", "::1", "010.0.0.1", "300.1.1.1", "2001:DB8::1", "2001:db8::1"),
    "cidr": ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/24", "192.168.0.0/16", "2001:db8::/32", "10.0.0.0", "10.0.0.0/33"),
    "version": ("1.2.3", "1.1.9", "v2.0.0", "2.9.9", "1.2.0-rc.1", "3.0", "1.10.0", "01.2.3", "2.9.9+build", "x"),
    "size": ("1Gi", "500Mi", "2G", "10", "large", "1.5Gi", "-1Gi", ""),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "none"),
    "date": ("2026-11-25", "2026-13-01", "today"),
    "text": ("one two three", "one", "a quote: \" and a line\nend", ""),
}  # fmt: skip


@cache
def _bases() -> tuple[Body, ...]:
    documents, problems = yamlio.parse("bases.yaml", (HERE / "bases.yaml").read_bytes())
    assert not problems
    bodies = [document.value for document in documents]
    return (*bodies, *(body for body in bodies if body["kind"] in FREQUENT for _ in range(FREQUENT[body["kind"]])))


def objects() -> Iterator[Body]:
    """So many of them, the same every time."""
    bases = _bases()
    for number in range(COUNT):
        body = copy.deepcopy(bases[number % len(bases)])
        chance = random.Random(number)
        if number >= len(bases):
            for _ in range(chance.choice((1, 2, 3))):
                chance.choice(CHANGES)(body, chance)
            chance.choice(OF_KINDS.get(body["kind"], CHANGES))(body, chance)
            chance.choice(OF_KINDS.get(body["kind"], CHANGES))(body, chance)
        body["metadata"].setdefault("labels", {})
        yield body


def labelled(body: Body, policy: str) -> Body:
    """The object, for that policy alone."""
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "labels": {**metadata["labels"], LABEL: policy}}}


def pod_specs(body: Body) -> list[Body]:
    spec = body.get("spec") or {}
    if "leaderWorkerTemplate" in spec:
        templates = spec["leaderWorkerTemplate"]
        return [templates[name]["spec"] for name in ("workerTemplate", "leaderTemplate") if name in templates]
    return [spec["template"]["spec"]] if "template" in spec else []


def containers(body: Body) -> list[Body]:
    return [container for spec in pod_specs(body) for container in spec["containers"]]


# ---- changes of any object ----


def rename(body: Body, chance: Chance) -> None:
    body["metadata"]["name"] = chance.choice(NAMES)


def move(body: Body, chance: Chance) -> None:
    body["metadata"]["namespace"] = chance.choice(("adm-a", "adm-b", "adm-c"))


def label(body: Body, chance: Chance) -> None:
    labels = body["metadata"].setdefault("labels", {})
    labels[chance.choice(("team", "team", "owner", "legacy"))] = chance.choice(("a", "b", "c"))


def strip_labels(body: Body, chance: Chance) -> None:
    body["metadata"].pop("labels", None)


def annotate(body: Body, chance: Chance) -> None:
    annotations = body["metadata"].setdefault("annotations", {})
    annotations[chance.choice(("cost", "reason"))] = chance.choice(("50", "500", "many", ""))


def strip_annotations(body: Body, chance: Chance) -> None:
    body["metadata"].pop("annotations", None)


# ---- changes of some kinds ----


def count(body: Body, chance: Chance) -> None:
    body["spec"]["replicas"] = chance.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12))


def uncount(body: Body, chance: Chance) -> None:
    body["spec"].pop("replicas", None)


def take_image(body: Body, chance: Chance) -> None:
    for container in containers(body):
        container["image"] = chance.choice(IMAGES)
        container.pop("imagePullPolicy", None)


def limit(body: Body, chance: Chance) -> None:
    for container in containers(body):
        limits = {"cpu": chance.choice(AMOUNTS), "memory": chance.choice(MEMORY)}
        container["resources"] = {"limits": limits}
        if chance.random() < 0.4:
            container["resources"]["requests"] = {"cpu": "250m"} if chance.random() < 0.5 else dict(limits)


def unlimit(body: Body, chance: Chance) -> None:
    for container in containers(body):
        container.pop("resources", None)


def secure(body: Body, chance: Chance) -> None:
    for container in containers(body):
        context: Body = {}
        context["privileged"] = chance.choice((True, False))
        if chance.random() < 0.5:
            context["capabilities"] = {"add": chance.sample(("NET_BIND_SERVICE", "IPC_LOCK", "SYS_ADMIN"), 2)}
        container["securityContext"] = context


def secure_pod(body: Body, chance: Chance) -> None:
    for spec in pod_specs(body):
        spec["securityContext"] = {"runAsNonRoot": chance.choice((True, False))}
        spec["hostPID"] = chance.choice((True, False))


def mount_host(body: Body, chance: Chance) -> None:
    for spec in pod_specs(body):
        spec.setdefault("volumes", []).append(
            {"name": "host", "hostPath": {"path": chance.choice(("/data/a", "/etc"))}}
        )


def add_container(body: Body, chance: Chance) -> None:
    for spec in pod_specs(body):
        name = chance.choice(("istio-proxy", "istio-proxy", "sidecar", "x"))
        if all(container["name"] != name for container in spec["containers"]):
            container = {"name": name, "image": chance.choice(IMAGES), "args": ["--b", "--a", "z"]}
            spec["containers"].insert(chance.choice((0, len(spec["containers"]))), container)


def strategy(body: Body, chance: Chance) -> None:
    if body["kind"] == "Deployment":
        body["spec"]["strategy"] = chance.choice(({"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 1}}, {}))


def group(body: Body, chance: Chance) -> None:
    template = body["spec"]["leaderWorkerTemplate"]
    template["size"] = chance.choice((1, 2, 3, 4))
    if chance.random() < 0.5:
        template.pop("restartPolicy", None)
        body["spec"].pop("startupPolicy", None)


def job(body: Body, chance: Chance) -> None:
    spec = body["spec"]
    spec.update(chance.choice(({"parallelism": 3}, {"backoffLimit": 2}, {"suspend": True}, {"completions": 2}, {})))
    spec.setdefault("completionMode", chance.choice(("NonIndexed", "NonIndexed", "Indexed")))


def serve(body: Body, chance: Chance) -> None:
    spec = body["spec"]
    spec.pop("clusterIP", None)
    spec["type"] = chance.choice(("ClusterIP", "ClusterIP", "LoadBalancer", "NodePort"))
    spec["publishNotReadyAddresses"] = chance.choice((True, False))


def open_ports(body: Body, chance: Chance) -> None:
    ports = [
        {"name": f"p{i}", "port": chance.choice((22, 80, 443, 8080, 30000)) + i}
        for i in range(chance.choice((1, 2, 3)))
    ]
    for port in ports:
        port.update(chance.choice(({}, {"targetPort": "http"}, {"targetPort": 8080}, {"protocol": "UDP"})))
    body["spec"]["ports"] = ports


def affinity(body: Body, chance: Chance) -> None:
    body["spec"]["sessionAffinity"] = chance.choice(("ClientIP", "None"))


def configure(body: Body, chance: Chance) -> None:
    key = chance.choice([*SETTINGS])
    body["data"] = {**(body.get("data") or {}), key: chance.choice(SETTINGS[key])}


def configure_anew(body: Body, chance: Chance) -> None:
    body["data"] = {}
    for _ in range(chance.choice((0, 1, 2))):
        configure(body, chance)


def claim(body: Body, chance: Chance) -> None:
    body["spec"]["resources"] = {
        "requests": {"storage": chance.choice(("10Gi", "100Gi", "1Ti", "1.5Gi", "102400Mi", "100G"))}
    }
    body["spec"]["accessModes"] = [chance.choice(("ReadWriteOnce", "ReadWriteMany"))]


def scale(body: Body, chance: Chance) -> None:
    spec = body["spec"]
    spec["maxReplicas"] = chance.choice((3, 10, 20))
    spec.pop("minReplicas", None)
    behaviors = (None, {"scaleDown": {"stabilizationWindowSeconds": 60}}, {"scaleUp": {"selectPolicy": "Min"}})
    behavior = chance.choice(behaviors)
    spec.pop("behavior", None)
    if behavior:
        spec["behavior"] = behavior


def admit(body: Body, chance: Chance) -> None:
    block = chance.choice(("10.0.0.0/8", "0.0.0.0/0", "192.168.0.0/16"))
    body["spec"]["ingress"] = [{"from": [{"ipBlock": {"cidr": block}}]}]
    if chance.random() < 0.5:
        body["spec"].pop("policyTypes", None)


def write_secret(body: Body, chance: Chance) -> None:
    body.pop("data", None)
    body.pop("type", None)
    body["stringData"] = {"password": "x" * chance.choice((10, 300))}


CHANGES: tuple[Callable[[Body, Chance], None], ...] = (
    rename,
    move,
    label,
    label,
    strip_labels,
    annotate,
    strip_annotations,
)
OF_PODS = (take_image, limit, unlimit, secure, secure_pod, mount_host, add_container, add_container, take_image, limit)
OF_KINDS: dict[str, tuple[Callable[[Body, Chance], None], ...]] = {
    "Deployment": (*OF_PODS, count, count, uncount, strategy, count),
    "StatefulSet": (*OF_PODS, count, uncount),
    "LeaderWorkerSet": (*OF_PODS, count, group, group),
    "Job": (take_image, limit, secure, job, job),
    "Service": (serve, open_ports, open_ports, affinity),
    "ConfigMap": (configure, configure, configure_anew),
    "PersistentVolumeClaim": (claim,),
    "HorizontalPodAutoscaler": (scale,),
    "NetworkPolicy": (admit,),
    "Secret": (write_secret,),
}
