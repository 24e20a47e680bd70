"""llmaz explain."""

from __future__ import annotations

import os

import click

from renderer.cli.console import ENV, PATHS, SET, examples, exit_with, report, report_failures
from renderer.cli.standard_streams import write

_FIELDS = ("apiVersion", "kind", "metadata", "spec")  # at the top of objects


@click.command(
    short_help="Show which input line, preset line or rule made a rendered field.",
    epilog=examples("llmaz explain lws/demo/chat.spec.replicas", "llmaz explain rendered/demo/chat.yaml:20"),
)
@click.argument("what", metavar="OBJECT[.FIELD]")
@PATHS
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="json: for editors and scripts.",
)
@click.option("--show-values", "show", is_flag=True, help="Also show values that may be secrets.")
@SET
@ENV
def explain(what: str, paths: tuple[str, ...], form: str, show: bool, overrides: tuple[str, ...], env: str) -> None:
    """Show which input line, preset line or rule made a rendered object, or one field of it.

    OBJECT is KIND/NAMESPACE/NAME or KIND/NAME of a rendered object. Short names of kinds work as in kubectl: lws, svc,
    hpa. The name of a Playground, ModelRoute or llmaz Service, such as chat or llm/chat, shows all objects that are
    rendered from it. A rendered file, with or without a line, shows the objects there: rendered/llm/chat.yaml:57.

    FIELD is a path as in error messages. List items can be selected by name: spec.containers[model-runner].image.
    """
    for path in paths:
        if path.split(".")[0].partition("[")[0] in _FIELDS and not os.path.exists(path):
            raise click.UsageError(f"There is no file '{path}'. A field stands behind the object: {what}.{path}")
    with report_failures():
        from renderer import load
        from renderer.api import RenderOptions
        from renderer.explain import FORMS, answer_file, answer_question, file_place

        options = RenderOptions(paths=paths, overrides=overrides, env=env)
        if place := file_place(what):
            answers = answer_file(place, options, show)
        else:
            answers = answer_question(what, load.for_one_environment(options, "llmaz explain"), show)
        text = FORMS[form](answers)
    write(text)
    report(answers.warnings, "text")
    exit_with(0)
