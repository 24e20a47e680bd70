"""Budgets of tokens, beside the Applications and HelmReleases of the tree that install Envoy Gateway."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import Inputs
from renderer.check.foreign.platform_releases import GATEWAY_CHART, OUR_CHART, FindReleases
from renderer.diagnostics import Diagnostic, make_diagnostic

# What switches the service on, in values of our chart and of Envoy Gateway's own.
_SWITCHES = {OUR_CHART: ("redis", "enabled"), GATEWAY_CHART: ("config", "envoyGateway", "rateLimit")}


def uncounted_budgets(find_releases: FindReleases, inputs: Inputs) -> Iterator[Diagnostic]:
    """A warning at the first budget of tokens where the tree installs Envoy Gateway and gives it no rate limit service:
    then each request of the route is answered with 500 (buildGlobalRateLimit and its caller in
    internal/gatewayapi/backendtrafficpolicy.go of Envoy Gateway 1.9.1).
    """
    limited = [item for item in inputs.traffic if item.spec.get("tokenLimits")]
    releases = find_releases() if limited else ()
    if releases and not any(release.may_have(*_SWITCHES[release.chart]) for release in releases):
        item, release = limited[0], releases[0]
        names = ", ".join(dict.fromkeys(f"'{other.spec['modelName']}'" for other in limited))
        hint = "set config.envoyGateway.rateLimit among its values, as docs/traffic.md shows"
        if release.chart == OUR_CHART:
            hint = f"write redis: {{enabled: true}} into {release.place}"
        yield make_diagnostic("W685", item.origin("spec", "tokenLimits"), names=names, file=release.place, hint=hint)
