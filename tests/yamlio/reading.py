"""What a text says when it is read: its values, and its problems with their places."""

from __future__ import annotations

from typing import Any

from renderer import yamlio


def values(text: str | bytes) -> list[Any]:
    """The documents of a file that must be fine."""
    documents, problems = yamlio.parse("test.yaml", text if isinstance(text, bytes) else text.encode())
    assert problems == []
    return [document.value for document in documents]


def findings(text: str | bytes) -> list[tuple[int, int, str, str]]:
    """Line, column, code and message of every problem."""
    _, problems = yamlio.parse("test.yaml", text if isinstance(text, bytes) else text.encode())
    assert {problem.file for problem in problems} <= {"test.yaml"}
    return [(problem.line, problem.column, problem.code, problem.message) for problem in problems]


def places(text: str | bytes) -> list[tuple[int, int, str]]:
    """Line, column and code of every problem."""
    return [finding[:3] for finding in findings(text)]


def words(text: str) -> list[str]:
    return text.split(" ")


def document(text: str) -> yamlio.Document:
    """The only document of a file that must be fine."""
    (only,), problems = yamlio.parse("test.yaml", text.encode())
    assert problems == []
    return only
