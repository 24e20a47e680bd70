"""The program itself: its commands, and what it does around each of them.

Only click is imported at the start, and a command's module when it is called, so that `--version` and `--help` are
fast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from renderer import __version__
from renderer.cli import standard_streams
from renderer.cli.console import INTERRUPT_MESSAGE, INTERRUPTED, Group, examples, report_failures

_EPILOG = (
    "Exit codes. 0: fine. 1: stale files (render --check), differences (diff --exit-code), fields that are "
    "lost or unexplained (adopt, diff --live --strict), what breaks (upgrade). 2: invalid input or usage. "
    "3: internal fault.\n\n" + examples("llmaz init --cpu-demo", "llmaz render --check")
)
_MISSPELT = 2  # letters by which a misspelt word differs
_SHORT = 4  # letters of words of which one alone may be wrong
_COMMANDS = {  # command → module and function
    "init": "init.init",
    "render": "render.render",
    "validate": "render.validate",
    "bom": "bom.bom",
    "check": "check.check",
    "completion": "completion.completion",
    "cutover": "cutover.cutover",
    "diff": "diff.diff",
    "adopt": "adopt.adopt",
    "routes": "routes.routes",
    "explain": "explain.explain",
    "errors": "errors.errors",
    "fleet": "fleet.fleet",
    "argocd": "argocd.argocd",
    "flux": "flux.flux",
    "nodepools": "nodepools.nodepools",
    "presets": "presets.presets",
    "schema": "schema.schema_",
    "upgrade": "upgrade.upgrade",
    "kustomize": "kustomize.kustomize",
}


class Commands(Group):
    """The commands, each imported when it is used."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names in alphabetical order."""
        return sorted(_COMMANDS)

    def invoke(self, context: click.Context) -> object:
        """Runs the command. Raises UsageError for an option that it does not have, with what does that, and for a value
        that an option does not take, with the one that is meant.
        """
        try:
            return super().invoke(context)
        except click.NoSuchOption as error:
            hint = _option_hint(error.option_name, list(error.possibilities or ()))
            what = f"No such option '{error.option_name}'{f': {hint}' if hint else '.'}"
            raise click.UsageError(what, error.ctx) from None
        except click.BadParameter as error:
            known = getattr(error.param and error.param.type, "choices", ())
            match = re.match(r"'([^']*)' is not one of", error.message)
            if match and (name := _meant_choice(match[1].lower(), [str(choice) for choice in known])):
                raise click.BadParameter(f"{error.message} Did you mean '{name}'?", error.ctx, error.param) from None
            raise

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name; None for an unknown name."""
        if name not in _COMMANDS:
            return None
        module, _, function = _COMMANDS[name].partition(".")
        command: click.Command = getattr(import_module(f"renderer.cli.{module}"), function)
        return command


def _option_hint(option: str, near: Sequence[str]) -> str:
    """What does what an option does elsewhere, or the option that is spelt nearly so; '' where nobody knows. `near`:
    options of the command that are spelt alike.
    """
    from renderer.foreign_words import option_hint, option_words  # few runs need them
    from renderer.text.suggestions import within_letters

    if hint := option_hint(option):
        return hint
    if close := within_letters(option, near, _MISSPELT):
        return f"did you mean '{close}'?"
    long_words = [word for word in option_words() if word.startswith("--")]
    return "" if near else option_hint(within_letters(option, long_words, _MISSPELT))


def _meant_choice(word: str, known: Sequence[str]) -> str:
    """The value that a word abbreviates (`md`, `mark`) or misspells; '' for none, and for several."""
    from renderer.text.suggestions import within_letters

    abbreviated = [name for name in known if name[:1] == word[:1] and _has_letters(name, word)]
    if len(abbreviated) == 1:
        return abbreviated[0]
    return within_letters(word, known, _MISSPELT if len(word) > _SHORT else 1)


def _has_letters(name: str, word: str) -> bool:
    """Whether the letters of a word come in a name in this order."""
    left = iter(name)
    return bool(word) and all(letter in left for letter in word)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="llmaz", message="%(prog)s %(version)s")
def cli() -> None:
    """Expands llmaz OpenModel and Playground YAML into the plain manifests that GitOps tools sync."""


def main() -> None:
    """The console script. It exits without freeing memory, which takes longer than reading the input."""
    try:
        standard_streams.use_utf8()
        standard_streams.prepare()
        run()
    except SystemExit as end:  # its traceback keeps the command's data alive until the process is gone
        standard_streams.exit_process(end.code)
    except KeyboardInterrupt:
        standard_streams.print_aside(INTERRUPT_MESSAGE)
        standard_streams.exit_process(INTERRUPTED)


def run(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the command of the arguments, by default sys.argv. Raises SystemExit and KeyboardInterrupt."""
    with standard_streams.checked_output(), report_failures():
        try:
            cli.main(args=args, prog_name="llmaz", standalone_mode=False)
        except click.ClickException as error:
            _show(error)
            raise SystemExit(error.exit_code) from None
        except click.Abort:
            raise KeyboardInterrupt from None
    raise SystemExit(0)


def _show(error: click.ClickException) -> None:
    """Prints a usage error; the words that it quotes are escaped."""
    from renderer.text import escapes

    if not isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # all of that is ours
        error.message = escapes.line(error.message)  # type: ignore[misc]
    error.show()
