"""A question → the objects that it means, and for each of their fields who made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, Path, RenderError, dotted, make_diagnostic, suggestion
from renderer.explain import question
from renderer.explain.question import APPS, MissingField, Question
from renderer.explain.reasons import InputLine, Reason, ReasonFinder
from renderer.explain.rendered_objects import ExplainRun, Item, RenderedObject
from renderer.secret_detection import hide_in_line, hide_secrets


class AnswerBlock(Struct, frozen=True):
    """One object, or a field of it at `path`: its value, and who made each of its leaves, `path` of these being the
    object's.
    """

    rendered: RenderedObject
    path: Path
    value: Any
    leaves: tuple[tuple[Path, Any, Reason], ...]


class Answers(Struct, frozen=True):
    """`field`: whether a field was asked for, not whole objects."""

    blocks: tuple[AnswerBlock, ...]
    field: bool


def answer_question(text: str, options: RenderOptions, show: bool = False) -> Answers:
    """What the question comes to; with `show` values too that may be secrets. Raises RenderError for one that means
    nothing, and for input that does not hold.
    """
    asked = question.parse_question(text)
    run = ExplainRun(options)
    if run.wrong:
        raise RenderError(run.wrong)
    objects, name = _find_objects(run, asked)
    parts = question.steps(asked, asked.field(name))
    reasons = ReasonFinder(run)
    if not parts:
        return Answers(tuple(_block(reasons, manifest, (), show) for manifest in objects), False)
    rendered, path = _find_field(asked, objects, parts)
    return Answers((_block(reasons, rendered, path, show),), True)


def _block(reasons: ReasonFinder, rendered: RenderedObject, path: Path, show: bool) -> AnswerBlock:
    body = rendered.body if show else hide_secrets(rendered.body)
    value, real = _at(body, path), leaves(_at(rendered.body, path), path)
    located_reasons = []
    for (leaf_path, leaf), (_, hidden) in zip(leaves(value, path), real, strict=True):
        reason = reasons.of(rendered, leaf_path)
        located_reasons.append(
            (leaf_path, leaf, reason if show else _without_secrets(reason, rendered.body, leaf_path, leaf != hidden))
        )
    return AnswerBlock(rendered, path, value, tuple(located_reasons))


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _without_secrets(reason: Reason, body: Any, path: Path, hidden: bool) -> Reason:
    """The reason without secrets in the lines that it quotes; without lines where the field itself is `hidden`."""
    name = _at(body, path[:-1]).get("name") if path[-1:] == ("value",) else ""

    def place(line: InputLine) -> InputLine:
        return replace(line, text="" if hidden else hide_in_line(line.text, name if isinstance(name, str) else ""))

    return replace(
        reason,
        place=reason.place and place(reason.place),
        others=tuple(map(place, reason.others)),
        words=tuple((word, line and place(line)) for word, line in reason.words),
    )


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Every field that holds no further ones: scalars, and what is empty."""
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, (*path, i))]
    return [(path, value)]


# Which objects


def _find_objects(run: ExplainRun, asked: Question) -> tuple[list[RenderedObject], str]:
    """The objects, and the name that was meant. Raises RenderError."""
    names = list(asked.names())
    near = [item for item in run.items if any(f"{name}-".startswith(f"{item.label}-") for name in names)]
    for stage in ("near", "apps", "shared"):
        candidates = run.shared() if stage == "shared" else run.render_items(near if stage == "near" else run.items)
        for name in reversed(names):
            if objects := _objects_named(run, asked, name, candidates):
                return objects, name
        if run.refused and any(item.label in names for item in near):
            break
    if run.refused or any(problem.forbids() for problem in run.problems):
        # What is asked for may be what is wrong.
        raise RenderError([*run.refused, *(problem for problem in run.problems if problem.forbids())])
    raise RenderError([_unknown_object(run, asked, names)])


def _objects_named(
    run: ExplainRun, asked: Question, name: str, candidates: Sequence[RenderedObject]
) -> list[RenderedObject]:
    """The objects of this name; those of an app, where its name or its own kind is given."""
    exact = [
        candidate
        for candidate in candidates
        if candidate.key[2] == name
        and candidate.key[0] == asked.kind
        and (not asked.namespace or asked.namespace == candidate.key[1])
    ]
    if asked.kind and exact:
        if len(exact) > 1:
            raise RenderError([_ambiguous(asked, [str(candidate) for candidate in exact])])
        return exact
    if asked.kind and asked.kind not in APPS:
        return []
    items = [
        item
        for item in run.items
        if item.label == name
        and (not asked.kind or item.kind == asked.kind)
        and (not asked.namespace or item.namespace == asked.namespace)
    ]
    if len(items) > 1:
        raise RenderError([_ambiguous(asked, [f"{item.kind}/{item.namespace}/{item.label}" for item in items])])
    if items:
        return run.render_items(items)
    matches = [candidate for candidate in candidates if candidate.key[2] == name] if not asked.kind else []
    spaces = sorted({candidate.key[1] for candidate in matches})
    if len(spaces) > 1:
        raise RenderError([_ambiguous(asked, [str(candidate) for candidate in matches])])
    return matches


def _ambiguous(given: Question, known: Sequence[str]) -> Diagnostic:
    few = ", ".join(known[:6]) + (", …" if len(known) > 6 else "")
    return make_diagnostic("E776", given.origin, count=len(known), known=few)


def _unknown_object(run: ExplainRun, asked: Question, names: Sequence[str]) -> Diagnostic:
    """With a guess: the same name elsewhere first."""
    everything = [*run.render_items(run.items), *run.shared()]
    whole = "/".join(filter(None, (asked.kind, asked.namespace, names[0])))
    same_names = [str(candidate) for candidate in everything if candidate.key[2] in names]
    items: list[Item] = run.items
    same_apps = [f"{item.kind}/{item.namespace}/{item.label}" for item in items if item.label in names]
    same_names = [candidate for candidate in same_names if candidate.startswith(f"{asked.kind}/")] or same_names
    same_apps = [] if asked.kind and asked.kind not in APPS else same_apps
    if same_names or same_apps:
        hint = f"there is {', '.join(list(dict.fromkeys([*same_apps, *same_names]))[:4])}"
    elif asked.kind:
        of_kind = [candidate for candidate in everything if candidate.key[0] == asked.kind]
        known = sorted(
            {candidate.key[2] for candidate in of_kind} | {item.label for item in items if item.kind == asked.kind}
        )
        hint = suggestion(names[0], known) or f"no {asked.kind} is rendered"
    else:
        hint = suggestion(
            names[0], sorted({item.label for item in items} | {candidate.key[2] for candidate in everything})
        )
    return make_diagnostic("E777", asked.origin, what=whole, hint=hint)


def _find_field(
    asked: Question, objects: Sequence[RenderedObject], parts: Sequence[str]
) -> tuple[RenderedObject, Path]:
    """The one object that has the field. Raises RenderError."""
    attempts = [(attempt, question.path_in(asked, attempt.body, parts, str(attempt))) for attempt in objects]
    hits = [(rendered, path) for rendered, path in attempts if not isinstance(path, MissingField)]
    if not hits:
        attempts += [(rendered, path) for rendered in objects for path in _nested_paths(asked, rendered, parts)]
        hits = [(rendered, path) for rendered, path in attempts if not isinstance(path, MissingField)]
    if len(hits) > 1:
        one = len({id(rendered) for rendered, _ in hits}) == 1
        raise RenderError([_ambiguous(asked, [dotted(path) if one else str(rendered) for rendered, path in hits])])
    if hits:
        return hits[0]
    # The object in which it went furthest is the one that was meant.
    raise RenderError(
        [
            max(
                (path for _, path in attempts if isinstance(path, MissingField)), key=lambda attempt: attempt.deep
            ).problem
        ]
    )


def _nested_paths(asked: Question, rendered: RenderedObject, parts: Sequence[str]) -> Iterator[Path | MissingField]:
    """Where a path begins further in: `containers[model-runner].image`."""
    for start, value in _maps(rendered.body):
        if parts[0] in value:
            path = question.path_in(asked, value, parts, str(rendered))
            yield path if isinstance(path, MissingField) else (*start, *path)


def _maps(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        yield path, value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _maps(item, (*path, key))
