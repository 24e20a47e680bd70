"""Lists of objects: what kubectl, Argo CD, Flux and Helm take apart, whatever kind it says that it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from renderer.kubernetes.json_values import map_at, text_at

_ITEMS = "items"
_SUFFIX = "List"


def is_object_list(value: object) -> bool:
    """Whether appliers take the value apart: all that they ask for is a list under `items`."""
    return isinstance(value, dict) and isinstance(value.get(_ITEMS), list)


def listed_objects(value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The objects of a document, each with its path in it: the document itself, and where it is a list its items, those
    of lists among them included. A list that nobody can apply as an object, such as a List, is left out.
    """
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while pending:  # no recursion, since lists may be nested deeply
        path, body = pending.pop()
        if not is_object_list(body):
            yield path, body
            continue
        is_plain = _is_plain_list(body)
        if not is_plain:
            yield path, body
        for i, item in reversed([*enumerate(body[_ITEMS])]):
            if isinstance(item, dict):
                pending.append(((*path, _ITEMS, i), _typed(item, body)))
            elif is_plain:  # in an object it is a field's value
                pending.append(((*path, _ITEMS, i), item))


def own_fields(body: Any) -> Any:
    """An object without items that are objects of their own; any other value as it is."""
    if is_object_list(body) and any(isinstance(item, dict) for item in body[_ITEMS]):
        return {key: value for key, value in body.items() if key != _ITEMS}
    return body


def _is_plain_list(body: Mapping[str, Any]) -> bool:
    """Whether a list is no object itself: a List, or a PodList without a name, as the API server answers with."""
    version, kind = text_at(body, "apiVersion"), text_at(body, "kind")
    if not version or not kind.endswith(_SUFFIX):
        return False
    metadata = map_at(body, "metadata")
    return (version, kind) == ("v1", _SUFFIX) or not (metadata.get("name") or metadata.get("generateName"))


def _typed(item: Mapping[str, Any], of: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item, which has the version and kind of its list where it has neither: `Pod` in a PodList."""
    kind = text_at(of, "kind").removesuffix(_SUFFIX)
    if not kind or text_at(item, "apiVersion") or text_at(item, "kind"):
        return item
    return {**item, "apiVersion": text_at(of, "apiVersion"), "kind": kind}
