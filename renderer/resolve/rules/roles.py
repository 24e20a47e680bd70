"""What does not go with the roles prefill and decode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from renderer.diagnostics import Diagnostic, make_diagnostic, quoted, rule
from renderer.engines.given_options import written_options
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import map_at, texts_at
from renderer.resolve.engine.disaggregation import KEY, ability, flavors_origin, place_of
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.gateway.task_routes import app_mode
from renderer.resolve.rules.parallelism import no_form
from renderer.resolve.workload import engine_process
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import EngineRun

_ROLES = "gateway: {mode: pool} and disaggregation: {prefill: {replicas: 1}, decode: {replicas: 1}} in spec"


@rule(of=EngineRun, when=lambda run: run.base.app.role, gate=True, after=no_form)
def without_roles(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for an engine that knows no roles."""
    if not ability(run.engine):
        runtimes = run.base.context.inputs.runtimes
        able = [name for name, runtime in runtimes.items() if "disaggregation" in (runtime.spec.get("engine") or {})]
        origin, hint = run.base.app.origin(*KEY, key=True), f"backends that can: {quoted(able)}"
        yield make_diagnostic("E377", origin, backend=run.engine.runtime.name, what="does not support roles", hint=hint)


@rule(of=EngineRun, when=lambda run: run.base.app.role, after=without_roles)
def other_accelerators(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for accelerators on which the engine hands no KV cache over."""
    vendor, app = run.size.accelerator.vendor, run.base.app
    vendors = ability(run.engine).get("accelerators") or [vendor]
    if vendor not in vendors:
        what = f"transfers no KV cache {place_of(vendor)}"
        names = ["one without accelerators" if vendor == "none" else f"a flavor of {vendor}" for vendor in vendors]
        hint = f"take {' or '.join(names)}"
        yield make_diagnostic("E377", flavors_origin(app), backend=run.engine.runtime.name, what=what, hint=hint)


@cache
def _half_options(backend: str) -> frozenset[str]:
    """The options with which an engine may do one part of each request."""
    return frozenset(map_at(table_entry(backend), "halves"))


def _may_be_half(command: EngineProcess) -> bool:
    halves = _half_options(command.run.engine.runtime.name)
    return bool(halves) and any(name.partition(".")[0] in halves for name in command.user_options)


@rule(of=EngineProcess, when=_may_be_half)
def half_alone(command: EngineProcess) -> Iterator[Diagnostic]:
    """A warning for each option with which the engine does one part of each request, where no role says so and a
    gateway sends it whole ones.
    """
    app, engine, context = command.app, command.run.engine, command.run.base.context
    if app.role or app_mode(context.inputs, app, gateway_settings(context, app.namespace)) == "off":
        return
    halves, handed_over = map_at(table_entry(engine.runtime.name), "halves"), ability(engine).get("options") or ()
    names = {name for name in command.user_options if name.partition(".")[0] in halves}
    for option in written_options(engine.style, command.user_layers, names):
        spelled, name = option.text.partition("=")[0], option.name.partition(".")[0]
        values, words = texts_at(halves, name), {"", *re.findall(r"\w+", option.value)}
        if (value := next((value for value in values if value in words), None)) is not None:
            what = f"{spelled} {value}".strip()
            hint = f"leave all of {name} out" if option.name != name else "leave it out"
            if name in handed_over:
                hint += f", or write {_ROLES} in its place"
            yield make_diagnostic("W888", option.origin, what=what, hint=hint)


@rule(of=EngineProcess, when=lambda command: command.app.role)
def options_of_users(command: EngineProcess) -> Iterator[Diagnostic]:
    """An error for each option and variable of OpenModel and Playground, with its podTemplate, that says what the
    preset says of the roles.
    """
    app, engine = command.app, command.run.engine
    preset_options = ability(engine).get("options") or ()
    options = {engine.style.name(option) for option in preset_options if option.startswith("-")}
    file, line, _ = app.origin(*KEY).place
    for layer in command.user_layers:
        for i, token in enumerate(layer.args):
            if engine.style.name(token) in options:
                yield make_diagnostic("E383", layer.origin_of(i), given=token.partition("=")[0], file=file, line=line)
    for env in [*engine_process.env_layers(command.run)[-2:], engine_process.patched_env(app)]:
        for i, variable in enumerate(env.value):
            if (name := str(variable.get("name"))) in preset_options:
                yield make_diagnostic("E383", env.origin.at(i, "name"), given=name, file=file, line=line)
