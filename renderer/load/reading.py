"""One file as plain values, which pass cheaply from process to process."""

from __future__ import annotations

from typing import Any

from renderer import yamlio
from renderer.load.kinds import check, kind_of
from renderer.load.rule import Rule
from renderer.problems import Origin, at_hand, problem
from renderer.tree import MAX_BYTES, File

# What says that a file may be ours: also with its apiVersion missing or misspelt, or in another encoding.
_SIGNS = (
    b"llmaz.io/",
    b"inference.networking.x-k8s.io/",
    *(f"kind: {kind}".encode() for kind in ("Playground", "OpenModel", "BackendRuntime", "RenderConfig")),
    b"inference.llmaz",
    *("llmaz.io/".encode(encoding) for encoding in ("utf-16-le", "utf-16-be")),
)


def plain(file: File) -> Any:
    """A file's bytes, the number of foreign documents in it, ours by index, problems, and whether it is unreadable."""
    with at_hand(file.name):
        return _read(file)


def _read(file: File) -> Any:
    try:
        data = file.read()
    except OSError as error:
        return b"", 0, [], [tuple(problem("E120", Origin(Rule(file.name)), what=error.strerror or error))], True
    if len(data) <= MAX_BYTES and not any(sign in data for sign in _SIGNS):
        return b"", 1, [], [], False
    documents, problems = yamlio.parse(file.name, data)
    values = []
    foreign = 0
    unreadable = bool(problems)
    for document in documents:
        kind = kind_of(document, problems)
        if kind is None:
            foreign += 1
            continue
        found = check(document, kind) if kind else []
        values.append((document.index, document.value, kind, bool(kind) and not found))
        said = {(each.line, each.field) for each in problems}  # what a tag made of a value, say, fits nowhere
        problems += [each for each in found if (each.line, each.field) not in said]
    return data if values else b"", foreign, values, [tuple(each) for each in problems], unreadable
