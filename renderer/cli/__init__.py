"""Flags in, exit code out; the only room that prints.

Only click is imported at the start, and a command's own file when it is called: `llmaz --version` and `--help` are
asked more often than anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from renderer import __version__
from renderer.cli import standard_streams
from renderer.cli.console import INTERRUPT, INTERRUPTED, report_failures

_EPILOG = (
    "Exit codes: 0 fine, 1 stale (--check) or different (--exit-code), 2 invalid input or usage, 3 internal fault."
)
_COMMANDS = {  # where each stands
    "init": "init.init",
    "render": "render.render",
    "validate": "render.validate",
    "check": "check.check",
    "diff": "diff.diff",
    "routes": "routes.routes",
    "explain": "explain.explain",
    "argocd": "argocd.argocd",
    "flux": "flux.flux",
    "nodepools": "nodepools.nodepools",
    "presets": "presets.presets",
    "schema": "schema.schema_",
    "kustomize": "kustomize.kustomize",
}


class Commands(click.Group):
    """The commands, each imported when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        """In alphabetical order."""
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """None for a name that is none."""
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
    """The console script. It ends at once: freeing all that was read takes longer than reading it."""
    try:
        standard_streams.prepare()
        run()
    except SystemExit as end:  # which holds what the command had, until we are gone
        standard_streams.exit_process(end.code)
    except KeyboardInterrupt:
        standard_streams.print_aside(INTERRUPT)
        standard_streams.exit_process(INTERRUPTED)


def run(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the command that the arguments name, by default those of the process. Raises SystemExit, and
    KeyboardInterrupt.
    """
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
    """Prints an error about the command line; each word that it quotes stays in one line."""
    from renderer import escapes

    if not isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # all of that is ours
        error.message = escapes.line(error.message)  # type: ignore[misc]
    error.show()
