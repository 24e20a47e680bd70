"""What does not go with a Playground whose prefill and decode are two workloads (docs/disaggregation.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, quoted, rule, suggestion
from renderer.kubernetes.json_values import map_at
from renderer.plan import Plan, Role, Scaler, Setting
from renderer.resolve import claims, flavors, names, target_versions, tasks
from renderer.resolve.engine.disaggregation import KEY, place_of
from renderer.resolve.gateway import routing, task_routes
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.pod import pod_template
from renderer.resolve.workload.role_pair import RolePair
from renderer.resolve.workload.written_app import WrittenPair

if TYPE_CHECKING:
    from renderer.input_types import AppSpec


@rule(of=WrittenPair, gate=True)
def unfit_picker(written: WrittenPair) -> Iterator[Diagnostic]:
    """An error for a gateway, or a picker, by which requests would not reach both roles."""
    context, app, settings = written.context, written.app, gateway_settings(written.context, written.app.namespace)
    mode, name, documents = routing.mode(app, settings), str(settings.get("picker")), context.inputs.pickers
    if mode != "pool":
        yield make_diagnostic("E375", app.origin("spec", "disaggregation", key=True), mode=mode)
    elif name not in documents:
        yield make_diagnostic("E641", settings.at("picker"), name=name, hint=suggestion(name, list(documents)))
    elif "disaggregation" not in documents[name].value["spec"]:
        able = [other for other, document in documents.items() if "disaggregation" in document.value["spec"]]
        yield make_diagnostic("E376", settings.at("picker"), name=name, app=app.name, able=quoted(able))


@rule(of=WrittenPair, after=unfit_picker)
def contradictions(written: WrittenPair) -> Iterator[Diagnostic]:
    """An error for each field that is not for two roles."""
    for origin, key, hint in _contradictions(written):
        yield make_diagnostic("E384", origin, key=key, hint=hint)


def _contradictions(written: WrittenPair) -> Iterator[tuple[Origin, str, str]]:
    """Origin and name of each field that is not for two roles, and what to do instead."""
    context, app, spec = written.context, written.app, written.app.spec
    main = claims.main_model(context.inputs, app)
    if main and (why := _why_no_roles(context.inputs, app, main)):
        task_origin = None if main.ours else tasks.task_origin(main)
        origin = task_origin or app.origin(*KEY, key=True)
        yield origin, f"a model of task {tasks.task_of(main)}", f"leave spec.disaggregation out: {why}"
    if flavors.flavor_policy(context.inputs, app) == flavors.VARIANTS:
        origin = app.origin("spec", "flavorPolicy") if "flavorPolicy" in spec else app.origin(*KEY, key=True)
        yield origin, "flavorPolicy: variants", "name the flavors of each role by its inferenceFlavors"
    if "kvCacheOffloading" in spec:
        hint = "leave one of them out: they were not tested together"
        yield app.origin("spec", "kvCacheOffloading", key=True), "kvCacheOffloading", hint
    if "port" in (spec.get("gateway") or {}):
        hint = "leave it out: in pods of the role decode the picker's sidecar answers requests"
        yield app.origin("spec", "gateway", "port", key=True), "gateway.port", hint
    if "workload" in spec and written.in_one_set:
        hint = "leave it out, or write disaggregation.kind: LeaderWorkerSet"
        yield app.origin("spec", "workload", key=True), "workload", hint
    for role in ("prefill", "decode"):
        own = map_at(spec, "disaggregation", role)
        index, runner = pod_template.runner_patch(cast("AppSpec", own))
        if "image" in runner:
            path = ("podTemplate", "spec", "containers", index, "image")
            yield app.origin(*KEY, role, *path), f"an image of the role {role} alone", "write it in spec.podTemplate"


def _why_no_roles(inputs: Inputs, app: App, main: OpenModel) -> str:
    """Why a model of its task has no use for roles; '' where it has."""
    if tasks.task_of(main) not in tasks.GENERATING:
        return "its engine writes no tokens, so pods for decode would have nothing to do"
    return "" if task_routes.schema_for(inputs, app, main) else "the AI gateway has no path that leads to it"


@rule(of=RolePair, when=lambda pair: pair.is_sound)
def other_images(pair: RolePair) -> Iterator[Diagnostic]:
    """An error for roles that run different images on the same accelerators."""
    app, prefill, decode = pair.app, pair.prefill, pair.decode
    if not (prefill.role and decode.role and prefill.role.vendor == decode.role.vendor):
        return
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
    yield make_diagnostic("E378", _image_origin(app, role), **words, file=file, line=line)


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


@rule(of=RolePair)
def other_ports(pair: RolePair) -> Iterator[Diagnostic]:
    """An error for roles that one pool cannot select, or whose ports it cannot name."""
    app, prefill, decode = pair.app, pair.prefill, pair.decode
    if (prefill.all_serve, len(prefill.pool_ports)) != (decode.all_serve, len(decode.pool_ports)):
        origin = app.origin(*KEY, "prefill", key=True)
        yield make_diagnostic("E385", origin, prefill=_answers(prefill), decode=_answers(decode))


def _is_one_set(pair: RolePair) -> object:
    """Whether both roles are in one DisaggregatedSet."""
    return pair.written.in_one_set


@rule(of=RolePair, when=_is_one_set, gate=True)
def unbalanced_replicas(pair: RolePair) -> Iterator[Diagnostic]:
    """An error for a role of a DisaggregatedSet that has no replicas while the other one has a fixed number of them."""
    app, prefill, decode = pair.app, pair.prefill, pair.decode
    counts = {"prefill": prefill.replicas, "decode": decode.replicas}
    if prefill.scaler or decode.scaler or None in counts.values() or all(counts.values()) or not any(counts.values()):
        return
    role, other = ("decode", "prefill") if prefill.replicas else ("prefill", "decode")
    place = (*KEY, role) if "replicas" in map_at(app.spec, "disaggregation", role) else ("spec",)
    yield make_diagnostic("E389", app.origin(*place, "replicas"), role=role, other=other, count=counts[other])


def _answers(plan: Plan) -> str:
    """Which pods of a replica answer, and on how many ports."""
    count = len(plan.pool_ports)
    ports = f"on {count} {'port' if count == 1 else 'ports'}"
    return f"each {ports}" if plan.all_serve else f"only as leaders, {ports}" if plan.size > 1 else ports


@rule(of=RolePair, when=_is_one_set, after=unbalanced_replicas)
def unscalable_roles(pair: RolePair) -> Iterator[Diagnostic]:
    """An error for each autoscaler of a role that has nothing to target."""
    if target_versions.sets_have_role_scalers(pair.written.context.inputs.config):
        return
    for role, plan in (("prefill", pair.prefill), ("decode", pair.decode)):
        if plan.scaler:
            yield _unscalable(pair, role, plan.scaler)


def _unscalable(pair: RolePair, role: str, scaler: Scaler) -> Diagnostic:
    app = pair.app
    own = map_at(app.spec, "disaggregation", role)
    origin = app.origin(*KEY, role, "elasticConfig") if "elasticConfig" in own else app.origin("spec", "elasticConfig")
    origin = app.origin(*KEY, role) if scaler.owner else origin
    origin = Origin(origin.source, origin.path, key=True)
    version = target_versions.target(pair.written.context.inputs.config, "leaderWorkerSet")
    asks, instead = "this sets an autoscaler", "replicas"
    if scaler.owner:
        asks, instead = f"the {scaler.owner} would scale it", "remove that"
    return make_diagnostic("E387", origin, version=version, asks=asks, instead=instead)


@rule(of=RolePair, when=_is_one_set, after=unbalanced_replicas)
def too_long_name(pair: RolePair) -> Iterator[Diagnostic]:
    """An error for a name to which those of a DisaggregatedSet's workloads do not fit."""
    if "E281" not in pair.reported:  # which is about the same name
        groups = [_groups(pair.prefill, "prefill"), _groups(pair.decode, "decode")]
        yield from names.invalid_set_name(pair.app, groups)


@rule(of=RolePair, when=lambda pair: pair.is_sound)
def other_roles(pair: RolePair) -> Iterator[Diagnostic]:
    """Errors for two roles that cannot hand KV cache to each other."""
    prefill, decode = pair.prefill.role, pair.decode.role
    if prefill is None or decode is None:
        return
    if prefill.vendor != decode.vendor:
        yield _other_vendors(pair.app, prefill, decode)
        return  # all else follows from that
    yield from _other_sizes(pair, prefill, decode)
    yield from _other_pipelines(prefill, decode)
    for option in sorted({*prefill.layout, *decode.layout}):
        settings = prefill.layout.get(option), decode.layout.get(option)
        if (settings[0] and settings[0].text) != (settings[1] and settings[1].text):
            yield from _other_layout(pair.app, *settings)


def _other_sizes(pair: RolePair, prefill: Role, decode: Role) -> Iterator[Diagnostic]:
    """An error for tensor parallel sizes between which the engine hands no KV cache over; a warning where the model's
    facts do not say that each layer has keys and values of its own heads.
    """
    sizes = {"prefill": prefill.tensor, "decode": decode.tensor}
    origin = prefill.tensor_origin or decode.tensor_origin or pair.app.origin(*KEY, "prefill", key=True)
    if prefill.tensor_rule == "equal" and prefill.tensor != decode.tensor:
        yield make_diagnostic("E379", origin, **sizes, hint="give both roles the same size")
    elif prefill.tensor_rule == "prefillAtMostDecode" and prefill.tensor > decode.tensor:
        facts = pair.written.context.inputs.models[pair.decode.model].spec.get("facts") or {}
        hint = "give prefill at most the size of decode, and more replicas"
        code = "E379" if "kvHeads" in (facts.get("attention") or {}) else "W375"
        yield make_diagnostic(code, origin, **sizes, hint=hint)


def _other_vendors(app: App, prefill: Role, decode: Role) -> Diagnostic:
    """An error at the flavors of one role, which names the place of the other's."""
    roles = [decode, prefill]  # the one with flavors of its own first
    roles.sort(key=lambda role: not _of_role(app, role.vendor_origin, role.name, "inferenceFlavors"))
    file, line, _ = roles[1].vendor_origin.place
    (role, place), (other, other_place) = ((role.name, place_of(role.vendor)) for role in roles)
    words = {"role": role, "place": place, "other": other, "other_place": other_place}
    return make_diagnostic("E380", roles[0].vendor_origin, **words, file=file, line=line)


def _other_pipelines(prefill: Role, decode: Role) -> Iterator[Diagnostic]:
    """An error for pipeline parallel sizes between which the engine hands no KV cache over."""
    sizes = {"prefill": prefill.pipeline, "decode": decode.pipeline}
    if prefill.pipeline_rule == "none" and max(sizes.values()) > 1:
        origin = (prefill if prefill.pipeline > 1 else decode).pipeline_origin
        yield make_diagnostic("E388", origin, **sizes, hint="leave pipeline out, and share the model by tensor")
    elif prefill.pipeline_rule == "decodeEqualOrNone" and decode.pipeline not in (1, prefill.pipeline):
        hint = "leave pipeline out in decode"
        hint += f", or write {prefill.pipeline} there as well" if prefill.pipeline > 1 else ""
        yield make_diagnostic("E388", decode.pipeline_origin, **sizes, hint=hint)


def _other_layout(app: App, prefill: Setting | None, decode: Setting | None) -> Iterator[Diagnostic]:
    """An error at the role's own setting, which names the other one's."""
    settings = [("prefill", prefill), ("decode", decode)]
    own = [(role, setting) for role, setting in settings if setting and _of_role(app, setting.origin, role, "args")]
    role, setting = own[-1] if own else ("decode", decode) if decode else ("prefill", prefill)
    if setting is None:
        return  # unreachable: one of them says it
    other_role, other = next((name, value) for name, value in settings if name != role)
    what = "does not set it"
    if other:
        file, line, _ = other.origin.place
        what = f"has {quoted([other.value]) if other.value else other.option}, in {file}:{line}"
    yield make_diagnostic("E381", setting.origin, given=setting.text, role=role, other=other_role, said=what)


def _of_role(app: App, origin: Origin, role: str, key: str) -> bool:
    """Whether a role itself says this under a key, in the Playground or in a patch of its environment."""
    source, path = origin.behind
    own_source, own_path = app.origin(*KEY, role, key).behind
    return source is own_source and path[: len(own_path)] == own_path
