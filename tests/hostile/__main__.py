"""`python -m tests.hostile --count 20000`: made-up hostile inputs of every command, and whether the program holds.

Each trial writes an input for one command: most of them cases of the project's own tests with hostile text where the
schemas take it, the others spoilt documents, odd names, links and pipes. None may end with exit status 3 or with
one that does not fit the errors it tells, take more than five seconds of a processor, read or write outside of the
repository, ask an address of the loopback, or print a character that a terminal obeys. A chart has to give Helm what
is rendered, kubeconform has to take what is valid, a shell finds nothing but the commands of a cutover in its script,
and a RenderPolicy denies and allows what it says in every spelling. The growth of each command with long lists is
measured as well: `--growth` does that alone.

Exit status 1 with any fault, or when less than half of the inputs of a command reach its last stage; `--only N` runs
one trial again, `--command NAME` trials of one command.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import click

from tests.hostile import growth
from tests.hostile.listeners import listeners
from tests.hostile.trial import AIMS, trial
from tests.programs import TOOLS

MEMORY = 2 << 30  # bytes of address space
PROGRAMS = ("helm", "kubeconform", "kustomize")
FEW = 20  # inputs of which nobody says how many reach the last stage


class Figures(NamedTuple):
    """How many trials aimed at each command, how many of them reached its last stage, and how many faults there are."""

    trials: Counter[str]
    reached: Counter[str]
    faults: Counter[str]

    def __add__(self, other: Figures) -> Figures:  # type: ignore[override]
        return Figures(*(mine + others for mine, others in zip(self, other, strict=True)))


NONE = Figures(Counter(), Counter(), Counter())


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--command", default="", choices=[aim.name for aim in AIMS])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--growth", action="store_true", help="only measure the growth with long lists")
    parser.add_argument("--no-growth", action="store_true", help="do not measure it")
    arguments = parser.parse_args()
    if missing := [name for name in PROGRAMS if not (TOOLS / name).exists()]:
        parser.error(f"{missing[0]} is not built: scripts/tools.sh {missing[0]}")
    begun = time.monotonic()
    failed = 0
    if not arguments.growth:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        numbers = [arguments.only] if arguments.only is not None else range(arguments.count)
        failed = told(in_parallel(numbers, arguments.seed, arguments.command, arguments.workers))
    if arguments.growth or not (arguments.no_growth or arguments.only is not None or arguments.command):
        failed |= growth.measure_all()
    click.echo(f"{(time.monotonic() - begun) / 60:.1f} minutes")
    return failed


def in_parallel(numbers: Sequence[int], seed: int, command: str, workers: int) -> Figures:
    """What came of the trials, which processes share."""
    pipes = []
    for worker in range(1, workers):
        receiver, sender = os.pipe()
        if not os.fork():
            figures = run(numbers[worker::workers], seed, command)
            with os.fdopen(sender, "w") as pipe:
                json.dump(figures, pipe)
            os._exit(0)
        os.close(sender)
        pipes.append(receiver)
    figures = run(numbers[::workers], seed, command)
    for receiver in pipes:
        with os.fdopen(receiver) as pipe:
            figures += Figures(*map(Counter, json.load(pipe)))
    while pipes and os.wait():
        pipes.pop()
    return figures


def run(numbers: Sequence[int], seed: int, command: str) -> Figures:
    """Runs these trials, and prints what went wrong."""
    figures = Figures(Counter(), Counter(), Counter())
    with listeners() as listening:
        for i, number in enumerate(numbers):
            if i and i % 1_000 == 0:
                click.echo(f"{i:,} of {len(numbers):,} trials, {figures.faults.total():,} faults")
            outcome = trial(number, seed, listening, command)
            figures.trials[outcome.aim] += 1
            figures.reached[outcome.aim] += outcome.reaches
            figures.faults[outcome.aim] += len(outcome.faults)
            for fault in outcome.faults:
                click.echo(f"trial {fault.number}: {fault.kind}: {fault.command!a}: {fault.detail!a}")
    return figures


def told(figures: Figures) -> int:
    """Prints the figures of each command; the exit status."""
    click.echo(f"{'command':20}{'trials':>8}{'reached':>9}{'share':>7}{'faults':>8}  last stage")
    few = []
    for aim in AIMS:
        if count := figures.trials[aim.name]:
            share = figures.reached[aim.name] / count
            few += [aim.name] if share < 0.5 and count >= FEW else []
            reached, faults = figures.reached[aim.name], figures.faults[aim.name]
            click.echo(f"{aim.name:20}{count:8,}{reached:9,}{share:7.0%}{faults:8,}  {aim.stage}")
    click.echo(f"{figures.trials.total():,} trials, {figures.faults.total():,} faults")
    if few:
        click.echo(f"less than half of the inputs reach the last stage: {', '.join(few)}")
    return 1 if few or figures.faults.total() else 0


if __name__ == "__main__":
    sys.exit(main())
