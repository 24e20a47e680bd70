"""What does not go with the LoRA adapters of a claim."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import template
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.resolve.engine.adapters import asked_name, can_load
from renderer.resolve.rules.roles import without_roles
from renderer.resolve.weight_sources import has_usual_revision
from renderer.resolve.workload.engine_run import EngineRun, served_name_origin

_MARKS = "=,"  # which a name cannot hold where the value of an option is name=path
_FIRST = "-{"  # with which it cannot begin


def _has_adapters(run: EngineRun) -> object:
    """Whether the app claims adapters."""
    return run.base.claim.adapters


@rule(of=EngineRun, when=_has_adapters, gate=True, after=without_roles)
def not_loaded(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for adapters of an engine that loads none, which names engines that do."""
    if run.base.claim.adapters and not can_load(run.engine):
        first = next(claimed for claimed in run.base.claim.models if claimed.role == "lora")
        able = sorted(
            name
            for name, runtime in run.base.context.inputs.runtimes.items()
            if ((runtime.spec.get("engine") or {}).get("adapters") or {}).get("options")
        )
        params = {"backend": run.engine.runtime.name, "able": " or ".join(able)}
        yield make_diagnostic("E366", run.base.app.origin(*first.path), **params)


@rule(of=EngineRun, when=_has_adapters, after=not_loaded)
def other_revisions(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for each adapter of another revision than the usual one that the engine loads by itself."""
    for claimed, weights in zip(run.base.claim.models, run.base.weights, strict=True):
        by_address = run.base.skip_loaders and weights.kind in ("hub", "objectStore")
        if claimed.role == "lora" and by_address and not has_usual_revision(weights):
            yield make_diagnostic("E368", weights.origin, name=claimed.model.name)


@rule(of=EngineRun, when=_has_adapters, after=not_loaded)
def confusable_names(run: EngineRun) -> Iterator[Diagnostic]:
    """Errors for names that requests or the command line cannot tell apart."""
    engine, adapters, served = run.engine, run.adapters, run.served_name
    if not adapters:
        return
    names = {served: "the main model"}
    for adapter in adapters:
        if adapter.name in names:
            words = {"what": "the adapter", "other": names[adapter.name], "name": adapter.name}
            hint = "give the adapter's OpenModel another servedModelName"
            yield make_diagnostic("E360", adapter.origin, **words, hint=hint)
        names.setdefault(adapter.name, f"the adapter '{adapter.model}'")
        marks = [mark for mark in _MARKS if mark in adapter.name]
        if mark := next(iter(marks), adapter.name[0] if adapter.name[0] in _FIRST else ""):
            params = {"name": adapter.name, "mark": mark, "why": "the engine reads name=path there"}
            yield make_diagnostic(
                "E367", adapter.origin, **params, hint="give the adapter's OpenModel another servedModelName"
            )
    name_template = (engine.spec.get("adapters") or {}).get("asked", "")
    for separator in template.split_template(name_template)[::2]:
        if separator and separator in served:
            example = asked_name(engine.spec["adapters"], "MODEL", "ADAPTER")
            params = {"name": served, "mark": separator, "why": f"requests name adapters as {example}"}
            yield make_diagnostic(
                "E367",
                served_name_origin(run.base.app, run.base.claim.main),
                **params,
                hint="give the Playground another servedModelName",
            )
