"""`python -m tests.hostile --count 20000`: made-up hostile repositories, and whether the program holds.

Each trial writes a repository from spoilt documents, odd names, links and pipes, and runs one command in it. None may
end with exit status 3, take more than five seconds of a processor, read or write outside of the repository, or print a
character that a terminal obeys. Exit status 1 when any does; `--only N` runs one trial again.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections import Counter

import click

from tests.hostile.trial import Fault, trial

MEMORY = 2 << 30  # bytes of address space


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    numbers = [asked.only] if asked.only is not None else range(asked.count)
    children = []
    for worker in range(1, asked.workers):
        if not (child := os.fork()):
            sys.exit(report([*numbers][worker :: asked.workers], asked.seed))
        children.append(child)
    failed = report([*numbers][:: asked.workers], asked.seed)
    for child in children:
        failed |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return failed


def report(numbers: list[int], seed: int) -> int:
    """Runs these trials, and prints what went wrong."""
    faults: list[Fault] = []
    for number in numbers:
        for fault in trial(number, seed):
            faults.append(fault)
            click.echo(f"trial {fault.number}: {fault.kind}: {fault.command!a}: {fault.detail!a}")
    kinds = Counter(fault.kind for fault in faults)
    click.echo(f"{len(numbers):,} trials, {len(faults)} faults {dict(kinds) if kinds else ''}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
