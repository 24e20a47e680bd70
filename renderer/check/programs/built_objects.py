"""The objects in what a program printed, each of whose fields is located in a file that it was made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from renderer import yamlio
from renderer.diagnostics import Diagnostic, Origin, Path
from renderer.kubernetes.json_values import text_at
from renderer.yamlio import BuiltDocument, Document

FindOrigin: TypeAlias = Callable[[Document, Path], Origin | None]
"""Where a field of an object is said; None where no file says it."""


def built_objects(data: bytes, maker: Origin, find: FindOrigin) -> tuple[list[Document], list[Diagnostic]]:
    """The objects of a program's output, and the problems of its YAML. `maker`: what stands for a field that no file
    says.
    """
    documents, problems = yamlio.parse(maker.source.name, data)
    objects: list[Document] = [
        BuiltDocument(part, partial(_origin, part, maker, find)) for document in documents for part in document.objects
    ]
    return objects, problems


def _origin(built: Document, maker: Origin, find: FindOrigin, path: Path) -> Origin:
    if origin := find(built, path):
        return origin
    label = f"{text_at(built.value, 'kind')} {text_at(built.value, 'metadata', 'name')}"
    return Origin(_Maker(maker), (label, *path))


class _Maker:
    """What made an object: the place of each field of it that no file says."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    @property
    def name(self) -> str:
        """Of its file."""
        return self._origin.source.name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self._origin.place[1:]
