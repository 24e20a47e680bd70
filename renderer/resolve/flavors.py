"""Which flavors count, what they limit, and where their pods may run (contract, sections 2 and 4.7)."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any, NamedTuple

from renderer import quantity
from renderer.api import App, Inputs, OpenModel, Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin, guess, quoted
from renderer.resolve.claims import Claim
from renderer.yamlio import Shared

INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class Placement(NamedTuple):
    """What the chosen flavors ask for: limits (canonical), node labels or node affinity, params, and where each
    stands.
    """

    given: bool  # the model has flavors at all
    limits: Mapping[str, str] = {}
    limits_origin: Origin | None = None
    node_selector: Body = {}
    node_affinity: Body = {}
    params: Mapping[str, str] = {}
    params_origin: Origin | None = None


class Accelerator(NamedTuple):
    """What a pod's limits hold of accelerators: vendor ('none' without one), their number, and whether they form one
    group.
    """

    vendor: str = "none"
    number: int = 0
    group: bool = False
    resource: str = ""


def placement(inputs: Inputs, app: App, claim: Claim, found: Findings) -> Placement:
    """The flavors that count and what follows. Raises Stop for a name that the main model does not have."""
    model = claim.main
    offered = (model.spec.get("inferenceConfig") or {}).get("flavors") or ()
    index: dict[str, int] = {}
    for i, flavor in enumerate(offered):
        index.setdefault(flavor["name"], i)  # a second one of the name is the model's own error
    for i, name in enumerate(claim.flavors):
        if name not in index:
            found.add(
                "E207",
                app.origin(*claim.flavors_path, i),
                name=name,
                model=model.name,
                hint=guess(name, list(index)) or f"'{model.name}' has no flavors",
            )
    if any(name not in index for name in claim.flavors):
        return Placement(True)
    chosen = [index[name] for name in claim.flavors] if claim.flavors else list(index.values())
    if not chosen:
        return Placement(False)
    origins = [Origin(model.document, ("spec", "inferenceConfig", "flavors", i)) for i in chosen]
    flavors = [offered[i] for i in chosen]
    limits = [_limits(flavor, at, found) for flavor, at in zip(flavors, origins, strict=True)]
    nodes = [_node(flavor) for flavor in flavors]
    params = [flavor.get("params") or {} for flavor in flavors]
    made = Placement(True, limits[0], origins[0].at("limits"), nodes[0], {}, params[0], origins[0].at("params"))
    if len(chosen) == 1:
        return made
    policy = app.spec.get("flavorPolicy") or inputs.config.get("flavorPolicy") or "auto"
    alike = all(each == limits[0] for each in limits) and all(_sizing(each) == _sizing(params[0]) for each in params)
    if policy == "first":
        return made
    if not alike:
        names = quoted(flavor["name"] for flavor in flavors)
        place = app.origin(*claim.flavors_path, key=True) if claim.flavors else app.origin(*claim.models[0].path)
        if policy == "affinity":
            found.add("E208", place, names=names)
        else:
            found.add("W201", place, names=names, first=flavors[0]["name"])
        return made
    return made._replace(node_selector={}, node_affinity=_affinity(nodes))


def _sizing(params: Mapping[str, str]) -> Mapping[str, str]:
    return {key: params[key] for key in ("TP", "PP", "MAX-MODEL-LEN") if key in params}


def _limits(flavor: Spec, at: Origin, found: Findings) -> Mapping[str, str]:
    limits = {}
    for name, value in (flavor.get("limits") or {}).items():
        try:
            limits[name] = quantity.canonical(value)
        except ValueError:
            found.add("E305", at.at("limits", name), value=value)
            continue
        if not limits[name].isdecimal() and "/" in name and quantity.nanos(limits[name]) % 10**9:
            found.add("E250", at.at("limits", name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
    return limits


def _node(flavor: Spec) -> Mapping[str, str]:
    selector = flavor.get("nodeSelector") or {}
    instance = (flavor.get("params") or {}).get("INSTANCE-TYPE")
    merged = {INSTANCE_TYPE: instance, **selector} if instance else selector
    return dict(sorted(merged.items()))


def _affinity(nodes: list[Mapping[str, str]]) -> Body:
    """Required: any of the flavors' nodes (none at all when one flavor takes every node); preferred: earlier ones
    first.
    """
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in node.items()]}
        for node in nodes
    ]
    affinity: dict[str, Any] = {}
    if all(nodes):
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if {} in nodes:
        nodes = nodes[: nodes.index({})]  # a flavor that takes every node leaves nothing to prefer behind it
    preferred = [
        {"weight": max(1, 100 * (len(terms) - i) // len(terms)), "preference": terms[i]} for i, _ in enumerate(nodes)
    ]
    if preferred:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    return Shared(affinity)


def accelerator(inputs: Inputs, limits: Mapping[str, str], origin: Origin, found: Findings) -> Accelerator:
    """What the limits hold of accelerators, by presets/accelerators.yaml. Two vendors in one pod are an error."""
    made = Accelerator()
    for name, value in limits.items():
        entry = _entry(inputs, name)
        if entry is None and "/" in name:
            found.add("W209", origin.at(name), name=name)
        if entry is None or entry["count"] == "none" or value == "0":
            continue
        if not value.isdecimal():  # canonical: a whole number has no suffix below a thousand
            found.stop("E250", origin.at(name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
        amount = int(value)
        if made.resource:
            found.stop("E251", origin.at(name), names=quoted([made.resource, name]))
        if entry["count"] == "one" and amount > 1:
            found.stop("E252", origin.at(name), name=name, value=value)
        made = Accelerator(entry["vendor"], amount, entry["count"] == "tp", name)
    return made


_ENTRIES: dict[str, Spec | None] = {}


def _entry(inputs: Inputs, resource: str) -> Spec | None:
    """The first row of presets/accelerators.yaml that fits."""
    if resource not in _ENTRIES:
        rows = (
            row
            for row in inputs.accelerators
            if row.get("name") == resource or ("pattern" in row and fnmatch.fnmatchcase(resource, row["pattern"]))
        )
        _ENTRIES[resource] = next(rows, None)
    return _ENTRIES[resource]


def parallel_size(accelerator: Accelerator, place: Placement, model: OpenModel, found: Findings) -> int:
    """TP: `params.TP`, else the number of accelerators that form a group, else 1."""
    origin = place.params_origin or Origin(model.document)
    for name in ("TP", "PP"):
        value = place.params.get(name)
        if value is not None and not (value.isascii() and value.isdigit() and int(value) > 0):
            found.stop("E253", origin.at(name), name=name, value=value)
    if int(place.params.get("PP", 1)) > 1:
        found.stop("E254", origin.at("PP"), value=place.params["PP"])
    size = int(place.params["TP"]) if "TP" in place.params else accelerator.number if accelerator.group else 1
    held = accelerator.number if accelerator.group else 1
    if accelerator.resource and size > held:
        found.stop("E255", origin.at("TP"), size=size, count=accelerator.number, name=accelerator.resource)
    return size


def max_model_len(place: Placement, model: OpenModel, found: Findings) -> int:
    """`params.MAX-MODEL-LEN` as a number of tokens, 0 without it."""
    value = place.params.get("MAX-MODEL-LEN", "0")
    if not (value.isascii() and value.isdigit()):
        found.stop(
            "E253",
            (place.params_origin or Origin(model.document)).at("MAX-MODEL-LEN"),
            name="MAX-MODEL-LEN",
            value=value,
        )
    return int(value)
