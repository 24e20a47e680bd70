"""The steps by which what was adopted takes the place of what runs, with what each workload needs for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from renderer.adopt.adopted_workload import AdoptedWorkload
from renderer.adopt.adoption import Adoption
from renderer.adopt.neighbours import key_of
from renderer.adopt.playground_fields import engine_port_of
from renderer.diagnostics import counted, listed
from renderer.diff.live.takeovers import LATER
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.rollouts import bound_count
from renderer.kubernetes.server_defaults import DEPLOYMENT_ROLLOUT
from renderer.kubernetes.workloads import SCALE_TARGETS, containers, is_rendered, pod_template
from renderer.text import escapes
from renderer.text.folding import folded
from renderer.yamlio import Document

Body = Mapping[str, Any]
_HOST: Final = "kubernetes.io/hostname"
_SET_ROLLOUT: Final = {"maxUnavailable": 1, "maxSurge": 0}
_NEW: Final = (
    "Apply what is rendered beside what runs. The Services of {later}/ are in no commit yet. NetworkPolicies, monitors "
    "and others that select pods by a changed label need its new value too.",
    "Wait until all new pods are ready.",
    "In one commit, put each Service of {later}/ into the place where it is applied today: its selector and its target "
    "ports change, and clients ask the new pods. Reverting this commit leads them back.",
    "Delete the old workloads and their autoscalers when nothing leads to them any more, and the longest answer that "
    "was asked for before has ended: an engine without a hook cuts it at its end.",
)
_NO_SERVICES: Final = (
    "Apply what is rendered beside what runs. NetworkPolicies, monitors and others that select pods by a changed label "
    "need its new value too.",
    _NEW[1],
    "In one commit, let the Services of clients, which are not among these files, select the new pods as the Service "
    "NAME-lb of each does, with its target port. Reverting this commit leads clients back.",
    _NEW[3],
)
_SHARED: Final = (
    *_NO_SERVICES[:2],
    "Services lead to old and new pods: look at what the new ones answer. Deleting these leads clients back.",
    _NEW[3],
)
_CHANGED: Final = (
    "In one commit, put what is rendered into the place of what is applied today. The same tool applies it: fields of "
    "another field manager stay, such as the old container beside the new one. A rollout replaces the pods, and "
    "Services lead to old and new ones. Reverting this commit leads back, by a rollout too.",
)


class _Rollout(Struct, frozen=True):
    """How a workload replaces its pods."""

    replicas: int
    surge: int  # replicas that start beside all others
    unavailable: int  # replicas that may be gone at once

    @property
    def answering(self) -> int:
        """How many replicas answer at the least."""
        return max(self.replicas - self.unavailable, 0)


def takeover_text(adoption: Adoption, *, brief: bool = False) -> str:
    """What is done in which order, and for each workload its name and what it needs; '' where nothing is taken over.
    `brief`: for the first of those that are alike but for their names, with the number of the others.
    """
    foreign = [adopted for adopted in adoption.workloads if not is_rendered(adopted.workload.document.value)]
    rendered = {key_of(body): body for body in adoption.rendered if body.get("kind") in SCALE_TARGETS}
    lines: list[str] = []
    moves = any(adopted.takeover.moving for adopted in foreign)
    stay = any(adopted.takeover.shared for adopted in foreign if not adopted.takeover.is_update)
    for title, steps, is_update in (
        ("New workloads beside those that run", _NEW if moves else _SHARED if stay else _NO_SERVICES, False),
        ("Workloads that are changed", _CHANGED, True),
    ):
        if workloads := [adopted for adopted in foreign if adopted.takeover.is_update is is_update]:
            lines += ["", title]
            lines += [f"  {line}" for line in _workloads_lines(workloads, rendered, brief)]
            lines += [f"  {i}. {step.format(later=LATER)}" for i, step in enumerate(steps, 1)]
    return escapes.lines("\n".join(lines) + "\n") if lines else ""


def _workloads_lines(
    workloads: Sequence[AdoptedWorkload], rendered: Mapping[tuple[str, str], Body], brief: bool
) -> Iterator[str]:
    items = [_Told.of(adopted, rendered.get(adopted.new_key, {})) for adopted in workloads]
    for item, others in folded(items, lambda item: replace(item, names="") if brief else None):
        yield f"{item.names}{item.what}"
        for line in item.more:
            yield f"  {line}"
        if others:
            yield f"  and {others:,} more like it: -v"


class _Told(Struct, frozen=True):
    """What is said of a workload."""

    names: str  # its own and those of the new one
    kind: str
    what: str
    more: tuple[str, ...]

    @staticmethod
    def of(adopted: AdoptedWorkload, rendered: Body) -> _Told:
        """`rendered`: the new workload."""
        workload, takeover = adopted.workload, adopted.takeover
        why = f", since {takeover.reason}" if takeover.reason else ""
        selector_note = ", with workload.selector" if takeover.selector else ""
        labels = ", ".join(f"{key}: {value}" for key, value in takeover.labels.items())
        names = f"{workload.title} → {takeover.name}" + (f" (its pods have {labels})" if labels else "")
        more = [*_obstacles(adopted)]
        if takeover.shared and not takeover.is_update:
            shared = _names(takeover.shared)
            more.append(f"Service {shared} leads to old and new pods: it stays, and asks new ones when they are ready.")
        more += _demands(adopted, rendered)
        return _Told(names, workload.kind, f"{why}{selector_note}: {_needs(adopted)}", tuple(more))


def _needs(adopted: AdoptedWorkload) -> str:
    """How much more runs in the meantime."""
    rollout = _rollout(adopted)
    if not adopted.takeover.is_update:
        return f"{_pods(adopted, rollout.replicas)} more until step 4"
    more = f"{_pods(adopted, rollout.surge)} more" if rollout.surge else "no pod more"
    return f"{more} during the rollout, {rollout.answering} of {counted(rollout.replicas, 'replica')} answering"


def _obstacles(adopted: AdoptedWorkload) -> Iterator[str]:
    """Why no way is without an outage, unless more accelerators are free."""
    rollout, takeover = _rollout(adopted), adopted.takeover
    if takeover.is_update and not rollout.answering:
        yield (
            f"AN OUTAGE: no pod answers while {_pods(adopted, rollout.replicas)} load, as in each rollout of it until "
            f"now. Without one it takes {_pods(adopted, 1)} more, with workload.rollout: {{maxSurge: 1, "
            "maxUnavailable: 0} or another name (--as NAME)."
        )
    elif not takeover.is_update and not rollout.surge:
        gone = "all of them are" if not rollout.answering else "another is"
        room = _pods(adopted, rollout.replicas)
        yield (
            f"Its rollouts start no pod before {gone} gone. Without room for {room} more, no way is"
            " without an outage, or at least fewer replicas: old pods have to end first."
        )
    if takeover.held_claims:
        yield (
            f"The pods mount {listed(list(takeover.held_claims))}, which one node alone can mount (ReadWriteOnce): new "
            "pods start on the node of the old ones, or when these are gone, which is an outage."
        )


def _demands(adopted: AdoptedWorkload, rendered: Body) -> Iterator[str]:
    """What the new pods need of their nodes and of the cluster, which the old ones have or do without."""
    workload, spec = adopted.workload, map_at(adopted.template, "spec")
    if ports := _node_ports(adopted, spec) if not adopted.takeover.is_update else []:
        numbers = f"port{'s' if len(ports) > 1 else ''} {listed([str(port) for port in ports])}"
        yield (f"Its pods use {numbers} of their node: new pods start on other nodes, or when the old ones are gone.")
    if node := _pinned_node(spec):
        new, old = (_requests(body) for body in (map_at(pod_template(rendered), "spec"), spec))
        yield (
            f"Its pods run on the node {node} alone: each new one requests {new} there, each old one {old}. With too "
            "little room for both, new pods wait for the end of old ones."
        )
    is_new_kind = rendered.get("kind") == wellknown.LEADER_WORKER_SET != workload.kind
    if is_new_kind and workload.hosts == 1:
        runs = "" if workload.kind == "StatefulSet" else "; or write workload: {kind: Deployment}"
        yield f"It becomes a LeaderWorkerSet: the cluster needs LeaderWorkerSet's controller{runs}."


def _node_ports(adopted: AdoptedWorkload, spec: Body) -> list[int]:
    """The ports of a node that the pods use."""
    on_node = bool(spec.get("hostNetwork"))
    engine = text_at(adopted.container.body, "name")  # which loses a hostPort
    ports = [
        port
        for _, body in containers(spec)
        for port in maps_at(body, "ports")
        if on_node or text_at(body, "name") != engine
    ]
    field = "containerPort" if on_node else "hostPort"
    numbers = {number for port in ports if isinstance(number := port.get(field), int)}
    if on_node and (own := engine_port_of(adopted).number):
        numbers.add(own)
    return sorted(numbers)


def _pinned_node(spec: Body) -> str:
    """The one node on which pods may run, '' for none."""
    return text_at(spec, "nodeName") or text_at(spec, "nodeSelector", _HOST)


def _requests(spec: Body) -> str:
    """What the containers of a pod request, as far as it is accelerators, CPUs and memory."""
    amounts: dict[str, list[str]] = {}
    for body in maps_at(spec, "containers"):
        requests = {**map_at(body, "resources", "limits"), **map_at(body, "resources", "requests")}
        for name, amount in requests.items():
            if name in ("cpu", "memory") or "/" in name:
                amounts.setdefault(name, []).append(str(amount))
    sums = {name: " + ".join(requested) for name, requested in amounts.items()}
    texts = [f"{total} {name}" if "/" in name else f"{name} {total}" for name, total in sums.items()]
    return listed(texts) if texts else "nothing"


def _rollout(adopted: AdoptedWorkload) -> _Rollout:
    workload = adopted.workload
    usual = DEPLOYMENT_ROLLOUT if workload.kind == wellknown.DEPLOYMENT else _SET_ROLLOUT
    bounds: Mapping[str, object] = {**usual, **workload.rollout}
    replicas = 1 if workload.replicas is None else workload.replicas
    surge = bound_count(bounds["maxSurge"], replicas, up=True)
    return _Rollout(replicas, surge, bound_count(bounds["maxUnavailable"], replicas, up=False) or int(not surge))


def _pods(adopted: AdoptedWorkload, replicas: int) -> str:
    """So many replicas as pods, and their accelerators."""
    pods = replicas * adopted.workload.hosts
    accelerators = pods * adopted.accelerator.number
    return counted(pods, "pod") + (f" with {accelerators:,} {adopted.accelerator.resource}" if accelerators else "")


def _names(services: Sequence[Document]) -> str:
    return ", ".join(text_at(service.value, "metadata", "name") for service in services)
