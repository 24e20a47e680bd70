"""The plans of OpenModel objects, from which InftyAI's scheduler reads the nodes of flavors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from renderer.api import Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, Stop
from renderer.kubernetes import wellknown
from renderer.plan import ModelNeed, ModelPlan
from renderer.resolve import flavors
from renderer.resolve.context import RunContext
from renderer.resolve.flavors import Flavor
from renderer.schema_validation import spec_default

if TYPE_CHECKING:
    from renderer.input_types import SourceSpec

Catalog: TypeAlias = Mapping[str, Flavor | None]


def model_plans(context: RunContext, needs: Iterable[ModelNeed], diagnostics: Collector) -> list[ModelPlan]:
    """The plans of the OpenModel objects that apps need."""
    lent: dict[str, dict[str, None]] = {}
    for need in needs:
        lent.setdefault(need.name, {}).update(dict.fromkeys(need.lent_flavors))
    return [
        model_plan(context.inputs, context.catalog, name, diagnostics, sorted(lent_flavors))
        for name, lent_flavors in lent.items()
    ]


def model_plan(
    inputs: Inputs, catalog: Catalog, name: str, diagnostics: Collector, lent_flavors: Iterable[str] = ()
) -> ModelPlan:
    """The plan of an OpenModel object: upstream's fields only, canonical and with the CRD's defaults, so that it never
    drifts. Upstream's webhook sets the label of the family. `catalog`: RenderConfig's flavors; `lent_flavors`: the
    names of those that it lends the model, which come last.
    """
    model = inputs.models[name]
    origin = Origin(model.document)
    return ModelPlan(
        name=name,
        labels={
            **wellknown.own_labels(name, "model"),
            wellknown.MODEL_FAMILY: model.spec["familyName"],
        },
        spec=_render_spec(inputs, catalog, model, lent_flavors, diagnostics),
        origin=origin,
    )


def _render_spec(
    inputs: Inputs, catalog: Catalog, model: OpenModel, lent_flavors: Iterable[str], diagnostics: Collector
) -> dict[str, object]:
    spec, path = model.spec, ("spec", "inferenceConfig", "flavors")
    rendered: dict[str, object] = {"familyName": spec["familyName"], "source": _render_source(spec["source"])}
    flavor_specs = (spec.get("inferenceConfig") or {}).get("flavors") or ()
    merged = [
        flavors.merge_flavor(
            flavor, Origin(model.document, (*path, i)), catalog.get(flavor["name"]), inputs.config, diagnostics
        )
        for i, flavor in enumerate(flavor_specs)
    ]
    with suppress(Stop):  # reported with the app
        merged += [flavors.lent_flavor(inputs, catalog, model, name, diagnostics) for name in lent_flavors]
    if merged:
        rendered["inferenceConfig"] = {"flavors": [_render_flavor(flavor) for flavor in merged]}
    rendered["ownedBy"] = spec.get("ownedBy", spec_default("OpenModel", "ownedBy"))
    if "createdAt" in spec:
        rendered["createdAt"] = spec["createdAt"]
    return rendered


def _render_source(source: SourceSpec) -> dict[str, object]:
    hub = source.get("modelHub")
    if hub is None:
        return {"uri": source["uri"]}
    defaults = {key: spec_default("OpenModel", "source", "modelHub", key) for key in ("name", "revision")}
    fields = ("name", "modelID", "filename", "revision", "allowPatterns", "ignorePatterns")
    values = {**defaults, **{key: value for key, value in hub.items() if value not in ("", [])}}
    return {"modelHub": {key: values[key] for key in fields if key in values}}


def _render_flavor(flavor: Flavor) -> dict[str, object]:
    """A flavor merged with the catalog's; `nodeSelector` has the instance type too, since the scheduler reads nothing
    else.
    """
    parts = {"limits": flavor.limits, "nodeSelector": flavor.node, "params": flavor.params}
    return {"name": flavor.name, **{key: value for key, value in parts.items() if value}}
