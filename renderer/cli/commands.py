"""The program itself: its commands, and what it does around each of them.

Only click is imported at the start, and a command's module when it is called, so that `--version` and `--help` are
fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from renderer import __version__
from renderer.cli import standard_streams
from renderer.cli.console import INTERRUPT_MESSAGE, INTERRUPTED, Group, examples, report_failures

_EPILOG = (
    "Exit codes. 0: fine. 1: stale files (render --check), differences (diff --exit-code), fields that are "
    "lost or unexplained (adopt, diff --live --strict). 2: invalid input or usage. 3: internal fault.\n\n"
    + examples("llmaz init --cpu-demo", "llmaz render --check")
)
_COMMANDS = {  # command → module and function
    "init": "init.init",
    "render": "render.render",
    "validate": "render.validate",
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
    "kustomize": "kustomize.kustomize",
}


class Commands(Group):
    """The commands, each imported when it is used."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names in alphabetical order."""
        return sorted(_COMMANDS)

    def invoke(self, context: click.Context) -> object:
        """Runs the command. Raises UsageError for an option that it does not have, with what does that."""
        try:
            return super().invoke(context)
        except click.NoSuchOption as error:
            from renderer.foreign_words import option_hint  # few runs need it

            if error.possibilities or not (hint := option_hint(error.option_name)):
                raise
            raise click.UsageError(f"No such option '{error.option_name}': {hint}", error.ctx) from None

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name; None for an unknown name."""
        if name not in _COMMANDS:
            return None
        module, _, function = _COMMANDS[name].partition(".")
        command: click.Command = getattr(import_module(f"renderer.cli.{module}"), function)
        return command


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
