"""The plans of a Playground's prefill and decode workloads, behind one pool (docs/disaggregation.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from renderer import disaggregated_sets
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Stop, has_errors
from renderer.json_values import map_at
from renderer.plan import Plan, Scaler
from renderer.resolve import flavors, names, versioned_fields
from renderer.resolve.apps import playground, role_apps, variants
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
    prefill, decode = (playground.plan_playground(context, role, diagnostics) for role in role_apps.app_roles(app))
    are_sound = not has_errors(diagnostics.problems)  # else they may differ by what is wrong
    _validate_ports(app, prefill, decode, diagnostics)
    if prefill.role and decode.role and are_sound:
        if prefill.role.vendor == decode.role.vendor:
            _validate_images(app, prefill, decode, diagnostics)
        facts = context.inputs.models[decode.model].spec.get("facts") or {}
        known_attention = "kvHeads" in (facts.get("attention") or {})
        validate_pair(app, prefill.role, decode.role, known_attention, diagnostics)
    if role_apps.kind(app) != disaggregated_sets.KIND:
        return [prefill, decode]
    _validate_fixed_replicas(app, prefill, decode, diagnostics)
    for role, plan in zip(("prefill", "decode"), (prefill, decode), strict=True):
        if plan.scaler and not versioned_fields.sets_have_role_scalers(context.inputs.config):
            _report_scaling(context, app, role, plan.scaler, diagnostics)
    if not any(problem.code == "E281" for problem in diagnostics.problems):  # which is about the same name
        names.validate_set_name(app, [_groups(prefill, "prefill"), _groups(decode, "decode")], diagnostics)
    return [replace(plan, kind=disaggregated_sets.KIND) for plan in (prefill, decode)]


def _validate_images(app: App, prefill: Plan, decode: Plan, diagnostics: Collector) -> None:
    """An error for roles that run different images."""
    images = {
        role: (plan.leader or plan.worker).containers[0].image
        for role, plan in (("decode", decode), ("prefill", prefill))
    }
    if len(set(images.values())) == 1:
        return
    replacing = (role for role in images if "podTemplate" in map_at(app.spec, "disaggregation", role))
    other = next(replacing, "prefill")
    role = "decode" if other == "prefill" else "prefill"
    file, line, _ = _image_origin(app, other).place
    words = {"role": role, "image": images[role], "other": other, "other_image": images[other]}
    diagnostics.add("E378", _image_origin(app, role), **words, file=file, line=line)


def _image_origin(app: App, role: str) -> Origin:
    """Where the image of a role is said, or not said any more: in the podTemplate of the Playground or its own."""
    if "podTemplate" in map_at(app.spec, "disaggregation", role):
        return app.origin(*KEY, role, "podTemplate", key=True)
    index, runner = pod_template.runner_patch(app.spec)
    path = ("podTemplate", "spec", "containers", index, "image") if "image" in runner else KEY[1:]
    return app.origin("spec", *path)


def _groups(plan: Plan, role: str) -> names.RoleGroups:
    """What counts of a role's groups for their names."""
    return names.RoleGroups(role, plan.size, plan.scaler.max_replicas if plan.scaler else plan.replicas or 1)


def _validate_ports(app: App, prefill: Plan, decode: Plan, diagnostics: Collector) -> None:
    """An error for roles that one pool cannot select, or whose ports it cannot name."""
    if (prefill.all_serve, len(prefill.pool_ports)) != (decode.all_serve, len(decode.pool_ports)):
        origin = app.origin(*KEY, "prefill", key=True)
        diagnostics.add("E385", origin, prefill=_answers(prefill), decode=_answers(decode))


def _validate_fixed_replicas(app: App, prefill: Plan, decode: Plan, diagnostics: Collector) -> None:
    """An error for a role of a DisaggregatedSet that has no replicas while the other one has a fixed number of them."""
    counts = {"prefill": prefill.replicas, "decode": decode.replicas}
    if prefill.scaler or decode.scaler or None in counts.values() or all(counts.values()) or not any(counts.values()):
        return
    role, other = ("decode", "prefill") if prefill.replicas else ("prefill", "decode")
    place = (*KEY, role) if "replicas" in map_at(app.spec, "disaggregation", role) else ("spec",)
    diagnostics.stop("E389", app.origin(*place, "replicas"), role=role, other=other, count=counts[other])


def _answers(plan: Plan) -> str:
    """Which pods of a replica answer, and on how many ports."""
    count = len(plan.pool_ports)
    ports = f"on {count} {'port' if count == 1 else 'ports'}"
    return f"each {ports}" if plan.all_serve else f"as leaders alone, {ports}" if plan.size > 1 else ports


def _report_scaling(context: RunContext, app: App, role: str, scaler: Scaler, diagnostics: Collector) -> None:
    """The error for an autoscaler of a role that has nothing to target."""
    own = map_at(app.spec, "disaggregation", role)
    origin = app.origin(*KEY, role, "elasticConfig") if "elasticConfig" in own else app.origin("spec", "elasticConfig")
    origin = app.origin(*KEY, role) if scaler.owner else origin
    origin = Origin(origin.source, origin.path, key=True)
    version = versioned_fields.target(context.inputs.config, "leaderWorkerSet")
    asks, instead = "this asks for an autoscaler", "replicas"
    if scaler.owner:
        asks, instead = f"the {scaler.owner} is to scale it", "take that away"
    diagnostics.add("E387", origin, version=version, asks=asks, instead=instead)


def _contradictions(context: RunContext, app: App) -> Iterator[tuple[Origin, str, str]]:
    """Origin and name of each field that is not for two roles, and what to do instead."""
    spec = app.spec
    if flavors.flavor_policy(context.inputs, app) == variants.VARIANTS:
        origin = app.origin("spec", "flavorPolicy") if "flavorPolicy" in spec else app.origin(*KEY, key=True)
        yield origin, "flavorPolicy: variants", "name the flavors of each role by its inferenceFlavors"
    if "kvCacheOffloading" in spec:
        hint = "leave one of them out: they were not tried together"
        yield app.origin("spec", "kvCacheOffloading", key=True), "kvCacheOffloading", hint
    if "port" in (spec.get("gateway") or {}):
        hint = "leave it out: what answers in pods of the role decode is the picker's sidecar"
        yield app.origin("spec", "gateway", "port", key=True), "gateway.port", hint
    if "workload" in spec and role_apps.kind(app) == disaggregated_sets.KIND:
        hint = "leave it out, or write disaggregation.kind: LeaderWorkerSet"
        yield app.origin("spec", "workload", key=True), "workload", hint
    for role in ("prefill", "decode"):
        own = map_at(spec, "disaggregation", role)
        index, runner = pod_template.runner_patch(cast("AppSpec", own))
        if "image" in runner:
            path = ("podTemplate", "spec", "containers", index, "image")
            yield app.origin(*KEY, role, *path), f"an image of the role {role} alone", "write it in spec.podTemplate"
