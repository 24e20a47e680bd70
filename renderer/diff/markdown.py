"""Writes a difference as the comment of a pull request.

Text from the input is always put into code, where Markdown, HTML and @ have no effect (renderer/text/escapes.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from renderer.diagnostics import Diagnostic, counted
from renderer.diff.comparison import ObjectChange, TreeDiff
from renderer.diff.models import ModelChange, ModelFact
from renderer.diff.options import OptionChange
from renderer.diff.risks import NAME, Risk
from renderer.diff.wording import (
    RiskGroup,
    accelerators,
    changed_gpus,
    count_risks,
    count_states,
    group_risks,
    headline,
    per_replica,
    price_arrow,
    price_change,
    quota_left,
    replicas,
    roles,
    shorten,
    summarize_gpus,
    title,
    total_prices,
    unpriced_count,
    yaml_diff,
)
from renderer.text.escapes import html_code, line, lines, markdown_code, markdown_fence, markdown_text

MOST = 65_536  # characters of a comment on GitHub
_CUT = 600  # characters for what was cut
_MANY = 6  # objects of one risk that are named
_ONE_ROW = 700  # characters of the risks that share a row
_ORDER = ("changed", "renamed", "added", "removed")  # what is cut first, stands last
_LONGEST, _LINES, _ERROR = 160, 30, 1_000  # characters of a value, lines of a cell, characters of an error


def markdown(diff: TreeDiff, environment: str = "", most: int = MOST) -> str:
    """The comment: a hidden marker to find it again, headline, risks, models, traffic, then YAML of objects. `most`:
    characters, of which what is there in any case may take more.
    """
    traffic_rows = [
        f"| {_code(w.name)} | {_words(w.aspect)} | {_code(w.before) or 'none'} | {_code(w.after) or 'none'} |"
        for w in diff.traffic
    ]
    text = _head(environment, headline(diff)) + _risks(diff.risks)
    head = f"| {count_states(diff.models, 'model')} | change | replicas |"
    text += _table(head, [_model(model) for model in diff.models], "model", 12_000)
    text += _list("Roles", [f"* {_code(change.place)}: {markdown_text(roles(change))}" for change in diff.roles], 4_000)
    summary = summarize_gpus(diff) or ("price" if _prices(diff) else "quota")
    kind = "what" if _prices(diff) or diff.quotas else "accelerator"
    text += _table(f"| {summary} | {kind} | a replica | at most |", _gpus(diff), "line", 4_000)
    text += _table("| traffic of | what | before | after |", traffic_rows, "line", 6_000)
    text += _list("Notes", [f"* {_code(note, _ERROR)}" for note in diff.notes], 6_000)
    text += _section(count_states(diff.objects, "object"), "")
    shown = [change for state in _ORDER for change in diff.objects if change.state == state]
    blocks, left = _blocks(shown, most - _CUT - _github_length(text))
    text += "".join(blocks)
    moved = [change for change in diff.objects if change.state == "moved"]
    if moved:
        text += f"\n{counted(len(moved), 'object')} moved to another file, otherwise the same.\n"
    if left:
        text += f"\nNot shown, since a comment has an end: {counted(left, 'object')} more; `llmaz diff` shows all.\n"
    return text


def markdown_errors(
    problems: Iterable[Diagnostic], environment: str = "", strict: bool = False, risks: Iterable[Risk] = ()
) -> str:
    """The comment for a later side that cannot be rendered: its errors, below the risks that are known."""
    errors = [problem for problem in sorted(set(problems)) if problem.forbids(strict)]
    known = list(risks)
    summary = [count_risks(known), f"{counted(len(errors), 'error')}, nothing to compare"]
    text = _head(environment, " · ".join(filter(None, summary))) + _risks(known)
    rows = []
    for diagnostic in errors:
        hint = f"<br>{_code(diagnostic.hint, _ERROR)}" if diagnostic.hint else ""
        rows.append(
            f"| {_code(diagnostic.place)} | {_code(diagnostic.code)} | {_code(diagnostic.text, _ERROR)}{hint} |"
        )
    return text + _table("| place | code | error |", rows, "error", MOST - _CUT - _github_length(text))


def _risks(risks: Sequence[Risk]) -> str:
    """The list of all risks with their remedies, right below the headline that counts them. Each class has its own
    room, so that many risks of one class hide none of the others.
    """
    rows: dict[str, list[str]] = {}
    for groups in group_risks(risks):
        rows.setdefault(groups[0].risk.risk_class, []).extend(_risk_rows(groups))
    lists = [fit_list(of_class, 8_000 if name == "guard" else 5_500) for name, of_class in rows.items()]
    return "".join(["\n", *lists]) if lists else ""


def _section(head: str, text: str) -> str:
    """The text below a head; '' without a head."""
    return f"\n**{head}**\n{text}" if head else ""


def _head(environment: str, summary: str) -> str:
    """The hidden marker, reduced to safe characters of the environment, and the headline."""
    name = re.sub(r"[^A-Za-z0-9.-]|-(?=-)", "", environment)
    marker = f"<!-- llmaz:{name} -->" if name else "<!-- llmaz -->"
    return f"{marker}\n### llmaz{f' {_code(environment)}' if environment else ''}: {summary}\n"


def _github_length(text: str) -> int:
    """The length as GitHub may count it: characters beyond the Basic Multilingual Plane count twice."""
    return len(text) + sum(character > "\uffff" for character in text)


def _table(head: str, rows: Sequence[str], word: str, room: int) -> str:
    if not rows:
        return ""
    bars = "|" + "---|" * (head.count("|") - 1)
    shown, left = _fit_rows(rows, room)
    more = f"\n\nand {counted(left, f'{word} more' if left == 1 else f'more {word}')}" if left else ""
    return "\n" + "\n".join([head, bars, *shown]) + more + "\n"


def _list(head: str, rows: Sequence[str], room: int) -> str:
    return _section(head, f"\n{fit_list(rows, room)}") if rows else ""


def fit_list(rows: Sequence[str], room: int) -> str:
    """The rows of a list that fit into `room` characters, and the number of those left out."""
    shown, left = _fit_rows(rows, room)
    return "".join(f"{row}\n" for row in shown) + (f"* and {left:,} more\n" if left else "")


def _fit_rows(rows: Sequence[str], room: int) -> tuple[list[str], int]:
    """The rows that fit into `room` characters, and the number of those left out."""
    shown: list[str] = []
    for row in rows:
        room -= _github_length(row) + 3
        if room < 0:
            break
        shown.append(row)
    return shown, len(rows) - len(shown)


def _risk_rows(groups: Sequence[RiskGroup]) -> list[str]:
    """The rows of these risks, which have a title and a remedy in common: one row if they are short, else one each."""
    first = groups[0].risk
    title, remedy = f"* **{first.title}**", f"<br>Remedy: {_marked(first.marked_remedy)}"
    by_lead: dict[str, list[str]] = {}
    for group in groups:
        by_lead.setdefault(_marked(group.risk.lead), []).append(_risk(group))
    line = "; ".join(f"{lead}{'; '.join(texts)}" for lead, texts in by_lead.items())
    if len(groups) == 1 or _github_length(line) <= _ONE_ROW:
        return [f"{title}: {line}{remedy}"]
    rows = [f"  * {lead}{text}" for lead, texts in by_lead.items() for text in texts]
    return [f"{title}{remedy}\n{rows[0]}", *rows[1:]]


def _risk(group: RiskGroup) -> str:
    """The objects of the risks, and what they are without their lead."""
    places = group.places
    more = f" and {len(places) - _MANY:,} more" if len(places) > _MANY else ""
    return f"{', '.join(map(_code, places[:_MANY]))}{more}: {_marked(group.risk.marked_text)}"


def _marked(text: str) -> str:
    """A text of ours, with code for each part between NAME characters."""
    return "".join(_code(part) if i % 2 else line(part) for i, part in enumerate(text.split(NAME)))


def _model(change: ModelChange) -> str:
    model = change.after or change.before
    name = f" ({_code(model.name)})" if model and model.name else ""
    lines = (
        [f"**{change.state}**{f', was {_code(old.place)}' if (old := change.renamed_from) else ''}"]
        if change.state != "changed"
        else []
    )
    lines += [_fact(fact) for fact in change.facts if fact.name != "replicas"]
    lines += [_option(flag) for flag in change.flags]
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"and {len(lines) - _LINES} more"]
    summary = "<br>".join(
        [*(lines or [_change_summary(change)]), *([f"GPU memory: {change.memory}"] if change.memory else [])]
    )
    return f"| {_code(change.key.place)}{name} | {summary} | {replicas(change)} |"


def _change_summary(change: ModelChange) -> str:
    return "replicas" if any(fact.name == "replicas" for fact in change.facts) else "other fields"


def _gpus(diff: TreeDiff) -> list[str]:
    """Rows of accelerators below the totals of the headline: first the sums of kinds that change and are not those of a
    single model, then those of each model; then what a month costs, and what is left of quotas.
    """
    changed = changed_gpus(diff)
    rows = [(_code(model.key.place), _code(gpu.name), per_replica(gpu), accelerators(gpu)) for model, gpu in changed]
    if rows and (len(diff.models) > 1 or len(diff.gpus) > 1):
        whole = "these models in total" if len(diff.models) > 1 else rows[0][0]
        single = [(gpu.name, gpu.peak) for _, gpu in changed]
        kinds = [gpu for gpu in diff.gpus if gpu.peak[0] != gpu.peak[1] and (gpu.name, gpu.peak) not in single]
        sums = [(_code(gpu.name), accelerators(gpu)) for gpu in kinds] if len(diff.gpus) > 1 else []
        rows = [*((whole, kind, "", figures) for kind, figures in sums), *rows]
    rows += _prices(diff)
    rows += [
        (_code(quota.name) if quota.name else "RenderPolicy", _code(quota.what), "", quota_left(quota))
        for quota in diff.quotas
    ]
    return [f"| {' | '.join(row)} |" for row in rows]


def _prices(diff: TreeDiff) -> list[tuple[str, str, str, str]]:
    """Rows of what a month costs with the most replicas: of all models, and of each whose price changes."""
    changes = [(_code(model.key.place), price_change(model, diff.currency)) for model in diff.models]
    changed = [(name, change) for name, change in changes if change]
    if len(changed) > 1:
        whole = "those with prices in total" if unpriced_count(diff) else "these models in total"
        changed.insert(0, (whole, price_arrow(*total_prices(diff), diff.currency)))
    return [(name, "price of a month", "", change) for name, change in changed]


def _fact(fact: ModelFact) -> str:
    if not fact.before or not fact.after:
        return f"{_words(fact.name)} {'added' if fact.after else 'gone'}: {_code(fact.after or fact.before)}"
    return f"{_words(fact.name)} {_code(fact.before)} → {_code(fact.after)}"


def _option(flag: OptionChange) -> str:
    name = ("worker: " if flag.of_workers else "") + ("option" if flag.name else "argument")
    if flag.before is None or flag.after is None:
        option = f"{flag.name} {flag.after if flag.before is None else flag.before}".strip()
        return f"{name} {_code(option)} {'added' if flag.before is None else 'gone'}"
    name = f"{name} {_code(flag.name)}" if flag.name else name
    return f"{name} {_code(flag.before) or 'no value'} → {_code(flag.after) or 'no value'}"


def _words(text: str) -> str:
    """The text as it is if it is only our own words, else as code, since it holds a name from the input."""
    return text if re.fullmatch(r"[A-Za-z ]+", text) else _code(text)


def _blocks(objects: Sequence[ObjectChange], room: int) -> tuple[list[str], int]:
    """Folded blocks for objects until `room` is used up, the last one perhaps cut; and how many are left out."""
    blocks: list[str] = []
    for i, change in enumerate(objects):
        head = f"\n<details><summary>{change.state} {html_code(shorten(line(title(change)), _LONGEST))}</summary>\n\n"
        changes = yaml_diff(change)
        fence = markdown_fence("\n".join(changes))
        open_, close = f"{fence}diff\n", f"{fence}\n\n</details>\n"
        left = room - sum(map(_github_length, (head, open_, close))) - 80
        shown, missing = _cut(changes, left)
        if not shown and changes:
            return blocks, len(objects) - i
        note = f"\n{counted(missing, 'line')} more are not shown.\n" if missing > 1 else ""
        note = note or ("\n1 line more is not shown.\n" if missing else "")
        block = head + open_ + "".join(f"{text}\n" for text in shown) + f"{fence}\n{note}\n</details>\n"
        blocks.append(block)
        room -= _github_length(block)
        if missing:
            return blocks, len(objects) - i - 1
    return blocks, 0


def _cut(changes: Sequence[str], room: int) -> tuple[list[str], int]:
    shown: list[str] = []
    for text in changes:
        text = shorten(lines(line(text)), 2_000)
        room -= _github_length(text) + 1
        if room < 0:
            break
        shown.append(text)
    return shown, len(changes) - len(shown)


def _code(text: str, most: int = _LONGEST) -> str:
    """The text as code in one line, safe for any content; '' for no text."""
    return markdown_code(shorten(line(text), most))
