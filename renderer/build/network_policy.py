"""NetworkPolicy: for each namespace, who may connect to the pods of its models."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Manifest, NetworkPolicyPlan, SharedPlan
from renderer.yamlio import SharedMap

_MODELS = SharedMap({"matchExpressions": [{"key": wellknown.MODEL_NAME, "operator": "Exists"}]})
_PICKERS = SharedMap({"matchLabels": {wellknown.COMPONENT: wellknown.PICKER_COMPONENT}})
_OWN_PEERS = (SharedMap({"podSelector": _MODELS}), SharedMap({"podSelector": _PICKERS}))


def network_policy(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One where RenderConfig asks for it. Pods of several hosts and of both roles reach each other, and pickers reach
    them.
    """
    policy = shared_plan.network_policy
    if not policy:
        return
    body = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": policy.name, "namespace": shared_plan.namespace, "labels": policy.labels},
        "spec": {
            "podSelector": _MODELS,
            "ingress": [{"from": [*_OWN_PEERS, *(peer for peer, _ in policy.peers)]}],
            "policyTypes": ["Ingress"],
        },
    }
    yield Manifest(body, lambda: _origins(policy))


def _origins(policy: NetworkPolicyPlan) -> dict[Path, Origin]:
    peers: dict[Path, Origin] = {
        ("spec", "ingress", 0, "from", i): origin for i, (_, origin) in enumerate(policy.peers, len(_OWN_PEERS))
    }
    return {(): policy.origin, **peers}
