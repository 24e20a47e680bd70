"""The result of a run: problems, files, and the changes of the output folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import Inputs, RenderOptions, RenderPolicy, Scope
from renderer.diagnostics import Diagnostic
from renderer.output import leftover_files
from renderer.output.manifest_files import OutputFile
from renderer.plan import Figures, SharedNeed

if TYPE_CHECKING:
    from renderer.admission.records import UnjudgedReason
    from renderer.check.foreign import JudgedQuota, OwnObject


class Part(Struct, frozen=True):
    """The results of a chunk of items."""

    problems: Sequence[Diagnostic]
    states: Sequence[tuple[str, str]]  # path and state (new, same, changed or foreign) of each file
    texts: Sequence[OutputFile]  # the files that are returned or written
    objects: int  # their number
    needs: Set[SharedNeed]  # the shared objects that the items need
    compared: Sequence[OwnObject] = ()  # the objects, where foreign ones are compared with them
    bodies: Sequence[Mapping[str, Any]] = ()  # of the objects, where some of passThrough act on them
    unjudged: Sequence[UnjudgedReason] = ()  # what of ValidatingAdmissionPolicies could not be judged
    figures: Figures = {}  # of the workloads, if options ask for texts
    fleet: Sequence[Any] = ()  # the workloads as rows of a fleet, if the run counts them


class Changes(Struct, frozen=True):
    """The changes of a folder: files to write and paths to delete, relative to it."""

    folder: str
    files: Sequence[OutputFile]
    deleted: Sequence[str]


class RenderResult(Struct, frozen=True):
    """The result of a run."""

    folder: str
    problems: list[Diagnostic]
    states: dict[str, str]  # by path: same, new, changed, foreign or gone
    texts: list[OutputFile]  # if options ask for them
    objects: int
    inputs: Inputs
    skipped_shared: list[str]  # shared files that a run with PATHS needs, but does not write
    changes: Sequence[Changes] = ()  # for `pipeline.write`, none with errors
    listed_parts: Sequence[Part] = ()  # the results of items whose texts were not asked for
    figures: Figures = {}  # of the workloads of one environment, if options ask for texts
    policies: Sequence[RenderPolicy] = ()  # by which one environment was judged
    quotas: Sequence[JudgedQuota] = ()  # the ResourceQuotas that one environment passes through
    asides: Callable[[], Sequence[Diagnostic]] = list  # notes for machines, and for people who ask for each


def common_scope(options: RenderOptions, folder: str, scopes: Sequence[Scope]) -> Scope | None:
    """The scope of the folder that all environments share; None where a run has a single folder."""
    if options.env or not scopes[0].options.env:
        return None
    return replace(scopes[0], folder=folder, options=options)  # patterns of output.foreign begin at this folder


def merge_results(
    options: RenderOptions, folder: str, scopes: Sequence[Scope], results: Sequence[RenderResult]
) -> RenderResult:
    """The results of all environments, with paths relative to their common folder, and its leftovers. The inputs
    are those of the first environment, with the apps of all. A single result without environments, or for one, is
    unchanged.
    """
    scope = common_scope(options, folder, scopes)
    if not scope:
        return results[0]
    names = [scope.options.env for scope in scopes]
    leftovers = leftover_files.folder_state(scope, {}, names)
    stale, temporary = (leftovers.stale, leftovers.temporary) if not scope.pruned_paths else ([], [])
    environments = list(zip(names, results, strict=True))
    states = {f"{name}/{path}": state for name, result in environments for path, state in result.states.items()}
    return RenderResult(
        folder=folder,
        problems=[
            *merge_problems({name: result.problems for name, result in environments}),
            *leftover_files.findings(scope, leftovers),
        ],
        states=states | dict.fromkeys(stale, "gone"),
        texts=[OutputFile(f"{name}/{path}", text) for name, result in environments for path, text in result.texts],
        objects=sum(result.objects for result in results),
        inputs=replace(results[0].inputs, apps=tuple(app for result in results for app in result.inputs.apps)),
        skipped_shared=[f"{name}/{path}" for name, result in environments for path in result.skipped_shared],
        changes=[
            *(change for result in results for change in result.changes),
            Changes(folder, (), [*stale, *temporary]),
        ],
    )


def merge_problems(problems: Mapping[str, Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """The problems of all environments, by their names, without duplicates; the message names the environments unless
    it is all of them, or the place shows it.
    """
    environments: dict[Diagnostic, list[str]] = {}
    for name, of_environment in problems.items():
        for problem in dict.fromkeys(of_environment):
            environments.setdefault(problem, []).append(name)
    for problem, affected in environments.items():
        if len(affected) == len(problems) or problem.field.startswith("spec.environments"):
            yield problem
        else:
            yield replace(problem, message=f"{problem.message} (in {' and '.join(affected)})")
