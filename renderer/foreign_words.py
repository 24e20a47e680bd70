"""What people write who know other programs, and what it is here (presets/foreign_words.yaml).

It is read where an input has a fault.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

from renderer import schema_validation, yamlio
from renderer.diagnostics import Finding, Path, ReplacingHint
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.preset_tables import preset_table
from renderer.schema_validation import Hint
from renderer.secrets.words import is_literal_secret
from renderer.text import escapes

_NAME: Final = "foreign_words"
_WORD: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_EACH: Final = "each"
_LONGEST: Final = 60  # characters of a user's word in a hint
_MOST_PAIRS: Final = 3  # that a hint writes out
_FEW_WORDS: Final = 2  # blanks of a description that says more than the name of a field
_OTHERS: Final = "…"  # in a hint, for what the user wrote and the hint does not repeat


class ForeignKey(Struct, frozen=True):
    """A field of another program or of an older API, and what it is here."""

    kind: str | Sequence[str]
    key: str | Sequence[str]
    has: Sequence[str] = ()
    mapping: bool = False
    pattern: str = ""
    where: Mapping[str, str] = {}
    write: Mapping[str, Any] = {}
    at: str = ""  # where `write` stands: '' for beside the key, `spec`
    instead: Sequence[str] = ()
    within: str = ""  # another object
    note: str = ""
    hint: str = ""
    leads: str = ""

    def hint_of(self, words: Mapping[str, object]) -> str:
        """The hint, with the user's words."""
        if self.hint:
            return str(_filled(self.hint, {name: _short(word) for name, word in words.items()}))
        text = f"write {flow_text(_filled(self.write, words))}"
        text += f" in place of {' and '.join(self.instead)}" if self.instead else ""
        place = self.within or self.at
        text += f" in {place}" if place else ""
        return f"{text}; {self.note}" if self.note else text


class ForeignScheme(Struct, frozen=True):
    """An address of weights as other programs have it."""

    names: Sequence[str] = ()
    prefix: str = ""
    pattern: str = ""
    write: Mapping[str, Any] = {}
    note: str = ""
    hint: str = ""


def command_hint(word: str) -> str:
    """What does what a command of another program does; '' for an unknown word."""
    row: Mapping[str, Any] = next((row for row in preset_table(_NAME)["commands"] if word.lower() in row["words"]), {})
    return str(row.get("say") or (f"llmaz {row['run']} does that" if row else ""))


def option_hint(option: str) -> str:
    """What does what an option of another program does; '' for an unknown option."""
    return next((str(row["say"]) for row in preset_table(_NAME)["options"] if option in row["words"]), "")


def option_words() -> list[str]:
    """The options of other programs that have a hint."""
    return [word for row in preset_table(_NAME)["options"] for word in row["words"]]


def object_hint(kind: str, file: str) -> str:
    """How llmaz gets its input from an object of others; '' for an unknown kind."""
    return str(_filled(preset_table(_NAME)["objects"].get(kind, ""), {"file": file}))


def kind_of(word: str) -> str:
    """Our kind for one of another program; '' for an unknown word."""
    return str(preset_table(_NAME)["kinds"].get(word, ""))


def source_hint(uri: str, known: Sequence[str]) -> str:
    """What to write in place of an address that is none of ours; '' where nobody can tell. `known`: our schemes."""
    scheme, colon, tail = uri.partition(":")
    scheme, rest = scheme.lower(), tail.strip("/")
    if colon and scheme in known and rest and "://" not in rest and not (tail.startswith("//") and scheme != "host"):
        root = "/" if scheme == "host" else ""
        return f"write uri: {flow_text(f'{scheme}://{root}{rest}')}"
    for foreign in _schemes():
        if foreign.names:
            is_meant, tail = bool(colon) and scheme in foreign.names, rest
        else:
            is_meant, tail = uri.startswith(foreign.prefix), uri.removeprefix(foreign.prefix).strip("/")
        match = re.fullmatch(foreign.pattern, tail) if is_meant and foreign.pattern else None
        if match:
            words = {"rest": tail, **match.groupdict()}
            fields, note = _filled(foreign.write, words), _filled(foreign.note, words)
            place = "" if "uri" in fields else " in place of uri"
            return f"write {flow_text(fields)}{place}{f'; {note}' if note else ''}"
        if is_meant and foreign.hint:
            return foreign.hint
    return ""


def key_hint(kind: str, schema: str, value: Any, finding: Finding) -> Hint | None:
    """What to write in place of a field that the schema refuses; None where nobody knows, or where the object would
    not be valid with it.
    """
    names = [part for part in finding.path[1:] if isinstance(part, str)]
    if finding.path[:1] != ("spec",) or isinstance(finding.path[-1], int):
        return None
    table, named = _keys(), [*names]
    named[1:2] = ["*"][: len(named) > 1]
    for foreign in (*table.get((kind, ".".join(names)), ()), *table.get((kind, ".".join(named)), ())):
        words = _words(value, finding.path)
        if not _is_meant(foreign, words):
            continue
        if isinstance(words["value"], str) and is_literal_secret(names[-1], words["value"]):
            words["value"] = words["metric"] = _OTHERS
        try:
            hint = foreign.hint_of(words)
        except KeyError:
            continue
        if foreign.within or foreign.hint or _is_mended(schema, value, finding, foreign, words):
            leads = foreign.leads or next(iter(foreign.write if not foreign.within else ()), "")
            hint = _replacing(foreign, hint, words, finding)
            return Hint(hint, (*(finding.path[:1] if foreign.at else finding.path[:-1]), leads) if leads else ())
    return None


def _replacing(foreign: ForeignKey, hint: str, words: Mapping[str, Any], finding: Finding) -> str:
    """The hint of an entry, as one replacement where it gives the field another name or another scalar alone."""
    is_elsewhere = foreign.within or foreign.instead or (foreign.at and len(finding.path) != len(("spec", "key")))
    if foreign.hint or foreign.note or is_elsewhere or len(foreign.write) != 1:
        return hint
    ((name, body),) = foreign.write.items()
    key, value = _filled(name, words), _plain(_filled(body, words))
    if finding.key:
        return ReplacingHint(hint, str(finding.path[-1]), str(key)) if body == "$value" else hint
    return (
        ReplacingHint(hint, "", value) if key == finding.path[-1] and _is_scalar(value) and value != _OTHERS else hint
    )


def missing_hint(kind: str, schema: str, value: Any, path: Path, word: str) -> str:
    """What to write for a field that the object at a path has to have; '' where the schema does not say."""
    key = ".".join(part for part in (*path[1:], word) if isinstance(part, str))
    metric = text_at(value, *path[:-1], "metric", "name")
    for row in preset_table(_NAME)["missing"]:
        is_meant = row["kind"] == kind and row["key"] == key and path[:1] == ("spec",)
        if is_meant and re.fullmatch(row.get("metric", ".*"), metric):
            hint = f"write {flow_text(_filled(row['write'], {'own': text_at(value, 'metadata', 'name')}))}"
            return f"{hint}; {row['note']}" if "note" in row else hint
    known = schema_validation.schema_at(schema, (*path, word))
    if values := [f"'{value}'" for value in known.get("enum") or ()]:
        return f"its value: {' or '.join(filter(None, [', '.join(values[:-1]), values[-1]]))}"
    meaning = str(known.get("description", "")).partition(". ")[0].rstrip(".").removeprefix("Extension: ")
    if path[:1] != ("spec",) or meaning.count(" ") < _FEW_WORDS or len(meaning) > _LONGEST:
        return ""
    needed = " and ".join(known.get("required") or ())
    return f"its value: {meaning[0].lower()}{meaning[1:]}{f', with {needed}' if needed else ''}"


def moved_hint(schema: str, value: Any, finding: Finding, place: str) -> Hint | None:
    """What to write where a field has its place elsewhere in the object, such as `spec.pods.env`; None where the object
    would not be valid with it, and for places in lists but that of the engine's container.
    """
    *above, last = place.split(".")[1:]
    body: Any = {last: "$value"}
    for part in reversed(above):
        if part.endswith("[]"):
            if part != "containers[]":
                return None
            body = {part[:-2]: [{"name": RUNNER, **body}]}
        else:
            body = {part: body}
    foreign = ForeignKey("", "", write=body, at="spec" if len(finding.path) > 2 else "")
    words = _words(value, finding.path)
    if isinstance(words["value"], str) and is_literal_secret(last, words["value"]):
        words["value"] = _OTHERS
    if not _is_mended(schema, value, finding, foreign, words):
        return None
    return Hint(foreign.hint_of(words), ("spec", *body))


def flow_text(value: object) -> str:
    """The value as YAML in one line, a map at the top without its braces."""
    if isinstance(value, Mapping):
        return ", ".join(f"{flow_text(key)}: {_inner_text(item)}" for key, item in value.items())
    return _inner_text(value)


def _inner_text(value: object) -> str:
    if isinstance(value, Repeated):
        return _OTHERS
    if isinstance(value, Mapping):
        return f"{{{flow_text(value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inner_text, value))}]"
    if isinstance(value, str) and value != _OTHERS:
        text = yamlio.scalar(value)
        return escapes.json_text(value) if re.search(r"[,\[\]{}]", text) and text == value else text
    return _OTHERS if value == _OTHERS else yamlio.scalar(value)


class Repeated(Struct, frozen=True):
    """What the user wrote, where a hint does not repeat it."""

    value: Any


def _words(value: Any, path: Path) -> dict[str, Any]:
    """The words that an entry may name, by the field at a path."""
    name = text_at(value, "metadata", "name")
    for part in path[:-1]:
        value = value[part]
    own = value[path[-1]]
    first = own[0] if isinstance(own, list) and own else own
    beside = [item for key, item in value.items() if isinstance(item, dict) and key != path[-1]]
    words: dict[str, Any] = {}
    for fields in (*beside, value, first):
        words |= fields if isinstance(fields, dict) else {}
    words |= {"value": own, "metric": str(own).replace(":", "_"), "own": name, "key": path[-1]}
    return {**words, "items": _items(own), "pairs": _pairs(own)}


def _pairs(value: object) -> list[dict[str, str]]:
    """The entries of a map of scalars, or of a list of texts such as `A=b`, by name and value; a few at most."""
    entries = [*value.items()] if isinstance(value, dict) else []
    if isinstance(value, list) and all(isinstance(item, str) and "=" in item for item in value):
        entries = [tuple(item.split("=", 1)) for item in value]
    if not 0 < len(entries) <= _MOST_PAIRS or not all(_is_scalar(text) for _, text in entries):
        return []
    texts = [(str(name), str(text).lower() if isinstance(text, bool) else str(text)) for name, text in entries]
    return [{"name": name, "value": _OTHERS if is_literal_secret(name, text) else text} for name, text in texts]


def _items(value: object) -> str:
    """A command line, or a map of options, as a list of arguments in YAML."""
    args = value.split() if isinstance(value, str) else []
    for name, own in value.items() if isinstance(value, dict) else ():
        shown = _OTHERS if is_literal_secret(str(name), str(own)) else str(own)
        args += [f"--{str(name).lstrip('-')}", *([] if own is True else [shown])]
    while len(_inner_text(args)) > _LONGEST:
        args = [*args[:-1], _OTHERS] if args[-1] != _OTHERS else [*args[:-2], _OTHERS]
    return _inner_text(args)


def _is_meant(foreign: ForeignKey, words: dict[str, Any]) -> bool:
    """Whether a value is what an entry is about; what its pattern holds is added to the words."""
    value = words["value"]
    first = value[0] if isinstance(value, list) and value else value
    if foreign.mapping and not (isinstance(value, dict) and all(map(_is_scalar, value.values()))):
        return False
    if not all(isinstance(first, dict) and first.get(name) is not None for name in foreign.has):
        return False
    if not all(re.fullmatch(pattern, str(words.get(name, ""))) for name, pattern in foreign.where.items()):
        return False
    if not foreign.pattern:
        return True
    if isinstance(value, dict | list):
        return False
    match = re.fullmatch(foreign.pattern, str(value).lower() if isinstance(value, bool) else str(value))
    if match and match.groups():
        group = match[1] or ""
        words |= {"1": group, **({"number": int(group)} if group.isdigit() else {})}
    return match is not None


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float))


def _filled(template: Any, words: Mapping[str, Any]) -> Any:
    """The template with words. Raises KeyError for a word that is not there."""
    if isinstance(template, Mapping):
        return {_filled(key, words): _filled(item, words) for key, item in template.items()}
    if isinstance(template, list):
        return [filled for item in template for filled in _filled_items(item, words)]
    if not isinstance(template, str):
        return template
    if (whole := _WORD.fullmatch(template)) and not whole[1]:
        return _shown(words[whole[2]])
    text = _WORD.sub(lambda match: str(words[match[1] or match[2]]), template)
    return int(text) if template.startswith("${number}") and text.isdigit() else text


def _filled_items(item: Any, words: Mapping[str, Any]) -> Iterator[Any]:
    """An item of a list, or one for each item of a word. Raises KeyError for a word of which there are none."""
    if not isinstance(item, Mapping) or _EACH not in item:
        yield _filled(item, words)
        return
    template = {key: part for key, part in item.items() if key != _EACH}
    items = words[item[_EACH].removeprefix("$")]
    if not items or not isinstance(items, list | Mapping):
        raise KeyError(item[_EACH])
    for one in items:
        yield _filled(template, {**words, **(one if isinstance(one, dict) else {"name": one})})


def _shown(word: Any) -> Any:
    return Repeated(word) if isinstance(word, dict | list) or len(str(word)) > _LONGEST else word


def _short(word: object) -> object:
    """A word in the text of a hint."""
    is_short = isinstance(word, str | int) and len(str(word)) <= _LONGEST and str(word).isprintable()
    return word if is_short else _OTHERS


def _is_mended(schema: str, value: Any, finding: Finding, foreign: ForeignKey, words: Mapping[str, Any]) -> bool:
    """Whether the object with what an entry writes has no other fault than before, and not this one."""
    mended = copy.deepcopy(value)
    parent = mended
    for part in finding.path[:-1]:
        parent = parent[part]
    for key in (finding.path[-1], *foreign.instead):
        parent.pop(key, None)
    _merge(mended["spec"] if foreign.at else parent, _plain(_filled(foreign.write, words)))
    return mends(schema, value, mended, finding)


def mends(schema: str, value: Any, mended: Any, finding: Finding) -> bool:
    """Whether a changed object has no other fault than before, and not the one that a finding is about."""
    before = {(fault.code, fault.path) for fault in schema_validation.findings(schema, value)}
    after = {(fault.code, fault.path) for fault in schema_validation.findings(schema, mended)}
    return after < before and (finding.code, finding.path) not in after


def _plain(value: Any) -> Any:
    if isinstance(value, Repeated):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _merge(target: Any, more: Mapping[str, Any]) -> None:
    for key, item in more.items():
        if isinstance(item, dict) and isinstance(target.get(key), dict):
            _merge(target[key], item)
        else:
            target[key] = item


@cache
def _schemes() -> Sequence[ForeignScheme]:
    return [ForeignScheme(**row) for row in preset_table(_NAME)["schemes"]]


@cache
def _keys() -> Mapping[tuple[str, str], Sequence[ForeignKey]]:
    """The entries by kind and field."""
    table: dict[tuple[str, str], list[ForeignKey]] = {}
    for row in preset_table(_NAME)["keys"]:
        foreign = ForeignKey(**{"within" if name == "in" else name: field for name, field in row.items()})
        for kind in _listed(foreign.kind):
            for key in _listed(foreign.key):
                table.setdefault((kind, key), []).append(foreign)
    return table


def _listed(value: str | Sequence[str]) -> Iterator[str]:
    yield from [value] if isinstance(value, str) else value
