"""What is said about the BackendRuntime of an app, and about the names that its engine knows."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.handwritten_command import table_entry, usual_port
from renderer.kubernetes.variable_references import plain_variables
from renderer.kubernetes.wellknown import PORT
from renderer.resolve import names
from renderer.resolve.engine import ports
from renderer.resolve.rules.adapters import not_loaded
from renderer.resolve.rules.versions import refused_by_version
from renderer.resolve.workload import host_groups
from renderer.resolve.workload.engine_run import BACKEND, AppEngine, EngineRun, is_asked_directly, served_name_origin
from renderer.resolve.workload.handwritten_pod import runtime_command
from renderer.resolve.workload.planned_pod import PlannedPod


@rule(of=AppEngine, when=lambda choice: choice.engine.spec.get("notice"))
def notice(choice: AppEngine) -> Iterator[Diagnostic]:
    """What the runtime says to all who choose it."""
    app, text = choice.base.app, choice.engine.spec["notice"]
    origin = app.origin(*BACKEND, "backendName") if "backendName" in choice.backend_config else app.origin("spec")
    yield make_diagnostic("W230", origin, backend=choice.engine.runtime.name, notice=" ".join(text.split()))


@rule(of=EngineRun)
def unfit_name(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for each served name that the engine cannot have."""
    engine = run.engine
    for name, name_in_engine, model in _named_mains(run):
        keeps_name = engine.templated and name_in_engine == name
        if keeps_name and (hint := names.served_name_hint(engine.spec, name)):
            origin = served_name_origin(run.base.app, model)
            yield make_diagnostic("E414", origin, name=name, backend=engine.runtime.name, hint=hint)


def _named_mains(run: EngineRun) -> Iterator[tuple[str, str, OpenModel]]:
    """Each main model with its public name and the engine's."""
    yield run.served_name, run.name_in_engine, run.base.claim.main
    yield from ((main.name, main.name_in_engine, main.claimed.model) for main in run.mains[1:])


@rule(of=EngineRun, when=lambda run: run.name_in_engine != run.served_name or run.mains, after=not_loaded)
def unreachable_name(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning for each served name that neither the engine nor a route knows."""
    app = run.base.app
    if not (run.engine.templated or app.spec.get("servedModelName")) or not is_asked_directly(run):
        return
    for name, name_in_engine, model in _named_mains(run):
        if name != name_in_engine and ("servedModelName" in app.spec or "servedModelName" in model.spec):
            origin = served_name_origin(app, model)
            yield make_diagnostic("W233", origin, backend=run.engine.runtime.name, name=name_in_engine)


@rule(of=EngineRun, when=lambda run: "service" in run.base.app.spec, after=refused_by_version)
def unfit_port(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a port on which the engine cannot listen, or which nobody tells it."""
    app, number = run.base.app, ports.request_port(run.base.app)
    if number == PORT or not run.engine.templated:
        return
    others = host_groups.supervisor_ports(run.multi_host, run.words)
    if app.role:
        why, hint = "prefill and decode answer on the ports of their pool", "leave enginePort out"
    elif ranks := {port.number for port in host_groups.rank_ports(run.multi_host, run.words, number)} & others:
        why, hint = f"the supervisor of its ranks uses {min(ranks)}", "choose a port further below it, or above it"
    else:
        return
    origin = app.origin("spec", "service", "enginePort")
    yield make_diagnostic("E427", origin, backend=run.engine.runtime.name, port=number, why=why, hint=hint)


@rule(of=PlannedPod, when=lambda planned: not planned.run.engine.templated and "service" in planned.app.spec)
def port_of_command(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for a port that the command line of a BackendRuntime without `spec.engine` does not say."""
    number, command = ports.request_port(planned.app), runtime_command(planned)
    variables = plain_variables({"env": [*planned.pod.containers[0].env]})
    usual = usual_port(table_entry(command.backend), variables, is_own_image=not command.program)
    port = command.port if command.ports else usual
    if number in (PORT, port):
        return
    why = f"its command line says {f'port {port}' if port else 'no port'}, and it has no spec.engine"
    hint = "write the port into its command line too, or leave enginePort out"
    origin = planned.app.origin("spec", "service", "enginePort")
    yield make_diagnostic("E427", origin, backend=planned.run.engine.runtime.name, port=number, why=why, hint=hint)
