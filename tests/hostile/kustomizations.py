"""Folders for `llmaz check --kustomize`: some that build, some that name what would have to be fetched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from renderer import yamlio
from tests.hostile import manifests, words
from tests.hostile.aims import Aim, Attempt, has_checked
from tests.hostile.listeners import Listeners

Node: TypeAlias = Any
CONFIG_MAP: Node = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"a": "b"}}
PATCH: Node = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"c": "d"}}
TARGET = {"kind": "ConfigMap", "name": "map", "version": "v1"}
PLUGIN: Node = {"apiVersion": "builtin", "kind": "LabelTransformer", "metadata": {"name": "a"}}
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [one.yaml]\n"
FIELDS: dict[str, Node] = {
    "namePrefix": "a-",
    "nameSuffix": "-z",
    "namespace": "team-a",
    "labels": [{"pairs": {"a": "b"}}],
    "commonAnnotations": {"example.com/note": "a"},
    "images": [{"name": "ghcr.io/ggml-org/web", "newTag": "2"}],
    "replicas": [{"name": "web", "count": 3}],
    "patches": [{"path": "patch.yaml"}],
    "patchesStrategicMerge": ["patch.yaml"],
    "configMapGenerator": [{"name": "made", "files": ["files/a.txt"], "literals": ["a=b"], "envs": ["files/a.env"]}],
    "secretGenerator": [{"name": "secret", "files": ["b=files/a.txt"]}],
    "transformers": [yamlio.dump({**PLUGIN, "labels": {"x": "y"}, "fieldSpecs": [{"path": "metadata/labels"}]})],
    "components": ["component"],
    "configurations": ["configuration.yaml"],
}
# Where a name of a file or folder may stand.
PLACES: dict[str, Callable[[str], Node]] = {
    "resources": lambda name: ["web.yaml", "map.yaml", name],
    "RESOURCES": lambda name: [name],
    "bases": lambda name: [name],
    "components": lambda name: [name],
    "crds": lambda name: [name],
    "configurations": lambda name: [name],
    "generators": lambda name: [name],
    "transformers": lambda name: [name],
    "validators": lambda name: [name],
    "patches": lambda name: [{"path": name, "target": TARGET}],
    "patchesStrategicMerge": lambda name: [name],
    "patchesJson6902": lambda name: [{"path": name, "target": TARGET}],
    "replacements": lambda name: [{"path": name}],
    "openapi": lambda name: {"path": name},
    "configMapGenerator": lambda name: [{"name": "made", "files": [name]}],
    "secretGenerator": lambda name: [{"name": "secret", "envs": [name]}],
    "helmCharts": lambda name: [{"name": "a", "repo": name, "version": "1.0.0"}],
}


def address(random: Random, listeners: Listeners) -> str:
    """A name of something elsewhere, which kustomize would fetch from a listener."""
    port = random.choice(listeners.ports)
    plain = random.choice(listeners.addresses())
    host = plain.partition("://")[2]
    return random.choice(
        [
            f"{plain}/x.yaml",
            f"{plain}/x.git//a?ref=main",
            f"{random.choice(listeners.addresses('https'))}/x.yaml",
            f"http:/{host}/x.yaml",
            f"HTTP://{host}/x.yaml",
            f"./http://{host}/x.yaml",
            f"a/../http://{host}/x.yaml",
            f"git::{plain}/x",
            f"git::http://{host}/x?ref=v1",
            f"{host}/x.git",
            f"git@{host}:x/y.git",
            f"ssh://git@{host}/x.git",
            f"file://{host}/x.git",
            f"github.com:{port}/a/b?ref=main",
            f"git@127.0.0.1:{port}/a/b",
            f"{plain}/a/b?timeout=1s&ref=x",
            f"{plain}/_git/b",
            "file:///etc/passwd",
            "../../canary/x.yaml",
            "/etc/passwd",
        ]
    )


def write_tree(folder: Path) -> None:
    """What a kustomization may name."""
    manifests.put(folder, "k/web.yaml", yamlio.dump(manifests.workload()))
    manifests.put(folder, "k/map.yaml", yamlio.dump(CONFIG_MAP))
    manifests.put(folder, "k/patch.yaml", yamlio.dump(PATCH))
    manifests.put(folder, "k/files/a.txt", "x\n")
    manifests.put(folder, "k/files/a.env", "A=b\n")
    manifests.put(folder, "k/configuration.yaml", "commonLabels: [{path: metadata/labels, create: true}]\n")
    manifests.put(folder, "k/component/kustomization.yaml", COMPONENT)
    one = {**CONFIG_MAP, "metadata": {"name": "one"}}
    manifests.put(folder, "k/component/one.yaml", yamlio.dump(one))
    manifests.put(folder, "k/example.com/x/kustomization.yaml", "resources: [two.yaml]\n")
    manifests.put(folder, "k/example.com/x/two.yaml", yamlio.dump({**CONFIG_MAP, "metadata": {"name": "two"}}))


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A folder with a kustomization."""
    write_tree(folder)
    bodies = [manifests.workload(), manifests.read(folder / "k" / "map.yaml")[0]]
    manifests.disturb(bodies[random.randrange(2) :], random, 1)
    body: Node = {"resources": ["web.yaml", "map.yaml"]}
    body |= {field: FIELDS[field] for field in random.sample([*FIELDS], random.choice([1, 2, 4]))}
    chance = random.random()
    if chance < 0.3:
        name, place = address(random, listeners), random.choice([*PLACES])
        body[place] = PLACES[place](name)
        if random.random() < 0.5 and not name.startswith(("/", "..")):
            _write(folder / "k" / name)
    elif chance < 0.36:
        body[random.choice([*FIELDS])] = words.text(random)
    elif chance < 0.46:
        body["resources"] = [*body["resources"], random.choice(["example.com/x", "./component/one.yaml"])]
    elif chance < 0.8:
        manifests.put(folder, "k/web.yaml", yamlio.dump(bodies[0]))
        manifests.put(folder, "k/map.yaml", yamlio.dump(bodies[1]))
    name = random.choice(["kustomization.yaml", "kustomization.yml", "Kustomization"])
    manifests.put(folder, f"k/{name}", yamlio.dump(body))
    form = random.choice([(), (), ("--format", "json"), ("--strict",)])
    return Attempt(("check", "--kustomize", "k", *form), has_checked)


def _write(path: Path) -> None:
    """A file of the tree that has the name of an address."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yamlio.dump({**CONFIG_MAP, "metadata": {"name": "three"}}), "utf-8")
    except OSError:
        return


AIM = Aim("check --kustomize", 5, "objects that it built were checked", attempt)
