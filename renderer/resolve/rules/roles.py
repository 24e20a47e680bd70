"""What does not go with the roles prefill and decode."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, quoted, rule
from renderer.resolve.engine.disaggregation import KEY, ability, flavors_origin, place_of
from renderer.resolve.rules.parallelism import no_form
from renderer.resolve.workload import engine_process
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import EngineRun


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
