"""Objects for a RenderPolicy: what it denies and what it allows, in many spellings, beside what is allowed."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

from renderer import yamlio
from tests.hostile import manifests, words
from tests.hostile.aims import Aim, Attempt, Ended, Faults
from tests.hostile.listeners import Listeners

Node: TypeAlias = Any
CONFIG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec: {passThrough: ["extra/**"]}
"""
POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  folders:
    - {path: "teams/a/**", namespaces: [team-a]}
    - {path: "extra/**", namespaces: [team-a]}
    - {path: "platform/**", namespaces: ["*"]}
  definitions: {models: ["platform/**"], backends: ["platform/**"], presetNames: ["platform/**"]}
  publicNames: [{namespaces: [team-a], names: ["a-*"]}]
  images: {registries: [ghcr.io/ggml-org, docker.io/inftyai]}
  providers: {hosts: [api.openai.com, "*.example.com"]}
  weights: {sources: ["hf://Qwen/*"], hostPaths: [/data/models]}
  pods:
    serviceAccounts: [default, "team-*"]
    priorityClasses: ["team-*"]
    hostNetwork: false
    hostPID: false
    privileged: false
    runAsRoot: false
  passThrough:
    kinds: [ConfigMap, Service, Pod, apps/*, batch/*, leaderworkerset.x-k8s.io/LeaderWorkerSet, List]
  config: {output: ["."], passThrough: ["."], external: ["."]}
"""
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: chat-small}
spec:
  familyName: qwen3
  source: {modelHub: {modelID: Qwen/Qwen3-0.6B-GGUF, filename: Qwen3-0.6B-Q8_0.gguf}}
"""
PLAYGROUND: Node = {
    "apiVersion": "inference.llmaz.io/v1alpha1",
    "kind": "Playground",
    "metadata": {"name": "chat", "namespace": "team-a"},
    "spec": {
        "servedModelName": "a-chat",
        "modelClaim": {"modelName": "chat-small"},
        "backendRuntimeConfig": {"backendName": "llamacpp"},
    },
}
KINDS = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "LeaderWorkerSet")
VERDICT = re.compile(r"\bE8[12]\d\b")
ERROR = re.compile(r"\bE\d{3}\b")


class Rule(NamedTuple):
    """A field that the policy is about, with what it denies and what it allows; the words of each draw one."""

    code: str
    denied: Sequence[Callable[[Node], None]]  # changes of the spec of a pod
    allowed: Sequence[Callable[[Node], None]]


def _set(**fields: Node) -> Callable[[Node], None]:
    return lambda pod: pod.update(copy.deepcopy(fields))


def _container(list_: str = "containers", **fields: Node) -> Callable[[Node], None]:
    """A container beside the others. An init container is called otherwise than a container."""

    def change(pod: Node) -> None:
        container = {"name": f"x-{len(list_)}", "image": "ghcr.io/ggml-org/x:1", **copy.deepcopy(fields)}
        pod[list_] = [*(pod.get(list_) or ()), container]

    return change


def _volume(path: str) -> Callable[[Node], None]:
    return _set(volumes=[{"name": "host", "hostPath": {"path": path}}])


EVIL = ("ghcr.io/ggml-organisation/x:1", "ghcr.io/ggml-org-2/x", "busybox", "ghcr.io:443/ggml-org/x:1", "localhost/x")
GOOD = ("ghcr.io/ggml-org/x:1", "ghcr.io/ggml-org/a/b", "inftyai/x:1", f"docker.io/inftyai/x@sha256:{'0' * 64}")
PRIVILEGED = {"securityContext": {"privileged": True}}
ROOT = {"securityContext": {"runAsUser": 0}}
LISTS = ("containers", "initContainers")
RULES = (
    Rule(
        "E819",
        (
            _set(serviceAccountName="admin"),
            _set(serviceAccountName="admin", serviceAccount="admin"),
            _set(serviceAccountName="admin", serviceAccount="team-a"),
            _set(serviceAccount="admin", serviceAccountName=""),
            _set(serviceAccount="admin", serviceAccountName=None),
            _set(serviceAccount="admin"),
        ),
        (_set(serviceAccountName="team-a"), _set(serviceAccountName=""), _set(serviceAccount="team-b"), _set()),
    ),
    Rule("E820", (_set(priorityClassName="system-node-critical"),), (_set(priorityClassName="team-x"),)),
    Rule("E821", (_set(hostNetwork=True),), (_set(hostNetwork=False),)),
    Rule("E822", (_set(hostPID=True),), (_set(hostPID=False),)),
    Rule(
        "E823",
        [_container(name, **PRIVILEGED) for name in LISTS],
        (_container(securityContext={"privileged": False}),),
    ),
    Rule(
        "E824",
        [*(_container(name, **ROOT) for name in LISTS), _set(**ROOT)],
        (_container(securityContext={"runAsUser": 1000}), _set(securityContext={"runAsUser": 1})),
    ),
    Rule(
        "E815",
        [_container(name, image=image) for name in LISTS for image in EVIL],
        [_container(name, image=image) for name in LISTS for image in GOOD],
    ),
    Rule(
        "E818",
        [_volume(path) for path in ("/etc", "/data/models-of-others", "/data/models/../../etc", "/", "//etc")],
        [_volume(path) for path in ("/data/models", "/data/models/x/", "/data//models/y")],
    ),
)


def write_base(folder: Path) -> None:
    """What is allowed, by itself."""
    manifests.put(folder, "llmaz.yaml", CONFIG)
    manifests.put(folder, "llmaz-policy.yaml", POLICY)
    manifests.put(folder, "platform/models.yaml", MODEL)
    manifests.put(folder, "teams/a/chat.yaml", yamlio.dump(PLAYGROUND))


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A pod that is allowed or denied in one field, in an object of one kind in one spelling."""
    write_base(folder)
    rule, is_denied = random.choice(RULES), random.random() < 0.6
    kind = random.choice([*KINDS, "Playground"])
    body = copy.deepcopy(PLAYGROUND) if kind == "Playground" else manifests.workload(kind, "web", "team-a")
    pod = {} if kind == "Playground" else manifests.pod_of(body)
    random.choice(rule.denied if is_denied else rule.allowed)(pod)
    if kind == "Playground":
        body["spec"]["podTemplate"] = {"spec": pod}
    name = "teams/a/chat.yaml" if kind == "Playground" else "extra/objects.yaml"
    if random.random() < 0.5:
        note = words.text(random)
        body["metadata"]["annotations"] = {"example.com/note": note}
    others = [] if kind == "Playground" else _beside(random)
    text = manifests.spelt([body, *others], random)
    manifests.put(folder, name, text)

    def faults(ended: Ended) -> Faults:
        codes = {*ERROR.findall(ended.text)}
        if is_denied and ended.code in (0, 1):
            yield "not denied", f"{rule.code} {kind} {body}"
        if not is_denied and codes and codes <= {*VERDICT.findall(ended.text)}:
            yield "denied", f"{ended.text[:400]} {kind} {body}"

    command = random.choice([("validate",), ("render", "--check"), ("render",), ("validate", "--format", "json")])
    return Attempt(command, reaches, faults, (0, 1, 2))


def _beside(random: Random) -> list[Node]:
    """Allowed objects, with hostile text in what no rule reads."""
    metadata = {"name": "beside", "namespace": "team-a"}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": words.text(random)}}
    ] * random.randrange(2)


def reaches(ended: Ended) -> bool:
    """Whether the rules of the policy have judged the object: nothing else is wrong with it."""
    codes = {*ERROR.findall(ended.text)}
    return ended.code in (0, 1) or (bool(codes) and codes <= {*VERDICT.findall(ended.text)})


AIM = Aim("policy", 10, "the policy judged an object", attempt)
