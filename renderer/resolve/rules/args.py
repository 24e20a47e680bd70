"""Whether the arguments and variables of OpenModel and Playground go with the rest of the pod: reserved options, the
preset's files, the options of the engine's version, and the accelerators.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, Origin, ReplacingHint, listed, make_diagnostic, meant_name, rule
from renderer.engines.dialect import ArgLayer, Dialect, ReservedOption
from renderer.engines.given_options import (
    GivenNumber,
    json_map,
    last_given_number,
    last_number,
    value_or_key,
    whole_number,
    written_options,
)
from renderer.engines.handwritten_command import table_entry
from renderer.engines.longer_context import beyond_context
from renderer.engines.option_lists import completed_tag, known_versions, list_path
from renderer.engines.rules.accelerators import undivided_heads
from renderer.engines.version_order import version_key
from renderer.kubernetes.json_values import map_at, maps_at, number_at, texts_at
from renderer.kubernetes.variable_references import referenced_names
from renderer.resolve.engine.backend_runtime import Engine, RecommendedConfig, model_settings
from renderer.resolve.engine.preset_args import refused_preset_options
from renderer.resolve.model_cache import FLOATING_REVISIONS
from renderer.resolve.pod import pod_template
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import BACKEND, EngineRun
from renderer.resolve.workload.planned_pod import PlannedPod
from renderer.text import patterns

_GLOB = frozenset("*?[")
_INJECTED = ("LWS_",)  # variables that a webhook adds to pods, by how they begin
_LEAST_CHAT = 1024  # tokens, below which a prompt with its answer is cut off
_USUAL_CHAT = 4096
_ADDRESS = r"(?:https?://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:/]*):(?P<port>\d{1,5})/?"
_REPOSITORY = r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(?<!\.gguf)(?::[\w.-]+)?"  # on a hub
_BUILD = r"(?:.*-)?([a-z]?)(\d{4,})"
_LOOPBACK = r"127(\.\d+){3}|localhost|::1"


@rule(of=EngineProcess, when=lambda command: command.run.engine.reserved_env)
def reserved_variables(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error for each variable of users that the renderer sets."""
    for layer in command.user_env:
        yield from _reserved_variables(command.run.engine, layer.value, layer.origin)


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def reserved_variables_of_patch(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for each variable of the podTemplate that the renderer sets."""
    index, runner = pod_template.runner_patch(planned.app.spec)
    origin = planned.app.origin("spec", "podTemplate", "spec", "containers", index, "env")
    yield from _reserved_variables(planned.run.engine, maps_at(runner, "env"), origin)


def _reserved_variables(
    engine: Engine, entries: Sequence[Mapping[str, object]], origin: Origin
) -> Iterator[Diagnostic]:
    for i, entry in enumerate(entries):
        if (name := str(entry.get("name"))) not in engine.reserved_env:
            continue
        hint = engine.reserved_env[name]
        address = re.fullmatch(_ADDRESS, str(entry.get("value"))) if name in engine.address_variables else None
        if address and address["port"] == str(engine.constant["Port"]):
            if not re.fullmatch(_LOOPBACK, address["host"].strip("[]")):
                continue
            hint = "probes and the Service connect to the IP address of the pod; leave it out"
        yield make_diagnostic("E406", origin.at(i, "name"), option=name, hint=hint)


@rule(of=EngineProcess, when=lambda command: command.run.engine.style.splits)
def split_paths(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error for each argument of the preset that a shell would split or expand."""
    base = command.run.base
    origins = [
        (weights.path, base.app.origin(*claimed.path) if claimed.model.ours else weights.origin)
        for claimed, weights in zip(base.claim.models, base.weights, strict=True)
    ]
    for arg in (arg for layer in command.preset_layers for arg in layer.args):
        if arg and (arg.split() != [arg] or not _GLOB.isdisjoint(arg)):
            error_origin = next((origin for path, origin in origins if path == arg), origins[0][1])
            yield make_diagnostic("E436", error_origin, arg=arg)


@rule(of=EngineProcess, when=lambda command: command.run.engine.is_other_version)
def refused_options_of_preset(command: EngineProcess) -> Iterator[Diagnostic]:
    """Arguments of the preset that this version of the engine refuses, as far as they are in the command line."""
    rules, origin = command.option_rules, command.run.version_layers[-1].origin
    if rules:
        for option, hint in refused_preset_options(rules, command.layers, len(command.preset_layers)):
            yield make_diagnostic(rules.code("E445"), origin, of=rules.engine, given=option, hint=hint)


@rule(of=EngineProcess)
def unread_arguments(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error for arguments of an engine that takes none; a warning where nobody knows the options of its version."""
    run, engine, app = command.run, command.run.engine, command.app
    if not engine.style.parses_options:
        if engine.templated and run.backend_config.get("args") and "options" in engine.spec:
            from renderer.engines.option_meanings import find_variables  # few runs need it

            prefix = (engine.spec.get("names") or {}).get("prefix", "")
            variables = find_variables(run.backend_config["args"], prefix)
            instead = "".join([f"; '{option}' is {variable} there" for option, variable in variables.items()])
            place = app.origin(*BACKEND, "args")
            yield make_diagnostic("E438", place, backend=engine.runtime.name, instead=instead)
        return
    names_version = "version" in run.backend_config and ":" not in run.tag
    if command.option_rules is None and (run.version or names_version) and list_path(engine.spec):
        layer = run.version_layers[-1]
        origin = app.origin(*BACKEND, "backendName") if layer in run.size.versions else layer.origin
        version = run.version or run.tag
        tag = completed_tag(run.base.context.inputs.option_files, engine.runtime, version) or _tag_of_build(run)
        hint = "compare them with that version's documentation, or use a version that llmaz knows"
        if tag:
            is_version = origin.path[-1:] == ("version",)
            hint = ReplacingHint(f"write version: {tag}", version, tag) if is_version else meant_name(version, tag)
        yield make_diagnostic("W231", origin, backend=engine.runtime.name, version=version, hint=hint)


def _tag_of_build(run: EngineRun) -> str:
    """The preset's tag for the pod, with the build that a version names by its number alone, as 11434 or b11434; ''
    where it names none, where versions of the engine are no builds, and for one that is older than all lists.
    """
    own = run.size.variant.get("version", run.engine.runtime.spec["version"])
    version = run.engine.tag_version(own)
    own_build, named = re.fullmatch(_BUILD, version), re.fullmatch(_BUILD, run.tag)
    if not own_build or not named:
        return ""
    build = own_build[1] + named[2]
    first = known_versions(run.base.context.inputs.option_files, run.engine.runtime)[:1]
    return own.replace(version, build) if first and version_key(build) >= version_key(first[0]) else ""


@rule(of=EngineProcess)
def left_out_of_model(command: EngineProcess) -> Iterator[Diagnostic]:
    """A note which arguments of a model's preset are left out, since the version of the engine does not have them, and
    nobody gives it something else instead.
    """
    run, rules = command.run, command.option_rules
    if not command.left_out or rules is None:
        return
    names = {text: run.engine.style.name(text.partition(" ")[0]) for text in command.left_out}
    left_out = [text for text, name in names.items() if name not in command.user_options]
    if left_out:
        words = {"of": rules.engine, "model": run.base.claim.main.name, "left_out": ", ".join(left_out)}
        hint = "take another version, or write what this one has instead into backendRuntimeConfig.args"
        yield make_diagnostic("N450", run.version_layers[-1].origin, **words, hint=hint)


def _has_own_arguments(command: EngineProcess) -> object:
    """Whether OpenModel or Playground write arguments."""
    return command.user_layers


@rule(of=EngineProcess, when=_has_own_arguments)
def code_of_a_branch(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for each option that runs code of a repository on a hub, where no fixed state of it is named."""
    engine, base = command.run.engine, command.run.base
    options = (engine.spec.get("options") or {}).get("runsCode") or ()
    if command.user_options.isdisjoint(options):
        return
    for model, weights in zip(base.claim.models, base.weights, strict=True):
        if not weights.hub or weights.revision not in FLOATING_REVISIONS or model.model.ours:
            continue
        for layer in command.user_layers:
            for i, token in enumerate(layer.args):
                if engine.style.name(token) in options:
                    words = {"option": token, "model": model.model.name, "revision": f"revision '{weights.revision}'"}
                    yield make_diagnostic("W419", layer.origin_of(i), **words)
        return


@rule(of=EngineProcess, when=_has_own_arguments)
def conflicting_options(command: EngineProcess) -> Iterator[Diagnostic]:
    """Arguments of users that conflict with what the renderer or the preset sets."""
    engine, layers, draft = command.run.engine, command.user_layers, command.run.base.claim.draft
    if not engine.style.parses_options:
        return
    gives_reserved = not command.user_options.isdisjoint(engine.reserved)
    whole_options: set[str] = set()
    for layer in layers:
        if gives_reserved:
            yield from reserved_options(engine.style, engine.reserved, layer.args, layer.origin)
        for i, token in enumerate(layer.args) if draft and engine.draft_files else ():
            if path := engine.draft_files.get(engine.style.name(token)):
                yield make_diagnostic("W234", layer.origin_of(i), option=token.partition("=")[0], path=path)
        if whole_options:
            yield from _lost_keys(engine, layer, whole_options)
        if engine.style.dotted and layer is not layers[-1]:
            whole_options |= {name for token in layer.args if (name := engine.style.name(token)) and "." not in name}


def reserved_options(
    style: Dialect, rules: Mapping[str, Sequence[ReservedOption]], args: Sequence[str], origin: Origin
) -> Iterator[Diagnostic]:
    """An error or a warning for each reserved option. `rules`: by the option's name, of which the first one counts that
    is about its value.
    """
    warned: set[str] = set()  # of several options for one thing, the first is told
    for i, token in enumerate(args):
        if not (rules_of_option := rules.get(style.name(token))):
            continue
        has_value = "=" in token and style.kind != "exact"
        value = token.partition("=")[2] if has_value else "".join(args[i + 1 : i + 2])
        rule = next((rule for rule in rules_of_option if _is_about(rule, value)), None)
        if rule is None or rule.reason in warned:
            continue
        option = token.partition("=")[0] + (f" {value}" if rule.values else "")
        if rule.warns:
            why, _, hint = rule.reason.partition("; ")
            warned |= {rule.reason} if hint else set()
            yield make_diagnostic("W235", origin.at(i), option=option, why=why, hint=hint)
        else:
            yield make_diagnostic("E406", origin.at(i), option=option, hint=rule.reason)


def _is_about(rule: ReservedOption, value: str) -> bool:
    """Whether a rule is about an option with this value."""
    return not rule.values or any(patterns.fits(value.strip("[]").lower(), glob) for glob in rule.values)


def _lost_keys(engine: Engine, layer: ArgLayer, whole_options: set[str]) -> Iterator[Diagnostic]:
    """A warning for the first key of each option that an earlier layer gives as a whole, whose value is then lost."""
    reported: set[str] = set()
    for i, token in enumerate(layer.args):
        keyed = token[:1] == "-" and "." in token and engine.style.head(token)[1]
        name = engine.style.name(token).partition(".")[0] if keyed else ""
        if name in whole_options - reported:
            reported.add(name)
            option = token.partition("=")[0]
            yield make_diagnostic("W232", layer.origin_of(i), of=engine.runtime.name, option=option, other=name)


@cache
def _whole_context(backend: str) -> frozenset[str]:
    """The options with which each request may take the whole context."""
    return frozenset(texts_at(table_entry(backend), "wholeContext"))


@rule(of=EngineProcess, when=_has_own_arguments)
def shared_tokens(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for a number of tokens that concurrent requests share, given without the number of requests, or which
    leaves each of them fewer than the model's `maxModelLen`, or fewer than a chat needs where that says nothing.
    """
    engine, layers, slots = command.run.engine, command.user_layers, command.run.slots
    shared = engine.shared_tokens
    if not engine.style.parses_options or shared is None or slots < 2:
        return
    last = last_given_number(engine.style, layers, shared.options)
    if last is None or not command.user_options.isdisjoint(_whole_context(engine.runtime.name)):
        return
    tokens, option = last.value, last.option
    main = command.run.base.claim.main
    declared = 0 if main.ours else int(model_settings(main, engine).get("maxModelLen") or 0)
    is_short = 0 < tokens // slots < declared
    longest = int((main.spec.get("facts") or {}).get("contextLength") or 0)
    is_tiny = not declared and command.run.base.claim.task == "chat" and 0 < tokens // slots < min(longest, _LEAST_CHAT)
    if shared.slots_option in command.user_options and not (is_short or is_tiny):
        return
    option_list = engine.option_lists.get(engine.version)
    has_option = option_list is None or shared.per_request_option in option_list.options
    sharing_hint = f"add '{shared.slots_option} {slots}' if they are to share"
    if is_tiny:
        declared = min(longest, _USUAL_CHAT)
    if is_short or is_tiny:
        longer = f"{shared.per_request_option} {declared}" if has_option else f"{option} {declared * slots}"
        hint = f"write '{longer}' in place of it, or lower {shared.slots_option if is_tiny else 'maxModelLen'}"
    elif shared.per_request_option and has_option:
        amount = f" {tokens}' for {tokens} tokens each" if tokens else "' with the number of tokens for each"
        hint = f"write '{shared.per_request_option}{amount}, or {sharing_hint}"
    else:
        amount = f" {tokens * slots}' and '{shared.slots_option} {slots}' for {tokens} tokens each"
        hint = f"write '{option}{amount}" if tokens else sharing_hint
    text = f"the {tokens} tokens of '{option}'" if tokens else f"the model's whole context, which '{option} 0' asks for"
    share = f", so each gets {tokens // slots}" if tokens else ""
    share += f", fewer than the {declared} of maxModelLen" if is_short else ""
    share += f" of the {longest} that the model takes" if is_tiny else ""
    yield make_diagnostic("W249", last.origin, slots=slots, tokens=text, share=share, hint=hint)


@rule(of=EngineProcess, when=lambda command: command.user_layers and not command.app.spec.get("podTemplate"))
def short_grace(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning where the grace period, which no podTemplate may change, is shorter than the hook's sleep and the
    engine's drain timeout together.
    """
    engine = command.run.engine
    yield from _short_grace(command, engine.grace_seconds, engine.constants.drain_sleep, None)


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def short_grace_of_patch(planned: PlannedPod) -> Iterator[Diagnostic]:
    """The same where a podTemplate may set the grace period or the hook."""
    engine, runner = planned.run.engine, planned.pod.containers[0]
    sleep = number_at(runner.lifecycle, "preStop", "sleep", "seconds", default=engine.constants.drain_sleep)
    origin = planned.app.origin("spec", "podTemplate", "spec", "terminationGracePeriodSeconds")
    yield from _short_grace(
        planned.command, planned.pod.termination_grace_period_seconds or engine.grace_seconds, int(sleep), origin
    )


def _short_grace(command: EngineProcess, grace: int, sleep: int, patch_origin: Origin | None) -> Iterator[Diagnostic]:
    engine, layers = command.run.engine, command.user_layers
    option: str = (engine.spec.get("drain") or {}).get("option", "")
    if not option or not (patch_origin or option in command.user_options):
        return
    seconds = last_number(engine.style, command.args, frozenset([option]))
    if seconds is not None and sleep <= grace < seconds + sleep:
        last = last_given_number(engine.style, layers, frozenset([option]))
        if origin := last.origin if last else patch_origin:
            params = {"option": option, "seconds": seconds, "sleep": sleep, "grace": grace}
            yield make_diagnostic("W228", origin, **params, least=seconds + sleep + 10)


@rule(of=EngineProcess, when=_has_own_arguments)
def refused_sizes(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error for each argument that shares out accelerators, where `spec.parallelism` or the flavor does it."""
    engine = command.run.engine
    if "parallelism" not in command.app.spec and command.run.size.parallelism.hosts == 1:
        return
    refused = engine.parallel_options | engine.uncountable_options
    for layer in command.user_layers:
        for i, token in enumerate(layer.args):
            if engine.style.name(token) in refused:
                yield make_diagnostic("E343", layer.origin_of(i), option=token.partition("=")[0])


@rule(
    of=EngineProcess,
    when=lambda command: command.run.base.claim.main.spec.get("facts") and command.run.engine.templated,
)
def against_facts(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning where attention heads are not divisible by the tensor parallel size, or the context exceeds the model's
    `facts.contextLength`; an error about heads where the engine refuses them, and the facts are of a preset of ours.
    """
    run, engine, layers, args = command.run, command.run.engine, command.user_layers, command.args
    accelerator, parallelism = run.size.accelerator, run.size.parallelism
    placement, model = run.base.placement, run.base.claim.main
    facts, options = model.spec["facts"], command.user_options
    flavor = placement.origins(model)
    attention = map_at(facts, "attention") if accelerator.number > 1 or parallelism.hosts > 1 else {}
    size: int | None = parallelism.tensor
    if attention and not options.isdisjoint(engine.parallel_options):
        size = last_number(engine.style, args, engine.size_options)
    if size and (words := undivided_heads(attention, size)):
        last = last_given_number(engine.style, layers, engine.size_options)
        if last:
            origin: Origin | None = last.origin
        elif "tensor" in (command.app.spec.get("parallelism") or {}):
            origin = command.app.origin("spec", "parallelism", "tensor")
        else:
            size_path = ("params", "TP") if "TP" in placement.params else ("limits", accelerator.resource)
            origin = flavor.at(*size_path) if flavor else None
        if origin:
            if model.ours and engine.spec.get("dividesHeads"):
                yield make_diagnostic("E464", origin, engine=engine.runtime.name, **words)
            else:
                yield make_diagnostic("W226", origin, **words)
    longest = facts.get("contextLength") or math.inf
    flavor_length = whole_number(placement.params.get("MAX-MODEL-LEN", ""))
    stated = last_given_number(engine.style, layers, engine.length_options)
    if stated is None and flavor and flavor_length is not None:
        stated = GivenNumber(flavor_length, "", flavor.at("params", "MAX-MODEL-LEN"))
    if stated is None and (length := model_settings(model, engine).get("maxModelLen")):
        origin = Origin(model.document, ("spec", "engines", engine.runtime.name, "maxModelLen"))
        stated = GivenNumber(length, "", origin)
    if stated and stated.value > longest:
        variables = [variable.get("name") for variable in command.env]
        if beyond := beyond_context(engine.runtime.name, args, variables, stated.value, longest):
            yield make_diagnostic("W227", stated.origin, **beyond)


@rule(of=EngineProcess, when=lambda command: command.run.config.drafts)
def unused_draft(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error where a config wants the path of a draft model and none is claimed: the argument is empty."""
    config, user = command.run.config, command.run.backend_config
    if not command.run.base.claim.draft and "" in command.args:
        origin = command.app.origin(*BACKEND, "configName") if "configName" in user else config.origin.at("args")
        yield make_diagnostic("E417", origin, name=config.spec["name"])


@rule(of=PlannedPod, when=lambda planned: planned.run.base.claim.draft)
def unopened_draft(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning where no text of the container names the draft model's path."""
    path, claim, command = planned.run.words["DraftModelPath"], planned.run.base.claim, planned.command
    if path:
        setup = planned.setup
        texts = (*planned.shell_command, *command.args, *command.env, *setup.config.values(), *setup.steps)
        if not any(str(path) in str(text) for text in texts):
            yield make_diagnostic(
                "W222", planned.app.origin(*claim.models[1].path), hint=_draft_hint(command, str(path))
            )


def _draft_hint(command: EngineProcess, path: str) -> str:
    """How the draft model's path gets into the arguments: by a config that names it, and no option of the user's that
    takes the place of the config's.
    """
    run = command.run
    for config in (run.config, *run.engine.configs.values()):
        if options := _options_with_draft(config, run, path):
            replacing = sorted(name for name in command.user_options if name.partition(".")[0] in options)
            steps = [f"use the config '{config.spec['name']}'"] if config is not run.config else []
            if replacing:
                steps.append(
                    f"leave {listed(replacing)} out of the arguments, in place of which the config has its own"
                )
            return f"{' and '.join(steps)}, or leave the draft out" if steps else "leave the draft out"
    return "leave the draft out"


def _options_with_draft(config: RecommendedConfig, run: EngineRun, path: str) -> set[str]:
    """The options of a config, without their keys, whose values name the draft model."""
    option, options = "", set()
    for arg in config.layer(run.words).args:
        option = run.engine.style.name(arg).partition(".")[0] if arg[:1] == "-" else option
        if path in arg:
            options.add(option)
    return options


@rule(of=PlannedPod, when=lambda planned: "$(" in " ".join(planned.command.args))
def unset_variables(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for an argument with `$(NAME)` of a variable that the container does not have: Kubernetes leaves
    it, so the engine gets these very characters.
    """
    runner = planned.pod.containers[0]
    names = {variable["name"] for variable in runner.env}
    for layer in planned.command.user_layers if "envFrom" not in runner.rest else ():
        for i, arg in enumerate(layer.args):
            for name in referenced_names(arg):
                if name not in names and not name.startswith(_INJECTED) and "_SERVICE_" not in name:
                    yield make_diagnostic("W849", layer.origin_of(i), name=name)


def _may_name_draft(planned: PlannedPod) -> object:
    """Whether users may name a second model beside one that a loader brings."""
    return planned.command.user_layers and planned.run.base.pod_needs.loads and not planned.run.base.claim.draft


@cache
def _draft_options(backend: str) -> tuple[list[str], frozenset[str]]:
    """The options for a draft model, or keys of them, and the names of these options."""
    options = texts_at(table_entry(backend), "draft")
    return options, frozenset([*options, *[option.partition(".")[0] for option in options]])


@rule(of=PlannedPod, when=_may_name_draft)
def unclaimed_draft(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for a repository on a hub in an option for the draft model, which nobody claims."""
    command, style = planned.command, planned.run.engine.style
    options, names = _draft_options(planned.run.engine.runtime.name)
    for written in written_options(style, command.user_layers, names) if names & command.user_options else ():
        values = (value_or_key({written.name: written.value}, option) for option in options)
        if repository := next((value for value in values if re.fullmatch(_REPOSITORY, value)), ""):
            words = {"option": written.text.partition("=")[0], "draft": repository}
            known = command.option_rules.keys().get(written.name) if command.option_rules else None
            keys = [key for key in json_map(written.value) if known is None or key in known.names]
            beside = [key for key in (f"{written.name}.{key}" for key in keys) if key not in options]
            rest = f"; its other keys stay, as {' and '.join(beside)}" if beside else ""
            yield make_diagnostic("W497", written.origin, main=planned.run.base.claim.main.name, rest=rest, **words)
