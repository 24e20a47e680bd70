"""What does not go with a route of several public names."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App, TrafficInput
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.diagnostics.rules import rule
from renderer.resolve.traffic.packed_routes import MAX_RULES, RuleBucket


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
