"""JSON Schemas, and the findings about values that violate them.

`jsonschema_rs` validates, in microseconds; only for an invalid value `jsonschema` is imported to explain it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import MAX_PROBLEMS, Finding, Path, ReplacingHint, quoted, suggestion
from renderer.kubernetes import quantity
from renderer.text import patterns
from renderer.text.suggestions import within_letters

FOLDER = os.path.join(os.path.dirname(__file__), "schemas")
_NAME = re.compile(r"[a-z0-9][-_.a-z0-9]{0,99}(?:/[a-z0-9][-_.a-z0-9]{0,99}){1,3}")  # of a schema
_TYPE_NAMES = {
    "object": "a map",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


_LONGEST_WORD: Final = 1_000  # characters of a word in a message; our patterns, which are words too, are shorter
T = TypeVar("T")
_MISSPELT: Final = 2  # letters by which a field is taken for one that is there too
_DURATION: Final = "a duration such as 5m"
_NO_REPLICAS: Final = ("elasticConfig", "maxReplicas")
_HINTED: Final = ("E301", "E303", "E304", "E306")  # about a field or a value that is something else elsewhere


class Hint(Struct, frozen=True):
    """What to write in place of a field."""

    text: str
    leads: Path = ()  # the field that it leads to


FindHint: TypeAlias = Callable[[Finding], Hint | None]


def path_of(name: str) -> str:
    """The file of a schema. Raises FileNotFoundError for a name that could leave the folder: names contain users'
    kinds.
    """
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(f"no schema has the name {name[:100]!a}")
    return os.path.join(FOLDER, *name.split("/")) + ".json"


@cache
def name_of(version: str, kind: str) -> str:
    """The name of the schema of an apiVersion and kind, which need not exist."""
    group, _, number = version.rpartition("/")
    return f"output/{group or 'core'}/{kind.lower()}_{number}"


def read_schema(name: str) -> dict[str, Any]:
    """The schema `input/<kind>` or `output/<group>/<kind>_<version>`. Raises FileNotFoundError."""
    import json

    with open(path_of(name), "rb") as file:
        loaded: dict[str, object] = json.loads(file.read())
        return loaded


class _StagedValidator:
    """Validates by a narrow schema for common values, and by the full one where that fails."""

    __slots__ = ("_extra", "_name", "_narrow", "narrow_is_valid")

    def __init__(self, name: str, extra: str = "") -> None:
        self._name, self._extra = name, extra
        usual = f"usual/{name}"
        self._narrow = has_schema(usual)
        self.narrow_is_valid: Callable[[object], bool] = _compiled(usual if self._narrow else name, extra).is_valid

    def is_valid(self, value: object) -> bool:
        """Whether the value is valid."""
        if self.narrow_is_valid(value):
            return True
        return self._narrow and bool(_compiled(self._name, self._extra).is_valid(value))


_staged_validator = cache(_StagedValidator)


@cache
def _compiled(name: str, extra: str) -> Any:
    with open(path_of(name), encoding="utf-8") as file:
        text = file.read()
        # jsonschema_rs parses text faster than json.loads does.
        return _compile(f'{text.rstrip()[:-1]},"allOf":[{extra}]}}' if extra else text)


def _compile(text: str) -> Any:
    """jsonschema_rs' validator for a schema's text. A `$ref` to a file or URL is never followed."""
    import decimal  # noqa: F401 - jsonschema_rs imports it from Rust, where Ctrl-C is a panic

    import jsonschema_rs

    return jsonschema_rs.Draft7Validator(text, retriever=_refuse_retrieval)


def _refuse_retrieval(uri: str) -> Any:
    raise LookupError(f"schemas refer to nothing outside of themselves, so not to {uri}")


def _fallback_finding(name: str, value: object) -> Iterator[Finding]:
    """jsonschema_rs' own error, for the rare case that jsonschema finds none (as of `$` and a final newline)."""
    for error in _compiled(name, "").iter_errors(value):
        yield Finding("E307", tuple(error.instance_path), _words(what=error.message))


@cache
def spec_default(kind: str, *path: str) -> object:
    """The CRD's default of a field below `spec`, from our schema of the kind."""
    node: Any = read_schema(f"input/{kind.lower()}")["properties"]["spec"]
    for part in path:
        node = node["properties"][part]
    return node["default"]


def schema_at(name: str, path: Path) -> Mapping[str, Any]:
    """The part of a schema for the field at `path`, without what its conditions add; empty where it has none."""
    whole = read_schema(name)
    node: Any = whole
    for part in path:
        node = (
            node.get("items")
            if isinstance(part, int)
            else (node.get("properties") or {}).get(part, node.get("additionalProperties"))
        )
        if not isinstance(node, dict):
            return {}
        if "$ref" in node:
            node = whole["$defs"][node["$ref"].removeprefix("#/$defs/")]
    known: Mapping[str, Any] = node
    return known


def has_schema(name: str) -> bool:
    """Whether the schema exists."""
    try:
        return os.path.isfile(path_of(name))
    except FileNotFoundError:
        return False


def is_valid(name: str, value: Any, extra: str = "") -> bool:
    """Whether the value is valid. `extra`: the text of another schema that it must satisfy, without `$ref`."""
    return _staged_validator(name, extra).is_valid(value)


def valid_values(name: str, values: Sequence[T], extra: str = "") -> list[T]:
    """The valid ones of the values."""
    validator = _staged_validator(name, extra)
    accepted = [*filter(validator.narrow_is_valid, values)]
    return accepted if len(accepted) == len(values) else [*filter(validator.is_valid, values)]


@cache
def _explainer(name: str) -> Any:
    """jsonschema's validator, with keywords of linear time, and no `$ref` to a file or URL."""
    import jsonschema
    from referencing import Registry

    loaded = read_schema(name)
    linear = {"pattern": _pattern, "uniqueItems": _unique}
    extend: Callable[..., Any] = jsonschema.validators.extend
    return extend(jsonschema.validators.validator_for(loaded), linear)(loaded, registry=Registry())


def _pattern(validator: Any, pattern: str, instance: Any, schema: object) -> Iterator[object]:
    """The keyword `pattern` by RE2: with `re` most of our patterns take quadratic time."""
    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        from jsonschema import ValidationError

        yield ValidationError("no match")


def _matches(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern of our schemas, none of which matches a lone surrogate."""
    return patterns.compiled(pattern).search(text.encode("utf-8", "replace")) is not None


def _unique(validator: Any, unique: bool, instance: Any, schema: object) -> Iterator[object]:
    """The keyword `uniqueItems` in linear time: jsonschema's compares every item with every other."""
    if unique and validator.is_type(instance, "array") and any(_repeated(instance)):
        from jsonschema import ValidationError

        yield ValidationError("not unique")


def _repeated(items: Sequence[object]) -> Iterator[int]:
    """The indices, from 1, of items that equal an earlier one."""
    import json

    seen: set[str] = set()
    for i, item in enumerate(items):
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            yield i
        seen.add(text)


def findings(name: str, value: object, find_hint: FindHint | None = None) -> list[Finding]:
    """All findings about a value, each at the deepest path; empty when it is valid.

    `find_hint`: knows better than the schema what to write in place of a field. A required field is not reported as
    missing where a misspelt one, or one that leads to it, stands for it, nor where the `type` that needs it is missing.
    """
    explained = (finding for error in _explainer(name).iter_errors(value) for finding in _explain_error(error))
    results = list(dict.fromkeys(islice(explained, MAX_PROBLEMS))) or list(islice(_fallback_finding(name, value), 1))
    if len(results) == MAX_PROBLEMS:
        results.append(Finding("E116", (), _words(limit=MAX_PROBLEMS)))
    intended: set[Path] = set()
    for i, finding in enumerate(results):
        if finding.code in _HINTED and finding.path:
            if hint := find_hint(finding) if find_hint else None:
                is_form = finding.code == "E306"  # whose hint is "write {means}"
                means = hint.text.removeprefix("write ")
                if isinstance(hint.text, ReplacingHint):
                    means = ReplacingHint(means, hint.text.old, hint.text.new)
                replaced = {"means": means} if is_form else {"hint": hint.text}
                results[i] = replace(finding, words=_words(**{**finding.words, **replaced}))
            meant_name = str(finding.words.get("hint", "")).removeprefix("did you mean '").removesuffix("'?")
            intended.add(hint.leads if hint and hint.leads else (*finding.path[:-1], meant_name))
    without_type = {finding.path for finding in results if finding.code == "E302" and finding.words["word"] == "type"}
    wrong_keys = {finding.path for finding in results if finding.words.get("noun") == "key"}
    missing = (finding for finding in results if finding.code == "E302")
    redundant = {
        finding
        for finding in missing
        if (*finding.path, finding.words["word"]) in intended
        or (finding.path in without_type and finding.words["word"] != "type")
    }
    if wrong_keys:  # what stands below one has another meaning where it belongs
        redundant |= {
            finding
            for finding in results
            if finding.words.get("noun") != "key" and any(finding.path[: len(key)] == key for key in wrong_keys)
        }
    return [_without_secret(finding, value) for finding in results if finding not in redundant]


def null_entries(name: str, value: object) -> dict[Path, Sequence[str]]:
    """The paths of nulls where the schema wants another type for an entry of a map or an item of a list, with these
    types. Nulls in fields are not among them.
    """
    entries: dict[Path, Sequence[str]] = {}
    for error in islice(_explainer(name).iter_errors(value), MAX_PROBLEMS):
        if error.validator == "type" and error.instance is None:
            keywords = [part for part in error.absolute_schema_path if part not in ("type", "$ref")]
            if keywords[-1:] == ["additionalProperties"] or keywords[-1:] == ["items"]:
                entries[tuple(error.absolute_path)] = _as_list(error.validator_value)
    return entries


def _without_secret(finding: Finding, value: Any) -> Finding:
    """The finding without the value of an environment variable that is a secret by its name."""
    if finding.code != "E303" or finding.path[-1:] != ("value",):
        return finding
    from renderer.secrets.words import is_literal_secret  # few runs need it

    for part in finding.path[:-1]:
        value = value[part]
    if not isinstance(value, dict) or not is_literal_secret(value.get("name"), str(value["value"])):
        return finding
    of_another_type = {"found": "a value of another type", "kind": "", "hint": "write it in quotes"}
    return replace(finding, words=_words(**{**finding.words, **of_another_type}))


def message_words(finding: Finding, raw: str | None) -> dict[str, str]:
    """The words of the message. `raw`: the scalar in the file as the user wrote it; None for maps and lists."""
    finding_words = {name: word if isinstance(word, str) else str(word) for name, word in finding.words.items()}
    if raw is None:
        return finding_words
    whole, raw = raw, shorten(raw)
    if finding.code in ("E304", "E305"):
        finding_words["value"] = raw
    elif (
        finding.code == "E303"
        and raw
        and finding_words["kind"] == "string"
        and not finding_words["hint"]
        and finding_words["found"] != "empty"
    ):
        is_valid_text = "x-means" not in finding_words or _matches(finding_words.get("pattern", ""), raw)
        in_quotes = ReplacingHint(f'write "{raw}" in quotes', whole, whole)
        finding_words["hint"] = in_quotes if is_valid_text else f"write {finding_words['x-means']}"
        if raw.lower() != finding_words["found"].rpartition(" ")[2]:
            finding_words["found"] = f"'{raw}', which YAML reads as {finding_words['found']}"
    return finding_words


def _explain_error(error: Any) -> Iterator[Finding]:
    path: Path = tuple(error.absolute_path)
    rule, instance = error.validator, error.instance
    if "propertyNames" in error.absolute_schema_path and isinstance(instance, str):
        words = _words(value=instance, noun="key", means=_pattern_meaning(error))
        yield Finding("E306", (*path, instance), words, key=True)
        return
    if rule == "additionalProperties" or rule == "unevaluatedProperties":
        pattern_properties = error.schema.get("patternProperties", {})
        if isinstance(instance, dict) and error.validator_value is False and not pattern_properties:
            yield from _unknown_fields(error, path, instance)
            return
    elif rule == "required":
        yield from _missing_fields(error, path, instance)
        return
    elif rule == "type":
        if "enum" not in error.schema or isinstance(instance, (dict, list)):
            yield _wrong_type(error, path, instance)
        return
    elif rule == "not" and list(error.validator_value) == ["required"]:
        if isinstance(instance, dict):  # else its type is wrong, which is another finding
            yield _excluded_fields(error.validator_value["required"], path)
        return
    elif rule in ("enum", "const"):
        yield _other_value(error, path, instance)
        return
    elif rule in ("anyOf", "oneOf"):
        yield from _alternatives(error, path, instance)
        return
    elif rule == "uniqueItems":
        for i in _repeated(instance):
            shown_item = f"'{instance[i]}'" if isinstance(instance[i], str) else "this item"
            yield Finding("E307", (*path, i), _words(what=f"{shown_item} is already in this list"))
        return
    elif rule == "pattern" and "KMGTPE" in str(error.validator_value):
        yield Finding("E305", path, _words(value=instance, hint=quantity.hint(instance)))
        return
    elif rule == "pattern":
        words = _words(value=instance, noun="value", means=_pattern_meaning(error))
        yield Finding("E306", path, words)
        return
    what = _limit_text(rule, error)
    if path[-2:] == _NO_REPLICAS and instance == 0:
        what += ": to run none, write replicas: 0 in place of elasticConfig"
    yield Finding("E307", path, _words(what=what))


def _unknown_fields(error: Any, path: Path, instance: Mapping[str, object]) -> Iterator[Finding]:
    known = sorted(error.schema.get("properties", {}))
    for word in instance:
        if word not in known:
            hint = suggestion(word, known)
            near = hint.removeprefix("did you mean '").removesuffix("'?")
            if near in instance and word.startswith(near) and not within_letters(word, [near], _MISSPELT):
                hint = suggestion("", known)  # that field is there, and this is something else
            yield Finding("E301", (*path, word), _words(word=word, hint=hint), key=True)


def _wrong_type(error: Any, path: Path, instance: object) -> Finding:
    finding = type_finding(path, instance, error.validator_value)
    known_rules = {key: error.schema[key] for key in ("pattern", "x-means") if key in error.schema}
    if is_duration(known_rules.get("pattern", "")):
        known_rules.setdefault("x-means", _DURATION)
    return replace(finding, words=_words(**{**finding.words, "hint": _type_hint(error), **known_rules}))


def _missing_fields(error: Any, path: Path, instance: object) -> Iterator[Finding]:
    for word in error.validator_value:
        if isinstance(instance, dict) and word not in instance:
            needs = "then" in error.absolute_schema_path and instance.get("type")
            hint = f"type {needs} needs it" if needs else ""
            yield Finding("E302", path, _words(word=word, hint=hint), key=True)


def _excluded_fields(fields: Sequence[str], path: Path) -> Finding:
    """The finding that these fields may not be there together; a single one not at all."""
    exclusive = f"only one of {' and '.join(fields)} may be given"
    what = exclusive if len(fields) > 1 else f"'{fields[0]}' is not allowed here"
    return Finding("E307", (*path, fields[-1]), _words(what=what), key=True)


def _other_value(error: Any, path: Path, instance: object) -> Finding:
    """The finding that a value is none of those that are allowed."""
    if isinstance(instance, (dict, list)):
        return type_finding(path, instance, "string")
    allowed = error.validator_value if error.validator == "enum" else [error.validator_value]
    hint = suggestion(str(instance), [str(value) for value in allowed if value])
    hint = hint if hint.startswith("did you mean") else ""
    return Finding("E304", path, _words(value=instance, allowed=quoted(allowed), hint=hint))


def _alternatives(error: Any, path: Path, instance: object) -> Iterator[Finding]:
    """The findings of the alternative that fails deepest; one finding with all types where all fail at the type."""
    types = [
        t for sub in error.context if sub.validator == "type" and not sub.path for t in _as_list(sub.validator_value)
    ]
    nested = [sub for sub in error.context if sub.validator != "type" or sub.path]
    if "x-means" in error.schema and all(list(branch) == ["required"] for branch in error.validator_value):
        fields = [branch["required"][0] for branch in error.validator_value]
        present = (
            _given_fields({key: instance[key] for key in fields if key in instance})
            if isinstance(instance, dict)
            else ""
        )
        yield Finding("E307", path, _words(what=f"{error.schema['x-means']} is needed{present}"))
    elif len(types) >= len(error.validator_value):
        yield type_finding(path, instance, list(dict.fromkeys(types)))
    elif nested:
        yield from _explain_error(max(nested, key=lambda sub: len(sub.absolute_path)))


def type_finding(path: Path, instance: object, types: object) -> Finding:
    """The finding that a value has none of the wanted types."""
    types = _as_list(types)
    return Finding(
        "E303",
        path,
        _words(
            wanted=" or ".join(_TYPE_NAMES[w] for w in types),
            found=_describe_value(instance),
            kind=types[0] if len(types) == 1 else "",
            hint="",
        ),
    )


def _type_hint(error: Any) -> str:
    """How to write the value in the wanted type; '' where that is unknown."""
    instance, schema, types = error.instance, error.schema, _as_list(error.validator_value)
    if isinstance(instance, dict) and types == ["string"] and {"args", "command"} & {*error.absolute_path}:
        return "put JSON in single quotes; write an option and its value as two items"
    if isinstance(instance, str) and re.fullmatch(r"\$(\w+|\{\w+\}|\(\w+\))", instance):
        return "write the value itself: no variables are filled in here"
    if isinstance(instance, str) and instance:
        items, needed = schema.get("items") or {}, list(schema.get("required") or ())
        if types in (["integer"], ["number"]) and instance.isascii() and instance.isdigit():
            return f"write {instance} without quotes"
        if types == ["array"] and items.get("type") == "string":
            parts = [instance] if re.search(r"[\"'\\]", instance) else re.split(r"[,\s]+", instance.strip(", "))
            items_text = '", "'.join(parts)
            return f'write a list: ["{items_text}"]'
        if types == ["object"] and len(needed) == 1 and instance.replace("-", "").isalnum():
            return f"write {{{needed[0]}: {instance}}}"
    return ""


def _describe_value(instance: Any) -> str:
    if instance is None:
        return "empty"
    if isinstance(instance, bool):
        return f"the boolean {str(instance).lower()}"
    if isinstance(instance, (int, float)):
        return f"the number {instance}"
    if isinstance(instance, str):
        return f"the string '{instance}'"
    return "a map" if isinstance(instance, dict) else "a list"


def _limit_text(rule: str, error: Any) -> str:
    bound = error.validator_value
    return {
        "maxItems": f"at most {_count(bound, 'item')} allowed, there are more",
        "minItems": f"at least {_count(bound, 'item')} needed",
        "minLength": "must not be empty",
        "maxLength": f"at most {_count(bound, 'character')} allowed",
        "minimum": f"{error.instance} is below {bound}",
        "maximum": f"{error.instance} is above {bound}",
        "minProperties": f"at least {_count(bound, 'field')} needed{_given_fields(error.instance)}",
        "maxProperties": f"at most {_count(bound, 'field')} allowed{_given_fields(error.instance)}",
        "format": f"'{error.instance}' is not a valid {bound}",
    }.get(rule, str(error.message))


def _count(number: int, word: str) -> str:
    return f"{number} {word} is" if number == 1 else f"{number} {word}s are"


def _given_fields(instance: object) -> str:
    if not instance or not isinstance(instance, dict):
        return ""
    return f", here {'are' if len(instance) > 1 else 'is'} {quoted(instance)}"


def _pattern_meaning(error: Any) -> str:
    """The meaning of a pattern, in words where the schema has them."""
    schema = error.schema if "x-means" in error.schema else error.schema.get("propertyNames") or error.schema
    pattern = schema.get("pattern", "")
    return str(schema.get("x-means") or (_DURATION if is_duration(pattern) else f"what matches {pattern}"))


@cache
def is_duration(pattern: str) -> bool:
    """Whether a pattern is that of a duration, such as 5m, for which the schemas of CRDs have no words."""
    if not {"h", "m", "s"} <= {*pattern}:
        return False
    try:
        matches = patterns.compiled(pattern).search
    except patterns.PatternError:
        return False
    return all(map(matches, (b"5m", b"1h", b"30s"))) and not any(map(matches, (b"5", b"m", b"5 m", b"x5m", b"five")))


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


class _Words(dict[str, str]):
    """A hashable dict, so that findings can be members of a set."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def _words(**words: object) -> Mapping[str, str]:
    return _Words({key: shorten(value if isinstance(value, str) else str(value)) for key, value in words.items()})


def shorten(text: str) -> str:
    """A word for a message, truncated."""
    return text if len(text) <= _LONGEST_WORD else f"{text[:_LONGEST_WORD]}…"
