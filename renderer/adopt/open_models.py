"""The OpenModels of workloads: one for each source and name, with the flavors of all that serve it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.adopt.adopted_workload import AdoptedWorkload, object_name
from renderer.adopt.free_names import FreeNames
from renderer.adopt.playground_fields import CommentedBody
from renderer.diagnostics import Path
from renderer.load.validation import KINDS


class SharedModel(Struct):
    """An OpenModel, and the flavors that it has."""

    name: str
    model: CommentedBody
    flavors: dict[str, Mapping[str, Any]]  # by name


def share_models(
    workloads: Sequence[AdoptedWorkload], other_models: Iterable[str]
) -> dict[tuple[str, str], tuple[SharedModel, str]]:
    """For each workload, by its key, the OpenModel that it claims, and the name of its flavor there. `other_models`:
    their names, which none of these gets.
    """
    models: dict[str, SharedModel] = {}
    names = FreeNames(other_models)
    claims: dict[tuple[str, str], tuple[SharedModel, str]] = {}
    for adopted in workloads:
        identity = json.dumps([adopted.weights.source, adopted.served_name, adopted.model_name], sort_keys=True)
        if identity not in models:
            name = names.take(adopted.model_name)
            models[identity] = SharedModel(name, _open_model(adopted, name), {})
        shared = models[identity]
        claims[adopted.key] = shared, _add_flavor(shared, adopted.flavor)
    for shared in models.values():
        shared.model.body["spec"]["inferenceConfig"] = {"flavors": [*shared.flavors.values()]}
    return claims


def _open_model(adopted: AdoptedWorkload, name: str) -> CommentedBody:
    spec: dict[str, Any] = {"familyName": adopted.family}
    if adopted.served_name != name:
        spec["servedModelName"] = adopted.served_name
    spec["source"] = dict(adopted.weights.source)
    comments: dict[Path, str] = {("spec", "source"): adopted.weights.comment} if adopted.weights.comment else {}
    body = {"apiVersion": KINDS["OpenModel"], "kind": "OpenModel", "metadata": {"name": name}, "spec": spec}
    return CommentedBody(body, comments)


def _add_flavor(shared: SharedModel, flavor: Mapping[str, Any]) -> str:
    """The name under which the model has a flavor; it is added where it has none like it."""
    for name, other in shared.flavors.items():
        if {**other, "name": ""} == {**flavor, "name": ""}:
            return name
    name = FreeNames(shared.flavors).take(object_name(str(flavor["name"])))
    shared.flavors[name] = {**flavor, "name": name}
    return name
