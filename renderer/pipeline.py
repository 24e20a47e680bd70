"""The whole renderer, in each environment: load → resolve → build → check, and write if there are no errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache, partial
from itertools import chain, repeat
from operator import add
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from renderer import build, check, load, resolve, workers, yamlio
from renderer.api import App, BackendRuntime, Inputs, OpenModel, RenderOptions, Scope, TrafficInput
from renderer.diagnostics import Diagnostic, has_errors, naming_file
from renderer.loaded_tree import Item, LoadedTree, Reader, items, read_tree
from renderer.output import leftover_files, manifest_files
from renderer.output.folder_writer import OutputFolder
from renderer.output.manifest_files import OutputFile
from renderer.plan import Figures, Manifest, SharedNeed, SharedPlan, WorkloadFigures
from renderer.result import Changes, Part, RenderResult, common_scope, merge_results
from renderer.source.tree import repository_top

if TYPE_CHECKING:
    from renderer.check.foreign import ForeignState, JudgedQuota, OwnObject
    from renderer.fleet.rows import FleetRow
    from renderer.policy.admission import AdmissionRun
    from renderer.yamlio import Document

Result = TypeVar("Result")


class Selection(Struct, frozen=True):
    """The items of a run."""

    rendered: Sequence[Item]
    listed: Sequence[Item] = ()  # rendered too, but the files get no text: only their paths are asked for
    parts: Sequence[Part] = ()  # what other items came to in another run
    compares_foreign: bool = True  # with the rendered objects, for which all of them have to be rendered here


Selector = Callable[[Inputs], Selection]


def select_all(inputs: Inputs) -> Selection:
    """All items below PATHS."""
    return Selection(items(inputs))


def render(
    options: RenderOptions,
    scopes: tuple[str, list[Scope]] | None = None,
    read: Reader = load.inputs,
    select: Selector = select_all,
) -> RenderResult:
    """The rendered and checked files of all environments, compared with the output folder; writes nothing.

    `scopes`: the result of `load.scopes`, where the caller has it already. Raises RenderError.
    """
    folder, environments = scopes or load.scopes(options)
    results = [render_environment(scope, read, select) for scope in environments]
    result = merge_results(options, folder, environments, results)
    if environments[0].options.env and not options.env and not environments[0].pruned_paths:
        result.problems.extend(find_sync_sources(folder, environments))
    if options.compare and not options.write:
        from renderer.output import submodules  # few runs need it

        common = common_scope(options, folder, environments)
        result.problems.extend(submodules.findings([*environments, *([common] if common else ())]))
    if not (options.env or environments[0].pruned_paths or has_errors(result.problems, options.strict)):
        result = replace(
            result, asides=partial(resolve.unused_flavors, [environment.inputs for environment in results])
        )
    writes = options.write and not has_errors(result.problems, options.strict)
    return result if writes else replace(result, changes=())


def find_sync_sources(folder: str, environments: Sequence[Scope]) -> Iterator[Diagnostic]:
    """A warning for each object of the tree, in files that are ignored too, that syncs the folders of all
    environments. `folder`: above these.
    """
    from renderer.check import sync_sources  # few trees have environments

    base, file_system = environments[0].tree.base, environments[0].options.file_system
    top = repository_top(base, file_system.exists)
    output = os.path.relpath(folder, top).replace(os.sep, "/")
    names = [scope.options.env for scope in environments]
    files = file_system.folder(base, (base,), (), folder).files
    for document in yamlio.find_objects(yamlio.read_files(files), *sync_sources.WORDS):
        yield from sync_sources.validate_sync_source(
            document, output, names, lambda path: file_system.isfile(os.path.join(top, path))
        )


def write(result: RenderResult) -> None:
    """Writes new and changed files, and deletes stale ones. Raises RenderError."""
    for changes in result.changes:
        output = OutputFolder(changes.folder)
        with check.reporting_write_errors(changes.folder):
            workers.run(partial(manifest_files.write, output), changes.files)
            manifest_files.delete(output, changes.deleted)


class Run(Struct, frozen=True):
    """What all items of an environment share."""

    scope: Scope
    context: resolve.RunContext
    external: check.ExternalObjects
    output: OutputFolder | None  # the folder that files are compared with
    compares_foreign: bool
    has_quotas: bool  # there are ResourceQuotas among the foreign objects
    admission: AdmissionRun | None  # what judges by ValidatingAdmissionPolicies, where a RenderPolicy names some
    counts_fleet: bool  # a RenderPolicy has quotas, or texts are asked for and accelerators have prices
    keeps_bodies: bool  # of rendered objects, since objects of passThrough act on them


class Rendered(Struct, frozen=True):
    """The objects of an item, or objects that apps share."""

    manifests: Sequence[Manifest]
    texts: Sequence[OutputFile]
    problems: Sequence[Diagnostic]
    needs: Sequence[SharedNeed] = ()  # the shared objects that the item needs
    figures: Figures = {}  # of the workloads, if options ask for texts
    fleet: Sequence[FleetRow] = ()  # the workloads, if the run counts them


def render_environment(scope: Scope, read: Reader, select: Selector) -> RenderResult:
    """Renders one environment, from input files to the changes of its output folder. Raises RenderError."""
    options, tree = scope.options, read_tree(scope, read)
    selection = select(tree.inputs)
    passed = passed_objects(scope)
    run = prepare_run(tree, compares_foreign=selection.compares_foreign, passed=passed)
    rendered_parts = workers.run(partial(render_items, run), selection.rendered)
    listed_parts = workers.run(partial(render_items, run, listed=True), selection.listed)
    parts = [*rendered_parts, *listed_parts, *selection.parts]
    problems = [*tree.problems, *(problem for part in parts for problem in part.problems)]
    problems += load.no_input_errors(tree.inputs, scope, problems)
    states = {path: state for part in parts for path, state in part.states}
    texts = sorted((text for part in parts for text in part.texts), key=lambda text: text.path)

    needs = {need for part in parts for need in part.needs}
    shared_plans, shared_problems = resolve.shared_plans(tree.context, needs)
    shared, skipped_shared = [render_shared(run.external, shared_plan) for shared_plan in shared_plans], list[str]()
    if scope.pruned_paths:  # shared files depend on the whole tree, so a run with PATHS does not write them
        shared, skipped_shared = [], sorted(text.path for rendered in shared for text in rendered.texts)
    shared_texts = [text for rendered in shared for text in rendered.texts]
    common_files, common_problems = manifest_files.common_files(scope, states, shared_texts)
    problems += [*resolve.route_conflicts(tree.inputs, needs), *shared_problems, *common_problems]
    problems += [problem for rendered in shared for problem in rendered.problems]

    quotas: Sequence[JudgedQuota] = ()
    if run.compares_foreign:
        foreign_state = validate_foreign_objects(run, tree.inputs, parts, shared, problems)
        problems += foreign_state.problems
        quotas = foreign_state.quotas
    problems += missing_services(run.scope, tree.inputs, passed)
    if run.keeps_bodies and not (tree.inputs.unreadable or tree.inputs.broken or has_errors(problems)):
        problems += validate_passed(run, parts, shared, passed)
    problems += judge_tree(run, tree.inputs, parts, shared, needs) if scope.policies else ()

    problems += check.find_blocking_files(scope, states) + check.find_chart(scope)
    if options.kubeconform and not has_errors(problems, options.strict):
        findings = workers.run(partial(kubeconform_items, run), selection.rendered, size=len(selection.rendered))
        problems += [problem for part in findings for problem in part] + run_kubeconform(options, shared)
    leftovers = leftover_files.folder_state(scope, states)
    problems += leftover_files.findings(scope, leftovers)

    changed = [text for text in (*texts, *common_files) if states[text.path] != "same"]
    return RenderResult(
        folder=scope.folder,
        problems=problems,
        states=states | dict.fromkeys(leftovers.stale, "gone"),
        texts=[*texts, *common_files] if options.texts else [],
        objects=sum(part.objects for part in parts) + sum(len(rendered.manifests) for rendered in shared),
        inputs=tree.inputs,
        skipped_shared=skipped_shared,
        changes=[Changes(scope.folder, changed, [*leftovers.stale, *leftovers.temporary])],
        listed_parts=listed_parts,
        figures={place: known for part in parts for place, known in part.figures.items()},
        policies=scope.policies,
        quotas=quotas,
    )


def passed_objects(scope: Scope) -> Sequence[Document]:
    """The objects of files that are passed through; none where a part of the tree is rendered."""
    if scope.pruned_paths or not scope.config.get("passThrough"):
        return ()
    from renderer.policy import passed_manifests  # few runs need it

    return passed_manifests(scope)


def prepare_run(tree: LoadedTree, *, compares_foreign: bool, passed: Sequence[Document] = ()) -> Run:
    """What all items of the tree share; workers begin with what is imported here."""
    scope, inputs = tree.scope, tree.inputs
    if scope.policies:
        from renderer import policy as policy
    has_foreign = compares_foreign and bool(inputs.foreign_documents or inputs.foreign_files)
    return Run(
        scope=scope,
        context=tree.context,
        external=check.external_objects(inputs),
        output=OutputFolder(scope.folder) if scope.options.compares else None,
        compares_foreign=has_foreign,
        has_quotas=has_foreign and _has_resource_quotas(inputs),
        admission=admission_run(scope),
        counts_fleet=scope.options.counts_fleet or has_quotas(scope) or _has_prices(scope),
        keeps_bodies=bool(passed) and compares_foreign and _has_sides(passed),
    )


def _has_sides(passed: Sequence[Document]) -> bool:
    """Whether there are objects among those of passThrough that act on rendered ones."""
    from renderer.check import foreign  # few runs need it

    return any(map(foreign.is_side, passed))


def _has_resource_quotas(inputs: Inputs) -> bool:
    from renderer.check import foreign  # few runs need it

    return foreign.has_resource_quotas(inputs)


def has_quotas(scope: Scope) -> bool:
    """Whether a RenderPolicy says how many accelerators there may be."""
    return any(policy.get("quotas") for policy in scope.policies)


def _has_prices(scope: Scope) -> bool:
    """Whether texts are asked for, to be compared, and accelerators have prices."""
    if not scope.options.texts:
        return False
    from renderer.fleet.figures import has_prices  # render alone needs none

    return has_prices(scope.config)


def validate_foreign_objects(
    run: Run, inputs: Inputs, parts: Sequence[Part], shared: Sequence[Rendered], problems: Sequence[Diagnostic]
) -> ForeignState:
    """The diagnostics about foreign objects beside the rendered ones, and the quotas among them."""
    from renderer.check import foreign  # few runs need it

    objects = [compared for part in parts for compared in part.compared]
    objects += [compared for rendered in shared for compared in foreign.own_objects(rendered.manifests)]
    names = resolve.claimed_names(inputs, {need for part in parts for need in part.needs})
    return foreign.validate_foreign_objects(run.scope, inputs, objects, names, problems, has_quotas=run.has_quotas)


def validate_passed(
    run: Run, parts: Sequence[Part], shared: Sequence[Rendered], passed: Sequence[Document]
) -> Iterator[Diagnostic]:
    """The diagnostics about objects of passThrough that act on rendered ones."""
    from renderer.check import foreign  # few runs need it

    bodies = [body for part in parts for body in part.bodies]
    bodies += [manifest.body for rendered in shared for manifest in rendered.manifests]
    return foreign.validate_sides(bodies, passed, str(run.scope.config.get("namespace") or "default"), run.external)


def missing_services(scope: Scope, inputs: Inputs, passed: Sequence[Document]) -> list[Diagnostic]:
    """The diagnostics about what the tree's own platform lacks for its models."""
    config = inputs.config
    is_limited = any("tokenLimits" in item.spec for item in inputs.traffic)
    if not (is_limited or passed or config.get("autoscaling") or config.get("gateway", "tls")):
        return []
    from renderer.check import foreign  # few runs need it

    releases = cache(lambda: [*foreign.platform_releases(scope)])
    problems = [*foreign.uncounted_budgets(releases, inputs), *foreign.missing_components(releases, inputs)]
    if passed:
        problems += foreign.unlisted_namespaces(inputs, passed)
    return problems


def admission_run(scope: Scope) -> AdmissionRun | None:
    """What judges by ValidatingAdmissionPolicies; None where no RenderPolicy names some."""
    if not any(policy.get("admission") for policy in scope.policies):
        return None
    from renderer.policy import admission  # few runs need it

    return admission.AdmissionRun(scope.policies)


def judge_tree(
    run: Run, inputs: Inputs, parts: Sequence[Part], shared: Sequence[Rendered], needs: Set[SharedNeed]
) -> list[Diagnostic]:
    """The errors for what the policies deny beside single apps."""
    from renderer import policy  # few runs need it

    manifests = [manifest for rendered in shared for manifest in rendered.manifests]
    claimed = partial(resolve.claimed_names, inputs, needs)
    denied = policy.judge_tree(run.scope, inputs, manifests, claimed, run.external)
    if run.admission:
        denied += run.admission.problems + run.admission.judge(manifests)
        denied += run.admission.judge_documents(policy.passed_manifests(run.scope))
        unjudged = [reason for part in parts for reason in part.unjudged]
        denied += run.admission.notes([*unjudged, *run.admission.unjudged()])
    if has_quotas(run.scope):
        from renderer.fleet.quotas import judge_quotas  # few runs need it

        denied += judge_quotas(run.scope, inputs, [row for part in parts for row in part.fleet])
    return denied


def compared_objects(run: Run, apps: Sequence[App | TrafficInput], rendered: Sequence[Rendered]) -> list[OwnObject]:
    """The rendered objects of apps and traffic, as foreign ones are compared with them."""
    from renderer.check import foreign  # few runs need it

    return [
        compared
        for item, app in zip(apps, rendered, strict=True)
        for compared in foreign.own_objects(app.manifests, item.key, has_quotas=run.has_quotas)
    ]


def render_items(run: Run, chunk: Sequence[Item], *, listed: bool = False) -> Part:
    """Renders a chunk: apps and traffic; models and runtimes are only checked. `listed`: of files only the paths."""
    options = run.scope.options
    apps, definitions = split_apps(chunk)
    problems = list(chain.from_iterable(each_of(definitions, partial(resolve.validate_item, run.context))))
    if run.scope.policies:
        from renderer import policy  # few runs need it

        problems += policy.judge_definitions(run.scope, definitions)
    states: list[tuple[str, str]] = []
    texts: list[OutputFile] = []
    needs: set[SharedNeed] = set()
    figures: dict[tuple[str, str], WorkloadFigures] = {}
    fleet: list[FleetRow] = []
    objects = 0
    rendered = render_apps(run, apps, listed=listed)
    for app in rendered:
        problems += app.problems
        needs.update(app.needs)
        figures |= app.figures
        fleet += app.fleet
        if app.texts:
            objects += len(app.manifests)
            compared = manifest_files.compare(run.output, app.texts)
            states += compared
            if options.texts or options.write:
                pairs = zip(app.texts, compared, strict=True)
                texts += [text for text, (_, state) in pairs if options.texts or state != "same"]
    own_objects = compared_objects(run, apps, rendered) if run.compares_foreign else ()
    unjudged = run.admission.unjudged() if run.admission else ()
    bodies = [manifest.body for app in rendered for manifest in app.manifests] if run.keeps_bodies else ()
    return Part(
        problems,
        states,
        [] if listed else texts,
        objects,
        needs,
        own_objects,
        bodies=bodies,
        unjudged=unjudged,
        figures=figures,
        fleet=fleet,
    )


def split_apps(chunk: Sequence[Item]) -> tuple[list[App | TrafficInput], list[OpenModel | BackendRuntime]]:
    """The items that are rendered, and those that are only checked."""
    apps = [item for item in chunk if isinstance(item, (App, TrafficInput))]
    return apps, [item for item in chunk if not isinstance(item, (App, TrafficInput))]


def render_apps(run: Run, apps: Sequence[App | TrafficInput], *, listed: bool = False) -> list[Rendered]:
    """The objects, files and problems of apps and traffic; each stage runs over all of them before the next."""
    if not apps:
        return []
    make_texts = partial(manifest_files.empty_files if listed else manifest_files.texts, layout=run.scope.layout)
    plans, plan_problems = zip(*each_of(apps, partial(resolve.plan, run.context)), strict=True)
    manifests = each_of(apps, build.build_manifests, plans)
    problems = each_of(
        apps,
        check.manifest_validator(manifests, run.external),
        manifests,
        each_of(apps, resolve.referenced_objects, plans),
    )
    if run.scope.policies:
        from renderer import policy  # few runs need it

        denials = each_of(apps, partial(policy.judge_app, run.scope, run.context.inputs), apps, manifests)
        problems = list(map(add, problems, denials))
    if run.admission:
        problems = list(map(add, problems, each_of(apps, run.admission.judge, manifests)))
    texts = each_of(apps, make_texts, plans, manifests)
    needs = each_of(apps, resolve.shared_needs, plans)
    fleet: Iterable[Sequence[FleetRow]] = repeat(())
    figures: Iterable[Figures] = repeat({})
    if run.counts_fleet:
        from renderer.fleet.rows import item_rows  # few runs need it

        fleet = each_of(apps, partial(item_rows, run.context), apps, plans)
    if run.scope.options.texts:
        from renderer.fleet.figures import workload_figures  # render alone needs none

        figures = each_of(apps, workload_figures, plans, fleet)
    return list(map(Rendered, manifests, texts, map(add, plan_problems, problems), needs, figures, fleet))


def each_of(items: Sequence[Item], stage: Callable[..., Result], *columns: Iterable[object]) -> list[Result]:
    """A stage's results for each item, or for the columns' entries of each. Internal faults name the item's file."""
    results: list[Result] = []
    with naming_file(lambda: items[len(results)].document.name):  # one context for all items
        for result in map(stage, *(columns or (items,))):
            results.append(result)
    return results


def render_shared(outside: check.ExternalObjects, plan: SharedPlan) -> Rendered:
    """The shared objects of a namespace, or of the cluster, and their file."""
    manifests = build.build_shared(plan)
    return Rendered(
        manifests,
        manifest_files.shared_files(plan, manifests),
        check.validate_manifests(manifests, targets=outside.targets),
    )


def kubeconform_items(run: Run, chunk: Sequence[Item]) -> list[Diagnostic]:
    """kubeconform's findings for these items, which are rendered again, since origins do not pass between processes."""
    return run_kubeconform(run.scope.options, render_apps(run, split_apps(chunk)[0]))


def run_kubeconform(options: RenderOptions, rendered: Sequence[Rendered]) -> list[Diagnostic]:
    """kubeconform's findings for these files."""
    from renderer.check.programs.kubeconform import kubeconform  # few runs need it

    return kubeconform(options.kubeconform or "", [(app.manifests, app.texts) for app in rendered])
