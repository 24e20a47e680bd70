"""The plans of OpenModel objects, from which InftyAI's scheduler reads the nodes of flavors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from renderer.api import Inputs, OpenModel, RenderConfig
from renderer.diagnostics import Collector, Origin
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
    return [model_plan(context.inputs, context.catalog, need.name, diagnostics) for need in needs]


def model_plan(inputs: Inputs, catalog: Catalog, name: str, diagnostics: Collector) -> ModelPlan:
    """The plan of an OpenModel object: upstream's fields only, canonical and with the CRD's defaults, so that it never
    drifts. Upstream's webhook sets the label of the family. `catalog`: RenderConfig's flavors.
    """
    model = inputs.models[name]
    origin = Origin(model.document)
    return ModelPlan(
        name=name,
        labels={
            **wellknown.own_labels(name, "model"),
            wellknown.MODEL_FAMILY: model.spec["familyName"],
        },
        spec=_render_spec(inputs.config, catalog, model, origin.at("spec"), diagnostics),
        origin=origin,
    )


def _render_spec(
    config: RenderConfig, catalog: Catalog, model: OpenModel, origin: Origin, diagnostics: Collector
) -> dict[str, object]:
    spec = model.spec
    rendered: dict[str, object] = {"familyName": spec["familyName"], "source": _render_source(spec["source"])}
    flavor_specs = (spec.get("inferenceConfig") or {}).get("flavors") or ()
    if flavor_specs:
        merged = [
            flavors.merge_flavor(
                flavor, origin.at("inferenceConfig", "flavors", i), catalog.get(flavor["name"]), config, diagnostics
            )
            for i, flavor in enumerate(flavor_specs)
        ]
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
