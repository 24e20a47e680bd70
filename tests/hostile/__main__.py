"""`python -m tests.hostile --count 20000`: made-up hostile repositories, and whether the program holds.

Each trial writes a repository: most of them the project's own cases with hostile text where the schemas take it, the
others spoilt documents, odd names, links and pipes; and runs one command in it. None may end with exit status 3 or with
one that does not fit the errors it tells, take more than five seconds of a processor, read or write outside of the
repository, or print a character that a terminal obeys. A chart has to give Helm what is rendered, and kubeconform has
to take what is valid. Exit status 1 when any does not, or when less than half of the inputs render; `--only N` runs one
trial again.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections import Counter

import click

from tests.hostile.trial import Fault, trial
from tests.programs import TOOLS

MEMORY = 2 << 30  # bytes of address space


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for name in ("helm", "kubeconform"):
        if not (TOOLS / name).exists():
            parser.error(f"{name} is not built: scripts/tools.sh {name}")
    numbers = [arguments.only] if arguments.only is not None else range(arguments.count)
    children = []
    for worker in range(1, arguments.workers):
        if not (child := os.fork()):
            sys.exit(report([*numbers][worker :: arguments.workers], arguments.seed))
        children.append(child)
    failed = report([*numbers][:: arguments.workers], arguments.seed)
    for child in children:
        failed |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return failed


def report(numbers: list[int], seed: int) -> int:
    """Runs these trials, and prints what went wrong."""
    faults: list[Fault] = []
    rendered = 0
    for i, number in enumerate(numbers):
        if i and i % 1_000 == 0:
            click.echo(f"{i:,} of {len(numbers):,} trials, of which {rendered:,} render")
        outcome = trial(number, seed)
        rendered += outcome.renders
        faults += outcome.faults
        for fault in outcome.faults:
            click.echo(f"trial {fault.number}: {fault.kind}: {fault.command!a}: {fault.detail!a}")
    kinds = Counter(fault.kind for fault in faults)
    too_few = len(numbers) > 1 and 2 * rendered < len(numbers)
    click.echo(
        f"{len(numbers):,} trials, of which {rendered:,} render, {len(faults)} faults {dict(kinds) if kinds else ''}"
    )
    if too_few:
        click.echo(
            "less than half of the inputs render: the others are refused before most of the program has seen them"
        )
    return 1 if faults or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
