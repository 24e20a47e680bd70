"""llmaz check."""

from __future__ import annotations

import click

from renderer.cli.answers import FORMATS, INVALID, answering, counted, end, report, say


def _patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of --external, each of the form that it needs."""
    for pattern in patterns:
        if len(pattern.split("/")) not in (2, 3) or not all(pattern.split("/")):
            raise click.BadParameter(f"'{pattern}' is no KIND/NAMESPACE/NAME, nor KIND/NAME", context, option)
    return patterns


@click.command(short_help="Check any manifests against the rules of a cluster.")
@click.argument("paths", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Warnings, and kinds that no schema of ours knows, are errors.")
@click.option("--per-object", "alone", is_flag=True, help="Judge each object alone: no rules between objects.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How problems are printed."
)
@click.option(
    "--external",
    multiple=True,
    metavar="PATTERN",
    callback=_patterns,
    help="KIND/NAMESPACE/NAME, or KIND/NAME for cluster-scoped kinds, of what exists elsewhere; with *. May be given "
    "again.",
)
def check(paths: tuple[str, ...], strict: bool, alone: bool, external: tuple[str, ...], form: str) -> None:
    """Check any manifests against the rules of a cluster.

    Schemas, the CEL rules of CRDs, LeaderWorkerSet's webhook, HPA, and the objects against each other: the chain from
    a Gateway to the pods is followed, and what it needs is in PATHS, in `external` of the nearest llmaz.yaml, or in
    --external. What is rendered for several environments is judged as a cluster each. Notes say what could not be
    judged, and are never errors.
    """
    with answering(form):
        from renderer.check import documents
        from renderer.check.chain import outside
        from renderer.load import clusters, manifests

        read, problems = manifests(paths)
        strange: dict[int, str] = {}
        for config, wrong, given in clusters(paths, read):
            found, unknown = documents(given, outside(config, external), alone=alone)
            problems += [*wrong, *found]
            strange |= {id(each): f"{each.value['apiVersion']}/{each.value['kind']}" for each in unknown}
    failed = report(problems, form, strict)
    kinds = [*strange.values()]
    for kind in sorted(set(kinds)):
        say(form, f"not checked, no schema: {kind} ({counted(kinds.count(kind), 'object')})")
    checked = len(read) - len(kinds)
    failed += len(kinds) if strict else 0
    say(form, f"{counted(checked, 'object')} checked, {counted(failed, 'error')}")
    end(INVALID if failed or not read else 0)
