"""Which flavors count, what they limit, and where their pods may run (docs/design/contract.md#flavors)."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from renderer import quantity, template
from renderer.api import App, ConfigPart, Inputs, OpenModel, RenderConfig
from renderer.diagnostics import Collector, Origin, Path, Stop, quoted, suggestion
from renderer.plan import Body
from renderer.resolve.claims import Claim
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import History, Located, Position
from renderer.suggestions import closest
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import FlavorSpec, RenderConfigFlavorSpec

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
INFTYAI = "inftyai"  # the policy under which a scheduler of that name places pods on the flavors' nodes


class Flavor(Struct, frozen=True):
    """A flavor: its limits (canonical), its node labels and its params; and what only the catalog says. `history`: by
    `limits`, `node` or `params` and the key there, who says it: the layer 0 is the `catalog`, 1 the model.
    """

    name: str
    limits: Mapping[str, str]
    node: Mapping[str, str]
    params: Mapping[str, str]
    tolerations: tuple[Body, ...] = ()
    runtime_class: str = ""
    history: History = {}
    catalog: ConfigPart | None = None


class FlavorOrigins(Struct, frozen=True):
    """Where the words of a flavor stand: in the OpenModel, at `model`, or in the cluster's catalog."""

    flavor: Flavor
    model: Origin

    def at(self, *path: str | int) -> Origin:
        """Where a key of `limits`, `node` or `params` is said."""
        positions = self.flavor.history.get(path)
        position = positions[-1] if positions else Position(1, path)
        author = self.model if position.layer or not self.flavor.catalog else self.flavor.catalog
        return author.at(*position.item)


def origins_of(flavor: Flavor, model: OpenModel) -> FlavorOrigins:
    """Where the words of one of a model's flavors stand."""
    names = [offered["name"] for offered in model.spec["inferenceConfig"]["flavors"]]
    path = ("spec", "inferenceConfig", "flavors", names.index(flavor.name))
    return FlavorOrigins(flavor, Origin(model.document, path))


class Placement(Struct, frozen=True, eq=False):
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
    runtime_class: str = ""
    flavors: tuple[Flavor, ...] = ()
    first: int | None = None

    def origins(self, model: OpenModel) -> FlavorOrigins | None:
        """Where the words of the flavor that counts stand; None without flavors."""
        return origins_of(self.flavors[0], model) if self.flavors else None


class Accelerator(Struct, frozen=True):
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


def catalog(config: RenderConfig, diagnostics: Collector) -> dict[str, Flavor | None]:
    """RenderConfig's `flavors` by name, whether a model has them or not; None for one with a quantity that is none."""
    flavors: dict[str, Flavor | None] = {}
    for name, spec in (config.get("flavors") or {}).items():
        at, before = config.origin("flavors", name), len(diagnostics.problems)
        limits = flavor_limits(spec, at, diagnostics)
        tolerations = tuple(
            template.share_maps(api_defaults.part(spec.get("tolerations") or [], at.at("tolerations"), diagnostics))
        )
        flavor = Flavor(
            name,
            limits,
            node_labels(spec),
            spec.get("params") or {},
            tolerations,
            spec.get("runtimeClassName") or "",
        )
        flavors[name] = flavor if len(diagnostics.problems) == before else None
        misspelt(spec.get("params") or {}, at.at("params"), diagnostics)
    return flavors


def flavor(spec: FlavorSpec, at: Origin, known: Flavor | None, config: RenderConfig, diagnostics: Collector) -> Flavor:
    """The model's own words over the catalog's."""
    name, params = spec["name"], spec.get("params") or {}
    limits, node = flavor_limits(spec, at, diagnostics), node_labels(spec)
    theirs: RenderConfigFlavorSpec = config.get("flavors", name, default={}) if known else {}
    history: dict[Path, list[Position]] = {}
    for number, items in enumerate((_items(theirs), _items(spec))):
        for path, item in items:
            history.setdefault(path, []).append(Position(number, item))
    if known is None:
        return Flavor(name, limits, node, params, history=history)
    return replace(
        known,
        limits={**limits, **{key: value for key, value in known.limits.items() if key not in limits}},
        node=dict(sorted({**known.node, **node}.items())),
        params={**params, **{key: value for key, value in known.params.items() if key not in params}},
        history=history,
        catalog=ConfigPart(config, ("flavors", name)),
    )


_COUNTED: tuple[Literal["limits", "params"], ...] = ("limits", "params")


def _items(spec: FlavorSpec | RenderConfigFlavorSpec) -> Iterator[tuple[Path, Path]]:
    """What a flavor says, by the field and key that it becomes; of two for one label the nodeSelector stands last."""
    for field in _COUNTED:
        yield from (((field, key), (field, key)) for key in spec.get(field) or {})
    if (spec.get("params") or {}).get("INSTANCE-TYPE"):
        yield ("node", INSTANCE_TYPE), ("params", "INSTANCE-TYPE")
    yield from ((("node", key), ("nodeSelector", key)) for key in spec.get("nodeSelector") or {})


def placement(
    inputs: Inputs, catalog: Mapping[str, Flavor | None], app: App, claim: Claim, diagnostics: Collector
) -> Placement:
    """The flavors that count and what follows. Raises Stop for a name that the main model does not have."""
    model = claim.main
    offered = (model.spec.get("inferenceConfig") or {}).get("flavors") or ()
    index: dict[str, int] = {}
    for i, offer in enumerate(offered):
        index.setdefault(offer["name"], i)  # a second one of the name is the model's own error
    for i, name in enumerate(claim.flavors):
        if name not in index:
            diagnostics.add(
                "E207",
                app.origin(*claim.flavors_path, i),
                name=name,
                model=model.name,
                hint=suggestion(name, list(index)) or f"'{model.name}' has no flavors",
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
        flavors.append(flavor(offered[i], at, catalog.get(name), inputs.config, diagnostics))
    first, means = flavors[0], policy(inputs, app)
    chosen_placement = Placement(
        given=True,
        limits=first.limits,
        node_selector=SharedMap(dict(first.node)),
        params=first.params,
        runtime_class=first.runtime_class,
        flavors=(first,),
        first=chosen[0],
    )
    if means == INFTYAI:  # its scheduler chooses among the nodes of all
        chosen_placement = replace(chosen_placement, node_selector={}, flavors=tuple(flavors))
    if len(flavors) == 1 or means == "first":
        return chosen_placement
    unlike = None
    if any(_sizes(offer) != _sizes(first) for offer in flavors):
        unlike = ("E208", "W221" if means == INFTYAI else "W201")
    elif any(offer.runtime_class != first.runtime_class for offer in flavors):
        unlike = ("E290", "W211")
    if unlike:
        names = quoted(offer.name for offer in flavors)
        place = app.origin(*claim.flavors_path, key=True) if claim.flavors else app.origin(*claim.models[0].path)
        if means == "affinity":
            diagnostics.add(unlike[0], place, names=names)
        else:
            diagnostics.add(unlike[1], place, names=names, first=first.name)
    if unlike or means == INFTYAI:
        return chosen_placement
    return replace(
        chosen_placement,
        node_selector={},
        node_affinity=_affinity([offer.node for offer in flavors]),
        flavors=tuple(flavors),
    )


def _sizes(flavor: Flavor) -> tuple[Mapping[str, str], Mapping[str, str]]:
    return flavor.limits, _sizing(flavor.params)


def _sizing(params: Mapping[str, str]) -> Mapping[str, str]:
    return {key: params[key] for key in ("TP", "PP", "MAX-MODEL-LEN") if key in params}


def flavor_limits(flavor: FlavorSpec, at: Origin, diagnostics: Collector) -> Mapping[str, str]:
    """A flavor's limits, canonical."""
    limits = {}
    for name, value in (flavor.get("limits") or {}).items():
        try:
            limits[name] = quantity.canonical(value)
        except ValueError:
            diagnostics.add("E305", at.at("limits", name), value=value)
            continue
        if not limits[name].isdecimal() and "/" in name and quantity.nanos(limits[name]) % 10**9:
            diagnostics.add("E250", at.at("limits", name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
    return limits


def node_labels(flavor: FlavorSpec) -> Mapping[str, str]:
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
    return SharedMap(affinity)


def accelerator(inputs: Inputs, limits: Mapping[str, str], origin: Located, diagnostics: Collector) -> Accelerator:
    """What the limits hold of accelerators, by presets/accelerators.yaml. Two vendors in one pod are an error."""
    held = NONE
    for name, value in limits.items():
        entry = _entry(inputs, name)
        if entry is None and "/" in name:
            diagnostics.add("W209", origin.at("limits", name), name=name, hint=_meant(inputs, name))
        if entry is None or entry["count"] == "none":
            continue
        if value == "0":
            diagnostics.add("W237", origin.at("limits", name), name=name)
            continue
        amount, part = divmod(quantity.nanos(value), 10**9)
        if part:
            diagnostics.stop("E250", origin.at("limits", name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
        if held.resource:
            diagnostics.stop("E251", origin.at("limits", name), names=quoted([held.resource, name]))
        if entry["count"] == "one" and amount > 1:
            diagnostics.stop("E252", origin.at("limits", name), name=name, value=value)
        held = Accelerator(entry["vendor"], amount, entry["count"] == "tp", name)
    return held


def _meant(inputs: Inputs, resource: str) -> str:
    """What to do about a resource that nobody knows."""
    if close := closest(resource, [row["name"] for row in inputs.accelerators if "name" in row], 0.85):
        return f"did you mean '{close}'?"
    return "if it is an accelerator, use a BackendRuntime without spec.engine"


def unknown(catalog: Mapping[str, Flavor | None], spec: FlavorSpec, at: Origin, diagnostics: Collector) -> None:
    """A warning for a flavor of which neither the model nor the cluster's catalog, where there is one, says what it
    brings.
    """
    name = spec["name"]
    if catalog and name not in catalog and "limits" not in spec:
        hint = suggestion(name, list(catalog)).removeprefix("known: ")
        meant = hint.startswith("did you mean")
        hint = hint if meant else f"write limits, {{}} for none; in the catalog are {hint}"
        diagnostics.add("W213", at.at("name"), name=name, hint=hint)


_PARAMS = ("TP", "PP", "MAX-MODEL-LEN", "INSTANCE-TYPE")


def misspelt(params: Mapping[str, str], at: Origin, diagnostics: Collector) -> None:
    """A warning for each param that is nearly one of ours; others are the user's own."""
    for name in params:
        if name not in _PARAMS and (meant := _param(name.upper().replace("_", "-").replace(".", "-"))):
            diagnostics.add("W214", at.at(name, key=True), name=name, meant=meant)


def _param(word: str) -> str:
    return word if word in _PARAMS else closest(word, [param for param in _PARAMS if len(param) > 2], 0.85)


def accelerates(inputs: Inputs, resource: str) -> bool:
    """Whether the resource is an accelerator."""
    entry = _entry(inputs, resource)
    return entry is not None and entry["count"] != "none"


_ENTRIES: dict[str, Mapping[str, str] | None] = {}


def _entry(inputs: Inputs, resource: str) -> Mapping[str, str] | None:
    """The first row of presets/accelerators.yaml that fits."""
    if resource not in _ENTRIES:
        rows = (
            row
            for row in inputs.accelerators
            if row.get("name") == resource or ("pattern" in row and fnmatch.fnmatchcase(resource, row["pattern"]))
        )
        _ENTRIES[resource] = next(rows, None)
    return _ENTRIES[resource]


def parallel_size(accelerator: Accelerator, place: Placement, model: OpenModel, diagnostics: Collector) -> int:
    """TP: `params.TP`, else the number of accelerators that form a group, else 1."""
    params = place.params
    for name in ("TP", "PP"):
        value = params.get(name)
        if value is not None and not (_whole(value) and int(value) > 0):
            diagnostics.stop("E253", _param_at(place, model, name), name=name, value=value[:60])
    if int(params.get("PP", 1)) > 1:
        diagnostics.stop("E254", _param_at(place, model, "PP"), value=params["PP"])
    size = int(params["TP"]) if "TP" in params else accelerator.number if accelerator.group else 1
    held = accelerator.number if accelerator.group else 1
    if accelerator.resource and size > held:
        at = _param_at(place, model, "TP")
        diagnostics.stop("E255", at, size=size, count=accelerator.number, name=accelerator.resource)
    return size


def _param_at(place: Placement, model: OpenModel, name: str) -> Origin:
    """Where a param stands."""
    origins = place.origins(model)
    return origins.at("params", name) if origins else Origin(model.document)


def _whole(value: str) -> bool:
    """Whether it is a whole number that any engine could mean."""
    return value.isascii() and value.isdigit() and len(value) < 16


def max_model_len(place: Placement, model: OpenModel, diagnostics: Collector) -> int:
    """`params.MAX-MODEL-LEN` as a number of tokens, 0 without it."""
    value = place.params.get("MAX-MODEL-LEN", "0")
    if not _whole(value):
        name = "MAX-MODEL-LEN"
        diagnostics.stop("E253", _param_at(place, model, name), name=name, value=value[:60])
    return int(value)
