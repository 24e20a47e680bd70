"""The CustomResourceDefinitions that the API server is given: those that our schemas are made of."""

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

from scripts.make_schemas import CRDS, INPUT_CRDS, crds  # noqa: E402

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


def definitions(kept: Path) -> list[Node]:
    """All of them. Reading them out of the Go modules takes a while: the result is kept in the file `kept`."""
    model = (SCRIPTS / "input-crds" / INPUT_CRDS["OpenModel"]).read_text("utf-8")
    made_of = hashlib.sha256(repr((CRDS, model, Path(__file__).read_bytes())).encode()).hexdigest()
    if kept.exists():
        known: Node = json.loads(kept.read_text("utf-8"))
        if known["madeOf"] == made_of:
            return list(known["crds"])
    found = [*(crd for source in CRDS for crd in crds(source)), structural(yaml.safe_load(model))]
    kept.write_text(json.dumps({"madeOf": made_of, "crds": found}, default=str), "utf-8")
    return found


def served(crd: Node) -> Iterator[tuple[str, str]]:
    """(group/version, kind) of each version that the API server will serve."""
    spec = crd["spec"]
    for version in spec["versions"]:
        if version["served"]:
            yield f"{spec['group']}/{version['name']}", spec["names"]["kind"]


def structural(node: Any) -> Any:
    """An input CRD as an API server takes it: what `x-core-type` stands for written out, as far as OpenModel has it."""
    if isinstance(node, list):
        return [structural(item) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("x-core-type")
    rest = {key: structural(value) for key, value in node.items() if key != "x-core-type"}
    if kind == "v1/ResourceList":
        either = [{"type": "integer"}, {"type": "string"}]
        amount = {"anyOf": either, "pattern": QUANTITY, "x-kubernetes-int-or-string": True}
        return {**rest, "additionalProperties": amount}
    return {**rest, "x-kubernetes-preserve-unknown-fields": True} if kind else rest
