"""Fields that nobody can change in an object that is there, by its kind.

Sources: validation of updates in Kubernetes 1.37 (pkg/apis/{apps,core,resource}/validation), asked by
tests/apiserver/test_takeover.py; the CEL rules and the webhook of LeaderWorkerSet 0.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from renderer.kubernetes.json_values import Path
from renderer.kubernetes.workloads import DEPLOYMENT, LEADER_WORKER_SET, Kind

_REFUSED: Final = "the API server refuses it"
_TEMPLATE: Final = ("spec", "leaderWorkerTemplate")
IMMUTABLE_FIELDS: Final[Mapping[Kind, Mapping[Path, str]]] = {
    DEPLOYMENT: {("spec", "selector"): _REFUSED},
    ("apps", "StatefulSet"): {
        ("spec", field): _REFUSED
        for field in ("selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates")
    },
    LEADER_WORKER_SET: {
        ("spec", "groupIdentity"): _REFUSED,
        (*_TEMPLATE, "subGroupPolicy", "subGroupSize"): _REFUSED,
        (*_TEMPLATE, "volumeClaimTemplates"): "the StatefulSets of its pods refuse it, so the rollout stands still",
    },
    ("", "Service"): {("spec", "clusterIP"): _REFUSED},
    ("resource.k8s.io", "ResourceClaim"): {("spec",): _REFUSED},
    ("resource.k8s.io", "ResourceClaimTemplate"): {("spec",): _REFUSED},
}
"""By the path of each what happens to a change of it."""
