"""llmaz nodepools."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.answers import ENV, INVALID, SET, STALE, answering, counted, end, options_of, report, say
from renderer.cli.streams import write


@click.command(short_help="Print Karpenter's node pools for the flavors in use.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("-o", "--output", metavar="FILE", help="Write them to this file.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when the file of -o is stale.")
@SET
@ENV
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@click.option("--allow-empty", is_flag=True, help="No input at all is fine.")
def nodepools(paths: tuple[str, ...], output: str | None, check: bool, **flags: Any) -> None:
    """Print a NodePool and an EC2NodeClass for each flavor that the input below PATHS uses, limited to what it needs.

    The nodes are as karpenter of RenderConfig says. The fleet counts as far as it lies below PATHS, so leave them out.
    """
    if output is not None and not output.strip():
        raise click.UsageError("-o has no value")
    if check and not output:
        raise click.UsageError("--check compares with a file: name it with -o")
    with answering():
        from renderer import load
        from renderer.nodes import nodepools as made_of
        from renderer.nodes import settled

        made, problems = made_of(load.alone(options_of(paths, flags), "llmaz nodepools"))
        if failed := report(problems, "text", flags["strict"]):
            say("text", f"{counted(failed, 'error')}; nothing was written" if output else counted(failed, "error"))
            end(INVALID)
        state = settled(made.fleet.scope, output, made.text, write=not check) if output else ""
    what = f"{counted(made.pools, 'node pool')} for {counted(made.workloads, 'workload')}"
    if not output:
        write(made.text)
    if check and state != "same":
        say("text", f"{output} is {state}; run llmaz nodepools -o {output}")
        end(STALE)
    if check:
        what += f": {output} is up to date"
    elif output:
        what += f" → {output}{': unchanged' if state == 'same' else ''}"
    say("text", what)
    if made.apart:
        say("text", f"{counted(made.apart, 'workload')} without a flavor: other nodes take these pods")
    end(0)
