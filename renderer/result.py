"""What a run comes to: findings, files, and how these differ from the output folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import Inputs, RenderOptions, Scope
from renderer.diagnostics import Diagnostic
from renderer.output import manifest_files
from renderer.output.manifest_files import OutputFile
from renderer.plan import SharedNeed


class Part(Struct, frozen=True):
    """What came of some items. `states`: the paths of their files, each new, same, changed or foreign; `texts`: the
    files, as far as they are wanted; `objects`: how many; `wanted`: what items need together with others.
    """

    problems: Sequence[Diagnostic]
    states: Sequence[tuple[str, str]]
    texts: Sequence[OutputFile]
    objects: int
    wanted: Set[SharedNeed]


class Changes(Struct, frozen=True):
    """What is to be done in one folder: files to write, and paths to delete, below it."""

    folder: str
    files: Sequence[OutputFile]
    deleted: Sequence[str]


class RenderResult(Struct, frozen=True):
    """What came of a run. `states`: path → same, new, changed, foreign or gone; `texts` only where asked for; `apart`:
    shared files that a part of the tree wants, and leaves alone; `changes`: what `pipeline.write` does, nothing where
    something is wrong; `spared`: what came of the items whose texts nobody wants.
    """

    folder: str
    problems: list[Diagnostic]
    states: dict[str, str]
    texts: list[OutputFile]
    objects: int
    inputs: Inputs
    apart: list[str]
    changes: Sequence[Changes] = ()
    spared: Sequence[Part] = ()


def merged(
    options: RenderOptions, folder: str, scopes: Sequence[Scope], results: Sequence[RenderResult]
) -> RenderResult:
    """What came of all environments, with paths below the folder of all; and leftovers of a full run beside them.

    What one environment was asked for, or there are none, is handed on as it is. `inputs`: of the first, with the apps
    of all.
    """
    names = [scope.options.env for scope in scopes]
    if options.env or not names[0]:
        return results[0]
    whole = replace(scopes[0], folder=folder)
    leftovers = manifest_files.folder_state(whole, {}, names)
    stale, temporary = (leftovers.stale, leftovers.temporary) if not whole.prunes else ([], [])
    environments = list(zip(names, results, strict=True))
    states = {f"{name}/{path}": state for name, result in environments for path, state in result.states.items()}
    return RenderResult(
        folder=folder,
        problems=[*_problems(names, results), *manifest_files.findings(whole, leftovers)],
        states=states | dict.fromkeys(stale, "gone"),
        texts=[OutputFile(f"{name}/{path}", text) for name, result in environments for path, text in result.texts],
        objects=sum(result.objects for result in results),
        inputs=replace(results[0].inputs, apps=tuple(app for result in results for app in result.inputs.apps)),
        apart=[f"{name}/{path}" for name, result in environments for path in result.apart],
        changes=[
            *(change for result in results for change in result.changes),
            Changes(folder, (), [*stale, *temporary]),
        ],
    )


def _problems(names: Sequence[str], results: Sequence[RenderResult]) -> Iterator[Diagnostic]:
    """The problems of all environments, once each. They say in which environments they are, but where all have them or
    their place says so.
    """
    environments: dict[Diagnostic, list[str]] = {}
    for name, result in zip(names, results, strict=True):
        for problem in dict.fromkeys(result.problems):
            environments.setdefault(problem, []).append(name)
    for problem, where in environments.items():
        if len(where) == len(names) or problem.field.startswith("spec.environments"):
            yield problem
        else:
            yield replace(problem, message=f"{problem.message} (in {' and '.join(where)})")
