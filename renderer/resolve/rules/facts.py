"""What is told about the facts of claimed models that contradict each other, or that nobody can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, suggestion
from renderer.kubernetes.json_values import map_at, number_at
from renderer.resolve.flavors import flavor_origins
from renderer.resolve.workload.claimed import AppBase

_FACTS = ("spec", "facts")


def have_facts(base: AppBase) -> bool:
    """Whether one of the claimed models has facts."""
    return any("facts" in claimed.model.spec for claimed in base.claim.models)


def have_types(base: AppBase) -> bool:
    """Whether one of the chosen flavors says the type of its accelerators."""
    return any(flavor.accelerator for flavor in base.placement.flavors)


def contradictory_layers(base: AppBase) -> Iterator[Diagnostic]:
    """An error where the kinds of layers are more, or fewer, than all layers."""
    for claimed in base.claim.models:
        attention = map_at(claimed.model.spec.get("facts"), "attention")
        layers, full = number_at(attention, "layers"), number_at(attention, "fullLayers")
        recurrent = number_at(attention, "recurrent", "layers")
        if not layers:
            continue
        if full > layers:
            what = f"{full:g} layers with full attention are more than all {layers:g}"
            yield make_diagnostic("E200", _origin(claimed.model, "attention", "fullLayers"), what=what)
        elif recurrent and recurrent + full != layers and "slidingWindow" not in attention:
            what = f"{recurrent:g} recurrent layers and {full:g} with full attention are not all {layers:g}"
            yield make_diagnostic("E200", _origin(claimed.model, "attention", "recurrent", "layers"), what=what)


def unusable_measurements(base: AppBase) -> Iterator[Diagnostic]:
    """An error for each measurement of a backend or a type of accelerator that is not known, and for a repeated one."""
    inputs = base.context.inputs
    for claimed in base.claim.models:
        seen: dict[tuple[object, ...], int] = {}
        for i, entry in enumerate((claimed.model.spec.get("facts") or {}).get("measured") or ()):
            if (backend := entry["backend"]) not in inputs.runtimes:
                hint = suggestion(backend, sorted(inputs.runtimes))
                origin = _origin(claimed.model, "measured", i, "backend")
                yield make_diagnostic("E205", origin, name=backend, hint=hint)
            types = inputs.accelerator_types()
            if (name := entry["accelerator"]) not in types.by_name:
                hint = suggestion(name, sorted(types.by_name))
                yield make_diagnostic(
                    "E209", _origin(claimed.model, "measured", i, "accelerator"), name=name, hint=hint
                )
            first = seen.setdefault(_conditions(entry), i)
            if first != i:
                what = f"measured[{first}] was measured under the same conditions"
                yield make_diagnostic("E200", _origin(claimed.model, "measured", i), what=what)


def invalid_types(base: AppBase) -> Iterator[Diagnostic]:
    """An error for each flavor whose type of accelerators is not known, is of another vendor than its limits, or
    contradicts the labels of its nodes.
    """
    types = base.context.inputs.accelerator_types()
    for flavor in base.placement.flavors:
        origin = flavor_origins(flavor, base.claim.main).at("accelerator")
        if flavor.accelerator and not (named := types.by_name.get(flavor.accelerator)):
            hint = suggestion(flavor.accelerator, sorted(types.by_name))
            yield make_diagnostic("E209", origin, name=flavor.accelerator, hint=hint)
        elif flavor.accelerator and named:
            accelerator = base.context.known_engines.accelerator(flavor.limits)
            if accelerator.resource and accelerator.vendor != named.vendor:
                words = {"resource": accelerator.resource, "other": accelerator.vendor, "vendor": named.vendor}
                yield make_diagnostic("E268", origin, name=named.name, **words)
            elif (labelled := types.of_labels(flavor.node)) and labelled.name != named.name:
                yield make_diagnostic("E269", origin, name=named.name, other=labelled.name)


def _conditions(entry: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(entry.get(key) for key in ("backend", "version", "accelerator", "tensor"))


def _origin(model: OpenModel, *path: str | int) -> Origin:
    return Origin(model.document, (*_FACTS, *path))
