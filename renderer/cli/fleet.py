"""llmaz fleet."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.console import (
    INVALID,
    SET,
    VERBOSE,
    complete_files,
    examples,
    exit_with,
    print_line,
    render_options,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import counted

_KEYS = ("owner", "namespace", "accelerator", "environment")


@click.command(
    short_help="Show what runs at least and at most: GPUs, prices, owners.",
    epilog=examples("llmaz fleet --by owner", "llmaz fleet --format csv"),
)
@click.argument("paths", nargs=-1, metavar="[PATHS]...", shell_complete=complete_files)
@click.option("--by", type=click.Choice(_KEYS), help="Print sums of what has the same one, not each workload.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json", "csv")),
    default="table",
    show_default=True,
    help="The form.",
)
@SET
@click.option("--env", default="", metavar="NAME", help="Only this environment of RenderConfig. [default: all]")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--allow-empty", is_flag=True, help="Do not fail if there is no input.")
@VERBOSE
def fleet(paths: tuple[str, ...], by: str | None, form: str, **flags: Any) -> None:
    """Show each workload of the input below PATHS: its model, engine, accelerators, pods, GPUs and their price with the
    fewest replicas and with the most, and whether the model fits.

    spec.fleet of RenderConfig has the prices. Nothing is written. Problems of the input are printed as by validate; if
    there are errors, nothing else is printed.
    """
    with report_failures():
        from renderer.fleet import FORMS, summary
        from renderer.fleet import fleet as plan_fleet

        planned, problems = plan_fleet(render_options(paths, flags))
        failed = sum(problem.forbids(flags["strict"]) for problem in problems)
        if not failed:
            write(FORMS[form](planned, by or ""))
    if failed := report(problems, "text", flags["strict"], brief=not flags["verbose"]):
        print_line("text", counted(failed, "error"))
        exit_with(INVALID)
    print_line("text", summary(planned))
    exit_with(0)
