"""The two sides of a difference: the rendered files of two revisions, or of two environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, resolve
from renderer.api import RenderOptions, RenderPolicy
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, has_errors, make_diagnostic
from renderer.diff.base_policy import judged_by_base
from renderer.resolve import ReplacedName
from renderer.source import git
from renderer.source.commit import CommitTree, commit_tree

if TYPE_CHECKING:
    from renderer.check.foreign import JudgedQuota
    from renderer.diff.base_revision import BaseRevision
    from renderer.diff.risks import Risk
    from renderer.output.manifest_files import OutputFile
    from renderer.plan import Figures
    from renderer.result import RenderResult

_NEEDED = (
    "renderer.pipeline",
    "renderer.diff.base_revision",
    "renderer.diff.reuse",
    "renderer.diff.comparison",
    "renderer.diff.formats",
    "renderer.diff.guard",
    "hashlib",
)


class Sides(Struct, frozen=True):
    """The rendered files of both sides."""

    before: list[OutputFile]
    after: list[OutputFile]
    problems: list[Diagnostic]  # of the later side; with errors there are no files
    notes: list[str]
    environment: str = ""  # its name, or two names with `-` between them where environments are compared
    risks: tuple[Risk, ...] = ()  # of changed settings
    figures: tuple[Figures, Figures] = ({}, {})  # of both sides
    currency: str = ""  # of the prices among them
    policies: Sequence[RenderPolicy] = ()  # by which the later side was judged
    quotas: Sequence[JudgedQuota] = ()  # the ResourceQuotas that it passes through
    # By namespace and name, the task of the model of each app of the later side for which the gateway has no path.
    pathless: Mapping[tuple[str, str], str] = {}
    replaced: Sequence[ReplacedName] = ()


def revisions(between: str, options: RenderOptions, base: str = "") -> Sides:
    """The files of two revisions: BASE and the work tree, `BASE..HEAD`, or `BASE...HEAD` (of the merge base).

    `base`: `rendered` takes the rendered files that BASE holds in the output folder, `inputs` renders the inputs of
    BASE; '' takes rendered files if there are any, else renders. Raises RenderError.
    """
    older, dots, newer = _split_range(between)
    top = _repository_top(options.paths)
    base_commit = git.merge_base(top, older, newer) if dots == "..." else git.commit(top, older)
    base_tree = commit_tree(top, base_commit)
    name = (
        f"{older} ({base_commit[:7]})" if dots != "..." else f"{base_commit[:7]}, the merge base of {older} and {newer}"
    )
    with base_tree.read_ahead():
        now = replace(options, file_system=commit_tree(top, git.commit(top, newer))) if dots else options
        return _render_sides(base_tree, load.for_one_environment(now, "llmaz diff"), name, base)


def _render_sides(base_tree: CommitTree, now: RenderOptions, name: str, base: str) -> Sides:
    """The rendered files of a commit, called `name` in messages, and of `now`. `base`: as in `revisions`."""
    before = replace(now, file_system=base_tree, allow_empty=True, unjudged=True)
    now = judged_by_base(now, before, name)
    before, removed, env_notes = _select_environments(now, before, name)
    later = None if removed else _with_existing_paths(now, before)
    # Unchanged input renders to the same; with PATHS, input outside of them may still differ.
    may_reuse = base != "rendered" and not now.paths and before.env == now.env
    with load.read_ahead(replace(later, texts=True)) if later else nullcontext() as opened:
        for module in _NEEDED:  # while other processes read
            import_module(module)
        from renderer import pipeline
        from renderer.diff.base_revision import BaseRevision
        from renderer.diff.guard import Guard

        base_tree.list_files()
        guard = Guard(before, now, base_tree.top)
        counts = opened is not None and pipeline.has_quotas(opened.scopes[0])
        rendered_before = _with_existing_paths(replace(before, counts_fleet=counts))
        earlier = BaseRevision(base_tree, guard.base, rendered_before, name, base)
        may_reuse = may_reuse and not guard.has_chart
        later_result = _render_later(opened, earlier if may_reuse else None) if opened else None
    texts, problems = (later_result.texts, later_result.problems) if later_result else ([], [])
    judgement = guard.judge(later_result)
    problems = [*problems, *judgement.problems]
    failed = has_errors(problems, now.strict)
    if failed and any(problem.code != "E123" for problem in problems):
        return Sides([], [], problems, [], now.env, judgement.risks)
    if later_result and not may_reuse:
        earlier.expect_contents(later_result.inputs)
    base_side = earlier.output_files(texts, None if failed else later_result)
    if failed and not base_side.files:
        return Sides([], [], problems, [], now.env, judgement.risks)
    if failed and later:  # E123: no input is left, so all objects are removed
        later_result = pipeline.render(replace(later, texts=True, allow_empty=True))
        texts, problems = later_result.texts, later_result.problems
    notes = [*(env_notes if base_side.files else ()), *dict.fromkeys([*base_side.notes, *judgement.notes])]
    figures = base_side.figures, later_result.figures if later_result else {}
    return Sides(
        base_side.files,
        texts,
        problems,
        notes,
        now.env,
        risks=judgement.risks,
        figures=figures,
        currency=_currency(later_result),
        policies=later_result.policies if later_result else (),
        quotas=later_result.quotas if later_result else (),
        pathless=resolve.pathless_apps(later_result.inputs) if later_result else {},
        replaced=resolve.replaced_names(later_result.inputs) if later_result else (),
    )


def _currency(result: RenderResult | None) -> str:
    """The currency of the prices in RenderConfig; '' where nobody says it."""
    return str(result.inputs.config.get("fleet", "currency", default="")) if result else ""


def _render_later(opened: load.ReadAhead, base: BaseRevision | None) -> RenderResult:
    """The result of the later side; without the texts of what is the same in `base`."""
    from renderer import pipeline
    from renderer.diff import reuse

    if base:
        return reuse.render_later(opened, base.find_unchanged)
    return pipeline.render(opened.scopes[0].options, (opened.folder, opened.scopes), opened.inputs)


def _select_environments(now: RenderOptions, before: RenderOptions, name: str) -> tuple[RenderOptions, bool, list[str]]:
    """The options of the base, whether only the base has the environment, and notes. A base without environments is
    rendered whole.
    """
    if not now.env:
        return before, False, []
    try:
        known, remaining = (load.rendered_environments(replace(options, env="")) for options in (before, now))
    except RenderError:
        return before, False, []  # reported when that side is rendered
    if not known:
        return replace(before, env=""), False, [f"base {name} has no environments: all that it renders is compared"]
    removed = now.env in known and now.env not in remaining
    return before, removed, [f"there is no environment '{now.env}' any more"] if removed else []


def _with_existing_paths(options: RenderOptions, other_side: RenderOptions | None = None) -> RenderOptions | None:
    """The options with only those paths that exist on this side, or on neither side, which is an error later.

    None if all paths exist on the other side only, or if there are no paths and the current folder does not exist.
    """
    paths, file_system = options.paths, options.file_system
    if not paths:
        return options if file_system.exists(".") or file_system.base_of(())[1] else None
    existing = [
        path for path in paths if file_system.exists(path) or (other_side and not other_side.file_system.exists(path))
    ]
    return replace(options, paths=tuple(existing)) if existing else None


def environments(older: str, newer: str, options: RenderOptions) -> Sides:
    """The rendered files of two environments of the work tree. Raises RenderError."""
    from renderer import pipeline

    before, after = (pipeline.render(replace(options, texts=True, env=name)) for name in (older, newer))
    both = of_results(before, after, f"{older}-{newer}")
    return replace(both, before=[], after=[]) if has_errors(both.problems, options.strict) else both


def of_results(before: RenderResult, after: RenderResult, environment: str) -> Sides:
    """Two results as sides, whatever their problems are. `environment`: as in Sides."""
    return Sides(
        before.texts,
        after.texts,
        [*before.problems, *after.problems],
        [],
        environment,
        figures=(before.figures, after.figures),
        currency=_currency(after),
        policies=after.policies,
        quotas=after.quotas,
        pathless=resolve.pathless_apps(after.inputs),
        replaced=resolve.replaced_names(after.inputs),
    )


def _repository_top(paths: Sequence[str]) -> str:
    """The top of the repository around the current folder, or around the first path if the folder is in none.

    Raises RenderError for a path in another repository: a link in a proposed tree may lead anywhere.
    """
    try:
        top = git.top()
    except RenderError:
        if not paths:
            raise
        top = git.top(paths[0])
    others = [(path, other) for path in paths if (other := git.top(path)) != top]
    if others:
        raise RenderError(
            make_diagnostic("E786", Origin(NamedSource(path)), other=other, top=top) for path, other in others
        )
    return top


def _split_range(between: str) -> tuple[str, str, str]:
    """BASE, the dots or '', and HEAD or ''; a side that is left out of a range is HEAD."""
    for dots in ("...", ".."):
        older, separator, newer = between.partition(dots)
        if separator:
            return older or "HEAD", dots, newer or "HEAD"
    return between or "HEAD", "", ""
