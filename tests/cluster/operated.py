"""A cluster in which llmaz's operator runs: its custom resources, what it makes of them, and stand-ins for programs.

The operator's own objects are those of `tests/conformance`, applied as it applies them: server-side, by the manager
`llmaz`, with owner references to custom resources of which only the names of their definitions are real. Stand-ins
write what the operator, Argo CD's sync of the operator, and that of the rendered files would write, as long as the
cluster says that they run.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.apiserver.server import HOST, Body, CannotJudge
from tests.cluster.control import MANAGER, Cluster
from tests.cluster.trial import condition
from tests.paths import TESTS

OPERATOR = "llmaz"  # the operator's field manager
CREATOR = "manager"  # under which its program makes what it does not apply
SYSTEM, NAME = "llmaz-system", "llmaz-controller-manager"
SCALED, GROUPED = (
    "qwen-elastic",
    "llama-405b",
)  # by a Playground with an autoscaler; by a Service, in groups of two pods
REPLICAS = {SCALED: 3, GROUPED: 2}
SIZES = {SCALED: 1, GROUPED: 2}  # pods of a replica
CASES = {SCALED: "026-elastic-own-trigger", GROUPED: "032-service-leader-worker"}
OLD = "SET_BY_THE_OPERATOR"  # a variable that the tree does not have any more
PAUSE = 0.5  # seconds between two looks of the stand-ins
INFERENCE, CORE, ARGO = "inference.llmaz.io/v1alpha1", "llmaz.io/v1alpha1", "argoproj.io/v1alpha1"
WORKLOAD = "leaderworkerset.x-k8s.io/v1"
CLOSED = 1  # a port at which nobody listens


class Kind(NamedTuple):
    """A kind of custom resources."""

    version: str
    name: str
    plural: str
    namespaced: bool = True


KINDS = (
    Kind(INFERENCE, "Playground", "playgrounds"),
    Kind(INFERENCE, "Service", "services"),
    Kind(INFERENCE, "BackendRuntime", "backendruntimes", namespaced=False),
    Kind(CORE, "OpenModel", "openmodels", namespaced=False),
)
APPLICATION = Kind(ARGO, "Application", "applications")


def definition(kind: Kind) -> Body:
    """A CRD that takes any object of the kind. Whatever may be scaled has its scale where the operator's has it."""
    group, _, version = kind.version.partition("/")
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    form: Body = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    if kind.name == "Playground":
        form["subresources"] = {"scale": {**scale, "labelSelectorPath": ".status.selector"}}
    names = {"kind": kind.name, "plural": kind.plural, "singular": kind.name.lower(), "listKind": f"{kind.name}List"}
    scope = "Namespaced" if kind.namespaced else "Cluster"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": [form]},
    }


# ---- what is written, by whom ----


def case(name: str, file: str) -> list[Body]:
    """The documents of a file of the conformance case of a model."""
    text = (TESTS / "conformance" / "cases" / CASES[name] / file).read_text("utf-8")
    return [body for body in yaml.safe_load_all(text) if body]


def inputs(name: str, namespace: str) -> list[Body]:
    """What the tree holds of a model: the custom resources, without what only the operator has."""
    bodies = case(name, "input.yaml")
    for body in bodies:
        if "namespace" in body["metadata"]:
            body["metadata"]["namespace"] = namespace
            body["spec"].pop("replicas", None)
            if name == GROUPED:
                body["spec"]["replicas"] = REPLICAS[name]
    return bodies


def outputs(name: str, namespace: str) -> tuple[Body, Body, list[Body]]:
    """What the operator makes of a model: its LeaderWorkerSet, its Service for clients, its autoscaler."""
    workload, service, *scalers = case(name, "expected.yaml")
    for body in (workload, service, *scalers):
        body["metadata"]["namespace"] = namespace
    workload["spec"]["replicas"] = REPLICAS[name]
    container = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    container["env"] = [*container.get("env", ()), {"name": OLD, "value": "1"}]
    return workload, service, scalers


def owned(body: Body, owner: Body) -> Body:
    """The object with its owner, as a controller writes it."""
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    reference |= {"controller": True, "blockOwnerDeletion": True}
    return {**body, "metadata": {**body["metadata"], "ownerReferences": [reference]}}


def installation() -> list[Body]:
    """What Argo CD applies of the operator: its Deployment, and webhooks that fail closed."""
    labels = {"control-plane": "controller-manager", "app.kubernetes.io/created-by": "llmaz"}
    tracking = {"argocd.argoproj.io/tracking-id": f"{OPERATOR}-operator:apps/Deployment:{SYSTEM}/{NAME}"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "manager", "image": "inftyai/llmaz:v0"}]},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": SYSTEM, "labels": labels, "annotations": tracking},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }
    return [deployment, *map(webhook, ("Mutating", "Validating"))]


def webhook(word: str) -> Body:
    """A webhook configuration of the operator: nobody answers for it, as when the operator is scaled to zero."""
    rules = [
        {
            "apiGroups": [kind.version.partition("/")[0]],
            "apiVersions": ["v1alpha1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": [kind.plural],
        }
        for kind in KINDS
    ]
    hook = {
        "name": f"{word.lower()}.llmaz.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": f"https://{HOST}:{CLOSED}/"},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "rules": rules,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{word}WebhookConfiguration",
        "metadata": {"name": f"llmaz-{word.lower()}-webhook-configuration"},
        "webhooks": [hook],
    }


def operator_application() -> Body:
    """The Application by which Argo CD keeps the operator as it is."""
    return {
        "apiVersion": ARGO,
        "kind": "Application",
        "metadata": {"name": f"{OPERATOR}-operator", "namespace": "argocd"},
        "spec": {"syncPolicy": {"automated": {"prune": True, "selfHeal": True}}},
    }


def apply(cluster: Cluster, body: Body, manager: str) -> Body:
    """The object, once a manager has applied it. Raises CannotJudge where the server refuses it."""
    how = {"fieldManager": manager, "force": "true"}
    answer = cluster.client("PATCH", cluster.path(body), json.dumps(body), "application/apply-patch+yaml", **how)
    if answer.message:
        raise CannotJudge(f"{body['kind']} {body['metadata']['name']}: {answer.message}")
    return answer.body


def operate(cluster: Cluster, name: str, namespace: str) -> list[Body]:
    """Makes the custom resources of a model, and all that the operator makes of them. What it goes on applying."""
    apply(cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, "kubectl")
    workload, service, scalers = outputs(name, namespace)
    owner: Body = {}
    for body in inputs(name, namespace):
        live = apply(cluster, body, "kubectl")
        owner = live if live["kind"] in ("Playground", "Service") else owner
    scalers = [owned(scaler, owner) for scaler in scalers]
    if owner["kind"] == "Playground":
        made_of = {"modelClaims": owner["spec"].get("modelClaims", {}), "replicas": REPLICAS[name]}
        body = {"apiVersion": INFERENCE, "kind": "Service", "metadata": {"name": name, "namespace": namespace}}
        owner = apply(cluster, owned({**body, "spec": made_of}, owner), OPERATOR)
    workload = owned(workload, owner)
    for body in (workload, *scalers):
        apply(cluster, body, OPERATOR)
    path, text = cluster.path(service, named=False), json.dumps(owned(service, owner))
    if message := cluster.client("POST", path, text, fieldManager=CREATOR).message:
        raise CannotJudge(f"Service {name}-lb: {message}")
    return [workload, *scalers]


def deactivate(cluster: Cluster, name: str, namespace: str) -> None:
    """Takes the selector of a model's Service away, as the operator's activator does."""
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"{name}-lb", "namespace": namespace}}
    live = cluster.live(body)
    cached = {"activator.llmaz.io/cached-state": json.dumps(live["spec"].pop("selector"), separators=(",", ":"))}
    live["metadata"]["annotations"] |= cached
    if message := cluster.client("PUT", cluster.path(body), json.dumps(live), fieldManager=CREATOR).message:
        raise CannotJudge(f"Service {name}-lb: {message}")


# ---- the stand-ins ----


class StandIns:
    """What the operator and Argo CD would do, as long as a `with` block of `running` lasts."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.operated: list[Body] = []  # what the operator applies again and again
        self.rendered: Path | None = None  # the folder that Argo CD syncs once it is told so
        self.fault = ""
        self._ended = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [
            threading.Thread(target=self._repeat, args=(act,))
            for act in (self._sync_operator, self._operate, self._sync)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()

    def _repeat(self, act: Any) -> None:
        while not self._ended.wait(PAUSE):
            try:
                act()
            except CannotJudge as error:
                self.fault = str(error)

    def _sync_operator(self) -> None:
        """Argo CD, about the operator."""
        live = self.cluster.live(operator_application())
        if live.get("spec", {}).get("syncPolicy", {}).get("automated"):
            for body in installation():
                apply(self.cluster, body, MANAGER)

    def _operate(self) -> None:
        """The operator, where it has a replica."""
        if self.cluster.live(installation()[0]).get("spec", {}).get("replicas"):
            for body in [*self.operated]:
                if self.cluster.live(body):
                    apply(self.cluster, body, OPERATOR)

    def _sync(self) -> None:
        """Argo CD, about the rendered files, by the Application that `llmaz argocd application` prints."""
        metadata = {"name": "llmaz", "namespace": "argocd"}
        live = self.cluster.live({"apiVersion": ARGO, "kind": "Application", "metadata": metadata})
        options = live.get("spec", {}).get("syncPolicy", {}).get("syncOptions", ())
        if self.rendered is None or "ServerSideApply=true" not in options:
            return
        for body in rendered_objects(self.rendered):
            apply(self.cluster, body, MANAGER)
        patch = json.dumps({"status": {"sync": {"status": "Synced"}}})
        self.cluster.client("PATCH", self.cluster.path(live), patch, "application/merge-patch+json")


def rendered_objects(folder: Path) -> list[Body]:
    """The objects of the rendered files that somebody acts on here."""
    bodies = [body for path in sorted(folder.rglob("*.yaml")) for body in yaml.safe_load_all(path.read_text("utf-8"))]
    return [copy.deepcopy(body) for body in bodies if body]


def unready(cluster: Cluster, namespace: str, names: Sequence[str]) -> Iterator[str]:
    """The models that do not have all their pods ready. The status of a LeaderWorkerSet comes later than its pods."""
    pods = cluster.listed(f"/api/v1/namespaces/{namespace}/pods")
    for name in names:
        ready = [
            pod
            for pod in pods
            if pod["metadata"]["name"].startswith(f"{name}-")
            and "deletionTimestamp" not in pod["metadata"]
            and condition(pod, "Ready")["status"] == "True"
        ]
        if len(ready) != REPLICAS[name] * SIZES[name]:
            yield f"{namespace}/{name}: {len(ready)} of {REPLICAS[name] * SIZES[name]} pods are ready"
