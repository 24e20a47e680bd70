"""llmaz routes."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.answers import ENV, INVALID, SET, answering, counted, end, options_of, report, say
from renderer.cli.streams import write


@click.command(short_help="Show which public name leads where.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "markdown", "json")),
    default="table",
    show_default=True,
    help="markdown: the table, and the same as Mermaid charts.",
)
@SET
@ENV
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@click.option("--allow-empty", is_flag=True, help="No input at all is fine.")
def routes(paths: tuple[str, ...], form: str, **flags: Any) -> None:
    """Show the routes that the input below PATHS makes, by Gateway: public name, owner, and what it leads to.

    Nothing is written. Problems of the input are printed as validate prints them, and no routes when there are errors.
    """
    with answering():
        from renderer import load
        from renderer.routes import FORMS, summary
        from renderer.routes import routes as found_below

        options = load.alone(options_of(paths, flags), "llmaz routes")
        found, problems = found_below(options)
    if failed := report(problems, "text", flags["strict"]):
        say("text", counted(failed, "error"))
        end(INVALID)
    write(FORMS[form](found))
    say("text", summary(found))
    end(0)
