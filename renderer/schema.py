"""JSON Schemas, and what a value says against them.

`jsonschema_rs` decides (microseconds); only when it says no, `jsonschema` is imported and explains.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from types import ModuleType
from typing import Any, Final, TypeAlias, TypeVar

from renderer import patterns
from renderer.problems import Path, guess, quoted
from renderer.records import NamedTuple

FOLDER = os.path.join(os.path.dirname(__file__), "schemas")
_NAME = re.compile(r"[a-z0-9][-_.a-z0-9]{0,99}(?:/[a-z0-9][-_.a-z0-9]{0,99}){1,3}")  # of a schema
_NAMES = {
    "object": "a map",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


MAX_FINDINGS: Final = 1_000  # of one value
_SHOWN: Final = 1_000  # characters of a word in a message; our patterns, which are words too, are shorter
T = TypeVar("T")
Older: TypeAlias = Mapping[tuple[str, ...], tuple[str, str]]
_NONE: Older = {}


class Finding(NamedTuple):
    """One disagreement: a code of `problems`, where below the value, whether the key is meant, and the wording's
    words.
    """

    code: str
    path: Path
    key: bool
    words: Mapping[str, str]


def path_of(name: str) -> str:
    """The file of a schema. The names of users' kinds come by here: FileNotFoundError for one that may lead out of the
    folder.
    """
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(f"no schema has the name {name[:100]!a}")
    return os.path.join(FOLDER, *name.split("/")) + ".json"


@cache
def name_of(version: str, kind: str) -> str:
    """The name of the schema of an object's apiVersion and kind, whether there is one or not."""
    group, _, number = version.rpartition("/")
    return f"output/{group or 'core'}/{kind.lower()}_{number}"


def read(name: str) -> dict[str, Any]:
    """The schema `input/<kind>` or `output/<group>/<kind>_<version>`. Raises FileNotFoundError."""
    import json

    with open(path_of(name), "rb") as file:
        loaded: dict[str, Any] = json.loads(file.read())
        return loaded


def _library() -> ModuleType:
    """jsonschema_rs, without the ten milliseconds of `email`: it asks for that only to read the date of its build."""
    import decimal  # noqa: F401 - jsonschema_rs imports it from Rust, where Ctrl-C is a panic

    if "jsonschema_rs" not in sys.modules and "email.utils" not in sys.modules:
        sys.modules["email.utils"] = stand_in = ModuleType("email.utils")
        stand_in.parsedate_to_datetime = str  # type: ignore[attr-defined]
        try:
            import jsonschema_rs
        finally:
            del sys.modules["email.utils"]
    import jsonschema_rs

    return jsonschema_rs


class _Decider:
    """Says whether values hold against a schema: by what is usual of it, and by the whole where that says no."""

    __slots__ = ("_more", "_name", "_narrow", "quick")

    def __init__(self, name: str, more: str = "") -> None:
        self._name, self._more = name, more
        usual = f"usual/{name}"
        self._narrow = exists(usual)
        self.quick: Callable[[Any], bool] = _compiled(usual if self._narrow else name, more).is_valid

    def is_valid(self, value: Any) -> bool:
        """Whether the value holds."""
        return self.quick(value) or (self._narrow and bool(_compiled(self._name, self._more).is_valid(value)))


_decider = cache(_Decider)


@cache
def _compiled(name: str, more: str) -> Any:
    with open(path_of(name), encoding="utf-8") as file:
        text = file.read()
        # It parses text faster than json.loads does.
        return _validator(f'{text.rstrip()[:-1]},"allOf":[{more}]}}' if more else text)


def _validator(text: str) -> Any:
    """jsonschema_rs' judge by a schema that is written out. A `$ref` to a file or URL is never followed."""
    return _library().Draft7Validator(text, retriever=_refused)


def _refused(uri: str) -> Any:
    raise LookupError(f"schemas refer to nothing outside of themselves, so not to {uri}")


def _disagreement(name: str, value: Any) -> Iterator[Finding]:
    """What the decider says, for the rare case that the explainer has nothing to say (`$` and a final newline, say)."""
    for error in _compiled(name, "").iter_errors(value):
        yield Finding("E307", tuple(error.instance_path), False, _words(what=error.message))


@cache
def spec_default(kind: str, *path: str) -> Any:
    """The CRD's default of a field below `spec`, from our schema of the kind."""
    node: Any = read(f"input/{kind.lower()}")["properties"]["spec"]
    for part in path:
        node = node["properties"][part]
    return node["default"]


def exists(name: str) -> bool:
    """Whether there is such a schema."""
    try:
        return os.path.isfile(path_of(name))
    except FileNotFoundError:
        return False


def valid(name: str, value: Any, more: str = "") -> bool:
    """Whether the value holds against the schema, and against one `more`, written out, that refers to nothing."""
    return _decider(name, more).is_valid(value)


def like(text: str) -> Callable[[Any], bool]:
    """What says whether a value holds against a schema that is written out."""
    holds: Callable[[Any], bool] = _validator(text).is_valid
    return holds


def holding(name: str, values: Sequence[T], more: str = "") -> list[T]:
    """Those of the values that are `valid`."""
    decider = _decider(name, more)
    good = [*filter(decider.quick, values)]
    return good if len(good) == len(values) else [*filter(decider.is_valid, values)]


@cache
def _explainer(name: str) -> Any:
    """jsonschema's judge, made to take linear time, and to follow no `$ref` to a file or URL."""
    import jsonschema
    from referencing import Registry

    loaded = read(name)
    linear = {"pattern": _pattern, "uniqueItems": _unique}
    extend: Callable[..., Any] = jsonschema.validators.extend
    return extend(jsonschema.validators.validator_for(loaded), linear)(loaded, registry=Registry())


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    """jsonschema's keyword, by RE2: with `re` most of our patterns take quadratic time over a long text."""
    if validator.is_type(instance, "string") and not _fits(pattern, instance):
        from jsonschema import ValidationError

        yield ValidationError("no match")


def _fits(pattern: str, text: str) -> bool:
    """Whether a text is as a pattern of our schemas wants it. Half a surrogate is no letter to any of them."""
    return patterns.compiled(pattern).search(text.encode("utf-8", "replace")) is not None


def _unique(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[Any]:
    """jsonschema's keyword: that compares every item with every other."""
    if unique and validator.is_type(instance, "array") and any(_repeated(instance)):
        from jsonschema import ValidationError

        yield ValidationError("not unique")


def _repeated(items: Sequence[Any]) -> Iterator[int]:
    """The positions, from 1 as 0 repeats nothing, of items that stand further up too."""
    import json

    seen: set[str] = set()
    for i, item in enumerate(items):
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            yield i
        seen.add(text)


def findings(name: str, value: Any, older: Older = _NONE) -> list[Finding]:
    """Everything that the value has against the schema, at the deepest place each; empty when it holds.

    `older`: hints for fields that once were, by their path without the indices of lists, and the fields that took their
    place. What such a field, or a misspelt one, stands for is not missing too; nor what some type would need, where
    the type is missing.
    """
    explained = (finding for error in _explainer(name).iter_errors(value) for finding in _explain(error))
    found = list(dict.fromkeys(islice(explained, MAX_FINDINGS))) or list(islice(_disagreement(name, value), 1))
    if len(found) == MAX_FINDINGS:
        found.append(Finding("E116", (), False, _words(limit=MAX_FINDINGS)))
    meant: set[Path] = set()
    for i, each in enumerate(found):
        if each.code in ("E301", "E303") and each.path and isinstance(each.path[-1], str):
            hint, now = older.get(tuple(part for part in each.path if isinstance(part, str)), ("", ""))
            if hint:
                found[i] = each._replace(words=_words(**{**each.words, "hint": hint}))
            meant.add((*each.path[:-1], now or each.words["hint"].removeprefix("did you mean '").removesuffix("'?")))
    typeless = {each.path for each in found if each.code == "E302" and each.words["word"] == "type"}
    missing = (each for each in found if each.code == "E302")
    said = {
        each
        for each in missing
        if (*each.path, each.words["word"]) in meant or (each.path in typeless and each.words["word"] != "type")
    }
    return [_without_secret(each, value) for each in found if each not in said]


def _without_secret(found: Finding, value: Any) -> Finding:
    """The finding without the value of a variable that is named like a secret."""
    if found.code != "E303" or found.path[-1:] != ("value",):
        return found
    from renderer.secrets import literal  # few runs need it

    for part in found.path[:-1]:
        value = value[part]
    if not isinstance(value, dict) or not literal(value.get("name"), str(value["value"])):
        return found
    of_another_type = {"found": "a value of another type", "kind": "", "hint": "write it in quotes"}
    return found._replace(words=_words(**{**found.words, **of_another_type}))


def words(found: Finding, raw: str | None) -> dict[str, str]:
    """The finding's words, with the value as the user wrote it where that is not what YAML made of it."""
    made = dict(found.words)
    if raw is None:
        return made
    raw = shown(raw)
    if found.code in ("E304", "E305"):
        made["value"] = raw
    elif found.code == "E303" and raw and made["kind"] == "string" and not made["hint"] and made["found"] != "empty":
        fits = "x-means" not in made or _fits(made.get("pattern", ""), raw)
        made["hint"] = f'write "{raw}" in quotes' if fits else f"write {made['x-means']}"
        if raw.lower() != made["found"].rpartition(" ")[2]:
            made["found"] = f"'{raw}', which YAML reads as {made['found']}"
    return made


def _explain(error: Any) -> Iterator[Finding]:
    path: Path = tuple(error.absolute_path)
    rule, instance = error.validator, error.instance
    if "propertyNames" in error.absolute_schema_path and isinstance(instance, str):
        yield Finding("E306", (*path, instance), True, _words(value=instance, means=_means(error)))
        return
    if rule == "additionalProperties" or rule == "unevaluatedProperties":
        known = sorted(error.schema.get("properties", {}))
        free = error.schema.get("patternProperties", {})
        if isinstance(instance, dict) and error.validator_value is False and not free:
            for word in instance:
                if word not in known:
                    yield Finding("E301", (*path, word), True, _words(word=word, hint=guess(word, known)))
            return
    elif rule == "required":
        for word in error.validator_value:
            if isinstance(instance, dict) and word not in instance:
                needs = "then" in error.absolute_schema_path and instance.get("type")
                hint = f"type {needs} needs it" if needs else ""
                yield Finding("E302", path, True, _words(word=word, hint=hint))
        return
    elif rule == "type":
        if "enum" not in error.schema or isinstance(instance, (dict, list)):
            made = mistyped(path, instance, error.validator_value)
            fits = {key: error.schema[key] for key in ("pattern", "x-means") if key in error.schema}
            yield made._replace(words=_words(**{**made.words, "hint": _meant(error), **fits}))
        return
    elif rule == "not" and list(error.validator_value) == ["required"]:
        fields = error.validator_value["required"]
        several = f"only one of {' and '.join(fields)} may be given"
        what = several if len(fields) > 1 else f"'{fields[0]}' has no place here"
        yield Finding("E307", (*path, fields[-1]), True, _words(what=what))
        return
    elif rule in ("enum", "const"):
        allowed = error.validator_value if rule == "enum" else [error.validator_value]
        if isinstance(instance, (dict, list)):
            yield mistyped(path, instance, "string")
        else:
            hint = guess(str(instance), [str(each) for each in allowed if each])
            hint = hint if hint.startswith("did you mean") else ""
            yield Finding("E304", path, False, _words(value=instance, allowed=quoted(allowed), hint=hint))
        return
    elif rule in ("anyOf", "oneOf"):
        yield from _alternatives(error, path, instance)
        return
    elif rule == "uniqueItems":
        for i in _repeated(instance):
            said = f"'{instance[i]}'" if isinstance(instance[i], str) else "this item"
            yield Finding("E307", (*path, i), False, _words(what=f"{said} stands in this list already"))
        return
    elif rule == "pattern" and "KMGTPE" in str(error.validator_value):
        yield Finding("E305", path, False, _words(value=instance))
        return
    elif rule == "pattern":
        yield Finding("E306", path, False, _words(value=instance, means=_means(error)))
        return
    yield Finding("E307", path, False, _words(what=_limit(rule, error)))


def _alternatives(error: Any, path: Path, instance: Any) -> Iterator[Finding]:
    """The alternative that got deepest; where all stop at the type, all types together."""
    types = [
        t for sub in error.context if sub.validator == "type" and not sub.path for t in _listed(sub.validator_value)
    ]
    deeper = [sub for sub in error.context if sub.validator != "type" or sub.path]
    if "x-means" in error.schema and all(list(each) == ["required"] for each in error.validator_value):
        named = [each["required"][0] for each in error.validator_value]
        given = _given({key: instance[key] for key in named if key in instance}) if isinstance(instance, dict) else ""
        yield Finding("E307", path, False, _words(what=f"{error.schema['x-means']} is needed{given}"))
    elif len(types) >= len(error.validator_value):
        yield mistyped(path, instance, list(dict.fromkeys(types)))
    elif deeper:
        yield from _explain(max(deeper, key=lambda sub: len(sub.absolute_path)))


def mistyped(path: Path, instance: Any, wanted: Any) -> Finding:
    """The value at the path is not of any wanted type."""
    wanted = _listed(wanted)
    return Finding(
        "E303",
        path,
        False,
        _words(
            wanted=" or ".join(_NAMES[w] for w in wanted),
            found=_found(instance),
            kind=wanted[0] if len(wanted) == 1 else "",
            hint="",
        ),
    )


def _meant(error: Any) -> str:
    """How the value is written in the type that is needed, where that can be told; else ''."""
    instance, schema, wanted = error.instance, error.schema, _listed(error.validator_value)
    if isinstance(instance, dict) and wanted == ["string"] and {"args", "command"} & {*error.absolute_path}:
        return "put JSON in single quotes; write an option and its value as two items"
    if isinstance(instance, str) and instance:
        items, needed = schema.get("items") or {}, list(schema.get("required") or ())
        if wanted in (["integer"], ["number"]) and instance.isascii() and instance.isdigit():
            return f"write {instance} without quotes"
        if wanted == ["array"] and items.get("type") == "string":
            return f'write a list: ["{instance}"]'
        if wanted == ["object"] and len(needed) == 1 and instance.replace("-", "").isalnum():
            return f"write {{{needed[0]}: {instance}}}"
    return ""


def _found(instance: Any) -> str:
    if instance is None:
        return "empty"
    if isinstance(instance, bool):
        return f"the boolean {str(instance).lower()}"
    if isinstance(instance, (int, float)):
        return f"the number {instance}"
    if isinstance(instance, str):
        return f"the string '{instance}'"
    return "a map" if isinstance(instance, dict) else "a list"


def _limit(rule: str, error: Any) -> str:
    bound = error.validator_value
    return {
        "maxItems": f"at most {_count(bound, 'item')} allowed, here are more",
        "minItems": f"at least {_count(bound, 'item')} needed",
        "minLength": "must not be empty",
        "maxLength": f"at most {_count(bound, 'character')} allowed",
        "minimum": f"{error.instance} is below {bound}",
        "maximum": f"{error.instance} is above {bound}",
        "minProperties": f"at least {_count(bound, 'field')} needed{_given(error.instance)}",
        "maxProperties": f"at most {_count(bound, 'field')} allowed{_given(error.instance)}",
        "format": f"'{error.instance}' is no {bound}",
    }.get(rule, str(error.message))


def _count(number: int, word: str) -> str:
    return f"{number} {word} is" if number == 1 else f"{number} {word}s are"


def _given(instance: Any) -> str:
    if not instance or not isinstance(instance, dict):
        return ""
    return f", here {'are' if len(instance) > 1 else 'is'} {quoted(instance)}"


def _means(error: Any) -> str:
    """What a pattern stands for, in words where the schema has them."""
    schema = error.schema if "x-means" in error.schema else error.schema.get("propertyNames") or error.schema
    return str(schema.get("x-means") or f"what matches {schema.get('pattern', '')}")


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


class _Words(dict[str, str]):
    """A map that can be a member of a set of findings."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def _words(**words: Any) -> Mapping[str, str]:
    return _Words({key: shown(str(value)) for key, value in words.items()})


def shown(text: str) -> str:
    """A word for a message, which need not be longer than a screen."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
