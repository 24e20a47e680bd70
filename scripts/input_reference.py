"""The reference pages of the input kinds, from their schemas: type, default, example and version of each key."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import yaml
from jsonschema import Draft7Validator

from renderer.text import escapes

ROOT: Final = Path(__file__).resolve().parents[1]
SCHEMAS: Final = ROOT / "renderer" / "schemas" / "input"
VERSIONS: Final = ROOT / "scripts" / "key_versions.yaml"
KINDS: Final = ("openmodel", "playground", "service", "backendruntime", "modelroute", "inferencemodel")
KINDS_OF_FILES: Final = ("renderconfig", "renderpolicy")
LONGEST: Final = 60  # characters of an example
Schema: TypeAlias = Mapping[str, Any]


class Key(NamedTuple):
    """A key of a kind."""

    path: str  # from the object: `spec.facts.kind`, `spec.backends[].weight`
    schema: Schema
    is_required: bool  # where the key above it is there


class Kind:
    """An input kind, as its schema says."""

    def __init__(self, name: str) -> None:
        self._whole: Schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
        self.name: str = self._whole["title"]
        self.description: str = self._whole["description"]

    @cached_property
    def keys(self) -> list[Key]:
        """All keys below `spec`, without what Kubernetes itself defines, such as the fields of a pod: that has no
        description.
        """
        return list(self._keys(self._resolved(self._whole["properties"]["spec"]), "spec"))

    def _keys(self, node: Schema, path: str) -> Iterator[Key]:
        for name, value in node.get("properties", {}).items():
            schema = self._resolved(value)
            if "description" not in schema:
                continue
            key_path = f"{path}.{name}"
            yield Key(key_path, schema, name in node.get("required", ()))
            is_list = "properties" not in schema and isinstance(schema.get("items"), dict)
            yield from self._keys(self._items(schema) if is_list else schema, f"{key_path}[]" if is_list else key_path)

    def _resolved(self, node: Schema) -> Schema:
        """The node, with what its $ref leads to."""
        while "$ref" in node:
            more = {key: value for key, value in node.items() if key != "$ref"}
            node = {**self._whole["$defs"][node["$ref"].removeprefix("#/$defs/")], **more}
        return node

    def _items(self, schema: Schema) -> Schema:
        return self._resolved(schema["items"])

    def type_words(self, schema: Schema) -> str:
        """The type of a value, in a word or two of Markdown."""
        if "enum" in schema:
            return ", ".join(f"`{json.dumps(value).strip(chr(34))}`" for value in schema["enum"])
        form = schema.get("type", "any")
        if form == "array" and isinstance(schema.get("items"), dict):
            return f"list of {_either(self._items(schema).get('type', 'any'))}"
        return _either(form)

    def is_table(self, schema: Schema) -> bool:
        """Whether the value is an object with known keys, or a list of such."""
        node = self._items(schema) if isinstance(schema.get("items"), dict) else schema
        return "properties" in node

    def is_valid(self, schema: Schema, value: object) -> bool:
        """Whether the schema of a key accepts a value."""
        return Draft7Validator({**schema, "$defs": self._whole.get("$defs", {})}).is_valid(value)


def _either(types: str | list[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)


def read_kinds() -> dict[str, Kind]:
    """All kinds by the name of their file."""
    return {name: Kind(name) for name in (*KINDS, *KINDS_OF_FILES)}


# Versions


def read_versions() -> dict[str, dict[str, list[str]]]:
    """By kind and path: the version of llmaz that first read the key, and the release of its operator, if any."""
    versions: dict[str, dict[str, list[str]]] = yaml.safe_load(VERSIONS.read_text("utf-8"))
    return versions


def version_words(versions: Sequence[str]) -> list[str]:
    """Since when a key exists, in words."""
    own, *operator = versions
    return [own, *(f"operator {release}" for release in operator)]


# Examples


class Examples:
    """Values of keys: from examples and pages, else from cases and presets, else those of a key of the same meaning."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._values: dict[tuple[str, str], Counter[str]] = {}
        for objects in (_used_objects(), _shown_objects()):  # the later ones win
            values: dict[tuple[str, str], Counter[str]] = {}
            for item in objects:
                _collect(values, str(item.get("kind")), "spec", item["spec"])
            self._values.update(values)
        self._places: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for kind in kinds:
            for key in kind.keys:
                self._places.setdefault(_meaning(key), []).append((kind.name, key.path))

    def example(self, kind: Kind, key: Key) -> str:
        """The value that is used most, other than the default, as YAML in one line; '' where there is none."""
        if kind.is_table(key.schema):
            return ""
        places = sorted(self._places[_meaning(key)], key=lambda place: -_same_names(place[1], key.path))
        for place in ((kind.name, key.path), *places):
            if example := _most_used(self._values.get(place, Counter()), kind, key):
                return example
        others = (value for value in key.schema.get("enum", ()) if value != key.schema.get("default"))
        return next(map(_flow, (*key.schema.get("examples", ()), *others)), "")


def _meaning(key: Key) -> tuple[str, str]:
    """What is equal of keys that mean the same at several places, such as `args` of two roles."""
    return key.path.rpartition(".")[2], key.schema["description"]


def _same_names(path: str, other: str) -> int:
    """How many of the last names two paths share."""
    pairs = zip(reversed(path.split(".")), reversed(other.split(".")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _most_used(values: Counter[str], kind: Kind, key: Key) -> str:
    """The most used of the values in JSON, as YAML; a map or list that is too long with its first item only."""
    default = json.dumps(key.schema.get("default"))
    values = Counter({text: number for text, number in values.items() if text not in (default, "[]", "{}")})
    whole = {text: json.loads(text) for text in values}
    for candidates in (whole, {text: _first_item(value) for text, value in whole.items()}):
        texts = {text: _flow(value) for text, value in candidates.items()}
        valid = [
            (-values[text], len(shown), shown)
            for text, shown in texts.items()
            if len(shown) <= LONGEST and "\n" not in shown and kind.is_valid(key.schema, yaml.safe_load(shown))
        ]
        if valid:
            return min(valid)[2]
    return ""


def _first_item(value: Any) -> Any:
    """A list or map with its first item only."""
    if isinstance(value, list):
        return value[:1]
    return dict(list(value.items())[:1]) if isinstance(value, dict) else value


def _flow(value: object) -> str:
    """A value as YAML in one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def _collect(values: dict[tuple[str, str], Counter[str]], kind: str, path: str, value: object) -> None:
    """Adds a value with all values in it."""
    values.setdefault((kind, path), Counter())[json.dumps(value, default=str)] += 1
    if isinstance(value, dict):
        for name, inner in value.items():
            _collect(values, kind, f"{path}.{name}", inner)
    elif isinstance(value, list):
        for inner in value:
            _collect(values, kind, f"{path}[]", inner)


def _shown_objects() -> Iterator[dict[str, Any]]:
    """What the examples and the pages of docs/ show."""
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        yield from _objects(path.read_text("utf-8"))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for text in re.findall(r"^```yaml\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            yield from _objects(text)


def _used_objects() -> Iterator[dict[str, Any]]:
    """The inputs of the test cases, and the presets."""
    for pattern in ("tests/cases/*/input/**/*.yaml", "tests/errors/*/llmaz*.yaml", "presets/**/*.yaml"):
        for path in sorted(ROOT.glob(pattern)):
            yield from _objects(path.read_text("utf-8"))


def _objects(text: str) -> list[dict[str, Any]]:
    """The objects with a `spec` of a YAML text; none of other text, such as a template."""
    try:
        documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        return []
    return [item for item in documents if isinstance(item, dict) and isinstance(item.get("spec"), dict)]


# Pages


def kind_markdown(kind: Kind, file: str, versions: Mapping[str, list[str]], examples: Examples) -> Iterator[str]:
    """The reference page of a kind, in blocks. `file`: the name of its schema."""
    yield f"# {kind.name}"
    yield escapes.markdown_text(kind.description)
    yield (
        "The keys of `spec`. Keys in **bold** are required if their parent is set. The last column is the first "
        "version of llmaz with the key; below it is the first release of the llmaz operator with it, if there is one. "
        "“Extension” marks keys that the operator does not have. "
        "Fields that Kubernetes defines, such as those of a pod template, are in "
        "[its own reference](https://kubernetes.io/docs/reference/kubernetes-api/); "
        f"`llmaz schema {file}` prints them too, for editors."
    )
    sections: dict[str, list[Key]] = {}
    for key in kind.keys:
        sections.setdefault(re.split(r"[.\[]", key.path)[1], []).append(key)
    for name, keys in sections.items():
        yield f"## spec.{name} {{#spec-{name.lower()}}}"
        yield "\n".join(_rows(kind, keys, f"spec.{name}", versions, examples))


def _rows(
    kind: Kind, keys: list[Key], top: str, versions: Mapping[str, list[str]], examples: Examples
) -> Iterator[str]:
    """A table of a key of `spec` and of those below it, which are named from there."""
    yield "| key and type | what it is | since |"
    yield "|---|---|---|"
    for key in keys:
        path = key.path.removeprefix(top).removeprefix(".") or "(itself)"
        name = f"<code>{'<wbr>.'.join(html.escape(path).split('.'))}</code>"
        name = f"<strong>{name}</strong>" if key.is_required else name
        text = [escapes.markdown_text(" ".join(key.schema["description"].split()))]
        if "default" in key.schema:
            text.append(f"Default: {escapes.markdown_code(_flow(key.schema['default']))}")
        if example := examples.example(kind, key):
            text.append(f"Example: {escapes.markdown_code(example)}")
        version = "<br>".join(version_words(versions[key.path]))
        yield f"| {name}<br>{kind.type_words(key.schema)} | {'<br>'.join(text)} | {version} |"
