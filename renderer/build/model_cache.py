"""PersistentVolumeClaim and Job: the cache of a model's weights, and what fills it."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.kubernetes import wellknown
from renderer.plan import Manifest, SharedPlan
from renderer.yamlio import SharedMap

# The weights outlive whatever is rendered: nothing prunes their claim.
_KEPT = SharedMap(
    {
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
        "helm.sh/resource-policy": "keep",
    }
)
_RETRIES = 10


def model_cache(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """The claim, unless somebody else makes it, and the Job."""
    cache = shared_plan.cache
    if not cache:
        return
    if cache.claim_spec:
        named = {"name": cache.claim, "namespace": cache.namespace, "labels": cache.labels, "annotations": _KEPT}
        body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": named, "spec": cache.claim_spec}
        yield Manifest(body, lambda: {(): cache.origin, ("spec",): cache.claim_origin})
    metadata: dict[str, object] = {"name": cache.job, "namespace": cache.namespace, "labels": cache.labels}
    if cache.size:
        metadata["annotations"] = {wellknown.WEIGHTS_SIZE: cache.size}
    yield Manifest(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata,
            "spec": {"backoffLimit": _RETRIES, "template": cache.template},
        },
        lambda: {(): cache.origin, ("spec", "template", "spec", "volumes", 0): cache.claim_origin},
    )
