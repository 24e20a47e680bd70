"""llmaz render and llmaz validate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from renderer.cli.answers import INVALID, STALE, answering, counted, end, options_of, reading, report, run, say
from renderer.cli.streams import write

if TYPE_CHECKING:
    from renderer.api import Options
    from renderer.emit import Text
    from renderer.pipeline import Rendered
    from renderer.problems import Problem


@click.command()
@reading
@click.option(
    "--to",
    type=click.Choice(("manifests", "helm")),
    default="manifests",
    show_default=True,
    help="helm: a chart, in the folder chart unless -o names another.",
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
    help="Also run kubeconform over the result; write --kubeconform=PATH for one that is not on PATH.",
)
def render(paths: tuple[str, ...], output: str | None, check: bool, stdout: bool, **flags: Any) -> None:
    """Render the input below PATHS into the output folder.

    PATHS are files and folders; without any, the folder of the nearest llmaz.yaml, else this one. Nothing is written
    unless everything is valid; unchanged files are not touched; files of ours that nothing makes any more are deleted.
    Each environment of RenderConfig has a folder of its name in there.
    """
    if check and stdout:
        raise click.UsageError("--check and --stdout exclude each other")
    options = options_of(paths, flags, output=output, write=not check and not stdout, compare=check, texts=stdout)
    if stdout or flags["to"] == "helm":
        with answering(flags["form"]):
            from renderer import load

            options = load.alone(options, "--stdout" if stdout else "--to helm")
    if flags["to"] == "helm":
        if stdout:
            raise click.UsageError("--to helm makes a folder of files: no --stdout")
        with answering(flags["form"]):
            from renderer import chart

            done = chart.render(options)
    else:
        done = run(options, flags["form"])
    stale = _stale(done, flags["strict"]) if check and flags["form"] != "text" else []
    failed = report([*done.problems, *stale], flags["form"], flags["strict"], aside=stdout) - len(stale)
    if failed:
        say(
            flags["form"],
            f"{counted(failed, 'error')}; nothing was written" if options.write else counted(failed, "error"),
        )
        end(INVALID)
    if stdout:
        write(_stream(done.texts))
    _summary(done, options, flags)
    if check and any(state != "same" for state in done.states.values()):
        end(STALE)
    end(0)


@click.command(short_help="Check the input, and write nothing.")
@reading
def validate(paths: tuple[str, ...], **flags: Any) -> None:
    """Check the input below PATHS as render does, without an output folder."""
    done = run(options_of(paths, flags), flags["form"])
    if failed := report(done.problems, flags["form"], flags["strict"]):
        say(flags["form"], counted(failed, "error"))
        end(INVALID)
    apps = len(done.inputs.apps)
    say(flags["form"], f"{counted(apps, 'app')}, {counted(done.objects, 'object')}: valid")
    _left_alone(done, flags)
    end(0)


def _stream(texts: Iterable[Text]) -> str:
    """All files as one YAML stream; a kustomization is about files, and nothing for a cluster."""
    kept = [text.text for text in sorted(texts) if text.path != "kustomization.yaml"]
    return "---\n".join(text if text.endswith("\n") else f"{text}\n" for text in kept)


def _stale(done: Rendered, strict: bool) -> list[Problem]:
    """For machines: an error for each output file that is not what the input makes, when nothing else is wrong."""
    from renderer.problems import Origin, failing, problem
    from renderer.tree import File

    codes = {"changed": "E126", "new": "E127", "gone": "E128"}
    if failing(done.problems, strict):
        return []
    places = ((Origin(File(f"{done.folder}/{path}", "", "")), codes.get(state)) for path, state in done.states.items())
    return [problem(code, origin) for origin, code in places if code]


def _summary(done: Rendered, options: Options, flags: dict[str, Any]) -> None:
    counts = {
        state: sum(1 for each in done.states.values() if each == state) for state in ("new", "changed", "same", "gone")
    }
    if options.compare and not options.write and flags["form"] == "text":
        for path, state in sorted(done.states.items()):
            if state != "same":
                what = {"new": "missing", "changed": "stale", "gone": "to be deleted"}[state]
                say(flags["form"], f"{done.folder}/{path}: {what}")
    if done.apart:
        files = ", ".join(f"{done.folder}/{path}" for path in done.apart)
        say(flags["form"], f"left alone, since other apps share them: {files}; run llmaz render without PATHS")
    apps = len(done.inputs.apps)
    made = f"{counted(apps, 'app')}, {counted(done.objects, 'object')}"
    parts = [f"{counts['new']} new", f"{counts['changed']} changed", f"{counts['same']} unchanged"]
    if counts["gone"]:
        parts.append(f"{counts['gone']} deleted")
    if options.write:
        say(flags["form"], f"{made} → {done.folder}/: {', '.join(parts)}")
    elif options.compare and any(state != "same" for state in done.states.values()):
        say(flags["form"], f"{done.folder}/ is stale; run llmaz render{' --to helm' * (flags['to'] == 'helm')}")
    elif options.compare:
        say(flags["form"], f"{made}: {done.folder}/ is up to date")
    _left_alone(done, flags)


def _left_alone(done: Rendered, flags: dict[str, Any]) -> None:
    if flags["verbose"]:
        say(flags["form"], f"left alone: {counted(done.inputs.foreign, 'document')} of other kinds")
