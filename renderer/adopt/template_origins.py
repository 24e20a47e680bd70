"""Where the fields of a pod's template stand in the files that it was made of."""

from __future__ import annotations

from collections.abc import Set

from renderer.diagnostics import Origin, Path


class _Field:
    """A field with an origin, or with fields that have one."""

    __slots__ = ("fields", "is_copy", "origin")

    def __init__(self) -> None:
        self.origin: Origin | None = None
        self.is_copy = False  # everything below is as it stands at the origin
        self.fields: dict[str | int, _Field] = {}


class TemplateOrigins:
    """The origins of a template's fields, by path. A field without one has that of the nearest field around it."""

    __slots__ = ("_top",)

    def __init__(self, whole: Origin) -> None:
        self._top = _Field()
        self._top.origin = whole

    def __call__(self, path: Path) -> Origin:
        field, depth, nearest = self._top, 0, self._top
        for i, part in enumerate(path, 1):
            if (inner := field.fields.get(part)) is None:
                break
            field = inner
            if field.origin:
                nearest, depth = field, i
        assert nearest.origin  # noqa: S101 - the top has one
        return nearest.origin.at(*path[depth:]) if nearest.is_copy else nearest.origin

    def copy(self, path: Path, origin: Origin) -> None:
        """Says that the field is what stands at `origin`, with everything below it that has no origin of its own."""
        field = self._field(path)
        field.origin, field.is_copy = origin, True

    def make(self, path: Path, origin: Origin) -> None:
        """Says that the field was made of what stands at `origin`, with everything below it."""
        self.forget(path)
        self._field(path).origin = origin

    def forget(self, path: Path) -> None:
        """Forgets the origins of a field and of everything below it, as before another value takes its place."""
        field = self._top
        for part in path[:-1]:
            if (inner := field.fields.get(part)) is None:
                return
            field = inner
        field.fields.pop(path[-1], None)

    def remove_items(self, path: Path, indexes: Set[int], length: int) -> None:
        """Moves the items of a list of this length behind those that are removed."""
        origins = [self((*path, i)) for i in range(length)]
        items = self._field(path).fields
        fields = [items.pop(i, _Field()) for i in range(length)]
        for place, i in enumerate(i for i in range(length) if i not in indexes):
            items[place] = fields[i]
            if not fields[i].origin:
                fields[i].origin, fields[i].is_copy = origins[i], True

    def _field(self, path: Path) -> _Field:
        field = self._top
        for part in path:
            field = field.fields.setdefault(part, _Field())
        return field
