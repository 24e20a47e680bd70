"""The folder that holds a chart: compared, written and pruned as the folder of plain manifests is."""

from __future__ import annotations

import os

from renderer import check, emit, load, pipeline
from renderer.api import Options, Scope
from renderer.chart.actions import plain
from renderer.chart.files import SCHEMA, SCHEMA_MARK, files
from renderer.emit import Text
from renderer.load.rule import Rule
from renderer.pipeline import Rendered
from renderer.problems import Origin, Problem, failing, problem
from renderer.writer import OutputFolder

FOLDER = "chart"
_INSTALLED = ("templates/", "crds/", "charts/")  # what Helm puts into a cluster


def render(options: Options) -> Rendered:
    """Everything is read, made and checked; the chart of it is compared, and written with `options.write` when nothing
    is wrong. Raises RenderError.
    """
    if options.output is None:
        base, _ = options.ground.base_of(options.paths)
        options = options._replace(output=os.path.relpath(os.path.join(base, FOLDER)))
    scope = load.scope(options)
    done = pipeline.render(options._replace(texts=True, compare=False, write=False))
    made, problems = files(done.texts, scope.config)
    output = OutputFolder(scope.folder)
    states = dict(_compared(output, made))
    beside = emit.leftovers(scope._replace(prunes=()), states)
    beside = beside._replace(foreign=[path for path in beside.foreign if path.startswith(_INSTALLED)])
    gone = [path for path in beside.stale if path.startswith("templates/")]
    problems += [*done.problems, *_lacking(scope, done), *_others(scope, output, beside.stale, gone)]
    problems += [*check.folder(scope, states), *emit.findings(scope, beside)]
    if options.write and not failing(problems, options.strict):
        with check.writable(scope):
            emit.settle(scope, made, states, (*gone, *beside.temporary))
    return done._replace(
        folder=scope.folder, problems=problems, states=states | dict.fromkeys(gone, "gone"), texts=made, apart=[]
    )


def _compared(output: OutputFolder, made: list[Text]) -> list[tuple[str, str]]:
    """Each file's path and what is on disk. JSON has no room for our line, so that of the schema stands in a key."""
    states = emit.compare(output, made)
    return [(path, "changed" if state == "foreign" and _schema(output, path) else state) for path, state in states]


def _schema(output: OutputFolder, path: str) -> bool:
    if path != SCHEMA:
        return False
    mark = SCHEMA_MARK.encode()
    try:
        return output.begin(path, len(mark)) == mark
    except OSError:
        return False


def _lacking(scope: Scope, done: Rendered) -> list[Problem]:
    """An error where PATHS leave out what the chart needs."""
    files = ", ".join(done.apart)
    return [problem("E740", Origin(Rule(scope.folder)), files=files)] if files else []


def _others(scope: Scope, output: OutputFolder, ours: list[str], gone: list[str]) -> list[Problem]:
    """Errors for files of ours that are no business of this run: plain manifests, and what input outside PATHS made."""
    at = Origin(Rule(scope.folder))
    if stray := [path for path in ours if path not in gone]:
        return [problem("E742", at, file=stray[0])]
    below = tuple(f"{path}/" for path in scope.prunes)
    for path in gone if below else ():
        source = plain(emit.source(output, path) or "")
        if source not in scope.prunes and not source.startswith(below):
            return [problem("E741", at, file=path, source=source)]
    return []
