"""A difference as the comment of a pull request.

What comes from the input stands in code only, where Markdown, HTML and @ mean nothing (renderer/escapes.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from renderer.diff.comparing import Altered, Diff
from renderer.diff.gpus import Gpus
from renderer.diff.models import Fact, ModelChange
from renderer.diff.options import Flag
from renderer.diff.risks import KINDS, NAME, Risk
from renderer.diff.words import (
    accelerators,
    cut,
    headline,
    per_replica,
    plural,
    replicas,
    title,
    together,
    yaml_diff,
)
from renderer.escapes import html_code, line, lines, markdown_code, markdown_fence
from renderer.problems import Problem

MOST = 65_536  # characters of a comment on GitHub
_ROOM = MOST - 600  # the rest is for what was cut
_MANY = 6  # objects of one risk that are named
_ORDER = ("changed", "renamed", "added", "removed")  # what is cut first, stands last
_LONGEST, _LINES, _ERROR = 160, 30, 1_000  # characters of a value, lines of a cell, characters of an error


def markdown(diff: Diff, environment: str = "") -> str:
    """The marker by which the comment is found again; headline, models, risks, traffic; then each object's YAML."""
    ways = [f"| {_code(w.name)} | {_words(w.what)} | {_code(w.before)} | {_code(w.after)} |" for w in diff.traffic]
    made = _head(environment, headline(diff))
    made += _table("| model | change | replicas |", [_model(each) for each in diff.models], "model", 12_000)
    made += _table("| GPUs of | accelerator | a replica | at most |", _gpus(diff), "line", 4_000)
    made += _list("Risks", [_risk(*each) for each in together(diff.risks)], 8_000)
    made += _table("| traffic of | what | before | after |", ways, "line", 6_000)
    made += _list("Notes", [_code(each, _ERROR) for each in diff.notes], 6_000)
    shown = [each for state in _ORDER for each in diff.objects if each.state == state]
    blocks, left = _blocks(shown, _ROOM - _long(made))
    made += "".join(blocks)
    moved = [each for each in diff.objects if each.state == "moved"]
    if moved:
        made += f"\n{plural(len(moved), 'object')} moved to another file, otherwise the same.\n"
    if left:
        made += f"\nNot shown, since a comment has an end: {plural(left, 'object')} more; `llmaz diff` shows all.\n"
    return made


def refused(problems: Iterable[Problem], environment: str = "", strict: bool = False) -> str:
    """The comment where the later side cannot be rendered: its errors."""
    wrong = [each for each in sorted(set(problems)) if each.forbids(strict)]
    made = _head(environment, f"{plural(len(wrong), 'error')}, nothing to compare")
    rows = []
    for each in wrong:
        hint = f"<br>{_code(each.hint, _ERROR)}" if each.hint else ""
        rows.append(f"| {_code(each.place)} | {_code(each.code)} | {_code(each.text, _ERROR)}{hint} |")
    return made + _table("| place | code | error |", rows, "error", _ROOM - _long(made))


def _head(environment: str, said: str) -> str:
    """The marker, which nothing can break out of, and the headline."""
    name = re.sub(r"[^A-Za-z0-9.-]|-(?=-)", "", environment)
    marker = f"<!-- llmaz:{name} -->" if name else "<!-- llmaz -->"
    return f"{marker}\n### llmaz{f' {_code(environment)}' if environment else ''}: {said}\n"


def _long(text: str) -> int:
    """As GitHub may count it: what lies beyond the Basic Multilingual Plane is two."""
    return len(text) + sum(each > "\uffff" for each in text)


def _table(head: str, rows: Sequence[str], word: str, room: int) -> str:
    if not rows:
        return ""
    bars = "|" + "---|" * (head.count("|") - 1)
    kept, left = _fitting(rows, room)
    more = f"\n\nand {plural(left, f'{word} more' if left == 1 else f'more {word}')}" if left else ""
    return "\n" + "\n".join([head, bars, *kept]) + more + "\n"


def _list(head: str, rows: Sequence[str], room: int) -> str:
    if not rows:
        return ""
    kept, left = _fitting(rows, room)
    kept = [f"* {row}" for row in kept] + ([f"* and {left:,} more"] if left else [])
    return f"\n**{head}**\n\n" + "\n".join(kept) + "\n"


def _fitting(rows: Sequence[str], room: int) -> tuple[list[str], int]:
    """The rows that there is room for, one at least where it is not huge, and how many are left."""
    kept: list[str] = []
    for row in rows:
        room -= _long(row) + 3
        if room < 0:
            break
        kept.append(row)
    return kept, len(rows) - len(kept)


def _risk(risk: Risk, places: Sequence[str]) -> str:
    words = [_code(part) if i % 2 else line(part) for i, part in enumerate(risk.said.split(NAME))]
    more = f" and {len(places) - _MANY:,} more" if len(places) > _MANY else ""
    return f"**{KINDS[risk.kind]}**: {', '.join(map(_code, places[:_MANY]))}{more}: {''.join(words)}"


def _model(each: ModelChange) -> str:
    known = each.after or each.before
    of = f"<br>{_code(known.name)}" if known and known.name else ""
    lines = (
        [f"**{each.state}**{f', was {_code(each.was.place)}' if each.was else ''}"] if each.state != "changed" else []
    )
    lines += [_fact(fact) for fact in each.facts if fact.what != "replicas"]
    lines += [_option(flag) for flag in each.flags]
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"and {len(lines) - _LINES} more"]
    return f"| {_code(each.key.place)}{of} | {'<br>'.join(lines) or _rest(each)} | {replicas(each)} |"


def _rest(each: ModelChange) -> str:
    return "replicas" if any(fact.what == "replicas" for fact in each.facts) else "other fields"


def _gpus(diff: Diff) -> list[str]:
    """All that differs, where several models say something; then by model, since the end of a table may be cut."""
    listed = [(_code(each.key.place), one) for each in diff.models for one in each.gpus if _differs(one)]
    if len({place for place, _ in listed}) > 1:
        listed = [("all of these models", each) for each in diff.gpus] + listed
    rows = [(place, _code(each.name), per_replica(each), accelerators(each)) for place, each in listed]
    return [f"| {' | '.join(row)} |" for row in rows]


def _differs(each: Gpus) -> bool:
    return each.replica[0] != each.replica[1] or each.most[0] != each.most[1]


def _fact(fact: Fact) -> str:
    if not fact.before or not fact.after:
        return f"{_words(fact.what)} {'added' if fact.after else 'gone'}: {_code(fact.after or fact.before)}"
    return f"{_words(fact.what)} {_code(fact.before)} → {_code(fact.after)}"


def _option(flag: Flag) -> str:
    name = "option" if flag.name else "argument"
    if flag.before is None or flag.after is None:
        said = f"{flag.name} {flag.after if flag.before is None else flag.before}".strip()
        return f"{name} {_code(said)} {'added' if flag.before is None else 'gone'}"
    name = f"{name} {_code(flag.name)}" if flag.name else name
    return f"{name} {_code(flag.before) or 'no value'} → {_code(flag.after) or 'no value'}"


def _words(text: str) -> str:
    """Words of ours as they are, as code where a name of the input's stands among them."""
    return text if re.fullmatch(r"[A-Za-z ]+", text) else _code(text)


def _blocks(objects: Sequence[Altered], room: int) -> tuple[list[str], int]:
    """A folded block for each object as long as there is room: the last one may be cut. And how many are left."""
    made: list[str] = []
    for i, each in enumerate(objects):
        head = f"\n<details><summary>{each.state} {html_code(cut(line(title(each)), _LONGEST))}</summary>\n\n"
        changes = yaml_diff(each)
        fence = markdown_fence("\n".join(changes))
        open_, close = f"{fence}diff\n", f"{fence}\n\n</details>\n"
        left = room - sum(map(_long, (head, open_, close))) - 80
        kept, missing = _cut(changes, left)
        if not kept and changes:
            return made, len(objects) - i
        note = f"\n{plural(missing, 'line')} more are not shown.\n" if missing > 1 else ""
        note = note or ("\n1 line more is not shown.\n" if missing else "")
        block = head + open_ + "".join(f"{text}\n" for text in kept) + f"{fence}\n{note}\n</details>\n"
        made.append(block)
        room -= _long(block)
        if missing:
            return made, len(objects) - i - 1
    return made, 0


def _cut(changes: Sequence[str], room: int) -> tuple[list[str], int]:
    kept: list[str] = []
    for text in changes:
        text = cut(lines(line(text)), 2_000)
        room -= _long(text) + 1
        if room < 0:
            break
        kept.append(text)
    return kept, len(changes) - len(kept)


def _code(text: str, most: int = _LONGEST) -> str:
    """Text as code in one line, whatever it holds; '' for none."""
    return markdown_code(cut(line(text), most))
