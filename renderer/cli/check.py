"""llmaz check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from renderer.cli.console import FORMATS, INVALID, POLICY, exit_with, print_line, report, report_failures
from renderer.diagnostics import Diagnostic, counted

if TYPE_CHECKING:
    from renderer.load.hand_written import Manifests

_SHOWN = 3  # names of files that hold no objects


def _patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The validated patterns of --external."""
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
@POLICY
def check(paths: tuple[str, ...], strict: bool, alone: bool, external: tuple[str, ...], form: str, policy: str) -> None:
    """Check any manifests against the rules of a cluster.

    Schemas, the CEL rules of CRDs, LeaderWorkerSet's webhook, HPA, and the objects against each other: the chain from
    a Gateway to the pods is followed, and what it needs is in PATHS, in `external` of the nearest llmaz.yaml, or in
    --external. What is rendered for several environments is judged as a cluster each. Notes say what could not be
    judged, and are never errors.
    """
    with report_failures(form):
        from renderer.load.manifest_tree import manifests

        files = manifests(paths)
        problems, kinds = _judge(files, paths, external, policy, alone=alone)
    failed = report(problems, form, strict)
    for kind in sorted(set(kinds)):
        print_line(form, f"not checked, no schema: {kind} ({counted(kinds.count(kind), 'object')})")
    for what, names in (
        ("no Kubernetes object", files.others),
        ("part of a kustomization", files.patches),
        ("chart, which Helm has to render first", files.charts),
    ):
        if names:
            print_line(form, f"not checked, {what}: {_some(names)}")
    checked = len(files.documents) - len(kinds)
    failed += len(kinds) if strict else 0
    print_line(form, f"{counted(checked, 'object')} checked, {counted(failed, 'error')}")
    exit_with(INVALID if failed or not files.documents else 0)


def _judge(
    files: Manifests, paths: tuple[str, ...], external: tuple[str, ...], policy: str, *, alone: bool
) -> tuple[list[Diagnostic], list[str]]:
    """All problems of the files, by the policies and the rules of a cluster; and the kind of each object without a
    schema.
    """
    from renderer.check import validate_documents
    from renderer.check.graph import declared_objects
    from renderer.load.index import engine_catalog
    from renderer.load.manifest_tree import policies_of, split_by_cluster

    tree = policies_of(paths, policy)
    problems = [*files.problems, *tree.problems]
    if tree.policies:
        from renderer.policy import judge_documents

        problems += judge_documents(tree.policies, tree.base, tree.output, files.documents)
    unknown_kinds: dict[int, str] = {}
    for config, cluster_findings, cluster_documents in split_by_cluster(paths, files.documents):
        findings, unknown = validate_documents(
            cluster_documents, declared_objects(config, external), alone=alone, engines=engine_catalog(config)
        )
        problems += [*cluster_findings, *findings]
        unknown_kinds |= {
            id(document): f"{document.value['apiVersion']}/{document.value['kind']}" for document in unknown
        }
    return problems, [*unknown_kinds.values()]


def _some(names: Sequence[str]) -> str:
    """A few of the names, and the number of the others."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
