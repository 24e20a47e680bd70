"""The flavors of an app: limits, node selection and accelerators (docs/design/contract.md#flavors)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from renderer import template
from renderer.api import App, ConfigPart, Inputs, OpenModel, RenderConfig, minor
from renderer.diagnostics import (
    Collector,
    Diagnostic,
    Located,
    Origin,
    Path,
    Stop,
    listed,
    make_diagnostic,
    meant_name,
    quoted,
    suggestion,
)
from renderer.engines.accelerator import NONE, Accelerator, find_row
from renderer.kubernetes import component_versions, quantity
from renderer.plan import Body
from renderer.resolve import pod_defaults
from renderer.resolve.claims import Claim
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import ValueLayer
from renderer.text.suggestions import closest
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import FlavorSpec, RenderConfigFlavorSpec

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_ALLOCATES = 34  # the first minor version of Kubernetes with resource.k8s.io/v1
_SIZING_PARAMS = ("TP", "PP", "DP", "EP", "MAX-MODEL-LEN")
INFTYAI = "inftyai"  # the flavor policy for the scheduler of that name
VARIANTS = "variants"  # the flavor policy of a workload for each flavor


class DeviceClaim(Struct, frozen=True):
    """Devices that a pod claims by dynamic resource allocation."""

    device_class: str
    count: int
    selectors: tuple[str, ...]  # CEL expressions
    origin: Origin  # in the catalog

    @property
    def request(self) -> tuple[str, int, tuple[str, ...]]:
        """What is claimed, wherever that is said."""
        return self.device_class, self.count, self.selectors


class DeviceAccess(Struct, frozen=True):
    """What pods need besides to reach the devices of a flavor, by RenderConfig's catalog: capabilities of the runner,
    the network of the node, annotations, and environment.
    """

    capabilities: tuple[str, ...] = ()
    host_network: bool = False
    annotations: Mapping[str, str] = {}
    env: tuple[Body, ...] = ()


NO_ACCESS = DeviceAccess()


class Flavor(Struct, frozen=True):
    """A flavor of a model, with what the catalog has for one of its name."""

    name: str
    limits: Mapping[str, str]  # canonical
    node: Mapping[str, str]  # labels
    params: Mapping[str, str]
    tolerations: tuple[Body, ...] = ()  # of the catalog, as all below but `own`
    runtime_class: str = ""
    own: FlavorSpec = {}  # what the model says, which wins over the catalog
    catalog: ConfigPart | None = None
    claim: DeviceClaim | None = None
    access: DeviceAccess = NO_ACCESS
    accelerator: str = ""  # the name of the type of its accelerators, '' where nobody writes one
    sized_by: Flavor | None = None  # the model's, whose accelerators and sizes a flavor has that the catalog lends


class FlavorOrigins(Struct, frozen=True):
    """The origins of a flavor's fields, in the OpenModel or in the catalog."""

    flavor: Flavor
    model: Origin  # of the flavor in the OpenModel, of one that the catalog lends in the catalog
    sized_by: FlavorOrigins | None = None  # of the flavor whose accelerators and sizes it has

    def at(self, *path: str | int) -> Origin:
        """The origin of a key of `limits`, `node` or `params`."""
        own, catalog = dict(_flavor_items(self.flavor.own)), self.flavor.catalog
        if catalog and path not in own:
            items = dict(_flavor_items(catalog.config.get(*catalog.path)))
            if path in items:
                return catalog.at(*items[path])
        if self.sized_by:
            return self.sized_by.at(*path)
        return self.model.at(*own.get(path, path))


def flavor_origins(flavor: Flavor, model: OpenModel) -> FlavorOrigins:
    """The origins of one of a model's flavors, or of one that the catalog lends it."""
    names = [defined["name"] for defined in _flavor_specs(model)]
    if flavor.name not in names and flavor.catalog:
        sized_by = flavor_origins(flavor.sized_by, model) if flavor.sized_by else None
        return FlavorOrigins(flavor, flavor.catalog.at(), sized_by)
    path = ("spec", "inferenceConfig", "flavors", names.index(flavor.name))
    return FlavorOrigins(flavor, Origin(model.document, path))


def _flavor_specs(model: OpenModel) -> Sequence[FlavorSpec]:
    """The flavors of a model, as it lists them."""
    return (model.spec.get("inferenceConfig") or {}).get("flavors") or ()


class Placement(Struct, frozen=True, eq=False):
    """Limits, node selector or affinity, and params of the chosen flavors. Models with equal flavors share it."""

    has_flavors: bool  # the model has some, or one that the catalog lends says its accelerators
    limits: Mapping[str, str] = {}
    node_selector: Body = {}
    node_affinity: Body = {}
    params: Mapping[str, str] = {}
    runtime_class: str = ""
    flavors: tuple[Flavor, ...] = ()  # on whose nodes the pods may run, the best first
    claim: DeviceClaim | None = None
    access: DeviceAccess = NO_ACCESS

    def env_layers(self) -> list[ValueLayer]:
        """The environment of the first flavor, where the catalog has one."""
        catalog = self.flavors[0].catalog if self.access.env else None
        return [ValueLayer(self.access.env, catalog.at("env"))] if catalog else []

    def origins(self, model: OpenModel) -> FlavorOrigins | None:
        """The origins of the first flavor; None without flavors."""
        return flavor_origins(self.flavors[0], model) if self.flavors else None


def flavor_policy(inputs: Inputs, app: App) -> str:
    """The flavor policy of an app."""
    return str(app.spec.get("flavorPolicy") or default_flavor_policy(inputs))


def default_flavor_policy(inputs: Inputs) -> str:
    """The flavor policy of apps without one."""
    return str(inputs.config.get("flavorPolicy") or "auto")


def flavor_names(model: OpenModel) -> tuple[str, ...]:
    """The distinct flavors of a model, the best first."""
    return tuple(dict.fromkeys(flavor["name"] for flavor in _flavor_specs(model)))


def lent_flavors(config: RenderConfig, model: OpenModel, claimed: Iterable[str]) -> tuple[str, ...]:
    """Those of the claimed flavors that RenderConfig's catalog lends, since the model has none of that name."""
    catalog, own = config.get("flavors") or {}, flavor_names(model)
    return tuple(dict.fromkeys(name for name in claimed if name in catalog and name not in own))


def _device_claim(
    inputs: Inputs, spec: RenderConfigFlavorSpec, limits: Mapping[str, str], origin: Origin, diagnostics: Collector
) -> DeviceClaim:
    """The claim of a flavor in the catalog: of a known DeviceClass, and not beside accelerators in the limits."""
    claim = spec["claims"]
    name = claim["deviceClassName"]
    if name not in inputs.device_classes:
        hint = suggestion(name, list(inputs.device_classes))
        diagnostics.add("E338", origin.at("claims", "deviceClassName"), name=name, hint=hint)
    target = str(inputs.config.get("targets", "kubernetes") or component_versions.components()["kubernetes"].default)
    if minor(target) < _ALLOCATES:
        diagnostics.add("E339", origin.at("claims", key=True), target=target)
    diagnostics.problems += _limits_beside_claim(inputs, limits, origin)
    return DeviceClaim(name, claim.get("count", 1), tuple(claim.get("selectors") or ()), origin.at("claims"))


def _device_access(spec: RenderConfigFlavorSpec, origin: Origin, diagnostics: Collector) -> DeviceAccess:
    """What a flavor of the catalog says of access to its devices."""
    annotations = spec.get("annotations") or {}
    diagnostics.problems += pod_defaults.reserved_keys(annotations, origin.at("annotations"), reserve_common=False)
    env = api_defaults.default_env(spec.get("env") or (), origin.at("env"), diagnostics)
    return DeviceAccess(
        tuple(spec.get("capabilities") or ()),
        bool(spec.get("hostNetwork")),
        SharedMap(dict(annotations)),
        tuple(template.share_maps(env)),
    )


def _limits_beside_claim(inputs: Inputs, limits: Iterable[str], origin: Located) -> Iterator[Diagnostic]:
    """An error for each accelerator in the limits of a flavor whose catalog entry claims devices."""
    for resource in limits:
        if accelerates(inputs, resource):
            yield make_diagnostic("E337", origin.at("limits", resource), name=resource)


def flavor_catalog(inputs: Inputs, diagnostics: Collector) -> dict[str, Flavor | None]:
    """RenderConfig's `flavors` by name; None for one with an invalid quantity."""
    config = inputs.config
    flavors: dict[str, Flavor | None] = {}
    for name, spec in (config.get("flavors") or {}).items():
        origin, before = config.origin("flavors", name), len(diagnostics.problems)
        limits = flavor_limits(spec, origin, diagnostics)
        tolerations, params = spec.get("tolerations") or [], spec.get("params") or {}
        tolerations = api_defaults.normalize_part(tolerations, origin.at("tolerations"), diagnostics)
        tolerations = tuple(template.share_maps(tolerations))
        flavor = Flavor(name, limits, node_labels(spec), params, tolerations, spec.get("runtimeClassName") or "")
        if "claims" in spec:
            flavor = replace(flavor, claim=_device_claim(inputs, spec, limits, origin, diagnostics))
        if spec.get("accelerator"):
            flavor = replace(flavor, accelerator=spec["accelerator"])
        if _ACCESS & spec.keys():
            flavor = replace(flavor, access=_device_access(spec, origin, diagnostics))
        flavors[name] = flavor if len(diagnostics.problems) == before else None
        if flavors[name]:
            with suppress(Stop):
                find_accelerator(inputs, limits, origin, diagnostics)
        diagnostics.problems += misspelt_params(params, origin.at("params"))
    return flavors


def merge_flavor(
    spec: FlavorSpec, origin: Origin, catalog_flavor: Flavor | None, config: RenderConfig, diagnostics: Collector
) -> Flavor:
    """A flavor of a model, merged over that of the catalog."""
    name, params = spec["name"], spec.get("params") or {}
    limits, node = flavor_limits(spec, origin, diagnostics), node_labels(spec)
    if catalog_flavor is None:
        return Flavor(name, limits, node, params, own=spec, accelerator=spec.get("accelerator") or "")
    return replace(
        catalog_flavor,
        limits={**limits, **{key: value for key, value in catalog_flavor.limits.items() if key not in limits}},
        node=dict(sorted({**catalog_flavor.node, **node}.items())),
        params={**params, **{key: value for key, value in catalog_flavor.params.items() if key not in params}},
        own=spec,
        catalog=ConfigPart(config, ("flavors", name)),
        accelerator=spec.get("accelerator") or catalog_flavor.accelerator,
    )


_ACCESS = frozenset(["capabilities", "hostNetwork", "annotations", "env"])
_COUNTED: tuple[Literal["limits", "params"], ...] = ("limits", "params")


def _flavor_items(spec: FlavorSpec | RenderConfigFlavorSpec) -> Iterator[tuple[Path, Path]]:
    """The fields of `Flavor` that a spec sets, each with its path in the spec; the nodeSelector after INSTANCE-TYPE."""
    for field in _COUNTED:
        yield from (((field, key), (field, key)) for key in spec.get(field) or {})
    if (spec.get("params") or {}).get("INSTANCE-TYPE"):
        yield ("node", INSTANCE_TYPE), ("params", "INSTANCE-TYPE")
    yield from ((("node", key), ("nodeSelector", key)) for key in spec.get("nodeSelector") or {})
    if spec.get("accelerator"):
        yield ("accelerator",), ("accelerator",)


def choose_placement(
    inputs: Inputs, catalog: Mapping[str, Flavor | None], app: App, claim: Claim, diagnostics: Collector
) -> Placement:
    """The placement of an app. Raises Stop where the catalog's entry of a flavor is invalid."""
    index: dict[str, int] = {}
    for i, flavor in enumerate(_flavor_specs(claim.main)):
        index.setdefault(flavor["name"], i)  # duplicates are reported with the model
    if unknown := list(_unknown_claims(app, claim, index, catalog)):
        diagnostics.problems += unknown
        return Placement(True)
    chosen = claim.flavors or tuple(index)
    if not chosen:
        return Placement(False)
    flavors = [
        _merged_flavor(inputs, catalog, claim.main, index[name], diagnostics)
        if name in index
        else lent_flavor(inputs, catalog, claim.main, name, diagnostics)
        for name in chosen
    ]
    first, policy = flavors[0], flavor_policy(inputs, app)
    placement = Placement(
        has_flavors=bool(index) or _says_accelerators(inputs, first),
        limits=first.limits,
        node_selector=SharedMap(dict(first.node)),
        params=first.params,
        runtime_class=first.runtime_class,
        flavors=(first,),
        claim=first.claim,
        access=first.access,
    )
    if policy == INFTYAI:  # its scheduler chooses among the nodes of all flavors
        placement = replace(placement, node_selector={}, flavors=tuple(flavors))
    if len(flavors) == 1 or policy == "first":
        return placement
    unlike = list(_unlike_flavors(app, claim, policy, flavors))
    diagnostics.problems += unlike
    if unlike or policy == INFTYAI:
        return placement
    affinity = _affinity([flavor.node for flavor in flavors])
    return replace(placement, node_selector={}, node_affinity=affinity, flavors=tuple(flavors))


def _unknown_claims(
    app: App, claim: Claim, index: Mapping[str, int], catalog: Mapping[str, Flavor | None]
) -> Iterator[Diagnostic]:
    """An error for each flavor of the claim that neither the model nor the catalog has. `index`: of the model's."""
    model, known = claim.main.name, [*index, *(name for name in catalog if name not in index)]
    for i, name in enumerate(claim.flavors):
        if name not in known:
            hint = suggestion(name, known, index, by_number=True) or f"'{model}' has no flavors"
            if not hint.startswith("did you mean"):
                hint = f"{hint}; or describe it in RenderConfig: flavors: {{{name}: {{nodeSelector: {{…}}}}}}"
            yield make_diagnostic("E207", app.origin(*claim.flavors_path, i), name=name, model=model, hint=hint)


def lent_flavor(
    inputs: Inputs, catalog: Mapping[str, Flavor | None], model: OpenModel, name: str, diagnostics: Collector
) -> Flavor:
    """A flavor of the catalog for a model that has none of that name. Where it does not say its accelerators, they and
    the sizes are those of the model's first flavor. Raises Stop where one of the two is invalid.
    """
    flavor = catalog[name]
    if flavor is None:
        raise Stop  # reported once, in RenderConfig
    flavor = replace(flavor, catalog=ConfigPart(inputs.config, ("flavors", name)))
    if _says_accelerators(inputs, flavor) or not _flavor_specs(model):
        return flavor
    first = _merged_flavor(inputs, catalog, model, 0, diagnostics)
    sizes = {key: value for key, value in first.params.items() if key in _SIZING_PARAMS}
    return replace(
        flavor,
        limits={**first.limits, **flavor.limits},
        params={**sizes, **flavor.params},
        claim=first.claim,
        sized_by=first,
    )


def _says_accelerators(inputs: Inputs, flavor: Flavor) -> bool:
    """Whether a flavor of the catalog says how many accelerators a pod has; `limits: {}` says none."""
    limits = inputs.config.get("flavors", flavor.name, "limits")
    return flavor.claim is not None or limits == {} or any(accelerates(inputs, name) for name in flavor.limits)


def _merged_flavor(
    inputs: Inputs, catalog: Mapping[str, Flavor | None], model: OpenModel, i: int, diagnostics: Collector
) -> Flavor:
    """A flavor of the model over that of the catalog. Raises Stop where that is invalid."""
    spec, origin = model.spec["inferenceConfig"]["flavors"][i], ("spec", "inferenceConfig", "flavors", i)
    if spec["name"] in catalog and catalog[spec["name"]] is None:
        raise Stop  # reported once, in RenderConfig
    flavor_origin = Origin(model.document, origin)
    merged = merge_flavor(spec, flavor_origin, catalog.get(spec["name"]), inputs.config, diagnostics)
    if merged.claim:
        diagnostics.problems += _limits_beside_claim(inputs, spec.get("limits") or {}, flavor_origin)
    return merged


def model_flavors(inputs: Inputs, catalog: Mapping[str, Flavor | None], model: OpenModel) -> Iterator[Flavor]:
    """The flavors of a model over those of the catalog, without invalid ones."""
    for i in range(len(_flavor_specs(model))):
        diagnostics = Collector()
        with suppress(Stop):
            flavor = _merged_flavor(inputs, catalog, model, i, diagnostics)
            if not diagnostics.problems:
                yield flavor


def validate_flavors(
    inputs: Inputs, catalog: Mapping[str, Flavor | None], model: OpenModel, diagnostics: Collector
) -> Iterator[Flavor]:
    """The same, with the diagnostics about their quantities and resources. Of several with one name only the first."""
    names: set[str] = set()
    for i, spec in enumerate(_flavor_specs(model)):
        if spec["name"] in names:
            continue
        names.add(spec["name"])
        with suppress(Stop):
            flavor = _merged_flavor(inputs, catalog, model, i, diagnostics)
            yield flavor
            find_accelerator(inputs, flavor.limits, flavor_origins(flavor, model), diagnostics)


def accelerator_count(inputs: Inputs, flavor: Flavor) -> int:
    """The accelerators of a flavor's limits; 0 where it has none, or several kinds."""
    counts = [number for name, number in flavor.limits.items() if accelerates(inputs, name)]
    return int(counts[0]) if len(counts) == 1 and is_whole_number(counts[0]) else 0


def _unlike_flavors(app: App, claim: Claim, policy: str, flavors: Sequence[Flavor]) -> Iterator[Diagnostic]:
    """An error, or a warning that only the first counts, for flavors that pods cannot have alike."""
    first = flavors[0]
    words = {"names": quoted(flavor.name for flavor in flavors)}
    if any(_sizing(flavor) != _sizing(first) for flavor in flavors):
        codes = ("E208", "W221" if policy == INFTYAI else "W201")
    elif keys := [key for key in _POD_KEYS if any(_pod_key(flavor, key) != _pod_key(first, key) for flavor in flavors)]:
        codes = ("E290", "W211")
        words |= {"what": listed([_POD_KEYS[key] for key in keys]), "keys": listed(keys)}
    else:
        return
    claim_origin = app.origin(*claim.flavors_path, key=True) if claim.flavors else app.origin(*claim.models[0].path)
    if policy == "affinity":
        yield make_diagnostic(codes[0], claim_origin, **words)
    else:
        yield make_diagnostic(codes[1], claim_origin, **words, first=first.name)


_POD_KEYS = {  # of a flavor in the catalog that all pods of a workload have alike, with what it gives them
    "runtimeClassName": "runtime classes",
    "capabilities": "capabilities",
    "hostNetwork": "networks",
    "annotations": "annotations",
    "env": "environment variables",
}


def _pod_key(flavor: Flavor, key: str) -> object:
    """What a flavor says of one of these keys."""
    access = flavor.access
    return {
        "runtimeClassName": flavor.runtime_class,
        "capabilities": access.capabilities,
        "hostNetwork": access.host_network,
        "annotations": access.annotations,
        "env": access.env,
    }[key]


def _sizing(flavor: Flavor) -> tuple[object, ...]:
    """The fields on which the size of a pod depends."""
    return (
        flavor.limits,
        flavor.claim and flavor.claim.request,
        {key: flavor.params[key] for key in _SIZING_PARAMS if key in flavor.params},
    )


def flavor_limits(flavor: FlavorSpec, origin: Origin, diagnostics: Collector) -> Mapping[str, str]:
    """The canonical limits of a flavor."""
    limits = {}
    for name, value in (flavor.get("limits") or {}).items():
        try:
            limits[name] = quantity.canonical(value)
        except ValueError:
            diagnostics.add("E305", origin.at("limits", name), value=value, hint=quantity.hint(value))
            continue
        if not limits[name].isdecimal() and "/" in name and quantity.nanos(limits[name]) % 10**9:
            diagnostics.add("E250", origin.at("limits", name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
    return limits


def node_labels(flavor: FlavorSpec) -> Mapping[str, str]:
    """The node labels of a flavor: its nodeSelector and its instance type."""
    selector = flavor.get("nodeSelector") or {}
    instance = (flavor.get("params") or {}).get("INSTANCE-TYPE")
    merged = {INSTANCE_TYPE: instance, **selector} if instance else selector
    return dict(sorted(merged.items()))


def _affinity(nodes: list[Mapping[str, str]]) -> Body:
    """Node affinity. Required: the nodes of any flavor, unless one has all nodes; preferred: earlier flavors first."""
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in node.items()]}
        for node in nodes
    ]
    affinity: dict[str, object] = {}
    if all(nodes):
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if {} in nodes:
        nodes = nodes[: nodes.index({})]  # a flavor for all nodes makes later ones pointless
    preferred = [
        {"weight": max(1, 100 * (len(terms) - i) // len(terms)), "preference": terms[i]} for i, _ in enumerate(nodes)
    ]
    if preferred:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    return SharedMap(affinity)


def find_accelerator(inputs: Inputs, limits: Mapping[str, str], origin: Located, diagnostics: Collector) -> Accelerator:
    """The accelerators in limits, by presets/accelerators.yaml. Raises Stop for two kinds in one pod."""
    found_accelerator = NONE
    for name, value in sorted(limits.items()):
        entry = _accelerator_row(inputs, name)
        if entry is None and "/" in name:
            diagnostics.add("W209", origin.at("limits", name), name=name, hint=_resource_hint(inputs, name))
        if entry is None or entry["count"] == "none":
            continue
        if value == "0":
            diagnostics.add("W237", origin.at("limits", name), name=name)
            continue
        amount, part = divmod(quantity.nanos(value), 10**9)
        if part:
            diagnostics.stop("E250", origin.at("limits", name), name=name, value=f"{quantity.nanos(value) / 10**9:g}")
        if found_accelerator.resource:
            diagnostics.stop("E251", origin.at("limits", name), names=quoted([found_accelerator.resource, name]))
        if entry["count"] == "one" and amount > 1:
            diagnostics.stop("E252", origin.at("limits", name), name=name, value=value)
        found_accelerator = Accelerator(entry["vendor"], amount, entry["count"] == "tp", name)
    return found_accelerator


def claimed_accelerator(inputs: Inputs, claim: DeviceClaim) -> Accelerator:
    """The devices of a claim, as accelerators that serve one model together."""
    vendor = inputs.device_classes.get(claim.device_class, NONE.vendor)
    return Accelerator(vendor, claim.count, group=True, resource=claim.device_class, claimed=True)


def device_resource(inputs: Inputs, device_class: str) -> str:
    """The extended resource that nodes have for the devices of a class, where they do not claim them; '' if unknown."""
    vendor = inputs.device_classes.get(device_class)
    rows = (row for row in inputs.accelerators if vendor and row.get("vendor") == vendor and row["count"] == "tp")
    return next((row["name"] for row in rows if "name" in row), "")


def _resource_hint(inputs: Inputs, resource: str) -> str:
    """What to do about an unknown resource."""
    names = [*inputs.own_accelerators, *(row["name"] for row in inputs.accelerators if "name" in row)]
    without_domain = (name for name in names if name.replace(".com/", "/") == resource)
    if match := next(without_domain, "") or closest(resource, names, 0.85):
        return meant_name(resource, match)
    return f"if it is an accelerator, set its vendor in RenderConfig: accelerators: {{{resource}: {{vendor: …}}}}"


def unknown_flavor(catalog: Mapping[str, Flavor | None], spec: FlavorSpec, origin: Origin) -> Iterator[Diagnostic]:
    """A warning for a flavor without limits that a non-empty catalog does not have."""
    name = spec["name"]
    if catalog and name not in catalog and "limits" not in spec:
        hint = suggestion(name, list(catalog), by_number=True)
        if not hint.startswith("did you mean"):
            hint = f"write limits ({{}} for none); the catalog has {hint.removeprefix('known: ')}"
        yield make_diagnostic("W213", origin.at("name"), name=name, hint=hint)


_PARAMS = (*_SIZING_PARAMS, "INSTANCE-TYPE")


def misspelt_params(params: Mapping[str, str], origin: Origin) -> Iterator[Diagnostic]:
    """A warning for each param whose name resembles a known one; all others are the user's own."""
    for name in params:
        if name not in _PARAMS and (known_param := _closest_param(name.upper().replace("_", "-").replace(".", "-"))):
            yield make_diagnostic("W214", origin.at(name, key=True), name=name, meant=known_param)


def _closest_param(word: str) -> str:
    return word if word in _PARAMS else closest(word, [param for param in _PARAMS if len(param) > 2], 0.85)


def declared_accelerators(inputs: Inputs, limits: Iterable[str]) -> list[str]:
    """The resources that are accelerators because RenderConfig says so."""
    return [name for name in limits if name in inputs.own_accelerators and accelerates(inputs, name)]


def accelerates(inputs: Inputs, resource: str) -> bool:
    """Whether the resource is an accelerator."""
    entry = _accelerator_row(inputs, resource)
    return entry is not None and entry["count"] != "none"


_ROWS: dict[str, Mapping[str, str] | None] = {}


def _accelerator_row(inputs: Inputs, resource: str) -> Mapping[str, str] | None:
    """The row of RenderConfig's `accelerators`, else the first one of presets/accelerators.yaml that matches."""
    if resource in inputs.own_accelerators:
        return {"count": "tp", **inputs.own_accelerators[resource]}
    if resource not in _ROWS:
        _ROWS[resource] = find_row(inputs.accelerators, resource)
    return _ROWS[resource]


def param_origin(placement: Placement, model: OpenModel, name: str) -> Origin:
    """Where a param of the placement is said."""
    origins = placement.origins(model)
    return origins.at("params", name) if origins else Origin(model.document)


def is_whole_number(value: str) -> bool:
    """Whether it is a whole number of plausible length."""
    return value.isascii() and value.isdigit() and len(value) < 16


def max_model_len(placement: Placement, model: OpenModel, diagnostics: Collector) -> int:
    """`params.MAX-MODEL-LEN` as a number of tokens, 0 without it."""
    value = placement.params.get("MAX-MODEL-LEN", "0")
    if not is_whole_number(value):
        name = "MAX-MODEL-LEN"
        diagnostics.stop("E253", param_origin(placement, model, name), name=name, value=value[:60])
    return int(value)


_TOLERATIONS: dict[str, tuple[Body, ...]] = {"": ()}


def accelerator_tolerations(accelerator: Accelerator) -> tuple[Body, ...]:
    """The tolerations that Kubernetes' admission plugin ExtendedResourceToleration would add; none for claims."""
    if accelerator.claimed:
        return ()
    if accelerator.resource not in _TOLERATIONS:
        toleration = SharedMap({"key": accelerator.resource, "operator": "Exists", "effect": "NoSchedule"})
        _TOLERATIONS[accelerator.resource] = (toleration,)
    return _TOLERATIONS[accelerator.resource]
