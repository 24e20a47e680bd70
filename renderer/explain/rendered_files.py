"""Answers a question that is the place of a line in a rendered file, as reviews and error messages print it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import load, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Diagnostic, NamedSource, Origin, Path, RenderError, dotted, make_diagnostic
from renderer.explain.answers import Answers, answer_block, find_objects, line_block
from renderer.explain.question import APPS, Question, names_of_item
from renderer.explain.reasons import ReasonFinder
from renderer.explain.rendered_objects import ExplainRun, RenderedObject
from renderer.kubernetes.json_values import text_at
from renderer.output.file_header import LONGEST_LINE, source_of
from renderer.source import tree
from renderer.yamlio import Document

_PLACE = re.compile(r"(.+\.(?:yaml|yml|json))(?::([^:]*)(?::\d*)?:?)?")
_KIND = re.compile(r"[A-Za-z]+")
_MOST_DIGITS = 9
_RENDER_HINT = "run llmaz render, or name the input's folder after the file if it is another one"


class FilePlace(Struct, frozen=True):
    """A place in a file, as the user wrote it."""

    text: str
    name: str  # of the file
    line: str  # the text behind the name, '' for the whole file

    @property
    def origin(self) -> Origin:
        """Its Origin in diagnostics: the text itself."""
        return Origin(NamedSource(self.text))

    def refuse(self, code: str, what: str, hint: str) -> RenderError:
        """The error about the file (E228) or its line (E229)."""
        return RenderError([make_diagnostic(code, self.origin, what=what, hint=hint)])


def file_place(text: str) -> FilePlace | None:
    """The place in a file that a question is; None for the name of an object."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return None
    name, line = match.groups()
    folder = name.partition("/")[0]
    is_object = line is None and "/" in name and _KIND.fullmatch(folder) and not os.path.exists(folder)
    return None if is_object else FilePlace(text, name, line or "")


def answer_file(place: FilePlace, options: RenderOptions, show: bool = False) -> Answers:
    """The answer about the line, or about the file's objects, as they are rendered now; with a warning where the file
    is stale. Raises RenderError for a file or line without an answer, and for invalid input.
    """
    path = _existing_path(place)
    with open(path, "rb") as file:
        data = file.read(yamlio.MAX_BYTES + 1)
    source = source_of(data)
    if source is None:
        raise place.refuse("E228", "this file was not rendered by llmaz", _hint_of_input(data))
    documents = _rendered_documents(place, path, source, data)
    document_field = _document_at(place, data, documents) if place.line else None
    run = ExplainRun(_options_for(path, source, options))
    if run.wrong:
        raise RenderError(run.wrong)
    reasons = ReasonFinder(run)
    if document_field is not None:
        document, field = document_field
        rendered = _object_of(run, place, document)
        block = answer_block(reasons, rendered, _current_path(place, document.value, rendered, field), show)
        if isinstance(block.value, str) and (line := _line_of_text(place, document, field)) >= 0:
            block = line_block(block, line)
        return Answers((block,), bool(field), _stale(place, not _is_same(document, rendered)))
    objects = [(document, _object_of(run, place, document)) for document in documents]
    blocks = tuple(answer_block(reasons, rendered, (), show) for _, rendered in objects)
    is_stale = not all(_is_same(document, rendered) for document, rendered in objects)
    return Answers(blocks, False, _stale(place, is_stale or _lacks_objects(run, [entry for _, entry in objects])))


def _existing_path(place: FilePlace) -> str:
    """The file, as seen from the current folder, else from the top of its tree. Raises RenderError."""
    for path in (place.name, os.path.join(tree.base_of(())[0], place.name)):
        if os.path.isfile(path):
            return path
    raise RenderError([make_diagnostic("E122", Origin(NamedSource(place.name)), hint="")])


def _options_for(path: str, source: str, options: RenderOptions) -> RenderOptions:
    """The options with the tree, and the environment, that the file belongs to, where the command line names none.
    `source`: the input that the file's header names. Raises RenderError where there are several environments.
    """
    base, config = _tree_of(path, source)
    options = options if options.paths else replace(options, paths=(os.path.relpath(base),))
    if not options.env and config:
        names = load.rendered_environments(options)
        folders = os.path.relpath(path, base).split(os.sep)[:-1]
        options = replace(options, env=next((folder for folder in folders if folder in names), ""))
    return load.for_one_environment(options, "llmaz explain")


def _tree_of(path: str, source: str) -> tuple[str, str | None]:
    """The folder of the input, and its RenderConfig: above the file, else above the current folder; without one, the
    nearest folder above the file in which the header's input lies, else that of the current folder.
    """
    for base, config in (tree.base_of((path,)), tree.base_of(())):
        if config:
            return base, config
    folder = os.path.dirname(os.path.abspath(path))
    while folder != os.path.dirname(folder):
        if _is_input(os.path.join(folder, source)):
            return folder, None
        folder = os.path.dirname(folder)
    return tree.base_of(())[0], None


def _is_input(path: str) -> bool:
    """Whether it is a file that was not rendered."""
    try:
        with open(path, "rb") as file:
            return source_of(file.read(LONGEST_LINE)) is None
    except OSError:
        return False


def _rendered_documents(place: FilePlace, path: str, source: str, data: bytes) -> list[Document]:
    """The objects in a rendered file. Raises RenderError for a file without one, and for one that is not YAML."""
    if tree.PASSED in os.path.normpath(path).split(os.sep):
        raise place.refuse("E228", f"passThrough copied this file from {source}, as it is", "look there")
    documents, problems = yamlio.parse(place.name, data)
    if problems:
        raise RenderError(problems)
    documents = [document for document in documents if all(_key(document))]
    if any(_key(document)[0] == "Kustomization" for document in documents) or not documents:
        raise place.refuse("E228", "this file holds no object of the cluster", "name another file")
    return documents


def _hint_of_input(data: bytes) -> str:
    """What to write instead of a file that is not rendered: the apps in it, where it is input."""
    documents, _ = yamlio.parse("", data)
    apps = [
        f"{kind.lower()}/{name}"
        for kind, name in map(_key, documents)
        if kind in APPS and name and "llmaz" in str(_value(documents[0]).get("apiVersion"))
    ]
    if apps:
        return f"it is input: llmaz explain {apps[0]} shows what is rendered from it"
    return "name a rendered file, such as rendered/llm/chat.yaml:57, or an object, such as lws/llm/chat"


def _value(document: Document) -> Mapping[str, Any]:
    return document.value if isinstance(document.value, dict) else {}


def _key(document: Document) -> tuple[str, str]:
    """Kind and name of an object, '' where it has none."""
    kind = text_at(document.value, "kind")
    return kind, "-" if kind == "Kustomization" else text_at(document.value, "metadata", "name")


def _document_at(place: FilePlace, data: bytes, documents: list[Document]) -> tuple[Document, Path]:
    """The document and the field at the place's line. Raises RenderError."""
    lines = data.decode("utf-8", "replace").splitlines()
    if not (place.line.isascii() and place.line.isdigit()):
        raise place.refuse("E229", f"'{place.line}' is not a line", f"write it as {place.name}:{min(57, len(lines))}")
    number = int(place.line) if len(place.line) <= _MOST_DIGITS else len(lines) + 1
    if not 0 < number <= len(lines):
        raise place.refuse("E229", f"the file has {len(lines)} lines", "name one of them, or leave the line out")
    text = lines[number - 1]
    if text.startswith(("#", "---")) or not text.strip():
        what = f"line {number} has no field" + (f": {text}" if text.strip() else "")
        raise place.refuse("E229", what, f"name the line of a field, such as {number + 1}, or leave the line out")
    fields = ((document, path) for document in documents for path in _paths(document.value))
    *_, field = (field for field in fields if field[0].locate(field[1], key=True)[0] <= number)
    return field


def _line_of_text(place: FilePlace, document: Document, field: Path) -> int:
    """Which line of the text of several that a field has, from 0, the place's line is; -1 for the field's own."""
    return int(place.line) - document.locate(field, key=True)[0] - 1


def _paths(value: object, path: Path = ()) -> Iterator[Path]:
    """The paths of all fields and items, in the order of the file."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _object_of(run: ExplainRun, place: FilePlace, document: Document) -> RenderedObject:
    """What is rendered now of that kind, namespace and name. Raises RenderError where nothing is."""
    kind, name = _key(document)
    namespace = str(document.value["metadata"].get("namespace") or "")
    question = Question(place.text, kind, namespace, name)
    try:
        objects, _ = find_objects(run, question)
    except RenderError as error:
        if [problem.code for problem in error.problems] != ["E777"]:
            raise
        objects = []
    for rendered in objects:
        if rendered.key == (kind, namespace, name):
            return rendered
    words = "/".join(filter(None, (kind, namespace, name)))
    raise place.refuse("E229", f"{words} is in this file only: no input makes it", _RENDER_HINT)


def _is_same(document: Document, rendered: RenderedObject) -> bool:
    """Whether the file holds what is rendered now."""
    return yamlio.dump(document.value) == yamlio.dump(rendered.body)


def _lacks_objects(run: ExplainRun, objects: list[RenderedObject]) -> bool:
    """Whether an app of the file makes more objects than stand there, in a layout with all of them in one file."""
    if run.inputs.config.get("output", "layout") == "object":
        return False
    items = {id(rendered.item): rendered.item for rendered in objects if rendered.item}
    return len(run.render_items(items.values())) > len([rendered for rendered in objects if rendered.item])


def _current_path(place: FilePlace, value: Any, rendered: RenderedObject, path: Path) -> Path:
    """Where the field of the file stands in what is rendered now; items of lists go by their names or texts. Raises
    RenderError where it is in the file only.
    """
    current: Any = rendered.body
    new_path: Path = ()
    for part in path:
        item = value[part]
        new_part: str | int | None = part
        if isinstance(part, int):
            new_part = _current_index(current, item, part)
        if new_part is None or (isinstance(current, dict) and part not in current):
            what = f"{dotted(path)} of {rendered} is in this file only: it is not rendered"
            raise place.refuse("E229", what, "run llmaz render")
        new_path, value, current = (*new_path, new_part), item, current[new_part]
    return new_path


def _current_index(current: Any, item: object, index: int) -> int | None:
    """The index of a list's item in the list as it is now; None where it has none."""
    if not isinstance(current, list):
        return None
    names = names_of_item(item)
    same = [i for i, other in enumerate(current) if (names_of_item(other) == names if names else other == item)]
    if same:
        return index if index in same else same[0]
    return index if not names and isinstance(item, dict) and index < len(current) else None


def _stale(place: FilePlace, is_stale: bool) -> tuple[Diagnostic, ...]:
    return (make_diagnostic("W223", place.origin),) if is_stale else ()
