"""The two sides of a difference: what revisions, or environments, render to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING

from renderer import git, load
from renderer.api import Options, Scope, Spared
from renderer.load.rule import Rule
from renderer.problems import Origin, Problem, RenderError, failing, problem
from renderer.records import NamedTuple
from renderer.revision import Revision, revision

if TYPE_CHECKING:
    from renderer.emit import Text
    from renderer.pipeline import Rendered

_NEEDED = ("renderer.pipeline", "renderer.diff.earlier", "renderer.diff.comparing", "renderer.diff.forms", "hashlib")


class Sides(NamedTuple):
    """The files of both sides; what is wrong with the later one (with errors there are no files); notes; and the
    environment, two with `-` between them where they are compared.
    """

    before: list[Text]
    after: list[Text]
    problems: list[Problem]
    notes: list[str]
    environment: str = ""


def revisions(between: str, options: Options, base: str = "") -> Sides:
    """What two revisions render to: BASE and the work tree, `BASE..HEAD`, or `BASE...HEAD` from where they parted.

    `base`: `rendered` takes the files of ours that BASE holds in the output folder, `inputs` renders its inputs; ''
    takes the first where there are any. Raises RenderError.
    """
    older, dots, newer = _parted(between)
    top = _repository(options.paths)
    was = git.merge_base(top, older, newer) if dots == "..." else git.commit(top, older)
    there = revision(top, was)
    name = f"{older} ({was[:7]})" if dots != "..." else f"{was[:7]}, where {older} and {newer} parted"
    with there.ahead():
        now = options._replace(ground=revision(top, git.commit(top, newer))) if dots else options
        return _compared(there, load.alone(now, "llmaz diff"), name, base)


def _compared(there: Revision, now: Options, name: str, base: str) -> Sides:
    """What a commit, called `name`, and `now` render to."""
    before = now._replace(ground=there, allow_empty=True)
    before, gone, said = _environments(now, before, name)
    later = None if gone else _there(now, before)
    # Of what is the same on both sides the same comes; what lies outside of PATHS nobody compares.
    both = base != "rendered" and not now.paths and before.env == now.env
    with load.ahead(later._replace(texts=True)) if later else nullcontext() as found:
        for module in _NEEDED:  # while other processes read
            import_module(module)
        from renderer import pipeline
        from renderer.diff.earlier import Earlier
        from renderer.diff.foreign import foreign_files

        there.look()
        earlier = Earlier(there, _there(before), name, base)
        done = _later(found, earlier.spared if both else None) if found else None
    texts, problems = (done.texts, done.problems) if done else ([], [])
    if done and found:
        problems = [*problems, *foreign_files(found[1][0], done.states)]
    wrong = failing(problems, now.strict)
    if wrong and any(each.code != "E123" for each in problems):
        return Sides([], [], problems, [], now.env)
    if done and not both:
        earlier.expects(done.inputs)
    made, notes = earlier.made({text.path for text in texts}, None if wrong else done)
    if wrong and not made:
        return Sides([], [], problems, [], now.env)
    if wrong and later:  # the last input is gone, which is what there is to say
        done = pipeline.render(later._replace(texts=True, allow_empty=True))
        texts, problems = done.texts, done.problems
    return Sides(made, texts, problems, [*(said if made else ()), *notes], now.env)


def _later(found: tuple[str, list[Scope]], spared: Spared | None) -> Rendered:
    from renderer import pipeline

    folder, scopes = found
    scopes = [each._replace(options=each.options._replace(spared=spared)) for each in scopes]
    return pipeline.render(scopes[0].options, (folder, scopes))


def _environments(now: Options, before: Options, name: str) -> tuple[Options, bool, list[str]]:
    """The options of the base, whether the environment is on that side alone, and a note. A base without environments
    is what it renders.
    """
    if not now.env:
        return before, False, []
    try:
        known, left = (load.environment_names(each._replace(env="")) for each in (before, now))
    except RenderError:
        return before, False, []  # said where that side is rendered
    if not known:
        return before._replace(env=""), False, [f"base {name} has no environments: all that it renders is compared"]
    gone = now.env in known and now.env not in left
    return before, gone, [f"there is no environment '{now.env}' any more"] if gone else []


def _there(options: Options, other: Options | None = None) -> Options | None:
    """The options with those of their paths that are there, or on no side at all, which is an error; None where all of
    them are on the other side alone, or without any the current folder is not there.
    """
    paths, ground = options.paths, options.ground
    if not paths:
        return options if ground.exists(".") or ground.base_of(())[1] else None
    kept = [each for each in paths if ground.exists(each) or (other and not other.ground.exists(each))]
    return options._replace(paths=tuple(kept)) if kept else None


def environments(older: str, newer: str, options: Options) -> Sides:
    """What two environments of the work tree render to. Raises RenderError."""
    from renderer import pipeline

    one, other = (pipeline.render(options._replace(texts=True, env=name)) for name in (older, newer))
    problems = [*one.problems, *other.problems]
    if failing(problems, options.strict):
        return Sides([], [], problems, [], f"{older}-{newer}")
    return Sides(one.texts, other.texts, problems, [], f"{older}-{newer}")


def _repository(paths: Sequence[str]) -> str:
    """The top of the repository around the current folder, or around the first path where that lies in none. Raises
    RenderError for a path of another repository: a link in a proposed tree may lead anywhere.
    """
    try:
        top = git.top()
    except RenderError:
        if not paths:
            raise
        top = git.top(paths[0])
    others = [(path, other) for path in paths if (other := git.top(path)) != top]
    if others:
        raise RenderError(problem("E786", Origin(Rule(path)), other=other, top=top) for path, other in others)
    return top


def _parted(between: str) -> tuple[str, str, str]:
    """BASE, the dots, HEAD; HEAD stands for a side that is left out."""
    for dots in ("...", ".."):
        older, found, newer = between.partition(dots)
        if found:
            return older or "HEAD", dots, newer or "HEAD"
    return between or "HEAD", "", ""
