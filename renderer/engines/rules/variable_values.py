"""Values of environment variables that their readers misread or refuse, as presets/variable_values.yaml has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, ReplacingHint, make_diagnostic, meant_name, rule
from renderer.engines.running_engine import RunningEngine
from renderer.engines.version_order import in_range
from renderer.kubernetes.json_values import maps_at, text_at, texts_at
from renderer.preset_tables import preset_table
from renderer.text.number_forms import duration, read_number
from renderer.text.suggestions import closest

_NEAR, _NEAR_CHOICE = 0.75, 0.8  # how similar a key, and a word, has to be that is proposed
_MOST_CHOICES = 8  # in a hint
_NUMBER = r"\s*[+-]?\d"
_WHOLE = r"\s*[+-]?\d+(_\d+)*\s*"
_DURATION = r"[-+]?(?:\d+|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)"  # of Go, or a number of seconds
_YES = frozenset(("true", "yes", "on", "y", "t", "enable", "enabled"))
_NO = frozenset(("false", "no", "off", "n", "f", "disable", "disabled", "none", ""))
_PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin")  # where images usually have their programs
_WORDS = {"True": ("true", "1", "yes", "on"), "False": ("false", "0", "no", "off")}


@cache
def _rows() -> Mapping[str, Sequence[Mapping[str, object]]]:
    """The rows of each variable, which are of several versions."""
    rows: dict[str, list[Mapping[str, object]]] = {}
    for row in maps_at(preset_table("variable_values"), "rows"):
        for name in (name for words in texts_at(row, "variables") for name in words.split()):
            rows.setdefault(name, []).append(row)
    return rows


@rule(of=RunningEngine, when=lambda running: running.has_variable(_rows()))
def misread_values(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for each variable of the reader's whose value is not what its program takes it for, or is refused."""
    for name, origin in running.written_variables(""):
        rows = _rows().get(name, ())
        value = running.plain_value(name) if rows else ""
        for row in rows if value and "{{" not in value else ():
            problems = list(_problems(running, row, name, value))
            if problems and _is_read(running, row, name):
                yield from (make_diagnostic("W832", origin, name=name, what=what, hint=hint) for what, hint in problems)


def _is_read(running: RunningEngine, row: Mapping[str, object], name: str) -> bool:
    """Whether the engine reads a variable of the row, as far as that is known: any engine, or one in such a version."""
    line, backend = running.line, text_at(row, "backend")
    if not backend:
        return True
    known = line.engine.names.variables(line.version) if backend == line.backend and line.is_own_image() else None
    return known is not None and name in known.names and in_range(row, line.version)


def _problems(running: RunningEngine, row: Mapping[str, object], name: str, value: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a value, and what to do."""
    form, reader = text_at(row, "form"), text_at(row, "reader")
    if form == "pairs":
        yield from _wrong_pairs(row, value)
    elif form == "folders":
        yield from _lost_folders(running, name, value)
    elif "$(" in value:
        return
    elif form == "number" and not re.fullmatch(_WHOLE, value):
        yield f"{reader} reads a whole number there, and ends at '{value}'", _number_hint(value)
    elif form in ("choice", "choice or default") and not _is_choice(row, value):
        choices = sorted(texts_at(row, "words"))
        right = _meant_choice(value, choices)
        listed = (
            f"write {', '.join(choices[:-1])} or {choices[-1]}" if len(choices) <= _MOST_CHOICES else "leave it out"
        )
        hint = meant_name(value, right) if right else listed
        effect = "ends" if form == "choice" else "takes its default"
        yield f"{reader} does not know '{value}' there, and {effect}", hint
    elif form == "duration or default" and not re.fullmatch(_DURATION, value.strip(" \"'")):
        right = duration(value)
        hint = ReplacingHint(f"write '{right}'", value, right) if right else "write a duration, such as '5m'"
        yield f"{reader} reads a duration there, and takes its default for '{value}'", hint
    elif form == "address" and "://" not in value:
        yield (
            f"{reader} needs http:// or https:// there, and downloads nothing",
            _rewritten(value, f"https://{value.strip()}"),
        )
    elif form == "number or default" and not value.strip(" \"'").isdecimal():
        yield f"{reader} reads a whole number there, and takes its default for '{value}'", _number_hint(value)
    elif form == "switch" and value not in texts_at(row, "words") and value.strip().lower() in _NO:
        yield f"{reader} reads '{value}' as true there", ReplacingHint("write 'false', in quotes", value, "false")
    elif form == "leading number" and not re.match(_NUMBER, value) and value.strip().lower() not in _NO:
        yield f"{reader} reads a whole number there, and '{value}' as 0", _number_hint(value)


def _meant_choice(value: str, choices: Sequence[str]) -> str:
    """The word that was meant: a longer or shorter form of it, else one that is close; '' without one."""
    forms = [choice for choice in choices if choice.startswith(f"{value}_") or value.startswith(f"{choice}_")]
    near = closest(value.lower(), [choice.lower() for choice in choices], _NEAR_CHOICE)
    close = next((choice for choice in choices if choice.lower() == near), "")
    return forms[0] if len(forms) == 1 else close


def _is_choice(row: Mapping[str, object], value: str) -> bool:
    words = texts_at(row, "words")
    return value in words or (row.get("anyCase") is True and value.upper() in words)


def _number_hint(value: str) -> str:
    word = value.strip().lower()
    whole = [number for number in reversed(read_number(word).whole) if number > 0]
    number = "1" if word in _YES else "0" if word in _NO else str(whole[0]) if whole else ""
    if not number:
        return "write a whole number, or leave it out"
    return ReplacingHint(f"write '{number}', in quotes", value, number)


def _rewritten(old: str, new: str) -> str:
    """The hint to write another text in place of this one."""
    return ReplacingHint(f"write {new}", old, new)


def _wrong_pairs(row: Mapping[str, object], value: str) -> Iterator[tuple[str, str]]:
    """The same of keys and values, `key:value,key:value`."""
    reader, keys, flags = text_at(row, "reader"), texts_at(row, "keys"), texts_at(row, "flags")
    for part in re.split(r",(?![^\[]*\])", "".join(value.split())):
        key, colon, setting = part.partition(":")
        written, equals, behind = part.partition("=")
        if not part or "$(" in part:
            continue
        if not colon:
            right = _rewritten(part, f"{written}:{behind}") if equals and written in keys else "write it as key:value"
            yield f"{reader} reads key:value there, and ends at '{part}'", right
        elif key not in keys:
            near = closest(key, sorted(keys), _NEAR)
            yield (
                f"{reader} knows no key '{key}' there, and ends",
                meant_name(key, near) if near else "leave it out",
            )
        elif key in flags and setting not in _WORDS:
            right = next((word for word, others in _WORDS.items() if setting.lower() in others), "True")
            yield f"{reader} takes True or False for {key}, and ends at '{setting}'", _rewritten(part, f"{key}:{right}")


def _lost_folders(running: RunningEngine, name: str, value: str) -> Iterator[tuple[str, str]]:
    """The same of folders that are searched: Kubernetes knows no value of the image, and one of the pod replaces it."""
    env = running.container.env
    names = [entry.get("name") for entry in env]
    before = names[: len(names) - 1 - names[::-1].index(name)]
    for reference in re.findall(r"\$\(\w+\)|\$\{\w+\}|\$\w+", value):
        if reference.strip("$(){}") == name and not (reference[1] == "(" and name in before):
            what = f"Kubernetes fills in variables of the pod alone, so '{reference}' stays as it is, "
            yield f"{what}and the folders of the image are not searched", f"write those folders in place of {reference}"
            return
    command = running.container.command
    is_searched = name == "PATH" and "$" not in value and not (command and "/" in command[0])
    if is_searched and {*_PROGRAMS}.isdisjoint(value.split(":")):
        what = "the folders of the image's programs are not in it, so its command is not found"
        yield what, f"write {':'.join(_PROGRAMS)} behind it, or leave it out"
