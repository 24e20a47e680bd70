"""llmaz fleet."""

from __future__ import annotations

from typing import Any, NoReturn

import click

from renderer.cli.console import (
    ALLOW_EMPTY,
    ANY_ENV,
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
    require_values,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import has_errors

_KEYS = ("owner", "namespace", "accelerator", "environment")


@click.command(
    short_help="Show what runs at least and at most: GPUs, prices, owners.",
    epilog=examples("llmaz fleet --by owner", "llmaz fleet --html fleet.html"),
)
@PATHS
@click.option("--by", type=click.Choice(_KEYS), help="Print sums of what has the same one, not each workload.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json", "csv")),
    default="table",
    show_default=True,
    help="The form.",
)
@click.option("--html", "page", metavar="FILE", help="Write a page for browsers to this file, with public names.")
@click.option(
    "--source-url",
    metavar="URL",
    help="Lead each row of the page to its input: https://host/path/{file}#L{line}.",
)
@SET
@ANY_ENV
@STRICT
@ALLOW_EMPTY
@VERBOSE
def fleet(
    paths: tuple[str, ...], by: str | None, form: str, page: str | None, source_url: str | None, **flags: Any
) -> None:
    """Show each workload of the input below PATHS: its model, engine, accelerators, pods, GPUs and their price with the
    fewest replicas and with the most, and whether the model fits.

    spec.fleet of RenderConfig has the prices. Nothing is written but the file of --html. Problems of the input are
    printed as by validate; if there are errors, nothing else is printed.
    """
    require_values({"html": page, "source_url": source_url})
    if page is None and source_url is not None:
        raise click.UsageError("--source-url is for the page of --html FILE")
    if page is not None and (by or form != "table"):
        raise click.UsageError("the page of --html has all sums: leave --by and --format out")
    if page is not None:
        _write_page(paths, page, source_url or "", flags)
    with report_failures():
        from renderer.fleet import FORMS, summary
        from renderer.fleet import fleet as plan_fleet

        planned, problems = plan_fleet(render_options(paths, flags))
        if not has_errors(problems, flags["strict"]):
            write(FORMS[form](planned, by or ""))
    if failed := report(problems, "text", flags["strict"], brief=not flags["verbose"]):
        exit_with_errors(failed)
    print_line("text", summary(planned))
    exit_with(0)


def _write_page(paths: tuple[str, ...], page: str, source_url: str, flags: dict[str, Any]) -> NoReturn:
    """Writes the page of --html, unless there are errors."""
    with report_failures():
        from renderer.diagnostics import RenderError
        from renderer.fleet import summary
        from renderer.fleet_page import MARK, check_source_url, read_contents, to_html
        from renderer.output.own_file import update_file

        if source_url and (refusals := check_source_url(source_url)):
            raise RenderError(refusals)
        contents, problems = read_contents(render_options(paths, flags))
        if failed := report(problems, "text", flags["strict"], brief=not flags["verbose"]):
            exit_with_errors(failed, unwritten=True)
        text = to_html(contents, source_url)
        state = update_file(contents.scope, page, text, option="--html", mark=MARK)
    print_line("text", f"{summary(contents.fleet)} → {page}{': unchanged' if state == 'same' else ''}")
    exit_with(0)
