"""llmaz bom."""

from __future__ import annotations

from typing import Any

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
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import has_errors


@click.command(
    short_help="Print a bill of materials: models, licences, images.",
    epilog=examples("llmaz bom > bom.json", "llmaz bom --strict"),
)
@PATHS
@SET
@ANY_ENV
@STRICT
@ALLOW_EMPTY
@VERBOSE
def bom(paths: tuple[str, ...], **flags: Any) -> None:
    """Print what the apps below PATHS are made of as CycloneDX 1.6 in JSON: models with source, revision, digest and
    licence, the images of engines, loaders and sidecars, and what each app depends on.

    The same input makes the same bytes. Problems of the input are printed as by validate; if there are errors, nothing
    else is printed.
    """
    with report_failures():
        from renderer.bom import bill_of_materials, summary, to_json

        bill, problems = bill_of_materials(render_options(paths, flags))
        if not has_errors(problems, flags["strict"]):
            write(to_json(bill))
    if failed := report(problems, "text", flags["strict"], brief=not flags["verbose"]):
        exit_with_errors(failed)
    print_line("text", summary(bill))
    exit_with(0)
