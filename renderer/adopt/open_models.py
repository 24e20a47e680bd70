"""The OpenModels of workloads: one for each source and name, with the flavors of all that serve it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.adopt.adopted_workload import AdoptedWorkload, family_of, object_name
from renderer.adopt.free_names import FreeNames
from renderer.adopt.model_source import ModelSource
from renderer.adopt.playground_fields import CommentedBody
from renderer.adopt.serving_workload import ServingWorkload
from renderer.diagnostics import Collector, Path, quoted
from renderer.load.validation import KINDS

_CLAIMS = "claims"  # of a flavor: devices of dynamic resource allocation


class SharedModel(Struct):
    """An OpenModel, and the flavors that it has."""

    name: str
    model: CommentedBody
    flavors: dict[str, Mapping[str, Any]]  # by name


class ClaimedModels(Struct):
    """What a workload claims."""

    model: SharedModel
    flavor: str  # its name in the model
    others: list[SharedModel]  # further main models
    adapters: list[SharedModel]  # without flavors

    @property
    def models(self) -> list[SharedModel]:
        """All of them."""
        return [self.model, *self.others, *self.adapters]


def share_models(
    workloads: Sequence[AdoptedWorkload], other_models: Iterable[str]
) -> dict[tuple[str, str], ClaimedModels]:
    """For each workload, by its key, what it claims, whatever their order. `other_models`: their names, which none of
    these gets.
    """
    workloads = sorted(workloads, key=lambda adopted: adopted.new_key)
    models: dict[str, SharedModel] = {}
    names, claim_names = FreeNames(other_models), _ClaimNames()
    claims: dict[tuple[str, str], ClaimedModels] = {}
    for adopted in workloads:
        first = _shared(models, names, adopted.family, adopted.model_name, adopted.served_name, adopted.weights)
        flavor = _add_flavor(first, claim_names.named(adopted.flavor))
        others = []
        for main in adopted.mains[1:]:
            name = main.name or object_name(main.weights.id)
            others.append(_shared(models, names, family_of(name), name, main.served_name, main.weights))
        claims[adopted.key] = ClaimedModels(first, flavor, others, [])
    for shared in models.values():
        flavors = [_said_by_model(flavor, has_catalog=claim_names.has_any) for flavor in shared.flavors.values()]
        if flavors:  # of several models in one server the first one's count
            shared.model.body["spec"]["inferenceConfig"] = {"flavors": flavors}
    adapters: dict[str, SharedModel] = {}
    for adopted in workloads:
        for served_name, weights in adopted.adapters:
            identity = json.dumps([served_name, weights.source], sort_keys=True)
            if identity not in adapters:
                name = names.take(object_name(served_name))
                adapters[identity] = SharedModel(name, _open_model(adopted.family, name, served_name, weights), {})
            claims[adopted.key].adapters.append(adapters[identity])
    return claims


def _shared(
    models: dict[str, SharedModel], names: FreeNames, family: str, name: str, served_name: str, weights: ModelSource
) -> SharedModel:
    """The OpenModel of this source and these names, which is added where there is none."""
    identity = json.dumps([weights.source, served_name, name], sort_keys=True)
    if identity not in models:
        free = names.take(name)
        models[identity] = SharedModel(free, _open_model(family, free, served_name, weights), {})
    return models[identity]


class _ClaimNames:
    """The names of flavors that claim devices, which all models share."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._free = FreeNames(())

    @property
    def has_any(self) -> bool:
        """Whether there is a flavor that claims devices."""
        return bool(self._names)

    def named(self, flavor: Mapping[str, Any]) -> Mapping[str, Any]:
        """A flavor with a name that no other claim has."""
        if _CLAIMS not in flavor:
            return flavor
        claims = json.dumps(flavor[_CLAIMS], sort_keys=True)
        if claims not in self._names:
            self._names[claims] = self._free.take(flavor["name"])
        return {**flavor, "name": self._names[claims]}


def claimed_flavors(claims: Iterable[ClaimedModels]) -> dict[str, Mapping[str, Any]]:
    """The flavors of RenderConfig, by name, for those that claim devices, which no OpenModel can say."""
    flavors = (flavor for claimed in claims for flavor in claimed.model.flavors.values())
    return {flavor["name"]: {_CLAIMS: flavor[_CLAIMS]} for flavor in flavors if _CLAIMS in flavor}


def tell_lost_adapters(workload: ServingWorkload, diagnostics: Collector) -> None:
    """Tells of the adapters of a group of hosts, whose Service has the command lines of its pods as they are."""
    if workload.model and workload.model.adapters:
        names = quoted([name for name, _ in workload.model.adapters])
        why = "the engines of several hosts start as written here; a Playground loads adapters"
        diagnostics.add("W951", workload.model.origin, what=f"the adapters {names}", why=why)


def _open_model(family: str, name: str, served_name: str, weights: ModelSource) -> CommentedBody:
    spec: dict[str, Any] = {"familyName": family}
    if served_name != name:
        spec["servedModelName"] = served_name
    spec["source"] = dict(weights.source)
    comments: dict[Path, str] = {("spec", "source"): weights.comment} if weights.comment else {}
    body = {"apiVersion": KINDS["OpenModel"], "kind": "OpenModel", "metadata": {"name": name}, "spec": spec}
    return CommentedBody(body, comments)


def _said_by_model(flavor: Mapping[str, Any], *, has_catalog: bool) -> dict[str, Any]:
    """What an OpenModel says of a flavor; beside a catalog it has to say that there are no limits."""
    fields = {key: value for key, value in flavor.items() if key != _CLAIMS}
    return {**fields, "limits": {}} if has_catalog and "limits" not in fields and _CLAIMS not in flavor else fields


def _add_flavor(shared: SharedModel, flavor: Mapping[str, Any]) -> str:
    """The name under which the model has a flavor; it is added where it has none like it."""
    for name, other in shared.flavors.items():
        if {**other, "name": ""} == {**flavor, "name": ""}:
            return name
    name = FreeNames(shared.flavors).take(object_name(str(flavor["name"])))
    shared.flavors[name] = {**flavor, "name": name}
    return name
