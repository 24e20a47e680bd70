"""Migration: what is said of dumps of a cluster that are compared with the tree, or that a cutover is made for."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

MIGRATION: Final[dict[str, Wording]] = {
    "E970": Wording(
        "nothing in the dump can be compared: none of its {count} serves a model or has the name of a rendered object",
        "dump what runs: kubectl get deployments,statefulsets,leaderworkersets,services,hpa -A -o yaml",
    ),
    "E971": Wording("not a Kubernetes object: it has no {missing}", "give --live only files that hold objects"),
    "W970": Wording(
        "the dump has another version of this object in {other}, which is compared instead", "leave out one of them"
    ),
    "E980": Wording(
        "{kind} {name} has no managedFields, so the owners of its fields are unknown",
        "make the dump with kubectl get --show-managed-fields -o yaml",
    ),
    "N980": Wording(
        "the dump has no LeaderWorkerSet {name}: the sync creates it, with new pods",
    ),
    "W980": Wording(
        "the tree renders no LeaderWorkerSet {name}: it stays as it is, and so do the operator's definitions",
        "add its Playground to the tree, or name its folder after --",
    ),
    "E981": Wording(
        "the dump has nothing of llmaz's operator, and no workload in whose place the tree has another",
        "dump the cluster in which the operator runs, LeaderWorkerSets and Playgrounds of all namespaces; or workloads "
        "of others, beside the tree that llmaz adopt wrote for them",
    ),
    "E982": Wording(
        "this is {what}, not a Kubernetes object",
        "make the dump with kubectl get -o yaml, without kubectl's standard error",
    ),
    "W982": Wording(
        "the tree renders a {kind} {name}, with new pods: nothing of the LeaderWorkerSet is handed over",
        "leave workload.kind out until the cutover is over, and change it then",
    ),
    "E983": Wording(
        "{kind} {name} is in the dump twice, first in {first}", "pass one dump of one cluster, made at one time"
    ),
    "W983": Wording("this is not a selector: expected a JSON map of strings", "write the Service's selector by hand"),
    "E984": Wording("'{name}' is not a valid object name", "make the dump again, with kubectl alone"),
    "W984": Wording(
        "{kind} {name} has no LeaderWorkerSet in the dump: it stays as it is, and so do the operator's definitions",
        "dump LeaderWorkerSets of all namespaces; if it never ran, delete it by hand, with --cascade=orphan",
    ),
}
