"""llmaz cutover."""

from __future__ import annotations

from typing import Any

import click

from renderer.cli.console import (
    ENV,
    SET,
    STRICT,
    complete_files,
    examples,
    exit_with,
    exit_with_errors,
    render_options,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write
from renderer.cli.trailing_paths import TrailingPathsCommand, trailing_paths
from renderer.diagnostics import has_errors


@click.command(
    cls=TrailingPathsCommand,
    short_help="Print the steps from what runs to rendered manifests.",
    epilog=examples("llmaz cutover dump -- tree", "llmaz cutover dump --gitops flux -- tree"),
)
@click.argument("dumps", nargs=-1, required=True, metavar="DUMP...", shell_complete=complete_files)
@click.option(
    "--gitops",
    type=click.Choice(("argocd", "flux")),
    default="argocd",
    show_default=True,
    help="What applies the rendered manifests, and owns the fields from then on.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="text: commands for a shell, with remarks.",
)
@SET
@ENV
@STRICT
@click.pass_context
def cutover(context: click.Context, /, dumps: tuple[str, ...], gitops: str, form: str, **flags: Any) -> None:
    """Print the commands that move the cluster of DUMP from llmaz's operator, or from workloads that llmaz adopt has
    taken over, to rendered manifests.

    DUMP: files or folders with the output of kubectl get --show-managed-fields -o yaml, for the operator and all
    objects that it created, or for the workloads and the Services, autoscalers and policies beside them. PATHS, as for
    render, are the input that takes their place. No command is run.
    """
    with report_failures():
        from renderer import load, pipeline
        from renderer.cutover.cluster_dump import read_dump
        from renderer.cutover.formats import FORMS
        from renderer.cutover.gitops_tool import TOOLS
        from renderer.cutover.steps import plan_cutover
        from renderer.cutover.takeover_steps import find_takeover_plan
        from renderer.load.manifest_tree import manifests

        files = manifests(dumps)
        dump, problems = read_dump(files, dumps)
        if not has_errors(problems, flags["strict"]):
            paths = trailing_paths(context)
            options = load.for_one_environment(render_options(paths, flags, texts=True), "llmaz cutover")
            scopes = load.scopes(options)
            result = pipeline.render(options, scopes)
            problems += result.problems
    if not has_errors(problems, flags["strict"]):
        with report_failures():
            if dump.is_empty:
                steps, more = find_takeover_plan(files.documents, result, dumps, TOOLS[gitops], scopes[1][0])
                problems += more
                text = FORMS[form](steps) if steps else ""
            else:
                cutover_steps = plan_cutover(dump, result, TOOLS[gitops], options)
                problems += cutover_steps.problems
                text = FORMS[form](cutover_steps)
    if failed := report(problems, "text", flags["strict"]):
        exit_with_errors(failed)
    write(text)
    exit_with(0)
