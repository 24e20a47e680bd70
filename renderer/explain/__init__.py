"""Finds the input line, preset line or rule behind a rendered field, for `llmaz explain`."""

from renderer.explain.answers import AnswerBlock, Answers, answer_question
from renderer.explain.formats import as_json, as_text
from renderer.explain.rendered_files import answer_file, file_place

FORMS = {"text": as_text, "json": as_json}

__all__ = ["FORMS", "AnswerBlock", "Answers", "answer_file", "answer_question", "as_json", "as_text", "file_place"]
