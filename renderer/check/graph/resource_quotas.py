"""ResourceQuotas that refuse pods of their namespace: too much for one pod or for all replicas, and requests that each
container has to say.

By Kubernetes 1.34: pkg/quota/v1/evaluator/core/pods.go (what it counts, and which requests it asks for).
"""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, view_replicas, view_templates
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView
from renderer.check.pod_quotas import (
    ASKED,
    CLAIM,
    CLAIM_TEMPLATE,
    DEFAULTS,
    QUOTA,
    QuotaBeside,
    QuotaShare,
    exceeded,
    quota_beside,
    quota_shares,
    quota_sums,
)
from renderer.diagnostics import Finding, listed
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.pod_amounts import container_amounts
from renderer.kubernetes.workloads import containers

_SIDES = ("requests", "limits")


@check_rules.about(QUOTA)
def validate_quota(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each amount of a quota that one pod of its namespace exceeds, or all of them together."""
    if namespace and not view.external.ambiguous:
        shares = view.once("shares of quotas", _shares).get(namespace, ())
        yield from exceeded(body, quota_sums(body, shares, view.once("surroundings of quotas", _surroundings)))


@check_rules.about(*KINDS)
def validate_asked_requests(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each container that does not say what a quota of its namespace asks each one for."""
    demand = view.once("asked by quotas", _asked).get(namespace)
    if not demand:
        return
    quota, keys = demand
    for template in view_templates(view, body):
        if "resources" in template.spec:
            continue  # they may be of the pod as a whole
        for path, container in containers(template.spec):
            if path[0] == "ephemeralContainers":
                continue
            lacking = [
                f"{side}.{resource}" for side, resource in keys if resource not in container_amounts(container, side)
            ]
            if lacking:
                words = {"name": quota, "namespace": namespace, "container": container.get("name")}
                yield Finding("W931", (*template.path, "spec", *path), {**words, "what": listed(lacking)})
                break


def _asked(view: ObjectView) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """The quota of each namespace that asks all containers for amounts, and which: side and resource; none where a
    LimitRange may add them.
    """
    filled = {namespace for namespace, _, _ in view.all(DEFAULTS)}
    demands: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for namespace, name, body in view.all(QUOTA):
        spec = map_at(body, "spec")
        is_of_all = namespace and not spec.get("scopes") and not spec.get("scopeSelector")
        keys = dict.fromkeys(_asked_amount(key) for key in map_at(spec, "hard"))
        counted = [key for key in keys if key[1] in ASKED]
        if counted and is_of_all and namespace not in filled and not view.external.ambiguous:
            demands.setdefault(namespace, (name, counted))
    return demands


def _asked_amount(key: str) -> tuple[str, str]:
    """Side and resource of a key of a quota; a bare name is of requests."""
    side, dot, resource = key.partition(".")
    return (side, resource) if dot and side in _SIDES else ("requests", key)


def _shares(view: ObjectView) -> dict[str, list[QuotaShare]]:
    """What quotas of each namespace count."""
    shares: dict[str, list[QuotaShare]] = {}
    for (kind, namespace, _), body in view.objects.items():
        if body and (kind in KINDS or kind == CLAIM):
            shares.setdefault(namespace, []).extend(quota_shares(body, view_replicas(view, body)))
    return shares


def _surroundings(view: ObjectView) -> QuotaBeside:
    kinds = (CLAIM_TEMPLATE, DEFAULTS, *wellknown.AUTOSCALERS)
    return quota_beside((kind, body) for kind in kinds for _, _, body in view.all(kind))
