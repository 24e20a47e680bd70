"""What does not go with KV cache that an engine keeps outside of its accelerators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from renderer.api import Inputs
from renderer.diagnostics import Diagnostic, Origin, counted, make_diagnostic, rule
from renderer.kubernetes.json_values import text_at
from renderer.resolve.engine.backend_runtime import DerivedEntry
from renderer.resolve.engine.template_words import NO_OFFLOADING
from renderer.resolve.rules.roles import without_roles
from renderer.resolve.workload import engine_process
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.planned_pod import PlannedPod
from renderer.template import Words

_GIB = 2**30


def _offloads(run: EngineRun) -> object:
    return run.offloading


@rule(of=EngineRun, when=_offloads, after=without_roles)
def beyond_engine(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for what the engine cannot do, on any accelerator or on this one, and for too little memory."""
    offloading, engine, accelerator, inputs = run.offloading, run.engine, run.size.accelerator, run.base.context.inputs
    if offloading is None:
        return
    name, origin = engine.runtime.name, Origin(offloading.origin.source, offloading.origin.path, key=True)
    ability = engine.spec.get("kvCacheOffloading")
    if not ability:
        able = ", ".join(_able_engines(inputs))
        hint = f"leave it out, or use an engine that can: {able}" if able else "leave it out"
        yield make_diagnostic("E372", origin, backend=name, what="does not support kvCacheOffloading", hint=hint)
        return
    vendors = ability.get("accelerators") or [accelerator.vendor]
    if accelerator.vendor not in vendors:
        where = f"on {accelerator.vendor}" if accelerator.resource else "without an accelerator: it is in memory anyway"
        hint = f"leave it out, or take a flavor of {', '.join(vendors)}"
        yield make_diagnostic("E372", origin, backend=name, what=f"offloads no KV cache {where}", hint=hint)
        return
    if offloading.size < max(accelerator.number, 1) * _GIB:
        number = accelerator.number
        what = f"less than 1Gi for each of {number} accelerators" if number > 1 else "less than 1Gi"
        hint = f"write {max(number, 1)}Gi or more"
        yield make_diagnostic("E298", offloading.origin.at("cpu"), value=offloading.memory, what=what, hint=hint)
    policies = ability.get("evictionPolicies") or []
    if offloading.policy and offloading.policy not in policies:
        hint = f"known: {', '.join(policies)}" if policies else "leave it out"
        what = f"has no eviction policy '{offloading.policy}'"
        yield make_diagnostic("E372", offloading.origin.at("evictionPolicy"), backend=name, what=what, hint=hint)
    most = ability.get("mostTiers", len(offloading.tiers)) if "tier" in ability else 0
    if len(offloading.tiers) > most:
        few = f"keeps files in {counted(most, 'folder')}, not in {len(offloading.tiers)}"
        what = few if most else "keeps no KV cache in files"
        tier_origin = offloading.tiers[most].origin
        yield make_diagnostic(
            "E372", tier_origin, backend=name, what=what, hint="leave this one out" if most else "leave it out"
        )


def _able_engines(inputs: Inputs) -> Iterator[str]:
    for name, runtime in inputs.runtimes.items():
        if "kvCacheOffloading" in (runtime.spec.get("engine") or {}):
            yield name


@rule(of=EngineRun, when=_offloads, after=without_roles)
def several_hosts(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a replica of several pods: nobody has seen that work."""
    if run.offloading and run.size.parallelism.hosts > 1:
        origin = Origin(run.offloading.origin.source, run.offloading.origin.path, key=True)
        yield make_diagnostic("E374", origin, hosts=run.size.parallelism.hosts)


@rule(of=EngineProcess, when=lambda process: process.run.offloading)
def options_of_users(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error for each option and variable of OpenModel and Playground that says what the key says."""
    run, engine, offloading = command.run, command.run.engine, command.run.offloading
    if offloading is None:
        return
    entries = [entry for entry in engine.derivation(run.words).entries if not entry.words.isdisjoint(NO_OFFLOADING)]
    ability = engine.spec.get("kvCacheOffloading") or {}
    options = {engine.style.name(option) for option in ability.get("options") or ()}
    options |= {engine.style.name(arg) for entry in entries if entry.args for arg in entry.args(run.words)} - {""}
    multipliers = {engine.style.name(option) for option in ability.get("multipliedBy") or ()}
    variables = {str(variable["name"]) for entry in entries for variable in _variables(entry, run.words)}
    file, line, _ = offloading.origin.place
    for layer in command.user_layers:
        for i, token in enumerate(layer.args):
            option = token.partition("=")[0]
            if engine.style.name(token) in options:
                yield make_diagnostic("E373", layer.origin_of(i), given=option, file=file, line=line)
            elif engine.style.name(token) in multipliers:
                what = f"would keep {offloading.memory} of KV cache for each of the engines that {option} runs"
                hint = f"set data under spec.parallelism, or leave kvCacheOffloading in line {line} of {file} out"
                yield make_diagnostic("E372", layer.origin_of(i), backend=engine.runtime.name, what=what, hint=hint)
    for env in engine_process.env_layers(run)[-2:]:
        for i, variable in enumerate(env.value):
            if (name := str(variable.get("name"))) in variables:
                yield make_diagnostic("E373", env.origin.at(i, "name"), given=name, file=file, line=line)


def _variables(entry: DerivedEntry, words: Words) -> Sequence[Mapping[str, object]]:
    variables = entry.envs(words) if entry.envs else ()
    return variables if isinstance(variables, list) else ()


@rule(of=EngineProcess, when=lambda process: process.run.offloading)
def unbounded_volumes(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for each empty volume whose size nothing keeps the engine's files below."""
    run = command.run
    if run.offloading is None or any(
        "KVOffloadDiskShare" in entry.words for entry in run.engine.derivation(run.words).entries
    ):
        return
    for tier in run.offloading.tiers:
        if tier.size:
            size = text_at(tier.source, "emptyDir", "sizeLimit")
            yield make_diagnostic("W370", tier.origin.at("emptyDir"), backend=run.engine.runtime.name, size=size)


@rule(of=PlannedPod, when=lambda planned: planned.run.offloading)
def overlapping_folders(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for each folder of KV cache that another mount is in the way of."""
    tiers = planned.run.offloading.tiers if planned.run.offloading else ()
    own = {tier.volume for tier in tiers}
    mounts = planned.pod.containers[0].volume_mounts
    others = [str(mount["mountPath"]).rstrip("/") for mount in mounts if mount["name"] not in own]
    for tier in tiers:
        for path in others:
            if f"{path}/".startswith(f"{tier.path}/") or f"{tier.path}/".startswith(f"{path}/"):
                what = f"{tier.path} and {path} would be mounted one over the other"
                hint = "take another path, such as /mnt/kv-cache"
                yield make_diagnostic("E299", tier.origin.at("path"), what=what, hint=hint)
