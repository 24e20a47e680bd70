"""Wordings about nodes: NodePools, instance types and Karpenter."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

NODES: Final[dict[str, Wording]] = {
    "E790": Wording(
        "RenderConfig does not describe the nodes",
        "write spec.karpenter: role or instanceProfile, amiAlias, subnetSelectorTerms, securityGroupSelectorTerms",
    ),
    "W790": Wording("the flavor '{name}': {what}", "{hint}"),
    "E791": Wording("nodes need {what}", "{hint}"),
    "W791": Wording(
        "{pods} do not tolerate the taint '{taint}', so the nodes of {flavors} do not get it",
        "add the toleration, in pods.tolerations or the flavor's, or leave the taint out",
    ),
    "E792": Wording(
        "the flavor '{name}' does not say which nodes it needs",
        "give it a nodeSelector or params.INSTANCE-TYPE, in the model or in RenderConfig's flavors.{name}",
    ),
    "W792": Wording(
        "its pods select nodes with {label}, which the nodes of {names} do not have, so they stay pending",
        "add the label to the flavor's nodeSelector, or drop it from the pods",
    ),
    "E793": Wording("Karpenter reserves the label '{name}', so no node pool can have it", "select another label"),
    "W793": Wording("no workload runs on the flavor '{name}'", "{hint}"),
    "E794": Wording(
        "the flavor '{name}' means different nodes for {other} than for {first}",
        "give one of them another name, or set it for both in the cluster's catalog (flavors of RenderConfig)",
    ),
    "W794": Wording(
        "Karpenter does not ask InftyAI's scheduler: it makes the cheapest nodes that hold a pod, whatever the flavor",
        "set flavorPolicy: auto, so that pods select it themselves, or use the fork of Karpenter that knows OpenModels",
    ),
    "E795": Wording(
        "'{name}' cannot be the name of a node pool",
        "name the flavor with small letters, digits and '-', at most 63 characters with karpenter.namePrefix",
    ),
    "E796": Wording("already exists, and was not written by llmaz", "move it away, or name another file with {option}"),
    "E797": Wording(
        "is in {folder}/, where llmaz render deletes what it does not make", "name a file elsewhere with {option}"
    ),
    "E798": Wording(
        "a pod of the flavor '{name}' requests {asked} of {resource}, but {names} with these requirements has {most}",
        "name a larger instance type, request less, or fix karpenter.requirements and architectures",
    ),
    "E799": Wording(
        "{what} of {app} take {weights} GiB on each node of '{flavor}', whose disk has {size}",
        "raise volumeSize, with room for images and for every pod of a node, or use instanceStorePolicy: RAID0",
    ),
    "E880": Wording(
        "the claim '{claim}' is to be written by several nodes, and a disk of {provisioner}, which the class '{name}' "
        "makes, is mounted by one: the claim stays pending",
        "name a class of a file system in the claim, such as one of EFS, Azure Files or Filestore",
    ),
    "W881": Wording(
        "the ClusterQueue '{name}' does not cover {resources}, which {who} requests, so Kueue never admits it",
        "add them to coveredResources, with their quota in each flavor of the group, or exclude them in Kueue's "
        "configuration",
    ),
}
