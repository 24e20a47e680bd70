"""Replicas of several hosts: how the preset's form of them changes the pods of leader and workers."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from msgspec.structs import replace

from renderer.api import App
from renderer.kubernetes.json_values import map_at, value_at
from renderer.kubernetes.rollouts import bound_count
from renderer.kubernetes.wellknown import RANK_PORTS
from renderer.plan import Body, Container, Pod, Port
from renderer.resolve.container_words import literal_words
from renderer.resolve.engine.arg_merge import without_options
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.parallel_sizes import Parallelism
from renderer.resolve.engine.ports import container_port
from renderer.template import Words

if TYPE_CHECKING:
    pass

_WORKER_GRACE = 20  # seconds that a worker has more than its leader, for which it waits
_PROBE_FIELDS = ("startup_probe", "readiness_probe", "liveness_probe")
_SUPERVISOR = "supervisor"


def find_form(engine: Engine, parallelism: Parallelism, words: Words) -> MultiHostForm | None:
    """The preset's form for these sizes; None for one host, or where it has none."""
    return next((form for form in engine.multi_host if form.when(words)), None) if parallelism.hosts > 1 else None


def most_groups(app: App, groups: int) -> int:
    """How many groups of several pods there may be at once: while a rollout goes on, also those of its surge."""
    return groups + bound_count(value_at(app.spec, "workload", "rollout", "maxSurge") or 0, groups, up=True)


def rank_port_count(parallelism: Parallelism, mode: str) -> int:
    """The ports of a pod for its data parallel ranks, where it has several, and one for each: over several hosts, in a
    pool.
    """
    has_several = parallelism.hosts > 1 and parallelism.local_ranks > 1
    return parallelism.local_ranks if mode == "pool" and has_several else 0


def adapt_shell(shell: Container, form: MultiHostForm, words: Words) -> Container:
    """The runner's command and probes as this form has them."""
    body = shell.body()
    probes = {key: {**body[key], **fields} for key, fields in form.probes.items() if key in body}
    adapted = Container.read(body | probes)
    return replace(adapted, command=tuple(form.command(words))) if form.command else adapted


def rank_ports(form: MultiHostForm | None, words: Words, first: int) -> tuple[Port, ...]:
    """The ports of a pod whose data parallel ranks answer on a port each; none where they share one."""
    if form is None or not form.supervisor_port:
        return ()
    return tuple(Port(name, first + rank) for rank, name in enumerate(RANK_PORTS[: int(str(words["RankPorts"]))]))


def supervisor_ports(form: MultiHostForm | None, words: Words) -> frozenset[int]:
    """The port of what watches the ranks of a pod that answer on a port each; none where they share one."""
    return frozenset([form.supervisor_port]) if form and int(str(words["RankPorts"])) else frozenset()


def container_ports(form: MultiHostForm | None, ranks: Sequence[Port]) -> tuple[Body, ...]:
    """The ports of a runner with these rank ports, and that of what watches the ranks; none without any."""
    if form is None or not ranks:
        return ()
    ports = [*ranks, Port(_SUPERVISOR, form.supervisor_port)]
    return tuple([container_port(port.name, port.number) for port in ports])


def worker_pod(leader: Pod, engine: Engine, form: MultiHostForm, words: Words) -> Pod:
    """The pod of workers beside a leader that alone answers requests: it has no port and no probe, its engine knows
    that it is not a server, and at the end it waits for the leader's. In the network of the node it keeps the port,
    where some engines listen in workers too, so that no two pods of a group come to one node.
    """
    runner, *others = leader.containers
    ports = {engine.constant["Port"], words["EnginePort"]}
    worker = worker_container(runner, engine, form, words)
    containers = (
        replace(worker, ports=runner.ports) if leader.rest.get("hostNetwork") else worker,
        *(_without_probes_of(ports, container) for container in others),
    )
    init_containers = tuple([_without_probes_of(ports, container) for container in leader.init_containers])
    grace = leader.termination_grace_period_seconds
    return replace(
        leader,
        containers=containers,
        init_containers=init_containers,
        termination_grace_period_seconds=None if grace is None else grace + _WORKER_GRACE,
    )


def _without_probes_of(ports: Set[object], container: Container) -> Container:
    """A container beside the runner of a worker, where nobody answers on these ports, the engine's."""
    dropped: dict[str, Body] = {field: {} for field in _PROBE_FIELDS if _asks(ports, getattr(container, field))}
    return replace(container, **dropped) if dropped else container


def _asks(ports: Set[object], probe: Body) -> bool:
    return any(map_at(probe, action).get("port") in ports for action in ("httpGet", "tcpSocket", "grpc"))


def worker_container(runner: Container, engine: Engine, form: MultiHostForm, words: Words) -> Container:
    """The runner of a worker."""
    args = without_options(engine.style, runner.args, form.dropped_options)
    return replace(
        runner,
        args=(*args, *form.worker_args),
        ports=(),
        startup_probe={},
        readiness_probe={},
        liveness_probe={},
        lifecycle=form.worker_lifecycle(literal_words(words)),
    )
