"""Answers a question: the objects that it names, and the reason of each of their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, Path, RenderError, dotted, make_diagnostic, suggestion
from renderer.explain.question import (
    APPS,
    MODELS,
    MissingField,
    Question,
    find_path,
    parse_question,
    split_field,
    unknown_kind,
)
from renderer.explain.reasons import InputLine, Reason, ReasonFinder
from renderer.explain.rendered_objects import ExplainRun, Item, RenderedObject
from renderer.kubernetes.workloads import pod_templates
from renderer.secrets.detection import hide_in_line, hide_secrets


class AnswerBlock(Struct, frozen=True):
    """The answer about an object, or about a field of it."""

    rendered: RenderedObject
    path: Path  # of the field, () for the object
    value: object
    leaves: tuple[tuple[Path, object, Reason], ...]  # path in the object, value and reason of each leaf
    lines: Mapping[tuple[Path, int], Reason] = {}  # of texts of which single lines have reasons of their own, from 0


class Answers(Struct, frozen=True):
    """The blocks of an answer."""

    blocks: tuple[AnswerBlock, ...]
    field: bool  # the question was about a field instead of whole objects
    warnings: tuple[Diagnostic, ...] = ()  # why the answer may be another one than was asked for


def answer_question(text: str, options: RenderOptions, show: bool = False) -> Answers:
    """The answers to the question; with `show` without hiding secrets. Raises RenderError for a question without an
    answer, and for invalid input.
    """
    question = parse_question(text)
    run = ExplainRun(options)
    if run.wrong:
        raise RenderError(run.wrong)
    objects, name = find_objects(run, question)
    parts = split_field(question, question.field(name))
    reasons = ReasonFinder(run)
    if not parts:
        return Answers(tuple(answer_block(reasons, manifest, (), show) for manifest in objects), False)
    rendered, path = _find_field(question, objects, parts)
    return Answers((answer_block(reasons, rendered, path, show),), True)


def answer_block(reasons: ReasonFinder, rendered: RenderedObject, path: Path, show: bool) -> AnswerBlock:
    """The answer about an object, or its field at `path`; with `show` without hiding secrets."""
    body = rendered.body if show else hide_secrets(rendered.body)
    value, unhidden = _value_at(body, path), leaves(_value_at(rendered.body, path), path)
    located_reasons = []
    for (leaf_path, leaf), (_, hidden) in zip(leaves(value, path), unhidden, strict=True):
        reason = reasons.of(rendered, leaf_path)
        located_reasons.append(
            (leaf_path, leaf, reason if show else _without_secrets(reason, rendered.body, leaf_path, leaf != hidden))
        )
    lines = {
        (leaf_path, i): by if show else _without_secrets(by, rendered.body, leaf_path, hidden=False)
        for leaf_path, leaf in leaves(value, path)
        for i in range(leaf.count("\n") if isinstance(leaf, str) else 0)
        if (by := reasons.of_line(rendered, leaf_path, i))
    }
    return AnswerBlock(rendered, path, value, tuple(located_reasons), lines)


def line_block(block: AnswerBlock, line: int) -> AnswerBlock:
    """The answer about a line, from 0, of the text that a block is about; that of the whole where nobody knows more."""
    reason = block.lines.get((block.path, line))
    if reason is None:
        return block
    text = str(block.value).splitlines()[line]
    return replace(block, value=text, leaves=((block.path, text, reason),), lines={})


def _value_at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _without_secrets(reason: Reason, body: object, path: Path, hidden: bool) -> Reason:
    """The reason with secrets hidden in quoted lines; without quoted lines where the field itself is `hidden`."""
    name = _value_at(body, path[:-1]).get("name") if path[-1:] == ("value",) else ""

    def place(line: InputLine) -> InputLine:
        return replace(line, text="" if hidden else hide_in_line(line.text, name if isinstance(name, str) else ""))

    return replace(
        reason,
        place=reason.place and place(reason.place),
        others=tuple(map(place, reason.others)),
        words=tuple((word, line and place(line)) for word, line in reason.words),
    )


def leaves(value: object, path: Path = ()) -> list[tuple[Path, object]]:
    """The paths and values of scalars and of empty maps and lists."""
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, (*path, i))]
    return [(path, value)]


def find_objects(run: ExplainRun, question: Question) -> tuple[list[RenderedObject], str]:
    """The objects of a question, and the part of it that is their name. Raises RenderError."""
    names = list(question.names())
    if not question.kind and question.namespace not in ("", *(item.namespace for item in run.items)):
        problem = unknown_kind(question, question.namespace)
        is_near = problem.hint.startswith("did you mean")  # to a kind
        is_app = not is_near and any(item.label in names for item in run.items)
        raise RenderError([_unknown_object(run, question, names) if is_app else problem])
    near_items = [item for item in run.items if any(f"{name}-".startswith(f"{item.label}-") for name in names)]
    for stage in ("near", "apps", "shared"):
        candidates = (
            run.shared() if stage == "shared" else run.render_items(near_items if stage == "near" else run.items)
        )
        for name in reversed(names):
            if objects := _objects_named(run, question, name, candidates):
                return objects, name
        if run.refused and any(item.label in names for item in near_items):
            break
    if run.refused or any(problem.forbids() for problem in run.problems):
        # The object may be missing because of these errors.
        raise RenderError([*run.refused, *(problem for problem in run.problems if problem.forbids())])
    raise RenderError([_unknown_object(run, question, names)])


def _objects_named(
    run: ExplainRun, question: Question, name: str, candidates: Sequence[RenderedObject]
) -> list[RenderedObject]:
    """The objects of this name, or all objects of the app of this name, unless a rendered kind is given."""
    exact = [
        candidate
        for candidate in candidates
        if candidate.key[2] == name
        and candidate.key[0] == question.kind
        and (not question.namespace or question.namespace == candidate.key[1])
    ]
    if question.kind and exact:
        if len(exact) > 1:
            raise RenderError([_ambiguous(question, [str(candidate) for candidate in exact])])
        return exact
    if question.kind and question.kind not in APPS:
        return []
    items = [
        item
        for item in run.items
        if item.label == name
        and (not question.kind or item.kind == question.kind)
        and (not question.namespace or item.namespace == question.namespace)
    ]
    if question.namespace and not question.kind:  # as a difference names a model
        items = [item for item in items if item.kind in MODELS] or items
    if len(items) > 1:
        raise RenderError([_ambiguous(question, [f"{item.kind}/{item.namespace}/{item.label}" for item in items])])
    if items:
        return run.render_items(items)
    matches = [candidate for candidate in candidates if candidate.key[2] == name] if not question.kind else []
    namespaces = sorted({candidate.key[1] for candidate in matches})
    if len(namespaces) > 1:
        raise RenderError([_ambiguous(question, [str(candidate) for candidate in matches])])
    return matches


def _ambiguous(question: Question, known: Sequence[str]) -> Diagnostic:
    shown = ", ".join(known[:6]) + (", …" if len(known) > 6 else "")
    return make_diagnostic("E776", question.origin, count=len(known), known=shown)


def _unknown_object(run: ExplainRun, question: Question, names: Sequence[str]) -> Diagnostic:
    """The error for an unknown name, with a hint: preferably the same name in another kind or namespace."""
    all_objects = [*run.render_items(run.items), *run.shared()]
    full_name = "/".join(filter(None, (question.kind, question.namespace, names[0])))
    same_names = [str(candidate) for candidate in all_objects if candidate.key[2] in names]
    items: list[Item] = run.items
    same_apps = [f"{item.kind}/{item.namespace}/{item.label}" for item in items if item.label in names]
    same_names = [candidate for candidate in same_names if candidate.startswith(f"{question.kind}/")] or same_names
    same_apps = [] if question.kind and question.kind not in APPS else same_apps
    if same_names or same_apps:
        hint = f"there is {', '.join(list(dict.fromkeys([*same_apps, *same_names]))[:4])}"
    elif question.kind:
        of_kind = [candidate for candidate in all_objects if candidate.key[0] == question.kind]
        known = sorted(
            {candidate.key[2] for candidate in of_kind} | {item.label for item in items if item.kind == question.kind}
        )
        hint = suggestion(names[0], known) or f"no {question.kind} is rendered"
    else:
        hint = suggestion(
            names[0], sorted({item.label for item in items} | {candidate.key[2] for candidate in all_objects})
        )
    return make_diagnostic("E777", question.origin, what=full_name, hint=hint)


def _find_field(
    question: Question, objects: Sequence[RenderedObject], parts: Sequence[str]
) -> tuple[RenderedObject, Path]:
    """The only object with the field, and the field's path. Raises RenderError."""
    attempts = [(attempt, find_path(question, attempt.body, parts, str(attempt))) for attempt in objects]
    hits = [(rendered, path) for rendered, path in attempts if not isinstance(path, MissingField)]
    if not hits:
        attempts += [(rendered, path) for rendered in objects for path in _nested_paths(question, rendered, parts)]
        hits = [(rendered, path) for rendered, path in attempts if not isinstance(path, MissingField)]
    if len(hits) > 1:
        same_object = len({id(rendered) for rendered, _ in hits}) == 1
        raise RenderError(
            [_ambiguous(question, [dotted(path) if same_object else str(rendered) for rendered, path in hits])]
        )
    if hits:
        return hits[0]
    # Report the object in which the path matches furthest.
    raise RenderError(
        [
            max(
                (path for _, path in attempts if isinstance(path, MissingField)), key=lambda attempt: attempt.depth
            ).problem
        ]
    )


def _nested_paths(question: Question, rendered: RenderedObject, parts: Sequence[str]) -> Iterator[Path | MissingField]:
    """Matches of a path that begins at an inner map: `containers[model-runner].image`."""
    for start, value in _maps(rendered.body):
        if parts[0] in value:
            path = find_path(question, value, parts, str(rendered))
            yield path if isinstance(path, MissingField) else (*start, *path)
            template: Path = (*start, parts[0])
            if isinstance(path, MissingField) and template in [pods.path for pods in pod_templates(rendered.body)]:
                yield from _paths_below(question, rendered, template, parts[1:])


def _paths_below(
    question: Question, rendered: RenderedObject, template: Path, parts: Sequence[str]
) -> Iterator[Path | MissingField]:
    """Matches in one of the pod templates of a workload."""
    for start, value in _maps(_value_at(rendered.body, template)):
        if parts[0] in value:
            path = find_path(question, value, parts, str(rendered))
            if isinstance(path, MissingField):
                yield replace(path, depth=path.depth + 1)
            else:
                yield (*template, *start, *path)


def _maps(value: object, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        yield path, value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _maps(item, (*path, key))
