"""The whole renderer, in each environment: load → resolve → build → check, and, where all is well, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from operator import add
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from renderer import check, expand, load, resolve, unchanged_items, workers
from renderer.api import App, BackendRuntime, Inputs, OpenModel, RenderOptions, ReusedItems, Scope, TrafficInput
from renderer.diagnostics import Diagnostic, has_errors, naming_file
from renderer.items import Item, items
from renderer.output import manifest_files
from renderer.output.folder import OutputFolder
from renderer.output.manifest_files import OutputFile
from renderer.plan import Manifest, SharedNeed, SharedPlan
from renderer.result import Changes, Part, RenderResult, merged

Reader = Callable[[Scope], tuple[Inputs, list[Diagnostic]]]  # `load.inputs`, or who has read them already
Result = TypeVar("Result")


def render(
    options: RenderOptions, scopes: tuple[str, list[Scope]] | None = None, read: Reader = load.inputs
) -> RenderResult:
    """Everything made and checked in each environment, and compared with what is there; nothing is written.

    `scopes`: what `load.scopes` finds, for who has it. Raises RenderError.
    """
    folder, environments = scopes or load.scopes(options)
    results = [render_environment(scope, read) for scope in environments]
    result = merged(options, folder, environments, results)
    writes = options.write and not has_errors(result.problems, options.strict)
    return result if writes else replace(result, changes=())


def write(result: RenderResult) -> None:
    """Writes the files that differ, each whole, and deletes those that nothing makes any more. Raises RenderError."""
    for changes in result.changes:
        output = OutputFolder(changes.folder)
        with check.reporting_write_errors(changes.folder):
            workers.run(partial(manifest_files.write, output), changes.files)
            manifest_files.delete(output, changes.deleted)


class Run(Struct, frozen=True):
    """What all items of an environment have in common. `output`: the folder that files are compared with, if any."""

    scope: Scope
    context: resolve.RunContext
    outside: check.ExternalObjects
    output: OutputFolder | None


class Rendered(Struct, frozen=True):
    """The objects of one app, or of what apps share, and their files; what is wrong with them, and what the app needs
    together with others.
    """

    manifests: Sequence[Manifest]
    texts: Sequence[OutputFile]
    problems: Sequence[Diagnostic]
    wanted: Sequence[SharedNeed] = ()


def render_environment(scope: Scope, read: Reader) -> RenderResult:
    """One environment, from input files to what is to be changed in its folder. Raises RenderError."""
    options = scope.options
    inputs, problems = read(scope)

    context, outside = resolve.run_context(inputs), check.external_objects(inputs)
    problems += [*context.problems, *resolve.dangling(context), *resolve.name_conflicts(inputs)]

    run = Run(scope, context, outside, OutputFolder(scope.folder) if options.compares else None)
    whole, bare, known = split_items(inputs, options)
    spared = workers.run(partial(render_items, run, bare=True), bare)
    parts = [*workers.run(partial(render_items, run), whole), *spared, *known]
    problems += [problem for part in parts for problem in part.problems]
    problems += load.nothing(inputs, scope, problems)
    states = {path: state for part in parts for path, state in part.states}
    texts = sorted((text for part in parts for text in part.texts), key=lambda text: text.path)

    wanted = {need for part in parts for need in part.wanted}
    joints, joint_problems = resolve.shared_plans(context, wanted)
    shared, apart = [render_joint(outside, joint) for joint in joints], list[str]()
    if scope.prunes:  # shared files depend on all of the tree: who renders a part of it leaves them alone
        shared, apart = [], sorted(text.path for rendered in shared for text in rendered.texts)
    common, common_problems = manifest_files.common(
        scope, states, [text for rendered in shared for text in rendered.texts]
    )
    problems += [*resolve.route_conflicts(inputs, wanted), *joint_problems, *common_problems]
    problems += [problem for rendered in shared for problem in rendered.problems]

    problems += check.find_blocking_files(scope, states) + check.find_chart(scope)
    if options.kubeconform and not has_errors(problems, options.strict):
        judged = workers.run(partial(judge_items, run), whole, size=len(whole))
        problems += [problem for part in judged for problem in part] + judge(options, shared)
    leftovers = manifest_files.folder_state(scope, states)
    problems += manifest_files.findings(scope, leftovers)

    changed = [text for text in (*texts, *common) if states[text.path] != "same"]
    return RenderResult(
        folder=scope.folder,
        problems=problems,
        states=states | dict.fromkeys(leftovers.stale, "gone"),
        texts=[*texts, *common] if options.texts else [],
        objects=sum(part.objects for part in parts) + sum(len(rendered.manifests) for rendered in shared),
        inputs=inputs,
        apart=apart,
        changes=[Changes(scope.folder, changed, [*leftovers.stale, *leftovers.temporary])],
        spared=spared,
    )


def split_items(inputs: Inputs, options: RenderOptions) -> tuple[list[Item], list[Item], Sequence[Part]]:
    """The items to render; those of which nobody wants the texts; and what another run made of all others."""
    spared = options.spared(inputs) if options.spared else frozenset()
    known = options.known or ReusedItems(frozenset(), frozenset(), ())
    whole: list[Item] = []
    bare: list[Item] = []
    for item in items(inputs):
        if not isinstance(item, (App, TrafficInput)):
            whole += [] if item.name in known.models else [item]
        elif unchanged_items.item_key(item) not in known.items:
            (bare if unchanged_items.item_key(item) in spared else whole).append(item)
    return whole, bare, known.parts


def render_items(run: Run, chunk: Sequence[Item], *, bare: bool = False) -> Part:
    """A few items: apps are rendered, models and runtimes only checked. `bare`: nothing is in the files."""
    options = run.scope.options
    apps, own = split_apps(chunk)
    problems = list(chain.from_iterable(each_of(own, partial(resolve.checked, run.context))))
    states: list[tuple[str, str]] = []
    texts: list[OutputFile] = []
    wanted: set[SharedNeed] = set()
    objects = 0
    for app in render_apps(run, apps, bare=bare):
        problems += app.problems
        wanted.update(app.wanted)
        if app.texts:
            objects += len(app.manifests)
            compared = manifest_files.compare(run.output, app.texts)
            states += compared
            if options.texts or options.write:
                pairs = zip(app.texts, compared, strict=True)
                texts += [text for text, (_, state) in pairs if options.texts or state != "same"]
    return Part(problems, states, [] if bare else texts, objects, wanted)


def split_apps(chunk: Sequence[Item]) -> tuple[list[App | TrafficInput], list[OpenModel | BackendRuntime]]:
    """What is rendered, and what is only checked."""
    apps = [item for item in chunk if isinstance(item, (App, TrafficInput))]
    return apps, [item for item in chunk if not isinstance(item, (App, TrafficInput))]


def render_apps(run: Run, apps: Sequence[App | TrafficInput], *, bare: bool = False) -> list[Rendered]:
    """Apps, and what leads to apps, from what the user wrote to files: stage by stage, each over all of them."""
    if not apps:
        return []
    make_texts = partial(manifest_files.bare if bare else manifest_files.texts, layout=run.scope.layout)
    plans, plan_problems = zip(*each_of(apps, partial(resolve.plan, run.context)), strict=True)
    manifests = each_of(apps, expand.build_manifests, plans)
    problems = each_of(
        apps, check.manifest_validator(manifests, run.outside), manifests, each_of(apps, resolve.references, plans)
    )
    texts = each_of(apps, make_texts, plans, manifests)
    return list(map(Rendered, manifests, texts, map(add, plan_problems, problems), each_of(apps, resolve.needs, plans)))


def each_of(items: Sequence[Item], stage: Callable[..., Result], *columns: Iterable[Any]) -> list[Result]:
    """What a stage makes of each item, or of what the columns hold for it; a fault in there names the item's file."""
    results: list[Result] = []
    with naming_file(lambda: items[len(results)].document.name):  # once for all
        for result in map(stage, *(columns or (items,))):
            results.append(result)
    return results


def render_joint(outside: check.ExternalObjects, joint: SharedPlan) -> Rendered:
    """What apps share of one namespace, or of the cluster: one file."""
    manifests = expand.build_shared(joint)
    return Rendered(
        manifests, manifest_files.shared(joint, manifests), check.validate_manifests(manifests, targets=outside.targets)
    )


def judge_items(run: Run, chunk: Sequence[Item]) -> list[Diagnostic]:
    """What kubeconform says of the files of these items, which are rendered once more: places do not pass from process
    to process.
    """
    return judge(run.scope.options, render_apps(run, split_apps(chunk)[0]))


def judge(options: RenderOptions, rendered: Sequence[Rendered]) -> list[Diagnostic]:
    """What kubeconform says of these files."""
    from renderer.check.kubeconform import kubeconform  # few runs need it

    return kubeconform(options.kubeconform or "", [(app.manifests, app.texts) for app in rendered])
