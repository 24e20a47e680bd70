"""Needs and settings → node pools, one a flavor: what their nodes are, and how many there may be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from renderer import quantity, resolve
from renderer.nodes.instances import Choice, Requirement, choice, countable, meets, whole
from renderer.nodes.labels import ARCH, CAPACITY, kept, known, newer
from renderer.nodes.needs import Fleet, Need, Pods
from renderer.nodes.settings import Settings, settings
from renderer.problems import Findings, Origin, Path, failing, guess, quoted
from renderer.records import NamedTuple

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_LONGEST = 63  # a node's label holds the name of its pool
_FULL = 0.9  # kubelet evicts pods when less than a tenth of the disk is free
DISK = "200Gi"


class NodePool(NamedTuple):
    """Nodes of one flavor. `requirements`: with where each comes from; `labels` that Karpenter gives them."""

    name: str
    flavor: str
    settings: Settings
    told: Origin
    requirements: tuple[tuple[Origin, Requirement], ...]
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    limits: Mapping[str, str]

    @property
    def required(self) -> tuple[Requirement, ...]:
        """The requirements alone."""
        return tuple(each for _, each in self.requirements)


def pools(fleet: Fleet, found: Findings) -> list[NodePool]:
    """The pools by their names."""
    config = fleet.memo.inputs.config
    if config.get("karpenter") is None:
        found.add("E790", config.origin("karpenter") if config.spec else Origin(config.document))
        return []
    users: dict[str, list[Need]] = {}
    for need in fleet.needs:
        for name, _ in need.flavors:
            users.setdefault(name, []).append(need)
    for name in config.get("karpenter", "perFlavor") or ():
        if name not in users:
            hint = guess(name, sorted(users)) or "no workload has a flavor"
            found.add("W793", config.origin("karpenter", "perFlavor", name, key=True), name=name, hint=hint)
    made = [_pool(fleet, name, users[name], found) for name in sorted(users)]
    if failing(found.problems):
        return []
    made = _tainted(made, users, found)
    _selected(fleet, made, found)
    for need in fleet.needs:
        if need.handed:
            app = fleet.memo.apps[need.namespace, need.app]
            own = "flavorPolicy" in app.spec
            found.add("W794", app.origin("spec", "flavorPolicy") if own else config.origin("flavorPolicy"))
    return made


def _pool(fleet: Fleet, flavor: str, users: Sequence[Need], found: Findings) -> NodePool:
    config = fleet.memo.inputs.config
    set_, told, node = settings(config, flavor), _told(fleet, users[0], flavor), dict(users[0].flavors)[flavor]
    for words in set_.missing():
        found.add("E791", config.origin("karpenter"), what=words)
    name = f"{config.get('karpenter', 'namePrefix', default='llmaz-')}{flavor}"
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        found.add("E795", told, name=name)
    _meant(fleet, flavor, users, found)
    pods = [each for need in users for each in need.pods]
    resources = sorted({resource for each in pods for resource in each.asks})
    requirements = tuple(_requirements(fleet, users[0], set_, node))
    required = {each["key"] for _, each in requirements}
    made = NodePool(
        name,
        flavor,
        set_,
        told,
        requirements,
        {label: value for label, value in node.items() if not known(label) and label not in required},
        tuple(set_.get("taints", [{"key": each, "effect": "NoSchedule"} for each in resources])),
        {},
    )
    left = choice(made.required)
    if node and not any(kept(newer(label)) for label in node):
        _enough_said(made, left, resources, found)
    _reserved(made, found)
    _disk(made, users, found)
    own = _own_limits(set_, found)
    _too_little(made, left, own, found)
    return made._replace(limits={**_limits(made, left, pods, resources, found), **own})


def _meant(fleet: Fleet, flavor: str, users: Sequence[Need], found: Findings) -> None:
    """Errors for a flavor that means no nodes, others than elsewhere, or some that nobody can make."""
    first, node = users[0], dict(users[0].flavors)[flavor]
    if not node:
        found.add("E792", _told(fleet, first, flavor), name=flavor)
    for label in node:
        if kept(newer(label)):
            found.add("E793", _told(fleet, first, flavor, label), name=label)
    if other := next((need for need in users if dict(need.flavors)[flavor] != node), None):
        words = {"first": f"{first.namespace}/{first.app}", "other": f"{other.namespace}/{other.app}"}
        found.add("E794", _told(fleet, other, flavor), name=flavor, **words)


def _told(fleet: Fleet, need: Need, flavor: str, label: str = "") -> Origin:
    """Where the flavor of a workload stands, or a label of its nodes."""
    places = resolve.placed(fleet.memo, fleet.memo.apps[need.namespace, need.app])
    place = next(each for each in places if each.name == need.name)
    return resolve.told(fleet.memo, place, flavor, label)


def _requirements(
    fleet: Fleet, need: Need, set_: Settings, node: Mapping[str, str]
) -> Iterator[tuple[Origin, Requirement]]:
    """How instances are bought and for which processors, what the flavor says, then more; a key stands once."""
    asked: list[tuple[Origin, Requirement]] = [
        (set_.at("capacityTypes"), _one_of(CAPACITY, *set_.get("capacityTypes", ("on-demand",)))),
        (set_.at("architectures"), _one_of(ARCH, *set_.get("architectures", ("amd64",)))),
    ]
    flavor = [
        (_told(fleet, need, set_.flavor, label), _one_of(newer(label), value))
        for label, value in node.items()
        if known(label)
    ]
    listed = list(set_.requirements())
    for layer, above in (asked, [*flavor, *listed]), (flavor, listed), (listed, []):
        over = {each["key"] for _, each in above}
        yield from (each for each in layer if each[1]["key"] not in over)


def _one_of(key: str, *values: str) -> Requirement:
    return {"key": key, "operator": "In", "values": list(values)}


def _enough_said(pool: NodePool, left: Choice, resources: Sequence[str], found: Findings) -> None:
    """A warning where Karpenter takes whatever has accelerators, or nothing, for want of a word about them."""
    if strange := [each for each in resources if not countable(each)]:
        what = f"no instance that Karpenter knows has {quoted(strange)}, so it makes no nodes for these pods"
        found.add("W790", pool.told, name=pool.flavor, what=what, hint="make these nodes by other means")
    elif resources and left.open:
        label, value = next(iter(pool.labels.items()), ("", ""))
        what = f"Karpenter takes the cheapest instances with {quoted(resources)}"
        what += f", and calls them {label}={value}" if label else ", whichever these are"
        hint = f"say what they are: params.INSTANCE-TYPE, or karpenter.perFlavor.{pool.flavor}.requirements"
        found.add("W790", pool.told, name=pool.flavor, what=what, hint=hint)


def _reserved(pool: NodePool, found: Findings) -> None:
    """A warning where all nodes are reserved ones, and nothing says which."""
    types = [each["values"] for each in pool.required if each["key"] == CAPACITY and each["operator"] == "In"]
    if ["reserved"] in types and not pool.settings.get("capacityReservationSelectorTerms"):
        what = "its nodes are reserved ones alone, and nobody says which reservations they are of"
        found.add("W790", pool.told, name=pool.flavor, what=what, hint="name them: capacityReservationSelectorTerms")


def _disk(pool: NodePool, users: Sequence[Need], found: Findings) -> None:
    """An error where the weights of one pod alone fill the disk, or what it asks for of it."""
    size = str(pool.settings.get("volumeSize", DISK))
    if pool.settings.get("instanceStorePolicy"):
        return
    for need in users:
        taken = {
            "the weights": need.weights,
            "requests of ephemeral-storage": max(each.stores for each in need.pods) / 2**30,
        }
        for what, gib in taken.items():
            if gib > _FULL * int(size.removesuffix("Gi")):
                found.add(
                    "E799",
                    pool.settings.at("volumeSize"),
                    what=what,
                    size=size,
                    flavor=pool.flavor,
                    app=f"{need.namespace}/{need.name}",
                    weights=math.ceil(gib),
                )


def _tainted(made: Sequence[NodePool], users: Mapping[str, Sequence[Need]], found: Findings) -> list[NodePool]:
    """The pools with the taints that all of their pods tolerate. A warning for one that only some tolerate, and for one
    of RenderConfig that nobody does.
    """
    nobody: dict[Path, tuple[Origin, str, list[str]]] = {}
    somebody: set[Path] = set()
    done = []
    for pool in made:
        kept = []
        for i, taint in enumerate(pool.taints):
            given = "taints" in pool.settings.said
            at = pool.settings.at("taints").at(i) if given else pool.told
            against = [need for need in users[pool.flavor] if not all(_tolerated(taint, each) for each in need.pods)]
            if not against:
                kept.append(taint)
            if len(against) < len(users[pool.flavor]):
                somebody.add(at.path)
            elif given:
                nobody.setdefault(at.path, (at, taint["key"], []))[2].append(pool.flavor)
            if 0 < len(against) < len(users[pool.flavor]):
                names = quoted(dict.fromkeys(f"{need.namespace}/{need.app}" for need in against))
                found.add("W791", at, taint=taint["key"], flavors=f"'{pool.flavor}'", pods=f"pods of {names}")
        done.append(pool._replace(taints=tuple(kept)))
    for path, (at, key, flavors) in nobody.items():
        if path not in somebody:
            found.add("W791", at, taint=key, flavors=quoted(flavors), pods="their pods")
    return done


def _tolerated(taint: Mapping[str, str], pods: Pods) -> bool:
    return any(
        each.get("effect", taint["effect"]) in ("", taint["effect"])
        and (
            (each.get("operator") == "Exists" and each.get("key", "") in ("", taint["key"]))
            or (
                each.get("operator", "Equal") in ("", "Equal")
                and (each.get("key"), each.get("value", "")) == (taint["key"], taint.get("value", ""))
            )
        )
        for each in pods.tolerates
    )


def _own_limits(set_: Settings, found: Findings) -> Mapping[str, str]:
    """Those that RenderConfig says, canonical."""
    made = {}
    for name, value in (set_.get("limits") or {}).items():
        try:
            made[name] = quantity.canonical(value)
        except ValueError:
            found.add("E305", set_.at("limits").at(name), value=value)
    return made


def _too_little(pool: NodePool, left: Choice, own: Mapping[str, str], found: Findings) -> None:
    """A warning for a limit of RenderConfig that is less than one node has; with 0 somebody wants none."""
    for name, value in own.items():
        least = min([each.holds for each in left.instances if each.resource == name and each.holds], default=0)
        if left.sure and not left.open and 0 < quantity.nanos(value) < least * 10**9:
            what = f"its limit is {value} of {name}, and the smallest instance that meets its requirements has {least}"
            hint = "Karpenter makes no node that exceeds the limit: raise it, or mend the requirements"
            found.add("W790", pool.settings.at("limits").at(name), name=pool.flavor, what=what, hint=hint)


def _limits(
    pool: NodePool, left: Choice, pods: Sequence[Pods], resources: Sequence[str], found: Findings
) -> Mapping[str, str]:
    """In accelerators, whole nodes of them, where the pods ask for one kind and it is known how many a node has; else
    in nodes, one a pod.
    """
    nodes = {"nodes": str(sum(each.most for each in pods))}
    if len(resources) != 1 or not all(each.asks for each in pods) or not countable(resources[0]):
        return nodes
    [resource] = resources
    asked: dict[int, int] = {}
    for each in pods:
        asked[each.asks[resource]] = asked.get(each.asks[resource], 0) + each.most
    counts = [each.holds for each in left.instances if each.resource == resource]
    if left.open or not left.sure:
        return nodes
    if (enough := whole(asked, counts)) is not None:
        return {resource: str(enough)}
    words = {"asked": max(asked), "resource": resource, "most": max(counts, default=0)}
    if left.named and len(counts) == len(left.named) and not any(counts):
        what = f"EC2 tells Karpenter of no whole {resource} in {quoted(left.named)}, so it makes none for these pods"
        hint = "name another instance type; if your Karpenter knows better, nothing is wrong"
        found.add("W790", pool.told, name=pool.flavor, what=what, hint=hint)
    elif left.named:
        found.add("E798", pool.told, name=pool.flavor, names=quoted(left.named), **words)
    else:
        what = "a pod asks for {asked} of {resource}, and no instance known here that meets its requirements has more "
        what += "than {most}"
        hint = "mend the requirements; if there is such an instance, nothing is wrong"
        found.add("W790", pool.told, name=pool.flavor, what=what.format(**words), hint=hint)
    return nodes


def _selected(fleet: Fleet, made: Sequence[NodePool], found: Findings) -> None:
    """A warning for pods that select labels which none of the nodes of their flavors have."""
    by_name = {pool.flavor: pool for pool in made}
    for need in fleet.needs:
        mine = [by_name[name] for name, _ in need.flavors]
        for pods in need.pods if mine else ():
            for label, value in pods.selects.items():
                if not any(_has(pool, label, value) for pool in mine):
                    app = fleet.memo.apps[need.namespace, need.app]
                    names = quoted(pool.flavor for pool in mine)
                    found.add("W792", app.origin("spec"), label=f"{label}={value}", names=names)


def _has(pool: NodePool, label: str, value: str) -> bool:
    """Whether its nodes may have the label, as far as its requirements say."""
    key = newer(label)
    about = [each for each in pool.required if each["key"] == key]
    if not known(label) and not about:
        return pool.labels.get(label) == value
    return all(meets(each, {key: value}) for each in about)
