"""Whether an engine would take a command line: its options against the list of its version, by its own rules.

The rules of each style were compared with the engines' own parsers (tests/data/option_judgements.yaml). Short options
that no list holds are called unknown only where a value cannot be glued to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from renderer.diagnostics import suggestion
from renderer.resolve.engine import dialect
from renderer.resolve.engine.dialect import ArgLayer, Dialect, Option, OptionList

_LONG = 60
_DASHES = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"  # what editors make of two dashes
_STRAY = "write --option and its value as two items of the list"
_GREEDY = ("exact", "click")  # an option takes the next argument for its value whatever that looks like
Said = tuple[int, str, dict[str, Any]]  # the argument's index, a code, the words of its wording


class OptionJudge(Struct, frozen=True):
    """How an engine reads a line, and what it knows. `of`: the engine and version as findings call them."""

    style: Dialect
    listed: OptionList
    of: str
    prefix: str = "E"  # of the codes; W where the list is not sure


def validate_options(judge: OptionJudge, args: Sequence[str], values: int = 0) -> tuple[Said, ...]:
    """What is wrong with one author's arguments; `values`: how many may stand where no option takes them."""
    blanks = _blanks(judge, args) if judge.style.splits else ()
    return (*blanks, *sorted(_walked(judge, args, values), key=lambda finding: finding[0]))


def refused_preset_options(judge: OptionJudge, layers: Sequence[ArgLayer], count: int) -> Iterator[tuple[str, str]]:
    """What the engine would not take of the arguments of the first `count` layers, the preset's, as far as they are
    left where all are merged: an option, maybe with its value, and what to do.
    """
    line, form = dialect.line(judge.style, layers)
    own = {i for i, position in enumerate(form.positions) if position.layer < count}
    refused = {i: code[1:] for i, code, _ in validate_options(judge, line, len(line))}
    for i in sorted(own):
        if refused.get(i) in _REFUSED:
            yield line[i], _which(judge, line[i])
            continue
        option = judge.listed.options.get(judge.style.head(line[i])[0])
        if option and option.choices and i + 1 in own and line[i + 1] not in option.choices:
            yield f"{line[i]} {line[i + 1]}", _ELSE


_REFUSED = frozenset(["430", "431", "432", "433", "435"])  # an option that is not there, or with as many values
_ELSE = "take another version, or say in a copy of the BackendRuntime what it gets (spec.engine.versions)"


def _which(judge: OptionJudge, option: str) -> str:
    """Which version takes an option."""
    head = judge.style.head(option)[0]
    listed = judge.listed
    if head in listed.later:
        return f"it came {listed.later[head]}: take that version or a newer one"
    if head in listed.ended:
        return f"it was removed {listed.ended[head]}: take an older version"
    return _ELSE


def _blanks(judge: OptionJudge, args: Sequence[str]) -> tuple[Said, ...]:
    """The image's entrypoint takes these apart."""
    apart = [i for i, token in enumerate(args) if token and token.split() != [token]]
    return tuple((i, "E436", {"arg": _short(args, i)}) for i in apart)


def _walked(judge: OptionJudge, args: Sequence[str], values: int) -> Iterator[Said]:
    style, seen, ways = judge.style, dict[str, int](), dict[str, str]()
    i = 0
    while i < len(args):
        token, at = args[i], i
        i += 1
        if token == "--" and style.kind != "exact":  # noqa: S105 - no password; behind it stand values only
            for index in range(i + values, len(args)):
                yield index, f"{judge.prefix}437", {"of": judge.of, "value": _short(args, index), "hint": _STRAY}
            return
        if token == "--" or not style.is_option(token):  # noqa: S105
            if values:
                values -= 1
                continue
            words = {"of": judge.of, "value": _short(args, at), "hint": _stray(judge, args, at)}
            yield at, f"{judge.prefix}437", words
            i = _behind(style, args, i)
            continue
        option, finding = _option(judge, token)
        if finding:
            yield at, *finding
        if option is None:
            i = _behind(style, args, i)
            continue
        spelt, dotted = style.head(token)
        key = option.name + dotted
        if style.dotted and (other := _other_way(spelt, dotted, option.name, ways)):
            yield at, "W232", {"of": judge.of, "option": spelt + dotted, "other": other}
        elif key in seen and not option.repeats:
            code = "E434" if style.duplicates == "error" else "W434"
            yield at, code, {"of": judge.of, "option": spelt + dotted, "first": seen[key] + 1}
        seen[key] = at
        glued = "=" in token and style.kind != "exact"
        if glued or dotted:
            if glued and option.arity == "0" and not dotted:
                yield at, f"{judge.prefix}435", {"of": judge.of, "option": spelt}
            if not glued and i == len(args):
                yield at, f"{judge.prefix}433", {"of": judge.of, "option": spelt + dotted}
            i += 0 if glued else 1
            continue
        took, enough = _values(style, option.arity, args, i)
        if not enough:
            yield at, f"{judge.prefix}433", {"of": judge.of, "option": spelt}
        for value in args[i : i + took] if style.kind in _GREEDY else ():
            if style.head(value)[0] in judge.listed.options:
                yield at, "W439", {"of": judge.of, "option": spelt, "value": value}
        i += took


def _other_way(spelt: str, dotted: str, name: str, ways: dict[str, str]) -> str:
    """How the same option was given before, if as a whole while here is a key of it, or under another spelling; notes
    how it is given here.
    """
    way = f"{spelt}.…" if dotted else name
    before = ways.setdefault(name, way)
    return before if way != before else ""


def _option(judge: OptionJudge, token: str) -> tuple[Option | None, tuple[str, dict[str, Any]] | None]:
    """What a token names, and what is wrong with that."""
    style, listed = judge.style, judge.listed
    head, _ = style.head(token)
    if (option := listed.options.get(head)) is not None:
        return option, None
    begins = style.kind == "argparse" and head.startswith("--")
    longer = sorted(word for word in listed.options if begins and word.startswith(head))
    if gone := _gone(judge, head, begins=len(longer) == 1):
        return None, (f"{judge.prefix}431", {"of": judge.of, "option": head, "hint": gone})
    if len(longer) == 1:
        return listed.options[longer[0]], None
    if longer:
        listed_names = f"{', '.join(longer[:5])}{', …' if len(longer) > 5 else ''}"
        return None, (f"{judge.prefix}432", {"of": judge.of, "option": head, "hint": f"it may be {listed_names}"})
    if not head.startswith("--") and f"-{head}" not in listed.options and style.kind != "exact":
        return None, None  # a short option, maybe with its value
    return None, (f"{judge.prefix}430", {"of": judge.of, "option": head, "hint": _meant(listed, head)})


def _gone(judge: OptionJudge, head: str, *, begins: bool) -> str:
    """What to do about an option that the version no longer has; '' when it had none of that name. `begins`: the parser
    takes the name for the beginning of another option, so only what somebody has written down is gone.
    """
    listed, underscores = judge.listed, judge.style.underscores
    names = {word.replace("_", "-") if underscores else word: word for word in (*listed.ended, *listed.removed)}
    word = names.get(head, "")
    if not word or (begins and word not in listed.removed):
        return ""
    instead, until = listed.removed.get(word, ""), listed.ended.get(word, "")
    advice = f"use {instead} instead" if instead else "leave it out"
    return f"{advice}; it was removed {until}" if until else advice


def _meant(listed: OptionList, head: str) -> str:
    """What an unknown option may have been meant to be."""
    if head in listed.later:
        return f"it came {listed.later[head]}: take that version or a newer one, or leave it out"
    name = head.replace("=", " ").partition(" ")[0]
    if name != head and name in listed.options:
        return "write the value as the next item of the list"
    if head[1] != "-":
        glued = max((word for word in listed.options if head.startswith(word)), key=len, default="")
        if glued and head[len(glued) :].isdigit():
            return "write the value as the next item of the list"
    for meant in (head[1:], head.lower()):
        if meant in listed.options:
            return f"did you mean '{meant}'?"
    longer = [word for word in listed.options if word.startswith(head)]
    if longer and head.startswith("--"):
        return f"did you mean '{min(longer, key=len)}'?"
    return suggestion(head, [word for word in listed.options if word.startswith("--")])


def _stray(judge: OptionJudge, args: Sequence[str], at: int) -> str:
    """What to do about a value that no option takes."""
    word = args[at].lstrip(_DASHES)
    name = word.partition("=")[0].partition(" ")[0]
    if judge.style.underscores:
        name = name.replace("_", "-")
    if not args[at].startswith("--") and f"--{name}" in judge.listed.options:
        return f"did you mean '--{name}'?"
    if not args[at].startswith("--") and word != args[at]:
        meant = _meant(judge.listed, f"--{name}")
        if meant.startswith("did you mean"):
            return meant
    before, _ = _option(judge, args[at - 1]) if at and judge.style.is_option(args[at - 1]) else (None, None)
    if before is not None and before.arity == "0":
        return f"{args[at - 1]} takes no value"
    return _STRAY


def _short(args: Sequence[str], index: int) -> str:
    """An item of a command line as a message quotes it: without secrets, in one line, and not too long."""
    from renderer.secret_detection import hide_in_args, hide_in_text  # few runs need it

    line = " ".join(hide_in_text(hide_in_args(args)[index]).split("\n"))
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"


def _behind(style: Dialect, args: Sequence[str], i: int) -> int:
    """The index of the next option."""
    while i < len(args) and not style.is_option(args[i]):
        i += 1
    return i


def _values(style: Dialect, arity: str, args: Sequence[str], i: int) -> tuple[int, bool]:
    """How many values the option before index `i` takes from the line, and whether they are enough."""
    if arity in ("?", "+", "*"):
        took = _behind(style, args, i) - i
        return (min(took, 1) if arity == "?" else took), arity != "+" or took > 0
    wanted = int(arity)
    took = min(wanted, (len(args) if style.kind in _GREEDY else _behind(style, args, i)) - i)
    return took, took == wanted
