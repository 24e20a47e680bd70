"""llmaz routes."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.console import (
    ALLOW_EMPTY,
    ENV,
    PATHS,
    SET,
    STRICT,
    VERBOSE,
    examples,
    exit_with,
    exit_with_errors,
    print_line,
    render_options,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import has_errors


@click.command(
    short_help="Show the routes: public names and their models.",
    epilog=examples("llmaz routes", "llmaz routes --format markdown"),
)
@PATHS
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "markdown", "json")),
    default="table",
    show_default=True,
    help="markdown: the table, and Mermaid charts.",
)
@SET
@ENV
@STRICT
@ALLOW_EMPTY
@VERBOSE
def routes(paths: tuple[str, ...], form: str, **flags: Any) -> None:
    """Show the routes that the input below PATHS makes, by Gateway: public name, owner, and what it leads to.

    Nothing is written. Problems of the input are printed as by validate; if there are errors, no routes are printed.
    """
    with report_failures():
        from renderer import load
        from renderer.routes import FORMS, summary
        from renderer.routes import routes as render_routes

        options = load.for_one_environment(render_options(paths, flags), "llmaz routes")
        route_tables, problems = render_routes(options)
        if not has_errors(problems, flags["strict"]):
            write(FORMS[form](route_tables))
    if failed := report(problems, "text", flags["strict"], brief=not flags["verbose"]):
        exit_with_errors(failed)
    print_line("text", summary(route_tables))
    exit_with(0)
