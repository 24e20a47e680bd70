"""Dumps for `llmaz diff --live`: what a tree renders, or was adopted from, changed a little."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tests.hostile import manifests
from tests.hostile.aims import Aim, Attempt, Ended
from tests.hostile.listeners import Listeners
from tests.paths import TESTS

Node: TypeAlias = Any


@cache
def pairs() -> list[tuple[Path, list[Node]]]:
    """The folder of a tree, and what runs in its place."""
    adopted = [(path.parent, TESTS / "adopt" / "originals" / path.parent.name) for path in _adopted()]
    return [
        *((folder / "input", bodies) for folder, bodies in manifests.rendered_cases()),
        *((folder / "input", manifests.read_all(original / "input")) for folder, original in adopted),
    ]


def _adopted() -> list[Path]:
    paths = sorted(TESTS.glob("adopted/*/input"))
    return [path for path in paths if (TESTS / "adopt" / "originals" / path.parent.name / "input").is_dir()]


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A tree, and a dump that says something else."""
    source, objects = random.choice(pairs())
    bodies = copy.deepcopy(objects)
    manifests.copy_inputs(source, folder / "tree")
    manifests.disturb(bodies, random, 4)
    if random.random() < 0.5:
        for body in bodies:
            live(body)
    manifests.put(folder, "dump/all.yaml", manifests.spelt(bodies, random))
    form = random.choice([(), (), ("--strict",), ("--format", "json"), ("--show-values",)])
    return Attempt(("diff", "--live", "dump", *form, "--", "tree"), reaches, statuses=(0, 1, 2))


def live(body: Node) -> None:
    """What a cluster adds to an object."""
    if isinstance(metadata := body.get("metadata"), dict):
        metadata |= {"uid": "1", "resourceVersion": "2", "managedFields": [{"manager": "x"}]}
        body["status"] = {"replicas": 1}


def reaches(ended: Ended) -> bool:
    """Whether both sides were compared."""
    return ended.code in (0, 1)


AIM = Aim("diff --live", 9, "both sides were compared", attempt)
