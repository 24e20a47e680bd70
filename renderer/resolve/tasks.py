"""The task of a model (`facts.kind`): what its engine is asked for, and by which API of the AI gateway."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from renderer.api import OpenModel
from renderer.diagnostics import Origin
from renderer.text.suggestions import closest

CHAT: Final = "chat"
EMBEDDING: Final = "embedding"
RERANKER: Final = "reranker"
TRANSCRIPTION: Final = "transcription"
GENERATING: Final = (CHAT, TRANSCRIPTION)
"""Tasks whose engines write token after token; those of the others answer after they read the prompt."""
# By task, the schema of an AIServiceBackend with which the AI gateway has a path for it; '' for none: its paths are
# registered in cmd/extproc/mainlib/main.go (v1.0.0), and none of them classifies or scores.
SCHEMAS: Final[Mapping[str, str]] = {
    CHAT: "OpenAI",
    EMBEDDING: "OpenAI",
    TRANSCRIPTION: "OpenAI",
    RERANKER: "Cohere",
    "classifier": "",
}
PATHS: Final[Mapping[str, str]] = {
    CHAT: "/v1/chat/completions",
    EMBEDDING: "/v1/embeddings",
    TRANSCRIPTION: "/v1/audio/transcriptions",
    RERANKER: "/cohere/v2/rerank",
}
"""By task, the path at a Gateway."""
_LIKENESS = 0.66  # of a misspelt task: `rerank`, `embeddings` and `classification` are, `vision` and `reward` are none
# Words in the names of repositories, by task, each with what all of them have: few names have it, and only then a
# pattern is compiled. The first that matches counts: a reranker may be made of embeddings.
_NAMES = {
    RERANKER: ("rank", r"(?<![a-z])re-?rank(?:er|ing)?s?(?![a-z])"),
    EMBEDDING: ("embed", r"(?<![a-z])embed(?:ding)?s?(?![a-z])"),
    TRANSCRIPTION: ("whisper", r"(?<![a-z])whisper(?![a-z])"),
}


def written_task(model: OpenModel) -> str:
    """`facts.kind` as it is written; '' where it is missing."""
    facts = model.spec.get("facts")
    return facts.get("kind") or "" if facts else ""


def task_of(model: OpenModel) -> str:
    """The task of a model; chat where nobody says one that has a meaning."""
    kind = written_task(model)
    return kind if kind in SCHEMAS else CHAT


def task_origin(model: OpenModel) -> Origin | None:
    """Where the task of a model is said; None where nobody says one."""
    return Origin(model.document, ("spec", "facts", "kind")) if written_task(model) else None


def meant_task(kind: str) -> str:
    """The task that a text without a meaning is a misspelling of; '' for another text."""
    return closest(kind.lower(), (*SCHEMAS,), _LIKENESS)


def task_of_name(model: OpenModel) -> str:
    """The task that the name of the model's repository speaks of; '' where it speaks of none."""
    source = model.spec["source"]
    hub = source.get("modelHub") or {}
    name = str(hub.get("modelID") or source.get("uri") or "").rpartition("/")[2].lower()
    return next((task for task, (part, words) in _NAMES.items() if part in name and re.search(words, name)), "")
