"""Where the fields of a pod's template stand in the files that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from renderer.diagnostics import Origin, Path


class _Field:
    """A field with an origin, or with fields that have one."""

    __slots__ = ("fields", "is_copy", "origin")

    def __init__(self, origin: Origin | None = None) -> None:
        self.origin = origin
        self.is_copy = False  # everything below is as it stands at the origin
        self.fields: dict[str | int, _Field] = {}


class TemplateOrigins:
    """The origins of a template's fields, by path. A field without one has that of the nearest field around it; with
    `whole`, the origin of the template, each has one.
    """

    __slots__ = ("_top", "of_all_fields")

    def __init__(self, whole: Origin | None = None) -> None:
        self._top = _Field(whole)
        self.of_all_fields = whole is not None

    def __call__(self, path: Path) -> Origin:
        nearest, rest = self._nearest(path)
        assert nearest.origin  # noqa: S101 - the top has one
        return nearest.origin.at(*rest) if nearest.is_copy else nearest.origin

    def __iter__(self) -> Iterator[tuple[Path, Origin]]:
        """The fields that have an origin of their own."""
        fields: list[tuple[Path, _Field]] = [((), self._top)]
        for path, field in fields:
            if field.origin:
                yield path, field.origin
            fields += [((*path, part), inner) for part, inner in field.fields.items()]

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

    def move_items(self, path: Path, places: Mapping[str | int, int]) -> None:
        """Moves the items of a list. `places`: the new index of each that stays, by its old one."""
        nearest, rest = self._nearest(path)
        moved: dict[str | int, _Field] = {}
        items = self._field(path).fields
        for old, new in places.items():
            item = items.get(old) or _Field()
            if not item.origin and nearest.is_copy and nearest.origin:  # its place there is no more its index here
                item.origin, item.is_copy = nearest.origin.at(*rest, old), True
            if item.origin or item.fields:
                moved[new] = item
        self._field(path).fields = moved

    def remove_items(self, path: Path, indexes: Set[int], length: int) -> None:
        """Moves the items of a list of this length behind those that are removed."""
        self.move_items(path, {i: place for place, i in enumerate(i for i in range(length) if i not in indexes)})

    def _nearest(self, path: Path) -> tuple[_Field, Path]:
        """The nearest field at or around a path that has an origin, else the template; and the path below it."""
        field, depth, nearest = self._top, 0, self._top
        for i, part in enumerate(path, 1):
            if (inner := field.fields.get(part)) is None:
                break
            field = inner
            if field.origin:
                nearest, depth = field, i
        return nearest, path[depth:]

    def _field(self, path: Path) -> _Field:
        field = self._top
        for part in path:
            field = field.fields.setdefault(part, _Field())
        return field
