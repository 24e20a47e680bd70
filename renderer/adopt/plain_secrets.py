"""Secrets that stand as plain text in a source: they are told, and not taken over."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from renderer.diagnostics import Collector, Origin, Path, Stop
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.secrets.detection import HIDDEN, find_secrets, find_url_secrets, hide_known_secrets
from renderer.yamlio import Document

_BOOKKEEPING = ("kubectl.kubernetes.io/", "deployment.kubernetes.io/")  # annotations that are not written

_REFERENCE = "put it into a Secret, and write valueFrom.secretKeyRef"
_NO_REFERENCE = "put it into a Secret, and let its reader take it from a variable or a file: this field cannot name one"
_NAMING = {"env", "envs", "command", "args"}  # fields that name a Secret, or use a variable that does


def without_secrets(
    body: Mapping[str, Any], origins: TemplateOrigins, diagnostics: Collector, path: Path = ()
) -> dict[str, Any]:
    """The body, which is at `path` of a template, without its secrets: variables, headers and keys are left out, words
    of a command line with their options, and a part of a longer text is hidden. Its lists lose items of `origins` too.
    """
    return _plain_map(body, hide_known_secrets(body), _Place(origins, diagnostics, path))


def plain_body(document: Document, diagnostics: Collector, path: Path = ()) -> dict[str, Any]:
    """The object of a document, or the map at a path in it, without its secrets."""
    origins = TemplateOrigins(document.origin(*path))
    origins.copy((), document.origin(*path))
    return without_secrets(map_at(document.value, *path), origins, diagnostics)


class _Place:
    """Where a value stands, and whom to tell of secrets in it."""

    def __init__(self, origins: TemplateOrigins, diagnostics: Collector, path: Path) -> None:
        self.origins = origins
        self.diagnostics = diagnostics
        self.path = path

    def at(self, part: str | int) -> _Place:
        return _Place(self.origins, self.diagnostics, (*self.path, part))

    def tell(self, name: str) -> None:
        hint = _NO_REFERENCE if _NAMING.isdisjoint(self.path) else _REFERENCE
        tell_secret(self.origins(self.path), name, self.diagnostics, hint)

    def remove_items(self, indexes: Set[int], length: int) -> None:
        if indexes:
            self.origins.remove_items(self.path, indexes, length)


def _plain_map(body: Mapping[str, Any], shown: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in body.items():
        if value == shown[key] or str(key).startswith(_BOOKKEEPING):
            plain[key] = value
        elif isinstance(value, dict):
            if remaining := _plain_map(value, shown[key], place.at(key)):
                plain[key] = remaining
        elif isinstance(value, list):
            if items := _plain_list(value, shown[key], place.at(key)):
                plain[key] = items
        elif shown[key] == HIDDEN or place.path[-1:] == ("labels",):  # a label takes no such text
            place.at(key).tell(str(key))
        else:
            place.at(key).tell(f"in {key}")
            plain[key] = shown[key]
    return plain


def _plain_list(items: list[Any], shown: list[Any], place: _Place) -> list[Any]:
    if any(isinstance(item, str) for item in items):
        return _without_words(items, shown, place)
    plain: list[Any] = []
    removed: set[int] = set()
    for i, (item, shown_item) in enumerate(zip(items, shown, strict=True)):
        if item == shown_item:
            plain.append(item)
        elif _is_pair(item) and item["value"] != shown_item["value"]:
            place.at(i).at("value").tell(str(item["name"]))
            removed.add(i)
        elif isinstance(item, dict):
            plain.append(_plain_map(item, shown_item, place.at(i)))
        elif isinstance(item, list):
            plain.append(_plain_list(item, shown_item, place.at(i)))
        else:
            place.at(i).tell("")
            plain.append(shown_item)
    place.remove_items(removed, len(items))
    return plain


def _is_pair(item: object) -> bool:
    """Whether an item is a variable, a header or the like: it is nothing without its value."""
    return isinstance(item, dict) and "name" in item and "value" in item


def _without_words(words: list[Any], shown: list[Any], place: _Place) -> list[Any]:
    """The words without those that are secrets, and without the options that such words are the values of."""
    remaining = [*words]
    removed: set[int] = set()
    for secret in find_secrets(words):
        place.at(secret.index).tell(secret.name)
        removed.add(secret.index)
        if words[secret.index] == secret.value and secret.index and words[secret.index - 1] == secret.name:
            removed.add(secret.index - 1)
    for i, word in enumerate(words):
        if i not in removed and word != shown[i]:
            place.at(i).tell("")
            remaining[i] = shown[i]
    place.remove_items(removed, len(words))
    return [word for i, word in enumerate(remaining) if i not in removed]


def tell_secret(origin: Origin, name: str, diagnostics: Collector, hint: str = _REFERENCE) -> None:
    """Tells that a field holds a secret. `name`: of its variable or option, '' where it has none."""
    diagnostics.add("W967", origin, what=f"the secret {name}".strip(), hint=hint)


def tell_secret_address(address: str, origin: Origin, diagnostics: Collector) -> None:
    """Tells that the address of a model holds a secret, if it does. Raises Stop then: there is no model without it."""
    if find_url_secrets(address):
        tell_secret(origin, "in this address", diagnostics)
        raise Stop
