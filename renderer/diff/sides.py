"""The two sides of a difference: what revisions, or environments, render to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from renderer import git, load, pipeline
from renderer.alike import Known
from renderer.api import Options
from renderer.emit import Text
from renderer.problems import Problem, RenderError, failing
from renderer.records import NamedTuple
from renderer.revision import revision
from renderer.tree import MARK

_END = ". Do not edit."
_NOTES = 10  # errors of a base that are said; the rest is counted


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
    top = git.top(_folder(options))
    older, dots, newer = _parted(between)
    was = git.merge_base(top, older, newer) if dots == "..." else git.commit(top, older)
    now = options._replace(ground=revision(top, git.commit(top, newer))) if dots else options
    now = load.alone(now, "llmaz diff")
    there = revision(top, was)
    before = now._replace(ground=there, allow_empty=True)
    name = f"{older} ({was[:7]})" if dots != "..." else f"{was[:7]}, where {older} and {newer} parted"
    before, gone, said = _environments(now, before, name)
    later = None if gone else _there(now, before)
    done = pipeline.render(later._replace(texts=True, records=base != "rendered")) if later else None
    texts, problems = (done.texts, done.problems) if done else ([], [])
    wrong = failing(problems, options.strict)
    if wrong and any(each.code != "E123" for each in problems):
        return Sides([], [], problems, [], now.env)
    if done:  # most files are the same on both sides
        there.likely = {each.document.data for each in (*done.inputs.apps, *done.inputs.own, *done.inputs.traffic)}
    if done and not wrong and not options.paths and before.env == now.env:
        # Of what is the same on both sides the same comes; what lies outside of PATHS nobody compares.
        before = before._replace(known=Known(done.inputs, done.records, done.problems))
    made, notes = _earlier(top, was, _there(before), {text.path for text in texts}, name, base)
    if wrong and not made:
        return Sides([], [], problems, [], now.env)
    if wrong and later:  # the last input is gone, which is what there is to say
        done = pipeline.render(later._replace(texts=True, allow_empty=True))
        texts, problems = done.texts, done.problems
    return Sides(made, texts, problems, [*(said if made else ()), *notes], now.env)


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


def _earlier(
    top: str, commit: str, options: Options | None, others: set[str], name: str, base: str
) -> tuple[list[Text], list[str]]:
    """The files of the base, and notes. `others`: the paths of the later side."""
    if not options:
        return [], []
    made = _committed(top, commit, options, others) if base != "inputs" else None
    if made is not None:
        return made, []
    if base == "rendered":
        return [], [f"{name} holds no rendered files, so everything counts as added"]
    return _rendered(options, f"base {name}")


def environments(older: str, newer: str, options: Options) -> Sides:
    """What two environments of the work tree render to. Raises RenderError."""
    one, other = (pipeline.render(options._replace(texts=True, env=name)) for name in (older, newer))
    problems = [*one.problems, *other.problems]
    if failing(problems, options.strict):
        return Sides([], [], problems, [], f"{older}-{newer}")
    return Sides(one.texts, other.texts, problems, [], f"{older}-{newer}")


def _folder(options: Options) -> str:
    """Where to ask git: at the first path, else here."""
    path = os.path.abspath(options.paths[0]) if options.paths else os.getcwd()
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def _parted(between: str) -> tuple[str, str, str]:
    """BASE, the dots, HEAD; HEAD stands for a side that is left out."""
    for dots in ("...", ".."):
        older, found, newer = between.partition(dots)
        if found:
            return older or "HEAD", dots, newer or "HEAD"
    return between or "HEAD", "", ""


def _rendered(options: Options, name: str) -> tuple[list[Text], list[str]]:
    """What the inputs of a base render to, as far as they are valid, and notes about the rest."""
    try:
        done = pipeline.render(options._replace(texts=True))
    except RenderError as error:
        return [], [f"{name} cannot be rendered, so everything counts as added", *_said(error.problems)]
    wrong = [each for each in done.problems if each.forbids()]
    if not wrong:
        return done.texts, []
    return done.texts, [f"{name} has errors, and what is wrong there counts as added", *_said(wrong)]


def _said(problems: Iterable[Problem]) -> list[str]:
    listed = [str(each).partition("\n")[0] for each in sorted(set(problems)) if each.forbids()]
    return listed[:_NOTES] + ([f"and {len(listed) - _NOTES} errors more"] if len(listed) > _NOTES else [])


def _committed(top: str, commit: str, options: Options, others: set[str]) -> list[Text] | None:
    """The files of ours that a commit holds in its output folder, as far as they are made from PATHS; None without any.

    `others`: the paths of the other side; a shared file counts where that has it too.
    """
    try:
        scope = load.scope(options)
    except RenderError:
        return None
    folder = os.path.relpath(os.path.realpath(scope.folder), os.path.realpath(top)).replace(os.sep, "/")
    begin = "" if folder == "." else f"{folder}/"
    listed = [each for each in git.files(top, commit) if each.path.startswith(begin) and each.mode != "120000"]
    listed = [each for each in listed if each.path.endswith((".yaml", ".yml", ".json"))]
    datas = git.contents(top, [each.blob for each in listed])
    mark = MARK.encode()
    ours = [(e.path[len(begin) :], data) for e, data in zip(listed, datas, strict=True) if data.startswith(mark)]
    if not ours:
        return None
    texts = [Text(path, data.decode("utf-8", "replace").replace("\r\n", "\n")) for path, data in ours]
    return [text for text in texts if text.path in others or _made_from(text, scope.prunes)]


def _made_from(text: Text, prunes: Sequence[str]) -> bool:
    """Whether the file's first line names an input below these paths; all, where there are none."""
    line = text.text.partition("\n")[0]
    source = line[len(MARK) : -len(_END)] if line.endswith(_END) else ""
    return not prunes or any(source == path or source.startswith(f"{path}/") for path in prunes)
