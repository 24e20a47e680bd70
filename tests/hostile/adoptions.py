"""Deployments for `llmaz adopt`: those of its tests, changed a little."""

from __future__ import annotations

import copy
import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tests.hostile import manifests, words
from tests.hostile.aims import Aim, Attempt, Ended, Faults
from tests.hostile.listeners import Listeners
from tests.hostile.repositories import places
from tests.hostile.text_fields import at
from tests.paths import TESTS

Node: TypeAlias = Any
FOLDER = "adopted"
SECRET = "sk-proj-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6"  # noqa: S105 - made up
NAMES = ("llmaz", "llmaz-policy", "kustomization", "extra", "rendered", "a.b", "A", "..", "a/b", ".git", "x" * 300, "")
NAMESPACES = ("extra", "llmaz-policy", "rendered", "other", "..", "a/b", ".git", "n" * 300, "a\nb", "a\x00b", "-o")
RESERVED = re.compile(r"(^|/)(\.[^/]*|kustomization\.ya?ml)(/|$)", re.IGNORECASE)


@cache
def sources() -> list[list[Node]]:
    """The objects of each test of which something is adopted."""
    folders = [path.parent / "input" for path in sorted(TESTS.glob("adopt/*/*/expected"))]
    inputs = [manifests.read_all(folder) for folder in folders]
    inputs += [
        manifests.read(path.parent / "input.yaml") for path in sorted(TESTS.glob("adopt/sources/*/expected.yaml"))
    ]
    return [bodies for bodies in inputs if bodies and all(isinstance(body.get("metadata"), dict) for body in bodies)]


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A dump that is changed, and how it is adopted."""
    bodies = copy.deepcopy(random.choice(sources()))
    if random.random() < 0.3:
        bodies += copy.deepcopy(random.choice(sources()))
    chance = random.random()
    if chance < 0.5:
        manifests.disturb(bodies, random)
    elif chance < 0.75:
        rename(bodies, random)
    planted = chance >= 0.85 and plant(bodies, random)
    manifests.put(folder, "dump/running.yaml", manifests.spelt(bodies, random))
    form = random.choice([(), (), ("-v",), ("--strict",), ("--format", "json"), ("--format", "github")])

    def faults(ended: Ended) -> Faults:
        yield from faults_of_files(folder / FOLDER, planted=planted)

    return Attempt(("adopt", "dump", "-o", FOLDER, *form), reaches, faults, (0, 1, 2), (FOLDER,))


def rename(bodies: list[Node], random: Random) -> None:
    """Gives another object of the same content a name that stands for something else, or nearly the same name."""
    body = copy.deepcopy(random.choice(bodies))
    metadata = body["metadata"]
    name = str(metadata.get("name"))
    if random.random() < 0.6:
        metadata["name"] = random.choice([*NAMES, name.upper(), name.capitalize(), words.text(random)])
    if random.random() < 0.6:
        metadata["namespace"] = random.choice([*NAMESPACES, words.text(random)])
    bodies.insert(random.randrange(len(bodies) + 1), body)


def plant(bodies: list[Node], random: Random) -> bool:
    """Writes a secret into a container. False where there is none."""
    containers = [
        container
        for body in bodies
        for place in places(body)
        if place[-1] == "containers" and isinstance(items := at(body, place), list)
        for container in items
        if isinstance(container, dict) and isinstance(container.get("name"), str)
    ]
    if not containers:
        return False
    container = random.choice(containers)
    header = {"name": "Authorization", "value": f"Bearer {SECRET}"}
    match random.randrange(4):
        case 0:
            container["env"] = [*(container.get("env") or ()), {"name": "API_TOKEN", "value": SECRET}]
        case 1:
            container["args"] = [*(container.get("args") or ()), "--api-key", SECRET]
        case 2:
            container["readinessProbe"] = {"httpGet": {"path": "/health", "port": 8000, "httpHeaders": [header]}}
        case _:
            command = ["sh", "-c", f"curl -H 'Authorization: Bearer {SECRET}' http://a.example"]
            container["lifecycle"] = {"postStart": {"exec": {"command": command}}}
    return True


def reaches(ended: Ended) -> bool:
    """Whether a file was written."""
    return (ended.folder / FOLDER / "llmaz.yaml").is_file()


def faults_of_files(folder: Path, *, planted: bool) -> Faults:
    """What is wrong with the files that were written."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        name = str(path.relative_to(folder))
        if RESERVED.search(name):
            yield "reserved name", name
        if planted and path.is_file() and SECRET in path.read_text("utf-8", "replace"):
            yield "secret", f"{name}: {path.read_text('utf-8', 'replace')[:600]}"


AIM = Aim("adopt", 9, "a file was written", attempt)
