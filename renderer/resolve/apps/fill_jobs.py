"""The plans of the claims that hold weights for many pods, and of the Jobs that fill them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec.structs import replace

from renderer.diagnostics import Diagnostic
from renderer.kubernetes import wellknown
from renderer.plan import Body, CacheNeed, CachePlan, SharedPlan
from renderer.resolve.context import RunContext
from renderer.resolve.model_cache import fitting_name
from renderer.resolve.pod import cache_containers, loaders
from renderer.resolve.pod.hardening import SECCOMP, group_security, harden, leave_ids
from renderer.resolve.pod.loaders import SHELL
from renderer.resolve.rules.models import small_claims
from renderer.resolve.weight_sources import ModelCache, Weights
from renderer.resolve.workload.run_context import find_loader, find_weights


def cache_plans(context: RunContext, needs: Iterable[CacheNeed], problems: list[Diagnostic]) -> list[SharedPlan]:
    """One for each model and namespace that needs a filled claim. Adds what is wrong with their sizes to `problems`."""
    plans, claims = [], []
    for need in needs:
        model = context.inputs.models[need.model]
        weights = find_weights(context, model)[0]
        if weights and weights.cache:
            plan = _cache_plan(context, need, weights, weights.cache)
            plans.append(SharedPlan(need.namespace, part=f"{need.model}.cache", cache=plan))
            claims.append((model, weights))
    problems += small_claims(claims)
    return plans


def _cache_plan(context: RunContext, need: CacheNeed, weights: Weights, cache: ModelCache) -> CachePlan:
    import hashlib  # few runs need it

    labels = wellknown.own_labels(need.model, "model-cache")
    template = _pod_template(context, weights, cache, labels)
    facts = context.inputs.models[need.model].spec.get("facts") or {}
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:8]
    return CachePlan(
        claim=cache.claim,
        claim_spec=cache.spec,
        job=fitting_name(need.model, f"-fill-{digest}"),
        namespace=need.namespace,
        labels=labels,
        template=template,
        size=str(facts.get("weightsGiB") or ""),
        origin=weights.origin,
        claim_origin=cache.origin,
    )


def _pod_template(context: RunContext, weights: Weights, cache: ModelCache, labels: Body) -> dict[str, object]:
    """The template of the Job's pod: the loader as in any pod, with RenderConfig's defaults of pods."""
    defaults, hardened = context.pod_defaults, context.hardening != "off"
    loader, shell = find_loader(context, str(weights.loader)), find_loader(context, SHELL)
    access = loaders.credentials(loader, weights)
    env = (*(defaults.ca.env if defaults.ca else ()), *loaders.without_offline(defaults.env))
    loads = loaders.loader_container(loader, 0, weights, env, access, context.hardening)
    if defaults.ca:
        loads = replace(loads, volume_mounts=(*loads.volume_mounts, defaults.ca.mount))
    lock, loads, complete = cache_containers.fill_containers(loads, shell, cache, loaders.VOLUME, 0, {})
    lock, complete = harden(lock, context.hardening), harden(complete, context.hardening)
    pod_security = {**group_security(loaders.group(loader)), **(SECCOMP if hardened else {})}
    metadata: dict[str, object] = {"labels": {**labels, **defaults.labels}}
    if defaults.annotations:
        metadata["annotations"] = defaults.annotations
    claim = {"name": loaders.VOLUME, "persistentVolumeClaim": {"claimName": cache.claim}}
    spec = {
        "restartPolicy": "OnFailure",
        "schedulerName": context.scheduler or "default-scheduler",
        **({"automountServiceAccountToken": False, "enableServiceLinks": False} if hardened else {}),
        **defaults.fields,
        **({"tolerations": list(defaults.tolerations)} if defaults.tolerations else {}),
        "securityContext": leave_ids(pod_security, context.hardening),
        "initContainers": [lock.body(), loads.body()],
        "containers": [complete.body()],
        "volumes": [claim, *access.volumes, *([defaults.ca.volume] if defaults.ca else ())],
    }
    return {"metadata": metadata, "spec": spec}
