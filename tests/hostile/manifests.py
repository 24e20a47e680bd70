"""Kubernetes objects that are valid, and a little change of them: hostile text, odd values, another spelling."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from renderer import yamlio
from tests.hostile import words
from tests.hostile.repositories import places, written
from tests.hostile.text_fields import at
from tests.paths import TESTS

Node: TypeAlias = Any
Place: TypeAlias = tuple[Any, ...]
# What an object is known by: without it there is nothing to look at.
IDENTITY = frozenset({("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("spec",)})
LARGEST = 40_000  # bytes of a file that is taken


def read(path: Path) -> list[Node]:
    """The objects of a file, those of lists one by one."""
    documents, _ = yamlio.parse(path.name, path.read_bytes())
    return [body for document in documents for body in _flat(document.value) if isinstance(body, dict)]


def _flat(body: Node) -> list[Node]:
    items = body.get("items") if isinstance(body, dict) else None
    return [inner for item in items for inner in _flat(item)] if isinstance(items, list) else [body]


def read_all(folder: Path) -> list[Node]:
    """The objects of all files below a folder."""
    return [body for path in sorted(folder.rglob("*.yaml")) for body in read(path)]


@cache
def rendered_cases() -> list[tuple[Path, list[Node]]]:
    """The folder of each case that is no environment's, with what it renders to."""
    folders = [path.parent for path in sorted(TESTS.glob("cases/*/input")) if not (path.parent / "args.txt").exists()]
    read_ = [(folder, read_all(folder / "expected")) for folder in folders if _size(folder) < LARGEST]
    return [(folder, objects) for folder, objects in read_ if objects]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.yaml"))


def workload(kind: str = "Deployment", name: str = "web", namespace: str = "") -> Node:
    """An object of an API of Kubernetes that has a pod, which every rule takes."""
    container = {"name": "web", "image": "ghcr.io/ggml-org/web:1", "resources": {"limits": {"memory": "1Gi"}}}
    pod = {"containers": [container]}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    selector = {"matchLabels": {"app": name}}
    job = {"template": {"spec": {**pod, "restartPolicy": "Never"}}}
    api, spec = {
        "Pod": ("v1", pod),
        "Deployment": ("apps/v1", {"replicas": 1, "selector": selector, "template": template}),
        "StatefulSet": ("apps/v1", {"serviceName": name, "selector": selector, "template": template}),
        "DaemonSet": ("apps/v1", {"selector": selector, "template": template}),
        "Job": ("batch/v1", job),
        "CronJob": ("batch/v1", {"schedule": "0 0 * * *", "jobTemplate": {"spec": job}}),
        "LeaderWorkerSet": (
            "leaderworkerset.x-k8s.io/v1",
            {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": template}},
        ),
    }[kind]
    return copy.deepcopy({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec})


def pod_of(body: Node) -> Node:
    """The spec of the pod of such an object."""
    spec = body["spec"]
    for key in ("jobTemplate", "spec", "leaderWorkerTemplate", "workerTemplate", "template", "spec"):
        spec = spec.get(key, spec)
    return spec


# ---- changes ----


def disturb(bodies: Sequence[Node], random: Random, most: int = 2) -> None:
    """Changes some objects at some places. What they are known by stays."""
    for _ in range(random.randint(1, most)):
        body = random.choice(bodies)
        listed = [place for place in places(body) if place not in IDENTITY]
        if listed:
            random.choice(CHANGES)(body, random.choice(listed), random)


def _write_text(body: Node, place: Place, random: Random) -> None:
    """Into the place where it has a text, or into an annotation."""
    *way, last = place
    if isinstance(at(body, way)[last], str):
        at(body, way)[last] = words.text(random)
    else:
        _annotate(body, place, random)


def _annotate(body: Node, place: Place, random: Random) -> None:
    metadata = body.setdefault("metadata", {})
    annotations = metadata.setdefault("annotations", {}) if isinstance(metadata, dict) else None
    if isinstance(annotations, dict):
        annotations[random.choice(["example.com/note", words.text(random)])] = words.text(random)


def _write_value(body: Node, place: Place, random: Random) -> None:
    *way, last = place
    at(body, way)[last] = words.value(random)


def _leave_out(body: Node, place: Place, random: Random) -> None:
    *way, last = place
    del at(body, way)[last]


def _repeat(body: Node, place: Place, random: Random) -> None:
    *way, last = place
    parent = at(body, way)
    if isinstance(parent, list):
        parent[:] = [copy.deepcopy(parent[last]), *parent] * random.choice([1, 1, 8])
    else:
        parent[words.text(random)] = copy.deepcopy(parent[last])


CHANGES: Sequence[Callable[[Node, Place, Random], None]] = (
    _write_text,
    _write_text,
    _write_text,
    _annotate,
    _annotate,
    _write_value,
    _leave_out,
    _repeat,
)


# ---- spellings ----


def spelt(bodies: Sequence[Node], random: Random) -> str:
    """The objects as a file, in one of many ways that say the same."""
    items = [_shuffled(body, random) if random.random() < 0.5 else body for body in bodies]
    if random.random() < 0.2:
        items = [_listed(items, random)]
    match random.randrange(4):
        case 0:
            return "---\n".join(f"{_escaped(json.dumps(item), random)}\n" for item in items)
        case 1:
            return "---\n".join(f"# {i}\n{yamlio.dump(item)}" for i, item in enumerate(items))
        case _:
            return written(items, random)


def _shuffled(value: Node, random: Random) -> Node:
    """The same maps in another order."""
    if isinstance(value, list):
        return [_shuffled(item, random) for item in value]
    if not isinstance(value, dict):
        return value
    pairs = [(key, _shuffled(item, random)) for key, item in value.items()]
    random.shuffle(pairs)
    return dict(pairs)


def _listed(items: Sequence[Node], random: Random) -> Node:
    """The same objects as one."""
    listed = {"apiVersion": "v1", "kind": "List", "items": [*items]}
    return {"apiVersion": "v1", "kind": "List", "items": [listed]} if random.random() < 0.3 else listed


def _escaped(text: str, random: Random) -> str:
    """JSON in which a letter of its strings may be an escape."""
    letter = random.choice("aeio")
    if random.random() < 0.5 or "\\" in text:
        return text
    return re.sub('"[^"]*"', lambda string: string[0].replace(letter, f"\\u{ord(letter):04x}"), text)


def put(folder: Path, name: str, text: str) -> None:
    """Writes a file of a repository."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def copy_inputs(source: Path, folder: Path) -> None:
    """Writes the input of a case."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink():
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
