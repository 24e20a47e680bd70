"""What is told about facts that contradict each other or that nobody can use, and about types of accelerators.

`validate_model` is about a model of the tree, whether an app claims it or not, `validate_catalog` about the flavors of
RenderConfig; the rules are about models that apps claim, wherever their files are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, Located, Origin, listed, make_diagnostic, rule, suggestion
from renderer.kubernetes.json_values import map_at, number_at
from renderer.resolve.context import RunContext
from renderer.resolve.engine.parallel_sizes import invalid_params
from renderer.resolve.flavors import Flavor, flavor_origins
from renderer.resolve.workload.claimed import AppBase
from renderer.resolve.workload.gpu_fit import flavor_card

_PRICES = ("fleet", "perHour")
_FACTS = ("spec", "facts")
_INSTANCE = "/mig-"  # in the name of a resource, before a profile


def _have_facts(base: AppBase) -> bool:
    """Whether one of the claimed models has facts."""
    return any("facts" in claimed.model.spec for claimed in base.claim.models)


def _have_types(base: AppBase) -> bool:
    """Whether one of the chosen flavors says the type of its accelerators."""
    return any(flavor.accelerator for flavor in base.placement.flavors)


def _have_instances(base: AppBase) -> bool:
    """Whether one of the chosen flavors is of instances of divided cards."""
    return any(_profile(base.context, flavor) for flavor in base.placement.flavors)


@rule(of=AppBase, when=_have_facts)
def contradictory_layers(base: AppBase) -> Iterator[Diagnostic]:
    """An error where the kinds of layers are more, or fewer, than all layers."""
    for claimed in base.claim.models:
        yield from _contradictory_layers(claimed.model)


@rule(of=AppBase, when=_have_facts)
def unusable_measurements(base: AppBase) -> Iterator[Diagnostic]:
    """An error for each measurement of a backend or a type of accelerator that is not known, and for a repeated one."""
    for claimed in base.claim.models:
        yield from _unusable_measurements(base.context, claimed.model)


@rule(of=AppBase, when=_have_types)
def invalid_types(base: AppBase) -> Iterator[Diagnostic]:
    """An error for each flavor whose type of accelerators is not known, is of another vendor than its limits, or
    contradicts the labels of its nodes.
    """
    for flavor in base.placement.flavors:
        yield from _invalid_type(base.context, flavor, flavor_origins(flavor, base.claim.main))


@rule(of=AppBase, when=_have_instances)
def missing_instances(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for each flavor with instances that its cards do not have."""
    for flavor in base.placement.flavors:
        yield from _missing_instance(base.context, flavor, flavor_origins(flavor, base.claim.main))


def validate_catalog(context: RunContext) -> Iterator[Diagnostic]:
    """An error for each type of accelerators and each param in RenderConfig's `flavors`, and each type in its prices,
    that is not valid.
    """
    config = context.inputs.config
    for name, flavor in context.catalog.items():
        if flavor:
            yield from _invalid_flavor(context, flavor, config.origin("flavors", name))
    for name, price in config.get(*_PRICES, default={}).items():
        if name not in (types := context.inputs.accelerator_types()).by_name:
            hint = types.hint(name)
            if name in context.catalog:
                hint = f"prices here are by type; that of a flavor is flavors: {{{name}: {{perHour: {price}}}}}"
            yield make_diagnostic("E209", config.origin(*_PRICES, name, key=True), name=name, hint=hint)


def validate_model(context: RunContext, model: OpenModel, flavors: Iterable[Flavor]) -> Iterator[Diagnostic]:
    """The same about a model's flavors, and the errors about its facts."""
    if "facts" in model.spec:
        yield from _contradictory_layers(model)
        yield from _unusable_measurements(context, model)
    for flavor in flavors:
        yield from _invalid_flavor(context, flavor, flavor_origins(flavor, model))


def _invalid_flavor(context: RunContext, flavor: Flavor, origins: Located) -> Iterator[Diagnostic]:
    yield from _invalid_type(context, flavor, origins)
    yield from _missing_instance(context, flavor, origins)
    yield from invalid_params(flavor.params, origins)


def _contradictory_layers(model: OpenModel) -> Iterator[Diagnostic]:
    attention = map_at(model.spec.get("facts"), "attention")
    layers, full = number_at(attention, "layers"), number_at(attention, "fullLayers")
    recurrent = number_at(attention, "recurrent", "layers")
    if not layers:
        return
    if full > layers:
        what = f"{full:g} layers with full attention are more than the {layers:g} layers of the model"
        yield make_diagnostic("E200", _origin(model, "attention", "fullLayers"), what=what)
    elif recurrent and recurrent + full != layers and "slidingWindow" not in attention:
        kinds = f"{recurrent:g} recurrent layers and {full:g} with full attention"
        what = f"{kinds} are not the {layers:g} layers of the model"
        yield make_diagnostic("E200", _origin(model, "attention", "recurrent", "layers"), what=what)


def _unusable_measurements(context: RunContext, model: OpenModel) -> Iterator[Diagnostic]:
    inputs = context.inputs
    seen: dict[tuple[object, ...], int] = {}
    for i, entry in enumerate((model.spec.get("facts") or {}).get("measured") or ()):
        if (backend := entry["backend"]) not in inputs.runtimes:
            hint = suggestion(backend, sorted(inputs.runtimes))
            yield make_diagnostic("E205", _origin(model, "measured", i, "backend"), name=backend, hint=hint)
        types = inputs.accelerator_types()
        if (name := entry["accelerator"]) not in types.by_name:
            place = _origin(model, "measured", i, "accelerator")
            yield make_diagnostic("E209", place, name=name, hint=types.hint(name))
        first = seen.setdefault(_conditions(entry), i)
        if first != i:
            what = f"measured[{first}] was measured under the same conditions"
            yield make_diagnostic("E200", _origin(model, "measured", i), what=what)


def _invalid_type(context: RunContext, flavor: Flavor, origins: Located) -> Iterator[Diagnostic]:
    if not flavor.accelerator:
        return
    types, origin = context.inputs.accelerator_types(), origins.at("accelerator")
    if not (named := types.by_name.get(flavor.accelerator)):
        yield make_diagnostic("E209", origin, name=flavor.accelerator, hint=types.hint(flavor.accelerator))
        return
    accelerator = context.known_engines.accelerator(flavor.limits)
    if accelerator.resource and accelerator.vendor != named.vendor:
        words = {"resource": accelerator.resource, "other": accelerator.vendor, "vendor": named.vendor}
        yield make_diagnostic("E268", origin, name=named.name, **words)
    elif (labelled := types.of_labels(flavor.node)) and labelled.name != named.name:
        yield make_diagnostic("E269", origin, name=named.name, other=labelled.name)


def _missing_instance(context: RunContext, flavor: Flavor, origins: Located) -> Iterator[Diagnostic]:
    """A warning for instances of a divided card that cards of the flavor's type do not have."""
    types, profile = context.inputs.accelerator_types(), _profile(context, flavor)
    card = flavor_card(types, flavor, {}) if profile else None
    if card and (profiles := types.missing_instance(profile, card)) is not None:
        resource = _instance_resource(flavor)
        origin = origins.at("limits", resource) if resource else origins.at("nodeSelector")
        hint = f"their profiles are {listed(profiles)}" if profiles else "they cannot be divided: request whole ones"
        yield make_diagnostic("W932", origin, card=card.name, profile=profile, hint=hint)


def _instance_resource(flavor: Flavor) -> str:
    """The resource of instances that a flavor asks for; '' where it asks for none."""
    return next((name for name in flavor.limits if _INSTANCE in name), "")


def _profile(context: RunContext, flavor: Flavor) -> str:
    """The profile of the instances that a flavor asks for, or that labels of its nodes say; '' for whole cards."""
    if _INSTANCE in "".join(flavor.limits):  # faster than a loop, for every app
        return _instance_resource(flavor).partition(_INSTANCE)[2]
    return context.inputs.accelerator_types().profile_of_labels(flavor.node) if flavor.node else ""


def _conditions(entry: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(entry.get(key) for key in ("backend", "version", "accelerator", "tensor"))


def _origin(model: OpenModel, *path: str | int) -> Origin:
    return Origin(model.document, (*_FACTS, *path))
