"""Which input line, preset line or rule made a rendered field, for `llmaz explain`."""

from renderer.explain.answering import Answer, Block, answer
from renderer.explain.forms import as_json, as_text

FORMS = {"text": as_text, "json": as_json}

__all__ = ["FORMS", "Answer", "Block", "answer", "as_json", "as_text"]
