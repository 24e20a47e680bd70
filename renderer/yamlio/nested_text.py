"""What stands in a text of a document, such as Helm values in a block scalar: YAML, read as if it stood in place of the
text, or lines of another form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from renderer.diagnostics import Diagnostic, Edit, Origin, Path
from renderer.diagnostics.origin import Source
from renderer.yamlio.document import Document, parse


def read_nested_texts(document: Document, paths: Iterable[Path]) -> tuple[Document, list[Diagnostic]]:
    """The document with the YAML of the texts at these paths in their places, and the problems of that YAML; a text
    with problems stays.

    What stands in a block scalar is located at its own line and column, what stands in another text at that text.
    """
    texts: dict[Path, _NestedText] = {}
    problems = []
    value = document.value
    for path in paths:
        if text := _text_at(document.value, path):
            nested = _NestedText(document.origin(*path), text)
            problems += [nested.moved(problem) for problem in nested.problems]
            if nested.document:
                texts[path] = nested
                value = _replaced(value, path, nested.document.value)
    return (_WithNestedTexts(document, value, texts) if texts else document), problems


def _text_at(value: Any, path: Path) -> str:
    """The text at a path; '' for a map there."""
    for part in path:
        value = value[part]
    return value if isinstance(value, str) else ""


def _replaced(value: Any, path: Path, new: object) -> Any:
    """A copy of the value with another one at `path`."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replaced(copy[path[0]], path[1:], new)
    return copy


class _WithNestedTexts(Document):
    """A document with YAML in place of some of its texts. It is a MergedSource."""

    __slots__ = ("_texts", "_whole")

    def __init__(self, whole: Document, value: object, texts: Mapping[Path, _NestedText]) -> None:
        super().__init__(whole._file, whole.index, value)
        self._whole: Final = whole
        self._texts: Final = texts

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._whole.name

    def behind(self, path: Path) -> tuple[Source, Path]:
        """The source that has the field, and its path there: the text that it stands in, or the document."""
        for text_path, text in self._texts.items():
            if len(path) > len(text_path) and path[: len(text_path)] == text_path:
                return text, path
        return Origin(self._whole, path).behind

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        source, place = self.behind(path)
        return source.locate(place, key=key)

    def raw(self, path: Path) -> str | None:
        for text_path, text in self._texts.items():
            if path[: len(text_path)] == text_path:
                return text.document.raw(path[len(text_path) :]) if text.document else None
        return self._whole.raw(path)


class LineOfText:
    """A line in a text of a document, as a Source. In a block scalar it has its own line and column, in another text
    the place of that text.
    """

    def __init__(self, origin: Origin, text: str, line: int, column: int) -> None:
        """`origin`: of the text; `line`, `column`: in it, from 1."""
        self._origin: Final = origin
        self._text: Final = text
        self._place: Final = line, column

    @property
    def name(self) -> str:
        """Of the file."""
        return self._origin.place[0]

    @property
    def index(self) -> int:
        """Of the document in its file."""
        index: int = getattr(self._origin.behind[0], "index", 0)
        return index

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """The place of the line, and there of the value, or of the key in front of it."""
        _, line, column = self._origin.place
        indent = _indent_below(self._origin, line, self._text)
        if indent is None:
            return line, column
        return line + self._place[0], indent + (1 if key else self._place[1])


class _NestedText:
    """A text that holds YAML, as a Source. Paths are those of the whole document."""

    def __init__(self, origin: Origin, text: str) -> None:
        self._origin = origin
        name, line, _ = origin.place
        self._indent = _indent_below(origin, line, text)
        rows = 0 if self._indent is None else line  # so that its lines have the numbers of the file's
        documents, self.problems = parse(name, f"{rows * chr(10)}{text}".encode("utf-8", "replace"))
        self.document = documents[0] if len(documents) == 1 and not self.problems else None

    @property
    def name(self) -> str:
        """Of the file."""
        return self._origin.place[0]

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        place = self.document.locate(path[len(self._origin.path) :], key=key) if self.document else (0, 0)
        return self._in_file(*place)

    def locate_end(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column behind what `locate` finds; (0, 0) where the lines of the text do not stand in the file."""
        if self._indent is None or self.document is None:
            return 0, 0
        return self._in_file(*self.document.locate_end(path[len(self._origin.path) :], key=key))

    def edits(self, path: Path, old: str, new: str | float, *, key: bool = False) -> tuple[Edit, ...]:
        """As Document.edits; none where the lines of the text do not stand in the file."""
        if self._indent is None or self.document is None:
            return ()
        edits = self.document.edits(path[len(self._origin.path) :], old, new, key=key)
        return tuple([self._moved_edit(edit) for edit in edits])

    def _moved_edit(self, edit: Edit) -> Edit:
        line, column = self._in_file(edit.line, edit.column)
        end_line, end_column = self._in_file(edit.end_line, edit.end_column)
        return replace(edit, line=line, column=column, end_line=end_line, end_column=end_column)

    def moved(self, problem: Diagnostic) -> Diagnostic:
        """A problem of the text, at its place in the file."""
        return problem.moved(problem.file, *self._in_file(problem.line, problem.column))

    def _in_file(self, line: int, column: int) -> tuple[int, int]:
        """The place in the file of a place in the text; that of the text where its lines do not stand there as they
        are.
        """
        _, *start = self._origin.place
        return (start[0], start[1]) if self._indent is None else (line, column + self._indent)


def _indent_below(origin: Origin, line: int, text: str) -> int | None:
    """By how much the lines of a text are indented that stand in its file below a line; None where they do not stand
    there as they are.
    """
    source, _ = origin.behind
    if not isinstance(source, Document):
        return None
    lines = text.rstrip("\n").split("\n")
    below = source.data.decode("utf-8", "replace").split("\n")[line : line + len(lines)]
    first = next((i for i, row in enumerate(lines) if row), None)
    if first is None or len(below) < len(lines):
        return None
    indent = len(below[first].rstrip("\r")) - len(lines[first])
    if indent < 0 or any(row.rstrip("\r")[indent:] != line_text for row, line_text in zip(below, lines, strict=True)):
        return None
    return indent
