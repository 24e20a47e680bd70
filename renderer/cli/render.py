"""llmaz render and llmaz validate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from renderer.cli.console import (
    POLICY,
    STALE,
    examples,
    exit_with,
    exit_with_errors,
    input_options,
    print_line,
    render_options,
    report,
    report_failures,
    run,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import counted

if TYPE_CHECKING:
    from renderer.api import RenderOptions
    from renderer.diagnostics import Diagnostic
    from renderer.output.manifest_files import OutputFile
    from renderer.result import RenderResult


@click.command(epilog=examples("llmaz render", "llmaz render --check --format github"))
@input_options
@POLICY
@click.option(
    "--to",
    type=click.Choice(("manifests", "helm")),
    default="manifests",
    show_default=True,
    help="helm: write a Helm chart instead, into chart/ unless -o is set.",
)
@click.option(
    "-o", "--output", metavar="DIR", help="Output folder. [default: output.dir of RenderConfig, else rendered]"
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when the output folder is stale.")
@click.option("--stdout", "stdout", is_flag=True, help="Print the manifests instead of writing them.")
@click.option(
    "--kubeconform",
    is_flag=False,
    flag_value="kubeconform",
    metavar="[PROGRAM]",
    help="Also run kubeconform on the result. PROGRAM is its path. [default: kubeconform on the PATH]",
)
def render(paths: tuple[str, ...], output: str | None, check: bool, stdout: bool, **flags: Any) -> None:
    """Render the input below PATHS into the output folder.

    PATHS are files and folders. [default: the folder of the nearest llmaz.yaml, else the current folder]

    Nothing is written unless everything is valid. Unchanged files are not touched. Rendered files whose input is gone
    are deleted. Each environment of RenderConfig gets a subfolder of the output folder.
    """
    if check and stdout:
        raise click.UsageError("--check and --stdout cannot be used together")
    options = render_options(paths, flags, output=output, write=not check and not stdout, compare=check, texts=stdout)
    if stdout or flags["to"] == "helm":
        with report_failures(flags["form"]):
            from renderer import load

            options = load.for_one_environment(options, "--stdout" if stdout else "--to helm")
    if flags["to"] == "helm":
        if stdout:
            raise click.UsageError("--to helm writes a folder of files, so it cannot be used with --stdout")
        with report_failures(flags["form"]):
            from renderer import pipeline
            from renderer.integrations import helm

            result = helm.render(options)
            pipeline.write(result)
    else:
        result = run(options, flags["form"])
    stale = _stale_errors(result, flags["strict"]) if check and flags["form"] != "text" else []
    failed = report(
        [*_told_problems(result, flags), *stale],
        flags["form"],
        flags["strict"],
        aside=stdout,
        brief=not flags["verbose"],
    )
    failed -= len(stale)
    if failed:
        exit_with_errors(failed, flags["form"], unwritten=options.write)
    if stdout:
        write(_stream(result.texts))
    _print_summary(result, options, flags)
    if check and any(state != "same" for state in result.states.values()):
        exit_with(STALE)
    exit_with(0)


@click.command(
    short_help="Check the input, and write nothing.",
    epilog=examples("llmaz validate", "llmaz validate chat.yaml --strict"),
)
@input_options
@POLICY
def validate(paths: tuple[str, ...], **flags: Any) -> None:
    """Check the input below PATHS as render does, but write no files."""
    result = run(render_options(paths, flags), flags["form"])
    problems = _told_problems(result, flags)
    if failed := report(problems, flags["form"], flags["strict"], brief=not flags["verbose"]):
        exit_with_errors(failed, flags["form"])
    apps = len(result.inputs.apps)
    print_line(flags["form"], f"{counted(apps, 'app')}, {counted(result.objects, 'object')}: valid")
    _print_foreign(result, flags)
    exit_with(0)


def _told_problems(result: RenderResult, flags: dict[str, Any]) -> list[Diagnostic]:
    """The problems, with the notes that people hear with -v alone."""
    tells_all = flags["verbose"] or flags["form"] != "text"
    return [*result.problems, *(result.asides() if tells_all else ())]


def _stream(texts: Iterable[OutputFile]) -> str:
    """All files as one YAML stream, without kustomization.yaml, which is not for a cluster."""
    file_texts = [text.text for text in sorted(texts) if text.path != "kustomization.yaml"]
    return "---\n".join(text if text.endswith("\n") else f"{text}\n" for text in file_texts)


def _stale_errors(rendered: RenderResult, strict: bool) -> list[Diagnostic]:
    """An error for each stale output file, for machine formats; none if there are other errors."""
    from renderer.diagnostics import Origin, has_errors, make_diagnostic
    from renderer.source.tree import InputFile

    codes = {"changed": "E126", "new": "E127", "gone": "E128"}
    if has_errors(rendered.problems, strict):
        return []
    places = (
        (Origin(InputFile(f"{rendered.folder}/{path}", "", "")), codes.get(state))
        for path, state in rendered.states.items()
    )
    return [make_diagnostic(code, origin) for origin, code in places if code]


def _print_summary(rendered: RenderResult, options: RenderOptions, flags: dict[str, Any]) -> None:
    counts = {
        state: sum(1 for file_state in rendered.states.values() if file_state == state)
        for state in ("new", "changed", "same", "gone")
    }
    if options.compare and not options.write and flags["form"] == "text":
        for path, state in sorted(rendered.states.items()):
            if state != "same":
                what = {"new": "missing", "changed": "stale", "gone": "to be deleted"}[state]
                print_line(flags["form"], f"{rendered.folder}/{path}: {what}")
    if rendered.skipped_shared:
        files = ", ".join(f"{rendered.folder}/{path}" for path in rendered.skipped_shared)
        print_line(flags["form"], f"left alone, since other apps share them: {files}; run llmaz render without PATHS")
    apps = len(rendered.inputs.apps)
    total = f"{counted(apps, 'app')}, {counted(rendered.objects, 'object')}"
    parts = [f"{counts['new']} new", f"{counts['changed']} changed", f"{counts['same']} unchanged"]
    if counts["gone"]:
        parts.append(f"{counts['gone']} deleted")
    if options.write:
        print_line(flags["form"], f"{total} → {rendered.folder}/: {', '.join(parts)}")
    elif options.compare and any(state != "same" for state in rendered.states.values()):
        print_line(
            flags["form"], f"{rendered.folder}/ is stale; run llmaz render{' --to helm' * (flags['to'] == 'helm')}"
        )
    elif options.compare:
        print_line(flags["form"], f"{total}: {rendered.folder}/ is up to date")
    _print_foreign(rendered, flags)


def _print_foreign(rendered: RenderResult, flags: dict[str, Any]) -> None:
    if flags["verbose"] and rendered.inputs.foreign:
        print_line(flags["form"], f"ignored: {counted(rendered.inputs.foreign, 'document')} of other kinds")
