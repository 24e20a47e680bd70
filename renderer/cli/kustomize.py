"""llmaz kustomize."""

from __future__ import annotations

from typing import IO, Any

import click

from renderer.cli.console import (
    SET,
    STRICT,
    examples,
    exit_with,
    exit_with_errors,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write


@click.command(
    short_help="Render as a KRM function of Kustomize.",
    epilog=examples("llmaz kustomize list.yaml", "llmaz kustomize --strict <list.yaml"),
)
@click.argument("file", type=click.File("rb"), default="-", metavar="[FILE]")
@SET
@click.option(
    "--env", default="", metavar="NAME", help="The environment to render. Required if RenderConfig has several."
)
@STRICT
def kustomize(file: IO[bytes], **flags: Any) -> None:
    """Read a ResourceList from FILE or standard input, and print the rendered
    ResourceList.

    Kustomize runs this command, with a RenderConfig as functionConfig. As a generator it renders the files below
    `spec.paths`, relative to the folder of the kustomization. As a transformer it replaces the objects of llmaz in the
    list with what they render to.
    """
    if file.isatty():
        raise click.UsageError("expected a ResourceList on standard input: kustomize runs this command")
    with report_failures():
        from renderer.api import RenderOptions
        from renderer.integrations.kustomize import run_function
        from renderer.yamlio import MAX_BYTES

        name = str(getattr(file, "name", "stdin")).strip("<>")
        options = RenderOptions(overrides=flags["overrides"], strict=flags["strict"], env=flags["env"])
        answer = run_function(name, file.read(MAX_BYTES + 1), options)
    write(answer.text)
    if failed := report(answer.problems, "text", flags["strict"]):
        exit_with_errors(failed)
    exit_with(0)
