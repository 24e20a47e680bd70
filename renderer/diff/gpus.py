"""Accelerators of a replica by their kind: what a flavor is called, else the nodes that the pods ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from renderer import quantity
from renderer.diff.objects import Body, items_of, maps, table
from renderer.records import NamedTuple

_FLAVORS = "llmaz.io/inference-service-flavors"
_REQUIRED = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_OF_NO_KIND = ("kubernetes.io/", "topology.kubernetes.io/")  # system, processor, zone


class Kind(NamedTuple):
    """An accelerator. `of`: the flavor that the pods name, else the labels of the nodes; '' where nobody says."""

    resource: str
    of: str

    def __str__(self) -> str:
        return f"{self.resource} ({self.of})" if self.of else self.resource


class Gpus(NamedTuple):
    """Accelerators of one kind, before and after: of one replica, and of as many as there may be."""

    name: str
    replica: tuple[int, int]
    most: tuple[int, int]


def flavor(pod: Body) -> str:
    """The flavors that a Playground has claimed, with commas between them; '' for all of its model's."""
    return str(table(pod, "metadata", "annotations").get(_FLAVORS, ""))


def nodes(pod: Body) -> str:
    """The labels of the nodes that a pod may run on, as somebody reads them: `gpu=a100 or gpu=h100`."""
    chosen = _labels((key, [value]) for key, value in table(pod, "spec", "nodeSelector").items())
    terms = [
        _labels((str(each.get("key")), items_of(each, "values")) for each in maps(term, "matchExpressions"))
        for term in maps(pod, *_REQUIRED)
    ]
    return ", ".join(filter(None, [chosen, " or ".join(dict.fromkeys(filter(None, terms)))]))


def _labels(pairs: Iterable[tuple[str, list[object]]]) -> str:
    return ", ".join(
        f"{key.rpartition('/')[2]}={'|'.join(map(str, values))}" if values else key.rpartition("/")[2]
        for key, values in pairs
        if not key.startswith(_OF_NO_KIND)
    )


def accelerators(pods: Iterable[tuple[Body, int]], accelerates: Callable[[str], bool]) -> Mapping[Kind, int]:
    """leader + (size - 1) × worker, by kind."""
    found: dict[Kind, int] = {}
    for pod, times in pods:
        of = ""
        for container in maps(pod, "spec", "containers"):
            resources = table(container, "resources")
            for name, value in {**table(resources, "requests"), **table(resources, "limits")}.items():
                if accelerates(name) and (count := _amount(value) * times):
                    of = of or " or ".join(_acting(pod)) or nodes(pod)
                    found[Kind(name, of)] = found.get(Kind(name, of), 0) + count
    return found


def _acting(pod: Body) -> list[str]:
    """The claimed flavors that the pod may run on: the first one alone where its nodes are selected. Several have a
    node affinity, or a scheduler of their own that chooses.
    """
    names = list(filter(None, flavor(pod).split(",")))
    spec = table(pod, "spec")
    own = str(spec.get("schedulerName", "")).startswith("inftyai")
    return names[:1] if spec.get("nodeSelector") and not maps(pod, *_REQUIRED) and not own else names


def compared(old: Mapping[Kind, int], new: Mapping[Kind, int], most: tuple[int, int], alike: bool) -> Iterator[Gpus]:
    """How the accelerators of two replicas differ, of which there may be so many. `alike`: they are of one kind, and
    one side alone says what it is called.
    """
    if alike and len(called := {kind.of for kind in new}) == 1:
        (of,) = called
        old = {kind._replace(of=of): count for kind, count in old.items()}
    for kind in sorted({*old, *new}, key=str):
        a, b = old.get(kind, 0), new.get(kind, 0)
        yield Gpus(str(kind), (a, b), (a * most[0], b * most[1]))


def _amount(value: object) -> int:
    try:
        return quantity.nanos(value) // 10**9
    except ValueError:
        return 0
