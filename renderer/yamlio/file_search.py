"""Objects in the files of a tree, of which few are worth parsing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from renderer.yamlio.document import Document, parse

if TYPE_CHECKING:
    from renderer.source.tree import ReadableFile


def read_files(files: Iterable[ReadableFile]) -> Iterator[tuple[ReadableFile, bytes]]:
    """The files that can be read, each with what it holds; others are told where they are input."""
    for file in files:
        try:
            yield file, file.read()
        except OSError:
            continue


def find_objects(files: Iterable[tuple[ReadableFile, bytes]], *words: bytes) -> Iterator[Document]:
    """The objects of the files that hold one of the words."""
    for file, data in files:
        if any(word in data for word in words):
            for document in parse(file.name, data)[0]:
                yield from document.objects
