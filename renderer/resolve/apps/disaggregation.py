"""The plans of a Playground's prefill and decode workloads, behind one pool (docs/disaggregation.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from renderer import disaggregated_sets, wellknown
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Stop, has_errors
from renderer.json_values import map_at
from renderer.plan import Plan
from renderer.resolve import flavors, names, versioned_fields
from renderer.resolve.apps import playground, prefill_and_decode, variants
from renderer.resolve.autoscaling import keda
from renderer.resolve.context import RunContext
from renderer.resolve.engine.disaggregation import KEY, validate_pair
from renderer.resolve.gateway import pools, routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.pod import pod_template

if TYPE_CHECKING:
    from renderer.input_types import AppSpec


def plan_roles(context: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    """The plans of prefill and decode. Raises Stop where their requests would not reach both, or where what an app says
    beside is nothing for two roles.
    """
    settings = gateway_settings(context, app.namespace)
    pools.validate_picker(context, app, settings, routing.mode(app, settings), diagnostics)
    for origin, key, hint in _contradictions(context, app):
        diagnostics.add("E384", origin, key=key, hint=hint)
    if has_errors(diagnostics.problems):
        raise Stop
    prefill, decode = (
        playground.plan_playground(context, role, diagnostics) for role in prefill_and_decode.app_roles(app)
    )
    _validate_ports(app, prefill, decode, diagnostics)
    if prefill.role and decode.role:
        facts = context.inputs.models[decode.model].spec.get("facts") or {}
        known_attention = "kvHeads" in (facts.get("attention") or {})
        validate_pair(app, prefill.role, decode.role, known_attention, diagnostics)
    if spec_kind(app) != disaggregated_sets.KIND:
        return [prefill, decode]
    for role, plan in zip(("prefill", "decode"), (prefill, decode), strict=True):
        if plan.scaler:
            _validate_scaling(context, app, role, diagnostics)
        if plan.scaler and plan.size > 1:
            names.validate_scaled_set_name(app, role, plan.scaler.max_replicas, diagnostics)
    return [replace(plan, kind=disaggregated_sets.KIND) for plan in (prefill, decode)]


def spec_kind(app: App) -> str:
    """What runs the pods of both roles."""
    return str(app.spec["disaggregation"].get("kind", wellknown.LEADER_WORKER_SET))


def _validate_ports(app: App, prefill: Plan, decode: Plan, diagnostics: Collector) -> None:
    """An error for roles that one pool cannot select, or whose ports it cannot name."""
    if (prefill.all_serve, len(prefill.pool_ports)) != (decode.all_serve, len(decode.pool_ports)):
        origin = app.origin(*KEY, "prefill", key=True)
        diagnostics.add("E385", origin, prefill=_answers(prefill), decode=_answers(decode))


def _answers(plan: Plan) -> str:
    """Which pods of a replica answer, and on how many ports."""
    count = len(plan.pool_ports)
    ports = f"on {count} {'port' if count == 1 else 'ports'}"
    return f"each {ports}" if plan.all_serve else f"as leaders alone, {ports}" if plan.size > 1 else ports


def _validate_scaling(context: RunContext, app: App, role: str, diagnostics: Collector) -> None:
    """An error for an autoscaler of a role that nothing of a DisaggregatedSet lets itself be scaled by."""
    own = map_at(app.spec, "disaggregation", role)
    origin = app.origin(*KEY, role, "elasticConfig") if "elasticConfig" in own else app.origin("spec", "elasticConfig")
    origin = Origin(origin.source, origin.path, key=True)
    if not versioned_fields.sets_have_role_scalers(context.inputs.config):
        version = context.inputs.config.get("targets", "leaderWorkerSet")
        what = f"a DisaggregatedSet of LeaderWorkerSet {version} has a fixed number of replicas"
        hint = "write targets.leaderWorkerSet: '0.10' or above where every cluster has it, or replicas"
        diagnostics.add("E387", origin, what=what, hint=hint)
    elif keda.is_chosen(context.inputs.config):
        what = "KEDA's queries do not know the pods of a DisaggregatedSet"
        diagnostics.add("E387", origin, what=what, hint="write disaggregation.kind: LeaderWorkerSet, or replicas")


def _contradictions(context: RunContext, app: App) -> Iterator[tuple[Origin, str, str]]:
    """Origin and name of each field that is not for two roles, and what to do instead."""
    spec = app.spec
    if flavors.flavor_policy(context.inputs, app) == variants.VARIANTS:
        origin = app.origin("spec", "flavorPolicy") if "flavorPolicy" in spec else app.origin(*KEY, key=True)
        yield origin, "flavorPolicy: variants", "name the flavors of each role by its inferenceFlavors"
    if "kvCacheOffloading" in spec:
        yield app.origin("spec", "kvCacheOffloading", key=True), "kvCacheOffloading", "leave one of them out"
    if "port" in (spec.get("gateway") or {}):
        hint = "leave it out: what answers in pods of the role decode is the picker's sidecar"
        yield app.origin("spec", "gateway", "port", key=True), "gateway.port", hint
    for i, claimed in enumerate((spec.get("modelClaims") or {}).get("models") or ()):
        if claimed.get("role") == "lora":
            yield app.origin("spec", "modelClaims", "models", i), "an adapter", "leave one of them out"
    if "workload" in spec and spec_kind(app) == disaggregated_sets.KIND:
        hint = "leave it out, or write disaggregation.kind: LeaderWorkerSet"
        yield app.origin("spec", "workload", key=True), "workload", hint
    for role in ("prefill", "decode"):
        own = map_at(spec, "disaggregation", role)
        index, runner = pod_template.runner_patch(cast("AppSpec", own))
        if "image" in runner:
            path = ("podTemplate", "spec", "containers", index, "image")
            yield app.origin(*KEY, role, *path), f"an image of the role {role} alone", "write it in spec.podTemplate"
