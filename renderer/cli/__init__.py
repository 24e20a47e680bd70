"""Flags in, exit code out; the only room that prints.

Only click is imported at the start, and a command's own file when it is called: `llmaz --version` and `--help` are
asked more often than anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from renderer import __version__
from renderer.cli import streams
from renderer.cli.answers import INTERRUPT, INTERRUPTED, answering
from renderer.cli.lightly import click

_EPILOG = (
    "Exit codes: 0 fine, 1 stale (--check) or different (--exit-code), 2 invalid input or usage, 3 internal fault."
)
_COMMANDS = {  # where each stands
    "init": "init.init",
    "render": "rendering.render",
    "validate": "rendering.validate",
    "check": "checking.check",
    "diff": "diff.diff",
    "routes": "routing.routes",
    "explain": "explain.explain",
    "argocd": "argocd.argocd",
    "flux": "flux.flux",
    "nodepools": "nodepools.nodepools",
    "presets": "presets.presets",
    "schema": "schemas.schema_",
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
        streams.prepare()
        run()
    except SystemExit as end:  # which holds what the command had, until we are gone
        streams.leave(end.code)
    except KeyboardInterrupt:
        streams.tell(INTERRUPT)
        streams.leave(INTERRUPTED)


def run(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the command that the arguments name, by default those of the process. Raises SystemExit, and
    KeyboardInterrupt.
    """
    with streams.checked(), answering():
        try:
            cli.main(args=args, prog_name="llmaz", standalone_mode=False)
        except click.ClickException as wrong:
            _show(wrong)
            raise SystemExit(wrong.exit_code) from None
        except click.Abort:
            raise KeyboardInterrupt from None
    raise SystemExit(0)


def _show(wrong: click.ClickException) -> None:
    """Prints what is wrong with the command line; what stands in there of it is in one line."""
    from renderer import escapes

    if not isinstance(wrong, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # all of that is ours
        wrong.message = escapes.line(wrong.message)  # type: ignore[misc]
    wrong.show()
