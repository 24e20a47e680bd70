"""A value in the form that a schema wants, where it is written in another one: a map for a list of it, `5 minutes` for
`5m`, `"true"` for true.

It is read where an input has a fault.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from renderer import schema_validation
from renderer.diagnostics import Finding, Path, ReplacingHint
from renderer.foreign_words import Repeated, flow_text, mends
from renderer.kubernetes.gateway_limits import READ_PREFIXES
from renderer.kubernetes.json_values import text_at, value_at
from renderer.schema_validation import Hint
from renderer.secrets.words import is_literal_secret
from renderer.text import number_forms

_LONGEST: Final = 80  # characters of what a hint says to write
_MOST: Final = 8  # values of which it is tried whether the object is valid with them
_MOST_ITEMS: Final = 10  # of a list or map that is written in another form
_PAIR: Final = r"\s*([\w./-]+)\s*[=:]\s*([^=,]*?)\s*"
# By their names or descriptions; the last are KEDA's.
_SECONDS: Final = re.compile(r"[sS]econds?$|^Seconds |\bin seconds\b|^(?:pollingInterval|(?:c|initialC)ooldownPeriod)$")
_GIBIBYTES: Final = re.compile(r"GiB$|\bin GiB\b")
_MILLIONS: Final = ("Length", "Tokens")  # ends of fields in which `1m` is a million
_HOST: Final = r"(?:[a-z][a-z0-9+.-]*://)?([^/:\s]+)(?::\d+)?(?:/\S*)?"
_PATH: Final = r"(?:[a-z][a-z0-9+.-]*://)?[^/\s]+/+([^\s?#]*?)(?:/(?:chat/)?completions|/embeddings|/messages)?/*"
_WITH_NAMESPACE: Final = r"[a-z0-9-]+/([a-z0-9.-]+)"
_VERSION: Final = r"[vV]?(\d+\.\d+)(?:\.\d+)?\S*"


def form_hint(schema: str, value: Any, finding: Finding) -> Hint | None:
    """What to write in place of a value of another type or form; None where the object would not be valid with it."""
    *_, key = finding.path
    written = value_at(value, *finding.path)
    if written is None:
        return None
    secret = written if isinstance(written, str) and is_literal_secret(str(key), written) else None
    for i, form in enumerate(_forms(schema, finding.path, written)):
        if i == _MOST:
            return None
        mended = copy.deepcopy(value)
        parent = value_at(mended, *finding.path[:-1])
        if not isinstance(parent, dict | list):
            return None
        parent[key] = _plain(form)  # type: ignore[index]
        if mends(schema, value, mended, finding):
            shown = _masked(form, secret)
            text = flow_text({key: shown}) if isinstance(key, str) else _item_text(shown)
            beside = _prefix_text(schema, finding.path, written, text_at(parent, "schema"))
            hint = f"write {text}{beside}"
            if isinstance(form, str | int | float) and secret is None and not beside:
                hint = ReplacingHint(hint, "", form)
            return Hint(hint) if len(text + beside) <= _LONGEST else None
    return None


def _prefix_text(schema: str, path: Path, written: object, api: str) -> str:
    """What else to write for the path of an address where a host name belongs, and a `prefix` stands beside it, which
    the AI gateway reads for such an API.
    """
    match = re.fullmatch(_PATH, written) if path[-1] == "hostname" and isinstance(written, str) else None
    beside = schema_validation.schema_at(schema, path[:-1]).get("properties") or {}
    if (
        not match
        or match[1] == "v1"
        or api not in READ_PREFIXES
        or "prefix" not in beside
        or not re.fullmatch(beside["prefix"]["pattern"], match[1])
    ):
        return ""
    return f", and prefix: {match[1]} beside it"


def _item_text(form: object) -> str:
    return f"{{{flow_text(form)}}}" if isinstance(form, Mapping) else flow_text(form)


def _masked(form: Any, secret: str | None) -> Any:
    """The form without a secret that was written."""
    if isinstance(form, dict):
        return {key: _masked(item, secret) for key, item in form.items()}
    if isinstance(form, list):
        return [_masked(item, secret) for item in form]
    return Repeated(form) if secret is not None and form == secret else form


def _plain(form: Any) -> Any:
    if isinstance(form, Repeated):
        return form.value
    if isinstance(form, dict):
        return {key: _plain(item) for key, item in form.items()}
    return [_plain(item) for item in form] if isinstance(form, list) else form


def _forms(schema: str, path: Path, written: Any) -> Iterator[Any]:
    """The values that one may stand for, the likeliest first."""
    node, key = schema_validation.schema_at(schema, path), path[-1]
    types = [node["type"]] if isinstance(node.get("type"), str) else node.get("type") or ()
    if "boolean" in types and (truth := number_forms.truth(written)) is not None:
        yield truth
    if isinstance(written, str) and ("integer" in types or "number" in types):
        yield from _numbers(node, types, key, written)
    if "string" in types:
        yield from _texts(node, written)
    if "array" in types:
        yield from _lists(schema_validation.schema_at(schema, (*path, 0)), written)
    if "object" in types:
        yield from _maps(node, written)


def _numbers(node: Mapping[str, Any], types: Sequence[str], key: str | int, written: str) -> Iterator[float]:
    """The numbers that a text may stand for, in the unit that the field has by its name or description."""
    units = (str(key), str(node.get("description", "")))
    if any(map(_SECONDS.search, units)):
        if (seconds := number_forms.whole_seconds(written)) is not None:
            yield seconds
            return
    elif any(map(_GIBIBYTES.search, units)) and (size := number_forms.gibibytes(written)) is not None:
        yield size
        return
    if re.search(r"\dm$", written.replace(" ", "")) and not str(key).endswith(_MILLIONS):
        return
    number = number_forms.read_number(written)
    if not written.rstrip().endswith("%"):
        yield from reversed(number.whole) if str(key).endswith("Length") else number.whole
    if "number" in types:
        yield from number.parts


def _texts(node: Mapping[str, Any], written: Any) -> Iterator[str]:
    """What a text stands for by the meaning of the pattern that it has to match."""
    if isinstance(written, list) and len(written) == 1 and isinstance(written[0], str):
        yield written[0]
    means = str(node.get("x-means", ""))
    is_foreign = not means and schema_validation.is_duration(str(node.get("pattern", "")))  # 5 is 5 of any unit there
    if means.startswith("a duration") or (is_foreign and not str(written).strip().isdigit()):
        yield number_forms.duration(written)
    if means.startswith("a URL") and isinstance(written, str) and "://" not in written:
        yield f"http://{written.strip()}"
    for words, pattern in (("a host name", _HOST), ("a version", _VERSION), ("lower-case letters", _WITH_NAMESPACE)):
        if means.startswith(words) and isinstance(written, str) and (match := re.fullmatch(pattern, written.strip())):
            yield match[1].lower()


def _lists(items: Mapping[str, Any], written: Any) -> Iterator[list[Any]]:
    """The lists that a value may stand for: of itself, of its entries as names and values, of the name that it is."""
    fields = items.get("properties") or {}
    if isinstance(written, dict):
        if {"name", "value"} <= {*fields} and len(written) <= _MOST_ITEMS:
            pairs = [(str(name), _text(value)) for name, value in written.items() if _is_scalar(value)]
            if len(pairs) == len(written):
                yield [{"name": name, "value": _hidden(name, value)} for name, value in pairs]
        yield [Repeated(written)]
    elif isinstance(written, str):
        for name in _names(items):
            yield [{name: written}]


def _maps(node: Mapping[str, Any], written: Any) -> Iterator[dict[str, Any]]:
    """The maps that a value may stand for: of pairs, of items with names, of the field that it is."""
    further = node.get("additionalProperties")
    items = written if isinstance(written, list) else written.split(",") if isinstance(written, str) else []
    items = items if len(items) <= _MOST_ITEMS else []
    if items and all(isinstance(item, str) and re.fullmatch(_PAIR, item) for item in items):
        matches = [match for item in items if (match := re.fullmatch(_PAIR, item))]
        if isinstance(further, dict) or {"name", "value"} <= {*(node.get("properties") or {})}:
            pairs = {match[1]: _hidden(match[1], match[2]) for match in matches}
            name, value = next(iter(pairs.items()))
            yield pairs if isinstance(further, dict) else {"name": name, "value": value}
    elif maps := [item for item in items if isinstance(item, dict)]:
        if len(maps) == len(items) and all(len(item) == 1 for item in maps):
            yield {key: _shown(entry) for item in maps for key, entry in item.items()}
        if isinstance(further, dict) and all(isinstance(item.get("name"), str) for item in maps):
            yield {item["name"]: _shown({key: item[key] for key in item if key != "name"}) for item in maps}
    elif isinstance(written, list) and items and isinstance(further, dict):
        yield {str(item): {} for item in items}
    if _is_scalar(written) and written is not True and written is not False:
        for name in _names(node):
            yield {name: written}
    elif isinstance(written, list):
        fields: Mapping[str, Any] = node.get("properties") or {}
        lists = [name for name, field in fields.items() if field.get("type") == "array"]
        yield from ({name: Repeated(written)} for name in lists[: len(lists) == 1])


def _names(node: Mapping[str, Any]) -> list[str]:
    """The fields of an object that may be all that is meant: what it needs, or its name."""
    branches = node.get("anyOf") or node.get("oneOf") or ()
    choices = [branch["required"][0] for branch in branches if [*branch] == ["required"]]
    needed = [*(node.get("required") or ()), *choices[:1]]
    return (
        needed if len(needed) == 1 else [] if needed else ["name"] if "name" in (node.get("properties") or {}) else []
    )


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _hidden(name: str, value: str) -> Any:
    """A value, not repeated where it is a secret by its name."""
    return Repeated(value) if is_literal_secret(name, value) else value


def _shown(value: Any) -> Any:
    return Repeated(value) if isinstance(value, (dict, list)) and value else value
