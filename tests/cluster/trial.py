"""One example in the cluster: applied, brought up, compared, scaled, compared again, removed."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.apiserver.server import Body, CannotJudge
from tests.cluster.control import Cluster
from tests.cluster.examples import Example, create_stand_ins, referred, shown, volumes

MODES = ("client", "structured", "server")  # of Argo CD's diff: tests/cluster/drift/main.go
BRINGING_UP = 60.0  # seconds, for what takes three
REMOVING = 120.0
DEFAULT = "default"  # the namespace that stays
WORKLOADS = ("LeaderWorkerSet", "Deployment")
# Groups on whose objects somebody acts here. Of others, those alone count that JUDGES have a question about.
ACTED = (
    "",
    "apps",
    "autoscaling",
    "batch",
    "disaggregatedset.x-k8s.io",
    "leaderworkerset.x-k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
)
SET_NAME, SET_ROLE = "disaggregatedset.x-k8s.io/name", "disaggregatedset.x-k8s.io/role"
QUEUE = "kueue.x-k8s.io/queue-name"
MANY_REPLICAS = 100  # where nobody says how many are too many
STEP = 2
HINTS = 4  # events that are told of what does not get up


class Difference(NamedTuple):
    """A field that is not in sync, or why an object could not be compared: then `path` is empty."""

    mode: str
    label: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"drift, {self.mode}: {self.label}: {self.path}{': ' if self.path else ''}{self.message}"


class Row(NamedTuple):
    """What came of an example: figures of the table, and everything that is wrong."""

    name: str
    figures: Mapping[str, str]
    faults: Sequence[str]


def trial(cluster: Cluster, drift: Path, example: Example) -> Row:
    """Whether an example holds. `drift`: the program. It is gone when this returns."""
    start = time.monotonic()
    bodies = [manifest.body for manifest in example.manifests]
    figures = {"objects": str(len(bodies))}
    faults: list[str] = []
    faults += prepare(cluster, bodies)
    for manifest in example.manifests:
        if message := cluster.applied(manifest.body, manifest.text).message:
            faults.append(f"{shown(manifest.body)}: not applied: {message}")
    if not faults:
        faults += about(cluster, drift, example, figures)
    faults += removed(cluster, bodies)
    figures["seconds"] = f"{time.monotonic() - start:.0f}"
    return Row(example.name, figures, faults)


def prepare(cluster: Cluster, bodies: Sequence[Body]) -> Iterator[str]:
    """Makes the namespaces, and what the example counts on; yields what the server refuses."""
    missing = referred(bodies)
    for name in namespaces(bodies):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        if name == DEFAULT:
            continue
        if message := cluster.applied(body).message:
            yield f"namespace {name}: {message}"
    for body in [*create_stand_ins(missing), *volumes(bodies)]:
        if message := cluster.applied(body).message:
            yield f"{shown(body)}, which is referred to: {message}"


def namespaces(bodies: Sequence[Body]) -> list[str]:
    """Those of the objects, and of what they refer to."""
    of = {body["metadata"].get("namespace", "") for body in bodies} | {
        reference.namespace for reference in referred(bodies)
    }
    return sorted(of - {""})


def about(cluster: Cluster, drift: Path, example: Example, figures: dict[str, str]) -> Iterator[str]:
    """What is wrong with an example that is applied. Fills in the figures."""
    bodies = [manifest.body for manifest in example.manifests]
    if faults := cluster.settled(lambda: list(down(cluster, bodies)), BRINGING_UP):
        yield from (f"after {BRINGING_UP:.0f} s: {fault}" for fault in [*faults, *warnings(cluster, bodies)])
        return
    figures.update(up(cluster, bodies))
    drifts = differences(drift, cluster.kubeconfig, example)
    figures["drift"] = counted(drifts)
    yield from map(str, drifts)

    scaled = {}
    for body in bodies:
        if body["kind"] in WORKLOADS:
            replicas = target(cluster.live(body)["spec"]["replicas"], scaler(body, bodies))
            if message := scale(cluster, body, replicas):
                yield f"{shown(body)}: not scaled: {message}"
            else:
                scaled[shown(body)] = replicas
    if faults := cluster.settled(lambda: [*unscaled(cluster, bodies, scaled), *down(cluster, bodies)], BRINGING_UP):
        yield from (f"{BRINGING_UP:.0f} s after scaling: {fault}" for fault in [*faults, *warnings(cluster, bodies)])
        return
    drifts = differences(drift, cluster.kubeconfig, example)
    surprises = [difference for difference in drifts if not is_intended(difference, bodies)]
    figures["scaled"] = counted(surprises)
    yield from (f"after scaling: {difference}" for difference in surprises)
    yield from unseen(drifts, bodies)


# ---- what is up ----


def down(cluster: Cluster, bodies: Sequence[Body]) -> Iterator[str]:
    """What does not do its work yet, each with its own word for it."""
    for body in bodies:
        live = cluster.live(body)
        judge = JUDGES.get(body["kind"])
        fault = "it is not there" if not live else judge(cluster, live) if judge else ""
        if fault:
            yield f"{shown(body)}: {fault}"


def condition(live: Body, name: str) -> Body:
    for entry in live.get("status", {}).get("conditions", ()):
        if entry["type"] == name:
            return dict(entry)
    return {"status": "unknown", "reason": ""}


def lws_down(cluster: Cluster, live: Body) -> str:
    ready, replicas = live.get("status", {}).get("readyReplicas", 0), live["spec"]["replicas"]
    fine = condition(live, "Available")["status"] == "True" and ready == replicas
    return "" if fine else f"not Available: {ready} of {replicas} replicas are ready"


def set_down(cluster: Cluster, live: Body) -> str:
    """Each role must have one LeaderWorkerSet, with its replicas, and Available: 0.9 writes no status on the set."""
    metadata, roles = live["metadata"], {role["name"]: role["spec"]["replicas"] for role in live["spec"]["roles"]}
    parts = cluster.listed(
        f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{metadata['namespace']}/leaderworkersets",
        labelSelector=f"{SET_NAME}={metadata['name']}",
    )
    set_by_role = {part["metadata"]["labels"][SET_ROLE]: part for part in parts}
    if len(parts) != len(roles) or set_by_role.keys() != roles.keys():
        names = sorted(part["metadata"]["name"] for part in parts)
        return f"its LeaderWorkerSets are {', '.join(names) or 'not there'}"
    for role, replicas in roles.items():
        if set_by_role[role]["spec"]["replicas"] != replicas:
            return f"role {role}: {set_by_role[role]['spec']['replicas']} replicas, not {replicas}"
        if fault := lws_down(cluster, set_by_role[role]):
            return f"role {role}: {fault}"
    return ""


def deployment_down(cluster: Cluster, live: Body) -> str:
    status, replicas = live.get("status", {}), live["spec"]["replicas"]
    ready = status.get("availableReplicas", 0)
    fine = status.get("observedGeneration") == live["metadata"]["generation"] and ready == replicas
    return "" if fine else f"not available: {ready} of {replicas} replicas"


def job_down(cluster: Cluster, live: Body) -> str:
    status = live.get("status", {})
    complete = condition(live, "Complete")["status"] == "True"
    return "" if complete else f"not complete: {status.get('active', 0)} pods run, {status.get('failed', 0)} failed"


def claim_down(cluster: Cluster, live: Body) -> str:
    phase = live.get("status", {}).get("phase")
    return "" if phase == "Bound" else f"it is {phase}, not Bound"


def service_down(cluster: Cluster, live: Body) -> str:
    """Every port must lead to a ready address."""
    metadata = live["metadata"]
    slices = cluster.listed(
        f"/apis/discovery.k8s.io/v1/namespaces/{metadata['namespace']}/endpointslices",
        labelSelector=f"kubernetes.io/service-name={metadata['name']}",
    )
    open_ = {
        port.get("name", "")
        for endpoint_slice in slices
        if any(endpoint.get("conditions", {}).get("ready") for endpoint in endpoint_slice.get("endpoints") or ())
        for port in endpoint_slice.get("ports") or ()
        if port.get("port")
    }
    closed = [str(port["port"]) for port in live["spec"]["ports"] if port.get("name", "") not in open_]
    return f"no endpoint is ready behind port {', '.join(closed)}" if closed else ""


def hpa_down(cluster: Cluster, live: Body) -> str:
    """It must read the scale of its target. Without a metrics API it cannot get further than asking for metrics."""
    metadata, spec, status = live["metadata"], live["spec"], live.get("status", {})
    reference = spec["scaleTargetRef"]
    where = {"name": reference["name"], "namespace": metadata["namespace"]}
    replicas = cluster.live({**reference, "metadata": where}).get("spec", {}).get("replicas")
    able, active = condition(live, "AbleToScale"), condition(live, "ScalingActive")
    if able["status"] != "True":
        return f"AbleToScale is {able['status']} {able['reason']} {able.get('message', '')}".strip()
    metrics = active["reason"].startswith("FailedGet") and active["reason"].endswith("Metric")
    if active["status"] != "True" and not metrics:
        return f"ScalingActive is {active['status']} {active['reason']} {active.get('message', '')}".strip()
    if status.get("currentReplicas") != replicas:
        return f"it sees {status.get('currentReplicas')} replicas of {replicas}"
    if not spec.get("minReplicas", 1) <= replicas <= spec["maxReplicas"]:
        return f"it leaves {replicas} replicas, which is not between its bounds"
    return ""


def pdb_down(cluster: Cluster, live: Body) -> str:
    status = live.get("status", {})
    healthy, expected = status.get("currentHealthy", 0), status.get("expectedPods", 0)
    return "" if expected and healthy == expected else f"it protects {expected} pods, {healthy} of them healthy"


def pool_down(cluster: Cluster, live: Body) -> str:
    labels = live["spec"]["selector"]["matchLabels"]
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    pods = cluster.listed(f"/api/v1/namespaces/{live['metadata']['namespace']}/pods", labelSelector=selector)
    return "" if any(condition(pod, "Ready")["status"] == "True" for pod in pods) else "it selects no pod that is Ready"


JUDGES = {
    "LeaderWorkerSet": lws_down,
    "DisaggregatedSet": set_down,
    "Deployment": deployment_down,
    "Job": job_down,
    "PersistentVolumeClaim": claim_down,
    "Service": service_down,
    "HorizontalPodAutoscaler": hpa_down,
    "PodDisruptionBudget": pdb_down,
    "InferencePool": pool_down,
}


def up(cluster: Cluster, bodies: Sequence[Body]) -> dict[str, str]:
    """How many of each kind are up, when none is down; and how many pods."""
    kinds = Counter(body["kind"] for body in bodies)
    running = [pod for name in namespaces(bodies) for pod in cluster.listed(f"/api/v1/namespaces/{name}/pods")]
    return {"pods": str(len(running)), **{kind: str(kinds[kind]) for kind in JUDGES if kinds[kind]}}


def inactive(bodies: Sequence[Body]) -> set[str]:
    """The kinds that are only applied here, and what in others has no effect."""
    kinds = {
        body["kind"]
        for body in bodies
        if body["apiVersion"].rpartition("/")[0] not in ACTED and body["kind"] not in JUDGES
    }
    queued = {f"{body['kind']}'s label {QUEUE}" for body in bodies if QUEUE in body["metadata"].get("labels", {})}
    return kinds | queued


def warnings(cluster: Cluster, bodies: Sequence[Body]) -> list[str]:
    """Events that may say why."""
    messages: dict[str, None] = {}
    for name in namespaces(bodies):
        for event in cluster.listed(f"/api/v1/namespaces/{name}/events", fieldSelector="type=Warning"):
            if "metric" not in event.get("message", ""):  # nobody serves any here
                of = event["involvedObject"]
                messages[f"{of['kind']} {of['namespace']}/{of['name']}: {event['reason']}: {event.get('message')}"] = (
                    None
                )
    return list(messages)[:HINTS]


# ---- scaling ----


def scaler(body: Body, bodies: Sequence[Body]) -> Body:
    """The spec of the autoscaler of a workload, empty when it has none."""
    target_key = (body["metadata"].get("namespace"), body["kind"], body["metadata"]["name"])
    for candidate in bodies:
        reference = candidate.get("spec", {}).get("scaleTargetRef", {})
        if (candidate["metadata"].get("namespace"), reference.get("kind"), reference.get("name")) == target_key:
            return dict(candidate["spec"])
    return {}


def target(replicas: int, spec: Body) -> int:
    """Another number of replicas, as its autoscaler could want it: some more, or when these are the most, the least."""
    bounds = {"minReplicas": 1, "maxReplicas": MANY_REPLICAS, **spec}
    least, most = (
        int(spec.get("minReplicaCount", bounds["minReplicas"])),
        int(spec.get("maxReplicaCount", bounds["maxReplicas"])),
    )
    return min(most, replicas + STEP) if most > replicas else max(1, least)  # of none no Service has endpoints


def scale(cluster: Cluster, body: Body, replicas: int) -> str:
    """Through the scale subresource, as an autoscaler does. The server's words when it refuses."""
    path = f"{cluster.path(body)}/scale"
    answer = cluster.client("GET", path)
    if answer.message:
        return answer.message
    if not answer.body.get("status", {}).get("selector"):
        return "its scale has no selector, by which an autoscaler finds the pods"
    sent = {**answer.body, "spec": {"replicas": replicas}}
    return cluster.client("PUT", path, json.dumps(sent), fieldManager="autoscaler").message


def unscaled(cluster: Cluster, bodies: Sequence[Body], scaled: Mapping[str, int]) -> Iterator[str]:
    for body in bodies:
        if (expected := scaled.get(shown(body))) is not None:
            replicas = cluster.live(body).get("spec", {}).get("replicas")
            if replicas != expected:
                yield f"{shown(body)}: {replicas} replicas, though it was scaled to {expected}"


# ---- drift ----


def differences(drift: Path, kubeconfig: Path, example: Example) -> list[Difference]:
    """What Argo CD would call OutOfSync, in every mode."""
    with tempfile.TemporaryDirectory(prefix="llmaz-drift-") as folder:
        for number, manifest in enumerate(example.manifests):
            Path(folder, f"{number:04}.yaml").write_text(manifest.text, "utf-8")
        run = subprocess.run(
            [drift, folder, *MODES], capture_output=True, text=True, check=False, env={"KUBECONFIG": str(kubeconfig)}
        )
    if run.returncode:
        raise CannotJudge(f"drift: {run.stderr.strip()}")
    findings = [json.loads(line) for line in run.stdout.splitlines()]
    if len(findings) != len(example.manifests) * len(MODES):
        raise CannotJudge(f"drift compared {len(findings)} times, not {len(example.manifests)} objects in each mode")
    return [difference for finding in findings for difference in parse_differences(finding)]


def parse_differences(finding: Mapping[str, Any]) -> Iterator[Difference]:
    """The differences of a line of the program."""
    metadata = {"namespace": finding["namespace"], "name": finding["name"]}
    label = shown({"kind": finding["kind"], "metadata": metadata})
    if finding["error"]:
        yield Difference(finding["mode"], label, "", finding["error"])
    for field in finding["fields"] or ():
        live, git = (json.dumps(field[side]) for side in ("live", "git"))
        yield Difference(finding["mode"], label, field["path"], f"live {live}, Git gives {git}")


def counted(drifts: Sequence[Difference]) -> str:
    """How many by mode, as the table has it."""
    return "/".join(str(sum(difference.mode == mode for difference in drifts)) for mode in MODES)


def owned(bodies: Sequence[Body]) -> list[str]:
    """The workloads whose replicas Git says: scaling them is drift, and must be seen."""
    return [shown(body) for body in bodies if body["kind"] in WORKLOADS and "replicas" in body["spec"]]


def is_intended(difference: Difference, bodies: Sequence[Body]) -> bool:
    return difference.path == "spec.replicas" and difference.label in owned(bodies)


def unseen(drifts: Sequence[Difference], bodies: Sequence[Body]) -> Iterator[str]:
    """A diff that does not see what is different says nothing about the rest."""
    for label in owned(bodies):
        for mode in MODES:
            if (mode, label, "spec.replicas") not in [difference[:3] for difference in drifts]:
                yield f"after scaling: {label}: drift, {mode}, does not see that spec.replicas is not what Git says"


# ---- cleaning up ----


def removed(cluster: Cluster, bodies: Sequence[Body]) -> list[str]:
    """Deletes the example and its namespaces; what is still there when patience is over.

    Owners of pods go first: a namespace that still has pods waits for as long as they may take to end. What is not
    deleted with a namespace is deleted one by one, and the claims that a workload leaves behind with it.
    """
    spaces = namespaces(bodies)
    owning = (*WORKLOADS, "DisaggregatedSet", "Job", "HorizontalPodAutoscaler")
    owners = [body for body in bodies if body["kind"] in owning]
    everything = [*bodies, *create_stand_ins(referred(bodies)), *volumes(bodies)]
    alone = [body for body in everything if stays(body) or not in_namespace(cluster, body)]
    for body in [*owners, *alone]:
        cluster.client("DELETE", cluster.path(body), propagationPolicy="Background")
    if DEFAULT in spaces:
        cluster.client("DELETE", f"/api/v1/namespaces/{DEFAULT}/persistentvolumeclaims")
    left = cluster.settled(
        lambda: [shown(pod) for name in spaces for pod in pods_of(cluster, name)],
        REMOVING,
    )
    for name in spaces:
        if name != DEFAULT:
            cluster.client("DELETE", f"/api/v1/namespaces/{name}")
    left += cluster.settled(
        lambda: [
            *(f"namespace {name}" for name in spaces if name != DEFAULT and there(cluster, name)),
            *(shown(body) for body in alone if cluster.live(body)),
        ],
        REMOVING,
    )
    return [f"not removed after {REMOVING:.0f} s: {leftover}" for leftover in left]


def pods_of(cluster: Cluster, namespace: str) -> list[Body]:
    return [{**pod, "kind": "Pod"} for pod in cluster.listed(f"/api/v1/namespaces/{namespace}/pods")]


def there(cluster: Cluster, namespace: str) -> bool:
    return cluster.client("GET", f"/api/v1/namespaces/{namespace}").status != 404


def stays(body: Body) -> bool:
    """Whether it is in the namespace that is never deleted."""
    return bool(body["metadata"].get("namespace", DEFAULT) == DEFAULT)


def in_namespace(cluster: Cluster, body: Body) -> bool:
    resource = cluster.client.resource(body["apiVersion"], body["kind"])
    return resource is None or resource.namespaced
