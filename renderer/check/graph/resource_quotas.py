"""ResourceQuotas that refuse pods of their namespace: too much for one pod or for all replicas, and requests that each
container has to say.

By Kubernetes 1.34: pkg/quota/v1/evaluator/core/pods.go (what it counts, and which requests it asks for).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, view_replicas, view_templates
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView
from renderer.check.shared_volumes import most_replicas
from renderer.diagnostics import Finding, listed
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.disaggregated_sets import ROLE_SCALER, slice_count
from renderer.kubernetes.json_values import map_at, number_at, text_at
from renderer.kubernetes.pod_amounts import BILLION, container_amounts, format_amount, pod_amounts
from renderer.kubernetes.workloads import DISAGGREGATED_SET, Replica, containers, kind_of, scale_target

_QUOTA, _DEFAULTS = "ResourceQuota.", "LimitRange."
_PODS = ("pods", "count/pods")
_BARE = ("cpu", "memory", "ephemeral-storage")  # requests, where nothing stands before the name
_ASKED = ("cpu", "memory")  # that each container has to say where a quota counts them
_SIDES = ("requests", "limits")
_COUNT = "pods"
_UNSCALED = (("", "Pod"), DISAGGREGATED_SET)  # kinds that have pods all the time beside those with the subresource


class _Share(Struct, frozen=True):
    """The pods of a workload of one sort."""

    who: str  # kind and name of the workload
    least: int  # replicas
    most: int
    pods: int  # of a replica
    amounts: Sequence[tuple[int, Mapping[str, Mapping[str, int]]]]  # pods of a replica, and what each has by side


@check_rules.about(_QUOTA)
def validate_quota(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each amount of a quota that one pod of its namespace exceeds, or all of them together."""
    if not _is_judged(view, body, namespace):
        return
    shares = view.once("shares of quotas", _shares).get(namespace, ())
    for key, hard in map_at(body, "spec", "hard").items():
        side, resource = _counted(key)
        try:
            allowed = quantity.nanos(hard)
        except ValueError:
            continue  # the schema tells it
        if side and shares:
            words = {"name": name, "namespace": namespace, "hard": hard, "key": key}
            yield from _exceeded(shares, side, resource, allowed, words, key)


def _exceeded(
    shares: Sequence[_Share], side: str, resource: str, allowed: int, words: Mapping[str, object], key: str
) -> Iterator[Finding]:
    def finding(code: str, who: str, amount: int) -> Finding:
        need = format_amount(resource, amount)
        return Finding(code, ("spec", "hard", key), {**words, "who": who, "need": need})

    largest = max(shares, key=lambda share: _of_pod(share, side, resource) if share.most else 0)
    if largest.most and _of_pod(largest, side, resource) > allowed:
        yield finding("E929", f"a pod of {largest.who} needs", _of_pod(largest, side, resource))
        return
    for is_least, count in ((True, "the least"), (False, "the most")):
        counts = [share.least if is_least else share.most for share in shares]
        amounts = [n * _of_replica(share, side, resource) for n, share in zip(counts, shares, strict=True)]
        if sum(amounts) > allowed:
            those = list(dict.fromkeys(share.who for amount, share in zip(amounts, shares, strict=True) if amount))
            more = [*those[:3], *([f"{len(those) - 3} more"] if len(those) > 3 else [])]
            # Several workloads of a tree need not be in one cluster.
            code = "E929" if is_least and len(those) == 1 else "W930"
            yield finding(code, f"{count} replicas of {listed(more)} need", sum(amounts))
            return


def _of_pod(share: _Share, side: str, resource: str) -> int:
    """What the largest pod has."""
    return 0 if side == _COUNT else max(amounts[side].get(resource, 0) for _, amounts in share.amounts)


def _of_replica(share: _Share, side: str, resource: str) -> int:
    if side == _COUNT:
        return share.pods * BILLION
    return sum(pods * amounts[side].get(resource, 0) for pods, amounts in share.amounts)


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


def _is_judged(view: ObjectView, body: Body, namespace: str) -> bool:
    """Whether it is known which pods a quota is about: all those of its namespace, in one cluster."""
    spec = map_at(body, "spec")
    return bool(namespace and not spec.get("scopes") and not spec.get("scopeSelector") and not view.external.ambiguous)


def _counted(key: str) -> tuple[str, str]:
    """What an amount of a quota counts: `requests`, `limits` or `pods`, and the resource; '' for no part of pods."""
    side, dot, resource = key.partition(".")
    if dot and side in _SIDES:
        is_counted = resource in _BARE or (side == "requests" and resource != "storage")
        return (side, resource) if is_counted else ("", "")
    return (_COUNT, "") if key in _PODS else ("requests", key) if key in _BARE else ("", "")


def _asked(view: ObjectView) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """The quota of each namespace that asks containers for amounts, and which; none where a LimitRange may add them."""
    filled = {namespace for namespace, _, _ in view.all(_DEFAULTS)}
    demands: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for namespace, name, body in view.all(_QUOTA):
        keys = [_counted(key) for key in map_at(body, "spec", "hard")]
        keys = [key for key in dict.fromkeys(keys) if key[1] in _ASKED]
        if keys and namespace not in filled and _is_judged(view, body, namespace):
            demands.setdefault(namespace, (name, keys))
    return demands


def _shares(view: ObjectView) -> dict[str, list[_Share]]:
    """What the pods of each namespace have that run as long as nobody deletes them."""
    scalers = {scale_target(body): body for kind in wellknown.AUTOSCALERS for _, _, body in view.all(kind)}
    shares: dict[str, list[_Share]] = {}
    for (kind, namespace, name), body in view.objects.items():
        workload = KINDS.get(kind)
        if not body or not workload or not (workload.is_scalable or kind_of(body) in _UNSCALED):
            continue
        for replica in view_replicas(view, body):
            role = replica.set_role
            target = (namespace, ROLE_SCALER, role.scaler) if role else (namespace, text_at(body, "kind"), name)
            least, most = _bounds(body, replica, scalers.get(target))
            try:
                amounts = [
                    (replica.pods(template), {side: pod_amounts(template.spec, side) for side in _SIDES})
                    for template in replica.templates
                ]
            except ValueError:
                continue  # a container's quantity, which is told as such
            who = f"{text_at(body, 'kind')} '{name}'"
            shares.setdefault(namespace, []).append(_Share(who, least, most, replica.size, amounts))
    return shares


def _bounds(body: Body, replica: Replica, scaler: Body | None) -> tuple[int, int]:
    """The fewest and the most replicas."""
    slices = slice_count(body) if replica.set_role else 1
    if scaler is None:
        count = slices * int(number_at(replica.spec, "replicas", default=1))
        return count, count
    spec = map_at(scaler, "spec")
    if text_at(scaler, "kind") == wellknown.HPA:
        least = number_at(spec, "minReplicas", default=1)
    else:
        least = min(number_at(spec, "minReplicaCount", default=0), number_at(spec, "idleReplicaCount", default=10**9))
    return int(least), most_replicas(scaler)
