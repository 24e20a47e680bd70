"""llmaz nodepools."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.console import (
    ALLOW_EMPTY,
    ENV,
    PATHS,
    SET,
    STALE,
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
from renderer.diagnostics import counted


@click.command(
    short_help="Print Karpenter's node pools for the flavors in use.",
    epilog=examples("llmaz nodepools", "llmaz nodepools -o platform/nodepools.yaml"),
)
@PATHS
@click.option("-o", "--output", metavar="FILE", help="Write them to this file.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when the file of -o is stale.")
@SET
@ENV
@STRICT
@ALLOW_EMPTY
@VERBOSE
def nodepools(paths: tuple[str, ...], output: str | None, check: bool, **flags: Any) -> None:
    """Print a NodePool and an EC2NodeClass for each flavor in use, limited to what the workloads need.

    spec.karpenter of RenderConfig configures the nodes. Usually run it without PATHS: workloads outside of PATHS are
    not counted, so the limits would be too low.
    """
    if output is not None and not output.strip():
        raise click.UsageError("-o has no value")
    if check and not output:
        raise click.UsageError("--check compares with a file: name it with -o")
    with report_failures():
        from renderer import load
        from renderer.nodes import nodepools as make_nodepools
        from renderer.output.own_file import update_file

        pools, problems = make_nodepools(load.for_one_environment(render_options(paths, flags), "llmaz nodepools"))
        if failed := report(problems, "text", flags["strict"], brief=not flags["verbose"]):
            exit_with_errors(failed, unwritten=bool(output))
        state = update_file(pools.fleet.scope, output, pools.text, write=not check) if output else ""
    message = f"{counted(pools.pools, 'node pool')} for {counted(pools.workloads, 'workload')}"
    if not output:
        write(pools.text)
    if check and state != "same":
        print_line("text", f"{output} is {state}; run llmaz nodepools -o {output}")
        exit_with(STALE)
    if check:
        message += f": {output} is up to date"
    elif output:
        message += f" → {output}{': unchanged' if state == 'same' else ''}"
    print_line("text", message)
    if pools.without_flavor:
        print_line(
            "text", f"{counted(pools.without_flavor, 'workload')} without a flavor: these pods run on other nodes"
        )
    exit_with(0)
