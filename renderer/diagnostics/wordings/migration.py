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
    "E980": Wording(
        "{kind} {name} has no managedFields, without which nobody knows whose its fields are",
        "make the dump with kubectl get --show-managed-fields -o yaml",
    ),
    "N980": Wording(
        "the dump has no LeaderWorkerSet {name}: the sync makes it, with pods of its own",
    ),
    "W980": Wording(
        "the tree renders no LeaderWorkerSet {name}: it stays as it is, and the operator's definitions with it",
        "add its Playground to the tree, or name its folder behind --",
    ),
    "E981": Wording(
        "nothing in it is of llmaz's operator: no object that it made, no custom resource, no part of itself",
        "dump the cluster in which the operator runs, LeaderWorkerSets and Playgrounds of all namespaces",
    ),
    "E982": Wording(
        "this is {what}, no Kubernetes object",
        "make the dump with kubectl get -o yaml, and keep what it says on standard error out of it",
    ),
    "W982": Wording(
        "the tree renders a {kind} {name}, with pods of its own: nothing of the LeaderWorkerSet is handed over",
        "leave workload.kind out until the cutover is over, and change it then",
    ),
    "E983": Wording(
        "{kind} {name} is in the dump twice, first in {first}", "pass one dump of one cluster, made at one time"
    ),
    "W983": Wording(
        "this is not a selector: a map of texts in JSON is expected", "the Service's selector has to be written by hand"
    ),
    "E984": Wording("'{name}' is not a name of an object", "make the dump anew; nothing but kubectl is to write it"),
    "W984": Wording(
        "{kind} {name} has no LeaderWorkerSet in the dump: it stays as it is, and the operator's definitions with it",
        "dump LeaderWorkerSets of all namespaces; delete it by hand, with --cascade=orphan, where it never ran",
    ),
}
