"""llmaz presets."""

from __future__ import annotations

import os
from typing import BinaryIO

import click

from renderer.cli.console import (
    PATHS,
    STALE,
    Group,
    backend_names,
    complete_files,
    complete_words,
    examples,
    exit_with,
    exit_with_errors,
    print_line,
    report,
    report_failures,
)
from renderer.cli.standard_streams import print_aside, write
from renderer.diagnostics import Diagnostic, counted

_MOST_OPTIONS = 5  # in a line


def _presets() -> list[str]:
    from renderer import load

    return [path.partition("/")[2] for path in load.preset_paths()]


def _models() -> list[str]:
    from renderer import load

    return list(load.preset_names("models"))


def _accelerators() -> list[str]:
    from renderer.load.preset_files import accelerator_types

    return list(accelerator_types().by_name)


@click.group(cls=Group, epilog=examples("llmaz presets list", 'llmaz presets show "$BACKEND"'))
def presets() -> None:
    """Show and copy the presets: backends, models, loaders, pickers."""


@presets.command(
    "list",
    short_help="List the presets.",
    context_settings={"allow_extra_args": True},
    epilog=examples("llmaz presets list --search coder", "llmaz presets list --task chat --fits 2xl40s-48g"),
)
@click.option("--search", "text", default="", metavar="TEXT", help="Models with TEXT in their name, hub id or family.")
@click.option("--task", default="", metavar="KIND", help="Models of that kind: chat, embedding or reranker.")
@click.option(
    "--fits",
    default="",
    metavar="TYPE",
    shell_complete=complete_words(_accelerators),
    help="Models that fit on an accelerator of that type; on four: 4xTYPE.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="json: for scripts.",
)
@click.pass_context
def presets_list(context: click.Context, /, text: str, task: str, fits: str, form: str) -> None:
    """List the presets by name, the versions whose options are known, and when the newest of them was released.

    For models also their task, their parameters and the size of their weights, where known. --search, --task and --fits
    keep the models that match all of them. A model fits if its weights and one request of its longest context fit for
    certain.
    """
    if context.args:
        name = context.args[0]
        raise click.UsageError(
            f"Got unexpected extra argument ({name}): did you mean llmaz presets list --search {name}?"
        )
    with report_failures():
        from renderer.preset_catalog.model_list import ModelSearch, model_list
        from renderer.preset_catalog.preset_list import all_json, all_text, models_json

        search = ModelSearch(text, task, fits)
        models = model_list(search)
        if search.is_open:
            listing = all_json(models) if form == "json" else all_text(models)
        else:
            listing = models_json(models) if form == "json" else models.text
    write(listing)
    if models.unknown:
        others = counted(models.unknown, "other model")
        print_line("text", f"{others} may fit too: their facts do not say it (llmaz presets show MODEL --fit)")


@presets.command(
    "show",
    short_help="Print a preset, or what it renders to.",
    epilog=examples('llmaz presets show "$BACKEND" --resolved', 'llmaz presets show "$MODEL" --fit'),
)
@click.argument("name", shell_complete=complete_words(_presets))
@click.option(
    "--version",
    metavar="TAG",
    help="Print the options of that version, and which versions are known; with --resolved, use that image.",
)
@click.option("--resolved", is_flag=True, help="Print the result: image, arguments, environment, budgets.")
@click.option(
    "--model",
    metavar="MODEL",
    shell_complete=complete_words(_models),
    help="With --resolved, for a backend: the model. [default: the first that it can run]",
)
@click.option(
    "--backend",
    metavar="BACKEND",
    shell_complete=complete_words(backend_names),
    help="With --resolved or --fit, for a model: the backend. [default: as for render]",
)
@click.option("--fit", is_flag=True, help="Print on which types of accelerators a model fits, and on how many.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --resolved: override a field of RenderConfig. Can be repeated.",
)
def presets_show(
    name: str,
    version: str | None,
    resolved: bool,
    model: str | None,
    backend: str | None,
    fit: bool,
    overrides: tuple[str, ...],
) -> None:
    """Print a preset's YAML; write models/NAME or backends/NAME if a name is ambiguous.

    With --version, print the options of a backend in the version of an image tag, such as v0.8.5, and their defaults
    as far as they are known.

    With --resolved and --fit, your own models and backends count too, as for render. --fit prints a table of
    accelerator types for a model.
    """
    if fit:
        if version or resolved or model or overrides:
            raise click.UsageError("--fit can only be used with --backend")
        _print_fit(name, backend or "")
        return
    if not resolved:
        if model or backend or overrides:
            raise click.UsageError("--model, --backend and --set need --resolved")
        _print_as_shipped(name, version)
        return
    with report_failures():
        from renderer.preset_catalog.preview import backend_preview as make_preview

        preview = make_preview(name, model or "", backend or "", overrides, version or "")
    write(preview.text)
    if failed := report(preview.problems, "text"):
        exit_with_errors(failed)
    if preview.chosen:
        print_line("text", f"for the model {preview.chosen}; --model names another")


def _print_fit(name: str, backend: str) -> None:
    """Prints on which accelerators a model fits."""
    with report_failures():
        from renderer.preset_catalog.fit_table import fit_table

        table = fit_table(name, backend)
    write(table)


def _print_as_shipped(name: str, version: str | None) -> None:
    """Prints a preset's YAML, or the options of a version."""
    with report_failures():
        if version:
            from renderer.preset_catalog.preview import version_preview

            text = version_preview(name, version)
        else:
            from renderer import load

            path = os.path.join(load.PRESETS, load.find_preset(name, load.preset_paths()) + ".yaml")
            with open(path, encoding="utf-8") as file:
                text = file.read()
    write(text)
    if revision := "" if version else _moving_revision(text):
        print_aside(f"note: {revision}, a branch: a later start may load other weights")
        print_aside(f"    hint: llmaz presets vendor {name} writes a copy in which you can set modelHub.revision")


def _moving_revision(text: str) -> str:
    """Where the weights of a model preset come from, if that is a branch; '' for another preset."""
    from renderer import yamlio
    from renderer.kubernetes.json_values import map_at, text_at
    from renderer.resolve.model_cache import FLOATING_REVISIONS

    documents, _ = yamlio.parse("preset", text.encode())
    hub = map_at(documents[0].value, "spec", "source", "modelHub")
    revision = text_at(hub, "revision")
    if not hub or revision not in FLOATING_REVISIONS:
        return ""
    return f"{text_at(hub, 'modelID')} is loaded at {f'revision {revision}' if revision else 'the default revision'}"


@presets.command(
    "vendor",
    short_help="Copy a preset into your repository.",
    epilog=examples('llmaz presets vendor "$BACKEND"', 'llmaz presets vendor "$MODEL" --to models'),
)
@click.argument("name", shell_complete=complete_words(_presets))
@click.option(
    "--to",
    metavar="DIR",
    default="",
    help="The folder to write it to. [default: models or backends where there is such a folder, else the current one]",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def presets_vendor(name: str, to: str, force: bool) -> None:
    """Copy the backend or model NAME into your repository as a file of its name.

    The copy wins over the preset, so an upgrade of llmaz changes nothing about it: what is rendered stays the same.
    """
    with report_failures():
        from renderer.preset_catalog.vendoring import vendor

        copy = vendor(name, to, force)
    print_line("text", f"{copy.path} is yours now, and wins over the preset; llmaz presets diff {name} compares them")
    if not copy.is_read:
        print_line("text", "llmaz render does not read it there by itself: name it among PATHS, or choose another --to")
    exit_with(0)


@presets.command(
    "learn",
    short_help="Learn the options of a newer version from its help.",
    epilog=examples(
        'llmaz presets learn "$BACKEND" "$VERSION" help.txt',
        'llmaz presets learn "$BACKEND" "$VERSION" - --force <help.txt',
    ),
)
@click.argument("engine", shell_complete=complete_words(backend_names))
@click.argument("version")
@click.argument("source", type=click.File("rb"), shell_complete=complete_files)
@click.option("--force", is_flag=True, help="Learn a version that this release knows; overwrite a list of your own.")
def presets_learn(engine: str, version: str, source: BinaryIO, force: bool) -> None:
    """Learn the options of the backend ENGINE in a VERSION that this release of llmaz does not know.

    SOURCE is a file with what the engine's own --help prints, or - for standard input. Writes a list of options into a
    folder of your tree, which llmaz.yaml then names, and says which options of your tree the help does not name. A help
    has no types: values are checked by an older version's list, as warnings. Once a release of llmaz knows the version,
    its own list counts.
    """
    with report_failures():
        from renderer.engines.help_text import MAX_BYTES
        from renderer.preset_catalog.learning import learn, problems_of_version

        learnt = learn(engine, version, source.read(MAX_BYTES + 1), force)
        problems = [] if learnt.ours else problems_of_version(_tree_problems(), engine, learnt.version)
    if not learnt.path:
        print_line(
            "text", f"this release knows the options of {engine} {learnt.version}: nothing is written without --force"
        )
        exit_with(0)
    print_line("text", f"{learnt.path}: {counted(learnt.count, 'option')} of {engine}; commit it")
    if learnt.config:
        print_line("text", f"{learnt.config} names its folder now: optionLists")
    if learnt.ours:
        print_line("text", "this release knows the version, and its own list counts")
    for what, names, of in (
        ("not in this help", learnt.unnamed, f" of {learnt.older}"),
        (f"not in the list of {learnt.older}", learnt.further, ""),
        (f"with another number of values than in the list of {learnt.older}", learnt.recounted, ""),
    ):
        if names:
            more = ["…"] if names[_MOST_OPTIONS:] else []
            shown = ", ".join([*names[:_MOST_OPTIONS], *more])
            print_line("text", f"{what}: {counted(len(names), 'option')}{of} ({shown})")
    report(problems, "text")
    apps = len({(problem.file, problem.document) for problem in problems if problem.code == "W430"})
    if apps:
        uses = "1 app uses" if apps == 1 else f"{apps} apps use"
        print_line("text", f"{uses} options that the help of {learnt.version} does not name")
    exit_with(0)


def _tree_problems() -> list[Diagnostic]:
    """What is wrong with the tree around the current folder."""
    from renderer import pipeline
    from renderer.api import RenderOptions
    from renderer.diagnostics import RenderError

    try:
        return pipeline.render(RenderOptions(allow_empty=True)).problems
    except RenderError as error:
        return error.problems


@presets.command(
    "diff",
    short_help="Compare your backend or model with the preset of that name.",
    epilog=examples('llmaz presets diff "$BACKEND"', 'llmaz presets diff "$MODEL" models --exit-code'),
)
@click.argument("name", shell_complete=complete_words(_presets))
@PATHS
@click.option("--exit-code", "exit_code", is_flag=True, help="Exit 1 when they differ.")
def presets_diff(name: str, paths: tuple[str, ...], exit_code: bool) -> None:
    """Print how the BackendRuntime or OpenModel NAME below PATHS differs from the preset, as a unified diff.

    Documents are compared, not texts: comments, style and the order of keys make no difference.
    """
    with report_failures():
        from renderer.preset_catalog.vendoring import preset_difference

        difference = preset_difference(name, paths)
    write(difference.diff)
    if not difference.diff:
        print_line("text", f"{difference.file}: the same as the preset")
    exit_with(STALE if exit_code and difference.diff else 0)


@presets.command(
    "adapter-rules",
    short_help="Print prometheus-adapter rules for autoscalers.",
    epilog=examples("llmaz presets adapter-rules", "llmaz presets adapter-rules backends >rules.yaml"),
)
@PATHS
def presets_adapter_rules(paths: tuple[str, ...]) -> None:
    """Print a values file for the chart prometheus-adapter: one rule for each metric that autoscalers use.

    With PATHS the BackendRuntimes there count too. Nothing is written: the file is for the platform, not for rendered/.
    """
    with report_failures():
        from renderer.integrations.prometheus_adapter import rules

        values, problems = rules(paths)
    if failed := report(problems, "text"):
        exit_with_errors(failed)
    write(values)
