"""OpenModels that the cluster gets to know: InftyAI's scheduler reads the flavors' nodes from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from renderer.api import Inputs, OpenModel, RenderConfig
from renderer.diagnostics import Collector, Origin
from renderer.plan import ModelPlan, SharedNeed
from renderer.resolve import flavors
from renderer.resolve.claims import Claim
from renderer.resolve.flavors import Flavor
from renderer.schema import spec_default

if TYPE_CHECKING:
    from renderer.input_types import SourceSpec

KIND = "OpenModel"
Catalog: TypeAlias = Mapping[str, Flavor | None]


def open_model_needs(claim: Claim) -> tuple[SharedNeed, ...]:
    """All models of a claim."""
    return tuple([SharedNeed(KIND, "", model.model.name) for model in claim.models])


def model_plan(inputs: Inputs, catalog: Catalog, name: str, diagnostics: Collector) -> ModelPlan:
    """The model with upstream's fields only, canonical and with the CRD's defaults written out, so that it never
    drifts. The label of its family is what upstream's webhook sets. `catalog`: RenderConfig's flavors.
    """
    model = inputs.models[name]
    at = Origin(model.document)
    return ModelPlan(
        name=name,
        labels={
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/component": "model",
            "app.kubernetes.io/part-of": "llmaz",
            "app.kubernetes.io/managed-by": "llmaz-renderer",
            "llmaz.io/model-family-name": model.spec["familyName"],
        },
        spec=_spec(inputs.config, catalog, model, at.at("spec"), diagnostics),
        origins=lambda: {(): at, ("name",): at.at("metadata", "name"), ("spec",): at.at("spec")},
    )


def _spec(
    config: RenderConfig, catalog: Catalog, model: OpenModel, at: Origin, diagnostics: Collector
) -> dict[str, Any]:
    spec = model.spec
    rendered: dict[str, Any] = {"familyName": spec["familyName"], "source": _source(spec["source"])}
    offered = (spec.get("inferenceConfig") or {}).get("flavors") or ()
    if offered:
        merged = [
            flavors.merge_flavor(
                flavor, at.at("inferenceConfig", "flavors", i), catalog.get(flavor["name"]), config, diagnostics
            )
            for i, flavor in enumerate(offered)
        ]
        rendered["inferenceConfig"] = {"flavors": [_flavor(flavor) for flavor in merged]}
    rendered["ownedBy"] = spec.get("ownedBy", spec_default("OpenModel", "ownedBy"))
    if "createdAt" in spec:
        rendered["createdAt"] = spec["createdAt"]
    return rendered


def _source(source: SourceSpec) -> dict[str, Any]:
    hub = source.get("modelHub")
    if hub is None:
        return {"uri": source["uri"]}
    defaults = {key: spec_default("OpenModel", "source", "modelHub", key) for key in ("name", "revision")}
    fields = ("name", "modelID", "filename", "revision", "allowPatterns", "ignorePatterns")
    values = {**defaults, **{key: value for key, value in hub.items() if value not in ("", [])}}
    return {"modelHub": {key: values[key] for key in fields if key in values}}


def _flavor(flavor: Flavor) -> dict[str, Any]:
    """One flavor, the catalog's words among its own; the scheduler reads `nodeSelector` alone, so the instance type
    stands there too.
    """
    parts = {"limits": flavor.limits, "nodeSelector": flavor.node, "params": flavor.params}
    return {"name": flavor.name, **{key: value for key, value in parts.items() if value}}
