"""What kustomize builds of a folder, with each field located in a file of the tree."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable

from renderer.check.programs.built_objects import built_objects
from renderer.check.programs.kustomize_files import KustomizeFiles
from renderer.check.programs.process import run_program
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic
from renderer.kubernetes.json_values import text_at, value_at
from renderer.yamlio import Document


def build_kustomization(folder: str) -> tuple[list[Document], list[Diagnostic]]:
    """The objects that kustomize builds of a folder, and the problems. Raises RenderError where kustomize is missing.

    Kustomize fetches what a kustomization names by an address, so all that is named has to be in the tree.
    """
    files = KustomizeFiles(folder)
    if files.problems:
        return [], files.problems
    with tempfile.TemporaryDirectory() as scratch:
        output = run_program("kustomize", ["build", path := os.path.abspath(folder)], scratch=scratch)
    if output.error:
        return [], [make_diagnostic("E563", files.origin, what=output.error.replace(path, folder))]
    objects, problems = built_objects(output.data, files.origin, _Fields(files.objects).find)
    if not objects and not problems:
        problems = [make_diagnostic("E563", files.origin, what="it builds no objects")]
    return objects, problems


class _Fields:
    """The fields of the objects and patches that a folder is built of."""

    def __init__(self, objects: Iterable[Document]) -> None:
        self._by_kind: dict[str, list[Document]] = {}
        for document in objects:
            self._by_kind.setdefault(text_at(document.value, "kind"), []).append(document)

    def find(self, built: Document, path: Path) -> Origin | None:
        """The field of an object or patch that has the value of a built object's field; else of what is nearest to it
        in the object.
        """
        name = text_at(built.value, "metadata", "name")
        known = self._by_kind.get(text_at(built.value, "kind"), ())
        documents = [document for document in known if text_at(document.value, "metadata", "name") == name]
        # A prefix, a suffix or a hash stands beside the name.
        documents = documents or [document for document in known if text_at(document.value, "metadata", "name") in name]
        value, nearest = value_at(built.value, *path), None
        for document in documents:
            place = _place(built.value, document.value, path)
            if len(place) == len(path) and value_at(document.value, *place) == value:
                return document.origin(*place)
            if nearest is None or len(place) > len(nearest.path):
                nearest = document.origin(*place)
        return nearest


def _place(built: object, source: object, path: Path) -> Path:
    """The path in `source` of the field at `path` in `built`, as far as it is there."""
    place: list[str | int] = []
    for part in path:
        built = value_at(built, part)
        step = _item_number(source, text_at(built, "name"), part) if isinstance(part, int) else part
        if (source := value_at(source, step)) is None:
            break
        place.append(step)
    return tuple(place)


def _item_number(items: object, name: str, number: int) -> int:
    """The number of the item that has the name, since patches hold some of the items alone; the number that is given
    where the items have no names.
    """
    names = [text_at(item, "name") for item in items] if isinstance(items, list) else []
    return (names.index(name) if name in names else len(names)) if name else number
