"""Whether a chat template can be read and parsed, and whether the engine has a use for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.resolve.engine.chat_template import FIELD
from renderer.resolve.rules.files import given_by_users
from renderer.resolve.rules.tasks import missing_task
from renderer.resolve.rules.weights import join_alternatives, other_engines
from renderer.resolve.tasks import CHAT
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.planned_pod import PlannedPod


def _has_template(run: EngineRun) -> object:
    return run.chat_template


@rule(of=EngineRun, when=_has_template)
def unusable_template(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a template that cannot be read, or that no engine could parse."""
    if not (run.chat_template and (file := run.chat_template.file)):
        return
    if file.unread:
        yield make_diagnostic("E835", run.chat_template.source, path=file.path, what=file.unread, hint=file.hint)
    elif file.fault:
        yield make_diagnostic("E836", run.chat_template.source, path=file.path, what=file.fault)


@rule(of=EngineRun, when=_has_template, after=missing_task)
def idle_template(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a template on an engine that takes none, or takes none for models of that task."""
    if run.chat_template is None:
        return
    engine, app, task = run.engine, run.base.app, run.base.claim.task
    name, origin = engine.runtime.name, run.chat_template.origin
    if FIELD not in engine.spec:
        words = {"app": f"{app.kind} {app.namespace}/{app.label}", "backend": name, "what": "chat template"}
        yield make_diagnostic("E942", origin, **words, hint=_hint_of_others(run))
    elif task not in (engine.spec[FIELD].get("tasks") or (CHAT,)):
        yield make_diagnostic("E837", origin, backend=name, task=task, model=run.base.claim.main.name)


def _hint_of_others(run: EngineRun) -> str:
    """Why the engine takes none, and which others do."""
    inputs, app, engine, weights = run.base.context.inputs, run.base.app, run.engine, run.base.weights[0]
    others = other_engines(inputs, app, engine.runtime.name, lambda other: FIELD in other)
    specs = {name: inputs.runtimes[name].spec["engine"] for name in others}
    able = [name for name, spec in specs.items() if weights.kind in spec.get("sources", [weights.kind])]
    able = [name for name in able if weights.format in specs[name].get("formats", [weights.format])]
    reason = (engine.spec.get("unsupported") or {}).get(FIELD)
    remedy = "remove it"
    if able:
        remedy = f"set backendName: {join_alternatives(able)}"
    elif others:
        remedy += f"; engines that take one, with a model from elsewhere: {join_alternatives(others)}"
    return "; ".join(filter(None, [reason, remedy]))


@rule(of=PlannedPod, when=lambda planned: planned.run.chat_template or planned.run.base.weights[0].projector)
def rival_files(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for each option and variable of users that says a projector beside that of the model's source, or a chat
    template beside that of the app or its model.
    """
    run, spec = planned.run, planned.run.engine.spec
    if run.base.weights[0].projector:
        words = {"what": "projector", "key": "source.projector", "owner": run.base.claim.main.name}
        yield from _rivals(planned, spec.get("projector") or (), words)
    if run.chat_template:
        owner = planned.app.label if FIELD in planned.app.spec else run.base.claim.main.name
        words = {"what": "chat template", "key": FIELD, "owner": owner}
        yield from _rivals(planned, (spec.get("chatTemplate") or {}).get("options") or (), words)


def _rivals(planned: PlannedPod, names: Sequence[str], words: dict[str, str]) -> Iterator[Diagnostic]:
    for name, _, origin in given_by_users(planned, names):
        yield make_diagnostic("E943", origin, option=name, **words)


@rule(of=PlannedPod, when=lambda planned: planned.setup.volumes and planned.is_patched())
def replaced_files(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for a volume of the podTemplate in the place of the one with the engine's files."""
    volumes = [
        volume for volume in planned.setup.volumes if "configMap" in volume and volume not in planned.pod.volumes
    ]
    replaced = [text_at(volume, "name") for volume in volumes]
    for i, volume in enumerate(maps_at(planned.app.spec, "podTemplate", "spec", "volumes") if replaced else ()):
        if (name := text_at(volume, "name")) in replaced:
            what = f"the volume '{name}' has files of the engine, so it cannot be another one"
            origin = planned.app.origin("spec", "podTemplate", "spec", "volumes", i, "name")
            yield make_diagnostic("E299", origin, what=what, hint="give this volume another name")
