"""Runs what `llmaz cutover` prints for workloads of others in a small cluster: `python -m tests.cluster cutover`.

    beside          a Deployment, a StatefulSet, and what KServe made of an LLMInferenceService, each taken over by
                    another name
    the same name   a Deployment, taken over by its own
    without order   the Services moved before the new pods are ready, the old pods deleted before the Services are
                    moved, and a Deployment of the same name without its selector: each as docs/migrating.md says

A pod takes a minute until it is ready, and some seconds until it is gone. Each namespace has a node of its own, with as
many accelerators as run and are announced, and no more. kubectl watches the EndpointSlices of the Services that
clients know: no event leaves one without an endpoint that is ready.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.apiserver.server import Body, CannotJudge
from tests.cluster import operated
from tests.cluster.control import MANAGER, Cluster, standing
from tests.cluster.cutover import Claims, Site, define, make_programs, steps_of
from tests.cluster.examples import Sort, node
from tests.cluster.operated import APPLICATION, ARGO, Kind, StandIns

START, END = 60, 5  # seconds until a pod is ready, and until one is gone
PATIENCE = 4.0 * START
GPU, POOL = "nvidia.com/gpu", "pool"
REPLICAS = 2
INFERENCE = Kind("serving.kserve.io/v1alpha2", "LLMInferenceService", "llminferenceservices")
OWNER = {"apiVersion": INFERENCE.version, "kind": INFERENCE.name}
KSERVE = "kserve"  # the field manager of its controller
BESIDE = ("deployment", "statefulset", "kserve")
SAME = "same-name"
SERVICE_FIRST, DELETED_FIRST, UNSELECTED = "service-first", "deleted-first", "without-selector"
ANNOUNCED = re.compile(r"(\d+) pods? with (\d+) nvidia\.com/gpu more")
STAGES = f"""\
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {{name: pod-loads}}
spec:
  resourceRef: {{apiGroup: v1, kind: Pod}}
  selector:
    matchExpressions:
      - {{key: .metadata.deletionTimestamp, operator: DoesNotExist}}
      - {{key: .status.podIP, operator: DoesNotExist}}
  next:
    statusTemplate: |
      phase: Running
      hostIP: {{{{ NodeIPWith .spec.nodeName | Quote }}}}
      podIP: {{{{ PodIPWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace | Quote }}}}
      startTime: {{{{ Now | Quote }}}}
      conditions:
        - {{type: Initialized, status: "True"}}
        - {{type: ContainersReady, status: "False"}}
        - {{type: Ready, status: "False"}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {{name: pod-is-ready}}
spec:
  resourceRef: {{apiGroup: v1, kind: Pod}}
  selector:
    matchExpressions:
      - {{key: .metadata.deletionTimestamp, operator: DoesNotExist}}
      - {{key: .status.podIP, operator: Exists}}
      - {{key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: In, values: ["False"]}}
  delay: {{durationMilliseconds: {START * 1000}}}
  next:
    statusTemplate: |
      conditions:
        - {{type: Initialized, status: "True"}}
        - {{type: ContainersReady, status: "True"}}
        - {{type: Ready, status: "True"}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {{name: pod-ends}}
spec:
  resourceRef: {{apiGroup: v1, kind: Pod}}
  selector:
    matchExpressions:
      - {{key: .metadata.deletionTimestamp, operator: Exists}}
  delay: {{durationMilliseconds: {END * 1000}}}
  next:
    finalizers: {{empty: true}}
    delete: true
"""


class Controllers(StandIns):
    """Argo CD, and KServe's controller: it makes the Deployment and the Service of each LLMInferenceService anew."""

    inferences: Sequence[tuple[Body, Sequence[Body]]] = ()  # what it makes of which

    def _operate(self) -> None:
        for owner, bodies in self.inferences:
            live = self.cluster.live(owner)
            if live and "deletionTimestamp" not in live["metadata"]:
                for body in bodies:
                    operated.apply(self.cluster, operated.owned(body, live), KSERVE)


class Watch(NamedTuple):
    """kubectl, which writes down each event about objects of a kind in a namespace."""

    process: subprocess.Popen[bytes]
    log: Path


class Endpoints(NamedTuple):
    """What stood in the EndpointSlices of a Service after an event."""

    ready: int
    ending: int  # whose pods are about to end


# ---- what runs ----


def workload(namespace: str, kind: str, *, name: str = "chat", labels: Mapping[str, str] | None = None) -> Body:
    """A workload of two replicas with an accelerator each, on the node of its namespace."""
    labels = labels or {"app": name}
    container = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.24.0",
        "command": ["vllm", "serve", "Qwen/Qwen3-8B"],
        "args": ["--served-model-name", "chat", "--port", "8000"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"limits": {GPU: "1"}},
    }
    pod = {
        "nodeSelector": {POOL: namespace},
        "tolerations": [{"key": GPU, "operator": "Exists"}],
        "containers": [container],
    }
    spec: Body = {
        "replicas": REPLICAS,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    if kind == "StatefulSet":
        spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
    else:
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def service(namespace: str, *, name: str = "chat", labels: Mapping[str, str] | None = None) -> Body:
    """A Service that clients ask."""
    ports = [{"name": "http", "port": 80, "targetPort": 8000}]
    spec = {"selector": labels or {"app": name}, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def inference(namespace: str) -> tuple[Body, Sequence[Body]]:
    """An LLMInferenceService, and what KServe's controller makes of it."""
    labels = {"app.kubernetes.io/name": "chat", "kserve.io/component": "workload"}
    metadata = {"name": "chat", "namespace": namespace}
    deployment = workload(namespace, "Deployment", name="chat-kserve", labels=labels)
    own = service(namespace, name="chat-kserve-workload-svc", labels=labels)
    spec = {"model": {"uri": "hf://Qwen/Qwen3-8B", "name": "chat"}, "replicas": REPLICAS}
    return {**OWNER, "metadata": metadata, "spec": spec}, (deployment, own)


def equipment() -> Iterator[Body]:
    """A node for each namespace, with the accelerators of what runs and of what is announced."""
    for name in (*BESIDE, SERVICE_FIRST, DELETED_FIRST):
        yield node(name, Sort(((GPU, 2 * REPLICAS),), ((POOL, name),)))
    yield node(SAME, Sort(((GPU, REPLICAS + 1),), ((POOL, SAME),)))
    yield node(UNSELECTED, Sort(((GPU, REPLICAS + 1),), ((POOL, UNSELECTED),)))


# ---- what is seen ----


@contextmanager
def watched(site: Site, namespace: str, resource: str, *options: str) -> Iterator[Watch]:
    """A watch for as long as the block lasts."""
    log = site.tree.parent / f"{namespace}-{resource}.json"
    words = (str(site.programs / "kubectl"), "get", resource, "-n", namespace, *options, "-o", "json")
    with log.open("wb") as output:
        command = (*words, f"--kubeconfig={site.cluster.kubeconfig}", "--watch", "--output-watch-events")
        process = subprocess.Popen(command, stdout=output)
    try:
        yield Watch(process, log)
        time.sleep(2)  # the last events
        if process.poll() is not None:
            raise CannotJudge(f"the watch of {namespace} has ended")
    finally:
        process.terminate()
        process.wait()


def events(watch: Watch) -> Iterator[Mapping[str, Body]]:
    """The objects after each event, by their names."""
    text, objects, decoder = watch.log.read_text("utf-8").lstrip(), dict[str, Body](), json.JSONDecoder()
    while text:
        event, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        body = event["object"]
        if event["type"] == "DELETED":
            objects.pop(body["metadata"]["name"], None)
        else:
            objects[body["metadata"]["name"]] = body
        yield objects


def endpoints(watch: Watch) -> list[Endpoints]:
    """What the EndpointSlices had after each event."""
    return [endpoints_of(slices.values()) for slices in events(watch)]


def endpoints_of(slices: Iterable[Body]) -> Endpoints:
    """What the endpoints of some slices say together."""
    conditions = [endpoint.get("conditions", {}) for body in slices for endpoint in body.get("endpoints") or ()]
    ready = sum(bool(condition.get("ready")) for condition in conditions)
    return Endpoints(ready, sum(bool(condition.get("terminating")) for condition in conditions))


def without_endpoint(watch: Watch) -> list[str]:
    """What is wrong where an event has left clients without an endpoint that is ready."""
    states = endpoints(watch)
    if not states:
        raise CannotJudge(f"{watch.log.name}: no event")
    empty = [state for state in states if not state.ready]
    return [f"{len(empty)} of {len(states)} events left no endpoint ready: {empty[0]}"] if empty else []


def most_pods(watch: Watch) -> int:
    """How many pods were on a node at once, those included that are about to end."""
    return max(sum(1 for pod in pods.values() if pod["spec"].get("nodeName")) for pods in events(watch))


# ---- a tree ----


class TakeoverTree(NamedTuple):
    """A tree that takes over what runs in some namespaces."""

    site: Site
    controllers: Controllers
    namespaces: Sequence[str]

    def adopt(self, *options: str) -> None:
        """Dumps what runs, adopts and renders it."""
        self.site.run("rm -rf ../dump && mkdir -p ../dump")
        kinds = "deployments.apps,statefulsets.apps,services"
        for name in self.namespaces:
            self.site.run(f"kubectl get {kinds} -n {name} --show-managed-fields -o yaml > ../dump/{name}.yaml")
        self.site.run(" ".join(("llmaz adopt ../dump", *options, "-o ../adopted || [ $? = 1 ]")))
        self.site.run("cp -r ../adopted/. . && llmaz render")

    def cutover(self) -> str:
        """What the command prints."""
        return self.site.run("llmaz cutover ../dump")

    def sync(self) -> None:
        """From now on Argo CD applies what is rendered, once its Application is there."""
        self.controllers.rendered = self.site.tree / "rendered"

    def forget(self) -> None:
        """Takes the Application away, as for the next tree."""
        self.controllers.rendered = None
        metadata = {"name": "llmaz", "namespace": "argocd"}
        self.site.cluster.client(
            "DELETE", self.site.cluster.path({"apiVersion": ARGO, "kind": APPLICATION.name, "metadata": metadata})
        )


def make_takeover(
    cluster: Cluster, controllers: Controllers, folder: Path, programs: Path, namespaces: Sequence[str]
) -> TakeoverTree:
    tree = folder / namespaces[0] / "tree"
    tree.mkdir(parents=True)
    site = Site(cluster, controllers, tree, programs, namespaces[0], ())
    site.run("git init -q && git remote add origin https://git.example/team/models.git")
    return TakeoverTree(site, controllers, namespaces)


def judge_takeover(tools: Path) -> int:
    """The number of claims that do not hold. Raises CannotJudge."""
    claims = Claims()
    with (
        tempfile.TemporaryDirectory(prefix="llmaz-takeover-") as name,
        standing(tools, [*equipment()], stages=STAGES) as cluster,
    ):
        folder = Path(name)
        programs = make_programs(folder, tools)
        for space in ("argocd", *BESIDE, SAME, SERVICE_FIRST, DELETED_FIRST, UNSELECTED):
            operated.apply(cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}, "kubectl")
        define(cluster, APPLICATION, INFERENCE)
        controllers = Controllers(cluster)
        run_workloads(cluster, controllers)
        with controllers.running():
            wait_for_pods(cluster)
            by_another_name(make_takeover(cluster, controllers, folder, programs, BESIDE), claims)
            by_the_same_name(make_takeover(cluster, controllers, folder, programs, (SAME,)), claims)
            for space, order in ((SERVICE_FIRST, (0, 2)), (DELETED_FIRST, (0, 3))):
                without_order(make_takeover(cluster, controllers, folder, programs, (space,)), order, claims)
            without_selector(make_takeover(cluster, controllers, folder, programs, (UNSELECTED,)), claims)
        if controllers.fault:
            claims("the stand-ins can write", [controllers.fault])
    return claims.wrong


def run_workloads(cluster: Cluster, controllers: Controllers) -> None:
    """Applies all that runs before anything is taken over."""
    for space in ("deployment", SAME, SERVICE_FIRST, DELETED_FIRST, UNSELECTED):
        for body in (workload(space, "Deployment"), service(space)):
            operated.apply(cluster, body, MANAGER)
    for body in (workload("statefulset", "StatefulSet"), service("statefulset")):
        operated.apply(cluster, body, MANAGER)
    owner, bodies = inference("kserve")
    controllers.inferences = ((owner, bodies),)
    labels = {"app.kubernetes.io/name": "chat", "kserve.io/component": "workload"}
    for body in (owner, service("kserve", name="clients", labels=labels)):
        operated.apply(cluster, body, MANAGER)


def wait_for_pods(cluster: Cluster) -> None:
    """Waits until each Service of clients has all its endpoints. Raises CannotJudge."""
    names = {"kserve": "clients"}
    spaces = (*BESIDE, SAME, SERVICE_FIRST, DELETED_FIRST, UNSELECTED)

    def faults() -> list[str]:
        counts = {space: ready_endpoints(cluster, space, names.get(space, "chat")) for space in spaces}
        return [f"{space}: {count} of {REPLICAS} are ready" for space, count in counts.items() if count != REPLICAS]

    if remaining := cluster.settled(faults, PATIENCE):
        raise CannotJudge("\n".join(remaining))


def ready_endpoints(cluster: Cluster, namespace: str, name: str) -> int:
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    return endpoints_of(cluster.listed(path, labelSelector=f"kubernetes.io/service-name={name}")).ready


def slices_of(site: Site, namespace: str, name: str = "chat") -> Any:
    """A watch of the EndpointSlices of a Service."""
    return watched(site, namespace, "endpointslices", "-l", f"kubernetes.io/service-name={name}")


# ---- what is claimed ----


def by_another_name(takeover: TakeoverTree, claims: Claims) -> None:
    site = takeover.site
    takeover.adopt()
    script = takeover.cutover()
    announced = [(int(pods), int(gpus)) for pods, gpus in ANNOUNCED.findall(script)]
    claims(
        f"{REPLICAS} pods with as many accelerators more are announced for each workload",
        [] if announced == [(REPLICAS, REPLICAS)] * len(BESIDE) else [str(announced)],
    )
    claims(
        "the Service that KServe makes is in no patch, and is named",
        [] if "patch services chat-kserve" not in script and "Service kserve/chat-kserve-work" in script else [script],
    )
    takeover.sync()
    with ExitStack() as watches:
        slices = {
            space: watches.enter_context(slices_of(site, space, "clients" if space == "kserve" else "chat"))
            for space in BESIDE
        }
        pods = {space: watches.enter_context(watched(site, space, "pods")) for space in BESIDE}
        for step in steps_of(script):
            site.run(step, timeout=PATIENCE)
        site.run(f"kubectl delete {INFERENCE.plural} chat -n kserve")  # as the last step says
        time.sleep(3 * END)
    for space in BESIDE:
        claims(f"{space}: clients have an endpoint that is ready all the time", without_endpoint(slices[space]))
        most = most_pods(pods[space])
        claims(
            f"{space}: no more pods than are announced",
            [] if most == 2 * REPLICAS else [f"{most}, not {2 * REPLICAS}"],
        )
        claims(f"{space}: the old pods are gone, the new ones answer", ended_well(takeover, space))
    takeover.forget()


def ended_well(takeover: TakeoverTree, space: str) -> list[str]:
    name = "clients" if space == "kserve" else "chat"
    count = ready_endpoints(takeover.site.cluster, space, name)
    listed = takeover.site.cluster.listed(f"/api/v1/namespaces/{space}/pods")
    others = [pod["metadata"]["name"] for pod in listed if "-llmaz" not in pod["metadata"]["name"]]
    return [*([] if count == REPLICAS else [f"{count} endpoints are ready"]), *(f"{pod} is there" for pod in others)]


def by_the_same_name(takeover: TakeoverTree, claims: Claims) -> None:
    site = takeover.site
    takeover.adopt("--as", "same")
    script = takeover.cutover()
    announcement = "1 pod with 1 nvidia.com/gpu more during the rollout, 2 of 2 replicas answering."
    claims("of the same name a pod more is announced", [] if announcement in script else [script])
    before = pod_ids(site, SAME)
    takeover.sync()
    with slices_of(site, SAME) as slices, watched(site, SAME, "pods") as pods:
        for step in steps_of(script):
            site.run(step, timeout=PATIENCE)
        time.sleep(3 * END)
    claims("same name: clients have an endpoint that is ready all the time", without_endpoint(slices))
    most = most_pods(pods)
    claims("same name: one pod more, and no more", [] if most == REPLICAS + 1 else [f"{most}, not {REPLICAS + 1}"])
    remaining = before & pod_ids(site, SAME)
    claims("same name: all pods are new", [f"{uid} is there" for uid in remaining])
    takeover.forget()


def pod_ids(site: Site, namespace: str) -> set[str]:
    return {pod["metadata"]["uid"] for pod in site.cluster.listed(f"/api/v1/namespaces/{namespace}/pods")}


def without_order(takeover: TakeoverTree, order: Sequence[int], claims: Claims) -> None:
    """Runs the first step, and one that should come later, at once."""
    site, space = takeover.site, takeover.namespaces[0]
    takeover.adopt()
    steps = steps_of(takeover.cutover())
    takeover.sync()
    with slices_of(site, space) as slices:
        for index in order:
            site.run(steps[index], timeout=PATIENCE)
        time.sleep(END)
    faults = [] if without_endpoint(slices) else ["clients have an endpoint all the time"]
    claims(f"step {order[-1] + 1} right behind step 1 leaves clients without an endpoint", faults)
    takeover.forget()


def without_selector(takeover: TakeoverTree, claims: Claims) -> None:
    """A Deployment of the same name, whose selector is not the one that runs: refused, while its Service is changed."""
    site = takeover.site
    takeover.adopt("--as", "same")
    for path in site.tree.glob("*.yaml"):
        bodies = [body for body in yaml.safe_load_all(path.read_text("utf-8")) if body]
        for body in bodies:
            body["spec"].get("workload", {}).pop("selector", None)
        path.write_text("---\n".join(map(yaml.safe_dump, bodies)))
    site.run("llmaz render")
    refused = []
    with slices_of(site, UNSELECTED) as slices:
        for body in operated.rendered_objects(site.tree / "rendered"):
            answer = site.cluster.applied(body)
            refused += [body["kind"]] if answer.message else []
        time.sleep(END)
    faults = [] if refused == ["Deployment"] else [f"refused: {refused}"]
    claims("without workload.selector the Deployment of the same name is refused", faults)
    faults = [] if without_endpoint(slices) else ["clients have an endpoint all the time"]
    claims("and its Service leads to no pod", faults)
