"""The values that a HelmRelease gives its chart."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.yamlio import Document

VALUES = ("spec", "values")
_SHORT = 4  # characters that two values may have in common by chance
_ALIKE = 5  # and these are enough for two names


class ReleaseValues(Struct, frozen=True):
    """The values of a HelmRelease."""

    texts: list[str]  # YAML or JSON each, later ones win
    missing: list[tuple[Origin, str]]  # what is not in the set, and where it is named


def release_values(release: Document, documents: Sequence[Document]) -> ReleaseValues:
    """The values of a HelmRelease. `documents`: of its set, which has the ConfigMaps and Secrets that it names."""
    values = ReleaseValues([], [])
    for i, reference in enumerate(maps_at(release.value, "spec", "valuesFrom")):
        text = _text(reference, text_at(release.value, "metadata", "namespace"), documents)
        if text is not None and not reference.get("targetPath"):
            values.texts.append(text)
        elif not reference.get("optional"):
            what = f"the values of {text_at(reference, 'kind')} '{text_at(reference, 'name')}'"
            values.missing.append((release.origin("spec", "valuesFrom", i), what))
    values.texts.append(json.dumps(map_at(release.value, *VALUES)))
    return values


def _text(reference: object, namespace: str, documents: Sequence[Document]) -> str | None:
    """What a ConfigMap or Secret holds below the key that a reference names; None where the set does not have it."""
    kind, name = text_at(reference, "kind"), text_at(reference, "name")
    key = text_at(reference, "valuesKey", default="values.yaml")
    for document in documents:
        body = document.value
        if (text_at(body, "kind"), text_at(body, "metadata", "name")) != (kind, name):
            continue
        if text_at(body, "metadata", "namespace", default=namespace) != namespace:
            continue
        text = value_at(body, "stringData", key) if kind == "Secret" else None
        text = value_at(body, "data", key) if text is None else text
        if isinstance(text, str):
            if kind == "Secret" and key not in map_at(body, "stringData"):
                with suppress(ValueError):
                    return base64.b64decode(text).decode("utf-8")
                return None
            return text
    return None


class ValueIndex:
    """The fields of a HelmRelease's values, by what they say."""

    def __init__(self, release: Document) -> None:
        self._release = release
        self._paths: dict[str, list[Path]] = {}
        for path, value in _fields(map_at(release.value, *VALUES), VALUES):
            if text := _as_key(value):
                self._paths.setdefault(text, []).append(path)

    def find(self, built: Document, path: Path) -> Origin | None:
        """The one field of the values that says what the field of a built object does, or what the nearest one above
        it that is there does; None where no value says it, or several do.
        """
        while path and (value := value_at(built.value, *path)) is None:
            path = path[:-1]
        if not path:
            return None
        pairs = [(_last_name(path), value)]
        if isinstance(value, str) and "=" in value:
            pairs.append(value.split("=", 1))  # type: ignore[arg-type]
        for name, text in pairs:
            paths = self._paths.get(_as_key(text), ())
            if len(paths) == 1 and (_is_telling(text) or _are_alike(name, _last_name(paths[0]))):
                return self._release.origin(*paths[0])
        return None


def _fields(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _fields(item, (*path, key))


def _as_key(value: object) -> str:
    """What a field says, alike for a number and its text; '' for nothing."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True) if value else ""
    return "" if value is None else str(value)


def _is_telling(value: object) -> bool:
    """Whether a value would hardly stand in two places by chance."""
    text = _as_key(value)
    return len(text) > _SHORT and not isinstance(value, (bool, int, float)) and not text.isdigit()


def _last_name(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def _are_alike(one: str, other: str) -> bool:
    """Whether two names of fields are about the same, as `replicas` and `replicaCount`."""
    one, other = (re.sub("[^a-z0-9]", "", name.lower()) for name in (one, other))
    if not one or not other:
        return False
    return one in other or other in one or one[:_ALIKE] == other[:_ALIKE]
