"""Replicas of several hosts: how the preset's form of them changes the pods of leader and workers."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from msgspec.structs import replace

from renderer import template
from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, quoted
from renderer.json_values import as_number, map_at, value_at
from renderer.plan import Body, Container, Pod, Port, Scaler
from renderer.resolve.claims import Claim
from renderer.resolve.container_words import literal_words
from renderer.resolve.context import RunContext
from renderer.resolve.engine.arg_merge import without_options
from renderer.resolve.engine.backend_runtime import Engine, RunnerShell
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.parallelism import SIZE_WORDS, Parallelism
from renderer.resolve.flavors import Placement, param_origin
from renderer.template import Words
from renderer.wellknown import LEADER_WORKER_SET, PORT, RANK_PORTS

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


def validate_known_sizes(
    inputs: Inputs, app: App, engine: Engine, placement: Placement, model: OpenModel, diagnostics: Collector
) -> None:
    """An error for each size above 1 in `spec.parallelism` that the runtime hands to its engine in no way; a warning
    for one in the flavor's params, which may be for another engine. TP counts accelerators for every engine.
    """
    sizes: ParallelismSpec = app.spec.get("parallelism") or {}
    params = placement.params
    values: dict[str, object] = {
        key: params[word] for key, word in SIZE_WORDS.items() if word in params and key != "tensor"
    }
    values |= sizes
    if not values:  # as with most
        return
    known = _size_words(engine.spec)
    for key, value in values.items():
        word = SIZE_WORDS[key]
        if word in known or str(value).lower() in ("1", "false"):
            continue
        specs = {name: runtime.spec.get("engine") or {} for name, runtime in inputs.runtimes.items()}
        able = quoted([name for name, spec in specs.items() if word in _size_words(spec)])
        if key in sizes:
            origin = app.origin("spec", "parallelism", key)
            diagnostics.add("E342", origin, backend=engine.runtime.name, key=key, able=able)
        else:
            words = {"param": word, "backend": engine.runtime.name, "key": key, "able": able}
            diagnostics.add("W257", param_origin(placement, model, word), **words)


def _size_words(engine_spec: EngineSpec) -> set[str]:
    """The words for sizes that the entries of `derived` read."""
    words: set[str] = set()
    for entry in engine_spec.get("derived") or ():
        words |= template.words_of(entry.get("args")).union(*template.condition_words(entry.get("when", "true")))
    return words & set(SIZE_WORDS.values())


def most_groups(app: App, groups: int) -> int:
    """How many groups of several pods there may be at once: while a rollout goes on, also those of its surge."""
    surge = value_at(app.spec, "workload", "rollout", "maxSurge")
    if isinstance(surge, str):
        return groups + math.ceil(groups * int(surge.removesuffix("%")) / 100)
    return groups + int(as_number(surge or 0))


def validate_worker_sets(context: RunContext, app: App, groups: int, diagnostics: Collector) -> None:
    """An error for each app whose workload has the name `<app>-<index>` of a group's workers, of which LeaderWorkerSet
    makes a StatefulSet, as of another one's leaders.
    """
    for (namespace, name), other in context.apps.items():
        index = name.removeprefix(f"{app.name}-")
        if namespace != app.namespace or index == name or not (index.isascii() and index.isdigit()):
            continue
        if str(int(index)) == index and int(index) < groups and other.workload_kind == LEADER_WORKER_SET:
            file, line, _ = other.origin("metadata", "name").place
            words = {"name": name, "app": app.name, "file": file, "line": line}
            diagnostics.add("E358", app.origin("metadata", "name"), **words)


def validate_name_resolution(pod: Pod, origin: Origin, diagnostics: Collector) -> None:
    """A warning for the pod of a group that asks the node's DNS, which does not know the leader's name."""
    if pod.rest.get("hostNetwork") and pod.rest.get("dnsPolicy") != "ClusterFirstWithHostNet":
        diagnostics.add("W258", origin)


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
    if parallelism.data == 1 or (has_experts := _has_experts(model)):
        return
    words = {"data": parallelism.data, "hosts": parallelism.hosts, "model": model.name}
    diagnostics.add("W335" if has_experts is None else "E348", origin, **words)


def validate_experts(model: OpenModel, origin: Origin, diagnostics: Collector) -> None:
    """An error for experts spread over ranks of a model that has none, as far as its facts say so."""
    if _has_experts(model) is False:
        diagnostics.add("E356", origin, model=model.name)


def _has_experts(model: OpenModel) -> bool | None:
    """Whether the model is a mixture of experts; None where its facts do not say."""
    facts = model.spec.get("facts") or {}
    if facts.get("activeParameters", facts.get("parameters")) != facts.get("parameters"):
        return True
    is_known = "activeParameters" in facts or (model.ours and "parameters" in facts)
    return False if is_known else None


def validate_draft(app: App, engine: Engine, claim: Claim, parallelism: Parallelism, diagnostics: Collector) -> None:
    """An error for a draft model beside sizes with which the preset says that the engine runs none."""
    reasons = engine.spec.get("unsupported") or {}
    for key, sizes, size in (
        ("draftWithPipeline", f"pipeline {parallelism.pipeline}", parallelism.pipeline),
        ("draftWithData", f"data {parallelism.data}", parallelism.data),
    ):
        if size > 1 and (why := reasons.get(key)):
            words = {"backend": engine.runtime.name, "sizes": sizes, "why": why}
            diagnostics.add("E357", app.origin(*claim.models[1].path), **words)


def worker_pod(leader: Pod, engine: Engine, form: MultiHostForm, words: Words) -> Pod:
    """The pod of workers beside a leader that alone answers requests: it has no port and no probe, its engine knows
    that it is no server, and at the end it waits for the leader's. In the network of the node it keeps the port, where
    some engines listen in workers too, so that no two pods of a group come to one node.
    """
    runner, *others = leader.containers
    ports = {PORT, words["EnginePort"]}
    worker = worker_container(runner, engine, form, words)
    containers = (
        replace(worker, ports=runner.ports) if leader.rest.get("hostNetwork") else worker,
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
        lifecycle=form.worker_lifecycle(literal_words(words)),
    )
