"""Node pools → NodePool and EC2NodeClass, in the words of Karpenter 1.14; checked, and as the text of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer import check, emit, yamlio
from renderer.api import Options
from renderer.nodes.needs import Fleet, fleet
from renderer.nodes.pools import DISK, NodePool, pools
from renderer.nodes.settings import Settings
from renderer.plan import Manifest
from renderer.problems import Findings, Origin, Path, Problem, failing
from renderer.records import NamedTuple
from renderer.tree import CONFIG

Body = dict[str, Any]

_LABELS = {"app.kubernetes.io/part-of": "llmaz", "app.kubernetes.io/managed-by": "llmaz-renderer"}
_GROUP = "karpenter.k8s.aws"


class Made(NamedTuple):
    """The text; how many pools there are, for how many workloads, and how many others have no flavor. `folder`: where
    rendered files go, of all environments.
    """

    text: str
    pools: int
    workloads: int
    apart: int
    fleet: Fleet


def nodepools(options: Options) -> tuple[Made, list[Problem]]:
    """The node pools of the input below PATHS, and what is wrong with it. Raises RenderError."""
    read, problems = fleet(options)
    found = Findings()
    made = [] if failing(problems) else pools(read, found)
    manifests = [] if failing(found.problems) else [each for pool in made for each in (_pool(pool), _class(pool))]
    problems = [*problems, *found.problems, *check.manifests(manifests)]
    text = emit.header(CONFIG) + yamlio.dump(*(each.body for each in manifests))
    placed = sum(1 for each in read.needs if each.flavors)
    return Made(text, len(made), placed, len(read.needs) - placed, read), problems


def _pool(pool: NodePool) -> Manifest:
    set_ = pool.settings
    consolidation = set_.get("consolidation", {})
    spec: Body = {
        "nodeClassRef": {"group": _GROUP, "kind": "EC2NodeClass", "name": pool.name},
        "requirements": list(pool.required),
        "taints": [_ordered(each) for each in pool.taints],
        "expireAfter": set_.get("expireAfter", "720h"),
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
                "consolidationPolicy": consolidation.get("policy", "WhenEmpty"),
                "consolidateAfter": consolidation.get("after", "10m"),
            },
        },
    }
    inside = ("spec", "template", "spec")
    origins: dict[Path, Origin] = {
        (): set_.config.origin("karpenter"),
        ("metadata", "name"): pool.told,
        ("spec", "template", "metadata", "labels"): pool.told,
        (*inside, "requirements"): set_.at("requirements"),
        (*inside, "taints"): set_.at("taints"),
        (*inside, "expireAfter"): set_.at("expireAfter"),
        ("spec", "limits"): set_.at("limits"),
        ("spec", "disruption"): set_.at("consolidation"),
    }
    for i, (origin, _) in enumerate(pool.requirements):
        origins[(*inside, "requirements", i)] = origin
        if not isinstance(origin.path[-1], int):  # a label of the flavor is its value's place, too
            origins[(*inside, "requirements", i, "values", 0)] = origin
    return Manifest(body, lambda: origins)


def _ordered(taint: Mapping[str, str]) -> Body:
    return {key: taint[key] for key in ("key", "value", "effect") if key in taint}


def _class(pool: NodePool) -> Manifest:
    set_ = pool.settings
    alias = str(set_.get("amiAlias"))
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
        if value := _disks(set_, alias) if key == "blockDeviceMappings" else set_.get(key):
            spec[key] = value
    body = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": pool.name, "labels": _LABELS},
        "spec": spec,
    }
    said = {"amiSelectorTerms": "amiAlias", "blockDeviceMappings": "volumeSize"}
    origins: dict[Path, Origin] = {(): set_.config.origin("karpenter"), ("metadata", "name"): pool.told}
    origins |= {("spec", key): set_.at(said.get(key, key)) for key in spec}
    return Manifest(body, lambda: origins)


def _disks(set_: Settings, alias: str) -> list[Body]:
    """The disk for images and pods, where the machine image looks for it; the system of Bottlerocket has its own."""
    size = set_.get("volumeSize", DISK)
    more = _speed(set_.get("volumeThroughput"))
    if alias.startswith("bottlerocket@"):
        return [_disk("/dev/xvda", "4Gi"), _disk("/dev/xvdb", size, **more)]
    return [_disk("/dev/xvda", size, **more)]


def _speed(throughput: int | None) -> Mapping[str, int]:
    """MiB a second, and the operations that EC2 wants for them: one for each quarter; a disk has 3000 anyway."""
    if not throughput:
        return {}
    return {"iops": throughput * 4, "throughput": throughput} if throughput * 4 > 3000 else {"throughput": throughput}


def _disk(device: str, size: str, **more: int) -> Body:
    ebs = {"volumeSize": size, "volumeType": "gp3", **more, "encrypted": True, "deleteOnTermination": True}
    return {"deviceName": device, "ebs": ebs}
