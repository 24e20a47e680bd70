"""Validates a command line against the options of an engine's version, as the engine's own parser would.

The rules of each style were compared with the engines' own parsers (tests/data/option_judgements.yaml). An unlisted
short option is unknown only where the style does not allow a value directly behind the letter.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.diagnostics import MAX_PROBLEMS, ReplacingHint, hint_behind, meant_name, meant_names, suggestion
from renderer.engines.dialect import Dialect
from renderer.engines.name_lists import NameList
from renderer.engines.option_lists import Option, OptionList
from renderer.text import number_forms
from renderer.text.suggestions import closest, shared_letters, similarities, within_letters

_LONG = 60
_MOST_VALUES = 8
_NEAR = 0.75  # how similar the name of an option has to be that is proposed
_LETTERS = 2  # by how many another name may differ where nobody knows whether it takes such a value
_LETTERS_OF_NAME = 3  # of which one may differ
_MOST_OPTIONS = 5  # in a hint
_KINDS = {"int": "number", "float": "number", "count": "number", "json": "json", "object": "json", "map": "", "kv": ""}
_MEANT = "did you mean"  # how a hint begins that knows what was meant
_SWITCH_WORDS = frozenset(("enable", "disable"))  # which people leave out; another word more is another option
_DASHES = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"  # what editors make of two dashes
_SPLIT_HINT = "write --option and its value as two items of the list"
_DIGITS_HINT = "write the number itself"
_JSON_HINT = "write it as JSON: keys and texts in double quotes, no comma behind the last one, true, false and null"
_PAIR_HINT = "write it such as tokenizer.ggml.add_bos_token=bool:false"
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "json": "JSON",
    "object": "a JSON object",
    "map": "JSON in its braces",
    "count": "a whole number or one like 8k",
    "kv": "key=type:value, with int, float, bool or str for the type",
}
# Patterns as text: few runs need them. A thousand is k, 1024 is K; only of the former there may be parts.
_COUNT = r"\s*([0-9]+(\.[0-9]+)?[kmgt]|[0-9]+[KMGT])\s*"
# What llama.cpp's string_parse_kv_override takes (common/common.cpp of b11434).
_KEY_VALUE = r"[^=]{0,127}=(int:.*|float:.*|bool:(true|false)|str:.{0,127})"
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_BOUND_WORDS = {">": "above", ">=": "of at least", "<": "below", "<=": "of at most"}
# What C++'s stoi and stof read: the beginning of the text.
_LEADING_NUMBERS = {
    "int": r"\s*[+-]?[0-9]+",
    "float": r"(?i)\s*[+-]?(inf(inity)?|nan|0x[0-9a-f]+|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)",
}
_MOST_MEANT = 4  # values that begin with a word, or have it between dashes
_NEAR_VALUE, _FAR_VALUE = (
    0.85,
    0.6,
)  # how similar a value has to be that is proposed, before others and where no other is
_ALIKE = 0.6  # how similar a value has to be that is listed before others
_EQUAL, _RIVAL = 0.05, 0.1  # by how much another one may be less similar, to count as much, and to be meant as well
_FEWEST_SHARED = 3  # letters at the beginning of two words that say less than that they are about the same
_AUTO = "auto"
_IN_QUOTES = re.compile(r"'(\d+)'")  # a number, which is none in JSON
_MAX_INT = 2**31 - 1  # of a C++ int
# The warnings in place of errors where the list of options is uncertain.
_UNCERTAIN = {
    "E430": "W430",
    "E431": "W431",
    "E432": "W432",
    "E433": "W433",
    "E435": "W435",
    "E437": "W437",
    "E440": "W440",
    "E441": "W441",
    "E443": "W443",
    "E445": "W445",
    "E465": "W465",
    "E466": "W466",
    "E467": "W467",
}
# Errors that the help of a version proves: they are about the names in it, and how many values each takes.
_PROVEN = frozenset(["E430", "E431", "E432", "E433", "E435", "E437", "E440"])
_OF_LISTS = "--allowed-"  # how options begin whose JSON is a list
_JSON = ("json", "object", "map")
_GREEDY = ("exact", "click")  # an option takes the next argument as its value, even one that begins with a dash


class OptionFinding(Struct, frozen=True):
    """What is wrong with an argument."""

    index: int  # of the argument
    code: str  # of a diagnostic
    words: Mapping[str, object]  # of its message


class OptionRules(Struct, frozen=True):
    """How an engine parses a command line, and its options."""

    style: Dialect
    option_list: OptionList
    engine: str  # name and version as messages have them
    list_path: str = ""  # of the option list, relative to the runtime
    is_certain: bool = True  # that the version has these options and no others
    knows_all: bool = True  # that it has; else only what looks like another one is unknown
    is_beyond: bool = False  # the version is newer than all that are listed
    is_learnt: bool = False  # the list is from the version's own help, which proves less than others
    older: str = ""  # name and version of what tells the rest, as messages have them
    plugins: Mapping[str, Sequence[str]] = {}  # options that load a plugin, and those to which it may add values
    requires: Mapping[str, Sequence[str]] = {}  # options, and those without which the engine refuses each
    keys: Callable[[], Mapping[str, NameList]] = dict  # of JSON, by option or key, where the version refuses others
    idle_without: Mapping[str, Sequence[str]] = {}  # options, and those without which each does nothing

    def code(self, code: str) -> str:
        """The code, or its warning where the list is uncertain."""
        is_proven = self.is_certain or (self.is_learnt and code in _PROVEN)
        return code if is_proven else _UNCERTAIN.get(code, code)

    def is_among(self, option: str, value: str, values: Container[str]) -> bool:
        """Whether an option's value is one of some, of which the engine may read the letters in any case."""
        known = self.option_list.options.get(option)
        return value in values or (known is not None and known.choices.any_case and value.upper() in values)

    def finding(self, index: int, code: str, **words: object) -> OptionFinding:
        """A finding, a warning where the list is uncertain."""
        return OptionFinding(index, self.code(code), {"of": self.engine, **words})

    def finding_of(self, is_assumed: bool, index: int, code: str, **words: object) -> OptionFinding:
        """A finding, a warning also where only an older version is known to take what is asked for."""
        if not is_assumed:
            return self.finding(index, code, **words)
        return OptionFinding(index, _UNCERTAIN.get(code, code), {"of": self.older or self.engine, **words})


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
            yield OptionFinding(i, "E436", {"arg": _quote(args, i)})


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
                yield rules.finding(index, "E437", value=_quote(args, index), hint=_SPLIT_HINT)
            return
        if token == "--" or not style.is_option(token):  # noqa: S105
            if positional and (token[:1] != "-" or token.split() == [token]):
                positional -= 1
                continue
            following = _next_option(style, args, i)
            # Of several in a row the first, and options that stand in one item with their values.
            for index in (start, *(n for n in range(i, following) if args[n][:1] == "-" and args[n] != "--")):
                hint = _stray_hint(rules, args, index, model_option)
                yield rules.finding(index, "E437", value=_quote(args, index), hint=hint)
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
        if values and (key_suffix or option.type in _JSON):
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
            hint = _value_hint(option, spelling, key_suffix)
            yield rules.finding_of(option.unnamed, start, "E433", option=name, hint=hint)
        return (i, [token.partition("=")[2]]) if has_value else (i + 1, args[i : i + 1])
    value_count, enough = _count_values(style, option.arity, args, i)
    if not enough:
        yield rules.finding_of(option.unnamed, start, "E433", option=name, hint=_value_hint(option, spelling))
    for n in range(i, i + value_count):
        if style.kind in _GREEDY and not option.choices.values and style.head(args[n])[0] in rules.option_list.options:
            yield rules.finding(start, "W439", option=spelling, value=args[n], hint="write a value between the two")
        elif hint := _glued_hint(rules, args, n):
            yield rules.finding(n, "W439", option=spelling, value=_quote(args, n), hint=hint)
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
        mismatch = _type_mismatch(rules.style, option, value) if option.type else ""
        wrong: str | None = None
        refusals: list[tuple[str, dict[str, str]]] = []
        if option.choices.values:
            wrong = next((part for part in parts if not _is_choice(option, part)), None)
            if wrong is not None and (mismatch or not option.type):
                is_option = rules.style.head(wrong)[0] in rules.option_list.options
                between = f"write {_choice_words(option)} between the two"
                instead = rules.option_list.removed.get(f"{option.name}={wrong}")
                number = mismatch and _number_hint(rules.style, option, wrong)
                hint = (
                    between
                    if is_option
                    else _instead_hint(option, wrong, instead)
                    if instead
                    else number or _choice_hint(option, wrong)
                )
                if rules.knows_all or hint.startswith(_MEANT):
                    refusals.append(("E440", {"hint": hint}))
        elif mismatch:
            hint = _type_hint(rules.style, option, value) or _pairs_hint(rules, option, value)
            refusals.append(("E441", {"type": mismatch, "hint": hint}))
        if rules.style.kind == "exact" and option.type in _LEADING_NUMBERS and (read := _read_part(option, value)):
            refusals.append(("W442", {"read": read, "hint": _number_hint(rules.style, option, value) or _DIGITS_HINT}))
        for code, words in refusals:
            quoted = _quote(args, index)
            shown = quoted if is_own_argument else quoted.partition("=")[2]
            is_assumed = option.assumed or wrong in option.choices.unnamed
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
        yield rules.finding(index, code, option=spelling, **words)


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
            yield "E477", {"key": place + key, "hint": _key_hint(names, group, key)}
            continue
        closed = None if f"{group}.{key}" in plugged or f"{group}.{key}" in open_keys else groups.get(f"{group}.{key}=")
        is_quoted = isinstance(value, str) and value.isdigit()  # the engine takes names and numbers, no such text
        if closed and closed.names and (value not in closed or is_quoted):
            is_number = is_quoted and value in closed
            hint = f"write {value} without quotes around it" if is_number else _closed_hint(closed, str(value))
            yield "E478", {"key": place + key, "value": str(value), "hint": hint}
        yield from _key_findings(rules, groups, f"{group}.{key}", f"{place}{key}.", value, plugged)


def _key_hint(names: NameList, group: str, key: str) -> str:
    """What to do about a key that the version does not have."""
    if key in names.ended:
        instead = names.replaced.get(f"{group}.{key}", "")
        advice = f"write {instead} instead" if instead in names.names else "leave it out"
        text = f"{advice}; it was removed {names.ended[key]}"
        return ReplacingHint(text, key, instead) if instead in names.names else text
    if key in names.later:
        return f"it was added {names.later[key]}: use that version or a newer one, or leave it out"
    return suggestion(key, sorted(names.names))


def _closed_hint(names: NameList, value: str) -> str:
    """What to write in place of a value that a key does not take, and when it came or went."""
    ended = _time_of(names.ended, value, any_case=names.any_case)
    later = _time_of(names.later, value, any_case=names.any_case)
    state = f"it was removed {ended}; " if ended else f"it was added {later}; " if later else ""
    listed = _IN_QUOTES.sub(r"\1", value_words(names.names, value))
    return hint_behind(state, _meant_hint(names.names, value, is_past=bool(ended)) or f"it accepts {listed}")


def _time_of(times: Mapping[str, str], value: str, *, any_case: bool) -> str:
    """When a value came or went; '' where nobody knows."""
    return times.get(value, "") or next(
        (time for name, time in times.items() if any_case and name.lower() == value.lower()), ""
    )


def _is_choice(option: Option, value: str) -> bool:
    return value in option.choices or ("None" in option.choices and not value)


def _choice_hint(option: Option, value: str) -> str:
    """What to write in place of a value that the version does not take."""
    choices = option.choices
    words = _choice_words(option, value)
    if later := _time_of(choices.later, value, any_case=choices.any_case):
        return f"it was added {later}: use that version or a newer one; this version accepts {words}"
    ended = _time_of(choices.earlier, value, any_case=choices.any_case)
    likely = _meant_hint(choices.values, value, is_past=bool(ended))
    return hint_behind(f"it was removed {ended}; " if ended else "", likely or f"it accepts {words}")


def _instead_hint(option: Option, value: str, instead: str) -> str:
    """What to write in place of an option's value, by an entry of what took the place of values."""
    name, _, other = instead.partition(" ")
    is_value = name == option.name and other and " " not in other
    return ReplacingHint(f"write {instead}", value, other) if is_value else f"write {instead}"


def _meant_hint(known: Iterable[str], value: str, *, is_past: bool) -> str:
    """A question for the values that may have been meant by another one; '' where nobody can tell. `is_past`: it is
    one of an older version, which only another name of the same takes the place of.
    """
    likely = meant_values([name for name in known if name != "None"], value)
    if is_past and likely and similarities(value, likely)[likely[0]] < _NEAR_VALUE:
        return ""
    return meant_names(value, likely) if likely else ""


def meant_values(known: Sequence[str], value: str) -> list[str]:
    """The known values that may have been meant by another one; none where nobody can tell."""
    folded = value.lower()
    if not value or value.isdigit():
        return []
    scores = similarities(value, [name for name in known if not _ends_with(name, value)])
    names = {name: name.lower() for name in scores}
    for fitting in (
        [name for name in names if names[name] == folded][:1],
        [name for name in names if names[name].startswith(folded)],
        [name for name in names if folded in names[name].split("-")],
    ):
        if fitting:
            return sorted(fitting) if len(fitting) <= _MOST_MEANT and len(folded) > 1 else []
    near = [name for name, score in scores.items() if score >= _NEAR_VALUE]
    # A value with more behind it, such as NAME_V1.
    begins = [name for name, low in names.items() if folded.startswith(low) and not folded[len(low) :][:1].isalpha()]
    return near[:1] or sorted(begins, key=len)[-1:] or _far_value(scores, folded)


def _far_value(scores: Mapping[str, float], folded: str) -> list[str]:
    """The value that may have been meant by one that is much like none: that which is most like it, unless another one
    is hardly less so, or begins more as it does. `scores`: how similar each is.
    """
    best = next(iter(scores.values()), 0.0)
    if best < _FAR_VALUE:
        return []
    shared = {name: shared_letters(folded, name.lower()) for name in scores}
    likely = max((name for name in scores if scores[name] > best - _EQUAL), key=lambda name: shared[name])
    least = max(shared[likely], _FEWEST_SHARED)
    rivals = [
        name
        for name in scores
        if name != likely
        and (shared[name] > least or (shared[name] >= shared[likely] and scores[name] > scores[likely] - _RIVAL))
    ]
    return [] if rivals else [likely]


def _ends_with(name: str, value: str) -> bool:
    """Whether a name is a value behind another word, which makes it something else."""
    bare_name, bare = (re.sub("[-_]", "", text.lower()) for text in (name, value))
    return bare != "" and bare_name != bare and bare_name.endswith(bare)


def _type_mismatch(style: Dialect, option: Option, value: str) -> str:
    """What an option takes, such as `a whole number of at least 1`, where a value does not fit; else ''."""
    if option.takes_none and value in ("", "None"):
        return ""
    words = _TYPES[option.type]
    try:
        if option.type == "map" and not (value.strip()[:1] == "{" and value.strip()[-1:] == "}"):
            return ""
        if option.type == "kv":
            first, *others = value.split(",") if '"' not in value else [value]
            pairs = [first, *(part for part in others if "=" in part)]
            return "" if all(re.fullmatch(_KEY_VALUE, pair) for pair in pairs) else words
        if option.type in _JSON:
            content = json.loads(value)
            return "" if option.type != "object" or isinstance(content, dict) else words
        if option.type == "count" and re.fullmatch(_COUNT, value):
            return ""
        if style.kind == "exact" and option.type in _LEADING_NUMBERS:
            read = re.match(_LEADING_NUMBERS[option.type], value)
            if read is None:
                return words
            is_large = option.type == "int" and abs(int(read[0])) > _MAX_INT
            return f"{words} of at most {_MAX_INT}" if is_large else ""
        number = float(value) if option.type == "float" else int(value)
    except ValueError:
        return words
    if all(_COMPARISONS[sign](number, bound) for sign, bound in option.bounds):
        return ""
    return f"{words} {' and '.join(f'{_BOUND_WORDS[sign]} {bound:g}' for sign, bound in option.bounds)}"


def _type_hint(style: Dialect, option: Option, value: str) -> str:
    """What to write in place of a value of another type; '' where nobody can tell."""
    bare = value.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"" and not _type_mismatch(style, option, bare[1:-1]):
        hint = f"leave out the {bare[0]} at both ends of the value: the engine gets them as a part of it"
        return ReplacingHint(hint, value, bare[1:-1])
    parts = [part for part in re.split(r"[,\s]+", bare.strip("[]()")) if part]
    if option.arity in "+*" and len(parts) > 1 and not any(_type_mismatch(style, option, part) for part in parts):
        return f"write {_list_words(parts)} as separate items of the list"
    if option.type in _JSON:
        is_json_like = bare[:1] in ("{", "[", "'", '"')
        if option.name.startswith(_OF_LISTS) and not is_json_like and len(value) <= _LONG:
            text = json.dumps([part.strip() for part in value.split(",")])
            return ReplacingHint(f"write '{text}'", value, text)
        return _JSON_HINT if is_json_like else ""
    if option.type == "kv":
        return _PAIR_HINT
    return _number_hint(style, option, value)


def _number_hint(style: Dialect, option: Option, value: str) -> str:
    """The number that a value stands for, as `0.9` for 90%; '' where nobody can tell."""
    bare = number_forms.without_unit(value, option.name.rpartition("-")[2])
    forms = number_forms.short_counts(value) if option.type == "count" else ()
    number = number_forms.read_number(value)
    digits = [f"{part:.12g}" for part in number.parts] if option.type == "float" else [*map(str, number.whole)]
    fitting = [
        form for form in (bare, *forms, *digits) if form and form != value and not _type_mismatch(style, option, form)
    ]
    if not fitting:
        near = str(max(1, round(number.parts[0]))) if number.parts and option.type != "float" else value
        is_near = near != value and not _type_mismatch(style, option, near)
        return f"write a whole number, such as '{near}'" if is_near else ""
    is_one = option.type == "float" or fitting[0] in (bare, *forms)
    return meant_names(value, fitting[:1] if is_one else fitting)


def _pairs_hint(rules: OptionRules, option: Option, value: str) -> str:
    """JSON for pairs such as `image=2`, which older versions take, and for the value of one key; '' for other words."""
    if option.type not in _JSON or len(value) > _LONG:
        return ""
    groups = rules.keys()
    names = groups[option.name].names if option.name in groups else ()
    pairs = [re.fullmatch(r"\s*([A-Za-z_]\w*)\s*[=:]\s*([\w.+-]+)\s*", part) for part in value.split(",")]
    keys = {pair[1]: _json_value(pair[2]) for pair in pairs if pair}
    if len(keys) < len(pairs):
        owners = [name for name in names if value in getattr(groups.get(f"{option.name}.{name}="), "names", ())]
        keys = {owners[0]: _json_value(value)} if len(owners) == 1 else {}
    if not keys or (names and not {*keys} <= {*names}):
        return ""
    text = json.dumps(keys)
    return ReplacingHint(f"write '{text}'", value, text)


def _json_value(text: str) -> object:
    """What a text is in JSON: a number, true, false or null, else a string."""
    try:
        value: object = json.loads(text.lower() if text in ("True", "False") else text)
    except ValueError:
        return text
    return value


def _list_words(words: Sequence[str]) -> str:
    """Words in quotes, as a hint asks for them."""
    return ", ".join(f"'{word}'" for word in words)


def _read_part(option: Option, value: str) -> str:
    """What an engine reads that takes the beginning of a value for the number; '' where that is all of it."""
    read = re.match(_LEADING_NUMBERS[option.type], value)
    return read[0].strip() if read and read[0] != value and read[0].strip() != value.strip() else ""


def _value_hint(option: Option, spelling: str, key_suffix: str = "") -> str:
    """What to write for an option whose value is missing, with the values that it takes where the list has them."""
    values = "" if key_suffix else _choice_words(option)
    if "on" in option.choices.values:  # a flag in older versions
        return f"write '{spelling}', 'on' as two items: it accepts {values}"
    return f"write {values or 'it'} as the next item of the list"


def _choice_words(option: Option, value: str = "") -> str:
    """The values that an option takes, as `auto, off or on`; '' where nobody knows. `value`: what was given."""
    return value_words(option.choices.values, value, _TYPES[option.type] if option.type else "")


def value_instead(rules: OptionRules, name: str, value: str) -> str:
    """An option, or `--option.key`, as what to use in place of something that had a value, with the values that it
    takes where this one is none of them.
    """
    option, dot, _ = name.partition(".")
    choices, names = rules.option_list.options[option].choices, rules.keys().get(f"{name}=", NameList())
    known = sorted(names.names) if dot else [*choices.values]
    if not value or not known or value in (names if dot else choices) or "$(" in value:
        return f"{name} instead"
    likely = meant_values(known, value)
    if len(likely) == 1:
        return f"{name} {likely[0]} instead"
    return f"{name} instead, which accepts {value_words(known, value)}"


def value_words(known: Iterable[str], value: str = "", kind: str = "") -> str:
    """Known values, at most a few of them: of many `auto` and those that are similar to the given value first. `kind`:
    what else is taken.
    """
    ordered = sorted(known, key=lambda name: (len(name) if name.isdigit() else 0, name))
    if len(ordered) > _MOST_VALUES and value:
        scores = {} if value.isdigit() else similarities(value, ordered)
        alike = [name for name, score in scores.items() if score >= _ALIKE]
        ordered = sorted(dict.fromkeys([*alike, *ordered]), key=lambda name: name != _AUTO)
    words = [f"'{name}'" for name in ordered if name != "None"]
    if len(words) > _MOST_VALUES:
        return f"one of {', '.join(words[:_MOST_VALUES])}, …"
    words += [kind] if words and kind else []
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


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
    if hint := _removal_hint(rules, head, value, is_prefix=len(matches) == 1):
        return None, rules.finding(index, "E431", option=head, hint=_as_spelled(hint, token))
    if len(matches) == 1:
        return option_list.options[matches[0]], None
    if matches:
        if not rules.knows_all:
            return None, None
        hint = f"it may be {', '.join(matches[:_MOST_OPTIONS])}{', …' if len(matches) > _MOST_OPTIONS else ''}"
        hint = _foreign_hint(rules, head, text_behind) or hint
        hint = _as_spelled(hint, token)
        return None, rules.finding_of(len(certain) < 2, index, "E432", option=head, hint=hint)
    if not head.startswith("--") and f"-{head}" not in option_list.options and style.kind != "exact":
        short = option_list.options.get(head[:2])
        if short is None or _KINDS.get(short.type) != "number" or not _type_mismatch(style, short, token[2:]):
            return None, None  # a short option, maybe with its value
    hint = _unknown_hint(rules, head, text_behind)
    if not rules.knows_all and not hint.startswith(_MEANT):
        return None, None
    return None, rules.finding(index, "E430", option=head, hint=_as_spelled(hint, token))


def _as_spelled(hint: str, token: str) -> str:
    """A hint about an option, by its letters in the token, which may have other dashes."""
    return ReplacingHint(hint, token[: len(hint.old)], hint.new) if isinstance(hint, ReplacingHint) else hint


def _removal_hint(rules: OptionRules, head: str, value: str, *, is_prefix: bool) -> str:
    """What to do about an option that the version no longer has; '' when it had none of that name. `is_prefix`: the
    parser takes the name as a prefix of another option, so only the removals that a preset lists count.
    """
    removed, ended = rules.option_list.removed, rules.option_list.ended
    names = {word.replace("_", "-") if rules.style.underscores else word: word for word in (*ended, *removed)}
    word = names.get(head, "")
    if not word or (is_prefix and word not in removed):
        return ""
    instead, until = removed.get(word, ""), ended.get(word, "")
    instead = removed.get(f"{word}={value}", instead)
    option, dot, key = instead.partition(".")
    if dot and not rules.style.dotted:
        instead = f"{option} with JSON that has the key '{key}'"
    advice = f"use {instead} instead" if instead else "leave it out"
    hint = f"{advice}; '{word}' was removed {until}" if until else advice
    written = _in_one_word(rules, instead, value)
    return ReplacingHint(hint, head, written) if written else hint


def _in_one_word(rules: OptionRules, instead: str, value: str) -> str:
    """What took the place of an option, as the one word that can stand there alone; '' where it needs more, or does not
    take what stands behind the option. `value`: that, '' for nothing.
    """
    name, _, own_value = instead.partition(" ")
    option = rules.option_list.options.get(name.partition(".")[0])
    text_behind = "" if rules.style.is_option(value) else value
    if option is None or not re.fullmatch(r"-[\w.-]+(?: [\w.-]+)?", instead):
        return ""
    if own_value:
        return "" if text_behind or rules.style.kind == "exact" else f"{name}={own_value}"
    if "." in name:
        return name if text_behind else ""
    if option.arity == "0" or not text_behind:
        return name if option.arity in "0?*" and not text_behind else ""
    mismatch = option.type and _type_mismatch(rules.style, option, text_behind)
    is_refused = (
        not _is_choice(option, text_behind) and (mismatch or not option.type) if option.choices.values else mismatch
    )
    return "" if is_refused and "$(" not in text_behind and "{{" not in text_behind else name


def _unknown_hint(rules: OptionRules, head: str, value: str) -> str:
    """What to do about an unknown option, such as the name that was probably meant. `value`: what stands behind it; ''
    for an option or nothing.
    """
    option_list = rules.option_list
    if head in option_list.later:
        return f"it was added {option_list.later[head]}: use that version or a newer one, or leave it out"
    name = head.replace("=", " ").partition(" ")[0]
    if name != head and name in option_list.options:
        return f"the option is '{name}': write its value as the next item of the list"
    if head[1] != "-":
        glued = max((word for word in option_list.options if head.startswith(word)), key=len, default="")
        if glued and head[len(glued) :].isdigit():
            return f"the option is '{glued}': write its value as the next item of the list"
    base, _, key = name.partition(".")
    if key and base in option_list.options and _option_kind(option_list.options[base]) == "json":
        return f"write '{base}' with JSON that has the key '{key}'"
    for candidate in (head[1:], head.lower(), head.replace("_", "-"), f"--{head[2:].replace('-', '_')}"):
        if candidate in option_list.options:
            return meant_name(head, candidate)
    return _foreign_hint(rules, head, value) or _near_hint(rules, head, value)


def _foreign_hint(rules: OptionRules, head: str, value: str) -> str:
    """What to do about an option of another engine; '' where no engine has one of that name."""
    from renderer.engines.option_meanings import find_offer  # few runs need it

    name = head.replace("=", " ").partition(" ")[0]
    offer = find_offer(rules.list_path, rules.option_list, name)
    if offer is None:
        return ""
    *others, last = offer.owners
    owned = f"an option of {', '.join(others)} and {last}" if others else f"an option of {last}"
    if offer.always:
        return f"{owned}: leave it out; {offer.engine} does that by itself"
    if not offer.option:
        ways = [f"or write '{option}' where {owner}'s is meant" for owner, option in offer.by_owner]
        return ", ".join([f"{owned}: leave it out", *ways])
    option = rules.option_list.options[offer.option]
    words = [f"{owned}; {offer.engine}'s is '{offer.option}'", *filter(None, [offer.note])]
    text_behind = value if name == head else head[len(name) + 1 :]
    if name != head:
        words.append("with its value as the next item of the list")
    wrong = [
        part for part in (text_behind.split(",") if option.repeats else [text_behind]) if part and "$(" not in part
    ]
    mismatch = option.type and any(_type_mismatch(rules.style, option, part) for part in wrong)
    if option.choices.values and (mismatch or not option.type):
        if any(not _is_choice(option, part) for part in wrong):
            words.append(f"which accepts {_choice_words(option)}")
    elif mismatch:
        words.append(f"which takes {_TYPES[option.type]}")
    hint = ", ".join(words)
    written = _in_one_word(rules, offer.option, text_behind)
    return ReplacingHint(hint, head, written) if len(words) == 1 and written else hint


def _near_hint(rules: OptionRules, head: str, value: str) -> str:
    """The option that may have been meant by a name: one that takes what stands behind it and has a similar name, or
    one of which nobody knows what it takes and whose name is the same but for two letters.
    """
    from renderer.engines.option_meanings import value_kind  # few runs need it

    # What switches something off is never meant by the name of what switches it on.
    switches_off = head.startswith("--no-")
    kind = _given_kind(value)
    fitting, unknown = [], []
    for word, option in rules.option_list.options.items():
        if word[:2] != "--" or word.startswith("--no-") != switches_off or option.unnamed:
            continue
        takes = _option_kind(option) or value_kind(rules.list_path, word)
        if (takes and takes == kind) or (value and value in option.choices):
            fitting.append(word)
        elif not takes or not kind or (kind == "flag" and option.arity != "0"):  # its value may be missing
            unknown.append(word)
    begins = (f"{head}-", f"{head}_")
    longer = {rules.option_list.options[word].name: word for word in fitting if word.startswith(begins)}
    if len(longer) == 1:
        return meant_name(head, next(iter(longer.values())))
    if 1 < len(longer) <= _MOST_OPTIONS:
        return f"it may be {', '.join(sorted(longer.values()))}"
    name = head.lower().lstrip("-")
    letters = min(_LETTERS, len(name) // _LETTERS_OF_NAME)
    near = within_letters(name, [word[2:] for word in (*fitting, *unknown)], letters)
    near = near or closest(name, [word[2:] for word in fitting], _NEAR)
    further_words = {*near.split("-")} - {*name.split("-")} - _SWITCH_WORDS
    if near and not ({*name.split("-")} <= {*near.split("-")} and further_words):
        return meant_name(head, f"--{near}")
    return "leave it out: no option of this version has a similar name"


def _option_kind(option: Option) -> str:
    """What an option takes: flag, number, json or text; '' where the list does not tell."""
    if option.arity == "0":
        return "flag"
    return _KINDS.get(option.type, "text" if option.choices.values else "")


def _given_kind(value: str) -> str:
    """What stands behind an option, in the words of `_option_kind`; '' for what others fill in."""
    if not value:
        return "flag"
    if "$(" in value or "{{" in value:
        return ""
    if value[0] in "{[":
        return "json"
    return "number" if re.fullmatch(_COUNT, value) or re.fullmatch(_LEADING_NUMBERS["float"], value) else "text"


def _glued_hint(rules: OptionRules, args: Sequence[str], index: int) -> str:
    """What to do about an argument that is an option and its value in one item; '' for another."""
    parts = args[index].split()
    if len(parts) < 2 or not parts[0].startswith("-") or parts == [args[index]]:
        return ""
    name = parts[0].rstrip(":")
    if rules.style.head(name)[0] not in rules.option_list.options:
        return ""
    shown = [name, *_quote(args, index).split()[1:]]
    if len(shown) == 2:
        return f"write {_list_words(shown)} as two items of the list"
    return f"write '{shown[0]}' and what follows it as separate items of the list"


def _stray_hint(rules: OptionRules, args: Sequence[str], index: int, model_option: str) -> str:
    """What to do about an unexpected positional argument."""
    if hint := _glued_hint(rules, args, index):
        return hint
    word = args[index].lstrip(_DASHES)
    name = word.partition("=")[0].partition(" ")[0]
    if rules.style.underscores:
        name = name.replace("_", "-")
    if not args[index].startswith("--") and f"--{name}" in rules.option_list.options:
        return meant_name(args[index].partition("=")[0].partition(" ")[0], f"--{name}")
    if not args[index].startswith("--") and word != args[index]:
        following = "".join(args[index + 1 : index + 2])
        hint = _unknown_hint(rules, f"--{name}", "" if rules.style.is_option(following) else following)
        if hint.startswith(("did you mean", "an option of")):
            spelled = args[index].partition("=")[0].partition(" ")[0]
            return ReplacingHint(hint, spelled, hint.new) if isinstance(hint, ReplacingHint) else hint
    if index and rules.style.is_option(args[index - 1]):
        option, _ = _find_option(rules, args[index - 1], index - 1)
        if option and option.arity == "0":
            return f"leave it out: {args[index - 1]} takes no value"
    if model_option and word == args[index]:
        return (
            f"if it is the model, write '{model_option}', {_list_words([_quote(args, index)])} as two items of the list"
        )
    return _SPLIT_HINT


def _quote(args: Sequence[str], index: int) -> str:
    """An argument for a message: secrets hidden, in one line, truncated."""
    from renderer.secrets.detection import hide_in_args, hide_in_text  # few runs need it

    # Whether a word is a secret depends on what stands before it, back to the nearest option and the word before that.
    start = index
    while start and not (args[start].startswith("-") and args[start].split() == [args[start]]):
        start -= 1
    start = max(start - 1, 0)
    line = " ".join(hide_in_text(hide_in_args(args[start : index + 1])[-1]).split("\n"))
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"


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
