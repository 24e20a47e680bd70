"""What commands have in common: options, how problems and faults are said, and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from renderer.cli.lightly import click

if TYPE_CHECKING:
    from renderer.api import Options
    from renderer.pipeline import Rendered
    from renderer.problems import Problem

INTERRUPT = "interrupted; every file is whole, run again to finish"
FORMATS = ("text", "json", "github", "sarif", "gitlab")
STALE, INVALID, FAULT, INTERRUPTED = 1, 2, 3, 130


# Of commands that read input, and say no more of it.
SET = click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="As for render.")
ENV = click.option("--env", default="", metavar="NAME", help="The environment, where RenderConfig has several.")


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
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
            click.option("--env", default="", metavar="NAME", help="One environment of RenderConfig. [default: all]"),
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


@contextmanager
def answering(form: str = "text") -> Iterator[None]:
    """A refusal, problems or a fault end the program, each in its words."""
    gc.disable()  # everything read lives to the end of the run
    from renderer.load import Refused
    from renderer.problems import RenderError

    try:
        yield
    except Refused as refusal:
        click.echo(str(refusal), err=True)
        end(INVALID)
    except RenderError as error:
        report(error.problems, form)
        end(INVALID)
    except Exception as error:  # an unforeseen fault
        fault(error)


def options_of(paths: tuple[str, ...], flags: dict[str, Any], **more: Any) -> Options:
    from renderer.api import Options

    if flags.get("env"):
        more["env"] = flags["env"]
    if flags.get("kubeconform"):
        more["kubeconform"] = flags["kubeconform"]
    return Options(
        paths=paths, overrides=flags["overrides"], strict=flags["strict"], allow_empty=flags["allow_empty"], **more
    )


def run(options: Options, form: str) -> Rendered:
    """Renders; what stops everything is reported here, and ends the program."""
    gc.disable()  # everything read lives to the end of the run
    from renderer.load import ahead
    from renderer.problems import RenderError

    try:
        with ahead(options) as found:
            from renderer import check
            from renderer.pipeline import render

            check.prepare(found[1][0])
            return render(options, found)
    except RenderError as error:
        report(error.problems, form)
        end(INVALID)
    except KeyboardInterrupt:
        click.echo(INTERRUPT, err=True)
        end(INTERRUPTED)
    except Exception as error:  # an unforeseen fault
        fault(error)


def report(problems: Iterable[Problem], form: str, strict: bool = False, aside: bool = False) -> int:
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


def say(form: str, text: str) -> None:
    """A word for people, on stderr."""
    if form == "text":
        click.echo(text, err=True)


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def fault(error: Exception) -> NoReturn:
    """One line for an unforeseen fault, with the place in our code; LLMAZ_DEBUG shows all of it."""
    import traceback

    from renderer.parallel import out_of_memory, ran_out_of_memory
    from renderer.problems import Fault

    if ran_out_of_memory(error):
        report([out_of_memory()], "text")
        end(INVALID)
    inner: BaseException | None = error
    while inner is not None:  # Python may wrap the one in something else, in the midst of an import
        if isinstance(inner, KeyboardInterrupt):
            click.echo(INTERRUPT, err=True)
            end(INTERRUPTED)
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
    end(FAULT)


def end(code: int) -> NoReturn:
    sys.exit(code)
