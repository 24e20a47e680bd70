"""Runs what `llmaz cutover` prints in a small cluster, and what happens without it: `python -m tests.cluster cutover`.

    without a step   step 1: the operator comes back and takes the fields again, and what is deleted hangs on its
                     webhooks; step 3: variables and owner references stay; step 3 with spec.replicas: the replicas
                     fall; deleting a Playground or a definition first deletes live pods
    all of it        two models, one with an autoscaler, one in groups and with a Service whose selector the activator
                     has: while their partitions hold no pod changes, then exactly those that were announced; replicas
                     stay, and the garbage collector deletes nothing

The commands are run as they are printed, by kubectl and by this llmaz, in a shell. A line for each claim of
docs/cutover.md; exit status 1 when one does not hold.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.apiserver.server import Body, CannotJudge
from tests.cluster import operated
from tests.cluster.control import Cluster, standing
from tests.cluster.examples import nodes
from tests.cluster.operated import GROUPED, INFERENCE, KINDS, OLD, REPLICAS, SCALED, WORKLOAD, StandIns
from tests.paths import ROOT

COLLECTOR = 40.0  # seconds until the garbage collector has seen a new kind
PATIENCE = 90.0
MOMENT = 12.0  # in which something would have happened
BOTH = (SCALED, GROUPED)
CONFIG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec: {gateway: {mode: "off"}}
"""
# `diff --live` is run where this llmaz has it.
WRAPPER = """\
#!/bin/sh
exec "{python}" -m renderer "$@"
"""
ROLLOUTS = {  # where the partition of an app stands
    "Playground": ("workload", "rollout"),
    "Service": ("rolloutStrategy", "rollingUpdateConfiguration"),
}


class Claims:
    """What was seen, in lines."""

    def __init__(self) -> None:
        self.wrong = 0

    def __call__(self, what: str, faults: Sequence[str]) -> None:
        self.wrong += bool(faults)
        sys.stdout.write(f"{'WRONG' if faults else 'seen'}: {what}\n")
        sys.stdout.writelines(f"  {' '.join(fault.split())}\n" for fault in faults)
        sys.stdout.flush()


class Site(NamedTuple):
    """A namespace with models of the operator, and the tree that takes over."""

    cluster: Cluster
    stand_ins: StandIns
    tree: Path
    programs: Path
    namespace: str
    names: Sequence[str]

    def run(self, script: str, *, timeout: float | None = None) -> str:
        """What a script prints. Raises CannotJudge where it fails; TimeoutExpired."""
        end = self._start(script, timeout)
        if end.returncode:
            raise CannotJudge(f"exit status {end.returncode}: {script}\n{end.stdout}{end.stderr}")
        return end.stdout

    def refused(self, script: str) -> bool:
        """Whether a script fails, or hangs for longer than any step does."""
        try:
            return self._start(script, MOMENT).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def _start(self, script: str, timeout: float | None) -> subprocess.CompletedProcess[str]:
        paths = {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        env = {**os.environ, **paths, "KUBECONFIG": str(self.cluster.kubeconfig), "HOME": str(self.programs)}
        return subprocess.run(
            ["sh", "-e", "-c", script],
            cwd=self.tree,
            env=env,
            text=True,
            capture_output=True,
            check=False,
            timeout=timeout,
        )

    # ---- the tree ----

    def write_tree(self, partitions: dict[str, int] | None = None) -> None:
        """Writes the inputs, with these partitions, and renders them."""
        bodies = {}
        for name in self.names:
            for body in operated.inputs(name, self.namespace):
                bodies[body["kind"], body["metadata"]["name"]] = body
                way = ROLLOUTS.get(body["kind"])
                if way and partitions and name in partitions:
                    body["spec"].setdefault(way[0], {}).setdefault(way[1], {})["partition"] = partitions[name]
                    if body["kind"] == "Service":
                        body["spec"][way[0]]["type"] = "RollingUpdate"
        (self.tree / "llmaz.yaml").write_text(CONFIG)
        (self.tree / "models.yaml").write_text("---\n".join(map(yaml.safe_dump, bodies.values())))
        self.run("llmaz render")

    def cutover(self, *options: str) -> str:
        """What the command prints for a dump that is made now."""
        self.run("rm -rf ../dump")
        self.run(dump_commands().replace(" -A ", f" -n {self.namespace} ", 1))
        return self.run(" ".join(("llmaz", "cutover", "../dump", *options)))

    def announce(self) -> dict[str, Body]:
        """What the command says of each model."""
        return {model["name"]: model for model in json.loads(self.cutover("--format", "json"))["models"]}

    # ---- the cluster ----

    def live(self, name: str, kind: str = "LeaderWorkerSet", version: str = WORKLOAD) -> Body:
        metadata = {"name": name, "namespace": self.namespace}
        return self.cluster.live({"apiVersion": version, "kind": kind, "metadata": metadata})

    def pods(self) -> dict[str, str]:
        """The pods that are not about to end, with their UIDs."""
        listed = self.cluster.listed(f"/api/v1/namespaces/{self.namespace}/pods")
        return {
            pod["metadata"]["name"]: pod["metadata"]["uid"]
            for pod in listed
            if "deletionTimestamp" not in pod["metadata"]
        }

    def unready(self) -> list[str]:
        """The models that do not have all their pods ready."""
        return [*operated.unready(self.cluster, self.namespace, self.names)]

    def owners(self) -> list[str]:
        """The objects that a custom resource owns."""
        kinds = (
            (f"apis/{WORKLOAD}", "leaderworkersets"),
            ("apis/autoscaling/v2", "horizontalpodautoscalers"),
            ("api/v1", "services"),
        )
        return [
            f"{plural} {body['metadata']['name']} has an owner reference to a {reference['kind']}"
            for version, plural in kinds
            for body in self.cluster.listed(f"/{version}/namespaces/{self.namespace}/{plural}")
            for reference in body["metadata"].get("ownerReferences", ())
            if "llmaz.io/" in reference["apiVersion"]
        ]

    def variables(self, name: str) -> list[str]:
        """The names of the variables of a model's workers."""
        spec = self.live(name)["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
        return [variable["name"] for container in spec["containers"] for variable in container.get("env", ())]

    def replicas(self) -> dict[str, int]:
        return {name: self.live(name)["spec"]["replicas"] for name in self.names}


def dump_commands() -> str:
    """The commands by which docs/cutover.md makes a dump."""
    page = (ROOT / "docs" / "cutover.md").read_text("utf-8")
    block = re.search(r"```sh\n(mkdir .*?)```", page, re.DOTALL)
    if not block:
        raise CannotJudge("docs/cutover.md does not say how a dump is made")
    return block[1]


def steps_of(text: str) -> list[str]:
    """The script of each step of what the command prints."""
    return re.split(r"^# \d\. .*\n", text, flags=re.MULTILINE)[1:]


def judge_cutover(tools: Path) -> int:
    """The number of claims that do not hold. Raises CannotJudge."""
    bodies = [body for name in BOTH for body in operated.outputs(name, "any")[:1]]
    # The operator's pods tolerate no taint: where it runs, an admission plugin does that for them.
    pretended = [{**node, "spec": {}} for node in nodes(bodies)]
    claims = Claims()
    with tempfile.TemporaryDirectory(prefix="llmaz-cutover-") as folder, standing(tools, pretended) as cluster:
        programs = make_programs(Path(folder), tools)
        prepare_cluster(cluster)
        without_a_step(cluster, Path(folder), programs, claims)
        all_of_it(cluster, Path(folder), programs, claims)
    return claims.wrong


def make_programs(folder: Path, tools: Path) -> Path:
    """A folder with kubectl and llmaz."""
    if not (tools / "kubectl").exists():
        raise CannotJudge("kubectl not built: scripts/tools.sh kubectl")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to((tools / "kubectl").absolute())
    (programs / "llmaz").write_text(WRAPPER.format(python=sys.executable))
    (programs / "llmaz").chmod(0o755)
    return programs


def make_site(
    cluster: Cluster, stand_ins: StandIns, folders: Sequence[Path], namespace: str, names: Sequence[str]
) -> Site:
    """A namespace in which the operator runs the models, and a repository with their inputs. `folders`: where it may
    write, and of the programs.
    """
    tree = folders[0] / namespace / "tree"
    tree.mkdir(parents=True)
    site = Site(cluster, stand_ins, tree, folders[1], namespace, names)
    for name in names:
        stand_ins.operated += operated.operate(cluster, name, namespace)
    site.run("git init -q && git remote add origin https://git.example/team/models.git")
    site.write_tree()
    return site


# ---- what the cluster has ----


def prepare_cluster(cluster: Cluster) -> None:
    """The namespaces of programs, and Argo CD's own kind."""
    for name in (operated.SYSTEM, "argocd"):
        operated.apply(cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, "kubectl")
    define(cluster, operated.APPLICATION)


def define(cluster: Cluster, *kinds: operated.Kind) -> None:
    """Makes the definitions, and waits until they are served."""
    for kind in kinds:
        operated.apply(cluster, operated.definition(kind), "kubectl")

    def unserved() -> list[str]:
        cluster.client.forget()
        return [kind.name for kind in kinds if cluster.client.resource(kind.version, kind.name) is None]

    if missing := cluster.settled(unserved, PATIENCE):
        raise CannotJudge(f"not served: {', '.join(missing)}")


def wait_for_collector(site: Site) -> None:
    """Waits until the garbage collector deletes what a Playground and a Service own, without which a cutover that
    deletes nothing proves nothing. Raises CannotJudge where it does not.
    """
    time.sleep(COLLECTOR)
    leaves: list[Body] = []
    for kind in KINDS[:2]:
        metadata = {"name": "proof", "namespace": site.namespace}
        owner = operated.apply(
            site.cluster, {"apiVersion": kind.version, "kind": kind.name, "metadata": metadata}, "kubectl"
        )
        leaf = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, "name": f"proof-{kind.plural}"}}
        leaves.append(operated.apply(site.cluster, operated.owned(leaf, owner), "kubectl"))
        site.cluster.client("DELETE", site.cluster.path(owner), propagationPolicy="Background")
    remaining = site.cluster.settled(
        lambda: [leaf["metadata"]["name"] for leaf in leaves if site.cluster.live(leaf)], MOMENT
    )
    if remaining:
        raise CannotJudge(f"the garbage collector does not know the custom resources: {', '.join(remaining)} is there")


def wait_for_models(*sites: Site) -> None:
    """Waits until all pods are ready. Raises CannotJudge."""
    for site in sites:
        if faults := site.cluster.settled(site.unready, PATIENCE):
            raise CannotJudge("\n".join(faults))


def install(cluster: Cluster) -> None:
    """The operator, as Argo CD syncs it; its webhooks come last, since nobody answers for them."""
    operated.apply(cluster, operated.operator_application(), "kubectl")
    deployment, *webhooks = operated.installation()
    faults = cluster.settled(
        lambda: [] if cluster.live(webhooks[-1]) and cluster.live(deployment) else ["no operator"], PATIENCE
    )
    if faults:
        raise CannotJudge(faults[0])


def becomes(site: Site, wrong: Callable[[], bool], what: str) -> list[str]:
    """What is wrong when patience is over: nothing where `wrong` has become False."""
    return site.cluster.settled(lambda: [what] if wrong() else [], MOMENT)


def remains(right: Callable[[], bool], what: str) -> list[str]:
    """What is wrong where `right` does not stay True for a while."""
    end = time.monotonic() + MOMENT
    while time.monotonic() < end:
        if not right():
            return [what]
        time.sleep(0.3)
    return []


# ---- what happens without a step ----


def without_a_step(cluster: Cluster, folder: Path, programs: Path, claims: Claims) -> None:
    define(cluster, *KINDS)
    stand_ins = StandIns(cluster)
    names = ("no-step-1", "no-step-3", "with-replicas", "playground-first", "definition-first")
    sites = {name: make_site(cluster, stand_ins, (folder, programs), name, [SCALED]) for name in names}
    first = sites["no-step-1"]
    wait_for_models(*sites.values())
    wait_for_collector(first)
    scripts = {}
    with stand_ins.running():
        install(cluster)
        for name, site in sites.items():
            scripts[name] = steps_of(site.cutover())

        without_step_1(first, scripts["no-step-1"], claims)
        first.run(scripts["no-step-1"][0])
        without_step_3(sites["no-step-3"], scripts["no-step-3"], claims)
        with_replicas(sites["with-replicas"], scripts["with-replicas"], claims)
        deleting_first(
            sites["playground-first"],
            f"kubectl delete playgrounds.inference.llmaz.io {SCALED} -n playground-first",
            claims,
        )
        deleting_first(
            sites["definition-first"], "kubectl delete customresourcedefinitions services.inference.llmaz.io", claims
        )
    for kind in KINDS:
        cluster.client("DELETE", cluster.path(operated.definition(kind)))
    cluster.settled(lambda: [kind.plural for kind in KINDS if cluster.live(operated.definition(kind))], PATIENCE)
    for site in sites.values():
        site.run(f"kubectl delete namespace {site.namespace} --wait=false")
    cluster.settled(
        lambda: [
            site.namespace
            for site in sites.values()
            if cluster.client("GET", f"/api/v1/namespaces/{site.namespace}").status == 200
        ],
        PATIENCE,
    )


def without_step_1(site: Site, steps: Sequence[str], claims: Claims) -> None:
    """Nothing is stopped: then only the Deployment is."""
    site.run(steps[2])
    for body in operated.rendered_objects(site.tree / "rendered"):
        operated.apply(site.cluster, body, "argocd-controller")
    back = becomes(
        site, lambda: not any("leaderworkersets" in owner for owner in site.owners()), "the operator does not come back"
    )
    claims("without step 1 the operator takes the fields again: its owner reference is back", back)
    site.run(f"kubectl scale deployment {operated.NAME} -n {operated.SYSTEM} --replicas=0")
    deployment = operated.installation()[0]
    claims(
        "without stopping the sync, the operator is scaled up again",
        becomes(site, lambda: site.cluster.live(deployment)["spec"]["replicas"] == 0, "it stays at zero"),
    )
    hangs = site.refused("kubectl delete services.inference.llmaz.io qwen-elastic -n no-step-1 --cascade=orphan")
    there = bool(site.live(SCALED, "Service", INFERENCE))
    claims("without deleting the webhooks, even --cascade=orphan hangs", [] if hangs and there else ["it is deleted"])


def without_step_3(site: Site, steps: Sequence[str], claims: Claims) -> None:
    """The rendered files are applied while the operator still owns its fields."""
    for body in operated.rendered_objects(site.tree / "rendered"):
        operated.apply(site.cluster, body, "argocd-controller")
    faults = [] if OLD in site.variables(SCALED) else ["the variable is gone"]
    faults += [] if any("leaderworkersets" in owner for owner in site.owners()) else ["the owner reference is gone"]
    claims("without step 3 the operator's variable and its owner reference stay", faults)
    site.run(steps_of(site.cutover())[2])
    for body in operated.rendered_objects(site.tree / "rendered"):
        operated.apply(site.cluster, body, "argocd-controller")
    faults = ["the variable is still there"] if OLD in site.variables(SCALED) else []
    faults += [owner for owner in site.owners() if "services" not in owner]
    faults += unchanged_replicas(site, {SCALED: REPLICAS[SCALED]})
    claims("step 3 after such a sync, with a new dump, lets the next one take them away", faults)


def with_replicas(site: Site, steps: Sequence[str], claims: Claims) -> None:
    """The fields are handed over with spec.replicas."""
    script = re.sub(r',\{"op":"remove","path":"[^"]*/f:replicas"\}', "", steps[2])
    if script == steps[2]:
        claims("step 3 leaves spec.replicas out", ["it does not"])
        return
    site.run(script)
    for body in operated.rendered_objects(site.tree / "rendered"):
        operated.apply(site.cluster, body, "argocd-controller")
    replicas = site.replicas()[SCALED]
    claims(
        f"with spec.replicas in step 3, {REPLICAS[SCALED]} replicas fall",
        [] if replicas < REPLICAS[SCALED] else [f"there are {replicas}"],
    )


def deleting_first(site: Site, script: str, claims: Claims) -> None:
    site.run(script)
    faults = becomes(site, lambda: bool(site.live(SCALED) or site.pods()), "the model is still there")
    claims(f"first of all, `{script}` deletes the live model", faults)


# ---- all of it ----


def all_of_it(cluster: Cluster, folder: Path, programs: Path, claims: Claims) -> None:
    define(cluster, *KINDS)
    stand_ins = StandIns(cluster)
    site = make_site(cluster, stand_ins, (folder, programs), "whole", BOTH)
    operated.deactivate(cluster, GROUPED, site.namespace)
    wait_for_models(site)
    wait_for_collector(site)
    with stand_ins.running():
        install(cluster)
        pods, replicas = site.pods(), site.replicas()
        announced = site.announce()
        claims(
            "without a partition the command announces that all pods restart",
            [
                name
                for name, model in announced.items()
                if len(model["restarts"]) != len(pods_of(pods, name)) or model["held"]
            ],
        )
        site.write_tree({name: model["partition"] for name, model in announced.items()})
        announced = site.announce()
        claims(
            "with it, that all are held",
            [
                name
                for name, model in announced.items()
                if set(model["held"]) != set(pods_of(pods, name)) or model["restarts"]
            ],
        )
        stand_ins.rendered = site.tree / "rendered"
        script = site.cutover()
        for number, step in enumerate(steps_of(script), 1):
            site.run(step)
            claims(
                f"step {number} is run as printed; every pod and number of replicas stays",
                unchanged(site, pods, replicas),
            )
            if number == len(steps_of(script)) - 1:
                claims_of_the_sync(site, claims)
        claims(
            "the custom resources and their definitions are gone",
            [kind.plural for kind in KINDS if cluster.live(operated.definition(kind))],
        )
        claims(
            "the garbage collector deletes nothing",
            remains(lambda: not unchanged(site, pods, replicas), "something is gone"),
        )
        lower(site, announced, pods, claims)
        claims("replicas are what they were", unchanged_replicas(site, replicas))
    if stand_ins.fault:
        claims("the stand-ins can write", [stand_ins.fault])


def pods_of(pods: dict[str, str], name: str) -> list[str]:
    return [pod for pod in pods if pod.startswith(f"{name}-")]


def unchanged(site: Site, pods: dict[str, str], replicas: dict[str, int]) -> list[str]:
    """The pods that are not those of before, and replicas."""
    time.sleep(3)
    now = site.pods()
    faults = [f"{name}: {now.get(name, 'gone')}, not {uid}" for name, uid in pods.items() if now.get(name) != uid]
    return [*faults, *(f"{name} is new" for name in now.keys() - pods.keys()), *unchanged_replicas(site, replicas)]


def unchanged_replicas(site: Site, replicas: dict[str, int]) -> list[str]:
    now = site.replicas()
    return [f"{name}: {now[name]} replicas, not {count}" for name, count in replicas.items() if now[name] != count]


def claims_of_the_sync(site: Site, claims: Claims) -> None:
    """What the apply has done."""
    claims("no custom resource owns anything", site.owners())
    claims("the operator's variable is gone", [name for name in site.names if OLD in site.variables(name)])
    scaler = site.live(SCALED, "HorizontalPodAutoscaler", "autoscaling/v2")
    kind = scaler.get("spec", {}).get("scaleTargetRef", {}).get("kind")
    claims(
        "the autoscaler is the same, and scales the LeaderWorkerSet", [] if kind == "LeaderWorkerSet" else [str(kind)]
    )
    service = site.live(f"{GROUPED}-lb", "Service", "v1")
    cached = "activator.llmaz.io/cached-state" in service["metadata"].get("annotations", {})
    selector = service["spec"].get("selector", {})
    faults = [] if selector.get("leaderworkerset.sigs.k8s.io/name") == GROUPED and not cached else [str(service)]
    claims("the Service of the activator has its selector back", faults)


def lower(site: Site, announced: dict[str, Any], pods: dict[str, str], claims: Claims) -> None:
    """Lowers the partitions: of the groups by one, then all to none."""
    partitions = {name: model["partition"] for name, model in announced.items()}
    last = REPLICAS[GROUPED] - 1
    restarting = {pod for pod in pods_of(pods, GROUPED) if re.match(rf"{GROUPED}-{last}(-|$)", pod)}
    site.write_tree({**partitions, GROUPED: last})
    claims(
        f"a partition of {last} restarts {', '.join(sorted(restarting))}, and nothing else",
        restarted(site, pods, restarting),
    )
    site.write_tree()
    all_pods = {pod for model in announced.values() for pod in model["held"]}
    claims("without a partition exactly the announced pods have restarted", restarted(site, pods, all_pods))


def restarted(site: Site, pods: dict[str, str], names: set[str]) -> list[str]:
    """What is wrong when all models are ready again: which pods are new that should not be, or the reverse."""

    def faults() -> list[str]:
        now = site.pods()
        new = {name for name, uid in now.items() if pods.get(name) != uid}
        wrong = sorted({*new, *(pods.keys() - now.keys())} ^ names)
        return [
            *site.unready(),
            *(f"{name}: {'restarted' if name in new else 'not restarted'}" for name in wrong),
        ]

    return site.cluster.settled(faults, PATIENCE) or (
        [] if not remains(lambda: not faults(), "it goes on") else faults()
    )
