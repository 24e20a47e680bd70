"""llmaz errors."""

from __future__ import annotations

import click

from renderer.cli.console import complete_words, examples, exit_with_errors, print_line
from renderer.cli.standard_streams import write


def _codes() -> list[str]:
    from renderer.diagnostics.wordings import WORDINGS

    return list(WORDINGS)


@click.command(
    "errors",
    short_help="Explain an error code.",
    epilog=examples("llmaz errors E203", "llmaz errors engines"),
)
@click.argument("codes", nargs=-1, metavar="[CODE]...", shell_complete=complete_words(_codes))
def errors(codes: tuple[str, ...]) -> None:
    """Explain an error code: its message, its cause, an input that shows it, what to write instead.

    CODE is an error code such as E203. A prefix such as E4, or an area such as engines, lists its codes. Without CODE,
    the areas are listed.
    """
    from renderer import error_pages

    if not codes:
        write(error_pages.area_list())
        return
    parts, unknown = [], []
    for word in codes:
        matches = error_pages.codes_in(word)
        if not matches:
            unknown.append(word)
        elif len(matches) == 1 and matches[0] == word.upper():
            parts.append(error_pages.page_text(error_pages.error_page(matches[0])))
        else:
            parts.append(error_pages.code_list(matches))
    for word in unknown:
        message, hint = error_pages.unknown_code(word)
        print_line("text", f"CODE: {message} [{error_pages.UNKNOWN_CODE}]")
        print_line("text", f"    hint: {hint}")
    if unknown:
        exit_with_errors(len(unknown))
    write("\n".join(parts))
