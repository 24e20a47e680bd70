"""Pages of error codes for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from renderer.diagnostics.addresses import page_address
from renderer.diagnostics.wordings import AREA_TITLES, AREAS
from renderer.error_pages.error_page import ErrorPage, Excerpt, error_page
from renderer.text import escapes

WIDTH: Final = 100  # as of --help


def area_list() -> str:
    """One line an area, with the number of its codes."""
    rows = [(name, f"{len(AREAS[name]):>4}", title) for name, title in AREA_TITLES.items()]
    width = max(len(row[0]) for row in rows)
    lines = [f"{name.ljust(width)} {count}  {title}" for name, count, title in rows]
    total = sum(len(wordings) for wordings in AREAS.values())
    lines += ["", f"{total} codes: E errors, W warnings, N notes. `llmaz errors E203` prints the page of one,"]
    lines += ["`llmaz errors engines` and `llmaz errors E4` list those of an area and those that begin so."]
    return "".join(f"{line}\n" for line in lines)


def code_list(codes: Iterable[str]) -> str:
    """One line a code with its message, cut to the width of a terminal."""
    return "".join(f"{_cut(f'{code}  {error_page(code).message}')}\n" for code in codes)


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def page_text(page: ErrorPage) -> str:
    """The page of a code, in lines that a terminal or a log takes as text."""
    return escapes.lines("".join(f"{line}\n" for line in _lines(page)))


def _lines(page: ErrorPage) -> Iterator[str]:
    sample = page.sample
    area = f" about {AREA_TITLES[page.area]}" if page.area else ""
    yield f"{page.code}  {page.severity}{area}"
    yield ""
    yield from _wrapped(page.message)
    if page.hint:
        yield from _wrapped(f"hint: {page.hint}", "      ")
    if sample.causes:
        yield from ("", "Cause")
        for cause in sample.causes:
            yield from _wrapped(f"- {cause}", "  ")
    if sample.console:
        yield from ("", f"Example: {sample.title}")
        for excerpt in sample.excerpts:
            yield f"  # {excerpt_title(excerpt)}"
            yield from _indented(excerpt.text)
        yield ""
        yield from _indented(sample.console)
    if sample.change:
        yield from ("", "Write instead")
        yield from _indented(sample.change)
    if sample.cases:
        yield from ("", "Also seen with")
        yield from _wrapped("; ".join(sample.cases))
    address = page_address(page.code)
    if address or sample.pages:
        yield from ("", f"Read on: {address}".rstrip())
    for address, heading in sample.pages.items():
        yield f"  docs/{address.partition('#')[0]}: {heading}"


def excerpt_title(excerpt: Excerpt) -> str:
    """The file, with the lines where these are a part of it."""
    if excerpt.is_whole:
        return excerpt.file
    return f"{excerpt.file}, lines {excerpt.first_line} to {excerpt.first_line + excerpt.text.count(chr(10)) - 1}"


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"  {line}".rstrip()


def _wrapped(text: str, indent: str = "") -> list[str]:
    import textwrap

    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
