"""A page for each error code: what it says, its cause, an input that shows it with the output, and a better input."""

from __future__ import annotations

from renderer.error_pages.error_page import (
    FILE,
    INTERNAL_FAULT,
    UNKNOWN_CODE,
    ErrorPage,
    Excerpt,
    Sample,
    codes_in,
    error_page,
    read_samples,
    unknown_code,
)
from renderer.error_pages.terminal import area_list, code_list, excerpt_title, page_text

__all__ = [
    "FILE",
    "INTERNAL_FAULT",
    "UNKNOWN_CODE",
    "ErrorPage",
    "Excerpt",
    "Sample",
    "area_list",
    "code_list",
    "codes_in",
    "error_page",
    "excerpt_title",
    "page_text",
    "read_samples",
    "unknown_code",
]
