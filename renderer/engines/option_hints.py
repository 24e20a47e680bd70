"""What to write in place of an option, a value or a key that an engine's version does not take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from renderer.diagnostics import ReplacingHint, hint_behind, meant_name, meant_names, suggestion
from renderer.engines.dialect import Dialect
from renderer.engines.name_lists import NameList
from renderer.engines.option_lists import Option
from renderer.engines.option_rules import OptionRules
from renderer.engines.option_values import COUNT, JSON, LEADING_NUMBERS, TYPES, is_choice, type_mismatch
from renderer.text import number_forms
from renderer.text.suggestions import closest, shared_letters, similarities, within_letters

_LONG = 60
_MOST_VALUES = 8
_NEAR = 0.75  # how similar the name of an option has to be that is proposed
_LETTERS = 2  # by how many another name may differ where nobody knows whether it takes such a value
_LETTERS_OF_NAME = 3  # of which one may differ
MOST_OPTIONS = 5  # in a hint
KINDS = {"int": "number", "float": "number", "count": "number", "json": "json", "object": "json", "map": "", "kv": ""}
_SWITCH_WORDS = frozenset(("enable", "disable"))  # which people leave out; another word more is another option
_JSON_HINT = "write it as JSON: keys and texts in double quotes, no comma behind the last one, true, false and null"
_PAIR_HINT = "write it such as tokenizer.ggml.add_bos_token=bool:false"
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
_OF_LISTS = "--allowed-"  # how options begin whose JSON is a list


def key_hint(names: NameList, group: str, key: str) -> str:
    """What to do about a key that the version does not have."""
    if key in names.ended:
        instead = names.replaced.get(f"{group}.{key}", "")
        advice = f"write {instead} instead" if instead in names.names else "leave it out"
        text = f"{advice}; it was removed {names.ended[key]}"
        return ReplacingHint(text, key, instead) if instead in names.names else text
    if key in names.later:
        return f"it was added {names.later[key]}: use that version or a newer one, or leave it out"
    return suggestion(key, sorted(names.names))


def closed_hint(names: NameList, value: str) -> str:
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


def choice_hint(option: Option, value: str) -> str:
    """What to write in place of a value that the version does not take."""
    choices = option.choices
    words = choice_words(option, value)
    if later := _time_of(choices.later, value, any_case=choices.any_case):
        return f"it was added {later}: use that version or a newer one; this version accepts {words}"
    ended = _time_of(choices.earlier, value, any_case=choices.any_case)
    likely = _meant_hint(choices.values, value, is_past=bool(ended))
    return hint_behind(f"it was removed {ended}; " if ended else "", likely or f"it accepts {words}")


def instead_hint(option: Option, value: str, instead: str) -> str:
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


def type_hint(style: Dialect, option: Option, value: str) -> str:
    """What to write in place of a value of another type; '' where nobody can tell."""
    bare = value.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"" and not type_mismatch(style, option, bare[1:-1]):
        hint = f"leave out the {bare[0]} at both ends of the value: the engine gets them as a part of it"
        return ReplacingHint(hint, value, bare[1:-1])
    parts = [part for part in re.split(r"[,\s]+", bare.strip("[]()")) if part]
    if option.arity in "+*" and len(parts) > 1 and not any(type_mismatch(style, option, part) for part in parts):
        return f"write {list_words(parts)} as separate items of the list"
    if option.type in JSON:
        is_json_like = bare[:1] in ("{", "[", "'", '"')
        if option.name.startswith(_OF_LISTS) and not is_json_like and len(value) <= _LONG:
            text = json.dumps([part.strip() for part in value.split(",")])
            return ReplacingHint(f"write '{text}'", value, text)
        return _JSON_HINT if is_json_like else ""
    if option.type == "kv":
        return _PAIR_HINT
    return number_hint(style, option, value)


def number_hint(style: Dialect, option: Option, value: str) -> str:
    """The number that a value stands for, as `0.9` for 90%; '' where nobody can tell."""
    bare = number_forms.without_unit(value, option.name.rpartition("-")[2])
    forms = number_forms.short_counts(value) if option.type == "count" else ()
    number = number_forms.read_number(value)
    digits = [f"{part:.12g}" for part in number.parts] if option.type == "float" else [*map(str, number.whole)]
    fitting = [
        form for form in (bare, *forms, *digits) if form and form != value and not type_mismatch(style, option, form)
    ]
    if not fitting:
        near = str(max(1, round(number.parts[0]))) if number.parts and option.type != "float" else value
        is_near = near != value and not type_mismatch(style, option, near)
        return f"write a whole number, such as '{near}'" if is_near else ""
    is_one = option.type == "float" or fitting[0] in (bare, *forms)
    return meant_names(value, fitting[:1] if is_one else fitting)


def pairs_hint(rules: OptionRules, option: Option, value: str) -> str:
    """JSON for pairs such as `image=2`, which older versions take, and for the value of one key; '' for other words."""
    if option.type not in JSON or len(value) > _LONG:
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


def list_words(words: Sequence[str]) -> str:
    """Words in quotes, as a hint asks for them."""
    return ", ".join(f"'{word}'" for word in words)


def value_hint(option: Option, spelling: str, key_suffix: str = "") -> str:
    """What to write for an option whose value is missing, with the values that it takes where the list has them."""
    values = "" if key_suffix else choice_words(option)
    if "on" in option.choices.values:  # a flag in older versions
        return f"write '{spelling}', 'on' as two items: it accepts {values}"
    return f"write {values or 'it'} as the next item of the list"


def choice_words(option: Option, value: str = "") -> str:
    """The values that an option takes, as `auto, off or on`; '' where nobody knows. `value`: what was given."""
    return value_words(option.choices.values, value, TYPES[option.type] if option.type else "")


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


def as_spelled(hint: str, token: str) -> str:
    """A hint about an option, by its letters in the token, which may have other dashes."""
    return ReplacingHint(hint, token[: len(hint.old)], hint.new) if isinstance(hint, ReplacingHint) else hint


def removal_hint(rules: OptionRules, head: str, value: str, *, is_prefix: bool) -> str:
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
    mismatch = option.type and type_mismatch(rules.style, option, text_behind)
    is_refused = (
        not is_choice(option, text_behind) and (mismatch or not option.type) if option.choices.values else mismatch
    )
    return "" if is_refused and "$(" not in text_behind and "{{" not in text_behind else name


def unknown_hint(rules: OptionRules, head: str, value: str) -> str:
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
    return foreign_hint(rules, head, value) or _near_hint(rules, head, value)


def foreign_hint(rules: OptionRules, head: str, value: str) -> str:
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
    mismatch = option.type and any(type_mismatch(rules.style, option, part) for part in wrong)
    if option.choices.values and (mismatch or not option.type):
        if any(not is_choice(option, part) for part in wrong):
            words.append(f"which accepts {choice_words(option)}")
    elif mismatch:
        words.append(f"which takes {TYPES[option.type]}")
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
    if 1 < len(longer) <= MOST_OPTIONS:
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
    return KINDS.get(option.type, "text" if option.choices.values else "")


def _given_kind(value: str) -> str:
    """What stands behind an option, in the words of `_option_kind`; '' for what others fill in."""
    if not value:
        return "flag"
    if "$(" in value or "{{" in value:
        return ""
    if value[0] in "{[":
        return "json"
    return "number" if re.fullmatch(COUNT, value) or re.fullmatch(LEADING_NUMBERS["float"], value) else "text"


def glued_hint(rules: OptionRules, args: Sequence[str], index: int) -> str:
    """What to do about an argument that is an option and its value in one item; '' for another."""
    parts = args[index].split()
    if len(parts) < 2 or not parts[0].startswith("-") or parts == [args[index]]:
        return ""
    name = parts[0].rstrip(":")
    if rules.style.head(name)[0] not in rules.option_list.options:
        return ""
    shown = [name, *quote_arg(args, index).split()[1:]]
    if len(shown) == 2:
        return f"write {list_words(shown)} as two items of the list"
    return f"write '{shown[0]}' and what follows it as separate items of the list"


def quote_arg(args: Sequence[str], index: int) -> str:
    """An argument for a message: secrets hidden, in one line, truncated."""
    from renderer.secrets.detection import hide_in_args, hide_in_text  # few runs need it

    # Whether a word is a secret depends on what stands before it, back to the nearest option and the word before that.
    start = index
    while start and not (args[start].startswith("-") and args[start].split() == [args[start]]):
        start -= 1
    start = max(start - 1, 0)
    line = " ".join(hide_in_text(hide_in_args(args[start : index + 1])[-1]).split("\n"))
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"
