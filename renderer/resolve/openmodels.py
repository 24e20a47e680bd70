"""OpenModels that the cluster gets to know: InftyAI's scheduler reads the flavors' nodes from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from renderer.api import Config, Inputs, OpenModel, Spec
from renderer.plan import Model, Wanted
from renderer.problems import Findings, Origin
from renderer.resolve import flavors
from renderer.resolve.claims import Claim
from renderer.resolve.flavors import Flavor
from renderer.schema import spec_default

KIND = "OpenModel"
Catalog: TypeAlias = Mapping[str, Flavor | None]


def wanted(claim: Claim) -> tuple[Wanted, ...]:
    """All models of a claim."""
    return tuple([Wanted(KIND, "", each.model.name) for each in claim.models])


def model(inputs: Inputs, catalog: Catalog, name: str, found: Findings) -> Model:
    """The model with upstream's fields only, canonical and with the CRD's defaults written out, so that it never
    drifts. The label of its family is what upstream's webhook sets. `catalog`: RenderConfig's flavors.
    """
    made = inputs.models[name]
    at = Origin(made.document)
    return Model(
        name=name,
        labels={
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/component": "model",
            "app.kubernetes.io/part-of": "llmaz",
            "app.kubernetes.io/managed-by": "llmaz-renderer",
            "llmaz.io/model-family-name": made.spec["familyName"],
        },
        spec=_spec(inputs.config, catalog, made, at.at("spec"), found),
        origins=lambda: {(): at, ("name",): at.at("metadata", "name"), ("spec",): at.at("spec")},
    )


def _spec(config: Config, catalog: Catalog, model: OpenModel, at: Origin, found: Findings) -> dict[str, Any]:
    spec = model.spec
    made: dict[str, Any] = {"familyName": spec["familyName"], "source": _source(spec["source"])}
    offered = (spec.get("inferenceConfig") or {}).get("flavors") or ()
    if offered:
        merged = [
            flavors.flavor(each, at.at("inferenceConfig", "flavors", i), catalog.get(each["name"]), config, found)
            for i, each in enumerate(offered)
        ]
        made["inferenceConfig"] = {"flavors": [_flavor(each) for each in merged]}
    made["ownedBy"] = spec.get("ownedBy", spec_default("OpenModel", "ownedBy"))
    if "createdAt" in spec:
        made["createdAt"] = spec["createdAt"]
    return made


def _source(source: Spec) -> dict[str, Any]:
    hub = source.get("modelHub")
    if hub is None:
        return {"uri": source["uri"]}
    defaults = {key: spec_default("OpenModel", "source", "modelHub", key) for key in ("name", "revision")}
    fields = ("name", "modelID", "filename", "revision", "allowPatterns", "ignorePatterns")
    said = {**defaults, **{key: value for key, value in hub.items() if value not in ("", [])}}
    return {"modelHub": {key: said[key] for key in fields if key in said}}


def _flavor(flavor: Flavor) -> dict[str, Any]:
    """One flavor, the catalog's words among its own; the scheduler reads `nodeSelector` alone, so the instance type
    stands there too.
    """
    parts = {"limits": flavor.limits, "nodeSelector": flavor.node, "params": flavor.params}
    return {"name": flavor.name, **{key: value for key, value in parts.items() if value}}
