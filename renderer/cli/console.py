"""Shared by commands: options, printing of diagnostics and faults, exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from renderer.cli.standard_streams import print_aside, write, write_aside

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from renderer.api import RenderOptions
    from renderer.diagnostics import Diagnostic
    from renderer.result import RenderResult

INTERRUPT_MESSAGE = "interrupted; no file is half written, run again to finish"
_SHORT = 5  # letters: of fewer one may be wrong, not two
FORMATS = ("text", "json", "github", "sarif", "gitlab")
STALE, INVALID, FAULT, INTERRUPTED = 1, 2, 3, 130


def examples(first: str, second: str) -> str:
    """The end of a command's help: two command lines, which tests/cli/test_help.py runs. Click keeps the lines of a
    paragraph behind a backspace.
    """
    return f"\b\nExamples:\n  {first}\n  {second}"


def complete_files(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves it to the shell to complete names of files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_words(
    known_words: Callable[[], Iterable[str]],
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completes a word of those that are known, which are asked for when somebody presses the key."""

    def complete(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in sorted(known_words()) if word.lower().startswith(incomplete.lower())]

    return complete


def backend_names() -> list[str]:
    """The backends that ship with llmaz, for `complete_words`."""
    from renderer import load

    return load.preset_names("backends")


class Group(click.Group):
    """A group of commands."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises UsageError for another word, with what does that."""
        names = self.list_commands(context)
        if args and args[0] not in names and not args[0].startswith("-"):
            raise click.UsageError(f"No such command '{args[0]}': {_command_hint(args[0], names)}", context)
        return super().resolve_command(context, args)


def _command_hint(word: str, names: Sequence[str]) -> str:
    """What to run in place of a word that is none of these commands: what a command of that name does elsewhere, or
    the command that is spelt nearly so.
    """
    from renderer.foreign_words import command_hint  # few runs need it
    from renderer.text.suggestions import within_letters

    if hint := command_hint(word):
        return hint
    begun = [name for name in names if name.startswith(word.lower())]
    close = begun[0] if len(begun) == 1 else within_letters(word.lower(), names, 1 if len(word) < _SHORT else 2)
    return f"did you mean '{close}'?" if close else f"known: {', '.join(names)}"


# Arguments and options of commands that read input, with short help.
PATHS = click.argument("paths", nargs=-1, metavar="[PATHS]...", shell_complete=complete_files)
VERBOSE = click.option(
    "-v", "--verbose", is_flag=True, help="Print every note, not only the first of a kind and the number of others."
)
SET = click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="As for render.")
ENV = click.option(
    "--env", default="", metavar="NAME", help="The environment to use. Required if RenderConfig has several."
)
ANY_ENV = click.option(
    "--env", default="", metavar="NAME", help="Only this environment of RenderConfig. [default: all]"
)
STRICT = click.option("--strict", is_flag=True, help="Treat warnings as errors.")
ALLOW_EMPTY = click.option("--allow-empty", is_flag=True, help="Do not fail if there is no input.")


def _policy_file(context: click.Context, option: click.Parameter, file: str | None) -> str:
    """The file of --policy. An unset shell variable must not fall back to what the tree says."""
    if file is not None and not file.strip():
        raise click.UsageError("--policy has no value")
    return file or ""


POLICY = click.option(
    "--policy",
    metavar="FILE",
    callback=_policy_file,
    shell_complete=complete_files,
    help="Use this RenderPolicy instead of llmaz-policy.yaml beside llmaz.yaml.",
)


def input_options(command: Callable[..., object]) -> Callable[..., object]:
    """The options of every command that reads input."""
    for option in reversed(
        (
            PATHS,
            click.option(
                "--set",
                "overrides",
                multiple=True,
                metavar="KEY=VALUE",
                help="Override a field of RenderConfig, such as gateway.mode=off. Can be repeated.",
            ),
            click.option(
                "--env", default="", metavar="NAME", help="Use only this environment of RenderConfig. [default: all]"
            ),
            STRICT,
            ALLOW_EMPTY,
            click.option(
                "--format",
                "form",
                type=click.Choice(FORMATS),
                default="text",
                show_default=True,
                help="How problems are printed.",
            ),
            click.option(
                "-v",
                "--verbose",
                is_flag=True,
                help="Print every note, and how many documents of other kinds were ignored.",
            ),
        )
    ):
        command = option(command)
    return command


@contextmanager
def report_failures(form: str = "text") -> Iterator[None]:
    """Ends the program with a printed message for a refusal, diagnostics, an OSError or an internal fault within."""
    gc.disable()  # everything read lives to the end of the run
    try:
        yield
    except Exception as error:  # an unforeseen fault, too
        fail(error, form)


def render_options(paths: tuple[str, ...], flags: dict[str, Any], **more: Any) -> RenderOptions:
    from renderer.api import RenderOptions

    if flags.get("env"):
        more["env"] = flags["env"]
    if flags.get("policy"):
        more["policy"] = flags["policy"]
    if flags.get("kubeconform"):
        more["kubeconform"] = flags["kubeconform"]
    if flags.get("verbose"):
        more["verbose"] = True
    return RenderOptions(
        paths=paths,
        overrides=flags["overrides"],
        strict=flags["strict"],
        allow_empty=flags.get("allow_empty", False),
        **more,
    )


def run(options: RenderOptions, form: str) -> RenderResult:
    """Renders, and writes if options say so and there are no errors. A failure is reported and ends the program."""
    gc.disable()  # everything read lives to the end of the run
    from renderer.load import read_ahead

    try:
        with read_ahead(options) as opened:
            from renderer import check
            from renderer.pipeline import render, write

            check.precompile_rules(opened.scopes[0])
            result = render(options, (opened.folder, opened.scopes), opened.inputs)
            write(result)
            return result
    except Exception as error:  # an unforeseen fault, too
        fail(error, form)


def report(
    problems: Iterable[Diagnostic], form: str, strict: bool = False, *, aside: bool = False, brief: bool = False
) -> int:
    """Prints diagnostics, sorted by place, each once; returns the number of errors (with `strict`, of warnings too).

    Texts for people go to stderr, formats for machines to stdout; `aside`: to stderr too, since stdout is taken.
    `brief`: of notes that are alike only the first one is printed for people, and how many more there are; the
    command has -v.
    """
    from renderer.diagnostics import told_problems

    ordered = told_problems(problems)
    if form == "text":
        from renderer.text import escapes

        texts = _brief_texts(ordered) if brief and ordered else map(str, ordered)
        write_aside(escapes.lines("".join(f"{text}\n" for text in texts)))
    else:
        from renderer.diagnostics import formats

        if text := formats.FORMATS[form](ordered):
            (write_aside if aside else write)(f"{text}\n")
    return sum(diagnostic.forbids(strict) for diagnostic in ordered)


def _brief_texts(ordered: Sequence[Diagnostic]) -> Iterator[str]:
    """The texts of diagnostics; of notes that are alike that of the first, with the number of the others."""
    from renderer.diagnostics.wordings import WORDINGS
    from renderer.text.folding import folded

    def kind(diagnostic: Diagnostic) -> tuple[str, str] | None:
        if diagnostic.severity != "note":
            return None
        wording = WORDINGS[diagnostic.code]
        if wording.varies:
            return diagnostic.code, diagnostic.message
        kind_said = diagnostic.message.partition("'")[0] if wording.by_kind else ""
        return diagnostic.code, kind_said  # what holds of a Secret is not what holds of a claim

    for diagnostic, others in folded(ordered, kind, least=2):
        yield f"{diagnostic}\n    and {others} more: -v" if others else str(diagnostic)


def print_line(form: str, text: str) -> None:
    """A line for people, on stderr."""
    if form == "text":
        print_aside(text)


def require_values(flags: dict[str, Any]) -> None:
    """Raises UsageError for a flag with an empty value, such as an unset shell variable, instead of using a default."""
    for key, value in flags.items():
        if any(isinstance(text, str) and not text.strip() for text in (value if isinstance(value, tuple) else [value])):
            flag = {"folder": "path", "environments": "env"}.get(key, key.replace("_", "-"))
            raise click.UsageError(f"--{flag} has no value")


def fail(error: Exception, form: str = "text") -> NoReturn:
    """Ends the program with a message about the error; LLMAZ_DEBUG shows the traceback of an internal fault."""
    cause: BaseException | None = error
    while cause is not None:  # Python may wrap a KeyboardInterrupt during an import
        if isinstance(cause, KeyboardInterrupt):
            print_aside(INTERRUPT_MESSAGE)
            exit_with(INTERRUPTED)
        cause = cause.__cause__ or cause.__context__
    from renderer.diagnostics import InternalError, RenderError
    from renderer.load import PresetRefused
    from renderer.workers import out_of_memory, ran_out_of_memory

    if isinstance(error, PresetRefused):
        print_aside(str(error))
        exit_with_errors(1, form)
    if ran_out_of_memory(error):
        _report_and_exit([out_of_memory()], form)
    if isinstance(error, RenderError):
        _report_and_exit(error.problems, form)
    if os.environ.get("LLMAZ_DEBUG"):
        import traceback

        for line in "".join(traceback.format_exception(error)).split("\n"):
            print_aside(line)
    if isinstance(error, OSError):
        _report_and_exit([_os_error_diagnostic(error)], form)
    if isinstance(error, ImportError) and (package := (error.name or "").partition(".")[0].lstrip("_")) != "renderer":
        _report_and_exit([_import_diagnostic(error, package)], form)
    place, what = (
        (error.file, error.what) if isinstance(error, InternalError) else ("llmaz", f"{type(error).__name__}: {error}")
    )
    print_aside(f"{place}: internal fault: {what} [E901]")
    print_aside("    hint: a bug of llmaz; please report it with this file (LLMAZ_DEBUG=1 shows more)")
    exit_with(FAULT)


def _report_and_exit(problems: Iterable[Diagnostic], form: str) -> NoReturn:
    """Ends the program with the diagnostics, and their number on the last line for people."""

    exit_with_errors(report(problems, form), form)


def _os_error_diagnostic(error: OSError) -> Diagnostic:
    """The diagnostic for an OSError about a file that no other code has reported."""
    from renderer.diagnostics import NamedSource, Origin, make_diagnostic

    file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else "llmaz"
    what = error.strerror or error
    try:
        file = file.removeprefix(os.getcwd() + os.sep)
    except OSError as reason:
        what = f"the current folder cannot be read: {reason.strerror}"
    return make_diagnostic("E151", Origin(NamedSource(file)), what=what)


def _import_diagnostic(error: ImportError, package: str) -> Diagnostic:
    """The diagnostic for a package that the interpreter cannot load; its hint names the shared library that it lacks,
    if any.
    """
    import re

    from renderer.diagnostics import NamedSource, Origin, make_diagnostic

    what = " ".join(str(error).split()) or type(error).__name__
    library = re.search(r"\b(lib[\w+-]+)\.so[\w.]*", what)
    hint = "install llmaz again for this Python, with the packages that it needs"
    if library and library[1] == "libstdc++":
        hint = "install the C++ library that it needs, such as the package libstdc++6 of Debian"
    elif library:
        hint = f"install the system package that contains {library[0]}"
    words = {"package": package or "that is needed", "what": what, "hint": hint}
    return make_diagnostic("E161", Origin(NamedSource("llmaz")), **words)


def exit_with_errors(count: int, form: str = "text", *, unwritten: bool = False) -> NoReturn:
    """Ends the program with the number of errors on the last line for people; `unwritten`: also with the words that no
    file was written.
    """
    from renderer.diagnostics import counted

    print_line(form, counted(count, "error") + ("; nothing was written" if unwritten else ""))
    exit_with(INVALID)


def exit_with(code: int) -> NoReturn:
    sys.exit(code)
