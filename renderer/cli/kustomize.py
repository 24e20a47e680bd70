"""llmaz kustomize."""

from __future__ import annotations

from typing import IO, Any

import click

from renderer.cli.answers import INVALID, SET, answering, counted, end, report, say
from renderer.cli.streams import write


@click.command(short_help="Render as a function of Kustomize: a ResourceList in, one out.")
@click.argument("file", type=click.File("rb"), default="-", metavar="[FILE]")
@SET
@click.option("--env", default="", metavar="NAME", help="The environment to render, where RenderConfig has several.")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
def kustomize(file: IO[bytes], **flags: Any) -> None:
    """Answer the ResourceList in FILE, or on standard input, with one on standard output.

    Kustomize runs it, with a RenderConfig for functionConfig: as a generator it renders the files below `spec.paths`,
    by the folder of the kustomization; as a transformer the objects of llmaz in the list, in whose place it puts what
    they render to.
    """
    if file.isatty():
        raise click.UsageError("a ResourceList is wanted on standard input: it is kustomize that runs this command")
    with answering():
        from renderer.api import Options
        from renderer.krm import answer
        from renderer.yamlio import MAX_BYTES

        name = str(getattr(file, "name", "stdin")).strip("<>")
        options = Options(overrides=flags["overrides"], strict=flags["strict"], env=flags["env"])
        told = answer(name, file.read(MAX_BYTES + 1), options)
    write(told.text)
    if failed := report(told.problems, "text", flags["strict"]):
        say("text", counted(failed, "error"))
        end(INVALID)
    end(0)
