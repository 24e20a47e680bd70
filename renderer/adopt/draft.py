"""An object while it is converted: its fields move, and each knows where it stood."""

from __future__ import annotations

from typing import Any, Final

from renderer.diagnostics import Collector, Diagnostic, Origin, Path, dotted
from renderer.kubernetes.json_values import without_nulls
from renderer.yamlio import ChangedDocument, Document, source_path

_LONGEST_WORD: Final = 60


class Draft:
    """A copy of an object's fields, changed field by field. Nothing here raises for odd values: they are told, or left
    for the schema of today's kind to judge.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.body: dict[str, Any] = without_nulls(document.value)  # a null counts as absent
        self.comments: dict[Path, str] = {}
        self._moved: dict[Path, Path] = {}
        self._collector = Collector()

    @property
    def problems(self) -> list[Diagnostic]:
        """What was told so far."""
        return self._collector.problems

    @property
    def changed_document(self) -> Document:
        """The object as it is now, whose fields are located where they stood."""
        return ChangedDocument(self.document, self.body, self._moved)

    def tell(self, code: str, source: Path, *, key: bool = False, **words: object) -> None:
        """Adds a diagnostic about the field that stood at the path `source` of the document."""
        self._collector.add(code, Origin(self.document, source, key), **words)

    def source(self, path: Path) -> Path:
        """The path in the document of the field that is at `path` now."""
        return source_path(self._moved, path)

    def value(self, path: Path) -> Any:
        """The value at `path`, None where there is none."""
        value: Any = self.body
        for part in path:
            if isinstance(part, int):
                value = value[part] if isinstance(value, list) and part < len(value) else None
            else:
                value = value.get(part) if isinstance(value, dict) else None
        return value

    def drop(self, path: Path) -> Any:
        """Takes the field away; returns its value, None where there was none."""
        parent = self.value(path[:-1])
        return parent.pop(path[-1], None) if isinstance(parent, dict) else None

    def drop_empty(self, path: Path) -> None:
        """Takes a map or list away that has nothing in it."""
        if self.value(path) in ({}, []):
            self.drop(path)

    def set(self, path: Path, value: object, source: Path) -> bool:
        """Sets a field to what stood at the path `source` of the document, and makes the maps that it is in. Returns
        whether it could: not where a map that it is in is something else.
        """
        for length in range(1, len(path)):
            parent = self.value(path[:length])
            if parent is None:
                self.value(path[: length - 1])[path[length - 1]] = {}
                self._moved[path[:length]] = source
            elif not isinstance(parent, (dict, list)):
                return False
        container = self.value(path[:-1])
        if isinstance(container, list):
            return False
        container[path[-1]] = value
        self._moved[path] = source
        return True

    def set_source(self, path: Path, source: Path) -> None:
        """Says where the field that is at `path` now stood."""
        self._moved[path] = source

    def move(self, old: Path, new: Path) -> None:
        """Moves a field. Where both are there with different values, E961 tells both places, and the new one stays."""
        value = self.value(old)
        if value is None:
            self.drop(old)
            return
        source, present = self.source(old), self.value(new)
        if present is not None:
            self.drop(old)
            if present != value:
                self.tell_contradiction(source, new)
            return
        parent = self.value(old[:-1])
        if old[:-1] == new[:-1]:  # it keeps its place among its neighbours
            fields = {new[-1] if key == old[-1] else key: item for key, item in parent.items()}
            parent.clear()
            parent.update(fields)
        else:
            self.drop(old)
        if self.set(new, value, source):
            for path, place in [*self._moved.items()]:
                if len(path) > len(old) and path[: len(old)] == old:
                    self._moved[(*new, *path[len(old) :])] = place

    def tell_contradiction(self, source: Path, path: Path) -> None:
        """E961: what stood at the path `source` of the document and the field that is at `path` now contradict."""
        _, line, column = Origin(self.document, self.source(path), key=True).place
        self.tell("E961", source, key=True, old=source[-1], new=dotted(path), line=line, column=column)

    def typed(self, path: Path, kind: type, form: str) -> Any:
        """The value at `path`, None where there is none; of another type it is told (E962), taken away, and None."""
        value = self.value(path)
        if value is None or isinstance(value, kind):
            return value
        self.tell_type(self.source(path), value, form)
        self.drop(path)
        return None

    def tell_type(self, source: Path, value: object, form: str) -> None:
        """E962: the value at the path `source` of the document is of another type."""
        shown = "a map" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"'{shortened(value)}'"
        self.tell("E962", source, form=form, value=shown)


def shortened(word: object) -> str:
    """A user's word as messages show it."""
    text = str(word)
    return text if len(text) <= _LONGEST_WORD else f"{text[:_LONGEST_WORD]}…"
