"""Replicas of several hosts: how the preset's form of them changes the pods of leader and workers."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from msgspec.structs import replace

from renderer import template
from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, quoted
from renderer.json_values import as_number, map_at
from renderer.plan import Body, Container, Pod, Port, Scaler
from renderer.resolve.engine.arg_merge import without_options
from renderer.resolve.engine.backend_runtime import Engine, RunnerShell
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.parallelism import SIZE_WORDS, Parallelism
from renderer.template import Words
from renderer.wellknown import PORT, RANK_PORTS

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec, ParallelismSpec

_WORKER_GRACE = 20  # seconds that a worker has more than its leader, for which it waits
_PROBE_FIELDS = ("startup_probe", "readiness_probe", "liveness_probe")
_SUPERVISOR = "supervisor"


def find_form(
    inputs: Inputs, engine: Engine, parallelism: Parallelism, words: Words, origin: Origin, diagnostics: Collector
) -> MultiHostForm:
    """The preset's form for these sizes. Raises Stop, with an error that names engines that have one."""
    form = next((form for form in engine.multi_host if form.when(words)), None)
    if form is None:
        able = [name for name, runtime in inputs.runtimes.items() if "multiHost" in (runtime.spec.get("engine") or {})]
        about = {"hosts": parallelism.hosts, "size": parallelism.size, "backend": engine.runtime.name}
        diagnostics.stop("E341", origin, **about, able=quoted(able))
    return form


def validate_known_sizes(inputs: Inputs, app: App, engine: Engine, diagnostics: Collector) -> None:
    """An error for each size above 1 in `spec.parallelism` that the runtime hands to its engine in no way."""
    known = _size_words(engine.spec)
    sizes: ParallelismSpec = app.spec["parallelism"]
    for key, size in sizes.items():
        word = SIZE_WORDS[key]
        if (size is True or as_number(size) > 1) and word not in known:
            specs = {name: runtime.spec.get("engine") or {} for name, runtime in inputs.runtimes.items()}
            able = [name for name, spec in specs.items() if word in _size_words(spec)]
            origin = app.origin("spec", "parallelism", key)
            diagnostics.add("E342", origin, backend=engine.runtime.name, key=key, able=quoted(able))


def _size_words(engine_spec: EngineSpec) -> set[str]:
    """The words for sizes that the entries of `derived` read."""
    words: set[str] = set()
    for entry in engine_spec.get("derived") or ():
        words |= template.words_of(entry.get("args")).union(*template.condition_words(entry.get("when", "true")))
    return words & set(SIZE_WORDS.values())


def needs_disruption_budget(size: int, scaler: Scaler | None, replicas: int) -> bool:
    """Whether at least two replicas always run, or may run where an eviction ends a group of several pods (`size`)."""
    if scaler is None:
        return replicas >= 2
    return (scaler.min_replicas if size == 1 else scaler.max_replicas) >= 2


def rank_port_count(parallelism: Parallelism, mode: str) -> int:
    """The ports of a pod for its data parallel ranks, where it has several, and one for each: over several hosts, in a
    pool.
    """
    has_several = parallelism.hosts > 1 and parallelism.local_ranks > 1
    return parallelism.local_ranks if mode == "pool" and has_several else 0


def adapt_shell(shell: RunnerShell, form: MultiHostForm, words: Words) -> RunnerShell:
    """The runner's command and probes as this form has them."""
    startup, readiness, liveness = (
        {**probe, **form.probes.get(key, {})} if probe else probe
        for key, probe in (
            ("startupProbe", shell.startup),
            ("readinessProbe", shell.readiness),
            ("livenessProbe", shell.liveness),
        )
    )
    command = tuple(form.command(words)) if form.command else shell.command
    return replace(shell, command=command, startup=startup, readiness=readiness, liveness=liveness)


def rank_ports(form: MultiHostForm | None, words: Words, first: int = PORT) -> tuple[Port, ...]:
    """The ports of a pod whose data parallel ranks answer on a port each; none where they share one."""
    if form is None or not form.supervisor_port:
        return ()
    return tuple(Port(name, first + rank) for rank, name in enumerate(RANK_PORTS[: int(str(words["RankPorts"]))]))


def container_ports(form: MultiHostForm | None, ranks: Sequence[Port]) -> tuple[Body, ...]:
    """The ports of a runner with these rank ports, and that of what watches the ranks; none without any."""
    if form is None or not ranks:
        return ()
    ports = [*ranks, Port(_SUPERVISOR, form.supervisor_port)]
    return tuple({"name": port.name, "containerPort": port.number, "protocol": "TCP"} for port in ports)


def validate_rank_ports(parallelism: Parallelism, form: MultiHostForm, origin: Origin, diagnostics: Collector) -> None:
    """An error for more rank ports than a pool has."""
    if form.supervisor_port and parallelism.local_ranks > len(RANK_PORTS):
        diagnostics.add("E347", origin, ranks=parallelism.local_ranks, most=len(RANK_PORTS))


def validate_data_parallel(model: OpenModel, parallelism: Parallelism, origin: Origin, diagnostics: Collector) -> None:
    """An error for data parallel ranks over several hosts of a model that is no mixture of experts; a warning where
    nobody knows. Each would be no more than a replica, and some engines do not even start.
    """
    if parallelism.data == 1:
        return
    facts = model.spec.get("facts") or {}
    if facts.get("activeParameters", facts.get("parameters")) != facts.get("parameters"):
        return
    is_known = "activeParameters" in facts or (model.ours and "parameters" in facts)
    words = {"data": parallelism.data, "hosts": parallelism.hosts, "model": model.name}
    diagnostics.add("E348" if is_known else "W335", origin, **words)


def worker_pod(leader: Pod, engine: Engine, form: MultiHostForm, words: Words) -> Pod:
    """The pod of workers beside a leader that alone answers requests: it has no port and no probe, its engine knows
    that it is no server, and at the end it waits for the leader's.
    """
    runner, *others = leader.containers
    ports = {PORT, words["EnginePort"]}
    containers = (
        worker_container(runner, engine, form, words),
        *(_without_probes_of(ports, container) for container in others),
    )
    init_containers = tuple([_without_probes_of(ports, container) for container in leader.init_containers])
    grace = None if leader.grace_seconds is None else leader.grace_seconds + _WORKER_GRACE
    return replace(leader, containers=containers, init_containers=init_containers, grace_seconds=grace)


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
        lifecycle=form.worker_lifecycle(words),
    )
