"""LimitRanges that refuse pods and claims of their namespace, or give containers limits below what they request.

By Kubernetes 1.34: plugin/pkg/admission/limitranger/admission.go, and SetDefaults_LimitRangeItem of
pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, view_templates
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView, kind_in
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.pod_amounts import BILLION, container_amounts, format_amount, pod_amounts
from renderer.kubernetes.workloads import containers

_RANGE, _CLAIM = kind_in("", "LimitRange"), kind_in("", "PersistentVolumeClaim")
_CONTAINER, _POD, _OF_CLAIM = "Container", "Pod", "PersistentVolumeClaim"  # what an item is about
_Amounts: TypeAlias = Mapping[str, int]
"""Billionths by resource."""


class _Judged(NamedTuple):
    """What a container, a pod or a claim has once the LimitRanges of its namespace have filled it in."""

    who: str  # in words
    requests: _Amounts
    limits: _Amounts


class _Namespace(NamedTuple):
    """What the LimitRanges of a namespace are about."""

    judged: Mapping[str, Sequence[_Judged]]  # by the type of an item
    unknown: frozenset[str]  # resources of which several give other defaults


@side_rules.about(_RANGE)
def validate_limit_range(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each amount of a LimitRange with which pods or claims of its namespace are refused, with the one
    that is farthest from it.
    """
    if view.external.ambiguous:
        return  # nobody knows what is in one cluster
    try:
        known = view.once(("limit ranges", namespace), lambda view: _read_namespace(view, namespace))
        for i, item in enumerate(maps_at(body, "spec", "limits")):
            judged = known.judged.get(text_at(item, "type"), ())
            for path, what, hint in _faults(item, judged) if judged else ():
                if path[-1] not in known.unknown:
                    yield Finding("E576", ("spec", "limits", i, *path), {"name": name, "what": what, "hint": hint})
    except ValueError:
        return  # what is no quantity is told as such


def _faults(item: Body, judged: Sequence[_Judged]) -> Iterator[tuple[Path, str, str]]:
    """The field of an item, what is wrong, and what to do."""
    most = _amounts(item, "max")
    limits = {**most, **_amounts(item, "default")} if text_at(item, "type") == _CONTAINER else {}
    for resource, limit in limits.items():
        refused = [one for one in judged if one.requests.get(resource, 0) > one.limits.get(resource, 0) == limit]
        if refused:
            largest = max(refused, key=lambda one: one.requests[resource])
            need = format_amount(resource, largest.requests[resource])
            what = f"gives {largest.who} the limit {format_amount(resource, limit)} of {resource}"
            yield (_field(item, resource), resource), f"{what}, and it requests {need}", f"write {need} or more"
            most.pop(resource, None)
    for resource, bound in most.items():
        largest = max(judged, key=lambda one: _largest(one, resource))
        need = format_amount(resource, _largest(largest, resource))
        allowed = f"lets a {_noun(item)} have {format_amount(resource, bound)} of {resource} at the most"
        if _largest(largest, resource) > bound:
            yield ("max", resource), f"{allowed}, and {largest.who} has {need}", f"write {need} or more"
        elif without := next((one for one in judged if resource not in one.limits), None):
            what = f"{allowed}, and {without.who} has no limit of it"
            yield ("max", resource), what, f"give its containers limits of {resource}"
    for resource, bound in _amounts(item, "min").items():
        smallest = min(judged, key=lambda one: one.requests.get(resource, 0))
        has = smallest.requests.get(resource, 0)
        if has < bound:
            written = format_amount(resource, has)
            what = f"wants {format_amount(resource, bound)} of {resource} or more, and {smallest.who} requests"
            hint = f"write {written} or less" if has else f"give its containers requests of {resource}"
            yield ("min", resource), f"{what} {written if has else 'none'}", hint
    for resource, ratio in _amounts(item, "maxLimitRequestRatio").items():
        yield from _ratio_faults(judged, resource, ratio)


def _ratio_faults(judged: Sequence[_Judged], resource: str, ratio: int) -> Iterator[tuple[Path, str, str]]:
    path = ("maxLimitRequestRatio", resource)
    wants = f"wants limits of {resource} of at most {format_amount(resource, ratio)} times the requests"
    for one in judged:
        request, limit = one.requests.get(resource, 0), one.limits.get(resource, 0)
        if not request or not limit:
            hint = f"give it requests and limits of {resource}"
            yield path, f"{wants}, and {one.who} does not say both", hint
            return
        if limit * BILLION > ratio * request:
            has = f"{format_amount(resource, limit)} beside {format_amount(resource, request)}"
            yield path, f"{wants}, and {one.who} has {has}", f"write {-(-limit // request)} or more"
            return


def _field(item: Body, resource: str) -> str:
    return "default" if resource in map_at(item, "default") else "max"


def _noun(item: Body) -> str:
    return {_CONTAINER: "container", _POD: "pod"}.get(text_at(item, "type"), "claim")


def _largest(judged: _Judged, resource: str) -> int:
    return max(judged.requests.get(resource, 0), judged.limits.get(resource, 0))


def _amounts(item: Body, *path: str) -> dict[str, int]:
    return {resource: quantity.nanos(amount) for resource, amount in map_at(item, *path).items()}


def _read_namespace(view: ObjectView, namespace: str) -> _Namespace:
    """What is judged in a namespace. Raises ValueError for what is not a quantity."""
    limits: dict[str, int] = {}
    requests: dict[str, int] = {}
    unknown: set[str] = set()
    items = [
        item for space, _, body in view.all(_RANGE) if space == namespace for item in maps_at(body, "spec", "limits")
    ]
    for item in items:
        if text_at(item, "type") == _CONTAINER:
            default = {**_amounts(item, "max"), **_amounts(item, "default")}
            request = {**_amounts(item, "min"), **default, **_amounts(item, "defaultRequest")}
            for all_, new in ((limits, default), (requests, request)):
                unknown |= {resource for resource in new if all_.get(resource, new[resource]) != new[resource]}
                all_.update(new)
    judged: dict[str, list[_Judged]] = {_CONTAINER: [], _POD: [], _OF_CLAIM: []}
    for who, spec in _pods(view, namespace):
        pod: dict[str, list[Body]] = {}
        for path, container in containers(spec):
            own = {**requests, **_amounts({"own": container_amounts(container)}, "own")}
            bounds = {**limits, **_amounts(container, "resources", "limits")}
            if path[0] != "ephemeralContainers":
                judged[_CONTAINER].append(_Judged(f"container '{text_at(container, 'name')}' of {who}", own, bounds))
                resources = {"requests": _written(own), "limits": _written(bounds)}
                pod.setdefault(str(path[0]), []).append({**container, "resources": resources})
        judged[_POD].append(_Judged(f"a pod of {who}", pod_amounts(pod), pod_amounts(pod, "limits")))
    for space, claim, body in view.all(_CLAIM):
        if space == namespace:
            amounts = _amounts(body, "spec", "resources", "requests")
            judged[_OF_CLAIM].append(_Judged(f"PersistentVolumeClaim '{claim}'", amounts, amounts))
    return _Namespace(judged, frozenset(unknown))


def _written(amounts: _Amounts) -> dict[str, str]:
    return {resource: f"{amount}n" for resource, amount in amounts.items()}


def _pods(view: ObjectView, namespace: str) -> Iterator[tuple[str, Body]]:
    """The pods of a namespace with words for their workload; not those that have resources as a whole."""
    for (kind, space, name), body in view.objects.items():
        if body and kind in KINDS and space == namespace:
            for template in view_templates(view, body):
                if "resources" not in template.spec:
                    yield f"{text_at(body, 'kind')} '{name}'", template.spec
