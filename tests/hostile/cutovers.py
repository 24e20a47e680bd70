"""Clusters for `llmaz cutover`: a real one's dump, changed a little; and what a shell makes of the script."""

from __future__ import annotations

import copy
import subprocess
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tests.hostile import manifests
from tests.hostile.aims import Aim, Attempt, Ended, Faults, succeeds
from tests.hostile.listeners import Listeners
from tests.paths import TESTS

Node: TypeAlias = Any
CASE = TESTS / "cutover" / "two-models"
# Each word that a script may run is a function that does nothing; everything else is not found.
STUBS = "kubectl() { :; }\nllmaz() { :; }\ngrep() { :; }\n"
FIRST = "# From llmaz's operator"
COUNTS = (0, 3, 100_000_000, 2**70, -1, "7", None, 1.5, True)


@cache
def dump() -> dict[str, list[Node]]:
    """The objects of each file of the dump."""
    return {path.name: manifests.read(path) for path in sorted((CASE / "dump").iterdir())}


def attempt(folder: Path, random: Random, listeners: Listeners) -> Attempt:
    """A dump that is changed, and the tree that takes over."""
    files = copy.deepcopy(dump())
    bodies = [body for objects in files.values() for body in objects]
    if random.random() < 0.8:
        manifests.disturb(bodies, random, 3)
    if random.random() < 0.3:
        _count(random.choice([body for body in bodies if body["kind"] == "LeaderWorkerSet"]), random)
    for name, objects in files.items():
        manifests.put(folder, f"dump/{name}", manifests.spelt(objects, random))
    manifests.copy_inputs(CASE / "tree", folder / "tree")
    is_json = random.random() < 0.2
    form = ("--format", "json") if is_json else ()
    arguments = ("cutover", "dump", "--gitops", random.choice(["argocd", "flux"]), *form, "--", "tree")
    return Attempt(arguments, succeeds, no_faults if is_json else shell_faults)


def _count(body: Node, random: Random) -> None:
    """Another number of replicas or of pods of a group."""
    spec = body["spec"] if isinstance(body["spec"], dict) else {}
    template = spec.get("leaderWorkerTemplate")
    (random.choice([spec, template]) if isinstance(template, dict) else spec)[
        "replicas" if random.random() < 0.5 else "size"
    ] = random.choice(COUNTS)


def no_faults(ended: Ended) -> Faults:
    """None."""
    yield from ()


def shell_faults(ended: Ended) -> Faults:
    """What a shell makes of the script beside the commands that a cutover has."""
    if ended.code != 0:
        return
    scratch = ended.folder.parent / "shell" / "scratch"
    scratch.mkdir(parents=True)
    script = f"{STUBS}{ended.text[ended.text.index(FIRST) :]}"  # behind the warnings
    done = subprocess.run(
        ["/bin/sh"],
        input=script.encode("utf-8", "surrogateescape"),
        cwd=scratch,
        env={"PATH": "/nowhere"},
        capture_output=True,
        check=False,
        timeout=20,
    )
    if done.stderr:
        yield "shell", done.stderr.decode("utf-8", "replace")[-300:]
    beside = sorted(path.name for path in [*scratch.iterdir(), *scratch.parent.iterdir()])
    if beside not in (["after.yaml", "scratch"], ["scratch"]):
        yield "shell wrote", str(beside)


AIM = Aim("cutover", 8, "the script was printed", attempt)
