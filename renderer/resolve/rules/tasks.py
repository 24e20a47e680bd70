"""What is told about the task of a model: a text that is none, one that the engine lacks, options of another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, Origin, counted, make_diagnostic, rule
from renderer.engines.dialect import ArgLayer, Dialect
from renderer.resolve import tasks
from renderer.resolve.claims import ClaimedModel
from renderer.resolve.rules.weights import join_alternatives
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import EngineRun

_KIND = ("spec", "facts", "kind")
_AUTO = "auto"  # a value by which an engine finds out itself


def misspelt_task(model: OpenModel) -> Iterator[Diagnostic]:
    """A warning for a `facts.kind` that is a misspelt task."""
    kind = tasks.written_task(model)
    if kind and kind not in tasks.SCHEMAS and (near := tasks.meant_task(kind)):
        yield make_diagnostic("W910", Origin(model.document, _KIND), kind=kind, task=near)


def unknown_tasks(models: Sequence[OpenModel]) -> Iterator[Diagnostic]:
    """A note about texts that are no tasks, at the first one."""
    unknown = [model for model in models if (kind := tasks.written_task(model)) and kind not in tasks.SCHEMAS]
    unknown = [model for model in unknown if not tasks.meant_task(tasks.written_task(model))]
    if unknown:
        more = f", nor has what {counted(len(unknown) - 1, 'other model')} say" if len(unknown) > 1 else ""
        words = {"kind": tasks.written_task(unknown[0]), "more": more, "known": ", ".join(tasks.SCHEMAS)}
        yield make_diagnostic("N911", Origin(unknown[0].document, _KIND), **words)


def _lacks_task(run: EngineRun) -> bool:
    return bool(_unserved(run))


def _unserved(run: EngineRun) -> list[ClaimedModel]:
    """The main models whose task the engine lacks."""
    served, claim = run.engine.spec.get("tasks") or (), run.base.claim
    if not served or (claim.mains == 1 and claim.task in served):
        return []
    return [entry for entry in claim.served if tasks.task_of(entry.model) not in served]


@rule(of=EngineRun, when=_lacks_task, gate=True)
def missing_task(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for each model of a task that the engine lacks."""
    app, name = run.base.app, run.engine.runtime.name
    for entry in _unserved(run):
        main, task = entry.model, tasks.task_of(entry.model)
        origin = app.origin(*entry.path) if main.ours else Origin(main.document, _KIND)
        able = _able_engines(run, task)
        reason = (run.engine.spec.get("unsupported") or {}).get(task)
        other = f"set backendName: {join_alternatives(able)}" if able else "write a BackendRuntime for another engine"
        words = {"app": f"{app.kind} {app.namespace}/{app.label}", "backend": name, "model": main.name, "task": task}
        yield make_diagnostic("E461", origin, hint="; ".join(filter(None, [reason, other])), **words)


def _able_engines(run: EngineRun, task: str) -> list[str]:
    """The names of the other engines that serve this model: its task, its format, from where it is, on its flavor."""
    weights, runtimes, able = run.base.weights[0], run.base.context.inputs.runtimes, []
    accelerator, has_flavors = run.size.variant.get("accelerator"), run.base.placement.has_flavors
    for name in runtimes:
        spec = runtimes[name].spec.get("engine") or {}
        reads = weights.kind in (spec.get("sources") or ()) and weights.format in (spec.get("formats") or ())
        variants = [entry for entry in spec.get("variants") or () if entry["accelerator"] == accelerator]
        runs = any(has_flavors or entry.get("unflavored") for entry in variants)
        if name != run.engine.runtime.name and reads and runs and task in (spec.get("tasks") or ()):
            able.append(name)
    return able


@rule(of=EngineRun, when=lambda run: run.base.claim.draft, after=missing_task)
def idle_draft(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for a draft model beside one that writes no tokens."""
    claim = run.base.claim
    if claim.draft and (task := claim.task) not in tasks.GENERATING:
        words = {"draft": claim.models[1].model.name, "model": claim.main.name, "task": task}
        yield make_diagnostic("E463", run.base.app.origin(*claim.models[1].path), **words)


def _says_options(process: EngineProcess) -> bool:
    """Whether users gave arguments to an engine that has some for tasks, and the model says its task."""
    run = process.run
    return bool(process.user_layers and run.engine.spec.get("tasks") and tasks.written_task(run.base.claim.main))


@rule(of=EngineProcess, when=_says_options)
def options_of_another_task(process: EngineProcess) -> Iterator[Diagnostic]:
    """An error for an argument that makes the engine serve another task than the model says, a warning beside those of
    its own task. Raises TemplateError.
    """
    run, main = process.run, process.run.base.claim.main
    own_task = run.base.claim.task
    by_task = {task: _task_options(run, task) for task in tasks.SCHEMAS}
    own = by_task.pop(own_task)
    written_options = [option for layer in process.user_layers for option in _given_options(run.engine.style, layer)]
    own_given = {option.name: option.value for option in written_options if own.get(option.name) == option.value}
    code = "W462" if own and own_given == own else "E462"  # whether the engine then serves both is not known
    for option in written_options:
        other_tasks = [task for task in by_task if by_task[task].get(option.name) == option.value]
        if option.name in own and option.value not in (own[option.name], _AUTO):
            hint = f"leave it out: the preset sets {' '.join(filter(None, (option.name, own[option.name])))}"
        elif option.name not in own and other_tasks:
            hint = "leave it out"
        else:
            continue
        fitting = [task for task in other_tasks if own_given.items() <= by_task[task].items()]
        if fitting and not main.ours:
            hint += f"; or write kind: {' or '.join(fitting)} in the facts of the model"
        text = " ".join(filter(None, (option.name, option.value)))
        yield make_diagnostic(code, option.origin, option=text, model=main.name, task=own_task, hint=hint)
        return


@rule(of=EngineProcess, when=lambda process: process.run.engine.spec.get("tasks"))
def unsaid_task(process: EngineProcess) -> Iterator[Diagnostic]:
    """A warning where nobody says the task of a model, and the name of its repository, or an argument, speaks of
    another one than chat; none where its arguments say that task already, and the route to it is the same. A note where
    somebody says another one than the name does. Raises TemplateError.
    """
    run, main = process.run, process.run.base.claim.main
    if main.ours:
        return
    kind, task, by = tasks.written_task(main), tasks.task_of_name(main), "the repository's name says"
    if kind:
        if task and kind in tasks.SCHEMAS and kind not in (task, tasks.CHAT):
            yield make_diagnostic("N913", Origin(main.document, _KIND), model=main.name, task=task, kind=kind)
        return
    if not task and process.user_layers:
        task, by = _task_of_options(process), "its arguments say"
    if not task:
        return
    options = _task_options(run, task)
    written_options = [option for layer in process.user_layers for option in _given_options(run.engine.style, layer)]
    is_said = options and options.keys() <= {option.name for option in written_options}
    if not is_said or tasks.SCHEMAS[task] != tasks.SCHEMAS[tasks.CHAT]:
        origin = Origin(main.document, ("spec", "source"), key=True)
        yield make_diagnostic("W912", origin, model=main.name, task=task, by=by)


def _task_of_options(process: EngineProcess) -> str:
    """The task that users' arguments speak of, where it is asked on another path than a chat; '' for none."""
    style, run = process.run.engine.style, process.run
    if process.user_options.isdisjoint(_names_of_tasks(run)):
        return ""
    by_task = {task: _task_options(run, task) for task in tasks.SCHEMAS}
    written = {option.name: option.value for layer in process.user_layers for option in _given_options(style, layer)}
    for task, options in by_task.items():
        is_said = options and options.items() <= written.items()
        is_unique = list(by_task.values()).count(options) == 1
        if is_said and is_unique and tasks.SCHEMAS[task] != tasks.SCHEMAS[tasks.CHAT]:
            return task
    return ""


class _GivenOption(Struct, frozen=True):
    """An option that somebody gives."""

    name: str
    value: str  # '' for one without a value
    origin: Origin


def _given_options(style: Dialect, layer: ArgLayer) -> Iterator[_GivenOption]:
    for i, token in enumerate(layer.args):
        if name := style.name(token):
            _, glued, value = token.partition("=")
            follows = "".join(layer.args[i + 1 : i + 2])
            yield _GivenOption(name, value if glued or style.is_option(follows) else follows, layer.origin_of(i))


def _task_options(run: EngineRun, task: str) -> Mapping[str, str]:
    """The options that the preset gives for models of a task alone, with their values. Raises TemplateError."""
    by_task = run.engine.task_options
    if task not in by_task:
        layer = ArgLayer(run.engine.args_of_task(task, run.words), run.engine.origin)
        by_task[task] = {option.name: option.value for option in _given_options(run.engine.style, layer)}
    return by_task[task]


def _names_of_tasks(run: EngineRun) -> Set[str]:
    """The options of all tasks together. Raises TemplateError."""
    names = run.engine.names_of_tasks
    if not run.engine.task_options.keys() >= tasks.SCHEMAS.keys():
        for task in tasks.SCHEMAS:
            names.update(_task_options(run, task))
    return names
