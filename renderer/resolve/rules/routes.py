"""What does not go with a route: its public names, its timeouts, and the tenants that may call; and what does not go
with one of several public names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.api import App, TrafficInput
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.resolve.gateway.name_characters import can_be_sent, is_portable
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.traffic.rule_buckets import MAX_RULES, RuleBucket

_MAX_HEADER = 4096  # bytes of a header's value (Gateway API)
_SHORT_IDLE = 60  # seconds; a prompt may be read for so long before the first token
_DURATION_PART = r"([0-9]+)(ms|h|m|s)"
_UNIT_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@rule(of=RouteRequest)
def refused_names(request: RouteRequest) -> Iterator[Diagnostic]:
    """Errors for public names that are too long, or that the experimental channel of Gateway API refuses: an error
    where the clusters have it, a warning where nobody says which they have.
    """
    channel = request.settings.config.get("targets", "gatewayAPIChannel")
    for name, origin in request.names:
        if (length := len(name.encode())) > _MAX_HEADER:
            yield make_diagnostic("E623", origin, length=length, most=_MAX_HEADER)
        if channel != "standard" and not is_portable(name) and can_be_sent(name):
            yield make_diagnostic("E668" if channel else "W270", origin, name=name)


@rule(of=RouteRequest, when=lambda request: "streamIdle" in request.timeouts)
def short_idle_timeout(request: RouteRequest) -> Iterator[Diagnostic]:
    """A warning for a stream that may be idle for less time than a prompt takes to be read."""
    timeouts = request.timeouts
    if _seconds(timeouts["streamIdle"]) < _SHORT_IDLE:
        yield make_diagnostic("W271", request.timeout_origin("streamIdle"), value=timeouts["streamIdle"])


@rule(of=RouteRequest, when=lambda request: request.timeouts)
def timeouts_before_start(request: RouteRequest) -> Iterator[Diagnostic]:
    """Warnings for timeouts that end a request before the replica that it wakes has started, or its model is loaded."""
    seconds, what = request.wake_seconds, "a replica has started"
    if request.load_seconds > seconds:
        seconds, what = request.load_seconds, "their model, one of several in the server, is loaded"
    for key, value in request.timeouts.items():
        if _seconds(value) < seconds:
            yield make_diagnostic("W351", request.timeout_origin(key), value=value, what=what, seconds=seconds)


def _seconds(duration: str) -> float:
    """The seconds of a duration of Gateway API, such as `1m30s`."""
    return sum(int(number) * _UNIT_SECONDS[unit] for number, unit in re.findall(_DURATION_PART, duration))


@rule(of=RouteRequest, when=lambda request: request.allow_origin)
def unenforced_rights(request: RouteRequest) -> Iterator[Diagnostic]:
    """Errors where `allow` cannot be enforced for this model."""
    item, settings, origin = request.item, request.settings, request.allow_origin
    if origin is None:
        return
    if not settings.auth:
        yield make_diagnostic("E624", origin, name="/".join(settings.gateway))
    if request.allow and settings.created and settings.gateway == (item.namespace, item.label):
        yield make_diagnostic("E631", item.origin("metadata", "name"), name=item.label)
    references = [
        "remoteJWKS.backendRefs" if "backendRefs" in (provider.get("remoteJWKS") or {}) else "localJWKS.valueRef"
        for provider in settings.auth.get("jwt") or ()
        if "backendRefs" in (provider.get("remoteJWKS") or {}) or "valueRef" in (provider.get("localJWKS") or {})
    ]
    if request.allow and references and settings.gateway[0] != item.namespace:
        yield make_diagnostic("E636", origin, what=references[0])


@rule(of=RuleBucket)
def taken_route_name(bucket: RuleBucket) -> Iterator[Diagnostic]:
    """An error for an app, ModelRoute or InferenceModel with the name of a packed route."""
    inputs = bucket.inputs
    items: tuple[App | TrafficInput, ...] = (*inputs.apps, *inputs.rendered_traffic)
    for item in items:
        if (item.namespace, item.name) == (bucket.namespace, bucket.name):
            yield make_diagnostic("E633", item.origin("metadata", "name"), name=bucket.name)


@rule(of=RuleBucket)
def overfull_bucket(bucket: RuleBucket) -> Iterator[Diagnostic]:
    """An error for more rules than one route holds."""
    if not bucket.fits:
        params = {"name": bucket.name, "namespace": bucket.namespace, "count": len(bucket.rules), "most": MAX_RULES}
        yield make_diagnostic("E628", bucket.settings.at("routeBuckets"), **params, fits=bucket.sufficient)
