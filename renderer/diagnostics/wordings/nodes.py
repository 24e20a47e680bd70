"""Wordings about nodes: NodePools, instance types and Karpenter."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

NODES: Final[dict[str, Wording]] = {
    "E790": Wording(
        "RenderConfig does not say what nodes are like",
        "write spec.karpenter: role or instanceProfile, amiAlias, subnetSelectorTerms, securityGroupSelectorTerms",
    ),
    "W790": Wording("the flavor '{name}': {what}", "{hint}"),
    "E791": Wording("nodes need {what}", "write it into karpenter, or into karpenter.perFlavor of each flavor"),
    "W791": Wording(
        "{pods} do not tolerate the taint '{taint}', so the nodes of {flavors} do not get it",
        "add the toleration, in pods.tolerations or the flavor's, or leave the taint out",
    ),
    "E792": Wording(
        "nothing says which nodes the flavor '{name}' means",
        "give it a nodeSelector or params.INSTANCE-TYPE, in the model or in RenderConfig's flavors.{name}",
    ),
    "W792": Wording(
        "its pods ask for nodes with {label}, which those of {names} do not have, so they stay pending",
        "add the label to the flavor's nodeSelector, or drop it from the pods",
    ),
    "E793": Wording(
        "Karpenter keeps the label '{name}' for itself, so no pool of nodes can have it", "select another label"
    ),
    "W793": Wording("no workload runs on the flavor '{name}'", "{hint}"),
    "E794": Wording(
        "the flavor '{name}' means other nodes for {other} than for {first}",
        "give one of them another name, or let the cluster's catalog (RenderConfig's flavors) say it for both",
    ),
    "W794": Wording(
        "Karpenter does not ask InftyAI's scheduler: it makes the cheapest nodes that hold a pod, whatever the flavor",
        "set flavorPolicy: auto, so that pods say it themselves, or use the fork of Karpenter that knows OpenModels",
    ),
    "E795": Wording(
        "'{name}' cannot be the name of a node pool",
        "call the flavor by small letters, digits and '-', with karpenter.namePrefix at most 63 characters",
    ),
    "E796": Wording("is there already, and not written by llmaz", "move it away, or name another file with -o"),
    "E797": Wording(
        "lies in {folder}/, where llmaz render deletes what it does not make", "name a file elsewhere with -o"
    ),
    "E798": Wording(
        "of the flavor '{name}' a pod asks for {asked} of {resource}, and {names} with these requirements has {most}",
        "name a larger instance type, ask for less, or mend karpenter.requirements and architectures",
    ),
    "E799": Wording(
        "{what} of {app} take {weights} GiB of each node of '{flavor}', whose disk has {size}",
        "raise volumeSize, with room for images and for every pod of a node, or use instanceStorePolicy: RAID0",
    ),
}
