"""Which flavors count, what they limit, and where their pods may run (contract, sections 2 and 4.7)."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any

from renderer import quantity, template
from renderer.api import App, Config, Inputs, OpenModel, Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin, Stop, guess, quoted
from renderer.records import NamedTuple, Record
from renderer.resolve import normal
from renderer.resolve.claims import Claim
from renderer.resolve.everypod import union
from renderer.suggestions import closest
from renderer.yamlio import Shared

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
INFTYAI = "inftyai"  # the policy under which a scheduler of that name places pods on the flavors' nodes


class Places(NamedTuple):
    """Where the keys of a flavor's map stand: in the OpenModel, or in the cluster's catalog. `model`: the flavor, and
    `field`: its map; `catalog`: the map there.
    """

    model: Origin
    field: str
    catalog: Origin | None = None
    theirs: Mapping[str, Any] = {}

    def at(self, key: str) -> Origin:
        """Where the key stands."""
        if self.catalog and key in self.theirs:
            return self.catalog.at(key)
        return self.model.at(self.field, key)


# By the name of a flavor's map: where the catalog has it, and what of it is taken from there.
Borrowed = Mapping[str, tuple[Origin, Mapping[str, str]]]


class Flavor(NamedTuple):
    """A flavor: its limits (canonical), its node labels and its params; and what only the catalog says."""

    name: str
    limits: Mapping[str, str]
    node: Mapping[str, str]
    params: Mapping[str, str]
    tolerations: tuple[Body, ...] = ()
    runtime_class: str = ""
    borrowed: Borrowed = {}


class Placement(Record):
    """What the chosen flavors ask for: limits, node labels or node affinity, and params. It follows from their words
    alone, so that models which say the same share it.

    `first`: which of the model's flavors has these limits and params; `flavors`: those whose nodes the pods may run
    on, the best first.
    """

    given: bool  # the model has flavors at all
    limits: Mapping[str, str] = {}
    node_selector: Body = {}
    node_affinity: Body = {}
    params: Mapping[str, str] = {}
    tolerations: tuple[Body, ...] = ()
    runtime_class: str = ""
    flavors: tuple[Flavor, ...] = ()
    first: int | None = None
    borrowed: Borrowed = {}

    def places(self, model: OpenModel, field: str) -> Places | None:
        """Where the `limits` or `params` stand; None without flavors."""
        if self.first is None:
            return None
        at = Origin(model.document, ("spec", "inferenceConfig", "flavors", self.first))
        return Places(at, field, *self.borrowed.get(field, ()))


class Accelerator(NamedTuple):
    """What a pod's limits hold of accelerators: vendor ('none' without one), their number, and whether they form one
    group.
    """

    vendor: str = "none"
    number: int = 0
    group: bool = False
    resource: str = ""


NONE = Accelerator()


def policy(inputs: Inputs, app: App) -> str:
    """What several flavors mean to this app."""
    return str(app.spec.get("flavorPolicy") or usual_policy(inputs))


def usual_policy(inputs: Inputs) -> str:
    """The same to apps that say nothing of it."""
    return str(inputs.config.get("flavorPolicy") or "auto")


def names(model: OpenModel) -> tuple[str, ...]:
    """All flavors of a model, the best first, each once."""
    offered = (model.spec.get("inferenceConfig") or {}).get("flavors") or ()
    return tuple(dict.fromkeys(flavor["name"] for flavor in offered))


def catalog(config: Config, found: Findings) -> dict[str, Flavor | None]:
    """RenderConfig's `flavors` by name, whether a model has them or not; None for one with a quantity that is none."""
    made: dict[str, Flavor | None] = {}
    for name, spec in (config.get("flavors") or {}).items():
        at, before = config.origin("flavors", name), len(found.problems)
        limits = flavor_limits(spec, at, found)
        tolerations = tuple(template.shared(normal.part(spec.get("tolerations") or [], at.at("tolerations"), found)))
        flavor = Flavor(
            name,
            limits,
            node_labels(spec),
            spec.get("params") or {},
            tolerations,
            spec.get("runtimeClassName") or "",
        )
        made[name] = flavor if len(found.problems) == before else None
        misspelt(spec.get("params") or {}, at.at("params"), found)
    return made


def flavor(spec: Spec, at: Origin, known: Flavor | None, config: Config, found: Findings) -> Flavor:
    """The model's own words over the catalog's."""
    name, params = spec["name"], spec.get("params") or {}
    limits, node = flavor_limits(spec, at, found), node_labels(spec)
    if known is None:
        return Flavor(name, limits, node, params)
    theirs = {key: value for key, value in known.limits.items() if key not in limits}
    more = {key: value for key, value in known.params.items() if key not in params}
    return known._replace(
        limits={**limits, **theirs},
        node=dict(sorted({**known.node, **node}.items())),
        params={**params, **more},
        borrowed={
            "limits": (config.origin("flavors", name, "limits"), theirs),
            "params": (config.origin("flavors", name, "params"), more),
        },
    )


def placement(
    inputs: Inputs, catalog: Mapping[str, Flavor | None], app: App, claim: Claim, found: Findings
) -> Placement:
    """The flavors that count and what follows. Raises Stop for a name that the main model does not have."""
    model = claim.main
    offered = (model.spec.get("inferenceConfig") or {}).get("flavors") or ()
    index: dict[str, int] = {}
    for i, each in enumerate(offered):
        index.setdefault(each["name"], i)  # a second one of the name is the model's own error
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
    flavors = []
    for i in chosen:
        name, at = offered[i]["name"], Origin(model.document, ("spec", "inferenceConfig", "flavors", i))
        if name in catalog and catalog[name] is None:
            raise Stop  # what is wrong with it is said once, at its place
        flavors.append(flavor(offered[i], at, catalog.get(name), inputs.config, found))
    first, means = flavors[0], policy(inputs, app)
    made = Placement(
        True,
        first.limits,
        Shared(dict(first.node)),
        {},
        first.params,
        first.tolerations,
        first.runtime_class,
        (first,),
        chosen[0],
        first.borrowed,
    )
    if means == INFTYAI:  # its scheduler chooses among the nodes of all
        tolerations = union(*(each.tolerations for each in flavors))
        made = made._replace(node_selector={}, tolerations=tolerations, flavors=tuple(flavors))
    if len(flavors) == 1 or means == "first":
        return made
    unlike = None
    if any(_sizes(each) != _sizes(first) for each in flavors):
        unlike = ("E208", "W221" if means == INFTYAI else "W201")
    elif any(each.runtime_class != first.runtime_class for each in flavors):
        unlike = ("E290", "W211")
    if unlike:
        said = quoted(each.name for each in flavors)
        place = app.origin(*claim.flavors_path, key=True) if claim.flavors else app.origin(*claim.models[0].path)
        if means == "affinity":
            found.add(unlike[0], place, names=said)
        else:
            found.add(unlike[1], place, names=said, first=first.name)
    if unlike or means == INFTYAI:
        return made
    return made._replace(
        node_selector={},
        node_affinity=_affinity([each.node for each in flavors]),
        tolerations=union(*(each.tolerations for each in flavors)),
        flavors=tuple(flavors),
    )


def _sizes(flavor: Flavor) -> tuple[Mapping[str, str], Mapping[str, str]]:
    return flavor.limits, _sizing(flavor.params)


def _sizing(params: Mapping[str, str]) -> Mapping[str, str]:
    return {key: params[key] for key in ("TP", "PP", "MAX-MODEL-LEN") if key in params}


def flavor_limits(flavor: Spec, at: Origin, found: Findings) -> Mapping[str, str]:
    """A flavor's limits, canonical."""
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


def node_labels(flavor: Spec) -> Mapping[str, str]:
    """The labels of a flavor's nodes: its nodeSelector, and its instance type."""
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


def accelerator(inputs: Inputs, limits: Mapping[str, str], origin: Origin | Places, found: Findings) -> Accelerator:
    """What the limits hold of accelerators, by presets/accelerators.yaml. Two vendors in one pod are an error."""
    made = NONE
    for name, value in limits.items():
        entry = _entry(inputs, name)
        if entry is None and "/" in name:
            found.add("W209", origin.at(name), name=name, hint=_meant(inputs, name))
        if entry is None or entry["count"] == "none":
            continue
        if value == "0":
            found.add("W237", origin.at(name), name=name)
            continue
        amount, part = divmod(quantity.nanos(value), 10**9)
        if part:
            found.stop("E250", origin.at(name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
        if made.resource:
            found.stop("E251", origin.at(name), names=quoted([made.resource, name]))
        if entry["count"] == "one" and amount > 1:
            found.stop("E252", origin.at(name), name=name, value=value)
        made = Accelerator(entry["vendor"], amount, entry["count"] == "tp", name)
    return made


def _meant(inputs: Inputs, resource: str) -> str:
    """What to do about a resource that nobody knows."""
    if close := closest(resource, [row["name"] for row in inputs.accelerators if "name" in row], 0.85):
        return f"did you mean '{close}'?"
    return "if it is an accelerator, use a BackendRuntime without spec.engine"


def unknown(catalog: Mapping[str, Flavor | None], spec: Spec, at: Origin, found: Findings) -> None:
    """A warning for a flavor of which neither the model nor the cluster's catalog, where there is one, says what it
    brings.
    """
    name = spec["name"]
    if catalog and name not in catalog and "limits" not in spec:
        hint = guess(name, list(catalog)).removeprefix("known: ")
        meant = hint.startswith("did you mean")
        hint = hint if meant else f"write limits, {{}} for none; in the catalog are {hint}"
        found.add("W213", at.at("name"), name=name, hint=hint)


_PARAMS = ("TP", "PP", "MAX-MODEL-LEN", "INSTANCE-TYPE")


def misspelt(params: Mapping[str, str], at: Origin, found: Findings) -> None:
    """A warning for each param that is nearly one of ours; others are the user's own."""
    for name in params:
        if name not in _PARAMS and (meant := _param(name.upper().replace("_", "-").replace(".", "-"))):
            found.add("W214", at.at(name, key=True), name=name, meant=meant)


def _param(word: str) -> str:
    return word if word in _PARAMS else closest(word, [param for param in _PARAMS if len(param) > 2], 0.85)


def accelerates(inputs: Inputs, resource: str) -> bool:
    """Whether the resource is an accelerator."""
    entry = _entry(inputs, resource)
    return entry is not None and entry["count"] != "none"


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
    params = place.params
    for name in ("TP", "PP"):
        value = params.get(name)
        if value is not None and not (_whole(value) and int(value) > 0):
            found.stop("E253", _param_at(place, model, name), name=name, value=value[:60])
    if int(params.get("PP", 1)) > 1:
        found.stop("E254", _param_at(place, model, "PP"), value=params["PP"])
    size = int(params["TP"]) if "TP" in params else accelerator.number if accelerator.group else 1
    held = accelerator.number if accelerator.group else 1
    if accelerator.resource and size > held:
        at = _param_at(place, model, "TP")
        found.stop("E255", at, size=size, count=accelerator.number, name=accelerator.resource)
    return size


def _param_at(place: Placement, model: OpenModel, name: str) -> Origin:
    """Where a param stands."""
    return (place.places(model, "params") or Origin(model.document)).at(name)


def _whole(value: str) -> bool:
    """Whether it is a whole number that any engine could mean."""
    return value.isascii() and value.isdigit() and len(value) < 16


def max_model_len(place: Placement, model: OpenModel, found: Findings) -> int:
    """`params.MAX-MODEL-LEN` as a number of tokens, 0 without it."""
    value = place.params.get("MAX-MODEL-LEN", "0")
    if not _whole(value):
        name = "MAX-MODEL-LEN"
        found.stop("E253", _param_at(place, model, name), name=name, value=value[:60])
    return int(value)
