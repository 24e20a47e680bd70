"""Renders a row, and holds what comes of it against what it has to mean."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from renderer import pipeline, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Collector, Diagnostic, has_errors
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_validation import validate_options
from renderer.kubernetes import quantity
from renderer.resolve.engine import preset_args
from tests.combinations import cluster, traffic
from tests.combinations.findings import findings
from tests.combinations.parameters import NEIGHBOUR, OWN_VARIABLES, SERVICES, guarded_apps, make_documents
from tests.presets.test_versions import FILES, compiled_engine

Node = dict[str, Any]
Row = Mapping[str, str]  # by parameter, the name of its value
REFERENCE = re.compile(r"\$\(([A-Za-z_]\w*)\)")
ENGINE = "model-runner"
NAME = "app.kubernetes.io/name"
WEIGHTS_VOLUME = "model-volume"
WEIGHTS = re.compile(r"/workspace/models(?:/[\w.-]+)*")
FLAVORS: Mapping[str, Mapping[str, int]] = {
    "one": {"nvidia.com/gpu": 1},
    "eight": {"nvidia.com/gpu": 8},
    "amd": {"amd.com/gpu": 1},
    "declared": {"squat.ai/nvidia": 2},
    "typed": {"nvidia.com/gpu": 2},
    "none": {},
    "devices": {},
}
GIVEN = frozenset(
    ["LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"]
)  # by LeaderWorkerSet, in every container


class Rendered(NamedTuple):
    """What came of a row or a tree: the documents, or why there are none."""

    inputs: list[Node]
    documents: list[Node]
    texts: Mapping[str, str]
    problems: list[Diagnostic]


def render(row: Row, folder: Path) -> Rendered:
    """A row, rendered in a folder."""
    return render_documents(make_documents(row), folder)


def render_documents(inputs: list[Node], folder: Path) -> Rendered:
    """Inputs, the RenderConfig first, rendered in a folder."""
    files = [*folder.glob("*.yaml")]
    for file in files:
        file.unlink()
    config, *others = inputs
    (folder / "llmaz.yaml").write_text(yamlio.dump(config))
    (folder / "app.yaml").write_text("---\n".join(map(yamlio.dump, others)))
    env = next(iter(config["spec"].get("environments") or {}), "")
    done = pipeline.render(RenderOptions(paths=(str(folder),), texts=True, env=env))
    gc.unfreeze()
    gc.enable()  # the program turns it off, since it lives for seconds only
    texts = {} if has_errors(done.problems) else {text.path: text.text for text in done.texts}
    documents = [body for text in texts.values() for body in yaml.safe_load_all(text) if body]
    return Rendered(inputs, documents, texts, done.problems)


def faults(row: Row, rendered: Rendered) -> Iterator[str]:
    """What is wrong with the rendered objects of a row."""
    yield from tree_faults(rendered)
    own = [body for body in rendered.documents if body["metadata"]["labels"][NAME] != NEIGHBOUR]
    for workload in own if row["kind"] not in SERVICES else ():
        where = f"{workload['kind']} {workload['metadata']['name']}"
        for group in pod_groups(workload):
            for fault in variables_apart(row, group):
                yield f"{where}: {fault}"
        for pod in pod_templates(workload):
            for fault in (*lost_variables(row, pod), *accelerators_that_differ(row, pod)):
                yield f"{where}: {fault}"


def tree_faults(rendered: Rendered) -> Iterator[str]:
    """What is wrong with the rendered objects of a tree, whatever its apps are."""
    yield from (problem.message for problem in rendered.problems if of_output(problem))
    yield from selectors_that_miss(rendered)
    told_codes = {problem.code for problem in rendered.problems}
    yield from findings(rendered.texts, rendered.inputs[0], told_codes)
    if rendered.documents:
        yield from traffic.faults(rendered.inputs, rendered.documents, told_codes)
    yield from cluster.faults(rendered.documents, guarded_apps(rendered.inputs))
    for workload in rendered.documents:
        where = f"{workload['kind']} {workload['metadata']['name']}"
        for group, claims in zip(pod_groups(workload), claims_of(workload), strict=True):
            for fault in pods_apart(group):
                yield f"{where}: {fault}"
            for pod in group:
                for fault in (
                    *(unread_volumes(pod, claims) if workload["kind"] != "Job" else ()),
                    *names_given_twice(pod, claims),
                    *unknown_references(pod, rendered.documents),
                    *mounts_below_read_only(pod),
                    *refused_options(workload, pod),
                ):
                    yield f"{where}: {fault}"


def of_output(problem: Diagnostic) -> bool:
    """Whether llmaz refuses an object that it rendered itself: such a message names the object's kind and field."""
    return not problem.warning and problem.message.startswith("in ")


def selectors_that_miss(rendered: Rendered) -> Iterator[str]:
    """Objects whose selectors take no pod of the tree."""
    pods = [pod["metadata"]["labels"] for body in rendered.documents for pod in pod_templates(body)]
    for body in rendered.documents:
        selector = service_selector(body)
        own = {key: value for key, value in selector.items() if not key.startswith("leaderworkerset.")}
        if own and not any(own.items() <= labels.items() for labels in pods) and not _of_controllers(own):
            yield f"{body['kind']} {body['metadata']['name']} selects no pod: {own}"


def _of_controllers(selector: Node) -> bool:
    return any(key.startswith("disaggregatedset.") for key in selector)


def service_selector(body: Node) -> Node:
    """The labels of pods that an object selects."""
    spec = body.get("spec") or {}
    selector: Node = (
        spec.get("selector") or {} if body["kind"] in ("Service", "PodDisruptionBudget", "InferencePool") else {}
    )
    labels: Node = selector.get("matchLabels", selector) if "matchExpressions" not in selector else {}
    return labels


def pod_templates(body: Node) -> list[Node]:
    """The pod templates of a workload."""
    return [template for group in pod_groups(body) for template in group]


def pod_groups(body: Node) -> Iterator[list[Node]]:
    """The pod templates of each group of a workload: leader and worker of a LeaderWorkerSet or a role, or one pod."""
    for holder in _group_specs(body):
        group = holder.get("leaderWorkerTemplate") or {}
        templates = (group.get("leaderTemplate"), group.get("workerTemplate"), holder.get("template"))
        yield [template for template in templates if template and "spec" in template]


def _group_specs(body: Node) -> list[Node]:
    spec = body.get("spec") or {}
    return [spec, *(role.get("spec") or role for role in spec.get("roles") or ())]


def containers(pod: Node) -> list[Node]:
    """All containers of a pod."""
    return [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]


def claims_of(workload: Node) -> Iterator[list[str]]:
    """The volumes that a workload claims for each pod of each group."""
    for holder in _group_specs(workload):
        claims = (holder.get("leaderWorkerTemplate") or {}).get("volumeClaimTemplates") or ()
        yield [claim["metadata"]["name"] for claim in claims]


def unread_volumes(pod: Node, claims: Sequence[str] = ()) -> Iterator[str]:
    """Volumes that no container of the pod reads, empty ones that are read and never written, and those that a claim
    of each pod (`claims`) takes the place of.
    """
    loads = any(container["name"].startswith("model-loader") for container in containers(pod))
    for volume in pod["spec"].get("volumes") or ():
        if volume["name"] in claims:
            yield f"a claim takes the place of the volume {volume['name']}"
        if volume["name"] == WEIGHTS_VOLUME and (not loads or "emptyDir" not in volume):
            continue  # somebody's own, or for a server that pulls by itself
        name = volume["name"]
        if not mounts_of(pod["spec"]["containers"], name):
            if mounts_of(pod["spec"].get("initContainers") or (), name):
                yield f"only init containers mount the volume {name}"
            else:
                yield f"nobody mounts the volume {name}"
        elif "emptyDir" in volume and all(mount.get("readOnly") for mount in mounts_of(containers(pod), name)):
            yield f"nobody writes the volume {name}"
    runner = engine_container(pod)
    if runner:
        weights = [mount["mountPath"] for mount in runner.get("volumeMounts") or ()]
        text = " ".join(map(str, [*(runner.get("command") or ()), *(runner.get("args") or ())]))
        for path in sorted(set(WEIGHTS.findall(text))):
            if not any(f"{path}/".startswith(f"{folder.rstrip('/')}/") for folder in weights):
                yield f"{ENGINE} reads {path}, where nothing is mounted"


def names_given_twice(pod: Node, claims: Sequence[str]) -> Iterator[str]:
    """Names that two of the pod's volumes, or two of the claims of each pod, have: the API server refuses both."""
    volumes = [volume["name"] for volume in pod["spec"].get("volumes") or ()]
    for names, what in ((volumes, "volumes"), (claims, "claims")):
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"two {what} are called {name}"


def mounts_below_read_only(pod: Node) -> Iterator[str]:
    """Mounts below a read-only one, where the container runtime cannot make their folder."""
    for container in containers(pod):
        mounts = container.get("volumeMounts") or ()
        for above in mounts:
            for mount in mounts if above.get("readOnly") else ():
                if mount is not above and mount["mountPath"].startswith(f"{above['mountPath'].rstrip('/')}/"):
                    yield f"{container['name']} mounts {mount['mountPath']} below the read-only {above['mountPath']}"


def mounts_of(some: Iterable[Node], volume: str) -> list[Node]:
    """Where containers mount a volume."""
    return [mount for container in some for mount in container.get("volumeMounts") or () if mount["name"] == volume]


def engine_container(pod: Node) -> Node | None:
    """The container of the engine; None in a pod of another kind."""
    return next((container for container in pod["spec"]["containers"] if container["name"] == ENGINE), None)


def lost_variables(row: Row, pod: Node) -> Iterator[str]:
    """Variables that a container reads and does not have, and those of the engine that another container has."""
    for container in containers(pod):
        env = {entry["name"] for entry in container.get("env") or ()} | GIVEN
        texts = [*(container.get("command") or ()), *(container.get("args") or ())]
        texts += [str(entry.get("value", "")) for entry in container.get("env") or ()]
        for name in {name for text in texts for name in REFERENCE.findall(text)} - env:
            if "-c" not in " ".join(map(str, container.get("command") or ())).split():  # a shell has its own
                yield f"{container['name']} reads $({name}), which it does not have"
    variable = {"secret": "API_KEY", "plain": "MODE"}.get(row["variables"], "")
    reaching = {variable, "HTTPS_PROXY" if row["pods"] == "environment" else ""} - {""}
    for container in pod["spec"]["containers"]:
        names = {entry["name"] for entry in container.get("env") or ()}
        if container["name"] == ENGINE:
            yield from (f"{name} does not reach the engine" for name in sorted(reaching - names))
        elif variable in names:
            yield f"{container['name']} has the engine's variable {variable}"


def variables_apart(row: Row, pods: Sequence[Node]) -> Iterator[str]:
    """Variables of leaders or workers alone that do not reach their engine, or that another container has. `pods`: a
    leader, and its workers, which may be as it is where all answer.
    """
    if len(pods) < 2 or pods[0] == pods[1]:
        return
    for pod, own in zip(pods, OWN_VARIABLES.values(), strict=False):
        for container in containers(pod) if "own variables" in row["hosts"] else ():
            names = {entry["name"] for entry in container.get("env") or ()} & {*OWN_VARIABLES.values()}
            if names != ({own} if container["name"] == ENGINE else set()):
                yield f"{container['name']} has the variables {sorted(names)}"


def accelerators_that_differ(row: Row, pod: Node) -> Iterator[str]:
    """Pods whose containers ask for other accelerators than the flavor has, or whose requests are above the limits."""
    total: dict[str, int] = {}
    for container in containers(pod):
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name, amount in limits.items():
            if "/" in name:
                total[name] = total.get(name, 0) + int(amount)
                if requests.get(name, amount) != amount:
                    yield f"{container['name']} requests {requests[name]} of {name}, and its limit is {amount}"
            elif name in requests and quantity.nanos(requests[name]) > quantity.nanos(amount):
                yield f"{container['name']} requests {requests[name]} of {name}, and its limit is {amount}"
    flavor = dict(FLAVORS[row["flavor"]])
    if row["flavors"] == "two sizes":  # a pod of either
        flavor["nvidia.com/gpu"] = max(2, flavor.get("nvidia.com/gpu", 0))
    for name, amount in total.items():
        if engine_container(pod) and amount > flavor.get(name, 1):
            yield f"the pod takes {amount} of {name}, and the flavor has {flavor}"


def pods_apart(pods: Sequence[Node]) -> Iterator[str]:
    """Pods of one group that cannot be scheduled together: other nodes, or spread over domains."""
    specs = [pod["spec"] for pod in pods]
    for field in ("nodeSelector", "tolerations", "runtimeClassName", "schedulerName", "priorityClassName"):
        if len({repr(spec.get(field)) for spec in specs if engine_container({"spec": spec})}) > 1:
            yield f"the pods of a group differ in {field}"
    for spec in specs:
        for constraint in spec.get("topologySpreadConstraints") or ():
            labels = (constraint.get("labelSelector") or {}).get("matchLabels") or {}
            if len(specs) > 1 and labels.get("leaderworkerset.sigs.k8s.io/worker-index") != "0":
                yield f"the spread constraint counts all pods of a group: {labels}"
    if len(specs) > 1 and "topologySpreadConstraints" in specs[1]:
        yield "workers have a spread constraint, which is of leaders"


def unknown_references(pod: Node, documents: list[Node]) -> Iterator[str]:
    """ConfigMaps of ours that are not rendered, and more than one loader in a place."""
    config_maps = {body["metadata"]["name"] for body in documents if body["kind"] == "ConfigMap"}
    for volume in pod["spec"].get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name")
        if name and name.startswith("app") and name not in config_maps:
            yield f"there is no ConfigMap {name}"
    names = [container["name"] for container in containers(pod)]
    if len(names) != len(set(names)):
        yield f"two containers of one name: {names}"


def refused_options(workload: Node, pod: Node) -> Iterator[str]:
    """Arguments of the engine that its version does not take."""
    notes = workload["metadata"].get("annotations") or {}
    backend, version = notes.get("renderer.llmaz.io/backend", ""), notes.get("renderer.llmaz.io/engine-version", "")
    rules = option_rules(backend, version) if version else None
    runner = engine_container(pod)
    if rules and runner and not any("-c" in word for word in runner.get("command") or ()):
        for finding in validate_options(rules, runner.get("args") or (), 1):
            if finding.code.startswith("E"):
                yield f"{finding.code} {finding.words}"


def option_rules(backend: str, version: str) -> OptionRules | None:
    """The rules of an engine's version."""
    return preset_args.option_rules(FILES, compiled_engine(backend, version), version, Collector())
