"""What is said about the BackendRuntime of an app, and about the names that its engine knows."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.resolve import names
from renderer.resolve.workload.engine_run import BACKEND, AppEngine, EngineRun, client_model_name, served_name_origin


def notice(choice: AppEngine) -> Iterator[Diagnostic]:
    """What the runtime says to all who choose it."""
    if text := choice.engine.spec.get("notice"):
        app = choice.base.app
        origin = app.origin(*BACKEND, "backendName") if "backendName" in choice.backend_config else app.origin("spec")
        yield make_diagnostic("W230", origin, backend=choice.engine.runtime.name, notice=" ".join(text.split()))


def unfit_name(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a served name that the engine cannot have."""
    name, engine = run.served_name, run.engine
    keeps_name = engine.templated and run.name_in_engine == name
    if keeps_name and (hint := names.served_name_hint(engine.spec, name)):
        origin = served_name_origin(run.base.app, run.base.claim.main)
        yield make_diagnostic("E414", origin, name=name, backend=engine.runtime.name, hint=hint)


def unreachable_name(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning for a served name that neither the engine nor a route knows."""
    app, main = run.base.app, run.base.claim.main
    if not (run.engine.templated or app.spec.get("servedModelName")) or client_model_name(run) == run.served_name:
        return
    if "servedModelName" in app.spec or "servedModelName" in main.spec:
        origin = served_name_origin(app, main)
        yield make_diagnostic("W233", origin, backend=run.engine.runtime.name, name=run.name_in_engine)
