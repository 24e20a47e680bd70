"""Whether the engine, the model and several hosts go with the sizes of a replica's parallel groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from renderer import template
from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, counted, make_diagnostic, quoted, rule
from renderer.engines.rules.accelerators import fitting_size
from renderer.fit.verdict import CONTEXT, FITS, WEIGHTS
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.kubernetes.wellknown import RANK_PORTS
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.parallel_sizes import SIZE_WORDS, factors
from renderer.resolve.flavors import accelerator_count, flavor_names, model_flavors, param_origin
from renderer.resolve.rules.versions import refused_by_version
from renderer.resolve.workload.engine_process import OWN_ENVS, EngineProcess
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.flavor_limits import limits_of_one_host
from renderer.resolve.workload.gpu_fit import verdict_on_one_host
from renderer.resolve.workload.planned_pod import PlannedPod

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec, ParallelismSpec

_OWN_SIZES: tuple[Literal["tensor", "data", "pipeline"], ...] = ("tensor", "data", "pipeline")


@rule(of=EngineRun)
def unknown_sizes(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for each size above 1 in `spec.parallelism` that the runtime hands to its engine in no way; a warning
    for one in the flavor's params, which may be for another engine. TP counts accelerators for every engine.
    """
    app, engine, placement = run.base.app, run.engine, run.base.placement
    if run.size.parallelism.hosts > 1 and not engine.multi_host:
        return
    sizes: ParallelismSpec = app.spec.get("parallelism") or {}
    params = placement.params
    values: dict[str, object] = {
        key: params[word] for key, word in SIZE_WORDS.items() if word in params and key != "tensor"
    }
    values |= {key: value for key, value in sizes.items() if key in SIZE_WORDS}
    if not values:  # as with most
        return
    known = _size_words(engine.spec)
    for key, value in values.items():
        word = SIZE_WORDS[key]
        if word in known or str(value).lower() in ("1", "false"):
            continue
        specs = {name: runtime.spec.get("engine") or {} for name, runtime in run.base.context.inputs.runtimes.items()}
        able = quoted([name for name, spec in specs.items() if word in _size_words(spec)])
        if key in sizes:
            origin = app.origin("spec", "parallelism", key)
            yield make_diagnostic("E342", origin, backend=engine.runtime.name, key=key, able=able)
        else:
            about = {"param": word, "backend": engine.runtime.name, "key": key, "able": able}
            yield make_diagnostic("W257", param_origin(placement, run.base.claim.main, word), **about)


def _size_words(engine_spec: EngineSpec) -> set[str]:
    """The words for sizes that the entries of `derived` read."""
    words: set[str] = set()
    for entry in engine_spec.get("derived") or ():
        words |= template.words_of(entry.get("args")).union(*template.condition_words(entry.get("when", "true")))
    return words & set(SIZE_WORDS.values())


@rule(
    of=EngineRun,
    when=lambda run: run.size.parallelism.hosts > 1 and run.multi_host is None,
    gate=True,
    after=refused_by_version,
)
def no_form(run: EngineRun) -> Iterator[Diagnostic]:
    """An error, which names engines that have one, where the preset has no form for several hosts."""
    parallelism = run.size.parallelism
    runtimes = run.base.context.inputs.runtimes
    able = [name for name, runtime in runtimes.items() if "multiHost" in (runtime.spec.get("engine") or {})]
    params = {"hosts": parallelism.hosts, "size": parallelism.size, "backend": run.engine.runtime.name}
    yield make_diagnostic("E341", run.size_origin, **params, able=quoted(able))


@rule(of=EngineRun, when=lambda run: "hosts" in (run.base.app.spec.get("parallelism") or {}), after=refused_by_version)
def other_hosts(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a number of hosts that is not what the sizes make."""
    app, parallelism, accelerator = run.base.app, run.size.parallelism, run.size.accelerator
    host_count = app.spec["parallelism"]["hosts"]
    if host_count != parallelism.hosts:
        words = {"said": counted(host_count, "host"), "factors": factors(parallelism) or "no size above 1"}
        words["made"] = counted(parallelism.hosts, "host")
        words["pod"] = f"{accelerator.number} {accelerator.resource}" if accelerator.number else "no accelerator"
        sizes = any(key in app.spec["parallelism"] for key in _OWN_SIZES)
        words["hint"] = f"write hosts: {parallelism.hosts}, or change the sizes; hosts sets nothing"
        if host_count > 1 and not sizes and parallelism.hosts == 1:
            words["hint"] = f"write pipeline: {host_count} in place of hosts, which sets nothing"
        yield make_diagnostic("E474", app.origin("spec", "parallelism", "hosts"), **words)


@rule(of=EngineRun, when=lambda run: run.size.parallelism.hosts > 1, after=no_form)
def too_many_rank_ports(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for more rank ports than a pool has."""
    ranks = run.size.parallelism.local_ranks
    if run.multi_host and run.multi_host.supervisor_port and ranks > len(RANK_PORTS):
        yield make_diagnostic("E347", run.size_origin, ranks=ranks, most=len(RANK_PORTS))


@rule(of=EngineRun, when=lambda run: run.size.parallelism.hosts > 1, after=no_form)
def data_parallel_without_experts(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for data parallel ranks over several hosts of a model that is not a mixture of experts; a warning where
    nobody knows. Each would be no more than a replica, and some engines do not even start.
    """
    parallelism, model = run.size.parallelism, run.base.claim.main
    if parallelism.data == 1 or (has_experts := _has_experts(model)):
        return
    params = {"data": parallelism.data, "hosts": parallelism.hosts, "model": model.name}
    yield make_diagnostic("W335" if has_experts is None else "E348", run.size_origin, **params)


@rule(of=EngineProcess, when=lambda command: command.run.multi_host and "parallelism" in command.app.spec)
def unasked_hosts(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for hosts that follow from sizes alone: nobody says how many, and the model does not need them. Where
    pods have several accelerators, `pipeline` alone or `data` say that hosts are meant, and only what is known to fit
    on one is told.
    """
    run, app = command.run, command.app
    sizes, parallelism, pod_count = app.spec["parallelism"], run.size.parallelism, run.size.accelerator.number
    above_one = [key for key in _OWN_SIZES if sizes.get(key, 1) > 1]
    if not above_one or "hosts" in sizes or (pod_count > 1 and ("tensor" not in sizes or "data" in sizes)):
        return
    verdict = verdict_on_one_host(command)
    if verdict in (WEIGHTS, CONTEXT) or (pod_count > 1 and verdict != FITS):
        return
    words = {"hosts": parallelism.hosts, "factors": factors(parallelism), "size": parallelism.size}
    words["each"] = f"{pod_count} {run.size.accelerator.resource}" if pod_count else "no accelerator"
    words["fit"] = ", and the model fits on one" if verdict == FITS else ""
    attention = map_at(run.base.claim.main.spec, "facts", "attention")
    tensor = fitting_size(attention, parallelism.tensor)  # against_facts tells others
    remedy = limits_of_one_host(run, parallelism.size // parallelism.tensor * tensor)
    words["meant"] = str(parallelism.hosts)
    if tensor != parallelism.tensor:
        remedy += f" and tensor: {tensor}"
        words["meant"] = f"{-(-parallelism.hosts * tensor // parallelism.tensor)} and tensor: {tensor}"
    elif "tensor" not in sizes and above_one[0] == "pipeline":
        remedy += " and leave pipeline out"
    yield make_diagnostic("W474", app.origin("spec", "parallelism", above_one[0]), **words, remedy=remedy)


@rule(of=EngineRun, when=lambda run: run.size.parallelism.expert, after=refused_by_version)
def no_experts(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for experts spread over ranks of a model that has none, as far as its facts say so."""
    model = run.base.claim.main
    if _has_experts(model) is False:
        yield make_diagnostic("E356", run.size_origin, model=model.name)


def _has_experts(model: OpenModel) -> bool | None:
    """Whether the model is a mixture of experts; None where its facts do not say."""
    facts = model.spec.get("facts") or {}
    if facts.get("activeParameters", facts.get("parameters")) != facts.get("parameters"):
        return True
    is_known = "activeParameters" in facts or (model.ours and "parameters" in facts)
    return False if is_known else None


def _claims_flavors(process: EngineProcess) -> object:
    return process.run.base.claim.flavors and process.run.base.placement.flavors  # none where one is unknown


@rule(of=EngineProcess, when=_claims_flavors)
def sizes_of_the_models_flavor(process: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for a flavor of the catalog that has as many accelerators as one of the model, and not its sizes."""
    run, app, base = process.run, process.app, process.run.base
    flavor, model, accelerator = base.placement.flavors[0], base.claim.main, run.size.accelerator
    is_sized = flavor.sized_by or flavor.name in flavor_names(model) or "parallelism" in app.spec
    if is_sized or not accelerator.number or not process.user_options.isdisjoint(run.engine.parallel_options):
        return
    for own in model_flavors(base.context.inputs, base.context.catalog, model):
        count = own.claim.count if own.claim else accelerator_count(base.context.inputs, own)
        if count != accelerator.number:
            continue
        sizes = {
            key: own.params[word]
            for key, word in SIZE_WORDS.items()
            if own.params.get(word, "1").lower() not in ("1", "false", str(count) if key == "tensor" else "")
            and own.params[word].lower() != flavor.params.get(word, "").lower()
            and (options := _size_options(run.engine, word))
            and process.user_options.isdisjoint(options)
        }
        if sizes:
            words = {"flavor": flavor.name, "own": own.name, "count": f"{count} {accelerator.resource}"}
            words["params"] = ", ".join(f"{SIZE_WORDS[key]} {size}" for key, size in sizes.items())
            listed_sizes = ", ".join(f"{key}: {size.lower()}" for key, size in sizes.items())
            origin = app.origin(*base.claim.flavors_path, base.claim.flavors.index(flavor.name))
            yield make_diagnostic("W886", origin, **words, sizes=listed_sizes)
        return


def _size_options(engine: Engine, word: str) -> set[str]:
    """The options that the preset derives from the word of a size."""
    return {
        engine.style.name(arg)
        for entry in engine.spec.get("derived") or ()
        if word in template.words_of(entry.get("args")).union(*template.condition_words(entry.get("when", "true")))
        for arg in entry.get("args") or ()
        if arg.startswith("-")
    }


@rule(of=EngineRun, when=lambda run: run.base.claim.draft, after=refused_by_version)
def draft_beside_sizes(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a draft model beside sizes with which the preset says that the engine runs none."""
    claim, parallelism = run.base.claim, run.size.parallelism
    reasons = run.engine.spec.get("unsupported") or {}
    for key, name, size in (
        ("draftWithPipeline", "pipeline", parallelism.pipeline),
        ("draftWithData", "data", parallelism.data),
    ):
        if size > 1 and (why := reasons.get(key)):
            params = {"backend": run.engine.runtime.name, "sizes": f"{name} {size}", "why": why}
            yield make_diagnostic("E357", run.base.app.origin(*claim.models[1].path), **params)


@rule(of=PlannedPod, when=lambda planned: planned.run.multi_host)
def unknown_interface(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for pods of a group that share the node's network, where no variable says which interface to take."""
    variables = planned.run.engine.spec.get("interfaceVariables") or ()
    if not (variables and planned.pod.rest.get("hostNetwork")):
        return
    names = {entry["name"] for entry in planned.pod.containers[0].env}
    leader_names, worker_names = (
        {entry["name"] for entry in maps_at(planned.app.spec, "workload", key)} for key in OWN_ENVS
    )
    names |= leader_names & worker_names
    if missing := [name for name in variables if name not in names]:
        catalog = next((flavor.catalog for flavor in planned.run.base.placement.flavors if flavor.catalog), None)
        origin = planned.patch_origins.get(("spec", "hostNetwork")) or (catalog and catalog.at("hostNetwork"))
        words = {"missing": " and ".join(missing), "first": missing[0]}
        yield make_diagnostic("W259", origin or planned.app.origin("spec", "parallelism"), **words)


@rule(of=PlannedPod, when=lambda planned: planned.run.multi_host and planned.is_patched())
def unknown_leader_name(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for the pod of a group that asks the node's DNS, which does not know the leader's name."""
    fields, app = planned.pod.rest, planned.app
    if fields.get("hostNetwork") and fields.get("dnsPolicy") != "ClusterFirstWithHostNet":
        yield make_diagnostic("W258", app.origin("spec", "podTemplate", "spec", "hostNetwork", key=True))
