"""A document with fields whose text is filled in before a cluster gets it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Final

from renderer.diagnostics import Path
from renderer.kubernetes.json_values import value_at
from renderer.yamlio.document import ChangedDocument, Document


class FilledDocument(ChangedDocument):
    """A document as far as it is known what fills it in. It is a MergedSource."""

    __slots__ = ("_pending",)

    def __init__(self, whole: Document, value: object, moved: Mapping[Path, Path], pending: Set[Path]) -> None:
        super().__init__(whole, value, moved)
        self._pending: Final = pending  # the paths of what nobody knows: values, and maps with such keys

    def raw(self, path: Path) -> str | None:
        """The text of the scalar at `path`, with what is filled in."""
        value = value_at(self.value, *path)
        return value if isinstance(value, str) else super().raw(path)

    def is_pending(self, path: Path) -> bool:
        """Whether what the field says is not known."""
        return any(path[: len(known)] == known for known in self._pending)

    def pending_places(self) -> Iterator[tuple[str, int, int]]:
        """File, line and column of each field of which it is not known what it says."""
        for path in self._pending:
            yield (self.name, *self.locate(path))

    def has_pending(self, path: Path = ()) -> bool:
        """Whether what some field below `path` says is not known."""
        return any(known[: len(path)] == path for known in self._pending)
