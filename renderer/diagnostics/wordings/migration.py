"""Migration: what is said of dumps of a cluster that are compared with the tree, or that a cutover is made for."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

MIGRATION: Final[dict[str, Wording]] = {
    "E970": Wording(
        "nothing in the dump can be compared: of its {count} none serves a model, nor has the name of what is rendered",
        "dump what runs: kubectl get deployments,statefulsets,leaderworkersets,services,hpa -A -o yaml",
    ),
    "E971": Wording("no Kubernetes object: it has no {missing}", "give --live files that hold objects alone"),
    "W970": Wording(
        "the dump has this object twice, and otherwise in {other}, which is compared", "leave out one of them"
    ),
}
