"""The CustomResourceDefinitions that the API server is given: those that our schemas are made of, Argo CD's, Flux'."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import yaml

Node: TypeAlias = dict[str, Any]

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.append(str(SCRIPTS))  # a script finds its neighbours there

from scripts.make_gitops_schemas import CRDS as TOOLS  # noqa: E402
from scripts.make_schemas import CRDS as OURS  # noqa: E402
from scripts.make_schemas import crds  # noqa: E402

CRDS = (*OURS, *TOOLS)
MODEL = SCRIPTS.parent / "charts" / "llmaz" / "files" / "openmodel-crd.yaml"


def definitions(cache: Path) -> list[Node]:
    """All of them. Reading them out of the Go modules takes a while: the result is kept in the file `cache`."""
    model = MODEL.read_text("utf-8")
    made_of = hashlib.sha256(repr((CRDS, model, Path(__file__).read_bytes())).encode()).hexdigest()
    if cache.exists():
        known: Node = json.loads(cache.read_text("utf-8"))
        if known["madeOf"] == made_of:
            return list(known["crds"])
    all_crds = [*(crd for source in CRDS for crd in crds(source)), yaml.safe_load(model)]
    cache.write_text(json.dumps({"madeOf": made_of, "crds": all_crds}, default=str), "utf-8")
    return all_crds


def served(crd: Node) -> Iterator[tuple[str, str]]:
    """(group/version, kind) of each version that the API server will serve."""
    spec = crd["spec"]
    for version in spec["versions"]:
        if version["served"]:
            yield f"{spec['group']}/{version['name']}", spec["names"]["kind"]
