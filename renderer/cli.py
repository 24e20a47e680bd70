"""Flags in, exit code out; the only room that prints.

Only click is imported at the start: `llmaz --version` and `--help` are asked more often than anything else.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from renderer import __version__

if TYPE_CHECKING:
    from renderer.api import Options
    from renderer.emit import Text
    from renderer.pipeline import Rendered
    from renderer.problems import Problem

_INTERRUPT = "interrupted; every file is whole, run again to finish"
FORMATS = ("text", "json", "github", "sarif")
_STALE, _INVALID, _FAULT, _INTERRUPTED = 1, 2, 3, 130
_EPILOG = (
    "Exit codes: 0 fine, 1 stale (--check) or different (--exit-code), 2 invalid input or usage, 3 internal fault."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="llmaz", message="%(prog)s %(version)s")
def cli() -> None:
    """Expands llmaz OpenModel and Playground YAML into the plain manifests that GitOps tools sync."""


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that reads input."""
    for option in reversed(
        (
            click.argument("paths", nargs=-1, metavar="[PATHS]..."),
            click.option(
                "--set",
                "overrides",
                multiple=True,
                metavar="KEY=VALUE",
                help="Override a field of RenderConfig, as in gateway.mode=off. May be given again.",
            ),
            click.option("--strict", is_flag=True, help="Warnings are errors."),
            click.option("--allow-empty", is_flag=True, help="No input at all is fine."),
            click.option(
                "--format",
                "form",
                type=click.Choice(FORMATS),
                default="text",
                show_default=True,
                help="How problems are printed.",
            ),
            click.option("-v", "--verbose", is_flag=True, help="Also say what was left alone."),
        )
    ):
        command = option(command)
    return command


@cli.command()
@_shared
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
    """
    if check and stdout:
        raise click.UsageError("--check and --stdout exclude each other")
    options = _options(paths, flags, output=output, write=not check and not stdout, compare=check, texts=stdout)
    done = _run(options, flags["form"])
    stale = _stale(done, flags["strict"]) if check and flags["form"] != "text" else []
    failed = _report([*done.problems, *stale], flags["form"], flags["strict"], aside=stdout) - len(stale)
    if failed:
        _say(
            flags["form"],
            f"{_count(failed, 'error')}; nothing was written" if options.write else _count(failed, "error"),
        )
        _exit(_INVALID)
    if stdout:
        click.echo(_stream(done.texts), nl=False)
    _summary(done, options, flags)
    if check and any(state != "same" for state in done.states.values()):
        _exit(_STALE)
    _exit(0)


@cli.command(short_help="Check the input, and write nothing.")
@_shared
def validate(paths: tuple[str, ...], **flags: Any) -> None:
    """Check the input below PATHS as render does, without an output folder."""
    done = _run(_options(paths, flags), flags["form"])
    if failed := _report(done.problems, flags["form"], flags["strict"]):
        _say(flags["form"], _count(failed, "error"))
        _exit(_INVALID)
    apps = len(done.inputs.apps)
    _say(flags["form"], f"{_count(apps, 'app')}, {_count(done.objects, 'object')}: valid")
    _left_alone(done, flags)
    _exit(0)


def _patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of --external, each of the form that it needs."""
    for pattern in patterns:
        if len(pattern.split("/")) not in (2, 3) or not all(pattern.split("/")):
            raise click.BadParameter(f"'{pattern}' is no KIND/NAMESPACE/NAME, nor KIND/NAME", context, option)
    return patterns


@cli.command(short_help="Check any manifests against the rules of a cluster.")
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
    --external. Notes say what could not be judged, and are never errors.
    """
    gc.disable()
    from renderer.check import documents
    from renderer.check.chain import outside
    from renderer.load import manifests, near
    from renderer.problems import RenderError

    try:
        read, problems = manifests(paths)
        config, wrong = near(paths)
        found, unknown = documents(read, outside(config, external), alone=alone)
        problems += wrong
    except RenderError as error:
        _report(error.problems, form)
        _exit(_INVALID)
    except Exception as error:  # an unforeseen fault
        _fault(error)
    failed = _report([*problems, *found], form, strict)
    for kind in sorted(set(unknown)):
        _say(form, f"not checked, no schema: {kind} ({_count(unknown.count(kind), 'object')})")
    checked = len(read) - len(unknown)
    failed += len(unknown) if strict else 0
    _say(form, f"{_count(checked, 'object')} checked, {_count(failed, 'error')}")
    _exit(_INVALID if failed or not read else 0)


@cli.command("routes", short_help="Show which public name leads where.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "markdown", "json")),
    default="table",
    show_default=True,
    help="markdown: the table, and the same as Mermaid charts.",
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="As for render.")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@click.option("--allow-empty", is_flag=True, help="No input at all is fine.")
def routes(paths: tuple[str, ...], form: str, **flags: Any) -> None:
    """Show the routes that the input below PATHS makes, by Gateway: public name, owner, and what it leads to.

    Nothing is written. Problems of the input are printed as validate prints them, and no routes when there are errors.
    """
    with _answering():
        from renderer.routes import FORMS, summary
        from renderer.routes import routes as found_below

        found, problems = found_below(_options(paths, flags))
    if failed := _report(problems, "text", flags["strict"]):
        _say("text", _count(failed, "error"))
        _exit(_INVALID)
    click.echo(FORMS[form](found), nl=False)
    _say("text", summary(found))
    _exit(0)


@cli.group()
def presets() -> None:
    """What ships with llmaz: backends, models and loaders."""


@presets.command("list")
def presets_list() -> None:
    """List the presets by name."""
    from renderer.load import preset, preset_names

    for folder in ("backends", "models", "loaders"):
        click.echo(f"{folder}:")
        names = preset_names(folder)
        width = max(len(name) for name in names)
        for name in names:
            spec = preset(f"{folder}/{name}").value["spec"]
            if folder == "models":
                source = spec["source"].get("modelHub") or {}
                what = spec["source"].get("uri") or "/".join(
                    filter(None, [source.get("modelID"), source.get("filename")])
                )
            else:
                what = f"{spec['image']}:{spec['version']}"
            click.echo(f"  {name:<{width}}  {what}")


@presets.command("show")
@click.argument("name")
@click.option("--resolved", is_flag=True, help="Print what it comes to: image, arguments, environment, budgets.")
@click.option(
    "--model", metavar="MODEL", help="With --resolved, for a backend: the model. [default: the first that it can run]"
)
@click.option("--backend", metavar="BACKEND", help="With --resolved, for a model: the backend. [default: render's]")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --resolved: override a field of RenderConfig. May be given again.",
)
def presets_show(name: str, resolved: bool, model: str | None, backend: str | None, overrides: tuple[str, ...]) -> None:
    """Print a preset's YAML; write models/NAME or backends/NAME where a name is ambiguous.

    With --resolved models and backends of yours count too, as for render.
    """
    if not resolved:
        if model or backend or overrides:
            raise click.UsageError("--model, --backend and --set go with --resolved")
        from renderer import load

        with _answering():
            path = os.path.join(load.PRESETS, load.named(name, load.shipped()) + ".yaml")
            with open(path, encoding="utf-8") as file:
                click.echo(file.read(), nl=False)
        return
    with _answering():
        from renderer.resolved import resolved as made_of

        made = made_of(name, model or "", backend or "", overrides)
    if failed := _report(made.problems, "text"):
        _say("text", _count(failed, "error"))
        _exit(_INVALID)
    if made.chosen:
        _say("text", f"for the model {made.chosen}; --model names another")
    click.echo(made.text, nl=False)


@presets.command("vendor", short_help="Copy a preset into your repository, where the copy wins.")
@click.argument("name")
@click.option("--to", metavar="DIR", default=".", help="The folder to write it to. [default: the current one]")
@click.option("--force", is_flag=True, help="Overwrite the file that is there.")
def presets_vendor(name: str, to: str, force: bool) -> None:
    """Copy the backend or model NAME into your repository as a file of its name.

    The copy wins over the preset, so an upgrade of llmaz changes nothing about it: what is rendered stays the same.
    """
    with _answering():
        from renderer.vendoring import vendor

        made = vendor(name, to, force)
    _say("text", f"{made.path} is yours now, and wins over the preset; llmaz presets diff {name} compares them")
    if not made.read:
        _say("text", "llmaz render does not read it there by itself: name it among PATHS, or choose another --to")
    _exit(0)


@presets.command("diff", short_help="Compare a backend or model of yours with the preset of its name.")
@click.argument("name")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--exit-code", "exit_code", is_flag=True, help="Exit 1 when they differ.")
def presets_diff(name: str, paths: tuple[str, ...], exit_code: bool) -> None:
    """Print how the BackendRuntime or OpenModel NAME below PATHS differs from the preset, as a unified diff.

    Documents are compared, not texts: comments, style and the order of keys make no difference.
    """
    with _answering():
        from renderer.vendoring import difference

        found = difference(name, paths)
    click.echo(found.lines, nl=False)
    if not found.lines:
        _say("text", f"{found.file}: the same as ours")
    _exit(_STALE if exit_code and found.lines else 0)


@presets.command("adapter-rules", short_help="Print the rules that feed autoscalers with engines' metrics.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
def presets_adapter_rules(paths: tuple[str, ...]) -> None:
    """Print a values file for the chart prometheus-adapter: one rule for each metric that autoscalers use.

    With PATHS the BackendRuntimes there count too. Nothing is written: the file is for the platform, not for rendered/.
    """
    from renderer.adapter import rules
    from renderer.problems import RenderError

    try:
        values, problems = rules(paths)
    except RenderError as error:
        _report(error.problems, "text")
        _exit(_INVALID)
    except Exception as error:  # an unforeseen fault
        _fault(error)
    if failed := _report(problems, "text"):
        _say("text", _count(failed, "error"))
        _exit(_INVALID)
    click.echo(values, nl=False)


@cli.command("schema", short_help="Print the JSON Schema of an input kind, for editors.")
@click.argument("kind", required=False)
def schema_(kind: str | None) -> None:
    """Print the JSON Schema of an input kind, for editors; without KIND, list the kinds."""
    from renderer import schema
    from renderer.problems import guess

    folder = os.path.join(schema.FOLDER, "input")
    kinds = {schema.read(f"input/{name[:-5]}").get("title", name[:-5]): name for name in sorted(os.listdir(folder))}
    if kind is None:
        click.echo("\n".join(sorted(kinds)))
        return
    name = next((file for title, file in kinds.items() if kind.lower() in (title.lower(), file[:-5])), None)
    if name is None:
        click.echo(f"no kind is named '{kind}'; {guess(kind, list(kinds))}", err=True)
        _exit(_INVALID)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        click.echo(file.read(), nl=False)


@contextmanager
def _answering() -> Iterator[None]:
    """What is asked of presets: a refusal, problems or a fault end the program, each in its words."""
    gc.disable()  # everything read lives to the end of the run
    from renderer.load import Refused
    from renderer.problems import RenderError

    try:
        yield
    except Refused as refusal:
        click.echo(str(refusal), err=True)
        _exit(_INVALID)
    except RenderError as error:
        _report(error.problems, "text")
        _exit(_INVALID)
    except Exception as error:  # an unforeseen fault
        _fault(error)


def _options(paths: tuple[str, ...], flags: dict[str, Any], **more: Any) -> Options:
    from renderer.api import Options

    if flags.get("kubeconform"):
        more["kubeconform"] = flags["kubeconform"]
    return Options(
        paths=paths, overrides=flags["overrides"], strict=flags["strict"], allow_empty=flags["allow_empty"], **more
    )


def _stream(texts: Iterable[Text]) -> str:
    """All files as one YAML stream; a kustomization is about files, and nothing for a cluster."""
    kept = [text.text for text in sorted(texts) if text.path != "kustomization.yaml"]
    return "---\n".join(text if text.endswith("\n") else f"{text}\n" for text in kept)


def _run(options: Options, form: str) -> Rendered:
    """Renders; what stops everything is reported here, and ends the program."""
    gc.disable()  # everything read lives to the end of the run
    from renderer.pipeline import render
    from renderer.problems import RenderError

    try:
        return render(options)
    except RenderError as error:
        _report(error.problems, form)
        _exit(_INVALID)
    except KeyboardInterrupt:
        click.echo(_INTERRUPT, err=True)
        _exit(_INTERRUPTED)
    except Exception as error:  # an unforeseen fault
        _fault(error)


def _report(problems: Iterable[Problem], form: str, strict: bool = False, aside: bool = False) -> int:
    """Prints problems, sorted by place, each once; the number of those that forbid to go on.

    Texts for people go to stderr, formats for machines to stdout; `aside`: to stderr too, since stdout is taken.
    """
    listed = sorted(set(problems))
    if form == "text":
        for each in listed:
            click.echo(str(each), err=True)
    else:
        from renderer import reports

        if said := reports.FORMATS[form](listed):
            click.echo(said, err=aside)
    return sum(each.forbids(strict) for each in listed)


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
                click.echo(f"{done.folder}/{path}: {what}", err=True)
    if done.apart:
        files = ", ".join(f"{done.folder}/{path}" for path in done.apart)
        _say(flags["form"], f"left alone, since other apps share them: {files}; run llmaz render without PATHS")
    apps = len(done.inputs.apps)
    made = f"{_count(apps, 'app')}, {_count(done.objects, 'object')}"
    parts = [f"{counts['new']} new", f"{counts['changed']} changed", f"{counts['same']} unchanged"]
    if counts["gone"]:
        parts.append(f"{counts['gone']} deleted")
    if options.write:
        _say(flags["form"], f"{made} → {done.folder}/: {', '.join(parts)}")
    elif options.compare and any(state != "same" for state in done.states.values()):
        _say(flags["form"], f"{done.folder}/ is stale; run llmaz render")
    elif options.compare:
        _say(flags["form"], f"{made}: {done.folder}/ is up to date")
    _left_alone(done, flags)


def _left_alone(done: Rendered, flags: dict[str, Any]) -> None:
    if flags["verbose"]:
        _say(flags["form"], f"left alone: {_count(done.inputs.foreign, 'document')} of other kinds")


def _say(form: str, text: str) -> None:
    """A word for people, on stderr."""
    if form == "text":
        click.echo(text, err=True)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _fault(error: Exception) -> NoReturn:
    """One line for an unforeseen fault, with the place in our code; LLMAZ_DEBUG shows all of it."""
    import traceback

    from renderer.problems import Fault

    inner: BaseException | None = error
    while inner is not None:  # Python may wrap the one in something else, in the midst of an import
        if isinstance(inner, KeyboardInterrupt):
            click.echo(_INTERRUPT, err=True)
            _exit(_INTERRUPTED)
        inner = inner.__cause__ or inner.__context__
    if os.environ.get("LLMAZ_DEBUG"):
        traceback.print_exception(error)
    at_hand, cause = (
        (error.at_hand, error.what) if isinstance(error, Fault) else ("llmaz", f"{type(error).__name__}: {error}")
    )
    click.echo(
        f"{at_hand}: internal fault: {cause} [E901]\n    hint: a bug of llmaz; please report it with "
        "this file (LLMAZ_DEBUG=1 shows more)",
        err=True,
    )
    _exit(_FAULT)


def _exit(code: int) -> NoReturn:
    sys.exit(code)


def main(args: Sequence[str] | None = None) -> None:
    """The console script. It ends at once: freeing all that was read takes longer than reading it."""
    code: Any = 0
    try:
        cli.main(args=args, prog_name="llmaz", standalone_mode=False)
    except SystemExit as end:
        code = end.code
    except click.ClickException as wrong:
        wrong.show()
        code = wrong.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(_INTERRUPT, err=True)
        code = _INTERRUPTED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
