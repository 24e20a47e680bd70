"""How the work of each command grows with the lists that have no bound: of pods, Services, routes and dumps.

Each row is a list and a command. The user CPU of a run with 1,000, 2,000 and 4,000 items, less that of a run without
any, is measured in this process. Where 4,000 take more than SECONDS, all is measured twice more and the least counts;
the row fails where the time then grows faster than the power EXPONENT of the length.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click
import yaml
from yaml import CSafeDumper

from tests.hostile import cutovers, manifests
from tests.hostile.policies import CONFIG, MODEL, PLAYGROUND, POLICY
from tests.hostile.running import TooLong, leash, run

Node: TypeAlias = Any
Change: TypeAlias = Callable[[Node, int, str], None]  # of an object, by so many items, with this beginning of names
COUNTS = (1_000, 2_000, 4_000)
SECONDS = 1.0
EXPONENT = 1.3
LONGEST = 120.0  # seconds of a run
ADMISSION = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}]
  validations: [{expression: "object.metadata.name != 'x'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: names}
spec: {policyName: names, validationActions: [Deny]}
"""


# ---- lists of pods: of the spec of a pod, whose first container is `server` ----


def _of_pod(key: str, item: Callable[[str], Node]) -> Change:
    """Items of a list of a pod."""

    def change(pod: Node, count: int, start: str) -> None:
        pod[key] = [*pod.get(key, ()), *(item(f"{start}{i}") for i in range(count))]

    return change


def _of_container(key: str, item: Callable[[str], Node]) -> Change:
    """Items of a list of the first container."""

    def change(pod: Node, count: int, start: str) -> None:
        _of_pod(key, item)(pod["containers"][0], count, start)

    return change


def _map(*path: str | int) -> Change:
    """Keys of a map of a pod."""

    def change(pod: Node, count: int, start: str) -> None:
        for part in path:
            pod = pod[part] if isinstance(part, int) else pod.setdefault(part, {})
        pod.update({f"example.com/{start}{i}": "1" for i in range(count)})

    return change


def _mounted(volume: Callable[[str], Node]) -> Change:
    """Volumes, each of them mounted once."""

    def change(pod: Node, count: int, start: str) -> None:
        _of_pod("volumes", volume)(pod, count, start)
        mount = _of_container("volumeMounts", lambda name: {"name": name, "mountPath": f"/m/{name.lstrip('ab')}"})
        mount(pod, count, start)

    return change


def _container(name: str) -> Node:
    return {"name": name, "image": "example.com/x:1", "command": ["x"]}


def _empty(name: str) -> Node:
    return {"name": name, "emptyDir": {}}


def _port(name: str) -> Node:
    return {"name": name, "containerPort": 10_000 + int(name[1:])}


def _variable(name: str) -> Node:
    return {"name": name.upper(), "value": f"$({name[0].upper()}{int(name[1:]) + 1})"}


def _secret_variable(name: str) -> Node:
    return {"name": name.upper(), "valueFrom": {"secretKeyRef": {"name": name, "key": "a"}}}


def _alias(name: str) -> Node:
    number = int(name[1:])
    return {"ip": f"10.{ord(name[0])}.{number // 250}.{number % 250}", "hostnames": [f"{name}.example.com"]}


def _spread(name: str) -> Node:
    return {"maxSkew": 1, "topologyKey": f"example.com/{name}", "whenUnsatisfiable": "DoNotSchedule"}


def _term(pod: Node, count: int, start: str) -> None:
    terms = [
        {"matchExpressions": [{"key": f"{start}{i}", "operator": "In", "values": ["a"]}]} for i in range(count)
    ] or [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
    node = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod["affinity"] = {"nodeAffinity": node}


POD_LISTS: Mapping[str, Change] = {
    "containers": _of_pod("containers", _container),
    "initContainers": _of_pod("initContainers", _container),
    "volumes": _of_pod("volumes", _empty),
    "mounted volumes": _mounted(_empty),
    "mounted claims": _mounted(lambda name: {"name": name, "persistentVolumeClaim": {"claimName": name}}),
    "mounted ConfigMaps": _mounted(lambda name: {"name": name, "configMap": {"name": name}}),
    "mounted folders": _mounted(lambda name: {"name": name, "hostPath": {"path": f"/data/models/{name}"}}),
    "tolerations": _of_pod("tolerations", lambda name: {"key": name, "operator": "Exists"}),
    "hostAliases": _of_pod("hostAliases", _alias),
    "imagePullSecrets": _of_pod("imagePullSecrets", lambda name: {"name": name}),
    "topologySpreadConstraints": _of_pod("topologySpreadConstraints", _spread),
    "resourceClaims": _of_pod("resourceClaims", lambda name: {"name": name, "resourceClaimName": name}),
    "readinessGates": _of_pod("readinessGates", lambda name: {"conditionType": f"example.com/{name}"}),
    "terms of nodes": _term,
    "nodeSelector": _map("nodeSelector"),
    "env": _of_container("env", _variable),
    "env of Secrets": _of_container("env", _secret_variable),
    "envFrom": _of_container("envFrom", lambda name: {"configMapRef": {"name": name}}),
    "args": _of_container("args", lambda name: f"--{name}={name}"),
    "words of args": _of_container("args", lambda name: name),
    "secrets in args": _of_container("args", lambda name: f"--x-{name}=https://{name}:password@host"),
    "ports": _of_container("ports", _port),
    "limits": _map("containers", 0, "resources", "limits"),
    "capabilities": lambda pod, count, start: pod["containers"][0].update(
        securityContext={"capabilities": {"add": [f"{start}{i}".upper() for i in range(count)]}}
    ),
}


# Of which a Playground may not have any: for `diff --live` the dump alone has them.
REFUSED_OF_OURS = frozenset({"args", "words of args", "secrets in args", "ports", "resourceClaims"})


# ---- lists of other objects ----


def _of_spec(key: str, item: Callable[[str], Node]) -> Change:
    def change(body: Node, count: int, start: str) -> None:
        _of_pod(key, item)(body["spec"], count, start)

    return change


def _of_rule(key: str, item: Callable[[str], Node]) -> Change:
    def change(body: Node, count: int, start: str) -> None:
        _of_pod(key, item)(body["spec"]["rules"][0], count, start)

    return change


def _in_object(*path: str) -> Change:
    return _map(*path)


def _service_port(name: str) -> Node:
    return {"name": name, "port": 10_000 + int(name[1:]), "targetPort": name}


def _rule(name: str) -> Node:
    match = {"path": {"type": "PathPrefix", "value": f"/{name}"}}
    return {"matches": [match], "backendRefs": [{"name": "chat", "port": 80}]}


SERVICE_LISTS: Mapping[str, Change] = {
    "ports of a Service": _of_spec("ports", _service_port),
    "selector of a Service": _in_object("spec", "selector"),
    "externalIPs": _of_spec("externalIPs", lambda name: f"10.1.{int(name[1:]) // 250}.{int(name[1:]) % 250}"),
    "source ranges": _of_spec("loadBalancerSourceRanges", lambda name: f"10.{int(name[1:]) // 250}.0.0/16"),
    "annotations": _in_object("metadata", "annotations"),
    "labels": _in_object("metadata", "labels"),
    "owners": lambda body, count, start: body["metadata"].update(
        ownerReferences=[{"apiVersion": "a/v1", "kind": "A", "name": f"{start}{i}", "uid": "u"} for i in range(count)]
    ),
}
ROUTE_LISTS: Mapping[str, Change] = {
    "rules": _of_spec("rules", _rule),
    "matches": _of_rule("matches", lambda name: {"path": {"type": "Exact", "value": f"/{name}"}}),
    "backendRefs": _of_rule("backendRefs", lambda name: {"name": name, "port": 80}),
    "filters": _of_rule(
        "filters",
        lambda name: {
            "type": "RequestHeaderModifier",
            "requestHeaderModifier": {"set": [{"name": name, "value": "a"}]},
        },
    ),
    "hostnames": _of_spec("hostnames", lambda name: f"{name}.example.com"),
    "parentRefs": _of_spec("parentRefs", lambda name: {"name": name}),
}


def _model_server(name: str = "chat") -> Node:
    """A Deployment that runs an engine."""
    body = manifests.workload("Deployment", name, "team-a")
    manifests.pod_of(body)["containers"] = [
        {
            "name": "server",
            "image": "ghcr.io/ggml-org/llama.cpp:server-b11434",
            "args": ["-hf", "Qwen/Qwen3-0.6B-GGUF", "-hff", "Qwen3-0.6B-Q8_0.gguf", "--port", "8080"],
            "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"limits": {"cpu": "1"}},
        }
    ]
    return body


def _service(name: str = "chat") -> Node:
    spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "team-a"}, "spec": spec}


def _route(name: str = "chat") -> Node:
    metadata = {"name": name, "namespace": "team-a"}
    spec = {"parentRefs": [{"name": "gateway"}], "rules": [{"backendRefs": [{"name": name, "port": 80}]}]}
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": metadata, "spec": spec}


def _scaler(name: str = "chat") -> Node:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    body = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 2}}
    body["spec"]["scaleTargetRef"] = target  # type: ignore[index]
    return {**body, "metadata": {"name": name, "namespace": "team-a"}}


def _map_object(name: str = "chat") -> Node:
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}


def _pod_object(name: str = "chat") -> Node:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "chat", "uid": "u", "controller": True}
    body = manifests.workload("Pod", name, "team-a")
    body["metadata"]["ownerReferences"] = [owner]
    return body


def _disruption_budget(name: str = "chat") -> Node:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "chat"}}}
    body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": spec}
    return {**body, "metadata": {"name": name, "namespace": "team-a"}}


OBJECTS: Mapping[str, Callable[[str], Node]] = {
    "model servers": _model_server,
    "Deployments": partial(manifests.workload, "Deployment", namespace="team-a"),
    "Services": _service,
    "Services of one pod": lambda name: {**_service("chat"), "metadata": {"name": name, "namespace": "team-a"}},
    "HTTPRoutes": _route,
    "HTTPRoutes of one Service": lambda name: {**_route("chat"), "metadata": {"name": name, "namespace": "team-a"}},
    "autoscalers": _scaler,
    "ConfigMaps": _map_object,
    "Pods": _pod_object,
    "PodDisruptionBudgets": _disruption_budget,
    "the same object": lambda name: _service("chat"),
}


# ---- commands ----


class Row(NamedTuple):
    """A list and a command. `write` makes the input with so many items in a folder."""

    name: str
    command: tuple[str, ...]
    write: Callable[[Path, int], None]


def _dumped(*bodies: Node) -> str:
    text: str = yaml.dump_all(bodies, Dumper=CSafeDumper, sort_keys=False)
    return text


def _bodies(change: Change, place: str, count: int, start: str = "a") -> list[Node]:
    """A model server with a Service and a route, one of which has the list."""
    server, service, route = _model_server(), _service(), _route()
    target = {"pod": manifests.pod_of(server), "Service": service, "route": route}[place]
    change(target, count, start)
    return [server, service, route]


def _objects(kind: str, count: int) -> list[Node]:
    return [_model_server(), _service(), *(OBJECTS[kind](f"chat-{i}") for i in range(count))]


def _playground(change: Change | None, count: int, start: str) -> Node:
    """A Playground whose pod has the list."""
    body = copy.deepcopy(PLAYGROUND)
    pod: Node = {"containers": [{"name": "model-runner"}]}
    if change:
        change(pod, count, start)
    if body["spec"].get("podTemplate") or change:
        body["spec"]["podTemplate"] = {"spec": pod}
    return body


def _write_tree(folder: Path, change: Change | None, count: int, start: str) -> None:
    manifests.put(folder, "tree/models.yaml", MODEL)
    manifests.put(folder, "tree/chat.yaml", _dumped(_playground(change, count, start)))


def _write_policy_tree(folder: Path, bodies: Sequence[Node]) -> None:
    manifests.put(folder, "llmaz.yaml", CONFIG)
    kinds = "kinds: ['*', '*/*']"
    policy = POLICY.replace(POLICY[POLICY.index("kinds: [") : POLICY.index("]\n", POLICY.index("kinds: [")) + 1], kinds)
    manifests.put(folder, "llmaz-policy.yaml", f"{policy}  admission: [admission/*.yaml]\n")
    manifests.put(folder, "admission/names.yaml", ADMISSION)
    manifests.put(folder, "platform/models.yaml", MODEL)
    manifests.put(folder, "teams/a/chat.yaml", _dumped(PLAYGROUND))
    manifests.put(folder, "extra/all.yaml", _dumped(*bodies))


def _write_dump(make: Callable[[int], Sequence[Node]], folder: Path, count: int) -> None:
    manifests.put(folder, "dump.yaml", _dumped(*make(count)))


def _write_live(change: Change | None, make: Callable[[int], Sequence[Node]], folder: Path, count: int) -> None:
    """A dump, and a tree whose pod has a list of other names where there is a list."""
    _write_dump(make, folder, count)
    _write_tree(folder, change, count, "b")


def _write_policy(make: Callable[[int], Sequence[Node]], folder: Path, count: int) -> None:
    _write_policy_tree(folder, make(count))


def _write_playground(change: Change, folder: Path, count: int) -> None:
    _write_tree(folder, change, count, "a")


def _write_commits(change: Change, folder: Path, count: int) -> None:
    """Two commits, in which all items have other names."""
    for start in "ab":
        _write_tree(folder, change, count, start)
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "--allow-empty", "-m", start]):
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@cache
def _cluster() -> Sequence[Node]:
    return [body for bodies in cutovers.dump().values() for body in bodies]


def _cluster_with(change: Change, count: int) -> list[Node]:
    """The dump of a cluster in which the pod of a model has the list."""
    bodies = copy.deepcopy([*_cluster()])
    [body] = [
        body for body in bodies if body["kind"] == "LeaderWorkerSet" and body["metadata"]["name"] == "qwen-elastic"
    ]
    change(manifests.pod_of(body), count, "a")
    return bodies


def _models_of_cluster(kind: str, count: int) -> list[Node]:
    """The dump of a cluster with so many of the operator's objects of a kind."""
    bodies = [*_cluster()]
    one = next(body for body in bodies if body["kind"] == kind)
    return [*bodies, *({**one, "metadata": {**one["metadata"], "name": f"m{i}"}} for i in range(count))]


def _write_cutover(make: Callable[[int], Sequence[Node]], folder: Path, count: int) -> None:
    _write_dump(make, folder, count)
    manifests.copy_inputs(cutovers.CASE / "tree", folder / "tree")


COMMANDS: Mapping[str, tuple[str, ...]] = {
    "render": ("render", "--stdout", "tree"),
    "diff": ("diff", "HEAD~1"),
    "check": ("check", "dump.yaml"),
    "validate, with policies": ("validate",),
    "adopt": ("adopt", "dump.yaml", "-o", "adopted"),
    "diff --live": ("diff", "--live", "dump.yaml", "--", "tree"),
    "cutover": ("cutover", "dump.yaml", "--", "tree"),
}


def rows() -> Iterator[Row]:
    """Each list with each command that reads it."""
    for name, change in POD_LISTS.items():
        yield _row(name, "render", partial(_write_playground, change))
        yield _row(name, "diff", partial(_write_commits, change))
        yield from _of_dumps(name, partial(_bodies, change, "pod"), None if name in REFUSED_OF_OURS else change)
        yield _row(name, "cutover", partial(_write_cutover, partial(_cluster_with, change)))
    for name, change in SERVICE_LISTS.items():
        yield from _of_dumps(name, partial(_bodies, change, "Service"))
    for name, change in ROUTE_LISTS.items():
        yield from _of_dumps(f"{name} of a route", partial(_bodies, change, "route"))
    for kind in OBJECTS:
        yield from _of_dumps(kind, partial(_objects, kind))
    for kind in sorted({body["kind"] for body in _cluster()}):
        yield _row(f"objects: {kind}", "cutover", partial(_write_cutover, partial(_models_of_cluster, kind)))


def _of_dumps(name: str, make: Callable[[int], Sequence[Node]], change: Change | None = None) -> Iterator[Row]:
    yield _row(name, "check", partial(_write_dump, make))
    yield _row(name, "validate, with policies", partial(_write_policy, make))
    yield _row(name, "adopt", partial(_write_dump, make))
    yield _row(name, "diff --live", partial(_write_live, change, make))


def _row(name: str, command: str, write: Callable[[Path, int], None]) -> Row:
    return Row(f"{command}: {name}", COMMANDS[command], write)


# ---- measuring ----


class Growth(NamedTuple):
    """The user CPU of a row at each length, in seconds, and of no item."""

    row: Row
    seconds: Sequence[float]
    status: object  # the last exit status
    text: str  # the end of what the last run printed

    @property
    def exponent(self) -> float:
        """The power of the length by which the time grows between the two longest lists."""
        return math.log2(max(self.seconds[-1], 1e-3) / max(self.seconds[-2], 1e-3))

    @property
    def fails(self) -> bool:
        """Whether it takes long, and grows faster than the length."""
        return self.seconds[-1] > SECONDS and self.exponent > EXPONENT


@contextlib.contextmanager
def _inside(row: Row, count: int) -> Iterator[None]:
    """A folder with the input, as the current one."""
    origin = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        row.write(Path(name), count)
        os.chdir(name)
        try:
            yield
        finally:
            os.chdir(origin)


def _once(row: Row, count: int) -> tuple[float, object, str]:
    with _inside(row, count):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        try:
            with leash(LONGEST):
                status, text = run(row.command)
        except TooLong:
            status, text = "too long", ""
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before, status, text[-300:]


def measure(row: Row) -> Growth:
    """The growth of a row."""
    empty = min(_once(row, 0)[0] for _ in range(3))
    runs = [_once(row, count) for count in COUNTS]
    seconds = [run_[0] for run_ in runs]
    growth = Growth(row, [time - empty for time in seconds], *runs[-1][1:])
    if growth.fails and growth.status != "too long":
        for _ in range(2):
            seconds = [min(time, _once(row, count)[0]) for time, count in zip(seconds, COUNTS, strict=True)]
        growth = growth._replace(seconds=[time - empty for time in seconds])
    return growth


def measure_all(words: str = "") -> int:
    """Measures and prints each row whose name has these words; 1 where one fails."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    failed = 0
    chosen = [row for row in rows() if words in row.name]
    for row in chosen:
        growth = measure(row)
        failed += growth.fails or growth.status not in (0, 1, 2)
        if growth.fails or growth.seconds[-1] > SECONDS or words or growth.status not in (0, 1, 2):
            figures = " ".join(f"{time:7.2f}" for time in growth.seconds)
            verdict = "FAILS " if growth.fails else "slow  " if growth.seconds[-1] > SECONDS else ""
            click.echo(f"{verdict}{row.name:60} {figures} s, exponent {growth.exponent:.2f}, exit {growth.status}")
            if words and growth.status not in (0, 1):
                click.echo(f"    {growth.text!a}")
    click.echo(f"growth: {len(chosen)} rows at {', '.join(f'{count:,}' for count in COUNTS)}, {failed} fail")
    return 1 if failed else 0


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.growth", description=__doc__)
    parser.add_argument("words", nargs="?", default="", help="only rows whose name has these words")
    return measure_all(parser.parse_args().words)


if __name__ == "__main__":
    sys.exit(main())
