"""An upgrade of an engine in a tree: what changes, what breaks, what mends it, and what the rest is.

A tree is rendered as it is, with the new version in it, and where edits mend what breaks once more with these.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import starmap

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, pipeline
from renderer.api import Inputs, RenderOptions
from renderer.diagnostics import Diagnostic, Edit, NamedSource, Origin, RenderError, has_errors, make_diagnostic
from renderer.diff import sides
from renderer.diff.comparison import TreeDiff, compare
from renderer.diff.models import ModelChange
from renderer.output.manifest_files import OutputFile
from renderer.resolve.chosen_backend import backend_of
from renderer.result import RenderResult, merge_problems
from renderer.source.overlay import Overlay
from renderer.upgrade.edited_texts import apart, column_before, edited_contents
from renderer.upgrade.edited_tree import EditedTree
from renderer.upgrade.moved_defaults import AppDefault, app_defaults
from renderer.upgrade.target import UpgradeTarget, find_target, require_one_word, unlisted_version
from renderer.upgrade.version_places import VersionPlace, downgrades, find_places

_Key = tuple[str, int, int, str, str]


class Break(Struct, frozen=True):
    """What is wrong in the new version, and was not before."""

    problem: Diagnostic
    is_mended: bool  # the edits of the upgrade mend it


class EnvironmentUpgrade(Struct, frozen=True):
    """What changes in an environment."""

    name: str  # '' without environments
    diff: TreeDiff  # with the edits; of what still breaks only a note
    defaults: Sequence[AppDefault]


class EngineUpgrade(Struct, frozen=True):
    """An upgrade that nobody has written yet."""

    target: UpgradeTarget
    notices: Sequence[Diagnostic]  # about the version itself
    places: Sequence[VersionPlace]  # also those that stay
    breaks: Sequence[Break]
    earlier: Sequence[Diagnostic]  # the errors and warnings of the tree as it is
    environments: Sequence[EnvironmentUpgrade]
    contents: Mapping[str, bytes]  # of the files with the new version and what mends breaks, by their names

    @property
    def certain(self) -> list[Break]:
        """What breaks."""
        return [broken for broken in self.breaks if broken.problem.severity == "error"]

    @property
    def possible(self) -> list[Break]:
        """What may break: all of which there is only a warning."""
        return [broken for broken in self.breaks if broken.problem.severity != "error"]

    @property
    def changed(self) -> list[VersionPlace]:
        """The places that get the new version."""
        return [place for place in self.places if place.edits]

    @property
    def left(self) -> list[VersionPlace]:
        """The places and apps that stay as they are."""
        return [place for place in self.places if not place.edits]

    @property
    def earlier_errors(self) -> int:
        """The number of errors in the tree as it is."""
        return sum(problem.severity == "error" for problem in self.earlier)


def upgrade_engine(argument: str, options: RenderOptions) -> EngineUpgrade:
    """The upgrade that `ENGINE=VERSION` names, or `ENGINE` alone for the newest version, in all environments. Raises
    RenderError, also for an upgrade that cannot be meant.
    """
    require_one_word(argument, options.paths, options.file_system.exists)
    names = load.rendered_environments(options) or ("",)
    tree = EditedTree(options, names)
    before = tree.render({})
    earlier, trees = _problems(names, before), [result.inputs for result in before]
    target = find_target(argument, trees[0])
    broken = {problem.file for problem in earlier if problem.severity == "error"}
    places = find_places(trees, target, broken)
    if not places:
        raise RenderError([_unused_engine(argument, target, trees)])
    if errors := list(downgrades(places, target)):
        raise RenderError(errors)
    versions = [edit for place in places for edit in place.edits]
    contents = edited_contents(options.file_system, versions)
    after = mended = tree.render(contents) if versions else before
    breaks = _new_problems(earlier, _problems(names, after))
    edits = apart(
        edit
        for problem in breaks
        for edit in problem.edits
        if problem.file not in broken
        and os.path.realpath(edit.file) in tree.paths  # no preset, nothing outside of PATHS
    )
    while edits:
        files = {edit.file for edit in edits}
        edited = {(problem.file, problem.document) for problem in breaks if problem.edits and problem.file in files}
        # Edits are at places of the tree with the new version in it.
        all_contents = contents | edited_contents(Overlay(options.file_system, contents), edits)
        mended = _render_edited(tree, all_contents, after, edited)
        caused = [p for p in _new_problems([*earlier, *breaks], _problems(names, mended)) if p.severity == "error"]
        if not caused:
            contents = all_contents
            break
        edits, mended = _without_files(edits, {problem.file for problem in caused}), after
    still = _new_problems(earlier, _problems(names, mended))
    still_keys, break_keys = {*map(_key, still)}, {*map(_key, breaks)}
    breaks += [_moved_back(problem, edits) for problem in still if _key(problem) not in break_keys]
    return EngineUpgrade(
        target=target,
        notices=list(unlisted_version(trees[0], target)),
        places=places,
        breaks=[Break(_moved_back(problem, versions), _key(problem) not in still_keys) for problem in sorted(breaks)],
        earlier=sorted({*earlier}),
        environments=[
            _environment_upgrade(target, name, *results) for name, *results in zip(names, before, mended, strict=True)
        ],
        contents={edit.file: contents[os.path.realpath(edit.file)] for edit in [*versions, *edits]},
    )


def remaining_breaks(upgrade: EngineUpgrade, options: RenderOptions) -> list[Diagnostic]:
    """What is wrong in the tree as it is now, and was not before the upgrade. Raises RenderError."""
    names = load.rendered_environments(options) or ("",)
    return _new_problems(upgrade.earlier, _problems(names, EditedTree(options, names).render({})))


def _render_edited(
    tree: EditedTree,
    contents: Mapping[str, bytes],
    after: Sequence[RenderResult],
    documents: Set[tuple[str, int]],
) -> list[RenderResult]:
    """The result of each environment with edits in these documents, by their files and indexes, beside the new version.
    Where they are apps, all other files come to the same as in `after`.
    """
    apps = {(app.document.name, app.document.index) for result in after for app in result.inputs.apps}
    if not documents <= apps:
        return tree.render(contents)
    files = {file for file, _ in documents}
    results = []
    for whole, part in zip(after, tree.render(contents, partial(_select_files, files)), strict=True):
        problems = [problem for problem in whole.problems if (problem.file, problem.document) not in documents]
        problems += [problem for problem in part.problems if (problem.file, problem.document) in documents]
        texts = sorted({**dict(whole.texts), **dict(part.texts)}.items())
        figures = {**whole.figures, **part.figures}
        results.append(replace(whole, problems=problems, texts=list(starmap(OutputFile, texts)), figures=figures))
    return results


def _select_files(files: Set[str], inputs: Inputs) -> pipeline.Selection:
    """The apps in some files."""
    return pipeline.Selection([app for app in inputs.apps if app.document.name in files], compares_foreign=False)


def _problems(names: Sequence[str], results: Sequence[RenderResult]) -> list[Diagnostic]:
    """The errors and warnings of all environments."""
    by_environment = {name: result.problems for name, result in zip(names, results, strict=True)}
    return [problem for problem in merge_problems(by_environment) if problem.severity != "note"]


def _new_problems(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The later problems that were not there before, at their places. An edit changes no line, but columns and words
    that name the version.
    """
    known = Counter(map(_key, {*before}))
    new = []
    for problem in sorted({*after}):
        known[_key(problem)] -= 1
        if known[_key(problem)] < 0:
            new.append(problem)
    return new


def _key(problem: Diagnostic) -> _Key:
    return problem.file, problem.line, problem.document, problem.field, problem.code


def _moved_back(problem: Diagnostic, edits: Sequence[Edit]) -> Diagnostic:
    """The problem at its place in the text before the edits, with its own edits."""

    def column(file: str, line: int, column: int) -> int:
        return column_before(edits, file, line, column)

    own_edits = [
        replace(
            edit,
            column=column(edit.file, edit.line, edit.column),
            end_column=column(edit.file, edit.end_line, edit.end_column),
        )
        for edit in problem.edits
    ]
    return replace(
        problem,
        column=column(problem.file, problem.line, problem.column),
        end_column=column(problem.file, problem.end_line, problem.end_column),
        edits=tuple(own_edits),
    )


def _without_files(edits: Sequence[Edit], files: set[str]) -> list[Edit]:
    """The edits of other files; none where those that did harm are not known by their file."""
    return [edit for edit in edits if edit.file not in files] if any(edit.file in files for edit in edits) else []


def _unused_engine(argument: str, target: UpgradeTarget, trees: Iterable[Inputs]) -> Diagnostic:
    used = sorted({backend_of(tree, app) for tree in trees for app in tree.apps if app.kind == "Playground"})
    hint = f"Playgrounds here use {', '.join(used)}" if used else "name other PATHS"
    return make_diagnostic("E714", Origin(NamedSource(argument)), backend=target.name, hint=hint)


def _environment_upgrade(
    target: UpgradeTarget, name: str, before: RenderResult, after: RenderResult
) -> EnvironmentUpgrade:
    both = sides.of_results(before, after, name)
    rendered = {text.path for text in after.texts}
    compared, broken = list(before.texts), list[OutputFile]()
    if has_errors(after.problems):
        compared = [text for text in before.texts if text.path in rendered]
        broken = [text for text in before.texts if text.path not in rendered]
    diff = compare(
        compared,
        after.texts,
        figures=both.figures,
        currency=both.currency,
        pathless=both.pathless,
        replaced=both.replaced,
    )
    notes = [f"not compared, since it still breaks: {text.path}" for text in broken]
    diff = replace(diff, notes=(*diff.notes, *notes, *_lost_digests(diff.models)))
    return EnvironmentUpgrade(name, diff, app_defaults(after.inputs, target, diff.models, broken))


def _lost_digests(models: Iterable[ModelChange]) -> Iterator[str]:
    """A note for each image that had a digest and has none in the new version."""
    for change in models:
        before, after = (side.leader.image if side else "" for side in (change.before, change.after))
        if "@" in before and after and "@" not in after:
            yield f"{change.key.place}: {after} has no digest; write one into images.digests of RenderConfig"
