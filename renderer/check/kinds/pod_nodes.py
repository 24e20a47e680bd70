"""Whether there may be a node for a pod: one with the labels that it selects, and with what its containers request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.kinds.karpenter import KNOWN_VALUES
from renderer.check.node_sizes import NodeSize, amounts_above_any_node, node_sizes, vendor_of_resource
from renderer.diagnostics import Finding, Path, alternatives, listed
from renderer.fit.accelerator_types import INSTANCE_TYPE, AcceleratorTypes, known_types
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at, texts_at
from renderer.kubernetes.pod_amounts import BILLION, format_amount, pod_amounts
from renderer.kubernetes.workloads import containers
from renderer.preset_tables import preset_table

_TERMS: Path = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_GIBI = 2**30


def find_idle_tolerations(spec: Body) -> Iterator[Finding]:
    """Findings about tolerations of a taint that no node has: with no value, or another one than the cloud gives."""
    known = map_at(preset_table("accelerator_types"), "taints")
    for i, toleration in enumerate(maps_at(spec, "tolerations")):
        key = text_at(toleration, "key")
        if key in known and text_at(toleration, "operator") in ("", "Equal"):
            yield from idle_toleration(toleration, {text_at(known, key)}, ("tolerations", i))


def idle_toleration(toleration: Body, values: Collection[str], path: Path) -> Iterator[Finding]:
    """A finding for a toleration that has none of the values of a taint."""
    if (value := text_at(toleration, "value")) not in values:
        words = {"key": text_at(toleration, "key"), "has": f"the value '{value}'" if value else "no value"}
        words |= {"values": alternatives(sorted(values)), "value": min(values)}
        yield Finding("W847", (*path, "value") if value else path, words)


class _Choice(Struct, frozen=True):
    """Values of which a node has to have one."""

    path: Path
    key: str
    values: tuple[str, ...]


class _Labelled(Struct, frozen=True):
    """The nodes that a pod selects by labels."""

    findings: tuple[Finding, ...]  # about the labels alone
    by_vendor: Mapping[str, _Choice]  # the vendor of their accelerators with what tells it; empty where nothing does
    place: Path  # of the label that tells the sizes
    sizes: Sequence[NodeSize]  # of all of them; empty where one is not known


def find_missing_nodes(spec: Body) -> Iterator[Finding]:
    """Findings about a pod for which no node can be: labels that none has, or none together, accelerators of another
    vendor, and more than its instance type has.
    """
    selected = _selected(tuple(as_map(spec.get("nodeSelector")).items()))
    terms = tuple(_terms(spec)) if "affinity" in spec else ()
    if not selected and not terms:
        return
    labelled = _judge_labels(selected, terms)
    yield from labelled.findings
    if labelled.by_vendor and (finding := _other_vendor(spec, labelled)):
        yield finding
    elif labelled.sizes:
        yield from _above_selected(spec, labelled.place, labelled.sizes)


@lru_cache(maxsize=1024)
def _selected(labels: tuple[tuple[str, object], ...]) -> tuple[_Choice, ...]:
    """What a node selector asks for."""
    return tuple(_Choice(("nodeSelector", key), key, (str(value),)) for key, value in labels)


@lru_cache(maxsize=1024)
def _judge_labels(selected: tuple[_Choice, ...], terms: tuple[tuple[_Choice, ...], ...]) -> _Labelled:
    """What follows from the labels alone."""
    types = known_types()
    findings = [*_contradictions(types, selected, terms)]
    for choice in (*selected, *(choice for term in terms for choice in term)):
        findings += _misnamed(types, choice)
    by_vendor = {_vendor(types, choice): choice for choice in (*selected, *(terms[0] if len(terms) == 1 else ()))}
    by_vendor.pop("", None)
    place, sizes = _selected_sizes(types, selected, terms)
    return _Labelled(tuple(findings), by_vendor if len(by_vendor) == 1 else {}, place, sizes)


def _terms(spec: Body) -> Iterator[tuple[_Choice, ...]]:
    """What each term of the required node affinity asks for."""
    for i, term in enumerate(maps_at(spec, *_TERMS)):
        yield tuple(
            _Choice(
                (*_TERMS, i, "matchExpressions", j, "values"), text_at(item, "key"), tuple(texts_at(item, "values"))
            )
            for j, item in enumerate(maps_at(term, "matchExpressions"))
            if text_at(item, "operator") == "In"
        )


def _contradictions(
    types: AcceleratorTypes, selected: Sequence[_Choice], terms: Sequence[Sequence[_Choice]]
) -> Iterator[Finding]:
    """A finding for labels that no node has together: of a selector and every term of the affinity, and of two types of
    accelerators.
    """
    labels = {choice.key: choice.values[0] for choice in selected}
    against = [
        next((item for item in term if item.key in labels and labels[item.key] not in item.values), None)
        for term in terms
    ]
    if against and (first := against[0]) and all(against):
        words = {"one": f"{first.key}: {labels[first.key]}", "other": f"{first.key}: {' or '.join(first.values)}"}
        yield Finding("W547", first.path, words)
    known = {key: name for key, name in types.by_label(labels).items() if name}
    if len(set(known.values())) > 1:
        (one, first_type), (other, second_type) = ((key, known[key]) for key in _unlike(known))
        words = {
            "one": f"{one}: {labels[one]} ({first_type})",
            "other": f"{other}: {labels[other]} ({second_type})",
        }
        yield Finding("W547", ("nodeSelector", other), words)


def _unlike(known: Mapping[str, str]) -> tuple[str, str]:
    """Two labels of different types."""
    first = next(iter(known))
    return first, next(key for key, name in known.items() if name != known[first])


def _misnamed(types: AcceleratorTypes, choice: _Choice) -> Iterator[Finding]:
    """A finding for each name of accelerators that people use, or misspell, and each other value that no node has."""
    known = KNOWN_VALUES.get(choice.key, ())
    for i, value in enumerate(choice.values):
        if names := known if known and value not in known else types.names_on_nodes(choice.key, value):
            path = choice.path if choice.path[0] == "nodeSelector" else (*choice.path, i)
            yield Finding("W557", path, {"key": choice.key, "value": value, "names": alternatives(names)})


def _other_vendor(spec: Body, labelled: _Labelled) -> Finding | None:
    """A finding where nodes are to have accelerators of another vendor than those that containers request."""
    requested, [(vendor, choice)] = dict(_requested_vendors(spec)), labelled.by_vendor.items()
    if not requested or vendor in requested:
        return None
    other, resource = next(iter(requested.items()))
    words = {"label": f"{choice.key}: {choice.values[0]}", "vendor": vendor, "resource": resource, "other": other}
    return Finding("W548", choice.path, words)


def _vendor(types: AcceleratorTypes, choice: _Choice) -> str:
    """The vendor of the accelerators of nodes with a label; '' where it does not tell, or its values tell several."""
    vendors = {types.vendor_of_label(choice.key, value) for value in choice.values}
    return vendors.pop() if len(vendors) == 1 else ""


def _requested_vendors(spec: Body) -> Iterator[tuple[str, str]]:
    """The vendors of the accelerators that containers request, each with the resource."""
    for _, container in containers(spec):
        for name in map_at(container, "resources", "limits"):
            if "/" in name and (vendor := vendor_of_resource(name)):
                yield vendor, name


# What a node has


def _selected_sizes(
    types: AcceleratorTypes, selected: Sequence[_Choice], terms: Sequence[Sequence[_Choice]]
) -> tuple[Path, Sequence[NodeSize]]:
    """The sizes of the nodes on which the pod may run, and where they are said; none where one is not known."""
    labels = {choice.key: choice.values[0] for choice in selected}
    if most := types.most_on_node(labels):
        path = next(choice.path for choice in selected if choice.key == types.gke_label)
        cpu = most.pop("cpu", 0)
        return path, [NodeSize("", cpu, 0, most, f"a node with {types.gke_label}: {labels[types.gke_label]}")]
    choices = [choice for choice in selected if choice.key == INSTANCE_TYPE]
    if not choices and terms:
        choices = [next((item for item in term if item.key == INSTANCE_TYPE), _Choice((), "", ("",))) for term in terms]
    known = [node_sizes().get(value) for choice in choices for value in choice.values]
    sizes = [size for size in known if size is not None]
    return (choices[0].path, sizes) if sizes and len(sizes) == len(known) else ((), ())


def _above_selected(spec: Body, path: Path, sizes: Sequence[NodeSize]) -> Iterator[Finding]:
    """A finding where no selected instance type has what the pod requests in all."""
    try:
        total = pod_amounts(spec)
    except ValueError:
        return  # a container's quantity, which is told as such
    lacks = [list(_lacks(size, total)) for size in sizes]
    told_where_requested = (
        amounts_above_any_node(as_map(container.get("resources"))) for _, container in containers(spec)
    )
    if not all(lacks) or any(map(any, told_where_requested)):
        return
    size, lacking = sizes[-1], lacks[-1]
    words = {
        "what": listed([f"{format_amount(name, total[name])} of {name}" for name, _ in lacking]),
        "where": size.label or f"an instance of type {size.instance_type}",
        "has": listed([_counted(name, most, total[name]) for name, most in lacking]),
    }
    larger = _larger(size, total) if size.instance_type else ""
    yield Finding("W532", path, {**words, "hint": f"select {larger}, or request less" if larger else "request less"})


def _lacks(size: NodeSize, total: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The resources of which an instance has too little, each with what it has. Of CPUs and memory it keeps a part for
    itself, so that a pod never gets all.
    """
    for name in sorted(total, key=lambda name: ("/" not in name, name)):
        most = size.amount(name)
        if most and total[name] + (name in ("cpu", "memory")) > most * BILLION:
            yield name, most


def _larger(size: NodeSize, total: Mapping[str, int]) -> str:
    """The smallest instance type of the same family that has what a pod requests; '' for none."""
    family, _, _ = size.instance_type.partition(".")
    fitting = [
        other
        for other in node_sizes().values()
        if other.instance_type.partition(".")[0] == family
        and not any(_lacks(other, total))
        and size.accelerators.keys() == other.accelerators.keys()
    ]
    return min(fitting, key=lambda other: (other.cpu, other.memory)).instance_type if fitting else ""


def _counted(name: str, most: int, requested: int) -> str:
    """How much of a resource a node has for pods, in words."""
    less = "less than " if requested == most * BILLION else ""
    if name == "memory":
        return f"{less}{most // _GIBI:,} GiB"
    return f"{less}{most:,} CPUs" if name == "cpu" else f"{most:,}"
