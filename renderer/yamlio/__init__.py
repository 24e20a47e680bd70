"""Reads YAML, with the place of every key and value; writes YAML that Go and Python read alike."""

from __future__ import annotations

from renderer.yamlio.document import BuiltDocument, ChangedDocument, Document, documents, parse, source_path
from renderer.yamlio.file_search import find_objects, read_files
from renderer.yamlio.filled_document import FilledDocument
from renderer.yamlio.limits import MAX_BYTES, MAX_DEPTH, MAX_EXPANDED
from renderer.yamlio.nested_text import LineOfText, read_nested_texts
from renderer.yamlio.writer import Markup, SharedMap, block_text, dump, dump_template, is_block, quoted_part, scalar

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_EXPANDED",
    "BuiltDocument",
    "ChangedDocument",
    "Document",
    "FilledDocument",
    "LineOfText",
    "Markup",
    "SharedMap",
    "block_text",
    "documents",
    "dump",
    "dump_template",
    "find_objects",
    "is_block",
    "parse",
    "quoted_part",
    "read_files",
    "read_nested_texts",
    "scalar",
    "source_path",
]
