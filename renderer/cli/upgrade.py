"""llmaz upgrade."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.console import (
    PATHS,
    POLICY,
    SET,
    STALE,
    STRICT,
    VERBOSE,
    backend_names,
    complete_words,
    examples,
    exit_with,
    exit_with_errors,
    print_line,
    render_options,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import counted


@click.command(
    short_help="Show what another version of an engine breaks, and write it.",
    epilog=examples('llmaz upgrade "$BACKEND"', 'llmaz upgrade "$BACKEND" --format markdown'),
)
@click.argument("engine", metavar="ENGINE[=VERSION]", shell_complete=complete_words(backend_names))
@PATHS
@click.option("--write", "writes", is_flag=True, help="Write the version, and what mends breaks, into your files.")
@click.option("--force", is_flag=True, help="With --write: also into files with changes that are not committed.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "markdown", "json")),
    default="text",
    show_default=True,
    help="markdown: for the text of a pull request.",
)
@SET
@POLICY
@STRICT
@VERBOSE
def upgrade(engine: str, paths: tuple[str, ...], writes: bool, force: bool, form: str, **flags: Any) -> None:
    """Show what happens when the apps below PATHS run another version of ENGINE, by default the newest that is known.

    First what breaks, at its place; then defaults that moved, of options that the command lines leave out; then what
    changes in the rendered objects. All environments count. Exit code 1: something breaks that is not mended.

    With --write the version is written into your files where they name it, and so is each edit that mends a break.
    What is left to you is reported again.
    """
    if force and not writes:
        raise click.UsageError("--force can only be used with --write")
    with report_failures():
        from renderer.upgrade import FORMS, remaining_breaks, upgrade_engine, write_upgrade

        options = render_options(paths, flags)
        result = upgrade_engine(engine, options)
    if failed := report(result.notices, "text", flags["strict"]):
        exit_with_errors(failed)
    if result.earlier_errors:
        print_line("text", f"{counted(result.earlier_errors, 'error')} in the tree as it is: llmaz validate")
    problems = [broken.problem for broken in result.breaks]
    if writes:
        with report_failures():
            files = write_upgrade(result, force=force)
            problems = remaining_breaks(result, options)
    write(FORMS[form](result))
    failed = sum(problem.forbids(flags["strict"]) for problem in problems)
    if writes:
        report(problems, "text", flags["strict"])
        still = f"; {counted(failed, 'break')} left to you" if failed else ""
        print_line("text", f"{counted(len(files), 'file')} written{still}")
    exit_with(STALE if failed else 0)
