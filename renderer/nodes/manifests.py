"""Builds NodePool and EC2NodeClass for Karpenter 1.14, checks them, and writes them as one text."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from renderer import check, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, has_errors
from renderer.kubernetes import wellknown
from renderer.nodes.demand import FleetDemand, fleet_demand
from renderer.nodes.node_pools import NodePool, pools
from renderer.nodes.settings import CONSOLIDATE_AFTER, CONSOLIDATION_POLICY, DISK, EXPIRE_AFTER, KarpenterSettings
from renderer.output import file_header
from renderer.plan import Manifest
from renderer.source.tree import CONFIG

Body = dict[str, object]

_LABELS = wellknown.own_labels("", "")
_GROUP = "karpenter.k8s.aws"


class NodePoolManifests(Struct, frozen=True):
    """The node pools for the input, as one file."""

    text: str  # of the file
    pools: int  # the number of node pools
    workloads: int  # the number of workloads with a flavor
    without_flavor: int  # the number of workloads without a flavor
    fleet: FleetDemand


def nodepools(options: RenderOptions) -> tuple[NodePoolManifests, list[Diagnostic]]:
    """The node pools for the input below PATHS, and all diagnostics. Raises RenderError."""
    fleet, problems = fleet_demand(options)
    diagnostics = Collector()
    node_pools = [] if has_errors(problems) else pools(fleet, diagnostics)
    manifests = (
        []
        if has_errors(diagnostics.problems)
        else [manifest for pool in node_pools for manifest in (_pool_manifest(pool), _class_manifest(pool))]
    )
    problems = [*problems, *diagnostics.problems, *check.validate_manifests(manifests)]
    text = file_header.header(CONFIG) + yamlio.dump(*(manifest.body for manifest in manifests))
    with_flavor = sum(1 for demand in fleet.demands if demand.flavors)
    return NodePoolManifests(text, len(node_pools), with_flavor, len(fleet.demands) - with_flavor, fleet), problems


def _pool_manifest(pool: NodePool) -> Manifest:
    settings = pool.settings
    consolidation = settings.get("consolidation", {})
    spec: Body = {
        "nodeClassRef": {"group": _GROUP, "kind": "EC2NodeClass", "name": pool.name},
        "requirements": list(pool.required),
        "taints": [_ordered_taint(taint) for taint in pool.taints],
        "expireAfter": settings.get("expireAfter", EXPIRE_AFTER),
    }
    template = {"metadata": {"labels": dict(pool.labels)}, "spec": {key: spec[key] for key in spec if spec[key]}}
    body = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": pool.name, "labels": _LABELS},
        "spec": {
            "template": template if pool.labels else {"spec": template["spec"]},
            "limits": dict(pool.limits),
            "disruption": {
                "consolidationPolicy": consolidation.get("policy", CONSOLIDATION_POLICY),
                "consolidateAfter": consolidation.get("after", CONSOLIDATE_AFTER),
            },
        },
    }
    inside = ("spec", "template", "spec")
    origins: dict[Path, Origin] = {
        (): settings.config.origin("karpenter"),
        ("metadata", "name"): pool.origin,
        ("spec", "template", "metadata", "labels"): pool.origin,
        (*inside, "requirements"): settings.at("requirements"),
        (*inside, "taints"): settings.at("taints"),
        (*inside, "expireAfter"): settings.at("expireAfter"),
        ("spec", "limits"): settings.at("limits"),
        ("spec", "disruption"): settings.at("consolidation"),
    }
    for i, (origin, _) in enumerate(pool.requirements):
        origins[(*inside, "requirements", i)] = origin
        if not isinstance(origin.path[-1], int):  # a label of the flavor: its value has the same origin
            origins[(*inside, "requirements", i, "values", 0)] = origin
    return Manifest(body, lambda: origins)


def _ordered_taint(taint: Mapping[str, str]) -> Body:
    return {key: taint[key] for key in ("key", "value", "effect") if key in taint}


def _class_manifest(pool: NodePool) -> Manifest:
    settings = pool.settings
    alias = str(settings.get("amiAlias"))
    spec: Body = {"amiSelectorTerms": [{"alias": alias}]}
    keys = (
        "role",
        "instanceProfile",
        "subnetSelectorTerms",
        "securityGroupSelectorTerms",
        "capacityReservationSelectorTerms",
        "blockDeviceMappings",
        "instanceStorePolicy",
        "tags",
    )
    for key in keys:
        if value := _block_devices(settings, alias) if key == "blockDeviceMappings" else settings.get(key):
            spec[key] = value
    body = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": pool.name, "labels": _LABELS},
        "spec": spec,
    }
    setting_names = {"amiSelectorTerms": "amiAlias", "blockDeviceMappings": "volumeSize"}
    origins: dict[Path, Origin] = {(): settings.config.origin("karpenter"), ("metadata", "name"): pool.origin}
    origins |= {("spec", key): settings.at(setting_names.get(key, key)) for key in spec}
    return Manifest(body, lambda: origins)


def _block_devices(settings: KarpenterSettings, alias: str) -> list[Body]:
    """The disks, under the device names of the machine image; Bottlerocket has one for the system and one for pods."""
    size = settings.get("volumeSize", DISK)
    more = _disk_throughput(settings.get("volumeThroughput"))
    if alias.startswith("bottlerocket@"):
        return [_disk("/dev/xvda", "4Gi"), _disk("/dev/xvdb", size, **more)]
    return [_disk("/dev/xvda", size, **more)]


def _disk_throughput(throughput: int | None) -> Mapping[str, int]:
    """Fields for a throughput in MiB/s. EC2 requires 4 IOPS for each MiB/s, and every gp3 disk has 3000 IOPS."""
    if not throughput:
        return {}
    return {"iops": throughput * 4, "throughput": throughput} if throughput * 4 > 3000 else {"throughput": throughput}


def _disk(device: str, size: str, **more: int) -> Body:
    ebs = {"volumeSize": size, "volumeType": "gp3", **more, "encrypted": True, "deleteOnTermination": True}
    return {"deviceName": device, "ebs": ebs}
