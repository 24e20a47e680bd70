"""What two inputs would both make: objects of one name, and public names on one host."""

from __future__ import annotations

from collections.abc import Iterable

from renderer.api import Inputs
from renderer.diagnostics import Collector, Diagnostic
from renderer.plan import SharedNeed
from renderer.resolve.apps.variants import app_variants
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.traffic import claims, object_names


def name_conflicts(inputs: Inputs) -> list[Diagnostic]:
    """Errors for names of apps and variants that another app, or a Service of another workload or pool, has; for
    objects of providers that two ModelRoutes make; and warnings about model names in streamed requests.
    """
    diagnostics = Collector()
    variants = [variant for app in inputs.apps for variant in app_variants(inputs, app) if variant.variant_of]
    run_rules_or_stop(object_names.tree_names(inputs, variants), diagnostics)
    return diagnostics.problems


def route_conflicts(inputs: Inputs, needs: Iterable[SharedNeed]) -> list[Diagnostic]:
    """Diagnostics about public names that are claimed twice on one Gateway, routes and rewrites that two inputs would
    create, Gateways with too many public names, and models to which no route can lead.
    """
    diagnostics, needs = Collector(), list(needs)
    run_rules_or_stop(claims.run_claims(inputs, needs), diagnostics)
    if unrouted := claims.unrouted_models(inputs, needs):
        run_rules_or_stop(unrouted, diagnostics)
    for names in claims.names_of_gateways(inputs, needs):
        run_rules_or_stop(names, diagnostics)
    return diagnostics.problems
