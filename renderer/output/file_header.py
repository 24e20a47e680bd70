"""The first line of each file that the renderer writes: it names the input, and by it the renderer knows its files."""

from __future__ import annotations

MARK = "# Rendered by llmaz from "  # a file that begins with it is never read as input
_END = ". Do not edit."
LONGEST_LINE = 4096


def header(source: str) -> str:
    """The first line of a rendered file, which names the input that it was rendered from."""
    return f"{MARK}{source}{_END}\n"


def source_of(text: bytes) -> str | None:
    """The input that the header names; None without a header."""
    line = text[:LONGEST_LINE].partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")  # a checkout may have CRLF
    return line[len(MARK) : -len(_END)] if line.startswith(MARK) and line.endswith(_END) else None
