"""Reads the request of a ResourceList: the RenderConfig, and the input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from renderer import yamlio
from renderer.diagnostics import NamedSource, Origin, Path, RenderError, make_diagnostic
from renderer.integrations.kustomize.marker import MARKER
from renderer.kubernetes.json_values import map_at, text_at, value_at
from renderer.load.validation import GROUPS, KINDS
from renderer.yamlio import Document

VERSION, KIND = "config.kubernetes.io/v1", "ResourceList"
Item = Mapping[str, object]


class FunctionRequest(Struct, frozen=True):
    """A request of kustomize."""

    document: Document
    config: dict[str, object]  # the functionConfig
    items: tuple[tuple[int, Item], ...]  # all others, each with its position in the list
    # For a generator `spec.paths` or its default, not validated; None for a transformer, whose input is the items.
    paths: Any


def parse_request(name: str, data: bytes) -> FunctionRequest:
    """The request in `data`, called `name` in messages. Raises RenderError."""
    document, items = _parse_list(name, data)
    value = document.value.get("functionConfig")
    if value is None:
        raise RenderError([make_diagnostic("E731", Origin(NamedSource(name)))])
    if not isinstance(value, dict) or (value.get("kind"), value.get("apiVersion")) != _CONFIG:
        raise RenderError(
            [make_diagnostic("E732", document.origin("functionConfig", "kind"), what=_describe_value(value))]
        )
    value = _restore_words(document, value, ("functionConfig",))
    paths = value_at(value, "spec", "paths")
    others = tuple(
        (i, _restore_words(document, item, ("items", i)) if is_our_kind(item) else item)
        for i, item in enumerate(items)
        if not is_same_config(item, value)
    )
    # Kustomize passes a generator its own configuration as an item, and a transformer the objects before it.
    generates = paths is not None or len(others) < len(items)
    request = FunctionRequest(document, value, others, (["."] if paths is None else paths) if generates else None)
    _check_items(request)
    return request


def is_our_kind(item: Item) -> bool:
    """Whether an item is of one of our API groups, valid or not."""
    group, expected_version = text_at(item, "apiVersion").partition("/")[0], KINDS.get(text_at(item, "kind"), "")
    return group in GROUPS or (bool(group) and group == expected_version.partition("/")[0])


def is_same_config(first: Any, second: Any) -> bool:
    """Whether both are the same RenderConfig, regardless of changes that kustomize makes to it."""
    keys = ("apiVersion", "kind", "spec")
    return all(isinstance(config, dict) and config.get("kind") == "RenderConfig" for config in (first, second)) and all(
        _normalize_words(first.get(key) or None) == _normalize_words(second.get(key) or None) for key in keys
    )


_CONFIG = ("RenderConfig", KINDS["RenderConfig"])
_WORDS = ("hardening", "mode")
_NO, _YES = ("false", "off", "no", "n"), ("true", "on", "yes", "y")


def _normalize_words(value: object) -> object:
    """The value with booleans, and words that YAML 1.1 reads as such, as `true` or `false`, and without null."""
    if isinstance(value, dict):
        return {key: _normalize_words(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_normalize_words(item) for item in value]
    if isinstance(value, (bool, str)):
        word = str(value).lower()
        return "false" if word in _NO else "true" if word in _YES else value
    return value


def _restore_words(document: Document, value: object, path: Path) -> Any:
    """The value with false replaced by `is_off` where the text is a plain `is_off` and our schema has that word."""
    if isinstance(value, list):
        return [_restore_words(document, item, (*path, i)) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        is_off = value is False and path[-1] in _WORDS and (document.raw(path) or "").lower() == "off"
        return "off" if is_off else value
    return {key: _restore_words(document, item, (*path, key)) for key, item in value.items()}


def _parse_list(name: str, data: bytes) -> tuple[Document, list[Item]]:
    """The only document, and its items. Raises RenderError if it is not a ResourceList."""
    documents, problems = yamlio.parse(name, data)
    if problems:
        raise RenderError(problems)
    if len(documents) != 1:
        what = f"{len(documents)} documents" if documents else "nothing"
        raise RenderError([make_diagnostic("E730", Origin(NamedSource(name)), what=what)])
    [document] = documents
    value = document.value
    if not isinstance(value, dict) or (value.get("kind"), value.get("apiVersion")) != (KIND, VERSION):
        raise RenderError([make_diagnostic("E730", document.origin(), what=_describe_value(value))])
    items = value.get("items")
    if not isinstance(items, list | None):
        raise RenderError([make_diagnostic("E730", document.origin("items"), what="items that are not a list")])
    for i, item in enumerate(items or ()):
        if not isinstance(item, dict):
            what = "an item that is not an object"
            raise RenderError([make_diagnostic("E730", document.origin("items", i), what=what)])
    return document, items or []


def _describe_value(value: object) -> str:
    """Kind and version of an unexpected value, for messages."""
    if not isinstance(value, dict):
        return "a value that is not an object"
    kind, version = value.get("kind"), value.get("apiVersion")
    return " of ".join(str(word) for word in (kind, version) if word) or "an object without a kind"


def _check_items(request: FunctionRequest) -> None:
    """Raises RenderError for items that the request must not have."""
    diagnostics = []
    for i, item in request.items:
        origin = request.document.origin("items", i)
        if (item.get("apiVersion"), item.get("kind")) == (MARKER["apiVersion"], MARKER["kind"]):
            diagnostics.append(make_diagnostic("E739", origin))
        elif item.get("kind") == "RenderConfig" and is_our_kind(item):
            diagnostics.append(make_diagnostic("E734", origin))
        elif is_our_kind(item) and request.paths is not None:
            diagnostics.append(make_diagnostic("E735", origin, what=describe_item(item)))
    if diagnostics:
        raise RenderError(diagnostics)


def describe_item(item: Item) -> str:
    """Kind, namespace and name of an object, in one line."""
    metadata = map_at(item, "metadata")
    name = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return " ".join(f"{item.get('kind')} {name}".split())
