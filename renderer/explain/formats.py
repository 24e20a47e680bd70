"""Writes answers as text for people, in 120 columns, and as JSON for editors."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import yamlio
from renderer.diagnostics import Path, dotted
from renderer.explain.answers import AnswerBlock, Answers
from renderer.explain.field_descriptions import SUM
from renderer.explain.reasons import FILLED, MADE, RULE, InputLine, Reason
from renderer.text import escapes

_WIDTH = 120
_MAX_MARGIN = 46  # the widest margin
_DITTO = '"'


def as_text(answer: Answers) -> str:
    """Each line of an object with its reason in the margin; a single field with all sources that set it."""
    if answer.field and len(answer.blocks[0].leaves) == 1:
        return escapes.lines(_single_field(answer.blocks[0]))
    parts = []
    for block in answer.blocks:
        path = f"{escapes.line(dotted(block.path))}\n" if block.path else ""
        parts.append(f"{_heading(block)}\n{path}{_listing(block)}")
    return escapes.lines("\n".join(parts))


def _heading(block: AnswerBlock) -> str:
    return _cut(f"{block.rendered}, made for {block.rendered.owner}", _WIDTH)


def _listing(block: AnswerBlock) -> str:
    """The object as YAML, with reasons in the margin."""
    text = yamlio.dump(block.value).rstrip("\n")
    lines = text.split("\n")
    reasons = _line_reasons(block, text)
    margins = [escapes.line(_margin(reasons.get(i))) for i in range(len(lines))]
    width = min(_MAX_MARGIN, max(map(len, margins)))
    annotated, previous = [], ""
    for i, (margin, line) in enumerate(zip(margins, lines, strict=True)):
        reason = reasons.get(i)
        shown = _cut(margin, width)
        if reason and margin == previous and (reason.how == RULE or reasons.get(i) is reasons.get(i - 1)):
            shown = _DITTO
        previous = margin
        annotated.append(_cut(f"{shown:<{width}} | {line}".rstrip(), _WIDTH))
    return "\n".join(annotated) + "\n"


def _line_reasons(block: AnswerBlock, text: str) -> dict[int, Reason]:
    """The reason of each line, from 0; lines of non-empty maps and lists have none."""
    (document,), _ = yamlio.parse("", text.encode())
    starts = {document.locate(path[len(block.path) :])[0] - 1: (path, reason) for path, _, reason in block.leaves}
    reasons: dict[int, Reason] = {}
    lines = text.split("\n")
    for start, (path, reason) in starts.items():
        reasons[start] = reason
        if lines[start].rstrip("-+2").endswith("|"):  # a text of several lines
            indent = len(lines[start]) - len(lines[start].lstrip())
            for i in range(start + 1, len(lines)):
                if lines[i].strip() and len(lines[i]) - len(lines[i].lstrip()) <= indent:
                    break
                reasons[i] = block.lines.get((path, i - start - 1), reason)
    return reasons


def _margin(reason: Reason | None) -> str:
    if reason is None:
        return ""
    if reason.place is None:
        return f"rule: {reason.rule}"
    return f"{'of ' if reason.how == MADE else ''}{_short_place(reason.place)}"


def _short_place(place: InputLine) -> str:
    line = f":{place.line}" if place.line else ""
    return f"{_file(place)}{line}{' (preset)' if place.preset else ''}"


def _file(place: InputLine) -> str:
    return place.file.removeprefix("presets/") if place.preset else place.file


def _cut(text: str, width: int) -> str:
    """The text in one line, cut to `width`."""
    text = escapes.line(text)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _single_field(block: AnswerBlock) -> str:
    """A field, its value, its reason, and the other sources that set it."""
    ((path, value, reason),) = block.leaves
    field, shown = f"{escapes.line(dotted(path))}:", escapes.line(_one_line(value))
    pair = f"{field} {shown}"
    text_lines = [_heading(block), *([pair] if len(pair) <= _WIDTH else [field, f"  {shown}"]), ""]
    if reason.place is None:
        text_lines.append(f"rule: {reason.rule}")
    else:
        if reason.rule:
            text_lines.append(f"rule: {reason.rule}")
        text_lines += _place_lines(reason.place, {FILLED: "filled in from ", MADE: "made of "}.get(reason.how, ""))
    for word, place in reason.words:
        if place is None:
            text_lines.append(f"{word}: the renderer's own word")
        else:
            text_lines += _place_lines(place, f"{word}: made of ")
    if len(reason.others) > 1:
        heading = "its parts, of each the last wins:" if path[-1] == "image" else "who speaks of it, the last wins:"
        if reason.rule == SUM:
            heading = "who speaks of it, the last adds to what wins of the others:"
        text_lines += ["", heading]
        for other in reason.others:
            text_lines += [f"  {line}" for line in _place_lines(other)]
    return "\n".join(map(escapes.line, text_lines)) + "\n"


def _place_lines(place: InputLine, prefix: str = "") -> Iterator[str]:
    """A place, and the line of input there."""
    place_text = ":".join(str(part) for part in (_file(place), place.line, place.column) if part)
    yield f"{prefix}{place_text}{' (preset)' if place.preset else ''}: {place.field}"
    if place.text:
        yield _cut(f"  {place.line:>5} | {place.text}", _WIDTH - 2)


def _one_line(value: object) -> str:
    """A value in one line; of a text of several only the beginning, where it is long."""
    text = yamlio.dump(value).strip("\n")
    return _cut(escapes.json_text(value), _WIDTH - 2) if "\n" in text else text


def as_json(answer: Answers) -> str:
    """One JSON list, an item an object: kind, namespace, name, madeFor, fields."""
    return escapes.json_text([_object(block) for block in answer.blocks], indent=2) + "\n"


def _object(block: AnswerBlock) -> dict[str, object]:
    kind, namespace, name = block.rendered.key
    fields = [_field(path, value, reason) for path, value, reason in block.leaves]
    head = {"apiVersion": block.rendered.body["apiVersion"], "kind": kind, "namespace": namespace or None, "name": name}
    return {**head, "madeFor": block.rendered.owner, "fields": fields}


def _field(path: Path, value: object, reason: Reason) -> dict[str, object]:
    """A field as JSON; all keys are present, null where there is no value."""
    return {
        "path": dotted(path),
        "value": value,
        "how": reason.how,
        "rule": reason.rule or None,
        "origin": _origin(reason.place) if reason.place else None,
        "words": {word: _origin(place) if place else None for word, place in reason.words},
        "speakers": [_origin(other) for other in reason.others],
    }


def _origin(place: InputLine) -> dict[str, object]:
    return {
        "file": place.file,
        "line": place.line or None,
        "column": place.column or None,
        "field": place.field,
        "preset": place.preset,
        "text": place.text or None,
    }
