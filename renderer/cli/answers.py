"""What commands have in common: options, how problems and faults are said, and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from renderer.cli.lightly import click
from renderer.cli.streams import tell, write, write_aside

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
    """A refusal, problems, what the system refuses, or a fault end the program, each in its words."""
    gc.disable()  # everything read lives to the end of the run
    try:
        yield
    except Exception as error:  # an unforeseen fault, too
        fail(error, form)


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

    try:
        with ahead(options) as found:
            from renderer import check
            from renderer.pipeline import render

            check.prepare(found[1][0])
            return render(options, found)
    except Exception as error:  # an unforeseen fault, too
        fail(error, form)


def report(problems: Iterable[Problem], form: str, strict: bool = False, aside: bool = False) -> int:
    """Prints problems, sorted by place, each once; the number of those that forbid to go on.

    Texts for people go to stderr, formats for machines to stdout; `aside`: to stderr too, since stdout is taken.
    """
    listed = sorted(set(problems))
    if form == "text":
        from renderer import escapes

        write_aside(escapes.lines("".join(f"{each}\n" for each in listed)))
    else:
        from renderer import reports

        if text := reports.FORMATS[form](listed):
            (write_aside if aside else write)(f"{text}\n")
    return sum(each.forbids(strict) for each in listed)


def say(form: str, text: str) -> None:
    """A line for people, on stderr."""
    if form == "text":
        tell(text)


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def fail(error: Exception, form: str = "text") -> NoReturn:
    """Ends the program, in the words of what stopped it; LLMAZ_DEBUG shows all of what nobody foresaw."""
    cause: BaseException | None = error
    while cause is not None:  # Python may wrap the one in something else, in the midst of an import
        if isinstance(cause, KeyboardInterrupt):
            tell(INTERRUPT)
            end(INTERRUPTED)
        cause = cause.__cause__ or cause.__context__
    from renderer.load import Refused
    from renderer.parallel import out_of_memory, ran_out_of_memory
    from renderer.problems import Fault, RenderError

    if isinstance(error, Refused):
        tell(str(error))
        end(INVALID)
    if ran_out_of_memory(error):
        report([out_of_memory()], form)
        end(INVALID)
    if isinstance(error, RenderError):
        report(error.problems, form)
        end(INVALID)
    if os.environ.get("LLMAZ_DEBUG"):
        import traceback

        for line in "".join(traceback.format_exception(error)).split("\n"):
            tell(line)
    if isinstance(error, OSError):
        report([_refusal(error)], form)
        end(INVALID)
    place, what = (
        (error.at_hand, error.what) if isinstance(error, Fault) else ("llmaz", f"{type(error).__name__}: {error}")
    )
    tell(f"{place}: internal fault: {what} [E901]")
    tell("    hint: a bug of llmaz; please report it with this file (LLMAZ_DEBUG=1 shows more)")
    end(FAULT)


def _refusal(error: OSError) -> Problem:
    """What the operating system has against a file, where nobody who knows the file better has said so."""
    from renderer.load.rule import Rule
    from renderer.problems import Origin, problem

    file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "llmaz"
    with suppress(OSError):
        file = file.removeprefix(os.getcwd() + os.sep)
    return problem("E151", Origin(Rule(file)), what=error.strerror or error)


def end(code: int) -> NoReturn:
    sys.exit(code)
