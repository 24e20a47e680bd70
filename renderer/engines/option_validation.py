"""Validates a command line against the options of an engine's version, as the engine's own parser would.

The rules of each style were compared with the engines' own parsers (tests/data/option_judgements.yaml). An unlisted
short option is unknown only where the style does not allow a value directly behind the letter.
"""

from __future__ import annotations

import json
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence

from renderer.diagnostics import MAX_PROBLEMS, ReplacingHint, meant_name
from renderer.engines.dialect import Dialect
from renderer.engines.name_lists import NameList
from renderer.engines.option_hints import (
    KINDS,
    MOST_OPTIONS,
    as_spelled,
    choice_hint,
    choice_words,
    closed_hint,
    foreign_hint,
    glued_hint,
    instead_hint,
    key_hint,
    list_words,
    number_hint,
    pairs_hint,
    quote_arg,
    removal_hint,
    type_hint,
    unknown_hint,
    value_hint,
)
from renderer.engines.option_lists import Option
from renderer.engines.option_rules import OptionFinding, OptionRules
from renderer.engines.option_values import JSON, LEADING_NUMBERS, is_choice, is_disproven, read_part, type_mismatch

_MEANT = "did you mean"  # how a hint begins that knows what was meant
_DASHES = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"  # what editors make of two dashes
_SPLIT_HINT = "write --option and its value as two items of the list"
DIGITS_HINT = "write the number itself"
_GREEDY = ("exact", "click")  # an option takes the next argument as its value, even one that begins with a dash


def plugged_options(rules: OptionRules, args: Iterable[str]) -> frozenset[str]:
    """The options to which a plugin that a command line loads may add values, by their names in the preset."""
    names = {rules.style.name(arg) for arg in args if arg[:1] == "-"} if rules.plugins else set()
    return frozenset([name for plugin, options in rules.plugins.items() if plugin in names for name in options])


def validate_options(
    rules: OptionRules,
    args: Sequence[str],
    positional: int = 0,
    plugged: Container[str] = (),
    *,
    model_option: str = "",
) -> tuple[OptionFinding, ...]:
    """The findings about one layer's arguments, by index. `positional`: how many positional arguments are allowed;
    `plugged`: the options that may take other values than those of the list; `model_option`: the option to which a
    positional argument may belong, since nothing names the model yet.

    After as many errors as are told of an object the rest is not judged.
    """
    findings: list[OptionFinding] = []
    errors = 0
    for finding in _walk_args(rules, args, positional, plugged, model_option):
        findings.append(finding)
        errors += finding.code.startswith("E")
        if errors > MAX_PROBLEMS:
            break
    findings.sort(key=lambda finding: finding.index)
    return (*_split_args(args), *findings) if rules.style.splits else tuple(findings)


def _split_args(args: Sequence[str]) -> Iterator[OptionFinding]:
    """The arguments with blanks, which the image's entrypoint splits."""
    for i, token in enumerate(args):
        if token and token.split() != [token]:
            yield OptionFinding(i, "E436", {"arg": quote_arg(args, i)})


def positional_indexes(rules: OptionRules, args: Sequence[str]) -> tuple[int, ...]:
    """The indexes of the arguments that belong to no option, of several in a row the first."""
    findings = validate_options(rules, args)
    return tuple(
        [finding.index for finding in findings if finding.code == rules.code("E437") and args[finding.index][:1] != "-"]
    )


def _walk_args(
    rules: OptionRules, args: Sequence[str], positional: int, plugged: Container[str], model_option: str
) -> Iterator[OptionFinding]:
    style, seen, forms = rules.style, dict[str, int](), dict[str, str]()
    i = unknown = 0
    while i < len(args):
        token, start = args[i], i
        i += 1
        if token == "--" and style.kind != "exact":  # noqa: S105 - no password; only values follow it
            for index in range(i + positional, len(args)):
                yield rules.finding(index, "E437", value=quote_arg(args, index), hint=_SPLIT_HINT)
            return
        if token == "--" or not style.is_option(token):  # noqa: S105
            if positional and (token[:1] != "-" or token.split() == [token]):
                positional -= 1
                continue
            following = _next_option(style, args, i)
            # Of several in a row the first, and options that stand in one item with their values.
            for index in (start, *(n for n in range(i, following) if args[n][:1] == "-" and args[n] != "--")):
                hint = _stray_hint(rules, args, index, model_option)
                yield rules.finding(index, "E437", value=quote_arg(args, index), hint=hint)
            i = following
            continue
        if unknown > MAX_PROBLEMS and style.head(token)[0] not in rules.option_list.options:
            continue  # as many are told already
        option, finding = _find_option(rules, token, start, "".join(args[i : i + 1]))
        if finding:
            unknown += 1
            yield finding
        if option is None:
            i = _next_option(style, args, i)
            continue
        if option.unnamed and not option.hidden and rules.is_learnt:
            hint = f"leave it out, or try it: {rules.older.partition(' (')[0]} has it"
            words = {"of": f"the help of {rules.engine}", "option": style.head(token)[0], "hint": hint}
            yield OptionFinding(start, "W430", words)
            i = _next_option(style, args, i)
            continue
        spelling, key_suffix = style.head(token)
        key = option.name + key_suffix
        if style.dotted and (other := _conflicting_form(spelling, key_suffix, option.name, forms)):
            yield rules.finding(start, "W232", option=spelling + key_suffix, other=other)
        elif key in seen and not option.repeats:
            code = "E434" if style.duplicates == "error" else "W434"
            yield rules.finding(start, code, option=spelling + key_suffix, first=seen[key])
        seen[key] = start
        i, values = yield from _count_option(rules, option, args, start)
        if not key_suffix and (option.choices.values or option.type) and style.name(token) not in plugged:
            yield from _refused_values(rules, option, args, start, values)
        if values and (key_suffix or option.type in JSON):
            yield from _refused_keys(rules, option, args, start, values[0], plugged)


def _count_option(
    rules: OptionRules, option: Option, args: Sequence[str], start: int
) -> Generator[OptionFinding, None, tuple[int, Sequence[str]]]:
    """The findings about the number of values of the option at an index; returns the index of the argument behind them,
    and the values.
    """
    style, token, i = rules.style, args[start], start + 1
    spelling, key_suffix = style.head(token)
    name = spelling + key_suffix
    has_value = "=" in token and style.kind != "exact"
    if has_value or key_suffix:
        if has_value and option.arity == "0" and not key_suffix:
            yield rules.finding_of(option.unnamed, start, "E435", option=name)
        if not has_value and i == len(args):
            hint = value_hint(option, spelling, key_suffix)
            yield rules.finding_of(option.unnamed, start, "E433", option=name, hint=hint)
        return (i, [token.partition("=")[2]]) if has_value else (i + 1, args[i : i + 1])
    value_count, enough = _count_values(style, option.arity, args, i)
    if not enough:
        yield rules.finding_of(option.unnamed, start, "E433", option=name, hint=value_hint(option, spelling))
    for n in range(i, i + value_count):
        if style.kind in _GREEDY and not option.choices.values and style.head(args[n])[0] in rules.option_list.options:
            yield rules.finding(start, "W439", option=spelling, value=args[n], hint="write a value between the two")
        elif hint := glued_hint(rules, args, n):
            yield rules.finding(n, "W439", option=spelling, value=quote_arg(args, n), hint=hint)
    return i + value_count, args[i : i + value_count]


def _refused_values(
    rules: OptionRules, option: Option, args: Sequence[str], start: int, values: Sequence[str]
) -> Iterator[OptionFinding]:
    """The findings about values that the engine would not take, or not as they are written. Words that only kubelet or
    the renderer fills in are not judged.
    """
    is_own_argument = len(args) > start + 1 and "=" not in args[start]  # each value
    spelling = rules.style.head(args[start])[0]
    for i, value in enumerate(values):
        if "$(" in value or "{{" in value:
            continue
        index = start + 1 + i if is_own_argument else start
        parts = value.split(",") if option.repeats else [value]
        mismatch = type_mismatch(rules.style, option, value) if option.type else ""
        wrong: str | None = None
        refusals: list[tuple[str, dict[str, str]]] = []
        if option.choices.values:
            wrong = next((part for part in parts if not is_choice(option, part)), None)
            if wrong is not None and (mismatch or not option.type):
                is_option = rules.style.head(wrong)[0] in rules.option_list.options
                between = f"write {choice_words(option)} between the two"
                instead = rules.option_list.removed.get(f"{option.name}={wrong}")
                number = mismatch and number_hint(rules.style, option, wrong)
                hint = (
                    between
                    if is_option
                    else instead_hint(option, wrong, instead)
                    if instead
                    else number or choice_hint(option, wrong)
                )
                if rules.knows_all or hint.startswith(_MEANT):
                    refusals.append(("E440", {"hint": hint}))
        elif mismatch:
            hint = type_hint(rules.style, option, value) or pairs_hint(rules, option, value)
            refusals.append(("E441", {"type": mismatch, "hint": hint}))
        if rules.style.kind == "exact" and option.type in LEADING_NUMBERS and (read := read_part(option, value)):
            refusals.append(("W442", {"read": read, "hint": number_hint(rules.style, option, value) or DIGITS_HINT}))
        for code, words in refusals:
            quoted = quote_arg(args, index)
            shown = quoted if is_own_argument else quoted.partition("=")[2]
            if wrong in option.choices.unnamed:
                hint = f"write {choice_words(option, wrong)}, or try it: {rules.older.partition(' (')[0]} takes it"
                words = {"of": f"the help of {rules.engine}", "option": spelling, "value": shown, "hint": hint}
                yield OptionFinding(index, "W440", words)
                continue
            is_assumed = option.assumed and not (code == "E441" and is_disproven(rules.style, option, value))
            yield rules.finding_of(is_assumed, index, code, option=spelling, value=shown, **words)


def _refused_keys(
    rules: OptionRules, option: Option, args: Sequence[str], start: int, value: str, plugged: Container[str]
) -> Iterator[OptionFinding]:
    """The findings about keys of an option's JSON that the engine does not have, and about values that keys do not
    take. `value`: the JSON, or what `--option.key` is set to.
    """
    groups = rules.keys()
    if "{{" in value or "$(" in value or not any(group.startswith(option.name) for group in groups):
        return
    spelling, key_suffix = rules.style.head(args[start])
    try:
        content: object = json.loads(value)
    except ValueError:
        content = value
    keys = [key.rstrip("+") for key in key_suffix.split(".")[1:]]
    for key in reversed(keys):
        content = {key: content}
    index = start if keys or "=" in args[start] else start + 1
    for code, words in _key_findings(rules, groups, option.name, "", content, plugged):
        yield rules.finding_of(rules.is_learnt, index, code, option=spelling, **words)


def _key_findings(
    rules: OptionRules,
    groups: Mapping[str, NameList],
    group: str,
    place: str,
    content: object,
    plugged: Container[str] = (),
) -> Iterator[tuple[str, dict[str, str]]]:
    """Code and words of what is wrong in a map, or in each map of a list. `group`: of its keys; `place`: its own keys,
    '' or with a dot at the end; `plugged`: options and their keys that may take other values.
    """
    if isinstance(content, list):
        for item in content:
            yield from _key_findings(rules, groups, group, place, item, plugged)
        return
    names = groups.get(group)
    plugins = [rules.plugins.get(f"{group}.{key}", ()) for key in content] if isinstance(content, dict) else ()
    open_keys = {name for names_of_plugin in plugins for name in names_of_plugin}
    for key, value in content.items() if isinstance(content, dict) else ():
        if names and names.names and key not in names.names:
            yield "E477", {"key": place + key, "hint": key_hint(names, group, key)}
            continue
        closed = None if f"{group}.{key}" in plugged or f"{group}.{key}" in open_keys else groups.get(f"{group}.{key}=")
        is_quoted = isinstance(value, str) and value.isdigit()  # the engine takes names and numbers, no such text
        if closed and closed.names and (value not in closed or is_quoted):
            is_number = is_quoted and value in closed
            hint = f"write {value} without quotes around it" if is_number else closed_hint(closed, str(value))
            yield "E478", {"key": place + key, "value": str(value), "hint": hint}
        yield from _key_findings(rules, groups, f"{group}.{key}", f"{place}{key}.", value, plugged)


def _conflicting_form(spelling: str, dotted: str, name: str, forms: dict[str, str]) -> str:
    """The earlier form of the option where it conflicts with this one: as a whole against by key, or another spelling.
    Adds the form to `forms`, by the option's name.
    """
    form = f"{spelling}.…" if dotted else name
    before = forms.setdefault(name, form)
    return before if form != before else ""


def _find_option(
    rules: OptionRules, token: str, index: int, following: str = ""
) -> tuple[Option | None, OptionFinding | None]:
    """The option that a token at an index names, and what is wrong with it. `following`: the next argument."""
    style, option_list = rules.style, rules.option_list
    head, key_suffix = style.head(token)
    if (option := option_list.options.get(head)) is not None:
        return option, None
    takes_prefixes = style.kind == "argparse" and head.startswith("--")
    matches = sorted(word for word in option_list.options if takes_prefixes and word.startswith(head))
    certain = [word for word in matches if not option_list.options[word].unnamed or option_list.options[word].hidden]
    value = token.partition("=")[2] if "=" in token else following
    text_behind = value if "=" in token or not style.is_option(value) else ""
    text_behind = "{}" if key_suffix else text_behind  # only an option with JSON has keys
    if hint := removal_hint(rules, head, value, is_prefix=len(matches) == 1):
        return None, rules.finding(index, "E431", option=head, hint=as_spelled(hint, token))
    if len(matches) == 1:
        return option_list.options[matches[0]], None
    if matches:
        if not rules.knows_all:
            return None, None
        hint = f"it may be {', '.join(matches[:MOST_OPTIONS])}{', …' if len(matches) > MOST_OPTIONS else ''}"
        hint = foreign_hint(rules, head, text_behind) or hint
        hint = as_spelled(hint, token)
        return None, rules.finding_of(len(certain) < 2, index, "E432", option=head, hint=hint)
    if not head.startswith("--") and f"-{head}" not in option_list.options and style.kind != "exact":
        short = option_list.options.get(head[:2])
        if short is None or KINDS.get(short.type) != "number" or not type_mismatch(style, short, token[2:]):
            return None, None  # a short option, maybe with its value
    hint = unknown_hint(rules, head, text_behind)
    if not rules.knows_all and not hint.startswith(_MEANT):
        return None, None
    return None, rules.finding(index, "E430", option=head, hint=as_spelled(hint, token))


def _stray_hint(rules: OptionRules, args: Sequence[str], index: int, model_option: str) -> str:
    """What to do about an unexpected positional argument."""
    if hint := glued_hint(rules, args, index):
        return hint
    word = args[index].lstrip(_DASHES)
    name = word.partition("=")[0].partition(" ")[0]
    if rules.style.underscores:
        name = name.replace("_", "-")
    if not args[index].startswith("--") and f"--{name}" in rules.option_list.options:
        return meant_name(args[index].partition("=")[0].partition(" ")[0], f"--{name}")
    if not args[index].startswith("--") and word != args[index]:
        following = "".join(args[index + 1 : index + 2])
        hint = unknown_hint(rules, f"--{name}", "" if rules.style.is_option(following) else following)
        if hint.startswith(("did you mean", "an option of")):
            spelled = args[index].partition("=")[0].partition(" ")[0]
            return ReplacingHint(hint, spelled, hint.new) if isinstance(hint, ReplacingHint) else hint
    if index and rules.style.is_option(args[index - 1]):
        option, _ = _find_option(rules, args[index - 1], index - 1)
        if option and option.arity == "0":
            return f"leave it out: {args[index - 1]} takes no value"
    if model_option and word == args[index]:
        shown = list_words([quote_arg(args, index)])
        return f"if it is the model, write '{model_option}', {shown} as two items of the list"
    return _SPLIT_HINT


def _next_option(style: Dialect, args: Sequence[str], i: int) -> int:
    """The index of the next option, else the length of the arguments."""
    while i < len(args) and not style.is_option(args[i]):
        i += 1
    return i


def _count_values(style: Dialect, arity: str, args: Sequence[str], i: int) -> tuple[int, bool]:
    """How many arguments from index `i` on an option of this arity takes as values, and whether they are enough."""
    if arity in ("?", "+", "*"):
        count = _next_option(style, args, i) - i
        return (min(count, 1) if arity == "?" else count), arity != "+" or count > 0
    needed = int(arity)
    count = min(needed, (len(args) if style.kind in _GREEDY else _next_option(style, args, i)) - i)
    return count, count == needed
